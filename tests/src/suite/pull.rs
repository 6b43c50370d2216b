//! `odm::pull` on a database: models of documents, indexes, validators and options, which are compiled here, and read and write the
//! documents. `ODM_WRITE=1` writes the models anew.

#[expect(unreachable_pub, reason = "written for users")]
mod library;

use odm::bson::{Bson, DateTime, Document as BsonDocument, Uuid, bson, doc, oid::ObjectId};
use odm::gridfs::File;
use odm::prelude::*;
use odm::pull::Sample;

use self::library::{Author, Book, FsFile, Log};
use crate::case::cases;

cases![
    a_database_is_pulled,
    pulled_models_read_and_write_the_documents,
    pulled_definitions_are_in_step,
    a_sample_is_a_part,
    mixed_ids_and_many_types_are_pulled,
];

async fn run(db: &Db, command: BsonDocument) {
    let reply = db.run_command(command).await.unwrap();
    assert!(!reply.contains_key("writeErrors"), "{reply}");
}

/// Authors, their books, a log and a view.
async fn fill(db: &Db) {
    let authors: Vec<ObjectId> = (0..3).map(|n| ObjectId::from_bytes([n; 12])).collect();
    let people = authors
        .iter()
        .map(|id| doc! {"_id": *id, "name": id.to_hex()});
    let people: Vec<_> = people.collect();
    run(db, doc! {"insert": "authors", "documents": people}).await;
    let schema = doc! {
        "bsonType": "object",
        "required": ["_id", "title", "state"],
        "properties": {
            "title": {"bsonType": "string", "minLength": 1},
            "pages": {"bsonType": ["int", "null"], "minimum": 1, "multipleOf": 1},
            "state": {"enum": ["lent", "on shelf", "gone"]},
        },
    };
    let create = doc! {
        "create": "books", "validator": {"$jsonSchema": schema, "$expr": {"$lt": ["$pages", 9_000]}},
        "validationLevel": "moderate",
    };
    run(db, create).await;
    let books = (0..24_i32).map(|n| {
        let place = usize::try_from(n % 3).unwrap();
        doc! {
            "_id": n,
            "title": format!("t{n}"),
            "type": if n % 2 == 0 { "b" } else { "a" },
            "pages": if n % 4 == 0 { Bson::Null } else { n.into() },
            "state": if n % 2 == 0 { "lent" } else { "on shelf" },
            "author": authors[place],
            "others": [authors[0], authors[1]],
            // No older than the index on it lets them be.
            "seen": DateTime::from_millis(1_700_000_000_000 + i64::from(n)),
            "key": Uuid::from_bytes([1; 16]),
            "prints": [{"year": 1815 + n, "place": {"city": "London"}}],
            "byYear": {"2020": n},
            "follows": {"$ref": "books", "$id": n / 2},
            "any": bson!([n, "x"]),
        }
    });
    let books: Vec<_> = books.collect();
    run(db, doc! {"insert": "books", "documents": books}).await;
    let partial = doc! {"pages": {"$gt": 5}};
    let indexes = vec![
        doc! {"key": {"title": 1, "seen": -1}, "name": "title_1_seen_-1"},
        doc! {"key": {"title": 1}, "name": "title_1"},
        doc! {"key": {"seen": 1}, "name": "seen_1", "expireAfterSeconds": 3_153_600_000_i64 / 2},
        doc! {"key": {"prints.place.city": 1}, "name": "city", "sparse": true},
        doc! {"key": {"author": "hashed"}, "name": "author_hashed"},
        doc! {"key": {"pages": 1}, "name": "pages_1", "unique": true, "partialFilterExpression": partial},
        doc! {"key": {"title": "text"}, "name": "title_text", "weights": {"title": 5}},
    ];
    run(db, doc! {"createIndexes": "books", "indexes": indexes}).await;
    run(
        db,
        doc! {"create": "log", "capped": true, "size": 4_096, "max": 10},
    )
    .await;
    run(
        db,
        doc! {"insert": "log", "documents": [{"_id": 1, "line": "start"}]},
    )
    .await;
    run(
        db,
        doc! {"create": "lent", "viewOn": "books", "pipeline": []},
    )
    .await;
    let files = db.gridfs::<File>();
    files.upload("cover.png").bytes(b"PNG").await.unwrap();
}

/// The models that a file has.
const LIBRARY: &str = include_str!("pull/library.rs");

