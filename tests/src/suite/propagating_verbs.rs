//! Every verb that changes documents, crossed with every kind of derived data at once.

mod random;

use odm::bson::{Document as BsonDocument, doc};
use odm::collection::Collation;
use odm::prelude::*;

use self::random::bulk::random_bulk_writes_leave_what_a_plain_model_leaves;
use self::random::random_verbs_leave_what_a_plain_model_leaves;
use super::dependents::{insert, stored};
use crate::case::cases;

cases![
    each_verb_says_what_becomes_of_derived_data,
    a_returned_document_has_its_copies,
    a_save_that_changes_nothing_writes_nothing,
    a_stale_save_writes_nothing,
    an_aborted_save_can_be_saved_again,
    an_upsert_is_filled_in_its_transaction,
    a_full_list_withholds_the_change,
    a_document_is_found_or_inserted_with_its_copies,
    eight_callers_insert_one_document,
    a_deleted_document_is_returned,
    changes_can_be_planned,
    random_verbs_leave_what_a_plain_model_leaves,
    random_bulk_writes_leave_what_a_plain_model_leaves,
    a_bulk_write_acts_on_what_its_deletes_removed,
    a_bulk_write_keeps_the_word_of_each_write,
    a_failed_write_undoes_the_bulk_write,
    a_bulk_write_needs_a_transaction_and_something_to_propagate,
    options_of_single_writes_decide_what_they_match,
];

/// Has a list of references, summaries, and a list of the newest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "hosts", has_many(all: Message, by = host))]
pub(super) struct Host {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
    #[odm(references(many, max = 20), two_way = host)]
    messages: Vec<Ref<Message>>,
    #[odm(count_of(all))]
    count: i64,
    #[odm(max_of(all.rank))]
    best: Option<i32>,
    #[odm(recent(Message, max = 2, sort = rank))]
    newest: Vec<Line>,
    #[odm(references(many, max = 2))]
    tags: Vec<Ref<Host>>,
    #[odm(version)]
    version: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "messages")]
pub(super) struct Message {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index, two_way = messages)]
    host: Option<Ref<Host>>,
    /// The same host.
    #[odm(index, recent_in = newest)]
    log: Option<Ref<Host>>,
    #[odm(copy_of(host.name))]
    host_name: Option<String>,
    rank: i32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded, Projection)]
#[odm(of = Message)]
pub(super) struct Line {
    rank: i32,
}

fn host(id: i32, name: &str) -> Host {
    Host {
        id,
        name: name.to_owned(),
        messages: Vec::new(),
        count: 0,
        best: None,
        newest: Vec::new(),
        tags: Vec::new(),
        version: 0,
    }
}

fn message(id: i32, host: Option<i32>, rank: i32) -> Message {
    Message {
        id,
        host: host.map(Ref::from),
        log: host.map(Ref::from),
        host_name: None,
        rank,
    }
}

type Collections = (Collection<Host>, Collection<Message>);

/// Two hosts; the first has the messages 1 and 2.
async fn two_hosts(db: &Db) -> Collections {
    let (hosts, messages) = (db.collection::<Host>(), db.collection::<Message>());
    let all = [host(1, "ada"), host(2, "bob")];
    hosts.insert_many(all).propagate().await.unwrap();
    let all = [message(1, Some(1), 5), message(2, Some(1), 7)];
    messages.insert_many(all).propagate().await.unwrap();
    (hosts, messages)
}

async fn is_sound(db: &Db) -> bool {
    let (hosts, messages) = (db.collection::<Host>(), db.collection::<Message>());
    messages.check_copies().await.unwrap().is_sound()
        && hosts.check_summaries().await.unwrap().is_sound()
        && hosts.check_recent().await.unwrap().is_sound()
        && hosts.check_two_way().await.unwrap().is_sound()
}

/// The copied name in a message.
async fn name_in(db: &Db, id: i32) -> String {
    let all = stored(db, "messages").await;
    let found = all.iter().find(|one| one.get_i32("_id").ok() == Some(id));
    found.unwrap().get_str("host_name").unwrap().to_owned()
}

