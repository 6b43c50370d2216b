//! Documents of other programs, and of older versions of this one.

use odm::bson::{Document as BsonDocument, doc};
use odm::check::FindingKind;
use odm::prelude::*;

use super::declared::refusal;
use super::{Book, Film, Medium, create, fill};
use crate::case::cases;

cases![
    unknown_variants_are_errors_of_the_enum_alone,
    documents_of_variants_with_maps_and_closed_ones,
    kept_fields_of_variants_are_written_by_their_models,
    streams_of_changes_are_of_the_enum,
    numbers_and_nulls_of_other_programs,
    names_are_chosen_for_the_collection,
];

async fn past_the_validator(db: &Db, documents: Vec<BsonDocument>) {
    let insert = doc! {"insert": "media", "documents": documents, "bypassDocumentValidation": true};
    db.run_command(insert).await.unwrap();
}

async fn unknown_variants_are_errors_of_the_enum_alone(db: &Db) {
    fill(db).await;
    past_the_validator(
        db,
        vec![
            doc! {"_id": 40, "kind": "game", "title": "Emma"},
            doc! {"_id": 41, "title": "Emma"},
            doc! {"_id": 42, "kind": 7, "title": "Emma"},
        ],
    )
    .await;
    let books = db.collection::<Book>();
    assert_eq!(
        books
            .find(|b| b.title.eq("Emma"))
            .all()
            .await
            .unwrap()
            .len(),
        1
    );
    let media = db.collection::<Medium>();
    let error = media.find(|m| m.id.eq(40)).all().await.unwrap_err();
    assert!(error.is_decode());
    let message = error.to_string();
    for part in [
        "Medium",
        "40",
        "kind",
        "`game`",
        "book",
        "film",
        "soundRecording",
        "a filter of `kind`",
    ] {
        assert!(message.contains(part), "{part}: {message}");
    }
    let error = media
        .find(|m| m.id.eq(41))
        .all()
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("Medium") && error.contains("41") && error.contains("kind"),
        "{error}"
    );
    assert!(
        media
            .get(&42)
            .await
            .unwrap_err()
            .to_string()
            .contains("kind")
    );
    // The other documents are read: by a filter of the known tags, or behind the error.
    let known = media.find(|m| m.tag.in_(["book", "film", "soundRecording"]));
    assert_eq!(known.all().await.unwrap().len(), 6);
    let (mut read, mut failed) = (0, 0);
    let mut cursor = media.find_all().await.unwrap();
    while let Some(medium) = cursor.next().await {
        match medium {
            Ok(_) => read += 1,
            Err(_) => failed += 1,
        }
    }
    assert_eq!((read, failed), (6, 3));
    let report = db.check(models![Medium]).await.unwrap();
    let mut invalid: Vec<_> = report
        .listed
        .iter()
        .filter(|it| it.kind == FindingKind::InvalidDocument)
        .map(|it| it.id.clone().unwrap().as_i32().unwrap())
        .collect();
    invalid.sort_unstable();
    invalid.dedup();
    assert_eq!(invalid, [40, 41, 42], "{report}");
    let of_books = db
        .check(models![Book])
        .filter::<Book>(|_| Filter::all())
        .await
        .unwrap();
    assert_eq!((of_books.read(), of_books.findings), (3, 0), "{of_books}");
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "parts")]
#[serde(tag = "t")]
enum Part {
    Open(Open),
    Closed(Closed),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(variant_of = Part)]
struct Open {
    #[serde(rename = "_id")]
    id: i32,
    #[serde(flatten)]
    more: std::collections::BTreeMap<String, i32>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(variant_of = Part, deny_undeclared)]
#[serde(deny_unknown_fields)]
struct Closed {
    #[serde(rename = "_id")]
    id: i32,
}

async fn documents_of_variants_with_maps_and_closed_ones(db: &Db) {
    let plan = db.sync(models![Part]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    let open = Open {
        id: 1,
        more: [("a".to_owned(), 1)].into(),
    };
    let (opens, closed) = (db.collection::<Open>(), db.collection::<Closed>());
    opens.insert_one(&open).await.unwrap();
    closed.insert_one(&Closed { id: 2 }).await.unwrap();
    // Neither struct has a field for the tag, so a read leaves it out.
    let read = opens.find_one(|_| Filter::all()).await.unwrap();
    assert_eq!(read.as_ref(), Some(&open));
    assert_eq!(closed.find_all().all().await.unwrap(), [Closed { id: 2 }]);
    let mut loaded = opens.load(&1).await.unwrap().unwrap();
    loaded.more.insert("b".to_owned(), 2);
    opens.save(&mut loaded).await.unwrap();
    let before = opens
        .find_one_and_replace(|o| o.id.eq(1), &open)
        .await
        .unwrap();
    assert_eq!(before.unwrap().more.len(), 2);
    let all = db
        .collection::<Part>()
        .find_all()
        .sort(|p| p.id.asc())
        .all()
        .await
        .unwrap();
    assert_eq!(all, [Part::Open(open), Part::Closed(Closed { id: 2 })]);
    let undeclared = doc! {"_id": 3, "t": "Closed", "x": 1};
    assert_eq!(refusal(db, "parts", undeclared).await, Some(121));
    let undeclared = doc! {"_id": 3, "t": "Open", "x": "text"};
    assert_eq!(refusal(db, "parts", undeclared).await, Some(121));
    let report = db.check(models![Part, Open, Closed]).await.unwrap();
    assert_eq!(report.findings, 0, "{report}");
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "pages")]
#[serde(tag = "t")]
enum Page {
    Draft(Draft),
    Final(Final),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(variant_of = Page)]
