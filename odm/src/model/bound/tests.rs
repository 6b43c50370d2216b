use std::collections::HashMap;

use bson::{Bson, bson};
use serde::{Deserialize, Serialize};

use super::*;
use crate::Embedded;

#[derive(Serialize, Deserialize, Embedded)]
struct Order {
    #[odm(embed(few, max = 50))]
    lines: Vec<Line>,
    #[serde(flatten)]
    extra: Extra,
    #[odm(items(max = 4))]
    tags: Option<Vec<String>>,
    #[odm(items(max = 3))]
    stocks: Vec<HashMap<String, i32>>,
    free: Vec<i32>,
    #[odm(embed(few, max = 2))]
    by_town: HashMap<String, Line>,
    event: Event,
    tagged: Tagged,
}

#[derive(Serialize, Deserialize, Embedded)]
struct Line {
    #[odm(embed(few, max = 10))]
    notes: Vec<Note>,
}

#[derive(Serialize, Deserialize, Embedded)]
struct Note {
    text: String,
}

#[derive(Serialize, Deserialize, Embedded)]
struct Extra {
    #[serde(rename = "Marks")]
    #[odm(items(max = 7))]
    marks: Vec<i32>,
}

#[derive(Serialize, Deserialize, Embedded)]
enum Event {
    Sold {
        #[odm(items(max = 6))]
        parts: Vec<i32>,
    },
    Lost(Line),
}

#[derive(Serialize, Deserialize, Embedded)]
#[serde(tag = "type")]
enum Tagged {
    Small {
        #[odm(items(max = 1))]
        parts: Vec<i32>,
    },
    Large {
        #[odm(items(max = 9))]
        parts: Vec<i32>,
    },
}

fn max(path: &str) -> Option<u32> {
    at(Order::meta(), path).map(|bound| bound.max)
}

#[test]
fn bounds_are_found_by_stored_paths() {
    for (path, expected) in [
        ("lines", Some(50)),
        ("lines.0.notes", Some(10)),
        ("lines.$.notes", Some(10)),
        ("lines.$[].notes", Some(10)),
        ("lines.$[l].notes", Some(10)),
        ("Marks", Some(7)),
        ("marks", None),
        ("tags", Some(4)),
        ("free", None),
        ("by_town", None),
        ("by_town.Graz.notes", Some(10)),
        ("event.Sold.parts", Some(6)),
        ("event.Lost.notes", Some(10)),
        ("tagged.parts", Some(9)),
        ("nothing", None),
        ("", None),
        ("lines.notes", None),
    ] {
        assert_eq!(max(path), expected, "{path}");
    }
    let names = |path| at(Order::meta(), path).map(|bound| bound.numbers_are_names);
    assert_eq!(names("lines"), Some(false));
    assert_eq!(names("stocks"), Some(true));
}

#[test]
fn positions_behind_a_bound_are_found() {
    let beyond = |path| position_beyond(Order::meta(), path).map(|it| (it.path, it.count));
    assert_eq!(beyond("lines.49.notes"), None);
    assert_eq!(beyond("lines.50.notes"), Some(("lines".to_owned(), 51)));
    let inner = ("lines.3.notes".to_owned(), 11);
    assert_eq!(beyond("lines.3.notes.10.text"), Some(inner));
    assert_eq!(beyond("free.99"), None);
    assert_eq!(beyond("by_town.99"), None);
}

#[test]
fn values_with_too_many_elements_are_found() {
    let found = |path, value: Bson| {
        excess(Order::meta(), path, &value).map(|it| (it.path, it.max, it.count))
    };
    let many = |count: usize| Bson::from(vec![Bson::Int32(1); count]);
    let over = |path: &str, max, count| Some((path.to_owned(), max, count));
    assert_eq!(found("Marks", many(7)), None);
    assert_eq!(found("Marks", many(8)), over("Marks", 7, 8));
    let line = bson!({"notes": many(11)});
    assert_eq!(
        found("lines", bson!([{"notes": []}, line.clone()])),
        over("lines.1.notes", 10, 11)
    );
    assert_eq!(
        found("by_town", bson!({"Graz": line.clone()})),
        over("by_town.Graz.notes", 10, 11)
    );
    assert_eq!(
        found("by_town", bson!({"a": {}, "b": {}, "c": {}})),
        over("by_town", 2, 3)
    );
    assert_eq!(
        found("event", bson!({"Sold": {"parts": many(7)}})),
        over("event.Sold.parts", 6, 7)
    );
    assert_eq!(
        found("event", bson!({"Lost": line.clone()})),
        over("event.Lost.notes", 10, 11)
    );
    assert_eq!(
        found("tagged", bson!({"type": "Small", "parts": many(2)})),
        over("tagged.parts", 1, 2)
    );
    assert_eq!(
        found("tagged", bson!({"type": "Large", "parts": many(2)})),
        None
    );
    let added = element_excess(Order::meta(), "lines", &line).map(|it| it.path);
    assert_eq!(added.as_deref(), Some("lines.notes"));
}
