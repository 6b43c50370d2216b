//! The copies of other documents' fields that the documents of a model hold: `copy_of`.

use std::sync::{LazyLock, RwLock};

use bson::{Bson, DateTime};

use super::field::{CopyMeta, EmbeddedMeta, FieldMeta, Presence, RefreshMeta, VariantContent};
use super::name::{self, snake};
use super::once::{Found, once};
use super::relation::{InverseMeta, RelationMeta};
use super::types::{Shape, TypeMeta};
use super::{ModelMeta, ProjectedField};
use crate::error::{DeclarationError, Error, Result};

/// The copies that are stored beside one reference, and follow it in one way.
#[derive(Debug)]
pub(crate) struct Copies {
    /// The model whose documents hold the copies.
    pub(crate) model: &'static ModelMeta,
    /// The Rust names from the model down to the reference.
    pub(crate) by: Vec<String>,
    /// The model of the copied fields.
    pub(crate) source: &'static ModelMeta,
    /// The Rust name of the field of the source whose value the reference stores.
    pub(crate) key: &'static str,
    /// The copies; if they follow by their age, their time comes first.
    pub(crate) fields: Vec<CopiedField>,
    /// The relation of the source by which a change finds the copies; none if all of them stay as they were filled, or follow by
    /// their age.
    pub(crate) relation: Option<&'static InverseMeta>,
    /// How old the copies may become, if they follow by their age.
    pub(crate) refresh: Option<RefreshAge>,
}

/// The age at which copies are written again.
#[derive(Debug)]
pub(crate) struct RefreshAge {
    meta: &'static RefreshMeta,
    /// The stored name, beside the copies, of the time at which they were read.
    pub(crate) at: &'static str,
}

/// One copy, or the time of the copies beside it.
#[derive(Debug)]
pub(crate) struct CopiedField {
    /// The Rust name.
    pub(crate) rust: &'static str,
    /// The stored name, in the subdocument that has the reference.
    pub(crate) name: &'static str,
    /// The stored path in the source; of a projection, the paths of its fields.
    pub(crate) sources: Vec<String>,
    /// The fields of the source that a projection copies; empty for a copy of one field.
    pub(crate) projected: &'static [ProjectedField],
    pub(crate) kind: CopyKind,
    pub(crate) is_nullable: bool,
    /// Whether the field is left out where it has no value.
    pub(crate) is_skipped: bool,
}

/// What a [`CopiedField`] holds, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CopyKind {
    /// A value that follows the source.
    Following,
    /// A value that stays as it was filled.
    Once,
    /// The time of the copies beside it.
    Time,
}

static HELD: Found<Vec<Copies>> = LazyLock::new(RwLock::default);
static MADE: Found<Vec<&'static Copies>> = LazyLock::new(RwLock::default);

