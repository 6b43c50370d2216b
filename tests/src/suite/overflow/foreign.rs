//! Documents that other programs have written, and large ones.

use odm::bson::{Bson, Document as BsonDocument, doc};
use odm::check::FindingKind;
use odm::prelude::*;

use super::{Book, MoreReaders, assert_sound, filled, numbers, reader, readers};

async fn raw(db: &Db, collection: &str, document: BsonDocument) {
    let insert = doc! {
        "insert": collection,
        "documents": [document],
        "bypassDocumentValidation": true,
    };
    db.run_command(insert).await.unwrap();
}

fn element(number: impl Into<Bson>) -> BsonDocument {
    doc! {"number": number.into(), "mark": false}
}

pub(super) async fn documents_of_other_programs_are_read(db: &Db) {
    filled(db, []).await;
    let overflow = db.overflow::<MoreReaders>();
    raw(db, "books", doc! {"_id": 1}).await;
    raw(
        db,
        "books",
        doc! {"_id": 2, "readers": null, "overflow_count": 0},
    )
    .await;
    raw(
        db,
        "books",
        doc! {"_id": 3, "readers": [element(1), 7, element(2)]},
    )
    .await;
    raw(db, "books", doc! {"_id": 4, "readers": "none"}).await;
    for id in [1, 2] {
        assert!(overflow.items(id).all().await.unwrap().is_empty());
        assert_eq!(overflow.count(id).await.unwrap(), 0);
    }

    // What does not fit is one error, and the others follow it.
    let mut items = overflow.items(3).await.unwrap();
    assert_eq!(items.next().await.unwrap().unwrap(), reader(1));
    let error = items.next().await.unwrap().unwrap_err();
    assert!(error.is_decode(), "{error}");
    assert_eq!(
        (error.model(), error.path()),
        (Some("Book"), Some("readers.1"))
    );
    assert_eq!(items.next().await.unwrap().unwrap(), reader(2));
    assert!(items.next().await.is_none());

    let error = overflow.items(4).all().await.unwrap_err();
    assert_eq!(
        (error.model(), error.path()),
        (Some("Book"), Some("readers"))
    );
    assert_eq!(overflow.count(4).await.unwrap(), 0);

    // Numbers of other types are in order, and longer lists are read.
    raw(
        db,
        "books",
        doc! {"_id": 5, "readers": [element(0), element(1), element(2), element(3)]},
    )
    .await;
    let (first, last) = (vec![element(4)], (5..12).map(element).collect::<Vec<_>>());
    raw(
        db,
        "more_readers",
        doc! {"book": 5, "number": 2.0, "readers": last},
    )
    .await;
    raw(
        db,
        "more_readers",
        doc! {"book": 5, "number": 1_i64, "readers": first},
    )
    .await;
    raw(db, "more_readers", doc! {"book": 5, "number": 3}).await;
    assert_eq!(numbers(db, 5).await, (0..12).collect::<Vec<_>>());
    assert_eq!(overflow.count(5).await.unwrap(), 12);
}

