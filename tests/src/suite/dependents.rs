//! Deletes of documents to which others refer: `on_delete`, `with_dependents` and `leave_dangling`.

mod checks;
mod models;
mod random;
mod stops;
mod trees;
mod writers;

use odm::bson::{Bson, DateTime, Document as BsonDocument};
use odm::model::OnDelete;
use odm::prelude::*;

use self::checks::{
    dangling_references_are_found, other_shapes_are_not_mistaken,
    pairs_deleted_meanwhile_are_not_reported,
};
use self::models::{Employee, Node, Order, Person, Shelf, Tag, Word, Work};
use self::random::random_deletes_leave_what_a_plain_model_leaves;
use self::stops::stopped_deletes_are_completed;
use self::trees::{
    a_guard_keeps_the_whole_house, deletes_of_nodes_say_what_becomes_of_dependents,
    nodes_are_deleted_with_what_refers_to_them,
};
use self::writers::{
    checked_inserts_may_refer_to_each_other, checked_inserts_refuse_dangling_references,
    nothing_dangles_after_deletes_beside_checked_inserts,
};
use super::relations::watched;
use crate::case::cases;

cases![
    deletes_say_what_becomes_of_dependents,
    references_may_be_left_dangling,
    leave_needs_no_word,
    dependents_go_with_their_document,
    the_first_match_is_deleted_with_its_dependents,
    a_restricted_delete_writes_nothing,
    documents_that_are_deleted_too_do_not_restrict,
    cycles_are_deleted_once,
    references_by_another_key_are_found,
    a_null_key_is_referred_to_by_nothing,
    versions_and_times_of_updated_documents_change,
    a_skipped_field_is_removed,
    strings_are_compared_exactly,
    nodes_of_trees_are_not_deleted_past_their_tree,
    the_rest_of_a_document_goes_with_it,
    a_transaction_of_the_caller_is_joined,
    chosen_names_are_followed,
    the_number_of_commands_does_not_depend_on_the_documents,
    a_plan_says_what_the_delete_does,
    random_deletes_leave_what_a_plain_model_leaves,
    stopped_deletes_are_completed,
    nodes_are_deleted_with_what_refers_to_them,
    deletes_of_nodes_say_what_becomes_of_dependents,
    a_guard_keeps_the_whole_house,
    checked_inserts_refuse_dangling_references,
    checked_inserts_may_refer_to_each_other,
    nothing_dangles_after_deletes_beside_checked_inserts,
    dangling_references_are_found,
    other_shapes_are_not_mistaken,
    pairs_deleted_meanwhile_are_not_reported,
];

pub(super) async fn insert(
    db: &Db,
    collection: &str,
    documents: impl IntoIterator<Item = BsonDocument>,
) {
    let documents: Vec<Bson> = documents.into_iter().map(Bson::from).collect();
    db.run_command(doc! {"insert": collection, "documents": documents})
        .await
        .unwrap();
}

/// All documents of a collection, by `_id`.
pub(super) async fn stored(db: &Db, collection: &str) -> Vec<BsonDocument> {
    let find = doc! {"find": collection, "sort": {"_id": 1}};
    db.run_command(find).all().await.unwrap()
}

async fn stored_ids(db: &Db, collection: &str) -> Vec<Bson> {
    let stored = stored(db, collection).await;
    stored.iter().map(|it| it["_id"].clone()).collect()
}

/// Two employees of one manager, who has a manager.
async fn office(db: &Db) -> Collection<Employee> {
    let employee = |id: i32, manager: Bson| doc! {"_id": id, "manager": manager};
    let all = [
        employee(1, Bson::Null),
        employee(2, 1.into()),
        employee(3, 2.into()),
        employee(4, 2.into()),
    ];
    insert(db, "employees", all).await;
    db.collection()
}

