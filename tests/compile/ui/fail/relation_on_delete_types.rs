use odm::prelude::*;
use serde::{Deserialize, Serialize};

// `set_null` needs a reference that can be null, and `pull` one in a list.
#[derive(Serialize, Deserialize, Document)]
#[odm(
    collection = "authors",
    has_many(books: Book, by = author, on_delete = set_null),
    has_many(edited: Book, by = editor, on_delete = pull),
    has_many(notes: Book, by = note.by, on_delete = pull),
    has_many(quotes: Book, by = quotes.by, on_delete = set_null),
    has_many(liked: Book, by = readers, on_delete = set_null)
)]
struct Author {
    #[serde(rename = "_id")]
    id: i32,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(
    collection = "books",
    index(author),
    index(editor),
    index(note.by),
    index(quotes.by),
    index(readers)
)]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    author: Ref<Author>,
    editor: Option<Ref<Author>>,
    note: Note,
    #[odm(embed(few, max = 10))]
    quotes: Vec<Note>,
    #[odm(references(many, max = 10))]
    readers: Vec<Ref<Author>>,
}

#[derive(Serialize, Deserialize, Embedded)]
struct Note {
    by: Ref<Author>,
}

fn main() {}
