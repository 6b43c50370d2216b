//! Property test: `$text` finds the same documents and scores as a scan of the words.

use std::collections::{BTreeMap, BTreeSet};

use bson::{Bson, Document, doc};
use proptest::prelude::*;

use super::{ids, rows, run};
use crate::Context;
use crate::command::state::Engine;

/// Words, and the terms that they are in English: none of a stop word.
const WORDS: &[(&str, Option<&str>)] = &[
    ("cat", Some("cat")),
    ("cats", Some("cat")),
    ("Cats", Some("cat")),
    ("running", Some("run")),
    ("runs", Some("run")),
    ("café", Some("cafe")),
    ("CAFE", Some("cafe")),
    ("shop", Some("shop")),
    ("it's", None),
    ("the", None),
    ("OF", None),
    ("a_b", Some("a_b")),
    ("42", Some("42")),
];

/// Separators of words.
const BETWEEN: [&str; 5] = [" ", ", ", "  ", "; ", "\t"];

const WEIGHTS: [(&str, f64); 2] = [("t", 3.0), ("u", 1.0)];

/// A string, as the words in it: their places in the list.
type Text = Vec<(usize, usize)>;

fn text() -> impl Strategy<Value = Text> {
    proptest::collection::vec((0..WORDS.len(), 0..BETWEEN.len()), 0..6)
}

fn written(text: &Text) -> String {
    let word =
        |(word, between): &(usize, usize)| format!("{}{}", WORDS[*word].0, BETWEEN[*between]);
    text.iter().map(word).collect()
}

#[derive(Debug, Clone)]
enum Value {
    One(Text),
    Several(Vec<Text>),
    Number,
    Missing,
}

impl Value {
    fn texts(&self) -> Vec<&Text> {
        match self {
            Self::One(text) => vec![text],
            Self::Several(texts) => texts.iter().collect(),
            Self::Number | Self::Missing => Vec::new(),
        }
    }

    fn put(&self, document: &mut Document, name: &str) {
        let value = match self {
            Self::One(text) => Bson::from(written(text)),
            Self::Several(texts) => {
                Bson::Array(texts.iter().map(|text| written(text).into()).collect())
            }
            Self::Number => Bson::Int32(42),
            Self::Missing => return,
        };
        document.insert(name, value);
    }
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        5 => text().prop_map(Value::One),
        2 => proptest::collection::vec(text(), 0..3).prop_map(Value::Several),
        1 => Just(Value::Number),
        1 => Just(Value::Missing),
    ]
}

/// A part of a search.
#[derive(Debug, Clone)]
enum Part {
    Word(usize),
    Without(usize),
    /// Words with one space between them.
    Phrase(Vec<usize>),
    NoPhrase(Vec<usize>),
}

fn part() -> impl Strategy<Value = Part> {
    let word = || 0..WORDS.len();
    let phrase = move || proptest::collection::vec(word(), 1..3);
    prop_oneof![
        5 => word().prop_map(Part::Word),
        2 => word().prop_map(Part::Without),
        2 => phrase().prop_map(Part::Phrase),
        1 => phrase().prop_map(Part::NoPhrase),
    ]
}

fn joined(words: &[usize]) -> String {
    let words: Vec<_> = words.iter().map(|word| WORDS[*word].0).collect();
    words.join(" ")
}

fn searched(parts: &[Part]) -> String {
    let part = |part: &Part| match part {
        Part::Word(word) => WORDS[*word].0.to_owned(),
        Part::Without(word) => format!("-{}", WORDS[*word].0),
        Part::Phrase(words) => format!("\"{}\"", joined(words)),
        Part::NoPhrase(words) => format!("-\"{}\"", joined(words)),
    };
    parts.iter().map(part).collect::<Vec<_>>().join(" ")
}

fn folded(text: &str) -> String {
    text.to_lowercase().replace('é', "e")
}

/// The terms of a string and their scores, a weight left out.
fn scores(text: &Text) -> BTreeMap<&'static str, f64> {
    let terms: Vec<&str> = text.iter().filter_map(|(word, _)| WORDS[*word].1).collect();
    let mut scores = BTreeMap::new();
    for term in terms.iter().copied().collect::<BTreeSet<_>>() {
        let times = terms.iter().filter(|other| **other == term).count();
        let times = u32::try_from(times).unwrap();
        let all = f64::from(u32::try_from(terms.len()).unwrap());
        let halves: f64 = (0..times)
            .map(|more| 0.5_f64.powi(i32::try_from(more).unwrap()))
            .sum();
        let whole = if written(text).eq_ignore_ascii_case(term) {
            1.1
        } else {
            1.0
        };
        scores.insert(term, halves * (0.5 * f64::from(times) / all + 0.5) * whole);
    }
    scores
}

/// The score of a document, if a search finds it.
fn expected(fields: &[(&Value, f64)], parts: &[Part]) -> Option<f64> {
    let mut terms = BTreeSet::new();
    let mut excluded = BTreeSet::new();
    for part in parts {
        match part {
            Part::Word(word) => terms.extend(WORDS[*word].1),
            Part::Without(word) => excluded.extend(WORDS[*word].1),
            Part::Phrase(words) => terms.extend(words.iter().filter_map(|word| WORDS[*word].1)),
            Part::NoPhrase(_) => {}
        }
    }
    let strings = || {
        fields
            .iter()
            .flat_map(|(value, weight)| value.texts().into_iter().map(move |text| (text, *weight)))
    };
    let mut score = 0.0;
    for (text, weight) in strings() {
        let scores = scores(text);
        if excluded.iter().any(|term| scores.contains_key(term)) {
            return None;
        }
        score += weight
            * terms
                .iter()
                .filter_map(|term| scores.get(term))
                .sum::<f64>();
    }
    let has = |phrase: &[usize]| {
        strings().any(|(text, _)| folded(&written(text)).contains(&folded(&joined(phrase))))
    };
    let fits = parts.iter().all(|part| match part {
        Part::Phrase(words) => has(words),
        Part::NoPhrase(words) => !has(words),
        Part::Word(_) | Part::Without(_) => true,
    });
    (score > 0.0 && fits).then_some(score)
}

