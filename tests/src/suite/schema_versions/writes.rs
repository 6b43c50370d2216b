//! Writes: what they match is of the current version, or becomes so.

use odm::bson::DateTime;
use odm::collection::ReturnDocument;
use odm::query::raw;

use super::{
    Allow, Before, Bson, BsonDocument, Db, Deserialize, Document, Filter, Lenient, Person, Price,
    Serialize, ada, current, doc, emmy, first, grace, is_current, models, person, same, store,
    stored, three,
};

pub(super) async fn inserts_and_replacements_store_the_version(db: &Db) {
    let people = db.collection::<Person>();
    people.insert_one(ada()).await.unwrap();
    people.insert_many([grace(), emmy()]).await.unwrap();
    let bulk = people.bulk_write(|w| [w.insert_one(person(4, "A", "B", 1))]);
    bulk.await.unwrap();
    for one in [ada(), grace(), emmy(), person(4, "A", "B", 1)] {
        is_current(db, &one).await;
    }
    let other = person(1, "C", "D", 2);
    let command = people.replace_by_id(&1, &other).command().unwrap();
    let replaced = &command.get_array("updates").unwrap()[0];
    let replaced = replaced.as_document().unwrap().get_document("u").unwrap();
    assert_eq!(replaced.get_i32("schema_version").unwrap(), 3);
    people.replace_by_id(&1, &other).await.unwrap();
    is_current(db, &other).await;
    assert_eq!(people.count_outdated().await.unwrap(), 0);
    // An older document is replaced as a whole, even if no step could read it.
    store(db, "people", [doc! {"_id": 5, "broken": true}]).await;
    let result = people
        .replace_by_id(&5, person(5, "E", "F", 1))
        .await
        .unwrap();
    assert_eq!((result.matched, result.modified), (1, 1));
    is_current(db, &person(5, "E", "F", 1)).await;
}

pub(super) async fn upserts_store_the_version(db: &Db) {
    let people = db.collection::<Person>();
    let price = || Price {
        amount: 1,
        currency: "EUR".to_owned(),
    };
    let set = people.update_by_id(&1, |p| {
        p.given.set("A") & p.family.set("B") & p.price.set(price())
    });
    let result = set.upsert(true).await.unwrap();
    assert_eq!(result.upserted_id, Some(1));
    is_current(db, &person(1, "A", "B", 1)).await;
    people
        .replace_by_id(&2, person(2, "A", "B", 1))
        .upsert(true)
        .await
        .unwrap();
    is_current(db, &person(2, "A", "B", 1)).await;
    let after = people
        .find_one_and_update(
            |p| p.id.eq(3),
            |p| p.given.set("A") & p.family.set("B") & p.price.set(price()),
        )
        .upsert(true)
        .return_document(ReturnDocument::After)
        .await
        .unwrap();
    assert_eq!(after, Some(person(3, "A", "B", 1)));
    is_current(db, &person(3, "A", "B", 1)).await;
    let write = people.bulk_write(|w| {
        let update = w.update_one(
            |p| p.id.eq(4),
            |p| p.given.set("A") & p.family.set("B") & p.price.set(price()),
        );
        [
            update.upsert(true),
            w.replace_one(|p| p.id.eq(5), person(5, "A", "B", 1))
                .upsert(true),
        ]
    });
    write.await.unwrap();
    is_current(db, &person(4, "A", "B", 1)).await;
    is_current(db, &person(5, "A", "B", 1)).await;
}

pub(super) async fn updates_rewrite_what_they_match(db: &Db) {
    let people = three(db).await;
    let result = people
        .update_by_id(&1, |p| p.family.set("King"))
        .await
        .unwrap();
    assert_eq!((result.matched, result.modified), (1, 1));
    is_current(db, &person(1, "Ada", "King", 10)).await;
    // The filter matches what only an older document has.
    let by_name = people.update_one(|_| raw(doc! {"price": 20}), |p| p.given.set("G"));
    assert_eq!(
        by_name.await.unwrap().matched,
        0,
        "after the rewrite it does not match"
    );
    is_current(db, &grace()).await;
    let result = people.update_by_id(&7, |p| p.given.set("G")).await.unwrap();
    assert_eq!(result.matched, 0);
}

