//! `$graphLookup`: the documents of a collection that are reachable from each document.

use std::collections::HashSet;

use bson::raw::{RawArrayBuf, RawBson, RawBsonRef, RawDocument, RawDocumentBuf, cstr};
use bson::{Document, doc};
use odm_language::error::{Code, ServerError};
use odm_language::expression::{Expression, Globals, compat::messages, field_path, memory_limit};
use odm_language::matcher::{Matcher, without_where};
use odm_language::value::key;
use odm_language::value::number::Number;
use odm_language::value::path::Path;
use odm_language::value::raw::{elements, get, values};

use crate::pipeline::outline::Place;
use crate::pipeline::shown::{Dependencies, Printer, number, stage};
use crate::pipeline::source::{Documents, made};
use crate::pipeline::stage::{Cx, Other, PathEffect, Stage, Touched};
use crate::pipeline::stages::foreign::{self, both, one, spread};
use crate::pipeline::stages::unwind::with;

#[derive(Debug)]
struct GraphLookup {
    from: String,
    /// The depth of pipelines around the pipeline of a view that it reads.
    depth: usize,
    start: Expression,
    connect_from: Path,
    connect_to: Path,
    into: Vec<String>,
    max_depth: Option<i64>,
    depth_field: Option<Vec<String>>,
    restriction: Option<RawDocumentBuf>,
}

fn refuse<T>(code: i32, message: impl Into<String>) -> Result<T, ServerError> {
    Err(ServerError::new(Code::location(code), message))
}

pub(super) fn outline(spec: RawBsonRef<'_>, place: Place<'_>) -> Result<(), ServerError> {
    let (_, from) = read(spec)?;
    place.check(None, &from, |name| {
        format!("invalid $graphLookup namespace: {name}")
    })
}

/// The specification, and the collection that it names.
fn read(spec: RawBsonRef<'_>) -> Result<(&RawDocument, String), ServerError> {
    let failed = |message| Err(ServerError::new(Code::FAILED_TO_PARSE, message));
    let RawBsonRef::Document(spec) = spec else {
        return failed(format!(
            "the $graphLookup stage specification must be an object, but found {}",
            messages::type_name(Some(spec))
        ));
    };
    let Some(from) = get(spec, "from") else {
        return failed(format!(
            "missing 'from' option to $graphLookup stage specification: {}",
            messages::stored_document(spec)
        ));
    };
    Ok((spec, foreign::from("$graphLookup", from)?))
}

pub(super) fn parse(
    _name: &str,
    spec: RawBsonRef<'_>,
    globals: &Globals,
) -> Result<Box<dyn Stage>, ServerError> {
    let (spec, from) = read(spec)?;
    let (mut start, mut connect_from, mut connect_to, mut into) = (None, None, None, None);
    let (mut max_depth, mut depth_field, mut restriction) = (None, None, None);
    for (name, value) in elements(spec) {
        match name {
            "from" => {}
            "startWith" => {
                let scope = globals.scope().unmoved();
                start = Some(Expression::parse(value, &scope)?);
            }
            "maxDepth" => max_depth = Some(depth(value)?),
            "restrictSearchWithMatch" => restriction = Some(restrict(value, globals)?),
            "as" => into = path(name, value)?,
            "connectFromField" => connect_from = path(name, value)?,
            "connectToField" => connect_to = path(name, value)?,
            "depthField" => depth_field = path(name, value)?,
            other => return refuse(40104, format!("Unknown argument to $graphLookup: {other}")),
        }
    }
    let (Some(start), Some(connect_from), Some(connect_to), Some(into)) =
        (start, connect_from, connect_to, into)
    else {
        return refuse(
            40105,
            "$graphLookup requires 'from', 'as', 'startWith', 'connectFromField', and 'connectToField' to be specified.",
        );
    };
    Ok(Box::new(GraphLookup {
        from,
        depth: globals.pipeline_depth() + 1,
        start,
        connect_from: Path::new(&connect_from.join(".")),
        connect_to: Path::new(&connect_to.join(".")),
        into,
        max_depth,
        depth_field,
        restriction,
    }))
}

fn depth(value: RawBsonRef<'_>) -> Result<i64, ServerError> {
    let Some(number) = Number::from_raw(value) else {
        return refuse(
            40100,
            format!(
                "maxDepth must be numeric, found type: {}",
                messages::type_name(Some(value))
            ),
        );
    };
    let whole = number.to_i64_truncated().unwrap_or(i64::MAX);
    if whole < 0 {
        return refuse(
            40101,
            format!("maxDepth requires a nonnegative argument, found: {whole}"),
        );
    }
    match number.to_i64_exact() {
        Some(depth) => Ok(depth),
        None => refuse(
            40102,
            format!("maxDepth could not be represented as a long long: {whole}"),
        ),
    }
}

fn restrict(value: RawBsonRef<'_>, globals: &Globals) -> Result<RawDocumentBuf, ServerError> {
    let RawBsonRef::Document(filter) = value else {
        return refuse(
            40185,
            format!(
                "restrictSearchWithMatch must be an object, found {}",
                messages::type_name(Some(value))
            ),
        );
    };
    Matcher::parse(filter, globals).map_err(|error| {
        without_where(error)
            .within("Failed to parse 'restrictSearchWithMatch' option to $graphLookup")
    })?;
    Ok(filter.to_owned())
}

