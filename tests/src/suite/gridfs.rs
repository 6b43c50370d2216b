//! Files in GridFS: what is uploaded comes back, in parts too, and damaged files are errors.

mod drivers;

use std::io::SeekFrom;
use std::time::Duration;

use odm::bson::{Bson, Document as BsonDocument, doc, oid::ObjectId};
use odm::check::{Aspect, FindingKind};
use odm::gridfs::{Bucket, ByteCount, File};
use odm::prelude::*;
use tokio::io::{AsyncReadExt, AsyncSeekExt, AsyncWriteExt};

use self::drivers::cases_of_the_drivers_pass;
use crate::case::cases;
use crate::polls::dropped_after;
use crate::random::Random;

cases![
    cases_of_the_drivers_pass,
    files_come_back,
    ranges_fetch_only_their_chunks,
    seeks_lead_anywhere,
    readers_are_copied_and_writers_filled,
    aborted_and_dropped_uploads_leave_nothing,
    uploads_that_are_dropped_at_any_poll_leave_a_file_or_nothing,
    taken_ids_are_refused_and_keep_their_file,
    uploads_of_one_id_leave_one_file,
    copies_report_how_far_they_are,
    models_have_metadata_ids_and_names_of_their_own,
    numbers_of_other_programs_are_read,
    damaged_files_are_errors,
    indexes_are_made_with_the_first_file,
    a_plan_makes_the_bucket,
    fields_of_files_need_no_declaration,
    each_damage_is_found_by_a_check,
    checks_wait_for_uploads,
];

fn bytes(random: &mut Random, length: usize) -> Vec<u8> {
    (0..length).map(|_| (random.next() >> 56) as u8).collect()
}

async fn chunks(db: &Db, bucket: &str) -> Vec<BsonDocument> {
    let find = doc! {"find": format!("{bucket}.chunks"), "sort": {"files_id": 1, "n": 1}};
    db.run_command(find).all().await.unwrap()
}

async fn files_come_back(db: &Db) {
    let files = db.gridfs::<File>();
    let mut random = Random::of(7);
    for chunk_size in [1, 3, 4, 1_000] {
        for length in [0, 1, 3, 4, 5, 8, 9, 31, 1_000, 2_001] {
            let content = bytes(&mut random, length);
            let upload = files.upload("a").chunk_size(chunk_size);
            let id = upload.bytes(&content).await.unwrap();
            assert_eq!(files.download(&id).bytes().await.unwrap(), content);
            let file = files.files().get(&id).await.unwrap().unwrap();
            assert_eq!(file.length.get(), length as u64);
            assert_eq!(file.chunk_size.get(), u64::from(chunk_size));
            assert_eq!(file.filename.as_deref(), Some("a"));
            let (start, end) = (length / 3, length - length / 4);
            let part = files.download(&id).range(start as u64..end as u64);
            assert_eq!(part.bytes().await.unwrap(), content[start..end]);
        }
    }
    let refused = files.download(&ObjectId::new()).bytes().await.unwrap_err();
    assert!(refused.is_file_not_found(), "{refused}");
}

async fn ranges_fetch_only_their_chunks(db: &Db) {
    let files = db.gridfs::<File>();
    let content = bytes(&mut Random::of(1), 1_000);
    let id = files
        .upload("a")
        .chunk_size(10)
        .bytes(&content)
        .await
        .unwrap();
    // Without the chunks that the range does not need.
    let others = doc! {"n": {"$nin": [20, 21]}};
    let delete = doc! {"delete": "fs.chunks", "deletes": [{"q": others, "limit": 0}]};
    db.run_command(delete).await.unwrap();
    let part = files.download(&id).range(205..=214).bytes().await.unwrap();
    assert_eq!(part, content[205..215]);
    let part = files.download(&id).range(200..200).bytes().await.unwrap();
    assert!(part.is_empty());
    let missing = files
        .download(&id)
        .range(205..221)
        .bytes()
        .await
        .unwrap_err();
    assert!(missing.is_file_damaged(), "{missing}");
    let beyond = files
        .download(&id)
        .range(5..1_001)
        .bytes()
        .await
        .unwrap_err();
    assert!(beyond.to_string().contains("1000 bytes"), "{beyond}");
}

