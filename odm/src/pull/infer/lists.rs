//! Bounds of lists and maps of documents and references, which odm requires.

use crate::pull::item::{ANY, ANY_DB_REF, Body, DOCUMENT, Item, Type};
use crate::pull::number::{bound as bound_above, separated};
use crate::pull::shape::{Kind, Shape};

/// Lists nest at most this deep: rustc refuses types that nest deeper than its recursion limit.
const DEEPEST: usize = 8;
/// The largest `max` of `embed` without a reason.
const FEW: usize = 200;
/// The largest `max` of `references` without a reason.
const MANY: usize = 5_000;

/// The elements whose number a list has to bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Counted {
    Documents,
    References,
}

fn counted(ty: &Type, items: &[Item]) -> Option<Counted> {
    match ty.innermost() {
        Type::Named(item) => {
            let is_enum = items
                .get(*item)
                .is_some_and(|item| matches!(item.body, Body::Enum(_)));
            (!is_enum).then_some(Counted::Documents)
        }
        Type::Ref(_) | Type::DbRef(_) => Some(Counted::References),
        // A DBRef to any collection has no relation, and counts as the document that it is stored as.
        ty if *ty == ANY_DB_REF => Some(Counted::Documents),
        _ => None,
    }
}

/// The type with untyped documents in lists within lists, which can't declare a bound.
pub(super) fn degraded(ty: Type, items: &[Item]) -> Type {
    if ty.containers() < 2 {
        return ty;
    }
    if ty.containers() > DEEPEST {
        return ANY.vec();
    }
    match counted(&ty, items) {
        None => ty,
        Some(Counted::Documents) => ty.around(DOCUMENT),
        Some(Counted::References) => ty.around(Type::Plain("bson::Bson")),
    }
}

/// The attribute with the bound of a list or a map: about twice as many as were found.
pub(super) fn bound(ty: &Type, shape: &Shape, items: &[Item]) -> Vec<String> {
    if ty.containers() != 1 {
        return Vec::new();
    }
    let Some(counted) = counted(ty, items) else {
        return Vec::new();
    };
    let seen = match shape.of(Kind::Array) + shape.of(Kind::Document) {
        0 => 0,
        _ => shape.most,
    };
    let (words, limit) = match counted {
        Counted::Documents => ("embed(few", FEW),
        Counted::References => ("references(many", MANY),
    };
    let wanted = bound_above(seen);
    let shown = |number: usize| separated(i64::try_from(number).unwrap_or(i64::MAX));
    if seen <= limit {
        let max = shown(wanted.min(limit));
        return vec![format!("{words}, max = {max})")];
    }
    let max = shown(wanted);
    let seen = shown(seen);
    vec![format!(
        "{words}, max = {max}, allow = \"{seen} were found\")"
    )]
}
