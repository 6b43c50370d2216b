//! Assertions about the type of a named field, from its attributes.

use syn::Ident;
use syn::spanned::Spanned;

use super::{Assertion, Flaw, Subject};
use crate::facts::field::FieldFacts;
use crate::model::rust_type::{Kind, holds_only_scalars, is_option, is_scalar};
use crate::model::{Derive, Field, Model};
use crate::parse::field::List;
use crate::parse::rule::Rule;

/// What `created_at` and `updated_at` can stand on.
pub(crate) const DATES: &str = "declare it as `bson::DateTime`, or with a module that stores dates, such as `#[serde(with = \"odm::chrono_0_4\")]` on a `chrono::DateTime<Utc>`";
/// The message for `range` on a wrong type.
pub(crate) const NUMBER: &str = "bounds a number; for the length of a string write `length(…)`, for dates a `rule(\"…\", |m| …)` on the document";
/// The message for `length`, `pattern` and `one_of` on a wrong type.
pub(crate) const TEXT: &str =
    "is for strings; for a number write `range(…)`, for the size of a list `items(…)`";
/// The message for `items` on a wrong type.
pub(crate) const LIST: &str = "is for lists and maps; for the length of a string write `length(…)`";
/// The message for `keywords` on a wrong type.
pub(crate) const KEYWORDS: &str = "is not a list of strings: declare keywords as `Vec<String>`";
/// The message for keywords whose serializer is not known to store strings.
pub(crate) const UNKNOWN_WORDS: &str = "has a serializer that is not known to store a list of strings, so its words are unknown; make its module by `odm::serializer!`, or declare keywords as `Vec<String>`";
/// The message for `unique_items` on a wrong type.
pub(crate) const UNIQUE_LIST: &str = "is for lists; remove it";

/// Every assertion about one field.
pub(super) fn of_field<'a>(model: &Model, one: &FieldFacts<'a>) -> Vec<Assertion<'a>> {
    let field = one.field;
    if field.encoder.is_some() {
        return encoded(one);
    }
    let is_id = field.stored == "_id" && model.derive == Derive::Document && !is_scalar(&field.ty);
    let mut assertions = Vec::new();
    // Before the other assertions, because an id of another crate's type is stored by a newtype.
    if is_id && field.flatten.is_none() {
        assertions.push(Assertion::Sound {
            span: field.ty.span(),
            flaw: Flaw::Id(field),
        });
    }
    assertions.extend(sound(model, field));
    let is_unknown = matches!(one.stored, Kind::Unknown);
    if field.flatten.is_some() {
        if is_unknown {
            assertions.extend(flattened(model, field));
        }
        return assertions;
    }
    let list = field.attributes.list.as_ref();
    if let Some(list) = list.filter(|list| list.is_keywords()) {
        assertions.extend(keywords(one, list));
    } else if is_unknown {
        assertions.extend(bounded(field));
    }
    assertions.extend(rules(one));
    if field.attributes.version.is_some() && is_unknown {
        assertions.push(Assertion::Holds {
            span: field.ty.span(),
            test: "is_integer",
            subject: Subject::Field(field, None),
            message: "`save` increments the version: declare it as `i64` or `i32`".to_owned(),
        });
    }
    if let Some(word) = field.attributes.timestamp() {
        // A name such as `DateTime` shows no more than that a type may be a date.
        assertions.push(Assertion::Holds {
            span: field.ty.span(),
            test: "is_one_date",
            subject: Subject::Field(field, None),
            message: format!(
                "`{word}` is a date: declare it as `bson::DateTime`, or as an `Option` of it"
            ),
        });
    }
    assertions
}

/// The assertions about a field with a serializer of its own, which may declare what it stores.
fn encoded<'a>(one: &FieldFacts<'a>) -> Vec<Assertion<'a>> {
    let field = one.field;
    let Some(module) = &field.module else {
        return Vec::new();
    };
    if one.depends_on_parameter {
        return Vec::new();
    }
    let mut assertions = rules(one);
    match &field.attributes.list {
        Some(list) if list.is_keywords() => {
            let message = format!("`{}` {UNKNOWN_WORDS}", field.rust);
            assertions.push(holds(field, &list.word, "is_list_of_text", message));
        }
        Some(list) if list.is_recent() => {
            let message = format!(
                "`{}` has a serializer that does not store documents, so the newest can't be copied into it; remove the serializer",
                field.rust
            );
            assertions.push(holds(field, &list.word, "may_hold_documents", message));
        }
        _ => {}
    }
    if let Some(word) = field.attributes.timestamp() {
        let message = format!(
            "writes set `{word}` to a date, and the serializer of this field does not say that it stores one; {DATES}"
        );
        assertions.push(holds(field, word, "is_known_one_date", message));
    }
    if is_option(&field.ty) && field.decoder.is_some() && !field.has_default {
        let (rust, path) = (&field.rust, module.literal.value());
        assertions.push(Assertion::Defaults {
            span: field.ty.span(),
            variant: one.variant,
            field,
            message: format!(
                "a document without `{rust}` could not be read, because serde's `with` takes a missing field for an error even of an `Option`: write `#[serde(default, with = \"{path}\")]`"
            ),
        });
    }
    assertions
}

