//! Commands and documents that are too large.

use std::collections::BTreeMap;

use odm::prelude::*;

use crate::case::cases;

cases![
    commands_may_exceed_the_document_size_slightly,
    a_command_that_is_too_large_is_refused,
    a_document_that_is_too_large_is_not_sent,
    the_same_document_again_is_no_change,
];

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "texts")]
struct Text {
    #[serde(rename = "_id")]
    id: i32,
    text: String,
}

const MB: usize = 1024 * 1024;

/// Different texts of one MB each, more or less.
fn texts(count: usize) -> Vec<String> {
    let text = |index: usize| format!("{index:07}").repeat(MB / 7);
    (0..count).map(text).collect()
}

async fn commands_may_exceed_the_document_size_slightly(db: &Db) {
    let all = db.collection::<Text>();
    let text = "x".repeat(16 * MB - 40);
    all.insert_one(Text { id: 1, text }).await.unwrap();
    let long = "y".repeat(16 * MB - 40);
    let replaced = all.replace_one(
        |t| t.id.eq(1),
        Text {
            id: 1,
            text: long.clone(),
        },
    );
    assert_eq!(replaced.await.unwrap().modified, 1);
    let set = all.update_one(|t| t.id.eq(1), |t| t.text.set(long));
    assert_eq!(set.await.unwrap().matched, 1);
    let found = all.find(|t| t.text.in_(texts(15))).all().await.unwrap();
    assert!(found.is_empty());
}

async fn a_command_that_is_too_large_is_refused(db: &Db) {
    let all = db.collection::<Text>();
    all.insert_one(Text {
        id: 1,
        text: "short".to_owned(),
    })
    .await
    .unwrap();
    let filter = || odm::query::fields::<Text>().text.in_(texts(17));
    let refusals = [
        ("find", all.find(|_| filter()).all().await.map(drop)),
        ("find", all.find_one(|_| filter()).await.map(drop)),
        (
            "find",
            all.find(|_| filter()).limit(1).all().await.map(drop),
        ),
        (
            "find",
            all.find_one(|t| t.text.eq("x".repeat(17 * MB)))
                .await
                .map(drop),
        ),
        (
            "delete",
            all.delete_one(|t| t.text.eq("x".repeat(17 * MB)))
                .await
                .map(drop),
        ),
        (
            "aggregate",
            all.count_documents(|_| filter()).await.map(drop),
        ),
        (
            "update",
            all.update_one(|_| filter(), |t| t.text.set("x"))
                .await
                .map(drop),
        ),
        (
            "update",
            all.update_one(|t| t.id.eq(1), |t| t.text.set("x".repeat(17 * MB)))
                .await
                .map(drop),
        ),
        (
            "update",
            all.bulk_write(|w| [w.update_one(|_| filter(), |t| t.text.set("x"))])
                .await
                .map(drop),
        ),
        ("delete", all.delete_one(|_| filter()).await.map(drop)),
        (
            "findAndModify",
            all.find_one_and_delete(|_| filter()).await.map(drop),
        ),
        (
            "find",
            db.run_command(doc! {"find": "texts", "filter": {"text": {"$in": texts(17)}}})
                .await
                .map(drop),
        ),
    ];
    for (command, refused) in refusals {
        let refused = refused.unwrap_err();
        assert_eq!(refused.code().map(odm::Code::number), Some(10334));
        assert!(refused.labels().is_empty(), "{refused:?}");
        let message = refused.server().unwrap().message();
        let first = format!("First element: {command}: \"texts\"");
        assert!(
            message.starts_with("BSONObj size: 17") && message.ends_with(&first),
            "{message}"
        );
    }
    assert_eq!(all.get(&1).await.unwrap().unwrap().text, "short");
}

async fn a_document_that_is_too_large_is_not_sent(db: &Db) {
    let all = db.collection::<Text>();
    let text = |id, length| Text {
        id,
        text: "x".repeat(length),
    };
    let long = 17 * MB;
    for refused in [
        all.insert_one(text(1, long)).await.map(drop),
        all.insert_one(text(1, long)).comment("x").await.map(drop),
        all.insert_many([text(1, 1), text(2, long)]).await.map(drop),
        all.insert_many([text(1, 1), text(2, long)])
            .ordered(false)
            .await
            .map(drop),
        all.bulk_write(|w| [w.insert_one(text(1, 1)), w.insert_one(text(2, long))])
            .await
            .map(drop),
    ] {
        let refused = refused.unwrap_err();
        assert!(refused.is_usage() && refused.code().is_none(), "{refused}");
        assert_eq!(refused.path(), Some("text"), "{refused}");
        let told = "the document has 178258";
        assert!(refused.to_string().contains(told), "{refused}");
    }
    assert_eq!(all.count_documents(|_| Filter::all()).await.unwrap(), 0);
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "bags")]
struct Bag {
    #[serde(rename = "_id")]
    id: i32,
    #[serde(flatten)]
    all: BTreeMap<String, i32>,
}

async fn the_same_document_again_is_no_change(db: &Db) {
    let bags = db.collection::<Bag>();
    let bag = |value| Bag {
        id: 1,
        all: BTreeMap::from([("$set".to_owned(), 1), ("a".to_owned(), value)]),
    };
    bags.insert_one(bag(1)).await.unwrap();
    let same = bags.replace_one(|b| b.id.eq(1), bag(1)).await.unwrap();
    assert_eq!((same.matched, same.modified), (1, 0));
    let found = bags.find_one_and_replace(|b| b.id.eq(1), bag(1)).await;
    assert_eq!(found.unwrap(), Some(bag(1)));
    let other = bags.replace_one(|b| b.id.eq(1), bag(2)).await.unwrap_err();
    assert_eq!(other.code().map(odm::Code::number), Some(52), "{other}");
}
