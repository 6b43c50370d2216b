//! Writes of documents that lists of the newest hold.

use futures::future::join_all;
use odm::bson::{Bson, doc};
use odm::prelude::*;

use super::models::{
    Alert, Host, Line, LogMessage, Note, Order, Summary, alert, alerted, host, hosts, is_sound,
    listed, log, message, order, ordered, records,
};
use crate::random::{Random, count};
use crate::suite::dependents::stored;
use crate::suite::relations::watched;

pub(super) async fn writes_say_what_becomes_of_lists(db: &Db) {
    let (watched, sent) = watched(db);
    let messages = watched.collection::<LogMessage>();
    let new = || message(1, 1, 5);
    let errors = [
        messages.insert_one(new()).await.unwrap_err(),
        messages.insert_many([new()]).await.unwrap_err(),
        messages
            .update_by_id(&1, |m| m.time.set(3))
            .await
            .unwrap_err(),
        messages
            .update_many(|m| m.id.eq(1), |m| m.host.unset())
            .await
            .unwrap_err(),
        messages
            .update_all(|m| m.message.set("other"))
            .command()
            .unwrap_err(),
        messages
            .find_one_and_update(|m| m.id.eq(1), |m| m.time.set(3))
            .await
            .unwrap_err(),
        messages
            .find_one_or_insert(|m| m.id.eq(1), new())
            .await
            .unwrap_err(),
        messages.replace_by_id(&1, new()).await.unwrap_err(),
        messages
            .bulk_write(|w| [w.insert_one(&new())])
            .await
            .unwrap_err(),
        messages
            .update_all(|_| odm::query::raw(doc! {"$set": {"t": 3}}))
            .await
            .unwrap_err(),
    ];
    for error in errors {
        let text = error.to_string();
        let expected = "LogMessage: `logmsgs` of `Host` lists the newest documents, and the write changes them: write \
                        `.propagate()`";
        assert!(error.is_usage() && text.contains(expected), "{text}");
    }
    let errors = [
        messages.delete_by_id(&1).await.unwrap_err(),
        messages.delete_all().await.unwrap_err(),
        messages
            .find_one_and_delete(|m| m.id.eq(1))
            .await
            .unwrap_err(),
    ];
    for error in errors {
        let text = error.to_string();
        let expected = "`logmsgs` of `Host` may list the deleted documents: write";
        assert!(error.is_usage() && text.contains(expected), "{text}");
    }
    let hosts = watched.collection::<Host>();
    let errors = [
        hosts
            .update_by_id(&1, |h| h.logmsgs.set(Vec::new()))
            .await
            .unwrap_err(),
        hosts
            .update_all(|h| h.logmsgs.pop_last())
            .await
            .unwrap_err(),
        hosts.replace_by_id(&1, host(1)).await.unwrap_err(),
    ];
    for error in errors {
        let text = error.to_string();
        let expected = "Host: `logmsgs` lists the newest documents of `LogMessage`, and the write changes it: leave it out";
        assert!(error.is_usage() && text.contains(expected), "{text}");
    }
    let orders = watched.collection::<Order>();
    let error = orders.update_by_id(&1, |o| o.place.city.set("Rome"));
    assert!(error.await.unwrap_err().is_usage());
    assert!(sent.lock().unwrap().is_empty());

    // Updates of fields that are not copied need no word, nor do documents without a host.
    super::models::hosts(db).await;
    let messages = db.collection::<LogMessage>();
    messages.insert_one(new()).leave_stale().await.unwrap();
    let report = db.collection::<Host>().check_recent().await.unwrap();
    assert_eq!(report.damages, 1);
    messages.update_by_id(&1, |m| m.level.set(3)).await.unwrap();
    db.collection::<Order>()
        .update_by_id(&1, |o| o.place.street.set("Via"))
        .await
        .unwrap();
    let nowhere = LogMessage {
        host: None,
        ..message(2, 1, 1)
    };
    messages.insert_one(nowhere).await.unwrap();
    let update = messages.update_by_id(&1, |m| m.time.set(6));
    update.leave_stale().await.unwrap();
    messages.delete_by_id(&1).leave_dangling().await.unwrap();
    is_sound(db).await;
}

