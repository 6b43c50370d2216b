//! `check_two_way` and `refresh_two_way`.

use std::collections::BTreeSet;

use odm::bson::{Bson, Document as BsonDocument, doc};
use odm::prelude::*;

use super::models::{Owner, Person, Task, Ticket};
use super::office;
use crate::suite::dependents::{insert, stored};

/// Lists and owners that contradict each other, of other programs.
async fn contradictions(db: &Db) -> (Collection<Owner>, Collection<Task>) {
    let owners = [
        doc! {"_id": "a", "name": "A", "t": [3, 1, 77, 1], "version": 0_i64},
        doc! {"_id": "b", "name": "B", "version": 0_i64},
        doc! {"_id": "c", "name": "C", "t": [2.0, "odd"], "version": 0_i64},
    ];
    insert(db, "owners", owners).await;
    let tasks = [
        doc! {"_id": 1, "o": "a", "version": 0_i64},
        doc! {"_id": 2, "o": "b", "version": 0_i64},
        doc! {"_id": 3, "version": 0_i64},
        doc! {"_id": 4, "o": "b", "version": 0_i64},
        doc! {"_id": 5, "o": "gone", "version": 0_i64},
    ];
    insert(db, "tasks", tasks).await;
    (db.collection(), db.collection())
}

pub(super) async fn one_sided_references_are_found(db: &Db) {
    let (owners, tasks) = contradictions(db).await;
    let report = owners.check_two_way().await.unwrap();
    let listed = report.listed.iter().map(ToString::to_string);
    let listed: Vec<_> = listed.collect::<BTreeSet<_>>().into_iter().collect();
    assert_eq!(
        listed,
        [
            r#""a": one-sided reference: `tasks` refers to the `Task` with the _id 3, and its `owner` does not refer back"#,
            r#""c": one-sided reference: `tasks` refers to the `Task` with the _id 2, and its `owner` does not refer back"#,
        ]
    );
    let report = tasks.check_two_way().await.unwrap();
    assert_eq!((report.read, report.damages), (5, 2));
    let ids = report.listed.iter().map(|it| it.id.as_i32().unwrap());
    let ids: BTreeSet<i32> = ids.collect();
    assert_eq!(ids, BTreeSet::from([2, 4]));
}

pub(super) async fn a_side_follows_the_other(db: &Db) {
    let (owners, tasks) = contradictions(db).await;
    let result = owners.refresh_two_way(|o| o.tasks).await.unwrap();
    assert_eq!((result.read, result.updated), (3, 3));
    let lists = async || {
        let all = stored(db, "owners").await;
        let list = |owner: &BsonDocument| owner.get_array("t").unwrap().clone();
        all.iter().map(list).collect::<Vec<_>>()
    };
    let expected: [Vec<Bson>; 3] = [vec![1.into()], vec![2.into(), 4.into()], vec![]];
    assert_eq!(lists().await, expected);
    assert_eq!(
        owners.refresh_two_way(|o| o.tasks).await.unwrap().updated,
        0
    );
    assert!(owners.check_two_way().await.unwrap().is_sound());
    assert!(tasks.check_two_way().await.unwrap().is_sound());
    assert_eq!(owners.get("a").await.unwrap().unwrap().version, 1);

    // The other way round: the owners follow the lists.
    let update = owners.update_by_id("c", |o| o.tasks.set(vec![Ref::from(4), Ref::from(3)]));
    update.leave_stale().await.unwrap();
    let update = owners.update_by_id("b", |o| o.tasks.set(Vec::new()));
    update.leave_stale().await.unwrap();
    tasks.refresh_two_way(|t| t.owner).await.unwrap();
    let all = stored(db, "tasks").await;
    let all: Vec<_> = all
        .iter()
        .map(|task| task.get_str("o").unwrap_or("-"))
        .collect();
    assert_eq!(all, ["a", "-", "c", "c", "-"]);
    assert!(owners.check_two_way().await.unwrap().is_sound());
}

pub(super) async fn a_side_that_cannot_follow_is_refused(db: &Db) {
    let (owners, tasks) = (db.collection::<Owner>(), db.collection::<Task>());
    insert(
        db,
        "owners",
        [doc! {"_id": "a", "t": [1]}, doc! {"_id": "b", "t": [1]}],
    )
    .await;
    insert(db, "tasks", (1..7).map(|id| doc! {"_id": id, "o": "a"})).await;
    let error = owners.refresh_two_way(|o| o.tasks).await.unwrap_err();
    assert!(error.to_string().contains("`t` is full"), "{error}");
    let error = tasks.refresh_two_way(|t| t.owner).await.unwrap_err();
    let expected = "2 documents refer by `tasks` to the `Task` with the _id 1, and its `owner` can refer to one of them only";
    assert!(error.to_string().contains(expected), "{error}");
    let error = tasks.refresh_two_way(|t| t.version).await.unwrap_err();
    assert!(
        error
            .to_string()
            .contains("only a reference that declares `two_way`"),
        "{error}"
    );

    let tickets = db.collection::<Ticket>();
    insert(db, "tickets", [doc! {"_id": 1, "seat": 1}]).await;
    let error = tickets.refresh_two_way(|t| t.seat).await.unwrap_err();
    assert!(error.is_restricted(), "{error}");
}

pub(super) async fn writes_beside_a_check_are_not_reported(db: &Db) {
    let (owners, tasks) = office(db).await;
    let writes = async {
        for round in 0..12 {
            let to = ["jim", "kate"][round % 2];
            let update = tasks.update_all(|t| t.owner.set(Some(Ref::from(to))));
            update.propagate().await.unwrap();
        }
    };
    let checks = async {
        for _ in 0..12 {
            let reports = [owners.check_two_way().await, tasks.check_two_way().await];
            for report in reports {
                let report = report.unwrap();
                assert!(report.is_sound(), "{report}");
            }
        }
    };
    futures::join!(writes, checks);
}

/// Of friends, neither list is the one that follows.
pub(super) async fn a_field_that_is_both_sides_keeps_its_references(db: &Db) {
    let people = db.collection::<Person>();
    let friends = [
        doc! {"_id": 1, "partner": null, "friends": [2, 9]},
        doc! {"_id": 2, "partner": null, "friends": []},
        doc! {"_id": 3, "partner": 4, "friends": [2]},
        doc! {"_id": 4, "partner": null, "friends": [3, 3]},
    ];
    insert(db, "people", friends).await;
    let result = people.refresh_two_way(|p| p.friends).await.unwrap();
    assert_eq!(result.updated, 4);
    people.refresh_two_way(|p| p.partner).await.unwrap();
    assert!(people.check_two_way().await.unwrap().is_sound());
    let stored = stored(db, "people").await;
    let friends: Vec<_> = stored
        .iter()
        .map(|one| one.get_array("friends").unwrap().clone())
        .collect();
    let ids = |all: &[i32]| all.iter().copied().map(Bson::from).collect::<Vec<_>>();
    assert_eq!(friends, [ids(&[2]), ids(&[1, 3]), ids(&[2, 4]), ids(&[3])]);
    assert_eq!(stored[3].get_i32("partner").unwrap(), 3);
    let again = people.refresh_two_way(|p| p.friends).await.unwrap();
    assert_eq!(again.updated, 0);

    // Two people who have one partner have to be parted first.
    let change = doc! {"q": {"_id": 1}, "u": {"$set": {"partner": 4}}};
    let update = doc! {"update": "people", "updates": [change]};
    db.run_command(update).await.unwrap();
    let error = people.refresh_two_way(|p| p.partner).await.unwrap_err();
    assert!(error.to_string().contains("one of them only"), "{error}");
}
