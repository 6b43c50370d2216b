//! Each builder, with the exact document that it makes.

use std::collections::{BTreeMap, HashMap};

use bson::{Bson, DateTime, Document, Regex, Timestamp, bson, cstr, doc};

use super::Update;
use crate::error::Result;
use crate::model::{FieldType, Path};
use crate::query::{Encode, Field, Filter, With, raw};

struct M;

fn f<T: FieldType>(name: &'static str) -> T::Handle<M, T> {
    T::handle(Path::root().child(name))
}

#[track_caller]
#[expect(clippy::needless_pass_by_value, reason = "tables own what they expect")]
fn same(update: &Update<M>, expected: Document) {
    assert_eq!(update.to_document().unwrap(), expected);
}

#[track_caller]
fn refused(update: &Update<M>, path: &str, word: &str) {
    let error = update.to_bson().unwrap_err();
    assert_eq!(error.path().unwrap_or_default(), path, "{error}");
    assert!(error.to_string().contains(word), "{error}");
}

#[test]
fn single_fields() {
    let n = f::<i32>("n");
    let o = f::<Option<String>>("o");
    let table = [
        (n.set(1), doc! {"$set": {"n": 1}}),
        (n.set_on_insert(1), doc! {"$setOnInsert": {"n": 1}}),
        (n.inc(-1), doc! {"$inc": {"n": -1}}),
        (n.dec(1), doc! {"$inc": {"n": -1}}),
        (n.mul(2), doc! {"$mul": {"n": 2}}),
        (n.min(1), doc! {"$min": {"n": 1}}),
        (n.max(1), doc! {"$max": {"n": 1}}),
        (n.bit_and(6), doc! {"$bit": {"n": {"and": 6}}}),
        (n.bit_or(6), doc! {"$bit": {"n": {"or": 6}}}),
        (n.bit_xor(6), doc! {"$bit": {"n": {"xor": 6}}}),
        (n.unset_to_default(), doc! {"$unset": {"n": ""}}),
        (n.rename(&f::<i32>("m")), doc! {"$rename": {"n": "m"}}),
        (o.set("a"), doc! {"$set": {"o": "a"}}),
        (o.set(None), doc! {"$set": {"o": null}}),
        (o.unset(), doc! {"$unset": {"o": ""}}),
        (
            f::<Option<DateTime>>("d").current_date(),
            doc! {"$currentDate": {"d": true}},
        ),
        (
            f::<Timestamp>("d").current_date(),
            doc! {"$currentDate": {"d": {"$type": "timestamp"}}},
        ),
        (f::<u32>("u").dec(3), doc! {"$inc": {"u": -3_i64}}),
        (f::<f64>("x").dec(0.5), doc! {"$inc": {"x": -0.5}}),
        (
            f::<HashMap<String, i32>>("h").key("a").inc(1),
            doc! {"$inc": {"h.a": 1}},
        ),
        (
            f::<HashMap<String, i32>>("h").remove_key("a"),
            doc! {"$unset": {"h.a": ""}},
        ),
        (
            raw(doc! {"$inc": {"a": 1}, "$set": {"b.0": 2}}),
            doc! {"$inc": {"a": 1}, "$set": {"b.0": 2}},
        ),
    ];
    for (update, expected) in table {
        same(&update, expected);
    }
    let decimal = f::<bson::Decimal128>("d");
    same(
        &decimal.dec("1.50".parse::<bson::Decimal128>().unwrap()),
        doc! {"$inc": {"d": "-1.50".parse::<bson::Decimal128>().unwrap()}},
    );
    refused(&f::<Option<i32>>("o").inc(None), "o", "not a number");
    refused(&f::<i32>("i").dec(i32::MIN), "i", "negated");
    refused(&f::<u64>("u").set(u64::MAX), "u", "BSON");
    refused(
        &f::<BTreeMap<String, i32>>("m").remove_key("a.b"),
        "m.a.b",
        "address",
    );
}

