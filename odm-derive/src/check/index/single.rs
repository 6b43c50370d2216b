//! Checks of one index by itself: for errors that MongoDB would refuse, and mistakes that would cause trouble
//! later.

use syn::LitStr;

use super::options::{self, Mistake};
use crate::attribute_names;
use crate::errors::Errors;
use crate::facts::assertions::NO_PLACE;
use crate::facts::index::{Index, Path};
use crate::model::Model;
use crate::model::rust_type::{Kind, is_option, kind, without_option};
use crate::parse::index::KeyKind;

/// Reports the first mistake; returns true if the options have no mistake.
pub(super) fn check(model: &Model, index: &Index<'_>, errors: &mut Errors) -> bool {
    let wrong = shape(index)
        .or_else(|| id(index))
        .or_else(|| options::check(index))
        .or_else(|| ttl(model, index))
        .or_else(|| arrays(index))
        .or_else(|| unique(index))
        .or_else(|| text(index))
        .or_else(|| place(index))
        .or_else(|| language(model, index));
    match wrong {
        Some((span, message)) => {
            errors.push(syn::Error::new(span, message));
            false
        }
        None => true,
    }
}

/// Finds keys that can't be in one index.
fn shape(index: &Index<'_>) -> Option<Mistake> {
    let mut seen: Vec<String> = Vec::new();
    let mut special: Option<&str> = None;
    for key in &index.keys {
        let path = key.path.spelled();
        if seen.contains(&path) {
            return Some((
                key.path.span(),
                format!("`{path}` occurs twice in this index; keep one"),
            ));
        }
        seen.push(path);
        let kind = match key.kind {
            KeyKind::Hashed => attribute_names::HASHED,
            KeyKind::Sphere => attribute_names::SPHERE,
            _ => continue,
        };
        match special {
            Some(other) if other != kind || kind == attribute_names::HASHED => {
                return Some((
                    key.kind_span.unwrap_or_else(|| key.path.span()),
                    format!(
                        "an index has at most one `hashed` key, and none beside a `2dsphere` one; declare a second index for `{}`",
                        key.path.spelled()
                    ),
                ));
            }
            _ => special = Some(kind),
        }
    }
    if index.keys.len() > 32 {
        return Some((
            index.declared.word.span(),
            "an index has at most 32 keys; leave out those that do not narrow a query".to_owned(),
        ));
    }
    let wildcard = index.keys.iter().find(|key| key.kind == KeyKind::Wildcard);
    if wildcard.is_some()
        && let [_, second, ..] = index.keys.as_slice()
    {
        return Some((
            second.path.span(),
            "a wildcard index has one key; declare a second one: `wildcard(…)`".to_owned(),
        ));
    }
    None
}

/// Finds indexes on `_id`, which always has one.
fn id(index: &Index<'_>) -> Option<Mistake> {
    let [key] = index.keys.as_slice() else {
        return None;
    };
    let field = key.path.own_field()?;
    if field.stored == "_id" && key.is_ordered() {
        let message = if index.declared.hidden.is_some() {
            "the index on `_id` can't be hidden; remove it"
        } else if index.declared.expire_after.is_some() {
            "the index on `_id` can't expire documents; declare the ttl on a date: `ttl(created, after = \"30d\")`"
        } else {
            "the server always keeps a unique index on `_id`; remove this one"
        };
        return Some((index.declared.word.span(), message.to_owned()));
    }
    None
}

fn ttl(model: &Model, index: &Index<'_>) -> Option<Mistake> {
    let (_, after) = index.declared.expire_after?;
    if let [_, second, ..] = index.keys.as_slice() {
        return Some((
            second.path.span(),
            "a ttl index has one key, the date; declare a second index for the others".to_owned(),
        ));
    }
    if let Some(capped) = &model.attributes.capped {
        return Some((
            capped.word.span(),
            "a capped collection drops its oldest documents itself and can't have a ttl index; keep one of the two".to_owned(),
        ));
    }
    let key = index.keys.first()?;
    if !key.is_ordered() {
        return Some((
            after,
            "documents expire by a date in an ordinary index: `ttl(field, after = \"30d\")`"
                .to_owned(),
        ));
    }
    let field = key.path.own_field()?;
    let bson_type = field.attributes.bson_type.as_ref();
    let date = if field.encoder.is_some() {
        field.module.is_some() || bson_type.is_some_and(|alias| alias.value() == "date")
    } else {
        matches!(key.path.element_kind(), Some(Kind::Date | Kind::Unknown))
    };
    if date {
        return None;
    }
    let remedy = if field.encoder.is_some() {
        "if its serializer writes one, say so on the field: `#[odm(bson_type = \"date\")]`"
    } else {
        "declare it as `bson::DateTime`"
    };
    Some((
        key.path.span(),
        format!(
            "documents expire by a date, and `{}` is not one; {remedy}",
            field.rust
        ),
    ))
}

