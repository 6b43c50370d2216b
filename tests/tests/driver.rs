//! Features of the official driver beyond those that odm uses: change streams that it resumes by itself, tailable
//! cursors, compression and users. They run on the engine behind a port, and on the server that `ODM_TEST_URI` names,
//! if that accepts test commands.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod driver {
    mod dropped;
    mod mongos;
}

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use futures::TryStreamExt;
use mongodb::bson::{Document, doc};
use mongodb::change_stream::event::{ChangeStreamEvent, OperationType};
use mongodb::options::{CursorType, FullDocumentType};
use mongodb::{Client, Collection};
use odm::Db;
use odm::server::Server;

fn serve() -> Server {
    let options = Server::options().test_commands();
    options.bind(&Db::memory(), "127.0.0.1:0").unwrap()
}

/// The engine behind a port, and the server that the environment names.
fn uris(served: &Server) -> Vec<String> {
    let named = std::env::var("ODM_TEST_URI").ok();
    [served.uri()].into_iter().chain(named).collect()
}

async fn connect(uri: &str, options: &str) -> Client {
    Client::with_uri_str(format!("{uri}&{options}"))
        .await
        .unwrap()
}

async fn insert(collection: &Collection<Document>, id: i32) {
    collection.insert_one(doc! { "_id": id }).await.unwrap();
}

fn told(event: &ChangeStreamEvent<Document>) -> (OperationType, i32) {
    let key = event.document_key.as_ref().unwrap();
    (event.operation_type.clone(), key.get_i32("_id").unwrap())
}

#[tokio::test]
async fn a_change_stream_resumes_after_losing_its_cursor() {
    let served = serve();
    for uri in uris(&served) {
        let client = connect(&uri, "appName=odm_driver").await;
        let db = client.database("odm_driver_streams");
        db.drop().await.unwrap();
        db.create_collection("watched").await.unwrap();
        let watched = db.collection::<Document>("watched");
        let mut stream = watched
            .watch()
            .full_document(FullDocumentType::UpdateLookup)
            .max_await_time(Duration::from_millis(500))
            .await
            .unwrap();
        insert(&watched, 1).await;
        watched
            .update_one(doc! { "_id": 1 }, doc! { "$set": { "n": 1 } })
            .await
            .unwrap();
        let first = stream.try_next().await.unwrap().unwrap();
        assert_eq!(told(&first), (OperationType::Insert, 1));
        let second = stream.try_next().await.unwrap().unwrap();
        assert_eq!(second.full_document.unwrap(), doc! { "_id": 1, "n": 1 });

        let fail = |mode: Document, data: Document| {
            let mut of = doc! { "failCommands": ["getMore"], "appName": "odm_driver" };
            of.extend(data);
            doc! { "configureFailPoint": "failCommand", "mode": mode, "data": of }
        };
        let once = || doc! { "times": 1 };
        let labels = ["ResumableChangeStreamError"];
        for (id, fault) in [
            (10, doc! { "errorCode": 8, "errorLabels": labels.to_vec() }),
            (11, doc! { "closeConnection": true }),
        ] {
            let admin = client.database("admin");
            admin.run_command(fail(once(), fault)).await.unwrap();
            insert(&watched, id).await;
            let event = stream.try_next().await.unwrap().unwrap();
            assert_eq!(told(&event), (OperationType::Insert, id));
        }
        drop(stream);

        insert(&watched, 12).await;
        let mut stream = db.watch().resume_after(first.id).await.unwrap();
        for id in [1, 10, 11, 12] {
            let event = stream.try_next().await.unwrap().unwrap();
            assert_eq!(told(&event).1, id);
        }

        let mut stream = watched.watch().start_after(second.id).await.unwrap();
        db.drop().await.unwrap();
        let mut kinds = Vec::new();
        while let Some(event) = stream.try_next().await.unwrap() {
            kinds.push(event.operation_type);
        }
        assert_eq!(kinds.len(), 5);
        assert_eq!(
            kinds.get(3..),
            Some(&[OperationType::Drop, OperationType::Invalidate][..])
        );
    }
}

#[tokio::test]
async fn a_cursor_waits_at_the_end_of_a_capped_collection() {
    let served = serve();
    for uri in uris(&served) {
        let client = connect(&uri, "appName=odm_driver_tail").await;
        let db = client.database("odm_driver_tail");
        db.drop().await.unwrap();
        let capped = db.create_collection("queue").capped(true).size(100_000);
        capped.max(10_u64).await.unwrap();
        let queue = db.collection::<Document>("queue");
        insert(&queue, 1).await;
        let mut tail = queue
            .find(doc! {})
            .cursor_type(CursorType::TailableAwait)
            .max_await_time(Duration::from_secs(30))
            .await
            .unwrap();
        assert!(tail.try_next().await.unwrap().is_some());
        let began = Instant::now();
        let (next, ()) = tokio::join!(tail.try_next(), async {
            tokio::time::sleep(Duration::from_millis(200)).await;
            insert(&queue, 2).await;
        });
        assert_eq!(next.unwrap().unwrap(), doc! { "_id": 2 });
        // It did not wait for the whole time.
        assert!(began.elapsed() < Duration::from_secs(20));
        // Its next document is overwritten.
        for id in 3..20 {
            insert(&queue, id).await;
        }
        assert!(tail.try_next().await.is_err());
        db.drop().await.unwrap();
    }
}

#[tokio::test]
async fn messages_are_compressed() {
    let served = serve();
    for uri in uris(&served) {
        let mut sizes = BTreeSet::new();
        for name in ["snappy", "zlib"] {
            let client = connect(&uri, &format!("compressors={name}")).await;
            let papers = client.database("odm_driver_papers").collection("papers");
            let paper = doc! { "_id": name, "text": "All is in it. ".repeat(70_000) };
            let sent = async || {
                let status = doc! { "serverStatus": 1 };
                let status = client.database("admin").run_command(status).await.unwrap();
                let network = status.get_document("network").unwrap();
                network.get_i64("physicalBytesOut").unwrap()
            };
            let before = sent().await;
            papers.insert_one(&paper).await.unwrap();
            let found = papers.find_one(doc! { "_id": name }).await.unwrap();
            assert_eq!(found, Some(paper));
            let size = sent().await - before;
            assert!(size < 250_000, "{name}: {size}");
            sizes.insert(size);
            papers.drop().await.unwrap();
        }
        assert_eq!(sizes.len(), 2);
    }
}

#[tokio::test]
async fn users_authenticate() {
    let options = Server::options().user("ann", "pencil").unwrap();
    let served = options.bind(&Db::memory(), "127.0.0.1:0").unwrap();
    let list = async |who: &str, options: &str| {
        let uri = served.uri().replace("//", &format!("//{who}"));
        let client = connect(&uri, options).await;
        client.database("test").list_collection_names().await
    };
    list("ann:pencil@", "authMechanism=SCRAM-SHA-256")
        .await
        .unwrap();
    list("ann:pencil@", "compressors=snappy").await.unwrap();
    list("ann:pen@", "appName=odm_driver").await.unwrap_err();
    list("bob:pencil@", "appName=odm_driver").await.unwrap_err();
    list("", "appName=odm_driver").await.unwrap_err();
}
