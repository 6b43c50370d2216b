//! Checks of indexes: each by itself, then all of a collection together.

mod set;
mod single;

use syn::Ident;

use crate::attribute_names;
use crate::errors::Errors;
use crate::model::{Field, Model};
use crate::parse::index::{Index, KeyKind};
use crate::parse::serde::unraw;

pub(super) fn check(model: &Model, errors: &mut Errors) {
    let mut sound: Vec<&Index> = Vec::new();
    for field in model.fields() {
        if !field.skipped && field.flatten.is_none() {
            for index in &field.attributes.indexes {
                if single::check(model, index, errors) {
                    sound.push(index);
                }
            }
        }
    }
    for index in &model.attributes.indexes {
        if keys(model, index, errors) && single::check(model, index, errors) {
            sound.push(index);
        }
    }
    set::check(model, &sound, errors);
}

/// Whether every key's first field exists; generated code checks nested fields.
fn keys(model: &Model, index: &Index, errors: &mut Errors) -> bool {
    let mut sound = true;
    let own = index.keys.iter().map(|key| (&key.path, key.kind));
    let projected = index.projection.iter().flat_map(|one| &one.paths);
    let projected = projected.map(|path| (path, KeyKind::Wildcard));
    for (path, kind) in own.chain(projected) {
        let Some(first) = path.first() else {
            continue;
        };
        match model.field(first) {
            Some(field) if field.skipped => {
                errors.at(
                    first,
                    format!("`{}` is never stored: it has `#[serde(skip)]`", field.rust),
                );
                sound = false;
            }
            Some(field) if field.flatten.is_some() && path.len() == 1 => {
                errors.at(
                    first,
                    format!("`{}` is flattened, so it has no field of its own; name one inside: `{}.field`", field.rust, field.rust),
                );
                sound = false;
            }
            Some(_) => {}
            None => {
                unknown(model, first, kind, errors);
                sound = false;
            }
        }
    }
    sound
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

/// The field of a key that names a field of the struct itself, not a nested one.
fn own<'a>(model: &'a Model, path: &[Ident]) -> Option<&'a Field> {
    match path {
        [only] => model.field(only),
        _ => None,
    }
}

/// `a.b`, as the attribute spells it.
fn spelled(path: &[Ident]) -> String {
    path.iter().map(unraw).collect::<Vec<_>>().join(".")
}
