//! `$out`: replaces a collection's documents.

use bson::raw::RawBsonRef;

use crate::engine::expression::{Globals, text};
use crate::engine::pipeline::Documents;
use crate::engine::pipeline::stage::{Cx, Stage};
use crate::error::{Code, ServerError};
use crate::value::raw::elements;

#[derive(Debug)]
struct Out {
    database: Option<String>,
    collection: String,
}

pub(super) fn parse(
    _name: &str,
    spec: RawBsonRef<'_>,
    _globals: &Globals,
) -> Result<Box<dyn Stage>, ServerError> {
    let refuse = |code, message: String| Err(ServerError::new(Code::location(code), message));
    let mut out = Out {
        database: None,
        collection: String::new(),
    };
    match spec {
        RawBsonRef::String(name) => name.clone_into(&mut out.collection),
        RawBsonRef::Document(spec) => {
            for (name, value) in elements(spec) {
                match (name, value) {
                    ("db", RawBsonRef::String(name)) => out.database = Some(name.to_owned()),
                    ("coll", RawBsonRef::String(name)) => name.clone_into(&mut out.collection),
                    _ => {
                        return refuse(
                            16994,
                            format!(
                                "If an object is passed to $out it must have exactly 2 fields: 'db' and 'coll'. Found: {}",
                                text::stored_document(spec)
                            ),
                        );
                    }
                }
            }
        }
        other => {
            return refuse(
                16990,
                format!(
                    "$out only supports a string or object argument, but found {}",
                    text::type_name(Some(other))
                ),
            );
        }
    }
    Ok(Box::new(out))
}

impl Stage for Out {
    fn run<'a>(&'a self, input: Documents<'a>, cx: Cx<'a>) -> Result<Documents<'a>, ServerError> {
        let documents = input.collect::<Result<_, _>>()?;
        cx.source
            .replace_all(self.database.as_deref(), &self.collection, documents)?;
        Ok(Box::new(std::iter::empty()))
    }

    fn collections(&self) -> Vec<(Option<String>, String)> {
        vec![(self.database.clone(), self.collection.clone())]
    }

    fn writes(&self) -> bool {
        true
    }
}
