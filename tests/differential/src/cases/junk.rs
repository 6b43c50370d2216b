//! Commands whose options are of the wrong kind, doubled, missing or unknown.

use odm::bson::{Bson, Document, doc};
use odm_engine::tools as engine;

use crate::cases::{Step, all, exact, insert};
use crate::collations::collation;
use crate::documents::{number, path, scalar, several, value};
use crate::filters::filter;
use crate::rng::Rng;
use crate::shapes::{projection, sort};
use crate::updates::update;

fn base(rng: &mut Rng) -> Document {
    match rng.below(12) {
        0..4 => doc! { "find": "c", "filter": filter(rng, 0), "sort": sort(rng, true) },
        4 => doc! { "aggregate": "c", "pipeline": [{ "$match": filter(rng, 0) }], "cursor": {} },
        5 => doc! { "count": "c", "query": filter(rng, 0) },
        6 => doc! { "distinct": "c", "key": path(rng), "query": filter(rng, 0) },
        7 => doc! { "insert": "c", "documents": [{ "_id": rng.int(0, 20) }] },
        8 => {
            let mut statement = doc! { "q": { "_id": rng.int(0, 5) } };
            statement.extend(update(rng));
            doc! { "update": "c", "updates": [statement] }
        }
        9 => doc! { "delete": "c", "deletes": [{ "q": { "_id": rng.int(0, 20) }, "limit": 1 }] },
        10 => {
            doc! { "findAndModify": "c", "query": { "_id": rng.int(0, 5) }, "update": { "$set": { "z": 1 } } }
        }
        _ => doc! { "createIndexes": "c", "indexes": [{ "key": { "a": 1 }, "name": "i" }] },
    }
}

fn operand(rng: &mut Rng) -> Bson {
    match rng.below(9) {
        0 => number(rng),
        1 => Bson::Boolean(rng.chance(50)),
        2 => doc! {}.into(),
        3 => Bson::Array(vec![]),
        4 => Bson::from(rng.pick(&["", "c", "x", "*"])),
        5 => Bson::Null,
        6 => vec![doc! {}, doc! { "a": 1 }].into(),
        7 => doc! { "a": 1 }.into(),
        _ => value(rng, 1),
    }
}

/// Names that no command has.
const UNKNOWN: &[&str] = &["zork", "$zork"];

/// A field of the command, or of another.
fn field(rng: &mut Rng, command: &Document) -> &'static str {
    let is_it = |name: &str| command.keys().next().is_some_and(|first| first == name);
    let other = rng.chance(30);
    let fields: Vec<&str> = engine::commands()
        .filter(|(name, _)| other || is_it(name))
        .flat_map(|(_, fields)| fields)
        // By a large one, which it takes for an election's, a server goes down.
        .filter(|name| *name != "term")
        .chain(UNKNOWN.iter().copied())
        .collect();
    rng.pick(&fields)
}

fn statement_field(rng: &mut Rng) -> &'static str {
    let fields = engine::statement_fields();
    let fields = fields.chain(["key", "name", "_id"]);
    let fields: Vec<&str> = fields.chain(UNKNOWN.iter().copied()).collect();
    rng.pick(&fields)
}

pub(super) fn junk(rng: &mut Rng) -> Vec<Step> {
    let mut steps = vec![insert(several(rng, 1, 5))];
    for _ in 0..12 {
        let mut command = base(rng);
        let name = field(rng, &command);
        let operand = match (name, rng.below(4)) {
                ("collation", 0) => collation(rng).into(),
                ("projection" | "fields", 0..2) => projection(rng, true).into(),
                ("sort", 0..2) => doc! { rng.pick(&["a", "", "$a", "a.", "a..b", "$natural", "_id", "a.$b"]): operand(rng) }.into(),
                ("hint", 0) => doc! { "_id": scalar(rng) }.into(),
                _ => operand(rng),
            };
        match rng.below(12) {
            0 => {
                command.remove(name);
            }
            1..4 => {
                let list = ["updates", "deletes", "indexes", "documents", "pipeline"]
                    .into_iter()
                    .find(|list| command.contains_key(list));
                let first = list
                    .and_then(|list| command.get_array_mut(list).ok())
                    .and_then(|list| list.first_mut())
                    .and_then(Bson::as_document_mut);
                if let Some(first) = first {
                    let name = statement_field(rng);
                    if rng.chance(25) {
                        first.remove(name);
                    } else {
                        first.insert(name, operand);
                    }
                }
            }
            _ => {
                command.insert(name, operand);
            }
        }
        let writes = !["find", "aggregate", "count", "distinct"]
            .iter()
            .any(|name| command.contains_key(*name));
        steps.push(exact(command));
        if writes {
            steps.push(all());
        }
    }
    steps
}
