//! Plans that write documents: printed, applied in batches, and applied again.

use odm::plan::{Action, Plan};
use odm::prelude::*;

use crate::case::cases;

cases![
    writes_are_sent_in_batches_with_progress,
    writes_need_permission,
    a_document_that_changed_is_left_alone,
    a_plan_can_be_applied_twice,
    a_refused_write_names_the_model_and_the_command,
    inserts_and_deletes_are_planned_too,
    a_plan_keeps_no_session,
    a_model_beyond_its_budget_has_no_plan,
];

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "books")]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
    #[odm(range(min = 0))]
    stock: i32,
}

fn book(id: i32, title: &str) -> Book {
    Book {
        id,
        title: title.to_owned(),
        stock: 1,
    }
}

/// Trims the titles of these books.
fn tidy(db: &Db, books: &[Book]) -> odm::Result<Plan> {
    db.collection::<Book>()
        .bulk_write(|w| {
            books.iter().map(move |book| {
                let title = book.title.trim().to_owned();
                w.update_one(
                    |b| b.id.eq(book.id) & b.title.eq(&book.title),
                    |b| b.title.set(title),
                )
            })
        })
        .plan("titles with spaces around")
}

async fn stored(db: &Db, books: impl IntoIterator<Item = Book>) -> Vec<Book> {
    let books: Vec<_> = books.into_iter().collect();
    db.collection::<Book>().insert_many(&books).await.unwrap();
    books
}

async fn writes_are_sent_in_batches_with_progress(db: &Db) {
    let books = stored(db, (0..2_500).map(|id| book(id, " Ulysses"))).await;
    let plan = tidy(db, &books).unwrap();
    assert_eq!(
        plan.to_string(),
        format!(
            "1 step to bring database {} in line\n  books (Book)\n    ~ write 2500 documents (needs \
             Allow::WRITE)\n        titles with spaces around\n",
            db.name()
        )
    );
    assert_eq!(
        plan.steps()[0].action,
        Action::WriteDocuments { count: 2_500 }
    );
    let mut reports = Vec::new();
    let applied = plan
        .apply(Allow::WRITE)
        .on_progress(|progress| reports.push((progress.done, progress.commands, progress.written)))
        .await
        .unwrap();
    assert_eq!(reports, [(1, 3, 1_000), (2, 3, 2_000), (3, 3, 2_500)]);
    assert_eq!((applied.written(), applied.unmatched()), (2_500, 0));
    assert!(applied.is_complete());
    let tidied = db
        .collection::<Book>()
        .count_documents(|b| b.title.eq("Ulysses"))
        .await
        .unwrap();
    assert_eq!(tidied, 2_500);
}

async fn writes_need_permission(db: &Db) {
    let books = stored(db, [book(1, " a")]).await;
    let plan = tidy(db, &books).unwrap();
    let applied = plan
        .apply(Allow::CREATE | Allow::CHANGE | Allow::DROP)
        .await
        .unwrap();
    assert!(!applied.is_complete());
    assert_eq!(applied.left_undone(), plan.steps());
    assert_eq!(
        db.collection::<Book>()
            .count_documents(|b| b.title.eq(" a"))
            .await
            .unwrap(),
        1
    );
}

async fn a_document_that_changed_is_left_alone(db: &Db) {
    let books = stored(db, [book(1, " a"), book(2, " b")]).await;
    let plan = tidy(db, &books).unwrap();
    let collection = db.collection::<Book>();
    collection
        .update_one(|b| b.id.eq(2), |b| b.title.set("c "))
        .await
        .unwrap();
    let applied = plan.apply(Allow::WRITE).await.unwrap();
    assert_eq!((applied.written(), applied.unmatched()), (1, 1));
    assert!(!applied.is_complete());
    assert!(
        applied
            .to_string()
            .ends_with("1 document not found as planned\n"),
        "{applied}"
    );
    let titles = collection
        .find_all()
        .sort(|b| b.id.asc())
        .all()
        .await
        .unwrap();
    assert_eq!(titles, [book(1, "a"), book(2, "c ")]);
}