impl ModelMeta {
    /// The copies that documents of this model hold.
    ///
    /// # Errors
    ///
    /// A change of a copied field could not find its copies.
    pub(crate) fn copies(&'static self) -> Result<&'static [Copies]> {
        let found = once(&HELD, self, || Walk::over(self));
        found
            .map(Vec::as_slice)
            .map_err(|error| error.with_model(self.name))
    }

    /// The copies of this model's fields that follow its changes.
    pub(crate) fn copied(&'static self) -> Result<&'static [&'static Copies]> {
        if self.declared_relations.is_empty() {
            return Ok(&[]);
        }
        once(&MADE, self, || {
            let mut made: Vec<&'static Copies> = Vec::new();
            let relations = self.declared_relations.iter();
            for relation in relations.filter_map(RelationMeta::as_inverse) {
                let copies = (relation.target)().copies()?.iter();
                // Two relations may go by one reference.
                let new = copies.filter(|one| {
                    let is_known = made.iter().any(|known| std::ptr::eq(*known, *one));
                    !is_known && one.relation.is_some() && one.is_found_by(self, relation)
                });
                let new: Vec<_> = new.collect();
                made.extend(new);
            }
            Ok(made)
        })
        .map(Vec::as_slice)
    }
}

impl Copies {
    fn is_found_by(&self, source: &ModelMeta, relation: &InverseMeta) -> bool {
        self.source.collection == source.collection
            && (relation.target)().collection == self.model.collection
            && relation.by.iter().eq(&self.by)
    }

    /// The copies that follow the source: its changes, or by their age.
    pub(crate) fn following(&self) -> impl Iterator<Item = &CopiedField> {
        self.fields.iter().filter(|one| !one.is_once())
    }

    /// Whether the copies follow the reference to another document.
    pub(crate) fn follows_reference(&self) -> bool {
        self.relation.is_some() || self.refresh.is_some()
    }
}

impl RefreshAge {
    /// The time before which copies are too old at this time.
    pub(crate) fn before(&self, now: DateTime) -> DateTime {
        let age = i64::from(self.meta.older_than) * 1_000;
        DateTime::from_millis(now.timestamp_millis().saturating_sub(age))
    }
}

/// Finds the copies in the documents of a model.
struct Walk {
    model: &'static ModelMeta,
    /// The structs around the current field.
    open: Vec<&'static EmbeddedMeta>,
    /// The Rust names of the current struct.
    names: Vec<String>,
    /// Why statements can't reach the copies in the current value, if they can't.
    unreached: Option<&'static str>,
    found: Vec<Copies>,
}

impl Walk {
    fn over(model: &'static ModelMeta) -> Result<Vec<Copies>> {
        let mut walk = Self {
            model,
            open: Vec::new(),
            names: Vec::new(),
            unreached: None,
            found: Vec::new(),
        };
        walk.embedded((model.embedded)())?;
        Ok(walk.found)
    }

    fn embedded(&mut self, meta: &'static EmbeddedMeta) -> Result<()> {
        if self.open.iter().any(|open| std::ptr::eq(*open, meta)) {
            let holds_copies = meta.fields.iter().any(|field| field.copy_of.is_some());
            return if holds_copies {
                Err(self.refuse(meta.name, "in a struct that contains itself"))
            } else {
                Ok(())
            };
        }
        self.open.push(meta);
        self.fields(meta.fields)?;
        for variant in meta.variants.iter().flat_map(|it| it.variants) {
            self.names.push(snake(variant.rust));
            match &variant.content {
                VariantContent::Unit => {}
                VariantContent::Newtype(ty) => self.value(ty)?,
                VariantContent::Tuple(types) => self.tuple(types)?,
                VariantContent::Struct(fields) => self.fields(fields)?,
            }
            self.names.pop();
        }
        self.open.pop();
        Ok(())
    }

    fn fields(&mut self, fields: &'static [FieldMeta]) -> Result<()> {
        let mut here: Vec<Copies> = Vec::new();
        for field in fields {
            if let Some(copy) = &field.copy_of {
                self.copy(fields, field, copy, &mut here)?;
            }
            self.names.push(field.rust.to_owned());
            self.value(&field.ty)?;
            self.names.pop();
        }
        for copies in &mut here {
            self.find_relation(copies)?;
        }
        self.found.append(&mut here);
        Ok(())
    }

    fn copy(
        &self,
        beside: &'static [FieldMeta],
        field: &'static FieldMeta,
        copy: &'static CopyMeta,
        here: &mut Vec<Copies>,
    ) -> Result<()> {
        if let Some(unreached) = self.unreached {
            return Err(self.refuse(field.rust, unreached));
        }
        let find = |rust| beside.iter().find(|one| one.rust == rust);
        let reference = find(copy.reference);
        let leads_to = reference.and_then(|one| match (&one.refers_to, one.ty.shape) {
            (Some(reference), _) => Some(((reference.target)(), reference.by)),
            (None, Shape::Reference { to, .. }) => Some((to(), to().id())),
            (None, _) => None,
        });
        let Some((source, key)) = leads_to else {
            return Err(self.refuse(field.rust, "without a reference beside it"));
        };
        let mut by = self.names.clone();
        by.push(copy.reference.to_owned());
        let copied =
            CopiedField::new(source, field, copy).map_err(|error| error.with_path(by.join(".")))?;
        let time = copy.refresh.as_ref().and_then(|meta| {
            let field = find(meta.at)?;
            let refresh = RefreshAge {
                meta,
                at: field.name,
            };
            Some((refresh, CopiedField::time(field)))
        });
        let at = time.as_ref().map(|(refresh, _)| refresh.at);
        let mut known = here.iter_mut();
        let known = known.find(|one| one.by == by && one.refresh.as_ref().map(|it| it.at) == at);
        if let Some(copies) = known {
            copies.fields.push(copied);
            return Ok(());
        }
        let (refresh, time) = time.unzip();
        here.push(Copies {
            model: self.model,
            by,
            source,
            key,
            fields: time.into_iter().chain([copied]).collect(),
            relation: None,
            refresh,
        });
        Ok(())
    }

    /// Finds the relation of the source by which a change finds these copies.
    fn find_relation(&self, copies: &mut Copies) -> Result<()> {
        if copies.refresh.is_some() || copies.following().next().is_none() {
            return Ok(());
        }
        let relations = copies.source.declared_relations.iter();
        let mut relations = relations.filter_map(RelationMeta::as_inverse);
        copies.relation = relations.find(|relation| copies.is_found_by(copies.source, relation));
        if copies.relation.is_some() {
            return Ok(());
        }
        let (source, model, by) = (copies.source.name, self.model.name, copies.by.join("."));
        let message = format!(
            "a change of `{source}` could not find its copies here: write `#[odm(has_many(name: {model}, by = {by}))]` on \
             `{source}`, or `has_squillions(…)`; or `refresh(…)` in `copy_of`, for copies that \
             follow by their age, or `once`, for copies that stay as they were"
        );
        Err(Error::new(DeclarationError::new(message)).with_path(by))
    }

    fn value(&mut self, ty: &'static TypeMeta) -> Result<()> {
        match ty.shape {
            Shape::Embedded(meta) => self.embedded(meta()),
            Shape::Array { element, .. } => self.value(element),
            Shape::Tuple(types) => self.tuple(types),
            Shape::Map(value) => {
                let around = self
                    .unreached
                    .replace("in a map, whose keys are not declared");
                self.value(value)?;
                self.unreached = around;
                Ok(())
            }
            Shape::Any | Shape::Scalar(_) | Shape::OneOf(_) | Shape::Reference { .. } => Ok(()),
        }
    }

    fn tuple(&mut self, types: &'static [TypeMeta]) -> Result<()> {
        let around = self.unreached.replace("in a tuple");
        for ty in types {
            self.value(ty)?;
        }
        self.unreached = around;
        Ok(())
    }

    fn refuse(&self, field: &str, place: &str) -> Error {
        let mut names = self.names.clone();
        names.push(field.to_owned());
        let message = format!(
            "a copy {place} can't be kept in step; declare it beside its reference, in a struct or a list of structs"
        );
        Error::new(DeclarationError::new(message)).with_path(names.join("."))
    }
}

impl CopiedField {
    /// The field where there is nothing to copy, and its value there if it is stored; none of a field that always has a value.
    pub(crate) fn none(&self) -> Option<(&'static str, Option<Bson>)> {
        let value = (!self.is_skipped).then_some(Bson::Null);
        self.is_nullable.then_some((self.name, value))
    }

    fn new(
        source: &'static ModelMeta,
        field: &'static FieldMeta,
        copy: &'static CopyMeta,
    ) -> Result<Self> {
        let mut sources = Vec::new();
        let first = copy.path.first().copied();
        let projected = copy.projected.iter().map(|one| one.name);
        let mut copied = (source.embedded)().fields.iter().filter(|field| {
            first == Some(field.rust) || projected.clone().any(|name| name == field.name)
        });
        if let Some(field) = copied.find(|field| is_maintained(source, field)) {
            let message = format!(
                "`{}` of `{}` changes without an update that names it: copy a field that updates set",
                field.rust, source.name
            );
            return Err(Error::new(DeclarationError::new(message)));
        }
        if copy.path.is_empty() {
            sources.extend(copy.projected.iter().map(|one| one.name.to_owned()));
        } else {
            let found = name::resolve((source.embedded)(), copy.path)?;
            sources.push(found.path.to_string());
        }
        Ok(Self {
            rust: field.rust,
            name: field.name,
            sources,
            projected: copy.projected,
            kind: if copy.once {
                CopyKind::Once
            } else {
                CopyKind::Following
            },
            is_nullable: field.ty.nullable,
            is_skipped: field.presence == Presence::Sometimes,
        })
    }

    /// Whether a filled copy stays as it is.
    pub(crate) fn is_once(&self) -> bool {
        self.kind == CopyKind::Once
    }

    /// Whether it is the time of the copies beside it, which does not make them differ.
    pub(crate) fn is_time(&self) -> bool {
        self.kind == CopyKind::Time
    }

    /// The time of copies.
    fn time(field: &'static FieldMeta) -> Self {
        Self {
            rust: field.rust,
            name: field.name,
            sources: Vec::new(),
            projected: &[],
            kind: CopyKind::Time,
            is_nullable: field.ty.nullable,
            is_skipped: field.presence == Presence::Sometimes,
        }
    }
}

/// Whether writes set the field by themselves.
pub(super) fn is_maintained(model: &ModelMeta, field: &FieldMeta) -> bool {
    let times = model.timestamps;
    let times = times.map_or([None, None], |times| [times.created_at, times.updated_at]);
    let mut names = model.version.into_iter().chain(times.into_iter().flatten());
    let mut kept = model.trees.iter().flat_map(|tree| tree.fields());
    let recent = model.declared_relations.iter();
    let mut recent = recent.filter_map(RelationMeta::as_recent);
    names.any(|name| name == field.name)
        || kept.any(|name| name == field.name)
        || field.summary.is_some()
        || model.is_kept_by_bucket(field.name)
        || model.keywords.iter().any(|it| it.field == field.name)
        || recent.any(|recent| recent.field == field.rust)
}
