//! Models of existing collections, pulled by odm.
//!
//! `a_view` has no model: it is a view: write a model with `view(on = …, pipeline = …)`.

use std::collections::BTreeMap;

use odm::bson;
use odm::dbref::AnyDbRef;
use odm::dbref::DbRef;
use odm::geo;
use odm::prelude::*;

/// A document of `123`: 1 of 1 were read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "123")]
pub struct Type123 {
    /// int 100 %.
    #[serde(rename = "_id")]
    pub id: i32,
    /// int 100 %.
    pub a: i32,
}

/// A document of `Books`: 1 of 1 were read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "Books")]
pub struct Book {
    /// int 100 %.
    #[serde(rename = "_id")]
    pub id: i32,
    /// int 100 %.
    pub a: i32,
}

/// A document of `a-b`: 1 of 1 were read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "a-b")]
pub struct AB {
    /// int 100 %.
    #[serde(rename = "_id")]
    pub id: i32,
    /// int 100 %.
    pub a: i32,
}

/// A document of `all_both`: 3 of 3 were read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "all_both")]
pub struct AllBoth {
    /// int 100 %.
    #[serde(rename = "_id")]
    pub id: i32,
    /// double 33.3 %, null 33.3 %, absent 33.3 %.
    #[serde(default, with = "odm::double_option")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dbl: Option<Option<f64>>,
    /// string 33.3 %, null 33.3 %, absent 33.3 %.
    #[serde(default, with = "odm::double_option")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub str: Option<Option<String>>,
    /// object 33.3 %, null 33.3 %, absent 33.3 %.
    #[serde(default, with = "odm::double_option")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doc: Option<Option<Doc>>,
    /// array 33.3 %, null 33.3 %, absent 33.3 %; at most 1 element: int 100 %.
    #[serde(default, with = "odm::double_option")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arr: Option<Option<Vec<i32>>>,
    /// binData 33.3 %, null 33.3 %, absent 33.3 %.
    #[serde(default, with = "odm::double_option")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bin: Option<Option<bson::Binary>>,
    /// binData 33.3 %, null 33.3 %, absent 33.3 %.
    #[serde(default, with = "odm::double_option")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub olduuid: Option<Option<bson::Binary>>,
    /// UUID 33.3 %, null 33.3 %, absent 33.3 %.
    /// 100 % of 1 ids resolve in `uuid_ids`.
    #[serde(default, with = "odm::double_option")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uuid: Option<Option<Ref<UuidId>>>,
    /// null 33.3 %, a deprecated type 33.3 %, absent 33.3 %.
    #[serde(default, with = "odm::double_option")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undef: Option<Option<bson::Bson>>,
    /// objectId 33.3 %, null 33.3 %, absent 33.3 %.
    /// 100 % of 1 ids resolve in `authors`.
    #[serde(default, with = "odm::double_option")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oid: Option<Option<Ref<Author>>>,
    /// bool 33.3 %, null 33.3 %, absent 33.3 %.
    #[serde(default, with = "odm::double_option")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bool: Option<Option<bool>>,
    /// date 33.3 %, null 33.3 %, absent 33.3 %.
    #[serde(default, with = "odm::double_option")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date: Option<Option<DateTime>>,
    /// date 33.3 %, null 33.3 %, absent 33.3 %.
    #[serde(default, with = "odm::double_option")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub far: Option<Option<DateTime>>,
    /// date 33.3 %, null 33.3 %, absent 33.3 %.
    #[serde(default, with = "odm::double_option")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub early: Option<Option<DateTime>>,
    /// null 66.7 %, absent 33.3 %.
    #[serde(default, with = "odm::double_option")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub null: Option<Option<bson::Bson>>,
    /// null 33.3 %, regex 33.3 %, absent 33.3 %.
    #[serde(default, with = "odm::double_option")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub regex: Option<Option<bson::Regex>>,
    /// null 33.3 %, a deprecated type 33.3 %, absent 33.3 %.
    #[serde(default, with = "odm::double_option")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dbp: Option<Option<bson::Bson>>,
    /// null 33.3 %, javascript 33.3 %, absent 33.3 %.
    #[serde(default, with = "odm::double_option")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<Option<bson::Bson>>,
    /// null 33.3 %, javascriptWithScope 33.3 %, absent 33.3 %.
    #[serde(default, with = "odm::double_option")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scoped: Option<Option<bson::JavaScriptCodeWithScope>>,
    /// null 33.3 %, a deprecated type 33.3 %, absent 33.3 %.
    #[serde(default, with = "odm::double_option")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sym: Option<Option<bson::Bson>>,
    /// null 33.3 %, int 33.3 %, absent 33.3 %.
    #[serde(default, with = "odm::double_option")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub int: Option<Option<i32>>,
    /// null 33.3 %, timestamp 33.3 %, absent 33.3 %.
    #[serde(default, with = "odm::double_option")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ts: Option<Option<bson::Timestamp>>,
    /// null 33.3 %, long 33.3 %, absent 33.3 %.
    #[serde(default, with = "odm::double_option")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub long: Option<Option<i64>>,
    /// null 33.3 %, decimal 33.3 %, absent 33.3 %.
    #[serde(default, with = "odm::double_option")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dec: Option<Option<bson::Decimal128>>,
    /// null 33.3 %, minKey 33.3 %, absent 33.3 %.
    #[serde(default, with = "odm::double_option")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minkey: Option<Option<bson::Bson>>,
    /// null 33.3 %, maxKey 33.3 %, absent 33.3 %.
    #[serde(default, with = "odm::double_option")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maxkey: Option<Option<bson::Bson>>,
    /// double 33.3 %, null 33.3 %, absent 33.3 %.
    #[serde(default, with = "odm::double_option")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nan: Option<Option<f64>>,
    /// double 33.3 %, null 33.3 %, absent 33.3 %.
    #[serde(default, with = "odm::double_option")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inf: Option<Option<f64>>,
    /// object 33.3 %, null 33.3 %, absent 33.3 %.
    #[serde(default, with = "odm::double_option")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub emptydoc: Option<Option<bson::Document>>,
    /// array 33.3 %, null 33.3 %, absent 33.3 %; no elements.
    #[serde(default, with = "odm::double_option")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub emptyarr: Option<Option<Vec<bson::Bson>>>,
}

/// A document of `all_inside`: 1 of 1 were read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "all_inside")]
pub struct AllInside {
    /// int 100 %.
    #[serde(rename = "_id")]
    pub id: i32,
    /// object 100 %.
    pub inner: Inner,
}

/// A document of `all_lists`: 3 of 3 were read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "all_lists")]
pub struct AllList {
    /// int 100 %.
    #[serde(rename = "_id")]
    pub id: i32,
    /// array 66.7 %, null 33.3 %; at most 2 elements: double 66.7 %, null 33.3 %.
    pub dbl: Option<Vec<Option<f64>>>,
    /// array 66.7 %, null 33.3 %; at most 2 elements: string 66.7 %, null 33.3 %.
    pub str: Option<Vec<Option<String>>>,
    /// array 66.7 %, null 33.3 %; at most 2 elements: object 66.7 %, null 33.3 %.
    #[odm(embed(few, max = 10))]
    pub doc: Option<Vec<Option<AllListDoc>>>,
    /// array 66.7 %, null 33.3 %; at most 2 elements: array 66.7 %, null 33.3 %.
    pub arr: Option<Vec<Option<Vec<i32>>>>,
    /// array 66.7 %, null 33.3 %; at most 2 elements: binData 66.7 %, null 33.3 %.
    pub bin: Option<Vec<Option<bson::Binary>>>,
    /// array 66.7 %, null 33.3 %; at most 2 elements: binData 66.7 %, null 33.3 %.
    pub olduuid: Option<Vec<Option<bson::Binary>>>,
    /// array 66.7 %, null 33.3 %; at most 2 elements: UUID 66.7 %, null 33.3 %.
    /// 100 % of 1 ids resolve in `uuid_ids`.
    #[odm(references(many, max = 10))]
    pub uuid: Option<Vec<Option<Ref<UuidId>>>>,
    /// array 66.7 %, null 33.3 %; at most 2 elements: a deprecated type 66.7 %, null 33.3 %.
    pub undef: Option<Vec<bson::Bson>>,
    /// array 66.7 %, null 33.3 %; at most 2 elements: objectId 66.7 %, null 33.3 %.
    /// 100 % of 1 ids resolve in `authors`.
    #[odm(references(many, max = 10))]
    pub oid: Option<Vec<Option<Ref<Author>>>>,
    /// array 66.7 %, null 33.3 %; at most 2 elements: bool 66.7 %, null 33.3 %.
    pub bool: Option<Vec<Option<bool>>>,
    /// array 66.7 %, null 33.3 %; at most 2 elements: date 66.7 %, null 33.3 %.
    pub date: Option<Vec<Option<DateTime>>>,
    /// array 66.7 %, null 33.3 %; at most 2 elements: date 66.7 %, null 33.3 %.
    pub far: Option<Vec<Option<DateTime>>>,
    /// array 66.7 %, null 33.3 %; at most 2 elements: date 66.7 %, null 33.3 %.
    pub early: Option<Vec<Option<DateTime>>>,
    /// array 66.7 %, null 33.3 %; at most 2 elements: null 100 %.
    pub null: Option<Vec<bson::Bson>>,
    /// array 66.7 %, null 33.3 %; at most 2 elements: regex 66.7 %, null 33.3 %.
    pub regex: Option<Vec<Option<bson::Regex>>>,
    /// array 66.7 %, null 33.3 %; at most 2 elements: a deprecated type 66.7 %, null 33.3 %.
    pub dbp: Option<Vec<bson::Bson>>,
    /// array 66.7 %, null 33.3 %; at most 2 elements: javascript 66.7 %, null 33.3 %.
    pub code: Option<Vec<bson::Bson>>,
    /// array 66.7 %, null 33.3 %; at most 2 elements: javascriptWithScope 66.7 %, null 33.3 %.
    pub scoped: Option<Vec<Option<bson::JavaScriptCodeWithScope>>>,
    /// array 66.7 %, null 33.3 %; at most 2 elements: a deprecated type 66.7 %, null 33.3 %.
    pub sym: Option<Vec<bson::Bson>>,
    /// array 66.7 %, null 33.3 %; at most 2 elements: int 66.7 %, null 33.3 %.
    pub int: Option<Vec<Option<i32>>>,
    /// array 66.7 %, null 33.3 %; at most 2 elements: timestamp 66.7 %, null 33.3 %.
    pub ts: Option<Vec<Option<bson::Timestamp>>>,
    /// array 66.7 %, null 33.3 %; at most 2 elements: long 66.7 %, null 33.3 %.
    pub long: Option<Vec<Option<i64>>>,
    /// array 66.7 %, null 33.3 %; at most 2 elements: decimal 66.7 %, null 33.3 %.
    pub dec: Option<Vec<Option<bson::Decimal128>>>,
    /// array 66.7 %, null 33.3 %; at most 2 elements: minKey 66.7 %, null 33.3 %.
    pub minkey: Option<Vec<bson::Bson>>,
    /// array 66.7 %, null 33.3 %; at most 2 elements: maxKey 66.7 %, null 33.3 %.
    pub maxkey: Option<Vec<bson::Bson>>,
    /// array 66.7 %, null 33.3 %; at most 2 elements: double 66.7 %, null 33.3 %.
    pub nan: Option<Vec<Option<f64>>>,
    /// array 66.7 %, null 33.3 %; at most 2 elements: double 66.7 %, null 33.3 %.
    pub inf: Option<Vec<Option<f64>>>,
    /// array 66.7 %, null 33.3 %; at most 2 elements: object 66.7 %, null 33.3 %.
    pub emptydoc: Option<Vec<Option<bson::Document>>>,
    /// array 66.7 %, null 33.3 %; at most 2 elements: array 66.7 %, null 33.3 %.
    pub emptyarr: Option<Vec<Option<Vec<bson::Bson>>>>,
}

