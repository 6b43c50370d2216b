//! The facts about summaries: what the other model has to declare, and what the fields have to hold.

use syn::Type;

use super::field::FieldFacts;
use super::relations::{Declares, Demand, spelled};
use crate::model::{Field, Model};
use crate::parse::relation::{Inverse, InverseKind};
use crate::parse::serde::unraw;
use crate::parse::summary::{SummaryKind, SummaryOf};

/// A summary of the documents of a relation.
pub(crate) struct SummaryFacts<'a> {
    pub(crate) field: &'a Field,
    pub(crate) summary: &'a SummaryOf,
    pub(crate) inverse: &'a Inverse,
    /// The error if the reference of the relation is in a list; none where another summary of it has the error.
    pub(crate) list: Option<String>,
    /// The summarized field changes only where an update names it.
    pub(crate) fact: Option<Demand<'a>>,
    /// The summarized documents have a collection of their own.
    pub(crate) alone: Demand<'a>,
    /// The summarized documents are written by their model.
    pub(crate) stored: Demand<'a>,
    /// The error if the summarized field is a list, or in one.
    pub(crate) several: String,
    /// The error if the summarized field does not have what the summary needs: the mistake and the remedy.
    pub(crate) other_form: String,
}

/// The relations that a summary can name.
pub(crate) fn summarized(model: &Model) -> impl Iterator<Item = &Inverse> {
    let inverses = model.inverses();
    inverses.filter(|inverse| inverse.kind != InverseKind::Rest)
}

/// The error for a field whose declared type does not fit its summary: the mistake and the remedy.
pub(crate) fn wrong_type(field: &Field, summary: &SummaryOf) -> String {
    let rust = &field.rust;
    match summary.kind {
        SummaryKind::Count => format!(
            "`{rust}` is a count: declare it as an integer that is never none, such as `i64`"
        ),
        SummaryKind::Sum => format!(
            "`{rust}` is a sum: declare it as a number that is never none, such as `i64` or `f64`"
        ),
        SummaryKind::Mean => format!(
            "`{rust}` is a mean, or none where there are no documents: declare it as `Option<f64>` or `Option<Decimal128>`"
        ),
        SummaryKind::Min | SummaryKind::Max => {
            format!("`{rust}` has no value where there are no documents: declare it as an `Option`")
        }
    }
}

pub(super) fn all<'a>(model: &'a Model, fields: &[FieldFacts<'a>]) -> Vec<SummaryFacts<'a>> {
    let mut all: Vec<SummaryFacts<'a>> = Vec::new();
    for one in fields {
        if let Some(mut facts) = SummaryFacts::new(model, one.field) {
            let relation = &facts.inverse.name;
            if all.iter().any(|other| other.inverse.name == *relation) {
                facts.list = None;
            }
            all.push(facts);
        }
    }
    all
}

impl<'a> SummaryFacts<'a> {
    fn new(model: &'a Model, field: &'a Field) -> Option<Self> {
        let summary = field.attributes.summary.as_ref()?;
        let inverse = summarized(model).find(|one| one.name == summary.relation)?;
        let (target, rust) = (spelled(&inverse.target), &field.rust);
        let by: Vec<String> = inverse.by.iter().map(unraw).collect();
        let path: Vec<String> = summary.path.iter().map(unraw).collect();
        let (by, path) = (by.join("."), path.join("."));
        let is_number = matches!(summary.kind, SummaryKind::Sum | SummaryKind::Mean);
        Some(Self {
            field,
            summary,
            inverse,
            list: Some(format!(
                "`{by}` of `{target}` is in a list, so one document would count several times: summarize a relation by one reference"
            )),
            fact: fact(&inverse.target, field, summary),
            alone: Demand {
                target: &inverse.target,
                declares: Declares::Alone,
                message: format!(
                    "`{target}` shares a collection with other models, and odm keeps summaries of such documents in step for none of \
                     them: count or summarize them when they are read, by `count_documents` or a pipeline"
                ),
            },
            stored: Demand {
                target: &inverse.target,
                declares: Declares::Stored,
                message: format!(
                    "`{target}` is a view, and no write of it could update `{rust}`: summarize the model that the view reads"
                ),
            },
            several: format!(
                "`{path}` of `{target}` is a list, or in one: summarize a field with one value in each document"
            ),
            other_form: if is_number {
                format!(
                    "`{path}` of `{target}` is not a number: `{}` needs one; `count_of`, `min_of` and `max_of` take other fields, too",
                    summary.word
                )
            } else {
                format!(
                    "`{rust}` and the field that it summarizes are stored as different types; give both the same serializer"
                )
            },
        })
    }
}

/// A change of the summarized field has to be seen.
fn fact<'a>(target: &'a Type, field: &Field, summary: &SummaryOf) -> Option<Demand<'a>> {
    let first = unraw(summary.path.first()?);
    let (spelled, rust) = (spelled(target), &field.rust);
    Some(Demand {
        target,
        message: format!(
            "`{first}` of `{spelled}` is a copy or a summary itself, or changes without an update that names it (a version, a time, computed keywords, a list of the newest): `{rust}` can summarize only a field that updates set"
        ),
        declares: Declares::Fact { field: first },
    })
}
