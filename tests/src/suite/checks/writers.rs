//! Checks beside writers of everything that is checked.

use odm::prelude::*;
use odm::tree::Position;

use super::{Author, Book, Review, Shelf, author, book, check, filled, models};

const ROUNDS: i32 = 12;

async fn write_books(db: &Db) {
    let (authors, books) = (db.collection::<Author>(), db.collection::<Book>());
    for round in 0..ROUNDS {
        let id = 100 + round;
        books.insert_one(&book(id, 1)).propagate().await.unwrap();
        let name = format!("name {round}");
        authors
            .update_by_id(&1, |a| a.name.set(name))
            .propagate()
            .await
            .unwrap();
        let mover = books.update_by_id(&id, |b| b.author.set(Ref::from(2)));
        mover.propagate().await.unwrap();
        let older = books.update_by_id(&id, |b| b.year.set(1 + round));
        older.propagate().await.unwrap();
        books.delete_by_id(&id).with_dependents().await.unwrap();
        authors.insert_one(&author(100 + round)).await.unwrap();
    }
}

async fn write_reviews(db: &Db) {
    let reviews = db.collection::<Review>();
    for round in 0..ROUNDS {
        let review = Review {
            id: 100 + round,
            reviewer: Some(Ref::from(1)),
        };
        reviews.insert_one(&review).propagate().await.unwrap();
        let to = reviews.update_by_id(&review.id, |r| r.reviewer.set(Some(Ref::from(2))));
        to.propagate().await.unwrap();
        let nobody = reviews.update_by_id(&review.id, |r| r.reviewer.set(None));
        nobody.propagate().await.unwrap();
    }
}

async fn write_shelves(db: &Db) {
    let tree = db.tree::<Shelf>();
    for round in 0..ROUNDS {
        let parent: Ref<Shelf> = Ref::from(1 + round % 2);
        tree.move_to(Ref::from(3), Position::child_of(parent))
            .await
            .unwrap();
    }
}

pub(super) async fn writers_are_not_reported(db: &Db) {
    filled(db).await;
    let writers = futures::future::join3(write_books(db), write_reviews(db), write_shelves(db));
    let checks = async {
        for _ in 0..ROUNDS {
            let report = db.check(models()).await.unwrap();
            assert!(report.is_sound(), "{report}");
        }
    };
    futures::future::join(writers, checks).await;
    let report = check(db).await;
    assert!(report.is_sound(), "{report}");
}
