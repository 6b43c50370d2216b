//! The typed operators on every place, held against Rust's equality and order of the values.
//!
//! `ODM_FIELD_CASES` is the number of rows of each type; if it is set, they differ from run to run.

use std::cmp::Ordering;

use odm::bson::{self, Bson, Document as BsonDocument, doc};
use odm::prelude::*;
use odm::query::kind::{Growable, Optional, Sequence};
use odm::query::typing::ElementEncoder;
use odm::query::{Encode, Field, IntoValue, encode};

use super::Row;
use super::shape::{Order, Place, Shape, Test, rank};
use crate::random::{self, Random};

const VARIABLE: &str = "ODM_FIELD_CASES";

/// A typed condition, as it is sent, and what it stands for.
#[derive(Debug)]
pub(super) struct Condition {
    place: Place,
    test: Test,
    filter: BsonDocument,
}

impl Condition {
    pub(super) fn new<M>(place: Place, test: Test, filter: &Filter<M>) -> Self {
        let filter = filter.to_document().unwrap();
        Self {
            place,
            test,
            filter,
        }
    }
}

/// The conditions that every field has.
pub(super) fn conditions_on<M, D, E, T>(
    place: Place,
    field: &Field<M, D, E>,
    pool: &[T],
) -> Vec<Condition>
where
    E: Encode<D>,
    T: IntoValue<D> + Clone,
{
    let mut found = Vec::new();
    let mut ask = |test: Test, filter: Filter<M>| found.push(Condition::new(place, test, &filter));
    for (at, value) in pool.iter().enumerate() {
        let value = || value.clone();
        ask(Test::Eq(at), field.eq(value()));
        ask(Test::Ne(at), field.ne(value()));
        ask(Test::Gt(at), field.gt(value()));
        ask(Test::Gte(at), field.gte(value()));
        ask(Test::Lt(at), field.lt(value()));
        ask(Test::Lte(at), field.lte(value()));
        ask(Test::NotGt(at), field.not(|field| field.gt(value())));
    }
    let ends = [0, pool.len() - 1];
    let values = || ends.map(|at| pool[at].clone());
    ask(Test::In(ends.into()), field.in_(values()));
    ask(Test::Nin(ends.into()), field.nin(values()));
    ask(Test::In(Vec::new()), field.in_(Vec::<T>::new()));
    ask(Test::IsNull, field.is_null());
    if place != Place::Any {
        ask(Test::Exists(true), field.exists(true));
        ask(Test::Exists(false), field.exists(false));
        ask(Test::Exists(false), field.is_missing());
    }
    found
}

/// The conditions that an `Option` has in addition.
pub(super) fn conditions_on_option<M, D, E>(
    place: Place,
    field: &Field<M, Option<D>, E>,
) -> [Condition; 2]
where
    E: Encode<Option<D>>,
{
    [
        Condition::new(place, Test::EqNone, &field.eq(None)),
        Condition::new(place, Test::NeNone, &field.ne(None)),
    ]
}

/// The conditions on a list as a whole.
pub(super) fn conditions_on_list<M, T, E>(field: &Field<M, Vec<T>, E>, pool: &[T]) -> Vec<Condition>
where
    T: Clone,
    Vec<T>: Sequence<Element = T>,
    E: Encode<Vec<T>> + ElementEncoder<Vec<T>>,
{
    let last = pool.len() - 1;
    let mut found = Vec::new();
    let mut ask =
        |test: Test, filter: Filter<M>| found.push(Condition::new(Place::Any, test, &filter));
    ask(Test::Eq(last), field.has(pool[last].clone()));
    ask(
        Test::All(vec![0, last]),
        field.all([pool[0].clone(), pool[last].clone()]),
    );
    for elements in 0..3 {
        ask(
            Test::Size(usize::try_from(elements).unwrap()),
            field.size(elements),
        );
    }
    found
}

type Apply = Box<dyn Fn(&mut Shape, &Order)>;

/// A typed change of one row, with a condition, and what it makes of the row.
pub(super) struct Edit<M> {
    name: String,
    condition: Filter<M>,
    update: Update<M>,
    apply: Apply,
}

impl<M> Edit<M> {
    pub(super) fn new(
        name: impl Into<String>,
        update: Update<M>,
        apply: impl Fn(&mut Shape, &Order) + 'static,
    ) -> Self {
        Self {
            name: name.into(),
            condition: Filter::all(),
            update,
            apply: Box::new(apply),
        }
    }

