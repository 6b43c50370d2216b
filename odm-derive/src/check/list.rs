//! Of declared cardinalities: few embeds, many is an array of ids, squillions is a reference on the
//! other side.

use crate::errors::Errors;
use crate::model::Field;
use crate::model::ty::{Known, element, stored};
use crate::parse::field::List;
use crate::parse::rule::Rule;

/// The most that `embed` takes.
const FEW: u32 = 200;
/// The most that `references` takes.
const MANY: u32 = 5_000;

/// What a bare list of documents is told.
pub(crate) fn bare(field: &str, what: &str) -> String {
    format!(
        "`{field}` is a list of {what} without a bound; say how many there can be: `#[odm(embed(few, max = N))]` keeps up to {FEW} inside the document, `#[odm(references(many, max = N))]` on a `Vec<Ref<…>>` keeps up to {MANY} ids; of more than that, each holds a `Ref` to this document instead"
    )
}

pub(super) fn check(field: &Field, errors: &mut Errors) {
    let references = matches!(element(&field.ty), Known::Ref);
    let is_list = matches!(stored(&field.ty), Known::List(_));
    let Some(list) = &field.attributes.list else {
        if is_list && references && field.encoder.is_none() {
            errors.at(&field.ty, bare(&field.rust, "references"));
        }
        return;
    };
    let word = &list.word;
    if !is_list && !matches!(stored(&field.ty), Known::Unknown) {
        errors.at(
            word,
            format!(
                "`{word}` bounds a list, and `{}` is none; take it off, or declare a `Vec`",
                field.rust
            ),
        );
        return;
    }
    if is_list && list.embeds() && references {
        errors.at(
            word,
            format!(
                "`{}` holds references, not documents: write `references(many, max = N)`",
                field.rust
            ),
        );
        return;
    }
    if is_list && !list.embeds() && !references {
        let known = !matches!(element(&field.ty), Known::Unknown);
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
    } else if list.embeds() && max > FEW {
        refuse(format!(
            "few are at most {FEW}; of more, keep the ids: `references(many, max = {max})` on a `Vec<Ref<…>>`, or let each hold a `Ref` to this document"
        ));
    } else if !list.embeds() && max > MANY {
        refuse(format!(
            "many are at most {MANY}; of more, let each hold a `Ref` to this document, with an index that starts with it"
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
