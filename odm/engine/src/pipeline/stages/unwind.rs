//! `$unwind`: one document for each element of an array.

use bson::raw::{RawArray, RawBsonRef, RawDocument, RawDocumentBuf};
use bson::{Document, doc};
use odm_language::error::{Code, ServerError};
use odm_language::expression::{Globals, compat::messages, field_path};
use odm_language::value::raw::append;
use odm_language::value::raw::{elements, get, values};

use crate::pipeline::shown::{Dependencies, Printer, stage};
use crate::pipeline::source::Documents;
use crate::pipeline::stage::{Cx, PathEffect, Stage, Touched};

#[derive(Debug)]
struct Unwind {
    path: Vec<String>,
    keep_empty: bool,
    index: Option<Vec<String>>,
}

pub(super) fn parse(
    _name: &str,
    spec: RawBsonRef<'_>,
    _globals: &Globals,
) -> Result<Box<dyn Stage>, ServerError> {
    let refuse = |code, message: String| Err(ServerError::new(Code::location(code), message));
    let mut path = None;
    let mut keep_empty = false;
    let mut index = None;
    match spec {
        RawBsonRef::String(text) => path = Some(text),
        RawBsonRef::Document(options) => {
            for (name, value) in elements(options) {
                let kind = messages::type_name(Some(value));
                match (name, value) {
                    ("path", RawBsonRef::String(text)) => path = Some(text),
                    ("path", _) => {
                        return refuse(
                            28808,
                            format!("expected a string as the path for $unwind stage, got {kind}"),
                        );
                    }
                    ("preserveNullAndEmptyArrays", RawBsonRef::Boolean(keep)) => keep_empty = keep,
                    ("preserveNullAndEmptyArrays", _) => {
                        return refuse(
                            28809,
                            format!(
                                "expected a boolean for the preserveNullAndEmptyArrays option to $unwind stage, got {kind}"
                            ),
                        );
                    }
                    ("includeArrayIndex", RawBsonRef::String(name)) if !name.is_empty() => {
                        if name.starts_with('$') {
                            return refuse(
                                28822,
                                format!(
                                    "includeArrayIndex option to $unwind stage should not be prefixed with a '$': {name}"
                                ),
                            );
                        }
                        index = Some(field_path(name)?);
                    }
                    ("includeArrayIndex", _) => {
                        return refuse(
                            28810,
                            format!(
                                "expected a non-empty string for the includeArrayIndex  option to $unwind stage, got {kind}"
                            ),
                        );
                    }
                    (other, _) => {
                        return refuse(
                            28811,
                            format!("unrecognized option to $unwind stage: {other}"),
                        );
                    }
                }
            }
        }
        other => {
            return refuse(
                15981,
                format!(
                    "expected either a string or an object as specification for $unwind stage, got {}",
                    messages::type_name(Some(other))
                ),
            );
        }
    }
    let Some(path) = path else {
        return refuse(28812, "no path specified to $unwind stage".to_owned());
    };
    let Some(path) = path.strip_prefix('$') else {
        return refuse(
            28818,
            format!("path option to $unwind stage should be prefixed with a '$': {path}"),
        );
    };
    Ok(Box::new(Unwind {
        path: field_path(path)?,
        keep_empty,
        index,
    }))
}

/// The value at a path that passes through documents only.
fn at<'a>(document: &'a RawDocument, path: &[String]) -> Option<RawBsonRef<'a>> {
    let (head, rest) = path.split_first()?;
    match (get(document, head)?, rest) {
        (value, []) => Some(value),
        (RawBsonRef::Document(below), rest) => at(below, rest),
        _ => None,
    }
}

