//! Typed pipelines: what they compute is compared with the same computed in Rust.

use std::collections::{BTreeMap, BTreeSet};

use odm::bson::doc;
use odm::expr::{Unit, cases, if_, literal, raw_expr};
use odm::output;
use odm::pipeline::pipeline;
use odm::prelude::*;

use crate::case::cases as suite;

suite![
    groups_are_those_computed_by_hand,
    projections_read_into_their_struct,
    expressions_compute_as_rust_does,
    unwound_lists_are_grouped,
    unions_of_two_models,
    unions_read_one_model_of_several_in_a_collection,
    unions_read_the_chosen_collection,
    raw_stages_mix_in,
    updates_take_expressions,
    documents_of_others_are_read_or_refused,
    errors_name_the_field,
];

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Line {
    sku: String,
    price: f64,
    quantity: i32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "orders")]
struct Order {
    #[serde(rename = "_id")]
    id: i32,
    #[serde(rename = "custName")]
    customer: String,
    at: DateTime,
    #[odm(embed(few, max = 20))]
    lines: Vec<Line>,
    note: Option<String>,
    discount: Option<f64>,
    points: i32,
    total: i64,
}

fn at(day: u32, hour: u32) -> DateTime {
    DateTime::parse_rfc3339_str(format!("2024-03-{day:02}T{hour:02}:30:00Z")).unwrap()
}

fn line(sku: &str, price: f64, quantity: i32) -> Line {
    Line {
        sku: sku.to_owned(),
        price,
        quantity,
    }
}

fn all() -> Vec<Order> {
    let order = |id, customer: &str, at, lines, note: Option<&str>, discount, points| Order {
        id,
        customer: customer.to_owned(),
        at,
        lines,
        note: note.map(str::to_owned),
        discount,
        points,
        total: 0,
    };
    vec![
        order(1, "Ada", at(1, 9), vec![line("pen", 1.5, 4)], None, None, 3),
        order(
            2,
            "Bob",
            at(30, 23),
            vec![line("ink", 8.0, 1), line("pen", 1.5, 2)],
            Some("gift"),
            Some(0.5),
            5,
        ),
        order(3, "Ada", at(31, 0), vec![], Some(""), Some(0.0), 10),
        order(
            4,
            "Cyd",
            at(31, 12),
            vec![line("ink", 8.0, 3)],
            None,
            None,
            -7,
        ),
    ]
}

