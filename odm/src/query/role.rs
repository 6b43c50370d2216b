//! Roles: what a field is declared as besides its type. They add methods to the field and leave its encoding alone.

use std::marker::PhantomData;

use bson::Bson;

use super::array::ElementEncoder;
use super::encode::{BySerde, Decode, Encode};
use super::kind::Sequence;
use super::map::{EntryEncoder, NamesKeys};
use crate::error::Result;
use crate::model::Path;

/// The encoder `E` of a field that has the role `R`: [`Relation`], [`Key`], [`Recent`] or [`Keywords`]. It encodes as `E` does.
#[derive(Debug, Clone, Copy)]
pub struct Tagged<R, E = BySerde>(PhantomData<fn() -> (R, E)>);

/// The role of a field that stores references. `N` is the name by which a row of a join has what the field refers to.
#[derive(Debug, Clone, Copy)]
pub struct Relation<N>(PhantomData<fn() -> N>);

/// The role of a field with `#[odm(refers_to(…))]`. `N` is the name of the relation, as in [`Relation`].
#[derive(Debug, Clone, Copy)]
pub struct Key<N>(PhantomData<fn() -> N>);

/// The role of a list that copies the newest documents of `S`.
#[derive(Debug, Clone, Copy)]
pub struct Recent<S>(PhantomData<fn() -> S>);

/// The role of keywords that are computed from other fields. `N` says how.
#[derive(Debug, Clone, Copy)]
pub struct Keywords<N>(PhantomData<fn() -> N>);

impl<T: ?Sized, R, E: Encode<T>> Encode<T> for Tagged<R, E> {
    type Stored = E::Stored;

    fn encode(value: &T) -> Result<Bson> {
        E::encode(value)
    }
}

impl<T, R, E: Decode<T>> Decode<T> for Tagged<R, E> {
    fn decode(stored: Bson) -> std::result::Result<T, bson::error::Error> {
        E::decode(stored)
    }
}

impl<S: Sequence, R, E: ElementEncoder<S>> ElementEncoder<S> for Tagged<R, E> {
    type Handle<M> = E::Handle<M>;

    fn handle<M>(path: Path) -> Self::Handle<M> {
        E::handle(path)
    }
}

impl<T, R, E: EntryEncoder<T>> EntryEncoder<T> for Tagged<R, E> {
    type Handle<M> = E::Handle<M>;

    fn handle<M>(path: Path) -> Self::Handle<M> {
        E::handle(path)
    }
}

impl<T, K, R, E: NamesKeys<T, K>> NamesKeys<T, K> for Tagged<R, E> {
    fn name(key: K) -> String {
        E::name(key)
    }
}
