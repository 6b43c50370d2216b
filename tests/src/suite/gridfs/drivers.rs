//! The drivers' own cases of GridFS: `drivers/*.json`, from the specification.

use odm::bson::{Bson, Document, doc, oid::ObjectId};
use odm::gridfs::{Bucket, File};
use odm::prelude::*;

const FILES: [&str; 7] = [
    include_str!("drivers/delete.json"),
    include_str!("drivers/deleteByName.json"),
    include_str!("drivers/download.json"),
    include_str!("drivers/downloadByName.json"),
    include_str!("drivers/rename.json"),
    include_str!("drivers/renameByName.json"),
    include_str!("drivers/upload.json"),
];

pub(super) async fn cases_of_the_drivers_pass(db: &Db) {
    let mut cases = 0;
    for file in FILES {
        let file: serde_json::Value = serde_json::from_str(file).unwrap();
        let Bson::Document(file) = Bson::try_from(file).unwrap() else {
            panic!("no document");
        };
        for test in documents(&file, "tests") {
            run(db, &file, test).await;
            cases += 1;
        }
    }
    assert_eq!(cases, 37);
}

fn documents<'d>(parent: &'d Document, name: &str) -> Vec<&'d Document> {
    let all = parent
        .get_array(name)
        .map(Vec::as_slice)
        .unwrap_or_default();
    all.iter().map(|one| one.as_document().unwrap()).collect()
}

async fn run(db: &Db, file: &Document, test: &Document) {
    for collection in documents(file, "initialData") {
        let name = collection.get_str("collectionName").unwrap();
        let _ = db.run_command(doc! {"drop": name}).await;
        let documents = collection.get_array("documents").unwrap();
        if !documents.is_empty() {
            let insert = doc! {"insert": name, "documents": documents};
            db.run_command(insert).await.unwrap();
        }
    }
    let name = test.get_str("description").unwrap();
    let mut uploaded = None;
    for operation in documents(test, "operations") {
        step(db, name, operation, &mut uploaded).await;
    }
    for collection in documents(test, "outcome") {
        let stored = all(db, collection.get_str("collectionName").unwrap()).await;
        let expected = collection.get_array("documents").unwrap();
        assert_eq!(stored.len(), expected.len(), "{name}: {stored:?}");
        for (stored, expected) in stored.iter().zip(expected) {
            matches(&Bson::from(stored.clone()), expected, uploaded, name);
        }
    }
}

async fn all(db: &Db, collection: &str) -> Vec<Document> {
    let find = doc! {"find": collection, "sort": {"_id": 1}};
    db.run_command(find).all().await.unwrap()
}

async fn step(db: &Db, name: &str, operation: &Document, uploaded: &mut Option<ObjectId>) {
    let none = Document::new();
    let arguments = operation.get_document("arguments").unwrap_or(&none);
    let object = operation.get_str("object").unwrap();
    let verb = operation.get_str("name").unwrap();
    if let Some(collection) = object
        .strip_prefix("bucket0_")
        .and_then(|it| it.strip_suffix("_collection"))
    {
        return of_collection(
            db,
            name,
            &format!("fs.{collection}"),
            verb,
            operation,
            *uploaded,
        )
        .await;
    }
    let result = of_bucket(&db.gridfs(), verb, arguments).await;
    if operation.contains_key("expectError") {
        assert!(result.is_err(), "{name}: {result:?}");
        return;
    }
    let result = result.unwrap_or_else(|error| panic!("{name}: {error}"));
    if let Some(Bson::ObjectId(id)) = result {
        *uploaded = Some(id);
    }
    if let Some(expected) = operation.get("expectResult") {
        matches(&result.unwrap(), expected, *uploaded, name);
    }
}

/// Runs an operation of a bucket; returns the uploaded id, or the downloaded bytes in hexadecimal digits.
async fn of_bucket(
    bucket: &Bucket<File>,
    verb: &str,
    arguments: &Document,
) -> odm::Result<Option<Bson>> {
    let text = |name: &str| arguments.get_str(name).unwrap();
    let id = || arguments.get_object_id("id").unwrap();
    match verb {
        "delete" => bucket.delete(&id()).await.map(|()| None),
        "deleteByName" => bucket.delete_by_name(text("filename")).await.map(|_| None),
        "rename" => bucket
            .rename(&id(), text("newFilename"))
            .await
            .map(|()| None),
        "renameByName" => {
            let renamed = bucket.rename_by_name(text("filename"), text("newFilename"));
            renamed.await.map(|_| None)
        }
        "download" => bucket
            .download(&id())
            .bytes()
            .await
            .map(|bytes| Some(hex(&bytes))),
        "downloadByName" => {
            let mut download = bucket.download_by_name(text("filename"));
            if let Ok(revision) = arguments.get_i32("revision") {
                download = download.revision(revision);
            }
            download.bytes().await.map(|bytes| Some(hex(&bytes)))
        }
        "upload" => {
            let source = arguments.get_document("source").unwrap();
            let source = unhex(source.get_str("$$hexBytes").unwrap());
            let size = arguments.get_i32("chunkSizeBytes").unwrap();
            let mut upload = bucket
                .upload(text("filename"))
                .chunk_size(size.cast_unsigned());
            if let Ok(metadata) = arguments.get_document("metadata") {
                upload = upload.metadata(metadata);
            }
            upload.bytes(&source).await.map(|id| Some(id.into()))
        }
        other => panic!("an operation of buckets: {other}"),
    }
}

