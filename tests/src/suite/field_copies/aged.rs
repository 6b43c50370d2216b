//! Copies that follow by their age: `refresh(older_than = …, at = …)`.

use odm::bson::{Bson, DateTime, Document as BsonDocument, doc};
use odm::prelude::*;

use super::{insert, stored, watched};
use crate::random::{Random, count};

const HOUR: i64 = 3_600_000;

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[odm(collection = "aged_products")]
struct Product {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(unique)]
    code: String,
    name: String,
    #[odm(often)]
    price: i64,
    note: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Embedded)]
struct Line {
    product: Ref<Product>,
    #[odm(copy_of(product.name, once))]
    name: String,
    #[odm(copy_of(product.price, refresh(older_than = "2h", at = seen)))]
    price: i64,
    seen: DateTime,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
enum State {
    Open,
    Sold {
        #[odm(refers_to(Product, by = code))]
        code: String,
        #[odm(copy_of(code.price, refresh(older_than = "1w", at = sold)))]
        price: i64,
        sold: Option<DateTime>,
    },
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[odm(collection = "aged_offers", index(lines.seen))]
struct Offer {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index)]
    product: Ref<Product>,
    #[serde(rename = "p")]
    #[odm(copy_of(product.price, refresh(older_than = "1h", at = checked)))]
    price: i64,
    #[serde(rename = "c")]
    #[odm(index)]
    checked: DateTime,
    gift: Option<Ref<Product>>,
    #[odm(copy_of(gift.note, refresh(older_than = "1d", at = gift_at)))]
    gift_note: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[odm(copy_of(gift.price, refresh(older_than = "1d", at = gift_at)))]
    gift_price: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    gift_at: Option<DateTime>,
    #[odm(embed(few, max = 5))]
    lines: Vec<Line>,
    state: State,
    #[odm(version)]
    version: i64,
}

fn product(id: i32, price: i64) -> Product {
    Product {
        id,
        code: format!("c{id}"),
        name: format!("name {id}"),
        price,
        note: (id % 2 == 1).then(|| format!("note {id}")),
    }
}

fn offer(id: i32, product: i32) -> Offer {
    Offer {
        id,
        product: Ref::from(product),
        price: -1,
        checked: DateTime::MIN,
        gift: None,
        gift_note: Some("?".to_owned()),
        gift_price: Some(-1),
        gift_at: Some(DateTime::MIN),
        lines: vec![
            Line {
                product: Ref::from(product),
                name: String::new(),
                price: -1,
                seen: DateTime::MIN,
            },
            Line {
                product: Ref::from(1),
                name: String::new(),
                price: -1,
                seen: DateTime::MAX,
            },
        ],
        state: State::Sold {
            code: format!("c{product}"),
            price: -1,
            sold: None,
        },
        version: 0,
    }
}

async fn shop(db: &Db) {
    let products = (1..=3).map(|id| product(id, i64::from(id) * 10));
    db.collection().insert_many(products).await.unwrap();
    let offers = db.collection::<Offer>();
    let new = [
        offer(1, 1),
        Offer {
            gift: Some(Ref::from(3)),
            ..offer(2, 2)
        },
    ];
    offers.insert_many(new).propagate().await.unwrap();
}

fn is_now(time: DateTime, start: DateTime) -> bool {
    time >= start && time <= DateTime::now()
}

