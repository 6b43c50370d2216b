//! Owners and tasks that refer to each other, and the operations on both sides.

use std::collections::BTreeSet;

use futures::future::BoxFuture;
use odm::prelude::*;
use odm::update::Update;

use super::explorer::{Operation, operation};
use super::verbs::{Changed, Collected, Subject};

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "owners")]
pub(crate) struct Owner {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(references(many, max = 10), two_way = owner)]
    tasks: Vec<Ref<Task>>,
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "tasks")]
pub(crate) struct Task {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(two_way = tasks)]
    owner: Option<Ref<Owner>>,
}

/// The operations, with the names that the output has.
pub(crate) fn operations() -> Vec<(&'static str, Operation)> {
    vec![
        ("a task goes to another owner", assign(1, Some(2))),
        ("a task goes to nobody", assign(1, None)),
        ("an owner takes a task", take(2, 1)),
        ("a task is inserted", insert_task(3, 2)),
        ("an owner is deleted", delete_owner(2)),
        ("a task is deleted", delete_task(1)),
        ("an owner gives all tasks away", give_all(1)),
    ]
}

/// The task goes to this owner, or to nobody.
pub(crate) fn assign(task: i32, owner: Option<i32>) -> Operation {
    operation(move |db| async move {
        let tasks = db.collection::<Task>();
        let update = tasks.update_by_id(&task, |t| t.owner.set(owner.map(Ref::from)));
        unless_gone(update.propagate().await.map(drop))
    })
}

/// The owner takes the task.
pub(crate) fn take(owner: i32, task: i32) -> Operation {
    operation(move |db| async move {
        let owners = db.collection::<Owner>();
        let update = owners.update_by_id(&owner, |o| o.tasks.add_to_set(Ref::from(task)));
        unless_gone(update.propagate().await.map(drop))
    })
}

fn give_all(owner: i32) -> Operation {
    operation(move |db| async move {
        let owners = db.collection::<Owner>();
        let update = owners.update_by_id(&owner, |o| o.tasks.set(Vec::new()));
        update.propagate().await.map(drop)
    })
}

fn insert_task(id: i32, owner: i32) -> Operation {
    operation(move |db| async move {
        let task = Task {
            id,
            owner: Some(Ref::from(owner)),
        };
        let insert = db.collection::<Task>().insert_one(&task).propagate().await;
        match insert {
            // It was stopped after its commit, and runs again.
            Err(error) if error.is_duplicate_key() => Ok(()),
            other => unless_gone(other.map(drop)),
        }
    })
}

fn delete_owner(owner: i32) -> Operation {
    operation(move |db| async move {
        let owners = db.collection::<Owner>();
        let delete = owners.delete_by_id(&owner).with_dependents();
        delete.await.map(drop)
    })
}

fn delete_task(task: i32) -> Operation {
    operation(move |db| async move {
        let tasks = db.collection::<Task>();
        let delete = tasks.delete_by_id(&task).with_dependents();
        delete.await.map(drop)
    })
}

/// What the write refers to may be deleted before it.
fn unless_gone(result: odm::Result<()>) -> odm::Result<()> {
    match result {
        Err(error) if error.is_dangling() => Ok(()),
        other => other,
    }
}

/// The task goes to this owner, without a transaction.
pub(crate) fn assign_non_atomic(task: i32, owner: i32) -> Operation {
    operation(move |db| async move {
        let tasks = db.collection::<Task>();
        let update = tasks.update_by_id(&task, |t| t.owner.set(Some(Ref::from(owner))));
        update.propagate().non_atomic().await.map(drop)
    })
}

impl Subject for Task {
    const CHANGED: i32 = 1;
    const MAY_DANGLE: bool = true;

    fn new(id: i32) -> Self {
        let owner = Some(Ref::from(2));
        Self { id, owner }
    }

    fn changed() -> Self {
        Self::new(1)
    }
}

impl Changed for Task {
    fn change(fields: Self::Fields<Self>) -> Update<Self> {
        fields.owner.set(Ref::from(2))
    }
}

impl Collected for Task {
    const DELETED: i32 = 2;
}

impl Subject for Owner {
    const CHANGED: i32 = 2;
    const MAY_DANGLE: bool = true;

    /// Of two that are inserted together, one takes a task.
    fn new(id: i32) -> Self {
        let tasks = (id == 5).then(|| Ref::from(2));
        let tasks = tasks.into_iter().collect();
        Self { id, tasks }
    }

    fn changed() -> Self {
        let tasks = vec![Ref::from(1)];
        Self { id: 2, tasks }
    }
}

impl Changed for Owner {
    fn change(fields: Self::Fields<Self>) -> Update<Self> {
        fields.tasks.set(vec![Ref::from(1)])
    }
}

impl Collected for Owner {
    const DELETED: i32 = 1;
}

/// Two owners; both tasks belong to the first.
pub(crate) fn fill(db: Db) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        let owners = [1, 2].map(|id| Owner {
            id,
            tasks: Vec::new(),
        });
        db.collection().insert_many(owners).await.unwrap();
        let tasks = [1, 2].map(|id| Task {
            id,
            owner: Some(Ref::from(1)),
        });
        let insert = db.collection().insert_many(tasks).propagate();
        insert.await.unwrap();
    })
}

/// Whether each reference is referred back to.
pub(crate) async fn is_symmetric(db: Db) -> bool {
    let owners = db.collection::<Owner>().find_all().all().await.unwrap();
    let tasks = db.collection::<Task>().find_all().all().await.unwrap();
    let lists = owners.iter().flat_map(|owner| {
        let tasks = owner.tasks.iter();
        tasks.map(|task| (owner.id, *task.id()))
    });
    let lists: Vec<(i32, i32)> = lists.collect();
    let of_owners: BTreeSet<_> = lists.iter().copied().collect();
    let of_tasks = tasks
        .iter()
        .filter_map(|task| Some((*task.owner.as_ref()?.id(), task.id)));
    let of_tasks: BTreeSet<_> = of_tasks.collect();
    of_owners.len() == lists.len() && of_owners == of_tasks
}
