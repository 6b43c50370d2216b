//! A library lends a book: one atomic update, and no copy is lent twice.

use odm::prelude::*;

use crate::show::{self, Show};

/// A title of a library, with its copies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "books", rule("copies are not negative", |book| book.available.gte(0)))]
pub(crate) struct Book {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(length(min = 1, max = 200))]
    title: String,
    authors: Vec<String>,
    available: i32,
    #[odm(embed(few, max = 100))]
    checkout: Vec<Checkout>,
}

/// Who has a copy, since when.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub(crate) struct Checkout {
    by: String,
    date: DateTime,
}

/// Two readers want the only copy.
pub(crate) async fn check_out(db: &Db, show: &Show) -> odm::Result<()> {
    show.step("An atomic check-out: the last copy of a book, wanted twice");
    let books = db.collection::<Book>();
    let book = Book {
        id: 7,
        title: "The Rust Programming Language".to_owned(),
        authors: vec!["Steve Klabnik".to_owned(), "Carol Nichols".to_owned()],
        available: 1,
        checkout: Vec::new(),
    };
    show::stored("the book", &book)?;
    books.insert_one(&book).await?;
    show.commands();

    for reader in ["ada", "grace"] {
        let checkout = Checkout {
            by: reader.to_owned(),
            date: DateTime::from_millis(1_795_219_200_000),
        };
        let outcome = books
            .update_one(
                |book| book.id.eq(7) & book.available.gt(0),
                |book| book.available.inc(-1) & book.checkout.push(checkout),
            )
            .await?;
        show.commands();
        show::answer(format!(
            "{reader}: matched {}, modified {}",
            outcome.matched, outcome.modified
        ));
    }
    let book = books.get(&7).await?;
    show.commands();
    show::stored("the book now", book)?;
    Ok(())
}
