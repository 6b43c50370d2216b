//! `$unionWith`: the documents, then those of another collection.

use bson::raw::{RawArray, RawArrayBuf, RawBsonRef};

use crate::engine::expression::{Globals, text};
use crate::engine::pipeline::stage::{Cx, Stage};
use crate::engine::pipeline::{Documents, Pipeline};
use crate::error::{Code, ServerError};
use crate::value::raw::elements;

#[derive(Debug)]
struct UnionWith {
    collection: String,
    pipeline: Pipeline,
}

pub(super) fn parse(
    _name: &str,
    spec: RawBsonRef<'_>,
    globals: &Globals,
) -> Result<Box<dyn Stage>, ServerError> {
    let refuse = |message: String| Err(ServerError::new(Code::FAILED_TO_PARSE, message));
    let mut collection = None;
    let mut stages: Option<&RawArray> = None;
    match spec {
        RawBsonRef::String(name) => collection = Some(name.to_owned()),
        RawBsonRef::Document(spec) => {
            for (name, value) in elements(spec) {
                match (name, value) {
                    ("coll", RawBsonRef::String(name)) => collection = Some(name.to_owned()),
                    ("pipeline", RawBsonRef::Array(array)) => stages = Some(array),
                    ("coll" | "pipeline", other) => {
                        let wanted = if name == "coll" { "string" } else { "array" };
                        return Err(ServerError::new(
                            Code::TYPE_MISMATCH,
                            format!(
                                "BSON field '$unionWith.{name}' is the wrong type '{}', expected type '{wanted}'",
                                text::type_name(Some(other))
                            ),
                        ));
                    }
                    (other, _) => {
                        return Err(ServerError::new(
                            Code::location(40415),
                            format!("BSON field '$unionWith.{other}' is an unknown field."),
                        ));
                    }
                }
            }
        }
        other => {
            return refuse(format!(
                "the $unionWith stage specification must be an object or string, but found {}",
                text::type_name(Some(other))
            ));
        }
    }
    let Some(collection) = collection else {
        return refuse("$unionWith stage without explicit collection must have a pipeline with $documents as first stage".to_owned());
    };
    let empty = RawArrayBuf::new();
    let inner = globals.clone().inner_pipeline()?;
    let pipeline = Pipeline::parse_inner("$unionWith", 31441, stages.unwrap_or(&empty), &inner)?;
    Ok(Box::new(UnionWith {
        collection,
        pipeline,
    }))
}

impl Stage for UnionWith {
    fn run<'a>(&'a self, input: Documents<'a>, cx: Cx<'a>) -> Result<Documents<'a>, ServerError> {
        // Read when the first input has ended, as the server does.
        let mut other = None;
        let mut input = input;
        Ok(Box::new(std::iter::from_fn(move || {
            if let Some(document) = input.next() {
                return Some(document);
            }
            if other.is_none() {
                other = Some(
                    self.documents(cx)
                        .unwrap_or_else(|error| Box::new(std::iter::once(Err(error)))),
                );
            }
            other.as_mut()?.next()
        })))
    }

    fn check_constants(&self, globals: &Globals) -> Result<(), ServerError> {
        self.pipeline.check_constants(globals)
    }

    fn tells_of(&self) -> Option<(&str, &'static str)> {
        Some((&self.collection, self.pipeline.begins()?))
    }

    fn collections(&self) -> Vec<(Option<String>, String)> {
        let mut collections = self.pipeline.collections();
        collections.push((None, self.collection.clone()));
        collections
    }
}

impl UnionWith {
    fn documents<'a>(&'a self, cx: Cx<'a>) -> Result<Documents<'a>, ServerError> {
        let leading = self.pipeline.leading();
        let filter = leading.filter.unwrap_or_default();
        let found = match self.pipeline.begins() {
            Some(_) => Vec::new(),
            None => cx
                .source
                .find(None, &self.collection, &filter, cx.globals)?,
        };
        let inner = Cx {
            collection: &self.collection,
            ..cx
        };
        self.pipeline
            .stream(0, Box::new(found.into_iter().map(Ok)), inner)
    }
}
