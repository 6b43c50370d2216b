//! The results of write actions.

use bson::Bson;

use crate::error::{Withheld, WithheldReason};
use crate::model::Document;
use crate::store::Written;

/// The result of `insert_one`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct InsertOneResult<I> {
    /// The `_id` of the new document.
    pub inserted_id: I,
}

/// The result of `insert_many`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct InsertManyResult<I> {
    /// The `_id`s of the new documents, in the order given.
    pub inserted_ids: Vec<I>,
}

/// The result of an update or a replacement.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct UpdateResult<I = Bson> {
    /// How many documents the filter matched.
    pub matched: u64,
    /// How many matched documents changed. Documents that already had the new values do not count.
    pub modified: u64,
    /// The `_id` of the document that an upsert inserted.
    pub upserted_id: Option<I>,
    /// The lists that kept the update from documents which its filter matched: they are full, or have the key of the
    /// new element. Those documents don't count as matched.
    ///
    /// For an update of one document, the answer is read after the update matched nothing; if another client has made
    /// room in between, the list is empty, and sending the update again has a chance. An update of many documents
    /// counts them before it runs, which is exact in a transaction.
    pub withheld: Vec<Withheld>,
}

/// The result of a delete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeleteResult {
    /// How many documents were deleted.
    pub deleted: u64,
}

impl<I> UpdateResult<I> {
    /// Whether the update was withheld from a document because a list in it had no room for the new values.
    ///
    /// ```
    /// use odm::prelude::*;
    ///
    /// #[derive(Serialize, Deserialize, Document)]
    /// #[odm(collection = "hosts")]
    /// struct Host {
    ///     #[serde(rename = "_id")]
    ///     id: i32,
    ///     #[odm(items(max = 2))]
    ///     aliases: Vec<String>,
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// let hosts = Db::memory().collection::<Host>();
    /// let aliases = vec!["goofy".to_owned(), "dippy".to_owned()];
    /// hosts.insert_one(&Host { id: 1, aliases }).await?;
    /// let result = hosts.update_one(|h| h.id.eq(1), |h| h.aliases.push("pluto")).await?;
    /// assert!(result.matched == 0 && result.is_full());
    /// assert_eq!(result.withheld[0].path, "aliases");
    ///
    /// let result = hosts.update_one(|h| h.id.eq(2), |h| h.aliases.push("pluto")).await?;
    /// assert!(result.matched == 0 && !result.is_full());
    /// # Ok(())
    /// # }
    /// ```
    pub fn is_full(&self) -> bool {
        let full = |it: &Withheld| matches!(it.reason, WithheldReason::Full { .. });
        self.withheld.iter().any(full)
    }

    /// Whether the update was withheld from a document because a list in it had an element with the key of the new one
    /// ([`push_new`](crate::query::Field::push_new), which has an example).
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let tag = || books.update_one(|b| b.id.eq(1), |b| b.tags.push_new(|tag| tag, "novel"));
    /// assert_eq!(tag().await?.modified, 1);
    /// assert!(tag().await?.is_duplicate());
    /// # Ok(())
    /// # }
    /// ```
    pub fn is_duplicate(&self) -> bool {
        let duplicate = |it: &Withheld| it.reason == WithheldReason::Duplicate;
        self.withheld.iter().any(duplicate)
    }

    /// Whether the update was withheld from a document because it sets an element of a list that always has the declared number of
    /// elements (`length = 24`), and the stored list has fewer or is missing.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # #[derive(Debug, Serialize, Deserialize, Document)]
    /// # #[odm(collection = "days")]
    /// # struct Day { #[serde(rename = "_id")] id: i32, #[odm(length = 24)] hours: Vec<i32> }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// let days = Db::memory().collection::<Day>();
    /// days.insert_one(&Day { id: 1, hours: vec![0, 0] }).await?; // by an older version
    /// let result = days.update_by_id(&1, |d| d.hours.at(17).inc(1)).await?;
    /// assert!(result.matched == 0 && result.is_short());
    /// # Ok(())
    /// # }
    /// ```
    pub fn is_short(&self) -> bool {
        let short = |it: &Withheld| matches!(it.reason, WithheldReason::Short { .. });
        self.withheld.iter().any(short)
    }

    /// Whether the update was withheld from a document because an amount in it is in another currency than the one that is
    /// added ([`AnyMoneyFields::inc`](crate::money::AnyMoneyFields::inc)).
    ///
    /// ```
    /// # use odm::prelude::*;
    /// use odm::money::AnyMoney;
    ///
    /// # #[derive(Debug, Serialize, Deserialize, Document)]
    /// # #[odm(collection = "offers")]
    /// # struct Offer { #[serde(rename = "_id")] id: i32, total: AnyMoney }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let offers = Db::memory().collection::<Offer>();
    /// offers.insert_one(&Offer { id: 1, total: "9.99 USD".parse()? }).await?;
    /// let euro: AnyMoney = "1 EUR".parse()?;
    /// let result = offers.update_one(|o| o.id.eq(1), |o| o.total.inc(euro)).await?;
    /// assert!(result.matched == 0 && result.is_in_other_currency());
    /// # Ok(())
    /// # }
    /// ```
    pub fn is_in_other_currency(&self) -> bool {
        let other = |it: &Withheld| it.reason == WithheldReason::OtherCurrency;
        self.withheld.iter().any(other)
    }

    /// The counts of one statement, with the `_id` as the model types it.
    pub(crate) fn new<M: Document<Id = I>>(mut written: Written) -> crate::error::Result<Self> {
        let matched = written.matched();
        let upserted_id = match written.upserted.pop() {
            Some((_, id)) => Some(super::decode::decode_id::<M>(id)?),
            None => None,
        };
        Ok(Self {
            matched,
            modified: written.modified,
            upserted_id,
            withheld: Vec::new(),
        })
    }
}
