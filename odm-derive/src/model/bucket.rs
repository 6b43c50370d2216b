//! A declared bucket, resolved: the list of its items, what it keeps of them, and the index by which it is found.

use quote::ToTokens;
use syn::{Ident, Type};

use super::rust_type::{Kind, kind};
use super::{Field, Model};
use crate::parse::bucket::{Bucket, KeptKind};
use crate::parse::container::Container;
use crate::parse::field::List;
use crate::parse::index::Index;

impl Model {
    /// The fields that hold a list of the items of the bucket.
    pub(crate) fn item_lists<'a>(&'a self, bucket: &'a Bucket) -> impl Iterator<Item = &'a Field> {
        let fields = self.fields().iter();
        fields.filter(|field| is_list_of(field, &bucket.of))
    }

    /// The fields that keep a value of this kind.
    pub(crate) fn keeping(&self, kind: KeptKind) -> impl Iterator<Item = &Field> {
        let fields = self.fields().iter();
        fields.filter(move |field| keeps(field, kind))
    }
}

fn keeps(field: &Field, kind: KeptKind) -> bool {
    let kept = field.attributes.kept.as_ref();
    kept.is_some_and(|kept| kept.kind == kind)
}

fn is_list_of(field: &Field, item: &Type) -> bool {
    let Kind::List(element) = kind(&field.ty) else {
        return false;
    };
    let text = |ty: &Type| ty.to_token_stream().to_string();
    !field.skipped && text(element) == text(item)
}

/// Bounds the list of the items, and adds the index by which buckets are found.
pub(super) fn complete(container: &mut Container, fields: &mut [Field]) {
    let Some(bucket) = &container.bucket else {
        return;
    };
    let mut lists = fields
        .iter_mut()
        .filter(|field| is_list_of(field, &bucket.of));
    if let (Some(items), None) = (lists.next(), lists.next())
        && items.attributes.list.is_none()
    {
        items.attributes.list = Some(List {
            word: bucket.word.clone(),
            max: Some(bucket.max),
            allow: None,
            of_references: false,
        });
    }
    let ident_of = |kind| {
        let field = fields.iter().find(|field| keeps(field, kind))?;
        Some(field.ident.clone())
    };
    let exists = |ident: &Ident| fields.iter().any(|field| field.ident == *ident);
    if let (Some(start), Some(count)) = (ident_of(KeptKind::Start), ident_of(KeptKind::Count))
        && bucket.by.iter().all(exists)
    {
        let keys = bucket.by.iter().cloned().chain([start]);
        let index = Index::of_bucket(&bucket.word, keys.collect(), count);
        container.indexes.push(index);
    }
}
