//! Checks of `schema`.

use crate::attribute_names;
use crate::errors::Errors;
use crate::facts::Facts;
use crate::model::{Derive, Model, Shape};
use crate::parse::schema::Schema;

/// What a model with versions can't be, and why.
const OTHERS: [(&str, &str); 4] = [
    (
        attribute_names::BUCKET,
        "odm fills buckets by updates, which no step sees",
    ),
    (
        attribute_names::CAPPED,
        "rewritten documents can be larger, and a capped collection would remove its oldest to make room",
    ),
    (
        attribute_names::GRIDFS,
        "GridFS decides the shape of the documents of files",
    ),
    (
        attribute_names::TIME_SERIES,
        "MongoDB does not rewrite the documents of a time series",
    ),
];

pub(super) fn check(facts: &Facts<'_>, errors: &mut Errors) {
    let model = facts.model;
    let Some(schema) = &model.attributes.schema else {
        return;
    };
    if model.derive != Derive::Document
        || !matches!(model.shape, Shape::Struct { .. })
        || model.attributes.variant_of.is_some()
    {
        // `container::check` and `variants::check` report these.
        return;
    }
    steps(schema, errors);
    name(model, schema, errors);
    for word in &model.attributes.document_words {
        let why = OTHERS.iter().find(|(other, _)| word == other);
        if let Some((_, why)) = why {
            let message = format!("{why}: remove `{}`, or `{word}`", schema.word);
            errors.at(&schema.word, message);
        }
    }
    if let Some(span) = model.deny_unknown_fields {
        let message = format!(
            "the struct would refuse the field `{}`, which has the version and is not declared: remove `deny_unknown_fields`; \
             `#[odm(deny_undeclared)]` lets MongoDB refuse other fields",
            schema.field_name(),
        );
        errors.push(syn::Error::new(span, message));
    }
}

/// Compares the number of steps with the version.
fn steps(schema: &Schema, errors: &mut Errors) {
    let version = match schema.version.base10_parse::<i32>() {
        Ok(version) if version >= 1 => version,
        _ => {
            let message = "versions are numbers from 1 to 2147483647, and documents without one have version 1";
            errors.at(&schema.version, message);
            return;
        }
    };
    let needed = usize::try_from(version - 1).unwrap_or(usize::MAX);
    let given = schema.steps.len();
    if given == needed {
        return;
    }
    let functions = |count: usize| match count {
        1 => "1 function".to_owned(),
        count => format!("{count} functions"),
    };
    let steps = match needed {
        0 => "leave `steps` out".to_owned(),
        1 => "write `steps(from_1_to_2)`".to_owned(),
        2 => "write `steps(from_1_to_2, from_2_to_3)`".to_owned(),
        last => format!(
            "write `steps(from_1_to_2, …, from_{last}_to_{})`",
            last.saturating_add(1)
        ),
    };
    errors.at(
        &schema.version,
        format!(
            "version {version} is reached from version 1 by {}, and `steps` has {given}: {steps}",
            functions(needed),
        ),
    );
}

/// Checks the name of the field with the version.
fn name(model: &Model, schema: &Schema, errors: &mut Errors) {
    let name = schema.field_name();
    if let Some(field) = &schema.field {
        let why = if name == "_id" {
            Some("the `_id` can't be the version of a document")
        } else if name.is_empty() || name.contains(['.', '\0']) || name.starts_with('$') {
            Some(
                "the version is a field at the top of a document, whose name has no dot and does not begin with `$`",
            )
        } else {
            None
        };
        if let Some(why) = why {
            errors.at(
                field,
                format!(
                    "{why}: write `field = \"{}\"`",
                    attribute_names::SCHEMA_FIELD
                ),
            );
            return;
        }
    }
    let fields = model.fields().iter();
    let mut stored = fields.filter(|field| !field.skipped && field.flatten.is_none());
    if let Some(field) = stored.find(|field| field.stored == name) {
        errors.at(
            &field.ident,
            format!(
                "odm stores the version of the document as `{name}`, and this field is stored under the same name: remove it, \
                 or choose another name for the version by `field = \"…\"` in `schema(…)`"
            ),
        );
    }
}
