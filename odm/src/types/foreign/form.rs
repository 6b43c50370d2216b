//! What the derives know about a field with `#[serde(with = "…")]`.

use bson::Bson;
use serde::de::{DeserializeOwned, Error as _};

use super::stored_as::{By, StoredAs};
use crate::codec::decode;
use crate::error::{Error, Result};
use crate::model::{FieldType, Path, TypeMeta};
use crate::query::encode::encode_field;
use crate::query::kind::Keyed;
use crate::query::typing::{EntryEncoder, NamesKeys};
use crate::query::{Decode, Encode, Field, Marked, With};

/// How values of `T` are stored, as far as a marker declares it.
pub trait Form<T> {
    /// The type whose methods a field has.
    type Stored: ?Sized;

    /// The type whose methods a newtype has.
    type OfNewtype: ?Sized;

    /// The handle of a field whose encoder is `E`.
    type Handle<M, E>;

    /// How the values are stored.
    const TYPE: TypeMeta;

    /// Whether the marker declares anything.
    const IS_DECLARED: bool;

    /// The handle of the field with this path.
    fn handle<M, E>(path: Path) -> Self::Handle<M, E>;
}

/// The marker of modules that change how a type is written in text formats, and not how it is stored.
#[derive(Debug)]
pub enum AsItself {}

impl<T: FieldType> Form<T> for AsItself {
    type Stored = T;
    type OfNewtype = T;
    type Handle<M, E> = T::Handle<M, T>;
    const TYPE: TypeMeta = T::TYPE;
    const IS_DECLARED: bool = true;

    #[inline]
    fn handle<M, E>(path: Path) -> T::Handle<M, T> {
        T::handle(path)
    }
}

impl<T: DeserializeOwned> Decode<T> for AsItself {
    fn decode(stored: Bson) -> Result<T, bson::error::Error> {
        decode::value(stored)
    }
}

/// The marker of modules that declare nothing.
#[derive(Debug)]
pub enum Undeclared {}

impl<T> Form<T> for Undeclared {
    type Stored = T;
    type OfNewtype = ();
    type Handle<M, E> = Field<M, T, With<E>>;
    const TYPE: TypeMeta = TypeMeta::ANY;
    const IS_DECLARED: bool = false;

    #[inline]
    fn handle<M, E>(path: Path) -> Field<M, T, With<E>> {
        Field::at_path(path)
    }
}

impl<T, W: StoredAs<T>> Form<T> for By<W> {
    type Stored = W::Stored;
    type OfNewtype = W::Stored;
    type Handle<M, E> = Field<M, T, With<E>>;
    const TYPE: TypeMeta = <W as StoredAs<T>>::TYPE;
    const IS_DECLARED: bool = true;

    #[inline]
    fn handle<M, E>(path: Path) -> Field<M, T, With<E>> {
        Field::at_path(path)
    }
}

impl<T: DeserializeOwned> Decode<T> for Undeclared {
    fn decode(stored: Bson) -> Result<T, bson::error::Error> {
        decode::value(stored)
    }
}

impl<T, W: StoredAs<T>> Decode<T> for By<W> {
    fn decode(stored: Bson) -> Result<T, bson::error::Error> {
        let stored = decode::value(stored)?;
        W::from_stored(stored).map_err(bson::error::Error::custom)
    }
}

/// Encodes one value as the module does, such as the value of an entry of a map.
impl<T, W: StoredAs<T>> Encode<T> for By<W> {
    type Stored = W::Stored;

    fn encode(value: &T) -> Result<Bson> {
        encode_field(&W::to_stored(value).map_err(Error::encode)?)
    }
}

impl<W> Marked for By<W> {
    type Marker = Self;
}

impl<T: Keyed, W: StoredAs<T::Value>> EntryEncoder<T> for By<W> {
    type Handle<M> = Field<M, T::Value, With<Self>>;

    fn handle<M>(path: Path) -> Self::Handle<M> {
        Field::at_path(path)
    }
}

macro_rules! named_by_text {
    ($([$($generics:ident)?] $marker:ty;)*) => {$(
        impl<$($generics,)? T: Keyed, K: Into<String>> NamesKeys<T, K> for $marker {
            fn name(key: K) -> String {
                key.into()
            }
        }
    )*};
}

named_by_text! {
    [] AsItself;
    [] Undeclared;
    [W] By<W>;
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
