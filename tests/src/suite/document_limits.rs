//! What MongoDB stores of no document, reported before anything is sent.

use std::collections::BTreeMap;

use odm::Code;
use odm::bson::{Bson, Document as BsonDocument, Regex, raw::cstr};
use odm::prelude::*;

use crate::case::cases;

cases![
    the_heaviest_field_is_named,
    documents_nest_as_deep_as_mongodb_stores_them,
    ids_have_a_type_that_mongodb_stores,
    keys_of_maps_can_be_addressed,
    updates_refuse_keys_that_no_path_can_name,
    stored_keys_of_other_programs_stay,
    open_documents_take_any_name,
];

const MB: usize = 1024 * 1024;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Embedded)]
struct Scan {
    title: String,
    lines: Vec<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "scans")]
struct Scanned {
    #[serde(rename = "_id")]
    id: i32,
    note: String,
    #[odm(embed(few, max = 20))]
    scans: Vec<Scan>,
}

/// The errors of every write of a whole document.
async fn refusals<M>(db: &Db, document: &M, other: &M) -> Vec<(&'static str, odm::Error)>
where
    M: Document<Id = i32> + odm::model::Writable + Clone + 'static,
{
    let all = db.collection::<M>();
    let id = *document.id();
    let raw = || Filter::<M>::raw(doc! {"_id": id});
    let mut refused = vec![
        ("insert_one", all.insert_one(document).await.err()),
        (
            "insert_many",
            all.insert_many([other, document]).await.err(),
        ),
        (
            "unordered",
            all.insert_many([other, document])
                .ordered(false)
                .await
                .err(),
        ),
        (
            "bulk insert",
            all.bulk_write(|w| [w.insert_one(other.clone()), w.insert_one(document.clone())])
                .await
                .err(),
        ),
        (
            "bulk replace",
            all.bulk_write(|w| [w.replace_one(|_| raw(), document.clone())])
                .await
                .err(),
        ),
        (
            "replace",
            all.replace_one(|_| raw(), document.clone()).await.err(),
        ),
        (
            "upsert",
            all.replace_one(|_| raw(), document.clone())
                .upsert(true)
                .await
                .err(),
        ),
        (
            "find and replace",
            all.find_one_and_replace(|_| raw(), document.clone())
                .await
                .err(),
        ),
        (
            "find or insert",
            all.find_one_or_insert(|_| raw(), document.clone())
                .await
                .err(),
        ),
    ];
    let written: odm::Result<()> = transaction!(db, |tx| {
        all.insert_one(document).session(tx).await?;
        Ok(())
    })
    .await;
    refused.push(("transaction", written.err()));
    // Nothing was sent: not even the document that could be stored.
    assert_eq!(all.count_documents(|_| Filter::all()).await.unwrap(), 0);
    let named = |(verb, error): (_, Option<odm::Error>)| {
        (
            verb,
            error.unwrap_or_else(|| panic!("{verb} was not refused")),
        )
    };
    refused.into_iter().map(named).collect()
}

async fn the_heaviest_field_is_named(db: &Db) {
    let line = |bytes: usize| "x".repeat(bytes);
    let scan = |lines: Vec<String>| Scan {
        title: line(10),
        lines,
    };
    let small = Scanned::default();
    for (document, path) in [
        (
            Scanned {
                id: 1,
                note: line(17 * MB),
                ..Scanned::default()
            },
            "note",
        ),
        // Many elements of which none has most of the bytes.
        (
            Scanned {
                id: 1,
                scans: vec![Scan::default(), scan(vec![line(MB); 17])],
                ..Scanned::default()
            },
            "scans.1.lines",
        ),
        (
            Scanned {
                id: 1,
                note: line(MB),
                scans: vec![scan(vec![line(MB), line(16 * MB)])],
            },
            "scans.0.lines.1",
        ),
        // A field that has less than half of the bytes, but more than any other.
        (
            Scanned {
                id: 1,
                note: line(8 * MB),
                scans: vec![scan(vec![line(5 * MB)]), scan(vec![line(4 * MB)])],
            },
            "scans",
        ),
    ] {
        for (verb, error) in refusals(db, &document, &small).await {
            assert!(
                error.is_usage() && error.code().is_none(),
                "{verb}: {error}"
            );
            assert_eq!(error.path(), Some(path), "{verb}: {error}");
            let message = error.to_string();
            let begin = format!("Scanned.{path}: the document has 1");
            assert!(message.contains(&begin), "{verb}: {message}");
            assert!(message.contains("at most 16777216"), "{verb}: {message}");
        }
    }
    let all = db.collection::<Scanned>();
    all.insert_one(&small).await.unwrap();
    let mut loaded = all.load(&0).await.unwrap().unwrap();
    loaded.note = line(17 * MB);
    let error = all.save(&mut loaded).await.unwrap_err();
    assert_eq!(error.path(), Some("note"), "{error}");
    loaded.note = line(MB);
    assert!(all.save(&mut loaded).await.unwrap());
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Embedded)]
struct Part {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[odm(embed(few, max = 20))]
    parts: Vec<Part>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "machines")]
