//! The facts about relations: what the models on the other side have to declare, and what to write if they do not.

use quote::ToTokens;
use syn::{Ident, Type};

use super::field::FieldFacts;
use super::summaries::{self, SummaryFacts};
use crate::errors::coded;
use crate::model::rust_type::{Kind, kind};
use crate::model::{Derive, Field, Model};
use crate::parse::quoted_by_name;
use crate::parse::relation::{
    CopyOf, Counterpart, CounterpartKind, Inverse, InverseKind, KeyReference, Recent,
};
use crate::parse::serde::unraw;

/// The relations of a model that another model declares, too, or has to serve.
pub(crate) struct Relations<'a> {
    pub(crate) inverses: Vec<InverseFacts<'a>>,
    pub(crate) counterparts: Vec<CounterpartFacts<'a>>,
    pub(crate) recents: Vec<RecentFacts<'a>>,
    pub(crate) keys: Vec<KeyFacts<'a>>,
    pub(crate) copies: Vec<CopyFacts<'a>>,
    pub(crate) summaries: Vec<SummaryFacts<'a>>,
}

/// A declaration that another model must have.
pub(crate) struct Demand<'a> {
    /// The other model.
    pub(crate) target: &'a Type,
    pub(crate) declares: Declares,
    /// The error if it does not: the mistake and the remedy.
    pub(crate) message: String,
}

/// A declaration in another model, by the Rust names of its fields.
pub(crate) enum Declares {
    /// An index that starts with this path.
    Index(Vec<String>),
    /// A unique index on this path alone.
    UniqueIndex(Vec<String>),
    /// The `subset` with this name, by this field.
    Subset { name: String, by: String },
    /// The other side of a relation of this name, on this field or on any.
    Counterpart {
        kind: CounterpartKind,
        field: Option<String>,
        name: String,
    },
    /// A field that refers to this key.
    KeyReference { field: String, key: String },
    /// A collection without documents of other models.
    Alone,
    /// No view: writes reach its documents.
    Stored,
    /// A field that is neither a copy nor a summary of others, and that no write maintains.
    Fact { field: String },
    /// A field that is not marked as changing often.
    Seldom { field: String },
    /// A field that is marked as changing often.
    Often { field: String },
    /// A relation by this reference; inside of subdocuments, whose places are not known, one that ends with it.
    Relation { by: String, is_inside: bool },
}

/// An inverse relation.
pub(crate) struct InverseFacts<'a> {
    pub(crate) inverse: &'a Inverse,
    /// The other side of a `subset`.
    pub(crate) counterpart: Option<Demand<'a>>,
    /// The reference to the key that the relation goes by, where that is not the `_id`.
    pub(crate) reference: Option<(&'a Ident, Demand<'a>)>,
    /// The index that serves the relation, if it needs one.
    pub(crate) index: Option<Demand<'a>>,
    /// The other model is no view, where its documents are changed when one of this model is deleted.
    pub(crate) stored: Option<Demand<'a>>,
}

/// A reference that has a counterpart in the other model.
pub(crate) struct CounterpartFacts<'a> {
    pub(crate) counterpart: &'a Counterpart,
    /// The other model.
    pub(crate) target: &'a Type,
    /// The other side, if the type of the field that it names does not show it.
    pub(crate) demand: Option<Demand<'a>>,
}

/// A list that copies the newest documents of another model.
pub(crate) struct RecentFacts<'a> {
    pub(crate) field: &'a Field,
    pub(crate) recent: &'a Recent,
    /// The type of the elements.
    pub(crate) element: &'a Type,
    pub(crate) demand: Demand<'a>,
}

/// A reference to a unique field other than the `_id`.
pub(crate) struct KeyFacts<'a> {
    pub(crate) field: &'a Field,
    pub(crate) reference: &'a KeyReference,
    pub(crate) arity: KeyArity,
    /// The type of one key.
    pub(crate) key: &'a Type,
    /// The unique index on the field of the other model.
    pub(crate) unique: Demand<'a>,
    /// The error if the two fields are stored as different types: the mistake and the remedy.
    pub(crate) other_form: String,
}

