//! `$lookup`: the documents of another collection that belong to each document.

use bson::raw::{RawArrayBuf, RawBson, RawBsonRef, RawDocument, RawDocumentBuf};

use crate::engine::expression::{
    Expression, Globals, append, check_variable_name, field_path, text,
};
use crate::engine::pipeline::stage::{Cx, Stage};
use crate::engine::pipeline::stages::unwind::with;
use crate::engine::pipeline::{Documents, Pipeline};
use crate::error::{Code, ServerError};
use crate::value::path::Path;
use crate::value::raw::{elements, values};

#[derive(Debug)]
struct Lookup {
    from: String,
    fields: Option<(Path, String)>,
    variables: Vec<(String, Expression)>,
    stages: Option<RawArrayBuf>,
    into: Vec<String>,
    collections: Vec<(Option<String>, String)>,
}

fn refuse<T>(message: impl Into<String>) -> Result<T, ServerError> {
    Err(ServerError::new(Code::FAILED_TO_PARSE, message))
}

pub(super) fn parse(
    _name: &str,
    spec: RawBsonRef<'_>,
    globals: &Globals,
) -> Result<Box<dyn Stage>, ServerError> {
    let RawBsonRef::Document(spec) = spec else {
        return refuse(format!(
            "the $lookup stage specification must be an object, but found {}",
            text::type_name(Some(spec))
        ));
    };
    let (mut from, mut local, mut foreign, mut into) = (None, None, None, None);
    let mut variables = Vec::new();
    let mut stages = None;
    for (name, value) in elements(spec) {
        let kind = text::type_name(Some(value));
        match (name, value) {
            ("pipeline", RawBsonRef::Array(array)) => {
                stages = Some(array.to_owned());
            }
            ("pipeline", _) => {
                return Err(ServerError::new(
                    Code::TYPE_MISMATCH,
                    "'pipeline' option must be specified as an array",
                ));
            }
            ("let", RawBsonRef::Document(lets)) => {
                for (name, value) in elements(lets) {
                    check_variable_name(name)?;
                    variables.push((name.to_owned(), Expression::parse(value, &globals.scope())?));
                }
            }
            ("let", _) => {
                return refuse(format!(
                    "$lookup argument '{}' must be an object, is type {kind}",
                    text::element(name, value)
                ));
            }
            ("from", RawBsonRef::String(text)) => from = Some(text.to_owned()),
            ("from", RawBsonRef::Document(_)) => {
                return Err(ServerError::new(
                    Code::COMMAND_NOT_SUPPORTED,
                    "$lookup from another database is not supported by the in-memory engine",
                ));
            }
            ("from", _) => {
                return refuse(format!(
                    "$lookup 'from' field must be a string, but found {kind}"
                ));
            }
            ("localField", RawBsonRef::String(text)) => local = Some(text),
            ("foreignField", RawBsonRef::String(text)) => foreign = Some(text.to_owned()),
            ("as", RawBsonRef::String(text)) => into = Some(field_path(text)?),
            (other, RawBsonRef::String(_)) => {
                return refuse(format!("unknown argument to $lookup: {other}"));
            }
            (other, value) => {
                return refuse(format!(
                    "$lookup argument '{other}' must be a string, found {}: {kind}",
                    text::element(other, value)
                ));
            }
        }
    }
    let Some(into) = into else {
        return refuse("must specify 'as' field for a $lookup");
    };
    let fields = match (local, foreign) {
        (Some(local), Some(foreign)) => {
            field_path(local)?;
            field_path(&foreign)?;
            Some((Path::new(local), foreign))
        }
        (None, None) if stages.is_some() => None,
        _ => {
            return refuse(
                "$lookup requires either 'pipeline' or both 'localField' and 'foreignField' to be specified",
            );
        }
    };
    let Some(from) = from else {
        return refuse("must specify 'pipeline' when 'from' is empty");
    };
    let inner = globals.clone().inner_pipeline()?;
    let mut collections = vec![(None, from.clone())];
    if let Some(stages) = &stages {
        // Checked now, with the variables in reach; bound for each document.
        let bound = variables.iter().fold(inner, |globals, (name, _)| {
            globals.with_variable(name, RawBson::Null)
        });
        collections.extend(Pipeline::parse(stages, &bound)?.collections());
    }
    Ok(Box::new(Lookup {
        from,
        fields,
        variables,
        stages,
        into,
        collections,
    }))
}

