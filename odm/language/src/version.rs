//! The versions of MongoDB whose language can be chosen.

use std::fmt;

/// A version of MongoDB. What a version adds is refused by the ones before it, as mongod refuses it.
///
/// The language of 6.0 is compared with a mongod of that version. What 7.0 and 8.0 add follows MongoDB's documentation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[non_exhaustive]
pub enum ServerVersion {
    /// 6.0.
    #[default]
    V6_0,
    /// 7.0.
    V7_0,
    /// 8.0.
    V8_0,
}

impl ServerVersion {
    /// Every version, the oldest first.
    pub const ALL: [Self; 3] = [Self::V6_0, Self::V7_0, Self::V8_0];

    /// The latest version.
    pub const LATEST: Self = Self::V8_0;

    /// The version with these numbers, if it is one of [`ALL`](Self::ALL).
    pub fn new(major: u8, minor: u8) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|version| (version.major(), 0) == (major, minor))
    }

    /// The first number.
    pub fn major(self) -> u8 {
        match self {
            Self::V6_0 => 6,
            Self::V7_0 => 7,
            Self::V8_0 => 8,
        }
    }

    /// The version with its patch level, as `buildInfo` reports it.
    pub fn full(self) -> [u8; 3] {
        match self {
            Self::V6_0 => [6, 0, 5],
            Self::V7_0 => [7, 0, 0],
            Self::V8_0 => [8, 0, 0],
        }
    }

    /// The highest version of the wire protocol that it speaks.
    pub fn wire(self) -> i32 {
        match self {
            Self::V6_0 => 17,
            Self::V7_0 => 21,
            Self::V8_0 => 25,
        }
    }
}

/// `8.0`
impl fmt::Display for ServerVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.0", self.major())
    }
}
