//! Folders of files: what is loaded is dumped, and the dump is loaded and dumped as it was.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use flate2::Compression;
use flate2::write::GzEncoder;
use odm::bson::{Bson, DateTime, Document, doc, oid::ObjectId};
use odm::{Context, Db};

use crate::draw::Draw;

const NAMES: [&str; 8] = [
    "a",
    "b.c",
    "caf%C3%A9",
    "shop/a",
    "shop/x%2Fy",
    "%24",
    "system.views",
    "admin/system.users",
];

pub fn files(data: &[u8]) {
    let folder = folder();
    let (given, dumped, again) = (
        folder.join("given"),
        folder.join("dumped"),
        folder.join("again"),
    );
    for folder in [&given, &dumped, &again] {
        let _ = fs::remove_dir_all(folder);
    }
    fs::create_dir_all(&given).expect("a folder can be made");
    let mut draw = Draw::new(data);
    for _ in 0..=draw.below(3) {
        let name = draw.pick(&NAMES);
        let (ending, content) = match draw.below(4) {
            0 => ("metadata.json", metadata(&mut draw)),
            1 => ("json", json(&mut draw)),
            _ => ("bson", bson(&mut draw)),
        };
        write(&mut draw, &given.join(format!("{name}.{ending}")), content);
    }
    // What is left is a file as it stands: the bytes are the fuzzer's own.
    let ending = draw.pick(&["bson", "json", "metadata.json", "bson.gz", "json.gz"]);
    let content = draw.rest();
    if !content.is_empty() {
        fs::write(given.join(format!("rest.{ending}")), content).expect("a file can be written");
    }

    let db = database();
    let loaded = db.import(&given);
    db.dump(&dumped).expect("what is there can be dumped");
    if let Err(error) = loaded {
        assert!(!error.to_string().is_empty());
        assert_eq!(files_of(&dumped).len(), 1, "nothing is loaded in part");
        return;
    }
    let db = database();
    if let Err(error) = db.import(&dumped) {
        panic!("what was dumped can't be loaded: {error}");
    }
    db.dump(&again).expect("what is there can be dumped");
    let (once, twice) = (files_of(&dumped), files_of(&again));
    for ((name, once), (other, twice)) in once.iter().zip(&twice) {
        assert_eq!(name, other);
        // A collection that is made has a UUID of its own.
        if !name.ends_with(".metadata.json") {
            assert!(once == twice, "{name}");
        }
    }
    assert_eq!(once.len(), twice.len());
}

/// Where this process has its files: in memory, if the system has such a place.
fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let memory = Path::new("/dev/shm");
        let base = if memory.is_dir() {
            memory.to_owned()
        } else {
            std::env::temp_dir()
        };
        base.join(format!("odm-fuzz-{}", std::process::id()))
    })
}

fn database() -> Db {
    let id = ObjectId::from_bytes([7; 12]);
    let context = Context::system()
        .with_clock(|| DateTime::from_millis(1_700_000_000_000))
        .with_object_ids(move || id)
        .with_random(|| 4);
    Db::memory_with(context)
}

/// Writes a file, spoiled or compressed or both or neither.
fn write(draw: &mut Draw<'_>, path: &Path, mut content: Vec<u8>) {
    if draw.one_in(4) {
        draw.spoil(&mut content);
    }
    if draw.one_in(8) {
        let length = draw.below(content.len() + 1);
        content.truncate(length);
    }
    let mut path = path.to_owned();
    if draw.one_in(4) {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder
            .write_all(&content)
            .expect("memory takes what is written");
        content = encoder.finish().expect("memory takes what is written");
        if draw.one_in(4) {
            draw.spoil(&mut content);
        }
        path.as_mut_os_string().push(".gz");
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).expect("a folder can be made");
    }
    fs::write(path, content).expect("a file can be written");
}

fn documents(draw: &mut Draw<'_>) -> Vec<Document> {
    let document = |id| {
        let mut document = doc! { "_id": id };
        if let Bson::Document(more) = draw.value(4) {
            document.extend(more);
        }
        document
    };
    (0..3).map(document).collect()
}

fn bson(draw: &mut Draw<'_>) -> Vec<u8> {
    let mut content = Vec::new();
    for document in documents(draw) {
        content.extend(document.to_vec().unwrap_or_default());
    }
    if draw.one_in(4) {
        content.extend(
            draw.raw_document(&["_id", "a", "a", "$x", ""], 3)
                .as_bytes(),
        );
    }
    content
}

/// Extended JSON in one of its forms, in an array or not.
fn json(draw: &mut Draw<'_>) -> Vec<u8> {
    let is_canonical = draw.one_in(2);
    let texts: Vec<String> = documents(draw)
        .into_iter()
        .map(|document| text(document, is_canonical))
        .collect();
    match draw.below(4) {
        0 => format!("[{}]", texts.join(",\n")),
        1 => format!("\u{feff}{}", texts.join("")),
        2 => texts.join("\r\n"),
        _ => texts.join("\n"),
    }
    .into_bytes()
}

fn text(document: Document, is_canonical: bool) -> String {
    let value = Bson::Document(document);
    if is_canonical {
        value.into_canonical_extjson()
    } else {
        value.into_relaxed_extjson()
    }
    .to_string()
}

fn metadata(draw: &mut Draw<'_>) -> Vec<u8> {
    let options = match draw.below(6) {
        0 => doc! { "capped": true, "size": 4096 },
        1 => doc! { "validator": draw.filter(2) },
        2 => doc! { "viewOn": draw.pick(&["a", "b.c", "rest"]), "pipeline": draw.pipeline(2) },
        3 => doc! { "collation": draw.collation() },
        4 => doc! { "changeStreamPreAndPostImages": { "enabled": draw.value(1) } },
        _ => Document::new(),
    };
    let mut metadata = doc! { "options": options };
    let indexes: Vec<Document> = (0..draw.below(3)).map(|_| draw.index()).collect();
    if draw.one_in(4) {
        metadata.insert(
            draw.pick(&["options", "indexes", "uuid", "type", "collectionName"]),
            draw.value(2),
        );
    } else {
        metadata.insert("indexes", indexes);
    }
    text(metadata, draw.one_in(2)).into_bytes()
}

/// All files below a folder.
fn files_of(folder: &Path) -> Vec<(String, Vec<u8>)> {
    fn add(root: &Path, folder: &Path, files: &mut Vec<(String, Vec<u8>)>) {
        for entry in fs::read_dir(folder).expect("the folder is there") {
            let path = entry.expect("the folder is there").path();
            if path.is_dir() {
                add(root, &path, files);
                continue;
            }
            let name = path
                .strip_prefix(root)
                .unwrap_or(&path)
                .display()
                .to_string();
            files.push((name, fs::read(&path).expect("the file is there")));
        }
    }
    let mut files = Vec::new();
    add(folder, folder, &mut files);
    files.sort();
    files
}
