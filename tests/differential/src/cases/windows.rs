//! `$setWindowFields`, `$fill` and `$densify`.

use odm::bson::{Bson, DateTime, Document, doc};

use crate::cases::{Step, exact, insert};
use crate::documents::{number, path, scalar, stored};
use crate::expressions::{expression, reference};
use crate::filters::filter;
use crate::rng::Rng;
use crate::shapes::sort;

/// The kind of the values by which documents are sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Axis {
    Integers,
    Numbers,
    Dates,
    Any,
}

const DAY: i64 = 86_400_000;
const UNITS: &[&str] = &[
    "millisecond",
    "second",
    "minute",
    "hour",
    "day",
    "day",
    "week",
    "month",
    "quarter",
    "year",
];

fn place(rng: &mut Rng, axis: Axis) -> Bson {
    match axis {
        Axis::Integers => rng.int(-2, 12).into(),
        // Few large ones, of which a sequence has very many neighbours.
        Axis::Numbers if rng.chance(15) => number(rng),
        Axis::Numbers => rng.pick(&[
            Bson::Int32(1),
            Bson::Int64(3),
            0.5.into(),
            2.0.into(),
            2.5.into(),
            (-1.5).into(),
            7.0.into(),
            Bson::Int64(-1),
        ]),
        Axis::Dates => {
            let days = i64::from(rng.int(0, 40));
            let past = rng.pick(&[0, 0, 1, 3_600_000, DAY * 365, DAY - 1]);
            DateTime::from_millis(1_582_848_000_000 + days * DAY + past).into()
        }
        Axis::Any => scalar(rng),
    }
}

/// A document with a place `t`, groups `g` and `h`, and values `v`, `w` and `o.v`.
fn row(rng: &mut Rng, id: i32, axis: Axis) -> Document {
    let mut row = if rng.chance(15) {
        stored(rng, id)
    } else {
        doc! { "_id": id }
    };
    if rng.chance(92) {
        row.insert("t", place(rng, axis));
    }
    let groups = [1.into(), 2.into(), Bson::from("x"), Bson::Null, 1.0.into()];
    if rng.chance(85) {
        row.insert("g", rng.pick(&groups));
    }
    if rng.chance(70) {
        row.insert("h", doc! { "k": rng.int(0, 1) });
    }
    for name in ["v", "w"] {
        match rng.below(10) {
            0 => {}
            1 => {
                row.insert(name, Bson::Null);
            }
            2 => {
                row.insert(name, scalar(rng));
            }
            3 => {
                row.insert(name, number(rng));
            }
            _ => {
                row.insert(name, rng.int(-3, 9));
            }
        }
    }
    if rng.chance(30) {
        row.insert("o", doc! { "v": number(rng) });
    }
    row
}

/// What the functions take.
fn operand(rng: &mut Rng) -> Bson {
    match rng.below(12) {
        0..5 => "$v".into(),
        5 | 6 => "$w".into(),
        7 => "$t".into(),
        8 => "$o.v".into(),
        9 => reference(rng),
        _ => expression(rng, 1),
    }
}

fn order(rng: &mut Rng) -> Document {
    match rng.below(10) {
        0..6 => doc! { "t": 1 },
        6 => doc! { "t": -1 },
        7 => doc! { "t": 1, "_id": rng.pick(&[1, -1]) },
        8 => doc! { "v": 1 },
        _ => sort(rng, true),
    }
}

fn partition(rng: &mut Rng) -> Bson {
    match rng.below(8) {
        0..3 => "$g".into(),
        3 => "$h.k".into(),
        4 => doc! { "g": "$g", "k": "$h.k" }.into(),
        5 => expression(rng, 1),
        6 => doc! { "$ifNull": ["$g", "none"] }.into(),
        _ => rng.pick(&[Bson::Null, 1.into(), "$t".into()]),
    }
}

fn bound(rng: &mut Rng, axis: Axis, ranged: bool) -> Bson {
    match rng.below(8) {
        0 => "current".into(),
        1 => "unbounded".into(),
        2 if ranged && axis != Axis::Dates => number(rng),
        3 if ranged && axis != Axis::Dates => 1.5.into(),
        _ => rng.int(-3, 3).into(),
    }
}

