//! Views that models declare: plans create and change them, typed reads and joins go through them.

use futures::TryStreamExt;
use odm::bson::{self, doc};
use odm::plan::Action;
use odm::prelude::*;

use crate::case::cases;

cases![
    plans_create_views_after_what_they_read,
    plans_change_views,
    plans_recreate_views_with_another_collation,
    collections_and_views_are_in_each_others_way,
    two_processes_create_one_view,
    handles_rename_what_a_view_reads,
    views_are_read,
    views_join_and_are_joined,
    views_of_foreign_documents,
    checks_compare_documents_of_views,
    advice_and_reports_know_views,
    wrong_pipelines_are_refused,
    views_in_transactions,
];

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(
    collection = "authors",
    has_many(in_print: InPrint, by = author, allow_scan = "a view has no indexes")
)]
struct Author {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "books")]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
    #[odm(index)]
    author: Ref<Author>,
    stock: i32,
}

fn books_in_print() -> Vec<bson::Document> {
    vec![
        doc! {"$match": {"stock": {"$gt": 0}}},
        doc! {"$set": {"value": {"$multiply": ["$stock", 10]}}},
        doc! {"$unset": "stock"},
    ]
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "in_print", view(on = Book, pipeline = books_in_print))]
struct InPrint {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
    author: Ref<Author>,
    value: i32,
}

/// A view on a view.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(
    collection = "stock_of_authors",
    view(on = InPrint, pipeline = || vec![doc! {"$group": {"_id": "$author", "value": {"$sum": "$value"}}}])
)]
struct StockOfAuthor {
    #[serde(rename = "_id")]
    id: i32,
    value: i32,
}

/// Refers to documents of a view.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "offers")]
struct Offer {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index)]
    book: Ref<InPrint>,
}

async fn shelf(db: &Db) {
    let plan = db.sync(models![StockOfAuthor, InPrint, Author, Book, Offer]);
    let applied = plan.plan().await.unwrap().apply(Allow::CREATE).await;
    assert!(applied.unwrap().is_complete());
    let authors = [(1, "Austen"), (2, "Brontë")];
    let authors = authors.map(|(id, name)| Author {
        id,
        name: name.to_owned(),
    });
    db.collection::<Author>()
        .insert_many(&authors)
        .await
        .unwrap();
    let books = [
        (1, "Emma", 1, 3),
        (2, "Persuasion", 1, 0),
        (3, "Villette", 2, 2),
    ];
    let books = books.map(|(id, title, author, stock)| Book {
        id,
        title: title.to_owned(),
        author: Ref::from(author),
        stock,
    });
    db.collection::<Book>().insert_many(&books).await.unwrap();
}

fn actions(plan: &odm::plan::Plan) -> Vec<(String, Action)> {
    let steps = plan.steps().iter();
    steps
        .map(|step| (step.collection.clone(), step.action.clone()))
        .collect()
}

async fn plans_create_views_after_what_they_read(db: &Db) {
    let plan = db
        .sync(models![StockOfAuthor, InPrint, Book])
        .plan()
        .await
        .unwrap();
    let created = |name: &str, action| (name.to_owned(), action);
    assert_eq!(
        actions(&plan),
        [
            created("books", Action::CreateCollection),
            created(
                "books",
                Action::CreateIndexes {
                    names: vec!["author_1".to_owned()]
                }
            ),
            created("in_print", Action::CreateView),
            created("stock_of_authors", Action::CreateView),
        ]
    );
    assert_eq!(
        plan.steps()[2].commands,
        [doc! {"create": "in_print", "viewOn": "books", "pipeline": books_in_print()}]
    );
    assert!(plan.to_string().contains("+ create the view"), "{plan}");
    assert!(plan.apply(Allow::CREATE).await.unwrap().is_complete());
    let again = db
        .sync(models![StockOfAuthor, InPrint, Book])
        .plan()
        .await
        .unwrap();
    assert!(again.is_empty(), "{again}");
    // The view alone: its model reads a collection that need not exist.
    let other = db.with_collection_names(|name| format!("other_{name}"));
    let alone = other.sync(models![InPrint]).plan().await.unwrap();
    assert_eq!(alone.steps().len(), 1);
    alone.apply(Allow::CREATE).await.unwrap();
    let none = other
        .collection::<InPrint>()
        .find_all()
        .all()
        .await
        .unwrap();
    assert_eq!(none, []);
}

