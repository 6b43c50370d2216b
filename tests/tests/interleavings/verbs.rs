//! The verbs that write documents from which other data follows, each beside other writes.

use futures::future::BoxFuture;
use odm::prelude::*;
use odm::query;
use odm::update::Update;

use super::explorer::{Explored, Operation, Orders, explore, more, operation};
use super::ways::{Way, run, ways};
use super::{copies, newest, summaries, two_way};

/// The documents of a model that the verbs write.
pub(crate) trait Subject: Document<Id = i32> + odm::model::Writable {
    /// The document that is changed.
    const CHANGED: i32;

    /// Whether what the documents refer to may be deleted before them.
    const MAY_DANGLE: bool = false;

    /// A document that is inserted.
    fn new(id: i32) -> Self;

    /// The document that is changed, as a change leaves it.
    fn changed() -> Self;
}

/// Documents of which the verbs change a single field, too.
pub(crate) trait Changed: Subject {
    fn change(fields: Self::Fields<Self>) -> Update<Self>;
}

/// Documents that are counted or listed, so that their deletes have words.
pub(crate) trait Collected: Changed {
    /// The document that is deleted.
    const DELETED: i32;
}

/// Operations, with the names that the output has.
pub(crate) type Named = Vec<(&'static str, Operation)>;

/// An operation that runs a write in a way.
macro_rules! verb {
    ($model:ident, $way:ident, |$all:ident| $write:expr) => {
        operation(move |db| async move {
            let $all = db.collection::<$model>();
            match run!($way, db, $write) {
                Err(error) if <$model>::MAY_DANGLE && error.is_dangling() => Ok(()),
                other => other,
            }
        })
    };
}

/// The condition that a document has this `_id`.
fn is<M: Document<Id = i32>>(id: i32) -> impl FnOnce(M::Fields<M>) -> Filter<M> {
    move |_| query::id::<M>().eq(id)
}

/// The document that is inserted.
const NEW: i32 = 5;

/// Inserts and replacements.
pub(crate) fn replacing<M: Subject>(way: Way) -> Named {
    let mut verbs = vec![
        (
            "insert_many",
            verb!(M, way, |all| all
                .insert_many([M::new(NEW), M::new(6)])
                .propagate()),
        ),
        (
            "replace_one",
            verb!(M, way, |all| all
                .replace_one(is(M::CHANGED), M::changed())
                .propagate()),
        ),
        (
            "find_one_and_replace",
            verb!(M, way, |all| all
                .find_one_and_replace(is(M::CHANGED), M::changed())
                .propagate()),
        ),
        (
            "find_one_or_insert",
            verb!(M, way, |all| all
                .find_one_or_insert(is(NEW), M::new(NEW))
                .propagate()),
        ),
    ];
    if way != Way::NonAtomic {
        let in_transactions = [
            (
                "an upsert by replace_one",
                verb!(M, way, |all| all
                    .replace_one(is(NEW), M::new(NEW))
                    .upsert(true)
                    .propagate()),
            ),
            (
                "an upsert by find_one_and_replace",
                verb!(M, way, |all| all
                    .find_one_and_replace(is(NEW), M::new(NEW))
                    .upsert(true)
                    .propagate()),
            ),
            (
                "bulk_write of an insert and a replacement",
                verb!(M, way, |all| all
                    .bulk_write(|w| [
                        w.insert_one(M::new(NEW)),
                        w.replace_one(is(M::CHANGED), M::changed()),
                    ])
                    .propagate()),
            ),
        ];
        verbs.extend(in_transactions);
    }
    verbs
}

/// Inserts and changes.
pub(crate) fn changing<M: Changed>(way: Way) -> Named {
    let mut verbs = replacing::<M>(way);
    verbs.push((
        "find_one_and_update",
        verb!(M, way, |all| all
            .find_one_and_update(is(M::CHANGED), M::change)
            .propagate()),
    ));
    verbs.push((
        "update_many",
        verb!(M, way, |all| all
            .update_many(is(M::CHANGED), M::change)
            .propagate()),
    ));
    verbs.push((
        "save",
        operation(move |db| async move {
            let all = db.collection::<M>();
            let Some(mut loaded) = all.load(&M::CHANGED).await? else {
                return Ok(());
            };
            *loaded = M::changed();
            match run!(way, db, all.save(&mut loaded).propagate()) {
                // It was deleted meanwhile.
                Err(error) if error.is_stale() => Ok(()),
                Err(error) if M::MAY_DANGLE && error.is_dangling() => Ok(()),
                other => other,
            }
        }),
    ));
    if way != Way::NonAtomic {
        verbs.push((
            "bulk_write of an update and an upsert",
            verb!(M, way, |all| all
                .bulk_write(|w| [
                    w.update_one(is(M::CHANGED), M::change),
                    w.replace_one(is(NEW), M::new(NEW)).upsert(true),
                ])
                .propagate()),
        ));
    }
    verbs
}

/// Inserts, changes and deletes.
pub(crate) fn all<M: Collected>(way: Way) -> Named {
    let mut verbs = changing::<M>(way);
    verbs.push((
        "delete_one",
        verb!(M, way, |all| all
            .delete_one(is(M::DELETED))
            .with_dependents()),
    ));
    verbs.push((
        "delete_many",
        verb!(M, way, |all| all
            .delete_many(is(M::DELETED))
            .with_dependents()),
    ));
    verbs.push((
        "find_one_and_delete",
        verb!(M, way, |all| all
            .find_one_and_delete(is(M::DELETED))
            .with_dependents()),
    ));
    if way != Way::NonAtomic {
        verbs.push((
            "bulk_write of an insert, an update and a delete",
            verb!(M, way, |all| all
                .bulk_write(|w| [
                    w.insert_one(M::new(NEW)),
                    w.update_one(is(M::CHANGED), M::change),
                    w.delete_one(is(M::DELETED)),
                ])
                .propagate()),
        ));
    }
    verbs
}

/// What the verbs of a group begin with, and what holds after them.
struct Scene {
    fill: fn(Db) -> BoxFuture<'static, ()>,
    is_sound: fn(Db) -> BoxFuture<'static, bool>,
}

/// Explores verbs beside the other operations: each verb in its own way beside one of them, and in turns beside the others and in
/// the other ways; with `ODM_MORE_SWITCHES`, all combinations.
fn cross(
    name: &str,
    scene: &Scene,
    ways: impl Iterator<Item = (Way, Way)>,
    verbs: impl Fn(Way) -> Named,
    others: impl Fn(Way) -> Named,
) {
    let mut all = Explored::default();
    for (turn, (way, other_way)) in ways.enumerate() {
        let others = others(other_way);
        let is_own = (way, other_way) == (Way::Own, Way::Own);
        for (at, (verb, operation)) in verbs(way).into_iter().enumerate() {
            let beside_one = (at + turn) % others.len();
            for (other_at, (other_name, other)) in others.iter().enumerate() {
                let is_chosen = other_at == beside_one && (is_own || (at + turn) % 8 == 0);
                if !is_chosen && more() == 0 {
                    continue;
                }
                let pair = [operation.clone(), other.clone()];
                let explored = explore(scene.fill, &pair, Orders::Switches(1), scene.is_sound);
                assert_eq!(
                    explored.unsound, 0,
                    "{name}: {verb} ({way:?}) beside {other_name} ({other_way:?}): {explored}"
                );
                all.add(&explored);
            }
        }
    }
    println!("{name}: {all}");
    assert!(all.orders > 100, "{name}: {all}");
}

fn pairs() -> impl Iterator<Item = (Way, Way)> {
    ways().map(|(one, other, _)| (one, other))
}

const COPIES: Scene = Scene {
    fill: copies::fill,
    is_sound: |db| Box::pin(copies::is_in_step(db)),
};

#[test]
fn verbs_on_documents_with_copies() {
    let others = |way| {
        vec![
            ("a change of the source", copies::rename("new", way)),
            ("a strict insert", copies::insert_book(way)),
        ]
    };
    let name = "verbs on documents with strict copies";
    cross(name, &COPIES, pairs(), changing::<copies::Book>, others);
    let others = |way| {
        vec![
            ("a change of the source", copies::rename("new", way)),
            ("a settled insert", copies::insert_sale(way)),
        ]
    };
    let name = "verbs on documents with settled copies";
    cross(name, &COPIES, pairs(), changing::<copies::Sale>, others);
}

#[test]
fn verbs_on_documents_that_are_copied() {
    let others = |way| {
        vec![
            ("another change", copies::rename("newer", way)),
            ("a strict insert", copies::insert_book(way)),
            ("a settled insert", copies::insert_sale(way)),
            ("a settled move", copies::reassign_sale(way)),
        ]
    };
    let name = "verbs on documents that are copied";
    // Nothing follows from a new publisher.
    let verbs = |way| {
        let mut verbs = changing::<copies::Publisher>(way);
        verbs.retain(|(verb, _)| !["insert_many", "find_one_or_insert"].contains(verb));
        verbs
    };
    cross(name, &COPIES, pairs(), verbs, others);
}

const SUMMARIES: Scene = Scene {
    fill: summaries::fill,
    is_sound: |db| Box::pin(summaries::are_right(db)),
};

/// The insert of another child, a move, and a replacement of the parent, which computes its summaries.
fn beside_summarized(is_strict: bool, way: Way) -> Named {
    let mut others = summaries::operations(is_strict, way, 9);
    others.truncate(2);
    let mut parent = replacing::<summaries::Item>(way);
    others.push(parent.swap_remove(1));
    others
}

#[test]
fn verbs_on_documents_with_strict_summaries() {
    let others = |way| beside_summarized(true, way);
    let name = "verbs on documents with strict summaries";
    let verbs = all::<summaries::Rating>;
    cross(name, &SUMMARIES, pairs(), verbs, others);
}

#[test]
fn verbs_on_documents_with_settled_summaries() {
    let others = |way| beside_summarized(false, way);
    let name = "verbs on documents with settled summaries";
    let verbs = all::<summaries::View>;
    cross(name, &SUMMARIES, pairs(), verbs, others);
}

/// Documents may refer to one that is inserted after them.
#[test]
fn verbs_on_documents_that_hold_summaries() {
    for is_strict in [true, false] {
        let others = |way| {
            let mut others = summaries::operations(is_strict, way, 9);
            others.push((
                "an insert before its parent",
                summaries::insert_before(is_strict, NEW, way),
            ));
            others
        };
        let name = format!("verbs on documents that hold summaries, strict: {is_strict}");
        let verbs = replacing::<summaries::Item>;
        cross(&name, &SUMMARIES, pairs(), verbs, others);
    }
}

const LISTS: Scene = Scene {
    fill: newest::fill,
    is_sound: |db| Box::pin(newest::are_right(db)),
};

/// The insert of another child, the change of one to one of the newest, and a replacement of the parent.
fn beside_listed(is_strict: bool, way: Way) -> Named {
    let mut others = newest::operations(is_strict, way, 9);
    others.truncate(4);
    others.drain(1..3);
    let mut parent = replacing::<newest::Host>(way);
    others.push(parent.swap_remove(1));
    others
}

#[test]
fn verbs_on_documents_in_strict_lists() {
    let others = |way| beside_listed(true, way);
    let name = "verbs on documents in strict lists";
    cross(name, &LISTS, pairs(), all::<newest::Order>, others);
}

#[test]
fn verbs_on_documents_in_settled_lists() {
    let others = |way| beside_listed(false, way);
    let name = "verbs on documents in settled lists";
    cross(name, &LISTS, pairs(), all::<newest::Message>, others);
}

#[test]
fn verbs_on_documents_with_lists() {
    for is_strict in [true, false] {
        let others = |way| newest::operations(is_strict, way, 9);
        let name = format!("verbs on documents with lists, strict: {is_strict}");
        let verbs = replacing::<newest::Host>;
        cross(&name, &LISTS, pairs(), verbs, others);
    }
}

const REFERENCES: Scene = Scene {
    fill: two_way::fill,
    is_sound: |db| Box::pin(two_way::is_symmetric(db)),
};

#[test]
fn verbs_on_two_way_references() {
    let pairs = || {
        [Way::Own, Way::Joined]
            .into_iter()
            .map(|way| (way, Way::Own))
    };
    let others = |_| two_way::operations();
    let name = "verbs on documents with a two-way reference";
    cross(name, &REFERENCES, pairs(), all::<two_way::Task>, others);
    let name = "verbs on documents with a list of two-way references";
    cross(name, &REFERENCES, pairs(), all::<two_way::Owner>, others);
}
