//! Updates that were withheld from a document, because a list of it is full or has the key already.

use std::fmt;

use super::{Error, Kind};

/// A list that kept an update from documents which the filter matched.
///
/// An update that adds values to a list with a declared maximum, or an element with a key that must be new, carries a
/// condition on that list. `Withheld` reports that the condition, and not the filter, kept the update from a document.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Withheld {
    /// The stored path of the list: `contacts`, `lines.notes`.
    pub path: String,
    /// Why the list kept the update from the document.
    pub reason: WithheldReason,
    /// How many documents the update was withheld from; an update of one document stops counting at 1.
    pub documents: u64,
}

/// Why a list withholds an update.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum WithheldReason {
    /// The new values would exceed the maximum that the list declares.
    Full {
        /// The declared maximum.
        max: u32,
    },
    /// An element with the same key is there (`push_new`).
    Duplicate,
    /// The amount is in another currency than the one that is added to it.
    OtherCurrency,
    /// The update sets an element of a list that always has the declared number of elements (`length = 60`), and the stored one
    /// has fewer, or is missing. MongoDB would fill it up with nulls.
    Short {
        /// The declared number.
        length: u32,
    },
}

impl fmt::Display for Withheld {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.reason {
            WithheldReason::Full { max } => write!(
                f,
                "`{}` is full: the new values would exceed the declared maximum of {max}",
                self.path
            ),
            WithheldReason::Duplicate => {
                write!(f, "`{}` has an element with this key already", self.path)
            }
            WithheldReason::Short { length } => write!(
                f,
                "`{}` has fewer than the declared {length} elements: set the whole list first",
                self.path
            ),
            WithheldReason::OtherCurrency => write!(
                f,
                "`{}` is not the currency of the amount that is added",
                self.path
            ),
        }
    }
}

/// The lists that kept `find_one_and_update` from the document; at least one.
#[derive(Debug)]
pub(crate) struct WithheldError(Vec<Withheld>);

impl WithheldError {
    pub(crate) fn new(withheld: Vec<Withheld>) -> Self {
        Self(withheld)
    }
}

impl fmt::Display for WithheldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the document matched and was left as it is")?;
        for (place, withheld) in self.0.iter().enumerate() {
            write!(f, "{} {withheld}", if place == 0 { ":" } else { "," })?;
        }
        Ok(())
    }
}

impl From<WithheldError> for Kind {
    fn from(error: WithheldError) -> Self {
        Self::Withheld(error)
    }
}

impl Error {
    /// The lists that kept `find_one_and_update` from a document that its filter matched; nothing was written.
    ///
    /// Other updates return them as
    /// [`UpdateResult::withheld`](crate::collection::UpdateResult::withheld).
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # #[derive(Debug, Serialize, Deserialize, Document)]
    /// # #[odm(collection = "hosts")]
    /// # struct Host {
    /// #     #[serde(rename = "_id")] id: i32,
    /// #     #[odm(items(max = 1))] aliases: Vec<String>,
    /// # }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let hosts = Db::memory().collection::<Host>();
    /// # hosts.insert_one(&Host { id: 1, aliases: vec!["goofy".to_owned()] }).await?;
    /// // `aliases` has the rule `items(max = 1)`.
    /// let update = hosts.find_one_and_update(|h| h.id.eq(1), |h| h.aliases.push("dippy"));
    /// let error = update.await.unwrap_err();
    /// assert_eq!(error.withheld()[0].path, "aliases");
    /// # Ok(())
    /// # }
    /// ```
    pub fn withheld(&self) -> &[Withheld] {
        match self.kind() {
            Kind::Withheld(WithheldError(withheld)) => withheld,
            _ => &[],
        }
    }

    /// Whether `find_one_and_update` found its document, and a list in it had no room for the new values.
    ///
    /// ```
    /// use odm::prelude::*;
    ///
    /// #[derive(Debug, Serialize, Deserialize, Document)]
    /// #[odm(collection = "hosts")]
    /// struct Host {
    ///     #[serde(rename = "_id")]
    ///     id: i32,
    ///     #[odm(items(max = 1))]
    ///     aliases: Vec<String>,
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// let hosts = Db::memory().collection::<Host>();
    /// hosts.insert_one(&Host { id: 1, aliases: vec!["goofy".to_owned()] }).await?;
    /// let error = hosts.find_one_and_update(|h| h.id.eq(1), |h| h.aliases.push("dippy")).await.unwrap_err();
    /// assert!(error.is_full());
    /// assert_eq!(error.withheld()[0].path, "aliases");
    /// # Ok(())
    /// # }
    /// ```
    pub fn is_full(&self) -> bool {
        let full = |it: &Withheld| matches!(it.reason, WithheldReason::Full { .. });
        self.withheld().iter().any(full)
    }

    /// Whether `find_one_and_update` found its document, and a list in it that always has the declared number of elements has fewer,
    /// so that no element of it is set by its position.
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
    /// let update = days.find_one_and_update(|d| d.id.eq(1), |d| d.hours.at(17).inc(1));
    /// assert!(update.await.unwrap_err().is_short());
    /// # Ok(())
    /// # }
    /// ```
    pub fn is_short(&self) -> bool {
        let short = |it: &Withheld| matches!(it.reason, WithheldReason::Short { .. });
        self.withheld().iter().any(short)
    }

    /// Whether `find_one_and_update` found its document, and a list in it had an element with the key of the new one
    /// (`push_new`).
    ///
    /// ```
    /// # use odm::prelude::*;
    /// # #[derive(Debug, Serialize, Deserialize, Document)]
    /// # #[odm(collection = "hosts")]
    /// # struct Host { #[serde(rename = "_id")] id: i32, aliases: Vec<String> }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> odm::Result<()> {
    /// # let hosts = Db::memory().collection::<Host>();
    /// # hosts.insert_one(&Host { id: 1, aliases: vec!["goofy".to_owned()] }).await?;
    /// let update = hosts.find_one_and_update(|h| h.id.eq(1), |h| h.aliases.push_new(|alias| alias, "goofy"));
    /// assert!(update.await.unwrap_err().is_duplicate_element());
    /// # Ok(())
    /// # }
    /// ```
    pub fn is_duplicate_element(&self) -> bool {
        let duplicate = |it: &Withheld| it.reason == WithheldReason::Duplicate;
        self.withheld().iter().any(duplicate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn withheld_updates_name_the_list_and_the_bound() {
        let withheld = |path: &str, reason| Withheld {
            path: path.to_owned(),
            reason,
            documents: 1,
        };
        let full = withheld("contacts", WithheldReason::Full { max: 12 });
        let error = Error::new(WithheldError::new(vec![full])).with_model("Host");
        assert!(error.is_full() && !error.is_duplicate_element() && !error.is_usage());
        assert_eq!(
            error.to_string(),
            "Host: the document matched and was left as it is: `contacts` is full: the new values would exceed the \
             declared maximum of 12"
        );
        let twice = withheld("emails", WithheldReason::Duplicate);
        let error = Error::new(WithheldError::new(vec![twice]));
        assert!(error.is_duplicate_element() && !error.is_full());
    }
}