pub(super) async fn an_insert_pushes(db: &Db) {
    hosts(db).await;
    let (db, sent) = watched(db);
    let messages = db.collection::<LogMessage>();
    let insert = messages.insert_one(message(1, 1, 50));
    insert.propagate().await.unwrap();
    let updates: Vec<_> = sent
        .lock()
        .unwrap()
        .iter()
        .filter(|command| command.get_str("update").ok() == Some("hosts"))
        .filter_map(|command| command.get_array("updates").ok().cloned())
        .collect();
    assert_eq!(
        updates,
        [vec![Bson::Document(doc! {
            "q": {"_id": {"$eq": 1}, "l": {"$type": "array"}},
            "u": {
                "$push": {"l": {
                    "$each": [{"t": 50, "message": "message 1"}],
                    "$sort": {"t": 1},
                    "$slice": -3,
                }},
                "$inc": {"version": 1},
            },
        })]]
    );
    for (id, time) in [(2, 20), (3, 70), (4, 60), (5, 10)] {
        let insert = messages.insert_one(message(id, 1, time));
        insert.propagate().await.unwrap();
    }
    // The oldest message is stored, and does not enter the list.
    assert_eq!(listed(&db, 1).await, [1, 4, 3]);
    assert_eq!(
        messages.count_documents(|_| Filter::all()).await.unwrap(),
        5
    );
    sent.lock().unwrap().clear();
    let many = (10..20).map(|id| message(id, 1 + id % 2, id * 10));
    let done = messages.insert_many(many).propagate().await.unwrap();
    assert_eq!(done.inserted_ids.len(), 10);
    let names: Vec<_> = sent
        .lock()
        .unwrap()
        .iter()
        .filter_map(|command| command.keys().next().cloned())
        .filter(|name| name != "commitTransaction")
        .collect();
    assert_eq!(names, ["insert", "update", "update"]);
    assert_eq!(listed(&db, 1).await, [14, 16, 18]);
    assert_eq!(listed(&db, 2).await, [15, 17, 19]);
    let none: [LogMessage; 0] = [];
    let done = messages.insert_many(none).propagate().await.unwrap();
    assert!(done.inserted_ids.is_empty());
    assert_eq!(records(&db).await, 0);

    // A duplicate leaves the list as it is.
    let error = messages.insert_one(message(1, 1, 900)).propagate();
    assert!(error.await.unwrap_err().is_duplicate_key());
    assert_eq!(listed(&db, 1).await, [14, 16, 18]);
    is_sound(&db).await;
}

pub(super) async fn lists_of_several_hosts(db: &Db) {
    hosts(db).await;
    let alerts = db.collection::<Alert>();
    for (id, of, level) in [
        (1, vec![1, 2], 5),
        (2, vec![], 9),
        (3, vec![2], 7),
        (4, vec![2, 1, 2], 1),
    ] {
        let insert = alerts.insert_one(alert(id, &of, level));
        insert.propagate().await.unwrap();
    }
    assert_eq!(
        (alerted(db, 1).await, alerted(db, 2).await),
        (vec![1, 4], vec![3, 1])
    );
    // One leaves a host, and stays with the other.
    let update = alerts.update_by_id(&1, |a| a.hosts.set(vec![Ref::from(1)]));
    let result = update.propagate().await.unwrap();
    assert_eq!(result.propagated[0].documents, 1);
    assert_eq!(
        (alerted(db, 1).await, alerted(db, 2).await),
        (vec![1, 4], vec![3, 4])
    );
    let update = alerts.update_by_id(&2, |a| a.hosts.push(Ref::from(2)));
    update.propagate().await.unwrap();
    assert_eq!(alerted(db, 2).await, [2, 3]);
    alerts.delete_by_id(&3).with_dependents().await.unwrap();
    assert_eq!(alerted(db, 2).await, [2, 4]);
    is_sound(db).await;
}

