//! `$unwind`: one document for each element of an array.

use std::sync::Arc;

use bson::raw::{RawBsonRef, RawDocument, RawDocumentBuf};
use bson::spec::ElementType;
use bson::{Document, doc};
use odm_language::error::{Code, ServerError};
use odm_language::expression::{Globals, compat::messages, field_path};
use odm_language::value::path::{Path, Segment};
use odm_language::value::raw::{self, DocumentWriter, Element, Name, elements};

use crate::pipeline::document::{Names, PipelineDocument};
use crate::pipeline::shown::{Dependencies, Printer, stage};
use crate::pipeline::source::Documents;
use crate::pipeline::stage::{Cx, PathEffect, Stage, Touched};

/// Room for the fields of most documents that the stage makes.
const FEW_BYTES: usize = 32;

#[derive(Debug)]
struct Unwind {
    path: Path,
    /// The parts of the path.
    parts: Vec<String>,
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
        path: Path::new(path),
        parts: field_path(path)?,
        keep_empty,
        index,
    }))
}

/// The element at a path that passes through documents only.
fn at<'a>(document: &'a RawDocument, path: &[Segment]) -> Option<Element<'a>> {
    let (head, rest) = path.split_first()?;
    let mut element = raw::walk(document).find_name(head.key())?;
    for name in rest {
        if element.element_type() != Some(ElementType::EmbeddedDocument) {
            return None;
        }
        element = element.children()?.find_name(name.key())?;
    }
    Some(element)
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
    let size = document.as_bytes().len() + value.map_or(0, room_for);
    let mut new = DocumentWriter::with_capacity(size);
    let below = |old: Option<&RawDocument>| {
        let old = old.unwrap_or_else(|| raw::empty_document());
        with(old, rest, value)
    };
    let name = Name::new(head.as_bytes());
    let mut placed = false;
    for old in raw::walk(document) {
        if !old.is(name) {
            new.push(&old);
            continue;
        }
        placed = true;
        match (rest, value) {
            ([], Some(value)) => new.append(head, value),
            ([], None) => {}
            _ => {
                let old = old.value().and_then(RawBsonRef::as_document);
                new.append(head, RawBsonRef::Document(&below(old)));
            }
        }
    }
    match (placed, rest, value) {
        (true, _, _) | (false, _, None) => {}
        (false, [], Some(value)) => new.append(head, value),
        (false, _, Some(_)) => new.append(head, RawBsonRef::Document(&below(None))),
    }
    new.finish()
}

/// The bytes to reserve for a value.
fn room_for(value: RawBsonRef<'_>) -> usize {
    const FEW: usize = 64;
    match value {
        RawBsonRef::Array(array) => array.as_bytes().len() + FEW,
        RawBsonRef::Document(document) => document.as_bytes().len() + FEW,
        _ => FEW,
    }
}

/// What a document has at the path to unwind.
enum Unwindable {
    Items,
    EmptyArray,
    /// Nothing, or null.
    Nothing,
    /// A value that stands for an array of itself.
    Value,
}

impl Unwindable {
    fn of(element: Option<Element<'_>>) -> Self {
        let kind = element.and_then(|element| Some((element.element_type()?, element)));
        match kind {
            None | Some((ElementType::Null | ElementType::Undefined, _)) => Self::Nothing,
            Some((ElementType::Array, element)) => {
                match element.children().and_then(|mut items| items.next()) {
                    Some(_) => Self::Items,
                    None => Self::EmptyArray,
                }
            }
            Some(_) => Self::Value,
        }
    }
}

impl Unwind {
    fn unwound(&self, document: PipelineDocument, names: &Names) -> Vec<PipelineDocument> {
        match Unwindable::of(at(&document, self.path.segments())) {
            Unwindable::Items => self.items(&Arc::new(document), names),
            // The index replaces the array, either under its name or below it.
            Unwindable::EmptyArray
                if self.keep_empty
                    && self
                        .index
                        .as_ref()
                        .is_some_and(|index| index.starts_with(&self.parts)) =>
            {
                vec![self.numbered(document, names)]
            }
            Unwindable::EmptyArray if self.keep_empty => {
                let fields = with(&Self::fields(&document, names), &self.parts, None);
                let values = self.with_index(fields, RawBsonRef::Null);
                let base = Arc::new(document);
                vec![PipelineDocument::changed(base, Arc::clone(names), values)]
            }
            Unwindable::Nothing if self.keep_empty => vec![self.numbered(document, names)],
            Unwindable::Nothing | Unwindable::EmptyArray => Vec::new(),
            Unwindable::Value => vec![self.numbered(document, names)],
        }
    }

