//! Property test: reads in a transaction with writes give the same answer with and without an index.

use bson::{Binary, Bson, Document, doc};
use proptest::prelude::*;

use super::{asks_for_all, documents, filter, ids, index, rows, run, shown, write};
use crate::Context;
use crate::command::state::Engine;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(
        std::env::var("ODM_LAWS").ok().and_then(|cases| cases.parse().ok()).unwrap_or(200)
    ))]

    #[test]
    fn indexes_do_not_change_answers_in_transactions(
        documents in documents(),
        indexes in proptest::collection::vec(index(), 1..4),
        writes in proptest::collection::vec(write(), 1..5),
        filters in proptest::collection::vec(filter(), 1..4),
        commits in any::<bool>(),
    ) {
        // With an index, these also find paths that end in an empty array.
        if filters.iter().chain(&writes).any(|asked| asks_for_all(&Bson::Document(asked.clone()))) {
            return Ok(());
        }
        let (engine, context) = (Engine::new(), Context::system());
        let run = |command: Document| run(&engine, &context, "x", &command);
        run(doc! { "create": "plain" });
        for (at, mut index) in indexes.into_iter().enumerate() {
            index.insert("name", format!("i{at}"));
            run(doc! { "createIndexes": "indexed", "indexes": [index] });
        }
        run(doc! { "create": "indexed" });
        for (mut document, id) in documents.into_iter().zip(0_i32..) {
            document.insert("_id", id);
            if run(doc! { "insert": "indexed", "documents": [document.clone()] }).get("n") == Some(&Bson::Int32(1)) {
                run(doc! { "insert": "plain", "documents": [document] });
            }
        }
        let before = |collection: &str| shown(&rows(&run(doc! { "find": collection, "sort": { "_id": 1 } })));
        let was = before("plain");
        let id = Binary { subtype: bson::spec::BinarySubtype::Uuid, bytes: vec![7; 16] };
        let started = std::cell::Cell::new(false);
        let within = |mut command: Document| {
            command.extend(doc! { "lsid": { "id": id.clone() }, "txnNumber": 1_i64, "autocommit": false });
            if !started.replace(true) {
                command.insert("startTransaction", true);
            }
            run(command)
        };
        let find = |collection: &str, filter: &Document| within(doc! { "find": collection, "filter": filter.clone(), "sort": { "_id": 1 } });
        for write in writes {
            let (command, statements) = if write.contains_key("limit") { ("delete", "deletes") } else { ("update", "updates") };
            let ask = |collection: &str| within(doc! { command: collection, statements: [write.clone()] });
            // An error aborts the transaction.
            let (indexed, plain) = (ask("indexed"), ask("plain"));
            let is_refused = |reply: &Document| reply.contains_key("writeErrors") || reply.contains_key("code");
            if is_refused(&indexed) || is_refused(&plain) {
                return Ok(());
            }
            prop_assert_eq!((indexed.get("n"), indexed.get("nModified")), (plain.get("n"), plain.get("nModified")));
            for filter in &filters {
                let plain = find("plain", filter);
                if plain.contains_key("code") {
                    return Ok(());
                }
                prop_assert_eq!(ids(&plain), ids(&find("indexed", filter)));
            }
        }
        // Other clients see none of it before the commit.
        prop_assert_eq!(&before("plain"), &was);
        prop_assert_eq!(&before("indexed"), &was);
        let all = |collection: &str| shown(&rows(&find(collection, &doc! {})));
        let own = all("plain");
        prop_assert_eq!(&all("indexed"), &own);
        let last = if commits { "commitTransaction" } else { "abortTransaction" };
        let mut end = doc! { last: 1 };
        end.extend(doc! { "lsid": { "id": id.clone() }, "txnNumber": 1_i64, "autocommit": false });
        let ended = crate::command::tests::run(&engine, &context, "admin", &end);
        prop_assert_eq!(ended.get("ok"), Some(&Bson::Double(1.0)), "{}", ended);
        let left = if commits { &own } else { &was };
        prop_assert_eq!(&before("plain"), left);
        prop_assert_eq!(&before("indexed"), left);
        for filter in &filters {
            let plain = run(doc! { "find": "plain", "filter": filter.clone(), "sort": { "_id": 1 } });
            if !plain.contains_key("code") {
                let indexed = run(doc! { "find": "indexed", "filter": filter.clone(), "sort": { "_id": 1 } });
                prop_assert_eq!(ids(&plain), ids(&indexed));
            }
        }
    }
}
