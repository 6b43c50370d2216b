//! The methods of a collection, and their results.

use futures::TryStreamExt;
use odm::Code;
use odm::bson::{Bson, Document as BsonDocument, doc};
use odm::collection::{ReadConcern, ReturnDocument};
use odm::prelude::*;

use crate::case::cases;

cases![
    find_and_modify_returns_what_is_selected,
    a_find_takes_every_option_of_the_driver,
    min_alone_excludes_the_largest_key,
    unsuitable_read_concerns_are_refused,
    an_inserted_document_is_found,
    a_duplicate_id_is_refused,
    insert_many_stops_or_goes_on,
    updates_count_what_they_matched_and_modified,
    upserts_insert_missing_documents,
    a_replacement_drops_other_fields,
    deletes_count,
    find_and_modify_returns_before_or_after,
    sort_skip_and_limit,
    a_cursor_crosses_batches,
    counts_and_distinct_values,
    distinct_values_leave_out_missing_ones,
    a_projection_reads_only_its_fields,
    update_all_and_delete_all_are_explicit,
    shown_commands_equal_sent_commands,
    undecodable_documents_do_not_lose_the_page,
];

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "notes")]
struct Note {
    #[serde(rename = "_id")]
    id: i32,
    text: String,
    stars: i32,
}

#[derive(Debug, Deserialize, Projection)]
#[odm(of = Note)]
struct Text {
    text: String,
}

fn note(id: i32, text: &str, stars: i32) -> Note {
    Note {
        id,
        text: text.to_owned(),
        stars,
    }
}

async fn stored(db: &Db) -> Collection<Note> {
    let notes = db.collection::<Note>();
    let three = [note(1, "one", 5), note(2, "two", 3), note(3, "three", 5)];
    notes.insert_many(&three).await.unwrap();
    notes
}

async fn an_inserted_document_is_found(db: &Db) {
    let notes = db.collection::<Note>();
    assert_eq!(notes.get(&1).await.unwrap(), None);
    notes.insert_one(note(1, "one", 5)).await.unwrap();
    assert_eq!(notes.get(&1).await.unwrap(), Some(note(1, "one", 5)));
    let found = notes.find_one(|n| n.stars.gt(4)).await.unwrap();
    assert_eq!(found, Some(note(1, "one", 5)));
    assert_eq!(notes.find_one(|n| n.stars.gt(5)).await.unwrap(), None);
}

async fn a_duplicate_id_is_refused(db: &Db) {
    let notes = stored(db).await;
    let refused = notes.insert_one(note(1, "again", 0)).await.unwrap_err();
    assert!(refused.is_duplicate_key(), "{refused}");
    assert_eq!(refused.code(), Some(Code::DUPLICATE_KEY));
    assert_eq!(notes.get(&1).await.unwrap(), Some(note(1, "one", 5)));
}

async fn insert_many_stops_or_goes_on(db: &Db) {
    let notes = stored(db).await;
    let more = [note(4, "", 0), note(1, "", 0), note(5, "", 0)];
    assert!(
        notes
            .insert_many(&more)
            .await
            .unwrap_err()
            .is_duplicate_key()
    );
    assert_eq!(notes.count_documents(|n| n.id.gte(4)).await.unwrap(), 1);
    let more = [note(6, "", 0), note(1, "", 0), note(7, "", 0)];
    let refused = notes.insert_many(&more).ordered(false).await.unwrap_err();
    assert!(refused.is_duplicate_key(), "{refused}");
    assert_eq!(notes.count_documents(|n| n.id.gte(6)).await.unwrap(), 2);
}

async fn updates_count_what_they_matched_and_modified(db: &Db) {
    let notes = stored(db).await;
    let one = notes
        .update_one(|n| n.stars.eq(5), |n| n.stars.set(6))
        .await
        .unwrap();
    assert_eq!((one.matched, one.modified), (1, 1));
    let same = notes
        .update_one(|n| n.stars.eq(6), |n| n.stars.set(6))
        .await
        .unwrap();
    assert_eq!((same.matched, same.modified), (1, 0));
    let none = notes
        .update_one(|n| n.stars.eq(9), |n| n.stars.set(6))
        .await
        .unwrap();
    assert_eq!((none.matched, none.modified), (0, 0));
    let many = notes
        .update_many(|n| n.id.gt(1), |n| n.stars.inc(1))
        .await
        .unwrap();
    assert_eq!((many.matched, many.modified), (2, 2));
    let all = notes.update_all(|n| n.text.set("x")).await.unwrap();
    assert_eq!((all.matched, all.modified), (3, 3));
}

