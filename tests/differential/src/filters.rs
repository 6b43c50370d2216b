//! Filters over every supported operator.

use odm::bson::{Bson, Document, doc};

use crate::documents::{field, number, path, regex, scalar, string, value};
use crate::expressions::expression;
use crate::rng::Rng;
use crate::validators::schema;

const COMPARISONS: &[&str] = &["$eq", "$ne", "$gt", "$gte", "$lt", "$lte"];
const TYPES: &[&str] = &[
    "number",
    "int",
    "long",
    "double",
    "decimal",
    "string",
    "array",
    "object",
    "null",
    "bool",
    "date",
    "missing",
    "regex",
    "undefined",
    "objectId",
    "binData",
    "minKey",
    "symbol",
];
const PATTERNS: &[&str] = &[
    "^a", "b", "^a.*c$", "", "^", "a|b", "[0-9]", "é", "^A", "^ab?",
];

/// An expression that says of fields how they compare with constants, as far as it does: what may bound an index.
pub(crate) fn comparison(rng: &mut Rng, depth: usize) -> Bson {
    if depth > 0 && rng.chance(40) {
        let parts: Vec<_> = (0..rng.pick(&[1, 2, 2, 3]))
            .map(|_| comparison(rng, depth - 1))
            .collect();
        return doc! { rng.pick(&["$and", "$and", "$or", "$not"]): parts }.into();
    }
    let operator = rng.pick(&["$eq", "$eq", "$lt", "$lte", "$gt", "$gte", "$ne"]);
    let field = Bson::from(format!("${}", path(rng)));
    let constant = match rng.below(12) {
        0 => Bson::from("$b"),
        1 => doc! { "$add": [1, number(rng)] }.into(),
        _ => doc! { "$literal": value(rng, 1) }.into(),
    };
    let sides = if rng.chance(75) {
        vec![field, constant]
    } else {
        vec![constant, field]
    };
    doc! { operator: sides }.into()
}

pub(crate) fn filter(rng: &mut Rng, depth: usize) -> Document {
    let mut out = Document::new();
    for _ in 0..rng.pick(&[1, 1, 1, 2, 2, 3]) {
        match rng.below(14) {
            0 | 1 if depth > 0 => {
                let name = rng.pick(&["$and", "$or", "$or", "$nor"]);
                let count = 1 + rng.below(3);
                let parts: Vec<_> = (0..count).map(|_| filter(rng, depth - 1)).collect();
                out.insert(name, parts);
            }
            2 if depth > 0 => {
                let condition = if rng.chance(50) {
                    expression(rng, 2)
                } else {
                    comparison(rng, 1)
                };
                out.insert("$expr", condition);
            }
            3 if rng.chance(50) => {
                out.insert("$jsonSchema", schema(rng, 2));
            }
            4 | 5 => {
                out.insert(path(rng), value(rng, 2));
            }
            _ => {
                out.insert(path(rng), predicate(rng, depth));
            }
        }
    }
    out
}

/// What may stand for a field: one or more operators.
pub(crate) fn predicate(rng: &mut Rng, depth: usize) -> Document {
    let mut out = Document::new();
    for _ in 0..rng.pick(&[1, 1, 1, 2]) {
        let (name, operand) = operator(rng, depth);
        out.insert(name, operand);
        if name == "$regex" && rng.chance(30) {
            out.insert("$options", rng.pick(&["i", "m", "s", "x", "im", "z"]));
        }
    }
    out
}

fn list(rng: &mut Rng) -> Bson {
    let count = rng.below(4);
    let mut values: Vec<_> = (0..count).map(|_| value(rng, 1)).collect();
    if rng.chance(15) {
        values.push(regex(rng.pick(PATTERNS), ""));
    }
    values.into()
}

fn operator(rng: &mut Rng, depth: usize) -> (&'static str, Bson) {
    match rng.below(22) {
        0..8 => (rng.pick(COMPARISONS), value(rng, 2)),
        8 => ("$in", list(rng)),
        9 => ("$nin", list(rng)),
        10 => (
            "$exists",
            rng.pick(&[
                Bson::from(true),
                false.into(),
                1.into(),
                0.into(),
                Bson::Null,
            ]),
        ),
        11 => ("$type", kinds(rng)),
        12 => (
            "$size",
            if rng.chance(80) {
                rng.int(0, 3).into()
            } else {
                number(rng)
            },
        ),
        13 => (
            "$all",
            if depth > 0 && rng.chance(40) {
                vec![doc! { "$elemMatch": inner(rng, depth - 1) }].into()
            } else {
                list(rng)
            },
        ),
        14 | 15 if depth > 0 => ("$elemMatch", inner(rng, depth - 1).into()),
        16 => ("$mod", vec![number(rng), number(rng)].into()),
        17 => (
            "$regex",
            if rng.chance(80) {
                Bson::from(rng.pick(PATTERNS))
            } else {
                regex(rng.pick(PATTERNS), "i")
            },
        ),
        18 => (
            rng.pick(&[
                "$bitsAllSet",
                "$bitsAnySet",
                "$bitsAllClear",
                "$bitsAnyClear",
            ]),
            bits(rng),
        ),
        19 | 20 if depth > 0 => (
            "$not",
            if rng.chance(85) {
                predicate(rng, depth - 1).into()
            } else {
                regex(rng.pick(PATTERNS), "")
            },
        ),
        21 => (
            rng.pick(&[
                "$eq",
                "$in",
                "$size",
                "$all",
                "$mod",
                "$elemMatch",
                "$zork",
                "$exists",
                "$type",
            ]),
            value(rng, 1),
        ),
        _ => ("$eq", scalar(rng)),
    }
}

fn inner(rng: &mut Rng, depth: usize) -> Document {
    if rng.chance(50) {
        return predicate(rng, depth);
    }
    let mut out = Document::new();
    for _ in 0..=rng.below(2) {
        let name = if rng.chance(80) {
            field(rng)
        } else {
            path(rng)
        };
        let operand = if rng.chance(50) {
            value(rng, 1)
        } else {
            predicate(rng, depth).into()
        };
        out.insert(name, operand);
    }
    out
}

fn bits(rng: &mut Rng) -> Bson {
    match rng.below(4) {
        0 => vec![Bson::from(rng.int(0, 3)), rng.int(0, 70).into()].into(),
        1 => scalar(rng),
        _ => rng.int(0, 7).into(),
    }
}

fn kinds(rng: &mut Rng) -> Bson {
    match rng.below(5) {
        0 => Bson::Int32(rng.pick(&[-1, 1, 2, 3, 4, 6, 8, 10, 11, 16, 18, 19, 127, 0, 5, 99])),
        1 => (0..rng.below(3))
            .map(|_| Bson::from(rng.pick(TYPES)))
            .collect::<Vec<_>>()
            .into(),
        2 if rng.chance(20) => Bson::from(string(rng)),
        _ => Bson::from(rng.pick(TYPES)),
    }
}