fn window(rng: &mut Rng, axis: Axis) -> Document {
    let ranged = rng.chance(50);
    let mut bounds = [bound(rng, axis, ranged), bound(rng, axis, ranged)];
    if let [Bson::Int32(lower), Bson::Int32(upper)] = bounds
        && lower > upper
    {
        bounds = [upper.into(), lower.into()];
    }
    let bounds = bounds.to_vec();
    if !ranged {
        return doc! { "documents": bounds };
    }
    let mut window = doc! { "range": bounds };
    if axis == Axis::Dates && rng.chance(92) || rng.chance(5) {
        window.insert("unit", rng.pick(UNITS));
    }
    window
}

fn count(rng: &mut Rng) -> Bson {
    if rng.chance(85) {
        rng.int(1, 3).into()
    } else {
        scalar(rng)
    }
}

/// One function with its window.
fn function(rng: &mut Rng, axis: Axis) -> Document {
    let one = operand(rng);
    let mut unit = |mut of: Document| {
        if axis == Axis::Dates && rng.chance(80) || rng.chance(5) {
            of.insert("unit", rng.pick(&UNITS[..7]));
        }
        of
    };
    let slope = unit(doc! { "input": one.clone() });
    let mut function = match rng.below(26) {
        0..9 => {
            let name = rng.pick(&[
                "$sum",
                "$avg",
                "$min",
                "$max",
                "$push",
                "$addToSet",
                "$first",
                "$last",
                "$stdDevPop",
                "$stdDevSamp",
            ]);
            doc! { name: one }
        }
        9 | 10 => {
            let of = vec![one, operand(rng)];
            doc! { rng.pick(&["$covariancePop", "$covarianceSamp"]): of }
        }
        11 => doc! { "$derivative": slope },
        12 => doc! { "$integral": slope },
        13 => doc! { "$count": {} },
        14 | 15 => {
            let name = rng.pick(&["$firstN", "$lastN", "$maxN", "$minN"]);
            doc! { name: { "input": one, "n": count(rng) } }
        }
        16 => {
            let name = rng.pick(&["$top", "$bottom"]);
            doc! { name: { "output": one, "sortBy": sort(rng, true) } }
        }
        17 => {
            let name = rng.pick(&["$topN", "$bottomN"]);
            doc! { name: { "output": one, "sortBy": sort(rng, true), "n": count(rng) } }
        }
        other => return unbounded(rng, other, one),
    };
    if rng.chance(75) {
        function.insert("window", window(rng, axis));
    }
    function
}

/// A function that has no window.
fn unbounded(rng: &mut Rng, which: usize, one: Bson) -> Document {
    match which {
        18 => doc! { rng.pick(&["$rank", "$denseRank", "$documentNumber"]): {} },
        19 | 20 => {
            let mut shift = doc! { "output": one, "by": rng.int(-3, 3) };
            if rng.chance(50) {
                shift.insert("default", scalar(rng));
            }
            doc! { "$shift": shift }
        }
        21 => doc! { "$expMovingAvg": { "input": one, "N": rng.int(1, 4) } },
        22 => {
            let odd = number(rng);
            let alpha = rng.pick(&[Bson::from(0.5), 0.1.into(), odd]);
            doc! { "$expMovingAvg": { "input": one, "alpha": alpha } }
        }
        23 => doc! { "$locf": one },
        _ => doc! { "$linearFill": one },
    }
}

fn windows(rng: &mut Rng, axis: Axis) -> Document {
    let mut stage = Document::new();
    if rng.chance(50) {
        stage.insert("partitionBy", partition(rng));
    }
    if rng.chance(90) {
        stage.insert("sortBy", order(rng));
    }
    // A server adds several fields in any order.
    let name = rng.pick(&["r", "r", "r", "v", "o.r", "t", "a.b", "_id"]);
    stage.insert("output", doc! { name: function(rng, axis) });
    doc! { "$setWindowFields": stage }
}

