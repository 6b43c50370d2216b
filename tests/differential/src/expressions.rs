//! Aggregation expressions.

use odm::bson::{Bson, Document, doc};

use crate::documents::{number, path, scalar, string, value};
use crate::rng::Rng;

const UNARY: &[&str] = &[
    "$abs",
    "$ceil",
    "$floor",
    "$sqrt",
    "$exp",
    "$ln",
    "$log10",
    "$size",
    "$not",
    "$type",
    "$toInt",
    "$toLong",
    "$toDouble",
    "$toDecimal",
    "$toString",
    "$toBool",
    "$toDate",
    "$toObjectId",
    "$isNumber",
    "$isArray",
    "$reverseArray",
    "$first",
    "$last",
    "$arrayToObject",
    "$objectToArray",
    "$sum",
    "$avg",
    "$min",
    "$max",
    "$stdDevPop",
    "$stdDevSamp",
    "$toLower",
    "$toUpper",
    "$strLenCP",
    "$strLenBytes",
    "$allElementsTrue",
    "$anyElementTrue",
    "$bsonSize",
    "$binarySize",
    "$year",
    "$month",
    "$dayOfMonth",
    "$hour",
    "$dayOfWeek",
    "$isoWeek",
    "$round",
    "$trunc",
    "$literal",
    "$sin",
    "$cos",
    "$tanh",
    "$degreesToRadians",
];
const BINARY: &[&str] = &[
    "$subtract",
    "$divide",
    "$mod",
    "$pow",
    "$log",
    "$cmp",
    "$eq",
    "$ne",
    "$gt",
    "$gte",
    "$lt",
    "$lte",
    "$in",
    "$arrayElemAt",
    "$setDifference",
    "$setIsSubset",
    "$split",
    "$round",
    "$trunc",
    "$strcasecmp",
    "$indexOfArray",
    "$slice",
    "$setEquals",
    "$ifNull",
    "$add",
    "$multiply",
    "$indexOfCP",
    "$indexOfBytes",
];
const VARIADIC: &[&str] = &[
    "$add",
    "$multiply",
    "$concat",
    "$concatArrays",
    "$setUnion",
    "$setIntersection",
    "$and",
    "$or",
    "$ifNull",
    "$mergeObjects",
    "$max",
    "$min",
    "$sum",
    "$avg",
    "$setEquals",
    "$slice",
    "$range",
    "$substrCP",
    "$substrBytes",
    "$cond",
    "$indexOfArray",
];

/// A path of the document, as an expression.
pub(crate) fn reference(rng: &mut Rng) -> Bson {
    Bson::from(format!("${}", path(rng)))
}

pub(crate) fn expression(rng: &mut Rng, depth: usize) -> Bson {
    if depth == 0 || rng.chance(20) {
        return match rng.below(12) {
            0..6 => reference(rng),
            6 => doc! { "$literal": value(rng, 2) }.into(),
            7 => Bson::from(rng.pick(&["$$ROOT", "$$CURRENT.a", "$$REMOVE", "$$ROOT.b", "$$nope"])),
            8 => {
                let count = rng.below(4);
                (0..count).map(|_| scalar(rng)).collect::<Vec<_>>().into()
            }
            _ => match scalar(rng) {
                Bson::String(text) if text.starts_with('$') => reference(rng),
                other => other,
            },
        };
    }
    let depth = depth - 1;
    match rng.below(10) {
        0..3 => {
            let argument = expression(rng, depth);
            let name = rng.pick(UNARY);
            if rng.chance(30) {
                doc! { name: [argument] }.into()
            } else {
                doc! { name: argument }.into()
            }
        }
        3..5 => doc! { rng.pick(BINARY): [expression(rng, depth), expression(rng, depth)] }.into(),
        5 | 6 => {
            let count = rng.below(4);
            let arguments: Vec<_> = (0..count).map(|_| expression(rng, depth)).collect();
            doc! { rng.pick(VARIADIC): arguments }.into()
        }
        7 => {
            let mut out = Document::new();
            for name in ["p", "q"] {
                out.insert(name, expression(rng, depth));
            }
            out.into()
        }
        _ => form(rng, depth).into(),
    }
}

