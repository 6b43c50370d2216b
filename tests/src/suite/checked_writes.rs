//! `check_references` of every verb, crossed with the places of references and with what the caller says of other data.

use odm::bson::{Bson, Document as BsonDocument};
use odm::prelude::*;

use super::dependents::{insert, stored};
use super::relations::watched;
use crate::case::cases;
use crate::random::{Random, count};

cases![
    every_verb_checks_new_references,
    every_verb_keeps_references_of_other_programs,
    a_write_that_makes_data_stale_needs_its_word,
    without_a_transaction_nothing_is_sent,
    a_transaction_of_the_caller_has_the_check,
    documents_of_one_call_may_refer_to_each_other,
    nothing_dangles_after_deletes_beside_checked_updates,
];

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[odm(
    collection = "owners",
    has_many(items: Item, by = owner, on_delete = cascade),
    has_many(listed: Item, by = others, on_delete = pull),
    has_many(in_lines: Item, by = lines.owner, on_delete = set_null)
)]
struct Owner {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "items", index(lines.owner))]
struct Item {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index)]
    owner: Option<Ref<Owner>>,
    #[odm(copy_of(owner.name))]
    owner_name: Option<String>,
    #[odm(references(many, max = 50), index)]
    others: Vec<Ref<Owner>>,
    #[odm(embed(few, max = 50))]
    lines: Vec<Line>,
    rank: i32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Line {
    owner: Option<Ref<Owner>>,
}

#[derive(Debug, Clone, Copy)]
enum Place {
    Field,
    List,
    Line,
}

const PLACES: [Place; 3] = [Place::Field, Place::List, Place::Line];

#[derive(Debug, Clone, Copy)]
enum Verb {
    InsertOne,
    InsertMany,
    FindOneOrInsert,
    UpsertOfNone,
    BulkInsert,
    BulkUpsert,
    // These change the document 1.
    UpdateOne,
    UpdateMany,
    UpdateById,
    Upsert,
    Replace,
    ReplaceById,
    FindOneAndUpdate,
    FindOneAndReplace,
    Save,
    BulkUpdate,
    BulkReplace,
}

const NEW: [Verb; 6] = [
    Verb::InsertOne,
    Verb::InsertMany,
    Verb::FindOneOrInsert,
    Verb::UpsertOfNone,
    Verb::BulkInsert,
    Verb::BulkUpsert,
];

const CHANGES: [Verb; 11] = [
    Verb::UpdateOne,
    Verb::UpdateMany,
    Verb::UpdateById,
    Verb::Upsert,
    Verb::Replace,
    Verb::ReplaceById,
    Verb::FindOneAndUpdate,
    Verb::FindOneAndReplace,
    Verb::Save,
    Verb::BulkUpdate,
    Verb::BulkReplace,
];

fn item(id: i32) -> Item {
    Item {
        id,
        owner: None,
        owner_name: None,
        others: Vec::new(),
        lines: Vec::new(),
        rank: 0,
    }
}

impl Place {
    /// Adds a reference to the item.
    fn add(self, item: &mut Item, to: i32) {
        match self {
            Self::Field => item.owner = Some(Ref::from(to)),
            Self::List => item.others.push(Ref::from(to)),
            Self::Line => item.lines.push(line(to)),
        }
        item.rank += 1;
    }

    /// The change that adds the reference.
    fn change(self, to: i32) -> impl Fn(<Item as Embedded>::Fields<Item>) -> Update<Item> + Copy {
        move |i| match self {
            Self::Field => i.owner.set(Some(Ref::from(to))) & i.rank.inc(1),
            Self::List => i.others.push(Ref::from(to)) & i.rank.inc(1),
            Self::Line => i.lines.push(line(to)) & i.rank.inc(1),
        }
    }

    /// The stored references.
    fn stored(self, item: &BsonDocument) -> Vec<Bson> {
        let all = match self {
            Self::Field => vec![item["owner"].clone()],
            Self::List => item.get_array("others").unwrap().clone(),
            Self::Line => {
                let lines = item.get_array("lines").unwrap().iter();
                lines
                    .map(|line| line.as_document().unwrap()["owner"].clone())
                    .collect()
            }
        };
        all.into_iter().filter(|one| *one != Bson::Null).collect()
    }
}

fn line(owner: i32) -> Line {
    let owner = Some(Ref::from(owner));
    Line { owner }
}

