//! `find_one_or_insert`: a document is found, or inserted once.

use std::collections::BTreeMap;

use futures::future::join_all;
use odm::bson::DateTime;
use odm::collection::Collation;
use odm::prelude::*;
use odm::transaction;
use odm::tree::prelude::*;

use crate::case::cases;

cases![
    a_document_is_inserted_once,
    one_of_eight_callers_inserts,
    the_stored_document_is_returned,
    a_condition_on_a_list_copies_nothing,
    documents_that_would_not_be_found_are_refused,
    conditions_are_compared_by_the_collation,
    a_duplicate_of_another_document_is_an_error,
    a_transaction_reads_its_own_document,
    an_aborted_transaction_inserts_nothing,
    names_that_are_paths_are_refused,
    nodes_are_refused,
];

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "users")]
struct User {
    #[serde(rename = "_id")]
    id: Id<Self>,
    #[odm(unique)]
    email: String,
    #[odm(unique(sparse))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    phone: Option<String>,
    roles: Vec<String>,
}

fn user(email: &str) -> User {
    User {
        id: Id::new(),
        email: email.to_owned(),
        phone: None,
        roles: vec!["reader".to_owned(), "writer".to_owned()],
    }
}

async fn users(db: &Db) -> Collection<User> {
    let plan = db.sync(models![User]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    db.collection()
}

async fn a_document_is_inserted_once(db: &Db) {
    let users = users(db).await;
    let (first, second) = (user("ada@example.org"), user("ada@example.org"));
    let email = &first.email;
    let found = users
        .find_one_or_insert(|u| u.email.eq(email), &first)
        .await
        .unwrap();
    assert_eq!((found.document, found.inserted), (first.clone(), true));
    let found = users
        .find_one_or_insert(|u| u.email.eq(email), &second)
        .await
        .unwrap();
    assert_eq!((found.document, found.inserted), (first.clone(), false));
    assert_eq!(users.find_all().all().await.unwrap(), [first]);
}

async fn one_of_eight_callers_inserts(db: &Db) {
    let users = users(db).await;
    for round in 0..10 {
        let email = format!("{round}@example.org");
        let calls = (0..8).map(|_| {
            let (users, new) = (users.clone(), user(&email));
            tokio::spawn(async move {
                let email = new.email.clone();
                // MongoDB tries an upsert again only if it compares nothing but the unique field.
                let call = users.find_one_or_insert(
                    |u| match round % 2 {
                        0 => u.email.eq(email),
                        _ => u.email.eq(email) & u.roles.has("writer"),
                    },
                    new,
                );
                call.await.unwrap()
            })
        });
        let found: Vec<_> = join_all(calls)
            .await
            .into_iter()
            .map(Result::unwrap)
            .collect();
        let inserted: Vec<_> = found.iter().filter(|one| one.inserted).collect();
        assert_eq!(inserted.len(), 1);
        assert!(found.iter().all(|one| one.document == inserted[0].document));
    }
    assert_eq!(users.find_all().count().await.unwrap(), 10);
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "pages")]
struct Page {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
    #[odm(keywords(from(title), language = "english", max = 4))]
    words: Vec<String>,
    #[odm(version)]
    version: i32,
    #[odm(created_at)]
    created: DateTime,
}

async fn the_stored_document_is_returned(db: &Db) {
    let pages = db.collection::<Page>();
    let new = Page {
        id: 1,
        title: "Whaling voyages".to_owned(),
        words: Vec::new(),
        version: 0,
        created: DateTime::from_millis(0),
    };
    let found = pages
        .find_one_or_insert(|p| p.id.eq(1), &new)
        .await
        .unwrap();
    assert!(found.inserted);
    assert_eq!(found.document.words, ["voyag", "whale"]);
    assert!(found.document.created > new.created);
    let again = pages
        .find_one_or_insert(|p| p.id.eq(1), &new)
        .await
        .unwrap();
    assert_eq!(again.document, found.document);
    assert_eq!(pages.get(&1).await.unwrap(), Some(found.document));
}

async fn a_condition_on_a_list_copies_nothing(db: &Db) {
    let users = users(db).await;
    let new = user("ada@example.org");
    let found = users
        .find_one_or_insert(|u| u.roles.has("writer"), &new)
        .await
        .unwrap();
    assert!(found.inserted);
    assert_eq!(users.find_all().all().await.unwrap(), [new]);
}

