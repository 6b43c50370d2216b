//! The documents that flow between stages. Most stages read a few fields of each document, so a document is copied only
//! when it has to be whole.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use bson::raw::{RawDocument, RawDocumentBuf};
use odm_language::error::ServerError;
use odm_language::expression::memory_limit::{MAX_DOCUMENT, too_large};
use odm_language::value::path::Segment;
use odm_language::value::raw::{self, DocumentWriter, Element};
use smallvec::SmallVec;

use crate::index::tree::records::Content;

/// Names of top-level fields.
pub(crate) type Names = Arc<[Segment]>;

/// A document between two stages.
#[derive(Debug, Clone)]
pub(crate) struct PipelineDocument(Kind);

#[derive(Debug, Clone)]
enum Kind {
    Stored(Content),
    Made(RawDocumentBuf),
    Changed(Changed),
}

/// A document with other values in some of its top-level fields.
#[derive(Debug, Clone)]
struct Changed {
    base: Arc<PipelineDocument>,
    /// The fields that differ from those of `base`.
    names: Names,
    /// The new values; the fields that are not there are removed.
    values: RawDocumentBuf,
    /// The whole document, once it was needed.
    whole: OnceLock<RawDocumentBuf>,
}

impl Changed {
    /// Writes the fields of the base in their places, followed by the new fields; only those with these names, if there
    /// are names.
    fn write(&self, only: Option<&[Segment]>, into: &mut DocumentWriter) {
        let is_written =
            |element: &Element<'_>| only.is_none_or(|only| position(only, element).is_some());
        let mut placed: SmallVec<[bool; 4]> = SmallVec::from_elem(false, self.names.len());
        for element in raw::walk(&self.base) {
            if let Some(at) = position(&self.names, &element) {
                if let Some(placed) = placed.get_mut(at) {
                    *placed = true;
                }
                let value = raw::walk(&self.values).find_name(element.name());
                if let Some(value) = value.filter(is_written) {
                    into.push(&value);
                }
            } else if is_written(&element) {
                into.push(&element);
            }
        }
        for (name, placed) in self.names.iter().zip(placed) {
            let value = || raw::walk(&self.values).find_name(name.key());
            if !placed && let Some(value) = value().filter(is_written) {
                into.push(&value);
            }
        }
    }

    fn whole(&self) -> RawDocumentBuf {
        let size = self.base.as_bytes().len() + self.values.as_bytes().len();
        let mut whole = DocumentWriter::with_capacity(size);
        self.write(None, &mut whole);
        whole.finish()
    }
}

fn position(names: &[Segment], element: &Element<'_>) -> Option<usize> {
    names.iter().position(|name| element.is(name.key()))
}

impl PipelineDocument {
    /// A document of a collection.
    pub(crate) fn stored(content: Content) -> Self {
        Self(Kind::Stored(content))
    }

    /// This document with other values in the fields with these names: a field without a value is removed.
    pub(crate) fn changed(base: Arc<Self>, names: Names, values: RawDocumentBuf) -> Self {
        Self(Kind::Changed(Changed {
            base,
            names,
            values,
            whole: OnceLock::new(),
        }))
    }

    /// A document that has the fields with these names as this one has them. It may have more fields.
    pub(crate) fn with_fields<'d>(
        &'d self,
        names: Option<&[Segment]>,
        buffer: &'d mut RawDocumentBuf,
    ) -> &'d RawDocument {
        let (Kind::Changed(changed), Some(names)) = (&self.0, names) else {
            return self;
        };
        if changed.whole.get().is_some() {
            return self;
        }
        let mut fields = DocumentWriter::reusing(std::mem::take(buffer));
        changed.write(Some(names), &mut fields);
        *buffer = fields.finish();
        buffer
    }

    /// Its bytes, which the collection may share, if it is a document of a collection.
    pub(crate) fn into_stored(self) -> Result<Content, RawDocumentBuf> {
        match self.0 {
            Kind::Stored(content) if !content.is_empty() => Ok(content),
            kind => Err(Self(kind).into_owned()),
        }
    }

    pub(crate) fn into_owned(self) -> RawDocumentBuf {
        match self.0 {
            Kind::Stored(_) => (*self).to_owned(),
            Kind::Made(document) => document,
            Kind::Changed(mut changed) => changed.whole.take().unwrap_or_else(|| changed.whole()),
        }
    }

    /// Returns the document unless it is too large for a reply or a collection.
    pub(crate) fn checked(self) -> Result<Self, ServerError> {
        if self.as_bytes().len() <= MAX_DOCUMENT {
            return Ok(self);
        }
        Err(too_large(&self, MAX_DOCUMENT))
    }
}

