//! Types of rows with names: in structs, results and bounds, and joins in generic code.

use std::sync::Arc;

use odm::prelude::*;
use odm::query::id;
use odm::relation::typing::{Also, Branches, IntoBranch};
use odm::relation::{Has, Joined, Resolved};
use serde_json::json;

use crate::case::cases;

cases![
    rows_stand_in_structs_and_results,
    rows_of_projections_have_names,
    rows_of_embedded_types_have_names,
    functions_read_any_rows_with_a_relation,
    joins_are_chosen_at_run_time,
    generic_code_joins,
];

mod model {
    //! Models of another module, some of them private to the suite.

    use odm::prelude::*;

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "authors", has_many(books: Book, by = author))]
    pub(crate) struct Author {
        #[serde(rename = "_id")]
        pub(crate) id: i32,
        pub(crate) name: String,
    }

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "books", index(author))]
    pub(crate) struct Book {
        #[serde(rename = "_id")]
        pub(crate) id: i32,
        pub(crate) author: Ref<Author>,
        pub(crate) editor: Option<Ref<Author>>,
        pub(crate) preface: Preface,
        pub(crate) title: String,
        pub(crate) r#type: Ref<Author>,
    }

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
    pub(crate) struct Preface {
        pub(crate) writer: Ref<Author>,
    }

    #[derive(Debug, PartialEq, Serialize, Deserialize, Projection)]
    #[odm(of = Book)]
    pub(crate) struct Title {
        pub(crate) title: String,
        pub(crate) author: Ref<Author>,
    }
}

use self::model::{Author, AuthorJoined, Book, BookJoined, Preface, PrefaceJoined, Title};

async fn library(db: &Db) -> Collection<Book> {
    let authors = [(1, "Austen"), (2, "Scott")];
    let authors = authors.map(|(id, name)| Author {
        id,
        name: name.to_owned(),
    });
    db.collection::<Author>()
        .insert_many(authors)
        .await
        .unwrap();
    let books = [(1, 1, "Emma"), (2, 2, "Waverley"), (3, 9, "Anonymous")];
    let books = books.map(|(id, author, title)| Book {
        id,
        author: Ref::from(author),
        editor: (id == 1).then(|| Ref::from(2)),
        preface: Preface {
            writer: Ref::from(2),
        },
        title: title.to_owned(),
        r#type: Ref::from(1),
    });
    db.collection::<Book>().insert_many(books).await.unwrap();
    db.collection()
}

