//! Versions of a schema: what older programs have stored is read, updated and migrated.

mod migrations;
mod races;
mod reads;
mod writes;

use odm::bson::{self, Bson, Document as BsonDocument};
use odm::prelude::*;

use self::migrations::{
    checks_find_other_versions, documents_that_the_validator_refuses_stay,
    dropped_migrations_leave_whole_documents, failing_documents_do_not_stop_a_migration,
    large_documents_are_migrated, migrations_go_on_from_a_token,
    migrations_of_any_ids_are_complete, migrations_rewrite_all, tokens_of_other_models_are_refused,
};
use self::races::{
    migrations_end_beside_writers, saves_beside_migrations_are_not_lost,
    updates_beside_an_old_program_are_not_lost,
};
use self::reads::{
    Lenient, Odd, cursors_go_on_after_a_document_that_fails,
    documents_that_do_not_fit_after_the_steps_name_them, failing_steps_are_named,
    fields_of_older_documents_are_read, filters_name_stored_fields,
    found_and_changed_documents_are_current, joins_read_older_documents_on_both_sides,
    newer_documents_are_errors_or_are_read, older_documents_are_read,
    other_projections_of_older_documents_are_refused, pages_have_older_documents,
    panics_of_steps_leave_the_handle_usable, pipelines_read_whole_older_documents,
    projections_read_older_documents, versions_of_other_types_are_read_or_refused,
    watched_changes_are_of_the_current_version,
};
use self::writes::{
    aborted_saves_can_be_repeated, bulk_writes_rewrite_first, counters_and_times_of_rewrites,
    inserts_and_replacements_store_the_version, models_without_a_step_have_a_version,
    pipelines_and_raw_updates_rewrite_first, replacements_keep_newer_documents,
    saves_heed_changes_of_other_programs, saves_keep_fields_that_are_not_declared,
    saves_of_newer_documents_are_refused, saves_rewrite_older_documents,
    sorted_updates_take_the_first, updates_in_a_transaction_are_undone_with_it,
    updates_of_many_rewrite_what_they_match, updates_of_newer_documents_are_refused,
    updates_rewrite_what_they_match, updates_that_can_not_rewrite_change_nothing,
    upserts_find_older_documents, upserts_store_the_version, validators_admit_the_version,
};
use crate::case::cases;

cases![
    older_documents_are_read,
    versions_of_other_types_are_read_or_refused,
    newer_documents_are_errors_or_are_read,
    failing_steps_are_named,
    documents_that_do_not_fit_after_the_steps_name_them,
    panics_of_steps_leave_the_handle_usable,
    cursors_go_on_after_a_document_that_fails,
    projections_read_older_documents,
    other_projections_of_older_documents_are_refused,
    fields_of_older_documents_are_read,
    pages_have_older_documents,
    pipelines_read_whole_older_documents,
    joins_read_older_documents_on_both_sides,
    watched_changes_are_of_the_current_version,
    found_and_changed_documents_are_current,
    filters_name_stored_fields,
    inserts_and_replacements_store_the_version,
    upserts_store_the_version,
    updates_rewrite_what_they_match,
    updates_of_many_rewrite_what_they_match,
    updates_of_newer_documents_are_refused,
    updates_that_can_not_rewrite_change_nothing,
    sorted_updates_take_the_first,
    upserts_find_older_documents,
    pipelines_and_raw_updates_rewrite_first,
    bulk_writes_rewrite_first,
    replacements_keep_newer_documents,
    saves_rewrite_older_documents,
    saves_keep_fields_that_are_not_declared,
    saves_heed_changes_of_other_programs,
    saves_of_newer_documents_are_refused,
    aborted_saves_can_be_repeated,
    updates_in_a_transaction_are_undone_with_it,
    counters_and_times_of_rewrites,
    validators_admit_the_version,
    models_without_a_step_have_a_version,
    migrations_rewrite_all,
    migrations_of_any_ids_are_complete,
    migrations_go_on_from_a_token,
    tokens_of_other_models_are_refused,
    dropped_migrations_leave_whole_documents,
    failing_documents_do_not_stop_a_migration,
    documents_that_the_validator_refuses_stay,
    large_documents_are_migrated,
    checks_find_other_versions,
    migrations_end_beside_writers,
    updates_beside_an_old_program_are_not_lost,
    saves_beside_migrations_are_not_lost,
];

