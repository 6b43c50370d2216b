//! Updates: operators, positions, pipelines, replacements.

use odm::bson::{Bson, Document, doc};

use crate::documents::{field, number, path, scalar, stored, string, value};
use crate::expressions::expression;
use crate::filters::{filter, predicate};
use crate::rng::Rng;

/// The fields of an update statement but `q`: `u`, and what goes with it.
pub(crate) fn update(rng: &mut Rng) -> Document {
    match rng.below(12) {
        0 => {
            let mut document = stored(rng, 0);
            if rng.chance(80) {
                document.remove("_id");
            }
            doc! { "u": document }
        }
        1 => {
            let count = 1 + rng.below(2);
            let stages: Vec<_> = (0..count).map(|_| stage(rng)).collect();
            doc! { "u": stages }
        }
        _ => operators(rng),
    }
}

fn stage(rng: &mut Rng) -> Document {
    match rng.below(5) {
        0 => doc! { "$unset": path(rng) },
        1 => doc! { "$replaceWith": { "$mergeObjects": ["$$ROOT", { "a": expression(rng, 2) }] } },
        2 => doc! { "$project": { path(rng): 1, "b": expression(rng, 2) } },
        _ => doc! { "$set": { path(rng): expression(rng, 3) } },
    }
}

fn operators(rng: &mut Rng) -> Document {
    let mut out = Document::new();
    let mut named = false;
    for _ in 0..rng.pick(&[1, 1, 1, 2, 3]) {
        let target = target(rng, &mut named);
        let (name, operand) = operator(rng);
        if let Ok(already) = out.get_document_mut(name) {
            already.insert(target, operand);
        } else {
            out.insert(name, doc! { target: operand });
        }
    }
    let mut statement = doc! { "u": out };
    if named || rng.chance(2) {
        let filters: Vec<_> = match rng.below(3) {
            0 => vec![doc! { "e": predicate(rng, 1) }],
            1 => vec![doc! { "e": scalar(rng) }],
            _ => vec![doc! { format!("e.{}", field(rng)): predicate(rng, 1) }],
        };
        statement.insert("arrayFilters", filters);
    }
    statement
}

fn target(rng: &mut Rng, named: &mut bool) -> String {
    let path = path(rng);
    match rng.below(14) {
        0 => format!("{path}.$"),
        1 => format!("{path}.$[]"),
        2 => format!("{path}.$.{}", field(rng)),
        3 => format!("{path}.$[].{}", field(rng)),
        4 => {
            *named = true;
            format!("{path}.$[e]")
        }
        5 => {
            *named = true;
            format!("{path}.$[e].{}", field(rng))
        }
        _ => path.to_owned(),
    }
}

fn several(rng: &mut Rng) -> Bson {
    (0..rng.below(4))
        .map(|_| value(rng, 1))
        .collect::<Vec<_>>()
        .into()
}

fn operator(rng: &mut Rng) -> (&'static str, Bson) {
    match rng.below(24) {
        0..4 => ("$set", value(rng, 2)),
        4 => ("$unset", "".into()),
        5 | 6 => ("$inc", number(rng)),
        7 => ("$mul", number(rng)),
        8 => ("$min", value(rng, 1)),
        9 => ("$max", value(rng, 1)),
        10 => (
            "$rename",
            Bson::from(if rng.chance(90) {
                path(rng)
            } else {
                string(rng)
            }),
        ),
        11 => ("$setOnInsert", value(rng, 1)),
        12 => (
            "$currentDate",
            rng.pick(&[
                Bson::from(true),
                doc! { "$type": "date" }.into(),
                doc! { "$type": "x" }.into(),
            ]),
        ),
        13 => ("$push", value(rng, 1)),
        14 | 15 => {
            let mut push = doc! { "$each": several(rng) };
            if rng.chance(40) {
                push.insert("$slice", rng.int(-3, 3));
            }
            if rng.chance(40) {
                push.insert(
                    "$sort",
                    rng.pick(&[
                        Bson::from(1),
                        (-1).into(),
                        doc! { "a": 1 }.into(),
                        doc! { "a.b": -1, "b": 1 }.into(),
                    ]),
                );
            }
            if rng.chance(40) {
                push.insert("$position", rng.int(-3, 3));
            }
            ("$push", push.into())
        }
        16 => ("$addToSet", value(rng, 2)),
        17 => ("$addToSet", doc! { "$each": several(rng) }.into()),
        18 => ("$pull", value(rng, 1)),
        19 => (
            "$pull",
            if rng.chance(50) {
                predicate(rng, 1)
            } else {
                filter(rng, 1)
            }
            .into(),
        ),
        20 => ("$pullAll", several(rng)),
        21 => ("$pop", rng.int(-1, 1).into()),
        22 => (
            "$bit",
            doc! { rng.pick(&["and", "or", "xor", "nor"]): number(rng) }.into(),
        ),
        _ => ("$set", scalar(rng)),
    }
}

/// An update of elements of the arrays `a` and `b`.
pub(crate) fn positional(rng: &mut Rng) -> Document {
    let mut out = Document::new();
    let mut filters = Vec::new();
    for _ in 0..rng.pick(&[1, 1, 2]) {
        let array = rng.pick(&["a", "a", "a", "b", "a.0", "a.b", "a.c"]);
        let place = match rng.below(5) {
            0 | 1 => "$".to_owned(),
            2 => "$[]".to_owned(),
            3 => {
                filters.push(match rng.below(4) {
                    0 => doc! { "e": predicate(rng, 1) },
                    1 => doc! { "e.b": scalar(rng) },
                    2 => {
                        doc! { "$or": [{ "e": scalar(rng) }, { "e.c": { "$gte": rng.int(0, 3) } }] }
                    }
                    _ => doc! { "e.b": predicate(rng, 0), "e.c": { "$lt": rng.int(0, 3) } },
                });
                "$[e]".to_owned()
            }
            _ => rng.int(0, 6).to_string(),
        };
        let rest = rng.pick(&["", "", ".b", ".c", ".b.$[]", ".0", ".c.$[f].x"]);
        if rest.contains("[f]") {
            filters.push(doc! { "f.x": { "$gte": rng.int(0, 3) } });
        }
        let (name, operand) = operator(rng);
        let target = format!("{array}.{place}{rest}");
        if let Ok(already) = out.get_document_mut(name) {
            already.insert(target, operand);
        } else {
            out.insert(name, doc! { target: operand });
        }
    }
    let mut statement = doc! { "u": out };
    if !filters.is_empty() {
        if rng.chance(90) {
            // One of each name: a second is refused.
            let mut seen = Vec::new();
            filters.retain(|filter: &Document| {
                let name = filter.keys().next().map(|key| key.chars().next());
                let is_new = !seen.contains(&name);
                seen.push(name);
                is_new
            });
        }
        statement.insert("arrayFilters", filters);
    }
    statement
}
