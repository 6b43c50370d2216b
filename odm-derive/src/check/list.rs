//! Checks of declared cardinalities: few are embedded, many are an array of ids, and for squillions the
//! reference is on the other side.

use quote::ToTokens;
use syn::LitStr;

use super::keywords;
use crate::attribute_names;
use crate::errors::{Errors, coded};
use crate::facts::field::{Arity, FieldFacts};
use crate::model::rust_type::{Kind, holds_only_scalars, is_fixed, kind};
use crate::model::{Field, Model};
use crate::parse::field::{List, Unbounded};
use crate::parse::rule::{Rule, Size};

/// The largest `max` of `embed`.
const MAX_EMBEDDED: u32 = 200;
/// The largest `max` of `references`.
const MAX_REFERENCED: u32 = 5_000;

pub(super) fn check(model: &Model, one: &FieldFacts<'_>, errors: &mut Errors) {
    let field = one.field;
    if let Some(unbounded) = &field.attributes.unbounded {
        check_unbounded(one, unbounded, errors);
        return;
    }
    let Some(list) = &field.attributes.list else {
        if model.attributes.result.is_none() {
            bare_references(one, errors);
        }
        return;
    };
    if list.is_keywords() {
        keywords::check(model, one, list, errors);
        return;
    }
    let word = &list.word;
    let is_list = matches!(one.stored, Kind::List(_) | Kind::Map);
    let is_unknown = matches!(one.stored, Kind::Unknown);
    let relation = one.relation.as_ref();
    let to_many = relation.filter(|relation| relation.arity == Arity::Many);
    let is_countable = list.max.is_some() || !is_fixed(&field.ty);
    if let Some(relation) = to_many
        && list.embeds()
        && is_countable
    {
        let target = relation.target.to_token_stream();
        errors.at(
            word,
            format!(
                "`{}` holds references to `{target}`, not documents: write `references(many, max = N)`",
                field.rust
            ),
        );
        return;
    }
    if list.max.is_none() {
        if is_list && !is_fixed(&field.ty) {
            errors.at(
                word,
                coded(
                    "bare_list",
                    "say how many documents there can be: write `embed(few, max = N)` with N up to 200",
                ),
            );
        } else if field.encoder.is_some() {
            errors.at(
                word,
                format!(
                    "`{}` has a serializer of its own, so `embed` has no effect; remove it",
                    field.rust
                ),
            );
        } else if holds_only_scalars(&field.ty) && !is_list {
            errors.at(
                word,
                "`embed` is for a field that holds a document; remove it",
            );
        }
        return;
    }
    if !is_list && !is_unknown {
        errors.at(
            word,
            format!(
                "`{word}` bounds a list or a map, and `{}` is neither; remove it, or declare a `Vec`",
                field.rust
            ),
        );
        return;
    }
    if is_list && !list.embeds() && to_many.is_none() {
        let known = !matches!(one.value, Kind::Unknown | Kind::Tuple);
        let remedy = if known {
            "declare it as `Vec<Ref<…>>`, or bound it by `items(max = N)`"
        } else {
            "declare it as `Vec<Ref<…>>`, or keep the documents inside: `embed(few, max = N)`"
        };
        errors.at(
            word,
            format!("`{}` does not hold references: {remedy}", field.rust),
        );
        return;
    }
    bounds(field, list, errors);
}

/// A list of references says how many there can be.
fn bare_references(one: &FieldFacts<'_>, errors: &mut Errors) {
    let field = one.field;
    let is_list_of_references = matches!(
        one.stored,
        Kind::List(inner) if matches!(kind(inner), Kind::Ref(_) | Kind::DbRef(_))
    );
    let says_nothing = field.encoder.is_none() && !field.attributes.is_malformed;
    if is_list_of_references && says_nothing && !is_fixed(&field.ty) {
        errors.at(
            &field.ty,
            coded(
                "bare_list",
                format!(
                    "this is a list of references without a bound; say how many there can be: `#[odm(references(many, max = N))]` keeps up to {MAX_REFERENCED} ids; of more than that, each holds a `Ref` to this document instead, or say why there is no bound: `#[odm(unbounded = \"the reason\")]`; for what only a pipeline makes, write `#[odm(result)]` on the struct"
                ),
            ),
        );
    }
}

