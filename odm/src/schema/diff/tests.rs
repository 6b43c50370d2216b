use bson::{Document, doc};

use super::{Existing, Target};
use crate::model::field::EmbeddedMeta;
use crate::model::{Capped, IndexMeta, KeyKind, ModelMeta};
use crate::plan::{self, Action, Allow, Step};
use crate::schema::testing::{DATE, INT, STRING, field, key, model, object};
use crate::store::{CollectionName, CollectionNames};
use crate::support::index;

fn embedded() -> &'static EmbeddedMeta {
    const META: &EmbeddedMeta = &object(
        "M",
        &[
            field("_id", INT, &[]),
            field("title", STRING, &[]),
            field("time", DATE, &[]),
        ],
    );
    META
}

const TITLE: IndexMeta = IndexMeta {
    unique: true,
    ..index(&[key(&["title"], KeyKind::Ascending)])
};
const TIME: IndexMeta = IndexMeta {
    expire_after_seconds: Some(60),
    ..index(&[key(&["time"], KeyKind::Descending)])
};
static MODEL: ModelMeta = ModelMeta {
    indexes: &[TITLE, TIME],
    ..model(embedded)
};

fn steps(meta: &'static ModelMeta, existing: Option<&Existing>) -> Vec<Step> {
    Target::new(
        meta,
        CollectionName::Declared(meta.collection),
        &CollectionNames::default(),
    )
    .unwrap()
    .steps(existing)
}

/// What the server lists after the plan for `meta` was applied.
fn in_line(meta: &'static ModelMeta) -> Existing {
    let created = steps(meta, None);
    let mut options = created[0].commands[0].clone();
    options.remove("create");
    let mut indexes = vec![doc! {"v": 2, "key": {"_id": 1}, "name": "_id_"}];
    for step in &created[1..] {
        let specs = step.commands[0].get_array("indexes").unwrap();
        indexes.extend(specs.iter().map(|spec| spec.as_document().unwrap().clone()));
    }
    Existing {
        kind: "collection".to_owned(),
        options,
        indexes,
    }
}

fn actions(steps: &[Step]) -> Vec<(Action, Vec<&str>)> {
    steps
        .iter()
        .map(|step| {
            let reasons = step.reasons.iter().map(String::as_str).collect();
            (step.action.clone(), reasons)
        })
        .collect()
}

#[test]
fn images_are_kept_as_declared_and_changed_in_place() {
    static KEEPS: ModelMeta = ModelMeta {
        change_stream_images: true,
        ..model(embedded)
    };
    static KEEPS_NONE: ModelMeta = model(embedded);
    let is_enabled = |command: &Document| {
        let images = command.get_document("changeStreamPreAndPostImages").ok();
        images.and_then(|images| images.get_bool("enabled").ok())
    };
    assert_eq!(is_enabled(&steps(&KEEPS, None)[0].commands[0]), Some(true));
    assert_eq!(is_enabled(&steps(&KEEPS_NONE, None)[0].commands[0]), None);
    for (one, other, enabled, reason) in [
        (
            &KEEPS_NONE,
            &KEEPS,
            true,
            "it keeps no images for change streams, declared with",
        ),
        (
            &KEEPS,
            &KEEPS_NONE,
            false,
            "it keeps images for change streams, declared without",
        ),
    ] {
        let changed = steps(other, Some(&in_line(one)));
        assert_eq!(
            actions(&changed),
            [(Action::ChangeCollection, vec![reason])]
        );
        assert_eq!(is_enabled(&changed[0].commands[0]), Some(enabled));
        assert_eq!(changed[0].requires(), Some(Allow::CHANGE));
        assert!(steps(other, Some(&in_line(other))).is_empty());
    }
    // A server lists what was turned off.
    let mut off = in_line(&KEEPS_NONE);
    off.options
        .insert("changeStreamPreAndPostImages", doc! {"enabled": false});
    assert!(steps(&KEEPS_NONE, Some(&off)).is_empty());
}