async fn of_collection(
    db: &Db,
    name: &str,
    collection: &str,
    verb: &str,
    operation: &Document,
    uploaded: Option<ObjectId>,
) {
    let arguments = operation.get_document("arguments").unwrap();
    let update = |one: &Document| {
        doc! {"q": one.get_document("filter").unwrap(), "u": one.get_document("update").unwrap()}
    };
    match verb {
        "find" => {
            let mut find =
                doc! {"find": collection, "filter": arguments.get_document("filter").unwrap()};
            if let Ok(sort) = arguments.get_document("sort") {
                find.insert("sort", sort);
            }
            let found = db.run_command(find).all().await.unwrap();
            let found: Vec<Bson> = found.into_iter().map(Bson::from).collect();
            matches(
                &found.into(),
                operation.get("expectResult").unwrap(),
                uploaded,
                name,
            );
        }
        "deleteOne" => {
            let statement = doc! {"q": arguments.get_document("filter").unwrap(), "limit": 1};
            let reply = db.run_command(doc! {"delete": collection, "deletes": [statement]});
            assert_eq!(reply.await.unwrap().get_i32("n").unwrap(), 1, "{name}");
        }
        "updateOne" => {
            let reply = db.run_command(doc! {"update": collection, "updates": [update(arguments)]});
            assert_eq!(
                reply.await.unwrap().get_i32("nModified").unwrap(),
                1,
                "{name}"
            );
        }
        "bulkWrite" => {
            let requests = documents(arguments, "requests").into_iter();
            let updates: Vec<_> = requests
                .map(|request| update(request.get_document("updateOne").unwrap()))
                .collect();
            db.run_command(doc! {"update": collection, "updates": updates})
                .await
                .unwrap();
        }
        other => panic!("an operation of collections: {other}"),
    }
}

/// Compares a value with what a case expects of it.
fn matches(value: &Bson, expected: &Bson, uploaded: Option<ObjectId>, name: &str) {
    match (value, expected) {
        (_, Bson::Document(special))
            if special
                .keys()
                .next()
                .is_some_and(|key| key.starts_with("$$")) =>
        {
            let (operator, operand) = special.iter().next().unwrap();
            match (operator.as_str(), operand.as_str()) {
                ("$$matchesEntity", _) => assert_eq!(value.as_object_id(), uploaded, "{name}"),
                ("$$matchesHexBytes", Some(bytes)) => {
                    assert_eq!(value, &Bson::from(bytes), "{name}");
                }
                ("$$type", Some("objectId")) => assert!(value.as_object_id().is_some(), "{name}"),
                ("$$type", Some("date")) => assert!(value.as_datetime().is_some(), "{name}"),
                _ => panic!("{name}: {special}"),
            }
        }
        (Bson::Document(value), Bson::Document(expected)) => {
            for (field, expected) in expected {
                // Checksums are a thing of the past.
                let is_optional = expected
                    .as_document()
                    .is_some_and(|it| it.contains_key("$$unsetOrMatches"));
                match value.get(field) {
                    None => assert!(is_optional, "{name}: no {field}"),
                    Some(value) if !is_optional => matches(value, expected, uploaded, name),
                    Some(_) => {}
                }
            }
            let others = value.keys().filter(|field| !expected.contains_key(*field));
            assert_eq!(others.count(), 0, "{name}: {value}");
        }
        (Bson::Array(values), Bson::Array(expected)) => {
            assert_eq!(values.len(), expected.len(), "{name}");
            for (value, expected) in values.iter().zip(expected) {
                matches(value, expected, uploaded, name);
            }
        }
        (Bson::Int32(value), Bson::Int64(expected)) => {
            assert_eq!(i64::from(*value), *expected, "{name}");
        }
        (Bson::Int64(value), Bson::Int32(expected)) => {
            assert_eq!(*value, i64::from(*expected), "{name}");
        }
        _ => assert_eq!(value, expected, "{name}"),
    }
}

fn hex(bytes: &[u8]) -> Bson {
    let two = |byte: &u8| [byte >> 4, byte & 15].map(|digit| char::from_digit(digit.into(), 16));
    bytes
        .iter()
        .flat_map(two)
        .flatten()
        .collect::<String>()
        .into()
}

fn unhex(text: &str) -> Vec<u8> {
    let digits = text.as_bytes().chunks(2);
    let byte = |digits: &[u8]| u8::from_str_radix(str::from_utf8(digits).unwrap(), 16).unwrap();
    digits.map(byte).collect()
}
