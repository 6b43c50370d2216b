//! `$out`: replaces a collection's documents.

use bson::raw::RawBsonRef;
use bson::{Document, doc};
use odm_language::error::{Code, ServerError};
use odm_language::expression::{Globals, compat::messages};
use odm_language::value::raw::{elements, get};

use crate::pipeline::outline::Place;
use crate::pipeline::shown::{Printer, stage};
use crate::pipeline::sink::{Sink, WriteTarget};
use crate::pipeline::source::{Documents, drained};
use crate::pipeline::stage::{Cx, Other, Stage, WritingStage};

#[derive(Debug)]
struct Out {
    database: Option<String>,
    collection: String,
}

pub(super) fn outline(spec: RawBsonRef<'_>, place: Place<'_>) -> Result<(), ServerError> {
    let out = Out::read(spec)?;
    place.check(out.database.as_deref(), &out.collection, |name| {
        format!("Invalid $out target namespace, {name}")
    })
}

pub(super) fn parse(
    _name: &str,
    spec: RawBsonRef<'_>,
    _globals: &Globals,
) -> Result<Box<dyn Stage>, ServerError> {
    Ok(Box::new(Out::read(spec)?))
}

fn refuse<T>(code: i32, message: String) -> Result<T, ServerError> {
    Err(ServerError::new(Code::location(code), message))
}

impl Out {
    fn read(spec: RawBsonRef<'_>) -> Result<Self, ServerError> {
        let spec = match spec {
            RawBsonRef::String(name) => {
                return Ok(Self {
                    database: None,
                    collection: name.to_owned(),
                });
            }
            RawBsonRef::Document(spec) => spec,
            other => {
                return refuse(
                    16990,
                    format!(
                        "$out only supports a string or object argument, but found {}",
                        messages::type_name(Some(other))
                    ),
                );
            }
        };
        let (Some(database), Some(collection), 2) =
            (get(spec, "db"), get(spec, "coll"), elements(spec).count())
        else {
            return refuse(
                16994,
                "If an object is passed to $out it must have exactly 2 fields: 'db' and 'coll'"
                    .to_owned(),
            );
        };
        Ok(Self {
            database: Some(name("db", database)?),
            collection: name("coll", collection)?,
        })
    }
}

fn name(field: &str, value: RawBsonRef<'_>) -> Result<String, ServerError> {
    match value {
        RawBsonRef::String(name) => Ok(name.to_owned()),
        other => refuse(
            13111,
            format!(
                "wrong type for field ({field}) {} != string",
                messages::type_name(Some(other))
            ),
        ),
    }
}

impl Stage for Out {
    fn shown(&self, printer: &dyn Printer) -> Result<Vec<Document>, ServerError> {
        let database = self.database.as_deref().unwrap_or(printer.database());
        Ok(vec![stage(
            "$out",
            doc! { "db": database, "coll": &self.collection },
        )])
    }

    fn run<'a>(&'a self, input: Documents<'a>, _cx: Cx<'a>) -> Result<Documents<'a>, ServerError> {
        Ok(drained(input))
    }

    fn collections(&self) -> Vec<Other> {
        vec![Other {
            database: self.database.clone(),
            collection: self.collection.clone(),
            depth: None,
        }]
    }

    fn writing(&self) -> Option<&dyn WritingStage> {
        Some(self)
    }
}

impl WritingStage for Out {
    fn target(&self) -> WriteTarget<'_> {
        WriteTarget {
            stage: "$out",
            database: self.database.as_deref(),
            collection: &self.collection,
            unique: None,
        }
    }

    fn write(
        &self,
        input: Documents<'_>,
        _cx: Cx<'_>,
        sink: &mut dyn Sink,
    ) -> Result<(), ServerError> {
        let database = self.database.as_deref();
        sink.check_replaced(database, &self.collection)?;
        let documents = input
            .map(|document| Ok::<_, ServerError>(document?.checked()?.into_owned()))
            .collect::<Result<_, _>>()?;
        sink.replace_all(database, &self.collection, documents)
    }
}
