//! Checks of declared cardinalities: few are embedded, many are an array of ids, and for squillions the
//! reference is on the other side.

use quote::ToTokens;

use crate::errors::Errors;
use crate::facts::field::{Cardinality, FieldFacts};
use crate::model::Field;
use crate::model::rust_type::{Kind, is_fixed};
use crate::parse::field::List;
use crate::parse::rule::Rule;

/// The largest `max` of `embed`.
const MAX_EMBEDDED: u32 = 200;
/// The largest `max` of `references`.
const MAX_REFERENCED: u32 = 5_000;

pub(super) fn check(one: &FieldFacts<'_>, errors: &mut Errors) {
    let field = one.field;
    let Some(list) = &field.attributes.list else {
        return;
    };
    let word = &list.word;
    let is_list = matches!(one.stored, Kind::List(_) | Kind::Map);
    let is_unknown = matches!(one.stored, Kind::Unknown);
    let relation = one.relation.as_ref();
    let to_many = relation.filter(|relation| relation.cardinality == Cardinality::Many);
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
                "say how many documents there can be: write `embed(few, max = N)` with N up to 200",
            );
        } else if field.encoder.is_some() {
            errors.at(
                word,
                format!(
                    "`{}` has a serializer of its own, so `embed` says nothing; take it off",
                    field.rust
                ),
            );
        }
        return;
    }
    if !is_list && !is_unknown {
        errors.at(
            word,
            format!(
                "`{word}` bounds a list or a map, and `{}` is neither; take it off, or declare a `Vec`",
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

fn bounds(field: &Field, list: &List, errors: &mut Errors) {
    let Some((max, span)) = list.max else {
        return;
    };
    let mut refuse = |message: String| errors.push(syn::Error::new(span, message));
    if max == 0 {
        refuse("this list could hold nothing; take a `max` of at least 1".to_owned());
    } else if list.is_recent() {
        // `$slice` bounds the list, and its size counts toward a budget only.
    } else if list.embeds() && max > MAX_EMBEDDED {
        let remedy = if max > MAX_REFERENCED {
            "let each hold a `Ref` to this document, with an index that starts with it".to_owned()
        } else {
            format!(
                "keep the ids, `references(many, max = {max})` on a `Vec<Ref<…>>`, or let each hold a `Ref` to this document"
            )
        };
        refuse(format!("few are at most {MAX_EMBEDDED}; of more, {remedy}"));
    } else if !list.embeds() && max > MAX_REFERENCED {
        refuse(format!(
            "many are at most {MAX_REFERENCED}; of more, let each hold a `Ref` to this document, with an index that starts with it"
        ));
    } else {
        for rule in &field.attributes.rules {
            if let Rule::Items(size) = &rule.rule
                && size.max.is_some()
            {
                errors.at(
                    &rule.word,
                    format!(
                        "`{}` already says the `max`; take it off `items`",
                        list.word
                    ),
                );
            }
        }
    }
}
