//! References of two models that refer to each other: `two_way` and `propagate`.

mod arities;
mod checks;
mod models;
mod random;
mod writers;

use std::fmt::Write as _;

use odm::bson::doc;
use odm::prelude::*;

use self::arities::{
    a_reference_that_must_be_is_not_taken, lists_on_both_sides_follow_each_other,
    pairs_are_parted_and_joined,
};
use self::checks::{
    a_field_that_is_both_sides_keeps_its_references, a_side_follows_the_other,
    a_side_that_cannot_follow_is_refused, one_sided_references_are_found,
    writes_beside_a_check_are_not_reported,
};
use self::models::{Owner, Task, owner, task};
use self::random::random_writes_leave_what_a_plain_model_leaves;
use self::writers::nothing_is_one_sided_after_writes_beside_each_other;
use super::dependents::{insert, stored};
use super::relations::watched;
use crate::case::cases;

cases![
    writes_say_what_becomes_of_the_other_side,
    writes_without_references_need_no_word,
    a_task_goes_to_another_owner,
    an_owner_takes_a_task_at_a_position,
    a_cleared_reference_leaves_the_list,
    inserts_are_referred_back_to,
    a_full_list_refuses_the_whole_write,
    a_reference_to_nothing_refuses_the_whole_write,
    lists_on_both_sides_follow_each_other,
    pairs_are_parted_and_joined,
    a_reference_that_must_be_is_not_taken,
    deletes_take_references_back,
    many_documents_are_moved_by_few_commands,
    one_document_is_moved_by_its_id,
    a_transaction_of_the_caller_is_joined,
    writes_without_a_transaction_write_both_sides,
    documents_of_other_programs_are_followed,
    a_plan_names_the_other_side,
    nothing_is_one_sided_after_writes_beside_each_other,
    one_sided_references_are_found,
    a_side_follows_the_other,
    a_side_that_cannot_follow_is_refused,
    a_field_that_is_both_sides_keeps_its_references,
    writes_beside_a_check_are_not_reported,
    random_writes_leave_what_a_plain_model_leaves,
];

/// Kate has the tasks 1 and 2, Jim has the task 3, and nobody has the task 4.
async fn office(db: &Db) -> (Collection<Owner>, Collection<Task>) {
    let (owners, tasks) = (db.collection::<Owner>(), db.collection::<Task>());
    let people = [owner("jim", &[]), owner("kate", &[])];
    owners.insert_many(people).await.unwrap();
    let all = [
        (1, Some("kate")),
        (2, Some("kate")),
        (3, Some("jim")),
        (4, None),
    ];
    let all = all.map(|(id, owner)| task(id, owner));
    tasks.insert_many(all).propagate().await.unwrap();
    (owners, tasks)
}

/// The tasks of each owner, and the owner of each task with the name that is copied beside it.
async fn lists(db: &Db) -> String {
    let mut text = String::new();
    for owner in stored(db, "owners").await {
        let tasks = owner.get_array("t").unwrap().iter();
        let tasks: Vec<_> = tasks.map(ToString::to_string).collect();
        let id = owner.get_str("_id").unwrap();
        write!(text, "{id}: {}; ", tasks.join(" ")).unwrap();
    }
    for task in stored(db, "tasks").await {
        let owner = task.get_str("o").unwrap_or("-");
        let name = task.get_str("owner_name").unwrap_or("-");
        write!(text, "{} {owner} {name}, ", task["_id"]).unwrap();
    }
    text.trim_end_matches(", ").to_owned()
}

const OFFICE: &str = "jim: 3; kate: 1 2; 1 kate KATE, 2 kate KATE, 3 jim JIM, 4 - -";

