//! The step that shards a collection, whatever the cluster has.

use bson::{Document, doc};

use super::super::{Existing, Target};
use crate::model::field::EmbeddedMeta;
use crate::model::{KeyKind, ModelMeta};
use crate::plan::{Action, Step};
use crate::schema::testing::{INT, STRING, field, key, model, object};
use crate::store::{CollectionName, CollectionNames};

fn embedded() -> &'static EmbeddedMeta {
    const META: &EmbeddedMeta = &object("M", &[field("_id", INT, &[]), field("host", STRING, &[])]);
    META
}

static SHARDED: ModelMeta = ModelMeta {
    shard_key: &[
        key(&["host"], KeyKind::Hashed),
        key(&["_id"], KeyKind::Ascending),
    ],
    ..model(embedded)
};
static PLAIN: ModelMeta = model(embedded);

fn step(meta: &'static ModelMeta, kind: Option<&str>, is: Option<&Document>) -> Option<Step> {
    let target = Target::new(
        meta,
        CollectionName::Declared("m"),
        &CollectionNames::default(),
    )
    .unwrap();
    let existing = kind.map(|kind| Existing {
        kind: kind.to_owned(),
        options: Document::new(),
        indexes: Vec::new(),
    });
    target.shard("shop", existing.as_ref(), is)
}

#[test]
fn a_collection_is_sharded_once() {
    let new = step(&SHARDED, None, None).unwrap();
    assert_eq!(new.action, Action::ShardCollection { is_new: true });
    assert_eq!(
        new.commands,
        [
            doc! {"enableSharding": "shop"},
            doc! {"shardCollection": "shop.m", "key": {"host": "hashed", "_id": 1}},
        ]
    );
    let old = step(&SHARDED, Some("collection"), None).unwrap();
    assert_eq!(old.action, Action::ShardCollection { is_new: false });
    assert_eq!(old.commands, new.commands);
    for same in [
        doc! {"host": "hashed", "_id": 1.0},
        doc! {"host": "hashed", "_id": 1_i64},
    ] {
        assert_eq!(step(&SHARDED, Some("collection"), Some(&same)), None);
    }
}

#[test]
fn another_shard_key_is_changed_by_hand() {
    for other in [
        doc! {"_id": 1, "host": "hashed"},
        doc! {"host": 1, "_id": 1},
        doc! {"host": "hashed"},
    ] {
        let step = step(&SHARDED, Some("collection"), Some(&other)).unwrap();
        assert_eq!(step.action, Action::ByHand);
        assert!(step.commands.is_empty());
    }
}

#[test]
fn views_and_other_models_are_left_alone() {
    assert_eq!(step(&SHARDED, Some("view"), None), None);
    assert_eq!(step(&PLAIN, None, None), None);
    assert_eq!(
        step(&PLAIN, Some("collection"), Some(&doc! {"host": 1})),
        None
    );
}
