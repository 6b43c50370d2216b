//! Permissions for applying a plan.

use std::fmt;
use std::ops::{BitOr, BitOrAssign};

/// Permissions for [`Plan::apply`](crate::plan::Plan::apply); combine with `|`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Allow(u8);

impl Allow {
    /// Do nothing; only report what is left undone.
    pub const NOTHING: Self = Self(0);
    /// Create missing collections and indexes.
    pub const CREATE: Self = Self(1);
    /// Make changes in place: to validators, hidden indexes, times to live, the bounds of capped collections,
    /// and whether images are kept for change streams; and make indexes unique.
    pub const CHANGE: Self = Self(2);
    /// Drop indexes that are not declared, and rebuild those that differ from their declaration. Queries run
    /// without the index until it is rebuilt.
    pub const DROP: Self = Self(4);
    /// Insert, change and delete documents.
    pub const WRITE: Self = Self(8);

    /// Whether all of `other` is allowed.
    ///
    /// ```
    /// # use odm::prelude::*;
    /// let both = Allow::CREATE | Allow::CHANGE;
    /// assert!(both.contains(Allow::CHANGE));
    /// assert!(!both.contains(Allow::CHANGE | Allow::DROP));
    /// ```
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

/// Allows only [`CREATE`](Allow::CREATE): existing collections and indexes stay as they are.
impl Default for Allow {
    fn default() -> Self {
        Self::CREATE
    }
}

impl BitOr for Allow {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for Allow {
    fn bitor_assign(&mut self, other: Self) {
        *self = *self | other;
    }
}

impl fmt::Display for Allow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = [
            (Self::CREATE, "Allow::CREATE"),
            (Self::CHANGE, "Allow::CHANGE"),
            (Self::DROP, "Allow::DROP"),
            (Self::WRITE, "Allow::WRITE"),
        ];
        let mut set = names.iter().filter(|(flag, _)| self.contains(*flag));
        match set.next() {
            None => f.write_str("Allow::NOTHING"),
            Some((_, first)) => {
                f.write_str(first)?;
                set.try_for_each(|(_, name)| write!(f, " | {name}"))
            }
        }
    }
}
