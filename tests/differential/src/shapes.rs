//! Projections and sorts.

use odm::bson::{Bson, Document, doc};

use crate::documents::{field, path, value};
use crate::expressions::expression;
use crate::filters::predicate;
use crate::rng::Rng;

/// A projection; of a find, it may use the array operators.
pub(crate) fn projection(rng: &mut Rng, find: bool) -> Document {
    let include = rng.chance(60);
    let mut out = Document::new();
    if rng.chance(25) {
        out.insert("_id", Bson::from(rng.int(0, 1)));
    }
    for _ in 0..=rng.below(3) {
        let path = path(rng);
        match rng.below(12) {
            0 if find => {
                let slice = match rng.below(3) {
                    0 => vec![Bson::from(rng.int(-3, 3)), rng.int(0, 3).into()].into(),
                    _ => Bson::from(rng.int(-3, 3)),
                };
                out.insert(path, doc! { "$slice": slice });
            }
            1 if find => {
                out.insert(field(rng), doc! { "$elemMatch": predicate(rng, 1) });
            }
            2 | 3 if include => {
                out.insert(path, expression(rng, 2));
            }
            4 if include => {
                out.insert(path, doc! { field(rng): 1, "y": 1 });
            }
            5 if find && rng.chance(50) => {
                out.insert(format!("{path}.$"), 1);
            }
            6 => {
                out.insert(path, value(rng, 1));
            }
            _ => {
                let flag = if include {
                    rng.pick(&[Bson::from(1), true.into(), Bson::Double(0.5)])
                } else {
                    rng.pick(&[Bson::from(0), false.into(), Bson::Double(0.0)])
                };
                out.insert(path, flag.clone());
            }
        }
    }
    out
}

/// A sort; a total one ends with the id.
pub(crate) fn sort(rng: &mut Rng, total: bool) -> Document {
    let mut out = Document::new();
    for _ in 0..=rng.below(2) {
        out.insert(path(rng), rng.pick(&[1, -1]));
    }
    if total {
        out.insert("_id", rng.pick(&[1, 1, -1]));
    }
    out
}