#[test]
fn a_new_collection_is_created_with_its_indexes() {
    let steps = steps(&MODEL, None);
    let commands: Vec<Document> = steps
        .iter()
        .flat_map(|step| step.commands.clone())
        .collect();
    assert_eq!(
        commands,
        [
            doc! {
                "create": "m",
                "validator": super::validator(&MODEL).unwrap(),
                "validationLevel": "strict",
                "validationAction": "error",
            },
            doc! {"createIndexes": "m", "indexes": [
                {"key": {"title": 1}, "name": "title_1", "unique": true},
                {"key": {"time": -1}, "name": "time_-1", "expireAfterSeconds": 60},
            ]},
        ]
    );
    assert!(steps.iter().all(|step| step.is_allowed(Allow::CREATE)));
    assert!(!steps[0].is_allowed(Allow::CHANGE | Allow::DROP));
}

#[test]
fn a_collection_in_line_needs_nothing() {
    assert_eq!(steps(&MODEL, Some(&in_line(&MODEL))), []);
    // A generated name is not a declaration.
    let mut renamed = in_line(&MODEL);
    renamed.indexes[1].insert("name", "by_title");
    assert_eq!(steps(&MODEL, Some(&renamed)), []);
}

#[test]
fn differences_of_indexes() {
    let mut there = in_line(&MODEL);
    there.indexes[1].remove("unique");
    there.indexes[2].insert("expireAfterSeconds", 61_i64);
    there.indexes[2].insert("hidden", true);
    there
        .indexes
        .push(doc! {"v": 2, "key": {"a": 1}, "name": "a_1"});
    let steps = steps(&MODEL, Some(&there));
    assert_eq!(
        actions(&steps),
        [
            (
                Action::ChangeIndex {
                    name: "title_1".into()
                },
                vec!["unique is false, declared true"]
            ),
            (
                Action::ChangeIndex {
                    name: "time_-1".into()
                },
                vec![
                    "hidden is true, declared false",
                    "expireAfterSeconds is 61, declared 60"
                ]
            ),
            (
                Action::DropIndex { name: "a_1".into() },
                vec!["{a: 1} is not declared"]
            ),
        ]
    );
    assert_eq!(
        steps[0].commands,
        [
            doc! {"collMod": "m", "index": {"name": "title_1", "prepareUnique": true}},
            doc! {"collMod": "m", "index": {"name": "title_1", "unique": true}},
        ]
    );
    assert_eq!(
        steps[0].undo,
        [doc! {"collMod": "m", "index": {"name": "title_1", "prepareUnique": false}}]
    );
    assert_eq!(
        steps[1].commands,
        [
            doc! {"collMod": "m", "index": {"name": "time_-1", "hidden": false, "expireAfterSeconds": 60}}
        ]
    );
    assert_eq!(steps[0].requires(), Some(Allow::CHANGE));
    assert_eq!(
        steps[2].commands,
        [doc! {"dropIndexes": "m", "index": "a_1"}]
    );
    assert_eq!(steps[2].requires(), Some(Allow::DROP));
}

#[test]
fn names_are_matched_before_keys() {
    static NAMED: ModelMeta = ModelMeta {
        indexes: &[IndexMeta {
            name: Some("new"),
            ..TITLE
        }],
        ..model(embedded)
    };
    let mut there = in_line(&NAMED);
    there.indexes[1].insert("name", "old");
    assert_eq!(
        actions(&steps(&NAMED, Some(&there))),
        [(
            Action::RebuildIndexes {
                names: vec!["old".into()]
            },
            vec!["name is old, declared new"]
        )]
    );
    there
        .indexes
        .push(doc! {"v": 2, "key": {"time": 1}, "name": "new"});
    let steps_now = steps(&NAMED, Some(&there));
    assert_eq!(
        actions(&steps_now),
        [(
            Action::RebuildIndexes {
                names: vec!["new".into(), "old".into()]
            },
            vec![
                "new: key is {time: 1}, declared {title: 1}",
                "new: unique is false, declared true",
                "old {title: 1} is not declared, and in the way",
            ]
        )]
    );
    let [step] = steps_now.as_slice() else {
        panic!("{steps_now:?}");
    };
    assert_eq!(
        step.commands,
        [
            doc! {"dropIndexes": "m", "index": ["new", "old"]},
            doc! {"createIndexes": "m", "indexes": [
                {"key": {"title": 1}, "name": "new", "unique": true},
            ]},
        ]
    );
    assert_eq!(
        step.undo,
        [doc! {"createIndexes": "m", "indexes": [
            {"v": 2, "key": {"time": 1}, "name": "new"},
            {"key": {"title": 1}, "name": "old", "unique": true},
        ]}]
    );
}