/// What the caller says of the copy.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Word {
    LeaveStale,
    Propagate,
}

macro_rules! checked {
    ($write:expr, $word:ident) => {{
        let write = $write;
        match $word {
            Word::LeaveStale => write.leave_stale().check_references().await.map(drop),
            Word::Propagate => write.propagate().check_references().await.map(drop),
        }
    }};
}

/// A single write of a bulk write with the word, and the bulk write.
macro_rules! in_bulk {
    ($items:ident, $word:ident, |$w:ident| $write:expr) => {
        match $word {
            Word::LeaveStale => {
                let bulk = $items.bulk_write(|$w| [$write.leave_stale()]);
                bulk.check_references().await.map(drop)
            }
            Word::Propagate => {
                let bulk = $items.bulk_write(|$w| [$write]);
                bulk.propagate().check_references().await.map(drop)
            }
        }
    };
}

/// Writes an item with one more reference.
async fn write(db: &Db, verb: Verb, word: Word, (place, to): (Place, i32)) -> odm::Result<()> {
    let items = db.collection::<Item>();
    let change = place.change(to);
    let is_new = NEW.iter().any(|new| *new as u8 == verb as u8);
    let mut new = if is_new {
        item(9)
    } else {
        items.get(&1).await?.unwrap()
    };
    place.add(&mut new, to);
    // With the fields that the change does not name.
    let upsert = move |i: <Item as Embedded>::Fields<Item>| {
        let others = match place {
            Place::Field => i.others.set_on_insert(Vec::new()) & i.lines.set_on_insert(Vec::new()),
            Place::List => i.lines.set_on_insert(Vec::new()) & i.owner.set_on_insert(None),
            Place::Line => i.others.set_on_insert(Vec::new()) & i.owner.set_on_insert(None),
        };
        change(i) & others
    };
    match verb {
        Verb::InsertOne => checked!(items.insert_one(&new), word),
        Verb::InsertMany => checked!(items.insert_many([&item(8), &new]), word),
        Verb::FindOneOrInsert => {
            checked!(items.find_one_or_insert(|i| i.id.eq(9), &new), word)
        }
        Verb::UpsertOfNone => {
            checked!(items.update_by_id(&9, upsert).upsert(true), word)
        }
        // A single insert takes no word of its own.
        Verb::BulkInsert => {
            let bulk = items.bulk_write(|w| [w.insert_one(&new)]);
            match word {
                Word::LeaveStale => bulk.check_references().await.map(drop),
                Word::Propagate => bulk.propagate().check_references().await.map(drop),
            }
        }
        Verb::BulkUpsert => {
            in_bulk!(items, word, |w| w
                .update_one(|i| i.id.eq(9), upsert)
                .upsert(true))
        }
        Verb::UpdateOne => checked!(items.update_one(|i| i.id.eq(1), change), word),
        Verb::UpdateMany => checked!(items.update_many(|i| i.id.lte(1), change), word),
        Verb::UpdateById => checked!(items.update_by_id(&1, change), word),
        Verb::Upsert => checked!(items.update_by_id(&1, upsert).upsert(true), word),
        Verb::Replace => checked!(items.replace_one(|i| i.id.eq(1), &new), word),
        Verb::ReplaceById => checked!(items.replace_by_id(&1, &new), word),
        Verb::FindOneAndUpdate => {
            checked!(items.find_one_and_update(|i| i.id.eq(1), change), word)
        }
        Verb::FindOneAndReplace => {
            checked!(items.find_one_and_replace(|i| i.id.eq(1), &new), word)
        }
        Verb::Save => {
            let mut loaded = items.load(&1).await?.unwrap();
            place.add(&mut loaded, to);
            checked!(items.save(&mut loaded), word)
        }
        Verb::BulkUpdate => in_bulk!(items, word, |w| w.update_many(|i| i.id.eq(1), change)),
        Verb::BulkReplace => in_bulk!(items, word, |w| w.replace_one(|i| i.id.eq(1), &new)),
    }
}

/// Two owners and the item 1, which refers to the first, or to owners that never existed.
async fn fill(db: &Db, dangles: bool) {
    let owner = |id, name: &str| Owner {
        id,
        name: name.to_owned(),
    };
    let owners = db.collection::<Owner>();
    owners
        .insert_many([owner(1, "one"), owner(2, "two")])
        .await
        .unwrap();
    let to = if dangles { 77 } else { 1 };
    let stored = doc! {
        "_id": 1, "owner": to, "owner_name": "one", "others": [to], "lines": [{"owner": to}], "rank": 0,
    };
    insert(db, "items", [stored]).await;
}

