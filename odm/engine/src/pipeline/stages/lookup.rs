//! `$lookup`: joins each document with documents of another collection.

use bson::raw::{RawArrayBuf, RawBsonRef, RawDocument, RawDocumentBuf};
use bson::{Bson, Document, doc};
use odm_language::error::{Code, ServerError};
use odm_language::expression::memory_limit;
use odm_language::expression::{
    Expression, Globals, check_variable_name, compat::messages, field_path,
};
use odm_language::value::path::Path;
use odm_language::value::raw::{elements, get, values};

use crate::pipeline::Pipeline;
use crate::pipeline::outline::{self, Place};
use crate::pipeline::shown::{Dependencies, Printer, stage};
use crate::pipeline::source::{Documents, made};
use crate::pipeline::stage::{Cx, DOCUMENTS, Other, PathEffect, Stage, Touched, not_first};
use crate::pipeline::stages::foreign::{self, any_of, both, spread};
use crate::pipeline::stages::unwind::with;

#[derive(Debug)]
struct Lookup {
    from: String,
    fields: Option<(Path, String)>,
    variables: Vec<(String, Expression)>,
    pipeline: Pipeline,
    /// The stages of the pipeline, if it has one.
    written: Option<RawArrayBuf>,
    /// Whether the result is the same for every document, so that one read is enough.
    is_uncorrelated: bool,
    into: Vec<String>,
    collections: Vec<Other>,
    /// The depth of its nested pipeline, counting this stage.
    depth: usize,
}

fn refuse<T>(message: impl Into<String>) -> Result<T, ServerError> {
    Err(ServerError::new(Code::FAILED_TO_PARSE, message))
}

pub(super) fn outline(spec: RawBsonRef<'_>, place: Place<'_>) -> Result<(), ServerError> {
    let (_, from, stages) = read(spec)?;
    if let Some(from) = &from {
        place.check(None, from, |name| {
            format!("invalid $lookup namespace: {name}")
        })?;
    }
    match stages {
        None => Ok(()),
        Some(RawBsonRef::Array(stages))
            if from.is_some() || foreign::has_documents(Some(stages)) =>
        {
            outline::check(stages, place)
        }
        Some(RawBsonRef::Array(_)) => refuse(
            "$lookup stage without explicit collection must have a pipeline with $documents as first stage",
        ),
        Some(_) => no_stages(),
    }
}

fn no_stages<T>() -> Result<T, ServerError> {
    Err(ServerError::new(
        Code::TYPE_MISMATCH,
        "'pipeline' option must be specified as an array",
    ))
}

/// The specification, the collection that it names, and its pipeline.
type Read<'s> = (&'s RawDocument, Option<String>, Option<RawBsonRef<'s>>);

