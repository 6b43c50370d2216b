//! Areas that read.

use odm::bson::{Bson, Document, doc};

use crate::cases::{OPEN, Step, all, any, exact, insert};
use crate::collations::collation;
use crate::documents::{number, path, scalar, several, stored, value};
use crate::expressions::{arithmetic, expression};
use crate::filters::{comparison, filter};
use crate::indexes::index;
use crate::rng::Rng;
use crate::shapes::{projection, sort};
use crate::stages::pipeline;

fn read(rng: &mut Rng, has_index: bool) -> Step {
    let step = |command| {
        if has_index {
            any(command)
        } else {
            exact(command)
        }
    };
    match rng.below(10) {
        0 => step(doc! { "distinct": "c", "key": path(rng), "query": filter(rng, 1) }),
        1 => {
            let mut count = doc! { "count": "c", "query": filter(rng, 2) };
            if rng.chance(40) {
                count.insert("skip", rng.int(0, 3));
                count.insert("limit", rng.int(-2, 4));
            }
            step(count)
        }
        _ => {
            let mut find = doc! { "find": "c", "filter": filter(rng, 2) };
            let total = rng.chance(50);
            let sorted = rng.chance(50);
            if rng.chance(40) {
                find.insert("projection", projection(rng, true));
            }
            if sorted {
                find.insert("sort", sort(rng, total));
            }
            if (sorted && total || !sorted && !has_index) && rng.chance(50) {
                find.insert("skip", rng.int(0, 3));
                find.insert("limit", rng.int(0, 4));
            }
            if sorted && total {
                exact(find)
            } else {
                step(find)
            }
        }
    }
}

pub(super) fn find(rng: &mut Rng) -> Vec<Step> {
    let mut steps = vec![insert(several(rng, 1, 12))];
    steps.extend((0..10).map(|_| read(rng, false)));
    steps
}

pub(super) fn indexed(rng: &mut Rng) -> Vec<Step> {
    let mut steps = vec![insert(several(rng, 1, 14))];
    for number in 0..=rng.below(3) {
        steps.push(exact(
            doc! { "createIndexes": "c", "indexes": [index(rng, number, false)] },
        ));
    }
    if rng.chance(50) {
        steps.push(insert((20..25).map(|id| stored(rng, id)).collect()));
    }
    steps.extend((0..10).map(|_| read(rng, true)));
    steps
}

/// Comparisons by `$expr` that an index may serve, alone, beside other conditions and in a pipeline for each document.
pub(super) fn compared(rng: &mut Rng) -> Vec<Step> {
    let mut steps = vec![insert(several(rng, 2, 12))];
    for number in 0..=rng.below(3) {
        steps.push(exact(
            doc! { "createIndexes": "c", "indexes": [index(rng, number, false)] },
        ));
    }
    for _ in 0..8 {
        let mut condition = doc! { "$expr": comparison(rng, 2) };
        if rng.chance(40) {
            condition.extend(filter(rng, 1));
        }
        let local = format!("${}", path(rng));
        steps.push(match rng.below(6) {
            0 => any(doc! { "count": "c", "query": condition }),
            1 => exact(doc! { "find": "c", "filter": condition, "sort": sort(rng, true) }),
            2 => {
                let operator = rng.pick(&["$eq", "$lt", "$lte", "$gt", "$gte"]);
                let own = doc! { operator: [format!("${}", path(rng)), "$$v"] };
                let inner = doc! { "$match": { "$expr": { "$and": [own, comparison(rng, 0)] } } };
                exact(
                    doc! { "aggregate": "c", "pipeline": [{ "$sort": { "_id": 1 } }, { "$lookup": { "from": "c", "let": { "v": local }, "pipeline": [inner, { "$sort": { "_id": 1 } }, { "$project": { "_id": 1 } }], "as": "l" } }, { "$project": { "l": 1 } }], "cursor": {} },
                )
            }
            _ => any(doc! { "find": "c", "filter": condition }),
        });
    }
    steps
}

pub(super) fn aggregate(rng: &mut Rng) -> Vec<Step> {
    let mut steps = vec![insert(several(rng, 1, 8))];
    for _ in 0..6 {
        steps.push(exact(
            doc! { "aggregate": "c", "pipeline": pipeline(rng, false), "cursor": {} },
        ));
    }
    steps
}

pub(super) fn expressions(rng: &mut Rng) -> Vec<Step> {
    let mut steps = vec![insert(several(rng, 1, 2))];
    for _ in 0..10 {
        let project = doc! { "$project": { "r": expression(rng, 3) } };
        steps.push(exact(
            doc! { "aggregate": "c", "pipeline": [project], "cursor": {} },
        ));
    }
    steps
}

