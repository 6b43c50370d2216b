use odm::bson;
use odm::prelude::*;
use serde::{Deserialize, Serialize};

fn step(document: &mut bson::Document) -> Result<(), String> {
    document.insert("n", 1);
    Ok(())
}

// How the words are written.
#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "a", schema)]
struct Bare {
    #[serde(rename = "_id")]
    id: i32,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "a", schema(steps(step)))]
struct NoVersion {
    #[serde(rename = "_id")]
    id: i32,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "a", schema(version = 2, step(step)))]
struct Misspelt {
    #[serde(rename = "_id")]
    id: i32,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "a", schema(version = 2, steps = step))]
struct StepsWithoutParentheses {
    #[serde(rename = "_id")]
    id: i32,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "a", schema(version = 2, steps(step), newer = skip))]
struct OtherWordForNewer {
    #[serde(rename = "_id")]
    id: i32,
}

// As many steps as the version needs.
#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "a", schema(version = 0))]
struct VersionZero {
    #[serde(rename = "_id")]
    id: i32,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "a", schema(version = 1, steps(step)))]
struct OneTooMany {
    #[serde(rename = "_id")]
    id: i32,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "a", schema(version = 2))]
struct NoStep {
    #[serde(rename = "_id")]
    id: i32,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "a", schema(version = 5, steps(step, step)))]
struct TwoTooFew {
    #[serde(rename = "_id")]
    id: i32,
}

// The field with the version.
#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "a", schema(version = 2, steps(step)))]
struct SameName {
    #[serde(rename = "_id")]
    id: i32,
    schema_version: i32,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "a", schema(version = 2, steps(step), field = "v"))]
struct SameStoredName {
    #[serde(rename = "_id")]
    id: i32,
    #[serde(rename = "v")]
    version: i32,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "a", schema(version = 2, steps(step), field = "meta.version"))]
struct Path {
    #[serde(rename = "_id")]
    id: i32,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "a", schema(version = 2, steps(step), field = "_id"))]
struct IdAsVersion {
    #[serde(rename = "_id")]
    id: i32,
}

// What can't have versions.
#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "a", schema(version = 2, steps(step)), capped(size = 1_000))]
struct Capped {
    #[serde(rename = "_id")]
    id: i32,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "a.files", schema(version = 2, steps(step)), gridfs)]
struct Files {
    #[serde(rename = "_id")]
    id: i32,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "a", schema(version = 2, steps(step)), time_series(time = at))]
struct Series {
    #[serde(rename = "_id")]
    id: i32,
    at: DateTime,
}

fn stages() -> Vec<bson::Document> {
    Vec::new()
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "a", schema(version = 2, steps(step)), view(on = NoStages, pipeline = stages))]
struct Viewed {
    #[serde(rename = "_id")]
    id: i32,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "b")]
struct NoStages {
    #[serde(rename = "_id")]
    id: i32,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "a", schema(version = 2, steps(step)))]
#[serde(deny_unknown_fields)]
struct Strict {
    #[serde(rename = "_id")]
    id: i32,
}

#[derive(Serialize, Deserialize, Embedded)]
#[odm(schema(version = 2, steps(step)))]
struct Inside {
    n: i32,
}

fn main() {}
