//! Photos in GridFS: metadata with types, parts of a file, and what a check finds.

use std::io::SeekFrom;

use odm::bson::oid::ObjectId;
use odm::gridfs::ByteCount;
use odm::prelude::*;
use tokio::io::{AsyncReadExt, AsyncSeekExt};

#[derive(Debug, Serialize, Deserialize, Embedded)]
struct Shot {
    camera: String,
    #[odm(range(min = 0, max = 5))]
    stars: i32,
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "photos.files", gridfs(chunk_size = "256KiB"), index(metadata.camera))]
struct Photo {
    #[serde(rename = "_id")]
    id: ObjectId,
    filename: String,
    length: ByteCount,
    metadata: Shot,
}

pub(super) async fn show(db: &Db) -> Result<(), Box<dyn std::error::Error>> {
    db.sync(models![Photo])
        .plan()
        .await?
        .apply(Allow::CREATE)
        .await?;
    let photos = db.gridfs::<Photo>();
    for (name, camera, stars, size) in [
        ("cat.raw", "Leica", 5, 20_000_000),
        ("dog.raw", "Leica", 3, 300_000),
        ("owl.raw", "Nikon", 4, 1_000_000),
    ] {
        let camera = camera.to_owned();
        // A disk's file would do as well: tokio's `File` is a reader.
        let bytes = vec![stars; size];
        let upload = photos.upload(name).metadata(&Shot {
            camera,
            stars: stars.into(),
        });
        upload.copy_from(&bytes[..]).await?;
    }

    let good = photos
        .files()
        .find(|p| p.metadata.camera.eq("Leica") & p.metadata.stars.gte(4));
    for photo in good.all().await? {
        println!(
            "{}: {} bytes, {} stars",
            photo.filename, photo.length, photo.metadata.stars
        );
        let mut reader = photos.download(&photo.id).open().await?;
        reader.seek(SeekFrom::Start(19_000_000)).await?;
        let mut part = [0; 4];
        reader.read_exact(&mut part).await?; // Fetches the chunks from that position on.
        println!("  bytes from 19,000,000 on: {part:?}");
    }

    // Another program deletes a chunk.
    let owl = photos
        .files()
        .find_one(|p| p.filename.eq("owl.raw"))
        .await?;
    let owl = owl.ok_or("the owl is stored")?;
    let chunk = doc! {"q": {"files_id": owl.id, "n": 2}, "limit": 1};
    db.run_command(doc! {"delete": "photos.chunks", "deletes": [chunk]})
        .await?;
    let read = photos.download(&owl.id).bytes().await;
    println!(
        "owl.raw is damaged: {}",
        read.is_err_and(|error| error.is_file_damaged())
    );
    for finding in db.check(models![Photo]).await?.listed {
        println!("  a check finds: {}: {}", finding.kind, finding.detail);
    }
    photos.delete(&owl.id).await?;
    println!(
        "sound without it: {}",
        db.check(models![Photo]).await?.is_sound()
    );
    Ok(())
}