async fn deletes_say_what_becomes_of_dependents(db: &Db) {
    let (watched, log) = watched(db);
    let employees = watched.collection::<Employee>();
    let errors = [
        employees.delete_one(|e| e.id.eq(1)).await.unwrap_err(),
        employees.delete_many(|e| e.id.eq(1)).await.unwrap_err(),
        employees.delete_all().await.unwrap_err(),
        employees.delete_by_id(&1).await.unwrap_err(),
        employees.delete_by_id(&1).command().unwrap_err(),
        employees.delete_by_id(&1).explain().await.unwrap_err(),
        employees
            .find_one_and_delete(|e| e.id.eq(1))
            .await
            .unwrap_err(),
    ];
    for error in errors {
        let text = error.to_string();
        assert!(text.starts_with("Employee: "), "{text}");
        assert!(text.contains("`reports` declares `on_delete`"), "{text}");
        assert!(text.contains("write `.with_dependents()`"), "{text}");
    }
    let elsewhere = [
        employees
            .bulk_write(|w| [w.delete_one(|e| e.id.eq(1))])
            .await
            .unwrap_err(),
        employees
            .bulk_write(|w| [w.delete_many(|e| e.id.eq(1))])
            .await
            .unwrap_err(),
    ];
    for error in elsewhere {
        let text = error.to_string();
        assert!(
            text.contains("write `.propagate()` on the bulk write"),
            "{text}"
        );
    }
    assert!(log.lock().unwrap().is_empty());
}

async fn references_may_be_left_dangling(db: &Db) {
    let employees = office(db).await;
    let deleted = employees.delete_by_id(&1).leave_dangling().await.unwrap();
    assert_eq!(deleted.deleted, 1);
    let found = employees
        .find_one_and_delete(|e| e.id.eq(2))
        .leave_dangling()
        .await
        .unwrap();
    assert_eq!(found.map(|it| it.id), Some(2));
    let bulk = employees.bulk_write(|w| [w.delete_one(|e| e.id.eq(3)).leave_dangling()]);
    assert_eq!(bulk.await.unwrap().deleted, 1);
    let rest = stored(db, "employees").await;
    assert_eq!(rest, [doc! {"_id": 4, "manager": 2}]);
    let wrong = employees.bulk_write(|w| [w.insert_one(rest_of(5)).leave_dangling()]);
    assert!(wrong.await.is_err());
}

fn rest_of(id: i32) -> Employee {
    Employee { id, manager: None }
}

async fn leave_needs_no_word(db: &Db) {
    insert(db, "tags", [doc! {"_id": "a"}]).await;
    insert(db, "words", [doc! {"_id": 1, "tag": "a", "shelf": "s"}]).await;
    let tags = db.collection::<Tag>();
    assert_eq!(tags.delete_by_id("a").await.unwrap().deleted, 1);
    // The longer form does the same.
    insert(db, "tags", [doc! {"_id": "a"}]).await;
    let result = tags.delete_by_id("a").with_dependents().await.unwrap();
    assert_eq!((result.deleted, result.dependents.len()), (1, 0));
    assert_eq!(stored(db, "words").await.len(), 1);
}

async fn dependents_go_with_their_document(db: &Db) {
    let employees = office(db).await;
    let result = employees.delete_by_id(&2).with_dependents().await.unwrap();
    assert_eq!(result.deleted, 1);
    let [reports] = result.dependents.as_slice() else {
        panic!("{result:?}");
    };
    assert_eq!((reports.model, reports.relation), ("Employee", "reports"));
    assert_eq!(
        (reports.on_delete, reports.documents),
        (OnDelete::Cascade, 2)
    );
    assert_eq!(stored_ids(db, "employees").await, [Bson::Int32(1)]);
    let nothing = employees.delete_by_id(&9).with_dependents().await.unwrap();
    assert_eq!((nothing.deleted, nothing.dependents.len()), (0, 0));
}

async fn the_first_match_is_deleted_with_its_dependents(db: &Db) {
    let employees = office(db).await;
    let delete = employees.delete_one(|e| e.id.gte(3)).with_dependents();
    assert_eq!(delete.await.unwrap().deleted, 1);
    assert_eq!(stored(db, "employees").await.len(), 3);
    let all = employees.delete_all().with_dependents().await.unwrap();
    // Each document matches itself, so that none is a dependent.
    assert_eq!((all.deleted, all.dependents.len()), (3, 0));
}

