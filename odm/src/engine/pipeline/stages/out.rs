//! `$out`: replaces a collection's documents.

use bson::raw::RawBsonRef;

use crate::engine::expression::memory;
use crate::engine::expression::{Globals, text};
use crate::engine::pipeline::Documents;
use crate::engine::pipeline::stage::{Cx, Stage, Target};
use crate::error::{Code, ServerError};
use crate::value::raw::{elements, get};

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
    let two_fields = || {
        refuse(
            16994,
            "If an object is passed to $out it must have exactly 2 fields: 'db' and 'coll'"
                .to_owned(),
        )
    };
    let spec = match spec {
        RawBsonRef::String(name) => {
            return Ok(Box::new(Out {
                database: None,
                collection: name.to_owned(),
            }));
        }
        RawBsonRef::Document(spec) => spec,
        other => {
            return refuse(
                16990,
                format!(
                    "$out only supports a string or object argument, but found {}",
                    text::type_name(Some(other))
                ),
            );
        }
    };
    if elements(spec).count() != 2 {
        return two_fields();
    }
    let (Some(database), Some(collection)) = (get(spec, "db"), get(spec, "coll")) else {
        return two_fields();
    };
    let name = |field: &str, value| match value {
        RawBsonRef::String(name) => Ok(name.to_owned()),
        other => Err(ServerError::new(
            Code::location(13111),
            format!(
                "wrong type for field ({field}) {} != string",
                text::type_name(Some(other))
            ),
        )),
    };
    Ok(Box::new(Out {
        database: Some(name("db", database)?),
        collection: name("coll", collection)?,
    }))
}

impl Stage for Out {
    fn run<'a>(&'a self, input: Documents<'a>, cx: Cx<'a>) -> Result<Documents<'a>, ServerError> {
        let documents = input
            .map(|document| document.and_then(memory::checked))
            .collect::<Result<_, _>>()?;
        cx.source
            .replace_all(self.database.as_deref(), &self.collection, documents)?;
        Ok(Box::new(std::iter::empty()))
    }

    fn collections(&self) -> Vec<(Option<String>, String)> {
        vec![(self.database.clone(), self.collection.clone())]
    }

    fn target(&self) -> Option<Target<'_>> {
        Some(Target {
            stage: "$out",
            database: self.database.as_deref(),
            collection: &self.collection,
            unique: None,
        })
    }
}
