//! Indexes of all kinds under writes of all kinds: what each of them holds afterwards.

use odm::bson::{Bson, Document, doc};

use crate::cases::{Step, all, any, exact, insert};
use crate::collations::collation;
use crate::documents::{nested, path, scalar, stored};
use crate::filters::{filter, predicate};
use crate::indexes::index;
use crate::rng::Rng;
use crate::updates::{positional, update};

fn document(rng: &mut Rng, id: i32) -> Document {
    if rng.chance(50) {
        nested(rng, id)
    } else {
        stored(rng, id)
    }
}

pub(super) fn guards(rng: &mut Rng) -> Vec<Step> {
    let mut indexes = Vec::new();
    for number in 0..=rng.below(3) {
        let unique = rng.chance(40);
        let mut index = index(rng, number, unique);
        if rng.chance(15) {
            index.insert("collation", collation(rng));
        }
        indexes.push(index);
    }
    let mut steps = Vec::new();
    let early = rng.chance(60);
    let documents: Vec<_> = (0..5).map(|id| document(rng, id)).collect();
    if !early {
        steps.push(insert(documents.clone()));
    }
    for index in &indexes {
        steps.push(exact(
            doc! { "createIndexes": "c", "indexes": [index.clone()] },
        ));
    }
    if early {
        steps.push(insert(documents));
    }
    for id in 5..13 {
        match rng.below(8) {
            0 | 1 => steps.push(insert(
                (0..2).map(|more| document(rng, id * 2 + more)).collect(),
            )),
            2 => {
                let delete =
                    doc! { "q": { "_id": { "$lt": rng.int(0, 5) } }, "limit": rng.int(0, 1) };
                steps.push(exact(doc! { "delete": "c", "deletes": [delete] }));
            }
            3 => {
                let mut command =
                    doc! { "findAndModify": "c", "query": { "_id": rng.int(0, 5) }, "new": true };
                let mut statement = update(rng);
                if let Some(update) = statement.remove("u") {
                    command.insert("update", update);
                }
                command.extend(statement);
                steps.push(exact(command));
            }
            _ => {
                let mut statement = doc! { "q": { "_id": rng.int(0, 5) } };
                if rng.chance(30) {
                    statement = doc! { "q": {}, "multi": true };
                }
                statement.extend(if rng.chance(50) {
                    update(rng)
                } else {
                    positional(rng)
                });
                steps.push(exact(doc! { "update": "c", "updates": [statement] }));
            }
        }
        if rng.chance(40) {
            steps.push(held(rng, &indexes));
        }
    }
    steps.push(all());
    for _ in 0..3 {
        steps.push(held(rng, &indexes));
    }
    steps
}

/// What one of the indexes answers.
fn held(rng: &mut Rng, indexes: &[Document]) -> Step {
    let index = rng.pick(indexes);
    let first = index
        .get_document("key")
        .ok()
        .and_then(|key| key.keys().next())
        .filter(|name| !name.contains('$'))
        .map_or_else(|| path(rng).to_owned(), ToOwned::to_owned);
    let condition = match rng.below(5) {
        0 => Bson::from(predicate(rng, 0)),
        1 => doc! { "$gte": Bson::MinKey }.into(),
        2 => doc! { "$exists": true }.into(),
        _ => scalar(rng),
    };
    let filter = if rng.chance(20) {
        filter(rng, 1)
    } else {
        doc! { first: condition }
    };
    let mut find = doc! { "find": "c", "filter": filter, "hint": index.get("name") };
    if let (true, Some(collation)) = (rng.chance(70), index.get("collation")) {
        find.insert("collation", collation.clone());
    }
    any(find)
}
