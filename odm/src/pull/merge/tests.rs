use super::*;
use crate::collection::Db;
use crate::pull::Sample;
use bson::{Document, doc};

/// The models of one collection.
async fn pulled(collection: &str, documents: &[Document]) -> Pulled {
    let db = Db::memory();
    let insert = doc! {"insert": collection, "documents": documents};
    db.run_command(insert).await.unwrap();
    db.pull().sample(Sample::All).await.unwrap()
}

/// The lines that `after` has and `before` does not, in their order; all other lines have to be the same.
fn added<'a>(before: &str, after: &'a str) -> Vec<&'a str> {
    let mut old = before.lines().peekable();
    let mut added = Vec::new();
    for line in after.lines() {
        if old.peek() == Some(&line) {
            old.next();
        } else {
            added.push(line);
        }
    }
    assert_eq!(old.next(), None, "a line is gone:\n{after}");
    added
}

const FILE: &str = r#"//! Ours.
use odm::prelude::*;

const WORKS: &str = "books";

/// A work.
#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = WORKS, index(name))]
#[serde(rename_all = "camelCase")]
pub struct Work {
    #[serde(rename = "_id")]
    id: i32,
    /// As on the cover.
    #[serde(rename = "title")]
    name: String, // mine
    first_print: Print,
    state: State,
    #[serde(flatten)]
    origin: Origin,
}

#[derive(Debug, Serialize, Deserialize, Embedded)]
pub struct Print { year: i32 }

#[derive(Debug, Serialize, Deserialize, Embedded)]
pub struct Origin {
    country: String,
}

#[derive(Debug, Serialize, Deserialize, Embedded)]
#[serde(rename_all = "lowercase")]
pub enum State {
    Lent,
    Gone // away
}
"#;

fn book(n: i32) -> Document {
    let state = ["lent", "gone"];
    let state = state[usize::from(n % 2 == 0)];
    doc! {
        "_id": n, "title": format!("t{n}"), "firstPrint": {"year": 1815}, "state": state, "country": "UK",
    }
}

#[tokio::test]
async fn edits_are_kept_and_nothing_is_added_without_need() {
    let books: Vec<_> = (0..40).map(book).collect();
    let merged = pulled("books", &books).await.merge(FILE).unwrap();
    assert_eq!(merged.source, FILE);
    assert_eq!(merged.notes, []);
}

#[tokio::test]
async fn new_fields_and_strings_are_added() {
    let books = (0..40).map(|n| {
        let mut book = book(n);
        book.insert("copies", bson::bson!([{"shelf": "a", "Work": {"x": 1}}]));
        book.insert("firstPrint", doc! {"year": 1815, "press": "x"});
        if n % 4 == 0 {
            book.insert("state", "on shelf");
        }
        book
    });
    let books: Vec<_> = books.collect();
    let pulled = pulled("books", &books).await;
    let merged = pulled.merge(FILE).unwrap();
    assert_eq!(merged.notes, []);
    let text = &merged.source;
    let copies = "    origin: Origin,
    /// array 100 %; at most 1 element: object 100 %.
    #[odm(embed(few, max = 10))]
    pub copies: Vec<BookCopy>,
}
";
    assert!(text.contains(copies), "{text}");
    assert!(
        text.contains(
            "pub struct Print { year: i32,\n    /// string 100 %.\n    pub press: String,\n}\n"
        ),
        "{text}"
    );
    assert!(
        text.contains("    Gone, // away\n    /// 25 % of the strings.\n    #[serde(rename = \"on shelf\")]\n    OnShelf,\n}\n"),
        "{text}"
    );
    // A name that the file has is not taken again.
    assert!(text.matches("pub struct Work {").count() == 1, "{text}");
    let again = pulled.merge(text).unwrap();
    assert_eq!(&again.source, text);
}

#[tokio::test]
async fn new_models_follow_with_their_imports() {
    let pulled = pulled(
        "films",
        &[doc! {"_id": 1, "any": [1, "a"], "by": {"2020": 1}}],
    )
    .await;
    let merged = pulled.merge(FILE).unwrap();
    let lines = added(FILE, &merged.source);
    assert_eq!(
        lines[..4],
        ["use std::collections::BTreeMap;", "", "use odm::bson;", ""]
    );
    assert!(lines.contains(&"pub struct Film {"));
    let notes: Vec<_> = merged.notes.iter().map(ToString::to_string).collect();
    assert_eq!(notes, ["Work: the collection `books` does not exist"]);
    assert_eq!(pulled.merge(&merged.source).unwrap().source, merged.source);
    let empty = pulled.merge("").unwrap();
    assert!(empty.source.starts_with("use "), "{}", empty.source);
    assert_eq!(pulled.merge(&empty.source).unwrap().source, empty.source);
}

#[tokio::test]
async fn what_differs_is_noted() {
    let mut books: Vec<_> = (0..40).map(book).collect();
    for book in &mut books {
        book.remove("country");
        book.insert("title", bson::Bson::Null);
        book.insert("firstPrint", doc! {"year": 1815.5});
    }
    let merged = pulled("books", &books).await.merge(FILE).unwrap();
    assert_eq!(merged.source, FILE);
    let notes: Vec<_> = merged.notes.iter().map(ToString::to_string).collect();
    let expected = [
        "Work.name: its type does not read all documents: null 100 %",
        "Work.country: no document that was read has it",
        "Print.year: its type does not read all documents: double 100 %",
    ];
    assert_eq!(notes, expected);
}

#[tokio::test]
async fn modules_and_line_endings_are_kept() {
    let file = "mod models {\r\n    use odm::prelude::*;\r\n\r\n    #[derive(Debug, Serialize, Deserialize, Document)]\r\n    #[odm(collection = \"books\")]\r\n    pub struct Book {\r\n        #[serde(rename = \"_id\")]\r\n        pub id: i32,\r\n    }\r\n}\r\n";
    let pulled = pulled("books", &[doc! {"_id": 1, "title": "Emma"}]).await;
    let merged = pulled.merge(file).unwrap().source;
    assert!(merged.contains("        pub id: i32,\r\n        /// string 100 %.\r\n        pub title: String,\r\n    }\r\n"), "{merged}");
    assert_eq!(pulled.merge(&merged).unwrap().source, merged);
}

#[tokio::test]
async fn sources_that_cannot_be_merged_are_refused() {
    let pulled = pulled("books", &[doc! {"_id": 1}]).await;
    let error = pulled.merge("struct A;\nstruct {").unwrap_err();
    assert!(
        error.is_usage() && error.to_string().contains("line 2"),
        "{error}"
    );
    let two =
        "#[odm(collection = \"books\")] struct A { } #[odm(collection = \"books\")] struct B { }";
    let error = pulled.merge(two).unwrap_err();
    assert!(error.to_string().contains("`A` and `B`"), "{error}");
}
