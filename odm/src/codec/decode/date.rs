//! Dates in the form in which bson passes them to serde: `{"$date": {"$numberLong": "…"}}`.
//!
//! bson's own `DateTime` and `Bson` also accept `{"$date": milliseconds}`, which needs no string of digits. They get
//! that shorter form; all other types get bson's form.

use std::any::type_name;

use serde::de::value::BorrowedStrDeserializer;
use serde::de::{DeserializeSeed, Deserializer, MapAccess, Visitor};
use serde::forward_to_deserialize_any;

use super::fault::Failed;

/// One of the two nested documents.
pub(super) struct Date {
    millis: i64,
    /// The level of the remaining entry; `None` once it is read.
    next: Option<Level>,
}

#[derive(Debug, Clone, Copy)]
enum Level {
    Date,
    Number,
    /// The milliseconds themselves.
    Millis,
}

/// The private type as which bson reads the value of `$date`. If bson renames it, dates get the longer form again.
pub(super) const BODY: &str = "bson::extjson::models::DateTimeBody";

impl Date {
    pub(super) fn new(millis: i64) -> Self {
        Self::of(millis, Level::Date)
    }

    fn of(millis: i64, level: Level) -> Self {
        Self {
            millis,
            next: Some(level),
        }
    }
}

impl<'de> MapAccess<'de> for Date {
    type Error = Failed;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Failed> {
        let name = match self.next {
            Some(Level::Date) => "$date",
            Some(Level::Number) => "$numberLong",
            Some(Level::Millis) | None => return Ok(None),
        };
        let name = BorrowedStrDeserializer::new(name);
        seed.deserialize(name).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Failed> {
        let millis = self.millis;
        let level = match self.next.take().ok_or_else(super::malformed)? {
            Level::Date if type_name::<S::Value>() == BODY => Level::Millis,
            level => level,
        };
        seed.deserialize(Value { millis, level })
    }
}

/// The value of an entry.
struct Value {
    millis: i64,
    level: Level,
}

impl<'de> Deserializer<'de> for Value {
    type Error = Failed;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failed> {
        match self.level {
            Level::Date => visitor.visit_map(Date::of(self.millis, Level::Number)),
            Level::Number => visitor.visit_string(self.millis.to_string()),
            Level::Millis => visitor.visit_i64(self.millis),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Failed> {
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