/// A document of `all_map_lists`: 1 of 1 were read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "all_map_lists")]
pub struct AllMapList {
    /// int 100 %.
    #[serde(rename = "_id")]
    pub id: i32,
    /// object 100 %; at most 1 entry: array 100 %.
    pub dbl: BTreeMap<String, Vec<f64>>,
    /// object 100 %; at most 1 entry: array 100 %.
    pub str: BTreeMap<String, Vec<String>>,
    /// object 100 %; at most 1 entry: array 100 %.
    pub doc: BTreeMap<String, Vec<bson::Document>>,
    /// object 100 %; at most 1 entry: array 100 %.
    pub arr: BTreeMap<String, Vec<Vec<i32>>>,
    /// object 100 %; at most 1 entry: array 100 %.
    pub bin: BTreeMap<String, Vec<bson::Binary>>,
    /// object 100 %; at most 1 entry: array 100 %.
    pub olduuid: BTreeMap<String, Vec<bson::Binary>>,
    /// object 100 %; at most 1 entry: array 100 %.
    /// 100 % of 1 ids resolve in `uuid_ids`.
    pub uuid: BTreeMap<String, Vec<bson::Bson>>,
    /// object 100 %; at most 1 entry: array 100 %.
    pub undef: BTreeMap<String, Vec<bson::Bson>>,
    /// object 100 %; at most 1 entry: array 100 %.
    /// 100 % of 1 ids resolve in `authors`.
    pub oid: BTreeMap<String, Vec<bson::Bson>>,
    /// object 100 %; at most 1 entry: array 100 %.
    pub bool: BTreeMap<String, Vec<bool>>,
    /// object 100 %; at most 1 entry: array 100 %.
    pub date: BTreeMap<String, Vec<DateTime>>,
    /// object 100 %; at most 1 entry: array 100 %.
    pub far: BTreeMap<String, Vec<DateTime>>,
    /// object 100 %; at most 1 entry: array 100 %.
    pub early: BTreeMap<String, Vec<DateTime>>,
    /// object 100 %; at most 1 entry: array 100 %.
    pub null: BTreeMap<String, Vec<bson::Bson>>,
    /// object 100 %; at most 1 entry: array 100 %.
    pub regex: BTreeMap<String, Vec<bson::Regex>>,
    /// object 100 %; at most 1 entry: array 100 %.
    pub dbp: BTreeMap<String, Vec<bson::Bson>>,
    /// object 100 %; at most 1 entry: array 100 %.
    pub code: BTreeMap<String, Vec<bson::Bson>>,
    /// object 100 %; at most 1 entry: array 100 %.
    pub scoped: BTreeMap<String, Vec<bson::JavaScriptCodeWithScope>>,
    /// object 100 %; at most 1 entry: array 100 %.
    pub sym: BTreeMap<String, Vec<bson::Bson>>,
    /// object 100 %; at most 1 entry: array 100 %.
    pub int: BTreeMap<String, Vec<i32>>,
    /// object 100 %; at most 1 entry: array 100 %.
    pub ts: BTreeMap<String, Vec<bson::Timestamp>>,
    /// object 100 %; at most 1 entry: array 100 %.
    pub long: BTreeMap<String, Vec<i64>>,
    /// object 100 %; at most 1 entry: array 100 %.
    pub dec: BTreeMap<String, Vec<bson::Decimal128>>,
    /// object 100 %; at most 1 entry: array 100 %.
    pub minkey: BTreeMap<String, Vec<bson::Bson>>,
    /// object 100 %; at most 1 entry: array 100 %.
    pub maxkey: BTreeMap<String, Vec<bson::Bson>>,
    /// object 100 %; at most 1 entry: array 100 %.
    pub nan: BTreeMap<String, Vec<f64>>,
    /// object 100 %; at most 1 entry: array 100 %.
    pub inf: BTreeMap<String, Vec<f64>>,
    /// object 100 %; at most 1 entry: array 100 %.
    pub emptydoc: BTreeMap<String, Vec<bson::Document>>,
    /// object 100 %; at most 1 entry: array 100 %.
    pub emptyarr: BTreeMap<String, Vec<Vec<bson::Bson>>>,
}

/// A document of `all_maps`: 1 of 1 were read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "all_maps")]
pub struct AllMap {
    /// int 100 %.
    #[serde(rename = "_id")]
    pub id: i32,
    /// object 100 %; at most 2 entries: double 100 %.
    pub dbl: BTreeMap<String, f64>,
    /// object 100 %; at most 2 entries: string 100 %.
    pub str: BTreeMap<String, String>,
    /// object 100 %; at most 2 entries: object 100 %.
    #[odm(embed(few, max = 10))]
    pub doc: BTreeMap<String, AllMapDoc>,
    /// object 100 %; at most 2 entries: array 100 %.
    pub arr: BTreeMap<String, Vec<i32>>,
    /// object 100 %; at most 2 entries: binData 100 %.
    pub bin: BTreeMap<String, bson::Binary>,
    /// object 100 %; at most 2 entries: binData 100 %.
    pub olduuid: BTreeMap<String, bson::Binary>,
    /// object 100 %; at most 2 entries: UUID 100 %.
    /// 100 % of 1 ids resolve in `uuid_ids`.
    #[odm(references(many, max = 10))]
    pub uuid: BTreeMap<String, Ref<UuidId>>,
    /// object 100 %; at most 2 entries: a deprecated type 100 %.
    pub undef: BTreeMap<String, bson::Bson>,
    /// object 100 %; at most 2 entries: objectId 100 %.
    /// 100 % of 1 ids resolve in `authors`.
    #[odm(references(many, max = 10))]
    pub oid: BTreeMap<String, Ref<Author>>,
    /// object 100 %; at most 2 entries: bool 100 %.
    pub bool: BTreeMap<String, bool>,
    /// object 100 %; at most 2 entries: date 100 %.
    pub date: BTreeMap<String, DateTime>,
    /// object 100 %; at most 2 entries: date 100 %.
    pub far: BTreeMap<String, DateTime>,
    /// object 100 %; at most 2 entries: date 100 %.
    pub early: BTreeMap<String, DateTime>,
    /// object 100 %; at most 2 entries: null 100 %.
    pub null: BTreeMap<String, bson::Bson>,
    /// object 100 %; at most 2 entries: regex 100 %.
    pub regex: BTreeMap<String, bson::Regex>,
    /// object 100 %; at most 2 entries: a deprecated type 100 %.
    pub dbp: BTreeMap<String, bson::Bson>,
    /// object 100 %; at most 2 entries: javascript 100 %.
    pub code: BTreeMap<String, bson::Bson>,
    /// object 100 %; at most 2 entries: javascriptWithScope 100 %.
    pub scoped: BTreeMap<String, bson::JavaScriptCodeWithScope>,
    /// object 100 %; at most 2 entries: a deprecated type 100 %.
    pub sym: BTreeMap<String, bson::Bson>,
    /// object 100 %; at most 2 entries: int 100 %.
    pub int: BTreeMap<String, i32>,
    /// object 100 %; at most 2 entries: timestamp 100 %.
    pub ts: BTreeMap<String, bson::Timestamp>,
    /// object 100 %; at most 2 entries: long 100 %.
    pub long: BTreeMap<String, i64>,
    /// object 100 %; at most 2 entries: decimal 100 %.
    pub dec: BTreeMap<String, bson::Decimal128>,
    /// object 100 %; at most 2 entries: minKey 100 %.
    pub minkey: BTreeMap<String, bson::Bson>,
    /// object 100 %; at most 2 entries: maxKey 100 %.
    pub maxkey: BTreeMap<String, bson::Bson>,
    /// object 100 %; at most 2 entries: double 100 %.
    pub nan: BTreeMap<String, f64>,
    /// object 100 %; at most 2 entries: double 100 %.
    pub inf: BTreeMap<String, f64>,
    /// object 100 %; at most 2 entries: object 100 %.
    pub emptydoc: BTreeMap<String, bson::Document>,
    /// object 100 %; at most 2 entries: array 100 %.
    pub emptyarr: BTreeMap<String, Vec<bson::Bson>>,
}

/// A document of `all_nested_lists`: 1 of 1 were read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "all_nested_lists")]
pub struct AllNestedList {
    /// int 100 %.
    #[serde(rename = "_id")]
    pub id: i32,
    /// array 100 %; at most 1 element: array 100 %.
    pub dbl: Vec<Vec<f64>>,
    /// array 100 %; at most 1 element: array 100 %.
    pub str: Vec<Vec<String>>,
    /// array 100 %; at most 1 element: array 100 %.
    pub doc: Vec<Vec<bson::Document>>,
    /// array 100 %; at most 1 element: array 100 %.
    pub arr: Vec<Vec<Vec<i32>>>,
    /// array 100 %; at most 1 element: array 100 %.
    pub bin: Vec<Vec<bson::Binary>>,
    /// array 100 %; at most 1 element: array 100 %.
    pub olduuid: Vec<Vec<bson::Binary>>,
    /// array 100 %; at most 1 element: array 100 %.
    /// 100 % of 1 ids resolve in `uuid_ids`.
    pub uuid: Vec<Vec<bson::Bson>>,
    /// array 100 %; at most 1 element: array 100 %.
    pub undef: Vec<Vec<bson::Bson>>,
    /// array 100 %; at most 1 element: array 100 %.
    /// 100 % of 1 ids resolve in `authors`.
    pub oid: Vec<Vec<bson::Bson>>,
    /// array 100 %; at most 1 element: array 100 %.
    pub bool: Vec<Vec<bool>>,
    /// array 100 %; at most 1 element: array 100 %.
    pub date: Vec<Vec<DateTime>>,
    /// array 100 %; at most 1 element: array 100 %.
    pub far: Vec<Vec<DateTime>>,
    /// array 100 %; at most 1 element: array 100 %.
    pub early: Vec<Vec<DateTime>>,
    /// array 100 %; at most 1 element: array 100 %.
    pub null: Vec<Vec<bson::Bson>>,
    /// array 100 %; at most 1 element: array 100 %.
    pub regex: Vec<Vec<bson::Regex>>,
    /// array 100 %; at most 1 element: array 100 %.
    pub dbp: Vec<Vec<bson::Bson>>,
    /// array 100 %; at most 1 element: array 100 %.
    pub code: Vec<Vec<bson::Bson>>,
    /// array 100 %; at most 1 element: array 100 %.
    pub scoped: Vec<Vec<bson::JavaScriptCodeWithScope>>,
    /// array 100 %; at most 1 element: array 100 %.
    pub sym: Vec<Vec<bson::Bson>>,
    /// array 100 %; at most 1 element: array 100 %.
    pub int: Vec<Vec<i32>>,
    /// array 100 %; at most 1 element: array 100 %.
    pub ts: Vec<Vec<bson::Timestamp>>,
    /// array 100 %; at most 1 element: array 100 %.
    pub long: Vec<Vec<i64>>,
    /// array 100 %; at most 1 element: array 100 %.
    pub dec: Vec<Vec<bson::Decimal128>>,
    /// array 100 %; at most 1 element: array 100 %.
    pub minkey: Vec<Vec<bson::Bson>>,
    /// array 100 %; at most 1 element: array 100 %.
    pub maxkey: Vec<Vec<bson::Bson>>,
    /// array 100 %; at most 1 element: array 100 %.
    pub nan: Vec<Vec<f64>>,
    /// array 100 %; at most 1 element: array 100 %.
    pub inf: Vec<Vec<f64>>,
    /// array 100 %; at most 1 element: array 100 %.
    pub emptydoc: Vec<Vec<bson::Document>>,
    /// array 100 %; at most 1 element: array 100 %.
    pub emptyarr: Vec<Vec<Vec<bson::Bson>>>,
}

