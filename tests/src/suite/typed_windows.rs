//! Typed windows and accumulators, and pipelines that write what they compute.

use odm::expr::{Unit, literal};
use odm::money::{Money, Usd};
use odm::output;
use odm::pipeline::{Pipeline, WhenMatched, WhenNotMatched, partition_by, pipeline};
use odm::prelude::*;

use crate::case::cases as suite;

suite![
    windows_compute_as_rust_does,
    windows_of_dates_and_of_empty_frames,
    accumulators_of_several_values,
    merged_results_are_documents_of_the_model,
    out_replaces_the_collection,
    nested_windows_are_refused,
    money_is_computed_with,
];

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "sales")]
struct Sale {
    #[serde(rename = "_id")]
    id: i32,
    state: String,
    at: DateTime,
    amount: i32,
    rating: Option<f64>,
}

fn day(day: u32) -> DateTime {
    DateTime::parse_rfc3339_str(format!("2024-03-{day:02}T00:00:00Z")).unwrap()
}

fn sales() -> Vec<Sale> {
    let sale = |id, state: &str, at, amount, rating| Sale {
        id,
        state: state.to_owned(),
        at: day(at),
        amount,
        rating,
    };
    vec![
        sale(1, "CA", 1, 10, Some(3.0)),
        sale(2, "CA", 2, 30, None),
        sale(3, "WA", 2, 5, Some(1.0)),
        sale(4, "CA", 9, 30, Some(5.0)),
        sale(5, "WA", 11, -7, None),
        sale(6, "CA", 10, 2, Some(9.0)),
    ]
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Running {
    #[serde(rename = "_id")]
    id: i32,
    total: i64,
    of_three: Option<f64>,
    share: f64,
    rank: i64,
    dense: i64,
    number: i64,
    before: Option<i32>,
    rating: Option<f64>,
    best_rating: Option<f64>,
}

async fn windows_compute_as_rust_does(db: &Db) {
    let of_sales = db.collection::<Sale>();
    of_sales.insert_many(sales()).await.unwrap();
    let running = pipeline::<Sale>()
        .set_window_fields(
            |s| partition_by(s.state).sort(s.at.asc()),
            |s, w| {
                let amount = &s.amount;
                output!(Running {
                    id: s.id,
                    total: w.documents(..=0).sum(amount),
                    of_three: w.documents(-1..2).avg(amount),
                    share: amount.expr() / w.documents(..).sum(amount),
                    rank: w.rank(),
                    dense: w.dense_rank(),
                    number: w.document_number(),
                    before: w.shift(amount, -1),
                    rating: w.locf(&s.rating),
                    best_rating: w.documents(..).max(s.rating),
                })
            },
        )
        .sort(|r| r.id.asc());
    let found = of_sales.aggregate(running).all().await.unwrap();
    assert_eq!(found.len(), 6);
    for (sale, found) in sales().into_iter().zip(found) {
        let mut all = sales();
        all.retain(|other| other.state == sale.state);
        all.sort_by_key(|other| other.at);
        let place = all.iter().position(|other| other.id == sale.id).unwrap();
        let amounts: Vec<i32> = all.iter().map(|other| other.amount).collect();
        let until: i32 = amounts[..=place].iter().sum();
        assert_eq!((found.id, found.total), (sale.id, i64::from(until)));
        let three = &amounts[place.saturating_sub(1)..amounts.len().min(place + 2)];
        let mean = three.iter().copied().map(f64::from).sum::<f64>();
        let mean = mean / f64::from(u32::try_from(three.len()).unwrap());
        assert_eq!(found.of_three, Some(mean));
        let total: i32 = amounts.iter().sum();
        assert_eq!(
            Some(found.share),
            Some(f64::from(sale.amount) / f64::from(total))
        );
        let number = i64::try_from(place).unwrap() + 1;
        assert_eq!(
            (found.rank, found.dense, found.number),
            (number, number, number)
        );
        let before = place.checked_sub(1).map(|before| amounts[before]);
        assert_eq!(found.before, before);
        let rated = all[..=place].iter().rev().find_map(|other| other.rating);
        assert_eq!(found.rating, rated);
        let best = all.iter().filter_map(|other| other.rating);
        assert_eq!(found.best_rating, best.max_by(f64::total_cmp));
    }
    // Without a partition, and with equal keys.
    let ranks = pipeline::<Sale>()
        .set_window_fields(
            |s| s.amount.desc(),
            |s, w| {
                output!(Ranked {
                    id: s.id,
                    rank: w.rank(),
                    dense: w.dense_rank(),
                })
            },
        )
        .sort(|r| r.id.asc());
    let found = of_sales.aggregate(ranks).all().await.unwrap();
    let found: Vec<_> = found.iter().map(|one| (one.rank, one.dense)).collect();
    assert_eq!(found, [(3, 2), (1, 1), (4, 3), (1, 1), (6, 5), (5, 4)]);
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Ranked {
    #[serde(rename = "_id")]
    id: i32,
    rank: i64,
    dense: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Week {
    #[serde(rename = "_id")]
    id: i32,
    seven_days: i64,
    before: Option<i32>,
    around: i64,
    growth: Option<f64>,
    filled: Option<f64>,
    smooth: Option<f64>,
}

async fn windows_of_dates_and_of_empty_frames(db: &Db) {
    let of_sales = db.collection::<Sale>();
    of_sales.insert_many(sales()).await.unwrap();
    let weeks = pipeline::<Sale>()
        .match_(|s| s.state.eq("CA"))
        .set_window_fields(
            |s| s.at.asc(),
            |s, w| {
                output!(Week {
                    id: s.id,
                    seven_days: w.range_in(Unit::Day, -7..=0).sum(&s.amount),
                    before: w.documents(-9..=-1).min(&s.amount),
                    around: w.documents(..).count(),
                    growth: w.documents(-1..=0).derivative(&s.amount, Unit::Day),
                    filled: w.linear_fill(&s.rating),
                    smooth: w.exp_moving_avg(&s.amount, 3),
                })
            },
        )
        .sort(|w| w.id.asc());
    let found = of_sales.aggregate(weeks).all().await.unwrap();
    let weeks: Vec<_> = found.iter().map(|one| (one.id, one.seven_days)).collect();
    assert_eq!(weeks, [(1, 10), (2, 40), (4, 60), (6, 32)]);
    let before: Vec<_> = found.iter().map(|one| one.before).collect();
    assert_eq!(before, [None, Some(10), Some(10), Some(10)]);
    assert!(found.iter().all(|one| one.around == 4));
    let growth: Vec<_> = found.iter().map(|one| one.growth).collect();
    assert_eq!(growth, [None, Some(20.0), Some(0.0), Some(-28.0)]);
    assert_eq!(found[1].filled, Some(3.25));
    assert_eq!(found[0].smooth, Some(10.0));
    assert_eq!(found[1].smooth, Some(20.0));
    let ranged = pipeline::<Sale>()
        .set_window_fields(
            |s| s.amount.asc(),
            |s, w| {
                output!(Ranked {
                    id: s.id,
                    rank: w.range(-5.0..=5.0).count(),
                    dense: w.range(..).count(),
                })
            },
        )
        .sort(|r| r.id.asc());
    let found = of_sales.aggregate(ranged).all().await.unwrap();
    let near: Vec<i64> = sales()
        .iter()
        .map(|sale| {
            let all = sales();
            let near = all
                .iter()
                .filter(|other| (other.amount - sale.amount).abs() <= 5);
            i64::try_from(near.count()).unwrap()
        })
        .collect();
    let found: Vec<i64> = found.iter().map(|one| one.rank).collect();
    assert_eq!(found, near);
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct State {
    #[serde(rename = "_id")]
    name: String,
    first: Option<f64>,
    last: i32,
    spread: Option<f64>,
    least: Vec<i32>,
    greatest: Vec<i32>,
    firsts: Vec<i32>,
    lasts: Vec<i32>,
    top: i32,
    bottom: i32,
    tops: Vec<DateTime>,
    bottoms: Vec<i32>,
}

async fn accumulators_of_several_values(db: &Db) {
    let of_sales = db.collection::<Sale>();
    of_sales.insert_many(sales()).await.unwrap();
    let states = pipeline::<Sale>()
        .sort(|s| s.id.asc())
        .group_by(
            |s| s.state,
            |s, group| {
                output!(State {
                    name: group.key(),
                    first: group.first(&s.rating),
                    last: group.last(&s.amount),
                    spread: group.std_dev_samp(&s.amount),
                    least: group.min_n(2, &s.amount),
                    greatest: group.max_n(9, &s.amount),
                    firsts: group.first_n(1, &s.id),
                    lasts: group.last_n(2, &s.id),
                    top: group.top(s.at.desc(), &s.id),
                    bottom: group.bottom(s.at.desc(), &s.id),
                    tops: group.top_n(2, s.amount.desc().then(s.id.asc()), &s.at),
                    bottoms: group.bottom_n(1, s.at.asc(), &s.id),
                })
            },
        )
        .sort(|s| s.name.asc());
    let found = of_sales.aggregate(states).all().await.unwrap();
    let expected = State {
        name: "CA".to_owned(),
        first: Some(3.0),
        last: 2,
        spread: found[0].spread,
        least: vec![2, 10],
        greatest: vec![30, 30, 10, 2],
        firsts: vec![1],
        lasts: vec![4, 6],
        top: 6,
        bottom: 1,
        tops: vec![day(2), day(9)],
        bottoms: vec![6],
    };
    assert_eq!(found[0], expected);
    let spread = found[0].spread.unwrap();
    assert!((spread * spread - 608.0 / 3.0).abs() < 1e-9, "{spread}");
    let sampled = of_sales.aggregate(pipeline::<Sale>().sample(4));
    let mut ids: Vec<i32> = sampled
        .all()
        .await
        .unwrap()
        .iter()
        .map(|one| one.id)
        .collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 4);
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "totals")]
struct Total {
    #[serde(rename = "_id")]
    state: String,
    #[odm(range(min = -100))]
    amount: i64,
    note: Option<String>,
}

fn totals() -> Pipeline<Sale, Total> {
    pipeline::<Sale>().group_by(
        |s| s.state,
        |s, group| {
            output!(Total {
                state: group.key(),
                amount: group.sum(s.amount),
                note: group.max(s.state),
            })
        },
    )
}

async fn merged_results_are_documents_of_the_model(db: &Db) {
    let of_sales = db.collection::<Sale>();
    of_sales.insert_many(sales()).await.unwrap();
    let of_totals = db.collection::<Total>();
    let total = |state: &str, total, note: &str| Total {
        state: state.to_owned(),
        amount: total,
        note: Some(note.to_owned()),
    };
    // The validator wants a `long`, and MongoDB computes an `int`.
    let plan = db.sync(models![Total]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    let read = || async {
        of_totals
            .find_all()
            .sort(|t| t.state.asc())
            .all()
            .await
            .unwrap()
    };
    of_totals.insert_one(total("WA", 0, "old")).await.unwrap();
    let known = totals().match_(|t| t.state.ne("WA"));
    let discard = known.merge(WhenMatched::Merge(WhenNotMatched::Discard));
    let none = of_sales.aggregate(discard).all().await.unwrap();
    assert!(none.is_empty());
    assert_eq!(read().await, [total("WA", 0, "old")]);
    let insert = totals().merge(WhenMatched::KeepExisting);
    of_sales.aggregate(insert).all().await.unwrap();
    assert_eq!(read().await, [total("CA", 72, "CA"), total("WA", 0, "old")]);
    let replace = totals().merge(WhenMatched::Replace(WhenNotMatched::Fail));
    of_sales.aggregate(replace).all().await.unwrap();
    assert_eq!(read().await, [total("CA", 72, "CA"), total("WA", -2, "WA")]);
    let fail = totals().merge(WhenMatched::Fail);
    let error = of_sales.aggregate(fail).await.unwrap_err();
    assert!(error.is_duplicate_key(), "{error}");
}

async fn out_replaces_the_collection(db: &Db) {
    let of_sales = db.collection::<Sale>();
    of_sales.insert_many(sales()).await.unwrap();
    let plan = db.sync(models![Total]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    let of_totals = db.collection::<Total>();
    let old = Total {
        state: "OR".to_owned(),
        amount: 1,
        note: None,
    };
    of_totals.insert_one(old).await.unwrap();
    let some = totals().match_(|t| t.amount.gt(0));
    of_sales.aggregate(some.out()).all().await.unwrap();
    let found = of_totals.find_all().all().await.unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].state.as_str(), found[0].amount), ("CA", 72));
}

async fn nested_windows_are_refused(db: &Db) {
    let of_sales = db.collection::<Sale>();
    let nested = pipeline::<Sale>().set_window_fields(
        |s| s.at.asc(),
        |s, w| {
            let total = w.documents(..).sum(&s.amount);
            output!(Ranked {
                id: s.id,
                rank: w.documents(..).sum(total),
                dense: 1,
            })
        },
    );
    let error = of_sales.aggregate(nested).all().await.unwrap_err();
    assert!(error.is_usage(), "{error}");
    assert!(error.to_string().contains("before this one"), "{error}");
    let open = pipeline::<Sale>().set_window_fields(
        |s| s.amount.asc(),
        |s, w| {
            output!(Ranked {
                id: s.id,
                rank: w.range(-1.0..1.0).count(),
                dense: 1,
            })
        },
    );
    let error = of_sales.aggregate(open).all().await.unwrap_err();
    assert!(
        error.is_usage() && error.to_string().contains("ends"),
        "{error}"
    );
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "bills")]
struct Bill {
    #[serde(rename = "_id")]
    id: i32,
    price: Money<Usd>,
    tip: Option<Money<Usd>>,
    guests: i32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Evening {
    paid: Money<Usd>,
    dearest: Money<Usd>,
    mean_cents: Option<f64>,
    with_tip: Vec<Option<Money<Usd>>>,
    ratio: f64,
    dear: i64,
}

async fn money_is_computed_with(db: &Db) {
    let bills = db.collection::<Bill>();
    let bill = |id, price, tip: Option<i64>, guests| Bill {
        id,
        price: Money::from_minor(price),
        tip: tip.map(Money::from_minor),
        guests,
    };
    let all = [
        bill(1, 10_05, Some(1_00), 2),
        bill(2, 7_10, None, 3),
        bill(3, 30_00, Some(0), 1),
    ];
    bills.insert_many(all).await.unwrap();
    let evening = pipeline::<Bill>().sort(|b| b.id.asc()).group_all(|b, all| {
        let limit = literal(Money::<Usd>::from_minor(10_00));
        let is_dear = odm::expr::if_(b.price.expr().gt(limit), 1, 0);
        output!(Evening {
            paid: all.sum(&b.price * &b.guests),
            dearest: all.max(&b.price),
            mean_cents: all.avg(&b.price),
            with_tip: all.push(&b.price + b.tip),
            ratio: all.max(&b.price) / all.min(&b.price),
            dear: all.sum(is_dear),
        })
    });
    let found = bills.aggregate(evening).all().await.unwrap();
    let expected = Evening {
        paid: Money::from_minor(20_10 + 21_30 + 30_00),
        dearest: Money::from_minor(30_00),
        mean_cents: Some(found[0].mean_cents.unwrap()),
        with_tip: vec![
            Some(Money::from_minor(11_05)),
            None,
            Some(Money::from_minor(30_00)),
        ],
        ratio: found[0].ratio,
        dear: 2,
    };
    assert_eq!(found, [expected]);
    assert!((found[0].ratio - 30_00.0 / 7_10.0).abs() < 1e-12);
    assert!((found[0].mean_cents.unwrap() - 4715.0 / 3.0).abs() < 1e-9);
}