/// A copy of what a reference beside it leads to.
pub(crate) struct CopyFacts<'a> {
    pub(crate) field: &'a Field,
    pub(crate) variant: Option<&'a Ident>,
    pub(crate) copy: &'a CopyOf,
    /// The model of the copied field.
    pub(crate) source: &'a Type,
    /// What the other model declares.
    pub(crate) demands: Vec<Demand<'a>>,
    /// The error if the two fields are stored as different types: the mistake and the remedy.
    pub(crate) other_form: String,
    /// The field with the time of the copy, and the name by which the copy refers to it.
    pub(crate) time: Option<(&'a Ident, &'a Field)>,
}

/// How many keys a field holds. `odm::support` has types of these names.
#[derive(Debug, Clone, Copy)]
pub(crate) enum KeyArity {
    OneKey,
    AtMostOneKey,
    ManyKeys,
}

quoted_by_name!(KeyArity);

impl<'a> Relations<'a> {
    pub(super) fn new(model: &'a Model, fields: &[FieldFacts<'a>]) -> Self {
        let is_document = model.derive == Derive::Document;
        let counterparts = fields.iter().filter_map(|one| {
            let counterpart = one.field.attributes.counterpart.as_ref()?;
            let target = one.relation.as_ref()?.target;
            Some(CounterpartFacts {
                counterpart,
                target,
                demand: of_counterpart(model, one.field, counterpart, target),
            })
        });
        let recents = model.fields().iter().filter_map(|field| {
            let recent = field.attributes.recent.as_ref()?;
            let element = match kind(&field.ty) {
                Kind::List(element) => element,
                _ => &field.ty,
            };
            Some(RecentFacts {
                field,
                recent,
                element,
                demand: of_recent(model, field, recent),
            })
        });
        Self {
            inverses: model
                .inverses()
                .map(|one| InverseFacts::new(model, one))
                .collect(),
            counterparts: counterparts.filter(|_| is_document).collect(),
            recents: recents.filter(|_| is_document).collect(),
            keys: fields
                .iter()
                .filter_map(|one| KeyFacts::new(one.field))
                .collect(),
            copies: fields
                .iter()
                .filter_map(|one| CopyFacts::new(model, fields, one))
                .collect(),
            summaries: summaries::all(model, fields),
        }
    }
}

impl<'a> InverseFacts<'a> {
    fn new(model: &Model, inverse: &'a Inverse) -> Self {
        let needs_index = inverse.allow_scan.is_none();
        Self {
            inverse,
            counterpart: rest_of(inverse),
            reference: inverse
                .key
                .as_ref()
                .and_then(|key| Some((key, reference_to(model, inverse, key)?))),
            index: needs_index.then(|| index_of(inverse)),
            stored: changes_on_delete(inverse),
        }
    }
}

impl<'a> KeyFacts<'a> {
    fn new(field: &'a Field) -> Option<Self> {
        let reference = field.attributes.refers_to.as_ref()?;
        let (arity, key) = match kind(&field.ty) {
            Kind::Optional(inner) => (KeyArity::AtMostOneKey, inner),
            Kind::List(inner) => (KeyArity::ManyKeys, inner),
            _ => (KeyArity::OneKey, &field.ty),
        };
        let (target, by) = (&reference.target, unraw(&reference.by));
        let (rust, model) = (&field.rust, spelled(target));
        let message = format!(
            "a reference needs a unique field, and `{model}` has no unique index on `{by}` alone; add `#[odm(unique)]` to `{by}`"
        );
        let other_form = format!(
            "`{rust}` and `{by}` of `{model}` are stored as different types, so no key would be found; give both the same serializer"
        );
        Some(Self {
            field,
            reference,
            arity,
            key,
            unique: Demand {
                target,
                declares: Declares::UniqueIndex(vec![by]),
                message,
            },
            other_form,
        })
    }
}

