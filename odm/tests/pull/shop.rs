//! Models of existing collections, pulled by odm.
//!
//! `aaa` has no model: it is a view: write a model with `view(on = …, pipeline = …)`.
//!
//! `adults` has no model: it is a view: write a model with `view(on = …, pipeline = …)`.
//!
//! `novels` has no model: it is a view: write a model with `view(on = …, pipeline = …)`.

use odm::bson;
use odm::dbref::DbRef;
use odm::prelude::*;

/// A document of `books`: 3 of 3 were read.
// The index `flat_2d` is not declared: odm has no declaration for keys of the kind `2d`. {"v":2,"key":{"flat":"2d"},"name":"flat_2d","min":-10.0,"max":10.0}
// The index `expires_1` is not declared: `expires` is not a declared field. {"v":2,"key":{"expires":1},"name":"expires_1","hidden":true,"expireAfterSeconds":60}
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "books")]
#[odm(unique(isbn))]
#[odm(index(year = desc, title, name = "by_year"))]
#[odm(text(
    tags,
    title(weight = 5),
    name = "title_text_tags_text",
    default_language = "french"
))]
#[odm(index(at = "2dsphere"))]
#[odm(wildcard(only(tags)))]
#[odm(index(title = hashed))]
#[odm(index(tags, sparse))]
#[odm(unique(year, partial = |_| odm::query::raw(doc! { "year": { "$gt": 1_900 } })))]
pub struct Book {
    /// int 100 %.
    #[serde(rename = "_id")]
    pub id: i32,
    /// string 100 %.
    pub title: String,
    /// int 66.7 %, long 33.3 %.
    pub year: i64,
    /// array 66.7 %, absent 33.3 %; at most 2 elements: string 100 %.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<String>>,
    /// string 100 %.
    pub isbn: String,
    /// array 66.7 %, absent 33.3 %; at most 2 elements: double 100 %.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Vec<f64>>,
}

/// A document of `café/bar: 50%`: 1 of 1 were read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "café/bar: 50%")]
pub struct CafeBar50 {
    /// int 100 %.
    #[serde(rename = "_id")]
    pub id: i32,
}

/// A document of `empty`, which is empty.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "empty")]
pub struct Empty {
    /// The id.
    #[serde(rename = "_id")]
    pub id: Id<Empty>,
}

/// A document of `log`: 3 of 3 were read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "log")]
#[odm(capped(size = 4_096, max = 3))]
pub struct Log {
    /// int 100 %.
    #[serde(rename = "_id")]
    pub id: i32,
}

/// A document of `people`: 2 of 2 were read.
// The index `name_1` is not declared: it is unique, and documents without the field need `sparse` or a partial filter. {"v":2,"key":{"name":1},"name":"name_1","unique":true,"collation":{"locale":"en","caseLevel":false,"caseFirst":"off","strength":2,"numericOrdering":false,"alternate":"non-ignorable","maxVariable":"punct","normalization":false,"backwards":false,"version":"57.1"}}
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "people")]
#[odm(change_stream_images)]
#[odm(collation(locale = "en", strength = 2))]
#[odm(validation(level = "moderate"))]
#[odm(rule("validator 1", |_| odm::query::raw(doc! { "age": { "$gte": 0 } })))]
#[odm(index(age, collation(locale = "simple")))]
pub struct Person {
    /// string 100 %.
    #[serde(rename = "_id")]
    pub id: String,
    /// int 100 %.
    pub age: i32,
    /// string 50 %, absent 50 %.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// A document of `types`: 1 of 1 were read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "types")]
pub struct Type {
    /// objectId 100 %.
    #[serde(rename = "_id")]
    pub id: Id<Type>,
    /// double 100 %.
    pub double: f64,
    /// double 100 %.
    pub whole: f64,
    /// double 100 %.
    pub small: f64,
    /// string 100 %.
    pub string: String,
    /// object 100 %.
    pub document: TypeDocument,
    /// array 100 %; at most 3 elements: object 33.3 %, array 33.3 %, int 33.3 %.
    pub array: Vec<bson::Bson>,
    /// binData 100 %.
    pub binary: bson::Binary,
    /// binData 100 %.
    pub old: bson::Binary,
    /// binData 100 %.
    pub own: bson::Binary,
    /// UUID 100 %.
    pub uuid: bson::Uuid,
    /// objectId 100 %.
    pub oid: ObjectId,
    /// bool 100 %.
    pub r#true: bool,
    /// date 100 %.
    pub date: DateTime,
    /// null 100 %.
    pub null: bson::Bson,
    /// regex 100 %.
    pub regex: bson::Regex,
    /// javascript 100 %.
    pub code: bson::Bson,
    /// javascriptWithScope 100 %.
    pub scoped: bson::JavaScriptCodeWithScope,
    /// int 100 %.
    pub int: i32,
    /// timestamp 100 %.
    pub time: bson::Timestamp,
    /// long 100 %.
    pub long: i64,
    /// decimal 100 %.
    pub decimal: bson::Decimal128,
    /// double 100 %.
    pub nan: f64,
    /// minKey 100 %.
    pub min: bson::Bson,
    /// maxKey 100 %.
    pub max: bson::Bson,
    /// DBRef 100 %; to `books`.
    /// 100 % of 1 ids resolve in `books`.
    pub r#ref: DbRef<Book>,
    /// object 100 %.
    pub nested: Nested,
}

/// A document in `types.document`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct TypeDocument {
    /// int 100 %.
    pub b: i32,
    /// object 100 %.
    pub a: bson::Document,
}

/// A document in `types.nested`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct Nested {
    /// timestamp 100 %.
    pub unset: bson::Timestamp,
}