pub(super) async fn updates_of_many_rewrite_what_they_match(db: &Db) {
    let people = db.collection::<Person>();
    store(db, "people", (0..250).map(|id| first(id, "A B", 1))).await;
    store(
        db,
        "people",
        (250..300).map(|id| current(&person(id, "A", "B", 1))),
    )
    .await;
    let result = people
        .update_many(|p| p.id.gte(100), |p| p.price.amount.inc(1))
        .await
        .unwrap();
    assert_eq!((result.matched, result.modified), (200, 200));
    assert_eq!(people.count_outdated().await.unwrap(), 100);
    assert_eq!(
        people
            .count_documents(|p| p.price.amount.eq(2))
            .await
            .unwrap(),
        200
    );
    let result = people.update_all(|p| p.price.amount.inc(1)).await.unwrap();
    assert_eq!(result.modified, 300);
    assert_eq!(people.count_outdated().await.unwrap(), 0);
}

pub(super) async fn updates_of_newer_documents_are_refused(db: &Db) {
    let people = three(db).await;
    let before = db.collection::<Before>();
    let stored_before = stored(db, "people", 3).await;
    let newer = |error: odm::Error| assert!(error.is_newer_schema(), "{error}");
    newer(
        before
            .update_by_id(&3, |b| b.price.set(1))
            .await
            .unwrap_err(),
    );
    newer(
        before
            .update_many(|b| b.id.gt(0), |b| b.price.set(1))
            .await
            .unwrap_err(),
    );
    newer(
        before
            .update_by_id(&3, |b| b.price.set(1))
            .upsert(true)
            .await
            .unwrap_err(),
    );
    newer(
        before
            .find_one_and_update(|b| b.id.eq(3), |b| b.price.set(1))
            .await
            .unwrap_err(),
    );
    newer(
        before
            .bulk_write(|w| [w.update_one(|b| b.id.eq(3), |b| b.price.set(1))])
            .await
            .unwrap_err(),
    );
    // Reading a newer document is one thing, writing it another.
    let lenient = db.collection::<Lenient>();
    newer(
        lenient
            .update_by_id(&3, |p| p.given.set("E"))
            .await
            .unwrap_err(),
    );
    newer(
        lenient
            .replace_by_id(
                &3,
                Lenient {
                    id: 3,
                    given: "E".to_owned(),
                },
            )
            .await
            .unwrap_err(),
    );
    assert_eq!(stored(db, "people", 3).await, stored_before);
    assert_eq!(
        stored(db, "people", 2).await.get_i64("price").unwrap(),
        20,
        "nothing was written"
    );
    // An update whose filter leaves newer documents out is none of these.
    assert_eq!(
        before
            .update_many(|b| b.id.lt(3), |b| b.price.inc(1))
            .await
            .unwrap()
            .modified,
        2
    );
    assert_eq!(people.get(&1).await.unwrap().unwrap().price.amount, 11);
    before.delete_by_id(&3).await.unwrap();
    assert_eq!(people.get(&3).await.unwrap(), None);
}

pub(super) async fn updates_that_can_not_rewrite_change_nothing(db: &Db) {
    let people = three(db).await;
    store(
        db,
        "people",
        [doc! {"_id": 4, "name": "oneword", "price": 1}],
    )
    .await;
    let error = people
        .update_by_id(&4, |p| p.family.set("King"))
        .await
        .unwrap_err();
    assert!(
        error.is_schema_upgrade() && error.to_string().contains("one word"),
        "{error}"
    );
    let error = people
        .update_all(|p| p.price.amount.inc(1))
        .await
        .unwrap_err();
    assert!(error.is_schema_upgrade(), "{error}");
    assert_eq!(
        people.get(&3).await.unwrap(),
        Some(emmy()),
        "the update was not sent"
    );
    assert_eq!(
        stored(db, "people", 4).await,
        doc! {"_id": 4, "name": "oneword", "price": 1}
    );
    // What the update would be refused for is said before anything is rewritten.
    let error = people
        .update_many(|_| Filter::all(), |p| p.given.set("A"))
        .await
        .unwrap_err();
    assert!(error.is_usage(), "{error}");
}

