//! Words of many languages, under the collations of as many.

use odm::bson::{Bson, Document, doc};

use crate::cases::{Step, any, exact, insert};
use crate::collations::collation_of;
use crate::rng::Rng;

const WORDS: &[&str] = &[
    "", "a", "A", "b", "B", "z", "Z", "ä", "Ä", "a\u{308}", "å", "Å", "aa", "AA", "ae", "æ", "Æ",
    "é", "É", "e", "ê", "è", "cote", "coté", "côte", "côté", "ñ", "n", "o", "ö", "ø", "Ø", "ő",
    "ss", "ß", "SS", "ü", "u", "y", "ij", "ch", "cz", "h", "i", "ı", "İ", "I", "ll", "lz", "dž",
    "d", "1", "2", "10", "02", "1.5", "-", "_", "a-b", "ab", "a b", " a", "a.b", "a1", "a10", "a2",
    "$", "€", "абв", "Я", "я", "ё", "і", "α", "Ω", "ω", "ב", "א", "ا", "ب", "か", "カ", "漢", "字",
    "한", "글", "ไ", "ก", "\u{200b}", "ﬁ", "fi", "½", "x\u{301}",
];

const LOCALES: &[&str] = &[
    "en",
    "en_US",
    "de",
    "de@collation=phonebook",
    "fr",
    "fr_CA",
    "sv",
    "da",
    "nb",
    "fi",
    "es",
    "es@collation=traditional",
    "hu",
    "pl",
    "cs",
    "sk",
    "hr",
    "tr",
    "az",
    "lt",
    "lv",
    "et",
    "vi",
    "cy",
    "is",
    "nl",
    "ru",
    "uk",
    "bg",
    "el",
    "he",
    "ar",
    "fa",
    "hi",
    "th",
    "ja",
    "ko",
    "zh",
    "pt",
    "it",
    "ro",
    "sq",
    "mt",
    "root",
    "zork",
];

fn word(rng: &mut Rng) -> String {
    if rng.chance(20) {
        return format!("{}{}", rng.pick(WORDS), rng.pick(WORDS));
    }
    rng.pick(WORDS).to_owned()
}

fn worded(rng: &mut Rng, id: i32) -> Document {
    let mut out = doc! { "_id": id, "a": word(rng), "b": word(rng) };
    match rng.below(6) {
        0 => out.insert("a", vec![word(rng), word(rng)]),
        1 => out.insert("b", doc! { "x": word(rng) }),
        2 => out.insert("a", rng.int(0, 3)),
        _ => None,
    };
    out
}

/// Comparisons, orders and sets of words, with and without an index of the same collation or another.
pub(super) fn languages(rng: &mut Rng) -> Vec<Step> {
    let locale = rng.pick(LOCALES);
    let mut steps = Vec::new();
    if rng.chance(30) {
        steps.push(exact(
            doc! { "create": "c", "collation": collation_of(rng, locale) },
        ));
    }
    if rng.chance(50) {
        let mut index = doc! { "key": rng.pick(&[doc! { "a": 1 }, doc! { "b": -1, "a": 1 }, doc! { "b.x": 1 }]), "name": "i" };
        if rng.chance(80) {
            index.insert("collation", collation_of(rng, locale));
        }
        if rng.chance(40) {
            index.insert("unique", true);
        }
        steps.push(exact(doc! { "createIndexes": "c", "indexes": [index] }));
    }
    steps.push(insert((0..14).map(|id| worded(rng, id)).collect()));
    for _ in 0..8 {
        let field = rng.pick(&["a", "b", "b.x", "a.0"]);
        let compared = match rng.below(5) {
            0 => Bson::from(doc! { "$in": [word(rng), word(rng), rng.pick(WORDS)] }),
            1 => doc! { rng.pick(&["$gt", "$gte", "$lt", "$lte", "$ne"]): word(rng) }.into(),
            2 => doc! { "$gte": word(rng), "$lt": word(rng) }.into(),
            3 => doc! { "$not": { "$gt": word(rng) } }.into(),
            _ => word(rng).into(),
        };
        let mut step = match rng.below(9) {
            0 => any(doc! { "distinct": "c", "key": field, "query": {} }),
            1 => any(doc! { "aggregate": "c", "pipeline": [
                { "$sort": { "_id": 1 } },
                { "$group": { "_id": format!("${field}"), "n": { "$sum": 1 }, "l": { "$min": "$b" }, "h": { "$max": "$b" } } },
            ], "cursor": {} }),
            2 => exact(
                doc! { "aggregate": "c", "pipeline": [{ "$sort": { "_id": 1 } }, { "$project": {
                    "r": { rng.pick(&["$cmp", "$eq", "$lt", "$strcasecmp", "$max", "$min"]): [format!("${field}"), word(rng)] },
                    "s": { "$indexOfArray": [[word(rng), word(rng)], format!("${field}")] },
                    "t": { "$in": [format!("${field}"), [word(rng), word(rng), word(rng)]] },
                } }], "cursor": {} },
            ),
            3 => exact(doc! { "update": "c", "updates": [{
                "q": { field: compared },
                "u": { rng.pick(&["$set", "$min", "$max", "$addToSet", "$pull", "$setOnInsert"]): { rng.pick(&["a", "b", "n"]): word(rng) } },
                "multi": true,
            }] }),
            4 => exact(
                doc! { "aggregate": "c", "pipeline": [{ "$sort": { "_id": 1 } }, { "$lookup": { "from": "c", "localField": "a", "foreignField": "b", "as": "l" } }, { "$project": { "l._id": 1 } }], "cursor": {} },
            ),
            _ => exact(
                doc! { "find": "c", "filter": { field: compared }, "sort": { rng.pick(&["a", "b", "b.x"]): rng.pick(&[1, -1]), "_id": 1 } },
            ),
        };
        if rng.chance(80) {
            let other = rng.pick(LOCALES);
            let chosen = if rng.chance(85) { locale } else { other };
            let collation = collation_of(rng, chosen);
            match step.command.get_array_mut("updates") {
                Ok(updates) => {
                    if let Some(update) = updates.first_mut().and_then(Bson::as_document_mut) {
                        update.insert("collation", collation);
                    }
                }
                Err(_) => {
                    step.command.insert("collation", collation);
                }
            }
        }
        steps.push(step);
    }
    steps
}
