//! Expiry: documents whose date in a TTL index is old enough are removed.

use std::ops::Bound;

use bson::DateTime;
use bson::raw::RawBsonRef;
use odm_language::value::key::Direction;

use crate::catalog::Catalog;
use crate::catalog::collection::Collection;
use crate::index::spec::Kind;
use crate::index::{self, RecordId};
use crate::txn::writer::Writer;

/// Removes the documents that have expired. Documents that an open transaction has written, and collections that are
/// being written, wait for the next run.
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
        // Any command may run the expiry, a read too, so it must not wait for writers.
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
                // A conflict only postpones the removal to the next run.
                let _ = writer.remove(record);
            }
            (writer.changed, ())
        });
    }
}

/// The records whose date in a TTL index has expired. Only ordered indexes store dates; hashed and other indexes find
/// none.
fn expired(collection: &Collection, now: DateTime) -> Vec<RecordId> {
    let mut records = Vec::new();
    for index in &collection.indexes {
        let spec = &*index.spec;
        let (Some(seconds), [part], Kind::Ordered) = (spec.ttl, &*spec.parts, spec.kind) else {
            continue;
        };
        let latest = now
            .timestamp_millis()
            .saturating_sub(seconds.saturating_mul(1000));
        let key = |millis| {
            let mut key = Vec::new();
            let date = RawBsonRef::DateTime(DateTime::from_millis(millis));
            index::append(&mut key, Some(date), part, spec);
            key
        };
        let (low, high) = match part.direction {
            Direction::Ascending => (key(i64::MIN), key(latest)),
            Direction::Descending => (key(latest), key(i64::MIN)),
        };
        let found = index.range(
            Bound::Included(&low),
            Bound::Included(&index::entry(&high, RecordId::MAX)),
            Direction::Ascending,
            usize::MAX,
        );
        records.extend(found.iter().map(|entry| index::record_of(entry)));
    }
    records.sort_unstable();
    records.dedup();
    records
}
