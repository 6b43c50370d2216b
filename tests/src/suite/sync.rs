//! Sync: declared indexes and options are created, and a second plan is empty.

use std::sync::{Arc, Mutex};

use odm::bson;
use odm::bson::Bson;
use odm::collection::{Collation, FullDocumentBeforeChange};
use odm::plan::Action;
use odm::prelude::*;
use odm::query::raw;

use crate::case::cases;

cases![
    every_kind_of_index_is_created_once,
    locale_defaults_are_not_a_difference,
    options_of_a_collection_are_created_once,
    existing_indexes_change_only_if_allowed,
    an_index_over_duplicates_does_not_become_unique,
    undeclared_indexes_stay_unless_dropping_is_allowed,
    capped_bounds_are_changed_in_place,
    pre_images_are_enabled_by_declaration,
    a_view_in_the_way_is_reported,
    the_collation_of_a_collection_stays,
    two_models_of_one_collection_are_refused,
    databases_of_the_server_are_refused,
    a_unique_index_over_duplicates_says_which_step_failed,
    conflicting_indexes_are_dropped_before_a_rebuild,
    swapped_index_names_are_rebuilt_together,
    failed_rebuilds_restore_the_old_index,
    several_processes_may_apply_the_same_plan,
    the_commands_shown_are_the_commands_sent,
];

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Copy {
    shelf: String,
    #[serde(rename = "lentTo")]
    lent_to: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(
    collection = "books",
    index(title, year = desc),
    index(copies.lent_to, sparse, name = "lent"),
    unique(isbn, partial = |b| b.year.gt(1970)),
    index(publisher, collation(locale = "en", strength = 2)),
    index(author, collation(locale = "th"), hidden),
    index(year = hashed),
    index(place = "2dsphere"),
    ttl(due, after = "30d"),
    text(title(weight = 10), blurb, default_language = "french", name = "words"),
    wildcard(extra)
)]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
    year: i32,
    isbn: String,
    publisher: String,
    author: String,
    place: Bson,
    due: DateTime,
    blurb: Option<String>,
    extra: std::collections::BTreeMap<String, i32>,
    #[odm(embed(few, max = 12))]
    copies: Vec<Copy>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(
    collection = "entries",
    capped(size = 5000, max = 100),
    collation(locale = "fr_CA", strength = 2),
    validation(level = "moderate", action = "warn"),
    rule("a line is not empty", |e| e.line.ne("")),
    index(line),
    text(line, name = "words"),
    deny_undeclared
)]
struct Entry {
    #[serde(rename = "_id")]
    id: i32,
    line: String,
}

/// Locales for which mongod sets more than the general defaults.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(
    collection = "words",
    index(danish, collation(locale = "da")),
    index(french, collation(locale = "fr_CA")),
    index(greek, collation(locale = "el", strength = 1)),
    index(thai, collation(locale = "th", alternate = "shifted")),
    index(vietnamese, collation(locale = "vi"))
)]
struct Word {
    #[serde(rename = "_id")]
    id: i32,
    danish: String,
    french: String,
    greek: String,
    thai: String,
    vietnamese: String,
}