type BookRow = odm::row!(Book { author: Resolved<Author>, editor: Option<Resolved<Author>> });
type AuthorRow = odm::row!(Author {
    books: Vec<Arc<odm::row!(Book { r#type: Resolved<Author> })>>,
});

type TitleRow = odm::row!(Book as Title { author: Resolved<Author> });
type PrefaceRow = odm::row!(Book { Preface::writer: Resolved<Author> });

#[derive(Serialize)]
struct Shelf {
    rows: Vec<BookRow>,
    newest: Option<BookRow>,
}

async fn shelf(books: &Collection<Book>) -> odm::Result<Shelf> {
    let rows = || {
        books
            .find_all()
            .sort(|b| b.id.asc())
            .join(|b| b.author)
            .join(|b| b.editor)
    };
    let (all, newest) = (rows().all().await?, rows().first().await?);
    Ok(Shelf { rows: all, newest })
}

async fn rows_stand_in_structs_and_results(db: &Db) {
    let books = library(db).await;
    let shelf = shelf(&books).await.unwrap();
    let name = |row: &BookRow| row.author().found().map(|author| author.name.clone());
    assert_eq!(name(&shelf.rows[1]).as_deref(), Some("Scott"));
    assert_eq!(name(&shelf.rows[2]), None);
    assert!(shelf.newest.as_ref() == shelf.rows.first());
    let json = serde_json::to_value(&shelf).unwrap();
    assert_eq!(
        json["rows"][0]["editor"],
        json!({"_id": 2, "name": "Scott"})
    );

    let rows: Vec<AuthorRow> = db
        .collection::<Author>()
        .find_all()
        .sort(|a| a.id.asc())
        .join(|a| a.books.join(|b| b.r#type))
        .all()
        .await
        .unwrap();
    let book = &rows[0].books()[0];
    assert_eq!(book.r#type().found().unwrap().name, "Austen");
}

async fn rows_of_projections_have_names(db: &Db) {
    let books = library(db).await;
    let rows: Vec<TitleRow> = books
        .find(|b| b.id.eq(1))
        .select::<Title>()
        .join(|b| b.author)
        .all()
        .await
        .unwrap();
    assert_eq!(rows[0].author().found().unwrap().name, "Austen");
    assert_eq!(rows[0].title, "Emma");
}

async fn rows_of_embedded_types_have_names(db: &Db) {
    let books = library(db).await;
    let rows: Vec<PrefaceRow> = books
        .find(|b| b.id.eq(1))
        .join(|b| b.preface.writer)
        .all()
        .await
        .unwrap();
    assert_eq!(rows[0].writer().found().unwrap().name, "Scott");
}

/// For rows of any join that has loaded the author.
fn by_line<L, I>(row: &Joined<Book, L>) -> String
where
    L: Has<odm::relation!(Book::author), I, Value = Resolved<Author>>,
{
    let author = row
        .author()
        .found()
        .map_or("unknown", |author| &author.name);
    format!("{} by {author}", row.title)
}

async fn functions_read_any_rows_with_a_relation(db: &Db) {
    let books = library(db).await;
    let ordered = || books.find_all().sort(|b| b.id.asc());
    let alone = ordered().join(|b| b.author).all().await.unwrap();
    let first = ordered()
        .join(|b| b.author)
        .join(|b| b.editor)
        .all()
        .await
        .unwrap();
    let last = ordered()
        .join(|b| b.editor)
        .join(|b| b.author)
        .all()
        .await
        .unwrap();
    for (n, expected) in [
        "Emma by Austen",
        "Waverley by Scott",
        "Anonymous by unknown",
    ]
    .into_iter()
    .enumerate()
    {
        assert_eq!(by_line(&alone[n]), expected);
        assert_eq!(by_line(&first[n]), expected);
        assert_eq!(by_line(&last[n]), expected);
    }
}

/// The names of the editors, only if the caller asks for them.
async fn listed(books: &Collection<Book>, with_editors: bool) -> Vec<(String, Option<String>)> {
    let found = books.find_all().sort(|b| b.id.asc()).all().await.unwrap();
    if !with_editors {
        return found.into_iter().map(|book| (book.title, None)).collect();
    }
    let rows = books.with(&found).join(|b| b.editor).await.unwrap();
    let name = |row: &Option<Resolved<Author>>| {
        let editor = row.as_ref().and_then(Resolved::found);
        editor.map(|editor| editor.name.clone())
    };
    rows.iter()
        .map(|row| (row.title.clone(), name(row.editor())))
        .collect()
}

async fn joins_are_chosen_at_run_time(db: &Db) {
    let books = library(db).await;
    assert_eq!(listed(&books, false).await[0], ("Emma".to_owned(), None));
    assert_eq!(
        listed(&books, true).await[0],
        ("Emma".to_owned(), Some("Scott".to_owned()))
    );
}

/// The first rows of any model, with a relation that the caller names.
async fn first_rows<M, R>(
    collection: &Collection<M>,
    relation: impl FnOnce(M::Fields<M>) -> R,
) -> odm::Result<Vec<<Also<(), R::Branch> as Branches>::Row<M>>>
where
    M: Document,
    R: IntoBranch<M>,
    Also<(), R::Branch>: Branches,
{
    collection
        .find_all()
        .sort(|_| id::<M>().asc())
        .limit(2)
        .join(relation)
        .all()
        .await
}

async fn generic_code_joins(db: &Db) {
    let books = library(db).await;
    let rows = first_rows(&books, |b| b.author).await.unwrap();
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[0].author().found().unwrap().name, "Austen");
    let rows = first_rows(&db.collection::<Author>(), |a| a.books)
        .await
        .unwrap();
    assert_eq!(rows[1].books()[0].title, "Waverley");
}