/// Documents and references in the type are those that the attributes declare.
pub(super) fn sound<'a>(model: &Model, field: &'a Field) -> Option<Assertion<'a>> {
    if model.attributes.result.is_some() {
        return Some(Assertion::Sound {
            span: field.ty.span(),
            flaw: Flaw::Undeclared(Subject::Field(field, None), "Result"),
        });
    }
    if let Some(unbounded) = &field.attributes.unbounded {
        return Some(Assertion::Sound {
            span: unbounded.word.span(),
            flaw: Flaw::Undeclared(Subject::Field(field, None), "Unbounded"),
        });
    }
    let (declared, span) = match &field.attributes.list {
        list if holds_only_scalars(&field.ty) && list.as_ref().is_none_or(List::is_keywords) => {
            return None;
        }
        None if field.flatten.is_some() => ("Flattened", field.ty.span()),
        None => ("Nothing", field.ty.span()),
        Some(list) if list.is_keywords() => ("Nothing", field.ty.span()),
        Some(list) if list.max.is_none() => ("Embed", list.word.span()),
        Some(list) if list.embeds() => ("Few", field.ty.span()),
        Some(_) => ("Many", field.ty.span()),
    };
    Some(Assertion::Sound {
        span,
        flaw: Flaw::Undeclared(Subject::Field(field, None), declared),
    })
}

/// A flattened type of unknown kind has fields, and `deny_undeclared` allows them.
fn flattened<'a>(model: &Model, field: &'a Field) -> Vec<Assertion<'a>> {
    let rust = &field.rust;
    let holds = |test, message| Assertion::Holds {
        span: field.ty.span(),
        test,
        subject: Subject::Field(field, None),
        message,
    };
    let mut assertions = vec![holds(
        "has_fields",
        format!(
            "`{rust}` is flattened, so it must have fields: a struct, an enum with data, or a map"
        ),
    )];
    if model.attributes.deny_undeclared.is_some() {
        assertions.push(holds(
            "is_no_map",
            format!(
                "`{rust}` takes every field that is not declared, and `deny_undeclared` refuses them all; keep one of the two"
            ),
        ));
    }
    assertions
}

/// Keywords whose type does not show it are a list of strings.
fn keywords<'a>(one: &FieldFacts<'a>, list: &List) -> Option<Assertion<'a>> {
    matches!(one.element, Kind::Unknown).then(|| {
        let message = format!("`{}` {KEYWORDS}", one.field.rust);
        holds(one.field, &list.word, "is_list_of_text", message)
    })
}

/// The type of a field passes a test of `odm::support`.
fn holds<'a>(field: &'a Field, word: &Ident, test: &'static str, message: String) -> Assertion<'a> {
    Assertion::Holds {
        span: word.span(),
        test,
        subject: Subject::Field(field, None),
        message,
    }
}

/// A type of unknown kind with a bound has elements.
fn bounded(field: &Field) -> Option<Assertion<'_>> {
    let list = field.attributes.list.as_ref()?;
    list.max?;
    let word = &list.word;
    Some(Assertion::Holds {
        span: word.span(),
        test: "has_elements",
        subject: Subject::Field(field, None),
        message: format!(
            "`{word}` bounds a list or a map, and `{}` is neither; remove it, or declare a `Vec`",
            field.rust
        ),
    })
}

/// A type of unknown kind is one that its rules apply to.
fn rules<'a>(one: &FieldFacts<'a>) -> Vec<Assertion<'a>> {
    let field = one.field;
    let is_encoded = field.encoder.is_some();
    let is_unknown = is_encoded || matches!(one.stored, Kind::Unknown);
    let has_unknown_elements = is_encoded || matches!(one.element, Kind::Unknown);
    let mut assertions = Vec::new();
    for rule in &field.attributes.rules {
        let (test, needs, applies) = match rule.rule {
            Rule::Range { .. } => ("is_number", NUMBER, has_unknown_elements),
            Rule::Length(_) | Rule::Pattern(_) | Rule::OneOf(_) => {
                let is_reference = matches!(one.element, Kind::Ref(_));
                ("is_text", TEXT, has_unknown_elements || is_reference)
            }
            Rule::Items(_) => ("has_elements", LIST, is_unknown),
            Rule::UniqueItems => ("is_list", UNIQUE_LIST, is_unknown),
            Rule::Bytes(_) => continue,
        };
        if applies {
            assertions.push(Assertion::Holds {
                span: rule.word.span(),
                test,
                subject: Subject::Field(field, one.variant),
                message: format!("`{}` {needs}", rule.word),
            });
        }
    }
    assertions
}
