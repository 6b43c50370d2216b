//! `$documents`: the documents that an expression computes, instead of those of a collection.

use bson::Document;
use bson::raw::{RawBsonRef, RawDocumentBuf};
use odm_language::error::{Code, ServerError};
use odm_language::expression::projection::Shape;
use odm_language::expression::{Globals, compat::messages, replace_root};
use odm_language::value::raw::{empty_document, get, values};

use crate::pipeline::shown::{Printer, stage};
use crate::pipeline::source::{Documents, made};
use crate::pipeline::stage::{Cx, DOCUMENTS, Stage};
use crate::pipeline::stages::foreign::one;

/// The field that holds the array. mongod gives it a random name.
const FIELD: &str = "documents";

/// A projection of the array. As in mongod, it also decides which specifications are invalid.
#[derive(Debug)]
struct Computed(Shape);

pub(super) fn parse(
    name: &str,
    spec: RawBsonRef<'_>,
    globals: &Globals,
) -> Result<Box<dyn Stage>, ServerError> {
    let spec = one(FIELD, spec);
    let shape = replace_root::fields(name, &spec, &globals.scope())?;
    Ok(Box::new(Computed(shape)))
}

fn refuse<T>(code: i32, message: impl Into<String>) -> Result<T, ServerError> {
    Err(ServerError::new(Code::location(code), message))
}

/// One of the documents.
fn document(value: RawBsonRef<'_>) -> Result<RawDocumentBuf, ServerError> {
    match value {
        RawBsonRef::Document(document) => Ok(document.to_owned()),
        other => refuse(
            40228,
            format!(
                "elements within the array passed to $documents must evaluate to an object, but resulting value was: {}. Type of resulting value: '{}'. Input document: {}",
                messages::computed(other),
                messages::type_name(Some(other)),
                messages::computed(RawBsonRef::Document(&one(FIELD, other)))
            ),
        ),
    }
}

impl Stage for Computed {
    fn shown(&self, printer: &dyn Printer) -> Result<Vec<Document>, ServerError> {
        let mut shape = self.0.optimized(printer.globals());
        let computed = shape.remove(FIELD);
        shape.extend(computed.map(|computed| (FIELD.to_owned(), computed)));
        let path = format!("${FIELD}");
        // mongod empties the queue when it runs.
        let queue = match printer.counts() {
            Some(_) => Vec::new(),
            None => vec![Document::new()],
        };
        Ok(vec![
            stage("$queue", queue),
            stage("$project", shape),
            stage("$unwind", stage("path", path.clone())),
            stage("$replaceRoot", stage("newRoot", path)),
        ])
    }

    fn run<'a>(&'a self, _input: Documents<'a>, cx: Cx<'a>) -> Result<Documents<'a>, ServerError> {
        let computed = self.0.apply(empty_document(), cx.globals, None)?;
        let Some(RawBsonRef::Array(array)) = get(&computed, FIELD) else {
            return refuse(5_858_203, "an array is expected");
        };
        let documents: Vec<_> = values(array).map(document).collect();
        Ok(made(documents.into_iter()))
    }

    fn check_constants(&self, globals: &Globals) -> Result<(), ServerError> {
        self.0.check_constants(globals)
    }

    fn begins(&self) -> Option<&'static str> {
        Some(DOCUMENTS)
    }
}