async fn plans_change_views(db: &Db) {
    shelf(db).await;
    // Numbers are compared by value: another program wrote a long.
    let mut same = books_in_print();
    same[0] = doc! {"$match": {"stock": {"$gt": 0_i64}}};
    let modify = |on: &str, pipeline: Vec<bson::Document>| {
        doc! {"collMod": "in_print", "viewOn": on, "pipeline": pipeline}
    };
    db.run_command(modify("books", same)).await.unwrap();
    assert!(db.sync(models![InPrint]).plan().await.unwrap().is_empty());
    // The order of stages, a stage less, another collection.
    let mut stages = books_in_print();
    stages.swap(0, 1);
    stages.pop();
    db.run_command(modify("tomes", stages)).await.unwrap();
    let plan = db.sync(models![InPrint, Book]).plan().await.unwrap();
    let [step] = plan.steps() else {
        panic!("{plan}")
    };
    assert_eq!(step.action, Action::ChangeView);
    assert_eq!(step.requires(), Some(Allow::CHANGE));
    assert_eq!(step.reasons.len(), 4, "{plan}");
    let text = plan.to_string();
    for part in [
        "it is on `tomes`, declared on `books`",
        "stage 1 is {$set: ",
        "there is no stage 3, declared {$unset: \"stock\"}",
    ] {
        assert!(text.contains(part), "{text}");
    }
    assert!(!plan.apply(Allow::CREATE).await.unwrap().is_complete());
    assert!(plan.apply(Allow::CHANGE).await.unwrap().is_complete());
    assert!(db.sync(models![InPrint]).plan().await.unwrap().is_empty());
    assert_eq!(
        db.collection::<InPrint>()
            .count_documents(|_| Filter::all())
            .await
            .unwrap(),
        2
    );
    // A stage that is not declared.
    let mut stages = books_in_print();
    stages.push(doc! {"$limit": 1});
    db.run_command(modify("books", stages)).await.unwrap();
    let plan = db.sync(models![InPrint]).plan().await.unwrap();
    assert_eq!(
        plan.steps()[0].reasons,
        ["stage 4 is {$limit: 1}, declared none"]
    );
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(
    collection = "titles",
    view(on = Book, pipeline = Vec::new),
    collation(locale = "en", strength = 2)
)]
struct Title {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
}

async fn plans_recreate_views_with_another_collation(db: &Db) {
    shelf(db).await;
    let create =
        doc! {"create": "titles", "viewOn": "books", "pipeline": [], "collation": {"locale": "fr"}};
    db.run_command(create).await.unwrap();
    let plan = db.sync(models![Title]).plan().await.unwrap();
    let [step] = plan.steps() else {
        panic!("{plan}")
    };
    assert_eq!(step.action, Action::RecreateView);
    assert_eq!(step.requires(), Some(Allow::DROP));
    assert!(!plan.apply(Allow::CHANGE).await.unwrap().is_complete());
    assert!(plan.apply(Allow::DROP).await.unwrap().is_complete());
    assert!(db.sync(models![Title]).plan().await.unwrap().is_empty());
    // The declared collation compares.
    let titles = db.collection::<Title>();
    let found = titles.find_one(|t| t.title.eq("EMMA")).await.unwrap();
    assert_eq!(found.map(|it| it.id), Some(1));
    // If the new view is refused, the old one is put back: another view reads it with its collation.
    db.run_command(doc! {"drop": "titles"}).await.unwrap();
    let french = doc! {"locale": "fr"};
    for (name, on) in [("titles", "books"), ("reader", "titles")] {
        let create = doc! {"create": name, "viewOn": on, "pipeline": [], "collation": &french};
        db.run_command(create).await.unwrap();
    }
    let plan = db.sync(models![Title]).plan().await.unwrap();
    let error = plan.apply(Allow::DROP).await.unwrap_err();
    assert_eq!(error.code().map(odm::Code::number), Some(167), "{error}");
    assert!(
        error.to_string().contains("the view put back as before"),
        "{error}"
    );
    let there = db
        .collection::<Title>()
        .find_one(|t| t.id.eq(3))
        .await
        .unwrap();
    assert_eq!(there.map(|it| it.title).as_deref(), Some("Villette"));
}

