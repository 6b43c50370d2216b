//! A direct lookup returns what a plan for the same filter finds.

use bson::{Bson, Document, RawDocumentBuf, doc};
use proptest::prelude::*;

use super::{documents, scalar};
use crate::Context;
use crate::command::state::Engine;
use crate::command::tests::run;

fn filter() -> impl Strategy<Value = Document> {
    let few = proptest::collection::vec(scalar(), 0..5);
    let condition = prop_oneof![
        3 => few.prop_map(|values| Bson::from(doc! {"$in": values})),
        1 => scalar(),
    ];
    let path = prop_oneof![Just("a"), Just("_id"), Just("d")];
    (path, condition).prop_map(|(path, condition)| doc! {path: condition})
}

fn projection() -> impl Strategy<Value = Document> {
    let name = prop_oneof![
        3 => Just("_id"), 4 => Just("a"), 2 => Just("b"), 1 => Just("a.c"), 1 => Just("d"), 1 => Just("a.$"), 1 => Just("missing"),
    ];
    let one = prop_oneof![
        6 => Just(Bson::from(1)),
        2 => Just(Bson::from(true)),
        3 => Just(Bson::from(0)),
        1 => Just(Bson::from(-2.5)),
        1 => Just(Bson::from(0_i64)),
        1 => Just(Bson::from("$b")),
        1 => Just(Bson::Null),
        1 => Just(Bson::from(doc! {"$slice": 1})),
        1 => Just(Bson::from(doc! {"c": 1})),
    ];
    let fields = proptest::collection::vec((name, one), 0..4);
    fields.prop_map(|fields| {
        let fields = fields.into_iter();
        fields
            .map(|(name, value)| (name.to_owned(), value))
            .collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(
        std::env::var("ODM_LAWS").ok().and_then(|cases| cases.parse().ok()).unwrap_or(400)
    ))]

    #[test]
    fn direct_lookups_answer_as_plans_do(
        documents in documents(),
        filter in filter(),
        projection in projection(),
        direction in prop_oneof![Just(Some(1)), Just(Some(-1)), Just(None)],
        limit in 0..4_i32,
    ) {
        let (engine, context) = (Engine::new(), Context::system());
        let run = |command: Document| run(&engine, &context, "x", &command);
        if let Some(direction) = direction {
            run(doc! {"createIndexes": "c", "indexes": [{"key": {"a": direction}, "name": "a"}]});
        }
        for (mut document, id) in documents.into_iter().zip(0_i32..) {
            document.insert("_id", id);
            run(doc! {"insert": "c", "documents": [document]});
        }
        let find = doc! {"find": "c", "filter": filter, "projection": projection, "limit": limit};
        // Only commands without other options take the shortcut.
        let mut planned = find.clone();
        planned.insert("noCursorTimeout", false);
        // NaN equals itself only as bytes.
        let bytes = |command: Document| RawDocumentBuf::try_from(&run(command)).unwrap();
        prop_assert_eq!(bytes(find), bytes(planned));
    }
}
