//! `odm::pull` and the program `odm-pull`: models of public samples, of the documents of MongoDB's guides, of a dump of a real
//! MongoDB 6.0.5 and of hostile documents. The models are files beside this one, so that they are compiled; `ODM_WRITE=1` writes
//! them anew.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use odm::bson::{Bson, Document as BsonDocument, doc};
use odm::pull::{self, Pull, Sample};
use odm::query::Filter;
use odm::{Collection, Db, Document};
use serde::Serialize;
use serde::de::DeserializeOwned;

#[path = "pull/guides.rs"]
#[expect(unreachable_pub, reason = "written for users")]
mod guides;
#[path = "pull/hostile.rs"]
#[expect(
    clippy::large_stack_arrays,
    clippy::option_option,
    clippy::struct_field_names,
    unreachable_pub,
    reason = "written for users"
)]
mod hostile;
#[path = "pull/samples.rs"]
#[expect(unreachable_pub, reason = "written for users")]
mod samples;
#[path = "pull/shop.rs"]
#[expect(unreachable_pub, reason = "written for users")]
mod shop;

fn manifest() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A folder of the test's own, empty.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("pull")
        .join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn data() -> PathBuf {
    manifest().join("../examples/data")
}

fn of_samples() -> Pull<'static> {
    let samples = pull::folder(data()).sample(Sample::All);
    samples.only(["countries", "films", "subdivisions"])
}

fn of_shop() -> Pull<'static> {
    let dump = manifest().join("tests/dump");
    pull::folder(dump).database("shop").sample(Sample::All)
}

fn of_hostile() -> Pull<'static> {
    pull::folder(manifest().join("tests/pull/hostile")).sample(Sample::All)
}

/// Compares a file of models with what pulling writes now.
fn check(file: &str, source: &str) {
    let path = manifest().join("tests/pull").join(file);
    if std::env::var_os("ODM_WRITE").is_some() {
        fs::write(&path, source).unwrap();
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == source,
        "{file} is not what pulling writes: run this test with ODM_WRITE=1, and look at the difference"
    );
}

#[tokio::test]
async fn models_are_what_pulling_writes() {
    check("samples.rs", &of_samples().await.unwrap().to_source());
    check("shop.rs", &of_shop().await.unwrap().to_source());
    check("hostile.rs", &of_hostile().await.unwrap().to_source());
    let mut source =
        String::from("//! The documents of MongoDB's guides, a module for each example.\n");
    for (number, folder) in guides_folders().into_iter().enumerate() {
        let pulled = pull::folder(folder).sample(Sample::All).await.unwrap();
        write!(source, "\npub mod guide_{number} {{\n").unwrap();
        for line in pulled.to_source().lines() {
            let indent = if line.is_empty() { "" } else { "    " };
            writeln!(source, "{indent}{line}").unwrap();
        }
        source.push_str("}\n");
    }
    check("guides.rs", &source);
}

/// A folder for each example of the guides.
fn guides_folders() -> Vec<PathBuf> {
    let text = fs::read_to_string(data().join("documents.json")).unwrap();
    // A `serde_json::Value` keeps the order of fields with a feature only, which other packages may turn on.
    let examples: BsonDocument = serde_json::from_str(&text).unwrap();
    let root = folder("guides");
    let folders = examples.values().enumerate().map(|(number, collections)| {
        let folder = root.join(number.to_string());
        fs::create_dir_all(&folder).unwrap();
        for (name, documents) in collections.as_document().unwrap() {
            let documents = documents.as_array().unwrap().iter();
            let bytes = documents.flat_map(|one| one.as_document().unwrap().to_vec().unwrap());
            let bytes: Vec<u8> = bytes.collect();
            fs::write(folder.join(format!("{name}.bson")), bytes).unwrap();
        }
        folder
    });
    folders.collect()
}

#[tokio::test]
async fn a_second_run_changes_nothing() {
    for (pull, file) in [
        (of_samples(), "samples.rs"),
        (of_shop(), "shop.rs"),
        (of_hostile(), "hostile.rs"),
    ] {
        let source = fs::read_to_string(manifest().join("tests/pull").join(file)).unwrap();
        let merged = pull.await.unwrap().merge(&source).unwrap();
        assert!(merged.source == source, "{file} changes");
        assert_eq!(merged.notes, [], "{file}");
    }
}

