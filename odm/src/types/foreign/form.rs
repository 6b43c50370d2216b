//! What the derives know about a field with `#[serde(with = "…")]`.

use bson::Bson;
use serde::de::{DeserializeOwned, Error as _};

use super::stored_as::{By, StoredAs};
use crate::model::{FieldType, Level, NoParts, Parts, TypeMeta};
use crate::query::{Decode, Marked};

/// How values of `T` are stored, as far as a marker declares it.
pub trait Form<T> {
    /// The type whose methods a field has.
    type Stored: ?Sized;

    /// The type whose methods a newtype has.
    type OfNewtype: ?Sized;

    /// The derived types inside.
    type Parts<L: Level>: Parts;

    /// How the values are stored.
    const TYPE: TypeMeta;

    /// Whether the marker declares anything.
    const IS_DECLARED: bool;
}

/// The marker of modules that declare nothing.
#[derive(Debug)]
pub enum Undeclared {}

impl<T> Form<T> for Undeclared {
    type Stored = T;
    type OfNewtype = ();
    type Parts<L: Level> = NoParts;
    const TYPE: TypeMeta = TypeMeta::ANY;
    const IS_DECLARED: bool = false;
}

impl<T, W: StoredAs<T>> Form<T> for By<W> {
    type Stored = W::Stored;
    type OfNewtype = W::Stored;
    type Parts<L: Level> = <W::Stored as FieldType>::Parts<L>;
    const TYPE: TypeMeta = W::Stored::TYPE;
    const IS_DECLARED: bool = true;
}

impl<T: DeserializeOwned> Decode<T> for Undeclared {
    fn decode(stored: Bson) -> Result<T, bson::error::Error> {
        bson::deserialize_from_bson(stored)
    }
}

impl<T, W: StoredAs<T>> Decode<T> for By<W> {
    fn decode(stored: Bson) -> Result<T, bson::error::Error> {
        let stored = bson::deserialize_from_bson(stored)?;
        W::from_stored(stored).map_err(bson::error::Error::custom)
    }
}

/// How the field of an encoder is stored.
pub const fn form<T, E: Marked<Marker: Form<T>>>() -> TypeMeta {
    <E::Marker as Form<T>>::TYPE
}

/// Whether the module of an encoder stores `None` as null, so that a missing field should be read as `None`, too.
pub const fn defaults<T, E: Marked<Marker: Form<T>>>() -> bool {
    <E::Marker as Form<T>>::IS_DECLARED && <E::Marker as Form<T>>::TYPE.nullable
}

/// What the derives find where a module declares nothing: they import this, and within that scope the module.
pub mod undeclared {
    /// The marker.
    pub type OdmStored = super::Undeclared;
}
