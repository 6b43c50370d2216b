//! Relations that go both ways, within a collection, and several levels deep.

use odm::prelude::*;
use odm::relation::Resolved;

use super::relations::watched;
use crate::case::cases;

cases![
    two_way_references,
    references_within_a_collection,
    joins_of_several_levels,
    counts_stop_at_the_limit,
    null_elements_keep_their_place,
    errors_of_inner_joins_name_their_model,
    documents_in_memory_are_joined,
    every_command_of_a_join_is_explained,
    a_list_without_a_bound_is_stored_and_joined,
];

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "people", has_many(owned: Task, by = owner), has_many(reports: Person, by = manager))]
struct Person {
    #[serde(rename = "_id")]
    id: String,
    #[odm(references(many, max = 1_000))]
    tasks: Vec<Ref<Task>>,
    #[odm(index)]
    manager: Option<Ref<Person>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "tasks")]
struct Task {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index)]
    owner: Ref<Person>,
    due: i32,
}

async fn staff(db: &Db) {
    let people = db.collection::<Person>();
    for (id, tasks, manager) in [
        ("kate", vec![1, 2], None),
        ("jim", vec![3], Some("kate")),
        ("lou", vec![], Some("kate")),
    ] {
        let person = Person {
            id: id.to_owned(),
            tasks: tasks.into_iter().map(Ref::from).collect(),
            manager: manager.map(Ref::from),
        };
        people.insert_one(&person).await.unwrap();
    }
    for (id, owner, due) in [(1, "kate", 30), (2, "kate", 20), (3, "jim", 10)] {
        let task = Task {
            id,
            owner: Ref::from(owner),
            due,
        };
        db.collection::<Task>().insert_one(&task).await.unwrap();
    }
}

async fn two_way_references(db: &Db) {
    staff(db).await;
    let people = db.collection::<Person>();
    let kate = people
        .get("kate")
        .join(|p| p.tasks)
        .join(|p| p.owned.sort(|t| t.due.asc()))
        .await
        .unwrap()
        .unwrap();
    let forward: Vec<_> = kate
        .tasks()
        .iter()
        .filter_map(|task| task.found().map(|it| it.id))
        .collect();
    let backward: Vec<_> = kate.owned().iter().map(|task| task.id).collect();
    assert_eq!((forward, backward), (vec![1, 2], vec![2, 1]));
    let task = db
        .collection::<Task>()
        .get(&3)
        .join(|t| t.owner)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        task.owner().found().map(|owner| owner.id.as_str()),
        Some("jim")
    );
}

async fn references_within_a_collection(db: &Db) {
    staff(db).await;
    let people = db.collection::<Person>();
    let rows = people
        .find_all()
        .sort(|p| p.id.asc())
        .join(|p| p.manager)
        .join(|p| p.reports.sort(|r| r.id.asc()))
        .all()
        .await
        .unwrap();
    let found: Vec<_> = rows
        .iter()
        .map(|row| {
            let manager = row
                .manager()
                .as_ref()
                .and_then(|it| it.found())
                .map(|it| it.id.as_str());
            (row.id.as_str(), manager, row.reports().len())
        })
        .collect();
    assert_eq!(
        found,
        [
            ("jim", Some("kate"), 0),
            ("kate", None, 2),
            ("lou", Some("kate"), 0)
        ]
    );
}

async fn joins_of_several_levels(db: &Db) {
    staff(db).await;
    let (db, sent) = watched(db);
    let rows = db
        .collection::<Task>()
        .find_all()
        .sort(|t| t.id.asc())
        .join(|t| {
            t.owner
                .join(|p| p.reports.sort(|r| r.id.asc()).join(|r| r.tasks))
                .join(|p| p.manager)
        })
        .all()
        .await
        .unwrap();
    let owner = rows[0].owner().found().unwrap();
    assert!(owner.manager().is_none());
    let reports: Vec<_> = owner
        .reports()
        .iter()
        .map(|report| {
            (
                report.id.as_str(),
                report
                    .tasks()
                    .iter()
                    .filter_map(Resolved::found)
                    .map(|it| it.due)
                    .collect(),
            )
        })
        .collect();
    assert_eq!(reports, [("jim", vec![10]), ("lou", vec![])]);
    let jim = rows[2].owner().found().unwrap();
    let manager = jim.manager().as_ref().and_then(Resolved::found);
    assert_eq!(manager.map(|it| it.id.as_str()), Some("kate"));
    // The tasks, their owners, the reports of these, the tasks of those, and the managers.
    assert_eq!(sent.lock().unwrap().len(), 5);
}

async fn counts_stop_at_the_limit(db: &Db) {
    staff(db).await;
    let people = db.collection::<Person>();
    let rows = people
        .find_all()
        .sort(|p| p.id.asc())
        .join(|p| p.owned.limit(1).count())
        .join(|p| p.reports.limit(5).count())
        .all()
        .await
        .unwrap();
    let counts: Vec<_> = rows
        .iter()
        .map(|row| (*row.owned(), *row.reports()))
        .collect();
    assert_eq!(counts, [(1, 0), (1, 2), (0, 0)]);
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "boards")]
struct Board {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(embed(few, max = 10))]
    seats: Vec<Option<Seat>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Seat {
    person: Ref<Person>,
}