/// A document of `all_nullable`: 2 of 2 were read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "all_nullable")]
pub struct AllNullable {
    /// int 100 %.
    #[serde(rename = "_id")]
    pub id: i32,
    /// double 50 %, null 50 %.
    pub dbl: Option<f64>,
    /// string 50 %, null 50 %.
    pub str: Option<String>,
    /// object 50 %, null 50 %.
    pub doc: Option<AllNullableDoc>,
    /// array 50 %, null 50 %; at most 1 element: int 100 %.
    pub arr: Option<Vec<i32>>,
    /// binData 50 %, null 50 %.
    pub bin: Option<bson::Binary>,
    /// binData 50 %, null 50 %.
    pub olduuid: Option<bson::Binary>,
    /// UUID 50 %, null 50 %.
    /// 100 % of 1 ids resolve in `uuid_ids`.
    pub uuid: Option<Ref<UuidId>>,
    /// null 50 %, a deprecated type 50 %.
    pub undef: bson::Bson,
    /// objectId 50 %, null 50 %.
    /// 100 % of 1 ids resolve in `authors`.
    pub oid: Option<Ref<Author>>,
    /// bool 50 %, null 50 %.
    pub bool: Option<bool>,
    /// date 50 %, null 50 %.
    pub date: Option<DateTime>,
    /// date 50 %, null 50 %.
    pub far: Option<DateTime>,
    /// date 50 %, null 50 %.
    pub early: Option<DateTime>,
    /// null 100 %.
    pub null: bson::Bson,
    /// null 50 %, regex 50 %.
    pub regex: Option<bson::Regex>,
    /// null 50 %, a deprecated type 50 %.
    pub dbp: bson::Bson,
    /// null 50 %, javascript 50 %.
    pub code: bson::Bson,
    /// null 50 %, javascriptWithScope 50 %.
    pub scoped: Option<bson::JavaScriptCodeWithScope>,
    /// null 50 %, a deprecated type 50 %.
    pub sym: bson::Bson,
    /// null 50 %, int 50 %.
    pub int: Option<i32>,
    /// null 50 %, timestamp 50 %.
    pub ts: Option<bson::Timestamp>,
    /// null 50 %, long 50 %.
    pub long: Option<i64>,
    /// null 50 %, decimal 50 %.
    pub dec: Option<bson::Decimal128>,
    /// null 50 %, minKey 50 %.
    pub minkey: bson::Bson,
    /// null 50 %, maxKey 50 %.
    pub maxkey: bson::Bson,
    /// double 50 %, null 50 %.
    pub nan: Option<f64>,
    /// double 50 %, null 50 %.
    pub inf: Option<f64>,
    /// object 50 %, null 50 %.
    pub emptydoc: Option<bson::Document>,
    /// array 50 %, null 50 %; no elements.
    pub emptyarr: Option<Vec<bson::Bson>>,
}

/// A document of `all_optional`: 2 of 2 were read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "all_optional")]
pub struct AllOptional {
    /// int 100 %.
    #[serde(rename = "_id")]
    pub id: i32,
    /// double 50 %, absent 50 %.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dbl: Option<f64>,
    /// string 50 %, absent 50 %.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub str: Option<String>,
    /// object 50 %, absent 50 %.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doc: Option<AllOptionalDoc>,
    /// array 50 %, absent 50 %; at most 1 element: int 100 %.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arr: Option<Vec<i32>>,
    /// binData 50 %, absent 50 %.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bin: Option<bson::Binary>,
    /// binData 50 %, absent 50 %.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub olduuid: Option<bson::Binary>,
    /// UUID 50 %, absent 50 %.
    /// 100 % of 1 ids resolve in `uuid_ids`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uuid: Option<Ref<UuidId>>,
    /// a deprecated type 50 %, absent 50 %.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undef: Option<bson::Bson>,
    /// objectId 50 %, absent 50 %.
    /// 100 % of 1 ids resolve in `authors`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oid: Option<Ref<Author>>,
    /// bool 50 %, absent 50 %.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bool: Option<bool>,
    /// date 50 %, absent 50 %.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date: Option<DateTime>,
    /// date 50 %, absent 50 %.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub far: Option<DateTime>,
    /// date 50 %, absent 50 %.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub early: Option<DateTime>,
    /// null 50 %, absent 50 %.
    #[serde(default, with = "odm::double_option")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub null: Option<Option<bson::Bson>>,
    /// regex 50 %, absent 50 %.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub regex: Option<bson::Regex>,
    /// a deprecated type 50 %, absent 50 %.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dbp: Option<bson::Bson>,
    /// javascript 50 %, absent 50 %.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<bson::Bson>,
    /// javascriptWithScope 50 %, absent 50 %.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scoped: Option<bson::JavaScriptCodeWithScope>,
    /// a deprecated type 50 %, absent 50 %.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sym: Option<bson::Bson>,
    /// int 50 %, absent 50 %.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub int: Option<i32>,
    /// timestamp 50 %, absent 50 %.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ts: Option<bson::Timestamp>,
    /// long 50 %, absent 50 %.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub long: Option<i64>,
    /// decimal 50 %, absent 50 %.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dec: Option<bson::Decimal128>,
    /// minKey 50 %, absent 50 %.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minkey: Option<bson::Bson>,
    /// maxKey 50 %, absent 50 %.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maxkey: Option<bson::Bson>,
    /// double 50 %, absent 50 %.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nan: Option<f64>,
    /// double 50 %, absent 50 %.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inf: Option<f64>,
    /// object 50 %, absent 50 %.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub emptydoc: Option<bson::Document>,
    /// array 50 %, absent 50 %; no elements.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub emptyarr: Option<Vec<bson::Bson>>,
}

/// A document of `all_types`: 1 of 1 were read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "all_types")]
pub struct AllType {
    /// int 100 %.
    #[serde(rename = "_id")]
    pub id: i32,
    /// double 100 %.
    pub dbl: f64,
    /// string 100 %.
    pub str: String,
    /// object 100 %.
    pub doc: AllTypeDoc,
    /// array 100 %; at most 1 element: int 100 %.
    pub arr: Vec<i32>,
    /// binData 100 %.
    pub bin: bson::Binary,
    /// binData 100 %.
    pub olduuid: bson::Binary,
    /// UUID 100 %.
    /// 100 % of 1 ids resolve in `uuid_ids`.
    pub uuid: Ref<UuidId>,
    /// a deprecated type 100 %.
    pub undef: bson::Bson,
    /// objectId 100 %.
    /// 100 % of 1 ids resolve in `authors`.
    pub oid: Ref<Author>,
    /// bool 100 %.
    pub bool: bool,
    /// date 100 %.
    pub date: DateTime,
    /// date 100 %.
    pub far: DateTime,
    /// date 100 %.
    pub early: DateTime,
    /// null 100 %.
    pub null: bson::Bson,
    /// regex 100 %.
    pub regex: bson::Regex,
    /// a deprecated type 100 %.
    pub dbp: bson::Bson,
    /// javascript 100 %.
    pub code: bson::Bson,
    /// javascriptWithScope 100 %.
    pub scoped: bson::JavaScriptCodeWithScope,
    /// a deprecated type 100 %.
    pub sym: bson::Bson,
    /// int 100 %.
    pub int: i32,
    /// timestamp 100 %.
    pub ts: bson::Timestamp,
    /// long 100 %.
    pub long: i64,
    /// decimal 100 %.
    pub dec: bson::Decimal128,
    /// minKey 100 %.
    pub minkey: bson::Bson,
    /// maxKey 100 %.
    pub maxkey: bson::Bson,
    /// double 100 %.
    pub nan: f64,
    /// double 100 %.
    pub inf: f64,
    /// object 100 %.
    pub emptydoc: bson::Document,
    /// array 100 %; no elements.
    pub emptyarr: Vec<bson::Bson>,
}

/// A document of `authors`: 10 of 10 were read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "authors")]
pub struct Author {
    /// objectId 100 %.
    #[serde(rename = "_id")]
    pub id: Id<Author>,
    /// string 100 %.
    pub name: String,
}

/// A document of `b.ooks`: 1 of 1 were read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "b.ooks")]
pub struct BOok {
    /// int 100 %.
    #[serde(rename = "_id")]
    pub id: i32,
    /// int 100 %.
    pub a: i32,
}

/// A document of `binary_ids`: 1 of 1 were read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "binary_ids")]
pub struct BinaryId {
    /// binData 100 %.
    #[serde(rename = "_id")]
    pub id: bson::Binary,
}

/// A document of `book`: 1 of 1 were read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "book")]
pub struct BookDocument {
    /// int 100 %.
    #[serde(rename = "_id")]
    pub id: i32,
    /// int 100 %.
    pub a: i32,
}

/// A document of `book_fields`: 1 of 1 were read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "book_fields")]
pub struct BookField {
    /// int 100 %.
    #[serde(rename = "_id")]
    pub id: i32,
    /// int 100 %.
    pub a: i32,
}

/// A document of `book_joined`: 1 of 1 were read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "book_joined")]
pub struct BookJoinedDocument {
    /// int 100 %.
    #[serde(rename = "_id")]
    pub id: i32,
    /// int 100 %.
    pub a: i32,
}

/// A document of `books`: 1 of 1 were read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "books")]
pub struct BookDocument2 {
    /// int 100 %.
    #[serde(rename = "_id")]
    pub id: i32,
    /// int 100 %.
    pub a: i32,
}

/// A document of `bool_ids`: 2 of 2 were read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "bool_ids")]
pub struct BoolId {
    /// bool 100 %.
    #[serde(rename = "_id")]
    pub id: bool,
}

/// A document of `cafés`: 1 of 1 were read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "cafés")]
pub struct Cafe {
    /// int 100 %.
    #[serde(rename = "_id")]
    pub id: i32,
    /// int 100 %.
    pub a: i32,
}

/// A document of `capped`: 3 of 3 were read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "capped")]
#[odm(capped(size = 4_096, max = 100))]
pub struct Capped {
    /// int 100 %.
    #[serde(rename = "_id")]
    pub id: i32,
    /// int 100 %.
    pub at: i32,
}

/// A document of `comments`: 1 of 1 were read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "comments")]
pub struct Comment {
    /// int 100 %.
    #[serde(rename = "_id")]
    pub id: i32,
    /// string 100 %.
    pub text: String,
    /// array 100 %; at most 1 element: object 100 %.
    #[odm(embed(few, max = 10))]
    pub replies: Vec<Reply>,
}

/// A document of `date_ids`: 3 of 3 were read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "date_ids")]
pub struct DateId {
    /// date 100 %.
    #[serde(rename = "_id")]
    pub id: DateTime,
}

/// A document of `decimal_ids`: 1 of 1 were read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "decimal_ids")]
pub struct DecimalId {
    /// decimal 100 %.
    #[serde(rename = "_id")]
    pub id: bson::Decimal128,
}

/// A document of `deep_arrays`: 1 of 1 were read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "deep_arrays")]
pub struct DeepArray {
    /// int 100 %.
    #[serde(rename = "_id")]
    pub id: i32,
    /// array 100 %; at most 1 element: array 100 %.
    pub a: Vec<bson::Bson>,
}

/// A document of `deep_distinct`: 1 of 1 were read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "deep_distinct")]
pub struct DeepDistinct {
    /// int 100 %.
    #[serde(rename = "_id")]
    pub id: i32,
    /// object 100 %.
    pub l1: L1,
}

/// A document of `deep_same`: 1 of 1 were read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "deep_same")]
pub struct DeepSame {
    /// int 100 %.
    #[serde(rename = "_id")]
    pub id: i32,
    /// object 100 %.
    pub l: L,
}

/// A document of `document_ids`: 5 of 5 were read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "document_ids")]
pub struct DocumentId {
    /// object 100 %.
    #[serde(rename = "_id")]
    pub id: DocumentIdId,
    /// int 100 %.
    pub n: i32,
}

/// A document of `double_ids`: 3 of 3 were read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "double_ids")]
pub struct DoubleId {
    /// double 100 %.
    #[serde(rename = "_id")]
    pub id: f64,
}

/// A document of `empty`, which is empty.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "empty")]
pub struct Empty {
    /// The id.
    #[serde(rename = "_id")]
    pub id: Id<Empty>,
}

/// A document of `enums`: 60 of 60 were read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "enums")]
pub struct Enum {
    /// int 100 %.
    #[serde(rename = "_id")]
    pub id: i32,
    /// string 100 %.
    pub state: State,
    /// string 100 %.
    pub level: String,
    /// array 100 %; at most 1 element: string 100 %.
    pub tags: Vec<Tag>,
    /// string 100 %.
    #[serde(rename = "self")]
    pub self_: EnumSelfValue,
    /// object 100 %; at most 1 entry: string 100 %.
    pub m: BTreeMap<String, M>,
    /// string 66.7 %, null 33.3 %.
    pub maybe: Option<Maybe>,
    /// absent 75 %, string 25 %.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub abs: Option<String>,
}

/// A document of `geo`: 2 of 2 were read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "geo")]
#[odm(index(p = "2dsphere"))]
#[odm(index(l = "2dsphere"))]
#[odm(index(g = "2dsphere"))]
#[odm(index(ps = "2dsphere"))]
#[odm(index(int = "2dsphere"))]
#[odm(index(legacy = "2dsphere"))]
pub struct Geo {
    /// int 100 %.
    #[serde(rename = "_id")]
    pub id: i32,
    /// object 50 %, absent 50 %.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p: Option<geo::Point>,
    /// object 50 %, absent 50 %.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub l: Option<geo::LineString>,
    /// object 100 %.
    pub g: geo::Geometry,
    /// array 50 %, absent 50 %; at most 1 element: object 100 %.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ps: Option<Vec<geo::Point>>,
    /// object 50 %, absent 50 %.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub int: Option<Int>,
    /// array 50 %, absent 50 %; at most 2 elements: double 100 %.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub legacy: Option<Vec<f64>>,
}