async fn a_database_is_pulled(db: &Db) {
    fill(db).await;
    let pulled = db.pull().sample(Sample::All).await.unwrap();
    assert_eq!(
        pulled.collections(),
        ["authors", "books", "fs.files", "log"]
    );
    let source = pulled.to_source();
    if std::env::var_os("ODM_WRITE").is_some() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/src/suite/pull/library.rs");
        std::fs::write(file, &source).unwrap();
        return;
    }
    assert!(source == LIBRARY, "set ODM_WRITE=1 to write it:\n{source}");
    let merged = pulled.merge(LIBRARY).unwrap();
    assert!(
        merged.source == LIBRARY && merged.notes.is_empty(),
        "{merged:?}"
    );
}

async fn stored(db: &Db, collection: &str) -> Vec<BsonDocument> {
    let find = doc! {"find": collection, "sort": {"_id": 1}};
    db.run_command(find).all().await.unwrap()
}

async fn pulled_models_read_and_write_the_documents(db: &Db) {
    fill(db).await;
    let before = stored(db, "books").await;
    let books = db.collection::<Book>().find_all().sort(|b| b.id.asc());
    let books = books.all().await.unwrap();
    let authors = db.collection::<Author>().find_all().all().await.unwrap();
    let log = db.collection::<Log>().find_all().all().await.unwrap();
    assert_eq!((books.len(), authors.len(), log.len()), (24, 3, 1));
    let file = db.gridfs::<FsFile>().download_by_name("cover.png");
    assert_eq!(file.bytes().await.unwrap(), b"PNG");
    let delete = doc! {"delete": "books", "deletes": [{"q": {}, "limit": 0}]};
    run(db, delete).await;
    db.collection::<Book>().insert_many(&books).await.unwrap();
    assert_eq!(stored(db, "books").await, before);
    let rows = db
        .collection::<Book>()
        .find(|b| b.id.eq(1))
        .join(|b| b.author);
    assert!(
        rows.all().await.unwrap()[0]
            .author
            .id()
            .to_hex()
            .starts_with("01")
    );
}

/// The declared indexes are those of the database, but for the ones that a comment names.
async fn pulled_definitions_are_in_step(db: &Db) {
    fill(db).await;
    let plan = db
        .sync(models![Author, Book, FsFile, Log])
        .plan()
        .await
        .unwrap();
    let text = plan.to_string();
    assert!(text.contains("drop index title_1 "), "{text}");
    assert!(
        !text.contains("create") && !text.contains("rebuild"),
        "{text}"
    );
    assert_eq!(text.matches("index").count(), 1, "{text}");
}

async fn a_sample_is_a_part(db: &Db) {
    let documents = (0..100_i32).map(|n| doc! {"_id": n, format!("f{}x", n / 10): n});
    let documents: Vec<_> = documents.collect();
    run(db, doc! {"insert": "things", "documents": documents}).await;
    let fields = async |sample: Sample| {
        let source = db.pull().sample(sample).await.unwrap().to_source();
        let fields = source
            .lines()
            .filter_map(|line| line.strip_prefix("    pub f"));
        fields
            .map(|line| line.chars().take(1).collect())
            .collect::<Vec<String>>()
    };
    assert_eq!(fields(Sample::First(20)).await, ["0", "1"]);
    let mut last = fields(Sample::Last(20)).await;
    last.sort();
    assert_eq!(last, ["8", "9"]);
    assert_eq!(fields(Sample::All).await.len(), 10);
    let random = fields(Sample::Random(5)).await.len();
    assert!((1..=10).contains(&random), "{random}");
    assert_eq!(fields(Sample::Random(100)).await.len(), 10);
    let source = db
        .pull()
        .sample(Sample::First(20))
        .await
        .unwrap()
        .to_source();
    assert!(source.contains("20 of 100 were read"), "{source}");
}

async fn mixed_ids_and_many_types_are_pulled(db: &Db) {
    let mut nested = bson!(1);
    for _ in 0..60 {
        nested = bson!({"in": [nested]});
    }
    let documents = vec![
        doc! {"_id": {"a": 1}, "deep": nested, "": 1, "list": [[], [1]]},
        doc! {"_id": "x", "deep": null, "far": DateTime::MAX, "near": DateTime::MIN},
        doc! {"_id": Bson::MinKey, "list": 1.5},
    ];
    run(db, doc! {"insert": "things", "documents": documents}).await;
    run(db, doc! {"create": "empty"}).await;
    let pulled = db.pull().sample(Sample::All).await.unwrap();
    let source = pulled.to_source();
    assert!(source.contains("pub id: bson::Bson,"), "{source}");
    assert!(source.contains("`empty`, which is empty"), "{source}");
    assert_eq!(pulled.merge(&source).unwrap().source, source);
    let refused = db.pull().only(["nowhere"]).await.unwrap_err();
    assert!(refused.is_usage(), "{refused}");
}
