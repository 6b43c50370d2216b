//! Random changes of trees, for all patterns, options and types of ids, atomic or not and in sessions, beside documents
//! that another program rewrote; each is compared with a plain tree.
//!
//! `ODM_TREE_OPERATIONS` is for more changes, which then are random, unless `ODM_TREE_SEED` repeats those of a failure.

use std::collections::BTreeMap;

use odm::bson::{Bson, Document as BsonDocument, Uuid, doc, oid::ObjectId};
use odm::error::TreeRefusal;
use odm::prelude::*;
use odm::tree::prelude::*;
use odm::tree::{ChangeTree, TreeDelete, TreeWrite};

use super::declared::{self, IdOf, InOrder, Order, ReadTree, TestId, models, named, order};
use super::plain::{Place, Plain};
use super::random::Random;
use super::reads;
use crate::case::cases;

cases![
    changes_by_parents,
    changes_by_lists_of_children,
    changes_by_ancestors,
    changes_by_paths,
    changes_by_bounds,
    changes_in_scopes,
    changes_within_a_largest_depth,
];

models! {
    ParentFlat: ObjectId, Field, "change_parent_flat", (parent_references, order = rank, max_depth = 2, scope = shop, count(children = count)) {
        parent: Parent<ParentFlat>, rank: Rank, count: NodeCount
    }
    ChildFlat: Uuid, List, "change_child_flat", (child_references, max_depth = 2, depth = depth) {
        children: Children<ChildFlat>, depth: Depth
    }
    AncestorsFlat: String, None, "change_ancestors_flat", (array_of_ancestors, max_depth = 2, scope = shop, count(descendants = below)) {
        ancestors: Ancestors<AncestorsFlat>, below: NodeCount
    }
    PathFlat: i32, Field, "change_path_flat", (materialized_path, parent = parent, order = rank, max_depth = 2, scope = shop, depth = depth) {
        path: Materialized<PathFlat>, parent: Parent<PathFlat>, rank: Rank, depth: Depth
    }
    BoundsFlat: i64, Field, "change_bounds_flat", (nested_sets, max_depth = 2, scope = shop) { left: Left, right: Right }
    BoundsAll: Uuid, Field, "change_bounds_all", (nested_sets, parent = parent, ancestors = ancestors, scope = shop, depth = depth, count(children = count, descendants = below)) {
        left: Left, right: Right, parent: Parent<BoundsAll>, ancestors: Ancestors<BoundsAll>, depth: Depth,
        count: NodeCount, below: NodeCount
    }
}

async fn changes_by_parents(db: &Db) {
    changes::<declared::ParentNumber>(db, 1).await;
    changes::<declared::ParentText>(db, 2).await;
    changes::<declared::ParentUuid>(db, 3).await;
}

async fn changes_by_lists_of_children(db: &Db) {
    changes::<declared::ChildText>(db, 4).await;
    changes::<declared::ChildUuid>(db, 5).await;
    changes::<declared::ChildCounted>(db, 6).await;
    changes::<declared::ChildAndParent>(db, 7).await;
}

async fn changes_by_ancestors(db: &Db) {
    changes::<declared::AncestorsText>(db, 8).await;
    changes::<declared::AncestorsObjectId>(db, 9).await;
    changes::<declared::AncestorsChildren>(db, 10).await;
}

async fn changes_by_paths(db: &Db) {
    changes::<declared::PathText>(db, 11).await;
    changes::<declared::PathUuid>(db, 12).await;
    changes::<declared::PathObjectId>(db, 13).await;
    changes::<declared::PathNumber>(db, 14).await;
}

async fn changes_by_bounds(db: &Db) {
    changes::<declared::BoundsText>(db, 15).await;
    changes::<declared::BoundsUuid>(db, 16).await;
    changes::<declared::BoundsChildren>(db, 17).await;
}

async fn changes_in_scopes(db: &Db) {
    changes::<declared::ParentInShop>(db, 18).await;
    changes::<declared::ChildInShop>(db, 19).await;
    changes::<declared::AncestorsInShop>(db, 20).await;
    changes::<declared::PathInShop>(db, 21).await;
    changes::<declared::BoundsInShop>(db, 22).await;
    changes::<BoundsAll>(db, 23).await;
}