/// The ids and the scores that a reply has.
fn found(reply: &Document) -> Vec<(i32, f64)> {
    let row = |row: &Bson| {
        let row = row.as_document().unwrap();
        (row.get_i32("_id").unwrap(), row.get_f64("s").unwrap())
    };
    rows(reply).iter().map(row).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(
        std::env::var("ODM_LAWS").ok().and_then(|cases| cases.parse().ok()).unwrap_or(200)
    ))]

    #[test]
    fn text_search_agrees_with_a_scan_of_words(
        documents in proptest::collection::vec((value(), value(), 0_i32..3), 1..10),
        parts in proptest::collection::vec(part(), 0..4),
        of in 0_i32..3,
        early in any::<bool>(),
    ) {
        let (engine, context) = (Engine::new(), Context::system());
        let run = |command: Document| run(&engine, &context, "x", &command);
        let weights: Document = WEIGHTS.iter().map(|(name, weight)| ((*name).to_owned(), Bson::from(*weight))).collect();
        let text = |before: Document, more: Document| {
            let mut key = before;
            key.extend(doc! { "t": "text", "u": "text" });
            let mut index = doc! { "key": key, "name": "text", "weights": weights.clone() };
            index.extend(more);
            index
        };
        // The same text index: alone, beside other indexes, partial, and with a prefix field.
        let collections = [
            ("alone", vec![text(doc! {}, doc! {})]),
            ("among", vec![doc! { "key": { "b": 1 }, "name": "b" }, doc! { "key": { "$**": 1 }, "name": "w" }, text(doc! {}, doc! {}), doc! { "key": { "t": -1 }, "name": "t" }]),
            ("partial", vec![text(doc! {}, doc! { "partialFilterExpression": { "b": { "$gte": of } } })]),
            ("behind", vec![text(doc! { "b": 1 }, doc! {})]),
        ];
        let insert = |collection: &str| {
            for (at, (t, u, b)) in (0_i32..).zip(&documents) {
                let mut document = doc! { "_id": at, "b": b };
                t.put(&mut document, "t");
                u.put(&mut document, "u");
                assert!(!run(doc! { "insert": collection, "documents": [document] }).contains_key("writeErrors"));
            }
        };
        for (collection, indexes) in collections {
            if early {
                insert(collection);
            }
            assert_eq!(run(doc! { "createIndexes": collection, "indexes": indexes }).get("ok"), Some(&Bson::Double(1.0)));
            if !early {
                insert(collection);
            }
        }
        let search = doc! { "$text": { "$search": searched(&parts) } };
        let find = |collection: &str, beside: Document| {
            let mut filter = search.clone();
            filter.extend(beside);
            found(&run(doc! {
                "find": collection, "filter": filter, "sort": { "_id": 1 }, "projection": { "s": { "$meta": "textScore" } },
            }))
        };
        let all: Vec<(i32, f64)> = (0_i32..)
            .zip(&documents)
            .filter_map(|(at, (t, u, _))| Some((at, expected(&[(t, WEIGHTS[0].1), (u, WEIGHTS[1].1)], &parts)?)))
            .collect();
        let alone = find("alone", doc! {});
        let places = |found: &[(i32, f64)]| found.iter().map(|(id, _)| *id).collect::<Vec<_>>();
        prop_assert_eq!(places(&alone), places(&all), "{}", searched(&parts));
        for ((_, score), (_, wanted)) in alone.iter().zip(&all) {
            prop_assert!((score - wanted).abs() < 1e-9, "{score} for {wanted}");
        }
        prop_assert_eq!(&find("among", doc! {}), &alone);
        let part = |test: &dyn Fn(i32) -> bool| -> Vec<(i32, f64)> {
            let b = |id: i32| documents.get(usize::try_from(id).unwrap()).unwrap().2;
            alone.iter().copied().filter(|(id, _)| test(b(*id))).collect()
        };
        prop_assert_eq!(find("partial", doc! { "b": { "$gte": of } }), part(&|b| b >= of));
        prop_assert_eq!(find("partial", doc! { "b": 2 }), part(&|b| b == 2));
        prop_assert_eq!(find("behind", doc! { "b": of }), part(&|b| b == of));
        prop_assert_eq!(find("among", doc! { "b": of }), part(&|b| b == of));
        // As one alternative of `$or`, it finds the same documents.
        let mut either = places(&alone);
        either.extend(part_of(&documents, of));
        either.sort_unstable();
        either.dedup();
        let reply = run(doc! { "find": "among", "filter": { "$or": [search.clone(), { "b": of }] }, "sort": { "_id": 1 } });
        prop_assert_eq!(ids(&reply), either);
    }
}

fn part_of(documents: &[(Value, Value, i32)], of: i32) -> Vec<i32> {
    (0_i32..)
        .zip(documents)
        .filter(|(_, (.., b))| *b == of)
        .map(|(at, _)| at)
        .collect()
}