async fn writes_say_what_becomes_of_the_other_side(db: &Db) {
    let (watched, log) = watched(db);
    let (owners, tasks) = (watched.collection::<Owner>(), watched.collection::<Task>());
    let to_kate = || Some(Ref::from("kate"));
    let errors = [
        tasks.insert_one(task(9, Some("kate"))).await.unwrap_err(),
        tasks
            .insert_many([task(8, None), task(9, Some("kate"))])
            .await
            .unwrap_err(),
        tasks
            .insert_one(task(9, Some("kate")))
            .check_references()
            .await
            .unwrap_err(),
        tasks
            .bulk_write(|w| [w.insert_one(&task(9, Some("kate")))])
            .await
            .unwrap_err(),
        tasks
            .update_by_id(&1, |t| t.owner.set(to_kate()))
            .await
            .unwrap_err(),
        tasks
            .update_many(|t| t.id.lt(3), |t| t.owner.unset())
            .await
            .unwrap_err(),
        tasks
            .update_all(|t| t.owner.set(None::<Ref<Owner>>))
            .command()
            .unwrap_err(),
        tasks.replace_by_id(&1, task(1, None)).await.unwrap_err(),
        tasks
            .find_one_and_update(|t| t.id.eq(1), |t| t.owner.unset())
            .await
            .unwrap_err(),
        tasks
            .find_one_and_replace(|t| t.id.eq(1), task(1, None))
            .await
            .unwrap_err(),
        tasks
            .bulk_write(|w| [w.update_one(|t| t.id.eq(1), |t| t.owner.unset())])
            .await
            .unwrap_err(),
    ];
    for error in errors {
        let text = error.to_string();
        let expected = "Task: `tasks` of `Owner` refers back to `owner`, which the write changes: write `.propagate()`";
        assert!(text.contains(expected), "{text}");
    }
    let error = owners
        .update_by_id("kate", |o| o.tasks.pop_first())
        .await
        .unwrap_err();
    assert!(
        error.to_string().contains("`owner` of `Task` refers back"),
        "{error}"
    );
    let errors = [
        tasks.delete_by_id(&1).await.unwrap_err(),
        tasks.delete_all().await.unwrap_err(),
        tasks.find_one_and_delete(|t| t.id.eq(1)).await.unwrap_err(),
        tasks
            .bulk_write(|w| [w.delete_one(|t| t.id.eq(1))])
            .await
            .unwrap_err(),
    ];
    for error in errors {
        let text = error.to_string();
        assert!(
            text.contains("`tasks` of `Owner` refers back: write"),
            "{text}"
        );
    }
    assert!(log.lock().unwrap().is_empty());

    let (owners, tasks) = office(db).await;
    tasks
        .insert_one(task(9, Some("jim")))
        .leave_stale()
        .await
        .unwrap();
    tasks
        .update_by_id(&1, |t| t.owner.set(Some(Ref::from("jim"))))
        .leave_stale()
        .await
        .unwrap();
    tasks.delete_by_id(&2).leave_dangling().await.unwrap();
    let mut kate = owners.load("kate").await.unwrap().unwrap();
    kate.tasks.reverse();
    assert!(owners.save(&mut kate).await.is_err());
    owners.save(&mut kate).leave_stale().await.unwrap();
    assert_eq!(
        lists(db).await,
        "jim: 3; kate: 2 1; 1 jim KATE, 3 jim JIM, 4 - -, 9 jim -"
    );
}

async fn writes_without_references_need_no_word(db: &Db) {
    let (owners, tasks) = office(db).await;
    tasks.insert_one(task(5, None)).await.unwrap();
    owners.insert_one(owner("lou", &[])).await.unwrap();
    let renamed = owners.update_by_id("lou", |o| o.name.set("Lou"));
    renamed.leave_stale().await.unwrap();
    assert!(
        lists(db)
            .await
            .starts_with("jim: 3; kate: 1 2; lou: ; 1 kate")
    );
}

async fn a_task_goes_to_another_owner(db: &Db) {
    let (owners, tasks) = office(db).await;
    let update = tasks.update_by_id(&1, |t| t.owner.set(Some(Ref::from("jim"))));
    let result = update.propagate().await.unwrap();
    assert_eq!(result.update.modified, 1);
    let done: Vec<_> = result
        .propagated
        .iter()
        .map(|it| (it.model, it.by.as_str(), it.documents))
        .collect();
    assert_eq!(done, [("Task", "owner", 1), ("Owner", "tasks", 2)]);
    assert_eq!(
        lists(db).await,
        "jim: 3 1; kate: 2; 1 jim JIM, 2 kate KATE, 3 jim JIM, 4 - -"
    );
    let versions = |owner: Option<Owner>| owner.unwrap().version;
    let before = versions(owners.get("jim").await.unwrap());

    // The same again: nothing is written.
    let update = tasks.update_by_id(&1, |t| t.owner.set(Some(Ref::from("jim"))));
    let result = update.propagate().await.unwrap();
    assert!(
        result.propagated.iter().all(|it| it.documents == 0),
        "{result:?}"
    );
    assert_eq!(versions(owners.get("jim").await.unwrap()), before);

    let all = tasks.update_all(|t| t.owner.set(Some(Ref::from("kate"))));
    all.propagate().await.unwrap();
    let expected = "jim: ; kate: 2 1 3 4; 1 kate KATE, 2 kate KATE, 3 kate KATE, 4 kate KATE";
    assert_eq!(lists(db).await, expected);
}