async fn seeks_lead_anywhere(db: &Db) {
    let files = db.gridfs::<File>();
    let mut random = Random::of(3);
    let content = bytes(&mut random, 777);
    let id = files
        .upload("a")
        .chunk_size(20)
        .bytes(&content)
        .await
        .unwrap();
    let mut reader = files.download(&id).open().await.unwrap();
    let mut position: usize = 0;
    for _ in 0..200 {
        let to = i64::try_from(random.below(900)).unwrap();
        let seek = match random.below(3) {
            0 => SeekFrom::Start(to.cast_unsigned()),
            1 => SeekFrom::Current(to - i64::try_from(position).unwrap()),
            _ => SeekFrom::End(to - 777),
        };
        assert_eq!(reader.seek(seek).await.unwrap(), to.cast_unsigned());
        position = usize::try_from(to).unwrap();
        let mut part = vec![0; random.below(60)];
        let mut read = 0;
        while read < part.len() {
            match reader.read(&mut part[read..]).await.unwrap() {
                0 => break,
                more => read += more,
            }
        }
        let expected = content.get(position..).unwrap_or_default();
        let expected = &expected[..expected.len().min(part.len())];
        assert_eq!(&part[..read], expected);
        position += read;
    }
    assert!(reader.seek(SeekFrom::End(-778)).await.is_err());
}

async fn readers_are_copied_and_writers_filled(db: &Db) {
    let files = db.gridfs::<File>();
    let mut random = Random::of(5);
    let content = bytes(&mut random, 300_000);
    let id = files.upload("a").copy_from(&content[..]).await.unwrap();
    let mut copy = Vec::new();
    let written = files.download(&id).copy_to(&mut copy).await.unwrap();
    assert_eq!(written, 300_000);
    assert_eq!(copy, content);

    let mut writer = files.upload("b").chunk_size(7_000).open().unwrap();
    let mut rest = &content[..];
    while !rest.is_empty() {
        let length = (random.below(20_000) + 1).min(rest.len());
        writer.write_all(&rest[..length]).await.unwrap();
        rest = &rest[length..];
        if random.below(3) == 0 {
            writer.flush().await.unwrap();
        }
    }
    let id = *writer.id();
    assert!(files.files().get(&id).await.unwrap().is_none());
    writer.shutdown().await.unwrap();
    assert!(writer.write_all(b"more").await.is_err());
    drop(writer);
    let mut reader = files.download_by_name("b").open().await.unwrap();
    let mut copy = Vec::new();
    reader.read_to_end(&mut copy).await.unwrap();
    assert_eq!(copy, content);
}

/// Fails after some bytes.
struct Broken(usize);

impl tokio::io::AsyncRead for Broken {
    fn poll_read(
        mut self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
        buffer: &mut tokio::io::ReadBuf<'_>,
    ) -> std::task::Poll<std::io::Result<()>> {
        if self.0 == 0 {
            return std::task::Poll::Ready(Err(std::io::Error::other("the disk is gone")));
        }
        let length = self.0.min(buffer.remaining());
        buffer.put_slice(&vec![1; length]);
        self.0 -= length;
        std::task::Poll::Ready(Ok(()))
    }
}

