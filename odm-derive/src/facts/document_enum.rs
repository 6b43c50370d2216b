//! The variants of an enum whose values are the documents of a collection.

use syn::Type;

use crate::model::{Field, Model, Tagging, Variant, VariantContent};

/// An enum whose values are the documents of a collection.
pub(crate) struct DocumentEnum<'a> {
    pub(crate) tag: String,
    pub(crate) variants: Vec<DocumentVariant<'a>>,
}

/// A variant, whose values are documents.
pub(crate) struct DocumentVariant<'a> {
    pub(crate) variant: &'a Variant,
    pub(crate) holds: Holds<'a>,
}

/// Where a variant has its fields.
#[derive(Clone, Copy)]
pub(crate) enum Holds<'a> {
    /// In a struct that is a model.
    Model(&'a Type),
    /// In the enum itself; this one is stored as `_id`.
    Fields(&'a Field),
}

impl<'a> DocumentEnum<'a> {
    pub(super) fn new(model: &'a Model) -> Option<Self> {
        let shape = model.document_enum()?;
        let Tagging::Internal(tag) = &shape.tagging else {
            return None;
        };
        if shape.skipped.is_some() || !model.generics.params.is_empty() {
            return None;
        }
        let variants = shape.variants.iter().map(|variant| {
            let holds = match &variant.content {
                VariantContent::Newtype(ty) => Holds::Model(ty),
                VariantContent::Struct(_) => Holds::Fields(variant.id()?),
                VariantContent::Unit | VariantContent::Opaque | VariantContent::Tuple(_) => {
                    return None;
                }
            };
            Some(DocumentVariant { variant, holds })
        });
        Some(Self {
            tag: tag.value(),
            variants: variants.collect::<Option<_>>()?,
        })
    }

    /// The models of the variants.
    pub(crate) fn models(&self) -> impl Iterator<Item = (&'a Variant, &'a Type)> {
        self.variants.iter().filter_map(|one| match one.holds {
            Holds::Model(ty) => Some((one.variant, ty)),
            Holds::Fields(_) => None,
        })
    }
}