async fn an_owner_takes_a_task_at_a_position(db: &Db) {
    let (owners, tasks) = office(db).await;
    let first = |task: i32| {
        owners.update_by_id("kate", |o| {
            o.tasks.push_with([Ref::from(task)], |p| p.position(0))
        })
    };
    first(3).propagate().await.unwrap();
    assert_eq!(
        lists(db).await,
        "jim: ; kate: 3 1 2; 1 kate KATE, 2 kate KATE, 3 kate KATE, 4 - -"
    );
    first(4).propagate().await.unwrap();
    let expected = "jim: ; kate: 4 3 1 2; 1 kate KATE, 2 kate KATE, 3 kate KATE, 4 kate KATE";
    assert_eq!(lists(db).await, expected);

    // A list is given as a whole.
    let given: Vec<Ref<Task>> = [2, 4].map(Ref::from).to_vec();
    let update = owners.update_by_id("jim", |o| o.tasks.set(given));
    update.propagate().await.unwrap();
    let expected = "jim: 2 4; kate: 3 1; 1 kate KATE, 2 jim JIM, 3 kate KATE, 4 jim JIM";
    assert_eq!(lists(db).await, expected);

    // Two owners can't both get a task.
    tasks.insert_one(task(5, None)).await.unwrap();
    let error = owners
        .update_all(|o| o.tasks.push(Ref::from(5)))
        .propagate()
        .await
        .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("lets several documents refer to the `Task` with the _id 5"),
        "{error}"
    );
    assert_eq!(lists(db).await, format!("{expected}, 5 - -"));
}

async fn a_cleared_reference_leaves_the_list(db: &Db) {
    let (owners, tasks) = office(db).await;
    tasks
        .update_by_id(&1, |t| t.owner.unset())
        .propagate()
        .await
        .unwrap();
    owners
        .update_by_id("jim", |o| o.tasks.pull(Ref::from(3)))
        .propagate()
        .await
        .unwrap();
    assert_eq!(
        lists(db).await,
        "jim: ; kate: 2; 1 - -, 2 kate KATE, 3 - -, 4 - -"
    );
    // The field is left out, as the model leaves it out.
    assert!(
        stored(db, "tasks")
            .await
            .iter()
            .all(|it| it["_id"] == 2.into() || !it.contains_key("o"))
    );
}

async fn inserts_are_referred_back_to(db: &Db) {
    let (owners, tasks) = office(db).await;
    owners
        .insert_one(owner("lou", &[4, 1]))
        .propagate()
        .await
        .unwrap();
    tasks
        .insert_one(task(5, Some("lou")))
        .propagate()
        .await
        .unwrap();
    let expected =
        "jim: 3; kate: 2; lou: 4 1 5; 1 lou LOU, 2 kate KATE, 3 jim JIM, 4 lou LOU, 5 lou LOU";
    assert_eq!(lists(db).await, expected);
}

