//! Models and their metadata: what a derive says about a struct, as plain constant data.
//!
//! [`Document`] is a struct that has a collection; [`Embedded`] one that lives inside others.
//! Both carry an [`EmbeddedMeta`]: the fields with their stored names, types and rules. Everything
//! that needs a stored name asks [`name`], and nothing else knows how serde renames.
//!
//! What this module is not: it sends nothing and builds no query. Generated code fills these
//! structures and contains no logic.

pub mod field;
pub mod index;
pub mod name;
pub mod path;
pub mod projection;
pub mod reference;
pub mod rule;
pub mod types;

use bson::Bson;
use serde::{Serialize, de::DeserializeOwned};

pub use self::field::{EmbeddedMeta, EnumMeta, FieldMeta, Presence, Tagging, VariantMeta};
pub use self::index::{CollationMeta, IndexMeta, KeyKind, KeyMeta};
pub use self::path::{Path, Segment};
pub use self::projection::Projection;
pub use self::reference::Ref;
pub use self::rule::{Bound, ExpressionRule, Rule};
pub use self::types::{BsonType, Contents, Count, FieldType, MapKey, Shape, TypeMeta};

/// A struct (or enum) that is stored inside documents: derive it with `#[derive(Embedded)]`.
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

    /// The stored shape, as a function: metadata refers to it, so that models can contain themselves.
    fn meta() -> &'static EmbeddedMeta {
        Self::META
    }

    /// The typed fields, each under `path`.
    fn fields<M>(path: Path) -> Self::Fields<M>;
}

/// A struct that has a collection: derive it with `#[derive(Document)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no collection",
    label = "not a document",
    note = "derive it: `#[derive(Document)]` with `#[odm(collection = \"…\")]`, and `#[serde(rename = \"_id\")]` on its id"
)]
pub trait Document: Embedded + Serialize + DeserializeOwned + Send + Sync + 'static {
    /// The type of the field stored as `_id`.
    type Id: FieldType + Serialize + DeserializeOwned + Clone + Send + Sync + 'static;

    /// The collection and all that is declared for it.
    fn model() -> &'static ModelMeta;

    /// The value stored as `_id`.
    fn id(&self) -> &Self::Id;
}

/// All that `#[derive(Document)]` declares of a collection.
#[derive(Debug)]
pub struct ModelMeta {
    /// The Rust name of the struct, for messages.
    pub name: &'static str,
    /// The collection's name.
    pub collection: &'static str,
    /// The stored shape; `embedded().fields` are the top-level fields.
    pub embedded: fn() -> &'static EmbeddedMeta,
    /// The declared indexes, those of field attributes first, in declaration order.
    pub indexes: &'static [IndexMeta],
    /// Expression validators (`#[odm(rule("name", |m| …))]`), conjoined with the `$jsonSchema`.
    pub rules: &'static [ExpressionRule],
    /// Whether documents with undeclared fields are refused (`#[odm(deny_undeclared)]`).
    pub deny_undeclared: bool,
    /// `strict`, `moderate` or `off`.
    pub validation_level: ValidationLevel,
    /// `error` or `warn`.
    pub validation_action: ValidationAction,
    /// The size in bytes and the number of documents at which a capped collection wraps.
    pub capped: Option<Capped>,
    /// Whether the collection keeps documents as they were and as they became, for change streams
    /// (`#[odm(change_stream_images)]`).
    pub change_stream_images: bool,
    /// The collection's default collation.
    pub collation: Option<CollationMeta>,
    /// The stored name of the field that makes `save` compare-and-set (`#[odm(version)]`).
    pub version: Option<&'static str>,
}

/// The field that counts the writes of a document.
#[derive(Debug, Clone)]
pub(crate) struct Version {
    /// The stored name.
    pub(crate) name: &'static str,
    /// What each write adds. A sum is as wide as its parts: this makes it as wide as the declared type,
    /// which the validator asks for.
    pub(crate) one: Bson,
}

impl ModelMeta {
    /// The version field, where the model has one.
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

/// How far the server checks existing documents (`validationLevel`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ValidationLevel {
    /// Every insert and update is checked.
    #[default]
    Strict,
    /// Updates of documents that were invalid before are let through.
    Moderate,
    /// Nothing is checked.
    Off,
}

/// What the server does with an invalid document (`validationAction`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ValidationAction {
    /// The write is refused with code 121.
    #[default]
    Error,
    /// The write is let through and logged.
    Warn,
}

/// The bounds of a capped collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capped {
    /// Bytes; the server rounds up to a multiple of 256.
    pub size: u64,
    /// Documents, if bounded.
    pub max: Option<u64>,
}
