//! Sources and documents that copy their fields, with one reference of each guarantee, and the operations on them.

use futures::future::BoxFuture;
use odm::prelude::*;
use odm::update::Update;

use super::explorer::{Operation, operation};
use super::verbs::{Changed, Subject};
use super::ways::{Way, run};

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(
    collection = "publishers",
    has_many(books: Book, by = publisher),
    has_squillions(sales: Sale, by = publisher)
)]
pub(crate) struct Publisher {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
}

/// Its copy is strict.
#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "published")]
pub(crate) struct Book {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index)]
    publisher: Ref<Publisher>,
    #[odm(copy_of(publisher.name))]
    publisher_name: String,
}

/// Its copies are settled.
#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "sales", index(publisher))]
pub(crate) struct Sale {
    #[serde(rename = "_id")]
    id: i32,
    publisher: Ref<Publisher>,
    #[odm(copy_of(publisher.name))]
    publisher_name: String,
}

/// Gives the publisher 1 this name, and propagates it.
pub(crate) fn rename(name: &'static str, way: Way) -> Operation {
    operation(move |db| async move {
        let publishers = db.collection::<Publisher>();
        run!(
            way,
            db,
            publishers
                .update_by_id(&1, |p| p.name.set(name))
                .propagate()
        )
    })
}

/// Gives the publisher 1 this name, and leaves the copies to `resume_propagation`.
pub(crate) fn rename_in_background(name: &'static str) -> Operation {
    operation(move |db| async move {
        let publishers = db.collection::<Publisher>();
        let change = publishers.update_by_id(&1, |p| p.name.set(name));
        change.in_background().await.map(drop)
    })
}

pub(crate) fn resume() -> Operation {
    operation(|db| async move {
        let publishers = db.collection::<Publisher>();
        publishers.resume_propagation().await.map(drop)
    })
}

/// Inserts the book 3 of the publisher 1.
pub(crate) fn insert_book(way: Way) -> Operation {
    operation(move |db| async move {
        let books = db.collection::<Book>();
        let book = Book {
            id: 3,
            publisher: Ref::from(1),
            publisher_name: String::new(),
        };
        run!(way, db, books.insert_one(&book).propagate())
    })
}

/// Inserts the sale 3 of the publisher 1.
pub(crate) fn insert_sale(way: Way) -> Operation {
    operation(move |db| async move {
        let sales = db.collection::<Sale>();
        let sale = Sale {
            id: 3,
            publisher: Ref::from(1),
            publisher_name: String::new(),
        };
        run!(way, db, sales.insert_one(&sale).propagate())
    })
}

/// The book 2 goes from the publisher 2 to the publisher 1.
pub(crate) fn reassign_book(way: Way) -> Operation {
    operation(move |db| async move {
        let books = db.collection::<Book>();
        run!(
            way,
            db,
            books
                .update_by_id(&2, |b| b.publisher.set(Ref::from(1)))
                .propagate()
        )
    })
}

/// The sale 2 goes from the publisher 2 to the publisher 1.
pub(crate) fn reassign_sale(way: Way) -> Operation {
    operation(move |db| async move {
        let sales = db.collection::<Sale>();
        run!(
            way,
            db,
            sales
                .update_by_id(&2, |s| s.publisher.set(Ref::from(1)))
                .propagate()
        )
    })
}

/// Inserts a sale with the name that it reads before, as one would by hand.
pub(crate) fn insert_sale_by_hand() -> Operation {
    operation(|db| async move {
        odm::transaction!(db, |tx| {
            let publisher = db.collection::<Publisher>().get(&1).session(tx).await?;
            if let Some(publisher) = publisher {
                let sale = Sale {
                    id: 3,
                    publisher: Ref::from(1),
                    publisher_name: publisher.name,
                };
                db.collection().insert_one(sale).session(tx).await?;
            }
            Ok(())
        })
        .await
    })
}

/// Refreshes all copies.
pub(crate) fn refresh() -> Operation {
    operation(|db| async move {
        db.collection::<Sale>().refresh_copies().await?;
        db.collection::<Book>().refresh_copies().await.map(drop)
    })
}

impl Subject for Publisher {
    const CHANGED: i32 = 1;

    fn new(id: i32) -> Self {
        let name = "third".to_owned();
        Self { id, name }
    }

    fn changed() -> Self {
        let name = "changed".to_owned();
        Self { id: 1, name }
    }
}

impl Changed for Publisher {
    fn change(fields: Self::Fields<Self>) -> Update<Self> {
        fields.name.set("changed")
    }
}

/// The document 2 goes from the publisher 2 to the publisher 1.
macro_rules! subject {
    ($model:ident) => {
        impl Subject for $model {
            const CHANGED: i32 = 2;

            fn new(id: i32) -> Self {
                Self {
                    id,
                    publisher: Ref::from(1),
                    publisher_name: "?".to_owned(),
                }
            }

            fn changed() -> Self {
                Self::new(2)
            }
        }

        impl Changed for $model {
            fn change(fields: Self::Fields<Self>) -> Update<Self> {
                fields.publisher.set(Ref::from(1))
            }
        }
    };
}

subject!(Book);
subject!(Sale);

/// Gives the publisher 1 another name and leaves its copies as they are. A change back to the first name then finds copies that
/// have it already.
pub(crate) fn fill_with_stale_copies(db: Db) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        fill(db.clone()).await;
        let publishers = db.collection::<Publisher>();
        let change = publishers.update_by_id(&1, |p| p.name.set("other"));
        change.leave_stale().await.unwrap();
    })
}

/// Two publishers, and a book and a sale of each.
pub(crate) fn fill(db: Db) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        let publisher = |id, name: &str| Publisher {
            id,
            name: name.to_owned(),
        };
        let publishers = [publisher(1, "first"), publisher(2, "second")];
        db.collection().insert_many(publishers).await.unwrap();
        let books = [(1, "first"), (2, "second")].map(|(id, name)| Book {
            id,
            publisher: Ref::from(id),
            publisher_name: name.to_owned(),
        });
        db.collection().insert_many(books).await.unwrap();
        let sales = [(1, "first"), (2, "second")].map(|(id, name)| Sale {
            id,
            publisher: Ref::from(id),
            publisher_name: name.to_owned(),
        });
        db.collection().insert_many(sales).await.unwrap();
    })
}

/// Whether no copy is stale, and no record of a change is left.
pub(crate) async fn is_in_step(db: Db) -> bool {
    let records = doc! {"find": "odm_propagations"};
    let records = db.run_command(records).all().await.unwrap();
    records.is_empty() && are_copies_right(&db).await
}

/// Whether no copy is stale after `resume_propagation`.
pub(crate) async fn is_in_step_when_resumed(db: Db) -> bool {
    let publishers = db.collection::<Publisher>();
    publishers.resume_propagation().await.unwrap();
    are_copies_right(&db).await
}

async fn are_copies_right(db: &Db) -> bool {
    let books = db.collection::<Book>().check_copies().await.unwrap();
    let sales = db.collection::<Sale>().check_copies().await.unwrap();
    books.is_sound() && sales.is_sound()
}
