//! Declared indexes, with each key resolved to the field that it begins with.

use proc_macro2::Span;
use syn::Ident;

use crate::model::rust_type::{Kind, element_kind, stored_kind};
use crate::model::{Derive, Field, Model};
use crate::parse::index::{Index as Declared, KeyKind};
use crate::parse::serde::unraw;

/// A declared index.
pub(crate) struct Index<'a> {
    pub(crate) declared: &'a Declared,
    /// The field that the index is declared on; none for the struct.
    pub(crate) on: Option<&'a Field>,
    pub(crate) keys: Vec<Key<'a>>,
    /// The fields that `only(…)` and `except(…)` name.
    pub(crate) projected: Vec<Path<'a>>,
}

/// A key of an index.
pub(crate) struct Key<'a> {
    pub(crate) path: Path<'a>,
    pub(crate) kind: KeyKind,
    /// The span of what follows the field, such as `desc`.
    pub(crate) kind_span: Option<Span>,
}

/// A field of the struct, or one nested in it. It is empty for the whole document.
#[derive(Clone, Copy)]
pub(crate) struct Path<'a> {
    pub(crate) idents: &'a [Ident],
    /// The field of the struct that the path begins with, if there is such a field.
    pub(crate) field: Option<&'a Field>,
}

/// The indexes of a document.
pub(super) fn all(model: &Model) -> Vec<Index<'_>> {
    if model.derive != Derive::Document {
        return Vec::new();
    }
    let on_fields = model.fields().iter().flat_map(|field| {
        let indexes = field.attributes.indexes.iter();
        indexes.map(move |index| Index::new(model, index, Some(field)))
    });
    let on_struct = model.attributes.indexes.iter();
    on_fields
        .chain(on_struct.map(|index| Index::new(model, index, None)))
        .collect()
}

/// The shard key of a document, as the index that it needs.
pub(super) fn of_shard_key(model: &Model) -> Option<Index<'_>> {
    let declared = model.attributes.shard_key.as_ref();
    let declared = declared.filter(|_| model.derive == Derive::Document)?;
    Some(Index::new(model, declared, None))
}

impl<'a> Index<'a> {
    fn new(model: &'a Model, declared: &'a Declared, on: Option<&'a Field>) -> Self {
        let keys = declared.keys.iter().map(|key| Key {
            path: Path::new(model, &key.path),
            kind: key.kind,
            kind_span: key.kind_span,
        });
        let projected = declared.projection.iter().flat_map(|one| &one.paths);
        Self {
            declared,
            on,
            keys: keys.collect(),
            projected: projected.map(|path| Path::new(model, path)).collect(),
        }
    }

    /// Every field that the index names.
    pub(crate) fn paths(&self) -> impl Iterator<Item = Path<'a>> {
        let keys = self.keys.iter().map(|key| key.path);
        keys.chain(self.projected.iter().copied())
    }

    /// Whether the keys begin with those of another index, of the same kinds.
    pub(crate) fn begins_with(&self, other: &Self) -> bool {
        let same =
            |(a, b): (&Key<'_>, &Key<'_>)| a.path.spelled() == b.path.spelled() && a.kind == b.kind;
        self.keys.len() >= other.keys.len() && self.keys.iter().zip(&other.keys).all(same)
    }

    /// Whether this is a text index.
    pub(crate) fn is_text(&self) -> bool {
        self.keys
            .iter()
            .any(|key| matches!(key.kind, KeyKind::Text(_)))
    }
}

impl Key<'_> {
    /// Whether the key is ascending or descending.
    pub(crate) fn is_ordered(&self) -> bool {
        matches!(self.kind, KeyKind::Ascending | KeyKind::Descending)
    }
}

impl<'a> Path<'a> {
    fn new(model: &'a Model, idents: &'a [Ident]) -> Self {
        let field = idents.first().and_then(|first| model.field(first));
        Self { idents, field }
    }

    /// The field of the struct that the path names, unless it names a nested one.
    pub(crate) fn own_field(&self) -> Option<&'a Field> {
        self.field.filter(|_| !self.is_nested())
    }

    /// Whether the path names a field inside a field.
    pub(crate) fn is_nested(&self) -> bool {
        self.idents.len() > 1
    }

    /// Whether one of two paths leads to the other.
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        self.idents.starts_with(other.idents) || other.idents.starts_with(self.idents)
    }

    /// The span of the last identifier.
    pub(crate) fn span(&self) -> Span {
        self.idents.last().map_or_else(Span::call_site, Ident::span)
    }

    /// `a.b`, as the attribute spells it.
    pub(crate) fn spelled(&self) -> String {
        self.idents.iter().map(unraw).collect::<Vec<_>>().join(".")
    }

    /// The kind of the field that the path begins with, unless the field has a serializer of its own.
    pub(crate) fn stored_kind(&self) -> Option<Kind<'a>> {
        let field = self.field.filter(|field| field.encoder.is_none())?;
        Some(stored_kind(&field.ty))
    }

    /// The kind of an element of the field that the path begins with, unless the field has a serializer of its
    /// own.
    pub(crate) fn element_kind(&self) -> Option<Kind<'a>> {
        let field = self.field.filter(|field| field.encoder.is_none())?;
        Some(element_kind(&field.ty))
    }

    /// Whether the spelling shows that the path begins with an array.
    pub(crate) fn begins_with_array(&self) -> bool {
        matches!(self.stored_kind(), Some(Kind::List(_)))
    }
}
