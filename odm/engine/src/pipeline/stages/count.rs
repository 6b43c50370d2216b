//! `$count`: one document with the number of input documents, or none if there are none.

use bson::raw::{RawBsonRef, RawDocumentBuf};
use bson::{Document, doc};
use odm_language::error::{Code, ServerError};
use odm_language::expression::Globals;
use odm_language::value::raw::append;

use crate::pipeline::shown::{Printer, stage};
use crate::pipeline::source::{Documents, made};
use crate::pipeline::stage::{Cx, Stage};

#[derive(Debug)]
struct Count(String);

pub(super) fn parse(
    _name: &str,
    spec: RawBsonRef<'_>,
    _globals: &Globals,
) -> Result<Box<dyn Stage>, ServerError> {
    let refuse = |code, message| Err(ServerError::new(Code::location(code), message));
    match spec {
        RawBsonRef::String("") => refuse(40157, "the count field must be a non-empty string"),
        RawBsonRef::String(name) if name.starts_with('$') => {
            refuse(40158, "the count field cannot be a $-prefixed path")
        }
        RawBsonRef::String(name) if name.contains('\0') => {
            refuse(40159, "the count field cannot contain a null byte")
        }
        RawBsonRef::String(name) if name.contains('.') => {
            refuse(40160, "the count field cannot contain '.'")
        }
        RawBsonRef::String(name) => Ok(Box::new(Count(name.to_owned()))),
        _ => refuse(40156, "the count field must be a non-empty string"),
    }
}

impl Stage for Count {
    fn shown(&self, _printer: &dyn Printer) -> Result<Vec<Document>, ServerError> {
        let one = doc! { "$sum": { "$const": 1 } };
        Ok(vec![
            stage("$group", doc! { "_id": { "$const": null }, &self.0: one }),
            stage("$project", doc! { &self.0: true, "_id": false }),
        ])
    }

    fn needs(&self) -> Option<Vec<String>> {
        Some(Vec::new())
    }

    fn forgets_metadata(&self) -> bool {
        true
    }

    fn run<'a>(&'a self, input: Documents<'a>, _cx: Cx<'a>) -> Result<Documents<'a>, ServerError> {
        let mut count = 0_i64;
        for document in input {
            document?;
            count += 1;
        }
        let number = i32::try_from(count).map_or(RawBsonRef::Int64(count), RawBsonRef::Int32);
        let mut document = RawDocumentBuf::new();
        append(&mut document, &self.0, number);
        Ok(made((count > 0).then_some(Ok(document)).into_iter()))
    }
}