async fn a_plan_can_be_applied_twice(db: &Db) {
    let books = stored(db, [book(1, " a"), book(2, " b")]).await;
    let plan = tidy(db, &books).unwrap();
    assert_eq!(plan.apply(Allow::WRITE).await.unwrap().written(), 2);
    let again = plan.apply(Allow::WRITE).await.unwrap();
    assert_eq!((again.written(), again.unmatched()), (0, 2));
}

async fn a_refused_write_names_the_model_and_the_command(db: &Db) {
    db.sync(models![Book])
        .plan()
        .await
        .unwrap()
        .apply(Allow::CREATE)
        .await
        .unwrap();
    stored(db, [book(1, "a"), book(2, "b")]).await;
    let plan = db
        .collection::<Book>()
        .bulk_write(|w| {
            [1, 2].map(|id| {
                w.update_one(
                    |b| b.id.eq(id),
                    |b| b.stock.set(if id == 1 { 5 } else { -1 }),
                )
            })
        })
        .plan("counted again")
        .unwrap();
    let error = plan.apply(Allow::WRITE).await.unwrap_err();
    assert!(error.is_validation_failure(), "{error}");
    let text = error.to_string();
    assert!(
        text.contains("Book") && text.contains("update on `books`"),
        "{text}"
    );
    let stocks = db
        .collection::<Book>()
        .find_all()
        .sort(|b| b.id.asc())
        .all()
        .await
        .unwrap();
    assert_eq!(stocks.iter().map(|b| b.stock).collect::<Vec<_>>(), [5, 1]);
}

async fn inserts_and_deletes_are_planned_too(db: &Db) {
    stored(db, [book(1, "a"), book(2, "b")]).await;
    let plan = db
        .collection::<Book>()
        .bulk_write(|w| {
            [
                w.insert_one(book(3, "c")),
                w.delete_one(|b| b.id.eq(1)),
                w.delete_one(|b| b.id.eq(7)),
                w.update_many(|b| b.title.gte("b"), |b| b.stock.inc(1)),
            ]
        })
        .plan("moved")
        .unwrap();
    let verbs: Vec<_> = plan
        .commands()
        .map(|command| command.keys().next().unwrap())
        .collect();
    assert_eq!(verbs, ["insert", "delete", "update"]);
    let applied = plan.apply(Allow::WRITE).await.unwrap();
    assert_eq!((applied.written(), applied.unmatched()), (4, 1));
    let stocks = db
        .collection::<Book>()
        .find_all()
        .sort(|b| b.id.asc())
        .all()
        .await
        .unwrap();
    assert_eq!(
        stocks.iter().map(|b| (b.id, b.stock)).collect::<Vec<_>>(),
        [(2, 2), (3, 2)]
    );
}

async fn a_plan_keeps_no_session(db: &Db) {
    let mut session = db.start_session().await.unwrap();
    let refused = db
        .collection::<Book>()
        .bulk_write(|w| [w.delete_one(|b| b.id.eq(1))])
        .session(&mut session)
        .plan("none")
        .unwrap_err();
    assert!(
        refused.to_string().contains("outside of sessions"),
        "{refused}"
    );
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "reports", budget = "1KB")]
struct Report {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(length(max = 300))]
    text: String,
}

async fn a_model_beyond_its_budget_has_no_plan(db: &Db) {
    let error = db.sync(models![Report]).plan().await.unwrap_err();
    assert!(error.is_declaration(), "{error}");
    let message = error.to_string();
    assert!(
        message.starts_with(
            "Report: a document can have 1,225 bytes, and its budget is 1,000: `text` 1,211, `id` 9"
        ),
        "{message}"
    );
    let names = db.run_command(doc! {"listCollections": 1}).all().await;
    assert_eq!(names.unwrap().len(), 0);
    // The budget of a document is a rule for the design: nothing is measured when it is written.
    let text = "😀".repeat(300);
    db.collection()
        .insert_one(Report { id: 1, text })
        .await
        .unwrap();
}
