//! Versions of a schema.

use std::fmt::Display;

use bson::raw::RawDocument;
use bson::{Document, doc};

use super::ModelMeta;
use crate::error::Result;

/// The versions of a schema as `#[odm(schema(version = 2, steps(split_name)))]` declares them.
#[derive(Debug, Clone, Copy)]
pub struct SchemaMeta {
    /// The version of the documents that the program writes. Documents without the field have version 1.
    pub version: i32,
    /// The stored name of the field with the version of a document.
    pub field: &'static str,
    /// The functions that make the next version of a document, from version 1 on.
    pub steps: &'static [StepMeta],
    /// Whether documents of newer versions are read as if they had this version.
    pub reads_newer: bool,
    /// Decodes a document, to find out whether the model can read it.
    pub decodes: fn(&RawDocument) -> Result<()>,
}

/// A function that makes the next version of a document.
#[derive(Debug, Clone, Copy)]
pub struct StepMeta {
    /// The path by which the model names the function.
    pub name: &'static str,
    /// The function.
    pub run: fn(&mut Document) -> Result<(), String>,
}

/// The result of a step: nothing, or a `Result` whose error can be displayed.
#[diagnostic::on_unimplemented(
    message = "a step of a schema can't return `{Self}`",
    label = "not the result of a step",
    note = "write `fn step(document: &mut bson::Document) -> Result<(), E>` with an error `E: Display`, or without a result"
)]
pub trait StepResult {
    /// The message of the error.
    fn into_result(self) -> Result<(), String>;
}

impl StepResult for () {
    fn into_result(self) -> Result<(), String> {
        Ok(())
    }
}

impl<E: Display> StepResult for Result<(), E> {
    fn into_result(self) -> Result<(), String> {
        self.map_err(|error| error.to_string())
    }
}

impl SchemaMeta {
    /// Matches the documents of the version that the program writes.
    pub(crate) fn current(&self) -> Document {
        let has_version = doc! {self.field: single(doc! {"$eq": self.version})};
        if self.version == 1 {
            return doc! {"$or": [has_version, {self.field: {"$exists": false}}]};
        }
        has_version
    }

    /// Matches the documents of other versions, and those whose version is not a number.
    pub(crate) fn other(&self) -> Document {
        self.stored(doc! {"$not": single(doc! {"$eq": self.version})})
    }

    /// Matches the documents of older versions, and those whose version is not a number.
    pub(crate) fn outdated(&self) -> Document {
        self.stored(doc! {"$not": single(doc! {"$gte": self.version})})
    }

    /// The condition on the version, which a document of version 1 need not have.
    fn stored(&self, mut condition: Document) -> Document {
        if self.version == 1 {
            condition.insert("$exists", true);
        }
        doc! {self.field: condition}
    }

    /// Matches all documents but those of newer versions.
    pub(crate) fn not_newer(&self) -> Document {
        doc! {self.field: {"$not": single(doc! {"$gt": self.version})}}
    }

    /// Matches the documents of newer versions.
    pub(crate) fn newer(&self) -> Document {
        doc! {self.field: single(doc! {"$gt": self.version})}
    }

    /// Whether a document has the version that the program writes, as an expression.
    pub(crate) fn is_current(&self) -> Document {
        let stored = format!("${}", self.field);
        let has_version = doc! {"$eq": [&stored, self.version]};
        if self.version == 1 {
            let has_none = doc! {"$eq": [{"$type": stored}, "missing"]};
            return doc! {"$or": [has_version, has_none]};
        }
        has_version
    }
}

/// A condition on the version that an array does not meet, whose elements MongoDB would compare.
fn single(mut condition: Document) -> Document {
    condition.insert("$not", doc! {"$type": "array"});
    condition
}

impl ModelMeta {
    /// The field with the version of a document, which the model does not declare.
    pub(crate) fn schema_field(&self) -> Option<&'static str> {
        self.schema.map(|schema| schema.field)
    }
}