pub(super) async fn lists_follow_updates(db: &Db) {
    hosts(db).await;
    log(db, &[(1, 10), (2, 20), (3, 30), (4, 40), (5, 50)]).await;
    let messages = db.collection::<LogMessage>();
    let update = messages.update_by_id(&4, |m| m.message.set("other 4"));
    let result = update.propagate().await.unwrap();
    let done = &result.propagated[0];
    assert_eq!(
        (done.model, done.by.as_str(), done.documents),
        ("Host", "logmsgs", 1)
    );
    let host = db.collection::<Host>().get(&1).await.unwrap().unwrap();
    assert_eq!(host.logmsgs[1].message, "other 4");
    // One that is in no list changes.
    let update = messages.update_by_id(&1, |m| m.message.set("other 1"));
    let result = update.propagate().await.unwrap();
    assert!(result.propagated.is_empty(), "{result:?}");
    // One becomes one of the newest, another one is one no more.
    let update = messages.update_by_id(&1, |m| m.time.set(45));
    update.propagate().await.unwrap();
    assert_eq!(listed(db, 1).await, [4, 1, 5]);
    let update = messages.update_by_id(&5, |m| m.time.set(5));
    update.propagate().await.unwrap();
    assert_eq!(listed(db, 1).await, [3, 4, 1]);
    // Two move to the other host, and back to none.
    let update = messages.update_many(|m| m.id.lt(4), |m| m.host.set(Some(Ref::from(2))));
    let result = update.propagate().await.unwrap();
    assert_eq!(result.propagated[0].documents, 2);
    assert_eq!(
        (listed(db, 1).await, listed(db, 2).await),
        (vec![5, 4], vec![2, 3, 1])
    );
    let update = messages.update_many(|m| m.id.gt(1), |m| m.host.unset());
    update.propagate().await.unwrap();
    assert_eq!(
        (listed(db, 1).await, listed(db, 2).await),
        (vec![], vec![1])
    );

    let orders = db.collection::<Order>();
    let new = [order(1, 1, 10), order(2, 1, 20), order(3, 1, 30)];
    orders.insert_many(new).propagate().await.unwrap();
    assert_eq!(ordered(db, 1).await, [2, 3]);
    let update = orders.update_by_id(&2, |o| o.place.city.set("Rome"));
    update.propagate().await.unwrap();
    let host = db.collection::<Host>().get(&1).await.unwrap().unwrap();
    assert_eq!(host.last_orders[0].place.city, "Rome");
    let update = orders.update_by_id(&3, |o| o.host.set(Ref::from(2)));
    update.propagate().await.unwrap();
    assert_eq!(
        (ordered(db, 1).await, ordered(db, 2).await),
        (vec![1, 2], vec![3])
    );
    assert_eq!(records(db).await, 0);
    is_sound(db).await;
}

pub(super) async fn lists_follow_deletes(db: &Db) {
    hosts(db).await;
    log(db, &[(1, 10), (2, 20), (3, 30), (4, 40), (5, 50)]).await;
    let messages = db.collection::<LogMessage>();
    // Older ones come back.
    let result = messages.delete_by_id(&4).with_dependents().await.unwrap();
    assert_eq!((result.deleted, result.propagated[0].documents), (1, 1));
    assert_eq!(listed(db, 1).await, [2, 3, 5]);
    let result = messages.delete_by_id(&1).with_dependents().await.unwrap();
    assert!(result.propagated.is_empty());
    let delete = messages.delete_many(|m| m.id.gt(2));
    delete.with_dependents().await.unwrap();
    assert_eq!(listed(db, 1).await, [2]);
    let orders = db.collection::<Order>();
    let new = [order(1, 1, 10), order(2, 1, 20), order(3, 1, 30)];
    orders.insert_many(new).propagate().await.unwrap();
    orders.delete_by_id(&3).with_dependents().await.unwrap();
    assert_eq!(ordered(db, 1).await, [1, 2]);
    orders.delete_all().with_dependents().await.unwrap();
    messages.delete_all().with_dependents().await.unwrap();
    assert_eq!(
        (ordered(db, 1).await, listed(db, 1).await),
        (vec![], vec![])
    );
    assert_eq!(records(db).await, 0);
    is_sound(db).await;
}

