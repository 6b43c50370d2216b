//! Copies of fields of other documents: `copy_of`, `propagate`, `check_copies`.

mod aged;
mod declarations;
mod inserts;
mod models;
mod random;
mod throttled;
mod writers;

use odm::bson::{Bson, doc};
use odm::prelude::*;

use self::aged::{
    a_changed_reference_brings_other_copies, a_refresh_by_age_finds_documents_by_an_index,
    changes_of_the_source_wait_for_the_age, inserts_store_the_time_of_copies,
    random_documents_are_refreshed_by_age, replacements_store_the_time_of_copies,
};
use self::declarations::wrong_declarations_are_refused;
use self::inserts::{
    a_document_without_the_field_is_refused,
    a_list_of_documents_takes_one_query_for_each_reference,
    a_reference_that_leads_to_nothing_is_refused, inserts_are_filled,
};
use self::models::{
    Address, Card, Customer, Order, Payment, Product, Visit, customer, order, product, visit,
};
use self::random::random_writes_leave_what_a_plain_model_leaves;
use self::throttled::{
    a_throttled_run_meets_documents_of_other_programs, a_throttled_run_that_stops_is_continued,
    a_throttled_run_writes_some_at_a_time,
};
use self::writers::nothing_is_stale_after_writes_beside_each_other;
use super::dependents::{insert, stored};
use super::relations::watched;
use crate::case::cases;

cases![
    inserts_are_filled,
    a_list_of_documents_takes_one_query_for_each_reference,
    a_reference_that_leads_to_nothing_is_refused,
    a_document_without_the_field_is_refused,
    changes_say_what_becomes_of_copies,
    changes_of_other_fields_need_no_word,
    every_copy_follows_its_field,
    copies_that_stay_are_filled_once,
    inserts_store_the_time_of_copies,
    replacements_store_the_time_of_copies,
    changes_of_the_source_wait_for_the_age,
    a_changed_reference_brings_other_copies,
    a_refresh_by_age_finds_documents_by_an_index,
    random_documents_are_refreshed_by_age,
    references_by_another_key_are_followed,
    a_changed_reference_changes_its_copies,
    a_reference_to_nothing_has_no_copies,
    equal_copies_are_not_written,
    strings_that_differ_in_case_are_written,
    types_of_other_crates_are_copied,
    a_transaction_of_the_caller_is_joined,
    an_aborted_transaction_propagates_nothing,
    changes_in_the_background_are_resumed,
    a_throttled_run_writes_some_at_a_time,
    a_throttled_run_that_stops_is_continued,
    a_throttled_run_meets_documents_of_other_programs,
    guards_and_options_of_the_update_hold,
    chosen_names_are_followed,
    a_plan_says_what_the_update_does,
    sync_creates_what_propagation_needs,
    wrong_declarations_are_refused,
    random_writes_leave_what_a_plain_model_leaves,
    nothing_is_stale_after_writes_beside_each_other,
];

/// Two customers, three products, and three orders of the first customer, filled.
async fn shop(db: &Db) {
    let customers = [
        Customer {
            address: Some(Address {
                city: "Bern".to_owned(),
                zip: None,
            }),
            ..customer(1, "Ada")
        },
        customer(2, "Ben"),
    ];
    db.collection().insert_many(customers).await.unwrap();
    let products = [product(1, "bolt"), product(2, "nut"), product(3, "cog")];
    db.collection().insert_many(products).await.unwrap();
    let orders = [order(1, 1, &[1, 2]), order(2, 1, &[2]), order(3, 1, &[])];
    db.collection::<Order>()
        .insert_many(orders)
        .propagate()
        .await
        .unwrap();
}