pub(super) fn cursor(rng: &mut Rng) -> Vec<Step> {
    let documents = several(rng, 2, 12);
    let count = documents.len();
    let mut steps = vec![insert(documents)];
    for _ in 0..3 {
        let batch = rng.int(0, 5);
        let mut open = if rng.chance(60) {
            let mut find = doc! { "find": "c", "batchSize": batch, "sort": sort(rng, true) };
            if rng.chance(40) {
                find.insert("limit", rng.int(0, 8));
                find.insert("skip", rng.int(0, 2));
            }
            find
        } else {
            let stages = if rng.chance(40) {
                vec![doc! { "$match": filter(rng, 1) }]
            } else {
                pipeline(rng, false)
            };
            doc! { "aggregate": "c", "pipeline": stages, "cursor": { "batchSize": batch } }
        };
        if rng.chance(10) && open.contains_key("find") {
            open.insert("singleBatch", true);
        }
        steps.push(exact(open));
        for _ in 0..=count / 2 {
            let mut more = doc! { "getMore": Bson::from(OPEN), "collection": "c" };
            if rng.chance(80) {
                more.insert("batchSize", rng.int(1, 4));
            }
            steps.push(exact(more));
        }
    }
    steps
}

/// The key of one of the indexes, or its name.
fn hint(rng: &mut Rng, indexes: &[Document]) -> Bson {
    if rng.chance(10) {
        return rng.pick(&[
            Bson::from("_id_"),
            doc! { "$natural": 1 }.into(),
            doc! { "$natural": -1 }.into(),
            "nope".into(),
            doc! { "_id": 1 }.into(),
        ]);
    }
    let index = rng.pick(indexes);
    let field = if rng.chance(50) { "key" } else { "name" };
    index.get(field).cloned().unwrap_or(Bson::Null)
}

/// Commands that name the index they are to use, sparse and partial ones too.
pub(super) fn hinted(rng: &mut Rng) -> Vec<Step> {
    let mut steps = vec![insert(several(rng, 1, 10))];
    let indexes: Vec<_> = (0..=rng.below(2))
        .map(|number| index(rng, number, false))
        .collect();
    for index in &indexes {
        steps.push(exact(
            doc! { "createIndexes": "c", "indexes": [index.clone()] },
        ));
    }
    for _ in 0..8 {
        let hint = hint(rng, &indexes);
        match rng.below(8) {
            0 => steps.push(any(
                doc! { "count": "c", "query": filter(rng, 1), "hint": hint },
            )),
            1 => steps.push(any(
                doc! { "aggregate": "c", "pipeline": [{ "$match": filter(rng, 1) }], "cursor": {}, "hint": hint },
            )),
            2 => {
                let update = doc! { "q": filter(rng, 1), "u": { "$set": { "z": 1 } }, "multi": true, "hint": hint };
                steps.push(exact(doc! { "update": "c", "updates": [update] }));
                steps.push(all());
            }
            3 => {
                let delete = doc! { "q": { "_id": rng.int(0, 9), path(rng): scalar(rng) }, "limit": 0, "hint": hint };
                steps.push(exact(doc! { "delete": "c", "deletes": [delete] }));
            }
            _ => {
                let mut find = doc! { "find": "c", "filter": filter(rng, 1), "hint": hint };
                if rng.chance(40) {
                    find.insert("sort", sort(rng, true));
                    steps.push(exact(find));
                } else {
                    steps.push(any(find));
                }
            }
        }
    }
    steps
}

/// Strings in the order of a language: the collection's, the command's, the index's.
pub(super) fn collated(rng: &mut Rng) -> Vec<Step> {
    let mut steps = Vec::new();
    if rng.chance(30) {
        steps.push(exact(doc! { "create": "c", "collation": collation(rng) }));
    }
    steps.push(insert(several(rng, 3, 12)));
    if rng.chance(50) {
        let mut index = index(rng, 0, false);
        index.insert("collation", collation(rng));
        steps.push(exact(doc! { "createIndexes": "c", "indexes": [index] }));
    }
    for _ in 0..7 {
        let collation = collation(rng);
        let mut command = match rng.below(8) {
            0 => doc! { "distinct": "c", "key": path(rng), "query": filter(rng, 1) },
            1 => doc! { "count": "c", "query": filter(rng, 1) },
            2 => {
                doc! { "aggregate": "c", "pipeline": [{ "$sort": sort(rng, true) }, { "$project": { "r": expression(rng, 2) } }], "cursor": {} }
            }
            3 => {
                doc! { "aggregate": "c", "pipeline": [{ "$match": filter(rng, 1) }, { "$group": { "_id": format!("${}", path(rng)), "n": { "$sum": 1 } } }, { "$sort": { "n": 1, "_id": 1 } }], "cursor": {} }
            }
            4 => {
                let update = doc! { "q": filter(rng, 1), "u": { "$set": { "z": 1 }, rng.pick(&["$addToSet", "$pull", "$max", "$min"]): { path(rng): scalar(rng) } }, "multi": true, "collation": collation };
                steps.push(exact(doc! { "update": "c", "updates": [update] }));
                steps.push(all());
                continue;
            }
            _ => doc! { "find": "c", "filter": filter(rng, 1), "sort": sort(rng, true) },
        };
        if rng.chance(75) {
            command.insert("collation", collation);
        }
        let is_sorted = command.contains_key("find");
        steps.push(if is_sorted {
            exact(command)
        } else {
            any(command)
        });
    }
    steps
}

