//! Random writes of both sides, compared with a plain model of them.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use odm::prelude::*;

use super::lists;
use super::models::{Owner, Task, owner, task};
use crate::random::{Random, count};

const OWNERS: [&str; 4] = ["ann", "bob", "cat", "dan"];
const TASKS: i32 = 7;
/// The bound that the model declares.
const MAX: usize = 4;

/// The lists of the owners, and the owners of the tasks.
#[derive(Debug, Clone, Default)]
struct Plain {
    owners: BTreeMap<String, Vec<i32>>,
    tasks: BTreeMap<i32, Option<String>>,
}

#[derive(Debug, PartialEq)]
enum Outcome {
    Written,
    Dangling,
    Full,
    Several,
}

#[derive(Debug, Clone)]
enum Write {
    /// The tasks up to this one go to an owner, or to nobody.
    Assign(i32, i32, Option<&'static str>),
    Push(&'static str, i32, Option<usize>),
    PushAll(i32),
    Pull(&'static str, i32),
    Set(&'static str, Vec<i32>),
    InsertTask(i32, Option<&'static str>),
    InsertOwner(&'static str, Vec<i32>),
    DeleteTasks(i32, i32),
    DeleteOwner(&'static str),
}

impl Write {
    fn random(random: &mut Random) -> Self {
        let mut task = || i32::try_from(random.below(7)).unwrap();
        let (a, b) = (task(), task());
        let list: Vec<i32> = [task(), task(), task()].into_iter().collect();
        let list = list.into_iter().take(random.below(4)).collect();
        let owner = *random.pick(&OWNERS);
        let maybe = (!random.one_in(4)).then_some(owner);
        match random.below(12) {
            0 | 1 => Self::Assign(a, a, maybe),
            2 => Self::Assign(a.min(b), a.max(b), maybe),
            3 => Self::Push(owner, a, None),
            4 => Self::Push(owner, a, Some(random.below(3))),
            5 => Self::PushAll(a),
            6 => Self::Pull(owner, a),
            7 => Self::Set(owner, list),
            8 => Self::InsertTask(a, maybe),
            9 => Self::InsertOwner(owner, list),
            10 => Self::DeleteTasks(a.min(b), a.max(b)),
            _ => Self::DeleteOwner(owner),
        }
    }

    async fn run(&self, db: &Db) -> odm::Result<()> {
        let (owners, tasks) = (db.collection::<Owner>(), db.collection::<Task>());
        let reference = |owner: Option<&str>| owner.map(Ref::<Owner>::from);
        let list = |list: &[i32]| {
            list.iter()
                .copied()
                .map(Ref::<Task>::from)
                .collect::<Vec<_>>()
        };
        match self {
            Self::Assign(from, to, owner) => {
                let (from, to, owner) = (*from, *to, reference(*owner));
                let update =
                    tasks.update_many(|t| t.id.gte(from) & t.id.lte(to), |t| t.owner.set(owner));
                update.propagate().await.map(drop)
            }
            Self::Push(owner, task, None) => {
                let push = owners.update_by_id(*owner, |o| o.tasks.push(Ref::from(*task)));
                push.propagate().await.map(drop)
            }
            Self::Push(owner, task, Some(position)) => {
                let at = i32::try_from(*position).unwrap();
                let push = owners.update_by_id(*owner, |o| {
                    o.tasks.push_with([Ref::from(*task)], |p| p.position(at))
                });
                push.propagate().await.map(drop)
            }
            Self::PushAll(task) => owners
                .update_all(|o| o.tasks.push(Ref::from(*task)))
                .propagate()
                .await
                .map(drop),
            Self::Pull(owner, task) => {
                let pull = owners.update_by_id(*owner, |o| o.tasks.pull(Ref::from(*task)));
                pull.propagate().await.map(drop)
            }
            Self::Set(owner, all) => {
                let set = owners.update_by_id(*owner, |o| o.tasks.set(list(all)));
                set.propagate().await.map(drop)
            }
            Self::InsertTask(id, owner) => tasks
                .insert_one(task(*id, *owner))
                .propagate()
                .await
                .map(drop),
            Self::InsertOwner(id, all) => owners
                .insert_one(owner(id, all))
                .propagate()
                .await
                .map(drop),
            Self::DeleteTasks(from, to) => {
                let delete = tasks.delete_many(|t| t.id.gte(*from) & t.id.lte(*to));
                delete.with_dependents().await.map(drop)
            }
            Self::DeleteOwner(id) => owners.delete_by_id(*id).with_dependents().await.map(drop),
        }
    }
}

impl Plain {
    /// Gives a list to an owner: its tasks leave other owners, and those that it had have none.
    fn give(&mut self, owner: &str, list: Vec<i32>) -> Outcome {
        if list.iter().any(|task| !self.tasks.contains_key(task)) {
            return Outcome::Dangling;
        }
        for other in self.tasks.values_mut() {
            if other.as_deref() == Some(owner) {
                *other = None;
            }
        }
        for task in &list {
            if let Some(old) = self.tasks.insert(*task, Some(owner.to_owned())).flatten() {
                self.owners.get_mut(&old).unwrap().retain(|one| one != task);
            }
        }
        self.owners.insert(owner.to_owned(), list);
        Outcome::Written
    }

    fn assign(&mut self, id: i32, owner: Option<&str>) -> Outcome {
        let old = self.tasks.get(&id).cloned().flatten();
        if old.as_deref() == owner {
            return Outcome::Written;
        }
        if let Some(owner) = owner {
            match self.owners.get_mut(owner) {
                None => return Outcome::Dangling,
                Some(list) if list.len() == MAX => return Outcome::Full,
                Some(list) => list.push(id),
            }
        }
        if let Some(old) = old {
            self.owners.get_mut(&old).unwrap().retain(|one| *one != id);
        }
        self.tasks.insert(id, owner.map(str::to_owned));
        Outcome::Written
    }

    /// Writes, or leaves all as it is and says why.
    fn run(&mut self, write: &Write) -> Outcome {
        let before = self.clone();
        let outcome = self.attempt(write);
        if outcome != Outcome::Written {
            *self = before;
        }
        outcome
    }

    fn attempt(&mut self, write: &Write) -> Outcome {
        match write {
            Write::Assign(from, to, owner) => {
                let ids: Vec<i32> = self.tasks.range(from..=to).map(|(id, _)| *id).collect();
                for id in ids {
                    match self.assign(id, *owner) {
                        Outcome::Written => {}
                        other => return other,
                    }
                }
                Outcome::Written
            }
            Write::Push(owner, task, position) => match self.owners.get(*owner) {
                Some(list) if list.len() < MAX => {
                    let mut list = list.clone();
                    list.insert(position.unwrap_or(list.len()).min(list.len()), *task);
                    self.give(owner, list)
                }
                _ => Outcome::Written,
            },
            Write::PushAll(task) => {
                let room = self.owners.iter().filter(|(_, list)| list.len() < MAX);
                let room: Vec<_> = room
                    .map(|(owner, list)| (owner.clone(), list.clone()))
                    .collect();
                let new = room.iter().filter(|(_, list)| !list.contains(task)).count();
                if new > 1 {
                    return Outcome::Several;
                }
                // One owner may have it already, and gets it twice; then another one takes it.
                for (owner, mut list) in room {
                    list.push(*task);
                    if new == 1 && list.iter().filter(|one| *one == task).count() > 1 {
                        continue;
                    }
                    match self.give(&owner, list) {
                        Outcome::Written => {}
                        other => return other,
                    }
                }
                Outcome::Written
            }
            Write::Pull(owner, task) => match self.owners.get(*owner) {
                Some(list) => {
                    let list = list.iter().copied().filter(|one| one != task);
                    self.give(owner, list.collect())
                }
                None => Outcome::Written,
            },
            Write::Set(owner, list) if self.owners.contains_key(*owner) => {
                self.give(owner, list.clone())
            }
            Write::Set(..) => Outcome::Written,
            Write::InsertTask(id, owner) => {
                self.tasks.insert(*id, None);
                self.assign(*id, *owner)
            }
            Write::InsertOwner(id, list) => {
                self.owners.insert((*id).to_owned(), Vec::new());
                self.give(id, list.clone())
            }
            Write::DeleteTasks(from, to) => {
                let ids: Vec<i32> = self.tasks.range(from..=to).map(|(id, _)| *id).collect();
                for id in ids {
                    self.assign(id, None);
                    self.tasks.remove(&id);
                }
                Outcome::Written
            }
            Write::DeleteOwner(id) => {
                if self.owners.contains_key(*id) {
                    self.give(id, Vec::new());
                    self.owners.remove(*id);
                }
                Outcome::Written
            }
        }
    }

    /// Whether the write inserts a document that is there already.
    fn has(&self, write: &Write) -> bool {
        match write {
            Write::InsertTask(id, _) => self.tasks.contains_key(id),
            Write::InsertOwner(id, _) => self.owners.contains_key(*id),
            _ => false,
        }
    }

    fn lists(&self) -> String {
        let mut text = String::new();
        for (owner, list) in &self.owners {
            let list: Vec<_> = list.iter().map(i32::to_string).collect();
            write!(text, "{owner}: {}; ", list.join(" ")).unwrap();
        }
        for (task, owner) in &self.tasks {
            let owner = owner.as_deref();
            let name = owner.map_or("-".to_owned(), str::to_uppercase);
            write!(text, "{task} {} {name}, ", owner.unwrap_or("-")).unwrap();
        }
        text.trim_end_matches(", ").to_owned()
    }
}

fn outcome(result: odm::Result<()>) -> Outcome {
    match result {
        Ok(()) => Outcome::Written,
        Err(error) if error.is_dangling() => Outcome::Dangling,
        Err(error) if error.to_string().contains("is full") => Outcome::Full,
        Err(error) if error.to_string().contains("lets several documents") => Outcome::Several,
        Err(error) => panic!("{error}"),
    }
}

/// `ODM_TWO_WAY_ROUNDS` sets the number of rounds.
pub(super) async fn random_writes_leave_what_a_plain_model_leaves(db: &Db) {
    let mut random = Random::unless_set("ODM_TWO_WAY_ROUNDS", 17);
    let (owners, tasks) = (db.collection::<Owner>(), db.collection::<Task>());
    for round in 0..count("ODM_TWO_WAY_ROUNDS", 20) {
        owners.delete_all().leave_dangling().await.unwrap();
        tasks.delete_all().leave_dangling().await.unwrap();
        let mut plain = Plain::default();
        let mut writes: Vec<Write> = OWNERS.map(|id| Write::InsertOwner(id, Vec::new())).to_vec();
        writes.extend(
            (0..TASKS).map(|id| Write::InsertTask(id, random.one_in(2).then_some(OWNERS[0]))),
        );
        writes.extend((0..15).map(|_| Write::random(&mut random)));
        for (at, write) in writes.iter().enumerate() {
            if plain.has(write) {
                continue;
            }
            let before = plain.clone();
            let done = outcome(write.run(db).await);
            let expected = plain.run(write);
            let doing = format!(
                "seed {}, round {round}, {:?} after {}",
                random.seed(),
                writes[at],
                before.lists()
            );
            // A write may fail for two reasons.
            let failed = |outcome: &Outcome| *outcome != Outcome::Written;
            assert_eq!(
                failed(&done),
                failed(&expected),
                "{done:?}, {expected:?}: {doing}"
            );
            assert_eq!(lists(db).await, plain.lists(), "{doing}");
        }
    }
}