impl Deref for PipelineDocument {
    type Target = RawDocument;

    fn deref(&self) -> &RawDocument {
        match &self.0 {
            Kind::Stored(bytes) => {
                RawDocument::from_bytes(&**bytes).unwrap_or_else(|_| raw::empty_document())
            }
            Kind::Made(document) => document,
            Kind::Changed(changed) => changed.whole.get_or_init(|| changed.whole()),
        }
    }
}

impl From<RawDocumentBuf> for PipelineDocument {
    fn from(document: RawDocumentBuf) -> Self {
        Self(Kind::Made(document))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use bson::raw::{RawBsonRef, RawDocument, RawDocumentBuf};
    use bson::{DateTime, Document, doc, rawdoc};
    use odm_language::expression::{Globals, replace_root};
    use odm_language::value::path::{Path, Segment};
    use odm_language::value::raw::get;
    use proptest::prelude::*;

    use super::{Names, PipelineDocument};

    fn raw(document: &Document) -> RawDocumentBuf {
        RawDocumentBuf::try_from(document).unwrap()
    }

    fn names(names: &[&str]) -> Vec<Segment> {
        names.iter().map(|name| Segment::new(name)).collect()
    }

    /// The document with the fields that a `$set` computes, and the whole document that it makes.
    fn set(document: &Document, spec: &Document) -> (PipelineDocument, RawDocumentBuf) {
        let globals = Globals::new(DateTime::from_millis(0));
        let spec = raw(spec);
        let spec = RawBsonRef::Document(&spec);
        let shape = replace_root::set("$set", spec, &globals.scope()).unwrap();
        let document = raw(document);
        let whole = shape.apply(&document, &globals, None).unwrap();
        let names: Names = shape.changed_fields().unwrap().cloned().collect();
        let values = shape.changes(&document, &globals).unwrap();
        let base = Arc::new(PipelineDocument::from(document));
        (PipelineDocument::changed(base, names, values), whole)
    }

    fn document() -> impl Strategy<Value = Document> {
        let value = prop_oneof![
            (0..3_i32).prop_map(bson::Bson::Int32),
            Just(bson::Bson::Null),
            (0..3_i32).prop_map(|at| doc! { "x": at }.into()),
            Just(bson::bson!([1, { "x": 2 }])),
        ];
        prop::collection::vec(("[a-d]", value), 0..4)
            .prop_map(|fields| fields.into_iter().collect())
    }

    proptest! {
        #[test]
        fn changed_fields_make_the_document_that_set_makes(
            document in document(),
            spec in prop_oneof![
                Just(doc! { "a": "$b" }),
                Just(doc! { "d": { "$ifNull": ["$a", 1] }, "b": "$$REMOVE" }),
                Just(doc! { "a.x": "$c", "e": "$missing", "b": 7 }),
                Just(doc! { "e": "$a", "c": "$$ROOT" }),
            ],
        ) {
            let (changed, whole) = set(&document, &spec);
            let read = names(&["a", "b", "e"]);
            let mut buffer = rawdoc! { "before": 1 };
            let fields = changed.with_fields(Some(&read), &mut buffer);
            for name in ["a", "b", "e"] {
                prop_assert_eq!(get(fields, name), get(&whole, name));
            }
            let all: &RawDocument = &changed;
            prop_assert_eq!(all, &*whole);
            prop_assert_eq!(changed.clone().into_owned(), whole.clone());
            // A change of a changed document.
            let path = Path::new("z");
            let again = PipelineDocument::changed(
                Arc::new(changed),
                path.segments().into(),
                rawdoc! { "z": true },
            );
            let mut wanted = whole;
            wanted.append(bson::raw::cstr!("z"), true);
            prop_assert_eq!(again.into_owned(), wanted);
        }
    }
}
