//! The fields of a struct and the variants of an enum, as they are stored.

use std::fmt;

use super::relation::CounterpartMeta;
use super::rule::Rule;
use super::types::{Shape, TypeMeta};
use super::{ModelMeta, ProjectedField};

/// The stored shape of a struct or an enum.
#[derive(Debug)]
pub struct EmbeddedMeta {
    /// The Rust name, for messages.
    pub name: &'static str,
    /// The fields of a struct, in declaration order. For an enum, the fields that every variant has at this
    /// level: the tag, if the enum is internally or adjacently tagged.
    pub fields: &'static [FieldMeta],
    /// Set for an enum.
    pub variants: Option<EnumMeta>,
    /// Whether a subdocument with undeclared fields is refused (`#[odm(deny_undeclared)]`).
    pub deny_undeclared: bool,
    /// The Rust name of the field that values are ordered by: an index on a value is one on this field.
    pub ordered_by: Option<&'static str>,
    /// How many values of the type may be inside each other (`#[odm(depth = N)]`).
    pub depth: Option<u32>,
    /// Whether values keep fields that are not declared, so that their size has no bound.
    pub open: bool,
}

impl EmbeddedMeta {
    /// A struct without fields and options, from which others are made: `EmbeddedMeta { fields, ..EmbeddedMeta::of(name) }`.
    #[doc(hidden)]
    pub const fn of(name: &'static str) -> Self {
        Self {
            name,
            fields: &[],
            variants: None,
            deny_undeclared: false,
            ordered_by: None,
            depth: None,
            open: false,
        }
    }
}

/// One field of a struct or of a struct variant. Fields that serde always skips have no metadata.
#[derive(Debug)]
pub struct FieldMeta {
    /// The Rust identifier, as attributes and messages name it.
    pub rust: &'static str,
    /// The stored name, as serde writes it. Empty where `flatten` is set.
    pub name: &'static str,
    /// Further names under which serde reads the field (`#[serde(alias = "…")]`).
    pub aliases: &'static [&'static str],
    /// The type as it is stored.
    pub ty: TypeMeta,
    /// Whether the field is in every stored document.
    pub presence: Presence,
    /// Whether the fields of `ty` are stored at this level (`#[serde(flatten)]`).
    pub flatten: bool,
    /// The validation rules, beyond the type.
    pub rules: &'static [Rule],
    /// The unique field of another model whose values are stored here (`#[odm(refers_to(Book, by = isbn))]`).
    pub refers_to: Option<KeyReferenceMeta>,
    /// The relation that the other model declares, if this reference is its other side (`#[odm(rest_of = details)]`,
    /// `recent_in`, `two_way`).
    pub counterpart: Option<CounterpartMeta>,
    /// The field of another document whose value is copied here (`#[odm(copy_of(host.ipaddr))]`).
    pub copy_of: Option<CopyMeta>,
    /// Whether the value changes often (`#[odm(often)]`): a copy of it needs a reason.
    pub often: bool,
    /// Why a list or a map of documents or references has no bound (`#[odm(unbounded = "the reason")]`).
    pub unbounded: Option<&'static str>,
    /// The value that is computed here from documents of another model (`#[odm(count_of(reviews))]`).
    pub summary: Option<SummaryMeta>,
}

impl FieldMeta {
    /// A field that is always written, without rules.
    pub(crate) const fn always(rust: &'static str, name: &'static str, ty: TypeMeta) -> Self {
        Self {
            rust,
            name,
            aliases: &[],
            ty,
            presence: Presence::of(&ty),
            flatten: false,
            rules: &[],
            refers_to: None,
            counterpart: None,
            copy_of: None,
            often: false,
            unbounded: None,
            summary: None,
        }
    }
}

/// A copy of a field of another document: `#[odm(copy_of(host.ipaddr))]`.
#[derive(Debug, Clone, Copy)]
pub struct CopyMeta {
    /// The Rust name of the reference, in the same struct.
    pub reference: &'static str,
    /// The Rust names, in the other model, from the struct down to the copied field; empty for a struct that is a projection
    /// of the other model.
    pub path: &'static [&'static str],
    /// The fields of such a projection.
    pub projected: &'static [ProjectedField],
    /// Whether a filled copy stays as it is when the other field changes.
    pub once: bool,
    /// How old a copy may become, if its age decides when it is written again.
    pub refresh: Option<RefreshMeta>,
}