pub(super) async fn sorted_updates_take_the_first(db: &Db) {
    let people = db.collection::<Person>();
    store(db, "people", (1..=5).map(|id| first(id, "A B", 1))).await;
    store(db, "people", [current(&person(6, "A", "B", 1))]).await;
    for id in 1..=6 {
        let taken = people
            .find_one_and_update(|p| p.family.ne("taken"), |p| p.family.set("taken"))
            .sort(|p| p.id.asc())
            .await
            .unwrap();
        assert_eq!(taken.unwrap().id, id);
    }
    let none = people.find_one_and_update(|p| p.family.ne("taken"), |p| p.family.set("taken"));
    assert_eq!(none.sort(|p| p.id.asc()).await.unwrap(), None);
}

pub(super) async fn upserts_find_older_documents(db: &Db) {
    let people = three(db).await;
    let result = people
        .update_by_id(&1, |p| p.family.set("King"))
        .upsert(true)
        .await
        .unwrap();
    assert_eq!((result.matched, result.upserted_id), (1, None));
    is_current(db, &person(1, "Ada", "King", 10)).await;
    let result = people
        .replace_by_id(&2, person(2, "G", "H", 1))
        .upsert(true)
        .await
        .unwrap();
    assert_eq!((result.matched, result.upserted_id), (1, None));
    assert_eq!(people.count_documents(|_| Filter::all()).await.unwrap(), 3);
}

pub(super) async fn pipelines_and_raw_updates_rewrite_first(db: &Db) {
    let people = three(db).await;
    let by_pipeline = people.update_by_id(&1, |p| p.family.set_expr(p.given));
    assert_eq!(by_pipeline.await.unwrap().modified, 1);
    is_current(db, &person(1, "Ada", "Ada", 10)).await;
    let by_raw = people.update_by_id(&2, |_| raw(doc! {"$set": {"family": "raw"}}));
    assert_eq!(by_raw.await.unwrap().modified, 1);
    is_current(db, &person(2, "Grace", "raw", 20)).await;
    let shown = people
        .update_by_id(&2, |p| p.family.set("x"))
        .command()
        .unwrap();
    assert!(shown.to_string().contains("schema_version"), "{shown}");
}

pub(super) async fn bulk_writes_rewrite_first(db: &Db) {
    let people = three(db).await;
    store(db, "people", (10..160).map(|id| first(id, "A B", 1))).await;
    let written = people
        .bulk_write(|w| {
            let many =
                (10..160).map(move |id| w.update_one(|p| p.id.eq(id), |p| p.price.amount.inc(1)));
            let others = [
                w.update_many(|p| p.id.lt(3), |p| p.price.amount.inc(1)),
                w.replace_one(|p| p.id.eq(3), person(3, "E", "N", 1)),
                w.insert_one(person(200, "A", "B", 1)),
                w.delete_one(|p| p.id.eq(10)),
            ];
            many.chain(others)
        })
        .await
        .unwrap();
    assert_eq!(
        (
            written.matched,
            written.modified,
            written.inserted,
            written.deleted
        ),
        (153, 153, 1, 1)
    );
    assert_eq!(people.count_outdated().await.unwrap(), 0);
    is_current(db, &person(1, "Ada", "Lovelace", 11)).await;
    is_current(db, &person(11, "A", "B", 2)).await;
}

pub(super) async fn replacements_keep_newer_documents(db: &Db) {
    three(db).await;
    let before = db.collection::<Before>();
    let other = Before {
        id: 3,
        given: "E".to_owned(),
        family: "N".to_owned(),
        price: 1,
    };
    let kept = stored(db, "people", 3).await;
    for error in [
        before.replace_by_id(&3, &other).await.unwrap_err(),
        before
            .replace_by_id(&3, &other)
            .upsert(true)
            .await
            .unwrap_err(),
        before
            .find_one_and_replace(|b| b.id.eq(3), &other)
            .await
            .unwrap_err(),
        before
            .bulk_write(|w| [w.replace_one(|b| b.id.eq(3), &other)])
            .await
            .unwrap_err(),
    ] {
        assert!(error.is_newer_schema(), "{error}");
    }
    assert_eq!(stored(db, "people", 3).await, kept);
}

