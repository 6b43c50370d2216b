use bson::{Document, doc};
use serde::{Deserialize, Serialize};

use super::super::Update;
use super::*;
use crate::Embedded;
use crate::query::fields;

#[derive(Serialize, Deserialize, Embedded)]
struct Order {
    #[odm(items(max = 4))]
    tags: Vec<String>,
    #[odm(embed(few, max = 5))]
    lines: Vec<Line>,
    #[odm(items(max = 2))]
    anything: Vec<Bson>,
}

#[derive(Clone, Default, Serialize, Deserialize, Embedded)]
struct Line {
    sku: String,
    price: i32,
    #[odm(embed(few, max = 3))]
    notes: Vec<Note>,
    #[odm(items(max = 3))]
    marks: Vec<Bson>,
    #[odm(items(max = 3))]
    sizes: Vec<i32>,
}

#[derive(Clone, Default, Serialize, Deserialize, Embedded)]
struct Note {
    by: String,
    text: String,
}

fn order() -> <Order as Embedded>::Fields<Order> {
    fields::<Order>()
}

fn guards(update: Update<Order>) -> Result<Vec<Document>, Deferred> {
    let guards = update.into_changes()?.named()?.guards(Order::meta())?;
    guards
        .iter()
        .map(|guard| guard.allowed()?.into_document())
        .collect()
}

#[track_caller]
fn guarded(update: Update<Order>, expected: Document) {
    assert_eq!(guards(update).unwrap(), [expected]);
}

#[track_caller]
fn refused(update: Update<Order>, path: &str, word: &str) {
    let error = guards(update).unwrap_err().to_error();
    assert!(error.is_usage());
    assert_eq!(error.path(), Some(path), "{error}");
    assert!(error.to_string().contains(word), "{error}");
}

#[test]
fn a_push_is_guarded_by_the_position_that_must_be_free() {
    let o = order();
    guarded(o.tags.push("a"), doc! {"tags.3": {"$exists": false}});
    guarded(
        o.tags.push_each(["a", "b"]) & o.tags.push("c"),
        doc! {"tags.1": {"$exists": false}},
    );
    guarded(
        o.tags.push_with(["a"], |push| {
            push.position(0).sort(|tag| tag.asc()).slice(-5)
        }),
        doc! {"tags.3": {"$exists": false}},
    );
    let short = o.tags.push_with(["a"; 6], |push| push.slice(-4));
    assert_eq!(guards(short).unwrap(), []);
    assert_eq!(guards(o.tags.push_each([""; 0])).unwrap(), []);
    refused(
        o.tags.push_each(["a"; 5]),
        "tags",
        "5 values are added to a list of at most 4",
    );
    refused(
        o.tags.push_with(["a"; 5], |push| push.slice(9)),
        "tags",
        "at most 4",
    );
}

#[test]
fn an_added_value_that_is_there_needs_no_room() {
    let o = order();
    guarded(
        o.tags.add_to_set_each(["a", "b", "a"]),
        doc! {"$nor": [{"tags.2": {"$exists": true}, "tags": {"$not": {"$all": ["a", "b"]}}}]},
    );
    let note = Note::default();
    guarded(
        o.lines.at(2).notes.add_to_set(&note),
        doc! {"$nor": [{
            "lines.2.notes.2": {"$exists": true},
            "lines.2.notes": {"$not": {"$all": [{"by": "", "text": ""}]}},
        }]},
    );
}

#[test]
fn guards_of_nested_lists_look_at_the_elements_that_change() {
    let o = order();
    let note = Note::default();
    guarded(
        o.lines.all_elements().notes.push(&note),
        doc! {"lines.notes.2": {"$exists": false}},
    );
    guarded(
        o.lines.filtered("l").notes.push(&note)
            & o.lines.array_filter("l", |l| l.sku.eq("x") & l.price.gt(3)),
        doc! {"lines": {"$not": {"$elemMatch": {
            "sku": "x", "price": {"$gt": 3}, "notes.2": {"$exists": true},
        }}}},
    );
    guarded(
        o.lines
            .update_where(|l| l.sku.eq("x") | l.price.gt(3), |l| l.sizes.add_to_set(1)),
        doc! {"lines": {"$not": {"$elemMatch": {
            "$or": [{"sku": "x"}, {"price": {"$gt": 3}}],
            "sizes.2": {"$exists": true},
            "sizes": {"$not": {"$all": [1]}},
        }}}},
    );
    guarded(
        o.lines
            .update_where(|_| crate::query::Filter::all(), |l| l.sizes.push(1)),
        doc! {"lines": {"$not": {"$elemMatch": {"sizes.2": {"$exists": true}}}}},
    );
    guarded(
        o.lines.update_where(
            |l| l.sku.eq("x"),
            |l| l.notes.update_where(|n| n.by.eq("me"), |n| n.text.set("")),
        ) & o.tags.push("a"),
        doc! {"tags.3": {"$exists": false}},
    );
    refused(
        o.lines.positional().notes.push(&note),
        "lines.$.notes",
        "update_where",
    );
    assert_eq!(guards(o.lines.positional().price.inc(1)).unwrap(), []);
}

#[test]
fn a_new_element_is_guarded_by_its_key() {
    let o = order();
    let note = Note {
        by: "me".to_owned(),
        text: String::new(),
    };
    let update = o
        .lines
        .update_where(|l| l.sku.eq("x"), |l| l.notes.push_new(|n| n.by, &note));
    let filters = guards(update).unwrap();
    assert_eq!(
        filters,
        [
            doc! {"lines": {"$not": {"$elemMatch": {
                "sku": "x", "notes": {"$elemMatch": {"by": "me"}},
            }}}},
            doc! {"lines": {"$not": {"$elemMatch": {
                "sku": "x", "notes.2": {"$exists": true},
            }}}},
        ]
    );
    let filters = guards(o.tags.push_new(|tag| tag, "a")).unwrap();
    assert_eq!(
        filters,
        [
            doc! {"tags": {"$not": {"$elemMatch": {"$eq": "a"}}}},
            doc! {"tags.3": {"$exists": false}},
        ]
    );
}

#[test]
fn values_beyond_a_bound_are_refused() {
    let o = order();
    let line = Line {
        notes: vec![Note::default(); 4],
        ..Line::default()
    };
    refused(o.tags.set(vec![String::new(); 5]), "tags", "5 elements");
    refused(o.lines.at(1).set(&line), "lines.1.notes", "at most 3");
    refused(o.lines.push(&line), "lines.notes", "at most 3");
    refused(o.lines.set([line]), "lines.0.notes", "at most 3");
    refused(o.tags.at(4).set("a"), "tags", "position 4");
    assert_eq!(guards(o.tags.at(3).set("a")).unwrap(), []);
    assert_eq!(guards(o.tags.set(vec![String::new(); 4])).unwrap(), []);
}

#[test]
fn lists_whose_elements_may_have_numbers_as_names_are_left_to_the_validator() {
    assert_eq!(guards(order().anything.push(Bson::Int32(1))).unwrap(), []);
    refused(
        order().anything.push_each([1, 2, 3].map(Bson::Int32)),
        "anything",
        "at most 2",
    );
}