async fn clear(db: &Db) {
    for name in ["owners", "items"] {
        let all = doc! {"delete": name, "deletes": [{"q": {}, "limit": 0}]};
        db.run_command(all).await.unwrap();
    }
}

async fn every_verb_checks_new_references(db: &Db) {
    for verb in NEW.into_iter().chain(CHANGES) {
        for place in PLACES {
            for word in [Word::LeaveStale, Word::Propagate] {
                let what = format!("{verb:?} {place:?} {word:?}");
                clear(db).await;
                fill(db, false).await;
                let before = stored(db, "items").await;
                let error = write(db, verb, word, (place, 78)).await.unwrap_err();
                assert!(error.is_dangling(), "{what}: {error}");
                assert!(error.to_string().starts_with("Item"), "{what}: {error}");
                assert_eq!(stored(db, "items").await, before, "{what}");

                write(db, verb, word, (place, 2)).await.unwrap();
                let after = stored(db, "items").await;
                let written = after.iter().rfind(|item| item["_id"] != Bson::Int32(8));
                let written = written.unwrap();
                let references = place.stored(written);
                assert!(references.contains(&Bson::Int32(2)), "{what}: {written}");
                if word == Word::Propagate && matches!(place, Place::Field) {
                    assert_eq!(written.get_str("owner_name").unwrap(), "two", "{what}");
                }
            }
        }
    }
}

/// Another program has written references that lead nowhere: a write that leaves them is not refused.
async fn every_verb_keeps_references_of_other_programs(db: &Db) {
    for verb in CHANGES {
        for place in [Place::List, Place::Line] {
            let word = Word::LeaveStale;
            let what = format!("{verb:?} {place:?}");
            clear(db).await;
            fill(db, true).await;
            write(db, verb, word, (place, 2)).await.unwrap();
            let error = write(db, verb, word, (place, 78)).await.unwrap_err();
            assert!(error.is_dangling(), "{what}: {error}");
            // The same once more is not new in the document.
            write(db, verb, word, (place, 77)).await.unwrap();
            let found = stored(db, "items").await;
            let expected = [77, 2, 77].map(Bson::Int32);
            assert_eq!(place.stored(&found[0]), expected, "{what}");
        }
    }
}

async fn a_write_that_makes_data_stale_needs_its_word(db: &Db) {
    let (watched, log) = watched(db);
    let items = watched.collection::<Item>();
    let change = Place::Field.change(1);
    let mut new = item(1);
    new.owner_name = Some("?".to_owned());
    let errors = [
        items
            .update_by_id(&1, change)
            .check_references()
            .await
            .unwrap_err(),
        items
            .replace_by_id(&1, &new)
            .check_references()
            .await
            .unwrap_err(),
        items
            .find_one_and_update(|i| i.id.eq(1), change)
            .check_references()
            .await
            .unwrap_err(),
        items
            .bulk_write(|w| [w.update_one(|i| i.id.eq(1), change)])
            .check_references()
            .await
            .unwrap_err(),
    ];
    for error in errors {
        let text = error.to_string();
        assert!(text.contains("`owner_name` is a copy"), "{text}");
    }
    assert!(log.lock().unwrap().is_empty());
    // Nothing follows from the rank.
    fill(db, true).await;
    let update = db.collection::<Item>().update_by_id(&1, |i| i.rank.inc(1));
    assert_eq!(update.check_references().await.unwrap().update.modified, 1);
}

async fn without_a_transaction_nothing_is_sent(db: &Db) {
    let (watched, log) = watched(db);
    let items = watched.collection::<Item>();
    let (new, change) = (item(9), Place::List.change(2));
    let update = items.update_by_id(&1, change).check_references();
    let insert = items.insert_one(&new).propagate().check_references();
    let bulk = items
        .bulk_write(|w| [w.insert_one(&new)])
        .check_references();
    let errors = [
        update.non_atomic().await.unwrap_err(),
        insert.non_atomic().await.unwrap_err(),
        bulk.non_atomic().await.unwrap_err(),
    ];
    for error in errors {
        assert!(error.to_string().contains("non_atomic()"), "{error}");
    }
    assert!(log.lock().unwrap().is_empty());
}

