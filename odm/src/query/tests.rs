//! Each builder, with the exact document that it makes.

mod derived;
mod joining;
mod laws;

use std::collections::{BTreeMap, HashSet};

use bson::{Bson, DateTime, Document, Regex, cstr, doc, oid::ObjectId};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};

use super::*;
use crate::error::Result;
use crate::model::{BsonType, FieldType, Path, Shape, TypeMeta};
use crate::types::Id;

struct M;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Grade {
    score: i32,
    by: String,
}

struct GradeFields<M, As> {
    this: Field<M, As>,
    score: Field<M, i32>,
    by: Field<M, String>,
}

impl<M, As> std::ops::Deref for GradeFields<M, As> {
    type Target = Field<M, As>;

    fn deref(&self) -> &Self::Target {
        &self.this
    }
}

impl FieldType for Grade {
    const TYPE: TypeMeta = TypeMeta::of(Shape::Any);
    type Handle<M, As> = GradeFields<M, As>;

    fn handle<M, As>(path: Path) -> Self::Handle<M, As> {
        GradeFields {
            score: Field::at_path(path.child("score")),
            by: Field::at_path(path.child("by")),
            this: Field::at_path(path),
        }
    }
}

fn f<T: FieldType>(name: &'static str) -> T::Handle<M, T> {
    T::handle(Path::root().child(name))
}

#[track_caller]
#[expect(clippy::needless_pass_by_value, reason = "tables own what they expect")]
fn same(filter: &Filter<M>, expected: Document) {
    assert_eq!(filter.to_document().unwrap(), expected);
}

#[track_caller]
fn refused(filter: &Filter<M>, path: &str, word: &str) {
    let error = filter.to_document().unwrap_err();
    assert_eq!(error.path().unwrap_or_default(), path, "{error}");
    assert!(error.to_string().contains(word), "{error}");
}

#[test]
fn comparisons() {
    let n = f::<i32>("n");
    let table = [
        (n.eq(1), doc! {"n": 1}),
        (n.ne(1), doc! {"n": {"$ne": 1}}),
        (n.gt(1), doc! {"n": {"$gt": 1}}),
        (n.gte(1), doc! {"n": {"$gte": 1}}),
        (n.lt(1), doc! {"n": {"$lt": 1}}),
        (n.lte(1), doc! {"n": {"$lte": 1}}),
        (n.in_([1, 2]), doc! {"n": {"$in": [1, 2]}}),
        (n.in_(vec![1, 2]), doc! {"n": {"$in": [1, 2]}}),
        (n.nin([1, 2]), doc! {"n": {"$nin": [1, 2]}}),
        (n.nin(Vec::<i32>::new()), doc! {"n": {"$nin": []}}),
        (n.exists(true), doc! {"n": {"$exists": true}}),
        (n.is_missing(), doc! {"n": {"$exists": false}}),
        (n.is_null(), doc! {"n": {"$type": "null"}}),
        (n.type_(BsonType::Decimal), doc! {"n": {"$type": "decimal"}}),
        (n.type_(AnyNumber), doc! {"n": {"$type": "number"}}),
        (n.type_(-1), doc! {"n": {"$type": -1}}),
        (n.mod_(4, 1), doc! {"n": {"$mod": [4, 1]}}),
        (n.bits_all_set(3), doc! {"n": {"$bitsAllSet": 3}}),
        (n.bits_any_set([1, 5]), doc! {"n": {"$bitsAnySet": [1, 5]}}),
        (
            n.bits_all_clear(1_i64 << 40),
            doc! {"n": {"$bitsAllClear": 1_i64 << 40}},
        ),
        (n.bits_any_clear(3), doc! {"n": {"$bitsAnyClear": 3}}),
        (n.not(|n| n.gt(1)), doc! {"n": {"$not": {"$gt": 1}}}),
        (
            n.raw(doc! {"$gt": 1, "$lt": 3}),
            doc! {"n": {"$gt": 1, "$lt": 3}},
        ),
    ];
    for (filter, expected) in table {
        same(&filter, expected);
    }
    let long = f::<u32>("n");
    same(&long.eq(1), doc! {"n": 1_i64});
    let double = f::<f64>("n");
    same(&double.lt(1.5), doc! {"n": {"$lt": 1.5}});
    let id = ObjectId::new();
    same(&f::<Id<M>>("_id").eq(Id::from(id)), doc! {"_id": id});
}

