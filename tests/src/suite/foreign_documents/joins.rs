//! Joins of films that other programs wrote, held against loops over the films that serde reads.

use odm::prelude::*;
use odm::relation::Resolved;

use super::films;
use super::models::{
    Film, FilmJoined, Person, PersonJoined, RoleJoined, Stored, Studio, StudioJoined,
};

/// Some of the studios and people that films name.
async fn others(db: &Db) {
    let studios = (0..4).map(|id| Studio {
        id,
        founded: 1900 + id % 3,
    });
    db.collection::<Studio>()
        .insert_many(studios)
        .await
        .unwrap();
    let people = (0..4).map(|id| Person {
        id,
        name: (id > 0).then(|| format!("p{id}")),
    });
    db.collection::<Person>().insert_many(people).await.unwrap();
}

fn ids(films: &[Stored], keep: impl Fn(&Film) -> bool) -> Vec<i32> {
    films
        .iter()
        .map(|one| &one.film)
        .filter(|film| keep(film))
        .map(|film| film.id)
        .collect()
}

pub(super) async fn references_lead_to_studios(db: &Db) {
    let (films, all) = films(db, 20).await;
    others(db).await;
    let rows = films
        .find_all()
        .sort(|f| f.id.asc())
        .join(|f| f.studio)
        .all()
        .await
        .unwrap();
    assert_eq!(rows.len(), all.len());
    for (row, Stored { film, raw }) in rows.iter().zip(&all) {
        assert_eq!(&**row, film);
        let named = film.studio.as_ref().map(|studio| *studio.id());
        match row.studio() {
            None => assert_eq!(named, None, "{raw}"),
            Some(Resolved::Found(studio)) => assert_eq!(Some(studio.id), named, "{raw}"),
            Some(other) => assert!(named.is_some_and(|id| id >= 4), "{other:?}: {raw}"),
        }
    }
    let refers = |film: &Film, keep: fn(i32) -> bool| {
        let studio = film.studio.as_ref().map(|studio| *studio.id());
        studio.is_some_and(|id| id < 4 && keep(id))
    };
    let found = films
        .find_all()
        .where_any(|f| f.studio, |s| s.founded.gt(1900))
        .sort(|f| f.id.asc());
    let found: Vec<i32> = found
        .all()
        .await
        .unwrap()
        .iter()
        .map(|film| film.id)
        .collect();
    assert_eq!(found, ids(&all, |film| refers(film, |id| id % 3 > 0)));
    let none = films
        .find_all()
        .where_none(|f| f.studio, |s| s.founded.gt(1900))
        .sort(|f| f.id.asc());
    let none: Vec<i32> = none
        .all()
        .await
        .unwrap()
        .iter()
        .map(|film| film.id)
        .collect();
    assert_eq!(none, ids(&all, |film| !refers(film, |id| id % 3 > 0)));
    let sorted = films
        .find_all()
        .order_by_related(|f| f.studio, |s| s.founded.desc())
        .sort(|f| f.id.asc())
        .all()
        .await
        .unwrap();
    let key = |film: &Film| {
        let studio = film
            .studio
            .as_ref()
            .map(|studio| *studio.id())
            .filter(|id| *id < 4);
        (std::cmp::Reverse(studio.map(|id| id % 3)), film.id)
    };
    assert!(sorted.is_sorted_by_key(key));
    assert_eq!(sorted.len(), all.len());
}

pub(super) async fn studios_find_their_films(db: &Db) {
    let (_, all) = films(db, 21).await;
    others(db).await;
    let studios = db.collection::<Studio>();
    let of = |id: i32| ids(&all, |film| film.studio == Some(Ref::from(id)));
    let query = || studios.find_all().sort(|s| s.id.asc());
    for row in query().join(|s| s.films).all().await.unwrap() {
        let mut films: Vec<i32> = row.films().iter().map(|film| film.id).collect();
        films.sort_unstable();
        assert_eq!(films, of(row.id));
    }
    for row in query().join(|s| s.films.count()).all().await.unwrap() {
        assert_eq!(*row.films(), of(row.id).len() as u64);
    }
    for row in query()
        .join(|s| {
            s.films
                .filter(|f| f.year.gt(2001))
                .sort(|f| f.id.asc())
                .limit(2)
        })
        .all()
        .await
        .unwrap()
    {
        let late = ids(&all, |film| {
            film.studio == Some(Ref::from(row.id)) && film.year > 2001
        });
        let films: Vec<i32> = row.films().iter().map(|film| film.id).collect();
        assert_eq!(films, late[..late.len().min(2)]);
    }
    let some = query()
        .where_any(|s| s.films, |f| f.tags.has("a"))
        .all()
        .await
        .unwrap();
    let some: Vec<i32> = some.iter().map(|studio| studio.id).collect();
    let tagged = |id: i32| {
        let mut films = all
            .iter()
            .filter(|one| one.film.studio == Some(Ref::from(id)));
        films.any(|one| one.film.tags.iter().any(|tag| tag == "a"))
    };
    let right: Vec<i32> = (0..4).filter(|id| tagged(*id)).collect();
    assert_eq!(some, right);
}

pub(super) async fn actors_are_found_through_casts(db: &Db) {
    let (films, all) = films(db, 22).await;
    others(db).await;
    let people = db.collection::<Person>();
    let plays = |film: &Film, id: i32| {
        film.cast
            .iter()
            .any(|role| role.actor == Some(Ref::from(id)))
    };
    for row in people.find_all().join(|p| p.roles).all().await.unwrap() {
        let mut films: Vec<i32> = row.roles().iter().map(|film| film.id).collect();
        films.sort_unstable();
        assert_eq!(films, ids(&all, |film| plays(film, row.id)));
    }
    for row in people
        .find_all()
        .join(|p| p.roles.count())
        .all()
        .await
        .unwrap()
    {
        assert_eq!(
            *row.roles(),
            ids(&all, |film| plays(film, row.id)).len() as u64
        );
    }
    let named = films
        .find_all()
        .where_any(|f| f.cast.any().actor, |p| p.name.eq("p1"))
        .sort(|f| f.id.asc());
    let named: Vec<i32> = named
        .all()
        .await
        .unwrap()
        .iter()
        .map(|film| film.id)
        .collect();
    assert_eq!(named, ids(&all, |film| plays(film, 1)));
    let rows = films
        .find_all()
        .sort(|f| f.id.asc())
        .join(|f| f.cast.each(|role| role.actor))
        .all()
        .await
        .unwrap();
    for (row, Stored { film, .. }) in rows.iter().zip(&all) {
        let joined = row.actor().iter().map(|actor| match actor {
            Some(Resolved::Found(person)) => Some(person.id),
            _ => None,
        });
        let right = film.cast.iter().map(|role| {
            let actor = role.actor.as_ref().map(|actor| *actor.id());
            actor.filter(|id| *id < 4)
        });
        assert!(joined.eq(right));
    }
}