pub(super) async fn saves_rewrite_older_documents(db: &Db) {
    let people = three(db).await;
    let mut ada = people.load(&1).await.unwrap().unwrap();
    ada.price.amount = 11;
    assert!(people.save(&mut ada).await.unwrap());
    is_current(db, &person(1, "Ada", "Lovelace", 11)).await;
    assert!(
        !people.save(&mut ada).await.unwrap(),
        "nothing is left to be saved"
    );
    // Without a change, a save rewrites the document.
    let mut grace = people.load(&2).await.unwrap().unwrap();
    assert!(people.save(&mut grace).await.unwrap());
    is_current(db, &super::grace()).await;
    assert!(!people.save(&mut grace).await.unwrap());
    grace.family = String::from("H");
    assert!(people.save(&mut grace).await.unwrap());
    is_current(db, &person(2, "Grace", "H", 20)).await;
    let mut emmy = people.load(&3).await.unwrap().unwrap();
    assert!(!people.save(&mut emmy).await.unwrap());
}

pub(super) async fn saves_keep_fields_that_are_not_declared(db: &Db) {
    let people = db.collection::<Person>();
    let mut document = first(1, "Ada Lovelace", 10);
    document.insert("pager", doc! {"n": [1, 2.0], "$d": 1});
    store(db, "people", [document]).await;
    let mut ada = people.load(&1).await.unwrap().unwrap();
    ada.family = String::from("$King");
    people.save(&mut ada).await.unwrap();
    let mut expected = current(&person(1, "Ada", "$King", 10));
    expected.insert("pager", doc! {"n": [1, 2.0], "$d": 1});
    let found = stored(db, "people", 1).await;
    assert!(same(&found, &expected), "{found}");
}

pub(super) async fn saves_heed_changes_of_other_programs(db: &Db) {
    let people = three(db).await;
    let set = |set: BsonDocument| async move {
        let update = doc! {"q": {"_id": 1}, "u": {"$set": set}};
        db.run_command(doc! {"update": "people", "updates": [update]})
            .await
            .unwrap();
    };
    // An old program changes another field.
    let mut ada = people.load(&1).await.unwrap().unwrap();
    set(doc! {"price": 12}).await;
    ada.family = String::from("King");
    people.save(&mut ada).await.unwrap();
    is_current(db, &person(1, "Ada", "King", 12)).await;
    // An old program stores the document anew after it was loaded.
    let mut ada = people.load(&1).await.unwrap().unwrap();
    let replace = doc! {"q": {"_id": 1}, "u": first(1, "Ada Byron", 13)};
    db.run_command(doc! {"update": "people", "updates": [replace]})
        .await
        .unwrap();
    ada.price.amount = 14;
    people.save(&mut ada).await.unwrap();
    is_current(db, &person(1, "Ada", "Byron", 14)).await;
    // Another program migrates it.
    let mut grace = people.load(&2).await.unwrap().unwrap();
    people
        .update_by_id(&2, |p| p.price.amount.set(21))
        .await
        .unwrap();
    grace.family = String::from("H");
    people.save(&mut grace).await.unwrap();
    is_current(db, &person(2, "Grace", "H", 21)).await;
    // And removes it.
    store(db, "people", [first(9, "A B", 1)]).await;
    let mut gone = people.load(&9).await.unwrap().unwrap();
    people.delete_by_id(&9).await.unwrap();
    assert!(people.save(&mut gone).await.unwrap_err().is_stale());
}

pub(super) async fn saves_of_newer_documents_are_refused(db: &Db) {
    three(db).await;
    let lenient = db.collection::<Lenient>();
    let mut emmy = lenient.load(&3).await.unwrap().unwrap();
    emmy.given = String::from("E");
    assert!(lenient.save(&mut emmy).await.unwrap_err().is_newer_schema());
    let before = db.collection::<Before>();
    let mut grace = before.load(&2).await.unwrap().unwrap();
    db.migrate(models![Person]).await.unwrap();
    grace.price = 1;
    assert!(before.save(&mut grace).await.unwrap_err().is_newer_schema());
    is_current(db, &super::grace()).await;
}

