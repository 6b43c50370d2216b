//! Checks of indexes: each by itself, then all of a collection together.

pub(super) mod options;
mod set;
mod single;

use syn::Ident;

use crate::attribute_names;
use crate::errors::Errors;
use crate::facts::Facts;
use crate::facts::index::{Index, Path};
use crate::model::{Enum, Field, Model, Variant};
use crate::parse::field::List;
use crate::parse::index::KeyKind;
use crate::parse::serde::unraw;

pub(super) fn check(facts: &Facts<'_>, errors: &mut Errors) {
    let mut sound: Vec<&Index<'_>> = Vec::new();
    for index in &facts.indexes {
        // `field::check` reports indexes on these fields.
        if index.declared.is_implied {
            continue;
        }
        // `keywords::check` reports indexes beside `keywords`.
        let is_beside_keywords = index.on.is_some_and(|field| {
            let list = field.attributes.list.as_ref();
            list.is_some_and(List::is_keywords) && !index.declared.is_of_keywords()
        });
        if is_beside_keywords {
            continue;
        }
        let without_key = |field: &Field| field.skipped || field.flatten.is_some();
        if index.on.is_some_and(without_key) {
            continue;
        }
        if fields_exist(facts.model, index, errors) && single::check(facts.model, index, errors) {
            sound.push(index);
        }
    }
    set::check(&sound, errors);
}

/// Whether the first field of every path exists; generated code checks nested fields.
pub(super) fn fields_exist(model: &Model, index: &Index<'_>, errors: &mut Errors) -> bool {
    let mut exist = true;
    let keys = index.keys.iter().map(|key| (key.path, key.kind));
    let projected = index.projected.iter();
    for (path, kind) in keys.chain(projected.map(|path| (*path, KeyKind::Wildcard))) {
        exist &= first_field_exists(model, path, kind, errors);
    }
    exist
}

fn first_field_exists(model: &Model, path: Path<'_>, kind: KeyKind, errors: &mut Errors) -> bool {
    let Some(first) = path.idents.first() else {
        return true;
    };
    match path.field {
        Some(field) if field.skipped => errors.at(
            first,
            format!(
                "`{}` is never stored: remove its `#[serde(skip)]`, or name another field",
                field.rust
            ),
        ),
        Some(field) if field.flatten.is_some() && !path.is_nested() => errors.at(
            first,
            format!(
                "`{}` is flattened, so it has no field of its own; name one inside: `{}.field`",
                field.rust, field.rust
            ),
        ),
        Some(_) => return true,
        None => match model.document_enum() {
            Some(shape) => return named_in_enum(shape, path, first, errors),
            None => unknown(model, first, kind, errors),
        },
    }
    false
}

/// Whether the path leads to a field of an enum whose values are documents.
fn named_in_enum(shape: &Enum, path: Path<'_>, first: &Ident, errors: &mut Errors) -> bool {
    let handles = || shape.variants.iter().map(Variant::handle);
    let example = handles().next();
    let example = example.map_or_else(|| "variant".to_owned(), |one| one.to_string());
    if !shape.begins_with(first) {
        let text = unraw(first);
        let names = handles().map(|one| one.to_string());
        let names: Vec<_> = ["tag".to_owned(), "id".to_owned()]
            .into_iter()
            .chain(names)
            .collect();
        let hint = attribute_names::hint(&text, names.iter().map(String::as_str));
        errors.at(
            first,
            format!("a field of an enum is named through the variant that has it, `{example}.{text}`, or is `tag` or `id`{hint}"),
        );
        return false;
    }
    if !path.is_nested() && handles().any(|one| one == *first) {
        errors.at(
            first,
            format!("`{first}` is a variant, which is stored as several fields; name one: `{first}.field`"),
        );
        return false;
    }
    true
}

fn unknown(model: &Model, ident: &Ident, kind: KeyKind, errors: &mut Errors) {
    let text = unraw(ident);
    let fields = model
        .fields()
        .iter()
        .filter(|field| !field.skipped)
        .map(|field| field.rust.as_str());
    let stored = model.fields().iter().find(|field| field.stored == text);
    let hint = if let Some(field) = stored {
        format!("; keys are named as in Rust: `{}`", field.rust)
    } else if let Some(field) = attribute_names::nearest(&text, fields.clone()) {
        format!("; did you mean `{field}`?")
    } else if kind == KeyKind::Ascending
        && let Some(option) =
            attribute_names::nearest(&text, attribute_names::INDEX_OPTIONS.iter().copied())
    {
        format!("; did you mean the option `{option}`?")
    } else {
        attribute_names::hint(&text, fields)
    };
    errors.at(
        ident,
        format!("`{}` has no field `{text}`{hint}", model.ident),
    );
}
