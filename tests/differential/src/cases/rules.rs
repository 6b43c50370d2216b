//! Validators that change under the documents that they judge.

use odm::bson::{Bson, Document, doc};

use crate::cases::{Step, all, exact};
use crate::documents::{nested, stored};
use crate::filters::filter;
use crate::rng::Rng;
use crate::updates::update;
use crate::validators::{odd, schema};

fn rule(rng: &mut Rng) -> Document {
    match rng.below(10) {
        0..6 => doc! { "$jsonSchema": schema(rng, 3) },
        6 => doc! { "$jsonSchema": odd(rng) },
        7 => {
            doc! { "$jsonSchema": schema(rng, 2), rng.pick(&["$nor", "$and", "$or"]): [filter(rng, 1), { "$jsonSchema": schema(rng, 1) }] }
        }
        _ => filter(rng, 3),
    }
}

fn options(rng: &mut Rng, command: &mut Document) {
    if rng.chance(30) {
        command.insert(
            "validationLevel",
            rng.pick(&["off", "strict", "moderate", "moderate", "zork"]),
        );
    }
    if rng.chance(20) {
        command.insert("validationAction", rng.pick(&["error", "warn", "zork"]));
    }
}

pub(super) fn rules(rng: &mut Rng) -> Vec<Step> {
    let mut create = doc! { "create": "c" };
    if rng.chance(75) {
        create.insert("validator", rule(rng));
    }
    options(rng, &mut create);
    let mut steps = vec![exact(create)];
    for id in 0..12 {
        let mut command = match rng.below(10) {
            0 => {
                let mut change = doc! { "collMod": "c" };
                if rng.chance(80) {
                    change.insert(
                        "validator",
                        if rng.chance(85) {
                            rule(rng)
                        } else {
                            doc! {}
                        },
                    );
                }
                options(rng, &mut change);
                steps.push(exact(change));
                continue;
            }
            1 => {
                let mut statement = update(rng);
                let mut command = doc! { "findAndModify": "c", "query": { "_id": rng.int(0, 8) }, "upsert": rng.chance(30) };
                if let Some(update) = statement.remove("u") {
                    command.insert("update", update);
                }
                command.extend(statement);
                command
            }
            2 | 3 => {
                let mut statement =
                    doc! { "q": { "_id": rng.int(0, 14) }, "upsert": rng.chance(40) };
                statement.extend(update(rng));
                if rng.chance(30) {
                    statement.insert("q", doc! {});
                    statement.insert("upsert", false);
                    statement.insert("multi", true);
                }
                doc! { "update": "c", "updates": [statement] }
            }
            _ => {
                let document = if rng.chance(70) {
                    stored(rng, id)
                } else {
                    nested(rng, id)
                };
                doc! { "insert": "c", "documents": [document], "ordered": rng.chance(50) }
            }
        };
        if rng.chance(15) {
            command.insert(
                "bypassDocumentValidation",
                rng.pick(&[Bson::from(true), false.into(), 1.into()]),
            );
        }
        steps.push(exact(command));
    }
    steps.push(all());
    steps
}