/// An insert stores the values with the time before they were read.
pub(super) async fn inserts_store_the_time_of_copies(db: &Db) {
    let start = DateTime::now();
    shop(db).await;
    let offers = db.collection::<Offer>();
    let first = offers.get(&1).await.unwrap().unwrap();
    assert!(is_now(first.checked, start), "{first:?}");
    assert_eq!((first.price, first.lines[0].price), (10, 10));
    assert!(first.lines.iter().all(|line| is_now(line.seen, start)));
    assert_eq!(
        (first.gift_note, first.gift_price, first.gift_at),
        (None, None, None)
    );
    let State::Sold {
        price: 10,
        sold: Some(sold),
        ..
    } = first.state
    else {
        panic!("{:?}", first.state);
    };
    assert!(is_now(sold, start));
    let second = offers.get(&2).await.unwrap().unwrap();
    assert_eq!(
        (second.gift_note.as_deref(), second.gift_price),
        (Some("note 3"), Some(30))
    );
    assert!(second.gift_at.is_some_and(|at| is_now(at, start)));
    assert!(offers.check_copies().await.unwrap().is_sound());

    // Without the word, the values of the struct are stored.
    offers.insert_one(&offer(3, 1)).await.unwrap();
    let third = offers.get(&3).await.unwrap().unwrap();
    assert_eq!((third.price, third.checked), (-1, DateTime::MIN));
}

/// A replacement brings its own times, which say nothing about the values that the write reads.
pub(super) async fn replacements_store_the_time_of_copies(db: &Db) {
    shop(db).await;
    let offers = db.collection::<Offer>();
    for time in [DateTime::MIN, DateTime::MAX] {
        for verb in 0..4 {
            let start = DateTime::now();
            let mut replacement = offers.load(&1).await.unwrap().unwrap();
            let to = 1 + replacement.product.id() % 2;
            replacement.product = Ref::from(to);
            replacement.price = i64::from(to) * 10;
            replacement.checked = time;
            for line in &mut replacement.lines {
                line.seen = time;
            }
            let new = Offer::clone(&replacement);
            let result = match verb {
                0 => offers.replace_by_id(&1, &new).propagate().await.map(drop),
                1 => {
                    let upsert = offers.replace_one(|o| o.id.eq(1), &new).upsert(true);
                    upsert.propagate().await.map(drop)
                }
                2 => {
                    let replace = offers.find_one_and_replace(|o| o.id.eq(1), &new);
                    replace.propagate().await.map(drop)
                }
                _ => offers.save(&mut replacement).propagate().await.map(drop),
            };
            result.unwrap();
            let found = offers.get(&1).await.unwrap().unwrap();
            let what = format!("{verb}, {time}: {found:?}");
            assert!(is_now(found.checked, start), "{what}");
            let mut lines = found.lines.iter();
            assert!(lines.all(|line| is_now(line.seen, start)), "{what}");
            assert!(offers.check_copies().await.unwrap().is_sound(), "{what}");
        }
    }
}

/// A change of the source needs no word and sends no other command; only a refresh writes copies, once they are too old.
pub(super) async fn changes_of_the_source_wait_for_the_age(db: &Db) {
    shop(db).await;
    let before = stored(db, "aged_offers").await;
    let (db, log) = watched(db);
    let products = db.collection::<Product>();
    products
        .update_by_id(&1, |p| p.price.set(11) & p.note.unset())
        .await
        .unwrap();
    products
        .replace_one(|p| p.id.eq(2), product(2, 21))
        .await
        .unwrap();
    assert_eq!(log.lock().unwrap().len(), 2);
    let error = products
        .update_by_id(&1, |p| p.price.set(12))
        .propagate()
        .await;
    assert!(error.unwrap_err().is_usage(), "nothing follows");

    let offers = db.collection::<Offer>();
    for result in [
        offers.refresh_copies().await.unwrap(),
        offers.refresh_overdue_copies().await.unwrap(),
    ] {
        assert_eq!(result.updated, 0);
    }
    assert!(offers.check_copies().await.unwrap().is_sound());
    assert_eq!(stored(&db, "aged_offers").await, before);

    // The lines of the first offer grow old, and so does the second offer.
    let old = DateTime::from_millis(DateTime::now().timestamp_millis() - 3 * HOUR);
    for (query, set) in [
        (doc! {"_id": 1}, doc! {"lines.0.seen": old}),
        (doc! {"_id": 2}, doc! {"c": old}),
    ] {
        let update = doc! {"update": "aged_offers", "updates": [{"q": query, "u": {"$set": set}}]};
        db.run_command(update).await.unwrap();
    }
    let report = offers.check_copies().await.unwrap();
    assert_eq!(report.damages, 2, "{report}");
    let start = DateTime::now();
    let result = offers.refresh_overdue_copies().await.unwrap();
    assert_eq!((result.read, result.updated), (2, 2));
    let first = offers.get(&1).await.unwrap().unwrap();
    let prices: Vec<_> = first.lines.iter().map(|line| line.price).collect();
    assert_eq!(
        (first.price, prices),
        (10, vec![11, 10]),
        "one line was too old"
    );
    assert!(is_now(first.lines[0].seen, start) && first.lines[1].seen < start);
    let second = offers.get(&2).await.unwrap().unwrap();
    assert_eq!((second.price, second.lines[0].price), (21, 20));
    assert!(is_now(second.checked, start));
    let again = offers.refresh_overdue_copies().await.unwrap();
    assert_eq!((again.read, again.updated), (0, 0));
    assert!(offers.check_copies().await.unwrap().is_sound());

    let error = products.refresh_overdue_copies().await.unwrap_err();
    assert!(error.is_usage(), "{error}");
}

