//! Checks of `view`: MongoDB computes the documents of a view, so nothing about storing them can be declared.

use proc_macro2::Ident;

use crate::attribute_names;
use crate::errors::Errors;
use crate::facts::Facts;
use crate::parse::field::FieldAttributes;

/// What a view may have besides its fields.
const ALLOWED: [&str; 7] = [
    attribute_names::COLLATION,
    attribute_names::COLLECTION,
    attribute_names::CRATE,
    attribute_names::HAS_MANY,
    attribute_names::HAS_ONE,
    attribute_names::HAS_SQUILLIONS,
    attribute_names::VIEW,
];

pub(super) fn check(facts: &Facts<'_>, errors: &mut Errors) {
    let model = facts.model;
    let Some(view) = &model.attributes.view else {
        return;
    };
    if !model.generics.params.is_empty() {
        errors.at(
            &view.word,
            "a generic struct can't describe a view: declare `view` on a struct without parameters",
        );
    }
    let deny = model.attributes.deny_undeclared.as_ref();
    for word in model.attributes.document_words.iter().chain(deny) {
        let text = word.to_string();
        if !ALLOWED.contains(&text.as_str()) {
            errors.at(word, of_struct(&text, word));
        }
    }
    for inverse in &model.attributes.inverses {
        if let Some(policy) = &inverse.on_delete {
            errors.at(
                policy,
                "no document of a view can be deleted: write `on_delete` on the model that the view reads",
            );
        }
    }
    for field in model.fields() {
        let attributes = &field.attributes;
        for index in &attributes.indexes {
            // `keywords` are reported once, as what they are.
            if index.word != attribute_names::KEYWORDS {
                errors.at(&index.word, of_struct(attribute_names::INDEX, &index.word));
            }
        }
        for rule in &attributes.rules {
            errors.at(
                &rule.word,
                of_struct(attribute_names::VALIDATION, &rule.word),
            );
        }
        for word in written(attributes) {
            errors.at(
                word,
                format!(
                    "`{word}` is about writes, and a view has none: write it on the model that the view reads, and `{}` alone here",
                    field.rust
                ),
            );
        }
    }
}

/// Why a view can't have a word.
fn of_struct(kind: &str, word: &Ident) -> String {
    let why = match kind {
        attribute_names::INDEX
        | attribute_names::UNIQUE
        | attribute_names::TTL
        | attribute_names::TEXT
        | attribute_names::WILDCARD => {
            "a view has no indexes, and queries of it use those of the collection that it reads"
        }
        attribute_names::VALIDATION
        | attribute_names::RULE
        | attribute_names::DENY_UNDECLARED
        | attribute_names::BUDGET => "a view has no validator, because nothing is written to it",
        _ => "a view stores no documents",
    };
    format!("{why}: write `{word}` on the model that the view reads")
}

/// The words of a field that only writes heed.
fn written(attributes: &FieldAttributes) -> impl Iterator<Item = &Ident> {
    let list = attributes.list.as_ref();
    let kept = list.filter(|list| list.is_keywords() || list.is_recent());
    let all = [
        kept.map(|list| &list.word),
        attributes.copy_of.as_ref().map(|one| &one.word),
        attributes.summary.as_ref().map(|one| &one.word),
        attributes.counterpart.as_ref().map(|one| &one.word),
        attributes.often.as_ref(),
        attributes.version.as_ref(),
        attributes.timestamp(),
    ];
    all.into_iter().flatten()
}