async fn in_line(db: &Db, models: [&'static odm::model::ModelMeta; 1]) -> bool {
    db.sync(models).plan().await.unwrap().is_empty()
}

async fn every_kind_of_index_is_created_once(db: &Db) {
    let plan = db.sync(models![Book]).plan().await.unwrap();
    assert_eq!(plan.steps().len(), 2);
    let applied = plan.apply(Allow::CREATE).await.unwrap();
    assert!(applied.is_complete());
    let listed = db.run_command(doc! {"listIndexes": "books"}).all().await;
    let names: Vec<_> = listed
        .unwrap()
        .iter()
        .map(|index| index.get_str("name").unwrap().to_owned())
        .collect();
    assert_eq!(
        names,
        [
            "_id_",
            "title_1_year_-1",
            "lent",
            "isbn_1",
            "publisher_1",
            "author_1",
            "year_hashed",
            "place_2dsphere",
            "due_1",
            "words",
            "extra.$**_1"
        ]
    );
    let again = db.sync(models![Book]).plan().await.unwrap();
    assert!(again.is_empty(), "{again}");
    assert!(again.to_string().contains("matches its models"));
    assert_eq!(
        again.apply(Allow::CREATE).await.unwrap().done().len(),
        0,
        "nothing to do is nothing done"
    );
}

async fn locale_defaults_are_not_a_difference(db: &Db) {
    let plan = db.sync(models![Word]).plan().await.unwrap();
    assert!(plan.apply(Allow::CREATE).await.unwrap().is_complete());
    let again = db.sync(models![Word]).plan().await.unwrap();
    assert!(again.is_empty(), "{again}");
    let words = db.collection::<Word>();
    for (field, locale) in [("danish", "da"), ("french", "fr_CA"), ("vietnamese", "vi")] {
        let find = words.find(|_| raw(doc! {field: "a"}));
        let explained = find.collation(Collation::new(locale)).explain().await;
        assert_eq!(
            explained.unwrap().indexes,
            [format!("{field}_1")],
            "{locale}"
        );
    }
}

async fn options_of_a_collection_are_created_once(db: &Db) {
    let plan = db.sync(models![Entry]).plan().await.unwrap();
    assert!(plan.apply(Allow::default()).await.unwrap().is_complete());
    let again = db.sync(models![Entry]).plan().await.unwrap();
    assert!(again.is_empty(), "{again}");
    let listed = db.run_command(doc! {"listCollections": 1}).all().await;
    let options = listed.unwrap()[0].get_document("options").unwrap().clone();
    assert!(options.get_bool("capped").unwrap());
    assert_eq!(options.get_str("validationLevel").unwrap(), "moderate");
    assert_eq!(options.get_str("validationAction").unwrap(), "warn");
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(
    collection = "cars",
    unique(plate),
    ttl(sold, after = "1h"),
    index(make, hidden)
)]
struct Car {
    #[serde(rename = "_id")]
    id: i32,
    plate: String,
    make: String,
    sold: DateTime,
}

/// A collection whose every option differs from `Car`.
async fn old_cars(db: &Db) {
    db.run_command(doc! {"create": "cars", "validator": {"plate": {"$exists": true}}, "validationAction": "warn"})
        .await
        .unwrap();
    db.run_command(doc! {"createIndexes": "cars", "indexes": [
        {"key": {"plate": 1}, "name": "plate_1"},
        {"key": {"sold": 1}, "name": "sold_1", "expireAfterSeconds": 60},
        {"key": {"make": 1}, "name": "by_make"},
        {"key": {"colour": 1}, "name": "colour_1"},
    ]})
    .await
    .unwrap();
}

async fn existing_indexes_change_only_if_allowed(db: &Db) {
    old_cars(db).await;
    let sync = || db.sync(models![Car]).plan();
    let plan = sync().await.unwrap();
    let applied = plan.apply(Allow::CREATE).await.unwrap();
    assert_eq!((applied.done().len(), applied.left_undone().len()), (0, 5));
    assert!(!applied.is_complete());
    assert_eq!(sync().await.unwrap().steps(), plan.steps());

    let applied = plan.apply(Allow::CHANGE).await.unwrap();
    let done: Vec<_> = applied.done().iter().map(|step| &step.action).collect();
    assert_eq!(
        done,
        [
            &Action::ChangeCollection,
            &Action::ChangeIndex {
                name: "plate_1".to_owned()
            },
            &Action::ChangeIndex {
                name: "sold_1".to_owned()
            },
            &Action::ChangeIndex {
                name: "by_make".to_owned()
            },
        ]
    );
    let plan = sync().await.unwrap();
    let applied = plan.apply(Allow::CREATE | Allow::DROP).await.unwrap();
    let done: Vec<_> = applied.done().iter().map(|step| &step.action).collect();
    assert_eq!(
        done,
        [&Action::DropIndex {
            name: "colour_1".to_owned()
        },]
    );
    assert!(in_line(db, models![Car]).await);
}

async fn an_index_over_duplicates_does_not_become_unique(db: &Db) {
    old_cars(db).await;
    // The TTL index would delete cars that were sold long ago.
    let sold = DateTime::now();
    let car = doc! {"plate": "X", "make": "Fiat", "sold": sold};
    let insert = || db.run_command(doc! {"insert": "cars", "documents": [&car]});
    insert().await.unwrap();
    insert().await.unwrap();
    let plan = db.sync(models![Car]).plan().await.unwrap();
    let error = plan.apply(Allow::CHANGE).await.unwrap_err();
    let message = error.to_string();
    assert!(
        message.starts_with("collMod on `cars`, with plate_1 left as it is, not unique: Car: "),
        "{message}"
    );
    assert_eq!(error.code().map(odm::Code::number), Some(359));
    // Duplicates are still accepted.
    let cars = db.collection::<Car>();
    let insert = |id| {
        cars.insert_one(Car {
            id,
            plate: "X".to_owned(),
            make: "Fiat".to_owned(),
            sold,
        })
    };
    insert(1).await.unwrap();
    cars.delete_all().await.unwrap();
    let plan = db.sync(models![Car]).plan().await.unwrap();
    plan.apply(Allow::CHANGE).await.unwrap();
    insert(2).await.unwrap();
    assert!(insert(3).await.unwrap_err().is_duplicate_key());
}

async fn undeclared_indexes_stay_unless_dropping_is_allowed(db: &Db) {
    let plan = db.sync(models![Car]).plan().await.unwrap();
    assert!(plan.apply(Allow::CREATE).await.unwrap().is_complete());
    db.run_command(doc! {"createIndexes": "cars", "indexes": [{"key": {"x": 1}, "name": "mine"}]})
        .await
        .unwrap();
    let plan = db.sync(models![Car]).plan().await.unwrap();
    assert_eq!(
        plan.to_string(),
        format!(
            "1 step to bring database {} in line
  cars (Car)
    - drop index mine (needs Allow::DROP)
        {{x: 1}} is not declared
",
            db.name()
        )
    );
    let applied = plan.apply(Allow::CREATE | Allow::CHANGE).await.unwrap();
    assert_eq!(applied.left_undone(), plan.steps());
    let error = applied.require_complete().unwrap_err();
    assert!(error.is_usage(), "{error}");
    assert!(error.to_string().contains("left undone"), "{error}");
    assert!(plan.apply(Allow::DROP).await.unwrap().is_complete());
    assert!(in_line(db, models![Car]).await);
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "ring", capped(size = 8192))]
struct Ring {
    #[serde(rename = "_id")]
    id: i32,
}

