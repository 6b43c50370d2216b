//! Indexes of every kind that serves queries.

use odm::bson::{Bson, Document, doc};

use crate::documents::{field, number, path};
use crate::rng::Rng;

/// The specification of one index.
pub(crate) fn index(rng: &mut Rng, number_of: usize, unique: bool) -> Document {
    let mut key = Document::new();
    match rng.below(14) {
        0 => {
            key.insert(path(rng), "hashed");
        }
        1 => {
            key.insert("$**", 1);
        }
        2 => {
            key.insert(format!("{}.$**", field(rng)), 1);
        }
        3 => {
            key.insert(path(rng), rng.pick(&[1, -1]));
            key.insert(path(rng), "hashed");
        }
        _ => {
            for _ in 0..rng.pick(&[1, 1, 2, 2, 3]) {
                key.insert(path(rng), rng.pick(&[1, -1]));
            }
        }
    }
    let plain = !key.keys().any(|path| path.ends_with("$**"));
    // No hashed index is unique; how a server words that depends on what the collection holds.
    let hashed = key
        .values()
        .any(|direction| direction.as_str() == Some("hashed"));
    let mut out = doc! { "key": key, "name": format!("i{number_of}") };
    if unique && plain && !hashed {
        out.insert("unique", true);
    }
    match rng.below(6) {
        0 if plain => {
            out.insert("sparse", true);
        }
        1 => {
            out.insert("partialFilterExpression", partial(rng));
        }
        _ => {}
    }
    out
}

fn partial(rng: &mut Rng) -> Document {
    let condition: Bson = match rng.below(5) {
        0 => doc! { "$exists": true }.into(),
        1 => doc! { "$gt": number(rng) }.into(),
        2 => doc! { "$lte": number(rng) }.into(),
        3 => doc! { "$type": "string" }.into(),
        _ => number(rng),
    };
    doc! { path(rng): condition }
}