pub(super) async fn aborted_saves_can_be_repeated(db: &Db) {
    if !db.capability().await.unwrap().transactions {
        return;
    }
    let people = three(db).await;
    let mut ada = people.load(&1).await.unwrap().unwrap();
    ada.price.amount = 11;
    let mut session = db.start_session().await.unwrap();
    session.start_transaction().await.unwrap();
    assert!(people.save(&mut ada).session(&mut session).await.unwrap());
    session.abort_transaction().await.unwrap();
    assert_eq!(stored(db, "people", 1).await, first(1, "Ada Lovelace", 10));
    assert!(people.save(&mut ada).await.unwrap());
    is_current(db, &person(1, "Ada", "Lovelace", 11)).await;
    let mut grace = people.load(&2).await.unwrap().unwrap();
    session.start_transaction().await.unwrap();
    grace.price.amount = 21;
    assert!(people.save(&mut grace).session(&mut session).await.unwrap());
    grace.price.amount = 22;
    assert!(people.save(&mut grace).session(&mut session).await.unwrap());
    session.commit_transaction().await.unwrap();
    is_current(db, &person(2, "Grace", "Hopper", 22)).await;
    assert!(!people.save(&mut grace).await.unwrap());
}

pub(super) async fn updates_in_a_transaction_are_undone_with_it(db: &Db) {
    if !db.capability().await.unwrap().transactions {
        return;
    }
    let people = three(db).await;
    let mut session = db.start_session().await.unwrap();
    session.start_transaction().await.unwrap();
    people
        .update_by_id(&1, |p| p.price.amount.inc(1))
        .session(&mut session)
        .await
        .unwrap();
    people
        .update_all(|p| p.price.amount.inc(1))
        .session(&mut session)
        .await
        .unwrap();
    people
        .update_by_id(&1, |p| p.price.amount.inc(1))
        .upsert(true)
        .session(&mut session)
        .await
        .unwrap();
    let ada = people.get(&1).session(&mut session).await.unwrap().unwrap();
    assert_eq!(ada.price.amount, 13);
    session.abort_transaction().await.unwrap();
    assert_eq!(stored(db, "people", 1).await, first(1, "Ada Lovelace", 10));
    assert_eq!(people.count_outdated().await.unwrap(), 2);
}

/// An older program counts writes, and stores times.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "notes", schema(version = 2, steps(rename_text)))]
struct Note {
    #[serde(rename = "_id")]
    id: i32,
    text: String,
    #[odm(version)]
    version: i64,
    #[odm(updated_at)]
    updated_at: DateTime,
}

fn rename_text(note: &mut BsonDocument) -> Result<(), &'static str> {
    let text = note.remove("t").ok_or("no `t`")?;
    note.insert("text", text);
    Ok(())
}

pub(super) async fn counters_and_times_of_rewrites(db: &Db) {
    let epoch = DateTime::from_millis(0);
    let note = |id: i32| doc! {"_id": id, "t": "a", "version": 5_i64, "updated_at": epoch};
    store(db, "notes", (1..=4).map(note)).await;
    let notes = db.collection::<Note>();
    let mut stale = notes.load(&1).await.unwrap().unwrap();
    let report = db.migrate(models![Note]).await.unwrap();
    assert_eq!(report.rewritten(), 4);
    let found = stored(db, "notes", 1).await;
    // A program that has loaded the old document notices it; its content is as old as before.
    let expected =
        doc! {"_id": 1, "version": 6_i64, "updated_at": epoch, "text": "a", "schema_version": 2};
    assert!(same(&found, &expected), "{found}");
    stale.text = String::from("b");
    assert!(notes.save(&mut stale).await.unwrap_err().is_stale());
    store(db, "notes", [note(5), note(6)]).await;
    let mut loaded = notes.load(&5).await.unwrap().unwrap();
    loaded.text = String::from("b");
    notes.save(&mut loaded).await.unwrap();
    assert_eq!(loaded.version, 6);
    assert!(loaded.updated_at > epoch);
    let found = notes.get(&5).await.unwrap().unwrap();
    assert_eq!(found, *loaded);
    loaded.text = String::from("c");
    notes.save(&mut loaded).await.unwrap();
    assert_eq!(notes.get(&5).await.unwrap().unwrap().version, 7);
    notes.touch(&6).await.unwrap();
    assert_eq!(
        stored(db, "notes", 6).await.get_str("t").unwrap(),
        "a",
        "a touch rewrites nothing"
    );
    let mut loaded = notes.load(&6).await.unwrap().unwrap();
    assert_eq!(loaded.version, 6);
    notes.touch(&6).await.unwrap();
    loaded.text = String::from("b");
    assert!(notes.save(&mut loaded).await.unwrap_err().is_stale());
    // A replacement goes on counting.
    let result = notes.replace_by_id(
        &6,
        Note {
            id: 6,
            text: "r".to_owned(),
            version: 0,
            updated_at: epoch,
        },
    );
    assert_eq!(result.await.unwrap().matched, 1);
    assert_eq!(notes.get(&6).await.unwrap().unwrap().version, 8);
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(
    collection = "strict",
    schema(version = 2, steps(rename_text)),
    deny_undeclared
)]
struct Strict {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(length(min = 2))]
    text: String,
}

