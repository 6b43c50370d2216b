//! Models with each policy of `on_delete`, in each place where a reference may stand.

use odm::bson::DateTime;
use odm::prelude::*;
use odm::tree::prelude::*;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(
    collection = "employees",
    has_many(reports: Employee, by = manager, on_delete = cascade)
)]
pub(super) struct Employee {
    #[serde(rename = "_id")]
    pub(super) id: i32,
    #[odm(index)]
    pub(super) manager: Option<Ref<Employee>>,
}

/// References to people in each form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(
    collection = "people",
    has_many(works: Work, by = author, on_delete = cascade),
    has_many(by_code: Work, by = by_code, key = code, on_delete = cascade),
    has_many(edited: Work, by = editor, on_delete = set_null, allow_scan = "a test"),
    has_many(read: Work, by = reader, on_delete = set_null, allow_scan = "a test"),
    has_many(bought: Order, by = buyer, on_delete = restrict),
    has_many(lines: Order, by = lines.person, on_delete = pull, allow_scan = "a test"),
    has_many(notes: Order, by = lines.notes.by, on_delete = pull, allow_scan = "a test"),
    has_many(read_by: Order, by = lines.notes.readers, on_delete = pull, allow_scan = "a test"),
    has_many(checked: Order, by = lines.checked, on_delete = set_null, allow_scan = "a test"),
    has_many(watched: Order, by = watchers, on_delete = pull, allow_scan = "a test"),
    has_many(paid: Order, by = payment.card.holder, on_delete = set_null, allow_scan = "a test"),
    has_many(tags: Tag, by = owner, on_delete = leave, allow_scan = "a test")
)]
pub(super) struct Person {
    #[serde(rename = "_id")]
    pub(super) id: i32,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    #[odm(unique(sparse))]
    pub(super) code: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "works")]
pub(super) struct Work {
    #[serde(rename = "_id")]
    pub(super) id: i32,
    #[odm(index)]
    pub(super) author: Option<Ref<Person>>,
    #[odm(refers_to(Person, by = code), index)]
    pub(super) by_code: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(super) editor: Option<Ref<Person>>,
    pub(super) reader: Option<Ref<Person>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "orders")]
pub(super) struct Order {
    #[serde(rename = "_id")]
    pub(super) id: i32,
    #[odm(index)]
    pub(super) buyer: Option<Ref<Person>>,
    #[odm(embed(few, max = 50))]
    pub(super) lines: Vec<Line>,
    #[serde(default)]
    #[odm(references(many, max = 50))]
    pub(super) watchers: Vec<Ref<Person>>,
    pub(super) payment: Option<Payment>,
    #[serde(default)]
    #[odm(version)]
    pub(super) version: i64,
    #[odm(updated_at)]
    pub(super) updated: Option<DateTime>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub(super) struct Line {
    pub(super) person: Option<Ref<Person>>,
    #[serde(rename = "ch")]
    pub(super) checked: Option<Ref<Person>>,
    #[serde(default)]
    #[odm(embed(few, max = 50))]
    pub(super) notes: Vec<Note>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub(super) struct Note {
    pub(super) by: Option<Ref<Person>>,
    #[serde(default)]
    #[odm(references(many, max = 50))]
    pub(super) readers: Vec<Ref<Person>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub(super) enum Payment {
    Cash,
    Card { holder: Option<Ref<Person>> },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(
    collection = "tags",
    has_many(words: Word, by = tag, on_delete = leave, allow_scan = "a test")
)]
pub(super) struct Tag {
    #[serde(rename = "_id")]
    pub(super) id: String,
    pub(super) owner: Option<Ref<Person>>,
}

/// What stands on a shelf keeps it; what is within goes with it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(
    collection = "shelves",
    has_many(words: Word, by = shelf, on_delete = restrict, allow_scan = "a test"),
    has_many(within: Word, by = within, on_delete = cascade, allow_scan = "a test")
)]
pub(super) struct Shelf {
    #[serde(rename = "_id")]
    pub(super) id: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "words", collation(locale = "en", strength = 2))]
pub(super) struct Word {
    #[serde(rename = "_id")]
    pub(super) id: i32,
    pub(super) tag: Ref<Tag>,
    pub(super) shelf: Ref<Shelf>,
    pub(super) within: Ref<Shelf>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "gardens", has_many(nodes: Node, by = garden, on_delete = cascade))]
pub(super) struct Garden {
    #[serde(rename = "_id")]
    pub(super) id: i32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "nodes", tree(parent_references, parent = parent))]
pub(super) struct Node {
    #[serde(rename = "_id")]
    pub(super) id: i32,
    parent: Parent<Node>,
    #[odm(index)]
    garden: Ref<Garden>,
}
