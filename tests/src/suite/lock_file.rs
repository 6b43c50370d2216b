//! Lock files: what is said about a change of a model is true for documents that the old model has stored.

use std::collections::BTreeMap;

use futures::future::BoxFuture;
use odm::Code;
use odm::bson::{Bson, Decimal128, doc};
use odm::model::ModelMeta;
use odm::prelude::*;
use odm::schema::{Change, Impact, Lock, lock};

use crate::case::cases;

cases![
    classes_are_true_for_stored_documents,
    the_lines_of_a_model,
    enums_have_a_line_for_each_variant,
    types_that_contain_themselves_end,
    the_order_of_declarations_does_not_matter,
    every_difference_is_reported,
    two_models_of_one_collection_are_refused,
];

/// A model of the collection `docs`, in one of the ways to declare it.
struct Way {
    name: &'static str,
    model: fn() -> &'static ModelMeta,
    /// Stores documents with values at the ends of what the model allows.
    store: for<'d> fn(&'d Db) -> BoxFuture<'d, odm::Result<()>>,
    /// Reads all documents, and updates each in a field that all ways have.
    use_all: for<'d> fn(&'d Db) -> BoxFuture<'d, odm::Result<()>>,
}

macro_rules! ways {
    ($($name:ident { $($field:tt)* } [$({ $($value:tt)* })*] $({ $($item:tt)* })?)*) => {
        $(mod $name {
            use super::*;

            $($($item)*)?

            #[derive(Debug, Serialize, Deserialize, Document)]
            #[odm(collection = "docs")]
            pub(super) struct Doc {
                #[serde(rename = "_id")]
                id: i32,
                touched: i32,
                $($field)*
            }

            #[allow(clippy::needless_update, reason = "a way may have no field")]
            pub(super) fn store(db: &Db) -> BoxFuture<'_, odm::Result<()>> {
                Box::pin(async move {
                    db.sync(models![Doc]).plan().await?.apply(Allow::CREATE).await?;
                    let mut id = 0;
                    $(
                        id += 1;
                        let doc = Doc { id, touched: 0, $($value)* };
                        db.collection::<Doc>().insert_one(&doc).await?;
                    )*
                    assert!(id > 0);
                    Ok(())
                })
            }

            pub(super) fn use_all(db: &Db) -> BoxFuture<'_, odm::Result<()>> {
                Box::pin(async move {
                    let allowed = Allow::CREATE | Allow::CHANGE;
                    db.sync(models![Doc]).plan().await?.apply(allowed).await?.require_complete()?;
                    let docs = db.collection::<Doc>();
                    for doc in docs.find_all().all().await? {
                        docs.update_by_id(&doc.id, |d| d.touched.inc(1)).await?;
                    }
                    Ok(())
                })
            }
        })*

        const WAYS: &[Way] = &[$(Way {
            name: stringify!($name),
            model: $name::Doc::model,
            store: $name::store,
            use_all: $name::use_all,
        }),*];
    };
}