async fn upserts_insert_missing_documents(db: &Db) {
    let notes = stored(db).await;
    let inserted = notes
        .update_one(|n| n.id.eq(9), |n| n.text.set("new") & n.stars.set(1))
        .upsert(true)
        .await
        .unwrap();
    assert_eq!((inserted.matched, inserted.modified), (0, 0));
    assert_eq!(inserted.upserted_id, Some(9));
    assert_eq!(notes.get(&9).await.unwrap(), Some(note(9, "new", 1)));
    let there = notes
        .update_one(|n| n.id.eq(9), |n| n.stars.inc(1))
        .upsert(true)
        .await
        .unwrap();
    assert_eq!((there.matched, there.modified), (1, 1));
    assert_eq!(there.upserted_id, None);
}

async fn a_replacement_drops_other_fields(db: &Db) {
    let notes = stored(db).await;
    let replaced = notes
        .replace_one(|n| n.id.eq(2), note(2, "deux", 4))
        .await
        .unwrap();
    assert_eq!((replaced.matched, replaced.modified), (1, 1));
    assert_eq!(notes.get(&2).await.unwrap(), Some(note(2, "deux", 4)));
    let refused = notes
        .replace_one(|n| n.id.eq(2), note(3, "trois", 4))
        .await
        .unwrap_err();
    assert_eq!(refused.code(), Some(Code::IMMUTABLE_FIELD), "{refused}");
}

async fn deletes_count(db: &Db) {
    let notes = stored(db).await;
    let one = notes.delete_one(|n| n.stars.eq(5)).await.unwrap();
    assert_eq!(one.deleted, 1);
    let none = notes.delete_one(|n| n.stars.eq(9)).await.unwrap();
    assert_eq!(none.deleted, 0);
    let many = notes.delete_many(|n| n.stars.gt(0)).await.unwrap();
    assert_eq!(many.deleted, 2);
}

async fn find_and_modify_returns_before_or_after(db: &Db) {
    let notes = stored(db).await;
    let before = notes
        .find_one_and_update(|n| n.id.eq(1), |n| n.stars.inc(1))
        .await
        .unwrap();
    assert_eq!(before, Some(note(1, "one", 5)));
    let after = notes
        .find_one_and_update(|n| n.id.eq(1), |n| n.stars.inc(1))
        .return_document(ReturnDocument::After)
        .await
        .unwrap();
    assert_eq!(after, Some(note(1, "one", 7)));
    let sorted = notes
        .find_one_and_delete(|n| n.id.gt(0))
        .sort(|n| n.stars.asc())
        .await
        .unwrap();
    assert_eq!(sorted, Some(note(2, "two", 3)));
    let replaced = notes
        .find_one_and_replace(|n| n.id.eq(3), note(3, "trois", 0))
        .await
        .unwrap();
    assert_eq!(replaced, Some(note(3, "three", 5)));
    assert_eq!(
        notes.find_one_and_delete(|n| n.id.eq(2)).await.unwrap(),
        None
    );
}

async fn sort_skip_and_limit(db: &Db) {
    let notes = stored(db).await;
    let sorted = notes
        .find_all()
        .sort(|n| n.stars.desc().then(n.text.desc()))
        .all()
        .await
        .unwrap();
    assert_eq!(sorted.iter().map(|n| n.id).collect::<Vec<_>>(), [3, 1, 2]);
    let page = notes
        .find_all()
        .sort(|n| n.id.asc())
        .skip(1)
        .limit(1)
        .all()
        .await
        .unwrap();
    assert_eq!(page, [note(2, "two", 3)]);
}

async fn a_cursor_crosses_batches(db: &Db) {
    let notes = db.collection::<Note>();
    let many: Vec<Note> = (0..250).map(|id| note(id, "n", id)).collect();
    notes.insert_many(&many).await.unwrap();
    let cursor = notes
        .find_all()
        .sort(|n| n.id.asc())
        .batch_size(7)
        .await
        .unwrap();
    let found: Vec<Note> = cursor.try_collect().await.unwrap();
    assert_eq!(found, many);
}

async fn counts_and_distinct_values(db: &Db) {
    let notes = stored(db).await;
    assert_eq!(notes.count_documents(|n| n.stars.eq(5)).await.unwrap(), 2);
    assert_eq!(notes.estimated_document_count().await.unwrap(), 3);
    let mut stars = notes.distinct(|n| n.stars, |n| n.id.gt(0)).await.unwrap();
    stars.sort_unstable();
    assert_eq!(stars, [3, 5]);
}

/// A note that older documents lack parts of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "notes")]
struct OldNote {
    #[serde(rename = "_id")]
    id: i32,
    #[serde(default)]
    #[odm(index)]
    stars: i32,
    #[serde(default)]
    #[odm(index)]
    reader: Option<i32>,
}

