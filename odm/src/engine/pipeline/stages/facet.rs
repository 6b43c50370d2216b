//! `$facet`: several pipelines over the same documents, one array each.

use bson::raw::{RawArrayBuf, RawBsonRef, RawDocumentBuf};

use crate::engine::expression::memory;
use crate::engine::expression::{Globals, append, text};
use crate::engine::pipeline::stage::{Cx, Stage};
use crate::engine::pipeline::{Documents, Pipeline};
use crate::error::{Code, ServerError};
use crate::value::raw::{elements, values};

#[derive(Debug)]
struct Facet(Vec<(String, Pipeline)>);

/// Stages that cannot stand inside; sorted.
const OUTSIDE_ONLY: &[&str] = &[
    "$changeStream",
    "$collStats",
    "$facet",
    "$geoNear",
    "$indexStats",
    "$merge",
    "$out",
    "$planCacheStats",
];

pub(super) fn parse(
    _name: &str,
    spec: RawBsonRef<'_>,
    globals: &Globals,
) -> Result<Box<dyn Stage>, ServerError> {
    let refuse = |code, message: String| Err(ServerError::new(Code::location(code), message));
    let facets = match spec {
        RawBsonRef::Document(facets) if !facets.is_empty() => facets,
        other => {
            return refuse(
                40169,
                format!(
                    "the $facet specification must be a non-empty object, but found: {}",
                    text::element("$facet", other)
                ),
            );
        }
    };
    let mut parsed = Vec::new();
    for (name, value) in elements(facets) {
        let RawBsonRef::Array(stages) = value else {
            return refuse(
                40170,
                format!(
                    "arguments to $facet must be arrays, {name} is type {}",
                    text::type_name(Some(value))
                ),
            );
        };
        if name.contains('.') || name.starts_with('$') || name.is_empty() {
            crate::engine::expression::field_path(name)?;
            return refuse(
                16412,
                "FieldPath field names may not contain '.'. Consider using $getField or $setField."
                    .to_owned(),
            );
        }
        for stage in values(stages) {
            if let RawBsonRef::Document(stage) = stage
                && let Some((inner, _)) = elements(stage).next()
                && OUTSIDE_ONLY.contains(&inner)
            {
                return refuse(
                    40600,
                    format!("{inner} is not allowed to be used within a $facet stage"),
                );
            }
        }
        parsed.push((name.to_owned(), Pipeline::parse(stages, globals)?));
    }
    Ok(Box::new(Facet(parsed)))
}

impl Stage for Facet {
    fn run<'a>(&'a self, input: Documents<'a>, cx: Cx<'a>) -> Result<Documents<'a>, ServerError> {
        let documents: Vec<RawDocumentBuf> = input.collect::<Result<_, _>>()?;
        let mut result = RawDocumentBuf::new();
        for (name, pipeline) in &self.0 {
            let copies = Box::new(documents.clone().into_iter().map(Ok));
            let mut array = RawArrayBuf::new();
            for document in pipeline.stream(0, copies, cx)? {
                array.push(document?);
                let size = result.as_bytes().len() + array.as_bytes().len();
                if size > memory::LIMIT {
                    return Err(ServerError::new(
                        Code::location(4_031_700),
                        format!(
                            "document constructed by $facet is {size} bytes, which exceeds the limit of {} bytes",
                            memory::LIMIT
                        ),
                    ));
                }
            }
            append(&mut result, name, RawBsonRef::Array(&array));
        }
        Ok(Box::new(std::iter::once(Ok(result))))
    }

    fn check_constants(&self, globals: &Globals) -> Result<(), ServerError> {
        self.0
            .iter()
            .try_for_each(|(_, pipeline)| pipeline.check_constants(globals))
    }

    fn collections(&self) -> Vec<(Option<String>, String)> {
        self.0
            .iter()
            .flat_map(|(_, pipeline)| pipeline.collections())
            .collect()
    }
}