async fn a_restricted_delete_writes_nothing(db: &Db) {
    insert(
        db,
        "people",
        [doc! {"_id": 1, "code": "x"}, doc! {"_id": 2, "code": "y"}],
    )
    .await;
    let order = |id: i32, buyer: i32| doc! {"_id": id, "buyer": buyer, "lines": []};
    insert(db, "orders", [order(7, 2)]).await;
    insert(db, "works", [doc! {"_id": 1, "author": 2, "by_code": "y"}]).await;
    let people = db.collection::<Person>();
    let delete = || people.delete_many(|p| p.id.lte(2)).with_dependents();
    let error = delete().await.unwrap_err();
    assert!(error.is_restricted(), "{error}");
    let text = error.to_string();
    assert!(text.starts_with("Person: the `Order` with _id 7"), "{text}");
    assert!(delete().plan().await.unwrap_err().is_restricted());
    assert!(delete().non_atomic().await.unwrap_err().is_restricted());
    assert_eq!(stored(db, "people").await.len(), 2);
    assert_eq!(stored(db, "works").await.len(), 1);

    let first = people.delete_by_id(&1).with_dependents().await.unwrap();
    assert_eq!(first.deleted, 1);
}

async fn documents_that_are_deleted_too_do_not_restrict(db: &Db) {
    // The work goes with its author, and so does not keep its shelf.
    insert(db, "shelves", [doc! {"_id": "s"}, doc! {"_id": "t"}]).await;
    insert(
        db,
        "words",
        [
            doc! {"_id": 1, "tag": "a", "shelf": "s", "within": "s"},
            doc! {"_id": 2, "tag": "a", "shelf": "s", "within": "t"},
        ],
    )
    .await;
    let shelves = db.collection::<Shelf>();
    let error = shelves
        .delete_by_id("s")
        .with_dependents()
        .await
        .unwrap_err();
    assert!(error.to_string().contains("_id 2"), "{error}");
    let update =
        doc! {"update": "words", "updates": [{"q": {"_id": 2}, "u": {"$set": {"within": "s"}}}]};
    db.run_command(update).await.unwrap();
    let result = shelves.delete_by_id("s").with_dependents().await.unwrap();
    assert_eq!((result.deleted, result.dependents.len()), (1, 1));
    assert!(stored(db, "words").await.is_empty());
}

async fn cycles_are_deleted_once(db: &Db) {
    let employees = office(db).await;
    let cycle =
        doc! {"update": "employees", "updates": [{"q": {"_id": 1}, "u": {"$set": {"manager": 3}}}]};
    db.run_command(cycle).await.unwrap();
    let result = employees.delete_by_id(&2).with_dependents().await.unwrap();
    assert_eq!(result.deleted, 1);
    assert_eq!(result.dependents[0].documents, 3);
    assert!(stored(db, "employees").await.is_empty());
}

async fn references_by_another_key_are_found(db: &Db) {
    insert(
        db,
        "people",
        [doc! {"_id": 1, "code": "x"}, doc! {"_id": 2, "code": "y"}],
    )
    .await;
    let work = |id: i32, code: &str| doc! {"_id": id, "author": Bson::Null, "by_code": code};
    insert(db, "works", [work(1, "x"), work(2, "y"), work(3, "1")]).await;
    let people = db.collection::<Person>();
    let result = people.delete_by_id(&1).with_dependents().await.unwrap();
    assert_eq!(result.dependents[0].relation, "by_code");
    assert_eq!(
        stored_ids(db, "works").await,
        [Bson::Int32(2), Bson::Int32(3)]
    );
}

async fn a_null_key_is_referred_to_by_nothing(db: &Db) {
    // Another program wrote people without a code, and works without an author.
    insert(
        db,
        "people",
        [doc! {"_id": 1}, doc! {"_id": 2, "code": Bson::Null}],
    )
    .await;
    insert(
        db,
        "works",
        [
            doc! {"_id": 1},
            doc! {"_id": 2, "by_code": Bson::Null, "author": Bson::Null},
        ],
    )
    .await;
    let people = db.collection::<Person>();
    let result = people.delete_all().with_dependents().await.unwrap();
    assert_eq!((result.deleted, result.dependents.len()), (2, 0));
    assert_eq!(stored(db, "works").await.len(), 2);
}