/// A document of `indexed`: 4 of 4 were read.
// The index `opt_1` is not declared: it is unique, and documents without the field need `sparse` or a partial filter. {"v":2,"key":{"opt":1},"name":"opt_1","unique":true}
// The index `bad_ttl` is not declared: documents expire by a date, and its field holds other values. {"v":2,"key":{"year":1},"name":"bad_ttl","expireAfterSeconds":3600}
// The index `two` is not declared: two of its keys are lists. {"v":2,"key":{"tags":1,"lists":1},"name":"two"}
// The index `m` is not declared: `map.2020` has no typed fields inside. {"v":2,"key":{"map.2020":1},"name":"m"}
// The index `nope_1` is not declared: `nope` is not a declared field. {"v":2,"key":{"nope":1},"name":"nope_1"}
// The index `loc_2d` is not declared: odm has no declaration for keys of the kind `2d`. {"v":2,"key":{"loc":"2d"},"name":"loc_2d"}
// The index `bothd.a_1` is not declared: `bothd.a` has no typed fields inside. {"v":2,"key":{"bothd.a":1},"name":"bothd.a_1"}
// The index `ab` is not declared: `a.b` is not a declared field. {"v":2,"key":{"a.b":1},"name":"ab"}
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "indexed")]
#[odm(collation(locale = "en", strength = 2))]
#[odm(change_stream_images)]
#[odm(index(title, collation(locale = "simple")))]
#[odm(index(title, year = desc, collation(locale = "simple")))]
#[odm(unique(isbn, collation(locale = "simple")))]
#[odm(unique(opt2 = asc, sparse, collation(locale = "simple")))]
#[odm(unique(nul = asc, collation(locale = "simple"), partial = |_| odm::query::raw(doc! { "year": { "$gt": 1_970 }, "title": { "$exists": true } })))]
#[odm(ttl(seen, after = "30d", collation(locale = "simple")))]
#[odm(text(title(weight = 10), blurb))]
#[odm(index(year = hashed, collation(locale = "simple")))]
#[odm(index(contact.name = asc, name = "own name", collation(locale = "simple")))]
#[odm(index(copies.shelf = asc, hidden, collation(locale = "simple")))]
#[odm(wildcard(collation(locale = "simple")))]
#[odm(wildcard(name = "w2", collation(locale = "simple"), only(title, contact.name)))]
#[odm(index(year = asc, name = "de", collation(locale = "de", strength = 2, numeric_ordering = true)))]
#[odm(index(unique = asc, collation(locale = "simple")))]
#[odm(index(name = asc, collation(locale = "simple")))]
#[odm(index(r#ref.id = asc, collation(locale = "simple")))]
#[odm(index(r#type = asc, collation(locale = "simple")))]
#[odm(index(both = asc, collation(locale = "simple")))]
#[odm(index(optd.a = asc, collation(locale = "simple")))]
#[odm(index(year, opt = hashed, name = "yh", collation(locale = "simple")))]
pub struct Indexed {
    /// int 100 %.
    #[serde(rename = "_id")]
    pub id: i32,
    /// string 100 %.
    pub title: String,
    /// int 100 %.
    pub year: i32,
    /// string 100 %.
    pub isbn: String,
    /// string 100 %.
    pub opt2: String,
    /// string 75 %, null 25 %.
    pub nul: Option<String>,
    /// date 100 %.
    pub seen: DateTime,
    /// string 100 %.
    pub blurb: String,
    /// array 100 %; at most 1 element: string 100 %.
    pub tags: Vec<String>,
    /// array 100 %; at most 1 element: string 100 %.
    pub lists: Vec<String>,
    /// object 100 %.
    pub contact: Contact,
    /// array 100 %; at most 1 element: object 100 %.
    #[odm(embed(few, max = 10))]
    pub copies: Vec<IndexedCopy>,
    /// object 100 %; at most 1 entry: int 100 %.
    /// 100 % of 1 ids resolve in `all_maps`.
    #[odm(references(many, max = 10))]
    pub map: BTreeMap<String, Ref<AllMap>>,
    /// array 100 %; at most 2 elements: int 100 %.
    pub loc: Vec<i32>,
    /// int 100 %.
    pub unique: i32,
    /// string 100 %.
    pub name: String,
    /// int 100 %.
    pub partial: i32,
    /// DBRef 100 %; to `indexed`.
    /// 100 % of 1 ids resolve in `indexed`.
    pub r#ref: DbRef<Indexed>,
    /// string 100 %.
    pub r#type: String,
    /// null 50 %, int 25 %, absent 25 %.
    /// 100 % of 1 ids resolve in `all_both`.
    #[serde(default, with = "odm::double_option")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub both: Option<Option<Ref<AllBoth>>>,
    /// object 50 %, null 25 %, absent 25 %.
    #[serde(default, with = "odm::double_option")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bothd: Option<Option<Bothd>>,
    /// object 75 %, absent 25 %.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub optd: Option<Optd>,
    /// absent 75 %, string 25 %.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opt: Option<String>,
}

/// A document of `just_validated`, which is empty.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "just_validated")]
#[odm(rule("validator 1", |_| odm::query::raw(doc! { "$or": [{ "a": "x" }, { "b": 1 }] })))]
pub struct JustValidated {
    /// The id.
    #[serde(rename = "_id")]
    pub id: Id<JustValidated>,
    /// In no document that was read; the validator declares it.
    pub a: String,
    /// In no document that was read; the validator declares it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[odm(items(min = 1))]
    pub b: Option<Vec<i32>>,
}

/// A document of `keyword_structs`: 1 of 1 were read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "keyword_structs")]
pub struct KeywordStruct {
    /// int 100 %.
    #[serde(rename = "_id")]
    pub id: i32,
    /// object 100 %.
    pub r#abstract: Abstract,
    /// object 100 %.
    pub r#as: As,
    /// object 100 %.
    pub r#async: Async,
    /// object 100 %.
    pub r#await: Await,
    /// object 100 %.
    pub r#become: Become,
    /// object 100 %.
    pub r#box: KeywordStructBox,
    /// object 100 %.
    pub r#break: Break,
    /// object 100 %.
    pub r#const: Const,
    /// object 100 %.
    pub r#continue: Continue,
    /// object 100 %.
    #[serde(rename = "crate")]
    pub crate_: Crate,
    /// object 100 %.
    pub r#do: Do,
    /// object 100 %.
    pub r#dyn: Dyn,
    /// object 100 %.
    pub r#else: Else,
    /// object 100 %.
    pub r#enum: KeywordStructEnum,
    /// object 100 %.
    pub r#extern: Extern,
    /// object 100 %.
    pub r#false: False,
    /// object 100 %.
    pub r#final: Final,
    /// object 100 %.
    pub r#fn: Fn,
    /// object 100 %.
    pub r#for: For,
    /// object 100 %.
    pub r#gen: Gen,
    /// object 100 %.
    pub r#if: If,
    /// object 100 %.
    pub r#impl: Impl,
    /// object 100 %.
    pub r#in: In,
    /// object 100 %.
    pub r#let: Let,
    /// object 100 %.
    pub r#loop: Loop,
    /// object 100 %.
    pub r#macro: Macro,
    /// object 100 %.
    pub r#match: Match,
    /// object 100 %.
    pub r#mod: Mod,
    /// object 100 %.
    pub r#move: Move,
    /// object 100 %.
    pub r#mut: Mut,
    /// object 100 %.
    pub r#override: Override,
    /// object 100 %.
    pub r#priv: Priv,
    /// object 100 %.
    pub r#pub: Pub,
    /// object 100 %.
    pub r#ref: KeywordStructRef,
    /// object 100 %.
    pub r#return: Return,
    /// object 100 %.
    #[serde(rename = "self")]
    pub self_: KeywordStructSelfValue,
    /// object 100 %.
    #[serde(rename = "Self")]
    pub self_2: KeywordStructSelfValue2,
    /// object 100 %.
    pub r#static: Static,
    /// object 100 %.
    pub r#struct: Struct,
    /// object 100 %.
    #[serde(rename = "super")]
    pub super_: Super,
    /// object 100 %.
    pub r#trait: Trait,
    /// object 100 %.
    pub r#true: True,
    /// object 100 %.
    pub r#try: Try,
    /// object 100 %.
    pub r#type: KeywordStructType,
    /// object 100 %.
    pub r#typeof: Typeof,
    /// object 100 %.
    pub r#unsafe: Unsafe,
    /// object 100 %.
    pub r#unsized: Unsized,
    /// object 100 %.
    pub r#use: Use,
    /// object 100 %.
    pub r#virtual: Virtual,
    /// object 100 %.
    pub r#where: Where,
    /// object 100 %.
    pub r#while: While,
    /// object 100 %.
    pub r#yield: Yield,
    /// object 100 %.
    pub union: Union,
    /// object 100 %.
    pub macro_rules: MacroRule,
    /// object 100 %.
    pub raw: Raw,
    /// object 100 %.
    pub default: KeywordStructDefault,
    /// object 100 %.
    pub auto: Auto,
}

/// A document of `keywords`: 1 of 1 were read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "keywords")]
pub struct Keyword {
    /// int 100 %.
    #[serde(rename = "_id")]
    pub id: i32,
    /// int 100 %.
    pub r#abstract: i32,
    /// int 100 %.
    pub r#as: i32,
    /// int 100 %.
    pub r#async: i32,
    /// int 100 %.
    pub r#await: i32,
    /// int 100 %.
    pub r#become: i32,
    /// int 100 %.
    pub r#box: i32,
    /// int 100 %.
    pub r#break: i32,
    /// int 100 %.
    pub r#const: i32,
    /// int 100 %.
    pub r#continue: i32,
    /// int 100 %.
    #[serde(rename = "crate")]
    pub crate_: i32,
    /// int 100 %.
    pub r#do: i32,
    /// int 100 %.
    pub r#dyn: i32,
    /// int 100 %.
    pub r#else: i32,
    /// int 100 %.
    /// 100 % of 1 ids resolve in `enums`.
    pub r#enum: Ref<Enum>,
    /// int 100 %.
    pub r#extern: i32,
    /// int 100 %.
    pub r#false: i32,
    /// int 100 %.
    pub r#final: i32,
    /// int 100 %.
    pub r#fn: i32,
    /// int 100 %.
    pub r#for: i32,
    /// int 100 %.
    pub r#gen: i32,
    /// int 100 %.
    pub r#if: i32,
    /// int 100 %.
    pub r#impl: i32,
    /// int 100 %.
    pub r#in: i32,
    /// int 100 %.
    pub r#let: i32,
    /// int 100 %.
    pub r#loop: i32,
    /// int 100 %.
    pub r#macro: i32,
    /// int 100 %.
    pub r#match: i32,
    /// int 100 %.
    pub r#mod: i32,
    /// int 100 %.
    pub r#move: i32,
    /// int 100 %.
    pub r#mut: i32,
    /// int 100 %.
    pub r#override: i32,
    /// int 100 %.
    pub r#priv: i32,
    /// int 100 %.
    pub r#pub: i32,
    /// int 100 %.
    pub r#ref: i32,
    /// int 100 %.
    pub r#return: i32,
    /// int 100 %.
    /// 100 % of 1 ids resolve in `self`.
    #[serde(rename = "self")]
    pub self_: Ref<SelfValueDocument>,
    /// int 100 %.
    /// 100 % of 1 ids resolve in `self`.
    #[serde(rename = "Self")]
    pub self_2: Ref<SelfValueDocument>,
    /// int 100 %.
    pub r#static: i32,
    /// int 100 %.
    /// 100 % of 1 ids resolve in `keyword_structs`.
    pub r#struct: Ref<KeywordStruct>,
    /// int 100 %.
    #[serde(rename = "super")]
    pub super_: i32,
    /// int 100 %.
    pub r#trait: i32,
    /// int 100 %.
    pub r#true: i32,
    /// int 100 %.
    pub r#try: i32,
    /// int 100 %.
    /// 100 % of 1 ids resolve in `all_types`.
    pub r#type: Ref<AllType>,
    /// int 100 %.
    pub r#typeof: i32,
    /// int 100 %.
    pub r#unsafe: i32,
    /// int 100 %.
    pub r#unsized: i32,
    /// int 100 %.
    pub r#use: i32,
    /// int 100 %.
    pub r#virtual: i32,
    /// int 100 %.
    pub r#where: i32,
    /// int 100 %.
    pub r#while: i32,
    /// int 100 %.
    pub r#yield: i32,
    /// int 100 %.
    pub union: i32,
    /// int 100 %.
    pub macro_rules: i32,
    /// int 100 %.
    pub raw: i32,
    /// int 100 %.
    pub default: i32,
    /// int 100 %.
    pub auto: i32,
}