fn arrays(index: &Index<'_>) -> Option<Mistake> {
    if let Some(key) = index
        .keys
        .iter()
        .find(|key| key.kind == KeyKind::Hashed && key.path.begins_with_array())
    {
        return Some((
            key.path.span(),
            format!(
                "`{}` is an array, and MongoDB can't hash arrays; declare the key as `asc`",
                key.path.spelled()
            ),
        ));
    }
    if index.is_text() {
        return None;
    }
    let paths = index.keys.iter().map(|key| key.path);
    let mut arrays = paths.filter(Path::begins_with_array);
    let (first, second) = (arrays.next()?, arrays.next()?);
    if first.field.map(|field| &field.rust) == second.field.map(|field| &field.rust) {
        return None;
    }
    Some((
        second.span(),
        format!(
            "`{}` and `{}` are both arrays, and an index can hold only one; declare an index for each",
            first.spelled(),
            second.spelled()
        ),
    ))
}

fn unique(index: &Index<'_>) -> Option<Mistake> {
    let at = index.declared.unique?;
    let [key] = index.keys.as_slice() else {
        return None;
    };
    let field = key.path.own_field()?;
    if index.declared.partial.is_some() {
        return None;
    }
    let name = &field.rust;
    if is_option(&field.ty) && !field.omits {
        let sparse = if index.declared.sparse.is_some() {
            "and a sparse index leaves out only what is missing: "
        } else {
            ""
        };
        return Some((
            at,
            format!(
                "only one document could have no `{name}`, because `None` is stored as null; {sparse}write `unique(sparse)` with `#[serde(skip_serializing_if = \"Option::is_none\")]`, or `unique(partial = |m| …)`"
            ),
        ));
    }
    if field.omits && index.declared.sparse.is_none() {
        return Some((
            at,
            format!("only one document could be without `{name}`; write `unique(sparse)`"),
        ));
    }
    None
}

fn text(index: &Index<'_>) -> Option<Mistake> {
    index
        .keys
        .iter()
        .filter(|key| matches!(key.kind, KeyKind::Text(_)))
        .find_map(|key| {
            let field = key.path.own_field()?;
            let may_hold_text = matches!(
                key.path.element_kind(),
                None | Some(Kind::Text | Kind::Unknown | Kind::Map)
            );
            (!may_hold_text).then(|| {
                (
                    key.path.span(),
                    format!(
                        "a text index reads strings, and `{}` holds none; leave it out",
                        field.rust
                    ),
                )
            })
        })
}

/// Finds a field that MongoDB would take for the language of a document, and refuse what it holds.
fn language(model: &Model, index: &Index<'_>) -> Option<Mistake> {
    if !index.is_text() {
        return None;
    }
    let named = index.declared.language_override.as_ref();
    let stored = named.map_or_else(|| attribute_names::LANGUAGE.to_owned(), LitStr::value);
    let mut fields = model.fields().iter();
    let field = fields.find(|one| !one.skipped && one.flatten.is_none() && one.stored == stored)?;
    let rust = &field.rust;
    let Some(named) = named else {
        return Some((
            index.declared.word.span(),
            format!(
                "MongoDB takes the field `{rust}` for the language of the text, and refuses a document with another value there; {}",
                attribute_names::OTHER_LANGUAGE_FIELD
            ),
        ));
    };
    let is_text = matches!(kind(without_option(&field.ty)), Kind::Text | Kind::Unknown);
    let message = if field.encoder.is_none() && !is_text {
        format!("the language of the text is a string, and `{rust}` is none; name another field")
    } else if is_option(&field.ty) && !field.omits {
        format!(
            "MongoDB refuses null as the language of the text, and `None` is stored as null; add `#[serde(skip_serializing_if = \"Option::is_none\")]` to `{rust}`"
        )
    } else {
        return None;
    };
    Some((named.span(), message))
}

/// Finds a geospatial key whose spelling shows that it holds no place.
fn place(index: &Index<'_>) -> Option<Mistake> {
    let mut keys = index.keys.iter();
    keys.find_map(|key| {
        let field = (key.kind == KeyKind::Sphere).then(|| key.path.own_field())??;
        let is_scalar = matches!(
            key.path.stored_kind()?,
            Kind::Text
                | Kind::Bool
                | Kind::Integer
                | Kind::Float
                | Kind::Decimal
                | Kind::Date
                | Kind::ObjectId
                | Kind::Uuid
                | Kind::Binary
        );
        is_scalar.then(|| (key.path.span(), format!("`{}` {NO_PLACE}", field.rust)))
    })
}
