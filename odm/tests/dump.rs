//! `Db::import` and `Db::dump`: a dump of a real MongoDB 6.0.5, exports, fixtures, and what is wrong with files.
//!
//! `tests/cases/record_dump.py` recorded the folder `dump`.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that panics has failed"
)]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use odm::bson::{Bson, Document, RawDocumentBuf, Timestamp, doc};
use odm::prelude::*;
use odm::{Db, Error};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::subsequence;

/// A folder of the test's own, empty.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("dump")
        .join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// The dump of a server.
fn recorded() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/dump")
}

fn write(folder: &Path, file: &str, content: impl AsRef<[u8]>) {
    let path = folder.join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

fn compressed(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

fn bytes(documents: &[Document]) -> Vec<u8> {
    let encode = |document| RawDocumentBuf::try_from(document).unwrap().into_bytes();
    documents.iter().flat_map(encode).collect()
}

/// Every file below a folder, by its path in it; without the UUID, which each collection has anew.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    fn add(root: &Path, folder: &Path, files: &mut Vec<(String, Vec<u8>)>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                add(root, &path, files);
                continue;
            }
            let name = path
                .strip_prefix(root)
                .unwrap()
                .to_str()
                .unwrap()
                .to_owned();
            let mut content = fs::read(&path).unwrap();
            if name.ends_with(".metadata.json")
                && let text = String::from_utf8(content.clone()).unwrap()
                && let Some((before, after)) = text.split_once("\"uuid\":\"")
            {
                let (uuid, after) = after.split_at(32);
                assert!(uuid.bytes().all(|byte| byte.is_ascii_hexdigit()), "{text}");
                content = format!("{before}{after}").into_bytes();
            }
            files.push((name, content));
        }
    }
    let mut all = Vec::new();
    add(folder, folder, &mut all);
    all.sort();
    all
}

fn fault(db: &Db, folder: &Path) -> Error {
    let before = folder_of(db);
    let error = db.import(folder).unwrap_err();
    assert_eq!(folder_of(db), before, "nothing is loaded: {error}");
    error
}

/// All that a database has.
fn folder_of(db: &Db) -> Vec<(String, Vec<u8>)> {
    let all = folder(&format!("state-{:?}", std::thread::current().id()));
    db.dump(&all).unwrap();
    files(&all)
}

async fn run(db: &Db, command: Document) -> Document {
    db.run_command(command).await.unwrap()
}

/// The code of a write that is refused.
async fn refusal(db: &Db, command: Document) -> i32 {
    let reply = run(db, command).await;
    let errors = reply.get_array("writeErrors").unwrap();
    errors[0].as_document().unwrap().get_i32("code").unwrap()
}

async fn find(db: &Db, collection: &str) -> Vec<Document> {
    let reply = run(db, doc! { "find": collection }).await;
    let batch = reply
        .get_document("cursor")
        .unwrap()
        .get_array("firstBatch")
        .unwrap();
    batch
        .iter()
        .map(|it| it.as_document().unwrap().clone())
        .collect()
}

#[tokio::test]
async fn a_dump_of_mongod_round_trips() {
    let db = Db::memory();
    let report = db.import(recorded()).unwrap();
    assert_eq!(report.documents(), 3 + 2 + 3 + 1 + 1);
    assert!(report.skipped.is_empty(), "{:?}", report.skipped);
    let names: Vec<_> = report
        .collections
        .iter()
        .map(|it| it.collection.as_str())
        .collect();
    assert_eq!(
        names,
        [
            "books",
            "café/bar: 50%",
            "empty",
            "log",
            "people",
            "types",
            "aaa",
            "adults",
            "novels"
        ]
    );

    let again = folder("again");
    db.dump(&again).unwrap();
    let (mut expected, mut dumped) = (files(&recorded()), files(&again));
    for (expected, dumped) in expected.iter_mut().zip(&mut dumped) {
        assert_eq!(expected.0, dumped.0);
        if expected.0 == "prelude.json" {
            continue;
        }
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert_eq!(text(&expected.1), text(&dumped.1), "{}", expected.0);
        assert_eq!(expected.1, dumped.1, "{}", expected.0);
    }
    assert_eq!(expected.len(), dumped.len());

    // It is more than the bytes: indexes are used, capped collections are, validators hold.
    let shop = db.database("shop");
    let plan = doc! { "explain": { "find": "books", "filter": { "isbn": "b" } } };
    assert!(run(&shop, plan).await.to_string().contains("isbn_1"));
    let search = doc! { "find": "books", "filter": { "$text": { "$search": "emma" } } };
    let found = run(&shop, search).await;
    assert!(found.to_string().contains("\"year\": 1815"), "{found}");
    run(&shop, doc! { "insert": "log", "documents": [{ "_id": 0 }] }).await;
    assert_eq!(
        find(&shop, "log").await,
        [doc! { "_id": 2 }, doc! { "_id": 1 }, doc! { "_id": 0 }]
    );
    assert_eq!(find(&shop, "aaa").await.len(), 1);
    let refused = doc! { "insert": "people", "documents": [{ "_id": "c", "age": -1 }] };
    assert_eq!(refusal(&shop, refused).await, 121);
    let twice = doc! { "insert": "people", "documents": [{ "_id": "c", "age": 2, "name": "ANN" }] };
    assert_eq!(refusal(&shop, twice).await, 11000);
}

