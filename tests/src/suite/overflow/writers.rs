//! Writers beside each other, transactions, and pushes that stop.

use std::future::IntoFuture;

use futures::future::{join, join_all};
use odm::prelude::*;

use super::{Book, MoreReaders, assert_sound, filled, lengths, numbers, readers};
use crate::polls::dropped_after;
use crate::random::Random;

pub(super) async fn concurrent_pushes_never_overfill(db: &Db) {
    let books = filled(db, [1, 2]).await;
    let push = async |writer: i32| {
        let mut random = Random::of(u64::try_from(writer).unwrap());
        let mut pushed = 0;
        for _ in 0..4 {
            let count = i32::try_from(1 + random.below(3)).unwrap();
            let first = writer * 1_000 + pushed;
            let overflow = db.overflow::<MoreReaders>();
            let result = overflow.push(1 + writer % 2, readers(first..first + count));
            assert_eq!(result.await.unwrap().pushed, u64::try_from(count).unwrap());
            pushed += count;
        }
        (0..pushed)
            .map(|one| writer * 1_000 + one)
            .collect::<Vec<_>>()
    };
    let pushed = join_all((0..16).map(push)).await;
    for id in [1, 2] {
        let own = pushed.iter().enumerate();
        let own = own.filter(|(writer, _)| writer % 2 + 1 == usize::try_from(id).unwrap());
        let mut expected: Vec<i32> = own.flat_map(|(_, all)| all.clone()).collect();
        expected.sort_unstable();
        let mut stored = numbers(db, id).await;
        stored.sort_unstable();
        assert_eq!(stored, expected);
        let book = books.get(&id).await.unwrap().unwrap();
        assert_eq!(book.readers.len(), super::INSIDE);
        let lengths = lengths(db, id).await;
        assert!(lengths.iter().all(|(_, length)| *length <= super::OUTSIDE));
        assert_eq!(usize::try_from(book.overflow_count).unwrap(), lengths.len());
    }
    assert_sound(db).await;
}

pub(super) async fn pushes_beside_removals(db: &Db) {
    filled(db, [1]).await;
    let overflow = db.overflow::<MoreReaders>();
    let push = async {
        for first in 0..20 {
            overflow
                .push(1, readers(first * 3..first * 3 + 3))
                .await
                .unwrap();
        }
    };
    let remove = async {
        for below in 1..10 {
            let removal = overflow.update(1, |m| m.readers.pull_where(|r| r.number.lt(below)));
            removal.await.unwrap();
        }
    };
    join(push, remove).await;
    let mut left = numbers(db, 1).await;
    left.sort_unstable();
    // What is pushed after the last removal stays.
    left.retain(|number| *number >= 9);
    assert_eq!(left, (9..60).collect::<Vec<_>>());
    assert_sound(db).await;
}

pub(super) async fn pushes_beside_deletes(db: &Db) {
    let books = filled(db, 0..6).await;
    let overflow = db.overflow::<MoreReaders>();
    let push = async |id: i32| {
        let mut pushed = 0;
        for _ in 0..6 {
            let result = overflow.push(id, readers(0..3)).await.unwrap();
            pushed += result.pushed;
        }
        pushed
    };
    let delete = async |id: i32| {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        let delete = books.delete_by_id(&id).with_dependents();
        assert_eq!(delete.await.unwrap().deleted, 1);
    };
    join(
        join_all((0..6).map(push)),
        join_all((0..6).filter(|id| id % 2 == 0).map(delete)),
    )
    .await;
    for id in 0..6 {
        let expected = if id % 2 == 0 { 0 } else { 18 };
        assert_eq!(overflow.count(id).await.unwrap(), expected, "{id}");
    }
    let orphans = db.collection::<MoreReaders>();
    let orphans = orphans.count_documents(|m| m.book.in_([0, 2, 4].map(Ref::from)));
    assert_eq!(orphans.await.unwrap(), 0);
    assert_sound(db).await;
}

pub(super) async fn transactions_keep_or_abort(db: &Db) {
    filled(db, [1]).await;
    let overflow = db.overflow::<MoreReaders>();
    for (keeps, expected) in [(false, 0), (true, 9)] {
        let mut session = db.start_session().await.unwrap();
        session.start_transaction().await.unwrap();
        for first in [0, 2, 7] {
            let count = if first == 2 { 5 } else { 2 };
            let push = overflow.push(1, readers(first..first + count));
            push.session(&mut session).await.unwrap();
        }
        let update = overflow.update(1, |m| m.readers.all_elements().mark.set(true));
        update.session(&mut session).await.unwrap();
        if keeps {
            session.commit_transaction().await.unwrap();
        } else {
            session.abort_transaction().await.unwrap();
        }
        assert_eq!(numbers(db, 1).await, (0..expected).collect::<Vec<_>>());
        assert_sound(db).await;
    }
}

pub(super) async fn a_push_that_opens_documents_needs_a_transaction(db: &Db) {
    filled(db, [1]).await;
    let overflow = db.overflow::<MoreReaders>();
    // One document has room for these.
    overflow.push(1, readers(0..3)).non_atomic().await.unwrap();
    let error = overflow
        .push(1, readers(3..5))
        .non_atomic()
        .await
        .unwrap_err();
    assert!(
        error.to_string().contains("leave `non_atomic()` out"),
        "{error}"
    );
    assert_eq!(error.model(), Some("MoreReaders"));

    let mut session = db.start_session().await.unwrap();
    let error = overflow.push(1, readers(3..5)).session(&mut session).await;
    let error = error.unwrap_err();
    assert!(error.to_string().contains("start a transaction"), "{error}");
    assert_eq!(numbers(db, 1).await, [0, 1, 2]);

    overflow.push(1, readers(3..9)).await.unwrap();
    let removal = overflow.update(1, |m| m.readers.pull_where(|r| r.number.gte(3)));
    assert_eq!(removal.non_atomic().await.unwrap().deleted, 2);
    assert_sound(db).await;
}

/// Pushes that need no transaction: each is one command, or two.
pub(super) async fn dropped_pushes_leave_sound_documents(db: &Db) {
    let books = filled(db, 0..8).await;
    let overflow = db.overflow::<MoreReaders>();
    for polls in 0..8 {
        let id = i32::try_from(polls).unwrap();
        overflow.push(id, readers(0..4)).await.unwrap();
        dropped_after(polls, overflow.push(id, readers(4..6)).into_future()).await;
        dropped_after(polls, overflow.items(id).all()).await;
        dropped_after(polls, overflow.count(id).into_future()).await;
    }
    // A command that was sent may still run.
    tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    for id in 0..8 {
        let stored = numbers(db, id).await;
        assert!(
            stored == [0, 1, 2, 3] || stored == [0, 1, 2, 3, 4, 5],
            "{stored:?}"
        );
        let book: Book = books.get(&id).await.unwrap().unwrap();
        assert_eq!(book.overflow_count, 1);
    }
    assert_sound(db).await;
}
