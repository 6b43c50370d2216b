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
        pub(super) enum Status { Open, Paid }
    }
    more_status { value: Status } [{ value: Status::Open } { value: Status::Paid } { value: Status::Lost }] {
        #[derive(Debug, Serialize, Deserialize, Embedded)]
        pub(super) enum Status { Open, Paid, Lost }
    }
    inner { value: Inner } [{ value: Inner { a: -1 } }] {
        #[derive(Debug, Serialize, Deserialize, Embedded)]
        pub(super) struct Inner { pub a: i32 }
    }
    inner_long { value: Inner } [{ value: Inner { a: i64::MAX } }] {
        #[derive(Debug, Serialize, Deserialize, Embedded)]
        pub(super) struct Inner { pub a: i64 }
    }
    inner_with_more { value: Inner } [{ value: Inner { a: -1, b: "x".to_owned() } }] {
        #[derive(Debug, Serialize, Deserialize, Embedded)]
        pub(super) struct Inner { pub a: i32, pub b: String }
    }
    inner_with_option { value: Inner } [{ value: Inner { a: -1, b: None } } { value: Inner { a: -1, b: Some("x".to_owned()) } }] {
        #[derive(Debug, Serialize, Deserialize, Embedded)]
        pub(super) struct Inner { pub a: i32, pub b: Option<String> }
    }
    inner_closed { value: Inner } [{ value: Inner { a: -1 } }] {
        #[derive(Debug, Serialize, Deserialize, Embedded)]
        #[odm(deny_undeclared)]
        pub(super) struct Inner { pub a: i32 }
    }
    inner_or_none { value: Option<Inner> } [{ value: None } { value: Some(Inner { a: -1 }) }] {
        #[derive(Debug, Serialize, Deserialize, Embedded)]
        pub(super) struct Inner { pub a: i32 }
    }
    shape { value: Shape } [{ value: Shape::Circle { radius: 1 } } { value: Shape::Point }] {
        #[derive(Debug, Serialize, Deserialize, Embedded)]
        #[serde(tag = "type")]
        pub(super) enum Shape { Circle { radius: i32 }, Point }
    }
    more_shapes { value: Shape } [{ value: Shape::Circle { radius: 1 } } { value: Shape::Point } { value: Shape::Square { side: 1 } }] {
        #[derive(Debug, Serialize, Deserialize, Embedded)]
        #[serde(tag = "type")]
        pub(super) enum Shape { Circle { radius: i32 }, Point, Square { side: i32 } }
    }
    keyed_shape { value: Shape } [{ value: Shape::Circle { radius: 1 } } { value: Shape::Point }] {
        #[derive(Debug, Serialize, Deserialize, Embedded)]
        pub(super) enum Shape { Circle { radius: i32 }, Point }
    }
    flat { #[serde(flatten)] value: Inner } [{ value: Inner { a: -1, b: None } } { value: Inner { a: -1, b: Some(1) } }] {
        #[derive(Debug, Serialize, Deserialize, Embedded)]
        pub(super) struct Inner { pub a: i32, pub b: Option<i32> }
    }
    counts { value: BTreeMap<String, i32> } [{ value: BTreeMap::new() } { value: [("a".to_owned(), -1)].into() } { value: [("b".to_owned(), 1)].into() }]
    counts_by_status { value: BTreeMap<Status, i32> } [{ value: [(Status::A, 1)].into() }] {
        #[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, Embedded)]
        pub(super) enum Status {
            #[serde(rename = "a")]
            A,
        }
    }
    renamed { #[serde(alias = "value")] number: i32 } [{ number: -1 } { number: i32::MAX }]
}

/// Pairs that need a rewrite because of documents that only earlier versions and other programs store: without the field, with
/// null, and with undeclared fields.
const CAREFUL: [(&str, &str); 7] = [
    ("int_or_default", "int"),
    ("int_or_default", "anything"),
    ("int_or_none", "anything"),
    ("text_or_none", "anything"),
    ("inner_or_none", "anything"),
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

collection authors model Author version 1
  field _id: int required
  field book_count: long required summary="count of books"
  field name: string required maxLength=100
  relation books: {"by":"author","has_many":"books","key":"id","on_delete":"cascade"}

collection books model Book version 1
  field "of: shelf": null|string default
  field _id: objectId required
  field author: int required ref="authors"
  field author_name: null|string default copy_of="author.name"
  field editions: array required maxItems=9 uniqueItems=true
  field editions[]: object
  field editions[].firstYear: int required maximum=65535 minimum=0
  field editions[].printers: array optional
  field editions[].printers[]: string
  field removed: date|null default
  field stock: int required minimum=0
  field title: string required alias=["Titel","name"]
  field version: long required
  field words: array required maxItems=20 uniqueItems=true
  field words[]: string
  option deny_undeclared: true
  option validation: {"level":"moderate","action":"error"}
  option version: {"field":"version"}
  index author_1: {"key":{"author":1}}
  index removed_1: {"key":{"removed":1},"expireAfterSeconds":2592000}
  index title_1_author_-1: {"key":{"title":1,"author":-1}}
  index words_1: {"key":{"words":1}}
  keywords words: {"from":["title"],"language":"english","max":20}
  rule "sold or not": {"stock":{"$gte":0}}
"#;
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

collection enums model Enums version 1
  field <Ball>: object tagging="internal kind"
  field <Ball>.radius: double required
  field _id: int required
  field adjacent: null|object default
  field adjacent.t: string required enum=["Number","Unit"]
  field adjacent<Number>: int tagging="adjacent t c"
  field external: object|string required enum=["one-unit"]
  field external<fields>: object tagging="external"
  field external<fields>.a: bool required
  field external<number>: long tagging="external"
  field external<pair>: array tagging="external"
  field external<pair>[0]: int
  field external<pair>[1]: string
  field kind: string required enum=["Ball","Nothing"]
  field untagged: any required order=["Text","Number"]
  field untagged<Number>: int tagging="untagged"
  field untagged<Text>: string tagging="untagged"
"#;
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
        use super::{Deserialize, Document, Embedded, Serialize, doc};

        #[derive(Debug, Serialize, Deserialize, Embedded)]
        pub(super) enum Kind {
            A,
            B,
        }
        #[derive(Debug, Serialize, Deserialize, Document)]
        #[odm(collection = "things", index(kind, name))]
        pub(super) struct Thing {
            #[odm(index)]
            name: String,
            #[odm(one_of("y", "x"))]
            letter: String,
            kind: Kind,
            #[serde(rename = "_id")]
            id: i32,
        }
    }
    #[derive(Debug, Serialize, Deserialize, Document)]
    #[odm(collection = "things", index(kind, name))]
    struct Thing {
        #[serde(rename = "_id")]
        id: i32,
        kind: Kind,
        #[odm(one_of("x", "y"))]
        letter: String,
        #[odm(index)]
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