async fn capped_bounds_are_changed_in_place(db: &Db) {
    let create = doc! {"create": "ring", "capped": true, "size": 4096};
    db.run_command(create).await.unwrap();
    let plan = db.sync(models![Ring]).plan().await.unwrap();
    assert!(plan.apply(Allow::CHANGE).await.unwrap().is_complete());
    assert!(in_line(db, models![Ring]).await);
    // An undeclared limit on the number of documents is removed.
    let bound = doc! {"collMod": "ring", "cappedMax": 7};
    db.run_command(bound).await.unwrap();
    let plan = db.sync(models![Ring]).plan().await.unwrap();
    assert!(plan.apply(Allow::CHANGE).await.unwrap().is_complete());
    assert!(in_line(db, models![Ring]).await);
    // Shrinking loses documents.
    let larger = doc! {"collMod": "ring", "cappedSize": 1_000_000};
    db.run_command(larger).await.unwrap();
    let plan = db.sync(models![Ring]).plan().await.unwrap();
    assert_eq!(plan.steps()[0].action, Action::ShrinkCollection);
    assert!(!plan.apply(Allow::CHANGE).await.unwrap().is_complete());
    let both = Allow::CHANGE | Allow::DROP;
    assert!(plan.apply(both).await.unwrap().is_complete());
    assert!(in_line(db, models![Ring]).await);
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "receipts", change_stream_images)]
struct Receipt {
    #[serde(rename = "_id")]
    id: i32,
    total: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "receipts")]
struct PlainReceipt {
    #[serde(rename = "_id")]
    id: i32,
    total: i64,
}

async fn pre_images_are_enabled_by_declaration(db: &Db) {
    let create = db.sync(models![Receipt]).plan().await.unwrap();
    assert!(create.apply(Allow::CREATE).await.unwrap().is_complete());
    assert!(in_line(db, models![Receipt]).await);
    let receipts = db.collection::<Receipt>();
    let mut changes = receipts
        .watch()
        .full_document_before_change(FullDocumentBeforeChange::Required)
        .await
        .unwrap();
    let receipt = Receipt { id: 1, total: 40 };
    receipts.insert_one(&receipt).await.unwrap();
    receipts.delete_one(|r| r.id.eq(1)).await.unwrap();
    let _inserted = changes.next().await.unwrap().unwrap();
    let deleted = changes.next().await.unwrap().unwrap();
    assert_eq!(deleted.full_document_before_change(), Some(&receipt));
    // Undeclared options are turned off and declared ones on, in place.
    for (models, is_kept) in [(models![PlainReceipt], false), (models![Receipt], true)] {
        let plan = db.sync(models).plan().await.unwrap();
        assert_eq!(plan.steps().len(), 1, "{plan}");
        assert!(!plan.apply(Allow::CREATE).await.unwrap().is_complete());
        assert!(plan.apply(Allow::CHANGE).await.unwrap().is_complete());
        assert!(in_line(db, models).await);
        assert_eq!(in_line(db, models![Receipt]).await, is_kept);
    }
}