/// In both directions, and in whatever order they are inserted if the list has their `_id`s.
pub(super) async fn the_larger_id_is_newer(db: &Db) {
    hosts(db).await;
    let (alerts, orders) = (db.collection::<Alert>(), db.collection::<Order>());
    for id in [2, 4, 1, 3] {
        let insert = alerts.insert_one(alert(id, &[1], 7));
        insert.propagate().await.unwrap();
        let insert = orders.insert_one(order(id, 1, 7));
        insert.propagate().await.unwrap();
    }
    assert_eq!(
        (alerted(db, 1).await, ordered(db, 1).await),
        (vec![4, 3], vec![3, 4])
    );
    // Without `_id`s, the one inserted last is newer, as its `_id` is.
    log(db, &[(3, 7), (1, 7), (4, 7), (2, 7)]).await;
    log(db, &[(5, 7)]).await;
    assert_eq!(listed(db, 1).await, [3, 4, 5]);
    let notes = db.collection::<Note>();
    for id in 1..4 {
        let insert = notes.insert_one(Note {
            id,
            host: Ref::from(1),
            time: 7,
        });
        insert.propagate().await.unwrap();
    }
    let result = db.collection::<Host>().refresh_recent().await.unwrap();
    assert_eq!(result.updated, 0);
    is_sound(db).await;
}

pub(super) async fn ties_beyond_the_bound(db: &Db) {
    hosts(db).await;
    let many: Vec<_> = (1..=40).map(|id| (id, id / 20)).collect();
    log(db, &many).await;
    assert_eq!(listed(db, 1).await, [38, 39, 40]);
    let messages = db.collection::<LogMessage>();
    let (db, sent) = watched(db);
    messages.delete_by_id(&40).with_dependents().await.unwrap();
    drop(sent);
    assert_eq!(listed(&db, 1).await, [37, 38, 39]);
    // One above the ties.
    let update = messages.update_by_id(&1, |m| m.time.set(9));
    update.propagate().await.unwrap();
    assert_eq!(listed(&db, 1).await, [38, 39, 1]);
    let update = messages.update_all(|m| m.time.set(0));
    update.propagate().await.unwrap();
    assert_eq!(listed(&db, 1).await, [37, 38, 39]);
    is_sound(&db).await;
}

pub(super) async fn a_list_that_is_written_is_read_again(db: &Db) {
    let hosts = hosts(db).await;
    log(db, &[(1, 10), (2, 20)]).await;
    let update = hosts.update_all(|h| h.logmsgs.set(Vec::new()) & h.last_orders.set(Vec::new()));
    update.propagate().await.unwrap();
    assert_eq!(listed(db, 1).await, [1, 2]);
    let line = Line {
        time: 99,
        message: "message 99".to_owned(),
    };
    let update = hosts.update_by_id(&1, |h| h.logmsgs.push(line));
    update.propagate().await.unwrap();
    assert_eq!(listed(db, 1).await, [1, 2]);

    // A host that comes after its messages.
    let insert = db.collection().insert_one(message(9, 3, 5));
    insert.propagate().await.unwrap();
    let mut late = host(3);
    late.alerts.push(Summary { id: 1, level: 1 });
    hosts.insert_one(late).propagate().await.unwrap();
    assert_eq!(
        (listed(db, 3).await, alerted(db, 3).await),
        (vec![9], vec![])
    );
    is_sound(db).await;
}

pub(super) async fn lists_in_the_background_are_resumed(db: &Db) {
    let hosts = hosts(db).await;
    log(db, &[(1, 10), (2, 20), (3, 30), (4, 40)]).await;
    let messages = db.collection::<LogMessage>();
    let update = messages.update_by_id(&4, |m| m.time.set(1));
    update.in_background().await.unwrap();
    assert_eq!(listed(db, 1).await, [2, 3, 4]);
    assert_eq!(records(db).await, 1);
    let done = hosts.resume_propagation().await.unwrap();
    assert_eq!((done.changes, done.documents), (1, 1));
    assert_eq!(listed(db, 1).await, [1, 2, 3]);
    assert_eq!(records(db).await, 0);
}

