//! `$lookup` and `$graphLookup` by a foreign field without an index: many documents are joined as each of them alone, and the
//! foreign collection is not read once for each.

use odm::bson::{Bson, Document as BsonDocument, Regex, doc};
use odm::prelude::*;

use crate::case::cases;
use crate::random::{Random, count};

cases![
    joins_read_the_foreign_collection_a_few_times,
    many_documents_are_joined_as_one_is,
];

async fn insert(db: &Db, collection: &str, documents: Vec<BsonDocument>) {
    db.run_command(doc! { "insert": collection, "documents": documents })
        .await
        .unwrap();
}

async fn aggregate(
    db: &Db,
    stages: Vec<BsonDocument>,
    collation: &BsonDocument,
) -> Vec<BsonDocument> {
    let mut command = doc! { "aggregate": "rows", "pipeline": stages, "cursor": {} };
    if !collation.is_empty() {
        command.insert("collation", collation);
    }
    db.run_command(command).all().await.unwrap()
}

async fn joins_read_the_foreign_collection_a_few_times(db: &Db) {
    let rows = (0..100).map(|id| doc! { "_id": id, "l": id % 50 });
    insert(db, "rows", rows.collect()).await;
    let others = (0..1_000).map(|id| doc! { "_id": id, "f": id % 100, "g": id % 500 });
    insert(db, "others", others.collect()).await;
    let lookup = doc! { "from": "others", "localField": "l", "foreignField": "f", "as": "found" };
    db.run_command(doc! { "profile": 2 }).await.unwrap();
    let found = aggregate(db, vec![doc! { "$lookup": lookup }], &doc! {}).await;
    db.run_command(doc! { "profile": 0 }).await.unwrap();
    assert!(
        found
            .iter()
            .all(|row| row.get_array("found").unwrap().len() == 10)
    );
    let entries =
        doc! { "find": "system.profile", "filter": { "ns": format!("{}.rows", db.name()) } };
    let entries = db.run_command(entries).all().await.unwrap();
    let count = |name| -> i32 {
        let counts = entries.iter().map(|entry| entry.get_i32(name).unwrap_or(0));
        counts.sum()
    };
    // mongod reads it once, into a hash table.
    let documents = count("docsExamined");
    assert!((1_100..=10_000).contains(&documents), "{documents}");
    assert_eq!(count("keysExamined"), 0);
}

fn scalar(random: &mut Random) -> Bson {
    match random.below(12) {
        0 => Bson::Null,
        1 => "a".into(),
        2 => "A".into(),
        3 => "1".into(),
        4 => Bson::Int64(1),
        5 => Bson::Double(1.0),
        6 => Bson::Double(f64::NAN),
        7 => Bson::Boolean(true),
        8 => Bson::RegularExpression(Regex {
            pattern: "a".try_into().unwrap(),
            options: "".try_into().unwrap(),
        }),
        _ => i32::try_from(random.below(4)).unwrap().into(),
    }
}

fn value(random: &mut Random, depth: usize) -> Bson {
    let below = depth + 1;
    match random.below(if depth > 2 { 5 } else { 9 }) {
        5 => doc! { "x": value(random, below) }.into(),
        6 => doc! { "0": value(random, below), "x": scalar(random) }.into(),
        7 | 8 => {
            let values = (0..random.below(4)).map(|_| value(random, below));
            Bson::Array(values.collect())
        }
        _ => scalar(random),
    }
}

fn documents(random: &mut Random, field: &str, many: i32) -> Vec<BsonDocument> {
    let of = |id| {
        let mut document = doc! { "_id": id, "n": id % 3 };
        if !random.one_in(6) {
            document.insert(field, value(random, 0));
        }
        document
    };
    (0..many).map(of).collect()
}

fn stage(random: &mut Random) -> BsonDocument {
    let foreign = *random.pick(&["f", "f.x", "f.0", "f.x.x"]);
    let local = *random.pick(&["l", "l.x"]);
    if random.one_in(4) {
        return doc! { "$graphLookup": { "from": "others", "startWith": format!("${local}"), "connectFromField": "n",
        "connectToField": foreign, "as": "found", "maxDepth": i32::try_from(random.below(3)).unwrap() } };
    }
    let mut lookup =
        doc! { "from": "others", "localField": local, "foreignField": foreign, "as": "found" };
    match random.below(5) {
        0 => _ = lookup.insert("pipeline", [doc! { "$match": { "n": { "$gt": 0 } } }]),
        1 => {
            let same = doc! { "$expr": { "$eq": ["$n", "$$n"] } };
            lookup.insert("let", doc! { "n": "$n" });
            lookup.insert("pipeline", [doc! { "$match": same }]);
        }
        _ => {}
    }
    doc! { "$lookup": lookup }
}

/// The rows, with what was found in the order of ids; MongoDB leaves that order open.
fn in_order(mut rows: Vec<BsonDocument>) -> Vec<BsonDocument> {
    for row in &mut rows {
        let found = row.get_array_mut("found").unwrap();
        found.sort_by_key(|found| found.as_document().unwrap().get_i32("_id").unwrap());
    }
    rows.sort_by_key(|row| row.get_i32("_id").unwrap());
    rows
}

async fn many_documents_are_joined_as_one_is(db: &Db) {
    const ROWS: i32 = 12;
    let mut random = Random::unless_set("ODM_JOINS", 1);
    let seed = random.seed();
    for _ in 0..count("ODM_JOINS", 12) {
        for name in ["rows", "others"] {
            db.run_command(doc! { "delete": name, "deletes": [{ "q": {}, "limit": 0 }] })
                .await
                .unwrap();
        }
        insert(db, "rows", documents(&mut random, "l", ROWS)).await;
        insert(db, "others", documents(&mut random, "f", 40)).await;
        let collation = match random.below(3) {
            0 => doc! { "locale": "en", "strength": 2 },
            _ => doc! {},
        };
        let stage = stage(&mut random);
        let together = aggregate(db, vec![stage.clone()], &collation).await;
        let mut alone = Vec::new();
        for id in 0..ROWS {
            let stages = vec![doc! { "$match": { "_id": id } }, stage.clone()];
            alone.extend(aggregate(db, stages, &collation).await);
        }
        // As text, because NaN does not equal itself.
        assert_eq!(
            format!("{:#?}", in_order(together)),
            format!("{:#?}", in_order(alone)),
            "seed {seed}: {stage} {collation}"
        );
    }
}