/// A document of `long_ids`: 3 of 3 were read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "long_ids")]
pub struct LongId {
    /// long 100 %.
    #[serde(rename = "_id")]
    pub id: i64,
}

/// A document of `long_lists`: 1 of 1 were read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "long_lists")]
pub struct LongList {
    /// int 100 %.
    #[serde(rename = "_id")]
    pub id: i32,
    /// array 100 %; at most 411 elements: object 100 %.
    #[odm(embed(few, max = 1_000, allow = "411 were found"))]
    pub a: Vec<A>,
    /// array 100 %; at most 100 elements: int 100 %.
    pub s: Vec<i32>,
}

/// A document of `mixed_ids`: 6 of 6 were read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "mixed_ids")]
pub struct MixedId {
    /// double 16.7 %, string 16.7 %, object 16.7 %, objectId 16.7 %, null 16.7 %, int 16.7 %.
    #[serde(rename = "_id")]
    pub id: bson::Bson,
}

/// A document of `name_structs`: 1 of 1 were read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "name_structs")]
pub struct NameStruct {
    /// int 100 %.
    #[serde(rename = "_id")]
    pub id: i32,
    /// object 100 %.
    #[serde(rename = "A b")]
    pub a_b: NameStructAB,
    /// object 100 %.
    #[serde(rename = "a-b")]
    pub a_b_2: NameStructAB2,
    /// object 100 %.
    #[serde(rename = "a_b")]
    pub a_b_3: NameStructAB3,
    /// object 100 %.
    #[serde(rename = "a b")]
    pub a_b_4: NameStructAB4,
    /// object 100 %.
    #[serde(rename = "aB")]
    pub a_b_5: NameStructAB5,
    /// object 100 %.
    #[serde(rename = "AB")]
    pub ab: Ab,
    /// object 100 %.
    #[serde(rename = "ab")]
    pub ab_2: NameStructAb,
    /// object 100 %.
    #[serde(rename = "1a")]
    pub field_1a: Type1a,
    /// object 100 %.
    #[serde(rename = "2")]
    pub field_2: Type2,
    /// object 100 %.
    #[serde(rename = "_")]
    pub field: NameStructType,
    /// object 100 %.
    #[serde(rename = "__")]
    pub field_3: NameStructType2,
    /// object 100 %.
    #[serde(rename = "id")]
    pub id_2: NameStructId,
    /// object 100 %.
    #[serde(rename = "Id")]
    pub id_3: NameStructId2,
    /// object 100 %.
    #[serde(rename = "_Id")]
    pub id_4: NameStructId3,
    /// object 100 %.
    #[serde(rename = "имя")]
    pub field_4: NameStructType3,
    /// object 100 %.
    #[serde(rename = "日本")]
    pub field_5: NameStructType4,
    /// object 100 %.
    #[serde(rename = "größe")]
    pub grosse: Grosse,
    /// object 100 %.
    #[serde(rename = "a\u{202e}b")]
    pub a_b_6: NameStructAB6,
    /// object 100 %.
    #[serde(rename = "tab\tx")]
    pub tab_x: TabX,
    /// object 100 %.
    #[serde(rename = "new\nline")]
    pub new_line: NewLine,
    /// object 100 %.
    #[serde(rename = "quo\"te")]
    pub quo_te: QuoTe,
    /// object 100 %.
    #[serde(rename = "back\\slash")]
    pub back_slash: BackSlash,
    /// object 100 %.
    #[serde(rename = "back`tick")]
    pub back_tick: BackTick,
    /// object 100 %.
    pub nul: Nul,
    /// object 100 %.
    #[serde(
        rename = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
    )]
    pub xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx: Xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx,
    /// object 100 %.
    #[serde(rename = "é")]
    pub e: E,
    /// object 100 %.
    #[serde(rename = "É")]
    pub e_2: NameStructE,
    /// object 100 %.
    #[serde(rename = "e")]
    pub e_3: NameStructE2,
    /// object 100 %.
    pub rest: Rest,
    /// object 100 %.
    #[serde(rename = "Option")]
    pub option: NameStructOption,
    /// object 100 %.
    #[serde(rename = "String")]
    pub string: NameStructString,
    /// object 100 %.
    #[serde(rename = "Vec")]
    pub vec: NameStructVec,
    /// object 100 %.
    #[serde(rename = "🦀")]
    pub field_6: NameStructType5,
    /// object 100 %.
    pub unique: Unique,
    /// object 100 %.
    pub sparse: Sparse,
    /// object 100 %.
    pub hidden: Hidden,
    /// object 100 %.
    pub partial: Partial,
    /// object 100 %.
    pub name: NameStructName,
    /// object 100 %.
    pub collation: Collation,
    /// The fields that are not declared: `""`, `$x`, `a.b`, `$$`.
    #[serde(flatten)]
    pub rest_2: bson::Document,
}

/// A document of `names`: 1 of 1 were read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "names")]
pub struct Name {
    /// int 100 %.
    #[serde(rename = "_id")]
    pub id: i32,
    /// int 100 %.
    /// 100 % of 1 ids resolve in `a-b`.
    #[serde(rename = "A b")]
    pub a_b: Ref<AB>,
    /// int 100 %.
    /// 100 % of 1 ids resolve in `a-b`.
    #[serde(rename = "a-b")]
    pub a_b_2: Ref<AB>,
    /// int 100 %.
    /// 100 % of 1 ids resolve in `a-b`.
    #[serde(rename = "a_b")]
    pub a_b_3: Ref<AB>,
    /// int 100 %.
    /// 100 % of 1 ids resolve in `a-b`.
    #[serde(rename = "a b")]
    pub a_b_4: Ref<AB>,
    /// int 100 %.
    /// 100 % of 1 ids resolve in `a-b`.
    #[serde(rename = "aB")]
    pub a_b_5: Ref<AB>,
    /// int 100 %.
    #[serde(rename = "AB")]
    pub ab: i32,
    /// int 100 %.
    #[serde(rename = "ab")]
    pub ab_2: i32,
    /// int 100 %.
    #[serde(rename = "1a")]
    pub field_1a: i32,
    /// int 100 %.
    #[serde(rename = "2")]
    pub field_2: i32,
    /// int 100 %.
    #[serde(rename = "_")]
    pub field: i32,
    /// int 100 %.
    #[serde(rename = "__")]
    pub field_3: i32,
    /// int 100 %.
    #[serde(rename = "id")]
    pub id_2: i32,
    /// int 100 %.
    #[serde(rename = "Id")]
    pub id_3: i32,
    /// int 100 %.
    #[serde(rename = "_Id")]
    pub id_4: i32,
    /// int 100 %.
    #[serde(rename = "имя")]
    pub field_4: i32,
    /// int 100 %.
    #[serde(rename = "日本")]
    pub field_5: i32,
    /// int 100 %.
    #[serde(rename = "größe")]
    pub grosse: i32,
    /// int 100 %.
    /// 100 % of 1 ids resolve in `a-b`.
    #[serde(rename = "a\u{202e}b")]
    pub a_b_6: Ref<AB>,
    /// int 100 %.
    #[serde(rename = "tab\tx")]
    pub tab_x: i32,
    /// int 100 %.
    #[serde(rename = "new\nline")]
    pub new_line: i32,
    /// int 100 %.
    #[serde(rename = "quo\"te")]
    pub quo_te: i32,
    /// int 100 %.
    #[serde(rename = "back\\slash")]
    pub back_slash: i32,
    /// int 100 %.
    #[serde(rename = "back`tick")]
    pub back_tick: i32,
    /// int 100 %.
    pub nul: i32,
    /// int 100 %.
    #[serde(
        rename = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
    )]
    pub xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx: i32,
    /// int 100 %.
    #[serde(rename = "é")]
    pub e: i32,
    /// int 100 %.
    #[serde(rename = "É")]
    pub e_2: i32,
    /// int 100 %.
    #[serde(rename = "e")]
    pub e_3: i32,
    /// int 100 %.
    pub rest: i32,
    /// int 100 %.
    /// 100 % of 1 ids resolve in `options`.
    #[serde(rename = "Option")]
    pub option: Ref<OptionDocument>,
    /// int 100 %.
    /// 100 % of 1 ids resolve in `strings`.
    #[serde(rename = "String")]
    pub string: Ref<StringDocument>,
    /// int 100 %.
    #[serde(rename = "Vec")]
    pub vec: i32,
    /// int 100 %.
    #[serde(rename = "🦀")]
    pub field_6: i32,
    /// int 100 %.
    pub unique: i32,
    /// int 100 %.
    pub sparse: i32,
    /// int 100 %.
    pub hidden: i32,
    /// int 100 %.
    pub partial: i32,
    /// int 100 %.
    /// 100 % of 1 ids resolve in `names`.
    pub name: Ref<Name>,
    /// int 100 %.
    pub collation: i32,
    /// The fields that are not declared: `""`, `$x`, `a.b`, `$$`.
    #[serde(flatten)]
    pub rest_2: bson::Document,
}

/// A document of `names_inside`: 1 of 1 were read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "names_inside")]
pub struct NamesInside {
    /// int 100 %.
    #[serde(rename = "_id")]
    pub id: i32,
    /// object 100 %.
    pub inner: NamesInsideInner,
}

/// A document of `no_ids`: 2 of 2 were read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "no_ids")]
pub struct NoId {
    /// In none of the documents that were read.
    #[serde(rename = "_id")]
    pub id: Id<NoId>,
    /// int 100 %.
    pub a: i32,
}

/// A document of `numbers`: 2 of 2 were read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "numbers")]
pub struct Number {
    /// int 100 %.
    #[serde(rename = "_id")]
    pub id: i32,
    /// int 50 %, long 50 %.
    pub a: i64,
    /// double 50 %, int 50 %.
    pub b: f64,
    /// double 50 %, long 50 %.
    pub c: bson::Bson,
    /// int 50 %, decimal 50 %.
    pub d: bson::Bson,
    /// double 50 %, decimal 50 %.
    pub e: bson::Bson,
}

/// A document of `options`: 1 of 1 were read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "options")]
pub struct OptionDocument {
    /// int 100 %.
    #[serde(rename = "_id")]
    pub id: i32,
    /// int 100 %.
    pub a: i32,
}

/// A document of `reserved`: 1 of 1 were read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "reserved")]
pub struct Reserved {
    /// int 100 %.
    #[serde(rename = "_id")]
    pub id: i32,
    /// object 100 %.
    #[serde(rename = "Option")]
    pub option: ReservedOption,
    /// object 100 %.
    #[serde(rename = "String")]
    pub string: ReservedString,
    /// object 100 %.
    #[serde(rename = "Vec")]
    pub vec: ReservedVec,
    /// object 100 %.
    #[serde(rename = "Box")]
    pub r#box: ReservedBox,
    /// object 100 %.
    #[serde(rename = "Id")]
    pub id_2: ReservedId,
    /// object 100 %.
    #[serde(rename = "Ref")]
    pub r#ref: ReservedRef,
    /// object 100 %.
    #[serde(rename = "Document")]
    pub document: ReservedDocument,
    /// object 100 %.
    #[serde(rename = "Embedded")]
    pub embedded: ReservedEmbedded,
    /// object 100 %.
    #[serde(rename = "DateTime")]
    pub date_time: ReservedDateTime,
    /// object 100 %.
    #[serde(rename = "Session")]
    pub session: ReservedSession,
    /// object 100 %.
    #[serde(rename = "Result")]
    pub result: ReservedResult,
    /// object 100 %.
    #[serde(rename = "Some")]
    pub some: ReservedSome,
    /// object 100 %.
    #[serde(rename = "None")]
    pub none: ReservedNone,
    /// object 100 %.
    #[serde(rename = "Ok")]
    pub ok: ReservedOk,
    /// object 100 %.
    #[serde(rename = "Err")]
    pub err: ReservedErr,
    /// object 100 %.
    #[serde(rename = "Clone")]
    pub clone: ReservedClone,
    /// object 100 %.
    #[serde(rename = "Debug")]
    pub debug: ReservedDebug,
    /// object 100 %.
    #[serde(rename = "Default")]
    pub default: ReservedDefault,
    /// object 100 %.
    #[serde(rename = "Serialize")]
    pub serialize: ReservedSerialize,
    /// object 100 %.
    #[serde(rename = "Bson")]
    pub bson: ReservedBson,
    /// object 100 %.
    pub books_fields: BooksField,
    /// object 100 %.
    #[serde(rename = "Fields")]
    pub fields: Field,
    /// object 100 %.
    #[serde(rename = "Joined")]
    pub joined: Joined,
}

