//! Checks of `shard_key`: what MongoDB asks of a sharded collection.

use super::index::fields_exist;
use crate::errors::Errors;
use crate::facts::Facts;
use crate::facts::index::{Index, Key};
use crate::model::rust_type::is_option;
use crate::parse::index::KeyKind;

pub(super) fn check(facts: &Facts<'_>, errors: &mut Errors) {
    let Some(shard_key) = &facts.shard_key else {
        return;
    };
    let model = facts.model;
    if !fields_exist(model, shard_key, errors) || !keys_fit(shard_key, errors) {
        return;
    }
    unique_indexes(facts, shard_key, errors);
    if model.attributes.capped.is_some() {
        errors.at(
            &shard_key.declared.word,
            "MongoDB does not shard capped collections; remove `capped` or `shard_key`",
        );
    }
}

/// Checks each field of the shard key, as far as its spelling shows what it is.
fn keys_fit(shard_key: &Index<'_>, errors: &mut Errors) -> bool {
    let mut hashed: Option<&Key<'_>> = None;
    let mut fit = true;
    for (position, key) in shard_key.keys.iter().enumerate() {
        let spelled = key.path.spelled();
        let mut before = shard_key.keys.iter().take(position);
        let message = if before.any(|other| other.path.spelled() == spelled) {
            Some(format!("the shard key has `{spelled}` twice; remove one"))
        } else if key.path.begins_with_array() {
            Some(format!(
                "`{spelled}` is stored as an array or within one, and MongoDB refuses arrays in a shard key; name a field with one value"
            ))
        } else if key
            .path
            .field
            .is_some_and(|field| field.encoder.is_none() && is_option(&field.ty))
        {
            Some(format!(
                "`{spelled}` may be null or absent, and all such documents would be in one chunk, which can't be split; name a field that every document has"
            ))
        } else if key.kind == KeyKind::Hashed && hashed.is_some() {
            Some(
                "a shard key has at most one hashed field; hash the one whose values grow"
                    .to_owned(),
            )
        } else {
            None
        };
        if key.kind == KeyKind::Hashed {
            hashed.get_or_insert(key);
        }
        if let Some(message) = message {
            errors.push(syn::Error::new(key.path.span(), message));
            fit = false;
        }
    }
    fit
}

/// A shard compares values with its own documents only, so that a unique index has to keep equal values on one shard.
fn unique_indexes(facts: &Facts<'_>, shard_key: &Index<'_>, errors: &mut Errors) {
    for index in &facts.indexes {
        let Some(span) = index.declared.unique else {
            continue;
        };
        if !index.begins_with(shard_key) {
            let keys = spelled(shard_key);
            let advice = if shard_key.keys.iter().any(|key| key.kind == KeyKind::Hashed) {
                "with a hashed field in the shard key, only `_id` can be unique: remove `unique`"
                    .to_owned()
            } else {
                format!("write `unique({keys}, …)`, or choose another shard key")
            };
            errors.push(syn::Error::new(
                span,
                format!("a unique index of a sharded collection begins with the shard key (`{keys}`), because no shard knows the values of the others; {advice}"),
            ));
        }
    }
}

fn spelled(shard_key: &Index<'_>) -> String {
    let keys = shard_key.keys.iter().map(|key| match key.kind {
        KeyKind::Hashed => format!("{} = hashed", key.path.spelled()),
        _ => key.path.spelled(),
    });
    keys.collect::<Vec<_>>().join(", ")
}