async fn a_full_list_refuses_the_whole_write(db: &Db) {
    let (owners, tasks) = office(db).await;
    let more = [5, 6].map(|id| task(id, Some("kate")));
    tasks.insert_many(more).propagate().await.unwrap();
    let full = lists(db).await;
    let errors = [
        tasks
            .insert_one(task(7, Some("kate")))
            .propagate()
            .await
            .unwrap_err(),
        tasks
            .update_by_id(&3, |t| t.owner.set(Some(Ref::from("kate"))))
            .propagate()
            .await
            .unwrap_err(),
        tasks
            .update_all(|t| t.owner.set(Some(Ref::from("jim"))))
            .propagate()
            .await
            .unwrap_err(),
    ];
    for error in errors {
        assert!(
            error
                .to_string()
                .contains("`t` is full: the new values would exceed the declared maximum of 4"),
            "{error}"
        );
    }
    let push = owners.update_by_id("kate", |o| o.tasks.push(Ref::from(4)));
    let result = push.propagate().await.unwrap();
    assert_eq!(
        (result.update.matched, result.update.withheld.len()),
        (0, 1)
    );
    assert_eq!(lists(db).await, full);
    // A full list takes what it has already.
    let again = tasks.update_by_id(&5, |t| t.owner.set(Some(Ref::from("kate"))));
    again.propagate().await.unwrap();
    assert_eq!(lists(db).await, full);
}

async fn a_reference_to_nothing_refuses_the_whole_write(db: &Db) {
    let (owners, tasks) = office(db).await;
    let errors = [
        tasks
            .update_by_id(&1, |t| t.owner.set(Some(Ref::from("nobody"))))
            .propagate()
            .await
            .unwrap_err(),
        owners
            .update_by_id("jim", |o| o.tasks.push(Ref::from(77)))
            .propagate()
            .await
            .unwrap_err(),
        owners
            .insert_one(owner("lou", &[1, 77]))
            .propagate()
            .await
            .unwrap_err(),
        tasks
            .insert_one(task(9, Some("nobody")))
            .propagate()
            .await
            .unwrap_err(),
    ];
    for error in errors {
        assert!(error.is_dangling(), "{error}");
    }
    assert_eq!(lists(db).await, OFFICE);
}

async fn deletes_take_references_back(db: &Db) {
    let (owners, tasks) = office(db).await;
    let result = tasks
        .delete_many(|t| t.id.lt(3))
        .with_dependents()
        .await
        .unwrap();
    assert_eq!(
        (
            result.deleted,
            result.propagated[0].by.as_str(),
            result.propagated[0].documents
        ),
        (2, "tasks", 1)
    );
    assert_eq!(lists(db).await, "jim: 3; kate: ; 3 jim JIM, 4 - -");
    owners.delete_by_id("jim").with_dependents().await.unwrap();
    assert_eq!(lists(db).await, "kate: ; 3 - -, 4 - -");
}

async fn many_documents_are_moved_by_few_commands(db: &Db) {
    office(db).await;
    let (watched, log) = watched(db);
    let tasks = watched.collection::<Task>();
    let update = tasks.update_many(
        |t| t.owner.eq(Some(Ref::from("kate"))),
        |t| t.owner.set(Some(Ref::from("jim"))),
    );
    update.propagate().await.unwrap();
    // A cursor may take more commands.
    let names: Vec<String> = log
        .lock()
        .unwrap()
        .iter()
        .map(ToString::to_string)
        .filter(|command| !command.contains("getMore"))
        .collect();
    // Read, update; read what they refer to, the fence, the name, the copies; both lists.
    assert_eq!(names.len(), 7, "{names:?}");
}

/// MongoDB plans nothing for `{_id: value}`, but for `$eq` and `$in`.
async fn one_document_is_moved_by_its_id(db: &Db) {
    office(db).await;
    let (watched, log) = watched(db);
    let tasks = watched.collection::<Task>();
    let update = tasks.update_by_id(&1, |t| t.owner.set(Some(Ref::from("jim"))));
    update.propagate().await.unwrap();
    let log = log.lock().unwrap();
    let reads_and_changes: Vec<_> = log
        .iter()
        .map(|command| match command.get_array("updates") {
            Ok(updates) => updates[0].as_document().unwrap().get("q").cloned(),
            Err(_) => command.get("filter").cloned(),
        })
        .take(2)
        .collect();
    let by_id = Some(doc! {"_id": 1}.into());
    assert_eq!(reads_and_changes, [by_id.clone(), by_id], "{log:?}");
    let names = log
        .iter()
        .filter(|it| it.get_str("find").is_ok_and(|it| it == "owners"));
    let filters: Vec<_> = names.map(|it| it.get_document("filter").unwrap()).collect();
    assert_eq!(filters, [&doc! {"_id": "jim"}], "{log:?}");
}