async fn each_verb_says_what_becomes_of_derived_data(db: &Db) {
    let (hosts, messages) = two_hosts(db).await;
    let before = (stored(db, "hosts").await, stored(db, "messages").await);
    let moved = || message(1, Some(2), 9);
    let mut loaded = messages.load(&1).await.unwrap().unwrap();
    loaded.rank = 9;
    let rank = |m: Message| m.rank;
    let errors = [
        messages.save(&mut loaded).await.unwrap_err(),
        messages.replace_by_id(&1, moved()).await.unwrap_err(),
        messages
            .replace_one(|m| m.id.eq(1), moved())
            .upsert(true)
            .await
            .unwrap_err(),
        messages
            .find_one_and_update(|m| m.id.eq(1), |m| m.rank.set(9))
            .await
            .map(|found| found.map(rank))
            .unwrap_err(),
        messages
            .find_one_and_replace(|m| m.id.eq(1), moved())
            .await
            .unwrap_err(),
        messages
            .find_one_or_insert(|m| m.id.eq(9), message(9, Some(1), 9))
            .await
            .unwrap_err(),
        messages
            .update_by_id(&9, |m| m.rank.set(9))
            .upsert(true)
            .await
            .unwrap_err(),
        messages
            .bulk_write(|w| [w.update_one(|m| m.id.eq(1), |m| m.rank.set(9))])
            .await
            .unwrap_err(),
        hosts.find_one_and_delete(|h| h.id.eq(1)).await.unwrap_err(),
        messages
            .find_one_and_delete(|m| m.id.eq(1))
            .await
            .unwrap_err(),
    ];
    for error in errors {
        let text = error.to_string();
        assert!(
            text.contains("propagate") || text.contains("with_dependents"),
            "{text}"
        );
    }
    let after = (stored(db, "hosts").await, stored(db, "messages").await);
    assert_eq!(before, after);

    // The other answer.
    messages.save(&mut loaded).leave_stale().await.unwrap();
    let inserted = messages
        .find_one_or_insert(|m| m.id.eq(9), message(9, Some(1), 9))
        .leave_stale()
        .await
        .unwrap();
    assert!(inserted.inserted);
    assert_eq!(inserted.document.host_name, None);
    assert!(!is_sound(db).await);
}

async fn a_returned_document_has_its_copies(db: &Db) {
    let (hosts, messages) = two_hosts(db).await;
    let moved = messages
        .find_one_and_update(
            |m| m.rank.gt(0),
            |m| m.host.set(Ref::from(2)) & m.log.set(Ref::from(2)),
        )
        .sort(|m| m.rank.desc())
        .return_document(odm::collection::ReturnDocument::After)
        .propagate()
        .await
        .unwrap()
        .unwrap();
    assert_eq!((moved.id, moved.host_name.as_deref()), (2, Some("bob")));
    assert!(is_sound(db).await);

    let before = messages
        .find_one_and_replace(|m| m.id.eq(2), message(2, Some(1), 1))
        .projection(doc! {"host_name": 1, "_id": 0})
        .with_type::<BsonDocument>()
        .propagate()
        .await
        .unwrap();
    assert_eq!(before, Some(doc! {"host_name": "bob"}));
    assert!(is_sound(db).await);

    // What the caller writes into derived fields is computed again.
    let mut wrong = host(1, "eve");
    wrong.messages = vec![Ref::from(2), Ref::from(1)];
    wrong.count = 99;
    let after = hosts
        .find_one_and_replace(|h| h.id.eq(1), &wrong)
        .return_document(odm::collection::ReturnDocument::After)
        .propagate()
        .await
        .unwrap()
        .unwrap();
    assert_eq!((after.count, after.best), (2, Some(5)));
    assert_eq!(after.newest, [Line { rank: 1 }, Line { rank: 5 }]);
    assert_eq!(after.messages, wrong.messages);
    assert!(is_sound(db).await);

    let none = hosts.find_one_and_update(|h| h.id.eq(9), |h| h.name.set("x"));
    assert_eq!(none.propagate().await.unwrap(), None);
}

async fn a_save_that_changes_nothing_writes_nothing(db: &Db) {
    let (hosts, _) = two_hosts(db).await;
    let before = stored(db, "hosts").await;
    let mut loaded = hosts.load(&1).await.unwrap().unwrap();
    assert!(!hosts.save(&mut loaded).propagate().await.unwrap());
    assert!(!hosts.save(&mut loaded).in_background().await.unwrap());
    assert_eq!(stored(db, "hosts").await, before);
    let version = loaded.version;
    // A field that nothing follows from.
    loaded.tags.push(Ref::from(2));
    assert!(hosts.save(&mut loaded).propagate().await.unwrap());
    "eve".clone_into(&mut loaded.name);
    assert!(hosts.save(&mut loaded).propagate().await.unwrap());
    assert_eq!(loaded.version, version + 2);
    assert_eq!(name_in(db, 2).await, "eve");
    assert!(!hosts.save(&mut loaded).propagate().await.unwrap());
}