async fn changes_within_a_largest_depth(db: &Db) {
    changes::<ParentFlat>(db, 24).await;
    changes::<ChildFlat>(db, 25).await;
    changes::<AncestorsFlat>(db, 26).await;
    changes::<PathFlat>(db, 27).await;
    changes::<BoundsFlat>(db, 28).await;
}

/// The nodes of a scope have numbers from `17 * (shop - 1) + 1`.
const SCOPE: i32 = 17;

fn numbers_of(shop: i32) -> std::ops::Range<i32> {
    (shop - 1) * SCOPE + 1..shop * SCOPE + 1
}

/// How many changes, and their seed.
fn operations(seed: u64) -> (usize, u64) {
    let number = |name| {
        std::env::var(name)
            .ok()
            .map(|set| set.parse::<u64>().unwrap())
    };
    match (number("ODM_TREE_OPERATIONS"), number("ODM_TREE_SEED")) {
        (None, None) => (8, seed),
        (count, Some(seed)) => (usize::try_from(count.unwrap_or(200)).unwrap(), seed),
        (Some(count), None) => {
            let time = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap();
            let random = seed + 1_000 * u64::from(time.subsec_nanos());
            (usize::try_from(count).unwrap().min(200), random)
        }
    }
}

/// Prints what led to a failure, which a failed case shows.
struct History {
    model: &'static str,
    seed: u64,
    lines: Vec<String>,
}

impl Drop for History {
    #[expect(
        clippy::print_stdout,
        reason = "the case has failed, and is to be repeated"
    )]
    fn drop(&mut self) {
        if std::thread::panicking() {
            let Self { model, seed, lines } = self;
            println!("{model}: ODM_TREE_SEED={seed} after\n{}", lines.join("\n"));
        }
    }
}

/// How a change is sent.
#[derive(Debug, Clone, Copy, PartialEq)]
enum How {
    Atomic,
    NonAtomic,
    Committed,
    Aborted,
}

/// A change of the plain tree and of the stored one.
#[derive(Debug, Clone, Copy)]
enum Change {
    Move(i32, Place),
    Swap(i32, i32),
    Delete(i32, TreeDelete),
    InOrder(i32, InOrder),
}

impl Change {
    fn random(plain: &Plain, random: &mut Random, order: Order) -> Self {
        let ids = plain.ids();
        let one = random.of(&ids);
        let policies = [
            TreeDelete::Cascade,
            TreeDelete::Adopt,
            TreeDelete::MakeRoots,
            TreeDelete::Restrict,
        ];
        let is_in_order = order == Order::Field || order == Order::List && plain.parent(one) != 0;
        match random.below(10) {
            0..=2 => Self::Delete(one, policies[random.below(4)]),
            3 | 4 => Self::Swap(one, random.of(&ids)),
            5 if is_in_order => Self::InOrder(one, [InOrder::Up, InOrder::Down][random.below(2)]),
            6 if is_in_order => {
                let parent = if order == Order::Field && random.below(4) == 0 {
                    0
                } else {
                    random.of(&ids)
                };
                Self::InOrder(one, InOrder::To(parent, random.below(4)))
            }
            7 if order == Order::Field => Self::InOrder(one, InOrder::Rerank),
            _ => Self::Move(one, within(plain, random.place(&ids, one), order)),
        }
    }

    /// Changes the plain tree, or returns why the change is refused.
    fn plainly(self, plain: &mut Plain, max_depth: Option<u32>) -> Result<(), TreeRefusal> {
        let before = plain.clone();
        match self {
            Self::Move(one, place) => relocate(plain, one, place)?,
            Self::Swap(one, other) => {
                if !plain.swap(one, other) {
                    return Err(TreeRefusal::OwnSubtree);
                }
            }
            Self::Delete(one, TreeDelete::Adopt) => plain.adopt(one),
            Self::Delete(one, TreeDelete::MakeRoots) => plain.make_roots(one),
            Self::Delete(one, TreeDelete::Restrict) if !plain.children(one).is_empty() => {
                return Err(TreeRefusal::HasChildren);
            }
            Self::Delete(one, _) => plain.cascade(one),
            Self::InOrder(_, InOrder::Rerank) => {}
            Self::InOrder(one, InOrder::To(parent, index)) => {
                let others = plain.children(parent).iter().filter(|id| **id != one);
                let place = others.copied().nth(index);
                relocate(
                    plain,
                    one,
                    place.map_or(Place::LastOf(parent), Place::Before),
                )?;
            }
            Self::InOrder(one, step) => {
                let siblings = plain.children(plain.parent(one)).to_vec();
                let at = siblings.iter().position(|id| *id == one).unwrap();
                let beside = match step {
                    InOrder::Up => at.checked_sub(1).map(|at| Place::Before(siblings[at])),
                    _ => siblings.get(at + 1).map(|next| Place::After(*next)),
                };
                if let Some(place) = beside {
                    relocate(plain, one, place)?;
                }
            }
        }
        let deepest = |plain: &Plain| {
            plain
                .ids()
                .iter()
                .map(|id| plain.ancestors(*id).len())
                .max()
        };
        if max_depth.is_some_and(|max| deepest(plain) > Some(max as usize)) {
            *plain = before;
            return Err(TreeRefusal::TooDeep);
        }
        Ok(())
    }

