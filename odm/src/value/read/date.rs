//! A date as bson shows it to serde: `{"$date": {"$numberLong": "…"}}`.

use std::marker::PhantomData;

use serde::de::value::BorrowedStrDeserializer;
use serde::de::{DeserializeSeed, Deserializer, MapAccess, Visitor};
use serde::forward_to_deserialize_any;

/// One of the two documents, one in the other.
pub(super) struct Date<E> {
    millis: i64,
    /// What is still to be shown.
    next: Option<Level>,
    error: PhantomData<E>,
}

#[derive(Debug, Clone, Copy)]
enum Level {
    Date,
    Number,
}

impl<E> Date<E> {
    pub(super) fn new(millis: i64) -> Self {
        Self::of(millis, Level::Date)
    }

    fn of(millis: i64, level: Level) -> Self {
        Self {
            millis,
            next: Some(level),
            error: PhantomData,
        }
    }
}

impl<'de, E: serde::de::Error> MapAccess<'de> for Date<E> {
    type Error = E;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, E> {
        let name = match self.next {
            None => return Ok(None),
            Some(Level::Date) => "$date",
            Some(Level::Number) => "$numberLong",
        };
        let name = BorrowedStrDeserializer::new(name);
        seed.deserialize(name).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, E> {
        let Some(level) = self.next.take() else {
            return Err(E::custom("a date has one value"));
        };
        let millis = self.millis;
        seed.deserialize(Value {
            millis,
            level,
            error: PhantomData,
        })
    }
}

/// What stands beside a name.
struct Value<E> {
    millis: i64,
    level: Level,
    error: PhantomData<E>,
}

impl<'de, E: serde::de::Error> Deserializer<'de> for Value<E> {
    type Error = E;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, E> {
        match self.level {
            Level::Date => visitor.visit_map(Date::<E>::of(self.millis, Level::Number)),
            Level::Number => visitor.visit_string(self.millis.to_string()),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, E> {
        visitor.visit_newtype_struct(self)
    }

    fn is_human_readable(&self) -> bool {
        false
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}