async fn a_stale_save_writes_nothing(db: &Db) {
    let (hosts, _) = two_hosts(db).await;
    let mut loaded = hosts.load(&1).await.unwrap().unwrap();
    let rename = hosts.update_by_id(&1, |h| h.name.set("eve"));
    rename.propagate().await.unwrap();
    "old".clone_into(&mut loaded.name);
    let error = hosts.save(&mut loaded).propagate().await.unwrap_err();
    assert!(error.is_stale(), "{error}");
    let error = hosts.save(&mut loaded).propagate().non_atomic().await;
    assert!(error.unwrap_err().is_stale());
    assert!(stored(db, "odm_propagations").await.is_empty());
    assert_eq!(name_in(db, 2).await, "eve");
    assert!(is_sound(db).await);
}

async fn an_aborted_save_can_be_saved_again(db: &Db) {
    let (hosts, _) = two_hosts(db).await;
    let mut loaded = hosts.load(&1).await.unwrap().unwrap();
    let version = loaded.version;
    "eve".clone_into(&mut loaded.name);
    let mut session = db.start_session().await.unwrap();
    session.start_transaction().await.unwrap();
    let save = hosts.save(&mut loaded).propagate().session(&mut session);
    assert!(save.await.unwrap());
    session.abort_transaction().await.unwrap();
    assert_eq!(loaded.version, version);
    assert_eq!(name_in(db, 2).await, "ada");

    session.start_transaction().await.unwrap();
    let save = hosts.save(&mut loaded).session(&mut session).propagate();
    assert!(save.await.unwrap());
    // The same transaction goes on with the document.
    "zoe".clone_into(&mut loaded.name);
    let save = hosts.save(&mut loaded).propagate().session(&mut session);
    assert!(save.await.unwrap());
    session.commit_transaction().await.unwrap();
    assert_eq!(loaded.version, version + 2);
    assert_eq!(name_in(db, 2).await, "zoe");
    assert!(is_sound(db).await);
}

async fn an_upsert_is_filled_in_its_transaction(db: &Db) {
    let (hosts, messages) = two_hosts(db).await;
    let upsert = || {
        messages
            .update_by_id(&3, |m| {
                m.host.set(Ref::from(2))
                    & m.log.set(Ref::from(2))
                    & m.rank.set(4)
                    & m.host_name.set_on_insert("?")
            })
            .upsert(true)
    };
    let text = upsert().propagate().non_atomic().await.unwrap_err();
    let text = text.to_string();
    assert!(
        text.contains("an upsert propagates in a transaction"),
        "{text}"
    );
    let result = upsert().propagate().await.unwrap();
    assert_eq!(result.update.upserted_id, Some(3));
    assert_eq!(name_in(db, 3).await, "bob");
    assert!(is_sound(db).await);
    // Now it matches.
    let result = upsert().propagate().await.unwrap();
    assert_eq!((result.update.matched, result.update.modified), (1, 0));

    // Only the field that is set where a document is inserted refers to a host.
    let upsert = messages
        .update_by_id(&4, |m| {
            m.rank.set(1)
                & m.host.set_on_insert(Ref::from(2))
                & m.log.set_on_insert(Ref::from(2))
                & m.host_name.set_on_insert("?")
        })
        .upsert(true);
    upsert.propagate().await.unwrap();
    assert!(is_sound(db).await);

    let replaced = messages
        .replace_by_id(&5, message(5, Some(1), 3))
        .upsert(true);
    let replaced = replaced.propagate().await.unwrap();
    assert_eq!(replaced.update.upserted_id, Some(5));
    assert!(is_sound(db).await);

    let found = messages
        .find_one_and_replace(|m| m.id.eq(6), message(6, Some(1), 8))
        .upsert(true);
    assert_eq!(found.propagate().await.unwrap(), None);
    let found = messages
        .find_one_and_replace(|m| m.id.eq(7), message(7, Some(2), 8))
        .upsert(true)
        .return_document(odm::collection::ReturnDocument::After);
    let found = found.propagate().await.unwrap().unwrap();
    assert_eq!((found.id, found.host_name.as_deref()), (7, Some("bob")));
    assert!(is_sound(db).await);

    // A document that holds summaries and a list of what refers to it already.
    insert(
        db,
        "messages",
        [doc! {"_id": 8, "host": 3, "log": 3, "rank": 2, "host_name": null}],
    )
    .await;
    let mut eve = host(3, "eve");
    eve.messages = vec![Ref::from(8)];
    let upsert = hosts.replace_by_id(&3, &eve).upsert(true);
    upsert.propagate().await.unwrap();
    let eve = hosts.get(&3).await.unwrap().unwrap();
    assert_eq!((eve.count, eve.best), (1, Some(2)));
    assert_eq!(eve.newest, [Line { rank: 2 }]);

    // A reference to nothing inserts nothing.
    let dangling = messages
        .replace_by_id(&9, message(9, Some(77), 3))
        .upsert(true);
    assert!(dangling.propagate().await.unwrap_err().is_dangling());
    assert!(messages.get(&9).await.unwrap().is_none());
}

