//! A row as one map: the fields of the document, with the relations among and behind them.

use serde::ser::{Error, Impossible, Serialize, SerializeMap, SerializeStruct, Serializer};

use super::{And, Joined, RelationName};
use crate::codec::encode;

/// The relations of a row, to serialize them.
pub trait SerializeRelations {
    /// The number of relations.
    const COUNT: usize;

    /// Appends the names of the relations, in the order in which they were joined.
    #[doc(hidden)]
    fn keys(keys: &mut Vec<Key>);

    /// Writes the value of one relation.
    #[doc(hidden)]
    fn serialize_at<M: SerializeMap>(&self, at: usize, map: &mut M) -> Result<(), M::Error>;
}

/// A relation in a row that is being serialized.
#[derive(Debug)]
pub struct Key {
    name: &'static str,
    /// Whether it replaces a field of the document.
    is_field: bool,
    is_written: bool,
}

impl SerializeRelations for () {
    const COUNT: usize = 0;

    fn keys(_: &mut Vec<Key>) {}

    fn serialize_at<M: SerializeMap>(&self, _: usize, _: &mut M) -> Result<(), M::Error> {
        Ok(())
    }
}

impl<N: RelationName, V: Serialize, Rest: SerializeRelations> SerializeRelations
    for And<N, V, Rest>
{
    const COUNT: usize = Rest::COUNT + 1;

    fn keys(keys: &mut Vec<Key>) {
        Rest::keys(keys);
        keys.push(Key {
            name: N::KEY,
            is_field: N::IS_FIELD,
            is_written: false,
        });
    }

    fn serialize_at<M: SerializeMap>(&self, at: usize, map: &mut M) -> Result<(), M::Error> {
        if at == Rest::COUNT {
            map.serialize_entry(N::KEY, &self.value)
        } else {
            self.rest.serialize_at(at, map)
        }
    }
}

impl<T: Serialize, L: SerializeRelations> Serialize for Joined<T, L> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut keys = Vec::with_capacity(L::COUNT);
        L::keys(&mut keys);
        let repeated = keys.iter().enumerate().find(|(at, key)| {
            let before = keys.iter().take(*at);
            before.map(|one| one.name).any(|name| name == key.name)
        });
        if let Some((_, key)) = repeated {
            return Err(S::Error::custom(format!(
                "two relations of this row have the name `{}`: serialize them one by one, from `row.into_parts()`",
                key.name
            )));
        }
        self.document.serialize(RowSerializer {
            inner: serializer,
            relations: &self.joined,
            keys,
        })
    }
}

/// Serializes a document as a map that also has relations.
struct RowSerializer<'a, S, L> {
    inner: S,
    relations: &'a L,
    keys: Vec<Key>,
}

impl<'a, S: Serializer, L: SerializeRelations> RowSerializer<'a, S, L> {
    fn map(self) -> Result<RowMap<'a, S::SerializeMap, L>, S::Error> {
        Ok(RowMap {
            map: self.inner.serialize_map(None)?,
            relations: self.relations,
            keys: self.keys,
            replaces: None,
        })
    }
}

/// The entries of a row.
struct RowMap<'a, M, L> {
    map: M,
    relations: &'a L,
    keys: Vec<Key>,
    /// The relation that replaces the value of the entry whose key came last.
    replaces: Option<usize>,
}

impl<M: SerializeMap, L: SerializeRelations> RowMap<'_, M, L> {
    /// The relation that stands in the place of the field.
    fn replacement(&mut self, field: &str) -> Result<Option<usize>, M::Error> {
        let Some(at) = self.keys.iter().position(|key| key.name == field) else {
            return Ok(None);
        };
        let key = self.keys.get_mut(at).filter(|key| key.is_field);
        let Some(key) = key.filter(|key| !key.is_written) else {
            return Err(M::Error::custom(format!(
                "the document has a field `{field}`, which the relation of this name would hide: serialize them one by \
                 one, from `row.into_parts()`"
            )));
        };
        key.is_written = true;
        Ok(Some(at))
    }

    fn finish(mut self) -> Result<M::Ok, M::Error> {
        for (at, key) in self.keys.iter().enumerate() {
            if !key.is_written {
                self.relations.serialize_at(at, &mut self.map)?;
            }
        }
        self.map.end()
    }
}

