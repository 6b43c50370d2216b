//! Collections, their options, indexes and views, as they are made, changed, shown and dropped.

use odm::bson::{Bson, Document, doc};

use crate::cases::{Step, exact, insert};
use crate::collations::collation;
use crate::documents::{path, scalar, several, stored, value};
use crate::filters::filter;
use crate::indexes::index;
use crate::rng::Rng;
use crate::shapes::sort;
use crate::stages::pipeline;
use crate::updates::update;

fn odd(rng: &mut Rng, usual: Bson) -> Bson {
    if rng.chance(90) { usual } else { scalar(rng) }
}

/// A specification of an index with options that fit or do not.
fn specification(rng: &mut Rng) -> Document {
    let unique = rng.chance(20);
    let number = rng.below(3);
    let mut out = index(rng, number, unique);
    for _ in 0..rng.below(3) {
        let (name, usual) = match rng.below(12) {
            0 => ("unique", Bson::from(true)),
            1 => ("sparse", true.into()),
            2 => ("hidden", true.into()),
            3 | 4 => (
                "expireAfterSeconds",
                rng.pick(&[
                    Bson::from(3_000_000_000_i64),
                    100_000_000.into(),
                    (-1).into(),
                    Bson::Double(1.5),
                ]),
            ),
            5 => ("collation", collation(rng).into()),
            6 => ("v", rng.pick(&[0, 2, 2, 3]).into()),
            7 => (
                "wildcardProjection",
                doc! { path(rng): rng.int(0, 1) }.into(),
            ),
            8 => ("partialFilterExpression", filter(rng, 1).into()),
            9 => ("background", true.into()),
            10 => ("prepareUnique", true.into()),
            _ => ("zork", 1.into()),
        };
        let is_hashed = out
            .get_document("key")
            .is_ok_and(|key| key.values().any(|part| part.as_str().is_some()));
        if name == "prepareUnique" && is_hashed {
            continue;
        }
        let operand = if name == "v" { usual } else { odd(rng, usual) };
        out.insert(name, operand);
    }
    match rng.below(12) {
        0 => {
            out.remove("name");
        }
        1 => {
            out.insert(
                "name",
                rng.pick(&[Bson::from("*"), "".into(), "_id_".into(), 1.into()]),
            );
        }
        2 => {
            out.insert(
                "key",
                rng.pick(&[
                    doc! {},
                    doc! { "a": 0 },
                    doc! { "a": "x" },
                    doc! { "": 1 },
                    doc! { "a..b": 1 },
                    doc! { "a": 1.5 },
                    doc! { "a": true },
                    doc! { "$a": 1 },
                    doc! { "a.$b": 1 },
                    doc! { "_id": 1 },
                    doc! { "_id": -1 },
                    doc! { "_id": 1, "a": 1 },
                    doc! { "_id": "hashed" },
                    doc! { "a": -5 },
                    doc! { "a": "hashed", "b": "hashed" },
                    doc! { "$**": -1 },
                    doc! { "$**": 1, "a": 1 },
                    doc! { "a.": 1 },
                ]),
            );
        }
        _ => {}
    }
    out
}

fn create(rng: &mut Rng) -> Document {
    let mut out = doc! { "create": "c" };
    for _ in 0..rng.below(3) {
        let (name, usual) = match rng.below(9) {
            0 | 1 => {
                out.insert("capped", true);
                out.insert(
                    "size",
                    rng.pick(&[
                        Bson::from(4096),
                        100_000.into(),
                        1.into(),
                        0.into(),
                        (-1).into(),
                        Bson::Double(5000.5),
                    ]),
                );
                ("max", Bson::from(rng.int(-1, 6)))
            }
            2 => ("size", 10_000.into()),
            3 => ("collation", collation(rng).into()),
            4 => ("validator", filter(rng, 2).into()),
            5 => (
                "validationLevel",
                rng.pick(&["off", "strict", "moderate"]).into(),
            ),
            6 => ("validationAction", rng.pick(&["error", "warn"]).into()),
            7 => ("zork", 1.into()),
            _ => (
                "idIndex",
                doc! { "key": { "_id": 1 }, "name": "_id_" }.into(),
            ),
        };
        out.insert(name, odd(rng, usual));
    }
    out
}

