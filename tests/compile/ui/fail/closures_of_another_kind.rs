use odm::prelude::*;

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "books")]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
}

fn mistakes(books: &Collection<Book>) {
    let _ = books.find(|b| b.title.set("Dune"));
    let _ = books.find(|b| b.titel.eq("Dune"));
    let _ = books.find(|b| {
        b.title.eq("Dune");
    });
    let _ = books.find(|_| doc! { "title": "Dune" });
    let _ = books.find(|| Filter::all());
    let _ = books.update_one(|b| b.id.eq(1), |b| b.title.eq("Dune"));
}

fn main() {}
