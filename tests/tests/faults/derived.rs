//! Data that follows from other documents, after commands that fail.

use odm::bson::doc;
use odm::prelude::*;

use super::Server;

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(
    collection = "publishers",
    has_many(books: Book, by = publisher),
    has_squillions(sales: Sale, by = publisher)
)]
struct Publisher {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "books")]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index)]
    publisher: Ref<Publisher>,
    #[odm(copy_of(publisher.name))]
    name: String,
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "sales")]
struct Sale {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index)]
    publisher: Ref<Publisher>,
    #[odm(copy_of(publisher.name))]
    name: String,
}

/// A change of a copied field, and inserts with copies, on a server where each command breaks after some successes. Whatever was
/// written, the copies are in step once the propagation is resumed.
pub(crate) async fn propagations_are_resumed_after_faults(server: &Server) {
    let publishers = server.db.collection::<Publisher>();
    let (books, sales) = (
        server.db.collection::<Book>(),
        server.db.collection::<Sale>(),
    );
    let models = models![Publisher, Book, Sale];
    let plan = server.db.sync(models).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    let name = || "old".to_owned();
    let book = |id, publisher: i32| Book {
        id,
        publisher: Ref::from(publisher),
        name: name(),
    };
    let sale = |id, publisher: i32| Sale {
        id,
        publisher: Ref::from(publisher),
        name: name(),
    };
    let (mut broken, mut id) = (0, 2);
    let commands = ["find", "update", "insert", "delete", "commitTransaction"];
    for command in commands {
        // The first transaction would stay open, with its locks, until the server ends it after a minute.
        let first = i32::from(command == "commitTransaction");
        for successes in first..6 {
            for is_atomic in [true, false] {
                // A commit that fails leaves locks, which are not met again.
                let publisher = Publisher { id, name: name() };
                publishers.insert_one(publisher).await.unwrap();
                let old = id + 1_000;
                books.insert_one(book(old, id)).await.unwrap();
                sales.insert_one(sale(old, id)).await.unwrap();
                // No error after which a transaction is tried again, for up to two minutes.
                let how = doc! {"errorCode": 50};
                server.fail_after(successes, command, how).await;
                let new = format!("new {id}");
                let change = publishers
                    .update_by_id(&id, |p| p.name.set(new))
                    .propagate();
                let changed = if is_atomic {
                    change.await
                } else {
                    change.non_atomic().await
                };
                broken += u32::from(changed.is_err());
                let insert = books.insert_one(book(id, id)).propagate();
                let inserted = if is_atomic {
                    insert.await
                } else {
                    insert.non_atomic().await
                };
                broken += u32::from(inserted.is_err());
                broken += u32::from(sales.insert_one(sale(id, id)).propagate().await.is_err());
                id += 1;
                server.heal().await;
                publishers.resume_propagation().await.unwrap();
                let what = format!("{command} after {successes}, in a transaction: {is_atomic}");
                for report in [
                    books.check_copies().await.unwrap(),
                    sales.check_copies().await.unwrap(),
                ] {
                    assert!(report.is_sound(), "{what}: {report}");
                }
            }
        }
    }
    assert!(broken > 30, "{broken}");
}

/// Has a summary and a list of each guarantee, and a list of references.
#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(
    collection = "people",
    has_many(tasks: Task, by = owner),
    has_squillions(visits: Visit, by = person, on_delete = cascade)
)]
struct Person {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(count_of(tasks))]
    tasks_count: i64,
    #[odm(sum_of(visits.length))]
    visited: i64,
    #[odm(references(many, max = 5_000), two_way = owner)]
    todo: Vec<Ref<Task>>,
    #[odm(recent(Visit, max = 2, sort = length))]
    longest: Vec<Stay>,
}

fn person(id: i32) -> Person {
    Person {
        id,
        tasks_count: 0,
        visited: 0,
        todo: Vec::new(),
        longest: Vec::new(),
    }
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "tasks")]
struct Task {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index, two_way = todo)]
    owner: Option<Ref<Person>>,
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "visits")]
struct Visit {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index, recent_in = longest)]
    person: Ref<Person>,
    length: i64,
}