#[test]
fn a_generated_name_is_not_rebuilt_while_another_index_does_what_is_declared() {
    let mut there = in_line(&MODEL);
    there.indexes[1].insert("name", "mine");
    there
        .indexes
        .push(doc! {"v": 2, "key": {"time": 1}, "name": "title_1"});
    assert_eq!(
        actions(&steps(&MODEL, Some(&there))),
        [(
            Action::DropIndex {
                name: "title_1".into()
            },
            vec!["{time: 1} is not declared"]
        )]
    );
}

#[test]
fn room_is_made_before_more_indexes_than_fit() {
    let mut there = in_line(&MODEL);
    there.indexes.pop();
    let others = (0..62).map(|n| doc! {"v": 2, "key": {format!("a{n}"): 1}, "name": n.to_string()});
    there.indexes.extend(others);
    let steps = steps(&MODEL, Some(&there));
    assert_eq!(steps.len(), 63);
    assert_eq!(
        steps[62].action,
        Action::CreateIndexes {
            names: vec!["time_-1".into()]
        }
    );
}

#[test]
fn differences_of_options() {
    static CAPPED: ModelMeta = ModelMeta {
        capped: Some(Capped {
            size: 1000,
            max: None,
        }),
        ..model(embedded)
    };
    let mut there = in_line(&CAPPED);
    there.options.insert("validator", doc! {"a": 1});
    there.options.insert("validationLevel", "moderate");
    there.options.insert("size", 512);
    there.options.insert("collation", doc! {"locale": "en"});
    let steps_now = steps(&CAPPED, Some(&there));
    assert_eq!(
        steps_now[0].commands,
        [doc! {
            "collMod": "m",
            "validator": super::validator(&CAPPED).unwrap(),
            "validationLevel": "strict",
        }]
    );
    assert_eq!(
        steps_now[0].reasons,
        [
            "the validator differs: a is 1, no longer declared",
            "the validator differs: there is no $jsonSchema",
            "validationLevel is moderate, declared strict"
        ]
    );
    assert_eq!(
        steps_now[1].commands,
        [doc! {"collMod": "m", "cappedSize": 1024}]
    );
    assert_eq!(steps_now[1].requires(), Some(Allow::CHANGE));
    assert_eq!(steps_now[2].requires(), None);
    assert!(steps_now[2].reasons[0].starts_with("collation is {locale: \"en\""));
    there = in_line(&CAPPED);
    there.options.insert("max", 5);
    there.options.insert("size", 4096);
    let shrink = steps(&CAPPED, Some(&there));
    assert_eq!(shrink[0].requires(), Some(Allow::CHANGE | Allow::DROP));
    assert_eq!(
        shrink[0].commands,
        [doc! {"collMod": "m", "cappedSize": 1024, "cappedMax": 0}]
    );
    there.options.remove("capped");
    assert_eq!(steps(&CAPPED, Some(&there))[0].action, Action::ByHand);
}

#[test]
fn a_view_is_in_the_way() {
    let view = Existing {
        kind: "view".to_owned(),
        options: doc! {"viewOn": "x", "pipeline": []},
        indexes: Vec::new(),
    };
    let steps = steps(&MODEL, Some(&view));
    assert_eq!(steps[0].action, Action::ByHand);
    assert_eq!(steps.len(), 1);
}

#[test]
fn plans_are_read_from_top_to_bottom() {
    struct Printed(Vec<Step>);
    impl std::fmt::Display for Printed {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            plan::print_steps(&self.0, f)
        }
    }
    assert_eq!(
        Printed(steps(&MODEL, None)).to_string(),
        "  m (M)
    + create the collection
        validationLevel: \"strict\"
        validationAction: \"error\"
    + create 2 indexes
        title_1 {title: 1}, unique: true
        time_-1 {time: -1}, expireAfterSeconds: 60
"
    );
    let mut there = in_line(&MODEL);
    there.indexes[1].remove("unique");
    there.indexes[1].insert("sparse", true);
    there.indexes[2].insert("hidden", true);
    assert_eq!(
        Printed(steps(&MODEL, Some(&there))).to_string(),
        "  m (M)
    ~ change index time_-1 in place (needs Allow::CHANGE)
        hidden is true, declared false
    - drop index title_1 and build it anew (needs Allow::DROP)
        unique is false, declared true
        sparse is true, declared false
"
    );
}
