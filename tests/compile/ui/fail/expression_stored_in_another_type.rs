//! A quotient is an `f64`.

use odm::prelude::*;

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "books")]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    pages: i32,
}

async fn halve(books: &Collection<Book>) -> odm::Result<()> {
    books.update_all(|b| b.pages.set_expr(&b.pages / 2)).await?;
    Ok(())
}

fn main() {}
