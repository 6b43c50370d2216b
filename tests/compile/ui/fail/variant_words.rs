//! The enum declares the collection; a variant declares its own documents.

use odm::prelude::*;

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "authors")]
struct Author {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(two_way = author)]
    #[odm(references(many, max = 9))]
    books: Vec<Ref<Book>>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "media.files", gridfs, index(title), index(book), has_many(notes: Note, by = medium, on_delete = cascade), schema(version = 1))]
#[serde(tag = "kind")]
enum Medium {
    Book(Book),
    Film {
        #[serde(rename = "_id")]
        id: i32,
        #[odm(index(sparse))]
        isbn: Option<String>,
    },
}

#[derive(Serialize, Deserialize, Document)]
#[odm(variant_of = Medium, collection = "books", capped(size = 4096), subset(notes: Note, by = medium), schema(version = 1))]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(two_way = books)]
    author: Ref<Author>,
    #[odm(copy_of(author.id, once))]
    author_id: i32,
    #[odm(unique(sparse))]
    #[serde(skip_serializing_if = "Option::is_none")]
    isbn: Option<String>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "notes")]
struct Note {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index)]
    medium: Ref<Medium>,
}

fn main() {}