#[tokio::test]
async fn compressed_dumps_are_loaded() {
    let folder = folder("compressed");
    for (file, _) in files(&recorded()) {
        let content = fs::read(recorded().join(&file)).unwrap();
        write(&folder, &format!("{file}.gz"), compressed(&content));
    }
    let [plain, unpacked] = [recorded(), folder.clone()].map(|folder| {
        let db = Db::memory();
        let report = db.import(&folder).unwrap();
        (report.documents(), report.collections, folder_of(&db))
    });
    assert!(plain.0 > 0);
    assert_eq!(plain, unpacked);
    // One file may be of several parts.
    let parts = ["{\"_id\": 1}", "{\"_id\": 2}"].map(|part| compressed(part.as_bytes()));
    write(&folder, "parts.json.gz", parts.concat());
    let db = Db::memory();
    db.import(&folder).unwrap();
    assert_eq!(find(&db, "parts").await.len(), 2);
}

#[test]
fn compression_bombs_are_refused() {
    let folder = folder("bomb");
    let spaces = compressed(&vec![b' '; 1024 * 1024]).repeat(65);
    assert!(spaces.len() < 1024 * 1024);
    write(&folder, "books.metadata.json.gz", spaces);
    let error = fault(&Db::memory(), &folder);
    assert!(error.is_file());
    let message = error.to_string();
    assert!(message.contains("more than 67108864 bytes"), "{message}");
}