/// Another reference needs a word, and brings the values of the other document.
pub(super) async fn a_changed_reference_brings_other_copies(db: &Db) {
    shop(db).await;
    let offers = db.collection::<Offer>();
    let error = offers
        .update_by_id(&1, |o| o.product.set(Ref::from(2)))
        .await
        .unwrap_err();
    assert!(error.to_string().contains("`.propagate()`"), "{error}");
    let error = offers
        .update_by_id(&1, |o| o.checked.set(DateTime::now()))
        .await
        .unwrap_err();
    assert!(error.is_usage(), "the time belongs to the copy: {error}");
    for to in [2, 3] {
        let start = DateTime::now();
        let change = || {
            let change = offers.update_by_id(&1, |o| {
                o.product.set(Ref::from(to)) & o.gift.set(Ref::from(to))
            });
            change.propagate()
        };
        let before = stored(db, "aged_offers").await;
        let error = change().non_atomic().await.unwrap_err();
        assert!(error.is_usage(), "a stop would show to nobody: {error}");
        assert_eq!(stored(db, "aged_offers").await, before);
        change().await.unwrap();
        let first = offers.get(&1).await.unwrap().unwrap();
        let price = i64::from(to) * 10;
        assert_eq!((first.price, first.gift_price), (price, Some(price)));
        assert_eq!(first.gift_note, product(to, 0).note);
        assert!(is_now(first.checked, start), "{first:?}");
        assert!(first.gift_at.is_some_and(|at| is_now(at, start)));
    }
    offers
        .update_by_id(&1, |o| o.gift.unset())
        .propagate()
        .await
        .unwrap();
    let first = offers.get(&1).await.unwrap().unwrap();
    assert_eq!(
        (first.gift_note, first.gift_price, first.gift_at),
        (None, None, None)
    );
    let mut saved = offers.load(&2).await.unwrap().unwrap();
    saved.product = Ref::from(3);
    saved.lines[0].product = Ref::from(3);
    offers.save(&mut saved).propagate().await.unwrap();
    let second = offers.get(&2).await.unwrap().unwrap();
    assert_eq!((second.price, second.lines[0].price), (30, 30));
    assert_eq!(second.version, saved.version);
    assert!(stored(db, "odm_propagations").await.is_empty());
}