async fn a_view_in_the_way_is_reported(db: &Db) {
    let view = doc! {"create": "cars", "viewOn": "others", "pipeline": []};
    if let Err(error) = db.run_command(view).await {
        // A store without views refuses; then no view can conflict.
        assert_eq!(error.code(), Some(odm::Code::COMMAND_NOT_SUPPORTED));
        return;
    }
    let plan = db.sync(models![Car]).plan().await.unwrap();
    assert_eq!(plan.commands().count(), 0);
    let everything = Allow::CREATE | Allow::CHANGE | Allow::DROP;
    let applied = plan.apply(everything).await.unwrap();
    assert_eq!(applied.left_undone()[0].action, Action::ByHand);
    assert!(
        applied
            .to_string()
            .contains("a view of this name is in the way")
    );
}

async fn the_collation_of_a_collection_stays(db: &Db) {
    db.run_command(
        doc! {"create": "ring", "capped": true, "size": 8192, "collation": {"locale": "en"}},
    )
    .await
    .unwrap();
    let plan = db.sync(models![Ring]).plan().await.unwrap();
    let applied = plan.apply(Allow::CHANGE).await.unwrap();
    assert_eq!(applied.done()[0].action, Action::ChangeCollection);
    assert_eq!(applied.left_undone()[0].requires(), None);
    let plan = db.sync(models![Ring]).plan().await.unwrap();
    assert_eq!(plan.steps().len(), 1, "{plan}");
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "cars")]
struct OtherCar {
    #[serde(rename = "_id")]
    id: i32,
}

async fn two_models_of_one_collection_are_refused(db: &Db) {
    let error = db.sync(models![Car, OtherCar]).plan().await.unwrap_err();
    assert!(error.is_declaration());
    assert_eq!(
        error.to_string(),
        "`Car` and `OtherCar` both declare the collection `cars`, which can have one validator and \
         one set of indexes; make one model of them, with an enum in a `#[serde(flatten)]` field for what differs"
    );
    let error = db.sync(models![Car, Ring, Car]).plan().await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "`Car` is listed twice; list each model once"
    );
}

async fn databases_of_the_server_are_refused(db: &Db) {
    for name in ["admin", "local", "config"] {
        let error = db.database(name).sync(models![Ring]).plan().await;
        assert!(error.unwrap_err().to_string().contains(name));
    }
}

async fn a_unique_index_over_duplicates_says_which_step_failed(db: &Db) {
    let cars = db.collection::<Car>();
    for id in 0..2 {
        cars.insert_one(Car {
            id,
            plate: "X".to_owned(),
            make: "Fiat".to_owned(),
            sold: DateTime::now(),
        })
        .await
        .unwrap();
    }
    let plan = db.sync(models![Car]).plan().await.unwrap();
    let error = plan.apply(Allow::CREATE).await.unwrap_err();
    assert!(error.is_duplicate_key());
    assert!(
        error
            .to_string()
            .starts_with("createIndexes on `cars`: Car.plate: "),
        "{error}"
    );
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(
    collection = "shelves",
    index(room, name = "by_room"),
    index(floor, name = "by_floor"),
    text(label, name = "words"),
    collation(locale = "fr")
)]
struct Shelf {
    #[serde(rename = "_id")]
    id: i32,
    room: i32,
    floor: i32,
    label: String,
}

async fn index_names(db: &Db, collection: &str) -> Vec<String> {
    let listed = db.run_command(doc! {"listIndexes": collection}).all().await;
    let name = |index: &bson::Document| index.get_str("name").unwrap().to_owned();
    let mut names: Vec<_> = listed.unwrap().iter().map(name).collect();
    names.sort();
    names
}

async fn conflicting_indexes_are_dropped_before_a_rebuild(db: &Db) {
    let fr = doc! {"locale": "fr"};
    db.run_command(doc! {"create": "shelves", "collation": &fr})
        .await
        .unwrap();
    db.run_command(doc! {"createIndexes": "shelves", "indexes": [
        // The declared name on another field, and the declared field under another name.
        {"key": {"x": 1}, "name": "by_room"},
        {"key": {"room": 1}, "name": "mine"},
        {"key": {"floor": 1}, "name": "by_floor"},
        {"key": {"y": 1}, "name": "words"},
        {"key": {"z": "text"}, "name": "letters", "collation": {"locale": "simple"}},
    ]})
    .await
    .unwrap();
    let plan = db.sync(models![Shelf]).plan().await.unwrap();
    let shown = plan.to_string();
    let in_the_way = "mine {room: 1} is not declared, and in the way";
    assert!(shown.contains(in_the_way), "{shown}");
    let careful = plan.apply(Allow::CREATE | Allow::CHANGE).await.unwrap();
    assert_eq!(careful.left_undone().len(), 2, "{careful}");
    let before = ["_id_", "by_floor", "by_room", "letters", "mine", "words"];
    assert_eq!(index_names(db, "shelves").await, before);

    let plan = db.sync(models![Shelf]).plan().await.unwrap();
    assert!(plan.apply(Allow::DROP).await.unwrap().is_complete());
    let names = index_names(db, "shelves").await;
    assert_eq!(names, ["_id_", "by_floor", "by_room", "words"]);
    assert!(in_line(db, models![Shelf]).await);
}