async fn collections_and_views_are_in_each_others_way(db: &Db) {
    db.run_command(doc! {"create": "in_print"}).await.unwrap();
    let plan = db.sync(models![InPrint]).plan().await.unwrap();
    let [step] = plan.steps() else {
        panic!("{plan}")
    };
    assert_eq!((&step.action, step.requires()), (&Action::ByHand, None));
    assert!(
        step.reasons[0].contains("a collection of this name is in the way"),
        "{plan}"
    );
    let everything = Allow::CREATE | Allow::CHANGE | Allow::DROP;
    assert!(!plan.apply(everything).await.unwrap().is_complete());
    let view = doc! {"create": "books", "viewOn": "tomes", "pipeline": []};
    db.run_command(view).await.unwrap();
    let plan = db.sync(models![Book]).plan().await.unwrap();
    let [step] = plan.steps() else {
        panic!("{plan}")
    };
    assert_eq!(step.action, Action::ByHand);
    assert!(
        step.reasons[0].contains("a view of this name is in the way"),
        "{plan}"
    );
}

async fn two_processes_create_one_view(db: &Db) {
    let one = db.sync(models![InPrint]).plan().await.unwrap();
    let other = db.sync(models![InPrint]).plan().await.unwrap();
    assert!(one.apply(Allow::CREATE).await.unwrap().is_complete());
    assert!(other.apply(Allow::CREATE).await.unwrap().is_complete());
    // Another definition is not the same view.
    db.run_command(doc! {"collMod": "in_print", "viewOn": "books", "pipeline": []})
        .await
        .unwrap();
    let error = other.apply(Allow::CREATE).await.unwrap_err();
    assert_eq!(error.code(), Some(odm::Code::NAMESPACE_EXISTS), "{error}");
}

async fn handles_rename_what_a_view_reads(db: &Db) {
    let tenant = db.with_collection_names(|name| format!("t7_{name}"));
    shelf(&tenant).await;
    let options = db
        .run_command(doc! {"listCollections": 1, "filter": {"name": "t7_in_print"}})
        .all()
        .await
        .unwrap();
    let options = options[0].get_document("options").unwrap();
    assert_eq!(options.get_str("viewOn").unwrap(), "t7_books");
    assert_eq!(
        tenant
            .collection::<InPrint>()
            .find_all()
            .all()
            .await
            .unwrap()
            .len(),
        2
    );
    assert!(
        tenant
            .sync(models![InPrint, StockOfAuthor])
            .plan()
            .await
            .unwrap()
            .is_empty()
    );
}

async fn views_are_read(db: &Db) {
    shelf(db).await;
    let in_print = db.collection::<InPrint>();
    let all = in_print
        .find_all()
        .sort(|b| b.id.desc())
        .all()
        .await
        .unwrap();
    let titles: Vec<_> = all.iter().map(|book| book.title.as_str()).collect();
    assert_eq!(titles, ["Villette", "Emma"]);
    assert_eq!(all[0].value, 20);
    assert_eq!(in_print.get(&1).await.unwrap().unwrap().value, 30);
    assert!(in_print.get(&2).await.unwrap().is_none());
    assert_eq!(
        in_print.count_documents(|b| b.value.gt(20)).await.unwrap(),
        1
    );
    assert_eq!(in_print.estimated_document_count().await.unwrap(), 2);
    let mut values = in_print
        .distinct(|b| b.value, |_| Filter::all())
        .await
        .unwrap();
    values.sort_unstable();
    assert_eq!(values, [20, 30]);
    let sum = doc! {"$group": {"_id": null, "sum": {"$sum": "$value"}}};
    let sums: Vec<bson::Document> = in_print.aggregate([sum]).all().await.unwrap();
    assert_eq!(sums[0].get_i32("sum").unwrap(), 50);
    let streamed: Vec<InPrint> = in_print
        .find_all()
        .batch_size(1)
        .await
        .unwrap()
        .try_collect()
        .await
        .unwrap();
    assert_eq!(streamed.len(), 2);
    let stock = db.collection::<StockOfAuthor>();
    let stock = stock.find_all().sort(|s| s.id.asc()).all().await.unwrap();
    assert_eq!(
        stock,
        [
            StockOfAuthor { id: 1, value: 30 },
            StockOfAuthor { id: 2, value: 20 }
        ]
    );
    // A view shows what its collection has now.
    db.collection::<Book>()
        .update_by_id(&2, |b| b.stock.set(1))
        .await
        .unwrap();
    assert_eq!(in_print.get(&2).await.unwrap().unwrap().value, 10);
    let query = || in_print.find_all().sort(|b| b.title.asc()).limit(2);
    let page = query().after(None).all().await.unwrap();
    let rest = query().after(page.last()).all().await.unwrap();
    assert_eq!((page.len(), rest.len()), (2, 1));
    assert_eq!(rest[0].title, "Villette");
    in_print.drop().await.unwrap();
    assert_eq!(
        db.collection::<Book>()
            .estimated_document_count()
            .await
            .unwrap(),
        3
    );
}

