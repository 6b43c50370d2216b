//! Assertions about the keys of indexes.

use proc_macro2::Span;
use syn::{Ident, LitStr};

use super::{Assertion, Subject};
use crate::attribute_names;
use crate::facts::index::{Index, Key, Path};
use crate::model::Model;
use crate::model::rust_type::{Kind, element, kind, without_option};
use crate::parse::index::KeyKind;

/// The message for a `2dsphere` key on a wrong type.
pub(crate) const NO_PLACE: &str = "is no place, so that MongoDB would refuse every document with a value there; declare it as one of `odm::types::geo`, or the key as `asc`";

pub(super) fn of_index<'a>(model: &'a Model, index: &Index<'a>) -> Vec<Assertion<'a>> {
    let keys = index.keys.iter();
    let mut assertions: Vec<_> = keys.flat_map(|key| of_key(model, index, key)).collect();
    if index.is_text() {
        assertions.extend(languages(model, index));
    } else {
        assertions.extend(parallel_fields(model, index));
        assertions.extend(parallel_paths(model, index));
    }
    assertions
}

/// Each field of a shard key has one value in every document, where the spelling does not show it.
pub(super) fn of_shard_key<'a>(model: &Model, shard_key: &Index<'a>) -> Vec<Assertion<'a>> {
    let asserted = shard_key.keys.iter().filter_map(|key| {
        let path = key.path;
        let field = path.field?;
        let subject = if path.is_nested() {
            has_concrete_handles(model).then_some(Subject::Nested(path))?
        } else {
            let is_unknown = matches!(path.element_kind(), None | Some(Kind::Unknown));
            let is_asserted = is_unknown && !model.depends_on_parameter(&field.ty);
            is_asserted.then_some(Subject::Field(field, None))?
        };
        Some(Assertion::Holds {
            span: path.span(),
            test: "is_one_value",
            subject,
            message: format!(
                "`{}` may be null, or is stored as an array: a shard key needs one value in every document",
                path.spelled()
            ),
        })
    });
    asserted.collect()
}

/// A nested key is read through concrete handles, which a generic type does not have where it is declared.
fn has_concrete_handles(model: &Model) -> bool {
    model.generics.params.is_empty()
}

/// The type of a key is one that the index can hold, where the spelling does not show it.
fn of_key<'a>(model: &Model, index: &Index<'a>, key: &Key<'a>) -> Vec<Assertion<'a>> {
    let path = key.path;
    let (Some(field), Some(last)) = (path.field, path.idents.last()) else {
        return Vec::new();
    };
    let (name, subject, is_asserted) = if path.is_nested() {
        let is_asserted = has_concrete_handles(model);
        (last.to_string(), Subject::Nested(path), is_asserted)
    } else {
        let is_unknown =
            field.module.is_some() || matches!(path.element_kind(), Some(Kind::Unknown));
        let is_asserted = is_unknown && !model.depends_on_parameter(&field.ty);
        (field.rust.clone(), Subject::Field(field, None), is_asserted)
    };
    if !is_asserted {
        return Vec::new();
    }
    let holds = |test, message| Assertion::Holds {
        span: last.span(),
        test,
        subject,
        message,
    };
    let mut assertions = Vec::new();
    if index.declared.expire_after.is_some() && field.module.is_some() && !path.is_nested() {
        let message = format!(
            "documents expire by a date, and `{name}` is not one; if its serializer writes one, say so on the field: `#[odm(bson_type = \"date\")]`"
        );
        assertions.push(holds("is_known_date", message));
    } else if index.declared.expire_after.is_some() {
        let message = format!(
            "documents expire by a date, and `{name}` is not one; declare it as `bson::DateTime`"
        );
        assertions.push(holds("is_date", message));
    }
    match key.kind {
        KeyKind::Hashed if !path.is_nested() => {
            let message = format!(
                "`{name}` is an array, and MongoDB can't hash arrays; declare the key as `asc`"
            );
            assertions.push(holds("is_no_list", message));
        }
        KeyKind::Sphere => {
            let message = format!("`{name}` {NO_PLACE}");
            assertions.push(holds("may_hold_place", message));
        }
        KeyKind::Text(_) if !path.is_nested() => {
            let message =
                format!("a text index reads strings, and `{name}` holds none; leave it out");
            assertions.push(holds("may_hold_text", message));
        }
        _ => {}
    }
    assertions
}

