//! Lists that overflow: most books have few readers, and one has many.

use odm::prelude::*;

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(
    collection = "lent_books",
    has_many(overflow: MoreReaders, by = book, on_delete = cascade)
)]
struct LentBook {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
    #[odm(embed(few, max = 50))]
    readers: Vec<Reader>,
    #[odm(count_of(overflow))]
    overflow_count: i32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Reader {
    name: String,
    day: i32,
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(
    collection = "more_readers",
    overflow(list = readers, by = book, number = number, max = 1_000)
)]
struct MoreReaders {
    #[serde(rename = "_id")]
    id: Id<MoreReaders>,
    book: Ref<LentBook>,
    number: i32,
    readers: Vec<Reader>,
}

fn readers(range: std::ops::Range<i32>) -> impl Iterator<Item = Reader> {
    range.map(|day| Reader {
        name: format!("reader {}", day % 700),
        day,
    })
}

pub(crate) async fn show(db: &Db) -> Result<(), Box<dyn std::error::Error>> {
    println!("\n== Lists that overflow ==");
    db.sync(models![LentBook, MoreReaders])
        .plan()
        .await?
        .apply(Allow::CREATE)
        .await?;
    let books = db.collection::<LentBook>();
    let overflow = db.overflow::<MoreReaders>();
    for (id, title) in [(1, "Emma"), (2, "A Bestseller")] {
        let book = LentBook {
            id,
            title: title.to_owned(),
            readers: Vec::new(),
            overflow_count: 0,
        };
        books.insert_one(&book).await?;
    }

    for day in (0..2_600).step_by(100) {
        overflow.push(2, readers(day..day + 100)).await?;
    }
    let few = overflow.push(1, readers(0..12)).await?;
    println!("Emma: {} pushed, {} overflowed", few.pushed, few.overflowed);

    for book in books.find_all().sort(|b| b.id.asc()).all().await? {
        let inside = book.readers.len();
        // The usual document has no overflow, and needs no second query.
        let outside = if book.overflow_count > 0 {
            overflow.rest(book.id).all().await?.len()
        } else {
            0
        };
        println!(
            "{}: {inside} readers inside, {outside} in {} more documents",
            book.title, book.overflow_count
        );
    }

    let first: Vec<i32> = overflow
        .items(2)
        .limit(53)
        .all()
        .await?
        .iter()
        .map(|reader| reader.day)
        .collect();
    println!("in order: {:?}", first.get(48..).unwrap_or_default());

    let change = overflow.update(2, |m| m.readers.pull_where(|reader| reader.day.gte(1_050)));
    let removed = change.await?;
    println!(
        "after day 1,050: {} documents changed, {} deleted, {} readers left",
        removed.modified,
        removed.deleted,
        overflow.count(2).await?
    );

    let report = db.check(models![LentBook, MoreReaders]).await?;
    println!("check: {} findings", report.findings);
    let deleted = books.delete_by_id(&2).with_dependents().await?;
    let more: u64 = deleted.dependents.iter().map(|one| one.documents).sum();
    println!(
        "deleted: {} book, with {more} overflow documents",
        deleted.deleted
    );
    Ok(())
}