#[test]
fn arrays() {
    let a = f::<Vec<i32>>("a");
    let table = [
        (a.push(1), doc! {"$push": {"a": 1}}),
        (
            a.push_each([1, 2]),
            doc! {"$push": {"a": {"$each": [1, 2]}}},
        ),
        (
            a.push_with([1], |p| p.position(0).sort(|e| e.asc()).slice(-5)),
            doc! {"$push": {"a": {"$each": [1], "$position": 0, "$sort": 1, "$slice": -5}}},
        ),
        (a.add_to_set(1), doc! {"$addToSet": {"a": 1}}),
        (
            a.add_to_set_each([1, 2]),
            doc! {"$addToSet": {"a": {"$each": [1, 2]}}},
        ),
        (a.pull(1), doc! {"$pull": {"a": 1}}),
        (
            a.pull_where(|e| e.gt(1) & e.lt(5)),
            doc! {"$pull": {"a": {"$gt": 1, "$lt": 5}}},
        ),
        (
            a.pull_where(|e| !e.gt(1)),
            doc! {"$pull": {"a": {"$exists": true, "$not": {"$gt": 1}}}},
        ),
        (
            a.pull_where(|_| Filter::all()),
            doc! {"$pull": {"a": {"$exists": true}}},
        ),
        (a.pull_all([1, 2]), doc! {"$pullAll": {"a": [1, 2]}}),
        (a.pop_first(), doc! {"$pop": {"a": -1}}),
        (a.pop_last(), doc! {"$pop": {"a": 1}}),
        (a.at(3).set(1), doc! {"$set": {"a.3": 1}}),
        (a.positional().inc(1), doc! {"$inc": {"a.$": 1}}),
        (a.all_elements().mul(2), doc! {"$mul": {"a.$[]": 2}}),
        (
            a.push(1) & a.push_each([2, 3]),
            doc! {"$push": {"a": {"$each": [1, 2, 3]}}},
        ),
        (
            a.add_to_set(1) & a.add_to_set(2),
            doc! {"$addToSet": {"a": {"$each": [1, 2]}}},
        ),
    ];
    for (update, expected) in table {
        same(&update, expected);
    }
    refused(
        &(a.push_with([1], |p| p.slice(1)) & a.push(2)),
        "a",
        "only once",
    );
    refused(&a.push_with([1], |p| p.slice(1).slice(2)), "a", "twice");
    refused(&a.pull_where(|e| e.gt(1) | e.lt(0)), "a", "element itself");
}

#[test]
fn a_value_never_becomes_an_operator() {
    let b = f::<Vec<Bson>>("b");
    let each = || Bson::Document(doc! {"$each": [1]});
    let document = || Bson::Document(doc! {"x": 1});
    let regex = || {
        Bson::RegularExpression(Regex {
            pattern: cstr!("^x").into(),
            options: cstr!("").into(),
        })
    };
    let table = [
        (b.at(0).set(each()), doc! {"$set": {"b.0": {"$each": [1]}}}),
        (
            b.push(each()),
            doc! {"$push": {"b": {"$each": [{"$each": [1]}]}}},
        ),
        (b.push(document()), doc! {"$push": {"b": {"x": 1}}}),
        (
            b.add_to_set(each()),
            doc! {"$addToSet": {"b": {"$each": [{"$each": [1]}]}}},
        ),
        (
            b.push(each()) & b.push(document()),
            doc! {"$push": {"b": {"$each": [{"$each": [1]}, {"x": 1}]}}},
        ),
        (b.pull(document()), doc! {"$pull": {"b": {"$eq": {"x": 1}}}}),
        (b.pull(regex()), doc! {"$pull": {"b": {"$eq": regex()}}}),
        (
            b.pull_all([document()]),
            doc! {"$pullAll": {"b": [{"x": 1}]}},
        ),
    ];
    for (update, expected) in table {
        same(&update, expected);
    }
}

#[test]
fn array_filters() {
    let g = f::<Vec<i32>>("g");
    let update = g.filtered("low").set(60)
        & f::<i32>("n").inc(1)
        & g.array_filter("low", |e| e.lt(60) & e.ne(0));
    same(&update, doc! {"$set": {"g.$[low]": 60}, "$inc": {"n": 1}});
    let filters = update.array_filters().unwrap();
    assert_eq!(filters, [doc! {"low": {"$lt": 60, "$ne": 0}}]);
    let all = g.array_filter("e", |_| Filter::all());
    assert_eq!(
        all.array_filters().unwrap(),
        [doc! {"e": {"$exists": true}}]
    );
    let written = g.filtered("e").set(1).raw_array_filter(doc! {"e": 2});
    assert_eq!(written.array_filters().unwrap(), [doc! {"e": 2}]);
    refused(&g.filtered("E").set(1), "E", "lowercase");
    refused(&g.array_filter("a.b", |e| e.eq(1)), "a.b", "lowercase");
}