/// Fresh documents are not read, in lists neither.
pub(super) async fn a_refresh_by_age_finds_documents_by_an_index(db: &Db) {
    #[derive(Debug, Serialize, Deserialize, Embedded)]
    struct Part {
        product: Ref<Product>,
        #[odm(copy_of(product.price, refresh(older_than = "1h", at = seen)))]
        price: i64,
        seen: DateTime,
    }
    #[derive(Debug, Serialize, Deserialize, Document)]
    #[odm(collection = "aged_parts", index(parts.seen))]
    struct Parts {
        #[serde(rename = "_id")]
        id: i32,
        #[odm(embed(few, max = 5))]
        parts: Vec<Part>,
    }
    #[derive(Debug, Serialize, Deserialize, Document)]
    #[odm(collection = "aged_singles")]
    struct Single {
        #[serde(rename = "_id")]
        id: i32,
        #[odm(index)]
        product: Ref<Product>,
        #[odm(copy_of(product.price, refresh(older_than = "1h", at = seen)))]
        price: i64,
        #[odm(index)]
        seen: DateTime,
    }
    let plan = db.sync(models![Parts, Single]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    let now = DateTime::now();
    let seen = |id: i32| if id % 100 == 0 { DateTime::MIN } else { now };
    let parts = (0..500).map(|id| {
        let part = doc! {"product": 1, "price": 1_i64, "seen": seen(id)};
        let fresh = doc! {"product": 1, "price": 1_i64, "seen": now};
        doc! {"_id": id, "parts": [fresh, part]}
    });
    insert(db, "aged_parts", parts).await;
    let singles =
        (0..500).map(|id| doc! {"_id": id, "product": 1, "price": 1_i64, "seen": seen(id)});
    insert(db, "aged_singles", singles).await;
    db.collection().insert_one(product(1, 7)).await.unwrap();
    let (watched, log) = watched(db);
    for refreshed in [
        watched.collection::<Parts>().refresh_overdue_copies().await,
        watched
            .collection::<Single>()
            .refresh_overdue_copies()
            .await,
    ] {
        let refreshed = refreshed.unwrap();
        assert_eq!((refreshed.read, refreshed.updated), (5, 5));
    }
    let commands = log.lock().unwrap().clone();
    let finds = commands.iter().filter_map(|command| {
        let collection = command.get_str("find").ok()?;
        let is_holder = collection != "aged_products";
        is_holder.then(|| doc! {"find": collection, "filter": command["filter"].clone()})
    });
    let finds: Vec<_> = finds.collect();
    assert_eq!(finds.len(), 2, "{commands:?}");
    for find in finds {
        let explain = doc! {"explain": &find, "verbosity": "executionStats"};
        let explained = db.run_command(explain).await.unwrap();
        let stats = explained.get_document("executionStats").unwrap();
        let examined = stats.get("totalDocsExamined").unwrap();
        assert!(
            matches!(examined, Bson::Int32(0..20) | Bson::Int64(0..20)),
            "{find}: {explained}"
        );
    }
}

/// Copies that follow by their age, beside one reference.
struct Place {
    /// The stored names around it.
    around: &'static [&'static str],
    reference: &'static str,
    key: &'static str,
    at: &'static str,
    /// In milliseconds.
    age: i64,
    /// The stored names, those in the source, and the value where there is nothing to copy.
    copies: &'static [(&'static str, &'static str, Nothing)],
}

#[derive(Clone, Copy, PartialEq)]
enum Nothing {
    Stays,
    Null,
    LeftOut,
}

const PLACES: [Place; 4] = [
    Place {
        around: &[],
        reference: "product",
        key: "_id",
        at: "c",
        age: HOUR,
        copies: &[("p", "price", Nothing::Stays)],
    },
    Place {
        around: &[],
        reference: "gift",
        key: "_id",
        at: "gift_at",
        age: 24 * HOUR,
        copies: &[
            ("gift_note", "note", Nothing::Null),
            ("gift_price", "price", Nothing::LeftOut),
        ],
    },
    Place {
        around: &["lines"],
        reference: "product",
        key: "_id",
        at: "seen",
        age: 2 * HOUR,
        copies: &[("price", "price", Nothing::Stays)],
    },
    Place {
        around: &["state", "Sold"],
        reference: "code",
        key: "code",
        at: "sold",
        age: 7 * 24 * HOUR,
        copies: &[("price", "price", Nothing::Stays)],
    },
];

fn each(document: &mut BsonDocument, around: &[&str], visit: &mut dyn FnMut(&mut BsonDocument)) {
    let Some((first, rest)) = around.split_first() else {
        return visit(document);
    };
    match document.get_mut(first) {
        Some(Bson::Document(inside)) => each(inside, rest, visit),
        Some(Bson::Array(elements)) => {
            for element in elements {
                if let Bson::Document(inside) = element {
                    each(inside, rest, visit);
                }
            }
        }
        _ => {}
    }
}

