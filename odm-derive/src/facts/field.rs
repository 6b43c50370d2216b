//! The facts about named fields: kinds of types, merged rules, relations.

use syn::{Ident, Type};

use crate::model::rust_type::{Kind, element_kind, is_option, stored_kind, value_kind};
use crate::model::{Field, Model, Shape, VariantContent, tree};
use crate::parse::field::List;
use crate::parse::rule::{Rule, Size};

/// The facts about a named field.
pub(crate) struct FieldFacts<'a> {
    pub(crate) field: &'a Field,
    /// The variant that has the field; none for a field of a struct.
    pub(crate) variant: Option<&'a Ident>,
    /// The kind of the type inside `Option` and `Box`.
    pub(crate) stored: Kind<'a>,
    /// The kind of one element of a list, or of a type that is not a list.
    pub(crate) element: Kind<'a>,
    /// The kind of one value in a list or a map.
    pub(crate) value: Kind<'a>,
    /// Whether the type is known only once a parameter of the struct is.
    pub(crate) depends_on_parameter: bool,
    /// The relation that the spelling of the type shows.
    pub(crate) relation: Option<Relation<'a>>,
    /// The rules, with the `max` of `embed` or `references` merged into `Items`.
    pub(crate) rules: Vec<Rule>,
    /// Whether stored documents have the field.
    pub(crate) presence: Presence,
}

/// Whether stored documents have a field.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Presence {
    /// They have to.
    Always,
    /// Those of this program; others are read with a default.
    Defaulted,
    /// Not all.
    Sometimes,
    /// As the type says: `Defaulted` for an `Option`, which an alias or a newtype can hide.
    OfType,
}

impl Presence {
    fn new(model: &Model, variant: Option<&Ident>, field: &Field) -> Self {
        if variant.is_none() && tree::keeps(&model.attributes, field) {
            // A tree reads a node without the field, and its `check` reports one.
            Self::Always
        } else if field.sometimes {
            Self::Sometimes
        } else if field.has_default {
            Self::Defaulted
        } else if field.encoder.is_some() || field.decoder.is_some() {
            Self::Always
        } else if is_option(&field.ty) {
            Self::Defaulted
        } else {
            Self::OfType
        }
    }
}

/// Documents of another collection that a field refers to.
pub(crate) struct Relation<'a> {
    pub(crate) arity: Arity,
    /// The type of the documents.
    pub(crate) target: &'a Type,
    /// Whether the field stores DBRefs.
    pub(crate) is_db_ref: bool,
}

/// How many documents a field refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Arity {
    /// `Ref<T>`
    One,
    /// `Option<Ref<T>>`
    AtMostOne,
    /// A list or a map of `Ref<T>`.
    Many,
}

/// The facts about every named field, skipped ones included.
pub(super) fn all(model: &Model) -> Vec<FieldFacts<'_>> {
    match &model.shape {
        Shape::Struct { fields, .. } => fields
            .iter()
            .map(|field| FieldFacts::new(model, None, field))
            .collect(),
        Shape::Enum(shape) => shape
            .variants
            .iter()
            .filter_map(|variant| match &variant.content {
                VariantContent::Struct(fields) => Some((&variant.ident, fields)),
                _ => None,
            })
            .flat_map(|(ident, fields)| {
                fields
                    .iter()
                    .map(|field| FieldFacts::new(model, Some(ident), field))
            })
            .collect(),
        _ => Vec::new(),
    }
}

impl<'a> FieldFacts<'a> {
    /// The model of the one document at most that the field refers to.
    pub(crate) fn leads_to(&self) -> Option<&'a Type> {
        if let Some(reference) = &self.field.attributes.refers_to {
            let is_list = matches!(self.stored, Kind::List(_));
            return (!is_list).then_some(&reference.target);
        }
        let relation = self.relation.as_ref()?;
        let is_one = relation.arity != Arity::Many && !relation.is_db_ref;
        is_one.then_some(relation.target)
    }

    fn new(model: &Model, variant: Option<&'a Ident>, field: &'a Field) -> Self {
        Self {
            field,
            variant,
            stored: stored_kind(&field.ty),
            element: element_kind(&field.ty),
            value: value_kind(&field.ty),
            depends_on_parameter: model.depends_on_parameter(&field.ty),
            relation: Relation::new(&field.ty),
            rules: merged_rules(model, variant, field),
            presence: Presence::new(model, variant, field),
        }
    }
}

impl<'a> Relation<'a> {
    fn new(ty: &'a Type) -> Option<Self> {
        let (target, is_db_ref) = match value_kind(ty) {
            Kind::Ref(target) => (target, false),
            Kind::DbRef(target) => (target, true),
            _ => return None,
        };
        let arity = match stored_kind(ty) {
            Kind::Ref(_) | Kind::DbRef(_) if is_option(ty) => Arity::AtMostOne,
            Kind::Ref(_) | Kind::DbRef(_) => Arity::One,
            _ => Arity::Many,
        };
        Some(Self {
            arity,
            target,
            is_db_ref,
        })
    }
}

/// The rules of a field, with those of the trees that keep it, where `embed(few, max = N)`, `references(many, max = N)`
/// and `keywords(max = N)` bound its `Items`.
fn merged_rules(model: &Model, variant: Option<&Ident>, field: &Field) -> Vec<Rule> {
    let list = field.attributes.list.as_ref();
    let bound = list.and_then(|list| list.max).map(|(max, _)| max);
    let mut rules: Vec<Rule> = field
        .attributes
        .rules
        .iter()
        .map(|one| one.rule.clone())
        .collect();
    if variant.is_none() {
        rules.extend(tree::rules(&model.attributes, field));
    }
    let is_unique = rules.iter().any(|rule| matches!(rule, Rule::UniqueItems));
    if list.is_some_and(List::is_keywords) && !is_unique {
        rules.push(Rule::UniqueItems);
    }
    let mut sizes = rules.iter_mut().filter_map(|rule| match rule {
        Rule::Items(size) => Some(size),
        _ => None,
    });
    if let Some(size) = sizes.next() {
        size.max = size.max.or(bound);
    } else if bound.is_some() {
        rules.push(Rule::Items(Size {
            min: None,
            max: bound,
        }));
    }
    rules
}
