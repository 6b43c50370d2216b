//! Reports: each part is in its section, whatever names and values are stored.

mod page;

use odm::bson::{Document as BsonDocument, doc};
use odm::check::{Aspect, FindingKind};
use odm::model::ModelMeta;
use odm::prelude::*;
use odm::report::{DatabaseReport, DesignOutcome, Part};
use odm::schema::Diagram;
use odm::tree::prelude::Parent;

use self::page::Page;
use crate::case::cases;

cases![
    a_sound_database_has_good_answers,
    drift_damage_and_advice_are_in_their_sections,
    names_and_values_are_escaped,
    diagrams_are_well_formed,
    parts_can_be_left_out,
    refused_declarations_are_sentences,
    models_of_one_collection_have_no_plan,
    large_collections_are_sampled,
    trees_and_views_are_reported,
    chosen_names_are_reported,
    missing_collections_are_drift,
    wrong_options_are_errors,
];

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[odm(collection = "authors", has_many(books: Book, by = author, on_delete = restrict))]
struct Author {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(length(min = 1, max = 40))]
    name: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[odm(collection = "books", index(title, author))]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
    #[odm(index)]
    author: Ref<Author>,
    #[odm(copy_of(author.name))]
    author_name: String,
    note: Option<Note>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Embedded)]
struct Note {
    text: String,
    #[odm(unbounded = "a `note` has three pages")]
    pages: Vec<Leaf>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Embedded)]
struct Leaf {
    text: String,
}

async fn synced(db: &Db, models: impl IntoIterator<Item = &'static ModelMeta>) {
    let plan = db.sync(models).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
}

async fn run(db: &Db, command: BsonDocument) {
    db.run_command(command).await.unwrap();
}

async fn reported(db: &Db, models: impl IntoIterator<Item = &'static ModelMeta>) -> DatabaseReport {
    db.report(models).await.unwrap()
}

/// An author with two books.
async fn library(db: &Db) {
    synced(db, models![Author, Book]).await;
    let ada = doc! {"_id": 1, "name": "Ada"};
    run(db, doc! {"insert": "authors", "documents": [ada]}).await;
    let book = |id: i32| doc! {"_id": id, "title": format!("book {id}"), "author": 1, "author_name": "Ada"};
    run(
        db,
        doc! {"insert": "books", "documents": [book(1), book(2)]},
    )
    .await;
}

async fn a_sound_database_has_good_answers(db: &Db) {
    library(db).await;
    let report = db.report(models![Author, Book]).title("Our library");
    let report = report.await.unwrap();
    assert!(report.plan.value().unwrap().is_empty());
    assert!(report.check.value().unwrap().is_sound());
    let counts = report.models.iter().map(|one| one.documents.clone());
    assert_eq!(counts.collect::<Vec<_>>(), [Part::Made(1), Part::Made(2)]);
    let html = report.html();
    let page = Page::of(&html);
    let answers = page.text_of("answers");
    for text in [
        "Is the data sound?Yes: 3 documents read, nothing found.",
        "Does the database match its models?Yes.",
        "Do the models pass the design checks?Yes. 1 exception with a reason.",
    ] {
        assert!(answers.contains(text), "{text}\n{answers}");
    }
    assert!(page.text_of("check").contains("Nothing was found."));
    let first = page.text_of("model-0");
    for text in [
        "Author authors",
        "1 document",
        "length(min = 1, max = 40)",
        "has many",
    ] {
        assert!(first.contains(text), "{text}\n{first}");
    }
    let second = page.text_of("model-1");
    for text in [
        "copy of author.name",
        "refers to Author",
        "note.pages[].text",
        "title_1_author_1{title: 1, author: 1}",
        "$jsonSchema",
    ] {
        assert!(second.contains(text), "{text}\n{second}");
    }
    assert!(page.text_of("design").contains("a note has three pages"));
    assert!(html.contains("<title>Our library</title>"));
    assert!(
        report.to_string().contains("matches its models"),
        "{report}"
    );
}