impl Lookup {
    fn joined(&self, document: &RawDocument, cx: Cx<'_>) -> Result<RawDocumentBuf, ServerError> {
        let mut found = RawArrayBuf::new();
        let equality = self
            .fields
            .as_ref()
            .map(|(local, foreign)| filter(local, foreign, document));
        let mut globals = cx.globals.clone();
        for (name, expression) in &self.variables {
            let value = expression.eval(document, cx.globals)?.into_owned();
            globals = globals.with_binding(name, value);
        }
        match &self.stages {
            None => {
                let filter = equality.unwrap_or_default();
                for other in cx.source.find(None, &self.from, &filter, &globals)? {
                    found.push(other);
                }
            }
            Some(stages) => {
                let pipeline = Pipeline::parse(stages, &globals)?;
                let filter = both(equality, pipeline.leading().filter);
                let others = cx.source.find(None, &self.from, &filter, &globals)?;
                let inner = Cx {
                    source: cx.source,
                    globals: &globals,
                };
                let input: Documents<'_> = Box::new(others.into_iter().map(Ok));
                for other in pipeline.stream(0, input, inner)? {
                    found.push(other?);
                }
            }
        }
        Ok(with(document, &self.into, Some(RawBsonRef::Array(&found))))
    }
}

fn both(left: Option<RawDocumentBuf>, right: Option<RawDocumentBuf>) -> RawDocumentBuf {
    match (left, right) {
        (Some(left), Some(right)) => {
            let mut clauses = RawArrayBuf::new();
            clauses.push(left);
            clauses.push(right);
            let mut filter = RawDocumentBuf::new();
            append(&mut filter, "$and", RawBsonRef::Array(&clauses));
            filter
        }
        (one, other) => one.or(other).unwrap_or_default(),
    }
}

/// What the foreign field must equal: any of the local values; null stands for none.
fn filter(local: &Path, foreign: &str, document: &RawDocument) -> RawDocumentBuf {
    let mut wanted: Vec<RawBsonRef<'_>> = Vec::new();
    for value in local.get_all(document) {
        match value {
            RawBsonRef::Array(items) => wanted.extend(values(items)),
            value => wanted.push(value),
        }
    }
    // An empty array has as little to look for as a missing field.
    if wanted.is_empty() {
        wanted.push(RawBsonRef::Null);
    }
    let mut clauses = RawArrayBuf::new();
    let mut plain = RawArrayBuf::new();
    for value in wanted {
        if matches!(value, RawBsonRef::RegularExpression(_)) {
            // `$in` would match by it: here only the same regular expression is equal.
            let mut clause = RawDocumentBuf::new();
            append(&mut clause, foreign, RawBsonRef::Document(&equal(value)));
            clauses.push(clause);
        } else {
            plain.push(value);
        }
    }
    let mut any = RawDocumentBuf::new();
    append(&mut any, "$in", RawBsonRef::Array(&plain));
    let mut filter = RawDocumentBuf::new();
    append(&mut filter, foreign, RawBsonRef::Document(&any));
    if clauses.is_empty() {
        return filter;
    }
    clauses.push(filter);
    let mut either = RawDocumentBuf::new();
    append(&mut either, "$or", RawBsonRef::Array(&clauses));
    either
}

fn equal(value: RawBsonRef<'_>) -> RawDocumentBuf {
    let mut document = RawDocumentBuf::new();
    append(&mut document, "$eq", value);
    document
}

impl Stage for Lookup {
    fn run<'a>(&'a self, input: Documents<'a>, cx: Cx<'a>) -> Result<Documents<'a>, ServerError> {
        Ok(Box::new(
            input.map(move |document| self.joined(&document?, cx)),
        ))
    }

    fn collections(&self) -> Vec<(Option<String>, String)> {
        self.collections.clone()
    }
}
