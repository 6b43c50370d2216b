//! Models and their metadata: what a derive records about a struct, as constant data.
//!
//! A [`Document`] has a collection of its own; an [`Embedded`] struct is stored inside documents. Both carry
//! an [`EmbeddedMeta`]: the fields with their stored names, types and rules. The derives apply serde's
//! renames when they fill it, and [`name`] resolves the path of a Rust field to its stored path.
//!
//! This module sends no commands and builds no queries. Generated code fills these structures and contains no
//! logic.

pub(crate) mod bound;
#[doc(hidden)]
pub mod bucket;
pub(crate) mod copies;
mod derived;
#[doc(hidden)]
pub mod field;
pub(crate) mod gridfs;
#[doc(hidden)]
pub mod index;
#[doc(hidden)]
pub mod keywords;
pub mod name;
pub(crate) mod newest;
mod once;
#[doc(hidden)]
pub mod overflow;
pub mod path;
mod place;
pub mod projection;
#[doc(hidden)]
pub mod relation;
#[doc(hidden)]
pub mod rule;
#[doc(hidden)]
pub mod schema;
mod size;
pub(crate) mod storable;
pub(crate) mod summaries;
#[doc(hidden)]
pub mod time_series;
#[doc(hidden)]
pub mod timestamps;
#[doc(hidden)]
pub mod tree;
pub(crate) mod two_way;
pub mod types;
#[doc(hidden)]
pub mod variant;
#[doc(hidden)]
pub mod view;

use bson::Bson;
use serde::{Serialize, de::DeserializeOwned};

// Filled in by the derives.
#[doc(hidden)]
pub use self::bucket::{BucketMeta, KeptKind, KeptMeta};
#[doc(hidden)]
pub use self::field::{
    CopyMeta, EmbeddedMeta, EnumMeta, FieldMeta, KeyReferenceMeta, Presence, RefreshMeta,
    SummaryKind, SummaryMeta, Tagging, VariantMeta,
};
pub use self::index::{CollationMeta, IndexMeta, KeyKind, KeyMeta};
#[doc(hidden)]
pub use self::keywords::KeywordsMeta;
#[doc(hidden)]
pub(crate) use self::once::{Found, once};
#[doc(hidden)]
pub use self::overflow::OverflowMeta;
#[doc(hidden)]
pub use self::path::{Path, Segment};
pub use self::projection::{ProjectedField, Projection};
pub use self::relation::{
    Arity, CounterpartKind, CounterpartMeta, Guarantee, InverseKind, InverseMeta, OnDelete,
    RecentMeta, ReferenceMeta, RelationMeta,
};
pub(crate) use self::relation::{FOLLOWERS, PROPAGATIONS, REFERENCE_FENCES, REPAIRS, SCRUBS};
#[doc(hidden)]
pub use self::rule::{Bound, ExpressionRule, Keys, Rule};
#[doc(hidden)]
pub use self::schema::{SchemaMeta, StepMeta, StepResult};
#[doc(hidden)]
pub use self::time_series::TimeSeriesMeta;
#[doc(hidden)]
pub use self::timestamps::{Clock, TimestampsMeta};
#[doc(hidden)]
pub use self::tree::TreeMeta;
pub use self::types::{BsonType, FieldType, MapKey, Shape, TypeMeta};
#[doc(hidden)]
pub use self::types::{Contents, Count};
pub use self::variant::{VariantOf, VariantOfMeta};
pub use self::view::{ActualNames, ViewMeta};

/// A struct or enum with typed fields, stored inside documents; derive it with `#[derive(Embedded)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no fields that odm knows",
    label = "not a derived struct or enum with data",
    note = "derive it: `#[derive(Embedded)]` for what is stored inside documents, `#[derive(Document)]` for what has a collection"
)]
pub trait Embedded: FieldType {
    /// The typed fields at the root of a document of this type, for closures such as
    /// `|contact| contact.name.eq("Ada")` in an `elem_match`.
    type Fields<M>;

    /// The stored shape.
    const META: &'static EmbeddedMeta;

    /// Returns [`META`](Self::META). Metadata refers to this function instead of the constant, so that a
    /// model can contain itself.
    fn meta() -> &'static EmbeddedMeta {
        Self::META
    }

    /// The typed fields, each under `path`.
    fn fields<M>(path: Path) -> Self::Fields<M>;
}

