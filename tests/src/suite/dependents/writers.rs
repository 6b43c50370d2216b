//! Deletes beside inserts of several tasks.

use odm::prelude::*;

use super::models::{Employee, Person, Work, WorkJoined as _};
use crate::random::{Random, count};

/// Tasks delete people with their works and insert them again, while others insert works of theirs.
pub(super) async fn nothing_dangles_after_deletes_beside_checked_inserts(db: &Db) {
    let rounds = count("ODM_DEPENDENTS_WRITERS", 15);
    let people = || db.collection::<Person>();
    people().insert_many((0..4).map(person)).await.unwrap();
    let deleters = (0..2_u64).map(|task| {
        let people = people();
        async move {
            let mut random = Random::of(task);
            for _ in 0..rounds {
                let id = i32::try_from(random.below(4)).unwrap();
                people.delete_by_id(&id).with_dependents().await.unwrap();
                tokio::task::yield_now().await;
                let again = people.replace_by_id(&id, person(id)).upsert(true).await;
                assert!(again.is_ok() || again.is_err_and(|error| error.is_duplicate_key()));
            }
            (0, 0)
        }
    });
    let inserters = (2..6_u64).map(|task| {
        let works = db.collection::<Work>();
        async move {
            let mut random = Random::of(task);
            let (mut inserted, mut refused) = (0, 0);
            for round in 0..rounds {
                let author = i32::try_from(random.below(4)).unwrap();
                let editor = random
                    .one_in(2)
                    .then(|| i32::try_from(random.below(4)).unwrap());
                let work = Work {
                    id: i32::try_from(task * 10_000).unwrap() + i32::try_from(round).unwrap(),
                    author: Some(Ref::from(author)),
                    by_code: None,
                    editor: editor.map(Ref::from),
                    reader: None,
                };
                match works.insert_one(work).check_references().await {
                    Ok(_) => inserted += 1,
                    Err(error) if error.is_dangling() => refused += 1,
                    Err(error) => panic!("{error:?}"),
                }
            }
            (inserted, refused)
        }
    });
    let deleters = futures::future::join_all(deleters);
    let inserters = futures::future::join_all(inserters);
    let (_, counts) = futures::join!(deleters, inserters);
    assert!(
        counts.iter().any(|(inserted, _)| *inserted > 0),
        "{counts:?}"
    );
    let works = db.collection::<Work>();
    let rows = works
        .find_all()
        .join(|w| w.author)
        .join(|w| w.editor)
        .all()
        .await
        .unwrap();
    for row in rows {
        assert!(
            row.author().as_ref().is_none_or(|it| it.found().is_some()),
            "{row:?}"
        );
        assert!(
            row.editor().as_ref().is_none_or(|it| it.found().is_some()),
            "{row:?}"
        );
    }
}

fn person(id: i32) -> Person {
    Person { id, code: None }
}

/// References to documents that do not exist are refused, in each place where one may stand.
pub(super) async fn checked_inserts_refuse_dangling_references(db: &Db) {
    use super::models::{Line, Note, Order, Payment};
    use super::stored;
    db.collection::<Person>()
        .insert_one(person(1))
        .await
        .unwrap();
    let orders = db.collection::<Order>();
    let order = |id| Order {
        id,
        buyer: None,
        lines: Vec::new(),
        watchers: Vec::new(),
        payment: None,
        version: 0,
        updated: None,
    };
    let line = |person: Option<i32>, note: Option<i32>| Line {
        person: person.map(Ref::from),
        checked: None,
        notes: vec![Note {
            by: None,
            readers: note.into_iter().map(Ref::from).collect(),
        }],
    };
    for (wrong, path) in [
        (
            Order {
                buyer: Some(Ref::from(2)),
                ..order(1)
            },
            "buyer",
        ),
        (
            Order {
                lines: vec![line(Some(1), None), line(Some(3), None)],
                ..order(1)
            },
            "lines.person",
        ),
        (
            Order {
                lines: vec![line(Some(1), Some(2))],
                ..order(1)
            },
            "lines.notes.readers",
        ),
        (
            Order {
                watchers: vec![Ref::from(1), Ref::from(2)],
                ..order(1)
            },
            "watchers",
        ),
        (
            Order {
                payment: Some(Payment::Card {
                    holder: Some(Ref::from(2)),
                }),
                ..order(1)
            },
            "payment.Card.holder",
        ),
    ] {
        for is_atomic in [true, false] {
            let insert = orders
                .insert_many([order(2), wrong.clone()])
                .check_references();
            let insert = if is_atomic {
                insert
            } else {
                insert.non_atomic()
            };
            let error = insert.await.unwrap_err();
            assert!(error.is_dangling(), "{error}");
            assert_eq!(error.path(), Some(path));
            assert!(stored(db, "orders").await.is_empty());
        }
    }
    let right = Order {
        buyer: Some(Ref::from(1)),
        lines: vec![line(Some(1), Some(1))],
        watchers: vec![Ref::from(1)],
        payment: Some(Payment::Card { holder: None }),
        ..order(1)
    };
    let inserted = orders.insert_one(right).check_references().await.unwrap();
    assert_eq!(inserted.inserted_id, 1);
}

/// Documents of one insert may refer to each other.
pub(super) async fn checked_inserts_may_refer_to_each_other(db: &Db) {
    let employees = db.collection::<Employee>();
    for (ids, is_atomic) in [([1, 2], true), ([3, 4], false)] {
        let [first, second] = ids.map(|id| Employee { id, manager: None });
        let second = Employee {
            manager: Some(Ref::from(first.id)),
            ..second
        };
        let first = Employee {
            manager: Some(Ref::from(second.id)),
            ..first
        };
        let insert = employees.insert_many([first, second]).check_references();
        let insert = if is_atomic {
            insert
        } else {
            insert.non_atomic()
        };
        assert_eq!(insert.await.unwrap().inserted_ids, ids);
    }
    // A failed insert of one document takes the others back.
    let (five, one) = (
        Employee {
            id: 5,
            manager: None,
        },
        Employee {
            id: 1,
            manager: None,
        },
    );
    let insert = employees.insert_many([five, one]).check_references();
    assert!(insert.await.unwrap_err().is_duplicate_key());
    assert!(employees.get(&5).await.unwrap().is_none());
}