fn change(rng: &mut Rng) -> Document {
    let mut out = doc! { "collMod": rng.pick(&["c", "c", "c", "v", "nope"]) };
    for _ in 0..=rng.below(2) {
        match rng.below(9) {
            0..4 => {
                let by_name = rng.chance(60);
                let mut index = if by_name {
                    doc! { "name": rng.pick(&["i0", "i1", "i2", "_id_", "nope"]) }
                } else {
                    doc! { "keyPattern": rng.pick(&[doc! { "a": 1 }, doc! { "b": 1 }, doc! { "_id": 1 }, doc! { "a": -1 }]) }
                };
                match rng.below(6) {
                    // Of a plain key: a wildcard index that expires takes a mongod 6.0.5 down.
                    0..=3 if !by_name => {
                        index.insert("expireAfterSeconds", odd(rng, 200_000_000.into()))
                    }
                    4 => index.insert("prepareUnique", true),
                    5 => index.insert("unique", true),
                    _ => index.insert("hidden", odd(rng, true.into())),
                };
                out.insert("index", index);
            }
            4 => {
                let validator = Bson::from(filter(rng, 1));
                out.insert("validator", odd(rng, validator));
            }
            5 => {
                let level = Bson::from(rng.pick(&["off", "strict", "moderate"]));
                out.insert("validationLevel", odd(rng, level));
            }
            6 => {
                let action = Bson::from(rng.pick(&["error", "warn"]));
                out.insert("validationAction", odd(rng, action));
            }
            7 => {
                out.insert("viewOn", "c");
                out.insert("pipeline", pipeline(rng, true));
            }
            _ => {
                out.insert(
                    rng.pick(&["cappedSize", "cappedMax"]),
                    odd(rng, 5000.into()),
                );
            }
        }
    }
    out
}

pub(super) fn catalog(rng: &mut Rng) -> Vec<Step> {
    let mut steps = Vec::new();
    if rng.chance(60) {
        steps.push(exact(create(rng)));
    }
    if rng.chance(80) {
        steps.push(insert(several(rng, 1, 6)));
    }
    for id in 20..30 {
        let command = match rng.below(14) {
            0 => create(rng),
            1..5 => {
                let indexes: Vec<_> = (0..=rng.below(1)).map(|_| specification(rng)).collect();
                doc! { "createIndexes": "c", "indexes": indexes }
            }
            5 => {
                doc! { "dropIndexes": "c", "index": rng.pick(&[Bson::from("i0"), "i1".into(), "*".into(), "_id_".into(), "nope".into(), vec!["i0", "i1"].into(), doc! { "a": 1 }.into(), doc! { "_id": 1 }.into(), 1.into()]) }
            }
            6..9 => change(rng),
            9 => doc! { "drop": rng.pick(&["c", "c", "v", "nope"]) },
            10 => doc! { "listIndexes": rng.pick(&["c", "c", "v", "nope"]) },
            11 => doc! { "listCollections": 1, "filter": { "name": rng.pick(&["c", "v"]) } },
            12 => {
                let document = stored(rng, id);
                doc! { "insert": "c", "documents": [document] }
            }
            _ => doc! { "find": "c", "filter": {}, "sort": { "$natural": rng.pick(&[1, -1]) } },
        };
        steps.push(exact(command));
    }
    steps.push(exact(doc! { "listIndexes": "c" }));
    steps
}