async fn views_join_and_are_joined(db: &Db) {
    shelf(db).await;
    let in_print = db.collection::<InPrint>();
    let row = in_print
        .find_one(|b| b.id.eq(3))
        .join(|b| b.author)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(row.author().found().unwrap().name, "Brontë");
    let authors = db.collection::<Author>();
    let row = authors
        .find_one(|a| a.id.eq(1))
        .join(|a| a.in_print.sort(|b| b.id.asc()))
        .await;
    let row = row.unwrap().unwrap();
    let titles: Vec<_> = row.in_print().iter().map(|b| b.title.as_str()).collect();
    assert_eq!(titles, ["Emma"]);
    // Filters through a relation to a view.
    let with_stock = authors
        .find_all()
        .where_any(|a| a.in_print, |b| b.value.gt(25))
        .all()
        .await
        .unwrap();
    assert_eq!(with_stock.iter().map(|a| a.id).collect::<Vec<_>>(), [1]);
    let offers = db.collection::<Offer>();
    offers
        .insert_many(&[(1, 1), (2, 2)].map(|(id, book)| Offer {
            id,
            book: Ref::from(book),
        }))
        .await
        .unwrap();
    let rows = offers
        .find(|o| o.id.eq(1))
        .join(|o| o.book)
        .all()
        .await
        .unwrap();
    assert_eq!(rows[0].book().found().unwrap().title, "Emma");
    // Book 2 is not in print, so that the reference to it dangles.
    let report = db.check(models![Offer]).await.unwrap();
    assert_eq!(report.findings, 1, "{report}");
    let lookup = doc! {"$lookup": {"from": "in_print", "localField": "book", "foreignField": "_id", "as": "book"}};
    let joined: Vec<bson::Document> = offers
        .aggregate([doc! {"$sort": {"_id": 1}}, lookup])
        .all()
        .await
        .unwrap();
    let counts = joined
        .iter()
        .map(|offer| offer.get_array("book").unwrap().len());
    assert_eq!(counts.collect::<Vec<_>>(), [1, 0]);
}

/// Documents of other programs come through the view as they are stored, and stages may leave out fields.
async fn views_of_foreign_documents(db: &Db) {
    shelf(db).await;
    let documents = vec![
        doc! {"_id": 4, "title": "Shirley", "author": 2_i64, "stock": 2_i64},
        doc! {"_id": 5, "title": null, "author": 2, "stock": 1},
        doc! {"_id": 6, "author": 2, "stock": "many"},
    ];
    let insert = doc! {"insert": "books", "documents": documents, "bypassDocumentValidation": true};
    db.run_command(insert).await.unwrap();
    let in_print = db.collection::<InPrint>();
    let shirley = in_print.get(&4).await.unwrap().unwrap();
    assert_eq!((shirley.value, shirley.author), (20, Ref::from(2)));
    let error = in_print.get(&5).await.unwrap_err();
    assert!(error.to_string().contains("InPrint"), "{error}");
    assert!(error.to_string().contains("title"), "{error}");
    // `$gt: 0` compares numbers only.
    assert!(in_print.get(&6).await.unwrap().is_none());
}

