//! Finds documents that have no place of their own in a sharded collection.

use bson::raw::{RawBsonRef, RawDocument, RawDocumentBuf};
use bson::{Bson, Document};

use crate::error::{Error, Result};
use crate::exec::Channel;
use crate::model::ModelMeta;
use crate::schema::shard_key;
use crate::store::options::{Chosen, Options};
use crate::write::Damage;
use crate::write::checker::{Checker, id_of};

/// The kinds of damage to the values of a shard key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum ShardKeyDamage {
    /// A field is missing or null.
    Missing,
    /// A field is an array, or within one.
    Array,
}

/// Looks for the fields of a shard key.
pub(crate) struct ShardKeyChecker {
    model: &'static ModelMeta,
    fields: Vec<String>,
}

impl ShardKeyChecker {
    /// The check of a model, if it declares a shard key.
    pub(crate) fn of(model: &'static ModelMeta) -> Result<Option<Self>> {
        let shard_key = shard_key(model).map_err(|error| error.with_model(model.name))?;
        let fields = shard_key.map(|key| key.keys().cloned().collect());
        Ok(fields.map(|fields| Self { model, fields }))
    }
}

impl Checker for ShardKeyChecker {
    type Kind = ShardKeyDamage;

    fn model(&self) -> &'static ModelMeta {
        self.model
    }

    fn options(&self, channel: &Channel<'_>) -> Chosen {
        let fields = self
            .fields
            .iter()
            .map(|field| (field.clone(), Bson::Int32(1)));
        Chosen::from(Options {
            projection: Some(fields.collect::<Document>()),
            ..channel.current()
        })
    }

    async fn look(
        &self,
        _channel: &mut Channel<'_>,
        documents: &[RawDocumentBuf],
    ) -> Result<Vec<Damage<ShardKeyDamage>>> {
        let mut damages = Vec::new();
        for document in documents {
            for field in &self.fields {
                let (kind, stored, what) = match value_at(document, field)? {
                    Value::One => continue,
                    Value::Missing => (ShardKeyDamage::Missing, None, "missing"),
                    Value::Null => (ShardKeyDamage::Missing, Some(Bson::Null), "null"),
                    Value::Array(array) => {
                        (ShardKeyDamage::Array, Some(array), "stored in an array")
                    }
                };
                let id = id_of(document)?;
                let detail =
                    format!("`{field}` is {what}, and the shard key needs one value of it");
                damages.push(Damage::new(&id, kind, detail).at(field.clone(), stored));
            }
        }
        Ok(damages)
    }
}

enum Value {
    One,
    Missing,
    Null,
    Array(Bson),
}

fn value_at(document: &RawDocument, path: &str) -> Result<Value> {
    let (name, rest) = match path.split_once('.') {
        None => (path, None),
        Some((name, rest)) => (name, Some(rest)),
    };
    Ok(match (document.get(name).map_err(Error::encode)?, rest) {
        (Some(array @ RawBsonRef::Array(_)), _) => {
            Value::Array(Bson::try_from(array).map_err(Error::encode)?)
        }
        (Some(RawBsonRef::Document(inside)), Some(rest)) => value_at(inside, rest)?,
        (None, _) | (Some(_), Some(_)) => Value::Missing,
        (Some(RawBsonRef::Null), None) => Value::Null,
        (Some(_), None) => Value::One,
    })
}
