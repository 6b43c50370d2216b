//! Checks of one index by itself: for errors that MongoDB would refuse, and mistakes that would cause trouble
//! later.

use proc_macro2::Span;

use super::{own, spelled};
use crate::attribute_names;
use crate::errors::Errors;
use crate::model::Model;
use crate::model::rust_type::{Kind, element_kind, is_option, stored_kind};
use crate::parse::index::{Index, Key, KeyKind};

/// Reports the first mistake; returns true if the options have no mistake.
pub(super) fn check(model: &Model, index: &Index, errors: &mut Errors) -> bool {
    let wrong = shape(index)
        .or_else(|| id(model, index))
        .or_else(|| options(index))
        .or_else(|| ttl(model, index))
        .or_else(|| arrays(model, index))
        .or_else(|| unique(model, index))
        .or_else(|| text(model, index));
    match wrong {
        Some((span, message)) => {
            errors.push(syn::Error::new(span, message));
            false
        }
        None => true,
    }
}

type Wrong = Option<(Span, String)>;

fn span(key: &Key) -> Span {
    key.path
        .last()
        .map_or_else(Span::call_site, syn::Ident::span)
}

/// Finds keys that can't be in one index.
fn shape(index: &Index) -> Wrong {
    let mut seen: Vec<String> = Vec::new();
    let mut special: Option<&str> = None;
    for key in &index.keys {
        let path = spelled(&key.path);
        if seen.contains(&path) {
            return Some((
                span(key),
                format!("`{path}` is twice in this index; keep one"),
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
                    key.kind_span.unwrap_or_else(|| span(key)),
                    format!(
                        "an index has at most one `hashed` key, and none beside a `2dsphere` one; declare a second index for `{}`",
                        spelled(&key.path)
                    ),
                ));
            }
            _ => special = Some(kind),
        }
    }
    if index.keys.len() > 32 {
        return Some((
            index.word.span(),
            "an index has at most 32 keys; leave out those that do not narrow a query".to_owned(),
        ));
    }
    let wildcard = index.keys.iter().find(|key| key.kind == KeyKind::Wildcard);
    if wildcard.is_some()
        && let [_, second, ..] = index.keys.as_slice()
    {
        return Some((
            span(second),
            "a wildcard index has one key; declare a second one: `wildcard(…)`".to_owned(),
        ));
    }
    None
}

/// Finds indexes on `_id`, which always has one.
fn id(model: &Model, index: &Index) -> Wrong {
    let [key] = index.keys.as_slice() else {
        return None;
    };
    let field = own(model, &key.path)?;
    let ordered = matches!(key.kind, KeyKind::Ascending | KeyKind::Descending);
    if field.stored == "_id" && ordered {
        let message = if index.hidden.is_some() {
            "the index on `_id` can't be hidden; take it off"
        } else if index.expire_after.is_some() {
            "the index on `_id` can't expire documents; declare the ttl on a date: `ttl(created, after = \"30d\")`"
        } else {
            "the server always keeps a unique index on `_id`; take this one off"
        };
        return Some((index.word.span(), message.to_owned()));
    }
    None
}

/// Finds options that can't be combined.
fn options(index: &Index) -> Wrong {
    let wildcard = index.keys.iter().any(|key| key.kind == KeyKind::Wildcard);
    let hashed = index.keys.iter().any(|key| key.kind == KeyKind::Hashed);
    if let (Some(projection), Some(key)) = (
        &index.projection,
        index.keys.iter().find(|key| !key.path.is_empty()),
    ) {
        return Some((
            projection.word.span(),
            format!(
                "`{}` is for a wildcard over the whole document, and this one is over `{}`; take one of them off",
                projection.word,
                spelled(&key.path)
            ),
        ));
    }
    if let Some(projection) = &index.projection {
        for (position, path) in projection.paths.iter().enumerate() {
            let collides =
                |other: &&Vec<syn::Ident>| path.starts_with(other) || other.starts_with(path);
            let mut before = projection.paths.iter().take(position);
            if let (Some(other), Some(last)) = (before.find(collides), path.last()) {
                return Some((
                    last.span(),
                    format!(
                        "`{}` and `{}` say one thing twice; keep the one that is meant",
                        spelled(other),
                        spelled(path)
                    ),
                ));
            }
        }
    }
    if wildcard {
        let culprit = index
            .unique
            .map(|span| (span, "unique"))
            .or_else(|| index.sparse.map(|span| (span, "sparse")))
            .or_else(|| index.expire_after.map(|(_, span)| (span, "a ttl index")));
        if let Some((span, what)) = culprit {
            return Some((
                span,
                format!("a wildcard index can't be {what}; declare an index on the field itself"),
            ));
        }
    }
    if let (true, Some(span)) = (hashed, index.unique) {
        return Some((
            span,
            "a hashed index can't be unique; make it `asc`, or declare a second index that is unique".to_owned(),
        ));
    }
    if let (Some(sparse), Some(_)) = (index.sparse, &index.partial) {
        return Some((
            sparse,
            "an index is sparse or partial, not both: take `sparse` off and let the filter ask for the field: `.exists(true)`".to_owned(),
        ));
    }
    if index.is_text()
        && let Some(locale) = index
            .collation
            .as_ref()
            .and_then(|collation| collation.locale.as_ref())
        && locale.value() != "simple"
    {
        return Some((
            locale.span(),
            "a text index takes no collation; it folds case and accents by its `default_language`"
                .to_owned(),
        ));
    }
    if !index.is_text()
        && let Some(literal) = index
            .default_language
            .as_ref()
            .or(index.language_override.as_ref())
    {
        return Some((
            literal.span(),
            "only a text index has a language: `text(field, default_language = \"…\")`".to_owned(),
        ));
    }
    if let Some(language) = &index.default_language
        && !LANGUAGES.contains(&language.value().to_ascii_lowercase().as_str())
    {
        let text = language.value();
        return Some((
            language.span(),
            format!(
                "text indexes do not know the language `{text}`{}",
                attribute_names::hint(&text, LANGUAGES.iter().copied())
            ),
        ));
    }
    match &index.name {
        Some(name) if name.value().is_empty() || name.value() == "*" => Some((
            name.span(),
            "this is no name for an index; take it off, and the server makes one of the keys"
                .to_owned(),
        )),
        _ => None,
    }
}