fn read(spec: RawBsonRef<'_>) -> Result<Read<'_>, ServerError> {
    let RawBsonRef::Document(spec) = spec else {
        return refuse(format!(
            "the $lookup stage specification must be an object, but found {}",
            messages::type_name(Some(spec))
        ));
    };
    let stages = get(spec, "pipeline");
    let from = match get(spec, "from") {
        Some(from) => Some(foreign::from("$lookup", from)?),
        None if stages.is_none() => {
            return refuse("must specify 'pipeline' when 'from' is empty");
        }
        None => None,
    };
    Ok((spec, from, stages))
}

pub(super) fn parse(
    _name: &str,
    spec: RawBsonRef<'_>,
    globals: &Globals,
) -> Result<Box<dyn Stage>, ServerError> {
    let (spec, from, _) = read(spec)?;
    let (mut local, mut foreign, mut into) = (None, None, None);
    let mut variables = Vec::new();
    let mut has_let = false;
    let mut stages = None;
    for (name, value) in elements(spec) {
        let kind = messages::type_name(Some(value));
        match (name, value) {
            ("pipeline", RawBsonRef::Array(array)) => {
                stages = Some(array.to_owned());
            }
            ("pipeline", _) => return no_stages(),
            ("let", RawBsonRef::Document(lets)) => {
                has_let = true;
                for (name, value) in elements(lets) {
                    check_variable_name(name)?;
                    let scope = globals.scope().unmoved();
                    variables.push((name.to_owned(), Expression::parse(value, &scope)?));
                }
            }
            ("let", _) => {
                return refuse(format!(
                    "$lookup argument '{}' must be an object, is type {kind}",
                    messages::element(name, value)
                ));
            }
            ("from", _) => {}
            ("localField", RawBsonRef::String(text)) => local = Some(text),
            ("foreignField", RawBsonRef::String(text)) => foreign = Some(text.to_owned()),
            ("as", RawBsonRef::String(text)) => into = Some(field_path(text)?),
            (other, RawBsonRef::String(_)) => {
                return refuse(format!("unknown argument to $lookup: {other}"));
            }
            (other, value) => {
                return refuse(format!(
                    "$lookup argument '{other}' must be a string, found {}: {kind}",
                    messages::element(other, value)
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
    if has_let && stages.is_none() {
        return refuse("$lookup with a 'let' argument must also specify 'pipeline'");
    }
    let inner = globals.clone().inner_pipeline()?;
    let depth = inner.pipeline_depth();
    let mut collections: Vec<_> = from
        .iter()
        .map(|from| Other {
            database: None,
            collection: from.clone(),
            depth: Some(depth),
        })
        .collect();
    let from = from.unwrap_or_else(|| foreign::NO_COLLECTION.to_owned());
    // Compiled once with the variables in scope, without values; each document then binds their values.
    let bound = variables
        .iter()
        .fold(inner, |globals, (name, _)| globals.with_binding(name, None));
    let is_random = stages.as_ref().is_some_and(|stages| {
        let shown = messages::stored(RawBsonRef::Array(stages));
        shown.contains("$rand") || shown.contains("$sample")
    });
    let is_uncorrelated = fields.is_none() && variables.is_empty() && !is_random;
    let pipeline = Pipeline::parse_inner(
        "$lookup",
        51047,
        stages.as_deref().unwrap_or(&RawArrayBuf::new()),
        &bound,
    )?;
    collections.extend(pipeline.collections());
    // `localField` and `foreignField` become a filter in front of the pipeline.
    if let (Some(stage), Some(_)) = (pipeline.begins(), &fields)
        && stage != DOCUMENTS
    {
        return Err(not_first(stage));
    }
    Ok(Box::new(Lookup {
        from,
        fields,
        variables,
        pipeline,
        written: stages,
        is_uncorrelated,
        into,
        collections,
        depth,
    }))
}

impl Lookup {
    /// The joined documents for one document.
    fn found(&self, document: &RawDocument, cx: Cx<'_>) -> Result<RawArrayBuf, ServerError> {
        let equality = self
            .fields
            .as_ref()
            .map(|(local, foreign)| filter(local, foreign, document));
        let mut globals = cx.globals.clone();
        for (name, expression) in &self.variables {
            let value = expression.eval(document, cx.globals)?.into_owned();
            globals = globals.with_binding(name, value);
        }
        let leading = self.pipeline.leading().filter;
        let skip = usize::from(leading.is_some());
        let filter = both(equality, leading);
        let by = self.fields.as_ref().map(|(_, foreign)| foreign.as_str());
        let others: Documents<'_> = match self.pipeline.begins() {
            Some(_) => Box::new(std::iter::empty()),
            None => cx
                .source
                .find(self.depth, &self.from, by, &filter, &globals)?,
        };
        if self.pipeline.begins().is_some() {
            // Its documents have metadata of their own.
            globals = globals.with_own_metadata();
        }
        let inner = Cx {
            source: cx.source,
            collection: &self.from,
            globals: &globals,
            counts: None,
        };
        let mut found = RawArrayBuf::new();
        let documents = if self.pipeline.begins() == Some(DOCUMENTS) {
            self.pipeline.stream_own(&filter, inner)?
        } else {
            self.pipeline.stream(skip, others, inner)?
        };
        for other in documents {
            found.push(&*other?);
            if found.as_bytes().len() > memory_limit::LIMIT {
                return Err(ServerError::new(
                    Code::location(4568),
                    format!(
                        "Total size of documents in {} matching pipeline's $lookup stage exceeds {} bytes",
                        self.from,
                        memory_limit::LIMIT
                    ),
                ));
            }
        }
        Ok(found)
    }
}

/// The filter on the foreign field: it must equal any of the local values. A missing field or an empty array looks for
/// null.
fn filter(local: &Path, foreign: &str, document: &RawDocument) -> RawDocumentBuf {
    let mut wanted = spread(local, document);
    if wanted.is_empty() {
        wanted.push(RawBsonRef::Null);
    }
    any_of(foreign, wanted.into_iter())
}

impl Stage for Lookup {
    fn shown(&self, printer: &dyn Printer) -> Result<Vec<Document>, ServerError> {
        let mut shown = doc! { "from": &self.from, "as": self.into.join(".") };
        if let Some((local, foreign)) = &self.fields {
            shown.extend(doc! { "localField": local.as_str(), "foreignField": foreign });
        }
        if let Some(written) = &self.written {
            let variables: Document = self
                .variables
                .iter()
                .map(|(name, value)| (name.clone(), value.parsed(printer.globals())))
                .collect();
            let stages = values(written).map(|stage| Bson::try_from(stage).unwrap_or(Bson::Null));
            shown.extend(doc! { "let": variables, "pipeline": stages.collect::<Vec<_>>() });
        }
        Ok(vec![stage("$lookup", shown)])
    }

    fn dependencies(&self) -> Option<Dependencies> {
        let mut paths = Vec::new();
        if let Some((local, _)) = &self.fields {
            paths.push(local.as_str().to_owned());
        }
        for (_, value) in &self.variables {
            paths.extend(value.paths()?);
        }
        Some(Dependencies::some(paths))
    }

    fn joins_as(&self) -> Option<String> {
        Some(self.into.join("."))
    }

    fn effect(&self) -> Option<PathEffect> {
        Some(PathEffect {
            is_one_to_one: true,
            keeps_order: true,
            ..PathEffect::new(Touched::Only(vec![self.into.join(".")]))
        })
    }

    fn run<'a>(&'a self, input: Documents<'a>, cx: Cx<'a>) -> Result<Documents<'a>, ServerError> {
        let mut same: Option<RawArrayBuf> = None;
        Ok(made(input.map(move |document| {
            let document = document?;
            let found = match same.take() {
                Some(found) => found,
                None => self.found(&document, cx)?,
            };
            let joined = with(&document, &self.into, Some(RawBsonRef::Array(&found)));
            same = self.is_uncorrelated.then_some(found);
            Ok(joined)
        })))
    }

    fn collections(&self) -> Vec<Other> {
        self.collections.clone()
    }

    fn statistics_stages(&self) -> Option<(&str, &'static str)> {
        Some((&self.from, self.pipeline.reports()?))
    }
}