async fn a_full_list_withholds_the_change(db: &Db) {
    let (hosts, _) = two_hosts(db).await;
    let push = |n: i32| {
        move |h: <Host as Embedded>::Fields<Host>| h.tags.push(Ref::from(n)) & h.name.set("eve")
    };
    for n in 0..2 {
        let found = hosts.find_one_and_update(|h| h.id.eq(1), push(n));
        found.propagate().await.unwrap().unwrap();
    }
    let full = hosts.find_one_and_update(|h| h.id.eq(1), push(3));
    assert!(full.propagate().await.unwrap_err().is_full());
    let full = hosts.update_by_id(&1, push(3)).upsert(true);
    assert!(full.propagate().await.unwrap().update.is_full());
    let full = hosts.find_one_and_update(|h| h.id.eq(1), push(3));
    assert!(full.upsert(true).propagate().await.unwrap_err().is_full());
    assert!(is_sound(db).await);
}

async fn a_document_is_found_or_inserted_with_its_copies(db: &Db) {
    let (_, messages) = two_hosts(db).await;
    let call = || messages.find_one_or_insert(|m| m.id.eq(3), message(3, Some(2), 4));
    let first = call().propagate().await.unwrap();
    assert!(first.inserted);
    assert_eq!(first.document.host_name.as_deref(), Some("bob"));
    assert!(is_sound(db).await);
    let second = call().propagate().await.unwrap();
    assert!(!second.inserted);
    assert_eq!(second.document, first.document);
    let third = call().propagate().non_atomic().await.unwrap();
    assert!(!third.inserted);

    let mut session = db.start_session().await.unwrap();
    session.start_transaction().await.unwrap();
    let call = messages.find_one_or_insert(|m| m.id.eq(4), message(4, Some(2), 4));
    let call = call.propagate().session(&mut session);
    assert!(call.await.unwrap().inserted);
    session.commit_transaction().await.unwrap();
    assert!(is_sound(db).await);

    let dangling = messages.find_one_or_insert(|m| m.id.eq(5), message(5, Some(77), 4));
    assert!(dangling.propagate().await.unwrap_err().is_dangling());
    let other = messages.find_one_or_insert(|m| m.id.eq(5), message(6, Some(1), 4));
    let text = other.propagate().await.unwrap_err().to_string();
    assert!(text.contains("does not meet the condition"), "{text}");
    assert!(messages.get(&5).await.unwrap().is_none());
}

async fn eight_callers_insert_one_document(db: &Db) {
    two_hosts(db).await;
    let calls = (0..8).map(|_| {
        let messages = db.collection::<Message>();
        tokio::spawn(async move {
            let call = messages.find_one_or_insert(|m| m.id.eq(3), message(3, Some(2), 4));
            call.propagate().await
        })
    });
    let mut inserted = 0;
    for call in calls.collect::<Vec<_>>() {
        let found = call.await.unwrap().unwrap();
        assert_eq!(found.document.host_name.as_deref(), Some("bob"));
        inserted += u32::from(found.inserted);
    }
    assert_eq!(inserted, 1);
    assert!(is_sound(db).await);
}

async fn a_deleted_document_is_returned(db: &Db) {
    let (hosts, messages) = two_hosts(db).await;
    let deleted = messages
        .find_one_and_delete(|m| m.rank.gt(0))
        .sort(|m| m.rank.desc())
        .with_dependents()
        .await
        .unwrap()
        .unwrap();
    assert_eq!(deleted.id, 2);
    assert!(is_sound(db).await);
    let deleted = hosts
        .find_one_and_delete(|h| h.id.eq(1))
        .projection(doc! {"_id": 0, "name": 1})
        .with_type::<BsonDocument>()
        .with_dependents()
        .non_atomic()
        .await
        .unwrap();
    assert_eq!(deleted, Some(doc! {"name": "ada"}));
    assert_eq!(messages.get(&1).await.unwrap().unwrap().host, None);
    let none = hosts.find_one_and_delete(|h| h.id.eq(1));
    assert_eq!(none.with_dependents().await.unwrap(), None);
}

