use std::collections::HashMap;

use odm::prelude::*;
use odm::query::fields;

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "books")]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(embed(few, max = 10))]
    loans: Vec<Loan>,
    #[odm(embed(few, max = 10))]
    old: Option<Vec<Loan>>,
    #[odm(embed(few, max = 10))]
    by_shelf: HashMap<String, Loan>,
}

#[derive(Serialize, Deserialize, Embedded)]
struct Loan {
    by: String,
    days: i32,
    #[odm(embed(few, max = 10))]
    notes: Vec<Note>,
}

#[derive(Serialize, Deserialize, Embedded)]
struct Note {
    text: String,
}

fn mistakes(books: &Collection<Book>) {
    let _ = books.find(|b| b.loans.by.eq("ada"));
    let _ = books.find(|b| b.old.days.gt(3) & b.id.gt(1)).sort(|b| b.loans.days.desc());
    let _ = books.find(|b| b.loans.any().notes.text.starts_with("a"));
    let _ = books.find(|b| b.loans.notes.any().text.eq("a") & b.id.eq(1));
    let _ = books.find(|b| b.loans.bby.eq("ada"));
    let _ = books.find(|b| b.by_shelf.days.in_([1, 2]));
    let _ = books.update_one(|b| b.id.eq(1), |b| b.loans.days.inc(1));
    let _ = books.find(|b| b.loans.notes.elem_match(|note| note.text.eq("a")));
    let _ = fields::<Book>().loans.days.set(1);
}

fn main() {}