pub(super) async fn writes_in_a_transaction_of_the_caller_write_lists(db: &Db) {
    hosts(db).await;
    log(db, &[(1, 10), (2, 20), (3, 30)]).await;
    let (messages, orders) = (db.collection::<LogMessage>(), db.collection::<Order>());
    let aborted: odm::Result<()> = transaction!(db, |tx| {
        let insert = messages.insert_one(message(4, 1, 40)).propagate();
        insert.session(tx).await?;
        let delete = messages.delete_by_id(&1).with_dependents();
        delete.session(tx).await?;
        let insert = orders.insert_one(order(1, 1, 5)).propagate();
        insert.session(tx).await?;
        Err(odm::Error::other("no"))
    })
    .await;
    assert!(aborted.is_err());
    assert_eq!(
        (listed(db, 1).await, ordered(db, 1).await),
        (vec![1, 2, 3], vec![])
    );
    transaction!(db, |tx| {
        let insert = messages.insert_one(message(4, 1, 40)).propagate();
        insert.session(tx).await?;
        let insert = messages.insert_one(message(5, 1, 50)).propagate();
        insert.session(tx).await?;
        let delete = messages.delete_by_id(&4).with_dependents();
        delete.session(tx).await?;
        let update = messages.update_by_id(&3, |m| m.host.set(Some(Ref::from(2))));
        update.propagate().session(tx).await?;
        let insert = orders.insert_many([order(1, 1, 5), order(2, 1, 4)]);
        insert.propagate().session(tx).await?;
        let update = orders.update_by_id(&2, |o| o.time.set(6));
        update.propagate().session(tx).await
    })
    .await
    .unwrap();
    assert_eq!(
        (listed(db, 1).await, listed(db, 2).await),
        (vec![1, 2, 5], vec![3])
    );
    assert_eq!(ordered(db, 1).await, [1, 2]);
    assert_eq!(records(db).await, 0);
    is_sound(db).await;
}

pub(super) async fn writes_without_a_transaction_write_lists(db: &Db) {
    hosts(db).await;
    log(db, &[(1, 10), (2, 20), (3, 30)]).await;
    let (messages, orders) = (db.collection::<LogMessage>(), db.collection::<Order>());
    let insert = messages.insert_one(message(4, 1, 40)).propagate();
    insert.non_atomic().await.unwrap();
    assert_eq!(listed(db, 1).await, [2, 3, 4]);
    let insert = orders.insert_many([order(1, 1, 5), order(2, 1, 4)]);
    insert.propagate().non_atomic().await.unwrap();
    assert_eq!(ordered(db, 1).await, [2, 1]);
    let update = orders.update_by_id(&2, |o| o.host.set(Ref::from(2)));
    update.propagate().non_atomic().await.unwrap();
    assert_eq!(
        (ordered(db, 1).await, ordered(db, 2).await),
        (vec![1], vec![2])
    );
    let delete = messages.delete_by_id(&3).with_dependents();
    delete.non_atomic().await.unwrap();
    assert_eq!(listed(db, 1).await, [1, 2, 4]);
    assert_eq!(records(db).await, 0);
    is_sound(db).await;
}

pub(super) async fn an_empty_list_is_left_out(db: &Db) {
    let hosts = hosts(db).await;
    let notes = db.collection::<Note>();
    let new = [(1, 1, 5), (2, 1, 7), (3, 2, 6), (4, 1, 6)];
    let new = new.map(|(id, host, time)| Note {
        id,
        host: Ref::from(host),
        time,
    });
    notes.insert_many(new).propagate().await.unwrap();
    let times = async |id: i32| {
        let host = hosts.get(&id).await.unwrap().unwrap();
        host.notes.iter().map(|note| note.time).collect::<Vec<_>>()
    };
    assert_eq!((times(1).await, times(2).await), (vec![7, 6], vec![6]));
    let update = notes.update_by_id(&3, |n| n.host.set(Ref::from(1)));
    update.propagate().await.unwrap();
    let update = notes.update_by_id(&3, |n| n.time.set(8));
    update.propagate().await.unwrap();
    assert_eq!((times(1).await, times(2).await), (vec![8, 7], vec![]));
    // An empty list is left out.
    assert!(!stored(db, "hosts").await[1].contains_key("notes"));
    let delete = notes.delete_many(|n| n.time.gt(6));
    delete.with_dependents().await.unwrap();
    assert_eq!(times(1).await, [6, 5]);
    is_sound(db).await;
}

pub(super) async fn lists_count_versions(db: &Db) {
    let hosts = hosts(db).await;
    let mut loaded = hosts.load(&1).await.unwrap().unwrap();
    log(db, &[(1, 1)]).await;
    loaded.code = 11;
    let stale = hosts.save(&mut loaded).leave_stale().await.unwrap_err();
    assert!(stale.is_stale(), "{stale}");
    // A list that does not change is not written.
    let before = stored(db, "hosts").await;
    let messages = db.collection::<LogMessage>();
    let update = messages.update_all(|m| m.time.set(1));
    update.propagate().await.unwrap();
    assert_eq!(stored(db, "hosts").await, before);
}