async fn changes_can_be_planned(db: &Db) {
    let (hosts, messages) = two_hosts(db).await;
    let before = stored(db, "hosts").await;
    let plan = hosts.replace_by_id(&1, host(1, "eve")).propagate().plan();
    let plan = plan.await.unwrap().to_string();
    assert!(plan.contains("copy `host_name` by `host`"), "{plan}");
    let found = messages.find_one_and_update(
        |m| m.id.eq(1),
        |m| m.host.set(Ref::from(2)) & m.log.set(Ref::from(2)),
    );
    let plan = found.propagate().plan().await.unwrap().to_string();
    assert!(plan.contains("let `messages` follow `host`"), "{plan}");
    let mut loaded = hosts.load(&1).await.unwrap().unwrap();
    "eve".clone_into(&mut loaded.name);
    let plan = hosts.save(&mut loaded).propagate().plan();
    let plan = plan.await.unwrap().to_string();
    assert!(plan.contains("copy `host_name` by `host`"), "{plan}");
    let upsert = messages.update_by_id(&9, |m| m.rank.set(1)).upsert(true);
    let plan = upsert.propagate().plan().await.unwrap();
    assert_eq!(plan.steps().len(), 1, "{plan}");
    let plan = messages.insert_many([message(8, Some(1), 1), message(9, Some(2), 1)]);
    let plan = plan.propagate().plan().await.unwrap();
    let expected = "  messages (Message)
    insert 2 documents
        fill `host_name` by `host`
  hosts (Host)
    update 2 documents
        let `messages` follow `host`, in those to which it leads and led
    update 2 documents
        compute `count`, `best` from `all`
        strict: in the transaction of the write
    update 2 documents
        list the newest of `Message` in `newest`
        settled: after the transaction of the write
";
    assert_eq!(plan.to_string(), expected);
    let bulk = messages.bulk_write(|w| {
        let stale = w
            .update_one(|m| m.id.eq(2), |m| m.rank.set(3))
            .leave_stale();
        [
            w.insert_one(message(9, Some(1), 1)),
            w.delete_one(|m| m.id.eq(1)),
            stale,
        ]
    });
    let plan = bulk.propagate().plan().await.unwrap().to_string();
    for part in [
        "insert 1 document",
        "delete 1 document",
        "as it is",
        "fill `host_name` by `host`",
    ] {
        assert!(plan.contains(part), "{part}: {plan}");
    }
    assert_eq!(stored(db, "messages").await.len(), 2);
    assert_eq!(stored(db, "hosts").await, before);
    // The plan has not saved it.
    assert!(hosts.save(&mut loaded).propagate().await.unwrap());
}

async fn a_bulk_write_acts_on_what_its_deletes_removed(db: &Db) {
    let (hosts, messages) = two_hosts(db).await;
    // Both filters match both messages, and each delete removes one.
    let result = messages
        .bulk_write(|w| [1, 9].map(|rank| w.delete_one(|m| m.rank.gte(rank.min(1)))))
        .propagate()
        .await
        .unwrap();
    assert_eq!(result.write.deleted, 2);
    let host = hosts.get(&1).await.unwrap().unwrap();
    assert_eq!((host.count, host.messages.len()), (0, 0));
    messages
        .insert_many([message(3, Some(1), 1), message(4, Some(2), 2)])
        .propagate()
        .await
        .unwrap();
    let result = hosts
        .bulk_write(|w| [w.delete_one(|h| h.id.eq(1)), w.delete_one(|h| h.id.eq(2))])
        .propagate()
        .await
        .unwrap();
    assert_eq!(result.write.deleted, 2);
    assert_eq!(result.propagated[0].documents, 2, "{result:?}");
    let all = messages.find_all().all().await.unwrap();
    assert!(all.iter().all(|message| message.host.is_none()));
}