/// The age at which a copy is written again: `#[odm(copy_of(product.price, refresh(older_than = "1d", at = checked)))]`.
#[derive(Debug, Clone, Copy)]
pub struct RefreshMeta {
    /// The greatest age in seconds.
    pub older_than: u32,
    /// The Rust name of the field with the time of the copy, in the same struct.
    pub at: &'static str,
}

/// A summary of the documents of a relation: `#[odm(sum_of(reviews.helpful))]`.
#[derive(Debug, Clone, Copy)]
pub struct SummaryMeta {
    /// The function that computes it.
    pub kind: SummaryKind,
    /// The name of the relation, which the same model declares.
    pub relation: &'static str,
    /// The Rust names, in the other model, from the struct down to the summarized field; empty for a count.
    pub path: &'static [&'static str],
}

/// What a summary computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SummaryKind {
    /// The number of documents: `count_of`.
    Count,
    /// The sum of their numbers: `sum_of`.
    Sum,
    /// The smallest of their values: `min_of`.
    Min,
    /// The largest of their values: `max_of`.
    Max,
    /// The mean of their numbers: `mean_of`.
    Mean,
}

impl fmt::Display for SummaryKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Count => "count",
            Self::Sum => "sum",
            Self::Min => "minimum",
            Self::Max => "maximum",
            Self::Mean => "mean",
        })
    }
}

/// A reference to a unique field other than the `_id`.
#[derive(Debug, Clone, Copy)]
pub struct KeyReferenceMeta {
    /// The model that the field refers to; behind a function, so that models can refer to each other.
    pub target: fn() -> &'static ModelMeta,
    /// The Rust name of the unique field.
    pub by: &'static str,
    /// Whether the field is a list of keys.
    pub is_list: bool,
}

/// Whether a field is in every stored document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// Always written, and a document without it can't be read: `required` in the schema.
    Always,
    /// Always written; a document without it, such as an older one, is read with a default: `#[serde(default)]`, or the
    /// `None` of an `Option`.
    Defaulted,
    /// Left out by `skip_serializing_if`, or only read (`skip_serializing`).
    Sometimes,
}

impl Presence {
    /// The presence of a field that has neither a default nor a serializer of its own.
    #[doc(hidden)]
    pub const fn of(ty: &TypeMeta) -> Self {
        // `Bson` can be null, but serde does not read a missing field as one.
        if ty.nullable && !matches!(ty.shape, Shape::Any) {
            Self::Defaulted
        } else {
            Self::Always
        }
    }
}

/// The variants of an enum.
#[derive(Debug)]
pub struct EnumMeta {
    /// How serde marks which variant a value is.
    pub tagging: Tagging,
    /// The variants, in declaration order.
    pub variants: &'static [VariantMeta],
}

/// How serde writes an enum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tagging {
    /// `{Circle: {radius: 1}}`, or `"Unit"`: serde's default.
    External,
    /// `{type: "Circle", radius: 1}`: `#[serde(tag = "type")]`.
    Internal {
        /// The stored name of the tag.
        tag: &'static str,
    },
    /// `{t: "Circle", c: {radius: 1}}`: `#[serde(tag = "t", content = "c")]`.
    Adjacent {
        /// The stored name of the tag.
        tag: &'static str,
        /// The stored name of the content.
        content: &'static str,
    },
    /// `{radius: 1}`: `#[serde(untagged)]`.
    Untagged,
}

/// One variant of an enum.
#[derive(Debug)]
pub struct VariantMeta {
    /// The Rust identifier.
    pub rust: &'static str,
    /// The stored name.
    pub name: &'static str,
    /// The content of the variant.
    pub content: VariantContent,
}

/// The content of an enum's variant.
#[derive(Debug)]
pub enum VariantContent {
    /// Nothing.
    Unit,
    /// One value, written as it is.
    Newtype(TypeMeta),
    /// Several values, written as an array.
    Tuple(&'static [TypeMeta]),
    /// Named fields.
    Struct(&'static [FieldMeta]),
}
