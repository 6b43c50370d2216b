//! The copies beside one reference, and where they are stored.

use std::sync::{LazyLock, RwLock};

use bson::raw::RawDocument;
use bson::{Bson, DateTime, Document, RawBson, doc};

use super::super::reference_place::ReferencePlace;
use crate::error::{Error, Result};
use crate::exec::StoredPath;
use crate::model::copies::{CopiedField, Copies};
use crate::model::{self, name};

/// The copies beside one reference, and where they are stored.
#[derive(Debug)]
pub(in crate::write) struct Kept {
    pub(in crate::write) copies: &'static Copies,
    pub(in crate::write) place: ReferencePlace,
    /// The stored path of the reference.
    pub(in crate::write) reference: StoredPath,
    /// The stored path of the field of the source to which the reference leads.
    pub(in crate::write) key: StoredPath,
    /// The stored path in the source of each of the copied fields that copies one field whole.
    pub(super) values: Vec<Option<StoredPath>>,
    /// The fields that are read of a source for documents that have their copies.
    pub(super) followed: Document,
    /// Those that are read of it for new documents, too.
    pub(super) copied: Document,
}

static KEPT: model::Found<Kept> = LazyLock::new(RwLock::default);

impl Kept {
    fn new(copies: &'static Copies) -> Result<Self> {
        let by: Vec<&str> = copies.by.iter().map(String::as_str).collect();
        let place = ReferencePlace::at(copies.model, &by)?;
        let key = name::resolve((copies.source.embedded)(), &[copies.key])?;
        let key = StoredPath::through_arrays(&key.path);
        let value = |field: &CopiedField| match (field.projected, field.sources.as_slice()) {
            ([], [path]) => Some(StoredPath::at(path)),
            _ => None,
        };
        Ok(Self {
            copies,
            reference: StoredPath::at(&place.path()),
            place,
            values: copies.fields.iter().map(value).collect(),
            followed: read(copies, &key, false),
            copied: read(copies, &key, true),
            key,
        })
    }

    /// Where these copies are stored.
    pub(in crate::write) fn all(
        copies: impl IntoIterator<Item = &'static Copies>,
    ) -> Result<Vec<&'static Self>> {
        let all = copies.into_iter();
        all.map(|copies| model::once(&KEPT, copies, || Self::new(copies)))
            .collect()
    }

    /// The fields of a document that holds the copies: the reference, and the copies.
    pub(in crate::write) fn projection(&self) -> Document {
        let mut projection = doc! {"_id": 1, self.reference.as_str(): 1};
        for field in self.copies.following() {
            projection.insert(self.path_of(field), 1);
        }
        projection
    }

    /// The values that make copies differ: all but their time.
    pub(super) fn compared<'v>(
        &self,
        values: &'v [(&'v str, Option<&'v Bson>)],
    ) -> &'v [(&'v str, Option<&'v Bson>)] {
        let at = self.copies.refresh.as_ref().map(|refresh| refresh.at);
        match values.split_first() {
            Some(((name, _), rest)) if Some(*name) == at => rest,
            _ => values,
        }
    }

    /// Whether the copies in this subdocument were read before this time, or nothing says when.
    pub(super) fn is_older(&self, parent: &Document, time: DateTime) -> bool {
        self.copies.refresh.as_ref().is_some_and(
            |refresh| !matches!(parent.get(refresh.at), Some(Bson::DateTime(at)) if *at >= time),
        )
    }

    /// The time of the oldest copies that are left alone at this time; none of copies that follow changes.
    pub(super) fn before(&self, now: DateTime) -> Option<DateTime> {
        let refresh = self.copies.refresh.as_ref();
        refresh.map(|refresh| refresh.before(now))
    }

    /// Whether a refresh has to write the document: copies beside a reference are older than this time, or copies have a value
    /// beside a null reference.
    pub(super) fn has_older(&self, document: &RawDocument, time: DateTime) -> Result<bool> {
        let Some((reference, parents)) = self.place.names().split_last() else {
            return Ok(false);
        };
        let mut document = Document::try_from(document).map_err(Error::encode)?;
        let mut has = false;
        each_parent(&mut document, parents, &mut |parent| {
            let is_null = matches!(parent.get(reference), None | Some(Bson::Null));
            has |= if is_null {
                self.differs_from_none(parent)?
            } else {
                self.is_older(parent, time)
            };
            Ok(())
        })?;
        Ok(has)
    }

    /// Whether a copy in this subdocument, which refers to nothing, has a value.
    fn differs_from_none(&self, parent: &Document) -> Result<bool> {
        let mut differs = false;
        for field in self.copies.following().filter(|field| !field.is_time()) {
            if let Some((_, expected)) = field.none() {
                differs |= !is_equal(parent.get(field.name), expected.as_ref())?;
            }
        }
        Ok(differs)
    }

    /// The stored path of a copy.
    pub(in crate::write) fn path_of(&self, field: &CopiedField) -> String {
        match self.reference.as_str().rsplit_once('.') {
            Some((parent, _)) => format!("{parent}.{}", field.name),
            None => field.name.to_owned(),
        }
    }
}

/// Whether the filter of `Outdated::Differing` takes the copy for equal.
pub(super) fn is_equal(copy: Option<&Bson>, expected: Option<&Bson>) -> Result<bool> {
    Ok(match (copy, expected) {
        (None | Some(Bson::Null), Some(Bson::Null)) | (None, None) => true,
        (Some(copy), Some(expected)) => {
            let key = |value: &Bson| -> Result<Vec<u8>> {
                let raw = raw(value)?;
                Ok(odm_language::value::key::of(raw.as_raw_bson_ref(), None))
            };
            key(copy)? == key(expected)?
        }
        _ => false,
    })
}

/// The projection of a source: what `Facts::read` reads of it.
fn read(copies: &Copies, key: &StoredPath, is_new: bool) -> Document {
    let mut projection = doc! {key.as_str(): 1};
    for path in fields(copies, is_new).flat_map(|field| &field.sources) {
        // A path inside of another one would be a second projection of it.
        let is_inside = |other: &String| {
            path.strip_prefix(other.as_str())
                .is_some_and(|rest| rest.starts_with('.'))
        };
        let mut others = fields(copies, is_new).flat_map(|field| &field.sources);
        if !others.any(is_inside) {
            projection.insert(path, 1);
        }
    }
    if key.as_str() != "_id" && !projection.contains_key("_id") {
        projection.insert("_id", 0);
    }
    projection
}

/// The copies that are read: those that follow the source, or all that a new document has.
pub(super) fn fields(copies: &Copies, is_new: bool) -> impl Iterator<Item = &CopiedField> {
    let all = copies.fields.iter();
    all.filter(move |field| is_new || !field.is_once())
}

/// Calls `visit` with each subdocument that these names lead to, in lists too.
pub(super) fn each_parent(
    document: &mut Document,
    names: &[String],
    visit: &mut dyn FnMut(&mut Document) -> Result<()>,
) -> Result<()> {
    let Some((first, rest)) = names.split_first() else {
        return visit(document);
    };
    match document.get_mut(first) {
        Some(Bson::Document(inside)) => each_parent(inside, rest, visit),
        Some(Bson::Array(elements)) => elements.iter_mut().try_for_each(|element| match element {
            Bson::Document(inside) => each_parent(inside, rest, visit),
            _ => Ok(()),
        }),
        _ => Ok(()),
    }
}

pub(super) fn raw(value: &Bson) -> Result<RawBson> {
    RawBson::try_from(value.clone()).map_err(Error::encode)
}
