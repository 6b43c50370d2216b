//! Random documents, of this program and of others, compared with a plain model of the copies.

use odm::bson::{Bson, Document as BsonDocument, doc};
use odm::prelude::*;

use super::models::{Card, Customer, Order, Product, Visit};
use super::{insert, stored};
use crate::random::{Random, count};

/// A reference with copies beside it: where it is, and what it leads to.
struct Reference {
    collection: &'static str,
    /// The stored names of the lists and subdocuments around it.
    around: &'static [&'static str],
    name: &'static str,
    source: &'static str,
    key: &'static str,
    copies: &'static [Copy],
}

struct Copy {
    name: &'static str,
    /// The stored names in the source; several fields for a subdocument that has them all.
    from: &'static [&'static [&'static str]],
    is_whole: bool,
    is_nullable: bool,
    is_skipped: bool,
}

const fn one(name: &'static str, from: &'static [&'static [&'static str]]) -> Copy {
    Copy {
        name,
        from,
        is_whole: false,
        is_nullable: false,
        is_skipped: false,
    }
}

const REFERENCES: &[Reference] = &[
    Reference {
        collection: "orders",
        around: &[],
        name: "customer",
        source: "customers",
        key: "_id",
        copies: &[Copy {
            is_nullable: true,
            ..one("cn", &[&["n"]])
        }],
    },
    Reference {
        collection: "orders",
        around: &["l"],
        name: "product",
        source: "products",
        key: "_id",
        copies: &[one("pn", &[&["name"]])],
    },
    Reference {
        collection: "orders",
        around: &["l", "notes"],
        name: "by",
        source: "customers",
        key: "_id",
        copies: &[
            Copy {
                is_nullable: true,
                is_skipped: true,
                ..one("city", &[&["address", "city"]])
            },
            Copy {
                is_nullable: true,
                ..one("tags", &[&["tags"]])
            },
        ],
    },
    Reference {
        collection: "orders",
        around: &["payment", "Card"],
        name: "holder",
        source: "customers",
        key: "_id",
        copies: &[one("country", &[&["country"]])],
    },
    Reference {
        collection: "visits",
        around: &[],
        name: "customer",
        source: "customers",
        key: "_id",
        copies: &[Copy {
            is_whole: true,
            ..one("info", &[&["n"], &["country"]])
        }],
    },
    Reference {
        collection: "cards",
        around: &[],
        name: "customer_code",
        source: "customers",
        key: "code",
        copies: &[one("name", &[&["n"]])],
    },
];

const HOLDERS: [&str; 3] = ["orders", "visits", "cards"];
const SOURCES: usize = 5;

pub(super) async fn random_writes_leave_what_a_plain_model_leaves(db: &Db) {
    let mut random = Random::unless_set("ODM_COPIES_SEED", 7);
    for round in 0..count("ODM_COPIES", 50) {
        let seed = random.seed();
        let what = format!("round {round}, seed {seed}");
        run(db, &mut random, &what, round % 2 == 0).await;
    }
}

fn id(random: &mut Random) -> i32 {
    i32::try_from(random.below(SOURCES)).unwrap()
}

/// A reference, in one of the types of numbers; or what other programs store instead.
fn reference(random: &mut Random) -> Bson {
    let id = id(random);
    match random.below(12) {
        0 => Bson::Null,
        1 => Bson::Int64(id.into()),
        2 => Bson::Double(id.into()),
        3 => Bson::Int32(99),
        4 => "odd".into(),
        _ => Bson::Int32(id),
    }
}

fn word(random: &mut Random) -> Bson {
    match random.below(12) {
        0 => Bson::Null,
        1 => Bson::Int32(7),
        number => format!("w{}", number % 4).into(),
    }
}

fn words(random: &mut Random) -> Bson {
    let words: Vec<Bson> = (0..random.below(3)).map(|_| word(random)).collect();
    words.into()
}

/// Leaves out some of the fields, as an older version would have.
fn forgetful(random: &mut Random, document: BsonDocument) -> BsonDocument {
    let fields = document.into_iter();
    let kept = fields.filter(|(name, _)| name == "_id" || !random.one_in(7));
    kept.collect()
}

fn customer(random: &mut Random, id: i32) -> BsonDocument {
    let address = if random.one_in(4) {
        Bson::Null
    } else {
        let address = doc! {"zip": 1, "city": word(random)};
        forgetful(random, address).into()
    };
    let mut customer = doc! {"_id": id, "n": word(random), "country": word(random), "address": address, "tags": words(random)};
    customer = forgetful(random, customer);
    customer.insert("code", format!("c{id}"));
    customer
}

fn order(random: &mut Random, id: i32) -> BsonDocument {
    let lines: Vec<Bson> = (0..random.below(4))
        .map(|_| {
            let notes: Vec<Bson> = (0..random.below(3))
                .map(|_| {
                    let note = doc! {"by": reference(random), "city": word(random), "tags": words(random), "x": 1};
                    forgetful(random, note).into()
                })
                .collect();
            let line = doc! {"product": reference(random), "pn": word(random), "price": 5, "notes": notes};
            forgetful(random, line).into()
        })
        .collect();
    let payment: Bson = match random.below(3) {
        0 => "Cash".into(),
        1 => Bson::Null,
        _ => doc! {"Card": {"holder": reference(random), "country": word(random)}}.into(),
    };
    let order = doc! {"_id": id, "customer": reference(random), "cn": word(random), "l": lines, "payment": payment, "version": 1_i64};
    forgetful(random, order)
}