/// The types that a [`Ref`](crate::types::Ref) or a [`DbRef`](crate::dbref::DbRef) can refer to.
///
/// Only a [`Document`] has an id to refer to. Derived types without a collection and scalars implement this trait, too, so
/// that rustc reports a `Ref<Address>` once, at the field that is declared with it, and not wherever the type is named.
///
/// ```
/// use odm::model::RefTarget;
/// use odm::prelude::*;
///
/// #[derive(Serialize, Deserialize, Document)]
/// #[odm(collection = "authors")]
/// struct Author {
///     #[serde(rename = "_id")]
///     id: String,
/// }
///
/// fn collection_of<T: RefTarget>(_: &Ref<T>) -> &'static str {
///     T::TARGET_COLLECTION
/// }
///
/// assert_eq!(collection_of(&Ref::<Author>::from("austen")), "authors");
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no collection",
    label = "not a document",
    note = "derive it: `#[derive(Document)]` with `#[odm(collection = \"…\")]`, and `#[serde(rename = \"_id\")]` on its id"
)]
pub trait RefTarget {
    /// The [`Id`](Document::Id) of a document; `()` for a type without a collection.
    type TargetId;

    /// The name of a document's collection, as declared; empty for a type without a collection.
    const TARGET_COLLECTION: &'static str = "";
}

/// A struct that has a collection: derive it with `#[derive(Document)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no collection",
    label = "not a document",
    note = "derive it: `#[derive(Document)]` with `#[odm(collection = \"…\")]`, and `#[serde(rename = \"_id\")]` on its id"
)]
pub trait Document:
    Embedded
    + RefTarget<TargetId = <Self as Document>::Id>
    + Serialize
    + DeserializeOwned
    + Send
    + Sync
    + 'static
{
    /// The type of the field stored as `_id`.
    type Id: FieldType + Serialize + DeserializeOwned + Clone + Send + Sync + 'static;

    /// The collection's name, indexes, validator and options, as declared.
    const MODEL: &'static ModelMeta;

    /// Returns [`MODEL`](Self::MODEL). Metadata refers to this function instead of the constant, so that models can
    /// refer to each other.
    fn model() -> &'static ModelMeta {
        Self::MODEL
    }

    /// The value stored as `_id`.
    fn id(&self) -> &Self::Id;
}

/// A document that writes can reach: every derived [`Document`] but a view (`#[odm(view(…))]`). The derive implements it.
///
/// A function that writes documents of any model is generic over `M: Document + Writable`; one that only reads them over `M: Document`.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/books.rs"));
/// use odm::model::Writable;
///
/// async fn replace_all<M: Document + Writable>(of: &Collection<M>, documents: &[M]) -> odm::Result<()> {
///     of.delete_all().await?;
///     of.insert_many(documents).await?;
///     Ok(())
/// }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (db, books) = three_books().await?;
/// replace_all(&books, &[book(9, "Emma", 1815)]).await?;
/// assert_eq!(books.count_documents(|_| Filter::all()).await?, 1);
/// # Ok(())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not stored, so it can't be written or watched",
    label = "a view, or a model that may be one",
    note = "MongoDB computes the documents of a view: write to, or watch, the model that it is declared `on`",
    note = "in a generic function, add the bound `odm::model::Writable`"
)]
pub trait Writable {}

/// A document of a capped collection (`#[odm(capped(size = …))]`), which can be [tailed](crate::Collection::tail); the derive
/// implements it.
#[diagnostic::on_unimplemented(
    message = "the collection of `{Self}` is not declared as capped, so it can't be tailed",
    label = "not a capped collection",
    note = "declare it with a size in bytes: `#[odm(capped(size = 1_048_576))]`; `watch` follows the changes of any collection"
)]
pub trait Tailable {}

/// A document with a field that is marked `#[odm(version)]`; the derive implements it.
#[diagnostic::on_unimplemented(
    message = "documents of `{Self}` have no version to increment",
    label = "no field of it is marked `version`",
    note = "add a field to the struct: `#[odm(version)] version: i64`"
)]
pub trait Versioned: Document {}

