//! `$unionWith`: the input documents, then those of another collection.

use bson::Document;
use bson::raw::{RawArray, RawArrayBuf, RawBsonRef, RawDocument, RawDocumentBuf};
use odm_language::error::{Code, ServerError};
use odm_language::expression::{Globals, compat::messages};
use odm_language::value::raw::{append, elements, values};

use crate::pipeline::Pipeline;
use crate::pipeline::outline::{self, Place};
use crate::pipeline::shown::{Dependencies, Printer, stage};
use crate::pipeline::source::Documents;
use crate::pipeline::stage::{Cx, Other, Stage};
use crate::pipeline::stages::foreign;

#[derive(Debug)]
struct UnionWith {
    collection: String,
    pipeline: Pipeline,
    written: RawArrayBuf,
    /// The depth of its nested pipeline, counting this stage.
    depth: usize,
}

/// The given options.
struct Spec<'s> {
    /// `None` if the pipeline brings its own documents.
    collection: Option<&'s str>,
    stages: Option<RawArrayBuf>,
}

pub(super) fn outline(spec: RawBsonRef<'_>, place: Place<'_>) -> Result<(), ServerError> {
    let spec = Spec::read(spec)?;
    if let Some(collection) = spec.collection {
        outline::check_readable(place.database, collection)?;
    }
    spec.stages
        .map_or(Ok(()), |stages| outline::check(&stages, place))
}

pub(super) fn parse(
    _name: &str,
    spec: RawBsonRef<'_>,
    globals: &Globals,
) -> Result<Box<dyn Stage>, ServerError> {
    let spec = Spec::read(spec)?;
    let stages = spec.stages.unwrap_or_default();
    let (pipeline, depth) = nested(&stages, globals)?;
    Ok(Box::new(UnionWith {
        collection: spec.collection.unwrap_or(foreign::NO_COLLECTION).to_owned(),
        pipeline,
        written: stages,
        depth,
    }))
}

/// The nested pipeline, and its depth.
fn nested(stages: &RawArray, globals: &Globals) -> Result<(Pipeline, usize), ServerError> {
    let inner = globals.clone().inner_pipeline()?;
    let pipeline = Pipeline::parse_inner("$unionWith", 31441, stages, &inner)?;
    Ok((pipeline, inner.pipeline_depth()))
}

fn refuse<T>(message: String) -> Result<T, ServerError> {
    Err(ServerError::new(Code::FAILED_TO_PARSE, message))
}

/// The stages, without nulls.
fn stages(array: &RawArray) -> Result<RawArrayBuf, ServerError> {
    let mut stages = RawArrayBuf::new();
    for (at, stage) in values(array).enumerate() {
        match stage {
            RawBsonRef::Document(stage) => stages.push(stage),
            RawBsonRef::Null | RawBsonRef::Undefined => {}
            other => return Err(wrong_type(&format!("pipeline.{at}"), other, "object")),
        }
    }
    Ok(stages)
}

fn wrong_type(field: &str, found: RawBsonRef<'_>, wanted: &str) -> ServerError {
    ServerError::new(
        Code::TYPE_MISMATCH,
        format!(
            "BSON field '$unionWith.{field}' is the wrong type '{}', expected type '{wanted}'",
            messages::type_name(Some(found))
        ),
    )
}

impl<'s> Spec<'s> {
    fn read(spec: RawBsonRef<'s>) -> Result<Self, ServerError> {
        let mut read = Self {
            collection: None,
            stages: None,
        };
        match spec {
            RawBsonRef::String(name) => read.collection = Some(name),
            RawBsonRef::Document(spec) => {
                elements(spec).try_for_each(|(name, value)| read.field(name, value))?;
            }
            other => {
                return refuse(format!(
                    "the $unionWith stage specification must be an object or string, but found {}",
                    messages::type_name(Some(other))
                ));
            }
        }
        if read.collection.is_none() && !foreign::has_documents(read.stages.as_deref()) {
            return refuse("$unionWith stage without explicit collection must have a pipeline with $documents as first stage".to_owned());
        }
        Ok(read)
    }

    fn field(&mut self, name: &str, value: RawBsonRef<'s>) -> Result<(), ServerError> {
        match (name, value) {
            ("coll", RawBsonRef::String(name)) => self.collection = Some(name),
            ("coll", RawBsonRef::Null | RawBsonRef::Undefined) => {}
            ("pipeline", RawBsonRef::Array(array)) => self.stages = Some(stages(array)?),
            ("pipeline", RawBsonRef::Null | RawBsonRef::Undefined) => {
                return Err(ServerError::new(
                    Code::location(10065),
                    "invalid parameter: expected an object (pipeline)",
                ));
            }
            ("coll" | "pipeline", other) => {
                let wanted = if name == "coll" { "string" } else { "array" };
                return Err(wrong_type(name, other, wanted));
            }
            (other, _) => {
                return Err(ServerError::new(
                    Code::location(40415),
                    format!("BSON field '$unionWith.{other}' is an unknown field."),
                ));
            }
        }
        Ok(())
    }
}

impl Stage for UnionWith {
    fn shown(&self, printer: &dyn Printer) -> Result<Vec<Document>, ServerError> {
        let mut shown = Document::new();
        if self.collection != foreign::NO_COLLECTION {
            shown.insert("coll", &self.collection);
        }
        shown.insert("pipeline", printer.over(&self.collection, &self.written)?);
        Ok(vec![stage("$unionWith", shown)])
    }

    fn dependencies(&self) -> Option<Dependencies> {
        Some(Dependencies::some(Vec::new()))
    }

    fn run<'a>(&'a self, input: Documents<'a>, cx: Cx<'a>) -> Result<Documents<'a>, ServerError> {
        // The other collection is read after the input has ended, as on mongod.
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

    fn add_filter(&mut self, filter: &RawDocument, globals: &Globals) -> Result<bool, ServerError> {
        let mut last = RawDocumentBuf::new();
        append(&mut last, "$match", RawBsonRef::Document(filter));
        self.written.push(last);
        self.pipeline = nested(&self.written, globals)?.0;
        Ok(true)
    }

    fn check_constants(&self, globals: &Globals) -> Result<(), ServerError> {
        self.pipeline.check_constants(globals)
    }

    fn statistics_stages(&self) -> Option<(&str, &'static str)> {
        Some((&self.collection, self.pipeline.reports()?))
    }

    fn collections(&self) -> Vec<Other> {
        let mut collections = self.pipeline.collections();
        if self.collection != foreign::NO_COLLECTION {
            collections.push(Other {
                database: None,
                collection: self.collection.clone(),
                depth: Some(self.depth),
            });
        }
        collections
    }
}

impl UnionWith {
    fn documents<'a>(&'a self, cx: Cx<'a>) -> Result<Documents<'a>, ServerError> {
        let leading = self.pipeline.leading();
        let skip = usize::from(leading.filter.is_some());
        let filter = leading.filter.unwrap_or_default();
        let found: Documents<'a> = match self.pipeline.begins() {
            Some(_) => Box::new(std::iter::empty()),
            None => cx
                .source
                .find(self.depth, &self.collection, None, &filter, cx.globals)?,
        };
        let inner = Cx {
            collection: &self.collection,
            counts: None,
            ..cx
        };
        self.pipeline.stream(skip, found, inner)
    }
}
