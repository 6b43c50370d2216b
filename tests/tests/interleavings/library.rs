//! The documents that the operations change, and the operations.

use futures::future::BoxFuture;
use odm::prelude::*;

use super::explorer::{Operation, operation};

/// A model whose documents are deleted, with what becomes of the books that refer to them.
macro_rules! source {
    ($model:ident, $collection:literal, $by:ident, $policy:ident) => {
        #[derive(Debug, Serialize, Deserialize, Document)]
        #[odm(
                                            collection = $collection,
                                            has_many(books: Book, by = $by, on_delete = $policy)
                                        )]
        pub(crate) struct $model {
            #[serde(rename = "_id")]
            pub(crate) id: i32,
        }
    };
}

source!(Author, "authors", author, cascade);
source!(Shelf, "shelves", shelf, restrict);
source!(Translator, "translators", translator, set_null);
source!(Reader, "readers", readers, pull);

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(
    collection = "books",
    has_many(notes: Note, by = book, on_delete = cascade)
)]
pub(crate) struct Book {
    #[serde(rename = "_id")]
    pub(crate) id: i32,
    #[odm(index)]
    pub(crate) author: Option<Ref<Author>>,
    #[odm(index)]
    pub(crate) shelf: Option<Ref<Shelf>>,
    #[odm(index)]
    pub(crate) translator: Option<Ref<Translator>>,
    #[odm(references(many, max = 10), index)]
    pub(crate) readers: Vec<Ref<Reader>>,
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "notes")]
pub(crate) struct Note {
    #[serde(rename = "_id")]
    pub(crate) id: i32,
    #[odm(index)]
    pub(crate) book: Ref<Book>,
}

/// The document 1 of a model, to which a new book refers.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Source {
    Author,
    Shelf,
    Translator,
    Reader,
}

impl Source {
    pub(crate) const ALL: [Self; 4] = [Self::Author, Self::Shelf, Self::Translator, Self::Reader];

    fn book(self, id: i32) -> Book {
        let mut book = Book {
            id,
            author: None,
            shelf: None,
            translator: None,
            readers: Vec::new(),
        };
        match self {
            Self::Author => book.author = Some(Ref::from(1)),
            Self::Shelf => book.shelf = Some(Ref::from(1)),
            Self::Translator => book.translator = Some(Ref::from(1)),
            Self::Reader => book.readers = vec![Ref::from(1)],
        }
        book
    }

    /// A delete of the document.
    pub(crate) fn delete(self, is_atomic: bool) -> Operation {
        match self {
            Self::Author => delete::<Author>(is_atomic),
            Self::Shelf => delete::<Shelf>(is_atomic),
            Self::Translator => delete::<Translator>(is_atomic),
            Self::Reader => delete::<Reader>(is_atomic),
        }
    }

    /// An insert of the book 3.
    pub(crate) fn insert_book(self, is_atomic: bool) -> Operation {
        operation(move |db| async move {
            let insert = db.collection().insert_one(self.book(3)).check_references();
            let insert = if is_atomic {
                insert
            } else {
                insert.non_atomic()
            };
            unless_dangling(insert.await)
        })
    }
}

impl Source {
    /// An update by which the book 2 refers to the document.
    pub(crate) fn refer(self) -> Operation {
        operation(move |db| async move {
            let update = db.collection::<Book>().update_by_id(&2, |b| match self {
                Self::Author => b.author.set(Some(Ref::from(1))),
                Self::Shelf => b.shelf.set(Some(Ref::from(1))),
                Self::Translator => b.translator.set(Some(Ref::from(1))),
                Self::Reader => b.readers.push(Ref::from(1)),
            });
            unless_dangling(update.check_references().await)
        })
    }
}

fn delete<M: odm::model::Writable + Document<Id = i32>>(is_atomic: bool) -> Operation {
    operation(move |db| async move {
        let all = db.collection::<M>();
        let delete = all
            .delete_one(|_| odm::query::id::<M>().eq(1))
            .with_dependents();
        let delete = if is_atomic {
            delete
        } else {
            delete.non_atomic()
        };
        match delete.await {
            Err(error) if error.is_restricted() => Ok(()),
            other => other.map(drop),
        }
    })
}

/// One document of each model; the book 1 refers to the author, the translator and the reader, and the note 1 to the book. The
/// book 2 refers to nothing, and no book is on the shelf.
pub(crate) fn fill(db: Db) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        db.collection().insert_one(Shelf { id: 1 }).await.unwrap();
        db.collection().insert_one(Author { id: 1 }).await.unwrap();
        db.collection()
            .insert_one(Translator { id: 1 })
            .await
            .unwrap();
        db.collection().insert_one(Reader { id: 1 }).await.unwrap();
        let book = Book {
            translator: Some(Ref::from(1)),
            readers: vec![Ref::from(1)],
            ..Source::Author.book(1)
        };
        db.collection().insert_one(book).await.unwrap();
        let free = Book {
            author: None,
            ..Source::Author.book(2)
        };
        db.collection().insert_one(free).await.unwrap();
        let note = Note {
            id: 1,
            book: Ref::from(1),
        };
        db.collection().insert_one(note).await.unwrap();
    })
}

/// A delete of what the document refers to may come first.
fn unless_dangling<T>(result: odm::Result<T>) -> odm::Result<()> {
    match result {
        Err(error) if error.is_dangling() => Ok(()),
        other => other.map(drop),
    }
}

/// Inserts a book in a transaction that reads its author first, as one would by hand.
pub(crate) fn insert_by_hand() -> Operation {
    operation(|db| async move {
        odm::transaction!(db, |tx| {
            let author = db.collection::<Author>().get(&1).session(tx).await?;
            if author.is_some() {
                let book = Source::Author.book(3);
                db.collection().insert_one(book).session(tx).await?;
            }
            Ok(())
        })
        .await
    })
}

pub(crate) fn insert_note(is_atomic: bool) -> Operation {
    operation(move |db| async move {
        let note = Note {
            id: 3,
            book: Ref::from(1),
        };
        let insert = db.collection().insert_one(note).check_references();
        let insert = if is_atomic {
            insert
        } else {
            insert.non_atomic()
        };
        unless_dangling(insert.await)
    })
}

pub(crate) fn delete_book() -> Operation {
    delete::<Book>(true)
}

/// Whether each reference leads to a document.
pub(crate) async fn is_sound(db: Db) -> bool {
    let books = db.collection::<Book>();
    let rows = books
        .find_all()
        .join(|b| b.shelf)
        .join(|b| b.author)
        .join(|b| b.translator)
        .join(|b| b.readers)
        .all()
        .await
        .unwrap();
    let books_are_sound = rows.iter().all(|row| {
        row.shelf().as_ref().is_none_or(|it| it.found().is_some())
            && row.author().as_ref().is_none_or(|it| it.found().is_some())
            && row
                .translator()
                .as_ref()
                .is_none_or(|it| it.found().is_some())
            && row.readers().iter().all(|it| it.found().is_some())
    });
    let notes = db.collection::<Note>();
    let notes = notes.find_all().join(|n| n.book).all().await.unwrap();
    books_are_sound && notes.iter().all(|row| row.book().found().is_some())
}
