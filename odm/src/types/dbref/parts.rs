//! The stored form of DBRefs.

use std::fmt;
use std::marker::PhantomData;

use bson::{Bson, Document};
use serde::de::{Error, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The fields of a DBRef, with an id of type `I`.
pub(super) struct Parts<I> {
    pub(super) collection: String,
    pub(super) id: I,
    pub(super) database: Option<String>,
    pub(super) extra: Document,
}

/// Writes the fields in the order that MongoDB requires, with the extra fields behind them.
pub(super) fn serialize<S: Serializer>(
    serializer: S,
    collection: &str,
    id: &impl Serialize,
    database: Option<&str>,
    extra: &Document,
) -> Result<S::Ok, S::Error> {
    let len = 2 + usize::from(database.is_some()) + extra.len();
    let mut map = serializer.serialize_map(Some(len))?;
    map.serialize_entry("$ref", collection)?;
    map.serialize_entry("$id", id)?;
    if let Some(database) = database {
        map.serialize_entry("$db", database)?;
    }
    for (name, value) in extra {
        map.serialize_entry(name, value)?;
    }
    map.end()
}

/// The message for a DBRef to another collection than the one of the model.
pub(super) fn another_collection(stored: &str, expected: &str) -> String {
    format!(
        "the DBRef refers to the collection `{stored}`, but the field is for references to `{expected}`"
    )
}

impl<'de, I: Deserialize<'de>> Parts<I> {
    /// Reads the fields in any order, and refuses another collection than `expected`.
    pub(super) fn read<D: Deserializer<'de>>(
        deserializer: D,
        expected: Option<&'static str>,
    ) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Reader {
            expected,
            id: PhantomData,
        })
    }
}

struct Reader<I> {
    expected: Option<&'static str>,
    id: PhantomData<I>,
}

impl<'de, I: Deserialize<'de>> Visitor<'de> for Reader<I> {
    type Value = Parts<I>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a DBRef, which is a document with the fields `$ref` and `$id`")?;
        match self.expected {
            Some(collection) => write!(f, ", to the collection `{collection}`"),
            None => Ok(()),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Parts<I>, A::Error> {
        let (mut collection, mut id, mut database) = (None, None, None);
        let mut extra = Document::new();
        while let Some(name) = map.next_key::<String>()? {
            match name.as_str() {
                "$ref" => {
                    let stored: String = map.next_value()?;
                    // Before the id, which another collection may have of another type.
                    if let Some(expected) = self.expected.filter(|one| *one != stored) {
                        return Err(A::Error::custom(another_collection(&stored, expected)));
                    }
                    collection = Some(stored);
                }
                "$id" => id = Some(map.next_value()?),
                "$db" => database = Some(map.next_value()?),
                _ => {
                    let value: Bson = map.next_value()?;
                    extra.insert(name, value);
                }
            }
        }
        let lacks = |field: &str| A::Error::custom(format!("the DBRef has no field `{field}`"));
        Ok(Parts {
            collection: collection.ok_or_else(|| lacks("$ref"))?,
            id: id.ok_or_else(|| lacks("$id"))?,
            database,
            extra,
        })
    }
}