/// Writes what a refresh has to write, with [`NOW`] as the time; returns the number of stale copies.
fn refresh(document: &mut BsonDocument, products: &[BsonDocument], now: DateTime) -> u64 {
    let mut stale = 0;
    for place in &PLACES {
        each(document, place.around, &mut |parent| {
            let Some(key) = parent.get(place.reference).filter(|it| **it != Bson::Null) else {
                let is_there = |value: Option<&Bson>| !matches!(value, None | Some(Bson::Null));
                let mut differs = false;
                for (name, _, nothing) in place.copies {
                    let copy = parent.get(name);
                    let is_wrong = match nothing {
                        Nothing::Stays => false,
                        Nothing::Null => is_there(copy),
                        Nothing::LeftOut => copy.is_some(),
                    };
                    stale += u64::from(is_wrong);
                    differs |= is_wrong;
                }
                if differs {
                    parent.remove(place.at);
                    for (name, _, nothing) in place.copies {
                        match nothing {
                            Nothing::Stays => {}
                            Nothing::Null => drop(parent.insert(*name, Bson::Null)),
                            Nothing::LeftOut => drop(parent.remove(name)),
                        }
                    }
                }
                return;
            };
            if let Some(Bson::DateTime(at)) = parent.get(place.at)
                && at.timestamp_millis() >= now.timestamp_millis() - place.age
            {
                return;
            }
            let mut sources = products.iter();
            let Some(source) = sources.find(|source| source.get(place.key) == Some(key)) else {
                return;
            };
            let mut is_known = false;
            for (name, from, nothing) in place.copies {
                let (value, copy) = (source.get(from), parent.get(name));
                let value = value.filter(|value| **value != Bson::Null);
                match (value, nothing) {
                    (None, Nothing::Stays) => continue,
                    (Some(value), _) => {
                        stale += u64::from(copy != Some(value));
                        parent.insert(*name, value.clone());
                    }
                    (None, Nothing::Null) => {
                        stale += u64::from(!matches!(copy, None | Some(Bson::Null)));
                        parent.insert(*name, Bson::Null);
                    }
                    (None, Nothing::LeftOut) => {
                        stale += u64::from(copy.is_some());
                        parent.remove(name);
                    }
                }
                is_known = true;
            }
            if is_known {
                parent.insert(place.at, NOW);
            }
        });
    }
    stale
}

/// Stands for the time of a refresh in documents that are compared.
const NOW: &str = "now";

/// The documents without their order of fields and versions, and with a mark for times since `start`.
fn comparable(documents: Vec<BsonDocument>, start: DateTime) -> Vec<String> {
    fn sorted(value: &Bson, start: DateTime) -> String {
        match value {
            Bson::Document(document) => {
                let fields = document.iter().filter(|(name, _)| *name != "version");
                let mut fields: Vec<String> = fields
                    .map(|(name, value)| format!("{name}: {}", sorted(value, start)))
                    .collect();
                fields.sort();
                format!("{{{}}}", fields.join(", "))
            }
            Bson::Array(elements) => {
                let elements = elements.iter().map(|element| sorted(element, start));
                format!("[{}]", elements.collect::<Vec<_>>().join(", "))
            }
            Bson::DateTime(time) if is_now(*time, start) => sorted(&NOW.into(), start),
            other => format!("{other:?}"),
        }
    }
    let documents = documents.into_iter();
    let text = documents.map(|document| sorted(&document.into(), start));
    text.collect()
}