async fn changes_say_what_becomes_of_copies(db: &Db) {
    let (watched, log) = watched(db);
    let customers = watched.collection::<Customer>();
    let errors = [
        customers
            .update_one(|c| c.id.eq(1), |c| c.name.set("x"))
            .await
            .unwrap_err(),
        customers
            .update_many(|c| c.id.eq(1), |c| c.name.set("x"))
            .await
            .unwrap_err(),
        customers
            .update_all(|c| c.address.unset())
            .await
            .unwrap_err(),
        customers
            .update_by_id(&1, |c| c.tags.push("x"))
            .command()
            .unwrap_err(),
        customers
            .update_by_id(&1, |c| c.name.set("x"))
            .explain()
            .await
            .unwrap_err(),
        customers
            .find_one_and_update(|c| c.id.eq(1), |c| c.name.set("x"))
            .await
            .unwrap_err(),
        customers
            .replace_one(|c| c.id.eq(1), customer(1, "x"))
            .await
            .unwrap_err(),
        customers
            .replace_by_id(&1, customer(1, "x"))
            .await
            .unwrap_err(),
        customers
            .find_one_and_replace(|c| c.id.eq(1), customer(1, "x"))
            .await
            .unwrap_err(),
        customers
            .bulk_write(|w| [w.update_one(|c| c.id.eq(1), |c| c.name.set("x"))])
            .await
            .unwrap_err(),
        customers
            .bulk_write(|w| [w.replace_one(|c| c.id.eq(1), customer(1, "x"))])
            .await
            .unwrap_err(),
    ];
    for error in errors {
        let text = error.to_string();
        assert!(text.contains("Customer: `"), "{text}");
        assert!(text.contains("copies a changed field into"), "{text}");
        assert!(text.contains("write `.propagate()`"), "{text}");
    }
    let orders = watched.collection::<Order>();
    let errors = [
        orders
            .update_by_id(&1, |o| o.customer.set(Ref::from(2)))
            .await
            .unwrap_err(),
        orders
            .update_by_id(&1, |o| o.customer_name.set("x".to_owned()))
            .await
            .unwrap_err(),
        orders
            .update_by_id(&1, |o| o.lines.push(order(1, 1, &[1]).lines.remove(0)))
            .await
            .unwrap_err(),
        orders
            .update_by_id(&1, |o| o.payment.unset())
            .await
            .unwrap_err(),
    ];
    for error in errors {
        let text = error.to_string();
        assert!(text.contains("is a copy of what `"), "{text}");
        assert!(text.contains("or `.leave_stale()`"), "{text}");
    }
    assert!(log.lock().unwrap().is_empty());

    shop(db).await;
    let customers = db.collection::<Customer>();
    let mut loaded = customers.load(&1).await.unwrap().unwrap();
    loaded.name.push('x');
    assert!(customers.save(&mut loaded).await.is_err());
    customers.save(&mut loaded).leave_stale().await.unwrap();
    let update = customers.update_by_id(&1, |c| c.name.set("y"));
    update.leave_stale().await.unwrap();
    let update = customers.find_one_and_update(|c| c.id.eq(1), |c| c.country.set("at"));
    update.leave_stale().await.unwrap();
    let again = customers.replace_by_id(&1, customer(1, "z")).leave_stale();
    again.await.unwrap();
    let writes = |w: odm::collection::Writes<Customer>| {
        [w.update_one(|c| c.id.eq(1), |c| c.name.set("x"))
            .leave_stale()]
    };
    customers.bulk_write(writes).await.unwrap();
    let orders = db.collection::<Order>();
    assert_eq!(stored(db, "orders").await[0].get_str("cn").unwrap(), "Ada");
    let report = orders.check_copies().await.unwrap();
    // Three names, and the city of a note.
    assert_eq!(report.damages, 4, "{report}");
    assert_eq!(orders.refresh_copies().await.unwrap().updated, 4);
    assert!(orders.check_copies().await.unwrap().is_sound());
}

