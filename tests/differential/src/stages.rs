//! Pipelines of the supported stages.

use odm::bson::{Bson, Document, doc};

use crate::documents::{field, path, scalar};
use crate::expressions::{expression, reference};
use crate::filters::filter;
use crate::rng::Rng;
use crate::shapes::{projection, sort};

const ACCUMULATORS: &[&str] = &[
    "$sum",
    "$avg",
    "$min",
    "$max",
    "$first",
    "$last",
    "$push",
    "$stdDevPop",
    "$mergeObjects",
];

pub(crate) fn pipeline(rng: &mut Rng, nested: bool) -> Vec<Document> {
    let mut out = Vec::new();
    for _ in 0..=rng.below(3) {
        if rng.chance(20) {
            filtered(rng, nested, &mut out);
        } else {
            stage(rng, nested, &mut out);
        }
    }
    out
}

/// A stage and a filter behind it, which mongod may move in front of it in whole or in part: some of its paths are those
/// that the stage makes.
fn filtered(rng: &mut Rng, nested: bool, out: &mut Vec<Document>) {
    let stage = match rng.below(if nested { 6 } else { 7 }) {
        0 => doc! { "$project": { "z": reference(rng), field(rng): 1, "w.a": reference(rng) } },
        1 => {
            doc! { "$addFields": { "z": reference(rng), path(rng): reference(rng), "w.a": reference(rng) } }
        }
        2 => doc! { "$group": { "_id": reference(rng), "n": { "$sum": 1 } } },
        3 => {
            doc! { "$group": { "_id": { "x": reference(rng), "y": reference(rng) }, "n": { "$sum": 1 } } }
        }
        4 => doc! { "$unwind": { "path": format!("${}", field(rng)), "includeArrayIndex": "n" } },
        5 => doc! { "$sort": sort(rng, true) },
        _ => {
            doc! { "$lookup": { "from": "c", "localField": path(rng), "foreignField": path(rng), "as": "w" } }
        }
    };
    let is_group = stage.contains_key("$group");
    out.push(stage);
    let filter = filter(rng, 2);
    out.push(doc! { "$match": renamed(rng, filter) });
    if is_group {
        out.push(doc! { "$sort": { "_id": 1 } });
    }
}

/// The filter with other paths in some places.
fn renamed(rng: &mut Rng, filter: Document) -> Document {
    const MADE: &[&str] = &["z", "z.a", "w", "w.a", "_id", "_id.x", "_id.y.a", "n"];
    let mut out = Document::new();
    for (name, value) in filter {
        match value {
            Bson::Array(filters) if name.starts_with('$') => {
                let filters = filters.into_iter().map(|filter| match filter {
                    Bson::Document(filter) => renamed(rng, filter).into(),
                    other => other,
                });
                let filters: Vec<Bson> = filters.collect();
                out.insert(name, filters);
            }
            value if !name.starts_with('$') && rng.chance(60) => {
                out.insert(rng.pick(MADE), value);
            }
            value => {
                out.insert(name, value);
            }
        }
    }
    out
}

