//! Read concern and write concern.

use std::time::Duration;

use bson::{Bson, Document, doc};

use crate::error::{Error, Result};

/// The isolation and durability of the data that a read returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReadConcern {
    /// The newest data of the node that runs the read.
    Local,
    /// Like [`Local`](Self::Local), but a sharded cluster may also return orphaned documents.
    Available,
    /// Data that a majority of the replica set has acknowledged.
    Majority,
    /// Like [`Majority`](Self::Majority), and includes all majority writes that completed before the read started.
    Linearizable,
    /// Majority data of one point in time.
    Snapshot,
}

impl ReadConcern {
    pub(crate) fn level(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Available => "available",
            Self::Majority => "majority",
            Self::Linearizable => "linearizable",
            Self::Snapshot => "snapshot",
        }
    }

    pub(crate) fn to_document(self) -> Document {
        doc! { "level": self.level() }
    }
}

/// The acknowledgment that a write waits for.
///
/// ```
/// use std::time::Duration;
/// use odm::collection::WriteConcern;
/// let safe = WriteConcern::majority().journal(true).timeout(Duration::from_secs(5));
/// # let _ = safe;
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[must_use]
pub struct WriteConcern {
    pub(crate) w: Option<Acknowledgment>,
    pub(crate) journal: Option<bool>,
    pub(crate) timeout: Option<Duration>,
}

/// The nodes that must acknowledge a write.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Acknowledgment {
    /// This many nodes, at least 1: unacknowledged writes (`w: 0`) are not supported.
    Nodes(u32),
    /// The majority of the replica set.
    Majority,
    /// A custom write concern, by its name in the set's configuration.
    Custom(String),
}

impl WriteConcern {
    /// Acknowledged by the majority of the replica set.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// use odm::collection::WriteConcern;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let delete = books.delete_one(|b| b.id.eq(1)).write_concern(WriteConcern::majority());
    /// assert_eq!(delete.await?.deleted, 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn majority() -> Self {
        Self::acknowledged_by(Acknowledgment::Majority)
    }

    /// Acknowledged by this many nodes.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// use odm::collection::WriteConcern;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let books = Db::memory().collection::<Book>();
    /// let delete = books.delete_one(|b| b.id.eq(1)).write_concern(WriteConcern::nodes(2));
    /// assert_eq!(delete.command()?.get_document("writeConcern")?, &doc! {"w": 2});
    /// # Ok(())
    /// # }
    /// ```
    pub fn nodes(nodes: u32) -> Self {
        Self::acknowledged_by(Acknowledgment::Nodes(nodes))
    }

    /// Acknowledged by the given nodes.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// use odm::collection::WriteConcern;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let books = Db::memory().collection::<Book>();
    /// use odm::collection::Acknowledgment;
    ///
    /// let both_sites = Acknowledgment::Custom("bothSites".to_owned());
    /// let concern = WriteConcern::acknowledged_by(both_sites);
    /// let delete = books.delete_one(|b| b.id.eq(1)).write_concern(concern);
    /// assert_eq!(delete.command()?.get_document("writeConcern")?, &doc! {"w": "bothSites"});
    /// # Ok(())
    /// # }
    /// ```
    pub fn acknowledged_by(w: Acknowledgment) -> Self {
        Self {
            w: Some(w),
            ..Self::default()
        }
    }

    /// Whether to wait until the write is in the journal.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// use odm::collection::WriteConcern;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let books = Db::memory().collection::<Book>();
    /// let concern = WriteConcern::nodes(1).journal(true);
    /// let delete = books.delete_one(|b| b.id.eq(1)).write_concern(concern);
    /// assert_eq!(delete.command()?.get_document("writeConcern")?, &doc! {"w": 1, "j": true});
    /// # Ok(())
    /// # }
    /// ```
    pub fn journal(mut self, journal: bool) -> Self {
        self.journal = Some(journal);
        self
    }

    /// How long to wait for the acknowledgment.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// use odm::collection::WriteConcern;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let books = Db::memory().collection::<Book>();
    /// # use std::time::Duration;
    /// let concern = WriteConcern::majority().timeout(Duration::from_secs(5));
    /// let delete = books.delete_one(|b| b.id.eq(1)).write_concern(concern);
    /// let sent = doc! {"w": "majority", "wtimeout": 5_000};
    /// assert_eq!(delete.command()?.get_document("writeConcern")?, &sent);
    /// # Ok(())
    /// # }
    /// ```
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Refuses unacknowledged writes, whose failures could not be reported.
    pub(crate) fn check(&self) -> Result<()> {
        match self.w {
            Some(Acknowledgment::Nodes(0)) => Err(Error::usage(
                "a write that nobody acknowledges (`w: 0`) is not supported: use \
                 `WriteConcern::nodes(1)`",
            )),
            _ => Ok(()),
        }
    }

    pub(crate) fn to_document(&self) -> Document {
        let mut document = Document::new();
        match &self.w {
            Some(Acknowledgment::Nodes(nodes)) => {
                document.insert("w", i32::try_from(*nodes).unwrap_or(i32::MAX));
            }
            Some(Acknowledgment::Majority) => {
                document.insert("w", "majority");
            }
            Some(Acknowledgment::Custom(name)) => {
                document.insert("w", name);
            }
            None => {}
        }
        if let Some(journal) = self.journal {
            document.insert("j", journal);
        }
        if let Some(timeout) = self.timeout {
            document.insert("wtimeout", millis(timeout));
        }
        document
    }
}

/// Converts a duration to whole milliseconds. Rounds shorter durations up to 1, because 0 means no limit.
pub(crate) fn millis(duration: Duration) -> Bson {
    let millis = i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
    let millis = if duration.is_zero() { 0 } else { millis.max(1) };
    i32::try_from(millis).map_or(Bson::Int64(millis), Bson::Int32)
}