    pub(super) fn with(self, condition: Filter<M>) -> Self {
        Self { condition, ..self }
    }
}

/// What becomes of the value in a place, if there is one.
type Change<'c> = dyn Fn(Option<usize>) -> Option<usize> + 'c;

/// Where a shape holds the only value of a place.
#[derive(Clone, Copy)]
pub(super) struct Slot {
    name: &'static str,
    change: fn(&mut Shape, &Change<'_>),
    /// Whether null stands there if there is no value.
    nullable: bool,
}

pub(super) const VALUE: Slot = Slot {
    name: "value",
    change: |shape, change| shape.value = change(Some(shape.value)).unwrap(),
    nullable: false,
};

pub(super) const MAYBE: Slot = Slot {
    name: "maybe",
    change: |shape, change| shape.maybe = change(shape.maybe),
    nullable: true,
};

pub(super) const ENTRY: Slot = Slot {
    name: "map.key",
    change: |shape, change| shape.entry = change(shape.entry),
    nullable: false,
};

pub(super) const FIRST: Slot = Slot {
    name: "list.0",
    change: |shape, change| {
        let after = change(shape.list.first().copied()).unwrap();
        match shape.list.first_mut() {
            Some(first) => *first = after,
            None => shape.list.push(after),
        }
    },
    nullable: false,
};

/// The changes that every field has, of a place with one value.
pub(super) fn edits_of<M, D, E, T>(slot: Slot, field: &Field<M, D, E>, pool: &[T]) -> Vec<Edit<M>>
where
    E: Encode<D>,
    T: IntoValue<D> + Clone,
{
    let Slot {
        name,
        change,
        nullable,
    } = slot;
    let mut found = Vec::new();
    for (at, value) in pool.iter().enumerate() {
        let value = || value.clone();
        let set = Edit::new(
            format!("{name}.set"),
            field.set(value()),
            move |shape, _| {
                change(shape, &|_| Some(at));
            },
        );
        let min = Edit::new(
            format!("{name}.min"),
            field.min(value()),
            move |shape, order| {
                change(shape, &|before| match before {
                    Some(before) if order.sorted(at, before).is_lt() => Some(at),
                    // Null is less than any value.
                    None if !nullable => Some(at),
                    before => before,
                });
            },
        );
        let max = Edit::new(
            format!("{name}.max"),
            field.max(value()),
            move |shape, order| {
                change(shape, &|before| match before {
                    Some(before) if order.sorted(at, before).is_le() => Some(before),
                    _ => Some(at),
                });
            },
        );
        found.extend([set, min, max]);
    }
    found
}

/// The changes of a field in a pipeline, and those that an `Option` has in addition.
pub(super) fn edits_of_option<M, D, E>(field: &Field<M, Option<D>, E>, value: &D) -> Vec<Edit<M>>
where
    D: Clone,
    E: Encode<Option<D>>,
    Option<D>: Optional,
{
    vec![
        Edit::new("maybe.set(None)", field.set(None), |shape, _| {
            shape.maybe = None;
        }),
        Edit::new("maybe.unset", field.unset(), |shape, _| shape.maybe = None),
        Edit::new("maybe.set_literal", field.set_literal(value), |shape, _| {
            shape.maybe = Some(0);
        }),
    ]
}

/// The changes of a list as a whole; `pool` is of its elements.
pub(super) fn edits_of_list<M, T, E>(field: &Field<M, Vec<T>, E>, pool: &[T]) -> Vec<Edit<M>>
where
    T: Clone,
    Vec<T>: Growable<Element = T>,
    E: Encode<Vec<T>> + ElementEncoder<Vec<T>>,
{
    let last = pool.len() - 1;
    let (low, high) = (|| pool[0].clone(), || pool[last].clone());
    let mut found = vec![
        Edit::new(
            "list.set",
            field.set(vec![high(), low()]),
            move |shape, _| {
                shape.list = vec![last, 0];
            },
        ),
        Edit::new(
            "list.push_each",
            field.push_each([high(), low()]),
            move |shape, _| {
                shape.list.extend([last, 0]);
            },
        ),
        Edit::new(
            "list.push_with",
            field.push_with([high()], |push| push.position(0).slice(2)),
            move |shape, _| {
                shape.list.insert(0, last);
                shape.list.truncate(2);
            },
        ),
        Edit::new(
            "list.add_to_set_each",
            field.add_to_set_each([high(), low()]),
            move |shape, order| {
                add_to_set(&mut shape.list, last, order);
                add_to_set(&mut shape.list, 0, order);
            },
        ),
        Edit::new("list.pull_all", field.pull_all([low()]), |shape, order| {
            shape.list.retain(|one| !order.same(*one, 0));
        }),
        Edit::new("list.pop_first", field.pop_first(), |shape, _| {
            shape.list.drain(..shape.list.len().min(1));
        }),
        Edit::new("list.pop_last", field.pop_last(), |shape, _| {
            shape.list.pop();
        }),
    ];
    for (at, value) in pool.iter().enumerate() {
        let value = || value.clone();
        found.push(Edit::new(
            "list.push",
            field.push(value()),
            move |shape, _| {
                shape.list.push(at);
            },
        ));
        found.push(Edit::new(
            "list.add_to_set",
            field.add_to_set(value()),
            move |shape, order| {
                add_to_set(&mut shape.list, at, order);
            },
        ));
        found.push(Edit::new(
            "list.pull",
            field.pull(value()),
            move |shape, order| {
                shape.list.retain(|one| !order.same(*one, at));
            },
        ));
    }
    found
}

fn add_to_set(list: &mut Vec<usize>, value: usize, order: &Order) {
    if !list.iter().any(|one| order.same(*one, value)) {
        list.push(value);
    }
}

/// The first element that is equal to a value becomes another one.
pub(super) fn replace_first(list: &mut [usize], from: usize, to: usize, order: &Order) {
    if let Some(one) = list.iter_mut().find(|one| order.same(**one, from)) {
        *one = to;
    }
}

/// Every element that is equal to a value becomes another one.
pub(super) fn replace_each(list: &mut [usize], from: usize, to: usize, order: &Order) {
    for one in list.iter_mut().filter(|one| order.same(**one, from)) {
        *one = to;
    }
}

/// A row and its shape.
#[derive(Debug)]
struct Stored {
    id: i32,
    shape: Shape,
}

/// Rows of every value, and random ones.
fn shapes<R: Row>() -> (Vec<Stored>, Random) {
    let pool = R::pool().len();
    let mut random = Random::unless_set(VARIABLE, 11);
    let mut shapes: Vec<Shape> = (0..pool).map(Shape::full_of).collect();
    shapes.extend((0..random::count(VARIABLE, 10)).map(|_| Shape::random(&mut random, pool)));
    let stored = (0..).zip(shapes).map(|(id, shape)| Stored { id, shape });
    (stored.collect(), random)
}

/// The stored form of a row.
fn raw<R: Row>(row: &R) -> BsonDocument {
    encode(row).unwrap().as_document().unwrap().clone()
}

/// Compares every byte: `NaN` is not equal to itself.
fn assert_same<R: Row>(one: &R, other: &R, context: &str) {
    let (one, other) = (raw(one), raw(other));
    let bytes = |raw| bson::serialize_to_vec(raw).unwrap();
    assert!(
        bytes(&one) == bytes(&other),
        "{context}: {one}, not {other}"
    );
}

pub(super) async fn check<R: Row>(db: &Db) {
    let plan = db.sync(models![R]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    let rows = db.collection::<R>();
    let (stored, mut random) = shapes::<R>();
    let written: Vec<R> = stored.iter().map(|one| R::of(one.id, &one.shape)).collect();
    rows.insert_many(&written).await.unwrap();
    let compared = match R::order() {
        Some(compared) => compared,
        None => order_in::<R>(db).await,
    };
    let ranks = (0..R::pool().len()).map(|at| rank(&raw(&written[at])["value"]));
    let order = Order {
        compared,
        ranks: ranks.collect(),
    };
    conditions_hold(db, &R::conditions(), &stored, &order).await;
    sorts_and_pages::<R>(db, &stored, &order).await;
    changes_are_exact::<R>(db, &stored, &order, &mut random).await;
    an_upsert_writes_the_row::<R>(db, &stored[0]).await;

    // The same values in other types of numbers, as other programs write them; and conditions that an index serves.
    let off = doc! {"collMod": "rows", "validationLevel": "off"};
    db.run_command(off).await.unwrap();
    rows.delete_all().await.unwrap();
    let foreign = written
        .iter()
        .map(|row| other_numbers::<R>(&mut random, raw(row)));
    let foreign: Vec<BsonDocument> = foreign.collect();
    db.run_command(doc! {"insert": "rows", "documents": foreign})
        .await
        .unwrap();
    conditions_hold(db, &R::conditions(), &stored, &order).await;
    let keys = [
        "value",
        "maybe",
        "list",
        "map.key",
        "parts.value",
        "parts.maybe",
    ];
    let indexes = keys.map(|key| doc! {"key": {key: 1}, "name": key});
    db.run_command(doc! {"createIndexes": "rows", "indexes": indexes.to_vec()})
        .await
        .unwrap();
    let conditions = R::conditions();
    for _ in 0..random::count(VARIABLE, 10) {
        let condition = random.pick(&conditions);
        let filter = condition.filter.clone();
        let found = rows.find(|_| Filter::raw(filter)).sort(|_| R::by_id());
        let found: Vec<i32> = found
            .all()
            .await
            .unwrap()
            .iter()
            .map(|row| *row.id())
            .collect();
        assert_eq!(found, expected(condition, &stored, &order), "{condition:?}");
    }
}

fn expected(condition: &Condition, stored: &[Stored], order: &Order) -> Vec<i32> {
    let met = stored
        .iter()
        .filter(|one| one.shape.meets(condition.place, &condition.test, order));
    met.map(|one| one.id).collect()
}

/// The ids that each condition finds, in one command.
async fn found(db: &Db, conditions: &[Condition]) -> Vec<Vec<i32>> {
    let ids = |condition: &Condition| {
        let ids = doc! {"$project": {"_id": 1}};
        Bson::from(vec![
            doc! {"$match": condition.filter.clone()},
            doc! {"$sort": {"_id": 1}},
            ids,
        ])
    };
    let facets = (0_u32..)
        .zip(conditions)
        .map(|(at, condition)| (at.to_string(), ids(condition)));
    let facet: BsonDocument = facets.collect();
    let found = db
        .run_command(doc! {"aggregate": "rows", "pipeline": [{"$facet": facet}], "cursor": {}})
        .all()
        .await
        .unwrap();
    let lists = found[0].values();
    let ids = lists.map(|list| {
        let documents = list
            .as_array()
            .unwrap()
            .iter()
            .filter_map(Bson::as_document);
        documents
            .map(|document| document.get_i32("_id").unwrap())
            .collect()
    });
    ids.collect()
}

async fn conditions_hold(db: &Db, conditions: &[Condition], stored: &[Stored], order: &Order) {
    for (condition, found) in conditions.iter().zip(found(db, conditions).await) {
        let expected = expected(condition, stored, order);
        assert_eq!(found, expected, "{condition:?} of {stored:?}");
    }
}

/// How MongoDB compares the values of a type that has no order in Rust: the row of each index in the pool holds that value.
async fn order_in<R: Row>(db: &Db) -> Vec<Vec<Option<Ordering>>> {
    let conditions: Vec<Condition> = R::conditions();
    let conditions: Vec<Condition> = conditions
        .into_iter()
        .filter(|condition| condition.place == Place::Value)
        .collect();
    let pool = R::pool().len();
    let mut order = vec![vec![None; pool]; pool];
    for (condition, found) in conditions.iter().zip(found(db, &conditions).await) {
        let (value, holds) = match condition.test {
            Test::Gt(value) => (value, Ordering::Greater),
            Test::Lt(value) => (value, Ordering::Less),
            Test::Eq(value) => (value, Ordering::Equal),
            _ => continue,
        };
        for (one, row) in order.iter_mut().enumerate() {
            if found.contains(&i32::try_from(one).unwrap()) {
                let before = row[value].replace(holds);
                assert_eq!(before, None, "{one} and {value}");
            }
        }
    }
    for (one, row) in order.iter().enumerate() {
        for (other, compared) in row.iter().enumerate() {
            let turned = order[other][one].map(Ordering::reverse);
            assert_eq!(*compared, turned, "{one} and {other}");
        }
    }
    order
}

async fn sorts_and_pages<R: Row>(db: &Db, stored: &[Stored], order: &Order) {
    let rows = db.collection::<R>();
    if order.ranks[0] == rank(&Bson::Array(Vec::new())) {
        // Arrays sort by one of their elements.
        let page = rows
            .find_all()
            .sort(|_| R::by_value(false))
            .page_after(None, 4);
        assert!(page.await.is_err_and(|error| error.is_usage()));
        return;
    }
    for descending in [false, true] {
        let query = || rows.find_all().sort(|_| R::by_value(descending));
        let sorted: Vec<i32> = query()
            .all()
            .await
            .unwrap()
            .iter()
            .map(|row| *row.id())
            .collect();
        let value = |id: &i32| {
            let at = stored.iter().find(|one| one.id == *id);
            at.unwrap().shape.value
        };
        for (one, next) in sorted.iter().zip(sorted.iter().skip(1)) {
            let wrong = if descending {
                Ordering::Less
            } else {
                Ordering::Greater
            };
            let between = order.sorted(value(one), value(next));
            assert_ne!(between, wrong, "{one} before {next}");
        }
        let (mut seen, mut token) = (Vec::new(), None);
        loop {
            let page = query().page_after(token.as_ref(), 4).await.unwrap();
            seen.extend(page.items.iter().map(|row| *row.id()));
            token = page.next;
            if token.is_none() {
                break;
            }
        }
        seen.sort_unstable();
        assert!(seen.into_iter().eq(stored.iter().map(|one| one.id)));
    }
}

/// Makes each change by one of the operations, and compares the whole document with the row that it should be.
async fn changes_are_exact<R: Row>(db: &Db, stored: &[Stored], order: &Order, random: &mut Random) {
    let rows = db.collection::<R>();
    for edit in R::edits() {
        let Stored { id, shape } = random.pick(stored);
        let (id, mut shape) = (*id, shape.clone());
        let Edit {
            name,
            condition,
            update,
            apply,
        } = edit;
        let before = shape.clone();
        apply(&mut shape, order);
        rows.replace_one(|_| R::with_id(id), &R::of(id, &before))
            .await
            .unwrap();
        let one = R::with_id(id) & condition;
        match random.below(4) {
            0 => {
                rows.update_many(|_| one, |_| update).await.unwrap();
            }
            1 => {
                let found = rows.find_one_and_update(|_| one, |_| update).await.unwrap();
                if let Some(found) = found {
                    assert_same(
                        &found,
                        &R::of(id, &before),
                        &format!("{name} of {before:?}"),
                    );
                }
            }
            2 => {
                rows.bulk_write(|w| vec![w.update_one(|_| one, |_| update)])
                    .await
                    .unwrap();
            }
            _ => {
                rows.update_one(|_| one, |_| update).await.unwrap();
            }
        }
        let after = rows.get(&id).await.unwrap().unwrap();
        assert_same(&after, &R::of(id, &shape), &format!("{name} of {before:?}"));

        // A save writes the difference.
        let mut loaded = rows.load(&id).await.unwrap().unwrap();
        *loaded = R::of(id, &before);
        rows.save(&mut loaded).await.unwrap();
        let after = rows.get(&id).await.unwrap().unwrap();
        assert_same(
            &after,
            &R::of(id, &before),
            &format!("saved from {shape:?}"),
        );
    }
}

async fn an_upsert_writes_the_row<R: Row>(db: &Db, stored: &Stored) {
    let rows = db.collection::<R>();
    let id = 10_000;
    let upsert = || {
        rows.update_one(|_| R::with_id(id), |_| R::inserted(&stored.shape))
            .upsert(true)
    };
    assert!(upsert().await.unwrap().upserted_id.is_some());
    assert!(upsert().await.unwrap().upserted_id.is_none());
    let row = rows.get(&id).await.unwrap().unwrap();
    assert_same(&row, &R::of(id, &stored.shape), "upserted");
    rows.delete_one(|_| R::with_id(id)).await.unwrap();
}

/// The document with some numbers in other types of BSON, as far as the row that is read is the same.
fn other_numbers<R: Row>(random: &mut Random, raw: BsonDocument) -> BsonDocument {
    let mut changed = raw.clone();
    for (name, value) in changed.iter_mut() {
        if name != "_id" {
            random.retype(value);
        }
    }
    match bson::deserialize_from_document::<R>(changed.clone()) {
        Ok(read) if self::raw(&read) == raw => changed,
        _ => raw,
    }
}
