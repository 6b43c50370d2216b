//! Read preference: the nodes of a replica set that may run a read.

use std::time::Duration;

use bson::{Document, doc};

use crate::error::{Error, Result};
use crate::store::misuse;

/// The smallest `maxStalenessSeconds` that MongoDB accepts.
const LEAST_STALENESS: Duration = Duration::from_secs(90);

/// The nodes of a replica set that may run a read.
///
/// ```
/// use std::time::Duration;
/// use odm::collection::ReadPreference;
/// let near = ReadPreference::secondary_preferred()
///     .tags([("region", "eu-1")])
///     .tags([("region", "eu-2")])
///     .max_staleness(Duration::from_secs(120));
/// # let _ = near;
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[must_use]
pub struct ReadPreference {
    mode: Mode,
    tag_sets: Vec<Vec<(String, String)>>,
    max_staleness: Option<Duration>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Mode {
    #[default]
    Primary,
    PrimaryPreferred,
    Secondary,
    SecondaryPreferred,
    Nearest,
}

impl ReadPreference {
    /// The primary.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// use odm::collection::ReadPreference;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let found = books.find_all().read_preference(ReadPreference::primary());
    /// assert_eq!(found.all().await?.len(), 3);
    /// # Ok(())
    /// # }
    /// ```
    pub fn primary() -> Self {
        Self::of(Mode::Primary)
    }

    /// The primary, or a secondary if no primary is available.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// use odm::collection::ReadPreference;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let books = Db::memory().collection::<Book>();
    /// let find = books.find_all().read_preference(ReadPreference::primary_preferred());
    /// let sent = doc! {"mode": "primaryPreferred"};
    /// assert_eq!(find.command()?.get_document("$readPreference")?, &sent);
    /// # Ok(())
    /// # }
    /// ```
    pub fn primary_preferred() -> Self {
        Self::of(Mode::PrimaryPreferred)
    }

    /// A secondary.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// use odm::collection::ReadPreference;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let books = Db::memory().collection::<Book>();
    /// let find = books.find_all().read_preference(ReadPreference::secondary());
    /// assert_eq!(find.command()?.get_document("$readPreference")?, &doc! {"mode": "secondary"});
    /// # Ok(())
    /// # }
    /// ```
    pub fn secondary() -> Self {
        Self::of(Mode::Secondary)
    }

    /// A secondary, or the primary if no secondary is available.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// use odm::collection::ReadPreference;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (db, books) = three_books().await?;
    /// let reports = books.with_read_preference(ReadPreference::secondary_preferred());
    /// assert_eq!(reports.find_all().all().await?.len(), 3);
    /// # Ok(())
    /// # }
    /// ```
    pub fn secondary_preferred() -> Self {
        Self::of(Mode::SecondaryPreferred)
    }

    /// The node with the least latency.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// use odm::collection::ReadPreference;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let books = Db::memory().collection::<Book>();
    /// let find = books.find_all().read_preference(ReadPreference::nearest());
    /// assert_eq!(find.command()?.get_document("$readPreference")?, &doc! {"mode": "nearest"});
    /// # Ok(())
    /// # }
    /// ```
    pub fn nearest() -> Self {
        Self::of(Mode::Nearest)
    }

    fn of(mode: Mode) -> Self {
        Self {
            mode,
            ..Self::default()
        }
    }

    /// Reads only from nodes that have all these tags. Further calls add fallback sets, each used if
    /// no node matches the sets before it. An empty set matches every node.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// use odm::collection::ReadPreference;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let books = Db::memory().collection::<Book>();
    /// let near = ReadPreference::nearest().tags([("region", "eu")]).tags([("", ""); 0]);
    /// let find = books.find_all().read_preference(near);
    /// let sent = doc! {"mode": "nearest", "tags": [{"region": "eu"}, {}]};
    /// assert_eq!(find.command()?.get_document("$readPreference")?, &sent);
    /// # Ok(())
    /// # }
    /// ```
    pub fn tags<K: Into<String>, V: Into<String>>(
        mut self,
        tags: impl IntoIterator<Item = (K, V)>,
    ) -> Self {
        let tags = tags
            .into_iter()
            .map(|(key, value)| (key.into(), value.into()));
        self.tag_sets.push(tags.collect());
        self
    }