#[test]
fn options_and_pointers() {
    let o = f::<Option<i32>>("o");
    same(&o.eq(None), doc! {"o": null});
    same(&o.eq(1), doc! {"o": 1});
    same(&o.eq(Some(1)), doc! {"o": 1});
    same(&o.ne(None), doc! {"o": {"$ne": null}});
    same(&o.in_([Some(1), None]), doc! {"o": {"$in": [1, null]}});
    same(&o.mod_(2, 0), doc! {"o": {"$mod": [2, 0]}});
    let b = f::<Option<Box<Grade>>>("b");
    same(&b.fields().score.gt(1), doc! {"b.score": {"$gt": 1}});
    same(&f::<Box<i32>>("b").eq(1), doc! {"b": 1});
    let text = f::<Option<String>>("t");
    same(&text.eq("a"), doc! {"t": "a"});
    same(&text.starts_with("a"), doc! {"t": {"$regex": "^a"}});
}

#[test]
fn text() {
    let t = f::<String>("t");
    same(&t.starts_with("a.b"), doc! {"t": {"$regex": r"^a\.b"}});
    same(&t.ends_with("$"), doc! {"t": {"$regex": r"\$\z"}});
    same(&t.contains(r"a\b|c"), doc! {"t": {"$regex": r"a\\b\|c"}});
    same(&t.starts_with("a\0"), doc! {"t": {"$regex": r"^a\x00"}});
    same(&t.regex("^a+$"), doc! {"t": {"$regex": "^a+$"}});
    same(
        &t.regex_with("a", "im"),
        doc! {"t": {"$regex": "a", "$options": "im"}},
    );
    same(
        &!t.regex_with("a", "i"),
        doc! {"t": {"$not": {"$regex": "a", "$options": "i"}}},
    );
    same(
        &(t.regex_with("a", "i") & t.contains("b")),
        doc! {"t": {"$regex": "a", "$options": "i"}, "$and": [{"t": {"$regex": "b"}}]},
    );
    refused(&t.regex("a\0"), "t", "null character");
}

#[test]
fn arrays() {
    let grade = Grade {
        score: 1,
        by: "x".to_owned(),
    };
    let g = f::<Vec<Grade>>("g");
    let n = f::<Option<Vec<i32>>>("n");
    let nested = f::<Vec<Vec<i32>>>("nested");
    let table = [
        (g.any().score.gt(1), doc! {"g.score": {"$gt": 1}}),
        (g.at(2).by.eq("x"), doc! {"g.2.by": "x"}),
        (
            g.elem_match(|e| e.score.gt(1) & e.by.eq("x")),
            doc! {"g": {"$elemMatch": {"score": {"$gt": 1}, "by": "x"}}},
        ),
        (
            g.elem_match(|e| e.score.gt(1) | e.by.eq("x")),
            doc! {"g": {"$elemMatch": {"$or": [{"score": {"$gt": 1}}, {"by": "x"}]}}},
        ),
        (
            g.elem_match(|e| e.eq(&grade)),
            doc! {"g": {"$elemMatch": {"$eq": {"score": 1, "by": "x"}}}},
        ),
        (
            g.elem_match(|_| Filter::all()),
            doc! {"g": {"$elemMatch": {"$exists": true}}},
        ),
        (g.has(&grade), doc! {"g": {"score": 1, "by": "x"}}),
        (
            g.all([&grade]),
            doc! {"g": {"$all": [{"score": 1, "by": "x"}]}},
        ),
        (g.size(3), doc! {"g": {"$size": 3}}),
        (n.has(1), doc! {"n": 1}),
        (n.eq([1, 2]), doc! {"n": [1, 2]}),
        (n.all([1, 2]), doc! {"n": {"$all": [1, 2]}}),
        (n.any().mod_(2, 1), doc! {"n": {"$mod": [2, 1]}}),
        (
            n.elem_match(|e| e.gt(1) & e.lt(9) & !e.eq(5)),
            doc! {"n": {"$elemMatch": {"$gt": 1, "$lt": 9, "$ne": 5}}},
        ),
        (
            n.elem_match(|e| !(e.gt(1) & e.lt(9))),
            doc! {"n": {"$elemMatch": {"$not": {"$gt": 1, "$lt": 9}}}},
        ),
        (
            nested.elem_match(|e| e.elem_match(|e| e.gt(2))),
            doc! {"nested": {"$elemMatch": {"$elemMatch": {"$gt": 2}}}},
        ),
        // `{nested: []}` would compare the whole list, too.
        (
            nested.has([1, 2]),
            doc! {"nested": {"$elemMatch": {"$eq": [1, 2]}}},
        ),
        (
            nested.any().gt([1]),
            doc! {"nested": {"$elemMatch": {"$gt": [1]}}},
        ),
        (
            nested.any().ne(Vec::<i32>::new()),
            doc! {"nested": {"$not": {"$elemMatch": {"$eq": []}}}},
        ),
        (
            nested.any().in_([[1]]),
            doc! {"nested": {"$elemMatch": {"$eq": [1]}}},
        ),
        (
            nested.all([[1], [2]]),
            doc! {"nested": {"$all": [{"$elemMatch": {"$eq": [1]}}, {"$elemMatch": {"$eq": [2]}}]}},
        ),
        (
            f::<HashSet<String>>("s").any().starts_with("a"),
            doc! {"s": {"$regex": "^a"}},
        ),
        (f::<[i32; 2]>("p").has(3), doc! {"p": 3}),
    ];
    for (filter, expected) in table {
        same(&filter, expected);
    }
    refused(&n.elem_match(|e| e.gt(1) | e.lt(0)), "n", "element itself");
    refused(&n.elem_match(|e| e.gt(1) & e.gt(2)), "n", "two `$gt`");
    refused(&g.positional().score.eq(1), "g.$.score", "updates");
    refused(&g.filtered("e").score.eq(1), "g.$[e].score", "updates");
}

