//! Relations of derived models.

use serde::{Deserialize, Serialize};

use super::*;
use crate::model::{KeyKind, KeyMeta};
use crate::types::{Id, Ref};
use crate::{Document, Embedded};

#[derive(Serialize, Deserialize, Document)]
#[odm(crate = crate, collection = "people")]
struct Person {
    #[serde(rename = "_id")]
    id: Id<Person>,
    manager: Option<Ref<Person>>,
    #[odm(references(many, max = 1_000))]
    tasks: Vec<Ref<Task>>,
}

type Owner = Ref<Person>;

#[derive(Serialize, Deserialize, Document)]
#[odm(crate = crate, collection = "tasks", index(owner, due = desc))]
struct Task {
    #[serde(rename = "_id")]
    id: i32,
    #[serde(rename = "o")]
    owner: Owner,
    due: i64,
    #[serde(rename = "w")]
    #[odm(embed(few, max = 20))]
    watchers: Vec<Watcher>,
    link: Link,
    #[serde(flatten)]
    origin: Origin,
    pair: [Ref<Person>; 2],
}

#[derive(Serialize, Deserialize, Embedded)]
#[odm(crate = crate)]
struct Watcher {
    #[serde(rename = "p")]
    person: Ref<Person>,
    #[odm(references(many, max = 3))]
    stands_in: Vec<Ref<Person>>,
}

#[derive(Serialize, Deserialize, Embedded)]
#[odm(crate = crate)]
enum Link {
    Nothing,
    Blocks(Ref<Task>),
    Quotes { task: Ref<Task> },
}

#[derive(Serialize, Deserialize, Embedded)]
#[odm(crate = crate)]
struct Origin {
    reporter: Option<Ref<Person>>,
}

fn references(model: &'static ModelMeta) -> impl Iterator<Item = &'static ReferenceMeta> {
    let relations = model.relations().iter();
    relations.filter_map(RelationMeta::as_reference)
}

fn listed(model: &'static ModelMeta) -> Vec<(String, String, &'static str, Arity)> {
    references(model)
        .map(|one| {
            (
                one.name.clone(),
                one.path.to_string(),
                one.target.name,
                one.arity,
            )
        })
        .collect()
}

fn row(
    name: &str,
    path: &str,
    target: &'static str,
    arity: Arity,
) -> (String, String, &'static str, Arity) {
    (name.to_owned(), path.to_owned(), target, arity)
}

#[test]
fn relations_are_listed_with_paths_targets_and_arities() {
    let many = |max| Arity::Many { max: Some(max) };
    assert_eq!(
        listed(Person::model()),
        [
            row("manager", "manager", "Person", Arity::AtMostOne),
            row("tasks", "tasks", "Task", many(1_000)),
        ]
    );
    assert_eq!(
        listed(Task::model()),
        [
            row("owner", "o", "Person", Arity::One),
            row("watchers.person", "w.p", "Person", many(20)),
            row("watchers.stands_in", "w.stands_in", "Person", many(60)),
            row("link.Blocks", "link.Blocks", "Task", Arity::AtMostOne),
            row(
                "link.Quotes.task",
                "link.Quotes.task",
                "Task",
                Arity::AtMostOne
            ),
            row("origin.reporter", "reporter", "Person", Arity::AtMostOne),
            row("pair", "pair", "Person", many(2)),
        ]
    );
}

#[test]
fn relations_are_resolved_once() {
    let once = Task::model().relations();
    assert!(std::ptr::eq(once, Task::model().relations()));
    assert!(!std::ptr::eq(once, Person::model().relations()));
}

const A: KeyMeta = KeyMeta {
    path: &["a"],
    kind: KeyKind::Hashed,
};
const B: KeyMeta = KeyMeta {
    path: &["b"],
    kind: KeyKind::Ascending,
};
const TEXT: KeyMeta = KeyMeta {
    path: &["a"],
    kind: KeyKind::Text { weight: 1 },
};

#[test]
fn the_index_of_a_relation_starts_with_its_field() {
    let indexed: Vec<_> = references(Task::model())
        .filter(|one| one.index.is_some())
        .map(|one| one.name.as_str())
        .collect();
    assert_eq!(indexed, ["owner"]);
    let index = |keys, change: fn(&mut IndexMeta)| {
        let mut index = crate::support::index(keys);
        change(&mut index);
        let indexes: &'static [IndexMeta] = Box::leak(Box::new([index]));
        let model: &'static ModelMeta = Box::leak(Box::new(ModelMeta {
            indexes,
            ..*crate::support::NO_MODEL
        }));
        model.index_for(&["a"]).is_some()
    };
    assert!(index(&[A, B], |_| {}));
    assert!(index(&[A], |index| index.unique = true));
    assert!(!index(&[B, A], |_| {}));
    assert!(!index(&[TEXT], |_| {}));
    assert!(!index(&[A], |index| index.sparse = true));
    assert!(!index(&[A], |index| index.hidden = true));
    assert!(!index(&[A], |index| index.partial =
        Some(|| Ok(bson::Document::new()))));
}

#[test]
fn structs_that_contain_themselves_are_entered_once() {
    #[derive(Serialize, Deserialize, Embedded)]
    #[odm(crate = crate)]
    struct Comment {
        author: Ref<Person>,
        #[odm(embed(few, max = 10))]
        replies: Vec<Comment>,
    }

    #[derive(Serialize, Deserialize, Document)]
    #[odm(crate = crate, collection = "posts")]
    struct Post {
        #[serde(rename = "_id")]
        id: i32,
        #[odm(embed(few, max = 10))]
        comments: Vec<Comment>,
    }

    assert_eq!(
        listed(Post::model()),
        [row(
            "comments.author",
            "comments.author",
            "Person",
            Arity::Many { max: Some(10) }
        )]
    );
}