async fn aborted_and_dropped_uploads_leave_nothing(db: &Db) {
    let files = db.gridfs::<File>();
    let upload = || files.upload("a").chunk_size(1_000);
    let failed = upload().copy_from(Broken(5_000_000)).await.unwrap_err();
    assert!(failed.is_other(), "{failed}");
    assert!(chunks(db, "fs").await.is_empty());

    let mut writer = upload().open().unwrap();
    writer.write_all(&vec![1; 5_000_000]).await.unwrap();
    writer.abort().await.unwrap();
    assert!(chunks(db, "fs").await.is_empty());

    let mut writer = upload().open().unwrap();
    writer.write_all(&vec![1; 5_000_000]).await.unwrap();
    drop(writer);
    for _ in 0..200 {
        if chunks(db, "fs").await.is_empty() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(chunks(db, "fs").await.is_empty());
    assert_eq!(files.files().find_all().count().await.unwrap(), 0);
}

/// Returns a byte at a time, and lets others run before each.
struct Slow(usize);

impl tokio::io::AsyncRead for Slow {
    fn poll_read(
        mut self: std::pin::Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
        buffer: &mut tokio::io::ReadBuf<'_>,
    ) -> std::task::Poll<std::io::Result<()>> {
        self.0 = self.0.saturating_sub(1);
        if self.0 % 2 == 1 {
            cx.waker().wake_by_ref();
            return std::task::Poll::Pending;
        }
        if self.0 > 0 {
            buffer.put_slice(&[1]);
        }
        std::task::Poll::Ready(Ok(()))
    }
}

async fn uploads_that_are_dropped_at_any_poll_leave_a_file_or_nothing(db: &Db) {
    let files = db.gridfs::<File>();
    let mut ended = 0;
    for polls in 0.. {
        let upload = files.upload("a").chunk_size(2).copy_from(Slow(22));
        ended += usize::from(dropped_after(polls, upload.into_future()).await.is_some());
        // A command stores 10,000 chunks at most.
        let mut writer = files.upload("b").chunk_size(1).open().unwrap();
        dropped_after(polls, async {
            writer.write_all(&[1; 11_000]).await.unwrap();
            writer.shutdown().await.unwrap();
        })
        .await;
        drop(writer);
        if ended == 2 {
            break;
        }
    }
    // The chunks are deleted on a task of the runtime.
    for _ in 0..200 {
        if found(db).await.is_empty() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(found(db).await, []);
    let all = files.files().find_all().all().await.unwrap();
    assert!(all.len() >= 2, "{all:?}");
    for file in all {
        let length = files.download(&file.id).bytes().await.unwrap().len();
        assert!([10, 11_000].contains(&length), "{length}");
    }
}

async fn taken_ids_are_refused_and_keep_their_file(db: &Db) {
    let files = db.gridfs::<File>();
    let id = ObjectId::new();
    let upload = || files.upload("a").chunk_size(4).id(&id);
    for (first, second) in [(10, 3), (10, 10), (3, 10), (0, 10), (10, 0), (0, 0)] {
        let content = vec![7; first];
        upload().bytes(&content).await.unwrap();
        let taken = upload().bytes(&vec![8; second]).await.unwrap_err();
        assert!(taken.is_duplicate_key(), "{taken}");
        let taken = upload().copy_from(&vec![8; second][..]).await.unwrap_err();
        assert!(taken.is_duplicate_key(), "{taken}");
        let mut writer = upload().open().unwrap();
        writer.write_all(&vec![8; second]).await.unwrap();
        assert!(writer.shutdown().await.is_err());
        assert!(writer.write_all(&[1]).await.is_err());
        writer.abort().await.unwrap();
        assert_eq!(files.download(&id).bytes().await.unwrap(), content);
        assert_eq!(found(db).await, []);
        let mut writer = upload().open().unwrap();
        writer.write_all(&vec![8; second]).await.unwrap();
        drop(writer);
        assert_eq!(files.download(&id).bytes().await.unwrap(), content);
        files.delete(&id).await.unwrap();
    }
    let mut writer = upload().open().unwrap();
    writer.shutdown().await.unwrap();
    let ended = writer.abort().await.unwrap_err();
    assert!(ended.is_usage(), "{ended}");
    files.download(&id).bytes().await.unwrap();
}

async fn uploads_of_one_id_leave_one_file(db: &Db) {
    let files = db.gridfs::<File>();
    for round in 0..3 {
        let id = ObjectId::new();
        let uploads = (1..=3).map(|content: u8| {
            let upload = files.upload("a").chunk_size(1).id(&id);
            async move {
                let content = vec![content; 11_000];
                let upload = upload.copy_from(&content[..]).await;
                upload.map(|_| content)
            }
        });
        let all = futures::future::join_all(uploads).await;
        let stored: Vec<_> = all.into_iter().filter_map(Result::ok).collect();
        assert!(stored.len() <= 1, "round {round}: {} files", stored.len());
        for content in stored {
            assert_eq!(files.download(&id).bytes().await.unwrap(), content);
        }
        assert_eq!(found(db).await, []);
    }
}

async fn copies_report_how_far_they_are(db: &Db) {
    let files = db.gridfs::<File>();
    let content = bytes(&mut Random::of(9), 9_000_000);
    let mut seen = Vec::new();
    let upload = files.upload("a").copy_from(&content[..]);
    let id = upload
        .on_progress(|now| seen.push((now.bytes, now.length)))
        .await
        .unwrap();
    assert!(seen.len() > 1 && seen.is_sorted(), "{seen:?}");
    assert_eq!(seen.last(), Some(&(9_000_000, None)));
    seen.clear();
    let mut copy = Vec::new();
    let download = files.download(&id).range(1_000..8_000_000);
    let read = download
        .copy_to(&mut copy)
        .on_progress(|now| seen.push((now.bytes, now.length)))
        .await
        .unwrap();
    assert_eq!((read, &copy[..]), (7_999_000, &content[1_000..8_000_000]));
    assert!(seen.len() > 20 && seen.is_sorted(), "{seen:?}");
    assert_eq!(seen.last(), Some(&(7_999_000, Some(7_999_000))));
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Shot {
    camera: String,
    stars: i32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "photos.files", gridfs(chunk_size = "8B"))]
struct Photo {
    #[serde(rename = "_id")]
    id: String,
    filename: String,
    length: i64,
    metadata: Shot,
}

async fn models_have_metadata_ids_and_names_of_their_own(db: &Db) {
    let photos: Bucket<Photo> = db.gridfs();
    let shot = |stars| Shot {
        camera: "Leica".to_owned(),
        stars,
    };
    for (id, stars) in [("one", 3), ("two", 5)] {
        let upload = photos
            .upload("cat.jpg")
            .id(&id.to_owned())
            .metadata(&shot(stars));
        assert_eq!(upload.bytes(id.as_bytes()).await.unwrap(), id);
    }
    let best = photos.files().find_one(|p| p.metadata.stars.gt(4));
    let best = best.await.unwrap().unwrap();
    assert_eq!((best.id.as_str(), best.length), ("two", 3));
    let mut reader = photos.download(&best.id).open().await.unwrap();
    assert_eq!(reader.file(), &best);
    let mut text = String::new();
    reader.read_to_string(&mut text).await.unwrap();
    assert_eq!(text, "two");
    assert_eq!(chunks(db, "photos").await.len(), 2);

    // Another name, as a handle may give it.
    let archive = db
        .with_collection::<Photo>("archive.files")
        .gridfs::<Photo>();
    let upload = archive
        .upload("old.jpg")
        .id(&"old".to_owned())
        .metadata(&shot(1));
    upload.bytes(b"0123456789").await.unwrap();
    assert_eq!(chunks(db, "archive").await.len(), 2);
    assert_eq!(
        archive
            .rename_by_name("old.jpg", "older.jpg")
            .await
            .unwrap(),
        1
    );
    let old = archive.download_by_name("older.jpg").bytes().await.unwrap();
    assert_eq!(old, b"0123456789");
    archive.drop().await.unwrap();
    assert!(chunks(db, "archive").await.is_empty());
    assert_eq!(photos.delete_by_name("cat.jpg").await.unwrap(), 2);
    assert!(chunks(db, "photos").await.is_empty());
    let absent = photos.rename(&"one".to_owned(), "x").await.unwrap_err();
    assert!(absent.is_file_not_found(), "{absent}");
    assert_eq!(absent.model(), Some("Photo"));
}

async fn numbers_of_other_programs_are_read(db: &Db) {
    let files = db.gridfs::<File>();
    let data = odm::bson::Binary {
        subtype: odm::bson::spec::BinarySubtype::BinaryOld,
        bytes: b"abcd".to_vec(),
    };
    for (id, length, size, n) in [
        (1, Bson::Int32(4), Bson::Int32(4), Bson::Int32(0)),
        (2, Bson::Double(4.0), Bson::Double(4.0), Bson::Int64(0)),
        (3, Bson::Int64(4), Bson::Int64(1_000), Bson::Double(0.0)),
    ] {
        let id = ObjectId::from_bytes([id; 12]);
        let file =
            doc! {"_id": id, "length": length, "chunkSize": size, "uploadDate": DateTime::now()};
        let chunk = doc! {"files_id": id, "n": n, "data": data.clone()};
        for (collection, document) in [("fs.files", file), ("fs.chunks", chunk)] {
            let insert = doc! {"insert": collection, "documents": [document]};
            db.run_command(insert).await.unwrap();
        }
        assert_eq!(files.download(&id).bytes().await.unwrap(), b"abcd");
        let file = files.files().get(&id).await.unwrap().unwrap();
        assert_eq!((file.length.get(), file.filename), (4, None));
    }
    assert_eq!(serde_json::from_str::<ByteCount>("7").unwrap().get(), 7);
    assert!(serde_json::from_str::<ByteCount>("-7").is_err());
    assert_eq!(found(db).await, []);
    let report = db.check(models![File]).only([Aspect::Validator]);
    let report = report.await.unwrap();
    assert!(report.is_sound(), "{report}");
    for (id, length) in [
        (4, Bson::Double(4.5)),
        (5, Bson::Int32(-1)),
        (6, Bson::from("4")),
    ] {
        let id = ObjectId::from_bytes([id; 12]);
        let file =
            doc! {"_id": id, "length": length, "chunkSize": 4, "uploadDate": DateTime::now()};
        let insert = doc! {"insert": "fs.files", "documents": [file]};
        db.run_command(insert).await.unwrap();
        let error = files.download(&id).bytes().await.unwrap_err();
        assert_eq!(
            (error.model(), error.path()),
            (Some("File"), Some("length"))
        );
    }
    let report = db
        .check(models![File])
        .only([Aspect::Validator, Aspect::Files]);
    let report = report.await.unwrap();
    assert_eq!(report.listed.len(), 6, "{report}");
}

async fn damaged_files_are_errors(db: &Db) {
    let files = db.gridfs::<File>();
    let update = |filter: BsonDocument, change: BsonDocument| {
        db.run_command(doc! {"update": "fs.chunks", "updates": [{"q": filter, "u": change}]})
    };
    let content = b"0123456789";
    for (damage, said) in [
        (doc! {"$set": {"n": 7}}, "chunk 1 is missing"),
        (doc! {"$unset": {"data": 1}}, "chunk 1 has no bytes"),
        (doc! {"$set": {"data": "4567"}}, "chunk 1 has no bytes"),
        (doc! {"$set": {"n": "1"}}, "chunk 1 is missing"),
    ] {
        let id = files
            .upload("a")
            .chunk_size(4)
            .bytes(content)
            .await
            .unwrap();
        update(doc! {"files_id": id, "n": 1}, damage).await.unwrap();
        let error = files.download(&id).bytes().await.unwrap_err();
        assert!(
            error.is_file_damaged() && error.to_string().contains(said),
            "{error}"
        );
        // The undamaged part can be read.
        assert_eq!(
            files.download(&id).range(..4).bytes().await.unwrap(),
            b"0123"
        );
        let mut reader = files.download(&id).open().await.unwrap();
        let mut read = Vec::new();
        let failed = reader.read_to_end(&mut read).await.unwrap_err();
        assert!(failed.to_string().contains(said), "{failed}");
    }
    let id = files
        .upload("a")
        .chunk_size(5)
        .bytes(content)
        .await
        .unwrap();
    let extra = doc! {"files_id": id, "n": 2, "data": odm::bson::Binary { subtype: odm::bson::spec::BinarySubtype::Generic, bytes: vec![1] }};
    let insert = doc! {"insert": "fs.chunks", "documents": [extra]};
    db.run_command(insert).await.unwrap();
    let error = files.download(&id).bytes().await.unwrap_err();
    assert!(error.to_string().contains("behind the last"), "{error}");
}

async fn indexes_are_made_with_the_first_file(db: &Db) {
    let files = db.gridfs::<File>();
    files.upload("a").bytes(b"").await.unwrap();
    files.upload("b").bytes(b"abc").await.unwrap();
    for (collection, name, unique) in [
        ("fs.files", "filename_1_uploadDate_1", false),
        ("fs.chunks", "files_id_1_n_1", true),
    ] {
        let list = db.run_command(doc! {"listIndexes": collection});
        let indexes = list.all().await.unwrap();
        let index = indexes
            .iter()
            .find(|index| index.get_str("name").unwrap() == name);
        let is_unique = index.unwrap().get_bool("unique").unwrap_or_default();
        assert_eq!(is_unique, unique);
    }
    // The plan creates nothing again, and drops nothing.
    let plan = db.sync(models![File]).plan().await.unwrap();
    let text = plan.to_string();
    assert_eq!(plan.steps().len(), 1, "the validator of the files: {text}");
    assert!(
        !text.contains("index") && !text.contains("fs.chunks"),
        "{text}"
    );
}

async fn a_plan_makes_the_bucket(db: &Db) {
    let db = db.with_collection::<Photo>("archive.files");
    let plan = db.sync(models![Photo]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    let again = db.sync(models![Photo]).plan().await.unwrap();
    assert!(again.is_empty(), "{again}");
    let photos = db.gridfs::<Photo>();
    let shot = Shot {
        camera: "Leica".to_owned(),
        stars: 1,
    };
    let upload = photos.upload("a").id(&"a".to_owned()).metadata(&shot);
    upload.bytes(b"0123456789").await.unwrap();
    assert!(db.sync(models![Photo]).plan().await.unwrap().is_empty());
    let index = doc! {"files_id": 1, "n": 1};
    let list = db.run_command(doc! {"listIndexes": "archive.chunks"});
    let indexes = list.all().await.unwrap();
    assert!(
        indexes
            .iter()
            .any(|is| is.get_document("key").unwrap() == &index)
    );
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "scans.files", gridfs, deny_undeclared)]
struct Scan {
    #[serde(rename = "_id")]
    id: ObjectId,
    metadata: Option<Shot>,
}

/// A model need not declare what an upload stores in any case, and refuses everything else.
async fn fields_of_files_need_no_declaration(db: &Db) {
    let plan = db.sync(models![Scan]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    let scans = db.gridfs::<Scan>();
    let shot = Shot {
        camera: "Leica".to_owned(),
        stars: 1,
    };
    let id = scans.upload("a").metadata(&shot).bytes(b"abc").await;
    let id = id.unwrap();
    let report = db.check(models![Scan]).await.unwrap();
    assert!(report.is_sound(), "{report}");
    let change = doc! {"$set": {"pages": 1, "metadata.lens": "50 mm"}};
    let change = doc! {"q": {"_id": id}, "u": change};
    let mut update = doc! {"update": "scans.files", "updates": [change]};
    for (bypass, modified) in [(false, 0), (true, 1)] {
        update.insert("bypassDocumentValidation", bypass);
        let reply = db.run_command(update.clone()).await.unwrap();
        assert_eq!(reply.get_i32("nModified").unwrap(), modified, "{reply}");
    }
    let check = db.check(models![Scan]).only([Aspect::UndeclaredFields]);
    let mut paths: Vec<_> = check.await.unwrap().listed;
    paths.sort_by_key(|finding| finding.path.clone());
    let paths: Vec<_> = paths.iter().map(|finding| finding.path.as_str()).collect();
    assert_eq!(paths, ["metadata.lens", "pages"]);
}

/// The kinds and the ids of the findings.
async fn found(db: &Db) -> Vec<(FindingKind, Option<Bson>)> {
    let check = db.check(models![File]).only([Aspect::Files]);
    let report = check.unfinished_after(Duration::ZERO).await.unwrap();
    let listed = report.listed.into_iter();
    listed.map(|finding| (finding.kind, finding.id)).collect()
}

async fn each_damage_is_found_by_a_check(db: &Db) {
    let files = db.gridfs::<File>();
    let upload = async |length: usize| {
        let upload = files.upload("a").chunk_size(4);
        upload.bytes(&vec![7; length]).await.unwrap()
    };
    let others = [
        upload(0).await,
        upload(3).await,
        upload(8).await,
        upload(41).await,
    ];
    assert_eq!(found(db).await, []);
    let change = async |q: BsonDocument, u: BsonDocument| {
        let update = doc! {"update": "fs.chunks", "updates": [{"q": q, "u": u}]};
        let reply = db.run_command(update).await.unwrap();
        assert_eq!(reply.get_i32("n").unwrap(), 1);
    };
    let remove = async |collection: &str, q: BsonDocument| {
        let delete = doc! {"delete": collection, "deletes": [{"q": q, "limit": 1}]};
        let reply = db.run_command(delete).await.unwrap();
        assert_eq!(reply.get_i32("n").unwrap(), 1);
    };
    let mut expected = Vec::new();
    for (n, length) in [(0, 9), (1, 9), (2, 9)] {
        let id = upload(length).await;
        remove("fs.chunks", doc! {"files_id": id, "n": n}).await;
        expected.push((FindingKind::MissingChunk, id));
        let id = upload(length).await;
        let data = odm::bson::Binary {
            subtype: odm::bson::spec::BinarySubtype::Generic,
            bytes: vec![1, 2],
        };
        change(doc! {"files_id": id, "n": n}, doc! {"$set": {"data": data}}).await;
        expected.push((FindingKind::WrongChunk, id));
        let id = upload(length).await;
        change(doc! {"files_id": id, "n": n}, doc! {"$unset": {"data": 1}}).await;
        expected.push((FindingKind::WrongChunk, id));
    }
    let id = upload(9).await;
    change(doc! {"files_id": id, "n": 2}, doc! {"$set": {"n": 3}}).await;
    expected.extend([
        (FindingKind::MissingChunk, id),
        (FindingKind::ExtraChunk, id),
    ]);
    let id = upload(5).await;
    remove("fs.files", doc! {"_id": id}).await;
    expected.push((FindingKind::OrphanedChunks, id));
    let mut all = found(db).await;
    let key = |(kind, id): &(FindingKind, Option<Bson>)| {
        (id.as_ref().and_then(Bson::as_object_id), *kind)
    };
    all.sort_by_key(key);
    let mut expected: Vec<_> = expected
        .into_iter()
        .map(|(kind, id)| (kind, Some(Bson::from(id))))
        .collect();
    expected.sort_by_key(key);
    assert_eq!(all, expected);
    for id in others {
        files.download(&id).bytes().await.unwrap();
    }
}

/// The chunks of an upload that goes on belong to no file yet.
async fn checks_wait_for_uploads(db: &Db) {
    let files = db.gridfs::<File>();
    let mut writer = files.upload("a").chunk_size(1_000).open().unwrap();
    writer.write_all(&vec![1; 5_000_000]).await.unwrap();
    writer.flush().await.unwrap();
    assert!(!chunks(db, "fs").await.is_empty());
    let report = db.check(models![File]).only([Aspect::Files]).await.unwrap();
    assert!(report.is_sound(), "{report}");
    let kinds: Vec<_> = found(db).await.into_iter().map(|(kind, _)| kind).collect();
    // The time in an id counts in seconds.
    assert!(kinds.is_empty() || kinds == [FindingKind::OrphanedChunks]);
    writer.shutdown().await.unwrap();
    assert_eq!(found(db).await, []);
}
