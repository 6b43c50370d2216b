//! Documents that the struct did not write: fields are missing, null, of another number type, in another order or unknown.
//!
//! What odm reads from them is held against serde and bson, what filters match against conditions decided by hand.
//! `ODM_FOREIGN_DOCUMENTS` is the number of films in each case; if it is set, they differ from run to run.

mod joins;
mod maintained;
mod matching;
mod models;
mod mutate;
mod writes;

use odm::bson::{Bson, Document as BsonDocument, doc};
use odm::json::Plain;
use odm::prelude::*;
use odm::query::fields;
use odm::schema::Validate;

use self::matching::{compares, eq, exists};
use self::models::{Card, Film, Stored, by_serde, insert, stored, unreadable};
use crate::case::cases;
use crate::random::{self, Random};

cases![
    films_are_read_as_serde_reads_them,
    filters_match_what_is_stored,
    pages_have_every_film,
    projections_and_distinct_values_are_those_of_the_films,
    films_survive_plain_json,
    unreadable_films_are_named,
    validators_accept_only_what_is_read,
    unchanged_saves_write_nothing,
    saves_write_only_what_changed,
    updates_change_only_their_field,
    replacements_are_what_the_struct_writes,
    bulk_writes_and_upserts_find_films,
    references_lead_to_studios,
    studios_find_their_films,
    actors_are_found_through_casts,
    updates_keep_what_odm_keeps,
    saves_keep_what_odm_keeps,
    replacements_keep_what_odm_keeps,
    authors_are_joined,
];

const VARIABLE: &str = "ODM_FOREIGN_DOCUMENTS";

fn randomness(seed: u64) -> Random {
    Random::unless_set(VARIABLE, seed)
}

fn number_of_films() -> usize {
    random::count(VARIABLE, 40)
}

