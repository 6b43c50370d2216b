//! Collations: languages, strengths and what else changes an order.

use odm::bson::{Document, doc};

use crate::rng::Rng;

pub(crate) fn collation(rng: &mut Rng) -> Document {
    let locale = rng.pick(&[
        "en", "en", "en", "simple", "de", "fr", "sv", "fr_CA", "es", "zork",
    ]);
    collation_of(rng, locale)
}

/// A collation of this language.
pub(crate) fn collation_of(rng: &mut Rng, locale: &str) -> Document {
    let mut out = doc! { "locale": locale };
    if locale == "simple" {
        return out;
    }
    if rng.chance(70) {
        out.insert("strength", rng.int(1, 3));
    }
    match rng.below(12) {
        0 => out.insert("numericOrdering", true),
        1 => out.insert("caseFirst", rng.pick(&["upper", "lower", "off"])),
        2 => out.insert("caseLevel", true),
        3 => out.insert("backwards", true),
        4 => out.insert("alternate", rng.pick(&["shifted", "non-ignorable"])),
        5 => out.insert("strength", rng.int(-1, 7)),
        6 => out.insert("normalization", rng.chance(50)),
        _ => None,
    };
    out
}
