//! Buckets of many small documents: `bucket`.

use std::sync::{LazyLock, RwLock};

use super::name;
use super::once::{Found, once};
use super::types::TypeMeta;
use super::{EmbeddedMeta, ModelMeta, path::Segment};
use crate::error::{DeclarationError, Error, Result};

/// A bucket, as `#[odm(bucket(…))]` declares it.
#[derive(Debug)]
pub struct BucketMeta {
    /// The stored shape of an item.
    pub item: fn() -> &'static EmbeddedMeta,
    /// The stored names of the fields that the items of a bucket share.
    pub by: &'static [&'static str],
    /// The stored name of the start of the span.
    pub start: &'static str,
    /// The Rust names, in an item, of the field by which items are ordered.
    pub time: &'static [&'static str],
    /// The stored name of the list of items.
    pub items: &'static str,
    /// The stored name of the count of items.
    pub count: &'static str,
    /// The most items of a bucket.
    pub max: u32,
    /// The length of the span, in milliseconds or in numbers.
    pub span: i64,
    /// The values that are kept of the items.
    pub kept: &'static [KeptMeta],
}

/// A value that a bucket keeps of its items.
#[derive(Debug)]
pub struct KeptMeta {
    /// The Rust name of the field.
    pub rust: &'static str,
    /// The stored name of the field.
    pub name: &'static str,
    /// What is kept.
    pub kind: KeptKind,
    /// The Rust names, in an item, of the field of which it is kept.
    pub path: &'static [&'static str],
}

/// What a bucket keeps of a field of its items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeptKind {
    /// `smallest`
    Smallest,
    /// `largest`
    Largest,
    /// `total`
    Total,
}

/// A bucket with the stored paths of its items.
#[derive(Debug)]
pub(crate) struct BucketShape {
    pub(crate) meta: &'static BucketMeta,
    /// The stored type of the start.
    pub(crate) start: &'static TypeMeta,
    /// The stored type of the count.
    pub(crate) count: &'static TypeMeta,
    /// The stored path, in an item, of the field by which items are ordered.
    pub(crate) time: String,
    pub(crate) kept: Vec<KeptField>,
}

/// A kept value, with the stored path of the field of which it is kept.
#[derive(Debug)]
pub(crate) struct KeptField {
    pub(crate) meta: &'static KeptMeta,
    /// The stored type of the kept value.
    pub(crate) ty: &'static TypeMeta,
    /// The stored path in an item.
    pub(crate) source: String,
}

static SHAPES: Found<BucketShape> = LazyLock::new(RwLock::default);

impl ModelMeta {
    /// The stored paths of a bucket.
    ///
    /// # Errors
    ///
    /// The model is no bucket, or keeps a value of a field that has several.
    pub(crate) fn bucket_shape(&'static self) -> Result<&'static BucketShape> {
        once(&SHAPES, self, || BucketShape::new(self)).map_err(|error| error.with_model(self.name))
    }

    /// Whether inserts into buckets write the field with this stored name.
    pub(super) fn is_kept_by_bucket(&self, name: &str) -> bool {
        self.bucket.is_some_and(|bucket| bucket.writes(name))
    }
}

impl BucketMeta {
    /// Whether each insert writes the field with this stored name, or may.
    pub(crate) const fn writes(&self, name: &str) -> bool {
        if name::same(self.items, name) || name::same(self.count, name) {
            return true;
        }
        let mut rest = self.kept;
        while let [kept, behind @ ..] = rest {
            if name::same(kept.name, name) {
                return true;
            }
            rest = behind;
        }
        false
    }
}

impl BucketShape {
    fn new(model: &'static ModelMeta) -> Result<Self> {
        let Some(meta) = model.bucket else {
            return Err(declaration("it is no bucket: declare `bucket(…)`"));
        };
        let kept = meta.kept.iter().map(|one| {
            Ok(KeptField {
                meta: one,
                ty: type_of(model, one.name)?,
                source: source(meta, one.path)?,
            })
        });
        Ok(Self {
            meta,
            start: type_of(model, meta.start)?,
            count: type_of(model, meta.count)?,
            time: source(meta, meta.time)?,
            kept: kept.collect::<Result<_>>()?,
        })
    }
}

/// How the field with this stored name is stored.
fn type_of(model: &'static ModelMeta, name: &str) -> Result<&'static TypeMeta> {
    let mut fields = (model.embedded)().fields.iter();
    let field = fields.find(|field| field.name == name);
    let missing = || declaration(&format!("it stores no `{name}`"));
    field.map(|field| &field.ty).ok_or_else(missing)
}

/// The stored path of a field of an item.
fn source(meta: &BucketMeta, path: &[&str]) -> Result<String> {
    let found = name::resolve((meta.item)(), path)?;
    let mut segments = found.path.segments();
    if found.through_array || !segments.all(|one| matches!(one, Segment::Name(_))) {
        let message = format!(
            "`{}` of `{}` has several values, or none by this name: name a field with one value in each item",
            path.join("."),
            (meta.item)().name
        );
        return Err(declaration(&message));
    }
    Ok(found.path.to_string())
}

fn declaration(message: &str) -> Error {
    Error::new(DeclarationError::new(message.to_owned()))
}