/// Variables of a command, in its filters, pipelines and updates.
pub(super) fn variables(rng: &mut Rng) -> Vec<Step> {
    let mut steps = vec![insert(several(rng, 2, 8))];
    for _ in 0..8 {
        let operator = rng.pick(&["$eq", "$gt", "$lt", "$in", "$ne", "$cmp"]);
        let condition = doc! { "$expr": { operator: [format!("${}", path(rng)), rng.pick(&["$$v", "$$w", "$$v.a", "$$NOW"])] } };
        let mut given = doc! { "v": value(rng, 1) };
        match rng.below(6) {
            0 => given.insert("w", expression(rng, 2)),
            1 => given.insert(rng.pick(&["W", "_w", "1", "", "CURRENT", "ROOT", "NOW"]), 1),
            _ => given.insert(
                "w",
                rng.pick(&[
                    Bson::from("$$v"),
                    doc! { "$add": ["$$v", 1] }.into(),
                    3.into(),
                ]),
            ),
        };
        let command = match rng.below(7) {
            0 => {
                let update =
                    doc! { "q": condition, "u": [{ "$set": { "z": "$$v" } }], "multi": true };
                doc! { "update": "c", "updates": [update], "let": given }
            }
            1 => {
                let update = doc! { "q": { "_id": 1 }, "u": [{ "$set": { "z": ["$$v", "$$k"] } }], "c": { "k": scalar(rng) } };
                doc! { "update": "c", "updates": [update], "let": given }
            }
            2 => {
                doc! { "delete": "c", "deletes": [{ "q": { "$and": [condition, { "_id": { "$gt": 4 } }] }, "limit": 0 }], "let": given }
            }
            3 => {
                doc! { "findAndModify": "c", "query": condition, "sort": { "_id": 1 }, "update": [{ "$set": { "y": "$$v" } }], "fields": { "r": "$$w" }, "new": true, "let": given }
            }
            4 => {
                doc! { "aggregate": "c", "pipeline": [{ "$match": condition }, { "$set": { "r": ["$$v", "$$w"] } }, { "$lookup": { "from": "c", "let": { "k": "$_id" }, "pipeline": [{ "$match": { "$expr": { "$eq": ["$_id", "$$k"] } } }, { "$project": { "r": "$$v" } }], "as": "l" } }], "cursor": {}, "let": given }
            }
            _ => {
                doc! { "find": "c", "filter": condition, "projection": { "r": "$$v", "s": "$$w" }, "let": given }
            }
        };
        steps.push(exact(command));
        steps.push(all());
    }
    steps
}

/// Arithmetic on the rims of the number types.
pub(super) fn numbers(rng: &mut Rng) -> Vec<Step> {
    let documents = (0..3)
        .map(|id| doc! { "_id": id, "a": number(rng), "b": number(rng), "c": number(rng) })
        .collect();
    let mut steps = vec![insert(documents)];
    for _ in 0..8 {
        match rng.below(4) {
            0 => {
                let operator = rng.pick(&["$inc", "$mul", "$min", "$max"]);
                let update = doc! { "q": {}, "u": { operator: { rng.pick(&["a", "b", "n"]): number(rng) } }, "multi": true };
                steps.push(exact(doc! { "update": "c", "updates": [update] }));
                steps.push(all());
            }
            1 => steps.push(exact(
                doc! { "find": "c", "filter": { rng.pick(&["a", "b"]): { rng.pick(&["$lt", "$gte", "$eq", "$mod"]): number(rng) } }, "sort": { "a": 1, "_id": 1 } },
            )),
            2 => {
                let sum = doc! { "_id": Bson::Null, "s": { "$push": arithmetic(rng, 1) } };
                steps.push(exact(
                    doc! { "aggregate": "c", "pipeline": [{ "$sort": { "_id": 1 } }, { "$group": sum }], "cursor": {} },
                ));
            }
            _ => {
                let project = doc! { "$project": { "r": arithmetic(rng, 3) } };
                steps.push(exact(
                    doc! { "aggregate": "c", "pipeline": [project], "cursor": {} },
                ));
            }
        }
    }
    steps
}