/// A collection with indexes, and without a validator, of films that other programs wrote.
async fn films(db: &Db, seed: u64) -> (Collection<Film>, Vec<Stored>) {
    let plan = db.sync(models![Film]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    let off = doc! {"collMod": "films", "validationLevel": "off"};
    db.run_command(off).await.unwrap();
    let all = stored(&mut randomness(seed), number_of_films());
    insert(db, "films", all.iter().map(|one| one.raw.clone()).collect()).await;
    (db.collection(), all)
}

async fn films_are_read_as_serde_reads_them(db: &Db) {
    let (films, all) = films(db, 1).await;
    let read = films.find_all().sort(|f| f.id.asc()).all().await.unwrap();
    assert_eq!(read.len(), all.len());
    for (film, stored) in read.iter().zip(&all) {
        assert_eq!(film, &stored.film, "{}", stored.raw);
    }
    let one = &all[all.len() / 2];
    assert_eq!(
        films.get(&one.film.id).await.unwrap().as_ref(),
        Some(&one.film)
    );
    let first = films.find(|f| f.id.eq(one.film.id)).first().await.unwrap();
    assert_eq!(first.as_ref(), Some(&one.film));
    assert_eq!(films.find_all().count().await.unwrap(), all.len() as u64);
}

/// A condition that is decided by hand.
type Holds = Box<dyn Fn(&BsonDocument) -> bool>;

async fn filters_match_what_is_stored(db: &Db) {
    let (films, all) = films(db, 2).await;
    let f = fields::<Film>();
    let is =
        |path: &'static str, value: Bson| -> Holds { Box::new(move |raw| eq(raw, path, &value)) };
    let is_not =
        |path: &'static str, value: Bson| -> Holds { Box::new(move |raw| !eq(raw, path, &value)) };
    let there = |path: &'static str| -> Holds { Box::new(move |raw| exists(raw, path)) };
    let over = |path: &'static str, least: f64| -> Holds {
        Box::new(move |raw| compares(raw, path, |number| number > least))
    };
    let under = |path: &'static str, most: f64| -> Holds {
        Box::new(move |raw| compares(raw, path, |number| number <= most))
    };
    let rows: Vec<(Filter<Film>, Holds)> = vec![
        (f.year.eq(2002), is("year", 2002.into())),
        (f.year.ne(2002), is_not("year", 2002.into())),
        (f.year.eq(0), is("year", 0.into())),
        (f.year.gt(2002), over("year", 2002.0)),
        (f.year.lte(2002), under("year", 2002.0)),
        (f.year.exists(true), there("year")),
        (f.year.is_missing(), Box::new(|raw| !exists(raw, "year"))),
        (
            f.year.in_([2001, 2003]),
            Box::new(|raw| eq(raw, "year", &2001.into()) || eq(raw, "year", &2003.into())),
        ),
        (
            f.year.nin([2001, 2003]),
            Box::new(|raw| !eq(raw, "year", &2001.into()) && !eq(raw, "year", &2003.into())),
        ),
        (
            f.year.not(|y| y.gt(2002)),
            Box::new(|raw| !compares(raw, "year", |number| number > 2002.0)),
        ),
        (f.weight.gt(0.5), over("weight", 0.5)),
        (f.weight.eq(1.0), is("weight", 1.into())),
        (f.length.eq(2), is("length", 2.into())),
        (f.length.eq(None), is("length", Bson::Null)),
        (f.length.ne(None), is_not("length", Bson::Null)),
        (
            f.length.is_null(),
            Box::new(|raw| raw.get("length") == Some(&Bson::Null)),
        ),
        (f.studio.eq(None), is("studio", Bson::Null)),
        (f.studio.eq(Ref::from(3)), is("studio", 3.into())),
        (f.tags.has("a"), is("tags", "a".into())),
        (
            f.tags.all(["a", "b"]),
            Box::new(|raw| eq(raw, "tags", &"a".into()) && eq(raw, "tags", &"b".into())),
        ),
        (
            f.tags.size(2),
            Box::new(|raw| raw.get_array("tags").is_ok_and(|tags| tags.len() == 2)),
        ),
        (f.tags.any().eq("c"), is("tags", "c".into())),
        (f.cast.any().name.eq("Ann"), is("cast.name", "Ann".into())),
        (
            f.cast.any().actor.eq(Ref::from(1)),
            is("cast.actor", 1.into()),
        ),
        (f.cast.any().lines.any().gt(2), over("cast.lines", 2.0)),
        (
            f.cast
                .elem_match(|role| role.name.eq("Bob") & role.part.eq("villain")),
            Box::new(|raw| {
                let cast = raw
                    .get_array("cast")
                    .into_iter()
                    .flatten()
                    .filter_map(Bson::as_document);
                let mut cast = cast.map(|role| {
                    eq(role, "name", &"Bob".into()) && eq(role, "part", &"villain".into())
                });
                cast.any(|matches| matches)
            }),
        ),
        (f.size.h.gt(1), over("size.h", 1.0)),
        (
            f.size.h.exists(false),
            Box::new(|raw| !exists(raw, "size.h")),
        ),
        (f.size.w.eq(None), is("size.w", Bson::Null)),
        (f.size.eq(None), is("size", Bson::Null)),
        (
            f.place.city_name.eq("Rome"),
            is("place.cityName", "Rome".into()),
        ),
        (f.place.zip.eq(models::Zip(2)), is("place.zip", 2.into())),
        (f.marks.key("m0").gt(1), over("marks.m0", 1.0)),
        (f.marks.key("m1").exists(true), there("marks.m1")),
        (f.format.reel.width.eq(35.0), is("format.width", 35.into())),
        (f.format.file.bytes.exists(true), there("format.bytes")),
        (f.rest.shots.lte(2), under("shots", 2.0)),
        (f.rest.country.eq("it"), is("country", "it".into())),
    ];
    for (filter, holds) in rows {
        let shown = filter.to_document().unwrap();
        let right: Vec<i32> = all
            .iter()
            .filter(|one| holds(&one.raw))
            .map(|one| one.film.id)
            .collect();
        let found = films
            .find(|_| filter.clone())
            .sort(|f| f.id.asc())
            .all()
            .await
            .unwrap();
        let found: Vec<i32> = found.iter().map(|film| film.id).collect();
        assert_eq!(found, right, "{shown}");
        let count = films.count_documents(|_| filter.clone()).await.unwrap();
        assert_eq!(count, right.len() as u64, "{shown}");
        let exists = films.find(|_| filter.clone()).exists().await.unwrap();
        assert_eq!(exists, !right.is_empty(), "{shown}");
        let negated = films.find(|_| !filter.clone()).count().await.unwrap();
        assert_eq!(negated, (all.len() - right.len()) as u64, "not {shown}");
    }
}