/// A document for comparison: fields in the order of their names, and numbers by their value.
fn normal(value: Bson) -> Bson {
    match value {
        Bson::Document(document) => {
            let mut fields: Vec<(String, Bson)> = document
                .into_iter()
                .map(|(name, value)| (name, normal(value)))
                .collect();
            fields.sort_by(|one, other| one.0.cmp(&other.0));
            Bson::Document(fields.into_iter().collect())
        }
        Bson::Array(values) => values.into_iter().map(normal).collect::<Vec<_>>().into(),
        Bson::Int32(number) => Bson::Int64(number.into()),
        #[expect(clippy::cast_possible_truncation, reason = "a whole number")]
        Bson::Double(number) if number.fract() == 0.0 && number.abs() < 1e15 => {
            Bson::Int64(number as i64)
        }
        Bson::Double(number) if number.is_nan() => Bson::from("NaN"),
        other => other,
    }
}

async fn stored(db: &Db, collection: &str) -> Vec<Bson> {
    let find = doc! {"find": collection, "sort": {"_id": 1}};
    let found = db.run_command(find).all().await.unwrap();
    found.into_iter().map(|one| normal(one.into())).collect()
}

/// Reads all documents of a collection into its struct, and writes them into another database.
async fn round_trip<
    M: Document + odm::model::Writable + Serialize + DeserializeOwned + Send + Sync,
>(
    db: &Db,
) {
    let name = M::model().collection;
    let typed: Collection<M> = db.collection();
    let documents = typed.find(|_| Filter::all()).all().await;
    let documents = documents.unwrap_or_else(|error| panic!("{name}: {error}"));
    let copy = Db::memory();
    if documents.is_empty() {
        return;
    }
    let inserted = copy.collection::<M>().insert_many(&documents).await;
    inserted.unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(stored(&copy, name).await, stored(db, name).await, "{name}");
}

/// Imports the documents of a folder, without definitions that the engine does not support.
fn imported(from: &Path, names: &[&str]) -> Db {
    let folder = folder(&format!("imported-{}", from.file_name().unwrap().display()));
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let file = path.file_name().unwrap().to_str().unwrap();
        let stem = file.trim_end_matches(".json").trim_end_matches(".bson");
        if (names.is_empty() || names.contains(&stem)) && !file.ends_with(".metadata.json") {
            fs::copy(&path, folder.join(file)).unwrap();
        }
    }
    let db = Db::memory();
    db.import(&folder).unwrap();
    db
}

macro_rules! round_trips {
    ($db:expr, $module:ident: $($model:ident),* $(,)?) => {
        $(round_trip::<$module::$model>(&$db).await;)*
    };
}

#[tokio::test]
async fn sampled_documents_are_written_as_they_were_read() {
    let db = imported(&data(), &["countries", "films", "subdivisions"]);
    round_trips!(db, samples: Country, Film, Subdivision);
    let db = imported(&manifest().join("tests/dump/shop"), &[]);
    round_trips!(db, shop: Book, CafeBar50, Empty, Log, Person, Type);
    let db = imported(&manifest().join("tests/pull/hostile"), &[]);
    round_trips!(
        db,
        hostile: Type123, Book, AB, AllBoth, AllInside, AllList, AllMapList, AllMap, AllNestedList, AllNullable, AllOptional, AllType, Author, BOok, BinaryId, BookDocument, BookField, BookJoinedDocument, BookDocument2, BoolId, Cafe, Capped, Comment, DateId, DecimalId, DeepArray, DeepDistinct, DeepSame, DocumentId, DoubleId, Empty, Enum, Geo, Indexed, JustValidated, KeywordStruct, Keyword, LongId, LongList, MixedId, NameStruct, Name, NamesInside, NoId, Number, OptionDocument, Reserved, SelfValueDocument, StringId, StringDocument, TimestampId, Type, UuidId, Validated, Work
    );
}

#[tokio::test]
async fn a_database_is_pulled_like_its_dump() {
    let db = Db::memory();
    db.import(manifest().join("tests/dump/shop")).unwrap();
    let from_memory = db.pull().sample(Sample::All).await.unwrap();
    let source = fs::read_to_string(manifest().join("tests/pull/shop.rs")).unwrap();
    let merged = from_memory.merge(&source).unwrap();
    assert!(
        merged.source == source && merged.notes.is_empty(),
        "{merged:?}"
    );
}