async fn distinct_values_leave_out_missing_ones(db: &Db) {
    let documents = vec![doc! {"_id": 1, "stars": 4, "reader": 7}, doc! {"_id": 2}];
    let insert = doc! {"insert": "notes", "documents": documents};
    db.run_command(insert).await.unwrap();
    let notes = db.collection::<OldNote>();
    let stars = notes.distinct(|n| n.stars, |_| Filter::all());
    assert_eq!(stars.await.unwrap(), [4]);
    // From an index, MongoDB returns the null that is its key of a document without the field.
    let create =
        doc! {"createIndexes": "notes", "indexes": [{"key": {"stars": 1}, "name": "stars_1"}]};
    db.run_command(create).await.unwrap();
    let raw = doc! {"distinct": "notes", "key": "stars"};
    let reply = db.run_command(raw).await.unwrap();
    assert_eq!(reply.get_array("values").unwrap().len(), 2);
    let stars = notes.distinct(|n| n.stars, |_| Filter::all());
    assert_eq!(stars.await.unwrap(), [4]);
    let readers = notes.distinct(|n| n.reader, |_| Filter::all());
    assert_eq!(readers.await.unwrap(), [Some(7)]);
}

async fn a_projection_reads_only_its_fields(db: &Db) {
    let notes = stored(db).await;
    let texts = notes
        .find(|n| n.id.lte(2))
        .sort(|n| n.id.asc())
        .select::<Text>()
        .all()
        .await
        .unwrap();
    let texts: Vec<String> = texts.into_iter().map(|row| row.text).collect();
    assert_eq!(texts, ["one", "two"]);
}

async fn update_all_and_delete_all_are_explicit(db: &Db) {
    let notes = stored(db).await;
    let refused = notes.delete_many(|_| Filter::all()).await.unwrap_err();
    assert!(refused.is_usage(), "{refused}");
    assert!(refused.to_string().contains("delete_all"), "{refused}");
    let refused = notes
        .update_many(|_| Filter::all(), |n| n.stars.set(0))
        .await
        .unwrap_err();
    assert!(refused.to_string().contains("update_all"), "{refused}");
    assert_eq!(notes.delete_all().await.unwrap().deleted, 3);
}

async fn shown_commands_equal_sent_commands(db: &Db) {
    let notes = stored(db).await;
    let command = notes
        .find(|n| n.stars.gte(4))
        .sort(|n| n.id.desc())
        .limit(2)
        .command()
        .unwrap();
    assert_eq!(
        command,
        doc! {"find": "notes", "filter": {"stars": {"$gte": 4}}, "sort": {"_id": -1}, "limit": 2_i64}
    );
}

async fn undecodable_documents_do_not_lose_the_page(db: &Db) {
    let notes = stored(db).await;
    db.run_command(
        doc! {"update": "notes", "updates": [{"q": {"_id": 2}, "u": {"$set": {"stars": "many"}}}]},
    )
    .await
    .unwrap();
    let mut cursor = notes.find_all().sort(|n| n.id.asc()).await.unwrap();
    assert_eq!(cursor.try_next().await.unwrap(), Some(note(1, "one", 5)));
    let bad = cursor.try_next().await.unwrap_err();
    assert_eq!(bad.path(), Some("stars"), "{bad}");
    assert_eq!(cursor.try_next().await.unwrap(), Some(note(3, "three", 5)));
    assert_eq!(cursor.try_next().await.unwrap(), None);
}

async fn find_and_modify_returns_what_is_selected(db: &Db) {
    let notes = stored(db).await;
    let change = notes.find_one_and_update(|n| n.id.eq(1), |n| n.text.set("uno"));
    let change = change.return_document(ReturnDocument::After);
    let command = change.select::<Text>().command().unwrap();
    assert_eq!(
        command.get_document("fields").unwrap(),
        &doc! {"_id": 0, "text": 1}
    );
    let change = notes.find_one_and_update(|n| n.id.eq(1), |n| n.text.set("uno"));
    let change = change.return_document(ReturnDocument::After);
    let text = change.select::<Text>().await.unwrap().unwrap();
    assert_eq!(text.text, "uno");
    let replaced = notes
        .find_one_and_replace(|n| n.id.eq(1), note(1, "eins", 1))
        .projection(doc! {"stars": 1})
        .with_type::<BsonDocument>()
        .await;
    assert_eq!(replaced.unwrap(), Some(doc! {"_id": 1, "stars": 5}));
    let deleted = notes.find_one_and_delete(|n| n.id.eq(1)).select::<Text>();
    assert_eq!(deleted.await.unwrap().unwrap().text, "eins");
    let none = notes.find_one_and_delete(|n| n.id.eq(1)).select::<Text>();
    assert!(none.await.unwrap().is_none());
}

