//! Two-way references of many to many, and of one to one.

use odm::bson::Document as BsonDocument;
use odm::prelude::*;

use super::models::{Actor, Movie, Person, Seat, Ticket, person};
use crate::suite::dependents::stored;

pub(super) async fn lists_on_both_sides_follow_each_other(db: &Db) {
    let (movies, actors) = (db.collection::<Movie>(), db.collection::<Actor>());
    let all = [1, 2, 3].map(|id| Actor {
        id,
        movies: Vec::new(),
    });
    actors.insert_many(all).await.unwrap();
    let movie = |id: i32, cast: &[i32]| Movie {
        id,
        cast: cast.iter().copied().map(Ref::from).collect(),
    };
    movies
        .insert_many([movie(10, &[1, 2]), movie(20, &[2])])
        .propagate()
        .await
        .unwrap();
    let lists = async || {
        let list = |document: &BsonDocument, name: &str| {
            document
                .get_array(name)
                .unwrap()
                .iter()
                .map(|it| it.as_i32().unwrap())
                .collect::<Vec<_>>()
        };
        let cast: Vec<_> = stored(db, "movies")
            .await
            .iter()
            .map(|it| list(it, "cast"))
            .collect();
        let movies: Vec<_> = stored(db, "actors")
            .await
            .iter()
            .map(|it| list(it, "movies"))
            .collect();
        (cast, movies)
    };
    assert_eq!(
        lists().await,
        (
            vec![vec![1, 2], vec![2]],
            vec![vec![10], vec![10, 20], vec![]]
        )
    );
    movies
        .update_all(|m| m.cast.add_to_set(Ref::from(3)))
        .propagate()
        .await
        .unwrap();
    actors
        .update_by_id(&2, |a| a.movies.pull(Ref::from(10)))
        .propagate()
        .await
        .unwrap();
    assert_eq!(
        lists().await,
        (
            vec![vec![1, 3], vec![2, 3]],
            vec![vec![10], vec![20], vec![10, 20]]
        )
    );
    movies.delete_by_id(&20).with_dependents().await.unwrap();
    assert_eq!(
        lists().await,
        (vec![vec![1, 3]], vec![vec![10], vec![], vec![10]])
    );
}

pub(super) async fn pairs_are_parted_and_joined(db: &Db) {
    let people = db.collection::<Person>();
    people.insert_many([1, 2, 3, 4].map(person)).await.unwrap();
    let marry = |one: i32, other: i32| {
        people
            .update_by_id(&one, move |p| p.partner.set(Some(Ref::from(other))))
            .propagate()
    };
    let partners = async || {
        let all = stored(db, "people").await;
        all.iter()
            .map(|it| it.get_i32("partner").unwrap_or(0))
            .collect::<Vec<_>>()
    };
    marry(1, 2).await.unwrap();
    marry(4, 3).await.unwrap();
    assert_eq!(partners().await, [2, 1, 4, 3]);
    marry(1, 3).await.unwrap();
    assert_eq!(partners().await, [3, 0, 1, 0]);
    // With itself, and back.
    marry(2, 2).await.unwrap();
    assert_eq!(partners().await, [3, 2, 1, 0]);
    marry(2, 4).await.unwrap();
    assert_eq!(partners().await, [3, 4, 1, 2]);
    people.delete_by_id(&1).with_dependents().await.unwrap();
    assert_eq!(partners().await, [4, 0, 2]);

    // A list within a collection.
    people
        .update_by_id(&2, |p| p.friends.push_each([3, 4, 2].map(Ref::from)))
        .propagate()
        .await
        .unwrap();
    people
        .update_by_id(&4, |p| p.friends.set(vec![Ref::from(3)]))
        .propagate()
        .await
        .unwrap();
    let friends: Vec<Vec<i32>> = stored(db, "people")
        .await
        .iter()
        .map(|it| {
            it.get_array("friends")
                .unwrap()
                .iter()
                .map(|it| it.as_i32().unwrap())
                .collect()
        })
        .collect();
    assert_eq!(friends, [vec![3, 2], vec![2, 4], vec![3]]);
}

pub(super) async fn a_reference_that_must_be_is_not_taken(db: &Db) {
    let (tickets, seats) = (db.collection::<Ticket>(), db.collection::<Seat>());
    seats
        .insert_many([1, 2, 3].map(|id| Seat { id, ticket: None }))
        .await
        .unwrap();
    let ticket = |id: i32, seat: i32| Ticket {
        id,
        seat: Ref::from(seat),
    };
    tickets
        .insert_many([ticket(10, 1), ticket(20, 2)])
        .propagate()
        .await
        .unwrap();
    let errors = [
        // The seat of another ticket.
        tickets
            .update_by_id(&10, |t| t.seat.set(Ref::from(2)))
            .propagate()
            .await
            .unwrap_err(),
        seats
            .update_by_id(&1, |s| s.ticket.unset())
            .propagate()
            .await
            .unwrap_err(),
        seats
            .update_by_id(&1, |s| s.ticket.set(Some(Ref::from(20))))
            .propagate()
            .await
            .unwrap_err(),
        seats.delete_by_id(&2).with_dependents().await.unwrap_err(),
        tickets
            .insert_one(ticket(30, 1))
            .propagate()
            .await
            .unwrap_err(),
    ];
    for error in errors {
        assert!(error.is_restricted(), "{error}");
        assert!(
            error
                .to_string()
                .contains("would refer to no document, and must refer to one"),
            "{error}"
        );
    }
    tickets
        .update_by_id(&10, |t| t.seat.set(Ref::from(3)))
        .propagate()
        .await
        .unwrap();
    tickets.delete_by_id(&20).with_dependents().await.unwrap();
    let all: Vec<_> = stored(db, "seats")
        .await
        .iter()
        .map(|it| it.get_i32("ticket").ok())
        .collect();
    assert_eq!(all, [None, None, Some(10)]);
}
