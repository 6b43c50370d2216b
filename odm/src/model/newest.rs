//! The lists of the newest documents that the documents of a model hold: `recent`, with its other side `recent_in`.

use std::sync::{LazyLock, RwLock};

use super::copies::is_maintained;
use super::field::{FieldMeta, Presence};
use super::once::{Found, once};
use super::projection::ProjectedField;
use super::relation::{
    Arity, CounterpartKind, Guarantee, InverseMeta, OnDelete, RecentMeta, ReferenceMeta,
    RelationMeta,
};
use super::{ModelMeta, Path};
use crate::error::{DeclarationError, Error, Result};

/// A list of the newest documents that refer to the one which holds it.
#[derive(Debug)]
pub(crate) struct NewestList {
    /// The model whose documents hold the list.
    pub(crate) model: &'static ModelMeta,
    pub(crate) recent: &'static RecentMeta,
    /// The model of the listed documents.
    pub(crate) source: &'static ModelMeta,
    /// The reference of those documents that says `recent_in`.
    pub(crate) reference: &'static ReferenceMeta,
    /// The stored name of the list.
    pub(crate) name: &'static str,
    /// Whether an empty list is left out.
    pub(crate) is_skipped: bool,
    /// The stored name of the field that decides which documents are the newest.
    pub(crate) sort: &'static str,
    /// Whether the parts have the `_id`.
    pub(crate) has_id: bool,
    /// The stored paths of the copied fields.
    pub(crate) copied: Vec<String>,
    /// How the list is kept in step.
    pub(crate) guarantee: Guarantee,
}

static HELD: Found<Vec<NewestList>> = LazyLock::new(RwLock::default);
static LISTED: Found<Vec<&'static NewestList>> = LazyLock::new(RwLock::default);