impl<M: SerializeMap, L: SerializeRelations> SerializeStruct for RowMap<'_, M, L> {
    type Ok = M::Ok;
    type Error = M::Error;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), M::Error> {
        match self.replacement(key)? {
            Some(at) => self.relations.serialize_at(at, &mut self.map),
            None => self.map.serialize_entry(key, value),
        }
    }

    fn end(self) -> Result<M::Ok, M::Error> {
        self.finish()
    }
}

impl<M: SerializeMap, L: SerializeRelations> SerializeMap for RowMap<'_, M, L> {
    type Ok = M::Ok;
    type Error = M::Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), M::Error> {
        // A key that is no text is the key of no relation.
        self.replaces = match encode::key(key) {
            Some(field) => self.replacement(&field)?,
            None => None,
        };
        match self.replaces {
            Some(_) => Ok(()),
            None => self.map.serialize_key(key),
        }
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), M::Error> {
        match self.replaces.take() {
            Some(at) => self.relations.serialize_at(at, &mut self.map),
            None => self.map.serialize_value(value),
        }
    }

    fn end(self) -> Result<M::Ok, M::Error> {
        self.finish()
    }
}

/// Methods that return the error for a value that is neither a struct nor a map, and so no document.
macro_rules! refuse {
    ($($method:ident($($name:ident: $argument:ty),*) -> $answer:ident;)*) => {$(
        fn $method(self, $($name: $argument),*) -> Result<Self::$answer, S::Error> {
            Err(no_document())
        }
    )*};
}

fn no_document<E: Error>() -> E {
    E::custom(
        "a row whose document serializes neither as a struct nor as a map can't be serialized",
    )
}

impl<'a, S: Serializer, L: SerializeRelations> Serializer for RowSerializer<'a, S, L> {
    type Ok = S::Ok;
    type Error = S::Error;
    type SerializeSeq = Impossible<S::Ok, S::Error>;
    type SerializeTuple = Impossible<S::Ok, S::Error>;
    type SerializeTupleStruct = Impossible<S::Ok, S::Error>;
    type SerializeTupleVariant = Impossible<S::Ok, S::Error>;
    type SerializeMap = RowMap<'a, S::SerializeMap, L>;
    type SerializeStruct = RowMap<'a, S::SerializeMap, L>;
    type SerializeStructVariant = Impossible<S::Ok, S::Error>;

    fn serialize_struct(
        self,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStruct, S::Error> {
        self.map()
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self::SerializeMap, S::Error> {
        self.map()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<S::Ok, S::Error> {
        value.serialize(self)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<S::Ok, S::Error> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<S::Ok, S::Error> {
        Err(no_document())
    }

    fn is_human_readable(&self) -> bool {
        self.inner.is_human_readable()
    }

    refuse! {
        serialize_bool(_v: bool) -> Ok;
        serialize_i8(_v: i8) -> Ok;
        serialize_i16(_v: i16) -> Ok;
        serialize_i32(_v: i32) -> Ok;
        serialize_i64(_v: i64) -> Ok;
        serialize_u8(_v: u8) -> Ok;
        serialize_u16(_v: u16) -> Ok;
        serialize_u32(_v: u32) -> Ok;
        serialize_u64(_v: u64) -> Ok;
        serialize_f32(_v: f32) -> Ok;
        serialize_f64(_v: f64) -> Ok;
        serialize_char(_v: char) -> Ok;
        serialize_str(_v: &str) -> Ok;
        serialize_bytes(_v: &[u8]) -> Ok;
        serialize_none() -> Ok;
        serialize_unit() -> Ok;
        serialize_unit_struct(_name: &'static str) -> Ok;
        serialize_unit_variant(_name: &'static str, _index: u32, _variant: &'static str) -> Ok;
        serialize_seq(_len: Option<usize>) -> SerializeSeq;
        serialize_tuple(_len: usize) -> SerializeTuple;
        serialize_tuple_struct(_name: &'static str, _len: usize) -> SerializeTupleStruct;
        serialize_tuple_variant(_name: &'static str, _index: u32, _variant: &'static str, _len: usize)
            -> SerializeTupleVariant;
        serialize_struct_variant(_name: &'static str, _index: u32, _variant: &'static str, _len: usize)
            -> SerializeStructVariant;
    }
}