#[test]
fn maps() {
    let m = f::<BTreeMap<String, Grade>>("m");
    same(&m.key("a").score.eq(1), doc! {"m.a.score": 1});
    for key in ["", "a.b", "$gt"] {
        assert!(m.key(key).score.eq(1).to_document().unwrap_err().is_usage());
    }
    same(
        &f::<Document>("d").key("x").eq(Bson::Int32(1)),
        doc! {"d.x": 1},
    );
}

#[test]
fn a_value_never_becomes_an_operator() {
    let b = f::<Bson>("b");
    let operator = || Bson::Document(doc! {"$gt": ""});
    let regex = || {
        Bson::RegularExpression(Regex {
            pattern: cstr!("^x").into(),
            options: cstr!("").into(),
        })
    };
    let table = [
        (b.eq(operator()), doc! {"b": {"$eq": {"$gt": ""}}}),
        (b.eq(regex()), doc! {"b": {"$eq": regex()}}),
        (b.ne(operator()), doc! {"b": {"$ne": {"$gt": ""}}}),
        (b.ne(regex()), doc! {"b": {"$not": {"$eq": regex()}}}),
        (
            b.in_([operator(), Bson::Int32(1), regex()]),
            doc! {"$or": [
                {"b": {"$in": [1]}},
                {"b": {"$eq": {"$gt": ""}}},
                {"b": {"$eq": regex()}},
            ]},
        ),
        (
            b.nin([regex(), Bson::Int32(1)]),
            doc! {"$nor": [{"b": {"$in": [1]}}, {"b": {"$eq": regex()}}]},
        ),
        (b.nin([regex()]), doc! {"b": {"$not": {"$eq": regex()}}}),
        (
            f::<Vec<Bson>>("v").all([operator(), Bson::Int32(1)]),
            doc! {"v": {"$all": [1], "$eq": {"$gt": ""}}},
        ),
        (
            f::<Vec<Bson>>("v").has(operator()),
            doc! {"v": {"$eq": {"$gt": ""}}},
        ),
    ];
    for (filter, expected) in table {
        same(&filter, expected);
    }
}