#[derive(Debug, Serialize, Deserialize, Embedded, Projection)]
#[odm(of = Visit)]
struct Stay {
    #[serde(rename = "_id")]
    id: i32,
    length: i64,
}

/// Inserts, moves, bulk writes and deletes with summaries, lists and two-way references, where each command breaks after some
/// successes. Whatever was written, everything is in step once the propagation is resumed.
pub(crate) async fn other_kinds_are_resumed_after_faults(server: &Server) {
    let db = &server.db;
    let (people, tasks) = (db.collection::<Person>(), db.collection::<Task>());
    let visits = db.collection::<Visit>();
    let models = models![Person, Task, Visit];
    let plan = db.sync(models).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    let task = |id, owner: i32| Task {
        id,
        owner: Some(Ref::from(owner)),
    };
    let visit = |id, person: i32| Visit {
        id,
        person: Ref::from(person),
        length: i64::from(id),
    };
    let (mut broken, mut id) = (0, 10);
    let commands = [
        "find",
        "aggregate",
        "update",
        "insert",
        "delete",
        "commitTransaction",
    ];
    for command in commands {
        // The first transaction would stay open, with its locks, until the server ends it after a minute.
        let first = i32::from(command == "commitTransaction");
        for successes in first..7 {
            let what = format!("{command} after {successes}");
            // A commit that fails leaves locks, which are not met again.
            let (one, two, guest, old) = (id + 6, id + 7, id + 5, id + 9);
            let all = [person(one), person(two)];
            people.insert_many(all).leave_stale().await.unwrap();
            tasks.insert_one(task(old, one)).propagate().await.unwrap();
            let visited = visits.insert_one(visit(old, one)).propagate();
            visited.await.unwrap();
            let how = doc! {"errorCode": 50};
            server.fail_after(successes, command, how).await;
            let outcomes = [
                tasks.insert_one(task(id, one)).propagate().await.is_ok(),
                visits.insert_one(visit(id, one)).propagate().await.is_ok(),
                people.insert_one(person(guest)).leave_stale().await.is_ok(),
                visits
                    .insert_one(visit(id + 1, guest))
                    .propagate()
                    .check_references()
                    .await
                    .is_ok(),
                tasks
                    .update_many(|t| t.id.gte(id), |t| t.owner.set(Some(Ref::from(two))))
                    .propagate()
                    .await
                    .is_ok(),
                visits
                    .bulk_write(|w| {
                        [
                            w.insert_one(&visit(id + 2, two)),
                            w.update_one(|v| v.id.eq(id), |v| v.person.set(Ref::from(two))),
                            w.delete_one(|v| v.id.eq(old)),
                        ]
                    })
                    .propagate()
                    .await
                    .is_ok(),
                visits
                    .insert_one(visit(id + 3, one))
                    .propagate()
                    .non_atomic()
                    .await
                    .is_ok(),
                people.delete_by_id(&guest).with_dependents().await.is_ok(),
            ];
            broken += outcomes.iter().filter(|is_ok| !**is_ok).count();
            id += 10;
            server.heal().await;
            people.resume_propagation().await.unwrap();
            for report in [
                people.check_summaries().await.unwrap().to_string(),
                people.check_recent().await.unwrap().to_string(),
                people.check_two_way().await.unwrap().to_string(),
                tasks.check_two_way().await.unwrap().to_string(),
                visits.check_references().await.unwrap().to_string(),
            ] {
                assert!(report.contains(", 0 damages"), "{what}: {report}");
            }
        }
    }
    assert!(broken > 30, "{broken}");
}