ways! {
    absent {} [{}]
    int { value: i32 } [{ value: i32::MIN } { value: i32::MAX } { value: 0 }]
    int_or_none { value: Option<i32> } [{ value: None } { value: Some(-300) } { value: Some(70_000) }]
    int_or_default { #[serde(default)] value: i32 } [{ value: i32::MIN } { value: i32::MAX }]
    int_or_absent {
        #[serde(default, skip_serializing_if = "Option::is_none")] value: Option<i32>
    } [{ value: None } { value: Some(i32::MAX) } { value: Some(-1) }]
    long { value: i64 } [{ value: i64::MIN } { value: i64::MAX } { value: 0 }]
    double { value: f64 } [{ value: -0.5 } { value: f64::INFINITY } { value: 1e300 }]
    decimal { value: Decimal128 } [{ value: "1.5".parse().unwrap() }]
    byte { value: u8 } [{ value: 0 } { value: 255 }]
    signed_byte { value: i8 } [{ value: -128 } { value: 127 }]
    unsigned { value: u32 } [{ value: 0 } { value: u32::MAX }]
    percent { #[odm(range(min = 0, max = 100))] value: i32 } [{ value: 0 } { value: 100 }]
    less_than_percent { #[odm(range(min = 0, max = 99))] value: i32 } [{ value: 0 } { value: 99 }]
    text { value: String } [{ value: String::new() } { value: "a".repeat(12) } { value: "Ä-".to_owned() }]
    text_or_none { value: Option<String> } [{ value: None } { value: Some("x".repeat(12)) } { value: Some(String::new()) }]
    short { #[odm(length(max = 10))] value: String } [{ value: String::new() } { value: "Ä-".to_owned() } { value: "x".repeat(10) }]
    not_empty { #[odm(length(min = 1))] value: String } [{ value: "Ä-".to_owned() } { value: "x".repeat(12) }]
    small_letters { #[odm(pattern = "^[a-z]*$")] value: String } [{ value: String::new() } { value: "x".repeat(12) }]
    truth { value: bool } [{ value: true } { value: false }]
    date { value: DateTime } [{ value: DateTime::from_millis(0) }]
    anything { value: Bson } [{ value: Bson::Null } { value: 1.into() } { value: "x".into() } { value: doc! {"a": 1}.into() } { value: vec![1, 2].into() } { value: true.into() } { value: 1.5.into() }]
    integers { value: Vec<i32> } [{ value: vec![] } { value: vec![i32::MAX, -1, -1] }]
    longs { value: Vec<i64> } [{ value: vec![] } { value: vec![i64::MAX; 3] }]
    few_integers { #[odm(items(max = 2))] value: Vec<i32> } [{ value: vec![] } { value: vec![-1, -1] }]
    two_integers { value: [i32; 2] } [{ value: [-1, -1] }]
    different { #[odm(unique_items)] value: Vec<i32> } [{ value: vec![] } { value: vec![-1, 1, i32::MAX] }]
    pair { value: (i32, String) } [{ value: (-1, "x".to_owned()) }]
    texts { value: Vec<String> } [{ value: vec![] } { value: vec!["x".to_owned(); 3] }]
    status { value: Status } [{ value: Status::Open } { value: Status::Paid }] {
        #[derive(Debug, Serialize, Deserialize, Embedded)]
        pub enum Status { Open, Paid }
    }
    more_status { value: Status } [{ value: Status::Open } { value: Status::Paid } { value: Status::Lost }] {
        #[derive(Debug, Serialize, Deserialize, Embedded)]
        pub enum Status { Open, Paid, Lost }
    }
    inner { value: Inner } [{ value: Inner { a: -1 } }] {
        #[derive(Debug, Serialize, Deserialize, Embedded)]
        pub struct Inner { pub a: i32 }
    }
    inner_long { value: Inner } [{ value: Inner { a: i64::MAX } }] {
        #[derive(Debug, Serialize, Deserialize, Embedded)]
        pub struct Inner { pub a: i64 }
    }
    inner_with_more { value: Inner } [{ value: Inner { a: -1, b: "x".to_owned() } }] {
        #[derive(Debug, Serialize, Deserialize, Embedded)]
        pub struct Inner { pub a: i32, pub b: String }
    }
    inner_with_option { value: Inner } [{ value: Inner { a: -1, b: None } } { value: Inner { a: -1, b: Some("x".to_owned()) } }] {
        #[derive(Debug, Serialize, Deserialize, Embedded)]
        pub struct Inner { pub a: i32, pub b: Option<String> }
    }
    inner_closed { value: Inner } [{ value: Inner { a: -1 } }] {
        #[derive(Debug, Serialize, Deserialize, Embedded)]
        #[odm(deny_undeclared)]
        pub struct Inner { pub a: i32 }
    }
    inner_or_none { value: Option<Inner> } [{ value: None } { value: Some(Inner { a: -1 }) }] {
        #[derive(Debug, Serialize, Deserialize, Embedded)]
        pub struct Inner { pub a: i32 }
    }
    shape { value: Shape } [{ value: Shape::Circle { radius: 1 } } { value: Shape::Point }] {
        #[derive(Debug, Serialize, Deserialize, Embedded)]
        #[serde(tag = "type")]
        pub enum Shape { Circle { radius: i32 }, Point }
    }
    more_shapes { value: Shape } [{ value: Shape::Circle { radius: 1 } } { value: Shape::Point } { value: Shape::Square { side: 1 } }] {
        #[derive(Debug, Serialize, Deserialize, Embedded)]
        #[serde(tag = "type")]
        pub enum Shape { Circle { radius: i32 }, Point, Square { side: i32 } }
    }
    keyed_shape { value: Shape } [{ value: Shape::Circle { radius: 1 } } { value: Shape::Point }] {
        #[derive(Debug, Serialize, Deserialize, Embedded)]
        pub enum Shape { Circle { radius: i32 }, Point }
    }
    flat { #[serde(flatten)] value: Inner } [{ value: Inner { a: -1, b: None } } { value: Inner { a: -1, b: Some(1) } }] {
        #[derive(Debug, Serialize, Deserialize, Embedded)]
        pub struct Inner { pub a: i32, pub b: Option<i32> }
    }
    counts { value: BTreeMap<String, i32> } [{ value: BTreeMap::new() } { value: [("a".to_owned(), -1)].into() } { value: [("b".to_owned(), 1)].into() }]
    counts_by_status { value: BTreeMap<Status, i32> } [{ value: [(Status::a, 1)].into() }] {
        #[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, Embedded)]
        #[allow(non_camel_case_types, reason = "the keys of another way")]
        pub enum Status { a }
    }
    renamed { #[serde(alias = "value")] number: i32 } [{ number: -1 } { number: i32::MAX }]
}

/// Pairs that need a rewrite because of documents that only other programs store: null, and undeclared fields.
const CAREFUL: [(&str, &str); 2] = [
    ("int_or_absent", "int_or_default"),
    ("inner", "inner_closed"),
];

/// Every pair of ways: documents of the first, read and updated by the second.
async fn classes_are_true_for_stored_documents(db: &Db) {
    let mut wrong = Vec::new();
    for old in WAYS {
        // Nothing is there before the first one.
        let dropped = db.run_command(doc! {"drop": "docs"}).await;
        assert!(dropped.is_ok() || dropped.unwrap_err().code() == Some(Code::NAMESPACE_NOT_FOUND));
        (old.store)(db)
            .await
            .unwrap_or_else(|error| panic!("{}: {error}", old.name));
        for new in WAYS {
            let (before, after) = (
                lock([(old.model)()]).unwrap(),
                lock([(new.model)()]).unwrap(),
            );
            let changes = Lock::compare(&before, &after);
            let impact = changes.iter().map(|change| change.impact).max();
            let used = (new.use_all)(db).await;
            let is_guess = |change: &Change| {
                let step = change.step.as_deref().unwrap_or_default();
                change.impact < Impact::Rewrite || step.starts_with("rename_")
            };
            let is_careful =
                CAREFUL.contains(&(old.name, new.name)) || changes.iter().all(is_guess);
            let said = match impact.unwrap_or(Impact::Compatible) {
                Impact::Compatible => used.is_ok(),
                // A warning that is always wrong is no use, either.
                Impact::Rewrite => used.is_err() || is_careful,
                _ => true,
            };
            if !said {
                wrong.push(format!(
                    "{} -> {}: {used:?}, but {changes:#?}",
                    old.name, new.name
                ));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {}: {}",
        wrong.len(),
        WAYS.len().pow(2),
        wrong.join("\n")
    );
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "authors", has_many(books: Book, by = author, on_delete = cascade))]
struct Author {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(count_of(books))]
    book_count: i64,
    #[odm(length(max = 100))]
    name: String,
}

#[derive(Debug, Serialize, Deserialize, Embedded)]
#[serde(rename_all = "camelCase")]
struct Edition {
    first_year: u16,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    printers: Vec<String>,
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(
    collection = "books",
    deny_undeclared,
    validation(level = "moderate"),
    index(title, author = desc),
    ttl(removed, after = "30d"),
    rule("sold or not", |b| b.stock.gte(0))
)]
struct Book {
    #[serde(rename = "_id")]
    id: Id<Book>,
    #[odm(index)]
    author: Ref<Author>,
    #[odm(copy_of(author.name))]
    author_name: Option<String>,
    #[odm(embed(few, max = 9), unique_items)]
    editions: Vec<Edition>,
    #[serde(alias = "name", alias = "Titel")]
    title: String,
    removed: Option<DateTime>,
    #[odm(range(min = 0))]
    stock: i32,
    #[odm(keywords(from(title), language = "english", max = 20))]
    words: Vec<String>,
    #[serde(rename = "of: shelf")]
    shelf: Option<String>,
    #[odm(version)]
    version: i64,
}

async fn the_lines_of_a_model(_: &Db) {
    let text = lock(models![Book, Author]).unwrap().to_string();
    let expected = r#"odm-lock 1
X"#;
    assert_eq!(text, expected);
    assert_eq!(Lock::parse(&text).unwrap().to_string(), text);
}

async fn enums_have_a_line_for_each_variant(_: &Db) {
    #[derive(Debug, Serialize, Deserialize, Embedded)]
    #[serde(rename_all = "kebab-case")]
    enum External {
        OneUnit,
        Pair(i32, String),
        Number(i64),
        Fields { a: bool },
    }
    #[derive(Debug, Serialize, Deserialize, Embedded)]
    #[serde(tag = "t", content = "c")]
    enum Adjacent {
        Unit,
        Number(i32),
    }
    #[derive(Debug, Serialize, Deserialize, Embedded)]
    #[serde(untagged)]
    enum Untagged {
        Text(String),
        Number(i32),
    }
    #[derive(Debug, Serialize, Deserialize, Embedded)]
    #[serde(tag = "kind")]
    enum Internal {
        Ball { radius: f64 },
        Nothing,
    }
    #[derive(Debug, Serialize, Deserialize, Document)]
    #[odm(collection = "enums")]
    struct Enums {
        #[serde(rename = "_id")]
        id: i32,
        external: External,
        adjacent: Option<Adjacent>,
        untagged: Untagged,
        #[serde(flatten)]
        internal: Internal,
    }
    let text = lock(models![Enums]).unwrap().to_string();
    let expected = r#"odm-lock 1
X"#;
    assert_eq!(text, expected);
}

#[derive(Debug, Serialize, Deserialize, Embedded)]
#[odm(depth = 3)]
struct Comment {
    text: String,
    #[odm(embed(few, max = 3))]
    replies: Vec<Comment>,
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "posts")]
struct Post {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(embed(few, max = 3))]
    comments: Vec<Comment>,
    last: Option<Box<Comment>>,
    #[serde(flatten)]
    others: BTreeMap<String, i32>,
}

async fn types_that_contain_themselves_end(_: &Db) {
    let text = lock(models![Post]).unwrap().to_string();
    for line in [
        "  field comments[].replies[]: object like=\"comments[]\"\n",
        "  field last.replies[]: object like=\"last\"\n",
        "  field {}: int\n",
    ] {
        assert!(text.contains(line), "{text}");
    }
}

async fn the_order_of_declarations_does_not_matter(_: &Db) {
    #[derive(Debug, Serialize, Deserialize, Embedded)]
    enum Kind {
        B,
        A,
    }
    mod turned {
        use super::*;

        #[derive(Debug, Serialize, Deserialize, Embedded)]
        pub(super) enum Kind {
            A,
            B,
        }
        #[derive(Debug, Serialize, Deserialize, Document)]
        #[odm(collection = "things", index(kind, name), index(name))]
        pub(super) struct Thing {
            name: String,
            #[odm(one_of("y", "x"))]
            letter: String,
            kind: Kind,
            #[serde(rename = "_id")]
            id: i32,
        }
    }
    #[derive(Debug, Serialize, Deserialize, Document)]
    #[odm(collection = "things", index(name), index(kind, name))]
    struct Thing {
        #[serde(rename = "_id")]
        id: i32,
        kind: Kind,
        #[odm(one_of("x", "y"))]
        letter: String,
        name: String,
    }
    let one = lock(models![Thing, Author]).unwrap();
    let other = lock(models![Author, turned::Thing]).unwrap();
    assert_eq!(one.to_string(), other.to_string());
    assert_eq!(one, other);
}

/// Removes each line in turn, and each word of it: what differs is reported, both ways.
async fn every_difference_is_reported(_: &Db) {
    let lock = lock(models![Author, Book, Post]).unwrap();
    let text = lock.to_string();
    let mut compared = 0;
    for line in text.lines().skip(2).filter(|line| line.starts_with("  ")) {
        let mut variants = vec![text.replace(&format!("{line}\n"), "")];
        for word in line.split(' ').skip(3) {
            variants.push(text.replacen(line, &line.replacen(&format!(" {word}"), "", 1), 1));
        }
        for variant in variants {
            let Ok(variant) = Lock::parse(&variant) else {
                continue;
            };
            assert_eq!(
                Lock::compare(&variant, &lock).is_empty(),
                variant == lock,
                "{line}"
            );
            assert_eq!(
                Lock::compare(&lock, &variant).is_empty(),
                variant == lock,
                "{line}"
            );
            compared += 1;
        }
    }
    assert!(compared > 50, "{compared}");
}

async fn two_models_of_one_collection_are_refused(_: &Db) {
    #[derive(Debug, Serialize, Deserialize, Document)]
    #[odm(collection = "authors")]
    struct Writer {
        #[serde(rename = "_id")]
        id: i32,
    }
    let error = lock(models![Author, Writer]).unwrap_err();
    assert!(error.is_declaration());
    let message = "`Author` and `Writer` both declare the collection `authors`";
    assert!(error.to_string().contains(message), "{error}");
    let error = lock(models![Author, Author]).unwrap_err().to_string();
    assert!(error.contains("`Author` is listed twice"), "{error}");
}
