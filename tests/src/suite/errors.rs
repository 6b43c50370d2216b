//! Errors name the model and the field, and say how to fix the problem.

use odm::bson::Bson;
use odm::bson::doc;
use odm::collection::Collation;
use odm::prelude::*;

use crate::case::cases;

cases![
    unknown_hints_are_refused_alike,
    a_duplicate_key_names_the_field,
    a_document_that_cannot_be_read_names_the_field,
    out_of_range_values_explain_how_to_read_them,
    write_conflicts_advise_to_retry,
    a_collation_has_five_strengths,
    null_statements_of_a_write_are_skipped,
];

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "people", unique(home.street, home.number))]
struct Person {
    #[serde(rename = "_id")]
    id: i32,
    #[serde(rename = "e")]
    #[odm(unique)]
    email: String,
    home: Home,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Home {
    street: String,
    number: i32,
}

fn person(id: i32, email: &str, number: i32) -> Person {
    Person {
        id,
        email: email.to_owned(),
        home: Home {
            street: "Main".to_owned(),
            number,
        },
    }
}

async fn people(db: &Db) -> Collection<Person> {
    let plan = db.sync(models![Person]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    let people = db.collection::<Person>();
    people.insert_one(person(1, "ada@x", 1)).await.unwrap();
    people
}

async fn a_duplicate_key_names_the_field(db: &Db) {
    let people = people(db).await;
    people.insert_one(person(2, "bob@x", 2)).await.unwrap();
    let told = |error: odm::Error| {
        assert!(error.is_duplicate_key(), "{error}");
        assert_eq!(error.model(), Some("Person"));
        let remedy = ": another document has this value: change that one, or use another value";
        assert!(error.to_string().ends_with(remedy), "{error}");
        error.path().map(str::to_owned)
    };
    let inserted = people.insert_one(person(1, "eve@x", 3)).await;
    assert_eq!(told(inserted.unwrap_err()).as_deref(), Some("_id"));
    let inserted = people.insert_many([person(3, "ada@x", 3)]).await;
    assert_eq!(told(inserted.unwrap_err()).as_deref(), Some("e"));
    let changed = people.update_one(|p| p.id.eq(2), |p| p.email.set("ada@x"));
    let error = changed.await.unwrap_err();
    assert!(error.to_string().starts_with("Person.e: E11000"), "{error}");
    assert_eq!(told(error).as_deref(), Some("e"));
    let found = people.find_one_and_update(|p| p.id.eq(2), |p| p.email.set("ada@x"));
    assert_eq!(told(found.await.unwrap_err()).as_deref(), Some("e"));
    // The error of an index on two fields names neither field alone.
    let changed = people.update_one(|p| p.id.eq(2), |p| p.home.number.set(1));
    let error = changed.await.unwrap_err();
    assert_eq!(error.duplicate_index(), Some("home.street_1_home.number_1"));
    assert_eq!(told(error), None);
}

async fn a_document_that_cannot_be_read_names_the_field(db: &Db) {
    let people = db.collection::<Person>();
    for (id, home, path, remedy) in [
        (
            1,
            doc! {"street": "Main"},
            "home.number",
            "`#[serde(default)]`",
        ),
        (2, doc! {"street": 7, "number": 1}, "home.street", "repair"),
    ] {
        let insert = doc! {"insert": "people", "documents": [{"_id": id, "e": "x", "home": home}]};
        db.run_command(insert).await.unwrap();
        let error = people.get(&id).await.unwrap_err();
        assert!(
            error.is_decode() && error.to_string().contains(remedy),
            "{error}"
        );
        assert_eq!((error.model(), error.path()), (Some("Person"), Some(path)));
        assert_eq!(error.document_id(), Some(&Bson::Int32(id)));
    }
}

async fn out_of_range_values_explain_how_to_read_them(db: &Db) {
    let insert = doc! {"insert": "people", "documents": [{"_id": 1, "e": 4}]};
    db.run_command(insert).await.unwrap();
    let people = db.collection::<Person>();
    let values = people.distinct(|p| p.email, |p| p.id.eq(1));
    let error = values.await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "Person.e: the document can't be read: 4 can't be read as the type of the field: invalid type: \
         integer `4`, expected a string; name the type of its values by `with_type`"
    );
}

async fn null_statements_of_a_write_are_skipped(db: &Db) {
    let insert = doc! {"insert": "people", "documents": [null, {"_id": 1}, null]};
    let reply = db.run_command(insert).await.unwrap();
    assert_eq!(reply.get_i32("n").unwrap(), 1);
    for (command, statements) in [
        ("insert", "documents"),
        ("update", "updates"),
        ("delete", "deletes"),
    ] {
        let nothing = doc! {command: "people", statements: [null]};
        let error = db.run_command(nothing).await.unwrap_err();
        assert_eq!(error.server().map(|it| it.code().number()), Some(16));
        let number = doc! {command: "people", statements: [null, 1]};
        let error = db.run_command(number).await.unwrap_err();
        let told = format!("BSON field '{command}.{statements}.1' is the wrong type 'int'");
        assert!(error.to_string().contains(&told), "{error}");
    }
}

async fn write_conflicts_advise_to_retry(db: &Db) {
    let people = people(db).await;
    let mut first = db.start_session().await.unwrap();
    let mut second = db.start_session().await.unwrap();
    let change = || people.update_one(|p| p.id.eq(1), |p| p.home.number.inc(1));
    first.start_transaction().await.unwrap();
    second.start_transaction().await.unwrap();
    change().session(&mut first).await.unwrap();
    let error = change().session(&mut second).await.unwrap_err();
    assert_eq!(error.labels(), ["TransientTransactionError"]);
    let message = error.to_string();
    assert!(message.starts_with("Person: WriteConflict"), "{message}");
    assert!(message.contains("Please retry"), "{message}");
    let error = people
        .find_all()
        .session(&mut second)
        .all()
        .await
        .unwrap_err();
    assert!(
        error.to_string().ends_with("as `odm::transaction!` does"),
        "{error}"
    );
    first.abort_transaction().await.unwrap();
}

async fn a_collation_has_five_strengths(db: &Db) {
    let people = people(db).await;
    for wrong in [0, 6] {
        let find = people
            .find_all()
            .collation(Collation::new("en").strength(wrong));
        let error = find.all().await.unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("Person: collation strength must be 1 to 5, not {wrong}")
        );
    }
}

async fn unknown_hints_are_refused_alike(db: &Db) {
    let people = people(db).await;
    let refusals = [
        people.find(|p| p.id.eq(1)).hint("nope").all().await.err(),
        people.delete_one(|p| p.id.eq(1)).hint("nope").await.err(),
        people
            .find_one_and_delete(|p| p.id.eq(1))
            .hint("nope")
            .await
            .err(),
    ];
    for refusal in refusals {
        let refusal = refusal.unwrap();
        let message = refusal.server().unwrap().message();
        assert!(
            message.starts_with("error processing query: ns="),
            "{message}"
        );
        let why = "hint provided does not correspond to an existing index";
        assert!(message.ends_with(why), "{message}");
    }
}
