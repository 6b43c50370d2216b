//! Lists and documents of other programs.

use odm::bson::{Bson, DateTime, Document as BsonDocument, doc};
use odm::prelude::*;

use super::models::{Host, LogMessage, host, hosts, is_sound, listed, log, message};
use crate::suite::dependents::{insert, stored};

/// Sets fields of the host 1.
async fn set(db: &Db, change: BsonDocument) {
    let update = doc! {"q": {"_id": 1}, "u": change};
    let update = doc! {"update": "hosts", "updates": [update], "bypassDocumentValidation": true};
    db.run_command(update).await.unwrap();
}

pub(super) async fn lists_of_other_programs_are_refreshed(db: &Db) {
    let hosts = hosts(db).await;
    log(db, &[(1, 10), (2, 20), (3, 30), (4, 40)]).await;
    let right = stored(db, "hosts").await[0].clone();
    let right = right.get_array("l").unwrap().clone();
    let reversed: Vec<Bson> = right.iter().rev().cloned().collect();
    let nested = Bson::Array(vec![Bson::Array(right.clone())]);
    let mut other = right.clone();
    other[0] = doc! {"t": 20, "message": "other"}.into();
    let mut more = right.clone();
    more.insert(0, doc! {"t": 10, "message": "message 1"}.into());
    let odd = [
        (doc! {"$unset": {"l": ""}}, "`logmsgs` is missing"),
        (
            doc! {"$set": {"l": null}},
            "`logmsgs` is no list of documents",
        ),
        (doc! {"$set": {"l": 5}}, "`logmsgs` is no list of documents"),
        (
            doc! {"$set": {"l": {"x": 1}}},
            "`logmsgs` is no list of documents",
        ),
        (
            doc! {"$set": {"l": [1, "a"]}},
            "`logmsgs` is no list of documents",
        ),
        (
            doc! {"$set": {"l": nested}},
            "`logmsgs` is no list of documents",
        ),
        (
            doc! {"$set": {"l": []}},
            "`logmsgs` lacks 3 of the newest 3 documents of `LogMessage`",
        ),
        (
            doc! {"$set": {"l": other}},
            "`logmsgs` lacks 1 of the newest 3 documents of `LogMessage`",
        ),
        (
            doc! {"$set": {"l": reversed}},
            "`logmsgs` is not in the order of `time`",
        ),
        (doc! {"$set": {"l": more}}, "`logmsgs` has 1 more element"),
    ];
    for (change, expected) in odd {
        set(db, change.clone()).await;
        let report = hosts.check_recent().await.unwrap();
        assert_eq!((report.read, report.damages), (2, 1), "{change}: {report}");
        let text = report.listed[0].to_string();
        assert!(text.contains(expected), "{change}: {text}");
        let result = hosts.refresh_recent().await.unwrap();
        assert_eq!((result.read, result.updated), (2, 1), "{change}");
        assert_eq!(stored(db, "hosts").await[0].get_array("l").unwrap(), &right);
        is_sound(db).await;
        assert_eq!(hosts.refresh_recent().await.unwrap().updated, 0);
    }
}

pub(super) async fn documents_of_other_programs_are_listed(db: &Db) {
    // Without the validators.
    let hosts = db.collection::<Host>();
    hosts.insert_one(host(1)).await.unwrap();
    let at = |id: i32, t: Bson| doc! {"_id": id, "host": 1, "t": t, "message": "m"};
    insert(
        db,
        "logmsg",
        [
            doc! {"_id": 1, "host": 1, "message": "no time"},
            at(2, Bson::Null),
            at(3, 5_i64.into()),
            at(4, 5.5.into()),
            at(5, "zzz".into()),
            at(6, DateTime::from_millis(-1).into()),
            doc! {"_id": 7, "host": null, "t": 9},
            doc! {"_id": 8, "t": 9},
            doc! {"_id": 9, "host": 1.0, "t": 6, "message": ["odd"]},
        ],
    )
    .await;
    hosts.refresh_recent().await.unwrap();
    // As MongoDB orders values: numbers, strings, dates.
    let expected = [
        doc! {"t": 6, "message": ["odd"]},
        doc! {"t": "zzz", "message": "m"},
        doc! {"t": DateTime::from_millis(-1), "message": "m"},
    ];
    let stored_list = |host: &BsonDocument| host.get_array("l").unwrap().clone();
    let host = stored(db, "hosts").await[0].clone();
    assert_eq!(stored_list(&host), expected.map(Bson::from));
    is_sound(db).await;
    let delete = doc! {"q": {"_id": {"$gte": 4}}, "limit": 0};
    db.run_command(doc! {"delete": "logmsg", "deletes": [delete]})
        .await
        .unwrap();
    hosts.refresh_recent().await.unwrap();
    let expected = [
        doc! {"message": "no time"},
        doc! {"t": null, "message": "m"},
        doc! {"t": 5_i64, "message": "m"},
    ];
    let host = stored(db, "hosts").await[0].clone();
    assert_eq!(stored_list(&host), expected.map(Bson::from));
    is_sound(db).await;
    // An equal number of another type is the same element.
    set(db, doc! {"$set": {"l.2.t": 5.0}}).await;
    is_sound(db).await;
    assert_eq!(hosts.refresh_recent().await.unwrap().updated, 0);
}

pub(super) async fn pushes_onto_other_values_read_the_list(db: &Db) {
    hosts(db).await;
    let messages = db.collection::<LogMessage>();
    let odd = [
        doc! {"$unset": {"l": ""}},
        doc! {"$set": {"l": null}},
        doc! {"$set": {"l": "odd"}},
    ];
    for (id, change) in (1..).zip(odd) {
        set(db, change).await;
        let insert = messages.insert_many([message(id, 1, id), message(10 + id, 9, id)]);
        insert.propagate().await.unwrap();
        assert_eq!(listed(db, 1).await, (1..=id).collect::<Vec<_>>());
    }
    is_sound(db).await;
}

/// A list with other documents of equal times, or in another order, is right. A refresh writes the ones with the largest
/// `_id`s.
pub(super) async fn ties_are_no_damage(db: &Db) {
    let hosts = hosts(db).await;
    log(db, &[(1, 5), (2, 5), (3, 5), (4, 5), (5, 9)]).await;
    let line = |id: i32, t: i32| doc! {"t": t, "message": format!("message {id}")};
    for (first, second) in [(1, 2), (2, 1), (4, 1), (4, 3)] {
        set(
            db,
            doc! {"$set": {"l": [line(first, 5), line(second, 5), line(5, 9)]}},
        )
        .await;
        is_sound(db).await;
        assert_eq!(hosts.refresh_recent().await.unwrap().updated, 1);
        assert_eq!(listed(db, 1).await, [3, 4, 5]);
    }
    for wrong in [
        [line(1, 5), line(1, 5), line(5, 9)],
        [line(9, 5), line(1, 5), line(5, 9)],
        [line(2, 5), line(3, 5), line(4, 5)],
    ] {
        set(db, doc! {"$set": {"l": wrong.to_vec()}}).await;
        let report = db.collection::<Host>().check_recent().await.unwrap();
        assert_eq!(report.damages, 1, "{wrong:?}");
    }
}
