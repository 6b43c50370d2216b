//! The facts about an overflow: its fields, if the struct declares all of them.

use syn::{Ident, Type};

use super::relations::spelled;
use crate::model::rust_type::{Kind, kind};
use crate::model::{Derive, Field, Model};
use crate::parse::overflow::Overflow;
use crate::parse::serde::unraw;

/// An overflow whose declaration is complete.
pub(crate) struct OverflowFacts<'a> {
    pub(crate) overflow: &'a Overflow,
    /// The model whose documents' lists overflow.
    pub(crate) of: &'a Type,
    pub(crate) by: &'a Field,
    pub(crate) number: &'a Field,
    pub(crate) list: &'a Field,
    /// The type of the elements.
    pub(crate) item: &'a Type,
}

impl<'a> OverflowFacts<'a> {
    pub(super) fn new(model: &'a Model) -> Option<Self> {
        let overflow = model.attributes.overflow.as_ref()?;
        if model.derive != Derive::Document || !model.generics.params.is_empty() {
            return None;
        }
        let field = |ident: &Ident| model.field(ident).filter(|field| !field.skipped);
        let (by, list) = (field(&overflow.by)?, field(&overflow.list)?);
        let (Kind::Ref(of), Kind::List(item)) = (kind(&by.ty), kind(&list.ty)) else {
            return None;
        };
        Some(Self {
            overflow,
            of,
            by,
            number: field(&overflow.number)?,
            list,
            item,
        })
    }
}

/// The error for a number of another type.
pub(crate) fn wrong_number(field: &Field) -> String {
    format!(
        "`{}` numbers the overflow documents of one document: declare it as an integer that is never none, such as `i32`",
        field.rust
    )
}

/// The error for an `_id` that odm can't make.
pub(crate) fn wrong_id(field: &Field) -> String {
    format!(
        "odm makes the `_id` of an overflow document: declare `{}` as `ObjectId` or `Id<Self>`",
        field.rust
    )
}

/// The error for a field that has no value when an overflow document is inserted.
pub(crate) fn unset(field: &Field) -> String {
    format!(
        "an overflow document is inserted without `{}`: declare it as an `Option`, or with `#[serde(default)]`",
        field.rust
    )
}

/// The errors for what the other model lacks: the list, its bound, the relation that deletes overflow documents; and for
/// versions of its documents.
pub(crate) struct OtherErrors {
    pub(crate) no_list: String,
    pub(crate) unbounded: String,
    pub(crate) no_cascade: String,
    pub(crate) versions: String,
}

impl OtherErrors {
    pub(crate) fn new(model: &Model, facts: &OverflowFacts<'_>) -> Self {
        let (of, item) = (spelled(facts.of), spelled(facts.item));
        let (list, stored, ident) = (&facts.list.rust, &facts.list.stored, &model.ident);
        let by = unraw(&facts.overflow.by);
        Self {
            no_list: format!(
                "`{of}` has no list `{list}` that is stored as this one is: declare `{list}: Vec<{item}>` there, too, stored as `{stored}` and with the same serializers"
            ),
            unbounded: format!(
                "the list `{list}` of `{of}` has no bound, so nothing overflows: declare it with `embed(few, max = 50)`, with `references(many, max = 50)` for references, or with `items(max = 50)` for plain values"
            ),
            no_cascade: format!(
                "nothing deletes the overflow documents of a deleted `{of}`: declare `has_many({list}_overflow: {ident}, by = {by}, on_delete = cascade)` on `{of}`"
            ),
            versions: format!(
                "`{of}` declares `schema`, and a push reads no documents of older versions: the lists of `{of}` can't overflow"
            ),
        }
    }
}