async fn pages_have_every_film(db: &Db) {
    let (films, all) = films(db, 3).await;
    for order in 0..7 {
        let query = || {
            let found = films.find_all();
            match order {
                0 => found.sort(|f| f.year.asc()),
                1 => found.sort(|f| f.year.desc().then(f.size.h.asc())),
                2 => found.sort(|f| f.size.asc()),
                3 => found.sort(|f| f.length.desc().then(f.weight.asc())),
                4 => found.sort(|f| f.studio.asc().then(f.rest.country.desc())),
                5 => found.sort(|f| f.place.zip.desc().then(f.format.asc())),
                _ => found.sort(|f| f.seen.asc().then(f.shown.desc())),
            }
        };
        for size in [3, 11] {
            let (mut seen, mut token) = (Vec::new(), None);
            loop {
                let page = query().page_after(token.as_ref(), size).await.unwrap();
                seen.extend(page.items);
                token = page.next;
                if token.is_none() {
                    break;
                }
            }
            let whole = query().after(None).all().await.unwrap();
            assert_eq!(seen, whole, "order {order}, pages of {size}");
            let mut ids: Vec<i32> = seen.iter().map(|film| film.id).collect();
            ids.sort_unstable();
            assert!(
                ids.into_iter().eq(all.iter().map(|one| one.film.id)),
                "order {order}"
            );
        }
    }
}

async fn projections_and_distinct_values_are_those_of_the_films(db: &Db) {
    let (films, all) = films(db, 4).await;
    let cards = films
        .find_all()
        .sort(|f| f.id.asc())
        .select::<Card>()
        .all()
        .await
        .unwrap();
    assert_eq!(cards.len(), all.len());
    for (card, Stored { film, raw }) in cards.into_iter().zip(&all) {
        let Card {
            id,
            year,
            size,
            cast,
        } = card;
        let right = (film.id, film.year, &film.size, &film.cast);
        assert_eq!((id, year, &size, &cast), right, "{raw}");
    }
    let mut years = films.distinct(|f| f.year, |_| Filter::all()).await.unwrap();
    years.sort_unstable();
    // A missing field has no value, and a number of any type is one.
    let stored = all.iter().filter(|one| one.raw.contains_key("year"));
    let right: std::collections::BTreeSet<i32> = stored.map(|one| one.film.year).collect();
    assert!(years.iter().eq(&right), "{years:?}, not {right:?}");
}

async fn films_survive_plain_json(db: &Db) {
    let (films, all) = films(db, 5).await;
    for film in films.find_all().all().await.unwrap() {
        let text = serde_json::to_string(&Plain(&film)).unwrap();
        let Plain(read) = serde_json::from_str::<Plain<Film>>(&text).unwrap();
        assert_eq!(read, film, "{text}");
    }
    assert!(!all.is_empty());
}

async fn unreadable_films_are_named(db: &Db) {
    let (films, all) = films(db, 6).await;
    for mut bad in unreadable(&mut randomness(7), 30) {
        bad.insert("_id", 10_000);
        insert(db, "films", vec![bad.clone()]).await;
        let error = films.get(&10_000).await.unwrap_err();
        assert!(error.is_decode(), "{error}: {bad}");
        let message = error.to_string();
        assert!(
            message.starts_with("Film") && message.contains("10000"),
            "{message}: {bad}"
        );
        assert!(
            films.find_all().all().await.unwrap_err().is_decode(),
            "{bad}"
        );
        // It can be counted, found by its values and deleted.
        assert_eq!(
            films.find_all().count().await.unwrap(),
            all.len() as u64 + 1
        );
        assert_eq!(
            films.delete_one(|f| f.id.eq(10_000)).await.unwrap().deleted,
            1
        );
    }
}

async fn validators_accept_only_what_is_read(db: &Db) {
    let plan = db.sync(models![Film]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    let mut random = randomness(8);
    let mut documents: Vec<BsonDocument> = unreadable(&mut random, number_of_films());
    documents.extend(
        stored(&mut random, number_of_films())
            .into_iter()
            .map(|one| one.raw),
    );
    for (id, mut raw) in (0..).zip(documents) {
        raw.insert("_id", id);
        let reply = db
            .run_command(doc! {"insert": "films", "documents": [raw.clone()]})
            .await;
        let accepted = !reply.unwrap().contains_key("writeErrors");
        assert!(
            !accepted || by_serde(&raw).is_some(),
            "the validator accepts {raw:?}"
        );
    }
    // What the struct writes is valid, on both sides.
    for one in stored(&mut random, number_of_films()) {
        one.film.validate().unwrap();
        let film = Film {
            id: one.film.id + 1_000,
            ..one.film
        };
        db.collection::<Film>().insert_one(&film).await.unwrap();
    }
}

use self::joins::{
    actors_are_found_through_casts, references_lead_to_studios, studios_find_their_films,
};
use self::maintained::{
    authors_are_joined, replacements_keep_what_odm_keeps, saves_keep_what_odm_keeps,
    updates_keep_what_odm_keeps,
};
use self::writes::{
    bulk_writes_and_upserts_find_films, replacements_are_what_the_struct_writes,
    saves_write_only_what_changed, unchanged_saves_write_nothing, updates_change_only_their_field,
};
