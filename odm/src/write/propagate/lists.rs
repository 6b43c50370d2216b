//! Lists of the newest that follow written documents.

use std::sync::Arc;

use bson::{Document as BsonDocument, RawDocumentBuf};

use super::super::newest::{self, Listed, Pushes};
use super::derived::{Derived, Looks, Propagated, add_lists};
use super::record::Records;
use crate::error::Result;
use crate::exec::{Channel, Keys};

impl Derived {
    pub(super) fn has_lists(&self) -> bool {
        !self.listed.is_empty() || !self.lists.is_empty()
    }

    /// Adds the fields by which lists are found.
    pub(super) fn project_lists(&self, projection: &mut BsonDocument) {
        for listed in &self.listed {
            projection.insert(listed.reference.as_str(), 1);
        }
        for listed in &self.lists {
            projection.insert(listed.key.as_str(), 1);
        }
    }

    /// Writes the lists that documents are in or have been in, and those in documents as they are now.
    pub(super) async fn write_lists(
        &self,
        channel: &mut Channel<'_>,
        before: &[RawDocumentBuf],
        after: &[RawDocumentBuf],
        looks: &mut Looks,
        done: &mut Vec<Propagated>,
    ) -> Result<()> {
        for listed in &self.listed {
            let mut keys = Keys::at(&listed.reference, before)?;
            keys.add_all(&Keys::at(&listed.reference, after)?)?;
            self.write_listed(channel, listed, &keys, looks, done)
                .await?;
        }
        for listed in &self.lists {
            let keys = Keys::at(&listed.key, after)?;
            self.write_listed(channel, listed, &keys, looks, done)
                .await?;
        }
        Ok(())
    }

    /// Writes the lists that new documents get into, and those in the new documents.
    ///
    /// In a transaction, the parts are pushed. Outside of one, another write could have listed the documents already.
    pub(super) async fn write_new(
        &self,
        channel: &mut Channel<'_>,
        inserted: &[RawDocumentBuf],
        looks: &mut Looks,
    ) -> Result<()> {
        let done = &mut Vec::new();
        if !channel.is_in_transaction() {
            return self.write_lists(channel, &[], inserted, looks, done).await;
        }
        for listed in &self.listed {
            let pushes = Pushes::new(listed, inserted)?;
            listed.fence(channel, pushes.keys()).await?;
            let (_, others) = pushes.write(channel).await?;
            newest::write(channel, listed, &others).await?;
        }
        for listed in &self.lists {
            let keys = Keys::at(&listed.key, inserted)?;
            self.write_listed(channel, listed, &keys, looks, done)
                .await?;
        }
        Ok(())
    }

    /// Records that lists of these documents change, before they do without a transaction.
    pub(super) async fn record_lists(
        &self,
        channel: &mut Channel<'_>,
        documents: &[RawDocumentBuf],
        looks: &mut Looks,
    ) -> Result<()> {
        for listed in &self.listed {
            let keys = Keys::at(&listed.reference, documents)?;
            self.record_listed(channel, listed, &keys, looks).await?;
        }
        Ok(())
    }

    /// Records that the lists in the documents with these keys change.
    pub(in crate::write) async fn record_listed(
        &self,
        channel: &mut Channel<'_>,
        listed: &Listed,
        keys: &Keys,
        looks: &mut Looks,
    ) -> Result<()> {
        let collection = channel.collection(listed.list.model);
        let mut records = Records::default();
        records.add(&collection, listed.key.as_str(), keys);
        records.write(channel, self.model).await?;
        looks.records.append(records);
        Ok(())
    }

    /// Writes the lists in the documents with these keys.
    pub(in crate::write) async fn write_listed(
        &self,
        channel: &mut Channel<'_>,
        listed: &Arc<Listed>,
        keys: &Keys,
        looks: &mut Looks,
        done: &mut Vec<Propagated>,
    ) -> Result<()> {
        if keys.len() == 0 {
            return Ok(());
        }
        let is_atomic = channel.is_in_transaction();
        let is_strict = is_atomic && listed.is_strict() && !self.in_background;
        if !is_strict {
            self.record_listed(channel, listed, keys, looks).await?;
        }
        if listed.is_strict() || self.is_callers {
            // Without a transaction, a write to the same lists in one waits here, or has committed.
            listed.fence(channel, keys).await?;
        }
        if !self.in_background && is_atomic && (is_strict || self.is_callers) {
            let documents = newest::write(channel, listed, keys).await?;
            add_lists(done, listed, documents);
        }
        if !is_strict {
            looks.listed.push((Arc::clone(listed), keys.clone()));
        }
        Ok(())
    }
}