/// A document of `self`: 1 of 1 were read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "self")]
pub struct SelfValueDocument {
    /// int 100 %.
    #[serde(rename = "_id")]
    pub id: i32,
    /// int 100 %.
    pub a: i32,
}

/// A document of `string_ids`: 9 of 9 were read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "string_ids")]
pub struct StringId {
    /// string 100 %.
    #[serde(rename = "_id")]
    pub id: String,
}

/// A document of `strings`: 1 of 1 were read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "strings")]
pub struct StringDocument {
    /// int 100 %.
    #[serde(rename = "_id")]
    pub id: i32,
    /// int 100 %.
    pub a: i32,
}

/// A document of `timestamp_ids`: 1 of 1 were read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "timestamp_ids")]
pub struct TimestampId {
    /// timestamp 100 %.
    #[serde(rename = "_id")]
    pub id: bson::Timestamp,
}

/// A document of `type`: 1 of 1 were read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "type")]
pub struct Type {
    /// int 100 %.
    #[serde(rename = "_id")]
    pub id: i32,
    /// int 100 %.
    pub a: i32,
}

/// A document of `uuid_ids`: 3 of 3 were read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "uuid_ids")]
pub struct UuidId {
    /// UUID 100 %.
    #[serde(rename = "_id")]
    pub id: bson::Uuid,
}

/// A document of `validated`: 40 of 40 were read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "validated")]
#[odm(validation(level = "moderate", action = "warn"))]
#[odm(deny_undeclared)]
#[odm(rule("validator 1", |_| odm::query::raw(doc! { "$expr": { "$gt": ["$age", -1] } })))]
#[odm(rule("validator 2", |_| odm::query::raw(doc! { "age": { "$gte": 0 } })))]
pub struct Validated {
    /// int 100 %.
    #[serde(rename = "_id")]
    pub id: i32,
    /// the name
    /// string 100 %.
    #[odm(length(min = 1, max = 200))]
    pub name: String,
    /// int 100 %.
    // A part of the validator is not declared: {"bsonType":["int","long"]}
    #[odm(range(min = 0, exclusive_max = 150))]
    pub age: i32,
    /// string 100 %.
    pub kind: Kind,
    /// array 100 %; at most 1 element: string 100 %.
    #[odm(items(min = 1, max = 9))]
    #[odm(unique_items)]
    #[odm(pattern = "^[a-z]")]
    pub tags: Vec<String>,
    /// object 100 %.
    pub inner: ValidatedInner,
    /// array 100 %; at most 1 element: object 100 %.
    #[odm(embed(few, max = 300, allow = "the validator allows them"))]
    pub list: Vec<List>,
    /// double 100 %.
    // A part of the validator is not declared: {"minimum":-1e+300}
    pub dbl: f64,
    /// string 100 %.
    // A part of the validator is not declared: {"pattern":"(?P>x)"}
    pub mail: String,
    /// int 100 %.
    // A part of the validator is not declared: {"anyOf":[{"bsonType":"int"}]}
    pub anyof: i32,
    /// In no document that was read; the validator declares it.
    // The validator requires it, and older documents are without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unseen: Option<DateTime>,
    /// In no document that was read; the validator declares it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[odm(length(max = 5))]
    pub unseen2: Option<String>,
}

/// A document of `works`: 24 of 24 were read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "works")]
pub struct Work {
    /// int 100 %.
    #[serde(rename = "_id")]
    pub id: i32,
    /// objectId 100 %.
    /// 83.3 % of 12 ids resolve in `authors`.
    pub author: Ref<Author>,
    /// array 100 %; at most 2 elements: objectId 100 %.
    /// 100 % of 10 ids resolve in `authors`.
    #[odm(references(many, max = 10))]
    pub co: Vec<Ref<Author>>,
    /// object 100 %.
    pub main: Main,
    /// null 66.7 %, objectId 33.3 %.
    /// 100 % of 1 ids resolve in `authors`.
    pub both: Option<Ref<Author>>,
    /// string 100 %.
    pub key: String,
    /// int 100 %.
    /// 100 % of 12 ids resolve in `works`.
    pub parent: Ref<Work>,
    /// DBRef 100 %; to `authors`.
    /// 100 % of 1 ids resolve in `authors`.
    pub dbref: DbRef<Author>,
    /// array 100 %; at most 1 element: DBRef 100 %.
    /// 100 % of 1 ids resolve in `authors`.
    #[odm(references(many, max = 10))]
    pub dbrefs: Vec<DbRef<Author>>,
    /// DBRef 100 %; to `authors`, `string_ids`.
    pub anyref: AnyDbRef,
    /// array 100 %; at most 1 element: DBRef 100 %.
    #[odm(embed(few, max = 10))]
    pub anyrefs: Vec<AnyDbRef>,
    /// DBRef 100 %; to `nowhere`.
    pub far: AnyDbRef,
    /// DBRef 100 %; to `authors`.
    /// 100 % of 1 ids resolve in `authors`.
    pub withdb: DbRef<Author>,
    /// object 100 %; at most 1 entry: objectId 100 %.
    /// 100 % of 1 ids resolve in `authors`.
    #[odm(references(many, max = 10))]
    pub by_year: BTreeMap<String, Ref<Author>>,
    /// array 100 %; at most 1 element: array 100 %.
    /// 100 % of 1 ids resolve in `authors`.
    pub nested: Vec<Vec<bson::Bson>>,
    /// UUID 100 %.
    /// 100 % of 1 ids resolve in `uuid_ids`.
    pub uu: Ref<UuidId>,
    /// object 100 %; at most 1 entry: DBRef 100 %.
    /// 100 % of 1 ids resolve in `authors`.
    #[odm(references(many, max = 10))]
    pub dm: BTreeMap<String, DbRef<Author>>,
    /// array 100 %; at most 1 element: array 100 %.
    /// 100 % of 1 ids resolve in `authors`.
    pub nd: Vec<Vec<bson::Bson>>,
}

/// A document in `all_both.doc`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct Doc {
    /// int 100 %.
    pub a: i32,
}

/// A document in `all_inside.inner`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct Inner {
    /// double 100 %.
    pub dbl: f64,
    /// string 100 %.
    pub str: String,
    /// object 100 %.
    pub doc: InnerDoc,
    /// array 100 %; at most 1 element: int 100 %.
    pub arr: Vec<i32>,
    /// binData 100 %.
    pub bin: bson::Binary,
    /// binData 100 %.
    pub olduuid: bson::Binary,
    /// UUID 100 %.
    /// 100 % of 1 ids resolve in `uuid_ids`.
    pub uuid: Ref<UuidId>,
    /// a deprecated type 100 %.
    pub undef: bson::Bson,
    /// objectId 100 %.
    /// 100 % of 1 ids resolve in `authors`.
    pub oid: Ref<Author>,
    /// bool 100 %.
    pub bool: bool,
    /// date 100 %.
    pub date: DateTime,
    /// date 100 %.
    pub far: DateTime,
    /// date 100 %.
    pub early: DateTime,
    /// null 100 %.
    pub null: bson::Bson,
    /// regex 100 %.
    pub regex: bson::Regex,
    /// a deprecated type 100 %.
    pub dbp: bson::Bson,
    /// javascript 100 %.
    pub code: bson::Bson,
    /// javascriptWithScope 100 %.
    pub scoped: bson::JavaScriptCodeWithScope,
    /// a deprecated type 100 %.
    pub sym: bson::Bson,
    /// int 100 %.
    pub int: i32,
    /// timestamp 100 %.
    pub ts: bson::Timestamp,
    /// long 100 %.
    pub long: i64,
    /// decimal 100 %.
    pub dec: bson::Decimal128,
    /// minKey 100 %.
    pub minkey: bson::Bson,
    /// maxKey 100 %.
    pub maxkey: bson::Bson,
    /// double 100 %.
    pub nan: f64,
    /// double 100 %.
    pub inf: f64,
    /// object 100 %.
    pub emptydoc: bson::Document,
    /// array 100 %; no elements.
    pub emptyarr: Vec<bson::Bson>,
}

/// A document in `all_inside.inner.doc`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct InnerDoc {
    /// int 100 %.
    pub a: i32,
}

/// A document in `all_lists.doc`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct AllListDoc {
    /// int 100 %.
    pub a: i32,
}

/// A document in `all_map_lists.doc.*`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct AllMapListDoc {
    /// int 100 %.
    pub a: i32,
}

/// A document in `all_maps.doc.*`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct AllMapDoc {
    /// int 100 %.
    pub a: i32,
}

/// A document in `all_nested_lists.doc`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct AllNestedListDoc {
    /// int 100 %.
    pub a: i32,
}

/// A document in `all_nullable.doc`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct AllNullableDoc {
    /// int 100 %.
    pub a: i32,
}

/// A document in `all_optional.doc`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct AllOptionalDoc {
    /// int 100 %.
    pub a: i32,
}

/// A document in `all_types.doc`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct AllTypeDoc {
    /// int 100 %.
    pub a: i32,
}

/// A document in `comments.replies`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct Reply {
    /// string 100 %.
    pub text: String,
    /// array 100 %; at most 1 element: object 100 %.
    #[odm(embed(few, max = 10))]
    pub replies: Vec<Reply>,
    /// object 50 %, absent 50 %.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub best: Option<Best>,
}

/// A document in `comments.replies.best`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct Best {
    /// string 100 %.
    pub text: String,
    /// object 50 %, absent 50 %.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub best: Option<Box<Best>>,
}

/// A document in `deep_distinct.l1`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct L1 {
    /// object 100 %.
    pub l2: L2,
}

/// A document in `deep_distinct.l1.l2`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct L2 {
    /// object 100 %.
    pub l3: L3,
}

/// A document in `deep_distinct.l1.l2.l3`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct L3 {
    /// object 100 %.
    pub l4: L4,
}

/// A document in `deep_distinct.l1.l2.l3.l4`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct L4 {
    /// object 100 %.
    pub l5: L5,
}

/// A document in `deep_distinct.l1.l2.l3.l4.l5`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct L5 {
    /// object 100 %.
    pub l6: L6,
}

/// A document in `deep_distinct.l1.l2.l3.l4.l5.l6`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct L6 {
    /// object 100 %.
    pub l7: L7,
}

/// A document in `deep_distinct.l1.l2.l3.l4.l5.l6.l7`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct L7 {
    /// object 100 %.
    pub l8: L8,
}

/// A document in `deep_distinct.l1.l2.l3.l4.l5.l6.l7.l8`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct L8 {
    /// object 100 %.
    pub l9: L9,
}

/// A document in `deep_distinct.l1.l2.l3.l4.l5.l6.l7.l8.l9`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct L9 {
    /// object 100 %.
    pub l10: L10,
}

/// A document in `deep_distinct.l1.l2.l3.l4.l5.l6.l7.l8.l9.l10`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct L10 {
    /// object 100 %.
    pub l11: L11,
}

/// A document in `deep_distinct.l1.l2.l3.l4.l5.l6.l7.l8.l9.l10.l11`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct L11 {
    /// object 100 %.
    pub l12: L12,
}

/// A document in `deep_distinct.l1.l2.l3.l4.l5.l6.l7.l8.l9.l10.l11.l12`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct L12 {
    /// object 100 %.
    pub l13: L13,
}

/// A document in `deep_distinct.l1.l2.l3.l4.l5.l6.l7.l8.l9.l10.l11.l12.l13`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct L13 {
    /// object 100 %.
    pub l14: L14,
}

/// A document in `deep_distinct.l1.l2.l3.l4.l5.l6.l7.l8.l9.l10.l11.l12.l13.l14`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct L14 {
    /// object 100 %.
    pub l15: L15,
}

/// A document in `deep_distinct.l1.l2.l3.l4.l5.l6.l7.l8.l9.l10.l11.l12.l13.l14.l15`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct L15 {
    /// object 100 %.
    pub l16: L16,
}

/// A document in `deep_distinct.l1.l2.l3.l4.l5.l6.l7.l8.l9.l10.l11.l12.l13.l14.l15.l16`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct L16 {
    /// object 100 %.
    pub l17: L17,
}

