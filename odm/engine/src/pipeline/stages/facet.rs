//! `$facet`: several pipelines over the same documents, with one result array each.

use bson::raw::{RawArray, RawArrayBuf, RawBsonRef, RawDocumentBuf};
use bson::{Document, doc};
use odm_language::error::{Code, ServerError};
use odm_language::expression::memory_limit;
use odm_language::expression::meta;
use odm_language::expression::{Globals, compat::messages, field_path};
use odm_language::value::raw::append;
use odm_language::value::raw::{elements, values};

use crate::pipeline::outline::{self, Place};
use crate::pipeline::shown::{Dependencies, Printer, number, stage};
use crate::pipeline::source::{Documents, made};
use crate::pipeline::stage::{CHANGE_STREAM, Cx, Other, Stage};
use crate::pipeline::{Pipeline, PipelineDocument, is_of_place};

#[derive(Debug)]
struct Facet(Vec<(String, Pipeline)>);

/// Stages that are not allowed inside `$facet`; sorted.
const OUTSIDE_ONLY: &[&str] = &[
    "$changeStream",
    "$collStats",
    "$documents",
    "$facet",
    "$geoNear",
    "$indexStats",
    "$merge",
    "$out",
    "$planCacheStats",
];

pub(super) fn outline(spec: RawBsonRef<'_>, place: Place<'_>) -> Result<(), ServerError> {
    let facets = facets(spec)?;
    facets
        .into_iter()
        .try_for_each(|(_, stages)| outline::check(stages, place))
}

pub(super) fn parse(
    _name: &str,
    spec: RawBsonRef<'_>,
    globals: &Globals,
) -> Result<Box<dyn Stage>, ServerError> {
    let mut parsed = Vec::new();
    for (name, stages) in facets(spec)? {
        let pipeline = Pipeline::parse_facet(stages, globals);
        // Stages that must come first are not allowed in any position, so this check precedes errors about positions.
        if pipeline.is_ok() || pipeline.as_ref().is_err_and(is_of_place) {
            check_inside(stages)?;
        }
        let pipeline = pipeline?;
        if pipeline.searches_text(globals) {
            return Err(meta::unavailable());
        }
        parsed.push((name.to_owned(), pipeline.optimized(globals)?));
    }
    Ok(Box::new(Facet(parsed)))
}

/// Rejects stages that are not allowed inside `$facet`.
fn check_inside(stages: &RawArray) -> Result<(), ServerError> {
    for stage in values(stages) {
        if let RawBsonRef::Document(stage) = stage
            && let Some((inner, _)) = elements(stage).next()
            && OUTSIDE_ONLY.contains(&inner)
        {
            let inner = match inner {
                "$changeStream" => CHANGE_STREAM,
                inner => inner,
            };
            return refuse(
                40600,
                format!("{inner} is not allowed to be used within a $facet stage"),
            );
        }
    }
    Ok(())
}

fn refuse<T>(code: i32, message: String) -> Result<T, ServerError> {
    Err(ServerError::new(Code::location(code), message))
}

/// The names and pipelines of the facets.
fn facets(spec: RawBsonRef<'_>) -> Result<Vec<(&str, &RawArray)>, ServerError> {
    let facets = match spec {
        RawBsonRef::Document(facets) if !facets.is_empty() => facets,
        other => {
            return refuse(
                40169,
                format!(
                    "the $facet specification must be a non-empty object, but found: {}",
                    messages::element("$facet", other)
                ),
            );
        }
    };
    elements(facets).map(facet).collect()
}

fn facet<'s>(
    (name, value): (&'s str, RawBsonRef<'s>),
) -> Result<(&'s str, &'s RawArray), ServerError> {
    if name.is_empty() {
        let empty = "FieldPath field names may not be empty strings.";
        return refuse(15998, empty.to_owned());
    }
    if name.contains('.') || name.starts_with('$') {
        field_path(name)?;
        return refuse(
            16412,
            "FieldPath field names may not contain '.'. Consider using $getField or $setField."
                .to_owned(),
        );
    }
    let RawBsonRef::Array(stages) = value else {
        return refuse(
            40170,
            format!(
                "arguments to $facet must be arrays, {name} is type {}",
                messages::type_name(Some(value))
            ),
        );
    };
    for (at, stage) in values(stages).enumerate() {
        let RawBsonRef::Document(_) = stage else {
            return refuse(
                40171,
                format!(
                    "elements of arrays in $facet spec must be non-empty objects, {name} argument contained an element of type {}: {}",
                    messages::type_name(Some(stage)),
                    messages::element(&at.to_string(), stage)
                ),
            );
        };
    }
    Ok((name, stages))
}

impl Stage for Facet {
    fn shown(&self, printer: &dyn Printer) -> Result<Vec<Document>, ServerError> {
        let mut facets = Document::new();
        for (name, pipeline) in &self.0 {
            let mut tee = stage("$internalFacetTeeConsumer", Document::new());
            if let Some(counts) = printer.counts() {
                let taken = counts.of((pipeline.address(), None)).returned;
                tee.extend(doc! {
                    "nReturned": number(taken),
                    "executionTimeMillisEstimate": 0_i64,
                });
            }
            let mut shown = vec![tee];
            shown.extend(pipeline.shown(0, printer)?);
            facets.insert(name, shown);
        }
        Ok(vec![stage("$facet", facets)])
    }

    fn dependencies(&self) -> Option<Dependencies> {
        let mut paths = Vec::new();
        for (_, pipeline) in &self.0 {
            paths.extend(pipeline.dependencies(0)?);
        }
        Some(Dependencies::all(paths))
    }

    fn forgets_metadata(&self) -> bool {
        true
    }

    fn run<'a>(&'a self, input: Documents<'a>, cx: Cx<'a>) -> Result<Documents<'a>, ServerError> {
        let asks = self.0.iter().any(|(_, pipeline)| pipeline.asks);
        let mut known = Vec::new();
        let documents = input
            .inspect(|_| {
                if asks {
                    known.push(cx.globals.known());
                }
            })
            .collect::<Result<Vec<PipelineDocument>, _>>()?;
        let mut result = RawDocumentBuf::new();
        for (name, pipeline) in &self.0 {
            let copies = Box::new(documents.iter().enumerate().map(|(at, document)| {
                if let Some(known) = known.get(at) {
                    cx.globals.set_known(known.clone());
                }
                Ok(document.clone())
            }));
            let mut array = RawArrayBuf::new();
            for document in pipeline.stream(0, copies, cx)? {
                array.push(&*document?);
                let size = result.as_bytes().len() + array.as_bytes().len();
                if size > memory_limit::LIMIT {
                    return Err(ServerError::new(
                        Code::location(4_031_700),
                        format!(
                            "document constructed by $facet is {size} bytes, which exceeds the limit of {} bytes",
                            memory_limit::LIMIT
                        ),
                    ));
                }
            }
            append(&mut result, name, RawBsonRef::Array(&array));
        }
        Ok(made(std::iter::once(Ok(result))))
    }

    fn check_constants(&self, globals: &Globals) -> Result<(), ServerError> {
        self.0
            .iter()
            .try_for_each(|(_, pipeline)| pipeline.check_constants(globals))
    }

    fn collections(&self) -> Vec<Other> {
        self.0
            .iter()
            .flat_map(|(_, pipeline)| pipeline.collections())
            .collect()
    }
}