    /// One document for each element of the array, all of the same document.
    fn items(&self, base: &Arc<PipelineDocument>, names: &Names) -> Vec<PipelineDocument> {
        let array = at(base, self.path.segments());
        let items = array.and_then(|array| array.children());
        let is_plain = self.parts.len() == 1 && self.index.is_none();
        let fields = (!is_plain).then(|| Self::fields(base, names));
        let values = items.into_iter().flatten().zip(0_i64..).map(|(item, at)| {
            let Some(fields) = &fields else {
                let mut values = DocumentWriter::with_capacity(FEW_BYTES);
                values.push_as(self.path.as_str(), &item);
                return values.finish();
            };
            let fields = with(fields, &self.parts, item.value());
            self.with_index(fields, RawBsonRef::Int64(at))
        });
        values
            .map(|values| PipelineDocument::changed(Arc::clone(base), Arc::clone(names), values))
            .collect()
    }

    /// The fields that the stage changes, as the document has them.
    fn fields(document: &RawDocument, names: &[Segment]) -> RawDocumentBuf {
        let mut fields = DocumentWriter::with_capacity(FEW_BYTES);
        for element in raw::walk(document) {
            if names.iter().any(|name| element.is(name.key())) {
                fields.push(&element);
            }
        }
        fields.finish()
    }

    /// The document with a null as its index, if the stage shows the index.
    fn numbered(&self, document: PipelineDocument, names: &Names) -> PipelineDocument {
        if self.index.is_none() {
            return document;
        }
        let values = self.with_index(Self::fields(&document, names), RawBsonRef::Null);
        PipelineDocument::changed(Arc::new(document), Arc::clone(names), values)
    }

    fn with_index(&self, fields: RawDocumentBuf, index: RawBsonRef<'_>) -> RawDocumentBuf {
        match &self.index {
            None => fields,
            Some(path) => with(&fields, path, Some(index)),
        }
    }

    /// The top-level fields that the stage changes.
    fn changed(&self) -> Names {
        let index = self.index.iter().flatten().take(1);
        let names = self.parts.iter().take(1).chain(index);
        let mut changed: Vec<Segment> = Vec::new();
        for name in names {
            if changed.iter().all(|known| known.name() != name) {
                changed.push(Segment::new(name));
            }
        }
        changed.into()
    }
}

impl Stage for Unwind {
    fn shown(&self, _printer: &dyn Printer) -> Result<Vec<Document>, ServerError> {
        let mut shown = doc! { "path": format!("${}", self.path.as_str()) };
        if self.keep_empty {
            shown.insert("preserveNullAndEmptyArrays", true);
        }
        if let Some(index) = &self.index {
            shown.insert("includeArrayIndex", index.join("."));
        }
        Ok(vec![stage("$unwind", shown)])
    }

    fn dependencies(&self) -> Option<Dependencies> {
        Some(Dependencies::some(vec![self.path.as_str().to_owned()]))
    }

    fn unwinds(&self) -> Option<String> {
        Some(self.path.as_str().to_owned())
    }

    fn effect(&self) -> Option<PathEffect> {
        let changed = [Some(&self.parts), self.index.as_ref()];
        let changed = changed.into_iter().flatten().map(|path| path.join("."));
        Some(PathEffect {
            keeps_order: true,
            ..PathEffect::new(Touched::Only(changed.collect()))
        })
    }

    fn run<'a>(&'a self, input: Documents<'a>, cx: Cx<'a>) -> Result<Documents<'a>, ServerError> {
        let names = self.changed();
        let unwound = input.flat_map(move |document| {
            let (unwound, error) = match document {
                Ok(document) => (self.unwound(document, &names), None),
                Err(error) => (Vec::new(), Some(Err(error))),
            };
            unwound.into_iter().map(Ok).chain(error)
        });
        // Several of these stages can produce very many documents.
        Ok(Box::new(unwound.map(move |document| {
            cx.source.check_deadline()?;
            document
        })))
    }
}