impl ModelMeta {
    /// The lists of the newest that documents of this model hold.
    ///
    /// # Errors
    ///
    /// A list could not follow the listed documents.
    pub(crate) fn newest_lists(&'static self) -> Result<&'static [NewestList]> {
        let found = once(&HELD, self, || find(self));
        found
            .map(Vec::as_slice)
            .map_err(|error| error.with_model(self.name))
    }

    /// The lists in documents of other models that documents of this model may be in.
    pub(crate) fn listed(&'static self) -> Result<&'static [&'static NewestList]> {
        once(&LISTED, self, || {
            let mut listed: Vec<&'static NewestList> = Vec::new();
            let references = self.relations().iter();
            let references = references.filter_map(RelationMeta::as_reference);
            for reference in references.filter(|one| is_recent(one)) {
                for list in reference.target.newest_lists()? {
                    let is_known = listed.iter().any(|known| std::ptr::eq(*known, list));
                    if !is_known && list.source.collection == self.collection {
                        listed.push(list);
                    }
                }
            }
            Ok(listed)
        })
        .map(Vec::as_slice)
    }
}

fn is_recent(reference: &ReferenceMeta) -> bool {
    let counterpart = reference.counterpart;
    counterpart.is_some_and(|one| one.kind == CounterpartKind::Recent)
}

fn find(model: &'static ModelMeta) -> Result<Vec<NewestList>> {
    let lists = model.declared_relations.iter();
    let lists = lists.filter_map(RelationMeta::as_recent);
    let found = lists.map(|recent| {
        NewestList::new(model, recent).map_err(|error| error.with_path(recent.field))
    });
    found.collect()
}

impl NewestList {
    fn new(model: &'static ModelMeta, recent: &'static RecentMeta) -> Result<Self> {
        let source = (recent.source)();
        if !source.trees.is_empty() {
            return Err(refuse(format!(
                "`{}` has a tree, whose operations write no lists of other models: list documents without a tree",
                source.name
            )));
        }
        let reference = reference(model, recent, source)?;
        let mut fields = (model.embedded)().fields.iter();
        let Some(field) = fields.find(|field| field.rust == recent.field) else {
            return Err(refuse(format!(
                "`{}` has no field of this name",
                model.name
            )));
        };
        let mut fields = (source.embedded)().fields.iter();
        let Some(sort) = fields.find(|field| field.rust == recent.sort) else {
            return Err(refuse(format!(
                "`{}` has no field `{}` to sort by",
                source.name, recent.sort
            )));
        };
        let mut parts = recent.copied.iter();
        if parts.any(|part| part.name == sort.name && !part.fields.is_empty()) {
            return Err(refuse(format!(
                "the list is sorted by `{}` of `{}`, of which it copies a part: copy the whole field",
                sort.rust, source.name
            )));
        }
        for part in recent.copied {
            let mut fields = (source.embedded)().fields.iter();
            if let Some(field) = fields.find(|field| field.name == part.name) {
                refuse_derived(source, reference, field)?;
            }
        }
        let mut copied = Vec::new();
        paths(&Path::root(), recent.copied, &mut copied);
        let mut inverses = model
            .declared_relations
            .iter()
            .filter_map(RelationMeta::as_inverse);
        let is_same = |one: &&InverseMeta| {
            (one.target)().collection == source.collection && one.by.join(".") == reference.name
        };
        let inverse = inverses.find(is_same);
        Ok(Self {
            model,
            recent,
            source,
            reference,
            name: field.name,
            is_skipped: field.presence == Presence::Sometimes,
            sort: sort.name,
            has_id: recent.copied.iter().any(|part| part.name == "_id"),
            copied,
            guarantee: inverse.map_or(Guarantee::Settled, InverseMeta::guarantee),
        })
    }
}

/// The reference that names the list.
fn reference(
    model: &'static ModelMeta,
    recent: &RecentMeta,
    source: &'static ModelMeta,
) -> Result<&'static ReferenceMeta> {
    let references = source.relations().iter();
    let mut references = references
        .filter_map(RelationMeta::as_reference)
        .filter(|one| is_recent(one) && one.target.collection == model.collection)
        .filter(|one| one.counterpart.is_some_and(|it| it.name == recent.field));
    let Some(reference) = references.next() else {
        return Err(refuse(format!(
            "no reference of `{}` says `recent_in = {}`",
            source.name, recent.field
        )));
    };
    if let Some(other) = references.next() {
        return Err(refuse(format!(
            "`{}` and `{}` of `{}` both say `recent_in = {}`: declare a list for each reference",
            reference.name, other.name, source.name, recent.field
        )));
    }
    if reference.is_in_map {
        return Err(refuse(format!(
            "`{}` of `{}` is a map, in which documents are not found by their references: store a list of references",
            reference.name, source.name
        )));
    }
    Ok(reference)
}

/// The stored paths of the fields that a part has.
fn paths(at: &Path, fields: &'static [ProjectedField], all: &mut Vec<String>) {
    for field in fields {
        let path = at.child(field.name);
        if field.fields.is_empty() {
            all.push(path.to_string());
        } else {
            paths(&path, field.fields, all);
        }
    }
}

/// Refuses a copied field that changes without an update which names it.
fn refuse_derived(
    source: &'static ModelMeta,
    reference: &ReferenceMeta,
    field: &FieldMeta,
) -> Result<()> {
    // The time of creation changes with no write.
    let created = source.timestamps.and_then(|times| times.created_at);
    let is_derived = field.copy_of.is_some()
        || (is_maintained(source, field) && created != Some(field.name))
        || is_two_way(field)
        || is_removed(source, reference, field);
    if !is_derived {
        return Ok(());
    }
    Err(refuse(format!(
        "`{}` of `{}` changes without an update that names it: copy fields that updates set",
        field.rust, source.name
    )))
}

fn is_two_way(field: &FieldMeta) -> bool {
    let counterpart = field.counterpart.as_ref();
    counterpart.is_some_and(|one| one.kind == CounterpartKind::TwoWay)
}

/// Whether deletes of other documents remove references in this field.
fn is_removed(source: &'static ModelMeta, own: &ReferenceMeta, field: &FieldMeta) -> bool {
    let references = source.relations().iter();
    let references = references.filter_map(RelationMeta::as_reference);
    let mut inside = references.filter(|one| one.name.split('.').next() == Some(field.rust));
    inside.any(|one| {
        // A document that refers to one other loses its reference with the list.
        let is_last = one.name == own.name && !matches!(one.arity, Arity::Many { .. });
        let mut acting = one.target.dependents();
        !is_last
            && acting.any(|relation| {
                (relation.target)().collection == source.collection
                    && relation.by.join(".") == one.name
                    && matches!(
                        relation.acts_on_delete(),
                        Some(OnDelete::SetNull | OnDelete::Pull)
                    )
            })
    })
}

fn refuse(message: String) -> Error {
    Error::new(DeclarationError::new(message))
}