async fn a_transaction_of_the_caller_has_the_check(db: &Db) {
    fill(db, false).await;
    let items = db.collection::<Item>();
    let body = odm::transaction!(db, |tx| {
        let first = items.update_by_id(&1, Place::List.change(2));
        first.check_references().session(tx).await?;
        let second = items.update_by_id(&1, Place::List.change(78));
        second.check_references().session(tx).await.map(drop)
    });
    assert!(body.await.unwrap_err().is_dangling());
    let found = items.get(&1).await.unwrap().unwrap();
    assert_eq!(found.others.len(), 1, "the transaction was aborted");
    odm::transaction!(db, |tx| {
        let owner = Owner {
            id: 3,
            name: "three".to_owned(),
        };
        db.collection::<Owner>()
            .insert_one(&owner)
            .session(tx)
            .await?;
        let change = items.update_by_id(&1, Place::Line.change(3));
        change.check_references().session(tx).await.map(drop)
    })
    .await
    .unwrap();
    let found = items.get(&1).await.unwrap().unwrap();
    assert_eq!(found.lines.last(), Some(&line(3)));
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "links")]
struct Link {
    #[serde(rename = "_id")]
    id: i32,
    next: Option<Ref<Link>>,
}

async fn documents_of_one_call_may_refer_to_each_other(db: &Db) {
    let links = db.collection::<Link>();
    let link = |id, next| Link {
        id,
        next: Some(Ref::from(next)),
    };
    let cycle = [link(1, 2), link(2, 3), link(3, 1)];
    let bulk = links.bulk_write(|w| cycle.iter().map(move |link| w.insert_one(link)));
    assert_eq!(bulk.check_references().await.unwrap().write.inserted, 3);
    // The update comes after the insert of what it refers to.
    let last = Link { id: 4, next: None };
    let mixed = links.bulk_write(|w| {
        let insert = w.insert_one(&last);
        [
            insert,
            w.update_one(|l| l.id.eq(1), |l| l.next.set(Some(Ref::from(4)))),
        ]
    });
    assert_eq!(mixed.check_references().await.unwrap().write.modified, 1);
    let upsert = links
        .update_by_id(&5, |l| l.next.set(Some(Ref::from(5))))
        .upsert(true);
    upsert.check_references().await.unwrap();
    assert!(links.check_references().await.unwrap().is_sound());
}

/// Tasks delete owners with what refers to them and insert them again, while others refer to them by updates.
async fn nothing_dangles_after_deletes_beside_checked_updates(db: &Db) {
    let rounds = count("ODM_CHECKED_WRITERS", 15);
    let owner = |id| Owner {
        id,
        name: "any".to_owned(),
    };
    db.collection()
        .insert_many((0..4).map(owner))
        .await
        .unwrap();
    let deleters = (0..2_u64).map(|task| {
        let owners = db.collection::<Owner>();
        async move {
            let mut random = Random::of(task);
            for _ in 0..rounds {
                let id = i32::try_from(random.below(4)).unwrap();
                owners.delete_by_id(&id).with_dependents().await.unwrap();
                tokio::task::yield_now().await;
                let again = owners
                    .replace_by_id(&id, owner(id))
                    .upsert(true)
                    .leave_stale()
                    .await;
                assert!(again.is_ok() || again.is_err_and(|error| error.is_duplicate_key()));
            }
        }
    });
    let writers = (2..6_u64).map(|task| {
        let items = db.collection::<Item>();
        async move {
            let mut random = Random::of(task);
            for _ in 0..rounds {
                let id = i32::try_from(random.below(3)).unwrap();
                let place = PLACES[random.below(3)];
                let change = place.change(i32::try_from(random.below(4)).unwrap());
                let written = if items.get(&id).await.unwrap().is_some() {
                    let update = items.update_by_id(&id, change);
                    update.propagate().check_references().await.map(drop)
                } else {
                    let insert = items.insert_one(item(id)).propagate();
                    insert.check_references().await.map(drop)
                };
                match written {
                    Ok(()) => {}
                    Err(error) if error.is_dangling() || error.is_duplicate_key() => {}
                    Err(error) => panic!("{error:?}"),
                }
            }
        }
    });
    futures::join!(
        futures::future::join_all(deleters),
        futures::future::join_all(writers)
    );
    let report = db.collection::<Item>().check_references().await.unwrap();
    assert!(report.is_sound(), "{report}");
}