pub(super) async fn a_plan_names_the_lists(db: &Db) {
    hosts(db).await;
    log(db, &[(1, 10), (2, 20)]).await;
    let messages = db.collection::<LogMessage>();
    let update = messages.update_all(|m| m.time.set(1)).propagate();
    let expected = "  logmsg (LogMessage)
    update 2 documents
        match the filter
  hosts (Host)
    update 1 document
        list the newest of `LogMessage` in `logmsgs`
        settled: after the transaction of the write
";
    assert_eq!(update.plan().await.unwrap().to_string(), expected);
    let delete = messages.delete_all().with_dependents();
    let expected = "  hosts (Host)
    update 1 document
        list the newest of `LogMessage` in `logmsgs`, without deleted documents
  logmsg (LogMessage)
    delete 2 documents
        match the filter
";
    assert_eq!(delete.plan().await.unwrap().to_string(), expected);
}

/// It has the key and the order of an index, and its limit is one more than the list has.
pub(super) async fn one_query_reads_a_list(db: &Db) {
    hosts(db).await;
    log(db, &[(1, 10), (2, 20), (3, 30), (4, 40)]).await;
    let (db, sent) = watched(db);
    let messages = db.collection::<LogMessage>();
    messages.delete_by_id(&4).with_dependents().await.unwrap();
    let finds: Vec<_> = sent.lock().unwrap().clone();
    let of =
        |command: &&odm::bson::Document, name: &str| command.get_str("find").ok() == Some(name);
    let finds: Vec<_> = finds
        .iter()
        .filter(|it| of(it, "logmsg") && it.contains_key("sort"))
        .collect();
    // The second look follows the write.
    assert_eq!(finds.len(), 2, "{finds:?}");
    for find in finds {
        assert_eq!(
            find.get_document("filter").unwrap(),
            &doc! {"host": {"$eq": 1}}
        );
        assert_eq!(find.get_document("sort").unwrap(), &doc! {"t": -1});
        assert_eq!(find.get_i64("limit").unwrap(), 4);
    }
}

/// Eight clients write at random.
pub(super) async fn nothing_is_stale_after_writes_beside_each_other(db: &Db) {
    for round in 0..count("ODM_NEWEST_CLIENTS", 2) {
        for name in ["hosts", "logmsg", "orders"] {
            let delete = doc! {"delete": name, "deletes": [{"q": {}, "limit": 0}]};
            db.run_command(delete).await.unwrap();
        }
        hosts(db).await;
        let clients = (0..8_i32).map(|client| {
            let db = db.clone();
            tokio::spawn(async move { write_at_random(&db, client, round).await })
        });
        for client in join_all(clients).await {
            client.unwrap();
        }
        is_sound(db).await;
        assert_eq!(records(db).await, 0);
    }
}

async fn write_at_random(db: &Db, client: i32, round: usize) {
    let mut random = Random::of(u64::try_from(client).unwrap() * 1_000 + round as u64);
    let (messages, orders) = (db.collection::<LogMessage>(), db.collection::<Order>());
    for step in 0..12 {
        let id = client * 100 + step;
        let (of, time) = (1 + number(&mut random, 2), number(&mut random, 20));
        let other = number(&mut random, 8) * 100 + number(&mut random, 12);
        match random.below(8) {
            0 | 1 => {
                let insert = messages.insert_one(message(id, of, time));
                insert.propagate().await.unwrap();
            }
            2 => {
                let insert = messages.insert_one(message(id, of, time)).propagate();
                insert.non_atomic().await.unwrap();
            }
            3 => {
                let update = messages.update_by_id(&other, |m| {
                    m.time.set(time) & m.host.set(Some(Ref::from(of)))
                });
                update.propagate().await.unwrap();
            }
            4 => {
                let delete = messages.delete_by_id(&other);
                delete.with_dependents().await.unwrap();
            }
            5 => {
                let insert = orders.insert_one(order(id, of, time));
                insert.propagate().await.unwrap();
            }
            6 => {
                let update = orders.update_by_id(&other, |o| o.time.set(time));
                update.propagate().await.unwrap();
            }
            _ => {
                let delete = orders.delete_by_id(&other);
                delete.with_dependents().await.unwrap();
            }
        }
    }
}

fn number(random: &mut Random, below: usize) -> i32 {
    i32::try_from(random.below(below)).unwrap()
}