#[test]
fn joins() {
    let (a, b) = (f::<i32>("a"), f::<i32>("b"));
    let table = [
        (Filter::all(), doc! {}),
        (Filter::all() & a.eq(1), doc! {"a": 1}),
        (a.eq(1) & b.eq(2), doc! {"a": 1, "b": 2}),
        (
            a.gt(1) & b.eq(2) & a.lt(5),
            doc! {"a": {"$gt": 1, "$lt": 5}, "b": 2},
        ),
        (a.eq(1) & a.gt(0), doc! {"a": {"$eq": 1, "$gt": 0}}),
        (
            a.gt(1) & a.gt(2),
            doc! {"a": {"$gt": 1}, "$and": [{"a": {"$gt": 2}}]},
        ),
        (
            a.eq(1) | b.eq(2) | a.eq(3),
            doc! {"$or": [{"a": 1}, {"b": 2}, {"a": 3}]},
        ),
        (
            (a.eq(1) | b.eq(2)) & (a.eq(3) | b.eq(4)),
            doc! {"$or": [{"a": 1}, {"b": 2}], "$and": [{"$or": [{"a": 3}, {"b": 4}]}]},
        ),
        (
            a.eq(1) & (a.eq(2) | b.eq(2)),
            doc! {"a": 1, "$or": [{"a": 2}, {"b": 2}]},
        ),
        (!(a.eq(1) | b.eq(2)), doc! {"$nor": [{"a": 1}, {"b": 2}]}),
        (!!(a.eq(1) | b.eq(2)), doc! {"$or": [{"a": 1}, {"b": 2}]}),
        (!(a.eq(1) & b.eq(2)), doc! {"$nor": [{"a": 1, "b": 2}]}),
        (!!a.gt(1), doc! {"a": {"$gt": 1}}),
        (!a.exists(true), doc! {"a": {"$exists": false}}),
        (!Filter::all(), doc! {"$nor": [{}]}),
        (Filter::any_of([]), doc! {"$nor": [{}]}),
        (Filter::any_of([a.eq(1)]), doc! {"a": 1}),
        (
            Filter::none_of([a.eq(1), b.eq(2)]),
            doc! {"$nor": [{"a": 1}, {"b": 2}]},
        ),
        (Filter::none_of([]), doc! {}),
        (raw(doc! {}), doc! {}),
        (
            Filter::raw(doc! {"a": {"$gt": 1}}) & b.eq(2),
            doc! {"a": {"$gt": 1}, "b": 2},
        ),
        (
            Filter::raw(doc! {"a": {"$gt": 1}}) & a.eq(2),
            doc! {"a": {"$gt": 1}, "$and": [{"a": 2}]},
        ),
        (
            Filter::raw(doc! {"$and": [{"a": 1}]}) & a.eq(2),
            doc! {"a": 2, "$and": [{"$and": [{"a": 1}]}]},
        ),
        (
            !Filter::raw(doc! {"$expr": true}),
            doc! {"$nor": [{"$expr": true}]},
        ),
    ];
    for (filter, expected) in table {
        same(&filter, expected);
        same(&filter.clone(), filter.to_document().unwrap());
    }
}

#[test]
fn the_first_error_is_kept_and_named() {
    let n = f::<u64>("n");
    let filter = f::<i32>("a").eq(1) & (n.eq(u64::MAX) | f::<i32>("b").eq(2));
    let error = filter.to_document().unwrap_err();
    assert!(error.is_encode());
    assert_eq!(error.path(), Some("n"));
    refused(&n.in_([1, u64::MAX]), "n", "BSON");
    refused(
        &f::<Vec<u64>>("v").elem_match(|e| e.gt(u64::MAX)),
        "v",
        "BSON",
    );
    refused(&f::<i32>("n").raw(doc! {"a": 1}), "n", "operators");
}

#[test]
fn sorts() {
    let (a, b) = (f::<i32>("a"), f::<Vec<Grade>>("b"));
    let sort = a.desc().then(b.any().score.asc());
    assert_eq!(sort.to_document().unwrap(), doc! {"a": -1, "b.score": 1});
    let sort: Sort<M> = raw(doc! {"score": {"$meta": "textScore"}});
    assert_eq!(
        sort.to_document().unwrap(),
        doc! {"score": {"$meta": "textScore"}}
    );
    let twice = a.desc().then(a.asc()).to_document().unwrap_err();
    assert_eq!(twice.path(), Some("a"));
    assert!(b.all_elements().score.asc().to_document().is_err());
}

/// A serializer of its own: numbers as text.
struct AsText;

impl Encode<i32> for AsText {
    type Stored = i32;

    fn encode(value: &i32) -> Result<Bson> {
        Ok(Bson::String(value.to_string()))
    }
}

impl Encode<Vec<i32>> for AsText {
    type Stored = Vec<i32>;

    fn encode(value: &Vec<i32>) -> Result<Bson> {
        let texts = value.iter().map(|each| Bson::String(format!("#{each}")));
        Ok(Bson::Array(texts.collect()))
    }
}

/// One that writes no array.
struct Joined;