impl<'a> CopyFacts<'a> {
    fn new(model: &Model, fields: &[FieldFacts<'a>], one: &FieldFacts<'a>) -> Option<Self> {
        let field = one.field;
        let copy = field.attributes.copy_of.as_ref()?;
        let reference = reference_of(fields, one, copy)?;
        let source = reference.leads_to()?;
        let (by, is_inside) = (
            reference.field.rust.clone(),
            model.derive != Derive::Document || one.variant.is_some(),
        );
        let (spelled, rust) = (spelled(source), &field.rust);
        let mut demands = Vec::new();
        if let Some(first) = copy.path.first() {
            let first = unraw(first);
            demands.push(Demand {
                target: source,
                message: format!(
                    "`{first}` of `{spelled}` is a copy or a summary itself, or changes without an update that names it (a version, a time, computed keywords, a list of the newest): `{rust}` can copy only a field that updates set"
                ),
                declares: Declares::Fact { field: first },
            });
        }
        if let Some(first) = copy.path.first()
            && copy.left_alone().is_none()
            && copy.allow_often.is_none()
        {
            let first = unraw(first);
            demands.push(Demand {
                target: source,
                message: coded(
                    "often",
                    format!(
                        "`{first}` of `{spelled}` changes often (`#[odm(often)]`), and each change writes `{rust}` in every document that copies it; read it by a join, write `refresh(older_than = \"1d\", at = …)` for a copy that follows by its age, `once` for one that stays as it was, or `allow_often = \"the reason\"` here"
                    ),
                ),
                declares: Declares::Seldom { field: first },
            });
        }
        if let (Some(first), Some(_)) = (copy.path.first(), &copy.allow_often) {
            let first = unraw(first);
            demands.push(Demand {
                target: source,
                message: format!(
                    "`{first}` of `{spelled}` is not marked as changing often: leave `allow_often` out"
                ),
                declares: Declares::Often { field: first },
            });
        }
        if copy.left_alone().is_none() {
            demands.push(Demand {
                target: source,
                declares: Declares::Alone,
                message: format!(
                    "`{spelled}` shares a collection with other models, and odm keeps copies of such documents in step for none of them: \
                     write `once` or `refresh(older_than = \"1d\", at = …)`, or read the field by a join"
                ),
            });
            demands.push(Demand {
                target: source,
                declares: Declares::Stored,
                message: format!(
                    "`{spelled}` is a view, and no write of it could update `{rust}`: copy from the model that the view reads, or write \
                     `once` or `refresh(older_than = \"1d\", at = …)`"
                ),
            });
            let relation = if is_inside {
                format!("has_many(name: Model, by = ….{by})")
            } else {
                format!("has_many(name: {}, by = {by})", model.ident)
            };
            let remedy = format!(
                "a change of `{spelled}` could not find its copies in `{rust}`: write `#[odm({relation})]` on `{spelled}`, or `has_squillions(…)`; `refresh(older_than = \"1d\", at = …)` here, for a copy that follows by its age, or `once`, for one that stays as it was"
            );
            demands.push(Demand {
                target: source,
                declares: Declares::Relation { by, is_inside },
                message: remedy,
            });
        }
        let time = copy.refresh.as_ref().and_then(|refresh| {
            let time = beside(fields, one.variant, &refresh.at)?;
            Some((&refresh.at, time.field))
        });
        Some(Self {
            field,
            variant: one.variant,
            copy,
            source,
            demands,
            time,
            other_form: format!(
                "`{rust}` and the field that it copies are stored as different types; give both the same serializer"
            ),
        })
    }
}

/// The field that a copy names as its reference.
pub(crate) fn reference_of<'f, 'a>(
    fields: &'f [FieldFacts<'a>],
    one: &FieldFacts<'a>,
    copy: &CopyOf,
) -> Option<&'f FieldFacts<'a>> {
    beside(fields, one.variant, &copy.reference)
}

/// The field with this name, in this variant if there is one.
pub(crate) fn beside<'f, 'a>(
    fields: &'f [FieldFacts<'a>],
    variant: Option<&Ident>,
    name: &Ident,
) -> Option<&'f FieldFacts<'a>> {
    let mut fields = fields.iter();
    fields.find(|other| other.variant == variant && other.field.ident == *name)
}

/// A reference of the source names the list.
fn of_recent<'a>(model: &Model, field: &Field, recent: &'a Recent) -> Demand<'a> {
    let (source, rust) = (&recent.source, &field.rust);
    let advice = format!(
        "write `#[odm(recent_in = {rust})]` on a reference to `{}`, which has no other counterpart",
        model.ident
    );
    Demand {
        target: source,
        declares: Declares::Counterpart {
            kind: CounterpartKind::Recent,
            field: None,
            name: rust.clone(),
        },
        message: undeclared(source, rust, &advice),
    }
}