/// `unbounded` is for a list without another bound, and has a reason.
fn check_unbounded(one: &FieldFacts<'_>, unbounded: &Unbounded, errors: &mut Errors) {
    let (field, word) = (one.field, &unbounded.word);
    let items = field
        .attributes
        .rules
        .iter()
        .find(|rule| matches!(rule.rule, Rule::Items(Size { max: Some(_), .. })));
    let bound = field.attributes.list.as_ref().map(|list| &list.word);
    if let Some(bound) = bound.or(items.map(|rule| &rule.word)) {
        errors.at(
            word,
            format!("`{bound}` already bounds this list; keep one of the two"),
        );
    } else if field.encoder.is_some() {
        errors.at(
            word,
            format!(
                "`{}` has a serializer of its own, so `unbounded` has no effect; remove it",
                field.rust
            ),
        );
    } else if holds_only_scalars(&field.ty) {
        errors.at(
            word,
            coded(
                "bare_list",
                format!(
                    "`unbounded` is for a list or map of documents or references, and `{}` holds none; remove it",
                    field.rust
                ),
            ),
        );
    } else if unbounded.reason.value().trim().is_empty() {
        errors.at(
            &unbounded.reason,
            coded(
                "bare_list",
                format!(
                    "say why this list needs no bound: {}",
                    attribute_names::usage(attribute_names::UNBOUNDED).unwrap_or_default()
                ),
            ),
        );
    }
}

/// `allow` is for a `max` beyond the rule of thumb, and has a reason.
fn allowed(list: &List, reason: &LitStr, max: u32, errors: &mut Errors) {
    allowed_beyond(rule_of_thumb(list), reason, max, errors);
}

/// `allow` is for a `max` beyond that of the check with this code, and has a reason.
pub(super) fn allowed_beyond(
    (code, most): (&'static str, u32),
    reason: &LitStr,
    max: u32,
    errors: &mut Errors,
) {
    if max <= most {
        errors.at(
            reason,
            coded(
                code,
                format!("{max} is within the limit of {most}; remove `allow`"),
            ),
        );
    } else if reason.value().trim().is_empty() {
        errors.at(
            reason,
            coded(
                code,
                format!(
                    "say why {max} are fine: {}",
                    attribute_names::usage(attribute_names::ALLOW).unwrap_or_default()
                ),
            ),
        );
    }
}

/// The code of the check, and the largest `max`.
fn rule_of_thumb(list: &List) -> (&'static str, u32) {
    if list.embeds() {
        ("embed_few", MAX_EMBEDDED)
    } else {
        ("references_many", MAX_REFERENCED)
    }
}

fn bounds(field: &Field, list: &List, errors: &mut Errors) {
    let Some((max, span)) = list.max else {
        return;
    };
    let mut refuse = |message: String| errors.push(syn::Error::new(span, message));
    if max == 0 && !list.is_filled() {
        refuse("this list could hold nothing; declare a `max` of at least 1".to_owned());
    } else if list.is_recent() || list.is_filled() {
        // `$slice` bounds a list of the newest, whose size counts toward a budget only; `bucket::check` and `overflow::check` have bounds of their own.
    } else if let Some(reason) = &list.allow {
        allowed(list, reason, max, errors);
    } else if list.embeds() && max > MAX_EMBEDDED {
        let remedy = if max > MAX_REFERENCED {
            "let each hold a `Ref` to this document, with an index that starts with it".to_owned()
        } else {
            format!(
                "keep the ids, `references(many, max = {max})` on a `Vec<Ref<…>>`, or let each hold a `Ref` to this document"
            )
        };
        refuse(coded(
            "embed_few",
            format!(
                "`few` allows at most {MAX_EMBEDDED}; for more, {remedy}, or write `allow = \"the reason\"`"
            ),
        ));
    } else if !list.embeds() && max > MAX_REFERENCED {
        refuse(coded(
            "references_many",
            format!(
                "`many` allows at most {MAX_REFERENCED}; for more, let each hold a `Ref` to this document, with an index that starts with it, or write `allow = \"the reason\"`"
            ),
        ));
    }
    items_without_max(field, list, errors);
}

/// The `max` of the list is said once.
pub(super) fn items_without_max(field: &Field, list: &List, errors: &mut Errors) {
    for rule in &field.attributes.rules {
        if let Rule::Items(size) = &rule.rule
            && size.max.is_some()
        {
            errors.at(
                &rule.word,
                format!(
                    "`{}` already declares the `max`; remove it from `items`",
                    list.word
                ),
            );
        }
    }
}
