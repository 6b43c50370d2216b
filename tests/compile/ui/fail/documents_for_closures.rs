use odm::bson::Document as BsonDocument;
use odm::prelude::*;

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "books")]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
}

fn filters(books: &Collection<Book>, filter: BsonDocument) {
    let _ = books.find(doc! { "title": "Dune" });
    let _ = books.find_one(filter);
    let _ = books.delete_one(doc! { "title": "Dune" });
    let _ = books.find(Filter::<Book>::all());
    let _ = books.find(());
}

fn updates(books: &Collection<Book>) {
    let _ = books.update_one(|b| b.id.eq(1), doc! { "$set": { "title": "Dune" } });
    let _ = books.update_one(doc! { "_id": 1 }, |b| b.title.set("Dune"));
    let _ = books.update_all([doc! { "$unset": "title" }]);
}

fn two_mistakes(books: &Collection<Book>) {
    let _ = books.update_one(doc! { "_id": 1 }, doc! { "$set": { "title": "Dune" } });
}

fn ids(books: &Collection<Book>) {
    let _ = books.find_one(&1);
    let _ = books.delete_one(1);
}

fn orders(books: &Collection<Book>) {
    let _ = books.find(|_| Filter::all()).sort(doc! { "title": 1 });
}

fn main() {}