impl Encode<Vec<i32>> for Joined {
    type Stored = Vec<i32>;

    fn encode(value: &Vec<i32>) -> Result<Bson> {
        Ok(Bson::String(format!("{value:?}")))
    }
}

#[test]
fn a_field_with_its_own_serializer_is_filtered_by_it() {
    let n: Field<M, i32, With<AsText>> = Field::at_path(Path::root().child("n"));
    same(&n.eq(7), doc! {"n": "7"});
    same(&n.in_([7, 8]), doc! {"n": {"$in": ["7", "8"]}});
    let v: Field<M, Vec<i32>, With<AsText>> = Field::at_path(Path::root().child("v"));
    same(&v.eq([7]), doc! {"v": ["#7"]});
    same(&v.has(7), doc! {"v": "#7"});
    same(&v.all([7, 8]), doc! {"v": {"$all": ["#7", "#8"]}});
    same(&v.any().gt(7), doc! {"v": {"$gt": "#7"}});
    same(&v.at(0).eq(7), doc! {"v.0": "#7"});
    same(
        &v.elem_match(|e| e.gt(7) & e.lt(9)),
        doc! {"v": {"$elemMatch": {"$gt": "#7", "$lt": "#9"}}},
    );
    let j: Field<M, Vec<i32>, With<Joined>> = Field::at_path(Path::root().child("j"));
    same(&j.eq([7]), doc! {"j": "[7]"});
    refused(&j.has(7), "j", "array of one element");
}

#[derive(Debug, Clone, Serialize)]
struct Sample {
    int: i32,
    unsigned: u32,
    double: f64,
    text: String,
    maybe: Option<i64>,
    list: Vec<Option<String>>,
    map: BTreeMap<String, i16>,
    date: DateTime,
}

proptest! {
    #[test]
    fn filter_values_are_the_stored_bytes(
        int: i32, unsigned: u32, double: f64, text: String, maybe: Option<i64>,
        list: Vec<Option<String>>, map: BTreeMap<String, i16>, millis: i64,
    ) {
        let map = map.into_iter().map(|(key, value)| (key.replace('\0', ""), value)).collect();
        let date = DateTime::from_millis(millis);
        let sample = Sample { int, unsigned, double, text, maybe, list, map, date };
        let Sample { int, unsigned, double, text, maybe, list, map, date } = sample.clone();
        let stored = bson::serialize_to_raw_document_buf(&sample).unwrap();
        let filters = [
            f::<i32>("int").eq(int),
            f::<u32>("unsigned").eq(unsigned),
            f::<f64>("double").eq(double),
            f::<String>("text").eq(text),
            f::<Option<i64>>("maybe").eq(maybe),
            f::<Vec<Option<String>>>("list").eq(list),
            f::<BTreeMap<String, i16>>("map").eq(map),
            f::<DateTime>("date").eq(date),
        ];
        let mut built = Document::new();
        for filter in filters {
            for (path, value) in filter.to_document().unwrap() {
                let value = match &value {
                    Bson::Document(inner) => inner.get("$eq").cloned().unwrap_or(value),
                    _ => value,
                };
                built.insert(path, value);
            }
        }
        let sent = bson::serialize_to_raw_document_buf(&built).unwrap();
        prop_assert_eq!(sent.as_bytes(), stored.as_bytes());
    }
}

#[test]
fn builders_and_handles_cross_threads() {
    fn assert<T: Send + Sync + 'static>() {}
    assert::<Filter<M>>();
    assert::<Sort<M>>();
    assert::<crate::update::Update<M>>();
    assert::<Field<M, std::rc::Rc<str>>>();
    assert::<Id<std::rc::Rc<str>>>();
}

#[test]
fn one_value_needs_no_list() {
    let any = |values: Vec<Bson>| operators::any_of("_id", values);
    assert_eq!(any(vec![1.into()]), doc! {"_id": 1});
    assert_eq!(any(vec![1.into(), 2.into()]), doc! {"_id": {"$in": [1, 2]}});
    assert_eq!(any(Vec::new()), doc! {"_id": {"$in": []}});
    let operator = doc! {"$gt": ""};
    assert_eq!(
        any(vec![operator.clone().into()]),
        doc! {"_id": {"$eq": operator}}
    );
    assert_eq!(any(vec![doc! {"a": 1}.into()]), doc! {"_id": {"a": 1}});
}