#[tokio::test]
async fn files_belong_to_the_database_and_folders_to_others() {
    let folder = folder("layout");
    write(
        &folder,
        "books.json",
        "{\"_id\": 2}\n{\"_id\": 1, \"at\": {\"$date\": 5}}\n{\"title\": \"Emma\"}",
    );
    write(
        &folder,
        "shop/orders.bson",
        bytes(&[doc! { "a": 1, "_id": 7 }]),
    );
    write(
        &folder,
        "shop/caf%C3%A9s.json.gz",
        compressed(b"[{\"_id\": 1}]"),
    );
    write(&folder, "shop/orders.metadata.json.gz", compressed(
        br#"{"indexes": [{"v": 1, "key": {"a": 1}, "name": "a_1", "unique": true, "ns": "old.orders"}], "more": 1}"#,
    ));
    write(&folder, "shop/README.md", "");
    write(&folder, "shop/deep/x.json", "{}");
    write(&folder, "shop/system.profile.bson", "");
    write(&folder, "admin/system.users.bson", "");
    write(&folder, "local/oplog.rs.bson", "");
    write(&folder, "oplog.bson", "");
    write(
        &folder,
        "shop/prelude.json",
        r#"{"ServerVersion":"7.0.16","ToolVersion":""}"#,
    );
    write(&folder, "prelude.json", r#"{"_id": 1}"#);
    write(&folder, ".hidden", "");

    let db = Db::memory().database("app");
    let report = db.import(&folder).unwrap();
    let books = find(&db, "books").await;
    assert_eq!(books[0], doc! { "_id": 2 });
    assert_eq!(books[1].get_datetime("at").unwrap().timestamp_millis(), 5);
    assert!(books[2].get_object_id("_id").is_ok() && books[2].keys().next().unwrap() == "_id");
    assert_eq!(find(&db, "prelude").await, [doc! { "_id": 1 }]);
    let shop = db.database("shop");
    assert_eq!(find(&shop, "orders").await, [doc! { "_id": 7, "a": 1 }]);
    assert_eq!(find(&shop, "cafés").await, [doc! { "_id": 1 }]);
    let twice = doc! { "insert": "orders", "documents": [{ "a": 1 }] };
    assert_eq!(refusal(&shop, twice).await, 11000);
    let skipped: Vec<_> = report
        .skipped
        .iter()
        .map(|it| it.path.strip_prefix(&folder).unwrap().to_str().unwrap())
        .collect();
    assert_eq!(
        skipped,
        [
            "oplog.bson",
            "admin/system.users.bson",
            "local/oplog.rs.bson",
            "shop/deep",
            "shop/README.md",
            "shop/system.profile.bson",
            "shop/orders.metadata.json.gz",
        ]
    );
    assert!(report.skipped[6].reason.contains("`more`"));
}

#[tokio::test]
async fn broken_dumps_are_not_loaded_and_errors_name_the_position() {
    let good = bytes(&[doc! { "_id": 1 }, doc! { "_id": 2 }]);
    let mut cut = good.clone();
    cut.truncate(good.len() - 3);
    let mut garbage = good.clone();
    garbage.extend([0xFF; 40]);
    let large = bytes(&[doc! { "_id": 1, "a": "x".repeat(16 * 1024 * 1024) }]);
    let cases: Vec<(&str, Vec<u8>, &[&str])> = vec![
        (
            "b.bson",
            cut,
            &["b.bson: document 2, at byte 14: the file ends within it, after 11 of 14 bytes"],
        ),
        (
            "b.bson",
            good[..16].to_vec(),
            &["document 2, at byte 14: the file ends within its length"],
        ),
        (
            "b.bson",
            garbage,
            &[
                "document 3, at byte 28: its length would be",
                "the file is not BSON",
            ],
        ),
        (
            "b.bson",
            b"{\"_id\": 1}".to_vec(),
            &["document 1, at byte 0", "not BSON"],
        ),
        ("b.bson", large, &["b.bson: document 1: ", "16777216"]),
        (
            "b.bson.gz",
            compressed(&good)[..20].to_vec(),
            &["b.bson.gz: document", "can't be read"],
        ),
        (
            "b.bson.gz",
            good.clone(),
            &["b.bson.gz: document 1", "can't be read"],
        ),
        (
            "b.json",
            b"{\"_id\": 1}\n{\"_id\": }".to_vec(),
            &["b.json: document 2: ", "line 2 column 9"],
        ),
        (
            "b.json",
            b"{\"_id\": 1}\n{\"_id\": 2}\n{\"_id\": 1}".to_vec(),
            &["b.json: document 3: ", "E11000"],
        ),
        (
            "b.json",
            b"{\"_id\": [1]}".to_vec(),
            &["b.json: document 1: ", "_id"],
        ),
        (
            "b.json",
            b"{\"_id\": \"\xFF\"}".to_vec(),
            &["b.json: document 1: invalid unicode"],
        ),
        ("b.json", b"\x0e\0\0\0".to_vec(), &["b.json: document 1: "]),
        (
            "a.bson",
            Vec::new(),
            &["a.json: ", "a.bson is for the same collection"],
        ),
        (
            "%zz.bson",
            Vec::new(),
            &["%zz.bson: this is not a valid name of a collection"],
        ),
        (
            "system.other.bson",
            Vec::new(),
            &["system.other.bson: ", "Invalid system namespace"],
        ),
        ("system.indexes.bson", Vec::new(), &["read from metadata"]),
        ("system.buckets.x.bson", Vec::new(), &["time series"]),
        (
            "b.metadata.json",
            b"{\"options\": 1}".to_vec(),
            &["b.metadata.json: `options` can't be 1"],
        ),
        ("b.metadata.json", b"[]".to_vec(), &["expected a document"]),
        (
            "b.metadata.json",
            b"{\"options\": {\"capped\": true}}".to_vec(),
            &["b.metadata.json: ", "'size'"],
        ),
        (
            "b.metadata.json",
            b"{\"options\": {\"timeseries\": {}}}".to_vec(),
            &["b.metadata.json: ", "timeseries"],
        ),
        (
            "b.metadata.json",
            b"{\"options\": {\"wrong\": 1}}".to_vec(),
            &["b.metadata.json: ", "wrong"],
        ),
        (
            "a.metadata.json",
            br#"{"indexes": [{"key": {"n": 1}, "name": "n_1", "unique": true}]}"#.to_vec(),
            &[
                "a.metadata.json: n: Index build failed",
                "dup key: { n: null }",
            ],
        ),
        (
            "a.metadata.json",
            br#"{"indexes": [{"key": {"n": 1}, "name": "n_1", "wrong": true}]}"#.to_vec(),
            &["a.metadata.json: ", "wrong"],
        ),
        (
            "a.metadata.json",
            br#"{"options": {"viewOn": "b"}}"#.to_vec(),
            &["a.json: the metadata says that this is a view"],
        ),
    ];
    for (at, (file, content, parts)) in cases.into_iter().enumerate() {
        let folder = folder(&format!("broken-{at}"));
        // Both of them come first and are good.
        write(&folder, "a.json", "{\"_id\": 1}{\"_id\": 2}");
        write(&folder, "0.json", "{}");
        write(&folder, file, content);
        let db = Db::memory();
        run(&db, doc! { "insert": "own", "documents": [{ "_id": 1 }] }).await;
        let error = fault(&db, &folder);
        let told = error.to_string();
        assert!(
            parts.iter().all(|part| told.contains(part)),
            "{file}: {told}"
        );
        assert_eq!(error.is_file(), error.code().is_none(), "{told}");
    }
}

#[tokio::test]
async fn folders_without_collections_are_refused() {
    let db = Db::memory();
    let missing = folder("missing").join("nowhere");
    let error = fault(&db, &missing);
    assert!(
        error.is_file() && error.to_string().contains("nowhere: it can't be read"),
        "{error}"
    );

    let empty = folder("nothing");
    assert_eq!(db.import(&empty).unwrap().documents(), 0);
    let dumped = folder("nothing-dumped");
    db.dump(&dumped).unwrap();
    assert_eq!(db.import(&dumped).unwrap().collections, []);
    write(&empty, "dump/shop/books.bson", "");
    let error = fault(&db, &empty);
    assert!(
        error.to_string().contains("a folder for each database"),
        "{error}"
    );

    let file = empty.join("dump/shop/books.bson");
    assert!(fault(&db, &file).is_file());
    let named = folder("named");
    write(&named, "no database!/books.bson", "");
    assert!(
        fault(&db, &named)
            .to_string()
            .contains("Invalid database name")
    );
}

#[derive(Debug, PartialEq, Serialize, Deserialize, odm::Document)]
#[odm(collection = "users")]
struct User {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(unique, length(min = 3))]
    name: String,
}

