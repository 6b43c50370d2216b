//! Relations that go both ways, within a collection, and several levels deep.

use odm::prelude::*;
use odm::relation::Resolved;

use super::relations::watched;
use crate::case::cases;

cases![
    two_way_references,
    references_within_a_collection,
    joins_of_several_levels,
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
            manager: manager.map(|id| Ref::from(id.to_owned())),
        };
        people.insert_one(&person).await.unwrap();
    }
    for (id, owner, due) in [(1, "kate", 30), (2, "kate", 20), (3, "jim", 10)] {
        let task = Task {
            id,
            owner: Ref::from(owner.to_owned()),
            due,
        };
        db.collection::<Task>().insert_one(&task).await.unwrap();
    }
}

async fn two_way_references(db: &Db) {
    staff(db).await;
    let people = db.collection::<Person>();
    let kate = people
        .get(&"kate".to_owned())
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
