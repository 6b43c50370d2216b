//! Fields that the library maintains, such as the version: every typed write changes them, and none may name them.

use bson::{Bson, Document, doc};

use super::operators::{Changes, OnField, Part, Stage};
use crate::model::Version;
use crate::query::deferred::Deferred;

/// A field that every typed write maintains.
#[derive(Debug, Clone)]
pub(crate) struct Maintained {
    /// The stored name.
    pub(crate) name: &'static str,
    /// Why an update that names the field is refused, and what to write instead.
    pub(crate) refusal: &'static str,
    /// What an update does to the field; `None` if it leaves the field as it is.
    pub(crate) change: Option<Maintenance>,
    /// The value that an upsert sets where it inserts a document, if `change` does not set one.
    pub(crate) inserted: Option<Bson>,
    /// The field's value in a replacement, as an expression over the stored document.
    pub(crate) replaced: Bson,
}

/// How an update maintains a field.
#[derive(Debug, Clone)]
pub(crate) struct Maintenance {
    /// The operator and its operand, in an update by operators.
    pub(crate) operator: &'static str,
    pub(crate) operand: Bson,
    /// The value in an update by a pipeline.
    pub(crate) expression: Bson,
}

impl Changes {
    /// Adds the changes of the maintained fields to these changes; raw changes are sent as they are written.
    pub(crate) fn maintaining(self, fields: Vec<Maintained>) -> Result<Self, Deferred> {
        if fields.is_empty() {
            return Ok(self);
        }
        let mut named = self.named()?;
        if !named.is_typed() {
            return Ok(named);
        }
        for field in &fields {
            if named.names(field.name) {
                return Err(Deferred::usage(field.name, field.refusal));
            }
        }
        for field in fields {
            let Some(change) = field.change else {
                continue;
            };
            let path = field.name.to_owned();
            match &mut named {
                Self::Operators(parts) => parts.push(Part::Field(OnField {
                    operator: change.operator,
                    path,
                    value: change.operand,
                })),
                Self::Pipeline(stages) => stages.push(Stage::Set {
                    path,
                    expression: change.expression,
                }),
            }
        }
        Ok(named)
    }

    /// Whether a method of a field made one of the changes.
    pub(crate) fn is_typed(&self) -> bool {
        match self {
            Self::Operators(parts) => parts.iter().any(|part| matches!(part, Part::Field(_))),
            Self::Pipeline(stages) => stages
                .iter()
                .any(|stage| matches!(stage, Stage::Set { .. })),
        }
    }

    /// Whether a change names this field, or one inside it.
    fn names(&self, field: &str) -> bool {
        match self {
            Self::Operators(parts) => parts.iter().any(|part| part.changes(field)),
            Self::Pipeline(stages) => stages
                .iter()
                .any(|stage| matches!(stage, Stage::Set { path, .. } if is_in(path, field))),
        }
    }
}

impl Version {
    pub(crate) fn maintained(self) -> Maintained {
        let stored = format!("${}", self.name);
        let next: Bson = doc! { "$add": [{ "$ifNull": [stored, 0] }, self.one.clone()] }.into();
        Maintained {
            name: self.name,
            refusal: "each typed update counts the version field up, so that `save` notices it: leave the field \
                      out, or write the whole update raw",
            change: Some(Maintenance {
                operator: "$inc",
                operand: self.one,
                expression: next.clone(),
            }),
            inserted: None,
            replaced: next,
        }
    }
}

/// The update that replaces a document with `replacement` and changes the maintained fields. A plain replacement
/// can't, because it does not see the stored document.
pub(crate) fn replacing(replacement: Document, fields: Vec<Maintained>) -> Vec<Document> {
    let fields = fields.into_iter();
    let maintained: Document = fields
        .map(|field| (field.name.to_owned(), field.replaced))
        .collect();
    let merged = doc! { "$mergeObjects": [{ "$literal": replacement }, maintained] };
    vec![doc! { "$replaceWith": merged }]
}

impl Part {
    /// Whether the part changes the field with this stored name, or one inside it.
    pub(super) fn changes(&self, field: &str) -> bool {
        match self {
            Self::Field(change) => {
                is_in(&change.path, field)
                    || change.operator == "$rename"
                        && change.value.as_str().is_some_and(|to| is_in(to, field))
            }
            Self::Raw(operators) => operators
                .values()
                .filter_map(Bson::as_document)
                .any(|fields| fields.keys().any(|path| is_in(path, field))),
            Self::ArrayFilter(_) | Self::Elements(_) | Self::Unless(_) | Self::InCurrency(_) => {
                false
            }
        }
    }
}

/// Whether a path names a field, or one inside it.
pub(super) fn is_in(path: &str, field: &str) -> bool {
    let rest = path.strip_prefix(field);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}
