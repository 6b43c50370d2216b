//! Stored paths of keys, with the arrays on their way.

use bson::{Bson, Document};

use crate::error::Result;
use crate::model::field::EmbeddedMeta;
use crate::model::{KeyKind, Shape, TypeMeta, name};

/// A stored path and the type of its field.
#[derive(Debug, Clone)]
pub(super) struct KeyPath {
    /// With dots between the names; empty for the whole document.
    pub(super) path: String,
    /// The type at the end of the path; `None` for the whole document.
    pub(super) ty: Option<TypeMeta>,
    /// The prefixes of the path that are arrays, including the whole path.
    pub(super) arrays: Vec<String>,
}

/// The stored path of the Rust fields `names`, from the struct down.
pub(super) fn resolve(meta: &'static EmbeddedMeta, names: &[&str]) -> Result<KeyPath> {
    let mut resolved = KeyPath {
        path: String::new(),
        ty: None,
        arrays: Vec::new(),
    };
    let mut names = names.to_vec();
    names.extend(ordered_by(meta, &names)?);
    for length in 1..=names.len() {
        let prefix = names.get(..length).unwrap_or(&names);
        let step = name::resolve(meta, prefix)?;
        resolved.path = step.path.to_string();
        resolved.ty = Some(step.ty);
        if matches!(step.ty.shape, Shape::Array { .. } | Shape::Tuple(_)) {
            resolved.arrays.push(resolved.path.clone());
        }
    }
    Ok(resolved)
}

/// The field that orders the values at the end of the path, if one does.
fn ordered_by(meta: &'static EmbeddedMeta, names: &[&str]) -> Result<Option<&'static str>> {
    if names.is_empty() {
        return Ok(None);
    }
    let mut ty = name::resolve(meta, names)?.ty;
    while let Shape::Array { element, .. } = ty.shape {
        ty = *element;
    }
    Ok(match ty.shape {
        Shape::Embedded(meta) => meta().ordered_by,
        _ => None,
    })
}

/// The key pattern.
pub(super) fn pattern(keys: &[(KeyPath, KeyKind)]) -> Document {
    let mut pattern = Document::new();
    for (KeyPath { path, .. }, kind) in keys {
        let (path, value) = match kind {
            KeyKind::Ascending => (path.clone(), Bson::Int32(1)),
            KeyKind::Descending => (path.clone(), Bson::Int32(-1)),
            KeyKind::Hashed => (path.clone(), "hashed".into()),
            KeyKind::Text { .. } if path.is_empty() => ("$**".to_owned(), "text".into()),
            KeyKind::Text { .. } => (path.clone(), "text".into()),
            KeyKind::Sphere => (path.clone(), "2dsphere".into()),
            KeyKind::Wildcard if path.is_empty() => ("$**".to_owned(), Bson::Int32(1)),
            KeyKind::Wildcard => (format!("{path}.$**"), Bson::Int32(1)),
        };
        pattern.insert(path, value);
    }
    pattern
}