struct Machine {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(embed(few, max = 20))]
    parts: Vec<Part>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    anything: Option<Bson>,
}

/// Parts on these levels; each adds an array and a document.
fn parts(levels: usize) -> Vec<Part> {
    let mut parts = Vec::new();
    for _ in 0..levels {
        parts = vec![Part { parts }];
    }
    parts
}

/// Documents on these levels.
fn anything(levels: usize) -> Bson {
    (0..levels).fold(Bson::Null, |inside, _| Bson::Document(doc! {"a": inside}))
}

async fn documents_nest_as_deep_as_mongodb_stores_them(db: &Db) {
    let all = db.collection::<Machine>();
    let machine = |parts: Vec<Part>, anything: Option<Bson>| Machine {
        id: 1,
        parts,
        anything,
    };
    let small = Machine::default();
    // The document is level 1. The innermost part is empty, and no level of its own.
    for (document, levels, path) in [
        (machine(parts(90), None), 180, ""),
        (machine(parts(91), None), 182, "parts"),
        (machine(vec![], Some(anything(179))), 180, ""),
        (machine(vec![], Some(anything(180))), 181, "anything"),
        (machine(vec![], Some(anything(1_000))), 1_001, "anything"),
    ] {
        // MongoDB has the same limit. A command nests it two levels deeper, and no command has more than 200.
        if levels < 190 {
            let raw = odm::bson::serialize_to_document(&document).unwrap();
            let insert = doc! {"insert": "machines", "documents": [raw]};
            let reply = db.run_command(insert).await.unwrap();
            let is_stored = !reply.contains_key("writeErrors");
            assert_eq!(is_stored, levels <= 180, "{levels}: {reply}");
            all.delete_all().await.unwrap();
        }
        if levels <= 180 {
            all.insert_one(&document).await.unwrap();
            assert_eq!(all.get(&1).await.unwrap().unwrap(), document);
            all.delete_all().await.unwrap();
            continue;
        }
        for (verb, error) in refusals(db, &document, &small).await {
            assert!(error.is_usage(), "{verb}: {error}");
            assert_eq!(error.path(), Some(path), "{verb}: {error}");
            assert!(error.to_string().contains("180 levels"), "{verb}: {error}");
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "any_ids")]
struct AnyId {
    #[serde(rename = "_id")]
    id: Bson,
}

async fn ids_have_a_type_that_mongodb_stores(db: &Db) {
    let all = db.collection::<AnyId>();
    let regex = Regex {
        pattern: cstr!("a").into(),
        options: cstr!("i").into(),
    };
    for (id, is_stored) in [
        (Bson::Array(vec![1.into()]), false),
        (Bson::RegularExpression(regex), false),
        (Bson::Undefined, false),
        (doc! {"$a": 1}.into(), false),
        (doc! {"a": 1, "$b": 1}.into(), false),
        (doc! {"a": [1]}.into(), true),
        (doc! {"a.b": 1}.into(), true),
        (doc! {"a": {"b": 2}}.into(), true),
        (Bson::Null, true),
        ("x".into(), true),
    ] {
        let raw = doc! {"insert": "any_ids", "documents": [{"_id": id.clone()}]};
        let stored = db.run_command(raw).await;
        let stored = stored.map(|reply| !reply.contains_key("writeErrors"));
        assert_eq!(stored.unwrap_or(false), is_stored, "{id}");
        all.delete_all().await.unwrap();
        let inserted = all.insert_one(AnyId { id: id.clone() }).await;
        match inserted {
            Ok(_) => assert!(is_stored, "{id}"),
            Err(error) => {
                assert!(!is_stored && error.is_usage(), "{id}: {error}");
                assert_eq!(error.path(), Some("_id"), "{id}: {error}");
            }
        }
        all.delete_all().await.unwrap();
    }
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Embedded)]
struct Round {
    points: BTreeMap<String, i32>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
#[serde(tag = "kind", rename_all = "camelCase")]
enum Extra {
    Notes { by_site: BTreeMap<String, String> },
    Round(Round),
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "games")]
struct Game {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
    points: BTreeMap<String, i32>,
    #[odm(embed(few, max = 20))]
    rounds: Vec<Round>,
    #[odm(embed(few, max = 20))]
    best: BTreeMap<String, Round>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    extra: Option<Extra>,
}