/// The third version. The first had `name` and `price`, the second `given` and `family`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(
    collection = "people",
    schema(version = 3, steps(split_name, add_currency)),
    index(given)
)]
struct Person {
    #[serde(rename = "_id")]
    id: i32,
    given: String,
    family: String,
    price: Price,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Price {
    amount: i64,
    currency: String,
}

/// The second version, as an older program knows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "people", schema(version = 2, steps(split_name)))]
struct Before {
    #[serde(rename = "_id")]
    id: i32,
    given: String,
    family: String,
    price: i64,
}

fn split_name(document: &mut BsonDocument) -> Result<(), String> {
    let name = document.remove("name").ok_or("no `name`")?;
    let name = name.as_str().ok_or("`name` is not a text")?;
    let (given, family) = name.split_once(' ').ok_or("one word")?;
    document.insert("given", given);
    document.insert("family", family);
    Ok(())
}

fn add_currency(document: &mut BsonDocument) -> Result<(), String> {
    let amount = match document.get("price") {
        Some(Bson::Int32(amount)) => i64::from(*amount),
        Some(Bson::Int64(amount)) => *amount,
        Some(Bson::Double(amount)) => amount.to_string().parse().map_err(|_| "`price` is odd")?,
        other => return Err(format!("`price` is {other:?}")),
    };
    document.insert("price", doc! {"amount": amount, "currency": "EUR"});
    Ok(())
}

fn person(id: i32, given: &str, family: &str, amount: i64) -> Person {
    Person {
        id,
        given: given.to_owned(),
        family: family.to_owned(),
        price: Price {
            amount,
            currency: "EUR".to_owned(),
        },
    }
}

/// As the first program stores it.
fn first(id: impl Into<Bson>, name: &str, price: i64) -> BsonDocument {
    doc! {"_id": id.into(), "name": name, "price": price}
}

async fn store(db: &Db, collection: &str, documents: impl IntoIterator<Item = BsonDocument>) {
    let documents: Vec<_> = documents.into_iter().collect();
    let inserted = db.run_command(doc! {"insert": collection, "documents": documents});
    let reply = inserted.await.unwrap();
    assert!(!reply.contains_key("writeErrors"), "{reply}");
}

/// A document as it is stored.
async fn stored(db: &Db, collection: &str, id: impl Into<Bson>) -> BsonDocument {
    let filter = doc! {"_id": {"$eq": id.into()}};
    let command = doc! {"find": collection, "filter": filter, "limit": 1};
    db.run_command(command).all().await.unwrap().remove(0)
}

/// Ada of version 1, Grace of version 2 and Emmy of version 3.
async fn three(db: &Db) -> Collection<Person> {
    store(
        db,
        "people",
        [
            first(1, "Ada Lovelace", 10),
            doc! {"_id": 2, "given": "Grace", "family": "Hopper", "price": 20_i64, "schema_version": 2},
            doc! {
                "_id": 3, "given": "Emmy", "family": "Noether", "price": {"amount": 30_i64, "currency": "EUR"},
                "schema_version": 3,
            },
        ],
    )
    .await;
    db.collection::<Person>()
}

fn ada() -> Person {
    person(1, "Ada", "Lovelace", 10)
}

fn grace() -> Person {
    person(2, "Grace", "Hopper", 20)
}

fn emmy() -> Person {
    person(3, "Emmy", "Noether", 30)
}

/// A document of the third version.
fn current(person: &Person) -> BsonDocument {
    let mut document = bson::serialize_to_document(person).unwrap();
    document.insert("schema_version", 3);
    document
}

/// Whether both have the same fields, in any order.
fn same(one: &BsonDocument, other: &BsonDocument) -> bool {
    one.len() == other.len()
        && one
            .iter()
            .all(|(name, value)| other.get(name) == Some(value))
}

async fn is_current(db: &Db, person: &Person) {
    let found = stored(db, "people", person.id).await;
    assert!(same(&found, &current(person)), "{found}");
}
