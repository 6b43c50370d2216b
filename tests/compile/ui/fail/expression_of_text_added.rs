//! Text is joined by `concat`.

use odm::prelude::*;

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "books")]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
}

async fn shout(books: &Collection<Book>) -> odm::Result<()> {
    books.update_all(|b| b.title.set_expr(b.title.expr() + "!")).await?;
    Ok(())
}

fn main() {}