async fn checks_compare_documents_of_views(db: &Db) {
    shelf(db).await;
    let models = models![Author, Book, InPrint, StockOfAuthor];
    let report = db.check(models).await.unwrap();
    assert!(report.is_sound(), "{report}");
    // One is of another type, and one refers to nobody.
    let documents = vec![
        doc! {"_id": 4, "title": 7, "author": 2, "stock": 2, "shelf": "A"},
        doc! {"_id": 5, "title": "Nobody's", "author": 9, "stock": 1},
    ];
    let insert = doc! {"insert": "books", "documents": documents, "bypassDocumentValidation": true};
    db.run_command(insert).await.unwrap();
    let report = db.check(models![Author, InPrint]).await.unwrap();
    let found: Vec<_> = report
        .listed
        .iter()
        .map(|one| (one.model, one.path.as_str()))
        .collect();
    assert!(found.contains(&("InPrint", "title")), "{report}");
    assert!(found.contains(&("InPrint", "shelf")), "{report}");
    assert!(found.contains(&("InPrint", "author")), "{report}");
    assert_eq!(report.findings, 3, "{report}");
    // A repair of the view writes nothing: its documents are those of the collection.
    let plan = db.repair(models![Author, InPrint]).plan().await.unwrap();
    assert!(plan.to_string().contains("by hand"), "{plan}");
    let repaired = plan.run().await.unwrap();
    assert_eq!(repaired.repaired(), 0);
    assert_eq!(
        db.check(models![Author, InPrint]).await.unwrap().findings,
        3
    );
    let scrubbed = db.scrub(models![Author, InPrint]).await.unwrap();
    assert_eq!(scrubbed.findings, 3);
    // A sample, and a part of the documents.
    let sampled = db.check(models![InPrint]).sample(100).await.unwrap();
    assert_eq!(sampled.collections[0].read, 4);
}

async fn advice_and_reports_know_views(db: &Db) {
    shelf(db).await;
    let advice = db.advise(models![Book, InPrint]).await.unwrap();
    assert!(
        advice
            .not_examined
            .iter()
            .any(|one| one.contains("InPrint") && one.contains("a view")),
        "{advice}"
    );
    let report = db.report(models![Author, Book, InPrint]).await.unwrap();
    let html = report.html();
    assert!(html.contains("a view on Book"));
    assert!(report.plan.value().unwrap().is_empty());
}

fn writes_out() -> Vec<bson::Document> {
    vec![doc! {"$match": {}}, doc! {"$out": "copies"}]
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "out", view(on = Book, pipeline = writes_out))]
struct Out {
    #[serde(rename = "_id")]
    id: i32,
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "plain_titles", view(on = Title, pipeline = Vec::new))]
struct PlainTitle {
    #[serde(rename = "_id")]
    id: i32,
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "left", view(on = Right, pipeline = Vec::new))]
struct Left {
    #[serde(rename = "_id")]
    id: i32,
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "right", view(on = Left, pipeline = Vec::new))]
struct Right {
    #[serde(rename = "_id")]
    id: i32,
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "unknown", view(on = Book, pipeline = || vec![doc! {"$frobnicate": 1}]))]
struct UnknownStage {
    #[serde(rename = "_id")]
    id: i32,
}

async fn wrong_pipelines_are_refused(db: &Db) {
    let refused = async |models: Vec<&'static odm::model::ModelMeta>| {
        let error = db.sync(models).plan().await.unwrap_err();
        assert!(error.is_declaration(), "{error}");
        error.to_string()
    };
    let error = refused(models![Out].to_vec()).await;
    assert!(
        error.contains("Out") && error.contains("stage 2 of the view is $out"),
        "{error}"
    );
    let error = refused(models![PlainTitle].to_vec()).await;
    assert!(
        error.contains("PlainTitle") && error.contains("one collation"),
        "{error}"
    );
    let error = refused(models![Book, Left].to_vec()).await;
    assert!(error.contains("read each other"), "{error}");
    let error = db.check(models![Left]).await;
    assert!(error.is_ok(), "a check reads what is there");
    // A stage that only the store can judge.
    let plan = db.sync(models![UnknownStage]).plan().await.unwrap();
    let error = plan.apply(Allow::CREATE).await.unwrap_err();
    assert!(error.to_string().contains("UnknownStage"), "{error}");
    assert_eq!(error.code().map(odm::Code::number), Some(40324), "{error}");
}

async fn views_in_transactions(db: &Db) {
    shelf(db).await;
    let (books, in_print) = (db.collection::<Book>(), db.collection::<InPrint>());
    let mut session = db.start_session().await.unwrap();
    session.start_transaction().await.unwrap();
    books
        .update_by_id(&2, |b| b.stock.set(5))
        .session(&mut session)
        .await
        .unwrap();
    let inside = in_print.get(&2).session(&mut session).await.unwrap();
    assert_eq!(inside.map(|book| book.value), Some(50));
    assert!(in_print.get(&2).await.unwrap().is_none());
    session.commit_transaction().await.unwrap();
    assert_eq!(
        in_print.get(&2).await.unwrap().map(|book| book.value),
        Some(50)
    );
}