fn points(key: &str) -> BTreeMap<String, i32> {
    BTreeMap::from([("fine".to_owned(), 1), (key.to_owned(), 2)])
}

fn round(key: &str) -> Round {
    Round {
        points: points(key),
    }
}

/// A game with the key in each of its maps, one after the other, and the path of the map.
fn games(key: &str) -> Vec<(Game, &'static str)> {
    let game = Game {
        id: 1,
        ..Game::default()
    };
    let by_site = BTreeMap::from([(key.to_owned(), "x".to_owned())]);
    let extra = |extra| Some(extra);
    vec![
        (
            Game {
                points: points(key),
                ..game.clone()
            },
            "points",
        ),
        (
            Game {
                rounds: vec![round("a"), round(key)],
                ..game.clone()
            },
            "rounds.1.points",
        ),
        (
            Game {
                best: BTreeMap::from([(key.to_owned(), round("a"))]),
                ..game.clone()
            },
            "best",
        ),
        (
            Game {
                best: BTreeMap::from([("b".to_owned(), round(key))]),
                ..game.clone()
            },
            "best.b.points",
        ),
        (
            Game {
                extra: extra(Extra::Notes { by_site }),
                ..game.clone()
            },
            "extra.by_site",
        ),
        (
            Game {
                extra: extra(Extra::Round(round(key))),
                ..game
            },
            "extra.points",
        ),
    ]
}

async fn keys_of_maps_can_be_addressed(db: &Db) {
    let all = db.collection::<Game>();
    for key in ["a.b", ".", "a.", "$a", "$"] {
        for (game, path) in games(key) {
            for (verb, error) in refusals(db, &game, &Game::default()).await {
                assert!(error.is_usage(), "{verb}: {error}");
                assert_eq!(error.path(), Some(path), "{verb}: {error}");
                let quoted = format!("the key {key:?}");
                assert!(error.to_string().contains(&quoted), "{verb}: {error}");
            }
        }
    }
    for key in ["a$", "ä b", "0", "-1", "A-B_c"] {
        for (game, _) in games(key) {
            all.insert_one(&game).await.unwrap();
            assert_eq!(all.get(&1).await.unwrap().unwrap(), game);
            all.delete_all().await.unwrap();
        }
    }
    // BSON has no NUL in a name.
    let (game, _) = games("a\0b").swap_remove(0);
    let error = all.insert_one(&game).await.unwrap_err();
    assert_eq!(error.path(), Some("points"), "{error}");
}

async fn updates_refuse_keys_that_no_path_can_name(db: &Db) {
    let all = db.collection::<Game>();
    all.insert_one(Game {
        id: 1,
        rounds: vec![round("a")],
        ..Game::default()
    })
    .await
    .unwrap();
    for key in ["a.b", "$a"] {
        let extra = Extra::Round(round(key));
        let updates = [
            (
                "points",
                odm::query::fields::<Game>().points.set(points(key)),
            ),
            (
                "points",
                odm::query::fields::<Game>()
                    .points
                    .set_on_insert(points(key)),
            ),
            (
                "rounds.0.points",
                odm::query::fields::<Game>().rounds.set(vec![round(key)]),
            ),
            (
                "rounds.points",
                odm::query::fields::<Game>().rounds.push(round(key)),
            ),
            (
                "rounds.points",
                odm::query::fields::<Game>()
                    .rounds
                    .push_each([round("b"), round(key)]),
            ),
            (
                "rounds.points",
                odm::query::fields::<Game>().rounds.add_to_set(round(key)),
            ),
            (
                "rounds.0.points",
                odm::query::fields::<Game>().rounds.at(0).set(round(key)),
            ),
            (
                "best.b.points",
                odm::query::fields::<Game>().best.key("b").set(round(key)),
            ),
            (
                "extra.points",
                odm::query::fields::<Game>().extra.set(extra),
            ),
        ];
        for (path, update) in updates {
            let error = all
                .update_one(|g| g.id.eq(1), |_| update.clone())
                .upsert(true)
                .await
                .unwrap_err();
            assert!(error.is_usage(), "{path}: {error}");
            assert_eq!(error.path(), Some(path), "{error}");
            let error = all
                .bulk_write(|w| [w.update_many(|g| g.id.eq(1), |_| update.clone())])
                .await
                .unwrap_err();
            assert_eq!(error.path(), Some(path), "{error}");
        }
        let error = all
            .update_one(|g| g.id.eq(1), |g| g.points.key(key).inc(1))
            .await
            .unwrap_err();
        assert!(error.is_usage(), "{error}");
    }
    let game = all.get(&1).await.unwrap().unwrap();
    assert_eq!(game.rounds, [round("a")]);
}

