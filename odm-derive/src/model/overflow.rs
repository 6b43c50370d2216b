//! A declared overflow, resolved: its fields, and the index by which its documents are found.

use syn::Ident;

use super::rust_type::{Kind, kind};
use super::{Field, Model};
use crate::parse::container::Container;
use crate::parse::field::List;
use crate::parse::index::Index;
use crate::parse::overflow::Overflow;

/// The role of a field in an overflow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OverflowRole {
    List,
    By,
    Number,
}

impl OverflowRole {
    /// The role of the field with this name.
    fn of(overflow: &Overflow, ident: &Ident) -> Option<Self> {
        let roles = [
            (&overflow.by, Self::By),
            (&overflow.number, Self::Number),
            (&overflow.list, Self::List),
        ];
        let mut named = roles.into_iter().filter(|(name, _)| *name == ident);
        named.next().map(|(_, role)| role)
    }

    /// The role in a sentence about the field.
    pub(crate) fn sentence(self) -> &'static str {
        match self {
            Self::List => "holds the elements of the overflow",
            Self::By => "refers to the document whose list overflows",
            Self::Number => "numbers the overflow documents",
        }
    }
}

impl Model {
    /// The role of a field in the overflow that the struct declares.
    pub(crate) fn overflow_role(&self, field: &Field) -> Option<OverflowRole> {
        OverflowRole::of(self.attributes.overflow.as_ref()?, &field.ident)
    }
}

/// Bounds the list of the elements, and adds the index by which overflow documents are found.
pub(super) fn complete(container: &mut Container, fields: &mut [Field]) {
    let Some(overflow) = &container.overflow else {
        return;
    };
    let mut lists = fields.iter_mut();
    if let Some(list) = lists.find(|field| field.ident == overflow.list)
        && list.attributes.list.is_none()
        && let Kind::List(element) = kind(&list.ty)
    {
        let of_references = matches!(kind(element), Kind::Ref(_) | Kind::DbRef(_));
        list.attributes.list = Some(List {
            word: overflow.word.clone(),
            max: Some(overflow.max),
            allow: None,
            of_references,
        });
    }
    let keys = [&overflow.by, &overflow.number];
    let exists = |ident: &&Ident| fields.iter().any(|field| field.ident == **ident);
    if keys.iter().all(exists) && overflow.by != overflow.number {
        let keys = keys.into_iter().cloned().collect();
        let index = Index::of_tree(&overflow.word, keys, true);
        container.indexes.push(index);
    }
}
