//! Each row is what was asked of MongoDB 6.0.5 and what `listIndexes` or `listCollections` said.

use bson::{Document, doc};

use super::{NormalIndex, NormalOptions};

fn full(locale: &str, strength: i32, changes: Document) -> Document {
    let mut collation = doc! {
        "locale": locale, "caseLevel": false, "caseFirst": "off", "strength": strength,
        "numericOrdering": false, "alternate": "non-ignorable", "maxVariable": "punct",
        "normalization": false, "backwards": false, "version": "57.1",
    };
    collation.extend(changes);
    collation
}

fn differences(asked: &Document, listed: &Document, default: Option<&Document>) -> Vec<String> {
    let listed = NormalIndex::read(listed, None);
    let asked = NormalIndex::read(asked, default);
    let mut differences = listed.fixed_differences(&asked);
    if listed.hidden != asked.hidden || listed.expire_after_seconds != asked.expire_after_seconds {
        differences.push("in place".to_owned());
    }
    differences
}

#[test]
fn what_was_asked_is_what_is_listed() {
    let text = |weights: Document, more: Document| {
        let mut spec = doc! {
            "v": 2, "key": {"_fts": "text", "_ftsx": 1}, "name": "t", "weights": weights,
            "default_language": "english", "language_override": "language", "textIndexVersion": 3,
        };
        spec.extend(more);
        spec
    };
    let rows = [
        (doc! {"key": {"a": 1}}, doc! {"v": 2, "key": {"a": 1}}),
        (
            doc! {"key": {"a": 1}},
            doc! {"v": 2, "key": {"a": 1.0}, "sparse": false, "background": true},
        ),
        (
            doc! {"key": {"a": 1}, "unique": true, "hidden": true},
            doc! {"v": 2, "key": {"a": 1_i64}, "unique": true, "hidden": true},
        ),
        (
            doc! {"key": {"a": 1}, "expireAfterSeconds": 60},
            doc! {"v": 2, "key": {"a": 1}, "expireAfterSeconds": 60.0},
        ),
        (
            doc! {"key": {"a": 1}, "partialFilterExpression": {"b": {"$gt": 5}}},
            doc! {"v": 2, "key": {"a": 1}, "partialFilterExpression": {"b": {"$gt": 5_i64}}},
        ),
        (
            doc! {"key": {"a": "text", "b": "text"}, "weights": {"a": 10}},
            text(doc! {"a": 10, "b": 1}, doc! {}),
        ),
        (
            doc! {"key": {"z": 1, "b": "text", "a": "text", "y": -1}},
            text(
                doc! {"a": 1, "b": 1},
                doc! {"key": {"z": 1, "_fts": "text", "_ftsx": 1, "y": -1}},
            ),
        ),
        (
            doc! {"key": {"$**": "text"}},
            text(doc! {"$**": 1}, doc! {}),
        ),
        (
            doc! {"key": {"a": "2dsphere"}},
            doc! {"v": 2, "key": {"a": "2dsphere"}, "2dsphereIndexVersion": 3},
        ),
        (
            doc! {"key": {"$**": 1}, "wildcardProjection": {"a": 1, "b.c": 1}},
            doc! {"v": 2, "key": {"$**": 1}, "wildcardProjection": {"b": {"c": true}, "a": true}},
        ),
        (
            doc! {"key": {"a": 1}, "collation": {"locale": "en"}},
            doc! {"v": 2, "key": {"a": 1}, "collation": full("en", 3, doc! {})},
        ),
        (
            doc! {"key": {"a": 1}, "collation": {"locale": "simple"}},
            doc! {"v": 2, "key": {"a": 1}},
        ),
        (
            doc! {"key": {"a": 1}, "collation": {"locale": "fr_CA"}},
            doc! {"v": 2, "key": {"a": 1}, "collation": full("fr_CA", 3, doc! {"backwards": true})},
        ),
    ];
    for (asked, listed) in rows {
        assert_eq!(differences(&asked, &listed, None), [""; 0], "{asked}");
    }
    // The locale's own customs are spelled out against.
    let rows = [
        ("mt", doc! {"caseFirst": "off"}, doc! {"caseFirst": "upper"}),
        (
            "th",
            doc! {"alternate": "non-ignorable", "normalization": false},
            doc! {"alternate": "shifted", "normalization": true},
        ),
    ];
    for (locale, general, own) in rows {
        let mut asked = doc! {"locale": locale};
        asked.extend(general);
        let asked = doc! {"key": {"a": 1}, "collation": asked};
        let listed = |changes| doc! {"key": {"a": 1}, "collation": full(locale, 3, changes)};
        assert_eq!(differences(&asked, &listed(doc! {}), None), [""; 0]);
        assert_eq!(differences(&asked, &listed(own), None).len(), 1);
    }
    // The default of the collection is inherited, and a text index does without it.
    let default = full("fr", 2, doc! {});
    assert_eq!(
        differences(
            &doc! {"key": {"a": 1}},
            &doc! {"v": 2, "key": {"a": 1}, "collation": &default},
            Some(&default)
        ),
        [""; 0]
    );
    assert_eq!(
        differences(
            &doc! {"key": {"a": "text"}, "collation": {"locale": "simple"}},
            &text(doc! {"a": 1}, doc! {}),
            Some(&default)
        ),
        [""; 0]
    );
}

#[test]
fn differences_are_listed() {
    let plain = doc! {"key": {"a": 1}, "name": "a_1"};
    let rows = [
        (
            doc! {"key": {"a": 1}, "unique": true},
            "unique is false, declared true",
        ),
        (doc! {"key": {"a": -1}}, "key is {a: 1}, declared {a: -1}"),
        (
            doc! {"key": {"a": 1}, "partialFilterExpression": {"b": 1}},
            "partialFilterExpression is none, declared {b: 1}",
        ),
        (doc! {"key": {"a": 1}, "hidden": true}, "in place"),
        (doc! {"key": {"a": 1}, "expireAfterSeconds": 1}, "in place"),
    ];
    for (asked, difference) in rows {
        assert_eq!(differences(&asked, &plain, None), [difference]);
    }
    let ttl = doc! {"key": {"a": 1}, "expireAfterSeconds": 1};
    assert_eq!(
        differences(&plain, &ttl, None),
        ["expireAfterSeconds is 1, declared none", "in place"]
    );
    let weights = |weight: i32| doc! {"key": {"a": "text"}, "weights": {"a": weight}};
    assert_eq!(
        differences(&weights(2), &weights(1), None),
        ["weights is {\"a\": 1}, declared {\"a\": 2}"]
    );
}

#[test]
fn options_of_collections() {
    let rows = [
        (doc! {}, doc! {}),
        (
            doc! {"capped": true, "size": 1000},
            doc! {"capped": true, "size": 1024},
        ),
        (
            doc! {"capped": true, "size": 4352, "max": 0},
            doc! {"capped": true, "size": 4352, "max": i32::MAX},
        ),
        (
            doc! {"validator": {}, "validationLevel": "strict", "validationAction": "error"},
            doc! {},
        ),
        (
            doc! {"collation": {"locale": "en", "strength": 2}},
            doc! {"collation": full("en", 2, doc! {})},
        ),
        (doc! {"collation": {"locale": "simple"}}, doc! {}),
    ];
    for (asked, listed) in rows {
        assert_eq!(
            NormalOptions::read(&asked),
            NormalOptions::read(&listed),
            "{asked}"
        );
    }
}
