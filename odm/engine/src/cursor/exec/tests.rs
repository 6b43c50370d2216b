//! Plans give the same result for every batch size of work.

use std::sync::Arc;

use bson::{Document, RawDocumentBuf, doc};
use odm_language::expression::Globals;
use odm_language::matcher::Matcher;

use super::{Execution, Shared, Work};
use crate::catalog::collection::{Collection, EntryChanges, Version};
use crate::catalog::namespace::Namespace;
use crate::catalog::options::Options;
use crate::cursor::query::Deadline;
use crate::cursor::sort::Order;
use crate::planner::plan::{Node, Step};

fn raw(document: &Document) -> RawDocumentBuf {
    document.try_into().unwrap()
}

/// Records of all sizes, over several branches of leaves, with holes.
fn collection() -> Version {
    let namespace = Namespace::new("test", "c");
    let mut collection = Collection::new(namespace, [0; 16], Options::none(), Vec::new());
    let mut records = Vec::new();
    for number in 0..6_000_i32 {
        let body = "x".repeat(usize::try_from(number % 7 * number % 1_000).unwrap());
        let stored = raw(&doc! { "_id": number, "a": number * 7 % 101, "body": body });
        let record = collection.shared.next_record();
        collection.apply(&EntryChanges::nothing(record), Some(stored.as_bytes()));
        records.push(record);
    }
    for record in records.iter().filter(|record| **record % 50 < 20) {
        collection.apply(&EntryChanges::nothing(*record), None);
    }
    Version::new(collection)
}

#[test]
fn work_is_counted_the_same_in_batches() {
    let records = |backwards| Node::leaf(Step::Records { backwards });
    let nodes = [
        records(false),
        records(true),
        records(false).under(Step::Skip(7)).under(Step::Limit(5)),
        records(true).under(Step::Sort { limit: Some(4) }),
        records(false).under(Step::Sort { limit: Some(300) }),
        records(false).under(Step::Sort { limit: None }),
        records(false)
            .under(Step::Sort { limit: Some(9) })
            .under(Step::Skip(2))
            .under(Step::Project),
        Node::leaf(Step::Nothing),
    ];
    let collection = collection();
    let Ok(Order::Fields(sort)) = Order::parse(Some(&raw(&doc! { "a": -1, "_id": 1 }))) else {
        panic!("a sort by fields");
    };
    for filter in [
        doc! {},
        doc! { "a": { "$lt": 3 }, "_id": { "$gte": 100 } },
        doc! { "a": -1 },
    ] {
        let matcher =
            Matcher::parse(&raw(&filter), &Globals::new(bson::DateTime::from_millis(0))).unwrap();
        let shared = Shared {
            keys: None,
            collection: Version::clone(&collection),
            matcher: Some(Arc::new(matcher)),
            behind_index: None,
            sort: Some(Arc::new(sort.clone())),
            collation: None,
            made_of: None,
            memory: None,
            scores: None,
            near: None,
        };
        for node in &nodes {
            let execution = || Execution::new(node, shared.clone(), Deadline::none());
            let (mut one_by_one, mut at_once) = (execution(), execution());
            let mut expected = Vec::new();
            loop {
                match one_by_one.work().unwrap() {
                    Work::Row((record, bytes)) => expected.push((record, bytes.to_vec())),
                    Work::Again => {}
                    Work::End => break,
                }
            }
            let found: Vec<_> = at_once
                .by_ref()
                .map(|row| row.map(|(record, bytes)| (record, bytes.to_vec())).unwrap())
                .collect();
            assert_eq!(found, expected, "{node:?} {filter}");
            assert_eq!(
                format!("{:?}", at_once.root.all_counters()),
                format!("{:?}", one_by_one.root.all_counters()),
                "{node:?} {filter}"
            );
        }
    }
}