/// Documents of this program, of older ones and of others, compared with a plain model of the refresh.
pub(super) async fn random_documents_are_refreshed_by_age(db: &Db) {
    let mut random = Random::unless_set("ODM_AGED_ROUNDS", 0xA6ED);
    for round in 0..count("ODM_AGED_ROUNDS", 6) {
        for name in ["aged_products", "aged_offers"] {
            let delete = doc! {"delete": name, "deletes": [{"q": {}, "limit": 0}]};
            db.run_command(delete).await.unwrap();
        }
        let what = format!("seed {:#x}, round {round}", random.seed());
        let products: Vec<_> = (1..=4).map(|id| random_product(&mut random, id)).collect();
        insert(db, "aged_products", products.clone()).await;
        let made = DateTime::now();
        let offers: Vec<_> = (0..12)
            .map(|id| random_offer(&mut random, id, made))
            .collect();
        insert(db, "aged_offers", offers.clone()).await;
        let (mut expected, mut stale) = (offers, 0);
        for offer in &mut expected {
            stale += refresh(offer, &products, made);
        }
        let offers = db.collection::<Offer>();
        let report = offers.check_copies().await.unwrap();
        assert_eq!(report.damages, stale, "{what}: {report}");
        let start = DateTime::now();
        if round % 2 == 0 {
            // Leaves the copies beside references to nothing, which no age finds.
            offers.refresh_overdue_copies().await.unwrap();
        }
        offers.refresh_copies().await.unwrap();
        let found = comparable(stored(db, "aged_offers").await, start);
        for (found, expected) in found.iter().zip(comparable(expected, start)) {
            assert_eq!(*found, expected, "{what}");
        }
        let again = offers.refresh_copies().await.unwrap();
        assert_eq!(again.updated, 0, "{what}");
        assert!(offers.check_copies().await.unwrap().is_sound(), "{what}");
    }
}

fn random_product(random: &mut Random, id: i32) -> BsonDocument {
    let mut product = doc! {"_id": id, "code": format!("c{id}"), "name": "n"};
    if !random.one_in(5) {
        product.insert("price", i64::from(id) * 10);
    }
    if !random.one_in(3) {
        product.insert(
            "note",
            if random.one_in(3) {
                Bson::Null
            } else {
                "x".into()
            },
        );
    }
    product
}

fn random_offer(random: &mut Random, id: i32, now: DateTime) -> BsonDocument {
    let lines: Vec<Bson> = (0..random.below(4))
        .map(|_| {
            let mut line = doc! {"name": "once"};
            fill(random, &PLACES[2], now, &mut line);
            line.into()
        })
        .collect();
    let mut offer = doc! {"_id": id, "lines": lines};
    fill(random, &PLACES[0], now, &mut offer);
    fill(random, &PLACES[1], now, &mut offer);
    if random.one_in(3) {
        offer.insert("state", "Open");
    } else {
        let mut sold = BsonDocument::new();
        fill(random, &PLACES[3], now, &mut sold);
        offer.insert("state", doc! {"Sold": sold});
    }
    offer
}

/// Puts a reference, copies and their time into a document, or leaves some of them out.
fn fill(random: &mut Random, place: &Place, now: DateTime, parent: &mut BsonDocument) {
    // One that leads to nothing, too.
    let product = i32::try_from(random.below(5)).unwrap() + 1;
    let reference = match place.key {
        "code" => Bson::from(format!("c{product}")),
        _ => product.into(),
    };
    match random.below(8) {
        0 => {}
        1 => drop(parent.insert(place.reference, Bson::Null)),
        _ => drop(parent.insert(place.reference, reference)),
    }
    for (name, from, _) in place.copies {
        let value = match random.below(4) {
            0 => continue,
            1 => Bson::Null,
            2 if *from == "price" => Bson::Int64(i64::from(product) * 10),
            _ => "x".into(),
        };
        parent.insert(*name, value);
    }
    // A minute on both sides of the age.
    let near = |offset: i64| DateTime::from_millis(now.timestamp_millis() - place.age + offset);
    let time = match random.below(8) {
        0 => return,
        1 => Bson::Null,
        2 => "2026-01-01".into(),
        3 => DateTime::MIN.into(),
        4 => DateTime::MAX.into(),
        5 => near(60_000).into(),
        _ => near(-60_000).into(),
    };
    parent.insert(place.at, time);
}
