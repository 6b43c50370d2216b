//! Areas that write.

use odm::bson::{Document, doc};

use crate::cases::{Step, all, exact, insert};
use crate::documents::{nested, scalar, several, stored};
use crate::filters::{filter, predicate};
use crate::indexes::index;
use crate::rng::Rng;
use crate::shapes::{projection, sort};
use crate::updates::{positional, update};
use crate::validators::schema;

fn statement(rng: &mut Rng, depth: usize) -> Document {
    let mut out = doc! { "q": filter(rng, depth) };
    out.extend(update(rng));
    if rng.chance(40) {
        out.insert("multi", true);
    }
    if rng.chance(20) {
        out.insert("upsert", true);
    }
    out
}

pub(super) fn updates(rng: &mut Rng) -> Vec<Step> {
    let mut steps = vec![insert(several(rng, 1, 5))];
    for _ in 0..6 {
        let mut statement = statement(rng, 1);
        if rng.chance(40) {
            statement.insert("q", Document::new());
        }
        steps.push(exact(doc! { "update": "c", "updates": [statement] }));
        steps.push(all());
    }
    steps
}

pub(super) fn upsert(rng: &mut Rng) -> Vec<Step> {
    let mut steps = vec![insert(several(rng, 0, 1))];
    for id in 0..6 {
        let mut statement = statement(rng, 2);
        if rng.chance(50) {
            let mut query = statement.get_document("q").cloned().unwrap_or_default();
            query.insert("_id", 100 + id);
            statement.insert("q", query);
        }
        statement.insert("multi", false);
        statement.insert("upsert", true);
        steps.push(exact(doc! { "update": "c", "updates": [statement] }));
        steps.push(all());
    }
    steps
}

pub(super) fn modify(rng: &mut Rng) -> Vec<Step> {
    let mut steps = vec![insert(several(rng, 1, 5))];
    for _ in 0..5 {
        let mut command = doc! { "findAndModify": "c", "query": filter(rng, 1) };
        if rng.chance(50) {
            command.insert("sort", sort(rng, true));
        }
        if rng.chance(20) {
            command.insert("remove", true);
        } else {
            let mut statement = update(rng);
            if let Some(update) = statement.remove("u") {
                command.insert("update", update);
            }
            command.extend(statement);
            command.insert("new", rng.chance(50));
            if rng.chance(25) {
                command.insert("upsert", true);
            }
        }
        if rng.chance(40) {
            command.insert("fields", projection(rng, true));
        }
        steps.push(exact(command));
        steps.push(all());
    }
    steps
}

pub(super) fn unique(rng: &mut Rng) -> Vec<Step> {
    let mut steps = Vec::new();
    for number in 0..=rng.below(2) {
        steps.push(exact(
            doc! { "createIndexes": "c", "indexes": [index(rng, number, true)] },
        ));
    }
    steps.push(insert(several(rng, 3, 8)));
    steps.push(all());
    for _ in 0..4 {
        let mut statement = doc! { "q": { "_id": rng.int(0, 6) } };
        statement.extend(update(rng));
        if rng.chance(20) {
            statement.insert("upsert", true);
        }
        steps.push(exact(doc! { "update": "c", "updates": [statement] }));
        steps.push(all());
    }
    steps
}

pub(super) fn validator(rng: &mut Rng) -> Vec<Step> {
    let validator = if rng.chance(60) {
        doc! { "$jsonSchema": schema(rng, 2) }
    } else {
        filter(rng, 2)
    };
    let mut create = doc! { "create": "c", "validator": validator };
    if rng.chance(30) {
        create.insert("validationLevel", "moderate");
    }
    let mut steps = vec![exact(create)];
    for document in several(rng, 4, 10) {
        steps.push(insert(vec![document]));
    }
    for _ in 0..3 {
        let mut statement = doc! { "q": { "_id": rng.int(0, 6) } };
        statement.extend(update(rng));
        steps.push(exact(doc! { "update": "c", "updates": [statement] }));
    }
    steps.push(all());
    steps
}

/// Updates of elements, in documents that have arrays where the paths lead.
pub(super) fn arrays(rng: &mut Rng) -> Vec<Step> {
    let documents = (0..4).map(|id| nested(rng, id)).collect();
    let mut steps = vec![insert(documents)];
    for _ in 0..6 {
        let query = match rng.below(5) {
            0 => doc! {},
            1 => doc! { "a": predicate(rng, 0) },
            2 => doc! { "a.b": scalar(rng) },
            3 => {
                doc! { "a": { "$elemMatch": { "b": { "$gte": scalar(rng) } } }, "b": { "$exists": true } }
            }
            _ => doc! { "a.b": { "$exists": true } },
        };
        let mut statement = doc! { "q": query, "multi": rng.chance(60) };
        statement.extend(positional(rng));
        steps.push(exact(doc! { "update": "c", "updates": [statement] }));
        steps.push(all());
    }
    for _ in 0..3 {
        let find = doc! { "find": "c", "filter": { "a": { "$elemMatch": predicate(rng, 1) } }, "projection": { rng.pick(&["a.$", "a.b.$", "b.$"]): 1 } };
        steps.push(exact(find));
    }
    steps
}

/// Many writes in a command, ordered or not, of which some fail.
pub(super) fn bulk(rng: &mut Rng) -> Vec<Step> {
    let mut steps = Vec::new();
    if rng.chance(60) {
        steps.push(exact(
            doc! { "createIndexes": "c", "indexes": [index(rng, 0, true)] },
        ));
    }
    for _ in 0..3 {
        let ordered = rng.chance(50);
        let documents: Vec<_> = (0..4)
            .map(|_| {
                let id = rng.int(0, 9);
                stored(rng, id)
            })
            .collect();
        steps.push(exact(
            doc! { "insert": "c", "documents": documents, "ordered": ordered },
        ));
        let statements: Vec<_> = (0..3)
            .map(|id| {
                let mut statement = statement(rng, 1);
                if rng.chance(60) {
                    statement.insert("q", doc! { "_id": rng.int(0, 12) });
                }
                if rng.chance(20) {
                    // Its id is known: a drawn one would be another in each store.
                    statement.insert("q", doc! { "_id": 20 + id });
                    statement.insert("upsert", true);
                    statement.remove("multi");
                }
                statement
            })
            .collect();
        steps.push(exact(
            doc! { "update": "c", "updates": statements, "ordered": ordered },
        ));
        steps.push(all());
        let deletes: Vec<_> = (0..2)
            .map(|_| {
                let mut query = filter(rng, 1);
                query.insert("_id", doc! { "$gte": rng.int(0, 12) });
                doc! { "q": query, "limit": rng.int(0, 1) }
            })
            .collect();
        steps.push(exact(
            doc! { "delete": "c", "deletes": deletes, "ordered": ordered },
        ));
        steps.push(all());
    }
    steps
}
