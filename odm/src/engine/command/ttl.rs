//! Expiry: documents whose date in a TTL index is old enough are removed.

use bson::DateTime;
use bson::raw::{RawBsonRef, RawDocument};

use crate::engine::catalog::Catalog;
use crate::engine::catalog::collection::Collection;
use crate::engine::index::RecordId;
use crate::engine::index::tree::records::Stored;
use crate::engine::txn::writer::Writer;
use crate::value::path::Path;
use crate::value::raw;

/// Removes what has expired by now. A document that an open transaction has written stays for the next time, and so do
/// those of a collection in which somebody is writing.
pub(crate) fn expire(catalog: &Catalog, now: DateTime) {
    let root = catalog.root();
    let namespaces: Vec<_> = root
        .databases()
        .flat_map(|database| root.database(database))
        .filter(|collection| !expired(collection, now).is_empty())
        .map(|collection| collection.namespace.clone())
        .collect();
    drop(root);
    for namespace in namespaces {
        // Any command may find itself looking after what expires, a reader's too: it waits for no writer.
        catalog.try_write(&namespace, |draft, locks| {
            let records = expired(draft.collection(), now);
            let mut writer = Writer {
                draft,
                locks,
                inside: None,
                changed: false,
                bypass_validation: true,
            };
            for record in records {
                // A conflict only postpones it.
                let _ = writer.remove(record);
            }
            (writer.changed, ())
        });
    }
}

fn expired(collection: &Collection, now: DateTime) -> Vec<RecordId> {
    let mut records = Vec::new();
    for index in &collection.indexes {
        let (Some(seconds), Some(path)) = (index.spec.ttl, index.spec.paths.first()) else {
            continue;
        };
        let latest = now
            .timestamp_millis()
            .saturating_sub(seconds.saturating_mul(1000));
        for Stored { record, bytes, .. } in collection.all() {
            let Ok(document) = RawDocument::from_bytes(bytes) else {
                continue;
            };
            let covered = index
                .spec
                .partial
                .as_ref()
                .is_none_or(|partial| partial.matcher.matches(document).unwrap_or(false));
            if covered && oldest(document, path).is_some_and(|date| date <= latest) {
                records.push(record);
            }
        }
    }
    records.sort_unstable();
    records.dedup();
    records
}

/// The earliest date at the path: of an array, that of its elements.
fn oldest(document: &RawDocument, path: &Path) -> Option<i64> {
    path.get_all(document)
        .into_iter()
        .flat_map(|value| match value {
            RawBsonRef::Array(array) => raw::values(array).collect(),
            value => vec![value],
        })
        .filter_map(|value| match value {
            RawBsonRef::DateTime(date) => Some(date.timestamp_millis()),
            _ => None,
        })
        .min()
}