/// Returns the document with the value at the path set or removed.
pub(super) fn with(
    document: &RawDocument,
    path: &[String],
    value: Option<RawBsonRef<'_>>,
) -> RawDocumentBuf {
    let Some((head, rest)) = path.split_first() else {
        return document.to_owned();
    };
    let mut new = RawDocumentBuf::new();
    let below = |old: Option<RawBsonRef<'_>>| {
        let empty = RawDocumentBuf::new();
        match old {
            Some(RawBsonRef::Document(document)) => with(document, rest, value),
            _ => with(&empty, rest, value),
        }
    };
    let mut placed = false;
    for (name, old) in elements(document) {
        if name != head {
            append(&mut new, name, old);
            continue;
        }
        placed = true;
        match (rest, value) {
            ([], Some(value)) => append(&mut new, name, value),
            ([], None) => {}
            _ => append(&mut new, name, RawBsonRef::Document(&below(Some(old)))),
        }
    }
    match (placed, rest, value) {
        (true, _, _) | (false, _, None) => {}
        (false, [], Some(value)) => append(&mut new, head, value),
        (false, _, Some(_)) => append(&mut new, head, RawBsonRef::Document(&below(None))),
    }
    new
}

impl Unwind {
    fn unwound(&self, document: RawDocumentBuf) -> Vec<RawDocumentBuf> {
        match at(&document, &self.path) {
            Some(RawBsonRef::Array(items)) if !items.is_empty() => self.items(&document, items),
            // The index replaces the array, either under its name or below it.
            Some(RawBsonRef::Array(_))
                if self.keep_empty
                    && self
                        .index
                        .as_ref()
                        .is_some_and(|index| index.starts_with(&self.path)) =>
            {
                vec![self.numbered(document, None)]
            }
            Some(RawBsonRef::Array(_)) if self.keep_empty => {
                vec![self.numbered(with(&document, &self.path, None), None)]
            }
            None | Some(RawBsonRef::Null | RawBsonRef::Undefined) if self.keep_empty => {
                vec![self.numbered(document, None)]
            }
            None | Some(RawBsonRef::Array(_) | RawBsonRef::Null | RawBsonRef::Undefined) => {
                Vec::new()
            }
            Some(_) => vec![self.numbered(document, None)],
        }
    }

    fn items(&self, document: &RawDocument, items: &RawArray) -> Vec<RawDocumentBuf> {
        values(items)
            .zip(0_i64..)
            .map(|(item, index)| self.numbered(with(document, &self.path, Some(item)), Some(index)))
            .collect()
    }

    fn numbered(&self, document: RawDocumentBuf, index: Option<i64>) -> RawDocumentBuf {
        match &self.index {
            None => document,
            Some(path) => {
                let index = index.map_or(RawBsonRef::Null, RawBsonRef::Int64);
                with(&document, path, Some(index))
            }
        }
    }
}

impl Stage for Unwind {
    fn shown(&self, _printer: &dyn Printer) -> Result<Vec<Document>, ServerError> {
        let mut shown = doc! { "path": format!("${}", self.path.join(".")) };
        if self.keep_empty {
            shown.insert("preserveNullAndEmptyArrays", true);
        }
        if let Some(index) = &self.index {
            shown.insert("includeArrayIndex", index.join("."));
        }
        Ok(vec![stage("$unwind", shown)])
    }

    fn dependencies(&self) -> Option<Dependencies> {
        Some(Dependencies::some(vec![self.path.join(".")]))
    }

    fn unwinds(&self) -> Option<String> {
        Some(self.path.join("."))
    }

    fn effect(&self) -> Option<PathEffect> {
        let changed = [Some(&self.path), self.index.as_ref()];
        let changed = changed.into_iter().flatten().map(|path| path.join("."));
        Some(PathEffect {
            keeps_order: true,
            ..PathEffect::new(Touched::Only(changed.collect()))
        })
    }

    fn run<'a>(&'a self, input: Documents<'a>, cx: Cx<'a>) -> Result<Documents<'a>, ServerError> {
        let unwound = input.flat_map(|document| match document {
            Ok(document) => self.unwound(document).into_iter().map(Ok).collect(),
            Err(error) => vec![Err(error)],
        });
        // Several of these stages can produce very many documents.
        Ok(Box::new(unwound.map(move |document| {
            cx.source.check_deadline()?;
            document
        })))
    }
}