/// A collection as `#[derive(Document)]` declares it.
#[derive(Debug)]
pub struct ModelMeta {
    /// The Rust name of the struct, for messages.
    pub name: &'static str,
    /// The collection's name.
    pub collection: &'static str,
    /// The stored shape; `embedded().fields` are the top-level fields.
    pub embedded: fn() -> &'static EmbeddedMeta,
    /// The declared indexes in declaration order, those on fields before those on the struct.
    pub indexes: &'static [IndexMeta],
    /// Expression rules (`#[odm(rule("name", |m| …))]`), joined with the `$jsonSchema` by `$and`.
    pub rules: &'static [ExpressionRule],
    /// Whether the validator refuses documents with undeclared fields (`#[odm(deny_undeclared)]`).
    pub deny_undeclared: bool,
    /// `strict`, `moderate` or `off`.
    pub validation_level: ValidationLevel,
    /// `error` or `warn`.
    pub validation_action: ValidationAction,
    /// The bounds of a capped collection, beyond which it removes its oldest documents.
    pub capped: Option<Capped>,
    /// The largest size that a document may have (`#[odm(budget = "1MiB")]`).
    pub budget: Option<Budget>,
    /// The fields by which a cluster distributes the documents among its shards (`#[odm(shard_key(host = hashed, time))]`); empty
    /// for a collection that is not sharded.
    pub shard_key: &'static [KeyMeta],
    /// The size of a chunk in bytes, if the documents describe files of GridFS (`#[odm(gridfs)]`).
    pub gridfs: Option<u32>,
    /// The bucket that each document is (`#[odm(bucket(…))]`).
    #[doc(hidden)]
    pub bucket: Option<&'static BucketMeta>,
    /// The overflow whose documents these are (`#[odm(overflow(…))]`).
    #[doc(hidden)]
    pub overflow: Option<&'static OverflowMeta>,
    /// The options of a time-series collection (`#[odm(time_series(…))]`).
    #[doc(hidden)]
    pub time_series: Option<TimeSeriesMeta>,
    /// The versions of the documents, and the steps between them (`#[odm(schema(…))]`).
    pub schema: Option<&'static SchemaMeta>,
    /// The model and the stages that MongoDB computes the documents from, if the model is a view (`#[odm(view(…))]`).
    pub view: Option<&'static ViewMeta>,
    /// The enum that the model is a variant of, and the tag of its documents (`#[odm(variant_of = …)]`).
    pub variant_of: Option<&'static VariantOfMeta>,
    /// The models of the variants, if the model is an enum.
    pub variants: &'static [fn() -> &'static Self],
    /// Whether the collection keeps pre- and post-images of changed documents for change streams
    /// (`#[odm(change_stream_images)]`).
    pub change_stream_images: bool,
    /// The collection's default collation.
    pub collation: Option<CollationMeta>,
    /// The keywords that are computed from other fields: `keywords(from(title, body))`.
    pub keywords: &'static [KeywordsMeta],
    /// The relations that the struct declares besides the references in its fields; [`relations`](Self::relations) has
    /// both.
    pub declared_relations: &'static [RelationMeta],
    /// The trees that the documents form: `tree`.
    pub trees: &'static [&'static TreeMeta],
    /// The stored name of the field that makes `save` compare-and-set (`#[odm(version)]`).
    pub version: Option<&'static str>,
    /// The fields that writes set to the current time (`#[odm(created_at)]`, `#[odm(updated_at)]`).
    pub timestamps: Option<&'static TimestampsMeta>,
}

/// The field that counts the writes of a document.
#[derive(Debug, Clone)]
pub(crate) struct Version {
    /// The stored name.
    pub(crate) name: &'static str,
    /// What each write adds: 1, in the declared type. Where the field is missing, the result has the type of
    /// this operand, and the validator requires the declared type.
    pub(crate) one: Bson,
}

impl ModelMeta {
    /// A model without fields, indexes and options, from which others are made: `ModelMeta { name, ..ModelMeta::EMPTY }`.
    #[doc(hidden)]
    pub const EMPTY: Self = Self {
        name: "",
        collection: "",
        embedded: || const { &EmbeddedMeta::of("") },
        indexes: &[],
        rules: &[],
        deny_undeclared: false,
        validation_level: ValidationLevel::Strict,
        validation_action: ValidationAction::Error,
        capped: None,
        budget: None,
        gridfs: None,
        shard_key: &[],
        bucket: None,
        overflow: None,
        time_series: None,
        schema: None,
        view: None,
        variant_of: None,
        variants: &[],
        change_stream_images: false,
        collation: None,
        keywords: &[],
        declared_relations: &[],
        trees: &[],
        version: None,
        timestamps: None,
    };

    /// The version field, if the model has one.
    pub(crate) fn version(&self) -> Option<Version> {
        let name = self.version?;
        let mut fields = (self.embedded)().fields.iter();
        let is_long = fields.any(|field| {
            field.name == name && matches!(field.ty.shape, Shape::Scalar([BsonType::Long]))
        });
        let one = if is_long {
            Bson::Int64(1)
        } else {
            Bson::Int32(1)
        };
        Some(Version { name, one })
    }
}

/// The writes that MongoDB validates (`validationLevel`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ValidationLevel {
    /// Every insert and update is checked.
    #[default]
    Strict,
    /// Every insert is checked, and every update of a document that was valid before.
    Moderate,
    /// Nothing is checked.
    Off,
}

/// How MongoDB treats an invalid document (`validationAction`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ValidationAction {
    /// The write fails with code 121.
    #[default]
    Error,
    /// MongoDB accepts the write and logs a warning.
    Warn,
}

/// The largest size that a document may have. [`ModelMeta::check_budget`] compares it with the largest document that the
/// declared bounds allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// The declared size in bytes.
    pub max: u64,
    /// Why documents may exceed the budget, if they may.
    pub allow: Option<&'static str>,
}

/// The bounds of a capped collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capped {
    /// The size in bytes; MongoDB rounds it up to a multiple of 256.
    pub size: u64,
    /// The largest number of documents, if bounded.
    pub max: Option<u64>,
}