struct Draft {
    #[serde(rename = "_id")]
    id: i32,
    text: String,
    #[odm(version)]
    version: i64,
    #[odm(updated_at)]
    updated: Option<DateTime>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(variant_of = Page)]
struct Final {
    #[serde(rename = "_id")]
    id: i32,
    text: String,
}

async fn kept_fields_of_variants_are_written_by_their_models(db: &Db) {
    let draft = |id| Draft {
        id,
        text: "a".to_owned(),
        version: 0,
        updated: None,
    };
    let (pages, drafts) = (db.collection::<Page>(), db.collection::<Draft>());
    drafts.insert_one(draft(1)).await.unwrap();
    // The enum knows the variant that it inserts.
    pages.insert_one(Page::Draft(draft(2))).await.unwrap();
    let inserted = drafts.find_all().sort(|d| d.id.asc()).all().await.unwrap();
    assert!(
        inserted.iter().all(|it| it.updated.is_some()),
        "{inserted:?}"
    );
    drafts
        .update_one(|d| d.id.eq(1), |d| d.text.set("b"))
        .await
        .unwrap();
    let mut loaded = drafts.load(&1).await.unwrap().unwrap();
    loaded.text.push('c');
    drafts.save(&mut loaded).await.unwrap();
    let last = drafts.get(&1).await.unwrap().unwrap();
    assert_eq!(
        (last.text.as_str(), last.version),
        ("bc", inserted[0].version + 2)
    );
    drafts.replace_one(|d| d.id.eq(1), draft(1)).await.unwrap();
    let replaced = db
        .run_command(doc! {"find": "pages", "filter": {"_id": 1}})
        .all()
        .await;
    let replaced = replaced.unwrap();
    assert_eq!(replaced[0].get_str("t").unwrap(), "Draft", "{replaced:?}");
    assert_eq!(
        drafts.get(&1).await.unwrap().unwrap().version,
        inserted[0].version + 3
    );
    // It does not know which variants an update matches.
    let update = pages
        .update_one(|p| p.id.eq(1), |p| p.draft.text.set("d"))
        .await;
    let replace = pages
        .replace_one(|p| p.id.eq(1), Page::Draft(draft(1)))
        .await;
    let refusals = [update.unwrap_err(), replace.unwrap_err()];
    for refusal in refusals {
        assert!(
            refusal.to_string().contains("the collection of `Draft`"),
            "{refusal}"
        );
    }
    let finals = db.collection::<Final>();
    let text = "z".to_owned();
    finals.insert_one(Final { id: 9, text }).await.unwrap();
    finals
        .update_one(|f| f.id.eq(9), |f| f.text.set("y"))
        .await
        .unwrap();
    assert_eq!(pages.delete_one(|p| p.id.eq(9)).await.unwrap().deleted, 1);
}

async fn streams_of_changes_are_of_the_enum(db: &Db) {
    create(db).await;
    let refusal = db.collection::<Film>().watch().await.unwrap_err();
    assert!(
        refusal
            .to_string()
            .contains("watch the collection of `Medium`"),
        "{refusal}"
    );
    let media = db.collection::<Medium>();
    let mut changes = media.watch().await.unwrap();
    let inserted = super::film(1, "Emma", 124);
    db.collection::<Film>().insert_one(&inserted).await.unwrap();
    let change = changes.next().await.unwrap().unwrap();
    let odm::collection::Operation::Insert { id, full_document } = change.operation else {
        panic!("{change:?}")
    };
    assert_eq!((id, full_document), (1, Medium::Film(inserted)));
}

async fn numbers_and_nulls_of_other_programs(db: &Db) {
    create(db).await;
    past_the_validator(
        db,
        vec![
            doc! {"kind": "film", "_id": 1_i64, "title": "Long", "minutes": 90_i64, "based_on": null, "old": true},
            doc! {"title": "Short", "minutes": 80_i64, "isbn": null, "_id": 2, "kind": "film"},
        ],
    )
    .await;
    let films = db.collection::<Film>();
    let read = films.find_all().sort(|f| f.id.asc()).all().await.unwrap();
    let read: Vec<_> = read
        .iter()
        .map(|it| (it.id, it.minutes, it.isbn.clone()))
        .collect();
    assert_eq!(read, [(1, 90, None), (2, 80, None)]);
    let media = db.collection::<Medium>();
    assert_eq!(media.find_all().all().await.unwrap().len(), 2);
    // Both name the field that can't be read.
    past_the_validator(
        db,
        vec![doc! {"_id": 3, "kind": "film", "title": "Half", "minutes": 0.5}],
    )
    .await;
    let of_film = films.get(&3).await.unwrap_err();
    assert_eq!(of_film.path(), Some("minutes"), "{of_film}");
    let of_medium = media.get(&3).await.unwrap_err();
    assert!(
        of_medium.is_decode() && of_medium.to_string().contains("_id 3"),
        "{of_medium}"
    );
}

async fn names_are_chosen_for_the_collection(db: &Db) {
    let other = db.with_collection::<Medium>("shelf");
    other
        .sync(models![Medium, Book, Film])
        .plan()
        .await
        .unwrap()
        .apply(Allow::CREATE)
        .await
        .unwrap();
    let books = other.collection::<Book>();
    assert_eq!(books.name(), "shelf");
    books.insert_one(super::book(1, "Emma", 1)).await.unwrap();
    assert_eq!(
        other
            .collection::<Medium>()
            .find_all()
            .count()
            .await
            .unwrap(),
        1
    );
    assert_eq!(
        other.collection::<Film>().find_all().count().await.unwrap(),
        0
    );
    assert_eq!(
        db.collection::<Medium>().find_all().count().await.unwrap(),
        0
    );
}
