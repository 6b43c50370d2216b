//! What follows from a model: resolved indexes, merged rules, relations, the implementation to write and the
//! assertions in it. `check` and `expand` read these facts, and neither derives them again.

pub(crate) mod assertions;
pub(crate) mod bucket;
pub(crate) mod document_enum;
pub(crate) mod field;
pub(crate) mod index;
pub(crate) mod overflow;
pub(crate) mod relations;
pub(crate) mod summaries;

use quote::ToTokens;
use syn::{Ident, Type};

use self::assertions::Assertions;
use self::bucket::BucketFacts;
use self::document_enum::DocumentEnum;
use self::field::FieldFacts;
use self::index::Index;
use self::overflow::OverflowFacts;
use self::relations::Relations;
use crate::model::rust_type::{holds_only_scalars, is_option, unknown_span};
use crate::model::{
    Derive, Enum, Field, Model, Opaque, Shape, Tagging, TupleValue, VariantContent,
};

/// The facts about a struct or an enum.
pub(crate) struct Facts<'a> {
    pub(crate) model: &'a Model,
    pub(crate) implementation: Implementation<'a>,
    pub(crate) id: Option<Id<'a>>,
    /// The variants of an enum whose values are documents, if its declaration is complete.
    pub(crate) document_enum: Option<DocumentEnum<'a>>,
    /// The named fields of the struct, or of the variants of the enum.
    pub(crate) fields: Vec<FieldFacts<'a>>,
    /// The indexes of a document: those on its fields, then those on the struct.
    pub(crate) indexes: Vec<Index<'a>>,
    /// The shard key, as the index that it needs.
    pub(crate) shard_key: Option<Index<'a>>,
    /// The distinct types of fields that may turn out to be no field types.
    pub(crate) unproven: Vec<&'a Type>,
    pub(crate) assertions: Assertions<'a>,
    pub(crate) relations: Relations<'a>,
    /// The bucket that a document is, if its declaration is complete.
    pub(crate) bucket: Option<BucketFacts<'a>>,
    /// The overflow whose documents these are, if its declaration is complete.
    pub(crate) overflow: Option<OverflowFacts<'a>>,
}

/// The field that is stored as `_id`.
pub(crate) struct Id<'a> {
    pub(crate) field: &'a Field,
    /// Its type, if that may turn out to be no field type.
    pub(crate) unproven: Vec<&'a Type>,
}

/// What a derive writes.
pub(crate) enum Implementation<'a> {
    /// Typed fields and metadata of a struct.
    Struct(&'a [Field]),
    /// Typed fields and metadata of an enum with data.
    Enum {
        shape: &'a Enum,
        /// Whether null is the stored form of a variant.
        nullable: bool,
    },
    /// What another type has.
    Forward {
        ty: &'a Type,
        /// Whether `Self(value)` constructs the type.
        wraps: bool,
        /// Whether the contents of the other type have to be read from its metadata.
        has_contents: bool,
    },
    /// A type of unknown contents, or of the BSON type that the attribute names.
    Opaque(&'a Opaque),
    /// An array of several values.
    Tuple {
        values: &'a [TupleValue],
        /// The types whose contents have to be read from their metadata.
        with_contents: Vec<&'a Type>,
    },
    /// One of a few strings.
    Choice(&'a [String]),
    /// Enough for other code to compile: the input is refused.
    Fallback,
}

impl<'a> Facts<'a> {
    /// Finds the facts about a model.
    pub(crate) fn new(model: &'a Model) -> Self {
        let fields = field::all(model);
        let indexes = index::all(model);
        let shard_key = index::of_shard_key(model);
        Self {
            model,
            implementation: Implementation::new(model),
            id: Id::new(model),
            document_enum: DocumentEnum::new(model),
            unproven: unproven(model, &model.stored_types()),
            assertions: Assertions::new(model, &fields, &indexes, shard_key.as_ref()),
            relations: Relations::new(model, &fields),
            bucket: BucketFacts::new(model),
            overflow: OverflowFacts::new(model),
            fields,
            indexes,
            shard_key,
        }
    }

    /// The fields of the struct itself, or of the variant with this name.
    pub(crate) fn fields_of(
        &self,
        variant: Option<&Ident>,
    ) -> impl Iterator<Item = &FieldFacts<'a>> {
        self.fields.iter().filter(move |one| one.variant == variant)
    }
}

impl<'a> Id<'a> {
    fn new(model: &'a Model) -> Option<Self> {
        let mut stored = model
            .fields()
            .iter()
            .filter(|field| !field.skipped && field.flatten.is_none());
        let field = stored.find(|field| field.stored == "_id")?;
        Some(Self {
            field,
            unproven: unproven(model, &[&field.ty]),
        })
    }
}

impl<'a> Implementation<'a> {
    fn new(model: &'a Model) -> Self {
        let has_documents =
            matches!(model.shape, Shape::Struct { .. }) || DocumentEnum::new(model).is_some();
        if model.derive == Derive::Document && (!has_documents || model.borrows().is_some()) {
            return Self::Fallback;
        }
        let has_contents = |ty: &Type| !model.depends_on_parameter(ty) && !holds_only_scalars(ty);
        match &model.shape {
            Shape::Struct { fields, .. } => Self::Struct(fields),
            Shape::Enum(shape) => Self::Enum {
                shape,
                nullable: stores_null(shape),
            },
            Shape::Forward { ty, wraps } => Self::Forward {
                ty,
                wraps: *wraps,
                has_contents: has_contents(ty),
            },
            Shape::Opaque(opaque) => Self::Opaque(opaque),
            Shape::Tuple(values) => Self::Tuple {
                values,
                with_contents: values
                    .iter()
                    .filter(|value| !value.is_opaque && has_contents(&value.ty))
                    .map(|value| &value.ty)
                    .collect(),
            },
            Shape::Choice(names) => Self::Choice(names),
            Shape::Unknown => Self::Fallback,
        }
    }
}

/// The error for a time in a time series that is of another type.
pub(crate) fn wrong_time(field: &Field) -> String {
    format!(
        "`{}` is the time of a document in a time series: declare it as a date that is never none, such as `DateTime`",
        field.rust
    )
}

/// Whether an untagged variant is stored as null.
fn stores_null(shape: &Enum) -> bool {
    matches!(shape.tagging, Tagging::Untagged)
        && shape.variants.iter().any(|variant| match &variant.content {
            VariantContent::Unit => true,
            VariantContent::Newtype(ty) => is_option(ty),
            _ => false,
        })
}

/// The distinct ones of `types` that may turn out to be no field types, where the struct is declared.
fn unproven<'a>(model: &Model, types: &[&'a Type]) -> Vec<&'a Type> {
    let mut seen: Vec<String> = Vec::new();
    let mut unproven = Vec::new();
    for &ty in types {
        let text = ty.to_token_stream().to_string();
        if unknown_span(ty).is_some() && !model.depends_on_parameter(ty) && !seen.contains(&text) {
            seen.push(text);
            unproven.push(ty);
        }
    }
    unproven
}

#[cfg(test)]
mod tests;