fn stage(rng: &mut Rng, nested: bool, out: &mut Vec<Document>) {
    let stage = match rng.below(22) {
        0..3 => doc! { "$match": filter(rng, 2) },
        3 | 4 => doc! { "$project": projection(rng, false) },
        5 => {
            doc! { rng.pick(&["$addFields", "$set"]): { path(rng): expression(rng, 3), field(rng): expression(rng, 2) } }
        }
        6 => doc! { "$unset": [path(rng), path(rng)] },
        7 | 8 => {
            let mut group = doc! { "_id": expression(rng, 2) };
            for name in ["p", "q"] {
                group.insert(name, doc! { rng.pick(ACCUMULATORS): expression(rng, 1) });
            }
            out.push(doc! { "$group": group });
            doc! { "$sort": { "_id": 1 } }
        }
        9 => doc! { "$sort": sort(rng, true) },
        10 => doc! { "$limit": rng.int(1, 5) },
        11 => doc! { "$skip": rng.int(0, 3) },
        // Of a field: there are paths into documents made by other stages that a mongod 6.0.5 does not survive.
        12 => doc! { "$unwind": format!("${}", field(rng)) },
        13 => {
            doc! { "$unwind": { "path": format!("${}", field(rng)), "preserveNullAndEmptyArrays": rng.chance(50), "includeArrayIndex": rng.pick(&["i", "a", "b.c"]) } }
        }
        14 => {
            doc! { "$replaceRoot": { "newRoot": if rng.chance(50) { doc! { "$mergeObjects": [reference(rng), { "p": reference(rng) }] }.into() } else { expression(rng, 2) } } }
        }
        15 => doc! { "$count": "n" },
        16 if !nested => match rng.below(3) {
            0 => doc! { "$facet": { "p": pipeline(rng, true), "q": pipeline(rng, true) } },
            1 => {
                doc! { "$lookup": { "from": "c", "localField": path(rng), "foreignField": path(rng), "as": "l" } }
            }
            _ => doc! { "$lookup": { "from": "c", "let": { "v": reference(rng) }, "pipeline": [
                { "$match": { "$expr": { rng.pick(&["$eq", "$lt", "$in"]): [reference(rng), "$$v"] } } }, { "$project": { "_id": 1 } },
            ], "as": "l" } },
        },
        17 if !nested => {
            let pipeline = if rng.chance(30) {
                doc! { "pipeline": [computed(rng)] }
            } else {
                doc! { "coll": "c", "pipeline": [{ "$match": filter(rng, 1) }] }
            };
            doc! { "$unionWith": pipeline }
        }
        18 => doc! { "$redact": redact(rng, 2) },
        19 => bucket(rng),
        20 => bucket_auto(rng),
        21 if !nested => {
            doc! { "$lookup": { "let": { "v": reference(rng) }, "pipeline": [computed(rng), { "$set": { "v": "$$v" } }], "as": "l" } }
        }
        _ => doc! { "$set": { "p": expression(rng, 3) } },
    };
    out.push(stage);
}

/// A `$documents`, for the start of a nested pipeline.
fn computed(rng: &mut Rng) -> Document {
    let documents: Vec<_> = (0..rng.below(3))
        .map(|at| doc! { "_id": 100 + i32::try_from(at).unwrap_or(0), field(rng): expression(rng, 1) })
        .collect();
    doc! { "$documents": if rng.chance(90) { documents.into() } else { expression(rng, 2) } }
}

fn redact(rng: &mut Rng, depth: u32) -> Bson {
    if depth == 0 || rng.chance(20) {
        return rng
            .pick(&["$$DESCEND", "$$DESCEND", "$$KEEP", "$$PRUNE"])
            .into();
    }
    let condition = if rng.chance(50) {
        doc! { rng.pick(&["$eq", "$lt", "$gte"]): [reference(rng), scalar(rng)] }.into()
    } else {
        expression(rng, 1)
    };
    doc! { "$cond": [condition, redact(rng, depth - 1), redact(rng, depth - 1)] }.into()
}

fn output(rng: &mut Rng) -> Document {
    doc! { "p": { rng.pick(ACCUMULATORS): expression(rng, 1) }, "q": { "$push": "$_id" } }
}

fn bucket(rng: &mut Rng) -> Document {
    let mut boundaries: Vec<_> = (0..=rng.below(3) + 1).map(|_| rng.int(-2, 12)).collect();
    boundaries.sort_unstable();
    let mut bucket = doc! { "groupBy": expression(rng, 1), "boundaries": boundaries };
    if rng.chance(85) {
        bucket.insert(
            "default",
            if rng.chance(70) {
                "other".into()
            } else {
                scalar(rng)
            },
        );
    }
    if rng.chance(40) {
        bucket.insert("output", output(rng));
    }
    doc! { "$bucket": bucket }
}

fn bucket_auto(rng: &mut Rng) -> Document {
    let mut bucket = doc! { "groupBy": expression(rng, 1), "buckets": rng.int(1, 5) };
    if rng.chance(40) {
        bucket.insert("output", output(rng));
    }
    if rng.chance(20) {
        let names = [
            "R5",
            "R20",
            "R80",
            "1-2-5",
            "E6",
            "E24",
            "E192",
            "POWERSOF2",
        ];
        bucket.insert("granularity", rng.pick(&names));
    }
    doc! { "$bucketAuto": bucket }
}