/// Collections of a bounded size, under writes.
pub(super) fn capped(rng: &mut Rng) -> Vec<Step> {
    let mut steps = vec![exact(
        doc! { "create": "c", "capped": true, "size": rng.pick(&[4096, 300, 1000]), "max": rng.int(0, 5) },
    )];
    if rng.chance(30) {
        let unique = rng.chance(50);
        steps.push(exact(
            doc! { "createIndexes": "c", "indexes": [index(rng, 0, unique)] },
        ));
    }
    for id in 0..10 {
        let command = match rng.below(10) {
            0 => {
                let mut statement =
                    doc! { "q": { "_id": rng.int(0, 10) }, "upsert": rng.chance(20) };
                statement.extend(update(rng));
                doc! { "update": "c", "updates": [statement] }
            }
            1 => {
                doc! { "delete": "c", "deletes": [{ "q": filter(rng, 1), "limit": rng.int(0, 1) }] }
            }
            2 => {
                doc! { "find": "c", "filter": filter(rng, 1), "sort": { "$natural": rng.pick(&[1, -1]) }, "limit": rng.int(0, 3) }
            }
            3 => {
                doc! { "collMod": "c", rng.pick(&["cappedMax", "cappedSize"]): rng.pick(&[1, 3, 400, 0, -1]) }
            }
            _ => {
                let documents: Vec<_> = (0..=rng.below(2))
                    .map(|more| stored(rng, id * 4 + i32::try_from(more).unwrap_or(0)))
                    .collect();
                doc! { "insert": "c", "documents": documents, "ordered": rng.chance(50) }
            }
        };
        steps.push(exact(command));
        steps.push(exact(doc! { "find": "c", "projection": { "_id": 1 } }));
    }
    steps
}

/// Reads of a view, and of a view of it.
pub(super) fn views(rng: &mut Rng) -> Vec<Step> {
    let mut steps = vec![insert(several(rng, 2, 8))];
    let stages = match rng.below(4) {
        0 => vec![doc! { "$match": filter(rng, 1) }],
        1 => vec![
            doc! { "$project": { path(rng): 1 } },
            doc! { "$match": filter(rng, 1) },
        ],
        2 => vec![doc! { "$set": { "a": value(rng, 2) } }],
        _ => pipeline(rng, true),
    };
    let mut create = doc! { "create": "v", "viewOn": "c", "pipeline": stages };
    if rng.chance(20) {
        create.insert("collation", collation(rng));
    }
    steps.push(exact(create));
    if rng.chance(40) {
        steps.push(exact(
            doc! { "create": "w", "viewOn": "v", "pipeline": pipeline(rng, true) },
        ));
    }
    for _ in 0..8 {
        let view = rng.pick(&["v", "v", "w"]);
        steps.push(exact(match rng.below(9) {
            0 => doc! { "count": view, "query": filter(rng, 1) },
            1 => doc! { "aggregate": view, "pipeline": pipeline(rng, true), "cursor": {} },
            2 => doc! { "aggregate": "c", "pipeline": [{ "$sort": { "_id": 1 } }, { "$lookup": { "from": view, "localField": path(rng), "foreignField": path(rng), "as": "l" } }], "cursor": {} },
            3 => doc! { "aggregate": "c", "pipeline": [{ "$unionWith": view }], "cursor": {} },
            4 => doc! { "update": view, "updates": [{ "q": {}, "u": { "$set": { "a": 1 } } }] },
            5 => {
                let mut find = doc! { "find": view, "filter": filter(rng, 1), "sort": sort(rng, true) };
                if rng.chance(40) {
                    find.insert("skip", rng.int(0, 2));
                    find.insert("limit", rng.int(0, 4));
                }
                find
            }
            6 => doc! { "find": view, "filter": filter(rng, 1), "projection": { path(rng): 1 } },
            7 => doc! { "createIndexes": view, "indexes": [{ "key": { "a": 1 }, "name": "i" }] },
            _ => doc! { "find": view, "filter": filter(rng, 1) },
        }));
    }
    steps
}
