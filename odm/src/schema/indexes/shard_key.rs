//! The shard key, and what MongoDB asks of the indexes of a sharded collection.

use bson::{Document, doc};

use super::path::{pattern, resolve};
use crate::error::Result;
use crate::model::ModelMeta;
use crate::schema::validator::declaration;

/// The shard key as `shardCollection` takes it; `None` for a collection that is not sharded.
pub(crate) fn shard_key(meta: &ModelMeta) -> Result<Option<Document>> {
    if meta.shard_key.is_empty() {
        return Ok(None);
    }
    let mut keys = Vec::new();
    for key in meta.shard_key {
        let resolved = resolve((meta.embedded)(), key.path)?;
        if let Some(array) = resolved.arrays.first() {
            return Err(declaration(format!(
                "`{}` is in the shard key, and `{array}` is an array: MongoDB refuses arrays there; name a field with one value",
                resolved.path
            )));
        }
        keys.push((resolved, key.kind));
    }
    Ok(Some(pattern(&keys)))
}

/// Refuses unique indexes that no shard could keep, and gives the index of the shard key the simple collation, which MongoDB
/// asks for.
pub(super) fn check<'d>(
    meta: &ModelMeta,
    declared: impl Iterator<Item = &'d mut Document>,
) -> Result<()> {
    let Some(shard_key) = shard_key(meta)? else {
        return Ok(());
    };
    for spec in declared {
        let Ok(key) = spec.get_document("key") else {
            continue;
        };
        let begins = shard_key.iter().zip(key).all(|(a, b)| a == b) && key.len() >= shard_key.len();
        if spec.get_bool("unique").unwrap_or_default() && !begins {
            return Err(declaration(format!(
                "the index `{}` is unique, and its keys do not begin with the shard key ({}): no shard knows the values of the others",
                spec.get_str("name").unwrap_or_default(),
                shard_key.keys().cloned().collect::<Vec<_>>().join(", "),
            )));
        }
        if *key == shard_key && meta.collation.is_some() && !spec.contains_key("collation") {
            spec.insert("collation", doc! {"locale": "simple"});
        }
    }
    Ok(())
}