/// The languages of text indexes, as MongoDB spells them.
const LANGUAGES: &[&str] = &[
    "danish",
    "dutch",
    "english",
    "finnish",
    "french",
    "german",
    "hungarian",
    "italian",
    "none",
    "norwegian",
    "portuguese",
    "romanian",
    "russian",
    "spanish",
    "swedish",
    "turkish",
    "da",
    "de",
    "en",
    "es",
    "fi",
    "fr",
    "hu",
    "it",
    "nb",
    "nl",
    "pt",
    "ro",
    "ru",
    "sv",
    "tr",
];

fn ttl(model: &Model, index: &Index) -> Wrong {
    let (_, after) = index.expire_after?;
    if let [_, second, ..] = index.keys.as_slice() {
        return Some((
            span(second),
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
    if !matches!(key.kind, KeyKind::Ascending | KeyKind::Descending) {
        return Some((
            after,
            "documents expire by a date in an ordinary index: `ttl(field, after = \"30d\")`"
                .to_owned(),
        ));
    }
    let field = own(model, &key.path)?;
    let bson_type = field.attributes.bson_type.as_ref();
    let date = if field.encoder.is_some() {
        bson_type.is_some_and(|alias| alias.value() == "date")
    } else {
        matches!(element_kind(&field.ty), Kind::Date | Kind::Unknown)
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
        span(key),
        format!(
            "documents expire by a date, and `{}` is not one; {remedy}",
            field.rust
        ),
    ))
}

fn arrays(model: &Model, index: &Index) -> Wrong {
    let is_list = |key: &Key| {
        key.path
            .first()
            .and_then(|first| model.field(first))
            .is_some_and(|field| {
                field.encoder.is_none() && matches!(stored_kind(&field.ty), Kind::List(_))
            })
    };
    if let Some(key) = index
        .keys
        .iter()
        .find(|key| key.kind == KeyKind::Hashed && is_list(key))
    {
        return Some((
            span(key),
            format!(
                "`{}` is an array, and a hash can't be taken of one; make the key `asc`",
                spelled(&key.path)
            ),
        ));
    }
    if index.is_text() {
        return None;
    }
    let mut lists = index.keys.iter().filter(|key| is_list(key));
    let (first, second) = (lists.next()?, lists.next()?);
    if first.path.first().map(crate::parse::serde::unraw)
        == second.path.first().map(crate::parse::serde::unraw)
    {
        return None;
    }
    Some((
        span(second),
        format!(
            "`{}` and `{}` are both arrays, and an index can hold only one; declare an index for each",
            spelled(&first.path),
            spelled(&second.path)
        ),
    ))
}

fn unique(model: &Model, index: &Index) -> Wrong {
    index.unique?;
    let [key] = index.keys.as_slice() else {
        return None;
    };
    let field = own(model, &key.path)?;
    if index.partial.is_some() {
        return None;
    }
    let at = index.unique.unwrap_or_else(|| index.word.span());
    let name = &field.rust;
    if is_option(&field.ty) && !field.omits {
        let sparse = if index.sparse.is_some() {
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
    if field.omits && index.sparse.is_none() {
        return Some((
            at,
            format!("only one document could be without `{name}`; write `unique(sparse)`"),
        ));
    }
    None
}

fn text(model: &Model, index: &Index) -> Wrong {
    index
        .keys
        .iter()
        .filter(|key| matches!(key.kind, KeyKind::Text(_)))
        .find_map(|key| {
            let field = own(model, &key.path)?;
            let known = field.encoder.is_some()
                || matches!(
                    element_kind(&field.ty),
                    Kind::Text | Kind::Unknown | Kind::Map
                );
            (!known).then(|| {
                (
                    span(key),
                    format!(
                        "a text index reads strings, and `{}` holds none; leave it out",
                        field.rust
                    ),
                )
            })
        })
}