    /// Excludes secondaries that lag behind the primary by more than this; at least 90 seconds.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
    /// use odm::collection::ReadPreference;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let books = Db::memory().collection::<Book>();
    /// # use std::time::Duration;
    /// let recent = ReadPreference::nearest().max_staleness(Duration::from_secs(120));
    /// let find = books.find_all().read_preference(recent);
    /// let sent = doc! {"mode": "nearest", "maxStalenessSeconds": 120_i64};
    /// assert_eq!(find.command()?.get_document("$readPreference")?, &sent);
    /// # Ok(())
    /// # }
    /// ```
    pub fn max_staleness(mut self, staleness: Duration) -> Self {
        self.max_staleness = Some(staleness);
        self
    }

    /// Refuses contradictory or unsupported preferences.
    pub(crate) fn check(&self) -> Result<()> {
        if self.mode == Mode::Primary && (!self.tag_sets.is_empty() || self.max_staleness.is_some())
        {
            return Err(Error::usage(
                "reads from the primary take neither tags nor staleness: choose another read \
                 preference, or leave them out",
            ));
        }
        match self.max_staleness {
            Some(staleness) if staleness < LEAST_STALENESS => {
                Err(Error::usage("`max_staleness` must be at least 90 seconds"))
            }
            _ => Ok(()),
        }
    }

    /// Refuses any node but the primary.
    pub(crate) fn check_in_transaction(&self) -> Result<()> {
        if self.mode == Mode::Primary {
            Ok(())
        } else {
            Err(Error::usage(misuse::NOT_FROM_PRIMARY))
        }
    }

    /// Refuses preferences that a single primary without tags does not match.
    pub(crate) fn check_on_one_node(&self) -> Result<()> {
        match self.mode {
            Mode::Secondary => Err(Error::unsupported(
                "the in-memory store has no secondary to read from: use \
                 `ReadPreference::secondary_preferred()`",
            )),
            Mode::Nearest
                if !self.tag_sets.is_empty() && !self.tag_sets.iter().any(Vec::is_empty) =>
            {
                Err(Error::unsupported(
                    "the node of the in-memory store has no tags: add an empty set, \
                     `.tags([(\"\", \"\"); 0])`, which allows every node",
                ))
            }
            // All other preferences allow the primary.
            _ => Ok(()),
        }
    }

    pub(crate) fn to_document(&self) -> Document {
        let mut document = doc! { "mode": self.mode.name() };
        if !self.tag_sets.is_empty() {
            let sets: Vec<Document> = self
                .tag_sets
                .iter()
                .map(|set| {
                    set.iter()
                        .map(|(key, value)| (key.clone(), value.into()))
                        .collect()
                })
                .collect();
            document.insert("tags", sets);
        }
        if let Some(staleness) = self.max_staleness {
            let seconds = i64::try_from(staleness.as_secs()).unwrap_or(i64::MAX);
            document.insert("maxStalenessSeconds", seconds);
        }
        document
    }

    pub(crate) fn mode(&self) -> Mode {
        self.mode
    }

    pub(crate) fn tag_sets(&self) -> &[Vec<(String, String)>] {
        &self.tag_sets
    }

    pub(crate) fn staleness(&self) -> Option<Duration> {
        self.max_staleness
    }
}

impl Mode {
    fn name(self) -> &'static str {
        match self {
            Self::Primary => "primary",
            Self::PrimaryPreferred => "primaryPreferred",
            Self::Secondary => "secondary",
            Self::SecondaryPreferred => "secondaryPreferred",
            Self::Nearest => "nearest",
        }
    }
}