async fn changes_of_other_fields_need_no_word(db: &Db) {
    shop(db).await;
    let customers = db.collection::<Customer>();
    let update = customers.update_by_id(&1, |c| c.code.set("other"));
    assert_eq!(update.await.unwrap().modified, 1);
    let products = db.collection::<Product>();
    products.update_all(|p| p.price.inc(1)).await.unwrap();
    let mut loaded = products.load(&1).await.unwrap().unwrap();
    loaded.price = 9;
    products.save(&mut loaded).await.unwrap();
    // To say more is no error.
    let update = products.update_all(|p| p.price.inc(1)).propagate();
    let result = update.await.unwrap();
    assert_eq!((result.update.modified, result.propagated.len()), (3, 0));
}

async fn every_copy_follows_its_field(db: &Db) {
    shop(db).await;
    let visits = db.collection::<Visit>();
    visits.insert_one(visit(1, 1)).propagate().await.unwrap();
    let paid = Order {
        payment: Some(Payment::Card {
            holder: Ref::from(1),
            country: String::new(),
        }),
        ..order(4, 2, &[1, 1])
    };
    let orders = db.collection::<Order>();
    orders.insert_one(&paid).propagate().await.unwrap();
    let customers = db.collection::<Customer>();
    let update = customers.update_by_id(&1, |c| {
        c.name.set("Eve") & c.country.set("at") & c.tags.set(["vip".to_owned()])
    });
    let result = update.propagate().await.unwrap();
    let copies: Vec<_> = result
        .propagated
        .iter()
        .map(|one| (one.model, one.by.as_str(), one.documents))
        .collect();
    let expected = [
        ("Order", "customer", 3),
        ("Order", "lines.notes.by", 2),
        ("Order", "payment.card.holder", 1),
        ("Visit", "customer", 1),
    ];
    for one in expected {
        assert!(copies.contains(&one), "{copies:?}");
    }
    let orders = orders.find_all().sort(|o| o.id.asc()).all().await.unwrap();
    assert_eq!(orders[0].customer_name.as_deref(), Some("Eve"));
    assert_eq!(
        orders[0].lines[0].notes[0].tags.as_deref(),
        Some(&["vip".to_owned()][..])
    );
    assert_eq!(orders[0].lines[0].notes[0].city.as_deref(), Some("Bern"));
    assert_eq!(orders[0].lines[1].notes[0].tags, None);
    assert_eq!(orders[3].customer_name.as_deref(), Some("Ben"));
    let Some(Payment::Card { country, .. }) = &orders[3].payment else {
        panic!("{orders:?}");
    };
    assert_eq!(country, "at");
    assert_eq!(visits.get(&1).await.unwrap().unwrap().info.name, "Eve");
}

async fn copies_that_stay_are_filled_once(db: &Db) {
    shop(db).await;
    let products = db.collection::<Product>();
    let update = products.update_by_id(&1, |p| p.price.set(7) & p.name.set("screw"));
    update.propagate().await.unwrap();
    let orders = db.collection::<Order>();
    let line = orders.get(&1).await.unwrap().unwrap().lines.remove(0);
    assert_eq!((line.name.as_str(), line.price), ("screw", 100));
    assert!(orders.check_copies().await.unwrap().is_sound());
    orders
        .insert_one(order(5, 1, &[1]))
        .propagate()
        .await
        .unwrap();
    assert_eq!(orders.get(&5).await.unwrap().unwrap().lines[0].price, 7);
}

async fn references_by_another_key_are_followed(db: &Db) {
    shop(db).await;
    let cards = db.collection::<Card>();
    let card = |id, code: &str| Card {
        id,
        customer_code: code.to_owned(),
        name: String::new(),
    };
    let insert = cards.insert_many([card(1, "c1"), card(2, "c2")]);
    insert.propagate().await.unwrap();
    let customers = db.collection::<Customer>();
    let update = customers.update_one(|c| c.code.eq("c2"), |c| c.name.set("Bea"));
    update.propagate().await.unwrap();
    let names: Vec<_> = cards.find_all().sort(|c| c.id.asc()).all().await.unwrap();
    let names: Vec<_> = names.iter().map(|card| card.name.as_str()).collect();
    assert_eq!(names, ["Ada", "Bea"]);
}