async fn run(db: &Db, random: &mut Random, what: &str, is_atomic: bool) {
    for name in ["customers", "products", "orders", "visits", "cards"] {
        let delete = doc! {"delete": name, "deletes": [{"q": {}, "limit": 0}]};
        db.run_command(delete).await.unwrap();
    }
    let ids = || 0..i32::try_from(SOURCES).unwrap();
    let customers: Vec<_> = ids().map(|id| customer(random, id)).collect();
    let products = ids().map(|id| {
        let product = doc! {"_id": id, "name": word(random), "price": 1};
        forgetful(random, product)
    });
    let products: Vec<_> = products.collect();
    let orders: Vec<_> = (0..5).map(|id| order(random, id)).collect();
    let visits = (0..4).map(|id| {
        let info = doc! {"n": word(random), "country": word(random)};
        let visit = doc! {"_id": id, "customer": reference(random), "info": info};
        forgetful(random, visit)
    });
    let visits: Vec<_> = visits.collect();
    let cards = (0..4).map(|id| {
        let code = format!("c{}", random.below(SOURCES + 1));
        let card = doc! {"_id": id, "customer_code": code, "name": word(random)};
        forgetful(random, card)
    });
    let cards: Vec<_> = cards.collect();
    for (name, documents) in [
        ("customers", customers),
        ("products", products),
        ("orders", orders),
        ("visits", visits),
        ("cards", cards),
    ] {
        insert(db, name, documents).await;
    }

    // The stored copies are checked, then refreshed.
    let expected = model(db).await;
    let mut stale = 0;
    for (name, after) in HOLDERS.into_iter().zip(&expected) {
        let before = plain(db, name).await;
        stale += before
            .iter()
            .zip(after)
            .filter(|(one, other)| one != other)
            .count();
    }
    let reports = [
        db.collection::<Order>().check_copies().await.unwrap(),
        db.collection::<Visit>().check_copies().await.unwrap(),
        db.collection::<Card>().check_copies().await.unwrap(),
    ];
    let damages: u64 = reports.iter().map(|report| report.damages).sum();
    assert_eq!(damages > 0, stale > 0, "{what}: {reports:?}");
    db.collection::<Order>().refresh_copies().await.unwrap();
    db.collection::<Visit>().refresh_copies().await.unwrap();
    db.collection::<Card>().refresh_copies().await.unwrap();
    compare(db, &expected, what, "refreshed").await;
    let again = db.collection::<Order>().refresh_copies().await.unwrap();
    assert_eq!(again.updated, 0, "{what}");

    // Then fields and references change.
    for _ in 0..3 {
        let step = change(db, random, is_atomic).await;
        let expected = model(db).await;
        compare(db, &expected, what, step).await;
    }
    for report in [
        db.collection::<Order>().check_copies().await.unwrap(),
        db.collection::<Visit>().check_copies().await.unwrap(),
        db.collection::<Card>().check_copies().await.unwrap(),
    ] {
        assert!(report.is_sound(), "{what}: {report}");
    }
}

async fn change(db: &Db, random: &mut Random, is_atomic: bool) -> &'static str {
    let customers = db.collection::<Customer>();
    let products = db.collection::<Product>();
    let orders = db.collection::<Order>();
    let (id, other) = (id(random), id(random));
    let new = format!("new{}", random.below(100));
    macro_rules! run {
        ($change:expr) => {
            if is_atomic {
                $change.propagate().await.map(drop).unwrap()
            } else {
                $change.propagate().non_atomic().await.map(drop).unwrap()
            }
        };
    }
    match random.below(8) {
        0 => {
            run!(customers.update_by_id(&id, |c| c.name.set(new)));
            "a name"
        }
        1 => {
            run!(customers.update_many(
                |c| c.id.gte(id),
                |c| c.name.set(new.clone()) & c.country.set(new) & c.tags.set(["t".to_owned()])
            ));
            "several fields of several customers"
        }
        2 => {
            run!(customers.update_by_id(&id, |c| c.address.unset()));
            "no address"
        }
        3 => {
            run!(customers.update_by_id(&id, |c| {
                let city = new;
                c.address.set(super::models::Address { city, zip: None })
            }));
            "an address"
        }
        4 => {
            run!(products.update_all(|p| p.name.set(new)));
            "all products"
        }
        5 => {
            run!(orders.update_many(|o| o.id.gte(id), |o| o.customer.unset()));
            "orders of nobody"
        }
        6 => {
            run!(orders.update_many(|o| o.id.gte(id), |o| o.customer.set(Ref::from(other))));
            "the customers of orders"
        }
        _ => {
            let line = super::models::order(9, other, &[id, other]).lines;
            run!(orders.update_by_id(&id, |o| o.lines.set(line)));
            "the lines of an order"
        }
    }
}

