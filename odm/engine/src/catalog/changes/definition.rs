//! What is told of how collections, views and indexes are made, changed and taken away.

use bson::raw::RawDocumentBuf;
use bson::spec::BinarySubtype;
use bson::{Binary, Bson, Document, doc};

use super::{Change, What};
use crate::catalog::collection::Collection;
use crate::catalog::namespace::Namespace;
use crate::catalog::view::View;

/// What became of a definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Definition {
    Create,
    CreateIndexes,
    DropIndexes,
    Modify,
}

/// A collection was made, under its own name or under the one that it had first, with its indexes.
pub(crate) fn created(collection: &Collection, first: Option<&Namespace>) -> Vec<Change> {
    let name = first.unwrap_or(&collection.namespace);
    let mut options = collection.options.document.clone();
    if let Some(id) = collection.index("_id_") {
        options.insert("idIndex", id.spec.document.clone());
    }
    let told = |kind, description| define(name, Some(collection.uuid), kind, &description, None);
    let mut changes = vec![told(Definition::Create, options)];
    // Each is built by itself while there are no documents.
    changes.extend(others(collection).map(|index| {
        let description = doc! { "indexes": [index] };
        told(Definition::CreateIndexes, description)
    }));
    changes
}

/// The same of one that is there for the time being only.
pub(crate) fn created_for_now(collection: &Collection, first: &Namespace) -> Vec<Change> {
    let mut changes = created(collection, Some(first));
    if let Some(What::Define { description, .. }) = changes.first_mut().map(|it| &mut it.what)
        && let Ok(mut options) = Document::try_from(&**description)
    {
        // It stands behind the bounds of a capped collection.
        let bounds = ["capped", "size", "max"];
        let bounds = bounds.map(|name| (name, options.remove(name)));
        let bounds = bounds
            .into_iter()
            .filter_map(|(name, value)| Some((name.to_owned(), value?)));
        let now: Document = bounds
            .chain([("temp".to_owned(), true.into())])
            .chain(std::mem::take(&mut options))
            .collect();
        *description = raw(&now);
    }
    changes
}

/// Indexes were built for a collection that was `before`.
pub(crate) fn indexes_created(before: &Collection, after: &Collection) -> Vec<Change> {
    let is_new = |index: &&Document| {
        let name = index.get_str("name").unwrap_or_default();
        before.index(name).is_none()
    };
    let made: Vec<Document> = others(after).filter(is_new).cloned().collect();
    let told = |indexes: Vec<Document>| {
        let description = doc! { "indexes": indexes };
        let kind = Definition::CreateIndexes;
        define(&after.namespace, Some(after.uuid), kind, &description, None)
    };
    match made.as_slice() {
        [] => Vec::new(),
        _ if before.len() == 0 => made.into_iter().map(|index| told(vec![index])).collect(),
        _ => vec![told(made)],
    }
}

/// Indexes with these names were dropped.
pub(crate) fn indexes_dropped(before: &Collection, names: &[String]) -> Vec<Change> {
    let dropped = names.iter().filter_map(|name| before.index(name));
    dropped
        .map(|index| {
            let description = doc! { "indexes": [&index.spec.kept] };
            let kind = Definition::DropIndexes;
            define(
                &before.namespace,
                Some(before.uuid),
                kind,
                &description,
                None,
            )
        })
        .collect()
}

/// Options of a collection changed, or those of an index, which it had as `index` tells.
pub(crate) fn modified(
    before: &Collection,
    description: &Document,
    index: Option<Document>,
) -> Change {
    let uuid = Binary {
        subtype: BinarySubtype::Uuid,
        bytes: before.uuid.to_vec(),
    };
    let mut options = doc! { "uuid": uuid };
    options.extend(before.options.document.clone());
    let mut state = doc! { "collectionOptions": options };
    if let Some(index) = index {
        state.insert("indexOptions", index);
    }
    let kind = Definition::Modify;
    define(
        &before.namespace,
        Some(before.uuid),
        kind,
        description,
        Some(&state),
    )
}

/// A view was made or changed.
pub(crate) fn viewed(view: &View, kind: Definition) -> Change {
    // What can't be told now could not be listed before.
    let mut description = view.options().unwrap_or_default();
    if !description.contains_key("pipeline") {
        description.insert("pipeline", Bson::Array(Vec::new()));
    }
    define(&view.namespace, None, kind, &description, None)
}

/// A view is gone.
pub(crate) fn view_dropped(namespace: &Namespace) -> Change {
    Change {
        namespace: namespace.clone(),
        uuid: None,
        what: What::Drop,
    }
}

/// The indexes but for that of `_id`, as they are kept.
fn others(collection: &Collection) -> impl Iterator<Item = &Document> {
    let specs = collection.indexes.iter().map(|index| &index.spec);
    specs.filter(|spec| !spec.is_id()).map(|spec| &spec.kept)
}

fn define(
    namespace: &Namespace,
    uuid: Option<[u8; 16]>,
    kind: Definition,
    description: &Document,
    before: Option<&Document>,
) -> Change {
    Change {
        namespace: namespace.clone(),
        uuid,
        what: What::Define {
            kind,
            description: raw(description),
            before: before.map(raw),
        },
    }
}

/// What is kept came as BSON, and so becomes BSON again.
fn raw(document: &Document) -> RawDocumentBuf {
    RawDocumentBuf::try_from(document).unwrap_or_default()
}
