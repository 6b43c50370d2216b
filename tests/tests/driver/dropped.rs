//! Cursors of futures that are dropped after each of their polls. The driver knows the id of a cursor once it has read the first
//! reply; a future that is dropped before that leaves a cursor that nobody can name.

use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use futures::{FutureExt, TryStreamExt};
use odm::prelude::*;
use odm_tests::{dropped_after, with_database};

use crate::{serve, uris};

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "notes")]
struct Note {
    #[serde(rename = "_id")]
    id: i32,
    before: Option<Ref<Self>>,
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "events", capped(size = 100_000))]
struct Event {
    #[serde(rename = "_id")]
    id: i32,
}

type Read = fn(Db) -> BoxFuture<'static, odm::Result<()>>;

/// Reads that open cursors of more than one batch.
const READS: [(&str, Read); 8] = [
    ("the first of a find", |db| {
        async move {
            let notes = db.collection::<Note>();
            let mut found = notes.find_all().batch_size(2).await?;
            found.try_next().await?;
            Ok(())
        }
        .boxed()
    }),
    ("all of a find", |db| {
        async move {
            let notes = db.collection::<Note>();
            notes.find_all().batch_size(8).all().await?;
            Ok(())
        }
        .boxed()
    }),
    ("a find in a session", |db| {
        async move {
            let mut session = db.start_session().await?;
            let notes = db.collection::<Note>();
            let found = notes.find_all().batch_size(8).session(&mut session);
            found.all().await?;
            Ok(())
        }
        .boxed()
    }),
    ("a find in a transaction", |db| {
        async move {
            let notes = db.collection::<Note>();
            transaction!(db, |tx| -> odm::Result<()> {
                notes.find_all().batch_size(8).session(tx).all().await?;
                Ok(())
            })
            .await
        }
        .boxed()
    }),
    ("an aggregation", |db| {
        async move {
            let notes = db.collection::<Note>();
            let found = notes.aggregate([doc! {"$match": {}}]).batch_size(8);
            found.all().await?;
            Ok(())
        }
        .boxed()
    }),
    ("a join", |db| {
        async move {
            let notes = db.collection::<Note>();
            let found = notes.find_all().join(|n| n.before).batch_size(8);
            found.all().await?;
            Ok(())
        }
        .boxed()
    }),
    ("a change stream", |db| {
        async move {
            let _changes = db.collection::<Note>().watch().await?;
            Ok(())
        }
        .boxed()
    }),
    ("a tail", |db| {
        async move {
            let mut tail = db.collection::<Event>().tail().await?;
            tail.try_next().await?;
            Ok(())
        }
        .boxed()
    }),
];

/// The cursors that are open in the database. The engine serves nothing else; mongod lists its cursors.
async fn open_cursors(admin: &Db, database: &str) -> i64 {
    let list = doc! {"$currentOp": {"idleCursors": true, "localOps": true}};
    let in_database = doc! {"ns": {"$regex": format!("^{database}\\.")}};
    let in_database = doc! {"$match": {"type": "idleCursor", "$and": [in_database]}};
    let listed = doc! {"aggregate": 1, "pipeline": [list, in_database], "cursor": {}};
    if let Ok(listed) = admin.run_command(listed).await {
        let cursors = listed.get_document("cursor").unwrap();
        return i64::try_from(cursors.get_array("firstBatch").unwrap().len()).unwrap();
    }
    let status = admin.run_command(doc! {"serverStatus": 1}).await.unwrap();
    let metrics = status.get_document("metrics").unwrap();
    let cursors = metrics.get_document("cursor").unwrap();
    cursors
        .get_document("open")
        .unwrap()
        .get_i64("total")
        .unwrap()
}

#[tokio::test]
async fn dropped_reads_leave_no_cursor() {
    let served = serve();
    for uri in uris(&served) {
        let database = format!("odm_driver_dropped_{}", std::process::id());
        let db = Db::connect(&with_database(&uri, &database)).await.unwrap();
        let admin = Db::connect(&with_database(&uri, "admin")).await.unwrap();
        db.sync(models![Note, Event])
            .plan()
            .await
            .unwrap()
            .apply(Allow::CREATE)
            .await
            .unwrap();
        let notes = (0..40).map(|id| Note {
            id,
            before: (id > 0).then(|| Ref::from(id - 1)),
        });
        db.collection().insert_many(notes).await.unwrap();
        let events = (0..200).map(|id| Event { id });
        db.collection().insert_many(events).await.unwrap();
        for (name, read) in READS {
            for polls in 0.. {
                let ended = dropped_after(polls, read(db.clone())).await;
                if let Some(ended) = ended {
                    ended.unwrap_or_else(|error| panic!("{name}: {error}"));
                    break;
                }
                // The reply is on its way, or here.
                if polls % 2 == 1 {
                    tokio::time::sleep(Duration::from_millis(2)).await;
                }
            }
            let start = Instant::now();
            let mut open = open_cursors(&admin, &database).await;
            while open > 0 && start.elapsed() < Duration::from_secs(20) {
                tokio::time::sleep(Duration::from_millis(20)).await;
                open = open_cursors(&admin, &database).await;
            }
            assert_eq!(open, 0, "{name}, {uri}");
        }
        db.drop().await.unwrap();
    }
}