/// A document in `deep_distinct.l1.l2.l3.l4.l5.l6.l7.l8.l9.l10.l11.l12.l13.l14.l15.l16.l17`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct L17 {
    /// object 100 %.
    pub l18: L18,
}

/// A document in `deep_distinct.l1.l2.l3.l4.l5.l6.l7.l8.l9.l10.l11.l12.l13.l14.l15.l16.l17.l18`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct L18 {
    /// object 100 %.
    pub l19: L19,
}

/// A document in `deep_distinct.l1.l2.l3.l4.l5.l6.l7.l8.l9.l10.l11.l12.l13.l14.l15.l16.l17.l18.l19`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct L19 {
    /// object 100 %.
    pub l20: L20,
}

/// A document in `deep_distinct.l1.l2.l3.l4.l5.l6.l7.l8.l9.l10.l11.l12.l13.l14.l15.l16.l17.l18.l19.l20`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct L20 {
    /// object 100 %.
    pub l21: L21,
}

/// A document in `deep_distinct.l1.l2.l3.l4.l5.l6.l7.l8.l9.l10.l11.l12.l13.l14.l15.l16.l17.l18.l19.l20.l21`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct L21 {
    /// object 100 %.
    pub l22: L22,
}

/// A document in `deep_distinct.l1.l2.l3.l4.l5.l6.l7.l8.l9.l10.l11.l12.l13.l14.l15.l16.l17.l18.l19.l20.l21.l22`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct L22 {
    /// object 100 %.
    pub l23: L23,
}

/// A document in `deep_distinct.l1.l2.l3.l4.l5.l6.l7.l8.l9.l10.l11.l12.l13.l14.l15.l16.l17.l18.l19.l20.l21.l22.l23`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct L23 {
    /// object 100 %.
    pub l24: L24,
}

/// A document in `deep_distinct.l1.l2.l3.l4.l5.l6.l7.l8.l9.l10.l11.l12.l13.l14.l15.l16.l17.l18.l19.l20.l21.l22.l23.l24`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct L24 {
    /// object 100 %.
    pub l25: L25,
}

/// A document in `deep_distinct.l1.l2.l3.l4.l5.l6.l7.l8.l9.l10.l11.l12.l13.l14.l15.l16.l17.l18.l19.l20.l21.l22.l23.l24.l25`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct L25 {
    /// object 100 %.
    pub l26: L26,
}

/// A document in `deep_distinct.l1.l2.l3.l4.l5.l6.l7.l8.l9.l10.l11.l12.l13.l14.l15.l16.l17.l18.l19.l20.l21.l22.l23.l24.l25.l26`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct L26 {
    /// object 100 %.
    pub l27: L27,
}

/// A document in `deep_distinct.l1.l2.l3.l4.l5.l6.l7.l8.l9.l10.l11.l12.l13.l14.l15.l16.l17.l18.l19.l20.l21.l22.l23.l24.l25.l26.l27`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct L27 {
    /// object 100 %.
    pub l28: L28,
}

/// A document in `deep_distinct.l1.l2.l3.l4.l5.l6.l7.l8.l9.l10.l11.l12.l13.l14.l15.l16.l17.l18.l19.l20.l21.l22.l23.l24.l25.l26.l27.l28`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct L28 {
    /// object 100 %.
    pub l29: L29,
}

/// A document in `deep_distinct.l1.l2.l3.l4.l5.l6.l7.l8.l9.l10.l11.l12.l13.l14.l15.l16.l17.l18.l19.l20.l21.l22.l23.l24.l25.l26.l27.l28.l29`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct L29 {
    /// object 100 %.
    pub l30: L30,
}

/// A document in `deep_distinct.l1.l2.l3.l4.l5.l6.l7.l8.l9.l10.l11.l12.l13.l14.l15.l16.l17.l18.l19.l20.l21.l22.l23.l24.l25.l26.l27.l28.l29.l30`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct L30 {
    /// object 100 %.
    pub l31: L31,
}

/// A document in `deep_distinct.l1.l2.l3.l4.l5.l6.l7.l8.l9.l10.l11.l12.l13.l14.l15.l16.l17.l18.l19.l20.l21.l22.l23.l24.l25.l26.l27.l28.l29.l30.l31`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct L31 {
    /// object 100 %.
    pub l32: L32,
}

/// A document in `deep_distinct.l1.l2.l3.l4.l5.l6.l7.l8.l9.l10.l11.l12.l13.l14.l15.l16.l17.l18.l19.l20.l21.l22.l23.l24.l25.l26.l27.l28.l29.l30.l31.l32`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct L32 {
    /// object 100 %.
    pub l33: bson::Document,
}

/// A document in `deep_same.l`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct L {
    /// object 98.9 %, absent 1.1 %.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub l: Option<Box<L>>,
    /// absent 98.9 %, int 1.1 %.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub v: Option<i32>,
}

/// A document in `document_ids._id`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct DocumentIdId {
    /// int 100 %.
    pub year: i32,
    /// string 100 %.
    pub code: String,
}

/// A string in `enums.state`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Embedded)]
pub enum State {
    /// 33.3 % of the strings.
    On,
    /// 33.3 % of the strings.
    #[serde(rename = "off")]
    Off,
    /// 33.3 % of the strings.
    #[serde(rename = "on")]
    On2,
}

/// A string in `enums.tags`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Embedded)]
pub enum Tag {
    /// 50 % of the strings.
    #[serde(rename = "a b")]
    AB,
    /// 50 % of the strings.
    #[serde(rename = "a-b")]
    AB2,
}

/// A string in `enums.self`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Embedded)]
pub enum EnumSelfValue {
    /// 50 % of the strings.
    #[serde(rename = "Self")]
    SelfValue,
    /// 50 % of the strings.
    #[serde(rename = "self")]
    SelfValue2,
}

/// A string in `enums.m.*`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Embedded)]
pub enum M {
    /// 50 % of the strings.
    #[serde(rename = "x")]
    X,
    /// 50 % of the strings.
    #[serde(rename = "y")]
    Y,
}

/// A string in `enums.maybe`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Embedded)]
pub enum Maybe {
    /// 50 % of the strings.
    #[serde(rename = "p")]
    P,
    /// 50 % of the strings.
    #[serde(rename = "q")]
    Q,
}

/// A document in `geo.int`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct Int {
    /// string 100 %.
    pub r#type: String,
    /// array 100 %; at most 2 elements: int 100 %.
    pub coordinates: Vec<i32>,
}

/// A document in `indexed.contact`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct Contact {
    /// string 100 %.
    pub name: String,
}

/// A document in `indexed.copies`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct IndexedCopy {
    /// string 100 %.
    pub shelf: String,
}

/// A document in `indexed.bothd`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct Bothd {
    /// int 100 %.
    pub a: i32,
}

/// A document in `indexed.optd`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct Optd {
    /// int 100 %.
    pub a: i32,
}

/// A document in `keyword_structs.abstract`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct Abstract {
    /// int 100 %.
    pub a: i32,
}

/// A document in `keyword_structs.as`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct As {
    /// int 100 %.
    pub a: i32,
}

/// A document in `keyword_structs.async`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct Async {
    /// int 100 %.
    pub a: i32,
}

/// A document in `keyword_structs.await`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct Await {
    /// int 100 %.
    pub a: i32,
}

/// A document in `keyword_structs.become`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct Become {
    /// int 100 %.
    pub a: i32,
}

/// A document in `keyword_structs.box`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct KeywordStructBox {
    /// int 100 %.
    pub a: i32,
}

/// A document in `keyword_structs.break`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct Break {
    /// int 100 %.
    pub a: i32,
}

/// A document in `keyword_structs.const`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct Const {
    /// int 100 %.
    pub a: i32,
}

/// A document in `keyword_structs.continue`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct Continue {
    /// int 100 %.
    pub a: i32,
}

/// A document in `keyword_structs.crate`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct Crate {
    /// int 100 %.
    pub a: i32,
}

/// A document in `keyword_structs.do`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct Do {
    /// int 100 %.
    pub a: i32,
}

/// A document in `keyword_structs.dyn`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct Dyn {
    /// int 100 %.
    pub a: i32,
}

/// A document in `keyword_structs.else`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct Else {
    /// int 100 %.
    pub a: i32,
}

/// A document in `keyword_structs.enum`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct KeywordStructEnum {
    /// int 100 %.
    pub a: i32,
}

/// A document in `keyword_structs.extern`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct Extern {
    /// int 100 %.
    pub a: i32,
}

/// A document in `keyword_structs.false`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct False {
    /// int 100 %.
    pub a: i32,
}

/// A document in `keyword_structs.final`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct Final {
    /// int 100 %.
    pub a: i32,
}

/// A document in `keyword_structs.fn`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct Fn {
    /// int 100 %.
    pub a: i32,
}

/// A document in `keyword_structs.for`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct For {
    /// int 100 %.
    pub a: i32,
}

/// A document in `keyword_structs.gen`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct Gen {
    /// int 100 %.
    pub a: i32,
}

/// A document in `keyword_structs.if`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct If {
    /// int 100 %.
    pub a: i32,
}

/// A document in `keyword_structs.impl`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct Impl {
    /// int 100 %.
    pub a: i32,
}

/// A document in `keyword_structs.in`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct In {
    /// int 100 %.
    pub a: i32,
}

/// A document in `keyword_structs.let`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct Let {
    /// int 100 %.
    pub a: i32,
}

/// A document in `keyword_structs.loop`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct Loop {
    /// int 100 %.
    pub a: i32,
}

/// A document in `keyword_structs.macro`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct Macro {
    /// int 100 %.
    pub a: i32,
}

/// A document in `keyword_structs.match`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct Match {
    /// int 100 %.
    pub a: i32,
}

/// A document in `keyword_structs.mod`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct Mod {
    /// int 100 %.
    pub a: i32,
}

/// A document in `keyword_structs.move`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct Move {
    /// int 100 %.
    pub a: i32,
}

/// A document in `keyword_structs.mut`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct Mut {
    /// int 100 %.
    pub a: i32,
}

/// A document in `keyword_structs.override`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct Override {
    /// int 100 %.
    pub a: i32,
}

/// A document in `keyword_structs.priv`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct Priv {
    /// int 100 %.
    pub a: i32,
}

/// A document in `keyword_structs.pub`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct Pub {
    /// int 100 %.
    pub a: i32,
}

/// A document in `keyword_structs.ref`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct KeywordStructRef {
    /// int 100 %.
    pub a: i32,
}

/// A document in `keyword_structs.return`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct Return {
    /// int 100 %.
    pub a: i32,
}

/// A document in `keyword_structs.self`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct KeywordStructSelfValue {
    /// int 100 %.
    pub a: i32,
}

/// A document in `keyword_structs.Self`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct KeywordStructSelfValue2 {
    /// int 100 %.
    pub a: i32,
}

/// A document in `keyword_structs.static`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct Static {
    /// int 100 %.
    pub a: i32,
}

/// A document in `keyword_structs.struct`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct Struct {
    /// int 100 %.
    pub a: i32,
}

/// A document in `keyword_structs.super`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct Super {
    /// int 100 %.
    pub a: i32,
}

/// A document in `keyword_structs.trait`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct Trait {
    /// int 100 %.
    pub a: i32,
}

/// A document in `keyword_structs.true`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct True {
    /// int 100 %.
    pub a: i32,
}

/// A document in `keyword_structs.try`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct Try {
    /// int 100 %.
    pub a: i32,
}

/// A document in `keyword_structs.type`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct KeywordStructType {
    /// int 100 %.
    pub a: i32,
}

/// A document in `keyword_structs.typeof`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct Typeof {
    /// int 100 %.
    pub a: i32,
}

/// A document in `keyword_structs.unsafe`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct Unsafe {
    /// int 100 %.
    pub a: i32,
}

/// A document in `keyword_structs.unsized`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct Unsized {
    /// int 100 %.
    pub a: i32,
}

/// A document in `keyword_structs.use`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct Use {
    /// int 100 %.
    pub a: i32,
}

/// A document in `keyword_structs.virtual`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct Virtual {
    /// int 100 %.
    pub a: i32,
}

/// A document in `keyword_structs.where`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct Where {
    /// int 100 %.
    pub a: i32,
}

/// A document in `keyword_structs.while`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct While {
    /// int 100 %.
    pub a: i32,
}

/// A document in `keyword_structs.yield`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct Yield {
    /// int 100 %.
    pub a: i32,
}

