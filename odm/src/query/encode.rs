//! Encodes the values of a field, always by the field's own serializer.

mod scalar;

use std::marker::PhantomData;

use bson::Bson;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::kind::Sequence;
use crate::codec::{decode, encode as stored};
use crate::error::{Error, Result, UsageError};
use crate::model::FieldType;

/// Encodes values of type `T` as the field stores them.
///
/// A field without a serializer of its own uses [`BySerde`]; for `#[serde(with = "…")]` and
/// `serialize_with` the derive makes a type that calls that function.
pub trait Encode<T: ?Sized> {
    /// The type whose methods the field has: `T` itself, or what a module of [`foreign`](crate::foreign) stores for it.
    type Stored: ?Sized;

    /// The stored form of `value`.
    fn encode(value: &T) -> Result<Bson>;
}

/// Encodes by the type's own `Serialize`.
#[derive(Debug, Clone, Copy)]
pub enum BySerde {}

impl<T: Serialize + FieldType + ?Sized> Encode<T> for BySerde {
    type Stored = T;

    fn encode(value: &T) -> Result<Bson> {
        encode_field(value)
    }
}

/// Encodes a value as the type's own serializer does, without running it if the stored form is known.
#[inline]
pub(crate) fn encode_field<T: Serialize + FieldType + ?Sized>(value: &T) -> Result<Bson> {
    match T::stored(value) {
        Some(stored) => Ok(stored),
        None => encode(value),
    }
}

/// Reads the stored values of a field.
pub trait Decode<T> {
    /// The value of a stored form.
    fn decode(stored: Bson) -> std::result::Result<T, bson::error::Error>;
}

impl<T: DeserializeOwned> Decode<T> for BySerde {
    fn decode(stored: Bson) -> std::result::Result<T, bson::error::Error> {
        decode::value(stored)
    }
}

/// The encoder of a field with a serializer of its own, which the derive makes.
#[doc(hidden)]
pub trait Marked {
    /// The type `OdmStored` of the module after `with`, or a marker of modules without one.
    type Marker;
}

impl<T, W: Marked<Marker: Decode<T>>> Decode<T> for With<W> {
    fn decode(stored: Bson) -> std::result::Result<T, bson::error::Error> {
        W::Marker::decode(stored)
    }
}

impl<E: Marked, S> Marked for ElementOf<E, S> {
    type Marker = E::Marker;
}

/// The encoder of a field with a serializer of its own: `W` is the type that the derive makes for it.
#[derive(Debug, Clone, Copy)]
pub struct With<W>(PhantomData<fn() -> W>);

impl<T, W: Encode<T>> Encode<T> for With<W> {
    type Stored = W::Stored;

    fn encode(value: &T) -> Result<Bson> {
        W::encode(value)
    }
}

/// The encoder of the elements of an array field `S` that `E` encodes as a whole.
#[derive(Debug, Clone, Copy)]
pub struct ElementOf<E, S>(PhantomData<fn() -> (E, S)>);

impl<S, E> Encode<S::Element> for ElementOf<E, S>
where
    S: Sequence<Element: Clone>,
    E: Encode<S, Stored: Sequence>,
{
    type Stored = <E::Stored as Sequence>::Element;

    fn encode(value: &S::Element) -> Result<Bson> {
        encode_element::<S, E>(value.clone())
    }
}

/// Encodes one element by the serializer of the array it belongs to.
pub(crate) fn encode_element<S: Sequence, E: Encode<S>>(element: S::Element) -> Result<Bson> {
    match S::of_one(element) {
        Some(one) => only_element(E::encode(&one)?, S::COPIES),
        None => Err(usage("an array of length 0 has no elements")),
    }
}

fn only_element(array: Bson, copies: usize) -> Result<Bson> {
    if let Bson::Array(mut elements) = array
        && elements.len() == copies
        && let Some(element) = elements.pop()
    {
        return Ok(element);
    }
    Err(usage(
        "the serializer of the field writes an array of one element as something else, so its elements can't be compared or changed one by one",
    ))
}

fn usage(message: &str) -> Error {
    Error::new(UsageError::new(message))
}

/// Encodes one value through the serializer that encodes whole documents, so that a value in a
/// filter and the same value in a stored document are the same bytes.
///
/// ```
/// use bson::Bson;
/// assert_eq!(odm::query::encode(&7_u8)?, Bson::Int32(7));
/// assert_eq!(odm::query::encode(&7_u32)?, Bson::Int64(7));
/// assert!(odm::query::encode(&u64::MAX).is_err());
/// # Ok::<(), odm::Error>(())
/// ```
pub fn encode<T: Serialize + ?Sized>(value: &T) -> Result<Bson> {
    match scalar::encode(value) {
        Some(value) => Ok(value),
        None => encode_whole(value),
    }
}

/// Encodes any value, as the one field of a document.
fn encode_whole<T: Serialize + ?Sized>(value: &T) -> Result<Bson> {
    stored::value(value).map_err(stored::Failure::into_error)
}
