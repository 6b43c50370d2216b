//! No command document makes the engine panic.

use bson::raw::RawDocumentBuf;
use bson::{Bson, Document, doc};
use proptest::prelude::*;

use crate::command::state::Engine;
use crate::{COMMON_FIELDS, Context, known_commands};

fn names() -> Vec<&'static str> {
    known_commands()
        .iter()
        .map(|command| command.name)
        .collect()
}

fn fields() -> Vec<&'static str> {
    let fields = known_commands().iter().flat_map(|command| command.fields);
    let names = fields.map(|field| field.name);
    names.chain(COMMON_FIELDS.iter().copied()).collect()
}

const KEYS: &[&str] = &[
    "_id",
    "a",
    "a.b",
    "",
    "$set",
    "$inc",
    "$in",
    "$and",
    "$gt",
    "$regex",
    "$elemMatch",
    "$expr",
    "q",
    "u",
    "limit",
    "key",
    "name",
    "unique",
    "locale",
    "strength",
    "id",
    "$match",
    "$group",
    "$sort",
    "$natural",
    "partialFilterExpression",
    "expireAfterSeconds",
    "a.0",
    "$**",
    "multi",
    "find",
    "level",
    "w",
];

fn value() -> impl Strategy<Value = Bson> {
    let leaf = prop_oneof![
        any::<i32>().prop_map(Bson::Int32),
        (-2_i32..3).prop_map(Bson::Int32),
        any::<i64>().prop_map(Bson::Int64),
        any::<f64>().prop_map(Bson::Double),
        any::<bool>().prop_map(Bson::Boolean),
        proptest::sample::select(vec![
            "a", "", "$a", "x.y", "text", "hashed", "*", "en", "^a", "\u{e9}"
        ])
        .prop_map(Bson::from),
        Just(Bson::Null),
        Just(Bson::MinKey),
        Just(Bson::Undefined),
        Just(Bson::DateTime(bson::DateTime::MIN)),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Bson::Array),
            proptest::collection::vec((proptest::sample::select(KEYS), inner), 0..4).prop_map(
                |fields| {
                    Bson::Document(
                        fields
                            .into_iter()
                            .map(|(key, value)| (key.to_owned(), value))
                            .collect(),
                    )
                }
            ),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn arbitrary_commands_do_not_panic(
        commands in proptest::collection::vec(
            (
                proptest::sample::select(names()),
                prop_oneof![3 => Just(Bson::from("a")), 1 => value()],
                proptest::collection::vec((proptest::sample::select(fields()), value()), 0..5),
            ),
            1..8,
        ),
    ) {
        let (engine, context) = (Engine::new(), Context::system());
        for (name, target, fields) in commands {
            let mut command: Document = doc! { name: target };
            command.extend(fields.into_iter().map(|(key, value)| (key.to_owned(), value)));
            command.insert("$db", "admin");
            let raw = RawDocumentBuf::try_from(&command).unwrap();
            let reply = engine.run(&context, &raw);
            prop_assert!(reply.get("ok").unwrap().is_some(), "{} {:?}", command, reply);
        }
    }
}