fn form(rng: &mut Rng, depth: usize) -> Document {
    let one = expression(rng, depth);
    let two = expression(rng, depth);
    match rng.below(18) {
        0 => doc! { "$cond": { "if": one, "then": two, "else": reference(rng) } },
        1 => {
            doc! { "$switch": { "branches": [{ "case": one, "then": two }], "default": reference(rng) } }
        }
        2 => {
            doc! { "$map": { "input": reference(rng), "as": "v", "in": { rng.pick(BINARY): ["$$v", one] } } }
        }
        3 => {
            doc! { "$filter": { "input": reference(rng), "as": "v", "cond": { rng.pick(BINARY): ["$$v", one] } } }
        }
        4 => {
            doc! { "$reduce": { "input": reference(rng), "initialValue": one, "in": { rng.pick(BINARY): ["$$value", "$$this"] } } }
        }
        5 => doc! { "$let": { "vars": { "v": one }, "in": { rng.pick(BINARY): ["$$v", two] } } },
        6 => {
            doc! { "$zip": { "inputs": [reference(rng), one], "useLongestLength": rng.chance(50) } }
        }
        7 => {
            doc! { "$sortArray": { "input": reference(rng), "sortBy": rng.pick(&[Bson::from(1), (-1).into(), doc! { "a": 1 }.into()]) } }
        }
        8 => doc! { "$getField": { "field": rng.pick(&["a", "b", "a.b"]), "input": one } },
        9 => {
            doc! { "$setField": { "field": rng.pick(&["a", "b", "a.b"]), "input": reference(rng), "value": two } }
        }
        10 => {
            doc! { "$dateToString": { "date": reference(rng), "format": rng.pick(&["%Y-%m-%d", "%H:%M:%S.%L", "%j %u %V %G %%", "%z %Z"]), "onNull": "null" } }
        }
        11 => {
            doc! { "$dateAdd": { "startDate": { "$toDate": number(rng) }, "unit": rng.pick(&["day", "month", "year", "hour", "quarter"]), "amount": one } }
        }
        12 => {
            doc! { "$dateTrunc": { "date": { "$toDate": { "$literal": number(rng) } }, "unit": rng.pick(&["day", "month", "year", "week", "quarter"]) } }
        }
        13 => {
            doc! { rng.pick(&["$trim", "$ltrim", "$rtrim"]): { "input": one, "chars": string(rng) } }
        }
        14 => {
            doc! { "$regexMatch": { "input": reference(rng), "regex": rng.pick(&["^a", "b", "", "[0-9]"]) } }
        }
        15 => {
            doc! { rng.pick(&["$replaceOne", "$replaceAll"]): { "input": reference(rng), "find": string(rng), "replacement": two } }
        }
        16 => {
            doc! { "$convert": { "input": one, "to": rng.pick(&["int", "long", "double", "decimal", "string", "bool", "date", "objectId"]), "onError": "error", "onNull": two } }
        }
        _ => doc! { "$cond": [one, two, reference(rng)] },
    }
}

/// An expression of numbers alone.
pub(crate) fn arithmetic(rng: &mut Rng, depth: usize) -> Bson {
    if depth == 0 || rng.chance(20) {
        return match rng.below(3) {
            0 => number(rng),
            _ => Bson::from(rng.pick(&["$a", "$b", "$c"])),
        };
    }
    let depth = depth - 1;
    let one = arithmetic(rng, depth);
    match rng.below(5) {
        0 => doc! { rng.pick(&["$abs", "$ceil", "$floor", "$sqrt", "$exp", "$ln", "$log10", "$toInt", "$toLong", "$toDouble", "$toDecimal", "$toString", "$sin", "$atan", "$tanh"]): one },
        1 => doc! { rng.pick(&["$round", "$trunc"]): [one, rng.int(-5, 8)] },
        2 => doc! { rng.pick(&["$sum", "$avg", "$stdDevPop", "$stdDevSamp", "$add", "$multiply", "$max", "$min"]): [one, arithmetic(rng, depth), arithmetic(rng, depth)] },
        _ => doc! { rng.pick(&["$add", "$subtract", "$multiply", "$divide", "$mod", "$cmp", "$eq"]): [one, arithmetic(rng, depth)] },
    }
    .into()
}
