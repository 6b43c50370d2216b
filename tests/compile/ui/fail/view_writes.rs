use odm::bson::{self, doc};
use odm::prelude::*;

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "books")]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
    stock: i32,
}

fn in_print() -> Vec<bson::Document> {
    vec![doc! {"$match": {"stock": {"$gt": 0}}}]
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "in_print", view(on = Book, pipeline = in_print))]
struct InPrint {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
}

fn main() {
    let db = Db::memory();
    let view = db.collection::<InPrint>();
    let one = InPrint { id: 1, title: String::new() };
    let _ = view.insert_one(&one);
    let _ = view.insert_many([one]);
    let _ = view.update_one(|v| v.id.eq(1), |v| v.title.set(""));
    let _ = view.update_by_id(&1, |v| v.title.set(""));
    let _ = view.delete_many(|v| v.id.eq(1));
    let _ = view.find_one_and_delete(|v| v.id.eq(1));
    let _ = view.load(&1);
    let _ = view.bulk_write(|w| [w.delete_one(|v| v.id.eq(1))]);
    let _ = view.watch();
}

async fn generic<M: Document>(documents: &Collection<M>) {
    let _ = documents.delete_all().await;
}
