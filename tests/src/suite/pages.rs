//! Pages of documents that the struct did not write, and of documents that are equal in the order.

mod things;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use odm::bson::{Bson, Document as BsonDocument};
use odm::collection::{Collation, PageToken};
use odm::prelude::*;

use self::things::{all_values, thing};
use crate::case::cases;
use crate::random::Random;

cases![
    pages_continue_by_what_is_stored,
    pages_continue_over_all_types,
    pages_continue_over_ids_of_all_types,
    pages_continue_under_a_collation,
    pages_are_read_by_an_index,
    pages_by_number_have_a_total_order,
    pages_by_a_unique_field_keep_its_index,
    pages_after_a_changed_document_continue_or_are_refused,
    pages_by_arrays_are_refused,
    pages_with_tokens_show_the_keys,
    tampered_tokens_are_errors_of_the_client,
    pages_are_read_in_a_transaction,
    pages_of_joins_continue_by_what_is_stored,
];

/// A model of which older documents lack fields, and to which other programs write.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "things", index(n, id), index(other))]
struct Thing {
    #[serde(rename = "_id")]
    id: i32,
    #[serde(default)]
    n: i32,
    #[serde(default = "one")]
    weight: f64,
    #[serde(default)]
    size: Option<Size>,
    #[serde(default, deserialize_with = "lowercase")]
    name: String,
    #[serde(default)]
    anything: Bson,
    #[serde(default)]
    other: Option<Ref<Thing>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Size {
    #[serde(default)]
    h: i64,
}

fn one() -> f64 {
    1.0
}

fn lowercase<'de, D: serde::Deserializer<'de>>(text: D) -> Result<String, D::Error> {
    Ok(String::deserialize(text)?.to_lowercase())
}

/// Inserts documents as another program would.
async fn insert(db: &Db, collection: &str, documents: Vec<BsonDocument>) {
    let insert =
        doc! {"insert": collection, "documents": documents, "bypassDocumentValidation": true};
    db.run_command(insert).await.unwrap();
}

async fn things(db: &Db, seed: u64) -> Collection<Thing> {
    let plan = db.sync(models![Thing]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    let mut random = Random::of(seed);
    let documents = (0..40).map(|id| thing(&mut random, (id * 7) % 40));
    insert(db, "things", documents.collect()).await;
    db.collection()
}

/// The ids of a find, in its order.
macro_rules! ids {
    ($documents:expr) => {
        $documents
            .iter()
            .map(|it| it.id.clone())
            .collect::<Vec<_>>()
    };
}

/// Reads all pages of one size in each way, and compares them with one read.
macro_rules! compare {
    ($query:expr, $size:expr, $what:expr) => {{
        let (query, size, what) = (&$query, $size, $what);
        let whole = ids!(query().after(None).all().await.unwrap());

        let mut pages = Vec::new();
        loop {
            let page = query().after(pages.last()).limit(size).all().await.unwrap();
            if page.is_empty() {
                break;
            }
            pages.extend(page);
        }
        assert_eq!(ids!(pages), whole, "{what}, after, {size}");

        let (mut pages, mut token) = (Vec::new(), None::<PageToken>);
        loop {
            let page = query().page_after(token.as_ref(), size).await.unwrap();
            let last = page.items.last().unwrap();
            if let Some(next) = &page.next {
                // As text, because NaN is not equal to itself.
                let token = query().page_token(last).await.unwrap();
                assert_eq!(token.to_string(), next.to_string(), "{what}");
            }
            pages.extend(page.items);
            let Some(next) = page.next else { break };
            token = Some(next.to_string().parse().unwrap());
        }
        assert_eq!(ids!(pages), whole, "{what}, tokens, {size}");

        let mut pages = Vec::new();
        for number in 1.. {
            let page = query().page(number, size).all().await.unwrap();
            if page.is_empty() {
                break;
            }
            pages.extend(page);
        }
        assert_eq!(ids!(pages), whole, "{what}, numbers, {size}");
        whole.len()
    }};
}

async fn pages_continue_by_what_is_stored(db: &Db) {
    let things = things(db, 1).await;
    for order in 0..12 {
        let query = || {
            let found = things.find_all();
            match order {
                0 => found.sort(|t| t.n.asc()),
                1 => found.sort(|t| t.n.desc()),
                2 => found.sort(|t| t.weight.asc()),
                3 => found.sort(|t| t.weight.desc()),
                4 => found.sort(|t| t.size.h.asc()),
                5 => found.sort(|t| t.size.h.desc()),
                6 => found.sort(|t| t.name.asc().then(t.n.desc())),
                7 => found.sort(|t| t.name.desc().then(t.weight.asc())),
                8 => found.sort(|t| t.other.asc().then(t.size.h.desc())),
                9 => found.sort(|t| t.other.desc().then(t.n.asc()).then(t.id.desc())),
                10 => found.sort(|t| t.size.asc()),
                _ => found,
            }
        };
        for size in [1, 3, 7, 40] {
            assert_eq!(compare!(query, size, format!("order {order}")), 40);
        }
        // Another condition, whose own `$or` stays.
        let some = || query().filter(|t| t.id.lt(9) | t.id.gt(21));
        assert_eq!(compare!(some, 4, format!("order {order}")), 27);
    }
}

async fn pages_continue_over_all_types(db: &Db) {
    let things = things(db, 2).await;
    let mut documents = Vec::new();
    for (id, value) in (100..).zip(all_values()) {
        documents.push(doc! {"_id": id, "anything": value});
    }
    insert(db, "things", documents).await;
    for keys in 0..4 {
        let query = || {
            let found = things.find_all();
            match keys {
                0 => found.sort(|t| t.anything.asc()),
                1 => found.sort(|t| t.anything.desc()),
                2 => found.sort(|t| t.n.asc().then(t.anything.desc())),
                _ => found.sort(|t| t.anything.asc().then(t.n.desc()).then(t.id.desc())),
            }
        };
        for size in [1, 2, 5, 100] {
            compare!(query, size, format!("keys {keys}"));
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "odd")]
struct Odd {
    #[serde(rename = "_id")]
    id: Bson,
    #[serde(default)]
    n: i32,
}

async fn pages_continue_over_ids_of_all_types(db: &Db) {
    let odd = db.collection::<Odd>();
    let mut documents: Vec<BsonDocument> = Vec::new();
    for value in all_values() {
        // Not equal to another id, and of a type that an id can have.
        let is_new = documents
            .iter()
            .all(|other| other.get("_id") != Some(&value));
        let equal = [Bson::from(-0.0), 5_i64.into(), 5.0.into()];
        if is_new
            && !equal.contains(&value)
            && !matches!(value, Bson::RegularExpression(_))
            && value != Bson::from(doc! {"$gt": 1})
        {
            documents.push(doc! {"_id": value});
        }
    }
    let all = documents.len();
    insert(db, "odd", documents).await;
    for order in 0..4 {
        let query = || {
            let found = odd.find_all();
            match order {
                0 => found,
                1 => found.sort(|o| o.id.desc()),
                2 => found.sort(|o| o.n.asc()),
                _ => found.sort(|o| o.n.desc()),
            }
        };
        for size in [1, 3] {
            // NaN is not equal to itself, so the ids are compared as text.
            let whole = query().after(None).all().await.unwrap();
            let (mut pages, mut last) = (Vec::new(), None);
            loop {
                let page = query()
                    .after(last.as_ref())
                    .limit(size)
                    .all()
                    .await
                    .unwrap();
                let Some(end) = page.last() else { break };
                last = Some(end.clone());
                pages.extend(page);
            }
            let (pages, whole) = (format!("{pages:?}"), format!("{whole:?}"));
            assert_eq!(pages, whole, "order {order}, {size}");
            assert_eq!(query().count().await.unwrap(), all as u64);
        }
    }
}

async fn pages_continue_under_a_collation(db: &Db) {
    let things = db.collection::<Thing>();
    let names = ["a", "B", "A", "b", "\u{e4}", "C", "a", "c"];
    let documents = (0..)
        .zip(names)
        .map(|(id, name)| doc! {"_id": id, "name": name});
    insert(db, "things", documents.collect()).await;
    let collation = || Collation::new("en").strength(2);
    for descending in [false, true] {
        let query = || {
            let found = things.find_all().collation(collation());
            if descending {
                found.sort(|t| t.name.desc())
            } else {
                found.sort(|t| t.name.asc())
            }
        };
        for size in [1, 2, 3] {
            assert_eq!(compare!(query, size, "collation"), 8);
        }
    }
}

async fn pages_are_read_by_an_index(db: &Db) {
    let things = db.collection::<Thing>();
    let plan = db.sync(models![Thing]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    // Many are equal, and a third lacks the field.
    let document = |id: i32| match id % 3 {
        0 => doc! {"_id": id},
        n => doc! {"_id": id, "n": n},
    };
    insert(db, "things", (0..600).map(document).collect()).await;
    for descending in [false, true] {
        let query = || {
            if descending {
                things.find_all().sort(|t| t.n.desc())
            } else {
                things.find_all().sort(|t| t.n.asc())
            }
        };
        let all = query().after(None).all().await.unwrap();
        for place in [5, 150, 199, 250, 450, 590] {
            let page = query().after(&all[place]).limit(5);
            let plan = page.explain().await.unwrap();
            assert_eq!(plan.indexes, ["n_1__id_1"], "{descending} {place}: {plan}");
            assert!(!plan.sorts_in_memory, "{plan}");
            assert!(
                plan.documents_examined <= 20,
                "{descending} {place}: {plan}"
            );
        }
    }
    // Without an index, the plan says so.
    let plan = things
        .find_all()
        .sort(|t| t.name.asc())
        .page(1, 5)
        .explain();
    let plan = plan.await.unwrap();
    assert!(plan.sorts_in_memory, "{plan}");
    assert!(plan.to_string().contains("sorted in memory"), "{plan}");
    let plan = things.find_all().sort(|t| t.n.asc()).page(2, 5).explain();
    let plan = plan.await.unwrap();
    assert!(!plan.sorts_in_memory, "{plan}");
    assert!(plan.documents_examined <= 10, "{plan}");
}

async fn pages_by_number_have_a_total_order(db: &Db) {
    let things = db.collection::<Thing>();
    insert(
        db,
        "things",
        (0..60)
            .map(|id| doc! {"_id": id * 7 % 60, "n": 1})
            .collect(),
    )
    .await;
    let page = |number| things.find_all().sort(|t| t.n.desc()).page(number, 10);
    let mut all = Vec::new();
    for number in 1..=6 {
        all.extend(ids!(page(number).all().await.unwrap()));
    }
    assert_eq!(all, (0..60).rev().collect::<Vec<_>>());
    let sort = page(1).command().unwrap();
    assert_eq!(
        sort.get_document("sort").unwrap(),
        &doc! {"n": -1, "_id": -1}
    );
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "products", index(unique, shop, number), index(unique, tags.word))]
struct Product {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(unique)]
    sku: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[odm(unique(sparse))]
    code: Option<String>,
    shop: i32,
    number: i32,
    #[odm(embed(few, max = 5))]
    tags: Vec<Tag>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Tag {
    word: String,
}

async fn pages_by_a_unique_field_keep_its_index(db: &Db) {
    let products = db.collection::<Product>();
    let plan = db.sync(models![Product]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    let product = |id: i32| Product {
        id,
        sku: format!("{:03}", id * 7 % 50),
        code: None,
        shop: id % 5,
        number: id / 5,
        tags: vec![Tag {
            word: format!("{id}"),
        }],
    };
    products.insert_many((0..50).map(product)).await.unwrap();

    let by_sku = || products.find_all().sort(|p| p.sku.desc());
    assert_eq!(compare!(by_sku, 7, "sku"), 50);
    let plan = by_sku().page(3, 5).explain().await.unwrap();
    assert_eq!(
        plan.command.get_document("sort").unwrap(),
        &doc! {"sku": -1}
    );
    assert!(
        !plan.sorts_in_memory && plan.documents_examined <= 15,
        "{plan}"
    );
    let plan = by_sku()
        .after(&product(20))
        .limit(5)
        .explain()
        .await
        .unwrap();
    assert!(
        !plan.sorts_in_memory && plan.documents_examined <= 5,
        "{plan}"
    );

    let both = || {
        products
            .find_all()
            .sort(|p| p.number.asc().then(p.shop.desc()))
    };
    assert_eq!(compare!(both, 7, "both"), 50);
    // Documents may be equal in these.
    let sort =
        |command: odm::Result<BsonDocument>| command.unwrap().get_document("sort").unwrap().clone();
    let by_code = products.find_all().sort(|p| p.code.asc()).page(1, 5);
    assert_eq!(sort(by_code.command()), doc! {"code": 1, "_id": 1});
    let by_shop = products.find_all().sort(|p| p.shop.asc()).page(1, 5);
    assert_eq!(sort(by_shop.command()), doc! {"shop": 1, "_id": 1});
    let by_tag = products
        .find_all()
        .sort(|p| p.tags.any().word.asc())
        .page(1, 5);
    assert_eq!(sort(by_tag.command()), doc! {"tags.word": 1, "_id": 1});
    let collation = Collation::new("en").strength(2);
    let by_sku = by_sku().collation(collation).page(1, 5);
    assert_eq!(sort(by_sku.command()), doc! {"sku": -1, "_id": -1});
}

async fn pages_after_a_changed_document_continue_or_are_refused(db: &Db) {
    let products = db.collection::<Product>();
    let product = |id: i32| Product {
        id,
        sku: format!("{id}"),
        code: None,
        shop: id % 2,
        number: id,
        tags: Vec::new(),
    };
    products.insert_many((0..8).map(product)).await.unwrap();
    let by_shop = || products.find_all().sort(|p| p.shop.asc());
    let page = by_shop().page(1, 3).all().await.unwrap();
    assert_eq!(ids!(page), [0, 2, 4]);
    // Where it was, whatever it is now.
    products.update_by_id(&4, |p| p.shop.set(9)).await.unwrap();
    let next = by_shop().after(page.last()).limit(2).all().await.unwrap();
    assert_eq!(ids!(next), [6, 1]);
    products.delete_by_id(&4).await.unwrap();
    let next = by_shop().after(page.last()).limit(2).all().await.unwrap();
    assert_eq!(ids!(next), [6, 1]);

    // A default hides what was stored.
    let things = db.collection::<Thing>();
    insert(db, "things", (0..4).map(|id| doc! {"_id": id}).collect()).await;
    let by_n = || things.find_all().sort(|t| t.n.asc());
    let page = by_n().page_after(None, 2).await.unwrap();
    things.delete_by_id(&1).await.unwrap();
    let error = by_n().after(page.items.last()).all().await.unwrap_err();
    let text = error.to_string();
    assert!(text.contains('n') && text.contains("page_after"), "{text}");
    // The token was made of what was stored.
    let next = by_n().after_token(page.next.as_ref()).all().await.unwrap();
    assert_eq!(ids!(next), [2, 3]);
}

async fn pages_by_arrays_are_refused(db: &Db) {
    let refused = |error: odm::Error, path: &str| {
        assert_eq!(error.path(), Some(path), "{error}");
        assert!(
            error.is_usage() && error.to_string().contains("array"),
            "{error}"
        );
    };
    // A declared list, before the first page.
    let products = db.collection::<Product>();
    let by_word = || products.find_all().sort(|p| p.tags.any().word.asc());
    refused(by_word().after(None).all().await.unwrap_err(), "tags.word");
    refused(
        by_word().page_after(None, 5).await.unwrap_err(),
        "tags.word",
    );

    // An array where the type allows one, before the first page.
    let things = db.collection::<Thing>();
    let documents = vec![
        doc! {"_id": 1, "anything": 5},
        doc! {"_id": 2, "anything": [7, 1]},
    ];
    insert(db, "things", documents).await;
    let sorted = || things.find_all().sort(|t| t.anything.asc());
    refused(sorted().after(None).all().await.unwrap_err(), "anything");
    refused(sorted().page_after(None, 1).await.unwrap_err(), "anything");
    // Only documents of the query count.
    let others = || sorted().filter(|t| t.id.ne(2));
    assert_eq!(ids!(others().page_after(None, 1).await.unwrap().items), [1]);
}

#[derive(Debug, PartialEq, Serialize, Deserialize, Projection)]
#[odm(of = Thing)]
struct Shown {
    #[serde(rename = "_id")]
    id: i32,
    #[serde(default)]
    n: i32,
    // In no index: a covered projection has null for what is missing.
    #[serde(default)]
    name: String,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, Projection)]
#[odm(of = Thing)]
struct Name {
    name: String,
}

async fn pages_with_tokens_show_the_keys(db: &Db) {
    let things = things(db, 3).await;
    let shown = || things.find_all().sort(|t| t.n.desc()).select::<Shown>();
    let (mut all, mut token) = (Vec::new(), None);
    loop {
        let page = shown().page_after(token.as_ref(), 7).await.unwrap();
        all.extend(ids!(page.items));
        token = page.next;
        if token.is_none() {
            break;
        }
    }
    assert_eq!(all, ids!(shown().after(None).all().await.unwrap()));

    let by_n = || things.find_all().sort(|t| t.n.desc());
    for projection in [
        doc! {"name": 1},
        doc! {"n": 0},
        doc! {"n": {"$add": ["$n", 1]}},
    ] {
        let page = by_n().projection(projection).page_after(None, 7);
        let error = page.await.unwrap_err();
        assert_eq!(error.path(), Some("n"), "{error}");
    }
    let by_size = things.find_all().sort(|t| t.size.h.desc());
    let page = by_size
        .projection(doc! {"size": 1})
        .with_type::<BsonDocument>();
    assert_eq!(page.page_after(None, 7).await.unwrap().items.len(), 7);
    let page = things.find_all().select::<Name>().page_after(None, 7);
    assert_eq!(page.await.unwrap_err().path(), Some("_id"));
    let error = things.find_all().page_after(None, 0).await.unwrap_err();
    assert!(error.is_usage(), "{error}");
}

async fn tampered_tokens_are_errors_of_the_client(db: &Db) {
    let things = things(db, 4).await;
    let by_n = || things.find_all().sort(|t| t.n.asc());
    let nested = (0..150).fold(Bson::Int32(1), |inside, _| doc! {"a": inside}.into());
    let mut values = all_values();
    values.extend([
        nested,
        vec![1].into(),
        Bson::Undefined,
        doc! {"$ne": 1}.into(),
    ]);
    for n in &values {
        for id in &values {
            let bytes = doc! {"n": n.clone(), "_id": id.clone()}.to_vec().unwrap();
            let text = URL_SAFE_NO_PAD.encode(bytes);
            let token: PageToken = text.parse().unwrap();
            if let Err(error) = by_n().page_after(&token, 3).await {
                assert!(
                    error.is_page_token() && !error.is_usage(),
                    "{n} {id}: {error}"
                );
            }
        }
    }
}

async fn pages_are_read_in_a_transaction(db: &Db) {
    let things = things(db, 5).await;
    let mut session = db.start_session().await.unwrap();
    session.start_transaction().await.unwrap();
    let documents = [doc! {"_id": -1}, doc! {"_id": -2}];
    let fresh = doc! {"insert": "things", "documents": documents, "bypassDocumentValidation": true};
    db.run_command(fresh).session(&mut session).await.unwrap();
    let by_n = || things.find(|t| t.id.lt(0)).sort(|t| t.n.asc());
    let first = by_n().after(None).limit(1).session(&mut session).all();
    let first = first.await.unwrap();
    let next = by_n().after(first.last()).session(&mut session);
    assert_eq!(ids!(next.all().await.unwrap()), [-1]);
    let page = by_n()
        .session(&mut session)
        .page_after(None, 1)
        .await
        .unwrap();
    let token = by_n()
        .session(&mut session)
        .page_token(&page.items[0])
        .await;
    assert_eq!(page.next, Some(token.unwrap()));
    session.abort_transaction().await.unwrap();
}

async fn pages_of_joins_continue_by_what_is_stored(db: &Db) {
    let things = things(db, 6).await;
    let by_n = || things.find_all().sort(|t| t.n.asc());
    let whole = ids!(by_n().after(None).all().await.unwrap());
    let mut all: Vec<Thing> = Vec::new();
    loop {
        let rows = by_n()
            .after(all.last())
            .limit(7)
            .join(|t| t.other)
            .all()
            .await
            .unwrap();
        if rows.is_empty() {
            break;
        }
        all.extend(rows.iter().map(|row| (**row).clone()));
    }
    assert_eq!(ids!(all), whole);
    let mut all: Vec<i32> = Vec::new();
    for number in 1..=6 {
        let rows = by_n()
            .join(|t| t.other)
            .page(number, 7)
            .all()
            .await
            .unwrap();
        all.extend(rows.iter().map(|row| row.id));
    }
    assert_eq!(all, whole);
}