pub(super) async fn documents_of_other_programs_get_elements(db: &Db) {
    filled(db, []).await;
    let overflow = db.overflow::<MoreReaders>();
    // No list yet.
    raw(db, "books", doc! {"_id": 1, "overflow_count": 0}).await;
    overflow.push(1, readers(0..9)).await.unwrap();
    assert_eq!(numbers(db, 1).await, (0..9).collect::<Vec<_>>());

    // A list beyond its bound gets no more.
    let many: Vec<_> = (0..5).map(element).collect();
    raw(
        db,
        "books",
        doc! {"_id": 2, "readers": many, "overflow_count": 0},
    )
    .await;
    // MongoDB validates what is updated.
    let error = overflow.push(2, readers(5..6)).await.unwrap_err();
    assert!(error.to_string().contains("failed validation"), "{error}");

    for list in [Bson::Null, "none".into(), doc! {"0": 1}.into()] {
        raw(
            db,
            "books",
            doc! {"_id": 3, "readers": list, "overflow_count": 0},
        )
        .await;
        assert!(overflow.push(3, readers(0..1)).await.is_err());
        let delete = doc! {"delete": "books", "deletes": [{"q": {"_id": 3}, "limit": 1}]};
        db.run_command(delete).await.unwrap();
    }

    // An overflow document whose number is none.
    raw(
        db,
        "books",
        doc! {"_id": 4, "readers": [element(0), element(1), element(2)], "overflow_count": 1},
    )
    .await;
    let full: Vec<_> = (3..7).map(element).collect();
    raw(
        db,
        "more_readers",
        doc! {"book": 4, "number": "one", "readers": full},
    )
    .await;
    let error = overflow.push(4, readers(7..9)).await.unwrap_err();
    assert_eq!(
        (error.model(), error.path()),
        (Some("MoreReaders"), Some("number"))
    );

    // One that another program has numbered.
    raw(
        db,
        "books",
        doc! {"_id": 5, "readers": [element(0), element(1), element(2)], "overflow_count": 1},
    )
    .await;
    let full: Vec<_> = (3..7).map(element).collect();
    raw(
        db,
        "more_readers",
        doc! {"book": 5, "number": 41.0, "readers": full},
    )
    .await;
    overflow.push(5, readers(7..9)).await.unwrap();
    let opened = db.collection::<MoreReaders>().find_one(|m| m.number.eq(42));
    assert_eq!(opened.await.unwrap().unwrap().readers, readers(7..9));
    assert_eq!(numbers(db, 5).await, (0..9).collect::<Vec<_>>());
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(
    collection = "albums",
    has_many(more: MorePhotos, by = album, on_delete = cascade)
)]
struct Album {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(items(max = 10))]
    photos: Vec<String>,
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(
    collection = "more_photos",
    overflow(list = photos, by = album, number = part, max = 100)
)]
struct MorePhotos {
    #[serde(rename = "_id")]
    id: ObjectId,
    album: Ref<Album>,
    part: i64,
    photos: Vec<String>,
}

pub(super) async fn large_elements_open_documents_by_their_size(db: &Db) {
    let plan = db.sync(models![Album, MorePhotos]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    let albums = db.collection::<Album>();
    albums
        .insert_one(&Album {
            id: 1,
            photos: Vec::new(),
        })
        .await
        .unwrap();
    let overflow = db.overflow::<MorePhotos>();
    let photo = |number: u8| char::from(b'a' + number).to_string().repeat(3_500_000);
    for number in 0..7 {
        let result = overflow.push(1, [photo(number)]).await.unwrap();
        assert_eq!(result.pushed, 1);
    }
    let first = |photo: &String| photo.chars().next().unwrap();
    let all = overflow.items(1).all().await.unwrap();
    assert_eq!(all.iter().map(first).collect::<String>(), "abcdefg");
    let inside = albums.get(&1).await.unwrap().unwrap().photos.len();
    assert_eq!(inside, 4);

    let two = [photo(7), photo(8)];
    let result = overflow.push(1, &two).await.unwrap();
    assert_eq!(result.pushed, 2);
    let all = overflow.items(1).all().await.unwrap();
    assert_eq!(all.iter().map(first).collect::<String>(), "abcdefghi");

    let error = overflow
        .push(1, ["x".repeat(17_000_000)])
        .await
        .unwrap_err();
    assert!(
        error.to_string().contains("16777216") || error.code().is_some(),
        "{error}"
    );
    assert_eq!(overflow.count(1).await.unwrap(), 9);
}

pub(super) async fn orphans_are_found(db: &Db) {
    let books = filled(db, [1]).await;
    db.overflow::<MoreReaders>()
        .push(1, readers(0..9))
        .await
        .unwrap();
    books.delete_by_id(&1).leave_dangling().await.unwrap();
    let report = db.check(models![Book, MoreReaders]).await.unwrap();
    let dangling = |kind: &FindingKind| matches!(kind, FindingKind::DanglingReference);
    let found = report.counts.iter().filter(|one| dangling(&one.kind));
    let found: u64 = found.map(|one| one.count).sum();
    assert_eq!(found, 2, "{report}");
}

pub(super) async fn wrong_counts_are_repaired(db: &Db) {
    let books = filled(db, [1]).await;
    db.overflow::<MoreReaders>()
        .push(1, readers(0..9))
        .await
        .unwrap();
    let update = doc! {
        "update": "books",
        "updates": [{"q": {"_id": 1}, "u": {"$set": {"overflow_count": 7}}}],
    };
    db.run_command(update).await.unwrap();
    let report = db.check(models![Book, MoreReaders]).await.unwrap();
    assert_eq!(report.findings, 1, "{report}");
    let plan = db.repair(models![Book, MoreReaders]).plan().await.unwrap();
    plan.run().await.unwrap();
    assert_eq!(books.get(&1).await.unwrap().unwrap().overflow_count, 2);
    assert_sound(db).await;
}