async fn documents_that_would_not_be_found_are_refused(db: &Db) {
    let users = users(db).await;
    let call = users.find_one_or_insert(|u| u.email.eq("eve@example.org"), user("ada@example.org"));
    let error = call.await.unwrap_err();
    assert!(
        error.to_string().contains("does not meet the condition"),
        "{error}"
    );
    assert_eq!(users.find_all().count().await.unwrap(), 0);
}

async fn conditions_are_compared_by_the_collation(db: &Db) {
    let users = users(db).await;
    let first = user("Ada@Example.org");
    users.insert_one(&first).await.unwrap();
    let call = users.find_one_or_insert(|u| u.email.eq("ADA@EXAMPLE.ORG"), user("ada@example.org"));
    let found = call
        .collation(Collation::new("en").strength(2))
        .await
        .unwrap();
    assert_eq!((found.document, found.inserted), (first, false));
}

async fn a_duplicate_of_another_document_is_an_error(db: &Db) {
    let users = users(db).await;
    let phone = Some("555".to_owned());
    let first = User {
        phone: phone.clone(),
        ..user("ada@example.org")
    };
    users.insert_one(&first).await.unwrap();
    let second = User {
        phone,
        ..user("eve@example.org")
    };
    let call = users.find_one_or_insert(|u| u.email.eq("eve@example.org"), &second);
    assert!(call.await.unwrap_err().is_duplicate_key());
}

async fn a_transaction_reads_its_own_document(db: &Db) {
    let users = users(db).await;
    let new = user("ada@example.org");
    let inserted = transaction!(db, |tx| {
        let call = |new: User| {
            let email = new.email.clone();
            users.find_one_or_insert(|u| u.email.eq(email), new)
        };
        let first = call(new.clone()).session(tx).await?;
        let second = call(user("ada@example.org")).session(tx).await?;
        assert_eq!(second.document, first.document);
        Ok((first.inserted, second.inserted))
    });
    assert_eq!(inserted.await.unwrap(), (true, false));
    assert_eq!(users.find_all().all().await.unwrap(), [new]);
}

async fn an_aborted_transaction_inserts_nothing(db: &Db) {
    let users = users(db).await;
    let mut session = db.start_session().await.unwrap();
    session.start_transaction().await.unwrap();
    let call = users.find_one_or_insert(|u| u.email.eq("ada@example.org"), user("ada@example.org"));
    assert!(call.session(&mut session).await.unwrap().inserted);
    session.abort_transaction().await.unwrap();
    assert_eq!(users.find_all().count().await.unwrap(), 0);
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "open")]
struct Open {
    #[serde(rename = "_id")]
    id: i32,
    #[serde(flatten)]
    rest: BTreeMap<String, i32>,
}

async fn names_that_are_paths_are_refused(db: &Db) {
    let open = db.collection::<Open>();
    for name in ["a.b", "$a"] {
        let rest = BTreeMap::from([(name.to_owned(), 1)]);
        let error = open
            .find_one_or_insert(|o| o.id.eq(1), Open { id: 1, rest })
            .await
            .unwrap_err();
        assert!(error.to_string().contains(name), "{error}");
    }
    assert_eq!(open.find_all().count().await.unwrap(), 0);
    let rest = BTreeMap::from([("a".to_owned(), 1)]);
    let found = open
        .find_one_or_insert(|o| o.id.eq(1), Open { id: 1, rest })
        .await
        .unwrap();
    assert!(found.inserted);
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "nodes", tree(parent_references))]
struct Node {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index)]
    parent: Parent<Node>,
}

async fn nodes_are_refused(db: &Db) {
    let nodes = db.collection::<Node>();
    let root = Node {
        id: 1,
        parent: Parent::default(),
    };
    let error = nodes
        .find_one_or_insert(|n| n.id.eq(1), &root)
        .await
        .unwrap_err();
    assert!(error.to_string().contains("insert the node by"), "{error}");
    let found = nodes
        .bypass_trees()
        .find_one_or_insert(|n| n.id.eq(1), &root)
        .await
        .unwrap();
    assert!(found.inserted);
}