async fn a_changed_reference_changes_its_copies(db: &Db) {
    shop(db).await;
    let orders = db.collection::<Order>();
    let update = orders.update_many(|o| o.id.gte(2), |o| o.customer.set(Ref::from(2)));
    let result = update.propagate().await.unwrap();
    assert_eq!(
        (result.update.matched, result.propagated[0].documents),
        (2, 2)
    );
    let names = || async {
        let orders = orders.find_all().sort(|o| o.id.asc()).all().await.unwrap();
        let names = orders.into_iter().map(|order| order.customer_name);
        names.map(Option::unwrap_or_default).collect::<Vec<_>>()
    };
    assert_eq!(names().await, ["Ada", "Ben", "Ben"]);
    // A copy that is written by hand becomes what it should be.
    let update = orders.update_by_id(&2, |o| o.customer_name.set("Eve".to_owned()));
    update.propagate().non_atomic().await.unwrap();
    assert_eq!(names().await, ["Ada", "Ben", "Ben"]);
    let line = order(0, 1, &[3]).lines.remove(0);
    let update = orders.update_by_id(&1, |o| o.lines.push(line));
    update.propagate().await.unwrap();
    assert_eq!(orders.get(&1).await.unwrap().unwrap().lines[2].name, "cog");
}

async fn a_reference_to_nothing_has_no_copies(db: &Db) {
    shop(db).await;
    let orders = db.collection::<Order>();
    let update = orders.update_by_id(&2, |o| o.customer.unset());
    update.propagate().await.unwrap();
    assert_eq!(stored(db, "orders").await[1].get("cn"), Some(&Bson::Null));
    // A delete that sets references to null.
    let customers = db.collection::<Customer>();
    let delete = customers.delete_by_id(&1).with_dependents();
    delete.await.unwrap();
    let stored = stored(db, "orders").await;
    for order in &stored {
        assert_eq!(order.get("customer").unwrap_or(&Bson::Null), &Bson::Null);
        assert_eq!(order.get("cn"), Some(&Bson::Null));
    }
    let lines = stored[0].get_array("l").unwrap();
    let notes = lines[0].as_document().unwrap().get_array("notes");
    assert_eq!(notes.unwrap()[0], doc! {"by": null, "tags": null}.into());
    assert!(orders.check_copies().await.unwrap().is_sound());
    // Another program took the reference away, and left the copy.
    let update = doc! {"q": {"_id": 3}, "u": {"$set": {"cn": "Ada"}}};
    let update = doc! {"update": "orders", "updates": [update]};
    db.run_command(update).await.unwrap();
    assert_eq!(orders.check_copies().await.unwrap().damages, 1);
    assert_eq!(orders.refresh_copies().await.unwrap().updated, 1);
}

async fn equal_copies_are_not_written(db: &Db) {
    shop(db).await;
    let version = || async {
        let stored = stored(db, "orders").await;
        let versions = stored.iter().map(|it| it.get_i64("version").unwrap());
        versions.collect::<Vec<_>>()
    };
    let customers = db.collection::<Customer>();
    let rename = |name: &'static str| customers.update_by_id(&1, |c| c.name.set(name));
    let result = rename("Ada").propagate().await.unwrap();
    assert_eq!(
        result
            .propagated
            .iter()
            .map(|one| one.documents)
            .sum::<u64>(),
        0
    );
    assert_eq!(version().await, [0, 0, 0]);
    rename("Eve").propagate().await.unwrap();
    assert_eq!(version().await, [1, 1, 1]);
    let products = db.collection::<Product>();
    let update = products.update_by_id(&1, |p| p.name.set("screw"));
    update.propagate().await.unwrap();
    assert_eq!(version().await, [2, 1, 1]);
    let updated = stored(db, "orders").await[0]
        .get_datetime("updated")
        .is_ok();
    assert!(updated);
}

