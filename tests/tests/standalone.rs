//! What a standalone mongod, the server that `ODM_TEST_STANDALONE_URI` names, can and can't do.
#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test that panics has failed, and a skipped one says so"
)]

use odm::prelude::*;
use odm::tree::prelude::*;

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "things", subset(details: Details, by = thing))]
struct Thing {
    #[serde(rename = "_id")]
    id: i32,
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "thing_details")]
struct Details {
    #[serde(rename = "_id")]
    #[odm(rest_of = details)]
    thing: Ref<Thing>,
}

async fn standalone() -> Option<Db> {
    let Ok(uri) = std::env::var("ODM_TEST_STANDALONE_URI") else {
        eprintln!("skipped: ODM_TEST_STANDALONE_URI names no standalone mongod");
        return None;
    };
    Some(Db::connect(&uri).await.unwrap())
}

#[tokio::test]
async fn a_standalone_mongod_reports_that_it_has_no_transactions() {
    let Some(db) = standalone().await else { return };
    let capability = db.capability().await.unwrap();
    assert!(!capability.transactions && !capability.change_streams);
    assert!(!capability.sharded && !capability.secondaries && capability.durable);
}

#[tokio::test]
async fn a_transaction_on_a_standalone_mongod_fails_before_its_body_runs() {
    let Some(db) = standalone().await else { return };
    let things = db.collection::<Thing>();
    let mut runs = 0;
    let refused: odm::Result<()> = transaction!(&db, |tx| -> odm::Result<()> {
        runs += 1;
        things.insert_one(&Thing { id: 1 }).session(tx).await?;
        Ok(())
    })
    .await;
    let refused = refused.unwrap_err();
    assert!(refused.is_unsupported(), "{refused}");
    assert!(refused.to_string().contains("--replSet"), "{refused}");
    assert_eq!(runs, 0);
    let mut session = db.start_session().await.unwrap();
    let refused = session.start_transaction().await.unwrap_err();
    assert!(refused.to_string().contains("standalone"), "{refused}");
    assert!(!session.in_transaction());
}

#[tokio::test]
async fn a_joint_write_on_a_standalone_mongod_has_to_say_non_atomic() {
    let Some(db) = standalone().await else { return };
    let things = db.collection::<Thing>();
    let (thing, details) = (
        Thing { id: 7 },
        Details {
            thing: Ref::from(7),
        },
    );
    things
        .delete_with_rest(&7, |t| t.details)
        .non_atomic()
        .await
        .unwrap();
    let refused = things
        .insert_with_rest(&thing, |t| t.details, &details)
        .await
        .unwrap_err();
    assert!(refused.is_unsupported(), "{refused}");
    assert!(things.get(&7).await.unwrap().is_none());
    things
        .insert_with_rest(&thing, |t| t.details, &details)
        .non_atomic()
        .await
        .unwrap();
    let deleted = things
        .delete_with_rest(&7, |t| t.details)
        .non_atomic()
        .await
        .unwrap();
    assert_eq!((deleted.deleted, deleted.deleted_rest), (1, 1));
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "hosts", has_many(messages: Message, by = host))]
struct Host {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "messages")]
struct Message {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index)]
    host: Ref<Host>,
    #[odm(copy_of(host.name))]
    host_name: String,
}

#[tokio::test]
async fn a_follower_on_a_standalone_mongod_is_refused() {
    let Some(db) = standalone().await else { return };
    let refused = db.follow(models![Host, Message]).await.unwrap_err();
    assert!(refused.is_unsupported(), "{refused}");
    assert!(refused.to_string().contains("--replSet"), "{refused}");
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "areas", tree(nested_sets))]
struct Area {
    #[serde(rename = "_id")]
    id: i32,
    left: Left,
    right: Right,
}

#[tokio::test]
async fn trees_on_a_standalone_mongod_are_read_without_transactions() {
    let Some(db) = standalone().await else { return };
    let tree = db.tree::<Area>();
    db.collection::<Area>().delete_all().await.unwrap();
    let area = |id| Area {
        id,
        left: Left::default(),
        right: Right::default(),
    };
    let refused = tree.insert(area(1), Position::root()).await.unwrap_err();
    assert!(refused.is_unsupported(), "{refused}");
    for (id, place) in [
        (1, Position::root()),
        (2, Position::child_of(Ref::from(1))),
        (3, Position::child_of(Ref::from(2))),
    ] {
        tree.insert(area(id), place).non_atomic().await.unwrap();
    }
    let ids = tree.descendants(Ref::from(1)).pre_order().ids().await;
    assert_eq!(ids.unwrap(), [2, 3]);
    assert_eq!(tree.depth(Ref::from(3)).await.unwrap(), 2);
    let branches = tree.all().branches().await.unwrap();
    assert_eq!(branches[0].len(), 3);
}
