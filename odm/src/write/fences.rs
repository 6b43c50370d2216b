//! Fences of references: small documents by which deletes and inserts that depend on each other conflict.
//!
//! A transaction that only reads a document is not in the way of another one that deletes it. So both write to a fence that
//! the key of the document chooses: MongoDB lets one of them commit, and the other runs again on what the first has left. The
//! number of fences is bounded, so that nothing has to remove them; two keys with one fence only cost an attempt.

use std::collections::BTreeSet;

use bson::{Document, RawBson, doc};
use odm_language::value::key;

use crate::error::{Error, Result};
use crate::exec::{Channel, Keys};
use crate::model::{ModelMeta, REFERENCE_FENCES as FENCES};
use crate::store::{CollectionName, limits};

/// How many fences the keys of one field share.
const FENCES_OF_FIELD: u64 = 4_096;

/// All handles write the same fences, whatever names they use.
const COLLECTION: CollectionName = CollectionName::Declared(FENCES.collection);

/// The fences of some keys.
#[derive(Debug, Default)]
pub(super) struct Fences(BTreeSet<(String, String, i64)>);

impl Fences {
    /// Adds the fences of values of a field, by its stored path.
    pub(super) fn add(&mut self, collection: &str, field: &str, keys: &Keys) -> Result<()> {
        for position in 0..keys.len() {
            let Some(value) = keys.get(position) else {
                break;
            };
            let value = RawBson::try_from(value.clone()).map_err(Error::encode)?;
            let fence = hash(&key::of(value.as_raw_bson_ref(), None)) % FENCES_OF_FIELD;
            let fence = i64::try_from(fence).unwrap_or_default();
            self.0
                .insert((collection.to_owned(), field.to_owned(), fence));
        }
        Ok(())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Writes the fences; errors name the model.
    pub(super) async fn write(
        &self,
        channel: &mut Channel<'_>,
        model: &'static ModelMeta,
    ) -> Result<()> {
        let statement = |(collection, field, fence): &(String, String, i64)| -> Document {
            let id = doc! {"collection": collection, "field": field, "fence": fence};
            doc! {"q": {"_id": id}, "u": {"$inc": {"writes": 1_i64}}, "upsert": true}
        };
        let statements: Vec<_> = self.0.iter().map(statement).collect();
        for part in statements.chunks(limits::STATEMENTS) {
            loop {
                let written = channel.named(COLLECTION, model).update(part.to_vec()).await;
                match written {
                    Ok(_) => break,
                    // Another client has inserted the fence first. Then it exists; a transaction has to run again.
                    Err(error) if error.is_duplicate_key() && !channel.is_in_transaction() => {}
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(())
    }
}

/// FNV-1a, which is the same on all clients.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use bson::raw::RawBsonRef;

    #[test]
    fn equal_keys_have_one_fence() {
        let fences = |values: &[RawBsonRef<'_>]| {
            let mut keys = Keys::default();
            for value in values {
                keys.add(*value).unwrap();
            }
            let mut fences = Fences::default();
            fences.add("authors", "_id", &keys).unwrap();
            fences.0
        };
        assert_eq!(
            fences(&[RawBsonRef::Int32(7)]),
            fences(&[RawBsonRef::Double(7.0)])
        );
        assert_ne!(
            fences(&[RawBsonRef::Int32(7)]),
            fences(&[RawBsonRef::String("7")])
        );
        let many: Vec<_> = (0..100_000).map(RawBsonRef::Int32).collect();
        assert!(fences(&many).len() as u64 <= FENCES_OF_FIELD);
    }
}