/// Eight tasks write documents that follow each other, while commands fail at random: without a transaction's label, with it, and
/// by a broken connection. Once the propagation is resumed, strict data is in step; of settled copies, an insert that failed before
/// its second look may have left one for a refresh.
///
/// `ODM_FAULT_WRITERS` sets the number of writes of each of eight writers.
pub(crate) async fn writers_are_in_step_after_faults(server: &Server) {
    let db = &server.db;
    let publishers = db.collection::<Publisher>();
    let (books, sales) = (db.collection::<Book>(), db.collection::<Sale>());
    let (people, tasks) = (db.collection::<Person>(), db.collection::<Task>());
    let visits = db.collection::<Visit>();
    let writes = std::env::var("ODM_FAULT_WRITERS").ok();
    let writes: i32 = writes.map_or(24, |writes| writes.parse().unwrap());
    let faults = [
        doc! {"errorCode": 50},
        doc! {"errorCode": 112, "errorLabels": ["TransientTransactionError"]},
        doc! {"closeConnection": true},
    ];
    let commands = ["find", "aggregate", "update", "insert", "delete"];
    let name = String::new();
    let publisher = Publisher { id: 1, name };
    publishers.insert_one(publisher).await.unwrap();
    let all = [person(1), person(2)];
    people.insert_many(all).leave_stale().await.unwrap();
    let (mut failed, mut id) = (0, 1_000_000);
    for how in faults {
        server.fail_at_random(0.02, &commands, how.clone()).await;
        let tasks_of_writers = (0..8).map(|writer| {
            let publishers = &publishers;
            let (books, sales, tasks, visits) = (&books, &sales, &tasks, &visits);
            let first = id + writer * writes;
            async move {
                let mut failed = 0;
                for id in first..first + writes {
                    // Few parents, so that writers meet.
                    let parent = 1 + id % 2;
                    let result = match (id / 2) % 9 {
                        0 => {
                            let name = format!("name {id}");
                            let change = publishers.update_by_id(&1, |p| p.name.set(name));
                            change.propagate().await.map(drop)
                        }
                        1 => {
                            let name = format!("name {id}");
                            let change = publishers.update_by_id(&1, |p| p.name.set(name));
                            change.in_background().await.map(drop)
                        }
                        2 => {
                            let (publisher, name) = (Ref::from(1), String::new());
                            let book = Book {
                                id,
                                publisher,
                                name,
                            };
                            books.insert_one(book).propagate().await.map(drop)
                        }
                        3 => {
                            let (publisher, name) = (Ref::from(1), String::new());
                            let sale = Sale {
                                id,
                                publisher,
                                name,
                            };
                            sales.insert_one(sale).propagate().await.map(drop)
                        }
                        4 => {
                            let owner = Some(Ref::from(parent));
                            let task = Task { id, owner };
                            tasks.insert_one(task).propagate().await.map(drop)
                        }
                        5 => {
                            let near = |t: TaskFields<Task>| t.id.gt(id - 20) & t.id.lt(id);
                            let owner = Some(Ref::from(parent));
                            let moved = tasks.update_one(near, |t| t.owner.set(owner));
                            moved.propagate().await.map(drop)
                        }
                        6 | 7 => {
                            let (person, length) = (Ref::from(parent), i64::from(id % 100));
                            let visit = Visit { id, person, length };
                            let insert = visits.insert_one(visit).propagate();
                            insert.check_references().await.map(drop)
                        }
                        _ => {
                            let near = visits.delete_one(|v| v.id.gt(id - 20));
                            near.with_dependents().await.map(drop)
                        }
                    };
                    failed += u32::from(result.is_err());
                }
                failed
            }
        });
        failed += futures::future::join_all(tasks_of_writers)
            .await
            .into_iter()
            .sum::<u32>();
        id += 8 * writes;
        server.heal().await;
        publishers.resume_propagation().await.unwrap();
        people.resume_propagation().await.unwrap();
        sales.refresh_copies().await.unwrap();
        let what = format!("{how}");
        for report in [
            books.check_copies().await.unwrap().to_string(),
            sales.check_copies().await.unwrap().to_string(),
            people.check_summaries().await.unwrap().to_string(),
            people.check_recent().await.unwrap().to_string(),
            people.check_two_way().await.unwrap().to_string(),
            tasks.check_two_way().await.unwrap().to_string(),
            visits.check_references().await.unwrap().to_string(),
        ] {
            assert!(report.contains(", 0 damages"), "{what}: {report}");
        }
    }
    assert!(failed > 0, "no command failed");
    let written = books.find(|b| b.id.gte(1_000_000)).count().await.unwrap();
    assert!(written > 0);
}