async fn versions_and_times_of_updated_documents_change(db: &Db) {
    insert(db, "people", [doc! {"_id": 1, "code": "x"}]).await;
    let long_ago = DateTime::from_millis(1_000);
    let line = |person: i32| doc! {"person": person, "n": person};
    insert(
        db,
        "orders",
        [doc! {
            "_id": 1,
            "lines": [line(1), line(2), line(1)],
            "version": 4_i64,
            "updated": long_ago,
        }],
    )
    .await;
    let people = db.collection::<Person>();
    people.delete_by_id(&1).with_dependents().await.unwrap();
    let order = db.collection::<Order>().get(&1).await.unwrap().unwrap();
    assert_eq!(order.lines.len(), 1);
    assert_eq!(order.version, 5);
    assert!(order.updated > Some(long_ago));
}

async fn a_skipped_field_is_removed(db: &Db) {
    insert(db, "people", [doc! {"_id": 1, "code": "x"}]).await;
    let work = |id: i32| doc! {"_id": id, "author": 2, "by_code": "z", "editor": 1, "reader": 1};
    insert(db, "works", [work(1)]).await;
    let people = db.collection::<Person>();
    let result = people.delete_by_id(&1).with_dependents().await.unwrap();
    assert_eq!(result.dependents.len(), 2);
    let expected = doc! {"_id": 1, "author": 2, "by_code": "z", "reader": Bson::Null};
    assert_eq!(stored(db, "works").await, [expected]);
    let read = db.collection::<Work>().get(&1).await.unwrap().unwrap();
    assert_eq!((read.editor, read.reader), (None, None));
}

async fn strings_are_compared_exactly(db: &Db) {
    let models = db.sync(models![Shelf, Word, Tag]).plan().await.unwrap();
    models.apply(Allow::CREATE).await.unwrap();
    insert(db, "shelves", [doc! {"_id": "s"}, doc! {"_id": "S"}]).await;
    let word = |id: i32, within: &str| doc! {"_id": id, "tag": "a", "shelf": "t", "within": within};
    insert(db, "words", [word(1, "s"), word(2, "S")]).await;
    let insensitive = db
        .collection::<Word>()
        .count_documents(|w| w.within.eq(Ref::from("s")));
    assert_eq!(insensitive.await.unwrap(), 2);
    let shelves = db.collection::<Shelf>();
    let plan = shelves.delete_by_id("S").with_dependents().plan();
    assert!(
        plan.await
            .unwrap()
            .to_string()
            .contains("delete 1 document\n        `Shelf.within`")
    );
    shelves.delete_by_id("S").with_dependents().await.unwrap();
    assert_eq!(stored_ids(db, "words").await, [Bson::Int32(1)]);
}

async fn nodes_of_trees_are_not_deleted_past_their_tree(db: &Db) {
    let nodes = db.collection::<models::Garden>();
    insert(db, "gardens", [doc! {"_id": 1}]).await;
    let error = nodes.delete_by_id(&1).with_dependents().await.unwrap_err();
    assert!(error.to_string().contains("`Node`"), "{error}");
    assert!(
        error.to_string().contains("db.tree::<…>().delete(…)"),
        "{error}"
    );
    assert_eq!(stored(db, "gardens").await.len(), 1);
    let trees = db.collection::<Node>();
    assert!(trees.delete_by_id(&1).with_dependents().await.is_err());
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(
    collection = "films",
    subset(details: FilmDetails, by = film, on_delete = cascade)
)]
struct Film {
    #[serde(rename = "_id")]
    id: i32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "film_details")]
struct FilmDetails {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(unique, rest_of = details)]
    film: Ref<Film>,
}