async fn null_elements_keep_their_place(db: &Db) {
    staff(db).await;
    let seat = |id: &str| {
        Some(Seat {
            person: Ref::from(id),
        })
    };
    let boards = db.collection::<Board>();
    for (id, seats) in [
        (1, vec![seat("kate"), None, seat("lou")]),
        (2, vec![seat("jim")]),
    ] {
        boards.insert_one(&Board { id, seats }).await.unwrap();
    }
    let rows = boards
        .find_all()
        .sort(|b| b.id.asc())
        .join(|b| b.seats.each(|seat| seat.person.clone()))
        .all()
        .await
        .unwrap();
    let names = |row: usize| -> Vec<Option<&str>> {
        let seats = rows[row].person().iter();
        seats
            .map(|person| person.found().map(|it| it.id.as_str()))
            .collect()
    };
    assert_eq!(names(0), [Some("kate"), None, Some("lou")]);
    assert_eq!(names(1), [Some("jim")]);
    assert!(rows[0].person()[1].is_absent());
}

#[derive(Debug, Deserialize, Projection)]
#[odm(of = Task)]
#[expect(dead_code, reason = "only that it is sent matters")]
struct Due {
    due: i32,
}

async fn errors_of_inner_joins_name_their_model(db: &Db) {
    staff(db).await;
    let error = db
        .collection::<Person>()
        .get("kate")
        .join(|p| p.tasks.select::<Due>().join(|t| t.owner))
        .await
        .unwrap_err();
    assert_eq!(error.model(), Some("Task"), "{error}");
    assert_eq!(error.path(), Some("owner"), "{error}");
}

async fn documents_in_memory_are_joined(db: &Db) {
    staff(db).await;
    let people = db.collection::<Person>();
    let loaded = people.find_all().sort(|p| p.id.desc()).all().await.unwrap();
    let (db, sent) = watched(db);
    let people = db.collection::<Person>();
    let rows = people
        .with(&loaded)
        .join(|p| p.manager)
        .join(|p| p.owned.sort(|t| t.due.asc()))
        .await
        .unwrap();
    let found: Vec<_> = rows
        .iter()
        .map(|row| {
            let manager = row.manager().as_ref().and_then(|it| it.found());
            let owned: Vec<_> = row.owned().iter().map(|task| task.id).collect();
            (row.id.as_str(), manager.map(|it| it.id.as_str()), owned)
        })
        .collect();
    assert_eq!(
        found,
        [
            ("lou", Some("kate"), vec![]),
            ("kate", None, vec![2, 1]),
            ("jim", Some("kate"), vec![3]),
        ]
    );
    assert!(std::ptr::eq(rows[0].document, &raw const loaded[0]));
    assert_eq!(sent.lock().unwrap().len(), 2);
    // A document that was never stored.
    let new = Person {
        id: "jim".to_owned(),
        tasks: vec![Ref::from(1)],
        manager: None,
    };
    let rows = people
        .with([&new])
        .join(|p| p.tasks)
        .join(|p| p.owned.limit(5))
        .await
        .unwrap();
    assert_eq!(rows[0].tasks()[0].found().map(|task| task.due), Some(30));
    assert_eq!(rows[0].owned()[0].id, 3);
    let none: [Person; 0] = [];
    assert!(
        people
            .with(&none)
            .join(|p| p.tasks)
            .await
            .unwrap()
            .is_empty()
    );
}

async fn every_command_of_a_join_is_explained(db: &Db) {
    staff(db).await;
    db.sync(models![Person, Task])
        .plan()
        .await
        .unwrap()
        .apply(Allow::CREATE)
        .await
        .unwrap();
    let people = db.collection::<Person>();
    let plans = people
        .find(|p| p.id.gte("a"))
        .join(|p| p.tasks)
        .join(|p| p.owned.sort(|t| t.due.asc()).limit(1))
        .join(|p| p.reports.count())
        .explain()
        .await
        .unwrap();
    // mongod lists the index of the `$lookup`, too; the engine does not.
    let shown: Vec<_> = plans
        .iter()
        .map(|plan| {
            let (command, collection) = plan.command.iter().next().unwrap();
            let collection = collection.as_str().unwrap();
            (
                command.as_str(),
                collection,
                plan.indexes.join(",").replace("_id_,owner_1", "_id_"),
            )
        })
        .collect();
    assert_eq!(
        shown,
        [
            ("find", "people", "_id_".to_owned()),
            ("find", "tasks", "_id_".to_owned()),
            ("aggregate", "people", "_id_".to_owned()),
            ("find", "tasks", "owner_1".to_owned()),
            ("aggregate", "people", "manager_1".to_owned()),
        ]
    );
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "products")]
struct Product {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(unbounded = "a test stores more parts than any bound allows")]
    parts: Vec<Ref<Product>>,
}

async fn a_list_without_a_bound_is_stored_and_joined(db: &Db) {
    let plan = db.sync(models![Product]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    let products = db.collection::<Product>();
    for id in 1..4 {
        let parts = Vec::new();
        products.insert_one(&Product { id, parts }).await.unwrap();
    }
    // More than `references(many)` allows, so a bound in the validator would refuse the document.
    let parts: Vec<Ref<Product>> = (0..6_000).map(|part| Ref::from(part % 3 + 1)).collect();
    let whole = Product { id: 0, parts };
    products.insert_one(&whole).await.unwrap();
    let row = products.get(&0).join(|p| p.parts).await.unwrap().unwrap();
    let found = row.parts().iter().filter_map(|part| part.found());
    assert_eq!(found.map(|part| part.id).sum::<i32>(), 12_000);
}
