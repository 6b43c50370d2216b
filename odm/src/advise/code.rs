//! What advice is about.

use std::fmt;

/// What [`Advice`](super::Advice) is about. Each code is a schema anti-pattern of MongoDB's documentation or follows from what
/// the model declares; its threshold is a constant of [`thresholds`](super::thresholds).
///
/// ```
/// use odm::advise::AdviceCode;
///
/// assert_eq!(AdviceCode::UnboundedArray.as_str(), "unbounded-array");
/// assert_eq!(AdviceCode::UnusedIndex.to_string(), "unused-index");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum AdviceCode {
    /// `near-size-limit`: the largest document of the sample has more than [`SIZE_PERCENT`](super::thresholds::SIZE_PERCENT) of
    /// the declared budget, or of 16 MiB if the model has none. A write that makes a document larger than 16 MiB fails.
    ///
    /// Larger documents outside of the sample are not seen.
    NearSizeLimit,
    /// `unbounded-array`: MongoDB's "unbounded arrays". An array or a map without a declared bound whose 99th percentile of
    /// lengths is above [`ARRAY_LENGTH`](super::thresholds::ARRAY_LENGTH), or one of at least
    /// [`GROWN_ARRAY_LENGTH`](super::thresholds::GROWN_ARRAY_LENGTH) elements that is more than
    /// [`ARRAY_GROWTH`](super::thresholds::ARRAY_GROWTH) times as long as the median.
    ///
    /// One sample shows lengths, and not whether arrays still grow. Lists that are declared `unbounded = "the reason"`, arrays
    /// in tuples, in fields of any type (`Bson`) and of trees are not examined.
    UnboundedArray,
    /// `array-near-bound`: an array or a map has more than [`BOUND_PERCENT`](super::thresholds::BOUND_PERCENT) of the number of
    /// elements that it may have, and the median has at most
    /// [`BOUND_MEDIAN_PERCENT`](super::thresholds::BOUND_MEDIAN_PERCENT). The next writes to it are refused.
    ///
    /// Arrays that are nearly full in most documents count as filled on purpose, as other programs fill buckets. `recent` lists, the items of a
    /// `bucket` and the lists of overflow documents are not examined.
    ArrayNearBound,
    /// `bloated-documents`: MongoDB's "bloated documents". Documents have [`BLOATED_SIZE`](super::thresholds::BLOATED_SIZE) or
    /// more on average, and at most [`HEAVY_FIELDS`](super::thresholds::HEAVY_FIELDS) of their fields carry
    /// [`HEAVY_PERCENT`](super::thresholds::HEAVY_PERCENT) of that. Each read of another field brings them into the cache, and
    /// fewer documents of the working set fit into it.
    ///
    /// Which fields are read together is not seen. A model that declares a `subset`, or is one, gets no such advice.
    BloatedDocuments,
    /// `unused-index`: MongoDB's "unnecessary indexes". No operation has used the index since MongoDB counts, for
    /// [`UNUSED_DAYS`](super::thresholds::UNUSED_DAYS) or longer. Every write pays for it, and it takes memory.
    ///
    /// MongoDB counts anew when mongod starts or the index is built, and each member of a replica set counts by itself: reads on
    /// secondaries, and reports that run once a month, are not seen. Unique indexes, TTL indexes, hidden ones and the one on
    /// `_id` are left out; a shard key is not recognized.
    UnusedIndex,
    /// `redundant-index`: MongoDB's "unnecessary indexes". The keys of the index are the first keys of another one with the same
    /// collation, partial filter and `sparse`, which serves the same queries. The derive refuses to
    /// declare such an index, so most of them were built by others.
    ///
    /// Unique indexes, TTL indexes, hidden ones and those of other kinds than ascending and descending are left out. The
    /// other index is larger, so that reads of many keys can take longer.
    RedundantIndex,
    /// `too-many-collections`: MongoDB's "massive number of collections". The database has more than
    /// [`COLLECTIONS`](super::thresholds::COLLECTIONS) collections. Each has files of its own, as has each index.
    ///
    /// Other databases of the server are not counted.
    TooManyCollections,
    /// `empty-collection`: a collection without documents that no model of the call declares. It takes the files of its indexes.
    ///
    /// Another program, or a model that the call does not name, may need it. Collections of odm itself, of time series, views and
    /// system collections are left out, and so are all beyond the first
    /// [`LOOKED_INTO`](super::thresholds::LOOKED_INTO).
    EmptyCollection,
    /// `case-variants`: MongoDB's "case-insensitive queries without case-insensitive indexes". An indexed string has values in the
    /// sample that differ only by case, such as `ANN@X` and `ann@x`, and no index of it has a collation that ignores case.
    ///
    /// Queries are not seen: whether the variants are meant to be one value is for the reader to decide. Variants of which the
    /// sample has only one are not found; references and `_id` are not compared.
    CaseVariants,
    /// `stored-apart`: MongoDB's "separating data that is accessed together". A `has_one` relation whose document exists for
    /// [`ONE_PERCENT`](super::thresholds::ONE_PERCENT) or more of the sample; or a reference with copies beside it, each of whose
    /// documents exactly one document refers to.
    ///
    /// Which documents are read together is not seen. Documents that several models refer to, that refer to others, and
    /// larger ones than [`EMBEDDED_SIZE`](super::thresholds::EMBEDDED_SIZE) together get no such advice.
    StoredApart,
    /// `few-enough-to-embed`: a `has_many` relation of at most [`FEW`](super::thresholds::FEW) documents, by the 99th percentile,
    /// and of [`EMBEDDED_SIZE`](super::thresholds::EMBEDDED_SIZE) together at most. One read returns embedded documents, and one
    /// write changes them, without a transaction.
    ///
    /// Whether they are read without the other document, and whether they become more, is not seen. Documents that others refer
    /// to, that refer to several, that form a tree or that a TTL index removes get no such advice; neither do `has_squillions`
    /// and `subset`.
    FewEnoughToEmbed,
    /// `could-be-required`: every document of the sample has a field that the model declares as optional, and not null. If
    /// the field is declared without `Option` and default, the validator requires it, and readers need no case for its absence.
    ///
    /// At least [`REQUIRED_DOCUMENTS`](super::thresholds::REQUIRED_DOCUMENTS) documents are needed. Documents outside of the
    /// sample are not seen, and neither is the intention to leave the field out later. Copies, summaries, fields of trees,
    /// references that a delete sets to null, and fields in arrays, maps and enums are not examined.
    CouldBeRequired,
}

impl AdviceCode {
    /// The text of the code, which later versions keep.
    ///
    /// ```
    /// assert_eq!(odm::advise::AdviceCode::CouldBeRequired.as_str(), "could-be-required");
    /// ```
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NearSizeLimit => "near-size-limit",
            Self::UnboundedArray => "unbounded-array",
            Self::ArrayNearBound => "array-near-bound",
            Self::BloatedDocuments => "bloated-documents",
            Self::UnusedIndex => "unused-index",
            Self::RedundantIndex => "redundant-index",
            Self::TooManyCollections => "too-many-collections",
            Self::EmptyCollection => "empty-collection",
            Self::CaseVariants => "case-variants",
            Self::StoredApart => "stored-apart",
            Self::FewEnoughToEmbed => "few-enough-to-embed",
            Self::CouldBeRequired => "could-be-required",
        }
    }
}

impl fmt::Display for AdviceCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