async fn a_find_takes_every_option_of_the_driver(db: &Db) {
    let notes = stored(db).await;
    let find = || notes.find_all().hint("_id_");
    let command = find()
        .min(doc! {"_id": 2})
        .max(doc! {"_id": 3})
        .allow_partial_results(true)
        .no_cursor_timeout(true)
        .show_record_id(true)
        .return_key(true)
        .command();
    assert_eq!(
        command.unwrap(),
        doc! {
            "find": "notes", "filter": {}, "hint": "_id_", "min": {"_id": 2}, "max": {"_id": 3},
            "allowPartialResults": true, "noCursorTimeout": true, "showRecordId": true,
            "returnKey": true,
        }
    );
    let find = find().allow_partial_results(true).no_cursor_timeout(true);
    assert_eq!(find.all().await.unwrap().len(), 3);
    // The engine reports options that it does not support; mongod supports them.
    let between = notes.find_all().hint("_id_").min(doc! {"_id": 2});
    match between.max(doc! {"_id": 3}).all().await {
        Ok(found) => assert_eq!(found, [note(2, "two", 3)]),
        Err(refused) => assert!(
            !db.capability().await.unwrap().durable && refused.to_string().contains("min"),
            "{refused}"
        ),
    }
}

/// MongoDB completes `min` with the largest key as `max`, which is exclusive.
async fn min_alone_excludes_the_largest_key(db: &Db) {
    let ids = [Bson::MinKey, 5.into(), Bson::MaxKey];
    let documents: Vec<_> = ids.iter().map(|id| doc! {"_id": id, "a": id}).collect();
    db.run_command(doc! {"insert": "keys", "documents": documents})
        .await
        .unwrap();
    let indexes =
        [1, -1].map(|direction| doc! {"name": format!("a{direction}"), "key": {"a": direction}});
    let create = doc! {"createIndexes": "keys", "indexes": indexes.to_vec()};
    db.run_command(create).await.unwrap();
    let find = async |direction: i32, bounds: BsonDocument| {
        let mut find = doc! {"find": "keys", "hint": {"a": direction}, "sort": {"a": direction}};
        find.extend(bounds);
        let found = db.run_command(find).all().await?;
        let ids = found.iter().map(|one| one.get("_id").cloned().unwrap());
        Ok::<_, odm::Error>(ids.collect::<Vec<_>>())
    };
    let [smallest, five, largest] = ids.clone();
    let found = find(1, doc! {"min": {"a": &smallest}}).await.unwrap();
    assert_eq!(found, ids[..2]);
    let found = find(1, doc! {"max": {"a": &largest}}).await.unwrap();
    assert_eq!(found, ids[..2]);
    let found = find(-1, doc! {"min": {"a": &largest}}).await.unwrap();
    assert_eq!(found, [largest.clone(), five.clone()]);
    let found = find(-1, doc! {"max": {"a": &five}}).await.unwrap();
    assert_eq!(found, ids[2..]);
    for (direction, min) in [(1, largest), (-1, smallest)] {
        let error = find(direction, doc! {"min": {"a": min}}).await.unwrap_err();
        assert_eq!(error.code().map(Code::number), Some(51175), "{error}");
    }
}

async fn unsuitable_read_concerns_are_refused(db: &Db) {
    let notes = stored(db).await;
    let counted = notes.estimated_document_count();
    let refused = counted.read_concern(ReadConcern::Snapshot).await;
    assert_eq!(
        refused.unwrap_err().server().unwrap().message(),
        "Command count does not support { readConcern: { level: \"snapshot\", provenance: \
         \"clientSupplied\" } } :: caused by :: read concern snapshot not supported"
    );
    // The handle's read concern applies to the reads of a pipeline that writes.
    let strict = notes.clone().with_read_concern(ReadConcern::Linearizable);
    let refused = strict.aggregate([doc! {"$out": "copy"}]).all().await;
    assert_eq!(
        refused.unwrap_err().server().unwrap().message(),
        "Command aggregate does not support { readConcern: { level: \"linearizable\", provenance: \
         \"clientSupplied\" } } :: caused by :: $out cannot be used with a 'linearizable' read \
         concern level"
    );
    let majority = notes.with_read_concern(ReadConcern::Majority);
    let copied = majority.aggregate([doc! {"$out": "copy"}]).all().await;
    assert!(copied.unwrap().is_empty());
}
