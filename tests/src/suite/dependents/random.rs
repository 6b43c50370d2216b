//! Random documents and deletes, compared with a plain model of the policies.

use odm::bson::{Bson, DateTime, Document as BsonDocument, doc};
use odm::prelude::*;

use super::models::Person;
use super::{insert, stored};
use crate::random::{Random, count};

/// What the plain model does with a reference.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Policy {
    Cascade,
    Restrict,
    Null,
    Unset,
    Pull,
}

/// The references to people: collection, names of fields, the field that they hold, and the policy.
const REFERENCES: [(&str, &[&str], &str, Policy); 11] = [
    ("works", &["author"], "_id", Policy::Cascade),
    ("works", &["by_code"], "code", Policy::Cascade),
    ("works", &["editor"], "_id", Policy::Unset),
    ("works", &["reader"], "_id", Policy::Null),
    ("orders", &["buyer"], "_id", Policy::Restrict),
    ("orders", &["lines", "person"], "_id", Policy::Pull),
    ("orders", &["lines", "notes", "by"], "_id", Policy::Pull),
    (
        "orders",
        &["lines", "notes", "readers"],
        "_id",
        Policy::Pull,
    ),
    ("orders", &["lines", "ch"], "_id", Policy::Null),
    ("orders", &["watchers"], "_id", Policy::Pull),
    (
        "orders",
        &["payment", "Card", "holder"],
        "_id",
        Policy::Null,
    ),
];

const PEOPLE: usize = 6;

pub(super) async fn random_deletes_leave_what_a_plain_model_leaves(db: &Db) {
    let mut random = Random::unless_set("ODM_DEPENDENTS_SEED", 5);
    for round in 0..count("ODM_DEPENDENTS", 60) {
        let seed = random.seed();
        let case = Case::draw(&mut random);
        let what = format!("round {round}, seed {seed}");
        case.run(db, &what, round % 2 == 0).await;
    }
}

struct Case {
    people: Vec<BsonDocument>,
    works: Vec<BsonDocument>,
    orders: Vec<BsonDocument>,
    /// The `_id`s of the people to delete.
    deleted: Vec<i32>,
}

/// A person, in one of the types of numbers; or what other programs store instead.
fn reference(random: &mut Random) -> Bson {
    let id = i32::try_from(random.below(PEOPLE)).unwrap();
    match random.below(10) {
        0 => Bson::Null,
        1 => Bson::Int64(id.into()),
        2 => Bson::Double(id.into()),
        _ => Bson::Int32(id),
    }
}

fn references(random: &mut Random) -> Bson {
    let many = random.below(4);
    (0..many)
        .map(|_| reference(random))
        .collect::<Vec<_>>()
        .into()
}

fn code(random: &mut Random) -> String {
    format!("c{}", random.below(PEOPLE))
}

/// Leaves out some of the fields, as an older version would have.
fn forgetful(random: &mut Random, document: BsonDocument) -> BsonDocument {
    let fields = document.into_iter();
    let kept = fields.filter(|(name, _)| name == "_id" || !random.one_in(8));
    kept.collect()
}

fn line(random: &mut Random) -> Bson {
    let notes: Vec<Bson> = (0..random.below(3))
        .map(|_| {
            let note = doc! {"by": reference(random), "readers": references(random), "x": 1};
            forgetful(random, note).into()
        })
        .collect();
    let line = doc! {"person": reference(random), "ch": reference(random), "notes": notes};
    forgetful(random, line).into()
}

impl Case {
    fn draw(random: &mut Random) -> Self {
        let ids = 0..i32::try_from(PEOPLE).unwrap();
        let people = ids.clone().map(|id| {
            let person = doc! {"_id": id, "code": format!("c{id}")};
            if random.one_in(6) {
                doc! {"_id": id}
            } else {
                person
            }
        });
        let people = people.collect();
        let works = (0..i32::try_from(random.below(6)).unwrap()).map(|id| {
            let work = doc! {
                "_id": id,
                "author": reference(random),
                "by_code": code(random),
                "editor": reference(random),
                "reader": reference(random),
            };
            forgetful(random, work)
        });
        let works = works.collect();
        let orders = (0..i32::try_from(random.below(5)).unwrap()).map(|id| {
            let lines: Vec<Bson> = (0..random.below(4)).map(|_| line(random)).collect();
            let payment = match random.below(3) {
                0 => Bson::Null,
                1 => "Cash".into(),
                _ => doc! {"Card": {"holder": reference(random)}}.into(),
            };
            let buyer = if random.one_in(6) {
                reference(random)
            } else {
                Bson::Null
            };
            let order = doc! {
                "_id": id,
                "buyer": buyer,
                "lines": lines,
                "watchers": references(random),
                "payment": payment,
            };
            let mut order = forgetful(random, order);
            order.insert("version", 1_i64);
            order.insert("updated", DateTime::from_millis(1));
            order
        });
        let orders = orders.collect();
        let deleted = ids.filter(|_| random.one_in(3)).collect();
        Self {
            people,
            works,
            orders,
            deleted,
        }
    }