async fn drift_damage_and_advice_are_in_their_sections(db: &Db) {
    library(db).await;
    let rename = doc! {"q": {"_id": 1}, "u": {"$set": {"name": "Adah"}}};
    run(db, doc! {"update": "authors", "updates": [rename]}).await;
    let stray =
        doc! {"_id": 3, "title": "lost", "author": 9, "author_name": "Bob", "colour": "red"};
    run(db, doc! {"insert": "books", "documents": [stray]}).await;
    run(
        db,
        doc! {"dropIndexes": "books", "index": "title_1_author_1"},
    )
    .await;
    let redundant = doc! {"key": {"author": 1, "title": 1}, "name": "by_author"};
    run(db, doc! {"createIndexes": "books", "indexes": [redundant]}).await;
    run(db, doc! {"create": "leftover"}).await;
    let report = reported(db, models![Author, Book]).await;
    let check = report.check.value().unwrap();
    assert_eq!(check.findings, 4, "{check}");
    let html = report.html();
    let page = Page::of(&html);
    let answers = page.text_of("answers");
    for text in [
        "No: 4 findings in 4 documents.",
        "2 × stale copy",
        "1 × dangling reference",
        "1 × undeclared field",
        "No: 2 steps would bring it in line.",
        "2 × books",
        "1 × empty-collection",
        "1 × redundant-index",
    ] {
        assert!(answers.contains(text), "{text}\n{answers}");
    }
    let drift = page.text_of("drift");
    for text in ["+ create index", "drop index by_author", "db.runCommand({"] {
        assert!(drift.contains(text), "{text}\n{drift}");
    }
    let found = page.text_of("check");
    for text in [
        "stale copyBookauthor_name2",
        "dangling reference of Book at author",
        "author leads to no Author with the _id 9",
        "\"Adah\"",
    ] {
        assert!(found.contains(text), "{text}\n{found}");
    }
    let advice = page.text_of("advice");
    for text in ["redundant-index Book", "leftover", "To do: "] {
        assert!(advice.contains(text), "{text}\n{advice}");
    }
    assert_eq!(html, report.html());
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "x<b>&\"'</style>", index(field))]
struct Hostile {
    #[serde(rename = "_id")]
    id: String,
    #[serde(rename = "<img src=x onerror=alert(1)>")]
    field: i32,
}

async fn names_and_values_are_escaped(db: &Db) {
    synced(db, models![Hostile]).await;
    let hostile = "</script><script>alert(1)</script>\"'`&\u{0}\u{202E}\u{FEFF}\n]]>";
    let document = doc! {
        "_id": hostile,
        "<img src=x onerror=alert(1)>": hostile,
        "</td><script>alert(2)</script>": hostile,
        "\u{202E}\u{1}": hostile,
    };
    run(
        db,
        doc! {
            "insert": "x<b>&\"'</style>",
            "documents": [document],
            "bypassDocumentValidation": true,
        },
    )
    .await;
    let index = doc! {"key": {"<script>": 1}, "name": "<i>\"by\"</i>"};
    run(
        db,
        doc! {"createIndexes": "x<b>&\"'</style>", "indexes": [index]},
    )
    .await;
    let report = db.report(models![Hostile]).title("</title><script>");
    let report = report.await.unwrap();
    let check = report.check.value().unwrap();
    assert_eq!(check.findings, 3, "{check}");
    let html = report.html();
    let page = Page::of(&html);
    let found = page.text_of("check");
    for text in ["</td><script>alert(2)</script>", "[U+202E][U+0001]"] {
        assert!(found.contains(text), "{text}\n{found}");
    }
    assert!(page.text_of("drift").contains("<i>\"by\"</i>"));
    let model = page.text_of("model-0");
    assert!(model.contains("<img src=x onerror=alert(1)>"), "{model}");
    assert!(page.text_of("diagram").contains("x<b>&\"'</style>"));
}

async fn diagrams_are_well_formed(_: &Db) {
    let diagram = Diagram::of(models![Author, Book, Hostile, Category]).unwrap();
    let svg = diagram.svg();
    let parsed = page::parsed(&svg);
    let root = parsed.root_element();
    assert_eq!(
        root.tag_name().namespace(),
        Some("http://www.w3.org/2000/svg")
    );
    let lines = parsed.descendants().filter(|node| {
        let class = node.attribute("class").unwrap_or_default();
        class.split(' ').any(|class| class == "odm-line")
    });
    // The copied reference, the note and its pages; the parent of a category.
    assert_eq!(lines.count(), 4, "{}", diagram.mermaid());
}

