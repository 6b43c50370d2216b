use odm::prelude::*;

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "books")]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
    subtitle: String,
    stock: i32,
    sold: i32,
}

fn mistakes(books: &Collection<Book>) {
    let _ = books.find(|b| b.title.eq(b.subtitle));
    let _ = books.find(|b| b.sold.gt(&b.stock));
    let _ = books.update_one(|b| b.id.eq(1), |b| b.sold.set(b.stock));
}

fn main() {}
