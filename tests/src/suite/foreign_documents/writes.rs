//! Writes to films that other programs wrote: nothing but what was asked for changes.

use odm::bson::{self, Bson, Document as BsonDocument};
use odm::prelude::*;

use super::films;
use super::matching::number;
use super::models::{Film, Role, Size, by_serde, raw};

/// The document with one value in place of another, or behind the others if there was none.
fn with(document: &BsonDocument, name: &str, value: impl Into<Bson>) -> BsonDocument {
    let mut changed = document.clone();
    changed.insert(name, value);
    changed
}

pub(super) async fn unchanged_saves_write_nothing(db: &Db) {
    let (films, all) = films(db, 10).await;
    for one in &all {
        let mut film = films.load(&one.film.id).await.unwrap().unwrap();
        assert_eq!(
            films.save(&mut film).command().unwrap(),
            None,
            "{}",
            one.raw
        );
        assert!(!films.save(&mut film).await.unwrap());
        assert_eq!(raw(db, one.film.id).await, one.raw);
    }
}

pub(super) async fn saves_write_only_what_changed(db: &Db) {
    let (films, all) = films(db, 11).await;
    for one in &all {
        let mut film = films.load(&one.film.id).await.unwrap().unwrap();
        film.year += 7;
        assert!(films.save(&mut film).await.unwrap());
        let right = with(&one.raw, "year", one.film.year + 7);
        assert_eq!(raw(db, one.film.id).await, right, "{}", one.raw);

        film.tags.push("new".to_owned());
        film.rest.shots = 99;
        assert!(films.save(&mut film).await.unwrap());
        let tags = bson::serialize_to_bson(&film.tags).unwrap();
        let stored = raw(db, one.film.id).await;
        // MongoDB adds new fields in the order of their names.
        let mut names: Vec<_> = right
            .keys()
            .chain([&"shots".to_owned(), &"tags".to_owned()])
            .cloned()
            .collect();
        names.sort_unstable();
        names.dedup();
        let mut stored_names: Vec<_> = stored.keys().cloned().collect();
        stored_names.sort_unstable();
        assert_eq!(stored_names, names);
        for (name, value) in &stored {
            match name.as_str() {
                "tags" => assert_eq!(*value, tags),
                "shots" => assert_eq!(*value, Bson::Int64(99)),
                name => assert_eq!(Some(value), right.get(name), "{name}"),
            }
        }

        film.size = Some(Size { h: 5, w: None });
        film.cast.push(role());
        films.save(&mut film).await.unwrap();
        assert_eq!(
            films.get(&film.id).await.unwrap().as_ref(),
            Some(&*film),
            "{}",
            one.raw
        );
    }
}

fn role() -> Role {
    Role {
        name: "Di".to_owned(),
        part: None,
        actor: Some(Ref::from(4)),
        lines: vec![None],
    }
}

pub(super) async fn updates_change_only_their_field(db: &Db) {
    let (films, all) = films(db, 12).await;
    for one in &all {
        let id = one.film.id;
        let done = films
            .update_one(|f| f.id.eq(id), |f| f.year.inc(2))
            .await
            .unwrap();
        assert_eq!((done.matched, done.modified), (1, 1));
        let after = raw(db, id).await;
        let before = one.raw.get("year").and_then(number).unwrap_or(0.0);
        let year = after.get("year").cloned().unwrap();
        assert_eq!(number(&year), Some(before + 2.0));
        assert_eq!(after, with(&one.raw, "year", year), "{}", one.raw);

        let film = by_serde(&after).unwrap();
        let found = films
            .find_one_and_update(
                |f| f.id.eq(id),
                |f| f.tags.push("x") & f.rest.shots.set(1) & f.seen.unset(),
            )
            .await
            .unwrap();
        assert_eq!(found, Some(film), "the film before, {after}");
        let film = films.get(&id).await.unwrap().unwrap();
        assert_eq!(film.tags.last().map(String::as_str), Some("x"));
        assert_eq!((film.rest.shots, film.seen), (1, None));

        // MongoDB refuses to set a field of null, and leaves the document as it is.
        let before = raw(db, id).await;
        let set = films.update_one(|f| f.id.eq(id), |f| f.size.h.set(3)).await;
        if before.get("size") == Some(&Bson::Null) {
            set.unwrap_err();
            assert_eq!(raw(db, id).await, before);
        } else {
            set.unwrap();
            assert_eq!(films.get(&id).await.unwrap().unwrap().size.unwrap().h, 3);
        }
    }
}

pub(super) async fn replacements_are_what_the_struct_writes(db: &Db) {
    let (films, all) = films(db, 13).await;
    for one in &all {
        let id = one.film.id;
        films.replace_one(|f| f.id.eq(id), &one.film).await.unwrap();
        let written = bson::serialize_to_document(&one.film).unwrap();
        assert_eq!(raw(db, id).await, written, "{}", one.raw);
    }
}

pub(super) async fn bulk_writes_and_upserts_find_films(db: &Db) {
    let (films, all) = films(db, 14).await;
    for one in &all {
        let id = one.film.id;
        let year = one.film.year;
        let title = one.film.title.clone();
        let written = films
            .bulk_write(|w| {
                vec![
                    w.update_one(|f| f.id.eq(id), |f| f.year.set(1)),
                    w.update_one(|f| f.id.eq(id), |f| f.cast.push(role())),
                    w.update_one(|f| f.id.eq(id) & f.title.eq(title), |f| f.year.set(year))
                        .upsert(true),
                ]
            })
            .await
            .unwrap();
        assert_eq!(
            (written.matched, written.upserted_ids.len()),
            (3, 0),
            "{}",
            one.raw
        );
        let film = films.get(&id).await.unwrap().unwrap();
        let mut right = Film {
            year,
            ..one.film.clone()
        };
        right.cast.push(role());
        assert_eq!(film, right, "{}", one.raw);
    }
}