#[test]
fn conflicts_are_refused() {
    let (a, b) = (f::<i32>("a"), f::<i32>("a.b"));
    refused(
        &(a.set(1) & a.inc(1)),
        "a",
        "`$set` of `a` and `$inc` of `a`",
    );
    refused(&(a.set(1) & a.set(2)), "a", "only once");
    let inside = raw::<Update<M>>(doc! {"$set": {"a": 1}, "$inc": {"a.b": 1}});
    refused(&inside, "a.b", "only once");
    refused(&(f::<i32>("c").rename(&a) & a.set(1)), "a", "only once");
    let siblings = raw::<Update<M>>(doc! {"$set": {"ab": 1, "a": 2}});
    same(&siblings, doc! {"$set": {"ab": 1, "a": 2}});
    refused(&b.set(1), "a.b", "address");
    refused(&Update::all_of([None]), "", "changes nothing");
    refused(&raw(doc! {"a": 1}), "a", "operators");
    let g = f::<Vec<i32>>("g");
    refused(
        &(g.all_elements().set(1) & g.at(0).set(2)),
        "g.0",
        "only once",
    );
    refused(
        &(g.filtered("e").set(1) & g.positional().set(2)),
        "g.$[e]",
        "only once",
    );
    let both = g.filtered("e").set(1) & g.filtered("x").set(2);
    same(&both, doc! {"$set": {"g.$[e]": 1, "g.$[x]": 2}});
    let itself: Field<M, i32> = Field::at_path(Path::root());
    refused(&itself.set(1), "", "document itself");
}

#[test]
fn pipelines() {
    let (a, b) = (f::<i32>("a"), f::<Vec<i32>>("b"));
    let update =
        a.set_expr(b.expr().size()) & Update::pipeline([doc! {"$unset": "c"}]) & b.set_literal([1]);
    assert_eq!(
        update.to_bson().unwrap(),
        bson!([
            {"$set": {"a": {"$size": "$b"}}},
            {"$unset": "c"},
            {"$set": {"b": {"$literal": [1]}}},
        ]),
    );
    assert!(update.to_document().unwrap_err().is_usage());
    refused(&(a.set(1) & a.set_expr(1)), "", "pipeline");
    refused(&b.at(0).set_expr(1), "b.0", "position");
}

/// A serializer of its own: numbers as text.
struct AsText;

impl Encode<Vec<i32>> for AsText {
    type Stored = Vec<i32>;

    fn encode(value: &Vec<i32>) -> Result<Bson> {
        let texts = value.iter().map(|each| Bson::String(format!("#{each}")));
        Ok(Bson::Array(texts.collect()))
    }
}

#[test]
fn a_field_with_its_own_serializer_is_changed_by_it() {
    let v: Field<M, Vec<i32>, With<AsText>> = Field::at_path(Path::root().child("v"));
    let table = [
        (v.set([1, 2]), doc! {"$set": {"v": ["#1", "#2"]}}),
        (v.push(1), doc! {"$push": {"v": "#1"}}),
        (
            v.push_each([1, 2]),
            doc! {"$push": {"v": {"$each": ["#1", "#2"]}}},
        ),
        (v.at(0).set(1), doc! {"$set": {"v.0": "#1"}}),
        (
            v.pull_where(|e| e.eq(1)),
            doc! {"$pull": {"v": {"$eq": "#1"}}},
        ),
        (v.pull_all([1]), doc! {"$pullAll": {"v": ["#1"]}}),
    ];
    for (update, expected) in table {
        same(&update, expected);
    }
}

#[test]
fn raw_operators_are_sent_as_they_are_written() {
    let n = f::<i32>("n");
    same(&Update::raw(doc! {"$set": {}}), doc! {"$set": {}});
    same(
        &(n.inc(1) & Update::raw(doc! {"$set": {}, "$inc": {"m": 2}}) & f::<i32>("o").max(3)),
        doc! {"$inc": {"n": 1, "m": 2}, "$set": {}, "$max": {"o": 3}},
    );
}