async fn compare(db: &Db, expected: &[Vec<BsonDocument>], what: &str, step: &str) {
    for (name, expected) in HOLDERS.into_iter().zip(expected) {
        let found = plain(db, name).await;
        for (found, expected) in found.iter().zip(expected) {
            assert_eq!(found, expected, "{what}, {step}, {name}");
        }
    }
}

/// The documents without the fields that each write changes.
async fn plain(db: &Db, collection: &str) -> Vec<BsonDocument> {
    let mut stored = stored(db, collection).await;
    for document in &mut stored {
        document.remove("version");
        document.remove("updated");
        sort_fields(document);
    }
    stored
}

/// An update adds a missing field at the end.
fn sort_fields(document: &mut BsonDocument) {
    fn sorted(value: Bson) -> Bson {
        match value {
            Bson::Document(mut inside) => {
                sort_fields(&mut inside);
                inside.into()
            }
            Bson::Array(elements) => elements.into_iter().map(sorted).collect::<Vec<_>>().into(),
            other => other,
        }
    }
    let mut fields: Vec<_> = std::mem::take(document).into_iter().collect();
    fields.sort_by(|(one, _), (other, _)| one.cmp(other));
    document.extend(
        fields
            .into_iter()
            .map(|(name, inside)| (name, sorted(inside))),
    );
}

/// The documents of each collection with the copies that they should have.
async fn model(db: &Db) -> Vec<Vec<BsonDocument>> {
    let mut all = Vec::new();
    for name in HOLDERS {
        let mut documents = plain(db, name).await;
        for reference in REFERENCES.iter().filter(|one| one.collection == name) {
            let sources = stored(db, reference.source).await;
            for document in &mut documents {
                each(document, reference.around, &mut |parent| {
                    refresh(parent, reference, &sources);
                });
                sort_fields(document);
            }
        }
        all.push(documents);
    }
    all
}

fn each(document: &mut BsonDocument, names: &[&str], visit: &mut dyn FnMut(&mut BsonDocument)) {
    let Some((first, rest)) = names.split_first() else {
        return visit(document);
    };
    match document.get_mut(*first) {
        Some(Bson::Document(inside)) => each(inside, rest, visit),
        Some(Bson::Array(elements)) => {
            for element in elements {
                if let Bson::Document(inside) = element {
                    each(inside, rest, visit);
                }
            }
        }
        _ => {}
    }
}

fn refresh(parent: &mut BsonDocument, reference: &Reference, sources: &[BsonDocument]) {
    let stored = parent.get(reference.name).cloned();
    let Some(stored) = stored.filter(|stored| *stored != Bson::Null) else {
        let nullable = reference.copies.iter().filter(|copy| copy.is_nullable);
        let nullable: Vec<_> = nullable.collect();
        let is_none = |copy: &&Copy| match parent.get(copy.name) {
            None => true,
            Some(found) => !copy.is_skipped && *found == Bson::Null,
        };
        if nullable.iter().all(is_none) {
            return;
        }
        for copy in nullable {
            if copy.is_skipped {
                parent.remove(copy.name);
            } else {
                parent.insert(copy.name, Bson::Null);
            }
        }
        return;
    };
    let equal = |key: Option<&Bson>| match (key, &stored) {
        (Some(Bson::Int32(key)), Bson::Int32(other)) => key == other,
        (Some(Bson::Int32(key)), Bson::Int64(other)) => i64::from(*key) == *other,
        (Some(Bson::Int32(key)), Bson::Double(other)) => (f64::from(*key) - *other).abs() < 0.1,
        (Some(key), other) => key == other,
        (None, _) => false,
    };
    let Some(source) = sources.iter().find(|one| equal(one.get(reference.key))) else {
        return;
    };
    let read = |names: &[&str]| {
        let (last, around) = names.split_last().unwrap();
        let parent = around
            .iter()
            .try_fold(source, |document, name| document.get_document(name).ok());
        parent.and_then(|parent| parent.get(last)).cloned()
    };
    let mut values = Vec::new();
    for copy in reference.copies {
        let value = if copy.is_whole {
            let fields = copy.from.iter();
            let fields = fields.filter_map(|names| Some((names[0].to_owned(), read(names)?)));
            Some(Bson::Document(fields.collect()))
        } else {
            read(copy.from[0]).filter(|value| *value != Bson::Null)
        };
        match value {
            // Nothing is known.
            None if !copy.is_nullable => {}
            None if copy.is_skipped => values.push((copy.name, None)),
            None => values.push((copy.name, Some(Bson::Null))),
            Some(value) => values.push((copy.name, Some(value))),
        }
    }
    // A missing copy is read as none, and all copies beside a reference are written together.
    let is_equal = |(name, value): &(&str, Option<Bson>)| match (parent.get(name), value) {
        (None, Some(Bson::Null)) => true,
        (found, value) => found == value.as_ref(),
    };
    if values.iter().all(is_equal) {
        return;
    }
    for (name, value) in values {
        match value {
            Some(value) => parent.insert(name, value),
            None => parent.remove(name),
        };
    }
}