/// Parses a path; an empty one counts as missing.
fn path(name: &str, value: RawBsonRef<'_>) -> Result<Option<Vec<String>>, ServerError> {
    match value {
        RawBsonRef::String("") => Ok(None),
        RawBsonRef::String(path) => field_path(path).map(Some),
        other => refuse(
            40103,
            format!(
                "expected string as argument for {name}, found: {}",
                messages::type_name(Some(other))
            ),
        ),
    }
}

impl GraphLookup {
    /// A filter for the documents that one of the values leads to.
    fn filter_for(&self, frontier: &[RawBson]) -> RawDocumentBuf {
        let mut any = RawArrayBuf::new();
        for value in frontier {
            any.push(value.clone());
        }
        let mut condition = one("$in", RawBsonRef::Array(&any));
        // `$in` matches a missing field for null, but here only null itself matches.
        if frontier.contains(&RawBson::Null) {
            condition.append(cstr!("$exists"), true);
        }
        one(self.connect_to.as_str(), RawBsonRef::Document(&condition))
    }

    /// The reachable documents, nearest first.
    fn reached(&self, document: &RawDocument, cx: Cx<'_>) -> Result<RawArrayBuf, ServerError> {
        let collator = cx.globals.collator();
        let mut asked: HashSet<Vec<u8>> = HashSet::new();
        let mut visited: HashSet<Vec<u8>> = HashSet::new();
        let mut reached = RawArrayBuf::new();
        let start = self.start.eval(document, cx.globals)?;
        let mut frontier: Vec<RawBson> = match start.get() {
            None => Vec::new(),
            Some(RawBsonRef::Array(items)) => values(items).map(Into::into).collect(),
            Some(value) => vec![value.into()],
        };
        let mut depth = 0_i64;
        loop {
            frontier.retain(|value| asked.insert(key::of(value.as_raw_bson_ref(), collator)));
            if frontier.is_empty() || self.max_depth.is_some_and(|most| depth > most) {
                return Ok(reached);
            }
            let filter = both(Some(self.filter_for(&frontier)), self.restriction.clone());
            let mut next = Vec::new();
            let by = Some(self.connect_to.as_str());
            for found in cx
                .source
                .find(self.depth, &self.from, by, &filter, cx.globals)?
            {
                let found = found?;
                let Some(id) = get(&found, "_id") else {
                    return Err(ServerError::new(
                        Code::location(40271),
                        format!(
                            "Documents in the '{}' namespace must contain an _id for de-duplication in $graphLookup",
                            cx.source.name_of(&self.from)
                        ),
                    ));
                };
                if !visited.insert(key::of(id, None)) {
                    continue;
                }
                // `connectFromField` is read after the depth was set, which may overwrite it
                let found = match &self.depth_field {
                    Some(field) => with(&found, field, Some(RawBsonRef::Int64(depth))).into(),
                    None => found,
                };
                let onward = spread(&self.connect_from, &found).into_iter();
                next.extend(onward.map(RawBson::from));
                reached.push(&*found);
                if reached.as_bytes().len() > memory_limit::LIMIT {
                    return Err(ServerError::new(
                        Code::location(40099),
                        "$graphLookup reached maximum memory consumption",
                    ));
                }
            }
            frontier = next;
            depth += 1;
        }
    }
}

impl Stage for GraphLookup {
    fn shown(&self, printer: &dyn Printer) -> Result<Vec<Document>, ServerError> {
        let mut shown = doc! {
            "from": &self.from,
            "as": self.into.join("."),
            "connectToField": self.connect_to.as_str(),
            "connectFromField": self.connect_from.as_str(),
            "startWith": self.start.parsed(printer.globals()),
        };
        if let Some(field) = &self.depth_field {
            shown.insert("depthField", field.join("."));
        }
        if let Some(depth) = self.max_depth {
            shown.insert("maxDepth", number(u64::try_from(depth).unwrap_or_default()));
        }
        if let Some(filter) = &self.restriction {
            let filter = Document::try_from(&**filter).unwrap_or_default();
            shown.insert("restrictSearchWithMatch", filter);
        }
        Ok(vec![stage("$graphLookup", shown)])
    }

    fn dependencies(&self) -> Option<Dependencies> {
        self.start.paths().map(Dependencies::some)
    }

    fn joins_as(&self) -> Option<String> {
        Some(self.into.join("."))
    }

    fn effect(&self) -> Option<PathEffect> {
        Some(PathEffect::new(Touched::Only(vec![self.into.join(".")])))
    }

    fn run<'a>(&'a self, input: Documents<'a>, cx: Cx<'a>) -> Result<Documents<'a>, ServerError> {
        Ok(made(input.map(move |document| {
            let document = document?;
            let reached = self.reached(&document, cx)?;
            Ok(with(
                &document,
                &self.into,
                Some(RawBsonRef::Array(&reached)),
            ))
        })))
    }

    fn collections(&self) -> Vec<Other> {
        vec![Other {
            database: None,
            collection: self.from.clone(),
            depth: None,
        }]
    }
}
