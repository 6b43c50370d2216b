use odm::prelude::*;

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(
    collection = "books",
    has_many(overflow: MoreReaders, by = book, on_delete = cascade)
)]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(items(max = 3))]
    readers: Vec<String>,
    #[odm(count_of(overflow))]
    overflow_count: i32,
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(
    collection = "more_readers",
    overflow(list = readers, by = book, number = number, max = 4)
)]
struct MoreReaders {
    #[serde(rename = "_id")]
    id: Id<MoreReaders>,
    book: Ref<Book>,
    number: i32,
    readers: Vec<String>,
}

/// A book without readers.
#[allow(dead_code)]
async fn a_book() -> odm::Result<Db> {
    let db = Db::memory();
    db.sync(models![Book, MoreReaders]).plan().await?.apply(Allow::CREATE).await?;
    let book = Book { id: 1, readers: Vec::new(), overflow_count: 0 };
    db.collection::<Book>().insert_one(&book).await?;
    Ok(db)
}

/// Names of readers.
#[allow(dead_code)]
fn names(range: std::ops::Range<i32>) -> impl Iterator<Item = String> {
    range.map(|number| format!("reader {number}"))
}