/// No flattened field, and no field beside a nested key, is one that MongoDB takes for the language of the text. `check` sees
/// the other fields.
fn languages<'a>(model: &'a Model, index: &Index<'a>) -> Vec<Assertion<'a>> {
    if index.declared.language_override.is_some() {
        return Vec::new();
    }
    let flattened = model.fields().iter().filter(|one| one.flatten.is_some());
    let flattened = flattened.map(|one| (one, without_option(&one.ty)));
    let nested = index.keys.iter().filter(|key| key.path.idents.len() == 2);
    let nested = nested.filter_map(|key| Some((key.path.field?, element(&key.path.field?.ty))));
    let types = flattened.chain(nested).filter(|(field, ty)| {
        field.encoder.is_none()
            && !model.depends_on_parameter(ty)
            && matches!(kind(ty), Kind::Unknown)
    });
    types
        .map(|(field, ty)| Assertion::NoFieldNamed {
            span: index.declared.word.span(),
            ty,
            probed: true,
            name: LitStr::new(attribute_names::LANGUAGE, Span::call_site()),
            message: format!(
                "MongoDB takes the field `language` in `{}` for the language of the text, and refuses a document with another value there; {}",
                field.rust,
                attribute_names::OTHER_LANGUAGE_FIELD
            ),
        })
        .collect()
}

/// At most one key of an index begins with an array. `check` refuses two whose spelling shows it.
fn parallel_fields<'a>(model: &Model, index: &Index<'a>) -> Vec<Assertion<'a>> {
    let roots = index.keys.iter().map(|key| key.path).filter_map(|path| {
        let may_be_array = matches!(path.stored_kind(), Some(Kind::List(_) | Kind::Unknown));
        let field = path.field?;
        (may_be_array && !model.depends_on_parameter(&field.ty)).then_some((path, field))
    });
    let roots: Vec<_> = roots.collect();
    let mut assertions = Vec::new();
    for (position, (path, field)) in roots.iter().enumerate() {
        for (other_path, other) in roots.iter().take(position) {
            let are_arrays = path.begins_with_array() && other_path.begins_with_array();
            if other.rust == field.rust || are_arrays {
                continue;
            }
            assertions.push(Assertion::NotParallel {
                span: path.idents.first().map_or_else(Span::call_site, Ident::span),
                keys: [vec![Subject::Field(other, None)], vec![Subject::Field(field, None)]],
                message: format!(
                    "`{}` and `{}` are both arrays, and an index can hold only one; declare an index for each",
                    other.rust, field.rust
                ),
            });
        }
    }
    assertions
}

/// At most one nested key of an index ends in an array, and no other key goes through another array.
fn parallel_paths<'a>(model: &Model, index: &Index<'a>) -> Vec<Assertion<'a>> {
    let mut assertions = Vec::new();
    if !has_concrete_handles(model) {
        return assertions;
    }
    for (position, Key { path, .. }) in index.keys.iter().enumerate() {
        for Key { path: other, .. } in index.keys.iter().take(position) {
            let (Some(field), Some(other_field)) = (path.field, other.field) else {
                continue;
            };
            let is_nested = path.is_nested() || other.is_nested();
            if path.overlaps(other) || !is_nested {
                continue;
            }
            let begins_apart = field.rust != other_field.rust;
            let keys = [other, path].map(|path| possible_arrays(path, begins_apart));
            if keys.iter().any(Vec::is_empty) {
                continue;
            }
            assertions.push(Assertion::NotParallel {
                span: path.span(),
                keys,
                message: format!(
                    "`{}` and `{}` go through two arrays, and an index can hold only one; declare an index for each",
                    other.spelled(),
                    path.spelled()
                ),
            });
        }
    }
    assertions
}

/// Where a key may go through an array: where it ends and, if the other key begins elsewhere, where it begins.
fn possible_arrays<'a>(path: &Path<'a>, begins_apart: bool) -> Vec<Subject<'a>> {
    let beginning = path
        .field
        .filter(|field| field.encoder.is_none() && (begins_apart || !path.is_nested()));
    let end = path.is_nested().then_some(Subject::Nested(*path));
    beginning
        .map(|field| Subject::Field(field, None))
        .into_iter()
        .chain(end)
        .collect()
}
