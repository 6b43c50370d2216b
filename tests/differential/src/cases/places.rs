//! Finds whose projections go into arrays, and sorts by them.

use odm::bson::{Bson, Document, doc};

use crate::cases::{Step, exact, insert};
use crate::documents::{field, nested, path, scalar, stored, value};
use crate::expressions::expression;
use crate::filters::{filter, predicate};
use crate::rng::Rng;
use crate::shapes::sort;

fn slice(rng: &mut Rng) -> Bson {
    match rng.below(8) {
        0..3 => rng.int(-3, 3).into(),
        3..6 => vec![rng.int(-4, 4), rng.int(0, 4)].into(),
        6 => vec![scalar(rng), scalar(rng)].into(),
        _ => value(rng, 1),
    }
}

fn projection(rng: &mut Rng) -> Document {
    let mut out = Document::new();
    let include = rng.chance(60);
    for _ in 0..=rng.below(2) {
        let other = path(rng);
        let path = rng.pick(&[
            "a", "a", "b", "a.b", "a.c", "a.c.x", "b.b", "_id", "a.0", other,
        ]);
        match rng.below(9) {
            0 | 1 => out.insert(path, doc! { "$slice": slice(rng) }),
            2 | 3 => out.insert(
                rng.pick(&["a", "b", path]),
                doc! { "$elemMatch": predicate(rng, 1) },
            ),
            4 => out.insert(
                format!("{path}.$"),
                rng.pick(&[Bson::from(1), true.into(), 0.into(), "x".into()]),
            ),
            5 if include => out.insert(path, expression(rng, 2)),
            6 => out.insert(
                path,
                doc! { field(rng): rng.int(0, 1), "y": doc! { "$slice": slice(rng) } },
            ),
            _ => out.insert(path, i32::from(include)),
        };
    }
    if rng.chance(15) {
        out.insert("_id", 0);
    }
    out
}

pub(super) fn places(rng: &mut Rng) -> Vec<Step> {
    let documents = (0..6)
        .map(|id| {
            if rng.chance(75) {
                nested(rng, id)
            } else {
                stored(rng, id)
            }
        })
        .collect();
    let mut steps = vec![insert(documents)];
    for _ in 0..10 {
        let filter = match rng.below(6) {
            0 => doc! {},
            1 => doc! { rng.pick(&["a", "b"]): { "$elemMatch": predicate(rng, 1) } },
            2 => doc! { rng.pick(&["a.b", "b.b", "a.c.x"]): predicate(rng, 0) },
            3 => doc! { "a": predicate(rng, 1), "b": predicate(rng, 0) },
            4 => doc! { rng.pick(&["a", "b"]): scalar(rng) },
            _ => filter(rng, 2),
        };
        let mut find = doc! { "find": "c", "filter": filter, "projection": projection(rng) };
        if rng.chance(40) {
            find.insert("sort", sort(rng, true));
        }
        steps.push(exact(find));
    }
    steps
}