async fn a_transaction_of_the_caller_is_joined(db: &Db) {
    let (_, tasks) = office(db).await;
    let aborted: odm::Result<()> = transaction!(db, |tx| {
        let update = tasks.update_by_id(&1, |t| t.owner.set(Some(Ref::from("jim"))));
        update.propagate().session(tx).await?;
        Err(odm::Error::other("no"))
    })
    .await;
    assert!(aborted.is_err());
    assert_eq!(lists(db).await, OFFICE);
    transaction!(db, |tx| {
        let update = tasks.update_by_id(&1, |t| t.owner.set(Some(Ref::from("jim"))));
        update.propagate().session(tx).await?;
        tasks.delete_by_id(&2).with_dependents().session(tx).await
    })
    .await
    .unwrap();
    assert_eq!(
        lists(db).await,
        "jim: 3 1; kate: ; 1 jim JIM, 3 jim JIM, 4 - -"
    );
}

async fn writes_without_a_transaction_write_both_sides(db: &Db) {
    let (owners, tasks) = office(db).await;
    let update = tasks.update_by_id(&1, |t| t.owner.set(Some(Ref::from("jim"))));
    update.propagate().non_atomic().await.unwrap();
    let push = owners.update_by_id("kate", |o| o.tasks.push(Ref::from(4)));
    push.propagate().non_atomic().await.unwrap();
    tasks
        .insert_one(task(5, Some("jim")))
        .propagate()
        .non_atomic()
        .await
        .unwrap();
    tasks
        .delete_by_id(&3)
        .with_dependents()
        .non_atomic()
        .await
        .unwrap();
    assert_eq!(
        lists(db).await,
        "jim: 1 5; kate: 2 4; 1 jim JIM, 2 kate KATE, 4 kate KATE, 5 jim JIM"
    );
}

async fn documents_of_other_programs_are_followed(db: &Db) {
    // An owner without a list, references that only one side has, another number type, and one that leads to nothing.
    let owners = [
        doc! {"_id": "a", "name": "A", "version": 0_i64},
        doc! {"_id": "b", "name": "B", "t": [1_i64, 99], "version": 0_i64},
        doc! {"_id": "c", "name": "C", "t": [2], "version": 0_i64},
    ];
    insert(db, "owners", owners).await;
    let tasks = [
        doc! {"_id": 1.0, "o": "b", "version": 0_i64},
        doc! {"_id": 2, "o": "gone", "version": 0_i64},
        doc! {"_id": 3, "o": null, "version": 0_i64},
    ];
    insert(db, "tasks", tasks).await;
    let tasks = db.collection::<Task>();
    tasks
        .update_many(|t| t.id.lt(4), |t| t.owner.set(Some(Ref::from("a"))))
        .propagate()
        .await
        .unwrap();
    let stored_owners = stored(db, "owners").await;
    let list = |at: usize| stored_owners[at].get_array("t").unwrap().clone();
    assert_eq!(
        list(0),
        [1.0.into(), 2.into(), 3.into()] as [odm::bson::Bson; 3]
    );
    assert_eq!(list(1), [99.into()] as [odm::bson::Bson; 1]);
    // The owner of this list was not the owner of the task.
    assert_eq!(list(2), [2.into()] as [odm::bson::Bson; 1]);
    assert!(
        stored(db, "tasks")
            .await
            .iter()
            .all(|task| task.get_str("owner_name").unwrap() == "A")
    );
}

async fn a_plan_names_the_other_side(db: &Db) {
    let (_, tasks) = office(db).await;
    let update = || tasks.update_by_id(&1, |t| t.owner.set(Some(Ref::from("jim"))));
    let plan = update().propagate().plan().await.unwrap();
    let expected = "  owners (Owner)
    update 1 document
        let `tasks` follow `owner`, in those to which it leads and led
";
    assert!(plan.to_string().ends_with(expected), "{plan}");
    let plan = tasks
        .delete_many(|t| t.id.lt(4))
        .with_dependents()
        .plan()
        .await
        .unwrap();
    let expected = "  owners (Owner)
    update 2 documents
        take deleted documents of `Task` out of `tasks`, which refers back
  tasks (Task)
    delete 3 documents
        match the filter
";
    assert_eq!(plan.to_string(), expected);
    assert_eq!(lists(db).await, OFFICE);
}
