//! What compile errors advise, written out: every one of these compiles.
#![deny(warnings)]
#![allow(dead_code)]

use std::collections::{BTreeMap, HashMap};

use odm::bson::{DateTime, Uuid};
use odm::prelude::*;
use serde::{Deserialize, Serialize};

mod as_text {
    //! A serializer as `#[serde(with = "…")]` names it.
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn serialize<T: ToString, S: Serializer>(
        value: &T,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        value.to_string().serialize(serializer)
    }

    pub(crate) fn deserialize<'de, T: std::str::FromStr, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<T, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse()
            .map_err(|_| serde::de::Error::custom("not a value"))
    }
}

// "`_id` can't have a serializer of its own, since references store it too; give it to a newtype"
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct BookId(#[serde(with = "as_text")] Uuid);

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "texts")]
struct WithNewtype {
    #[serde(rename = "_id")]
    id: BookId,
    next: Option<Ref<WithNewtype>>,
}

// "no field is stored as `_id`: add `#[serde(rename = "_id")] id: Id<Self>`"
#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "authors", index(address.city))]
struct Author {
    #[serde(rename = "_id")]
    id: Id<Self>,
    name: String,
    address: Address,
}

// "remove `flatten`", "indexes are declared where the collection is: on the document"
#[derive(Debug, Clone, Serialize, Deserialize, Embedded)]
struct Address {
    city: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, Embedded)]
struct Contact {
    text: String,
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(
    collection = "books",
    // "`one_of` lists strings; for numbers, write `rule("…", |m| m.field.in_([1, 2]))` on the document"
    rule("a known edition", |m| m.edition.in_([1, 2])),
    // "for dates a `rule("…", |m| …)` on the document"
    rule("after the war", |m| m.printed.gt(DateTime::from_millis(0))),
    // "write … `unique(partial = |m| …)`", "let the filter ask for the field: `.exists(true)`"
    unique(code, partial = |m| m.code.exists(true)),
    // "a ttl index has one key, the date; declare a second index for the others"
    ttl(printed, after = "30d"),
    index(title, year = desc),
    // "`extra` is a map: name a key", "put its fields into the first: `text(a, b)`"
    text(title, summary),
    // "declare an index for each"
    index(tags),
    index(grades),
    // "name this one otherwise: `name = "…"`"
    index(year, name = "by_year"),
    index(edition, collation(locale = "en", strength = 2)),
    validation(level = "moderate", action = "warn"),
    change_stream_images
)]
struct Book {
    // "declare it without `Option`, and set it before inserting; `Id::new()` makes an `Id<Self>`"
    #[serde(rename = "_id")]
    id: Id<Self>,
    // "for the length of a string write `length(…)`"
    #[odm(length(min = 1, max = 100))]
    title: String,
    summary: String,
    // "for a number write `range(…)`"
    #[odm(range(min = 0, max = 3000))]
    year: i32,
    edition: i32,
    printed: DateTime,
    // "write `unique(sparse)` with `#[serde(skip_serializing_if = "Option::is_none")]`"
    #[odm(unique(sparse))]
    #[serde(skip_serializing_if = "Option::is_none")]
    isbn: Option<String>,
    code: Option<String>,
    // "for the size of a list `items(…)`"
    #[odm(items(max = 10))]
    tags: Vec<String>,
    grades: Vec<i32>,
    // "`#[odm(embed(few, max = N))]` keeps up to 200 inside the document"
    #[odm(embed(few, max = 200))]
    contacts: Vec<Contact>,
    #[odm(embed(few, max = 5))]
    by_name: HashMap<String, Contact>,
    #[odm(embed(few, max = 5))]
    pairs: Vec<(i32, Contact)>,
    // "`#[odm(references(many, max = N))]` on a `Vec<Ref<…>>` keeps up to 5000 ids"
    #[odm(references(many, max = 5000))]
    authors: Vec<Ref<Author>>,
    // "keep its id (`Ref<…>`), or say that a copy of it is kept inside: `#[odm(embed)]`"
    first: Ref<Author>,
    #[odm(embed)]
    copy: Author,
    // "name it, as in `Variant { field: … }`, and say how many there can be"
    kind: Kind,
    side: Side,
    beside: Beside,
    // "give the field a serializer that keeps them apart: `#[serde(with = "…")]`"
    #[serde(with = "twice")]
    #[odm(bson_type = "int")]
    chosen: Option<Option<i32>>,
    // "its serializer writes one, say so on the field: `#[odm(bson_type = "date")]`"
    #[serde(with = "odm::bson::serde_helpers::datetime::AsRfc3339String")]
    #[odm(bson_type = "string")]
    told: DateTime,
    // "`bson::DateTime`": `save` increments the version
    #[odm(version)]
    version: i64,
    // "put it into a struct that derives `Embedded`, as a field with `#[odm(embed(few, max = N))]`"
    shelves: BTreeMap<String, i32>,
    #[odm(embed(few, max = 3))]
    rows: Vec<Row>,
}

#[derive(Debug, Serialize, Deserialize, Embedded)]
struct Row {
    #[odm(embed(few, max = 3))]
    contacts: Vec<Contact>,
    #[odm(references(many, max = 3))]
    authors: Vec<Ref<Author>>,
}

#[derive(Debug, Serialize, Deserialize, Embedded)]
enum Kind {
    Alone,
    Many {
        #[odm(embed(few, max = 3))]
        contacts: Vec<Contact>,
    },
    Linked {
        #[odm(references(many, max = 3))]
        authors: Vec<Ref<Author>>,
    },
    Kept {
        #[odm(embed)]
        author: Box<Author>,
    },
}

// "name the value, `Side { value: … }`"
#[derive(Debug, Serialize, Deserialize, Embedded)]
#[serde(tag = "kind")]
enum Side {
    Left { value: i32 },
}

// "or store it beside the tag: `#[serde(tag = "kind", content = "…")]`"
#[derive(Debug, Serialize, Deserialize, Embedded)]
#[serde(tag = "kind", content = "value")]
enum Beside {
    Left(i32),
}

mod twice {
    //! A serializer that keeps `None` and `Some(None)` apart.
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn serialize<S: Serializer>(
        value: &Option<Option<i32>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        value
            .map_or(-2, |value| value.unwrap_or(-1))
            .serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Option<i32>>, D::Error> {
        Ok(match i32::deserialize(deserializer)? {
            -2 => None,
            -1 => Some(None),
            value => Some(Some(value)),
        })
    }
}

// "what is written must be read again under the same name; write `rename = "…"`, and `alias = "…"` for an older name"
#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "renamed", capped(size = 1_048_576, max = 1_000))]
#[serde(rename_all = "camelCase")]
struct Renamed {
    #[serde(rename = "_id")]
    id: i32,
    #[serde(rename = "caption", alias = "heading")]
    title: String,
}

// "a projection must name its model: add `#[odm(of = Model)]`"
#[derive(Debug, Serialize, Deserialize, Projection)]
#[odm(of = Book)]
struct Title {
    title: String,
}

// Two kinds of documents in one collection: an enum inside of a document.
#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "media")]
struct Medium {
    #[serde(rename = "_id")]
    id: Id<Self>,
    #[serde(flatten)]
    of: Of,
}

#[derive(Debug, Serialize, Deserialize, Embedded)]
#[serde(tag = "kind")]
enum Of {
    Song { artist: String },
    Film { director: String },
}

#[test]
fn runs() {
    let models = models![Author, Book, WithNewtype, Renamed, Medium];
    let _ = Db::memory().sync(models);
}
