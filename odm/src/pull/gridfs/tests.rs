//! Models of the files that other programs have stored.

use bson::{DateTime, Document, doc};

use crate::pull::testing::{database, field, head, pulled};

fn file(id: i32) -> Document {
    doc! {
        "_id": id, "length": 5_i64, "chunkSize": 261_120, "uploadDate": DateTime::from_millis(1), "filename": "a.png",
        "metadata": {"width": 5},
    }
}

fn chunk() -> Document {
    doc! {"_id": 1, "files_id": 1, "n": 0}
}

#[tokio::test]
async fn files_are_a_bucket_and_chunks_have_no_model() {
    let nameless = doc! {"_id": 2, "length": 7.0, "chunkSize": 261_120_i64, "uploadDate": DateTime::from_millis(1)};
    let db = database(&[
        ("photos.files", vec![file(1), nameless]),
        ("photos.chunks", vec![chunk()]),
        ("lonely.files", vec![file(1)]),
        ("lost.chunks", vec![chunk()]),
    ])
    .await;
    let indexes = vec![
        doc! {"key": {"filename": 1, "uploadDate": 1}, "name": "filename_1_uploadDate_1"},
        doc! {"key": {"length": 1}, "name": "length_1"},
    ];
    db.run_command(doc! {"createIndexes": "photos.files", "indexes": indexes})
        .await
        .unwrap();
    let pulled = pulled(&db).await;
    assert_eq!(
        pulled.collections(),
        ["lonely.files", "lost.chunks", "photos.files"]
    );
    assert_eq!(
        pulled.skipped()[0].to_string(),
        "`photos.chunks` has no model: it has the chunks of the files in `photos.files`, which `Db::gridfs` reads"
    );
    let source = pulled.to_source();
    assert!(source.contains("use odm::gridfs::ByteCount;\n"), "{source}");
    assert_eq!(
        head(&source, "PhotosFile"),
        [
            "#[odm(collection = \"photos.files\")]",
            "#[odm(gridfs)]",
            "#[odm(index(length))]"
        ]
    );
    let photos = source.split("pub struct PhotosFile {").nth(1).unwrap();
    assert_eq!(field(photos, "length"), "length: ByteCount");
    assert_eq!(
        field(photos, "chunk_size"),
        "#[serde(rename = \"chunkSize\")] chunk_size: ByteCount"
    );
    let lonely = head(&source, "LonelyFile");
    assert_eq!(lonely, ["#[odm(collection = \"lonely.files\")]"]);
}

#[tokio::test]
async fn a_size_of_chunks_is_declared_if_all_files_have_it() {
    let sized = |id: i32, size: i32| {
        let mut sized = file(id);
        sized.insert("chunkSize", size);
        sized
    };
    let db = database(&[
        ("a.files", vec![sized(1, 1_048_576), sized(2, 1_048_576)]),
        ("a.chunks", vec![chunk()]),
        ("b.files", vec![sized(1, 1_048_576), sized(2, 1_024)]),
        ("b.chunks", vec![chunk()]),
        ("c.files", vec![sized(1, 0)]),
        ("c.chunks", vec![chunk()]),
    ])
    .await;
    let source = pulled(&db).await.to_source();
    let head = |name| head(&source, name);
    assert_eq!(head("AFile")[1], "#[odm(gridfs(chunk_size = 1_048_576))]");
    assert_eq!(head("BFile")[1], "#[odm(gridfs)]");
    assert_eq!(head("CFile")[1], "#[odm(gridfs)]");
}

#[tokio::test]
async fn other_collections_of_that_name_are_no_buckets() {
    let mut text = file(1);
    text.insert("length", "5");
    let db = database(&[("a.files", vec![text]), ("a.chunks", vec![chunk()])]).await;
    let source = pulled(&db).await.to_source();
    assert_eq!(
        head(&source, "AFile"),
        [
            "// It is not declared as a bucket of GridFS, because its `length` has other values.",
            "#[odm(collection = \"a.files\")]"
        ]
    );
}

#[tokio::test]
async fn a_second_run_keeps_the_types_of_a_bucket() {
    let db = database(&[("a.files", vec![file(1)]), ("a.chunks", vec![chunk()])]).await;
    let pulled = pulled(&db).await;
    let source = pulled
        .to_source()
        .replace("length: ByteCount", "length: i64");
    let merged = pulled.merge(&source).unwrap();
    assert_eq!((merged.source, merged.notes), (source, Vec::new()));
}