async fn filled(db: &Db) -> Collection<Order> {
    let orders = db.collection::<Order>();
    orders.insert_many(all()).await.unwrap();
    orders
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Customer {
    #[serde(rename = "_id")]
    name: String,
    orders: i64,
    points: i64,
    mean: Option<f64>,
    best: i32,
    worst: i32,
    notes: Vec<Option<String>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Spread {
    #[serde(rename = "who")]
    name: String,
    span: i32,
    per_order: f64,
}

async fn groups_are_those_computed_by_hand(db: &Db) {
    let orders = filled(db).await;
    let customers = pipeline::<Order>()
        .match_(|o| o.points.gt(-100))
        .sort(|o| o.id.asc())
        .group_by(
            |o| o.customer,
            |o, group| {
                output!(Customer {
                    name: group.key(),
                    orders: group.count(),
                    points: group.sum(&o.points),
                    mean: group.avg(&o.points),
                    best: group.max(&o.points),
                    worst: group.min(&o.points),
                    notes: group.push(o.note),
                })
            },
        )
        .sort(|c| c.name.asc());
    let mut expected: BTreeMap<String, Vec<Order>> = BTreeMap::new();
    for order in all() {
        expected
            .entry(order.customer.clone())
            .or_default()
            .push(order);
    }
    let expected: Vec<Customer> = expected
        .into_iter()
        .map(|(name, orders)| {
            let points: Vec<i32> = orders.iter().map(|order| order.points).collect();
            let total: i32 = points.iter().sum();
            Customer {
                name,
                orders: i64::try_from(orders.len()).unwrap(),
                points: total.into(),
                mean: Some(f64::from(total) / f64::from(u32::try_from(points.len()).unwrap())),
                best: *points.iter().max().unwrap(),
                worst: *points.iter().min().unwrap(),
                notes: orders.into_iter().map(|order| order.note).collect(),
            }
        })
        .collect();
    assert_eq!(orders.aggregate(customers).all().await.unwrap(), expected);

    // The key under another name, and fields of several accumulators.
    let spreads = pipeline::<Order>()
        .group_by(
            |o| o.customer,
            |o, group| {
                output!(Spread {
                    name: group.key(),
                    span: group.max(&o.points) - group.min(&o.points),
                    per_order: group.sum(&o.points) / group.count(),
                })
            },
        )
        .match_(|s| s.span.gt(0));
    let found = orders.aggregate(spreads).all().await.unwrap();
    let expected = Spread {
        name: "Ada".to_owned(),
        span: 7,
        per_order: 6.5,
    };
    assert_eq!(found, [expected]);
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Card {
    #[serde(rename = "_id")]
    number: i64,
    #[serde(rename = "n")]
    name: String,
    first: Option<Line>,
    is_gift: bool,
    constant: i32,
    line: Line,
}

async fn projections_read_into_their_struct(db: &Db) {
    let orders = filled(db).await;
    let cards = pipeline::<Order>()
        .sort(|o| o.id.asc())
        .skip(1)
        .limit(2)
        .project(|o| {
            output!(Card {
                number: o.id,
                name: o.customer,
                first: o.lines.expr().first_item(),
                is_gift: o.note.expr().eq("gift"),
                constant: 1,
                line: output!(Line {
                    sku: "$sku",
                    price: 0.0,
                    quantity: o.points
                }),
            })
        });
    let found = orders.aggregate(cards).all().await.unwrap();
    let expected: Vec<Card> = all()[1..3]
        .iter()
        .map(|order| Card {
            number: order.id.into(),
            name: order.customer.clone(),
            first: order.lines.first().cloned(),
            is_gift: order.note.as_deref() == Some("gift"),
            constant: 1,
            line: line("$sku", 0.0, order.points),
        })
        .collect();
    assert_eq!(found, expected);
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Computed {
    #[serde(rename = "_id")]
    id: i32,
    paid: f64,
    lines: i32,
    skus: Vec<String>,
    #[odm(embed(few, max = 20))]
    cheap: Vec<Line>,
    has_ink: bool,
    grade: String,
    label: Option<String>,
    month: String,
    hour: i32,
    week: DateTime,
    due: DateTime,
    days: i64,
    sign: i32,
    halves: f64,
    remainder: i32,
    kinds: BTreeSet<String>,
}

async fn expressions_compute_as_rust_does(db: &Db) {
    let orders = filled(db).await;
    let computed = pipeline::<Order>().sort(|o| o.id.asc()).project(|o| {
        let paid = o.lines.expr().map(|line| line.price * line.quantity).sum();
        output!(Computed {
            id: o.id,
            paid: paid * (1.0 - o.discount.expr().or(0.0)),
            lines: o.lines.expr().size(),
            skus: o.lines.expr().map(|line| line.sku),
            cheap: o.lines.expr().filter(|line| line.price.expr().lt(5)),
            has_ink: o.lines.expr().any(|line| line.sku.expr().eq("ink")),
            grade: cases(o.points.expr().gte(10), "A")
                .case(o.points.expr().gte(4), "B")
                .otherwise("C"),
            label: o.note.expr().concat("!"),
            month: o.at.expr().in_zone("Europe/Berlin").format("%Y-%m"),
            hour: o.at.expr().hour(),
            week: o.at.expr().trunc(Unit::IsoWeek),
            due: o.at.expr().add_time(&o.points, Unit::Day),
            days: o.at.expr().until(at(31, 12), Unit::Day),
            sign: if_(o.points.expr().lt(0), -1, 1),
            halves: &o.points / 2,
            remainder: o.points.expr() % 4,
            kinds: o
                .lines
                .expr()
                .map(|line| line.sku)
                .union(literal(vec!["x".to_owned()])),
        })
    });
    let found = orders.aggregate(computed).all().await.unwrap();
    assert_eq!(found.len(), 4);
    for (order, found) in all().into_iter().zip(found) {
        let sum: f64 = order
            .lines
            .iter()
            .map(|line| line.price * f64::from(line.quantity))
            .sum();
        assert_eq!(found.id, order.id);
        assert_eq!(
            Some(found.paid),
            Some(sum * (1.0 - order.discount.unwrap_or(0.0)))
        );
        assert_eq!(usize::try_from(found.lines).unwrap(), order.lines.len());
        let skus: Vec<String> = order.lines.iter().map(|line| line.sku.clone()).collect();
        assert_eq!(found.skus, skus);
        assert!(found.cheap.iter().all(|line| line.price < 5.0));
        assert_eq!(found.has_ink, skus.contains(&"ink".to_owned()));
        assert_eq!(found.label, order.note.map(|note| note + "!"));
        assert_eq!(found.sign, if order.points < 0 { -1 } else { 1 });
        assert_eq!(Some(found.halves), Some(f64::from(order.points) / 2.0));
        assert_eq!(found.remainder, order.points % 4);
        let day = 24 * 60 * 60 * 1000;
        let due = order.at.timestamp_millis() + i64::from(order.points) * day;
        assert_eq!(found.due.timestamp_millis(), due);
        let kinds: BTreeSet<String> = skus.into_iter().chain(["x".to_owned()]).collect();
        assert_eq!(found.kinds, kinds);
        let (grade, hour, days) = match order.id {
            1 => ("C", 9, 30),
            2 => ("B", 23, 1),
            3 => ("A", 0, 0),
            _ => ("C", 12, 0),
        };
        assert_eq!((&*found.grade, found.hour, found.days), (grade, hour, days));
        assert_eq!(found.month, "2024-03");
        let monday = if order.id == 1 {
            "2024-02-26"
        } else {
            "2024-03-25"
        };
        let monday = DateTime::parse_rfc3339_str(format!("{monday}T00:00:00Z")).unwrap();
        assert_eq!(found.week, monday);
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Sold {
    #[serde(rename = "_id")]
    sku: String,
    quantity: i64,
    turnover: f64,
    customers: BTreeSet<String>,
}

async fn unwound_lists_are_grouped(db: &Db) {
    let orders = filled(db).await;
    let sold = pipeline::<Order>()
        .unwind(|o| o.lines)
        .match_(|(order, line)| order.id.gt(0) & line.quantity.gt(0))
        .group_by(
            |(_, line)| line.sku,
            |(order, line), group| {
                output!(Sold {
                    sku: group.key(),
                    quantity: group.sum(&line.quantity),
                    turnover: group.sum(line.price * &line.quantity),
                    customers: group.add_to_set(order.customer),
                })
            },
        )
        .sort(|s| s.sku.asc());
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let found = orders.aggregate(sold).all().await.unwrap();
    let expected = [
        Sold {
            sku: "ink".to_owned(),
            quantity: 4,
            turnover: 32.0,
            customers: names(&["Bob", "Cyd"]),
        },
        Sold {
            sku: "pen".to_owned(),
            quantity: 6,
            turnover: 9.0,
            customers: names(&["Ada", "Bob"]),
        },
    ];
    assert_eq!(found, expected);
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "visits")]
struct Visit {
    #[serde(rename = "_id")]
    id: i32,
    visitor: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Name {
    name: String,
}

async fn unions_of_two_models(db: &Db) {
    let orders = filled(db).await;
    let visit = Visit {
        id: 1,
        visitor: "Eve".to_owned(),
    };
    db.collection::<Visit>().insert_one(&visit).await.unwrap();
    let visitors = pipeline::<Visit>().project(|v| output!(Name { name: v.visitor }));
    let names = pipeline::<Order>()
        .project(|o| output!(Name { name: o.customer }))
        .union_with(visitors)
        .sort(|n| n.name.desc())
        .limit(2);
    let found = orders.aggregate(names).all().await.unwrap();
    let found: Vec<&str> = found.iter().map(|found| found.name.as_str()).collect();
    assert_eq!(found, ["Eve", "Cyd"]);
    let counted = orders
        .aggregate(pipeline::<Order>().count())
        .first()
        .await
        .unwrap();
    assert_eq!(counted.map(|counted| counted.count), Some(4));
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "media")]
#[serde(tag = "kind")]
enum Medium {
    Novel(Novel),
    Film(Film),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(variant_of = Medium)]
struct Novel {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(variant_of = Medium)]
struct Film {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
}

async fn unions_read_one_model_of_several_in_a_collection(db: &Db) {
    let orders = filled(db).await;
    let title = || "Emma".to_owned();
    let media = [
        Medium::Novel(Novel {
            id: 1,
            title: title(),
        }),
        Medium::Film(Film {
            id: 2,
            title: title(),
        }),
    ];
    db.collection::<Medium>().insert_many(media).await.unwrap();
    let novels = pipeline::<Novel>().project(|n| output!(Name { name: n.title }));
    let names = pipeline::<Order>()
        .match_(|o| o.customer.eq("Bob"))
        .project(|o| output!(Name { name: o.customer }))
        .union_with(novels);
    let found = orders.aggregate(names).all().await.unwrap();
    let found: Vec<&str> = found.iter().map(|found| found.name.as_str()).collect();
    assert_eq!(found, ["Bob", "Emma"]);
    // The first stage restricts a pipeline over one of the models as well.
    let films = pipeline::<Film>().count();
    let films = db
        .collection::<Film>()
        .aggregate(films)
        .all()
        .await
        .unwrap();
    assert_eq!(films[0].count, 1);
}

async fn unions_read_the_chosen_collection(db: &Db) {
    let tenant = db.with_collection_names(|name| format!("tenant_{name}"));
    for (db, visitor) in [(db, "Eve"), (&tenant, "Ida")] {
        let visitor = visitor.to_owned();
        let visits = db.collection::<Visit>();
        visits.insert_one(Visit { id: 1, visitor }).await.unwrap();
    }
    let visits = pipeline::<Visit>().project(|v| output!(Name { name: v.visitor }));
    let names = pipeline::<Order>()
        .project(|o| output!(Name { name: o.customer }))
        .union_with(visits);
    for (db, expected) in [(db, "Eve"), (&tenant, "Ida")] {
        let orders = db.collection::<Order>();
        let found = orders.aggregate(names.clone()).all().await.unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].name, expected);
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Frequent {
    #[serde(rename = "_id")]
    name: String,
    count: i32,
}

async fn raw_stages_mix_in(db: &Db) {
    let orders = filled(db).await;
    let frequent = pipeline::<Order>()
        .match_(|o| o.id.gt(0))
        .raw(doc! {"$match": {"$expr": {"$gt": ["$points", -100]}}})
        .raw_as::<Frequent>([doc! {"$sortByCount": "$custName"}])
        .match_(|f| f.count.gt(1));
    let found = orders.aggregate(frequent).all().await.unwrap();
    assert_eq!((found.len(), found[0].count), (1, 2));
    let raw = [
        doc! {"$match": {"_id": 1}},
        doc! {"$project": {"points": 1}},
    ];
    let found = orders.aggregate(raw).all().await.unwrap();
    assert_eq!(found, [doc! {"_id": 1, "points": 3}]);
    let by_filter = orders.find(|o| Filter::expr((o.points * 2).gt(o.id.expr() + 7)));
    assert_eq!(by_filter.all().await.unwrap().len(), 2);
}

async fn updates_take_expressions(db: &Db) {
    let orders = filled(db).await;
    let changed = orders
        .update_many(
            |o| o.id.lte(2),
            |o| {
                let quantity = o.lines.expr().map(|line| line.quantity).sum();
                o.total.set_expr(quantity)
                    & o.points.set_expr(o.points.expr() + 1)
                    & o.note
                        .set_expr(raw_expr::<_, String>(doc! {"$toUpper": "$custName"}))
            },
        )
        .await
        .unwrap();
    assert_eq!(changed.modified, 2);
    let found = orders
        .find(|o| o.id.lte(2))
        .sort(|o| o.id.asc())
        .all()
        .await
        .unwrap();
    let found: Vec<_> = found
        .iter()
        .map(|order| (order.total, order.points, order.note.as_deref()))
        .collect();
    assert_eq!(found, [(4, 4, Some("ADA")), (3, 6, Some("BOB"))]);
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Summed {
    #[serde(rename = "_id")]
    name: String,
    total: i64,
    mean: Option<f64>,
}

/// Sums of numbers of every type; text counts as nothing, and an average of nothing is `None`.
async fn documents_of_others_are_read_or_refused(db: &Db) {
    let orders = db.collection::<Order>();
    let raw = db.run_command(doc! {"insert": "orders", "documents": [
        {"_id": 1, "custName": "a", "points": 1},
        {"_id": 2, "custName": "a", "points": 2_i64},
        {"_id": 3, "custName": "a", "points": 3},
        {"_id": 4, "custName": "b", "points": "many"},
        {"_id": 5, "custName": "c", "points": 3.0},
        {"_id": 6, "points": 7},
    ]});
    raw.await.unwrap();
    let totals = pipeline::<Order>()
        .group_by(
            |o| o.customer,
            |o, group| {
                output!(Summed {
                    name: group.key(),
                    total: group.sum(&o.points),
                    mean: group.avg(&o.points),
                })
            },
        )
        .sort(|t| t.name.asc());
    let total = |name: &str| totals.clone().match_(|t| t.name.eq(name));
    let all = orders.aggregate(total("a")).all().await.unwrap();
    assert_eq!((all[0].total, all[0].mean), (6, Some(2.0)));
    let all = orders.aggregate(total("b")).all().await.unwrap();
    assert_eq!((all[0].total, all[0].mean), (0, None));
    // A double is not an `i64`, and a missing key is not text: both are errors that name the place.
    let error = orders.aggregate(total("c")).all().await.unwrap_err();
    assert_eq!(error.path(), Some("total"), "{error}");
    assert!(error.to_string().starts_with("Summed.total"), "{error}");
    let error = orders.aggregate(totals).all().await.unwrap_err();
    assert_eq!(error.path(), Some("_id"), "{error}");
}

async fn errors_name_the_field(db: &Db) {
    let orders = filled(db).await;
    let by_position = pipeline::<Order>().project(|o| {
        output!(Name {
            name: o.lines.at(0).sku
        })
    });
    let error = by_position.to_stages().unwrap_err();
    assert!(error.is_usage(), "{error}");
    let refused = orders.aggregate(by_position).all().await.unwrap_err();
    assert!(refused.to_string().contains("Order"), "{refused}");
}
