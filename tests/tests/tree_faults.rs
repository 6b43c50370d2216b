//! Changes of trees whose commands fail, or whose connection breaks or prefers secondaries, on servers that fail on demand: the engine behind a
//! port, and the mongod with test commands that `ODM_TEST_URI` names.
//!
//! `tests/src/suite/trees/stops.rs` stops changes after each document that they write.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../src/suite/trees/models.rs"]
#[expect(dead_code, reason = "other tests use more of it")]
mod models;
#[path = "../src/suite/trees/operations.rs"]
mod operations;

use odm::bson::{Document as BsonDocument, doc, oid::ObjectId};
use odm::prelude::*;
use odm::server::Server;
use tokio::sync::Mutex;

use models::{
    ByAll, ByAncestors, ByBounds, ByBoundsAndParent, ByChildren, ByParent, ByPath, TestTree,
    TwoPatterns,
};
use operations::{Operation, Scene, State, sample};

/// A mongod has one fail point of this name.
static FAIL_POINT: Mutex<()> = Mutex::const_new(());

/// The commands that fail.
const COMMANDS: [&str; 3] = ["insert", "update", "delete"];

/// A database, and another connection to it whose commands fail.
struct Place {
    db: Db,
    failing: Db,
    name: String,
}

impl Place {
    async fn open(uri: &str) -> Self {
        let name = format!("odm_{}", ObjectId::new());
        let (address, options) = uri.split_once('?').unwrap_or((uri, ""));
        let address = address.trim_end_matches('/');
        let uri = format!("{address}/{name}?{options}&retryWrites=false&retryReads=false");
        Self {
            db: Db::connect(&uri).await.unwrap(),
            failing: Db::connect(&format!("{uri}&appName={name}")).await.unwrap(),
            name,
        }
    }

    async fn configure(&self, command: BsonDocument) {
        let mut fail_point = doc! {"configureFailPoint": "failCommand"};
        fail_point.extend(command);
        let admin = self.db.database("admin");
        admin.run_command(fail_point).await.unwrap();
    }

    /// Makes all commands after the first ones fail.
    async fn fail(&self, skip: i32, how: &BsonDocument) {
        let mut data = doc! {"failCommands": COMMANDS.to_vec(), "appName": &self.name};
        data.extend(how.clone());
        self.configure(doc! {"mode": {"skip": skip}, "data": data})
            .await;
    }

    async fn heal(&self) {
        self.configure(doc! {"mode": "off"}).await;
    }
}

async fn faults<D: TestTree>() {
    let served = Server::options().test_commands();
    let served = served.bind(&Db::memory(), "127.0.0.1:0").unwrap();
    let named = std::env::var("ODM_TEST_URI").ok();
    let named = named.filter(|uri| !uri.is_empty());
    faults_at::<D>(&served.uri()).await;
    if let Some(uri) = named {
        let _one_at_a_time = FAIL_POINT.lock().await;
        faults_at::<D>(&uri).await;
    }
}

async fn faults_at<D: TestTree>(uri: &str) {
    let place = Place::open(uri).await;
    let tree = sample::<D>(&place.db).await;
    let before = State::read::<D::Model>(&place.db).await;
    let failing = place.failing.tree::<D>();
    // No error with a label: the transaction is not tried again.
    let fails = doc! {"errorCode": 8000};
    let breaks = doc! {"closeConnection": true};
    for operation in Operation::ALL {
        let scene = Scene::new(&place.db, &tree, &before, operation).await;
        for (how, is_atomic) in [(&fails, false), (&breaks, false), (&fails, true)] {
            // The driver waits for half a second before it connects again.
            if how == &breaks && operation != Operation::MoveDown {
                continue;
            }
            for skip in 0.. {
                before.restore(&place.db).await;
                place.fail(skip, how).await;
                let result = operation.run(&failing, is_atomic).await;
                place.heal().await;
                if result.is_ok() {
                    assert!(skip > 0, "{operation:?}: nothing failed");
                    break;
                }
                if is_atomic {
                    let state = State::read::<D::Model>(&place.db).await;
                    assert_eq!(state.nodes, before.nodes, "{operation:?}, {skip}");
                }
                let what = format!("{skip} commands, {how}");
                scene.assess(&place.db, &what).await;
            }
        }
    }
    place.db.drop().await.unwrap();
}

/// A transaction reads from the primary.
#[tokio::test]
async fn trees_of_connections_that_prefer_secondaries_change() {
    let served = Server::bind(&Db::memory(), "127.0.0.1:0").unwrap();
    let named = std::env::var("ODM_TEST_URI").ok();
    let named = named.filter(|uri| !uri.is_empty());
    for uri in [Some(served.uri()), named].into_iter().flatten() {
        let uri = format!("{uri}&readPreference=secondaryPreferred");
        let place = Place::open(&uri).await;
        let tree = sample::<ByBounds>(&place.db).await;
        let below = tree.descendants(Ref::from(5)).ids().await.unwrap();
        assert_eq!(below, [7]);
        assert!(tree.check().await.unwrap().is_sound());
        place.db.drop().await.unwrap();
    }
}

#[tokio::test]
async fn faults_of_parent_references_are_repaired() {
    faults::<ByParent>().await;
}

#[tokio::test]
async fn faults_of_child_references_are_repaired() {
    faults::<ByChildren>().await;
}

#[tokio::test]
async fn faults_of_ancestors_are_repaired() {
    faults::<ByAncestors>().await;
}

#[tokio::test]
async fn faults_of_paths_are_repaired() {
    faults::<ByPath>().await;
}

#[tokio::test]
async fn faults_of_bounds_are_repaired() {
    faults::<ByBounds>().await;
}

#[tokio::test]
async fn faults_of_bounds_with_parents_are_repaired() {
    faults::<ByBoundsAndParent>().await;
}

#[tokio::test]
async fn faults_of_two_patterns_are_repaired() {
    faults::<TwoPatterns>().await;
}

#[tokio::test]
async fn faults_of_all_patterns_together_are_repaired() {
    faults::<ByAll>().await;
}