/// The model that the field refers to declares the relation that the counterpart names.
fn of_counterpart<'a>(
    model: &Model,
    field: &Field,
    counterpart: &Counterpart,
    target: &'a Type,
) -> Option<Demand<'a>> {
    let (ident, rust, name) = (&model.ident, field.rust.clone(), unraw(&counterpart.name));
    let (advice, declares) = match counterpart.kind {
        CounterpartKind::Rest => (
            format!("write `#[odm(subset({name}: {ident}, by = {rust}))]` on it"),
            Declares::Subset {
                name,
                by: rust.clone(),
            },
        ),
        // The type of the list shows what it copies.
        CounterpartKind::Recent => return None,
        CounterpartKind::TwoWay => (
            format!("write `#[odm(two_way = {rust})]` on its field `{name}`"),
            Declares::Counterpart {
                kind: CounterpartKind::TwoWay,
                field: Some(name),
                name: rust.clone(),
            },
        ),
    };
    Some(Demand {
        target,
        declares,
        message: undeclared(target, &rust, &advice),
    })
}

/// The rest of a subset declares the relation, too.
fn rest_of(inverse: &Inverse) -> Option<Demand<'_>> {
    let by = unraw(inverse.by.first()?);
    if inverse.kind != InverseKind::Rest {
        return None;
    }
    let (target, name) = (&inverse.target, unraw(&inverse.name));
    let advice = format!("write `#[odm(rest_of = {name})]` on its field `{by}`");
    Some(Demand {
        target,
        message: undeclared(target, &name, &advice),
        declares: Declares::Counterpart {
            kind: CounterpartKind::Rest,
            field: Some(by),
            name,
        },
    })
}

fn undeclared(target: &Type, relation: &str, advice: &str) -> String {
    format!(
        "`{}` does not declare the other side of `{relation}`: {advice}",
        spelled(target)
    )
}

/// The reference of the other side is to this key.
fn reference_to<'a>(model: &Model, inverse: &'a Inverse, key: &Ident) -> Option<Demand<'a>> {
    let [by] = inverse.by.as_slice() else {
        return None;
    };
    let (target, field, key) = (&inverse.target, unraw(by), unraw(key));
    Some(Demand {
        target,
        message: format!(
            "`{field}` of `{}` does not refer to `{key}`: write `#[odm(refers_to({}, by = {key}))]` on it",
            spelled(target),
            model.ident
        ),
        declares: Declares::KeyReference { field, key },
    })
}

/// A policy other than `leave` writes the other side, or keeps its documents from being left.
fn changes_on_delete(inverse: &Inverse) -> Option<Demand<'_>> {
    let policy = inverse.on_delete.as_ref()?;
    let target = spelled(&inverse.target);
    let stored = || Demand {
        target: &inverse.target,
        declares: Declares::Stored,
        message: format!(
            "`{target}` is a view, whose documents no write changes: write `on_delete` in a relation to the model that it reads"
        ),
    };
    (policy != "leave").then(stored)
}

/// The index that a relation needs.
fn index_of(inverse: &Inverse) -> Demand<'_> {
    let by: Vec<String> = inverse.by.iter().map(unraw).collect();
    let (path, name) = (by.join("."), unraw(&inverse.name));
    let target = spelled(&inverse.target);
    let (declares, message) = if matches!(inverse.kind, InverseKind::One | InverseKind::Rest) {
        let instead = if inverse.kind == InverseKind::One {
            ", or declare `has_many`"
        } else {
            ""
        };
        let message = format!(
            "`{name}` is at most one `{target}`, but `{target}` has no unique index on `{path}` alone; add `#[odm(unique({path}))]` to `{target}`{instead}"
        );
        (Declares::UniqueIndex(by), message)
    } else {
        let message = coded(
            "relation_scan",
            format!(
                "`{name}` would scan `{target}`: no index of it that starts with `{path}` has all documents (a partial or sparse one leaves some out); add `#[odm(index({path}))]` to it, or `allow_scan = \"the reason\"` to the relation"
            ),
        );
        (Declares::Index(by), message)
    };
    Demand {
        target: &inverse.target,
        declares,
        message,
    }
}

/// A type as the user wrote it.
pub(crate) fn spelled(ty: &Type) -> String {
    ty.to_token_stream().to_string().replace(' ', "")
}