/// A database with the users' collection.
async fn users() -> Db {
    let db = Db::memory();
    db.sync(models![User])
        .plan()
        .await
        .unwrap()
        .apply(Allow::CREATE)
        .await
        .unwrap();
    db
}

#[tokio::test]
async fn loads_into_existing_collections_respect_validators_and_indexes() {
    let folder = folder("existing");
    let db = users().await;
    let users = db.collection::<User>();
    users
        .insert_one(&User {
            id: 1,
            name: "Ada".into(),
        })
        .await
        .unwrap();

    write(&folder, "users.json", r#"{"_id": 2, "name": "Ben"}"#);
    assert_eq!(db.import(&folder).unwrap().documents(), 1);
    assert_eq!(users.get(&2).await.unwrap().unwrap().name, "Ben");

    write(
        &folder,
        "users.json",
        r#"{"_id": 3, "name": "Cal"}{"_id": 4, "name": "X"}"#,
    );
    let error = fault(&db, &folder);
    assert!(
        error.is_validation_failure() && error.to_string().contains("users.json: document 2: "),
        "{error}"
    );
    write(&folder, "users.json", r#"{"_id": 3, "name": "Ada"}"#);
    assert!(fault(&db, &folder).is_duplicate_key());

    // Options must be those it has; none are none to differ.
    write(&folder, "users.json", "");
    write(
        &folder,
        "users.metadata.json",
        r#"{"options": {}, "indexes": []}"#,
    );
    db.import(&folder).unwrap();
    write(
        &folder,
        "users.metadata.json",
        r#"{"options": {"capped": true, "size": 4096}}"#,
    );
    let error = fault(&db, &folder);
    assert!(
        error.is_usage() && error.to_string().contains("another `capped`"),
        "{error}"
    );

    let dumped = self::folder("existing-dumped");
    db.dump(&dumped).unwrap();
    let fresh = Db::memory();
    fresh
        .sync(models![User])
        .plan()
        .await
        .unwrap()
        .apply(Allow::CREATE)
        .await
        .unwrap();
    fresh.import(&dumped).unwrap();
    assert_eq!(folder_of(&fresh), files(&dumped));
    assert!(fault(&fresh, &dumped).is_duplicate_key());
}

#[tokio::test]
async fn loads_and_open_transactions_are_independent() {
    let folder = folder("transaction");
    write(&folder, "users.json", r#"{"_id": 2, "name": "Ben"}"#);
    let db = users().await;
    let users = db.collection::<User>();
    let mut session = db.start_session().await.unwrap();
    session.start_transaction().await.unwrap();
    let ben = User {
        id: 3,
        name: "Ben".into(),
    };
    users.insert_one(&ben).session(&mut session).await.unwrap();
    let error = db.import(&folder).unwrap_err();
    assert!(error.is_retryable(), "{error}");
    session.commit_transaction().await.unwrap();
    assert!(db.import(&folder).unwrap_err().is_duplicate_key());
    assert_eq!(users.find(|u| u.id.gt(0)).all().await.unwrap(), [ben]);
}

#[tokio::test]
async fn only_older_dumps_are_replaced() {
    let target = folder("replaced");
    let db = Db::memory();
    run(
        &db.database("one"),
        doc! { "insert": "a", "documents": [{ "_id": 1 }] },
    )
    .await;
    run(
        &db.database("two"),
        doc! { "insert": "b", "documents": [{ "_id": 1 }] },
    )
    .await;
    write(&target, ".keep", "");
    db.dump(&target).unwrap();
    db.database("one").drop().await.unwrap();
    run(
        &db.database("two"),
        doc! { "insert": "b", "documents": [{ "_id": 2 }] },
    )
    .await;
    db.check_dump(&target).unwrap();
    db.dump(&target).unwrap();
    let names: Vec<_> = files(&target).into_iter().map(|(name, _)| name).collect();
    assert_eq!(
        names,
        [".keep", "prelude.json", "two/b.bson", "two/b.metadata.json"]
    );
    assert_eq!(
        files(&target)[2].1,
        bytes(&[doc! { "_id": 1 }, doc! { "_id": 2 }])
    );
    assert!(!target.join(".odm-dump").exists());

    for (file, named) in [
        ("two/fixture.json", "fixture.json"),
        ("notes.txt", "notes.txt"),
        ("x/y/z", "x/y"),
    ] {
        let other = folder("not-replaced");
        write(&other, "two/b.bson", "");
        write(&other, file, "mine");
        for refused in [db.dump(&other), db.check_dump(&other)] {
            let error = refused.unwrap_err();
            assert!(
                error.is_file() && error.to_string().contains(named),
                "{error}"
            );
        }
        assert_eq!(files(&other).len(), 2);
    }
    let file = folder("a-file").join("file");
    fs::write(&file, "").unwrap();
    assert!(db.dump(&file).unwrap_err().is_file());
}

#[tokio::test]
async fn interrupted_dumps_are_not_loaded() {
    let target = folder("interrupted");
    let db = Db::memory();
    run(&db, doc! { "insert": "a", "documents": [{ "_id": 1 }] }).await;
    db.dump(&target).unwrap();
    // Before it was complete: the older one counts.
    write(&target, ".odm-dump/newer/test/a.bson", "half");
    assert_eq!(Db::memory().import(&target).unwrap().documents(), 1);
    db.dump(&target).unwrap();
    // While it took its place.
    write(&target, ".odm-dump/older/test/a.bson", "");
    for error in [
        db.import(&target).unwrap_err(),
        db.dump(&target).unwrap_err(),
    ] {
        assert!(error.to_string().contains("interrupted"), "{error}");
    }
    assert!(target.join(".odm-dump/older/test/a.bson").exists());
}

#[tokio::test]
async fn names_that_are_no_file_names_round_trip() {
    let target = folder("names");
    let db = Db::memory().database("déjà-vu");
    let long = ["é".repeat(60) + "a", "é".repeat(60) + "b"];
    for name in ["a/b", "%41", "..", "a:b?*", &long[0], &long[1]] {
        let insert = doc! { "insert": name, "documents": [{ "_id": name }] };
        if db.run_command(insert).await.is_err() {
            assert_eq!(name, "..");
        }
    }
    run(
        &db,
        doc! { "create": "view", "viewOn": "a/b", "pipeline": [] },
    )
    .await;
    db.dump(&target).unwrap();
    let loaded = Db::memory();
    loaded.import(&target).unwrap();
    assert_eq!(folder_of(&loaded), files(&target));
    assert_eq!(
        find(&loaded.database("déjà-vu"), &long[1]).await[0],
        doc! { "_id": &long[1] }
    );

    // As mongodump cuts it.
    let cut = folder("cut");
    let name = format!("{}%24{}", "x".repeat(208), "A".repeat(27));
    write(&cut, &format!("{name}.bson"), bytes(&[doc! { "_id": 1 }]));
    let error = fault(&Db::memory(), &cut);
    assert!(
        error.is_file() && error.to_string().contains("metadata.json"),
        "{error}"
    );
    let full = "x".repeat(240);
    write(
        &cut,
        &format!("{name}.metadata.json"),
        format!("{{\"collectionName\": \"{full}\"}}"),
    );
    let db = Db::memory();
    db.import(&cut).unwrap();
    assert_eq!(find(&db, &full).await.len(), 1);
}

#[tokio::test]
async fn documents_are_loaded_unchanged() {
    let target = folder("as-they-stand");
    let unset = Timestamp {
        time: 0,
        increment: 0,
    };
    let nested = (1..179).fold(doc! { "z": 1 }, |inner, _| doc! { "a": inner });
    let documents = [
        doc! { "_id": 2, "time": unset, "nested": { "b": 1, "a": Bson::Undefined } },
        doc! { "_id": 1, "deep": nested.get("a").cloned() },
    ];
    write(&target, "a.bson", bytes(&documents));
    let db = Db::memory();
    db.import(&target).unwrap();
    assert_eq!(find(&db, "a").await[0], documents[0]);
    let dumped = folder("as-they-stand-dumped");
    db.dump(&dumped).unwrap();
    assert_eq!(
        fs::read(dumped.join("test/a.bson")).unwrap(),
        bytes(&documents)
    );
}

#[tokio::test]
async fn change_streams_report_loads() {
    let folder = folder("watched");
    write(&folder, "a.json", r#"{"_id": 1}{"_id": 2}"#);
    let db = Db::memory();
    run(&db, doc! { "insert": "a", "documents": [{ "_id": 0 }] }).await;
    let watch = doc! { "aggregate": 1, "pipeline": [{ "$changeStream": {} }], "cursor": {} };
    let cursor = run(&db, watch).await;
    let id = cursor
        .get_document("cursor")
        .unwrap()
        .get_i64("id")
        .unwrap();
    db.import(&folder).unwrap();
    let more = doc! { "getMore": id, "collection": "$cmd.aggregate" };
    let reply = run(&db, more).await;
    let batch = reply
        .get_document("cursor")
        .unwrap()
        .get_array("nextBatch")
        .unwrap();
    let told: Vec<_> = batch
        .iter()
        .map(|event| event.as_document().unwrap())
        .map(|event| {
            assert_eq!(event.get_str("operationType").unwrap(), "insert");
            event.get_document("fullDocument").unwrap().clone()
        })
        .collect();
    assert_eq!(told, [doc! { "_id": 1 }, doc! { "_id": 2 }]);
}

#[test]
fn concurrent_loads_and_writes_lose_nothing() {
    const LOADS: i32 = 40;
    let folder = folder("at-once");
    let db = Db::memory();
    let runtime = || {
        tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap()
    };
    let (loaded, written) = std::thread::scope(|scope| {
        let loader = scope.spawn(|| {
            let mut loaded = 0;
            for id in 0..LOADS {
                write(&folder, "a.json", format!("{{\"_id\": {id}}}"));
                write(
                    &folder,
                    &format!("b{id}.json"),
                    format!("{{\"_id\": {id}}}"),
                );
                match db.import(&folder) {
                    Ok(report) => {
                        assert_eq!(report.documents(), 2);
                        loaded += 1;
                    }
                    Err(error) => assert!(error.is_retryable(), "{error}"),
                }
                fs::remove_file(folder.join(format!("b{id}.json"))).unwrap();
            }
            loaded
        });
        let mut written = 0;
        runtime().block_on(async {
            for id in 1_000.. {
                run(&db, doc! { "insert": "a", "documents": [{ "_id": id }] }).await;
                written += 1;
                if loader.is_finished() {
                    break;
                }
                // Loads need a while in which nobody else writes.
                std::thread::sleep(Duration::from_millis(5));
            }
        });
        (loader.join().unwrap(), written)
    });
    let (count, collections) = runtime().block_on(async {
        let count = run(&db, doc! { "count": "a" }).await.get_i32("n").unwrap();
        let list = run(
            &db,
            doc! { "listCollections": 1, "cursor": { "batchSize": 1_000 } },
        )
        .await;
        let cursor = list.get_document("cursor").unwrap();
        (count, cursor.get_array("firstBatch").unwrap().len())
    });
    assert!(loaded > 0);
    assert_eq!(count, loaded + written);
    assert_eq!(i32::try_from(collections).unwrap(), loaded + 1);
}

/// Options and indexes that may stand together.
const OPTIONS: [&str; 4] = [
    r#"{"capped": true, "size": 8192, "max": 100}"#,
    r#"{"collation": {"locale": "de", "strength": 1, "numericOrdering": true}}"#,
    r#"{"validator": {"$jsonSchema": {"required": ["none"]}}, "validationAction": "warn"}"#,
    r#"{"changeStreamPreAndPostImages": {"enabled": true}, "validator": {"b": {"$regex": "^x"}}, "validationLevel": "off"}"#,
];
const INDEXES: [&str; 7] = [
    r#"{"key": {"b": 1, "a": -1}, "name": "b_a"}"#,
    r#"{"key": {"c.d": 1}, "name": "first", "sparse": true, "collation": {"locale": "simple"}}"#,
    r#"{"key": {"b": 1}, "name": "b", "partialFilterExpression": {"a": {"$gt": {"$numberLong": "7"}}}, "collation": {"locale": "fr"}}"#,
    r#"{"key": {"h": "hashed", "a": 1}, "name": "h", "collation": {"locale": "simple"}}"#,
    r#"{"key": {"x": "text", "a": 1}, "name": "x", "weights": {"y": 3}, "default_language": "none", "collation": {"locale": "simple"}}"#,
    r#"{"key": {"$**": 1}, "name": "all", "wildcardProjection": {"a": 0, "c.d": 0}}"#,
    r#"{"key": {"_id": 1, "a": 1}, "name": "with_id", "unique": true, "hidden": true}"#,
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// From fixtures to a dump, and from that to the same dump.
    #[test]
    fn loaded_dumps_round_trip(
        collections in vec((option::of(0..OPTIONS.len()), subsequence(INDEXES.to_vec(), 0..=INDEXES.len()),
            vec((any::<i64>(), "[a-z]{0,3}"), 0..20)), 1..4),
        view in any::<bool>(),
    ) {
        let fixtures = folder("drawn");
        for (number, (options, indexes, documents)) in collections.iter().enumerate() {
            let options = options.map_or("{}", |at| OPTIONS[at]);
            let metadata = format!("{{\"options\": {options}, \"indexes\": [{}]}}", indexes.join(","));
            write(&fixtures, &format!("c{number}.metadata.json"), metadata);
            let document = |(at, (a, b)): (usize, &(i64, String))| {
                // Not in the order of their ids.
                let id = (at * 7 + 3) % 23;
                doc! { "_id": i32::try_from(id).unwrap(), "a": a, "b": b, "x": b, "c": [{ "d": a }] }
            };
            let documents: Vec<_> = documents.iter().enumerate().map(document).collect();
            write(&fixtures, &format!("c{number}.bson"), bytes(&documents));
        }
        if view {
            write(&fixtures, "v.metadata.json", r#"{"options": {"viewOn": "c0", "pipeline": [{"$match": {"b": 1, "a": 2}}]}}"#);
        }
        let (db, again) = (Db::memory(), Db::memory());
        let loaded = db.import(&fixtures);
        prop_assert!(loaded.is_ok(), "{}", loaded.unwrap_err());
        let dumped = folder("drawn-dumped");
        db.dump(&dumped).unwrap();
        again.import(&dumped).unwrap();
        prop_assert_eq!(folder_of(&again), files(&dumped));
    }
}
