//! Enums whose values are the documents of a collection.

use syn::Ident;

use super::shape::{Enum, Field, VariantContent};
use crate::parse::index::Index;

/// The indexes on fields of variants, as indexes of the collection: each key is named through the handle of its variant, and
/// each index has the documents of that variant alone.
pub(super) fn indexes(shape: &mut Enum) -> Vec<Index> {
    let mut indexes = Vec::new();
    for variant in &mut shape.variants {
        let handle = variant.handle();
        let stored = variant.stored.clone();
        let VariantContent::Struct(fields) = &mut variant.content else {
            continue;
        };
        for field in fields {
            for mut index in field.attributes.indexes.drain(..) {
                for key in &mut index.keys {
                    key.path.insert(0, handle.clone());
                }
                index.variant = Some(stored.clone());
                indexes.push(index);
            }
        }
    }
    indexes
}

impl super::Variant {
    /// The field of the variant that is stored as `_id`, if the variant names its fields.
    pub(crate) fn id(&self) -> Option<&Field> {
        let VariantContent::Struct(fields) = &self.content else {
            return None;
        };
        let mut stored = fields.iter().filter(|field| !field.skipped);
        stored.find(|field| field.flatten.is_none() && field.stored == "_id")
    }
}

impl Enum {
    /// Whether a path of typed fields may begin with this name: a variant, the tag or the id.
    pub(crate) fn begins_with(&self, first: &Ident) -> bool {
        first == "tag" || first == "id" || self.variants.iter().any(|one| one.handle() == *first)
    }
}
