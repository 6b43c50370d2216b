//! The events for collections, views and indexes that are created, modified and dropped.

use bson::raw::RawDocumentBuf;
use bson::spec::BinarySubtype;
use bson::{Binary, Bson, Document, doc};

use super::{ChangeKind, LoggedChange};
use crate::catalog::collection::Collection;
use crate::catalog::namespace::Namespace;
use crate::catalog::view::View;

/// What happened to a definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Definition {
    Create,
    CreateIndexes,
    DropIndexes,
    Modify,
}

/// The events of a new collection and its indexes, under its own name or under the `first` one, before a rename.
pub(crate) fn created(collection: &Collection, first: Option<&Namespace>) -> Vec<LoggedChange> {
    let name = first.unwrap_or(&collection.namespace);
    let mut options = collection.options.document.clone();
    if let Some(id) = collection.index("_id_") {
        options.insert("idIndex", id.spec.document.clone());
    }
    let logged = |kind, description| define(name, Some(collection.uuid), kind, &description, None);
    let mut changes = vec![logged(Definition::Create, options)];
    // On an empty collection, MongoDB logs one event for each index.
    changes.extend(others(collection).map(|index| {
        let description = doc! { "indexes": [index] };
        logged(Definition::CreateIndexes, description)
    }));
    changes
}

/// Like [`created`], for a temporary collection: adds `temp: true`.
pub(crate) fn created_for_now(collection: &Collection, first: &Namespace) -> Vec<LoggedChange> {
    let mut changes = created(collection, Some(first));
    if let Some(ChangeKind::Define { description, .. }) = changes.first_mut().map(|it| &mut it.what)
        && let Ok(mut options) = Document::try_from(&**description)
    {
        // `temp` comes after the bounds of a capped collection.
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

/// The events of the indexes that `after` has and `before` has not.
pub(crate) fn indexes_created(before: &Collection, after: &Collection) -> Vec<LoggedChange> {
    let is_new = |index: &&Document| {
        let name = index.get_str("name").unwrap_or_default();
        before.index(name).is_none()
    };
    let made: Vec<Document> = others(after).filter(is_new).cloned().collect();
    let logged = |indexes: Vec<Document>| {
        let description = doc! { "indexes": indexes };
        let kind = Definition::CreateIndexes;
        define(&after.namespace, Some(after.uuid), kind, &description, None)
    };
    match made.as_slice() {
        [] => Vec::new(),
        _ if before.len() == 0 => made.into_iter().map(|index| logged(vec![index])).collect(),
        _ => vec![logged(made)],
    }
}

/// The events of the dropped indexes with these names.
pub(crate) fn indexes_dropped(before: &Collection, names: &[String]) -> Vec<LoggedChange> {
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

/// The event of a `collMod`. `index` has the earlier options of the modified index.
pub(crate) fn modified(
    before: &Collection,
    description: &Document,
    index: Option<Document>,
) -> LoggedChange {
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

/// The event of a view that was created or modified.
pub(crate) fn viewed(view: &View, kind: Definition) -> LoggedChange {
    // `options` fails only for a view that could not have been listed in `system.views`.
    let mut description = view.options().unwrap_or_default();
    if !description.contains_key("pipeline") {
        description.insert("pipeline", Bson::Array(Vec::new()));
    }
    define(&view.namespace, None, kind, &description, None)
}

/// The event of a dropped view.
pub(crate) fn view_dropped(namespace: &Namespace) -> LoggedChange {
    LoggedChange {
        namespace: namespace.clone(),
        uuid: None,
        what: ChangeKind::Drop,
    }
}

/// The stored specifications of all indexes except that of `_id`.
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
) -> LoggedChange {
    LoggedChange {
        namespace: namespace.clone(),
        uuid,
        what: ChangeKind::Define {
            kind,
            description: raw(description),
            before: before.map(raw),
        },
    }
}

/// The documents were read from BSON, so the conversion back does not fail.
fn raw(document: &Document) -> RawDocumentBuf {
    RawDocumentBuf::try_from(document).unwrap_or_default()
}
