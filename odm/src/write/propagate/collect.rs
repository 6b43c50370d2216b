//! Summaries and lists of the newest that follow written documents.

use bson::RawDocumentBuf;

use super::super::collected::Collected;
use super::super::newest::{self, Pushes};
use super::derived::{Derived, Looks, Propagated, count};
use super::record::Records;
use crate::error::Result;
use crate::exec::{Channel, Keys};

impl Derived {
    /// Writes the values that are or were collected from documents, and those in the documents as they are now.
    pub(super) async fn write_collected(
        &self,
        channel: &mut Channel<'_>,
        before: &[RawDocumentBuf],
        after: &[RawDocumentBuf],
        looks: &mut Looks,
        done: &mut Vec<Propagated>,
    ) -> Result<()> {
        for one in &self.collected {
            let mut keys = Keys::at(one.reference(), before)?;
            keys.add_all(&Keys::at(one.reference(), after)?)?;
            self.collect(channel, one, &keys, looks, done).await?;
        }
        for one in &self.own {
            let keys = Keys::at(one.key(), after)?;
            self.collect(channel, one, &keys, looks, done).await?;
        }
        Ok(())
    }

    /// Writes the values that are collected from new documents, and those in the new documents.
    ///
    /// In a transaction, parts of the documents are pushed onto lists. Outside of one, another write could have listed the
    /// documents already.
    pub(super) async fn write_new(
        &self,
        channel: &mut Channel<'_>,
        inserted: &[RawDocumentBuf],
        looks: &mut Looks,
    ) -> Result<()> {
        let done = &mut Vec::new();
        if !channel.is_in_transaction() {
            return self
                .write_collected(channel, &[], inserted, looks, done)
                .await;
        }
        for one in &self.collected {
            let Collected::List(listed) = one else {
                let keys = Keys::at(one.reference(), inserted)?;
                self.collect(channel, one, &keys, looks, done).await?;
                continue;
            };
            let pushes = Pushes::new(listed, inserted)?;
            one.fence(channel, pushes.keys()).await?;
            let (_, others) = pushes.write(channel).await?;
            newest::write(channel, listed, &others).await?;
        }
        for one in &self.own {
            let keys = Keys::at(one.key(), inserted)?;
            self.collect(channel, one, &keys, looks, done).await?;
        }
        Ok(())
    }

    /// Records that values collected from these documents change, before they do without a transaction.
    pub(super) async fn record_all(
        &self,
        channel: &mut Channel<'_>,
        documents: &[RawDocumentBuf],
        looks: &mut Looks,
    ) -> Result<()> {
        for one in &self.collected {
            let keys = Keys::at(one.reference(), documents)?;
            self.record(channel, one, &keys, looks).await?;
        }
        Ok(())
    }

    /// Records that the values in the documents with these keys change.
    pub(in crate::write) async fn record(
        &self,
        channel: &mut Channel<'_>,
        one: &Collected,
        keys: &Keys,
        looks: &mut Looks,
    ) -> Result<()> {
        let collection = channel.collection(one.holder());
        let mut records = Records::default();
        records.add(&collection, one.key().as_str(), keys);
        records.write(channel, self.model).await?;
        looks.records.append(records);
        Ok(())
    }

    /// Writes the values in the documents with these keys.
    pub(in crate::write) async fn collect(
        &self,
        channel: &mut Channel<'_>,
        one: &Collected,
        keys: &Keys,
        looks: &mut Looks,
        done: &mut Vec<Propagated>,
    ) -> Result<()> {
        if keys.len() == 0 {
            return Ok(());
        }
        let is_atomic = channel.is_in_transaction();
        let is_strict = is_atomic && one.is_strict() && !self.in_background;
        if !is_strict {
            self.record(channel, one, keys, looks).await?;
        }
        if one.is_strict() || self.is_callers {
            // Without a transaction, a write to the same values in one waits here, or has committed.
            one.fence(channel, keys).await?;
        }
        if !self.in_background && is_atomic && (is_strict || self.is_callers) {
            let documents = one.write(channel, keys).await?;
            add_collected(done, one, documents);
        }
        if !is_strict {
            looks.collected.push((one.clone(), keys.clone()));
        }
        Ok(())
    }
}

/// Adds values that were written.
pub(super) fn add_collected(done: &mut Vec<Propagated>, one: &Collected, documents: u64) {
    if documents > 0 {
        count(done, one.holder(), one.name().to_owned(), documents);
    }
}