fn fill(rng: &mut Rng) -> Document {
    let mut stage = Document::new();
    match rng.below(4) {
        0 => {
            let by = rng.pick(&[
                doc! { "g": "$g" },
                doc! { "g": "$g", "k": "$h.k" },
                doc! { "$toString": "$g" },
            ]);
            stage.insert("partitionBy", by);
        }
        1 => {
            let fields = rng.pick(&[vec!["g"], vec!["g", "h.k"], vec!["h"], vec![]]);
            stage.insert("partitionByFields", fields);
        }
        _ => {}
    }
    if rng.chance(88) {
        stage.insert("sortBy", order(rng));
    }
    let mut output = Document::new();
    let name = rng.pick(&["v", "v", "w", "o.v", "t"]);
    let filled = match rng.below(5) {
        0 | 1 => doc! { "method": "linear" },
        2 | 3 => doc! { "method": "locf" },
        _ => doc! { "value": operand(rng) },
    };
    output.insert(name, filled);
    if rng.chance(25) {
        output.insert("x", doc! { "value": operand(rng) });
    }
    stage.insert("output", output);
    doc! { "$fill": stage }
}

fn densify(rng: &mut Rng, axis: Axis) -> Document {
    let dates = if rng.chance(92) {
        axis == Axis::Dates
    } else {
        rng.chance(50)
    };
    let mut range = Document::new();
    if dates {
        range.insert("step", rng.int(1, 30));
        range.insert(
            "unit",
            rng.pick(&["hour", "day", "week", "month", "day", "quarter"]),
        );
    } else {
        let odd = number(rng);
        let step = rng.pick(&[
            Bson::from(1),
            2.into(),
            3.into(),
            0.5.into(),
            2.0.into(),
            Bson::Int64(2),
            odd,
        ]);
        range.insert("step", step);
    }
    let bounds = match rng.below(5) {
        0 | 1 => "full".into(),
        2 => "partition".into(),
        _ if dates => {
            let lower = i64::from(rng.int(0, 20));
            let upper = lower + i64::from(rng.int(0, 30));
            let of = |days| DateTime::from_millis(1_582_848_000_000 + days * DAY);
            vec![of(lower), of(upper)].into()
        }
        _ => {
            let lower = rng.int(-3, 8);
            let upper = lower + rng.int(0, 9);
            match range.get("step") {
                Some(Bson::Double(_)) => vec![f64::from(lower), f64::from(upper)].into(),
                Some(Bson::Int64(_)) => vec![i64::from(lower), i64::from(upper)].into(),
                _ => Bson::from(vec![lower, upper]),
            }
        }
    };
    range.insert("bounds", bounds);
    let field = rng.pick(&["t", "t", "t", "t", "h.k", "v", "o.v"]);
    let mut stage = doc! { "field": field, "range": range };
    if rng.chance(55) {
        let other = path(rng);
        let fields = rng.pick(&[
            vec!["g"],
            vec!["g"],
            vec!["g", "h.k"],
            vec!["h"],
            vec![],
            vec![other],
        ]);
        stage.insert("partitionByFields", fields);
    }
    doc! { "$densify": stage }
}

pub(super) fn stages(rng: &mut Rng) -> Vec<Step> {
    let axis = rng.pick(&[
        Axis::Integers,
        Axis::Integers,
        Axis::Numbers,
        Axis::Dates,
        Axis::Dates,
        Axis::Any,
    ]);
    let rows = (0..rng.int(1, 10)).map(|id| row(rng, id, axis)).collect();
    let mut steps = vec![insert(rows)];
    for _ in 0..8 {
        let mut pipeline = Vec::new();
        match rng.below(8) {
            0 => pipeline.push(doc! { "$match": filter(rng, 1) }),
            1 => pipeline.push(doc! { "$sort": order(rng) }),
            2 => pipeline.push(doc! { "$match": { "t": { "$type": rng.pick(&["number", "date"]) } } }),
            3 => pipeline.push(doc! { "$match": { "t": { "$type": rng.pick(&["number", "date"]) }, "v": { "$type": "number" } } }),
            _ => {}
        }
        pipeline.push(match rng.below(10) {
            0 | 1 => fill(rng),
            2..5 => densify(rng, axis),
            _ => windows(rng, axis),
        });
        match rng.below(10) {
            0 => pipeline.push(doc! { "$match": filter(rng, 1) }),
            1 => pipeline.push(doc! { "$limit": rng.int(1, 4) }),
            2 => pipeline.push(doc! { "$project": { "r": 1, "t": 1 } }),
            3 => pipeline.push(doc! { "$sort": { "_id": 1, "t": 1 } }),
            4 => pipeline.push(windows(rng, axis)),
            _ => {}
        }
        steps.push(exact(
            doc! { "aggregate": "c", "pipeline": pipeline, "cursor": {} },
        ));
    }
    steps
}
