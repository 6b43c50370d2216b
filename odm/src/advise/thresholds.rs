//! The numbers from which [`Db::advise`](crate::Db::advise) gives advice.

/// The documents of each model that are read, unless [`sample`](super::Advise::sample) chooses another number.
pub const SAMPLE: u64 = 10_000;

/// The share, in percent, of the declared budget or of MongoDB's limit from which the largest document is
/// [near it](super::AdviceCode::NearSizeLimit).
pub const SIZE_PERCENT: u64 = 80;

/// The largest document that MongoDB stores, in bytes.
pub const LARGEST_DOCUMENT: u64 = 16 * 1024 * 1024;

/// The 99th percentile of its lengths above which an array without a bound is [reported](super::AdviceCode::UnboundedArray).
pub const ARRAY_LENGTH: u64 = 200;

/// The length from which one array without a bound is reported, if it is also [`ARRAY_GROWTH`] times as long as the median.
pub const GROWN_ARRAY_LENGTH: u64 = 100;

/// How many times the median the longest array has to be, for [`GROWN_ARRAY_LENGTH`].
pub const ARRAY_GROWTH: u64 = 10;

/// The share, in percent, of its declared bound from which an array is [near it](super::AdviceCode::ArrayNearBound).
pub const BOUND_PERCENT: u64 = 90;

/// The largest median, in percent of the bound, of arrays that are near it. Where more than half of the arrays are nearly full,
/// they are filled on purpose, as buckets are.
pub const BOUND_MEDIAN_PERCENT: u64 = 50;

/// The smallest bound that is compared with lengths.
pub const SMALLEST_BOUND: u32 = 10;

/// The mean size in bytes from which documents can be [bloated](super::AdviceCode::BloatedDocuments): half of the page of 32 KiB
/// that `WiredTiger` reads from disk.
pub const BLOATED_SIZE: u64 = 16 * 1024;

/// The share, in percent, of the bytes that the heaviest fields of bloated documents carry.
pub const HEAVY_PERCENT: u64 = 80;

/// The largest number of fields that carry [`HEAVY_PERCENT`] of a bloated document.
pub const HEAVY_FIELDS: usize = 2;

/// The smallest number of other fields in a bloated document, beside its `_id`.
pub const LIGHT_FIELDS: usize = 3;

/// How many days MongoDB has to count uses of an index before none of them means that it is
/// [unused](super::AdviceCode::UnusedIndex), unless [`unused_for`](super::Advise::unused_for) says otherwise.
pub const UNUSED_DAYS: u64 = 7;

/// The number of collections above which a database has [too many](super::AdviceCode::TooManyCollections), unless
/// [`max_collections`](super::Advise::max_collections) says otherwise: what MongoDB recommends for a replica set.
pub const COLLECTIONS: u64 = 10_000;

/// The largest number of collections without a model that are looked into for [documents](super::AdviceCode::EmptyCollection).
pub const LOOKED_INTO: usize = 1_000;

/// The smallest number of documents of a relation for advice about it.
pub const RELATED: u64 = 100;

/// The largest number of documents whose related documents are counted.
pub const RELATED_SAMPLE: usize = 1_000;

/// The share, in percent, of documents with exactly one other document from which the two are
/// [stored apart](super::AdviceCode::StoredApart) without need.
pub const ONE_PERCENT: u64 = 95;

/// The 99th percentile of the number of documents that refer to one, up to which they are
/// [few enough to embed](super::AdviceCode::FewEnoughToEmbed).
pub const FEW: u64 = 10;

/// The largest mean size in bytes of a document together with those that would be embedded in it.
pub const EMBEDDED_SIZE: u64 = 16 * 1024;

/// The number of documents that have to have an optional field, for it to be one that the validator
/// [could require](super::AdviceCode::CouldBeRequired).
pub const REQUIRED_DOCUMENTS: u64 = 1_000;