async fn swapped_index_names_are_rebuilt_together(db: &Db) {
    let plan = db.sync(models![Shelf]).plan().await.unwrap();
    assert!(plan.apply(Allow::CREATE).await.unwrap().is_complete());
    db.run_command(doc! {"dropIndexes": "shelves", "index": ["by_room", "by_floor"]})
        .await
        .unwrap();
    db.run_command(doc! {"createIndexes": "shelves", "indexes": [
        {"key": {"floor": 1}, "name": "by_room"},
    ]})
    .await
    .unwrap();
    // One of them is new, but can't be created before the other is dropped.
    let plan = db.sync(models![Shelf]).plan().await.unwrap();
    let careful = plan.apply(Allow::CREATE).await.unwrap();
    assert_eq!(careful.left_undone().len(), 1, "{careful}");
    db.run_command(doc! {"createIndexes": "shelves", "indexes": [
        {"key": {"room": 1}, "name": "by_floor"},
    ]})
    .await
    .unwrap();
    let plan = db.sync(models![Shelf]).plan().await.unwrap();
    assert_eq!(
        plan.steps()[0].action,
        Action::RebuildIndexes {
            names: vec!["by_room".to_owned(), "by_floor".to_owned()]
        }
    );
    assert!(plan.apply(Allow::DROP).await.unwrap().is_complete());
    assert!(in_line(db, models![Shelf]).await);
}

async fn failed_rebuilds_restore_the_old_index(db: &Db) {
    let create = doc! {"create": "cars", "collation": {"locale": "en"}};
    db.run_command(create).await.unwrap();
    db.run_command(doc! {"createIndexes": "cars", "indexes": [
        {"key": {"plate": 1}, "name": "plate_1", "collation": {"locale": "simple"}, "hidden": true},
    ]})
    .await
    .unwrap();
    let car = doc! {"plate": "X", "make": "Fiat", "sold": DateTime::now()};
    for _ in 0..2 {
        let insert = doc! {"insert": "cars", "documents": [&car]};
        db.run_command(insert).await.unwrap();
    }
    let listed = || async {
        let listed = db.run_command(doc! {"listIndexes": "cars"}).all().await;
        listed.unwrap()
    };
    let before = listed().await;
    let plan = db.sync(models![Car]).plan().await.unwrap();
    let error = plan.apply(Allow::DROP).await.unwrap_err();
    assert!(error.is_duplicate_key());
    let message = error.to_string();
    assert!(
        message
            .starts_with("createIndexes on `cars`, with plate_1 put back as before: Car.plate: "),
        "{message}"
    );
    assert_eq!(listed().await, before);
}

async fn several_processes_may_apply_the_same_plan(db: &Db) {
    let one = db.sync(models![Car, Entry]).plan().await.unwrap();
    let other = db.sync(models![Car, Entry]).plan().await.unwrap();
    assert!(one.apply(Allow::CREATE).await.unwrap().is_complete());
    assert!(other.apply(Allow::CREATE).await.unwrap().is_complete());
    // A recreated collection of that name is not the planned one.
    db.run_command(doc! {"collMod": "cars", "validationLevel": "off"})
        .await
        .unwrap();
    let error = one.apply(Allow::CREATE).await.unwrap_err();
    assert_eq!(error.code(), Some(odm::Code::NAMESPACE_EXISTS));
}

async fn the_commands_shown_are_the_commands_sent(db: &Db) {
    let sent: Arc<Mutex<Vec<bson::Document>>> = Arc::default();
    let seen = Arc::clone(&sent);
    let watched = db.on_command(move |event| seen.lock().unwrap().push(event.command.clone()));
    let plan = watched.sync(models![Car, Entry]).plan().await.unwrap();
    sent.lock().unwrap().clear();
    assert!(plan.apply(Allow::CREATE).await.unwrap().is_complete());
    let sent = sent.lock().unwrap();
    assert_eq!(plan.commands().cloned().collect::<Vec<_>>(), *sent);
}