/// Another program stored keys that odm would not store: they are read, and saves of other fields keep them.
async fn stored_keys_of_other_programs_stay(db: &Db) {
    let stored = doc! {
        "_id": 1, "title": "a", "points": {"a.b": 1, "$c": 2}, "rounds": [{"points": {"a.b": 3}}], "best": {},
    };
    let insert = doc! {"insert": "games", "documents": [&stored]};
    let reply = db.run_command(insert).await.unwrap();
    assert!(!reply.contains_key("writeErrors"), "{reply}");
    let all = db.collection::<Game>();
    let mut loaded = all.load(&1).await.unwrap().unwrap();
    assert_eq!(loaded.points.get("a.b"), Some(&1));
    loaded.title = String::from("b");
    assert!(all.save(&mut loaded).await.unwrap());
    let raw = async || {
        let find = doc! {"find": "games", "filter": {"_id": 1}};
        db.run_command(find).all().await.unwrap().remove(0)
    };
    let mut expected = stored.clone();
    expected.insert("title", "b");
    assert_eq!(raw().await, expected);
    // A value under such a key changes, too, and the key goes.
    loaded.points.insert("a.b".to_owned(), 9);
    loaded.points.remove("$c");
    assert!(all.save(&mut loaded).await.unwrap());
    expected.insert("points", doc! {"a.b": 9});
    assert_eq!(raw().await, expected);
    // A new one is refused, and the loaded document stays usable.
    loaded.points.insert("x.y".to_owned(), 1);
    let error = all.save(&mut loaded).await.unwrap_err();
    assert!(error.is_usage(), "{error}");
    assert_eq!(error.path(), Some("points"), "{error}");
    loaded.points.remove("x.y");
    loaded.points.insert("x".to_owned(), 1);
    assert!(all.save(&mut loaded).await.unwrap());
    expected.insert("points", doc! {"a.b": 9, "x": 1});
    assert_eq!(raw().await, expected);
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "open")]
struct Open {
    #[serde(rename = "_id")]
    id: i32,
    inside: BsonDocument,
    anything: Bson,
    map: BTreeMap<String, BsonDocument>,
    #[serde(flatten)]
    rest: BTreeMap<String, i32>,
}

/// A `Document`, a `Bson` and flattened names hold what other programs stored, under any name.
async fn open_documents_take_any_name(db: &Db) {
    let all = db.collection::<Open>();
    let names = doc! {"a.b": 1, "$c": {"d.e": [{"$f": 2}]}};
    let open = Open {
        id: 1,
        inside: names.clone(),
        anything: names.clone().into(),
        map: BTreeMap::from([("a".to_owned(), names.clone())]),
        rest: BTreeMap::from([("x.y".to_owned(), 1)]),
    };
    all.insert_one(&open).await.unwrap();
    assert_eq!(all.get(&1).await.unwrap().unwrap(), open);
    all.replace_one(|o| o.id.eq(1), open.clone()).await.unwrap();
    all.update_one(|o| o.id.eq(1), |o| o.inside.set(names))
        .await
        .unwrap();
    let mut wrong = open.clone();
    wrong.map.insert("p.q".to_owned(), doc! {});
    let error = all.replace_one(|o| o.id.eq(1), wrong).await.unwrap_err();
    assert_eq!(error.path(), Some("map"), "{error}");
    assert_eq!(error.code().map(Code::number), None, "{error}");
    assert_eq!(all.get(&1).await.unwrap().unwrap(), open);
}
