//! The facts about a bucket: its fields, if the struct declares all of them.

use syn::{Ident, Type};

use super::relations::spelled;
use crate::model::{Derive, Field, Model};
use crate::parse::bucket::{Bucket, Kept, KeptKind, Length};
use crate::parse::serde::unraw;

/// A bucket whose declaration is complete.
pub(crate) struct BucketFacts<'a> {
    pub(crate) bucket: &'a Bucket,
    /// The fields that its items share.
    pub(crate) by: Vec<&'a Field>,
    /// The start of its span, and the path of the time in an item.
    pub(crate) start: &'a Field,
    pub(crate) time: &'a [Ident],
    pub(crate) items: &'a Field,
    pub(crate) count: &'a Field,
    pub(crate) kept: Vec<KeptFacts<'a>>,
}

/// A value that a bucket keeps of a field of its items.
pub(crate) struct KeptFacts<'a> {
    pub(crate) field: &'a Field,
    pub(crate) kept: &'a Kept,
}

impl<'a> BucketFacts<'a> {
    pub(super) fn new(model: &'a Model) -> Option<Self> {
        let bucket = model.attributes.bucket.as_ref()?;
        if model.derive != Derive::Document || !model.generics.params.is_empty() {
            return None;
        }
        let by: Option<Vec<&Field>> = bucket.by.iter().map(|ident| model.field(ident)).collect();
        let start = model.keeping(KeptKind::Start).next()?;
        let kept = model.fields().iter().filter_map(|field| {
            let kept = field.attributes.kept.as_ref()?;
            let is_value = !matches!(kept.kind, KeptKind::Start | KeptKind::Count);
            is_value.then_some(KeptFacts { field, kept })
        });
        Some(Self {
            bucket,
            by: by?,
            start,
            time: &start.attributes.kept.as_ref()?.path,
            items: model.item_lists(bucket).next()?,
            count: model.keeping(KeptKind::Count).next()?,
            kept: kept.collect(),
        })
    }
}

/// The role of a field in a bucket, for errors.
pub(crate) fn role(model: &Model, field: &Field) -> Option<&'static str> {
    let bucket = model.attributes.bucket.as_ref()?;
    if let Some(kept) = &field.attributes.kept {
        return Some(match kept.kind {
            KeptKind::Start => "is the start of the bucket's span",
            KeptKind::Count => "counts the items of the bucket",
            KeptKind::Smallest | KeptKind::Largest | KeptKind::Total => {
                "is kept of the items of the bucket"
            }
        });
    }
    if bucket.by.iter().any(|ident| unraw(ident) == field.rust) {
        return Some("is part of the bucket's key");
    }
    let mut lists = model.item_lists(bucket);
    lists
        .any(|list| list.rust == field.rust)
        .then_some("holds the items of the bucket")
}

/// The error for a start that can't be the start of a span of this length.
pub(crate) fn wrong_start(bucket: &Bucket, field: &Field) -> String {
    let rust = &field.rust;
    match bucket.length {
        Length::Time(_) => format!(
            "`{rust}` is the start of a span of time: declare it as a date that is never none, such as `DateTime`; for items that are ordered by a whole number, write a number: `span = 1_000`"
        ),
        Length::Numbers(_) => format!(
            "`{rust}` is the start of a span of numbers: declare it as an integer that is never none, such as `i64`; for items that are ordered by a date, write `span = \"1h\"`"
        ),
    }
}

/// The error for a count of another type.
pub(crate) fn wrong_count(field: &Field) -> String {
    format!(
        "`{}` counts items: declare it as an integer that is never none, such as `i32`",
        field.rust
    )
}

/// The error for a total of another type.
pub(crate) fn wrong_total(field: &Field) -> String {
    format!(
        "`{}` is a total: declare it as a number that is never none, such as `i64` or `f64`",
        field.rust
    )
}

/// The error for an `_id` that MongoDB does not make.
pub(crate) fn wrong_id(field: &Field) -> String {
    format!(
        "MongoDB makes the `_id` when a bucket is opened: declare `{}` as `ObjectId` or `Id<Self>`",
        field.rust
    )
}

/// The error for a field that has no value when a bucket is opened.
pub(crate) fn unset(field: &Field) -> String {
    format!(
        "a bucket is opened without `{}`: declare it as an `Option`, or with `#[serde(default)]`",
        field.rust
    )
}

/// The errors for the field of items from which a value is kept: it is in a list, it is not a number or a date, it has another form.
pub(crate) struct SourceErrors {
    pub(crate) several: String,
    pub(crate) no_measure: String,
    pub(crate) other_form: String,
}

impl SourceErrors {
    pub(crate) fn new(item: &Type, path: &[Ident], field: &Field, kind: KeptKind) -> Self {
        let path: Vec<String> = path.iter().map(unraw).collect();
        let (path, item, rust) = (path.join("."), spelled(item), &field.rust);
        Self {
            several: format!(
                "`{path}` of `{item}` is a list, or in one: name a field with one value in each item"
            ),
            no_measure: match kind {
                KeptKind::Total => {
                    format!(
                        "`{path}` of `{item}` is not a number that `{rust}` can add up: declare the total of integers as `i64`, of doubles as `f64`, and of decimals as `Decimal128`"
                    )
                }
                KeptKind::Start => format!(
                    "`{path}` of `{item}` is neither a date nor an integer: the items of a bucket are ordered by one of them"
                ),
                _ => format!(
                    "`{path}` of `{item}` is neither a number nor a date: a bucket keeps the smallest and the largest of those"
                ),
            },
            other_form: format!(
                "`{rust}` and `{path}` of `{item}` are stored as different types; give both the same serializer"
            ),
        }
    }
}
