//! Checks of `keywords(…)`.

use super::index::options::LANGUAGES;
use super::list::{allowed_beyond, items_without_max};
use crate::attribute_names;
use crate::errors::{Errors, coded};
use crate::facts::assertions::{KEYWORDS, UNKNOWN_WORDS};
use crate::facts::field::FieldFacts;
use crate::model::rust_type::{Kind, element_kind, stored_kind};
use crate::model::{Field, Model};
use crate::parse::field::List;
use crate::parse::keywords::Sources;
use crate::parse::rule::Rule;

/// The largest `max`: MongoDB's guide warns of several hundreds.
const MAX_KEYWORDS: u32 = 200;

pub(super) fn check(model: &Model, one: &FieldFacts<'_>, list: &List, errors: &mut Errors) {
    let (field, word) = (one.field, &list.word);
    let is_list_of_strings = match one.stored {
        Kind::List(element) => matches!(stored_kind(element), Kind::Text | Kind::Unknown),
        Kind::Unknown => true,
        _ => false,
    };
    if field.encoder.is_some() {
        // What a module stores is known to the compiler alone.
        if field.module.is_none() {
            errors.at(word, format!("`{}` {UNKNOWN_WORDS}", field.rust));
            return;
        }
    } else if !is_list_of_strings {
        errors.at(word, format!("`{}` {KEYWORDS}", field.rust));
        return;
    }
    if let Some(index) = field
        .attributes
        .indexes
        .iter()
        .find(|index| !index.is_of_keywords())
    {
        errors.at(
            &index.word,
            format!(
                "`keywords` declares the index of `{}`; remove `{}`",
                field.rust, index.word
            ),
        );
    }
    let unique = field
        .attributes
        .rules
        .iter()
        .find(|one| matches!(one.rule, Rule::UniqueItems));
    if let Some(rule) = unique {
        errors.at(
            &rule.word,
            format!(
                "`keywords` already keeps the words of `{}` unique; remove `{}`",
                field.rust, rule.word
            ),
        );
    }
    bounds(list, errors);
    items_without_max(field, list, errors);
    if let Some(sources) = &field.attributes.keywords_from {
        computed(model, field, sources, errors);
    }
}

/// The sources are other fields with text, and the keywords are always written.
fn computed(model: &Model, field: &Field, sources: &Sources, errors: &mut Errors) {
    let language = sources.language.value();
    if !LANGUAGES.contains(&language.to_ascii_lowercase().as_str()) {
        let hint = attribute_names::hint(&language, LANGUAGES.iter().copied());
        errors.at(
            &sources.language,
            format!("unknown language `{language}`{hint}"),
        );
    }
    if field.sometimes {
        errors.at(
            &sources.word,
            format!(
                "each write computes `{}`: remove `skip_serializing` and `skip_serializing_if`",
                field.rust
            ),
        );
    }
    for ident in &sources.fields {
        match model.field(ident) {
            None => {
                let names = model.fields().iter().map(|field| field.rust.as_str());
                let hint = attribute_names::hint(&ident.to_string(), names);
                errors.at(ident, format!("`{}` has no field `{ident}`{hint}", model.ident));
            }
            Some(source) if source.rust == field.rust => errors.at(
                ident,
                format!("`{}` can't be computed from itself; name another field in `from(…)`", field.rust),
            ),
            Some(source) if !is_text(source) => errors.at(
                ident,
                format!(
                    "`{}` holds no text: keywords are computed from a `String`, an `Option` or a `Vec` of it",
                    source.rust
                ),
            ),
            Some(_) => {}
        }
    }
}

/// Whether the field is spelled as a string, or as a list of strings.
fn is_text(source: &Field) -> bool {
    !source.skipped
        && source.flatten.is_none()
        && source.encoder.is_none()
        && source.attributes.keywords_from.is_none()
        && matches!(element_kind(&source.ty), Kind::Text)
}

fn bounds(list: &List, errors: &mut Errors) {
    let Some((max, span)) = list.max else {
        return;
    };
    let mut refuse = |message: String| errors.push(syn::Error::new(span, message));
    if max == 0 {
        refuse("this list could hold nothing; declare a `max` of at least 1".to_owned());
    } else if let Some(reason) = &list.allow {
        allowed_beyond(("keywords_few", MAX_KEYWORDS), reason, max, errors);
    } else if max > MAX_KEYWORDS {
        refuse(coded(
            "keywords_few",
            format!(
                "each keyword is an entry of the index, so every insert writes up to {max}; take at most {MAX_KEYWORDS}, declare a `text(…)` index for the words of a text, or `allow = \"the reason\"`"
            ),
        ));
    }
}
