//! Pipelines over groups and other collections.

use odm::bson::{Bson, Document, doc};

use crate::cases::{Step, any, exact, insert};
use crate::documents::{field, nested, path, scalar, stored};
use crate::expressions::{expression, reference};
use crate::filters::filter;
use crate::rng::Rng;
use crate::shapes::sort;
use crate::stages::pipeline;

fn accumulator(rng: &mut Rng) -> Document {
    let one = if rng.chance(70) {
        reference(rng)
    } else {
        expression(rng, 2)
    };
    match rng.below(10) {
        0 => {
            doc! { rng.pick(&["$firstN", "$lastN", "$maxN", "$minN"]): { "input": one, "n": if rng.chance(80) { Bson::from(rng.int(1, 3)) } else { scalar(rng) } } }
        }
        1 => doc! { rng.pick(&["$top", "$bottom"]): { "output": one, "sortBy": sort(rng, true) } },
        2 => {
            doc! { rng.pick(&["$topN", "$bottomN"]): { "output": one, "sortBy": sort(rng, true), "n": rng.int(0, 3) } }
        }
        3 => doc! { "$count": {} },
        _ => {
            doc! { rng.pick(&["$sum", "$avg", "$min", "$max", "$first", "$last", "$push", "$stdDevPop", "$stdDevSamp", "$mergeObjects", "$sum", "$avg"]): one }
        }
    }
}

/// What a group makes of its documents, in the order of their ids.
pub(super) fn groups(rng: &mut Rng) -> Vec<Step> {
    let documents = (0..10)
        .map(|id| {
            if rng.chance(30) {
                nested(rng, id)
            } else {
                stored(rng, id)
            }
        })
        .collect();
    let mut steps = vec![insert(documents)];
    for _ in 0..8 {
        let id = match rng.below(5) {
            0 => Bson::Null,
            1 => doc! { "p": reference(rng), "q": reference(rng) }.into(),
            2 => expression(rng, 2),
            _ => reference(rng),
        };
        let mut group = doc! { "_id": id };
        for name in ["p", "q", "r"] {
            group.insert(name, accumulator(rng));
        }
        let mut stages = vec![doc! { "$sort": { "_id": 1 } }];
        if rng.chance(30) {
            stages.push(doc! { "$unwind": format!("${}", field(rng)) });
        }
        if rng.chance(15) {
            stages.push(doc! { "$sortByCount": reference(rng) });
        } else {
            stages.push(doc! { "$group": group });
        }
        steps.push(any(
            doc! { "aggregate": "c", "pipeline": stages, "cursor": {} },
        ));
    }
    steps
}

/// Pipelines that read other collections, and write them.
pub(super) fn foreign(rng: &mut Rng) -> Vec<Step> {
    let mut steps = vec![insert((0..6).map(|id| stored(rng, id)).collect())];
    if rng.chance(70) {
        let documents: Vec<_> = (0..6)
            .map(|id| {
                if rng.chance(40) {
                    nested(rng, id)
                } else {
                    stored(rng, id)
                }
            })
            .collect();
        steps.push(exact(doc! { "insert": "o", "documents": documents }));
    }
    if rng.chance(25) {
        steps.push(exact(doc! { "createIndexes": "o", "indexes": [{ "key": { path(rng): 1 }, "name": "i", "unique": rng.chance(50) }] }));
    }
    for _ in 0..6 {
        let mut stages = Vec::new();
        if rng.chance(40) {
            stages.push(doc! { "$match": filter(rng, 1) });
        }
        stages.push(doc! { "$sort": { "_id": 1 } });
        let from = rng.pick(&["o", "o", "c", "nope"]);
        let stage = match rng.below(9) {
            0 | 1 => {
                doc! { "$lookup": { "from": from, "localField": path(rng), "foreignField": path(rng), "as": rng.pick(&["l", "a", "a.b", "_id.x"]) } }
            }
            2 => {
                doc! { "$lookup": { "from": from, "localField": path(rng), "foreignField": path(rng), "let": { "v": reference(rng) }, "pipeline": [
                    { "$match": { "$expr": { rng.pick(&["$lte", "$ne", "$in"]): [reference(rng), "$$v"] } } }, { "$sort": { "_id": 1 } }, { "$limit": 3 },
                ], "as": "l" } }
            }
            3 => {
                let mut inner = pipeline(rng, true);
                inner.push(doc! { "$limit": 5 });
                doc! { "$lookup": { "from": from, "let": { "v": expression(rng, 1) }, "pipeline": inner, "as": "l" } }
            }
            4 => {
                doc! { "$unionWith": if rng.chance(50) { Bson::from(from) } else { doc! { "coll": from, "pipeline": [{ "$match": filter(rng, 1) }, { "$project": { field(rng): 1 } }] }.into() } }
            }
            5 => {
                let mut out = doc! { "from": from, "startWith": reference(rng), "connectFromField": path(rng), "connectToField": path(rng), "as": "g", "maxDepth": rng.int(0, 2) };
                if rng.chance(40) {
                    out.insert("depthField", rng.pick(&["n", "a.b", "_id"]));
                }
                if rng.chance(40) {
                    out.insert("restrictSearchWithMatch", filter(rng, 1));
                }
                stages.push(doc! { "$graphLookup": out });
                // What it finds comes in no order.
                doc! { "$project": { "n": { "$size": "$g" } } }
            }
            6 => doc! { "$facet": { "p": pipeline(rng, true), "q": [{ "$count": "n" }] } },
            _ => {
                let writes = if rng.chance(25) {
                    doc! { "$out": rng.pick(&[Bson::from("o"), doc! { "db": "nope.x", "coll": "o" }.into(), 1.into()]) }
                } else {
                    merge(rng)
                };
                stages.push(doc! { "$match": filter(rng, 1) });
                stages.push(doc! { "$set": { "m": expression(rng, 1) } });
                stages.push(writes);
                steps.push(exact(
                    doc! { "aggregate": "c", "pipeline": stages, "cursor": {} },
                ));
                steps.push(exact(doc! { "find": "o", "sort": { "_id": 1 } }));
                continue;
            }
        };
        stages.push(stage);
        if rng.chance(30) {
            stages.push(doc! { "$unwind": { "path": rng.pick(&["$l", "$a"]), "preserveNullAndEmptyArrays": true } });
        }
        steps.push(any(
            doc! { "aggregate": "c", "pipeline": stages, "cursor": {} },
        ));
    }
    steps
}

fn merge(rng: &mut Rng) -> Document {
    let mut out = doc! { "into": rng.pick(&["o", "o", "o", "c"]) };
    if rng.chance(30) {
        let field = field(rng);
        let on = rng.pick(&[
            Bson::from("_id"),
            vec!["_id"].into(),
            field.into(),
            vec![field, "_id"].into(),
            Bson::Array(vec![]),
        ]);
        out.insert("on", on);
    }
    if rng.chance(75) {
        let matched = match rng.below(8) {
            0 => Bson::from(vec![
                doc! { "$set": { "w": { "$concat": ["x", "y"] }, "n": "$$new.a" } },
            ]),
            1 => vec![doc! { "$replaceWith": expression(rng, 1) }].into(),
            _ => rng
                .pick(&["merge", "replace", "keepExisting", "fail", "zork"])
                .into(),
        };
        out.insert("whenMatched", matched);
    }
    if rng.chance(60) {
        out.insert(
            "whenNotMatched",
            rng.pick(&["insert", "discard", "fail", "zork"]),
        );
    }
    doc! { "$merge": out }
}