/// The program, in a folder.
fn program(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_odm-pull"));
    command.args(arguments).current_dir(folder);
    command.env_remove("MONGODB_URI").output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

#[test]
fn the_program_writes_a_file_and_keeps_it() {
    let folder = folder("program");
    fs::create_dir_all(folder.join("in")).unwrap();
    fs::write(
        folder.join("in/books.json"),
        r#"{"_id": 1, "title": "Emma"}"#,
    )
    .unwrap();
    let arguments = ["--folder", "in", "--output", "models.rs"];
    let checked = program(&folder, &[&arguments[..], &["--check"]].concat());
    assert_eq!(checked.status.code(), Some(2), "{checked:?}");
    assert!(!folder.join("models.rs").exists());
    assert_eq!(program(&folder, &arguments).status.code(), Some(0));
    let first = fs::read_to_string(folder.join("models.rs")).unwrap();
    assert!(first.contains("pub title: String,"));
    assert!(!folder.join("models.rs.new").exists());

    let edited = first.replace("pub title: String,", "pub title: String, // mine");
    fs::write(folder.join("models.rs"), &edited).unwrap();
    let checked = program(&folder, &[&arguments[..], &["--check"]].concat());
    assert_eq!(checked.status.code(), Some(0), "{checked:?}");
    let more = r#"{"_id": 1, "title": "Emma", "year": 1815}"#;
    fs::write(folder.join("in/books.json"), more).unwrap();
    assert_eq!(program(&folder, &arguments).status.code(), Some(0));
    let second = fs::read_to_string(folder.join("models.rs")).unwrap();
    assert!(
        second.starts_with(edited.trim_end_matches("}\n")),
        "{second}"
    );
    assert!(
        second.ends_with("    /// int 100 %.\n    pub year: i32,\n}\n"),
        "{second}"
    );
}

#[test]
fn the_program_says_what_is_wrong() {
    let folder = folder("faults");
    let refused = |arguments: &[&str], expected: &str| {
        let output = program(&folder, arguments);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let error = text(&output.stderr);
        assert!(error.contains(expected), "{error}");
        assert!(!error.contains("panicked"), "{error}");
    };
    refused(&[], "nothing to read");
    refused(&["--folder", "nowhere"], "nowhere");
    refused(&["--folder", ".", "--sample", "many"], "--sample");
    refused(&["--folder", ".", "--reference-share", "2"], "from 0 to 1");
    refused(
        &["--folder", ".", "--first", "1", "--all"],
        "cannot be used with",
    );
    fs::write(folder.join("books.bson"), [9, 0, 0, 0, 1, 2]).unwrap();
    refused(
        &["--folder", "."],
        "books.bson: document 1, at byte 0: the file ends within it",
    );
    fs::write(folder.join("books.bson"), [0xFF; 64]).unwrap();
    refused(&["--folder", "."], "books.bson: document 1");
    fs::remove_file(folder.join("books.bson")).unwrap();
    fs::write(folder.join("books.json"), "{\"_id\": 1}\n{\"_id\": }").unwrap();
    refused(&["--folder", "."], "books.json: document 2");
    fs::write(folder.join("books.json"), "{\"_id\": 1}").unwrap();
    refused(
        &["--folder", ".", "--only", "films"],
        "`films` does not exist",
    );
    fs::write(folder.join("models.rs"), "struct {").unwrap();
    refused(
        &["--folder", ".", "--output", "models.rs"],
        "models.rs: line 1 is not Rust",
    );
    assert_eq!(
        fs::read_to_string(folder.join("models.rs")).unwrap(),
        "struct {"
    );
    for database in ["one", "two"] {
        fs::create_dir_all(folder.join("several").join(database)).unwrap();
        let file = folder.join("several").join(database).join("books.json");
        fs::write(file, "{\"_id\": 1}").unwrap();
    }
    refused(
        &["--folder", "several"],
        "several databases; name one of one, two",
    );
    refused(&["--folder", "several", "--database", "three"], "`three`");
}

#[tokio::test]
async fn ten_thousand_names_are_declared_in_part() {
    let folder = folder("wide");
    let documents = (0..10).map(|part: i64| {
        let names = (part * 1_000..(part + 1) * 1_000).map(|name| (format!("f{name}x"), name));
        let mut document = doc! {"_id": 1};
        document.extend(names.clone().map(|(name, value)| (name, value.into())));
        // Values of two types: a struct, and no map.
        let inner = names.map(|(name, value)| {
            let text = value % 2 == 0;
            (
                name,
                if text {
                    Bson::from("x")
                } else {
                    Bson::from(value)
                },
            )
        });
        document.insert("inner", inner.collect::<BsonDocument>());
        Bson::Document(document).into_relaxed_extjson()
    });
    let text: Vec<String> = documents.map(|one| one.to_string()).collect();
    fs::write(folder.join("wide.json"), text.join("\n")).unwrap();
    let pulled = pull::folder(&folder).sample(Sample::All).await.unwrap();
    let source = pulled.to_source();
    assert!(source.contains("9,797 others"), "{source}");
    assert!(source.contains("    #[serde(flatten)]\n    pub rest: bson::Document,"));
    assert_eq!(pulled.merge(&source).unwrap().source, source);
}