async fn parts_can_be_left_out(db: &Db) {
    library(db).await;
    let report = db.report(models![Author, Book]).without_check();
    let report = report.without_advice().await.unwrap();
    assert!(report.check.is_left_out() && report.advice.is_left_out());
    let html = report.html();
    let page = Page::of(&html);
    assert!(page.text_of("check").contains("The check was left out."));
    assert!(page.text_of("advice").contains("The advice was left out."));
    assert!(
        page.text_of("answers")
            .contains("Not known: it was left out.")
    );
    // The options of the parts are those of their own calls.
    let report = db.report(models![Author, Book]);
    let report = report
        .check(|check| check.only([Aspect::Copies]).sample(1))
        .advise(|advise| advise.max_collections(0));
    let report = report.await.unwrap();
    assert_eq!(report.check.value().unwrap().read(), 1);
    let advice = &report.advice.value().unwrap().advice;
    let mut codes = advice.iter().map(|one| one.code.as_str());
    assert!(codes.any(|code| code == "too-many-collections"));
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "pictures", budget = "1MiB")]
struct Picture {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
}

async fn refused_declarations_are_sentences(db: &Db) {
    let report = reported(db, models![Picture]).await;
    let [note] = report.design.as_slice() else {
        panic!("{report}");
    };
    assert_eq!(note.code, Some("no_bound"));
    assert_eq!(note.outcome, DesignOutcome::Refused);
    assert!(report.plan.failure().unwrap().contains("length(max"));
    let html = report.html();
    let page = Page::of(&html);
    assert!(
        page.text_of("drift")
            .starts_with("DriftThe plan could not be made: ")
    );
    assert!(page.text_of("design").contains("✗ refused"));
    let answers = page.text_of("answers");
    assert!(
        answers.contains("No: 1 declaration is refused."),
        "{answers}"
    );
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "books")]
struct OtherBook {
    #[serde(rename = "_id")]
    id: i32,
}

async fn models_of_one_collection_have_no_plan(db: &Db) {
    let report = reported(db, models![Book, OtherBook]).await;
    let failure = report.plan.failure().unwrap();
    assert!(failure.contains("both declare the collection"), "{failure}");
    Page::of(&report.html());
}

async fn large_collections_are_sampled(db: &Db) {
    synced(db, models![Author]).await;
    let authors = (0..10_500).map(|id| Author {
        id,
        name: format!("author {id}"),
    });
    db.collection().insert_many(authors).await.unwrap();
    let report = reported(db, models![Author]).await;
    let check = report.check.value().unwrap();
    assert_eq!(check.read(), 10_000);
    assert!(check.findings == 0, "{check}");
    let page = report.html();
    assert!(
        Page::of(&page)
            .text_of("check")
            .contains("Authorauthors1000010500")
    );
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "categories", tree(parent_references, parent = parent))]
struct Category {
    #[serde(rename = "_id")]
    id: i32,
    parent: Parent<Category>,
}

async fn trees_and_views_are_reported(db: &Db) {
    synced(db, models![Category]).await;
    let documents = [
        doc! {"_id": 1, "parent": null},
        doc! {"_id": 2, "parent": 7},
    ];
    run(
        db,
        doc! {"insert": "categories", "documents": documents.to_vec()},
    )
    .await;
    run(
        db,
        doc! {"create": "books", "viewOn": "categories", "pipeline": []},
    )
    .await;
    let report = reported(db, models![Category, OtherBook]).await;
    let html = report.html();
    let page = Page::of(&html);
    assert!(
        page.text_of("model-0")
            .contains("a tree by parent references")
    );
    let check = report.check.value().unwrap();
    let mut kinds = check.counts.iter().map(|one| one.kind);
    assert!(
        kinds.any(|kind| matches!(kind, FindingKind::DamagedTree(_))),
        "{check}"
    );
    assert!(page.text_of("advice").contains("it is a view"));
}

async fn chosen_names_are_reported(db: &Db) {
    let tenant = db.with_collection_names(|name| format!("acme_{name}"));
    synced(&tenant, models![Author, Book]).await;
    let report = tenant.report(models![Author, Book]).await.unwrap();
    assert_eq!(report.models[0].collection, "acme_authors");
    assert!(
        Page::of(&report.html())
            .text_of("model-1")
            .contains("acme_books")
    );
}

async fn missing_collections_are_drift(db: &Db) {
    let report = reported(db, models![Author, Book]).await;
    let html = report.html();
    let page = Page::of(&html);
    let drift = page.text_of("drift");
    assert!(drift.contains("authors + create the collection"), "{drift}");
    assert_eq!(report.models[0].documents, Part::Made(0));
    let empty = reported(db, models![]).await.html();
    let page = Page::of(&empty);
    assert!(page.text_of("diagram").contains("names no models"));
}

async fn wrong_options_are_errors(db: &Db) {
    let report = db.report(models![Author]);
    let report = report.check(|check| check.filter::<Book>(|b| b.id.eq(1)));
    assert!(report.await.unwrap_err().is_usage());
}