/// A document in `keyword_structs.union`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct Union {
    /// int 100 %.
    pub a: i32,
}

/// A document in `keyword_structs.macro_rules`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct MacroRule {
    /// int 100 %.
    pub a: i32,
}

/// A document in `keyword_structs.raw`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct Raw {
    /// int 100 %.
    pub a: i32,
}

/// A document in `keyword_structs.default`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct KeywordStructDefault {
    /// int 100 %.
    pub a: i32,
}

/// A document in `keyword_structs.auto`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct Auto {
    /// int 100 %.
    pub a: i32,
}

/// A document in `long_lists.a`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct A {
    /// int 100 %.
    pub x: i32,
}

/// A document in `name_structs.A b`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct NameStructAB {
    /// int 100 %.
    pub a: i32,
}

/// A document in `name_structs.a-b`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct NameStructAB2 {
    /// int 100 %.
    pub a: i32,
}

/// A document in `name_structs.a_b`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct NameStructAB3 {
    /// int 100 %.
    pub a: i32,
}

/// A document in `name_structs.a b`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct NameStructAB4 {
    /// int 100 %.
    pub a: i32,
}

/// A document in `name_structs.aB`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct NameStructAB5 {
    /// int 100 %.
    pub a: i32,
}

/// A document in `name_structs.AB`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct Ab {
    /// int 100 %.
    pub a: i32,
}

/// A document in `name_structs.ab`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct NameStructAb {
    /// int 100 %.
    pub a: i32,
}

/// A document in `name_structs.1a`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct Type1a {
    /// int 100 %.
    pub a: i32,
}

/// A document in `name_structs.2`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct Type2 {
    /// int 100 %.
    pub a: i32,
}

/// A document in `name_structs._`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct NameStructType {
    /// int 100 %.
    pub a: i32,
}

/// A document in `name_structs.__`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct NameStructType2 {
    /// int 100 %.
    pub a: i32,
}

/// A document in `name_structs.id`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct NameStructId {
    /// int 100 %.
    pub a: i32,
}

/// A document in `name_structs.Id`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct NameStructId2 {
    /// int 100 %.
    pub a: i32,
}

/// A document in `name_structs._Id`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct NameStructId3 {
    /// int 100 %.
    pub a: i32,
}

/// A document in `name_structs.имя`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct NameStructType3 {
    /// int 100 %.
    pub a: i32,
}

/// A document in `name_structs.日本`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct NameStructType4 {
    /// int 100 %.
    pub a: i32,
}

/// A document in `name_structs.größe`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct Grosse {
    /// int 100 %.
    pub a: i32,
}

/// A document in `name_structs.a\u{202e}b`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct NameStructAB6 {
    /// int 100 %.
    pub a: i32,
}

/// A document in `name_structs.tab\tx`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct TabX {
    /// int 100 %.
    pub a: i32,
}

/// A document in `name_structs.new\nline`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct NewLine {
    /// int 100 %.
    pub a: i32,
}

/// A document in `name_structs.quo"te`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct QuoTe {
    /// int 100 %.
    pub a: i32,
}

/// A document in `name_structs.back\slash`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct BackSlash {
    /// int 100 %.
    pub a: i32,
}

/// A document in `name_structs.back\u{60}tick`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct BackTick {
    /// int 100 %.
    pub a: i32,
}

/// A document in `name_structs.nul`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct Nul {
    /// int 100 %.
    pub a: i32,
}

/// A document in `name_structs.xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct Xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx {
    /// int 100 %.
    pub a: i32,
}

/// A document in `name_structs.é`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct E {
    /// int 100 %.
    pub a: i32,
}

/// A document in `name_structs.É`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct NameStructE {
    /// int 100 %.
    pub a: i32,
}

/// A document in `name_structs.e`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct NameStructE2 {
    /// int 100 %.
    pub a: i32,
}

/// A document in `name_structs.rest`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct Rest {
    /// int 100 %.
    pub a: i32,
}

/// A document in `name_structs.Option`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct NameStructOption {
    /// int 100 %.
    pub a: i32,
}

/// A document in `name_structs.String`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct NameStructString {
    /// int 100 %.
    pub a: i32,
}

/// A document in `name_structs.Vec`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct NameStructVec {
    /// int 100 %.
    pub a: i32,
}

/// A document in `name_structs.🦀`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct NameStructType5 {
    /// int 100 %.
    pub a: i32,
}

/// A document in `name_structs.unique`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct Unique {
    /// int 100 %.
    pub a: i32,
}

/// A document in `name_structs.sparse`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct Sparse {
    /// int 100 %.
    pub a: i32,
}

/// A document in `name_structs.hidden`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct Hidden {
    /// int 100 %.
    pub a: i32,
}

/// A document in `name_structs.partial`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct Partial {
    /// int 100 %.
    pub a: i32,
}

/// A document in `name_structs.name`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct NameStructName {
    /// int 100 %.
    pub a: i32,
}

/// A document in `name_structs.collation`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct Collation {
    /// int 100 %.
    pub a: i32,
}

/// A document in `names_inside.inner`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct NamesInsideInner {
    /// int 100 %.
    /// 100 % of 1 ids resolve in `a-b`.
    #[serde(rename = "A b")]
    pub a_b: Ref<AB>,
    /// int 100 %.
    /// 100 % of 1 ids resolve in `a-b`.
    #[serde(rename = "a-b")]
    pub a_b_2: Ref<AB>,
    /// int 100 %.
    /// 100 % of 1 ids resolve in `a-b`.
    #[serde(rename = "a_b")]
    pub a_b_3: Ref<AB>,
    /// int 100 %.
    /// 100 % of 1 ids resolve in `a-b`.
    #[serde(rename = "a b")]
    pub a_b_4: Ref<AB>,
    /// int 100 %.
    /// 100 % of 1 ids resolve in `a-b`.
    #[serde(rename = "aB")]
    pub a_b_5: Ref<AB>,
    /// int 100 %.
    #[serde(rename = "AB")]
    pub ab: i32,
    /// int 100 %.
    #[serde(rename = "ab")]
    pub ab_2: i32,
    /// int 100 %.
    #[serde(rename = "1a")]
    pub field_1a: i32,
    /// int 100 %.
    #[serde(rename = "2")]
    pub field_2: i32,
    /// int 100 %.
    #[serde(rename = "_")]
    pub field: i32,
    /// int 100 %.
    #[serde(rename = "__")]
    pub field_3: i32,
    /// int 100 %.
    pub id: i32,
    /// int 100 %.
    #[serde(rename = "Id")]
    pub id_2: i32,
    /// int 100 %.
    #[serde(rename = "_Id")]
    pub id_3: i32,
    /// int 100 %.
    #[serde(rename = "имя")]
    pub field_4: i32,
    /// int 100 %.
    #[serde(rename = "日本")]
    pub field_5: i32,
    /// int 100 %.
    #[serde(rename = "größe")]
    pub grosse: i32,
    /// int 100 %.
    /// 100 % of 1 ids resolve in `a-b`.
    #[serde(rename = "a\u{202e}b")]
    pub a_b_6: Ref<AB>,
    /// int 100 %.
    #[serde(rename = "tab\tx")]
    pub tab_x: i32,
    /// int 100 %.
    #[serde(rename = "new\nline")]
    pub new_line: i32,
    /// int 100 %.
    #[serde(rename = "quo\"te")]
    pub quo_te: i32,
    /// int 100 %.
    #[serde(rename = "back\\slash")]
    pub back_slash: i32,
    /// int 100 %.
    #[serde(rename = "back`tick")]
    pub back_tick: i32,
    /// int 100 %.
    pub nul: i32,
    /// int 100 %.
    #[serde(
        rename = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
    )]
    pub xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx: i32,
    /// int 100 %.
    #[serde(rename = "é")]
    pub e: i32,
    /// int 100 %.
    #[serde(rename = "É")]
    pub e_2: i32,
    /// int 100 %.
    #[serde(rename = "e")]
    pub e_3: i32,
    /// int 100 %.
    pub rest: i32,
    /// int 100 %.
    /// 100 % of 1 ids resolve in `options`.
    #[serde(rename = "Option")]
    pub option: Ref<OptionDocument>,
    /// int 100 %.
    /// 100 % of 1 ids resolve in `strings`.
    #[serde(rename = "String")]
    pub string: Ref<StringDocument>,
    /// int 100 %.
    #[serde(rename = "Vec")]
    pub vec: i32,
    /// int 100 %.
    #[serde(rename = "🦀")]
    pub field_6: i32,
    /// int 100 %.
    pub unique: i32,
    /// int 100 %.
    pub sparse: i32,
    /// int 100 %.
    pub hidden: i32,
    /// int 100 %.
    pub partial: i32,
    /// int 100 %.
    /// 100 % of 1 ids resolve in `names`.
    pub name: Ref<Name>,
    /// int 100 %.
    pub collation: i32,
    /// The fields that are not declared: `""`, `$x`, `a.b`, `$$`.
    #[serde(flatten)]
    pub rest_2: bson::Document,
}

/// A document in `reserved.Option`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct ReservedOption {
    /// int 100 %.
    pub a: i32,
}

/// A document in `reserved.String`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct ReservedString {
    /// int 100 %.
    pub a: i32,
}

/// A document in `reserved.Vec`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct ReservedVec {
    /// int 100 %.
    pub a: i32,
}

/// A document in `reserved.Box`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct ReservedBox {
    /// int 100 %.
    pub a: i32,
}

/// A document in `reserved.Id`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct ReservedId {
    /// int 100 %.
    pub a: i32,
}

/// A document in `reserved.Ref`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct ReservedRef {
    /// int 100 %.
    pub a: i32,
}

/// A document in `reserved.Document`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct ReservedDocument {
    /// int 100 %.
    pub a: i32,
}

/// A document in `reserved.Embedded`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct ReservedEmbedded {
    /// int 100 %.
    pub a: i32,
}

/// A document in `reserved.DateTime`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct ReservedDateTime {
    /// int 100 %.
    pub a: i32,
}

/// A document in `reserved.Session`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct ReservedSession {
    /// int 100 %.
    pub a: i32,
}

/// A document in `reserved.Result`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct ReservedResult {
    /// int 100 %.
    pub a: i32,
}

/// A document in `reserved.Some`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct ReservedSome {
    /// int 100 %.
    pub a: i32,
}

/// A document in `reserved.None`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct ReservedNone {
    /// int 100 %.
    pub a: i32,
}

/// A document in `reserved.Ok`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct ReservedOk {
    /// int 100 %.
    pub a: i32,
}

/// A document in `reserved.Err`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct ReservedErr {
    /// int 100 %.
    pub a: i32,
}

/// A document in `reserved.Clone`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct ReservedClone {
    /// int 100 %.
    pub a: i32,
}

/// A document in `reserved.Debug`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct ReservedDebug {
    /// int 100 %.
    pub a: i32,
}

/// A document in `reserved.Default`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct ReservedDefault {
    /// int 100 %.
    pub a: i32,
}

/// A document in `reserved.Serialize`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct ReservedSerialize {
    /// int 100 %.
    pub a: i32,
}

/// A document in `reserved.Bson`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct ReservedBson {
    /// int 100 %.
    pub a: i32,
}

/// A document in `reserved.books_fields`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct BooksField {
    /// int 100 %.
    pub a: i32,
}

/// A document in `reserved.Fields`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct Field {
    /// int 100 %.
    pub a: i32,
}

/// A document in `reserved.Joined`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct Joined {
    /// int 100 %.
    pub a: i32,
}

/// A string in `validated.kind`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Embedded)]
pub enum Kind {
    /// 50 % of the strings.
    #[serde(rename = "a")]
    A,
    /// 50 % of the strings.
    #[serde(rename = "b")]
    B,
    /// In no document that was read; the validator allows it.
    #[serde(rename = "c d")]
    CD,
}

/// A document in `validated.inner`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
#[odm(deny_undeclared)]
pub struct ValidatedInner {
    /// string 100 %.
    #[odm(length(max = 9))]
    pub code: String,
    /// int 100 %.
    #[odm(range(min = 0.5))]
    pub n: i32,
}

/// A document in `validated.list`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct List {
    /// int 100 %.
    #[odm(range(min = 0))]
    pub q: i32,
}

/// A document in `works.main`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub struct Main {
    /// objectId 100 %.
    /// 100 % of 1 ids resolve in `authors`.
    pub author: Ref<Author>,
}
