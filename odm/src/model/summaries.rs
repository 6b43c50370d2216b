//! The summaries of other documents that the documents of a model hold: `count_of`, `sum_of`, `mean_of`, `min_of`, `max_of`.

use std::sync::{LazyLock, RwLock};

use super::copies::is_maintained;
use super::field::{FieldMeta, Presence, SummaryKind, SummaryMeta};
use super::name;
use super::once::{Found, once};
use super::relation::{InverseMeta, RelationMeta};
use super::types::TypeMeta;
use super::{ModelMeta, path::Segment};
use crate::error::{DeclarationError, Error, Result};

/// The summaries of the documents of one relation.
#[derive(Debug)]
pub(crate) struct Summaries {
    /// The model whose documents hold the summaries.
    pub(crate) model: &'static ModelMeta,
    /// The relation of that model whose documents are summarized.
    pub(crate) relation: &'static InverseMeta,
    /// The model of those documents.
    pub(crate) target: &'static ModelMeta,
    pub(crate) fields: Vec<SummaryField>,
}

/// One summary.
#[derive(Debug)]
pub(crate) struct SummaryField {
    /// The Rust name.
    pub(crate) rust: &'static str,
    /// The stored name.
    pub(crate) name: &'static str,
    pub(crate) kind: SummaryKind,
    /// How the summary is stored.
    pub(crate) ty: &'static TypeMeta,
    /// Whether the field is left out where it has no value.
    pub(crate) is_skipped: bool,
    /// The summarized field; none of a count.
    pub(crate) source: Option<SummarizedField>,
}

/// The field of other documents that a summary is computed from.
#[derive(Debug)]
pub(crate) struct SummarizedField {
    /// The Rust names, joined by dots.
    pub(crate) rust: String,
    /// The stored path.
    pub(crate) path: String,
    pub(crate) ty: TypeMeta,
}

static HELD: Found<Vec<Summaries>> = LazyLock::new(RwLock::default);
static COUNTED: Found<Vec<&'static Summaries>> = LazyLock::new(RwLock::default);

impl ModelMeta {
    /// The summaries that documents of this model hold, by the relation whose documents they summarize.
    ///
    /// # Errors
    ///
    /// A summary could not be computed by one reference.
    pub(crate) fn summaries(&'static self) -> Result<&'static [Summaries]> {
        let found = once(&HELD, self, || find(self));
        found
            .map(Vec::as_slice)
            .map_err(|error| error.with_model(self.name))
    }

    /// The summaries in documents of other models to which documents of this model count.
    pub(crate) fn summarized(&'static self) -> Result<&'static [&'static Summaries]> {
        once(&COUNTED, self, || {
            let mut counted: Vec<&'static Summaries> = Vec::new();
            let references = self.relations().iter();
            for reference in references.filter_map(RelationMeta::as_reference) {
                for summaries in reference.target.summaries()? {
                    // Several references may lead to one model.
                    let is_known = counted.iter().any(|known| std::ptr::eq(*known, summaries));
                    if !is_known && summaries.target.collection == self.collection {
                        counted.push(summaries);
                    }
                }
            }
            Ok(counted)
        })
        .map(Vec::as_slice)
    }
}

fn find(model: &'static ModelMeta) -> Result<Vec<Summaries>> {
    let mut found: Vec<Summaries> = Vec::new();
    for field in (model.embedded)().fields {
        let Some(summary) = &field.summary else {
            continue;
        };
        let relation = relation(model, summary).map_err(|error| error.with_path(field.rust))?;
        let target = (relation.target)();
        let field =
            SummaryField::new(target, field, summary).map_err(|it| it.with_path(field.rust))?;
        match found
            .iter_mut()
            .find(|one| std::ptr::eq(one.relation, relation))
        {
            Some(summaries) => summaries.fields.push(field),
            None => found.push(Summaries {
                model,
                relation,
                target,
                fields: vec![field],
            }),
        }
    }
    Ok(found)
}

/// The relation that the summary names.
fn relation(model: &'static ModelMeta, summary: &SummaryMeta) -> Result<&'static InverseMeta> {
    let mut relations = model
        .declared_relations
        .iter()
        .filter_map(RelationMeta::as_inverse);
    let Some(relation) = relations.find(|one| one.name == summary.relation) else {
        return Err(refuse(format!(
            "`{}` declares no relation `{}`",
            model.name, summary.relation
        )));
    };
    let target = (relation.target)();
    if !target.trees.is_empty() {
        return Err(refuse(format!(
            "`{}` has a tree, whose operations write no summaries of other models: summarize documents without a tree",
            target.name
        )));
    }
    let by = relation.by.join(".");
    let one_reference = format!(
        "write `has_many(…)` by one reference, and summarize that relation instead of `{}`",
        relation.name
    );
    let reference = name::resolve((target.embedded)(), relation.by)
        .map_err(|error| error.context("a summary needs one reference in each document"))?;
    if reference.through_array {
        return Err(refuse(format!(
            "`{by}` of `{}` is in a list, so one document would count several times: {one_reference}",
            target.name
        )));
    }
    let mut segments = reference.path.segments();
    if !segments.all(|segment| matches!(segment, Segment::Name(_))) {
        return Err(refuse(format!(
            "`{by}` of `{}` is in a map or a tuple: {one_reference}",
            target.name
        )));
    }
    Ok(relation)
}

impl SummaryField {
    fn new(
        target: &'static ModelMeta,
        field: &'static FieldMeta,
        summary: &'static SummaryMeta,
    ) -> Result<Self> {
        let source = match summary.path {
            [] => None,
            path => Some(SummarizedField::new(target, path)?),
        };
        Ok(Self {
            rust: field.rust,
            name: field.name,
            kind: summary.kind,
            ty: &field.ty,
            is_skipped: field.presence == Presence::Sometimes,
            source,
        })
    }
}

impl SummarizedField {
    fn new(target: &'static ModelMeta, path: &'static [&'static str]) -> Result<Self> {
        let rust = path.join(".");
        let mut fields = (target.embedded)().fields.iter();
        let first = fields.find(|field| path.first() == Some(&field.rust));
        if let Some(field) = first.filter(|field| is_derived(target, field)) {
            return Err(refuse(format!(
                "`{}` of `{}` changes without an update that names it: summarize a field that updates set",
                field.rust, target.name
            )));
        }
        let found = name::resolve((target.embedded)(), path)?;
        if found.through_array {
            return Err(refuse(format!(
                "`{rust}` of `{}` is a list, or in one: summarize a field with one value in each document",
                target.name
            )));
        }
        Ok(Self {
            rust,
            path: found.path.to_string(),
            ty: found.ty,
        })
    }
}

/// Whether something else than an update that names it decides the value of the field.
fn is_derived(model: &ModelMeta, field: &FieldMeta) -> bool {
    field.copy_of.is_some() || is_maintained(model, field)
}

fn refuse(message: String) -> Error {
    Error::new(DeclarationError::new(message))
}
