//! Areas of one family of expressions.

use odm::bson::{Bson, doc};

use crate::cases::{Step, exact, insert};
use crate::families::{arrays, conversions, dates, stored, texts};
use crate::rng::Rng;

fn of(rng: &mut Rng, draw: fn(&mut Rng) -> Bson) -> Vec<Step> {
    let documents = (0..3).map(|id| stored(rng, id)).collect();
    let mut steps = vec![insert(documents)];
    for _ in 0..12 {
        let drawn = draw(rng);
        steps.push(exact(match rng.below(8) {
            0 => doc! { "find": "c", "filter": { "$expr": drawn }, "sort": { "_id": 1 } },
            1 => doc! { "find": "c", "filter": {}, "projection": { "_id": 1, "x": drawn }, "sort": { "_id": 1 } },
            _ => doc! { "aggregate": "c", "pipeline": [{ "$match": { "_id": rng.int(0, 2) } }, { "$project": { "x": drawn } }], "cursor": {} },
        }));
    }
    steps
}

pub(super) fn date(rng: &mut Rng) -> Vec<Step> {
    of(rng, dates)
}

pub(super) fn text(rng: &mut Rng) -> Vec<Step> {
    of(rng, texts)
}

pub(super) fn list(rng: &mut Rng) -> Vec<Step> {
    of(rng, arrays)
}

pub(super) fn convert(rng: &mut Rng) -> Vec<Step> {
    of(rng, conversions)
}