async fn a_bulk_write_keeps_the_word_of_each_write(db: &Db) {
    let (hosts, messages) = two_hosts(db).await;
    hosts
        .bulk_write(|w| {
            [
                w.update_one(|h| h.id.eq(1), |h| h.name.set("eve"))
                    .leave_stale(),
                w.update_one(|h| h.id.eq(2), |h| h.name.set("dan")),
            ]
        })
        .propagate()
        .await
        .unwrap();
    assert_eq!(name_in(db, 1).await, "ada");
    messages.refresh_copies().await.unwrap();
    assert_eq!(name_in(db, 1).await, "eve");
    let unsaid = hosts
        .bulk_write(|w| {
            [
                w.update_one(|h| h.id.eq(1), |h| h.tags.set(Vec::new())),
                w.update_one(|h| h.id.eq(2), |h| h.name.set("ada")),
            ]
        })
        .await
        .unwrap_err();
    assert!(unsaid.to_string().contains("write 1"), "{unsaid}");
    assert!(unsaid.to_string().contains("propagate"), "{unsaid}");
}

async fn a_failed_write_undoes_the_bulk_write(db: &Db) {
    let (hosts, messages) = two_hosts(db).await;
    let before = (stored(db, "hosts").await, stored(db, "messages").await);
    for ordered in [true, false] {
        let failed = messages
            .bulk_write(|w| {
                [
                    w.update_one(|m| m.id.eq(1), |m| m.rank.set(50)),
                    w.insert_one(message(3, Some(2), 1)),
                    w.insert_one(message(2, Some(2), 1)),
                    w.delete_one(|m| m.id.eq(1)),
                ]
            })
            .ordered(ordered)
            .propagate()
            .await
            .unwrap_err();
        let errors = failed.write_errors();
        let indexes: Vec<_> = errors
            .iter()
            .map(odm::collection::WriteError::index)
            .collect();
        assert_eq!(indexes, [2], "{failed}");
        assert!(failed.is_duplicate_key(), "{failed}");
        let after = (stored(db, "hosts").await, stored(db, "messages").await);
        assert_eq!(after, before);
    }
    let dangling = messages
        .bulk_write(|w| {
            [
                w.delete_one(|m| m.id.eq(1)),
                w.insert_one(message(3, Some(9), 1)),
            ]
        })
        .propagate()
        .await
        .unwrap_err();
    assert!(dangling.is_dangling(), "{dangling}");
    assert_eq!(hosts.get(&1).await.unwrap().unwrap().count, 2);
}

async fn a_bulk_write_needs_a_transaction_and_something_to_propagate(db: &Db) {
    #[derive(Serialize, Deserialize, Document)]
    #[odm(collection = "notes")]
    struct Note {
        #[serde(rename = "_id")]
        id: i32,
    }
    let notes = db.collection::<Note>();
    let none = notes.bulk_write(|w| [w.insert_one(Note { id: 1 })]);
    let none = none.propagate().await.unwrap_err();
    assert!(none.to_string().contains("without `propagate`"), "{none}");
    let (hosts, _) = two_hosts(db).await;
    let apart = hosts
        .bulk_write(|w| [w.update_one(|h| h.id.eq(1), |h| h.name.set("eve"))])
        .propagate()
        .non_atomic()
        .await
        .unwrap_err();
    assert!(apart.to_string().contains("non_atomic"), "{apart}");
    assert_eq!(name_in(db, 1).await, "ada");
}

async fn options_of_single_writes_decide_what_they_match(db: &Db) {
    let (hosts, messages) = two_hosts(db).await;
    let any_case = || Collation::new("en").strength(2);
    let result = hosts
        .bulk_write(|w| {
            [
                w.update_one(|h| h.name.eq("ADA"), |h| h.name.set("eve"))
                    .collation(any_case()),
                w.update_many(|h| h.count.gte(1), |h| h.tags.set(Vec::new()))
                    .hint("_id_"),
                // An earlier update makes the later one match.
                w.update_one(|h| h.name.eq("eve"), |h| h.name.set("fay")),
            ]
        })
        .propagate()
        .await
        .unwrap();
    assert_eq!(result.write.matched, 3);
    assert_eq!(name_in(db, 1).await, "fay");
    let result = hosts
        .bulk_write(|w| {
            [w.delete_one(|h| h.name.eq("FAY"))
                .collation(any_case())
                .hint("_id_")]
        })
        .propagate()
        .await
        .unwrap();
    assert_eq!(result.write.deleted, 1);
    let all = messages.find_all().all().await.unwrap();
    assert!(all.iter().all(|message| message.host.is_none()));
    assert!(is_sound(db).await);
}
