//! A book whose list of readers is full and has one overflow document, one whose list has room, and the operations on both.

use futures::future::BoxFuture;
use odm::prelude::*;

use super::explorer::{Operation, operation};

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(
    collection = "books",
    has_many(overflow: MoreReaders, by = book, on_delete = cascade)
)]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(items(max = 2))]
    readers: Vec<i32>,
    #[odm(count_of(overflow))]
    overflow_count: i32,
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(
    collection = "more_readers",
    overflow(list = readers, by = book, number = number, max = 3)
)]
struct MoreReaders {
    #[serde(rename = "_id")]
    id: Id<MoreReaders>,
    book: Ref<Book>,
    number: i32,
    readers: Vec<i32>,
}

/// The readers of the book with the overflow document, which has room for one more.
const READERS: [i32; 4] = [1, 2, 3, 4];

pub(crate) fn fill(db: Db) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        let plan = db.sync(models![Book, MoreReaders]).plan().await.unwrap();
        plan.apply(Allow::CREATE).await.unwrap();
        for id in [1, 2] {
            let book = Book {
                id,
                readers: Vec::new(),
                overflow_count: 0,
            };
            db.collection::<Book>().insert_one(&book).await.unwrap();
        }
        let overflow = db.overflow::<MoreReaders>();
        overflow.push(1, READERS).await.unwrap();
        overflow.push(2, [1]).await.unwrap();
    })
}

fn push(id: i32, numbers: std::ops::Range<i32>) -> Operation {
    operation(move |db| {
        let numbers = numbers.clone();
        async move {
            db.overflow::<MoreReaders>().push(id, numbers).await?;
            Ok(())
        }
    })
}

/// Operations with the names that the output has; what they push begins with this number.
pub(crate) fn operations(first: i32) -> Vec<(&'static str, Operation)> {
    vec![
        (
            "a push into the overflow document",
            push(1, first..first + 1),
        ),
        ("a push that opens one", push(1, first..first + 3)),
        ("a push into the list", push(2, first..first + 1)),
        ("a push that overflows", push(2, first..first + 2)),
        (
            "a removal",
            operation(|db| async move {
                let overflow = db.overflow::<MoreReaders>();
                overflow
                    .update(1, |m| m.readers.pull_where(|n| n.gte(2)))
                    .await?;
                Ok(())
            }),
        ),
        (
            "a delete",
            operation(|db| async move {
                let books = db.collection::<Book>();
                books.delete_by_id(&1).with_dependents().await?;
                Ok(())
            }),
        ),
        (
            "a delete of the other book",
            operation(|db| async move {
                let books = db.collection::<Book>();
                books.delete_by_id(&2).with_dependents().await?;
                Ok(())
            }),
        ),
    ]
}

/// Inserts an overflow document of the first book without a check of its reference.
pub(crate) fn insert_by_hand() -> Operation {
    operation(|db| async move {
        let document = || MoreReaders {
            id: Id::new(),
            book: Ref::from(1),
            number: 2,
            readers: vec![20],
        };
        db.collection::<MoreReaders>()
            .insert_one(document())
            .leave_stale()
            .await?;
        Ok(())
    })
}

/// Nothing is overfilled, counted wrongly or left over, and no element is there twice.
pub(crate) async fn is_sound(db: Db) -> bool {
    let report = db.check(models![Book, MoreReaders]).await.unwrap();
    let overflow = db.overflow::<MoreReaders>();
    let mut is_sound = report.is_sound();
    for id in [1, 2] {
        let mut all = overflow.items(id).all().await.unwrap();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        is_sound &= all.len() == count;
    }
    is_sound
}