async fn strings_that_differ_in_case_are_written(db: &Db) {
    #[derive(Debug, Serialize, Deserialize, Document)]
    #[odm(collection = "cities", has_many(streets: Street, by = city), collation(locale = "en", strength = 2))]
    struct City {
        #[serde(rename = "_id")]
        id: String,
        name: String,
    }
    #[derive(Debug, Serialize, Deserialize, Document)]
    #[odm(collection = "streets", collation(locale = "en", strength = 2))]
    struct Street {
        #[serde(rename = "_id")]
        id: i32,
        #[odm(index)]
        city: Ref<City>,
        #[odm(copy_of(city.name))]
        name: String,
    }
    let plan = db.sync(models![City, Street]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    let cities = db.collection::<City>();
    let city = City {
        id: "bern".to_owned(),
        name: "bern".to_owned(),
    };
    cities.insert_one(&city).await.unwrap();
    let streets = db.collection::<Street>();
    let street = Street {
        id: 1,
        city: Ref::from("bern".to_owned()),
        name: String::new(),
    };
    streets.insert_one(&street).propagate().await.unwrap();
    let update = cities.update_all(|c| c.name.set("Bern"));
    let result = update.propagate().await.unwrap();
    assert_eq!(result.propagated[0].documents, 1);
    assert_eq!(streets.get(&1).await.unwrap().unwrap().name, "Bern");
}

async fn types_of_other_crates_are_copied(db: &Db) {
    #[derive(Debug, Serialize, Deserialize, Document)]
    #[odm(collection = "devices", has_one(reading: Reading, by = device))]
    struct Device {
        #[serde(rename = "_id")]
        id: i32,
        #[serde(with = "odm::jiff_0_2")]
        built: jiff::Timestamp,
        #[odm(embed)]
        place: Place,
    }
    #[derive(Debug, Serialize, Deserialize, Embedded)]
    struct Place {
        #[serde(with = "odm::uuid_1")]
        room: uuid::Uuid,
    }
    #[derive(Debug, Serialize, Deserialize, Document)]
    #[odm(collection = "readings")]
    struct Reading {
        #[serde(rename = "_id")]
        id: i32,
        #[odm(unique)]
        device: Ref<Device>,
        #[serde(with = "odm::jiff_0_2")]
        #[odm(copy_of(device.built))]
        built: jiff::Timestamp,
        #[serde(default, with = "odm::uuid_1")]
        #[odm(copy_of(device.place.room))]
        room: Option<uuid::Uuid>,
    }
    let room = uuid::Uuid::from_u128(1);
    let device = Device {
        id: 1,
        built: jiff::Timestamp::from_second(1).unwrap(),
        place: Place { room },
    };
    let devices = db.collection::<Device>();
    devices.insert_one(&device).await.unwrap();
    let readings = db.collection::<Reading>();
    let reading = Reading {
        id: 1,
        device: Ref::from(1),
        built: jiff::Timestamp::UNIX_EPOCH,
        room: None,
    };
    readings.insert_one(&reading).propagate().await.unwrap();
    let later = jiff::Timestamp::from_second(2).unwrap();
    let update = devices.update_by_id(&1, |d| d.built.set(later));
    update.propagate().await.unwrap();
    let reading = readings.get(&1).await.unwrap().unwrap();
    assert_eq!((reading.built, reading.room), (later, Some(room)));
}

async fn a_transaction_of_the_caller_is_joined(db: &Db) {
    shop(db).await;
    let (customers, visits) = (db.collection::<Customer>(), db.collection::<Visit>());
    visits.insert_one(visit(1, 1)).propagate().await.unwrap();
    odm::transaction!(db, |tx| {
        let update = customers.update_by_id(&1, |c| c.name.set("Eve"));
        update.propagate().session(tx).await?;
        let inside = visits.get(&1).session(tx).await?;
        assert_eq!(inside.unwrap().info.name, "Eve");
        visits
            .insert_one(visit(2, 1))
            .propagate()
            .session(tx)
            .await?;
        Ok(())
    })
    .await
    .unwrap();
    assert_eq!(visits.get(&2).await.unwrap().unwrap().info.name, "Eve");
    assert!(stored(db, "odm_propagations").await.is_empty());
    // A session without a transaction is enough where one command writes.
    let mut session = db.start_session().await.unwrap();
    let insert = visits.insert_one(visit(3, 1)).propagate();
    insert.session(&mut session).await.unwrap();
    let update = customers
        .update_by_id(&1, |c| c.name.set("Ada"))
        .propagate();
    let error = update.session(&mut session).await.unwrap_err().to_string();
    assert!(
        error.contains("start a transaction in the session"),
        "{error}"
    );
}

async fn an_aborted_transaction_propagates_nothing(db: &Db) {
    shop(db).await;
    let customers = db.collection::<Customer>();
    let mut session = db.start_session().await.unwrap();
    session.start_transaction().await.unwrap();
    let update = customers
        .update_by_id(&1, |c| c.name.set("Eve"))
        .propagate();
    update.session(&mut session).await.unwrap();
    session.abort_transaction().await.unwrap();
    session.start_transaction().await.unwrap();
    customers.get(&1).session(&mut session).await.unwrap();
    session.commit_transaction().await.unwrap();
    let orders = stored(db, "orders").await;
    assert_eq!(orders[0].get_str("cn").unwrap(), "Ada");
    assert!(stored(db, "odm_propagations").await.is_empty());
}

async fn changes_in_the_background_are_resumed(db: &Db) {
    shop(db).await;
    let (customers, products) = (db.collection::<Customer>(), db.collection::<Product>());
    for name in ["Eve", "Eva"] {
        let update = customers.update_many(|c| c.id.lte(2), |c| c.name.set(name));
        update.in_background().await.unwrap();
    }
    let update = products.update_by_id(&1, |p| p.name.set("screw"));
    update.in_background().non_atomic().await.unwrap();
    assert_eq!(stored(db, "orders").await[0].get_str("cn").unwrap(), "Ada");
    // The records of other models stay; one record for each kind of key.
    let done = products.resume_propagation().await.unwrap();
    assert_eq!((done.changes, done.documents), (1, 1));
    let done = customers.resume_propagation().await.unwrap();
    assert!(done.changes >= 2, "{done:?}");
    assert_eq!(done.documents, 3);
    let orders = stored(db, "orders").await;
    assert_eq!(orders[0].get_str("cn").unwrap(), "Eva");
    assert_eq!(customers.resume_propagation().await.unwrap().changes, 0);
    // Another program's record is an error, and stays.
    let odd = doc! {"_id": 1, "collection": "customers", "key": 7};
    insert(db, "odm_propagations", [odd]).await;
    assert!(customers.resume_propagation().await.is_err());
    assert_eq!(stored(db, "odm_propagations").await.len(), 1);
}

async fn guards_and_options_of_the_update_hold(db: &Db) {
    shop(db).await;
    let orders = db.collection::<Order>();
    let line = || order(0, 1, &[3]).lines.remove(0);
    for _ in 0..8 {
        let push = orders.update_by_id(&1, |o| o.lines.push(line()));
        assert_eq!(push.propagate().await.unwrap().update.modified, 1);
    }
    let push = orders.update_by_id(&1, |o| o.lines.push(line()));
    let result = push.propagate().await.unwrap();
    assert_eq!(
        (result.update.matched, result.update.withheld.len()),
        (0, 1)
    );
    let customers = db.collection::<Customer>();
    let none = customers.update_by_id(&9, |c| c.name.set("x"));
    assert_eq!(none.propagate().await.unwrap().update.matched, 0);
    let concern = customers
        .update_by_id(&1, |c| c.name.set("x"))
        .write_concern(odm::collection::WriteConcern::majority());
    assert!(concern.propagate().await.is_err());
    // The first that matches, and no other.
    let one = customers.update_one(|c| c.id.gte(0), |c| c.name.set("one"));
    assert_eq!(one.propagate().await.unwrap().update.modified, 1);
    assert_eq!(
        customers
            .count_documents(|c| c.name.eq("one"))
            .await
            .unwrap(),
        1
    );
}

async fn chosen_names_are_followed(db: &Db) {
    let named = db
        .with_collection::<Customer>("clients")
        .with_collection::<Visit>("calls");
    named
        .collection()
        .insert_one(customer(1, "Ada"))
        .await
        .unwrap();
    let visits = named.collection::<Visit>();
    visits.insert_one(visit(1, 1)).propagate().await.unwrap();
    let customers = named.collection::<Customer>();
    let update = || customers.update_by_id(&1, |c| c.name.set("Eve"));
    update().in_background().await.unwrap();
    assert_eq!(
        db.collection::<Customer>()
            .resume_propagation()
            .await
            .unwrap()
            .changes,
        0
    );
    assert_eq!(customers.resume_propagation().await.unwrap().documents, 1);
    let stored = stored(db, "calls").await;
    assert_eq!(
        stored[0].get_document("info").unwrap(),
        &doc! {"n": "Eve", "country": "ch"}
    );
}

async fn a_plan_says_what_the_update_does(db: &Db) {
    shop(db).await;
    let customers = db.collection::<Customer>();
    let visits = db.collection::<Visit>();
    visits.insert_one(visit(1, 1)).propagate().await.unwrap();
    let update = || customers.update_by_id(&1, |c| c.name.set("Eve"));
    let plan = update().propagate().plan().await.unwrap().to_string();
    let expected = "  customers (Customer)
    update 1 document
        match the filter
  orders (Order)
    update 3 documents
        copy `customer_name` by `customer`
        found by the index on customer
        strict: in the transaction of the write
  visits (Visit)
    update 1 document
        copy `info` by `customer`
        found by the index on customer
        settled: after the transaction of the write
";
    assert_eq!(plan, expected);
    let plan = update().in_background().plan().await.unwrap().to_string();
    assert!(
        plan.contains("in the background: by `resume_propagation`"),
        "{plan}"
    );
    let orders = db.collection::<Order>();
    let update = orders.update_by_id(&1, |o| o.customer.set(Ref::from(2)));
    let plan = update.propagate().plan().await.unwrap().to_string();
    let expected = "  orders (Order)
    update 1 document
        match the filter
    update 1 document
        copy `customer_name` by `customer`
";
    assert_eq!(plan, expected);
    let none = customers.update_by_id(&9, |c| c.name.set("Eve"));
    let plan = none.propagate().plan().await.unwrap();
    assert_eq!(plan.to_string(), "no document matches\n");
    assert_eq!(stored(db, "orders").await[0].get_str("cn").unwrap(), "Ada");
}

async fn sync_creates_what_propagation_needs(db: &Db) {
    let plan = db
        .sync(models![Customer, Product, Order, Visit, Card])
        .plan()
        .await
        .unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    let list = doc! {"listCollections": 1, "nameOnly": true};
    let names = db.run_command(list).all().await.unwrap();
    let has = |name: &str| {
        names
            .iter()
            .any(|one| one.get_str("name").is_ok_and(|it| it == name))
    };
    assert!(
        has("odm_propagations") && has("odm_reference_fences"),
        "{names:?}"
    );
    shop(db).await;
    let customers = db.collection::<Customer>();
    let update = customers.update_by_id(&1, |c| c.name.set("Eve"));
    update.propagate().await.unwrap();
    assert!(
        db.collection::<Order>()
            .check_copies()
            .await
            .unwrap()
            .is_sound()
    );
}