    fn stored<D: ReadTree>(self, tree: &Tree<D>) -> ChangeTree<'static, D> {
        match self {
            Self::Move(one, place) => tree.move_to(named::<D>(one), D::position(place)),
            Self::Swap(one, other) => tree.swap(named::<D>(one), named::<D>(other)),
            Self::Delete(one, policy) => tree.delete(named::<D>(one)).policy(policy).into(),
            Self::InOrder(one, change) => D::in_order(tree, one, change).unwrap(),
        }
    }
}

fn relocate(plain: &mut Plain, one: i32, place: Place) -> Result<(), TreeRefusal> {
    let taken = plain.relocate(one, place);
    taken.then_some(()).ok_or(TreeRefusal::OwnSubtree)
}

/// The place, or the last one among the same siblings where they have no order.
fn within(plain: &Plain, place: Place, order: Order) -> Place {
    let parent = plain.parent_at(place);
    match order {
        Order::Field => place,
        Order::List if parent != 0 => place,
        _ => Place::LastOf(parent),
    }
}

async fn changes<D: ReadTree>(db: &Db, seed: u64) {
    let (count, seed) = operations(seed);
    let mut random = Random::new(seed);
    let mut history = History {
        model: D::Model::model().name,
        seed,
        lines: Vec::new(),
    };
    let plan = db.sync([D::Model::model()]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    let is_free = random.below(2) == 0;
    if is_free {
        // Another program may write what the rules forbid, and the type reads.
        let command = doc! {"collMod": D::Model::model().collection, "validator": {}};
        db.run_command(command).await.unwrap();
    }
    let tree = db.tree::<D>();
    let shops = if D::TREE.scope.is_some() { 2 } else { 1 };
    let mut plains = vec![Plain::default(); shops];
    for turn in 0..count {
        let at = random.below(shops);
        let shop = i32::try_from(at).unwrap() + 1;
        let how = [How::Atomic, How::NonAtomic, How::Committed, How::Aborted][random.below(4)];
        let mut after = plains[at].clone();
        let ids = after.ids();
        let free: Vec<i32> = numbers_of(shop)
            .filter(|number| !ids.contains(number))
            .collect();
        if ids.len() < 6 || !free.is_empty() && random.below(3) == 0 {
            let number = random.of(&free);
            let place = within(&after, random.place(&ids, number), D::ORDER);
            history
                .lines
                .push(format!("{how:?}: insert {number} at {place:?}"));
            after.insert(number, place);
            let is_too_deep = D::TREE
                .max_depth
                .is_some_and(|max| after.ancestors(number).len() > max as usize);
            let inserted = insert(db, &tree, number, shop, place, how).await;
            if is_too_deep {
                refused(inserted, TreeRefusal::TooDeep);
            } else {
                assert_eq!(inserted.unwrap().inserted, 1);
                if how != How::Aborted {
                    plains[at] = after;
                }
            }
        } else {
            let change = Change::random(&after, &mut random, D::ORDER);
            history.lines.push(format!("{how:?}: {change:?}"));
            let expected = change.plainly(&mut after, D::TREE.max_depth);
            let done = send(db, change.stored(&tree), how).await;
            match expected {
                Ok(()) => {
                    let written = done.unwrap();
                    let gone = ids.len() - after.ids().len();
                    assert_eq!(written.deleted, gone as u64);
                    if how != How::Aborted {
                        plains[at] = after;
                    }
                }
                Err(refusal) => refused(done, refusal),
            }
        }
        illegal(db, &tree, &plains, &mut random).await;
        if random.below(3) == 0 {
            rewrite_as_another_program(db, &tree, is_free, &mut random, &mut history).await;
        }
        compare(&tree, &plains, &mut random, turn).await;
    }
}

async fn insert<D: ReadTree>(
    db: &Db,
    tree: &Tree<D>,
    number: i32,
    shop: i32,
    place: Place,
    how: How,
) -> odm::Result<TreeWrite> {
    let insert = tree.insert(D::node(number, shop), D::position(place));
    Ok(match how {
        How::Atomic => insert.await?.written,
        How::NonAtomic => insert.non_atomic().await?.written,
        How::Committed | How::Aborted => {
            let mut session = db.start_session().await.unwrap();
            session.start_transaction().await.unwrap();
            let inserted = insert.session(&mut session).await;
            end(session, how, inserted.is_ok()).await;
            inserted?.written
        }
    })
}

async fn send<D: ReadTree>(db: &Db, change: ChangeTree<'_, D>, how: How) -> odm::Result<TreeWrite> {
    match how {
        How::Atomic => change.await,
        How::NonAtomic => change.non_atomic().await,
        How::Committed | How::Aborted => {
            let mut session = db.start_session().await.unwrap();
            session.start_transaction().await.unwrap();
            let done = change.session(&mut session).await;
            end(session, how, done.is_ok()).await;
            done
        }
    }
}

/// Ends the transaction now: that of a dropped session would block the next change until it is aborted in the background.
async fn end(mut session: Session, how: How, is_done: bool) {
    if is_done && how == How::Committed {
        session.commit_transaction().await.unwrap();
    } else {
        session.abort_transaction().await.unwrap();
    }
}

#[track_caller]
fn refused<T: std::fmt::Debug>(result: odm::Result<T>, expected: TreeRefusal) {
    assert_eq!(result.unwrap_err().tree_refusal(), Some(expected));
}

/// Changes that no tree takes.
async fn illegal<D: ReadTree>(db: &Db, tree: &Tree<D>, plains: &[Plain], random: &mut Random) {
    let missing = 40;
    let how = [How::Atomic, How::NonAtomic, How::Committed][random.below(3)];
    let place = Place::LastOf(missing);
    let [first, others @ ..] = plains else {
        return;
    };
    let ids = first.ids();
    if ids.is_empty() {
        return;
    }
    let one = random.of(&ids);
    let found = match random.below(6) {
        0 => insert(db, tree, 39, 1, place, how).await,
        1 => send(db, Change::Move(one, place).stored(tree), how).await,
        2 => {
            send(
                db,
                Change::Delete(missing, TreeDelete::Cascade).stored(tree),
                how,
            )
            .await
        }
        3 => send(db, Change::Swap(one, missing).stored(tree), how).await,
        4 => {
            let how = if how == How::Committed {
                How::Atomic
            } else {
                how
            };
            let again = insert(db, tree, one, 1, Place::LastOf(0), how).await;
            assert!(again.unwrap_err().is_duplicate_key());
            return;
        }
        _ => {
            let Some(others) = others.first().map(Plain::ids).filter(|ids| !ids.is_empty()) else {
                return;
            };
            let other = random.of(&others);
            let found = if random.below(2) == 0 {
                send(db, Change::Swap(one, other).stored(tree), how).await
            } else {
                send(
                    db,
                    Change::Move(one, Place::LastOf(other)).stored(tree),
                    how,
                )
                .await
            };
            return refused(found, TreeRefusal::OtherTree);
        }
    };
    refused(found, TreeRefusal::NotFound);
}

/// Stores a document in another form of the same meaning: the fields in another order, one more, whole numbers of the
/// other type.
async fn rewrite_as_another_program<D: ReadTree>(
    db: &Db,
    tree: &Tree<D>,
    is_free: bool,
    random: &mut Random,
    history: &mut History,
) {
    let stored = tree.collection().find_all().with_type::<BsonDocument>();
    let mut stored = stored.all().await.unwrap();
    if stored.is_empty() {
        return;
    }
    let document = stored.swap_remove(random.below(stored.len()));
    let id = document.get("_id").cloned().unwrap();
    let mut other = doc! {"_id": &id, "written_by": "another program"};
    let mut fields: Vec<(String, Bson)> = document.into_iter().collect();
    fields.reverse();
    let meta = D::TREE;
    let (left, right) = meta.bounds.unzip();
    let numbers = [
        left,
        right,
        meta.depth,
        meta.child_count,
        meta.descendant_count,
    ];
    let widens = random.below(2) == 0;
    for (field, value) in fields {
        if field != "_id" && field != "written_by" {
            let may_widen = is_free || numbers.contains(&Some(field.as_str()));
            other.insert(
                field,
                if widens && may_widen {
                    wide(value)
                } else {
                    value
                },
            );
        }
    }
    history.lines.push(format!("another program: {other}"));
    let command = doc! {
        "update": D::Model::model().collection,
        "updates": [{"q": {"_id": id}, "u": other}],
    };
    let reply = db.run_command(command).await.unwrap();
    assert_eq!(reply.get_i32("nModified").unwrap(), 1, "{reply}");
}

fn wide(value: Bson) -> Bson {
    match value {
        Bson::Int32(number) => Bson::Int64(number.into()),
        Bson::Array(values) => Bson::Array(values.into_iter().map(wide).collect()),
        value => value,
    }
}

/// Compares what is stored with the plain trees, and all reads of a node or of the whole.
async fn compare<D: ReadTree>(tree: &Tree<D>, plains: &[Plain], random: &mut Random, turn: usize) {
    let stored = tree.collection().find_all().with_type::<BsonDocument>();
    let stored = stored.all().await.unwrap();
    for (plain, shop) in plains.iter().zip(1..) {
        let own: Vec<BsonDocument> = stored
            .iter()
            .filter(|document| number(document.get("shop")) == Some(shop))
            .map(with_numbers::<D>)
            .collect();
        plain.assert_stored(D::TREE, &own);
        let ids = plain.ids();
        if !ids.is_empty() && turn.is_multiple_of(3) {
            reads::around(tree, plain, random.of(&ids), shop).await;
        }
        if turn.is_multiple_of(7) {
            reads::whole(tree, plain, shop).await;
        }
    }
    let report = tree.check().await.unwrap();
    assert!(report.is_sound(), "{report}");
    if turn % 3 == 1 {
        assert!(tree.repair().await.unwrap().is_empty());
    }
}

fn number(value: Option<&Bson>) -> Option<i32> {
    match value? {
        Bson::Int32(number) => Some(*number),
        Bson::Int64(number) => i32::try_from(*number).ok(),
        _ => None,
    }
}

/// The document as the plain tree describes it: numbers in place of ids.
fn with_numbers<D: ReadTree>(document: &BsonDocument) -> BsonDocument {
    let ids = (1..=40).map(|number| (number, IdOf::<D>::of(number)));
    let texts: BTreeMap<String, i32> = ids.map(|(number, id)| (id.text(), number)).collect();
    let text = |value: &Bson| match value {
        Bson::ObjectId(id) => id.to_hex(),
        Bson::Binary(binary) => binary.to_uuid().unwrap().to_string(),
        Bson::String(text) => text.clone(),
        Bson::Int32(number) => number.to_string(),
        Bson::Int64(number) => number.to_string(),
        _ => String::from(","),
    };
    let named = |value: &Bson| {
        texts
            .get(&text(value))
            .map_or_else(|| value.clone(), |id| (*id).into())
    };
    let meta = D::TREE;
    let mut result = BsonDocument::new();
    for (field, value) in document {
        let is = |kept: Option<&str>| kept == Some(field.as_str());
        let list = is(meta.children) || is(meta.ancestors);
        let value = match value {
            Bson::Array(values) if list => values.iter().map(named).collect::<Vec<_>>().into(),
            Bson::String(path) if is(meta.path.map(|(field, _)| field)) => {
                let parts = path
                    .split(',')
                    .map(|part| texts.get(part).map_or_else(String::new, i32::to_string));
                parts.collect::<Vec<_>>().join(",").into()
            }
            value if field == "_id" || is(meta.parent.map(|(field, _)| field)) => {
                match number(Some(value)) {
                    Some(0) => Bson::Int32(0),
                    _ => named(value),
                }
            }
            value => number(Some(value)).map_or_else(|| value.clone(), Bson::Int32),
        };
        result.insert(field, value);
    }
    result
}