    async fn run(&self, db: &Db, what: &str, is_atomic: bool) {
        for name in ["people", "works", "orders"] {
            let delete = doc! {"delete": name, "deletes": [{"q": {}, "limit": 0}]};
            db.run_command(delete).await.unwrap();
        }
        insert(db, "people", self.people.clone()).await;
        for (name, documents) in [("works", &self.works), ("orders", &self.orders)] {
            if !documents.is_empty() {
                insert(db, name, documents.clone()).await;
            }
        }
        let people = db.collection::<Person>();
        let deleted = self.deleted.clone();
        let delete = people.delete_many(|p| p.id.in_(deleted)).with_dependents();
        let result = if is_atomic {
            delete.await
        } else {
            delete.non_atomic().await
        };
        let expected = Plain::of(self);
        let Some(expected) = expected else {
            let error = result.expect_err(what);
            assert!(error.is_restricted(), "{what}: {error}");
            assert_eq!(stored(db, "people").await, self.people, "{what}");
            assert_eq!(stored(db, "works").await, self.works, "{what}");
            assert_eq!(stored(db, "orders").await, self.orders, "{what}");
            return;
        };
        let result = result.unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(result.deleted, self.deleted.len() as u64, "{what}");
        assert_eq!(stored(db, "people").await, expected.people, "{what}");
        assert_eq!(stored(db, "works").await, expected.works, "{what}");
        let mut orders = stored(db, "orders").await;
        for (order, expected) in orders.iter_mut().zip(&expected.orders) {
            let changed = (*order != *expected).then_some(2);
            if let Some(least) = changed {
                assert!(
                    order.get_i64("version").unwrap() >= least,
                    "{what}: {order}"
                );
            }
            order.insert("version", 1_i64);
            order.insert("updated", DateTime::from_millis(1));
        }
        assert_eq!(orders, expected.orders, "{what}");
    }
}

/// The documents as the policies leave them.
struct Plain {
    people: Vec<BsonDocument>,
    works: Vec<BsonDocument>,
    orders: Vec<BsonDocument>,
}

impl Plain {
    /// `None` if a document restricts the delete.
    fn of(case: &Case) -> Option<Self> {
        let is_deleted = |person: &&BsonDocument| {
            case.deleted
                .iter()
                .any(|id| equal(&person["_id"], &Bson::Int32(*id)))
        };
        let deleted: Vec<_> = case.people.iter().filter(is_deleted).collect();
        let mut plain = Self {
            people: case
                .people
                .iter()
                .filter(|it| !is_deleted(it))
                .cloned()
                .collect(),
            works: case.works.clone(),
            orders: case.orders.clone(),
        };
        for (collection, names, key, policy) in REFERENCES {
            let keys: Vec<&Bson> = deleted.iter().filter_map(|it| it.get(key)).collect();
            let documents = match collection {
                "works" => &mut plain.works,
                _ => &mut plain.orders,
            };
            match policy {
                Policy::Cascade => documents.retain(|it| !refers(it, names, &keys)),
                Policy::Restrict => {
                    if documents.iter().any(|it| refers(it, names, &keys)) {
                        return None;
                    }
                }
                Policy::Null | Policy::Unset | Policy::Pull => {
                    for document in documents {
                        change(document, names, &keys, policy);
                    }
                }
            }
        }
        Some(plain)
    }
}

fn number(value: &Bson) -> Option<f64> {
    match value {
        Bson::Int32(number) => Some((*number).into()),
        Bson::Int64(number) => i32::try_from(*number).ok().map(f64::from),
        Bson::Double(number) => Some(*number),
        _ => None,
    }
}

fn equal(left: &Bson, right: &Bson) -> bool {
    match (number(left), number(right)) {
        (Some(left), Some(right)) => left.total_cmp(&right).is_eq(),
        _ => left == right,
    }
}

fn is_one_of(value: &Bson, keys: &[&Bson]) -> bool {
    *value != Bson::Null && keys.iter().any(|key| equal(value, key))
}

fn refers(document: &BsonDocument, names: &[&str], keys: &[&Bson]) -> bool {
    let Some((first, rest)) = names.split_first() else {
        return false;
    };
    let refers_in = |value: &Bson| match value {
        Bson::Document(inside) => refers(inside, rest, keys),
        value => rest.is_empty() && is_one_of(value, keys),
    };
    match document.get(first) {
        Some(Bson::Array(elements)) => elements.iter().any(refers_in),
        Some(value) => refers_in(value),
        None => false,
    }
}

fn change(document: &mut BsonDocument, names: &[&str], keys: &[&Bson], policy: Policy) {
    let Some((first, rest)) = names.split_first() else {
        return;
    };
    let is_last_list = !rest.contains(&"notes") && !rest.contains(&"readers");
    match document.get_mut(first) {
        Some(Bson::Array(elements)) if policy == Policy::Pull && is_last_list => {
            elements.retain(|element| match element {
                Bson::Document(inside) => !refers(inside, rest, keys),
                value => !is_one_of(value, keys),
            });
        }
        Some(Bson::Array(elements)) => {
            for element in elements {
                if let Bson::Document(inside) = element {
                    change(inside, rest, keys, policy);
                }
            }
        }
        Some(Bson::Document(inside)) => change(inside, rest, keys, policy),
        Some(value) if is_one_of(value, keys) => {
            if policy == Policy::Unset {
                document.remove(*first);
            } else {
                *value = Bson::Null;
            }
        }
        _ => {}
    }
}
