//! Different scalars at one path: the candidates of enums, and of references.

use std::collections::BTreeMap;

use bson::oid::ObjectId;
use bson::raw::RawBsonRef;
use bson::spec::BinarySubtype;
use bson::{Binary, Bson};

/// The number of different values that are kept.
const MOST: usize = 1_000;

/// The longest string that is kept, in bytes.
const LONGEST: usize = 64;

/// A scalar that can be an id.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::pull) enum Value {
    Int(i64),
    Text(String),
    ObjectId(ObjectId),
    Uuid([u8; 16]),
}

impl Value {
    /// A short string.
    pub(super) fn text(text: &str) -> Option<Self> {
        (text.len() <= LONGEST).then(|| Self::Text(text.to_owned()))
    }

    /// The value of an `_id`, if a reference to it can be recognized.
    pub(in crate::pull) fn of(value: RawBsonRef<'_>) -> Option<Self> {
        match value {
            RawBsonRef::Int32(number) => Some(Self::Int(number.into())),
            RawBsonRef::Int64(number) => Some(Self::Int(number)),
            RawBsonRef::String(text) => Self::text(text),
            RawBsonRef::ObjectId(id) => Some(Self::ObjectId(id)),
            RawBsonRef::Binary(binary) if binary.subtype == BinarySubtype::Uuid => {
                binary.bytes.try_into().ok().map(Self::Uuid)
            }
            _ => None,
        }
    }

    /// [`of`](Self::of) an owned value.
    pub(in crate::pull) fn of_bson(value: &Bson) -> Option<Self> {
        match value {
            Bson::Int32(number) => Some(Self::Int((*number).into())),
            Bson::Int64(number) => Some(Self::Int(*number)),
            Bson::String(text) => Self::text(text),
            Bson::ObjectId(id) => Some(Self::ObjectId(*id)),
            Bson::Binary(binary) if binary.subtype == BinarySubtype::Uuid => {
                binary.bytes.as_slice().try_into().ok().map(Self::Uuid)
            }
            _ => None,
        }
    }

    pub(in crate::pull) fn to_bson(&self) -> Bson {
        match self {
            Self::Int(number) => Bson::Int64(*number),
            Self::Text(text) => Bson::String(text.clone()),
            Self::ObjectId(id) => Bson::ObjectId(*id),
            Self::Uuid(bytes) => Bson::Binary(Binary {
                subtype: BinarySubtype::Uuid,
                bytes: bytes.to_vec(),
            }),
        }
    }
}

/// Different values, and how often each was seen.
#[derive(Debug, Default, Clone)]
pub(in crate::pull) struct Values {
    counts: BTreeMap<Value, u64>,
    is_incomplete: bool,
}

impl Values {
    pub(super) fn add(&mut self, value: Value) {
        self.add_many(value, 1);
    }

    fn add_many(&mut self, value: Value, count: u64) {
        if let Some(seen) = self.counts.get_mut(&value) {
            *seen += count;
        } else if self.counts.len() < MOST {
            self.counts.insert(value, count);
        } else {
            self.is_incomplete = true;
        }
    }

    /// Records that there is a value that is not kept.
    pub(super) fn leave_out(&mut self) {
        self.is_incomplete = true;
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.is_incomplete |= other.is_incomplete;
        for (value, count) in other.counts {
            self.add_many(value, count);
        }
    }

    /// The different values with their counts, if they are all kept.
    pub(in crate::pull) fn complete(&self) -> Option<&BTreeMap<Value, u64>> {
        (!self.is_incomplete).then_some(&self.counts)
    }

    /// The kept values.
    pub(in crate::pull) fn kept(&self) -> impl Iterator<Item = &Value> {
        self.counts.keys()
    }
}