async fn the_rest_of_a_document_goes_with_it(db: &Db) {
    let films = db.collection::<Film>();
    for id in [1, 2] {
        let details = FilmDetails {
            id: id + 10,
            film: Ref::from(id),
        };
        let insert = films.insert_with_rest(Film { id }, |f| f.details, details);
        insert.await.unwrap();
    }
    // It would not act on other relations.
    let error = films.delete_with_rest(&1, |f| f.details).await.unwrap_err();
    assert!(error.to_string().contains("with_dependents"), "{error}");
    films.delete_by_id(&1).with_dependents().await.unwrap();
    assert_eq!(stored_ids(db, "films").await, [Bson::Int32(2)]);
    assert_eq!(stored_ids(db, "film_details").await, [Bson::Int32(12)]);
}

async fn a_transaction_of_the_caller_is_joined(db: &Db) {
    let employees = office(db).await;
    let mut session = db.start_session().await.unwrap();
    let delete = || employees.delete_by_id(&1).with_dependents();
    // Several writes belong into a transaction.
    assert!(delete().session(&mut session).await.is_err());
    session.start_transaction().await.unwrap();
    let result = delete().session(&mut session).await.unwrap();
    assert_eq!(result.dependents[0].documents, 3);
    assert_eq!(stored(db, "employees").await.len(), 4);
    session.abort_transaction().await.unwrap();
    assert_eq!(stored(db, "employees").await.len(), 4);
    // The session of the delete itself is that of all writes.
    session.start_transaction().await.unwrap();
    let delete = employees.delete_by_id(&1).session(&mut session);
    delete.with_dependents().await.unwrap();
    session.commit_transaction().await.unwrap();
    assert!(stored(db, "employees").await.is_empty());
}

async fn chosen_names_are_followed(db: &Db) {
    let tenant = db.with_collection_names(|name| format!("acme_{name}"));
    office(db).await;
    insert(
        db,
        "acme_employees",
        [
            doc! {"_id": 1, "manager": Bson::Null},
            doc! {"_id": 2, "manager": 1},
        ],
    )
    .await;
    let employees = tenant.collection::<Employee>();
    employees.delete_by_id(&1).with_dependents().await.unwrap();
    assert!(stored(db, "acme_employees").await.is_empty());
    assert_eq!(stored(db, "employees").await.len(), 4);
}

async fn the_number_of_commands_does_not_depend_on_the_documents(db: &Db) {
    let (watched, log) = watched(db);
    let mut counts = Vec::new();
    for staff in [1, 90] {
        let employee = |id: i32| doc! {"_id": id, "manager": if id == 0 { Bson::Null } else { Bson::Int32(0) }};
        insert(db, "employees", (0..=staff).map(employee)).await;
        log.lock().unwrap().clear();
        let employees = watched.collection::<Employee>();
        let result = employees.delete_by_id(&0).with_dependents().await.unwrap();
        assert_eq!(
            result.dependents[0].documents,
            u64::try_from(staff).unwrap()
        );
        counts.push(log.lock().unwrap().len());
    }
    assert_eq!(counts[0], counts[1]);
}

async fn a_plan_says_what_the_delete_does(db: &Db) {
    let employees = office(db).await;
    let before = stored(db, "employees").await;
    let plan = employees
        .delete_by_id(&2)
        .with_dependents()
        .plan()
        .await
        .unwrap();
    assert_eq!(
        plan.to_string(),
        "  employees (Employee)
    delete 2 documents
        `Employee.reports` declares `on_delete = cascade`
        refer to 1 document by `manager`, found by the index on manager
    delete 1 document
        match the filter
"
    );
    assert_eq!(stored(db, "employees").await, before);
    // The statements of the plan are those of the delete.
    for step in plan.steps() {
        for command in &step.commands {
            db.run_command(command.clone()).await.unwrap();
        }
    }
    assert_eq!(stored_ids(db, "employees").await, [Bson::Int32(1)]);
    let nothing = employees.delete_by_id(&9).with_dependents().plan().await;
    assert_eq!(nothing.unwrap().to_string(), "no document matches\n");
}