pub(super) async fn validators_admit_the_version(db: &Db) {
    store(
        db,
        "strict",
        [doc! {"_id": 1, "t": "old"}, doc! {"_id": 2, "t": "o"}],
    )
    .await;
    let plan = db.sync(models![Strict]).plan().await.unwrap();
    plan.apply(Allow::CREATE | Allow::CHANGE).await.unwrap();
    assert!(db.sync(models![Strict]).plan().await.unwrap().is_empty());
    let strict = db.collection::<Strict>();
    strict
        .insert_one(Strict {
            id: 3,
            text: "new".to_owned(),
        })
        .await
        .unwrap();
    let raw = |version: Bson| {
        let document = doc! {"_id": 4, "text": "raw", "schema_version": version};
        db.run_command(doc! {"insert": "strict", "documents": [document]})
    };
    assert!(raw("2".into()).await.unwrap().contains_key("writeErrors"));
    assert!(!raw(2.0.into()).await.unwrap().contains_key("writeErrors"));
    strict
        .update_by_id(&1, |s| s.text.set("newer"))
        .await
        .unwrap();
    assert_eq!(strict.get(&1).await.unwrap().unwrap().text, "newer");
    let error = strict
        .update_by_id(&2, |s| s.text.set("newer"))
        .await
        .unwrap_err();
    assert!(error.is_validation_failure(), "{error}");
    assert!(error.to_string().contains("_id 2"), "{error}");
    assert_eq!(stored(db, "strict", 2).await, doc! {"_id": 2, "t": "o"});
    let bypass = strict.update_by_id(&2, |s| s.text.set("p"));
    bypass.bypass_document_validation(true).await.unwrap();
    assert_eq!(strict.get(&2).await.unwrap().unwrap().text, "p");
}

#[derive(Debug, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "first", schema(version = 1, field = "schemaVersion"))]
struct First {
    #[serde(rename = "_id")]
    id: i32,
}

pub(super) async fn models_without_a_step_have_a_version(db: &Db) {
    let all = db.collection::<First>();
    all.insert_one(First { id: 1 }).await.unwrap();
    assert_eq!(
        stored(db, "first", 1).await,
        doc! {"_id": 1, "schemaVersion": 1}
    );
    // A document without a version has version 1 as well.
    store(
        db,
        "first",
        [doc! {"_id": 2}, doc! {"_id": 3, "schemaVersion": 2}],
    )
    .await;
    assert_eq!(all.get(&2).await.unwrap(), Some(First { id: 2 }));
    assert_eq!(all.count_outdated().await.unwrap(), 0);
    let ids = all
        .find(|f| f.id.lt(3))
        .sort(|f| f.id.asc())
        .projection(doc! {"_id": 1});
    assert_eq!(ids.all().await.unwrap().len(), 2);
    assert!(all.get(&3).await.unwrap_err().is_newer_schema());
    let touch = |id: i32| all.update_one(move |f| f.id.eq(id), |_| raw(doc! {"$set": {"x": 1}}));
    assert_eq!(touch(1).await.unwrap().matched, 1);
    assert_eq!(touch(2).await.unwrap().matched, 1);
    assert!(touch(3).await.unwrap_err().is_newer_schema());
    assert!(db.migrate(models![First]).plan().await.unwrap().is_empty());
    // A model without versions has none to count or to migrate.
    let error = db.collection::<Plain>().count_outdated().await.unwrap_err();
    assert!(
        error.is_usage() && error.model() == Some("Plain"),
        "{error}"
    );
    assert!(
        db.migrate(models![Plain])
            .plan()
            .await
            .unwrap()
            .steps()
            .is_empty()
    );
}

#[derive(Debug, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "plain")]
struct Plain {
    #[serde(rename = "_id")]
    id: i32,
}
