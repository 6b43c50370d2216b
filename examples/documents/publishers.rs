//! A publisher and its books: the publisher whole in each book, the ids in the publisher, or its id in each book.

use odm::prelude::*;

/// The guides write one author as a string, and several as an array.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
#[serde(untagged)]
enum Author {
    One(String),
    Several(Vec<String>),
}

fn authors() -> [Author; 2] {
    let [kristina, mike] = ["Kristina Chodorow", "Mike Dirolf"].map(str::to_owned);
    [
        Author::Several(vec![kristina.clone(), mike]),
        Author::One(kristina),
    ]
}

const TITLES: [&str; 2] = [
    "MongoDB: The Definitive Guide",
    "50 Tips and Tricks for MongoDB Developer",
];
const PUBLISHED: [&str; 2] = ["2010-09-24T00:00:00Z", "2011-05-06T00:00:00Z"];

pub(crate) mod repeated {
    use odm::prelude::*;

    use super::{Author, PUBLISHED, TITLES, authors};

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "books")]
    struct Book {
        #[serde(rename = "_id")]
        id: Id<Book>,
        title: String,
        author: Author,
        published_date: DateTime,
        pages: i32,
        language: String,
        publisher: Publisher,
    }

    /// Repeated in each of its books.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
    struct Publisher {
        name: String,
        founded: i32,
        location: String,
    }

    pub(crate) async fn store(db: &Db) -> odm::Result<()> {
        crate::examples::sync(db, models![Book]).await?;
        let texts = TITLES.into_iter().zip(PUBLISHED);
        let books = [216, 68].into_iter().zip(authors()).zip(texts).map(
            |((pages, author), (title, published))| Book {
                id: Id::new(),
                title: title.to_owned(),
                author,
                published_date: crate::examples::date(published),
                pages,
                language: "English".to_owned(),
                publisher: Publisher {
                    name: "O'Reilly Media".to_owned(),
                    founded: 1980,
                    location: "CA".to_owned(),
                },
            },
        );
        db.collection::<Book>().insert_many(books).await?;
        Ok(())
    }

    pub(crate) async fn join(db: &Db) -> odm::Result<Vec<String>> {
        let books = db.collection::<Book>();
        let published = books.find(|b| b.publisher.name.eq("O'Reilly Media"));
        let mut lines: Vec<String> = published
            .sort(|b| b.published_date.asc())
            .all()
            .await?
            .iter()
            .map(|it| format!("{} is published by {}", it.title, it.publisher.name))
            .collect();
        // The price of the repetition: a fact of one publisher changes in all of its books.
        let moved = books
            .update_many(
                |b| b.publisher.name.eq("O'Reilly Media"),
                |b| b.publisher.location.set("MA"),
            )
            .await?;
        lines.push(format!("O'Reilly Media moves in {} books", moved.modified));
        Ok(lines)
    }
}

pub(crate) mod ids {
    use odm::prelude::*;

    use super::{Author, PUBLISHED, TITLES, authors};

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "publishers")]
    struct Publisher {
        #[serde(rename = "_id")]
        id: Id<Publisher>,
        name: String,
        founded: i32,
        location: String,
        #[odm(references(many, max = 1_000), index)]
        books: Vec<Ref<Book>>,
    }

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "books", has_many(publishers: Publisher, by = books))]
    struct Book {
        #[serde(rename = "_id")]
        id: i32,
        title: String,
        author: Author,
        published_date: DateTime,
        pages: i32,
        language: String,
    }

    pub(crate) async fn store(db: &Db) -> odm::Result<()> {
        crate::examples::sync(db, models![Publisher, Book]).await?;
        let [first, second] = authors();
        let rows = [(123_456_789, 216, first), (234_567_890, 68, second)];
        let texts = TITLES.into_iter().zip(PUBLISHED);
        let books: Vec<Book> = rows
            .into_iter()
            .zip(texts)
            .map(|((id, pages, author), (title, published))| Book {
                id,
                title: title.to_owned(),
                author,
                published_date: crate::examples::date(published),
                pages,
                language: "English".to_owned(),
            })
            .collect();
        let publisher = Publisher {
            id: Id::new(),
            name: "O'Reilly Media".to_owned(),
            founded: 1980,
            location: "CA".to_owned(),
            books: books.iter().map(Ref::to).collect(),
        };
        db.collection::<Book>().insert_many(&books).await?;
        db.collection::<Publisher>().insert_one(&publisher).await?;
        Ok(())
    }

    pub(crate) async fn join(db: &Db) -> odm::Result<Vec<String>> {
        let mut lines = Vec::new();
        let publishers = db.collection::<Publisher>().find_all();
        for row in publishers.join(|p| p.books).all().await? {
            let found = row.books().iter().filter_map(|book| book.found());
            let titles: Vec<_> = found.map(|book| book.title.as_str()).collect();
            lines.push(format!("{}: {}", row.name, titles.join("; ")));
        }
        let books = db.collection::<Book>().find(|b| b.pages.lt(100));
        for row in books.join(|b| b.publishers).all().await? {
            let names: Vec<_> = row.publishers().iter().map(|it| it.name.as_str()).collect();
            lines.push(format!(
                "{} is published by {}",
                row.title,
                names.join(", ")
            ));
        }
        Ok(lines)
    }
}

pub(crate) mod squillions {
    use odm::prelude::*;

    use super::{Author, PUBLISHED, TITLES, authors};

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "publishers", has_squillions(books: Book, by = publisher))]
    pub(crate) struct Publisher {
        #[serde(rename = "_id")]
        id: String,
        name: String,
        founded: i32,
        location: String,
    }

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "books")]
    pub(crate) struct Book {
        #[serde(rename = "_id")]
        id: i32,
        title: String,
        author: Author,
        published_date: DateTime,
        pages: i32,
        language: String,
        #[serde(rename = "publisher_id")]
        #[odm(index)]
        publisher: Ref<Publisher>,
    }

    pub(crate) async fn store(db: &Db) -> odm::Result<()> {
        crate::examples::sync(db, models![Publisher, Book]).await?;
        let publisher = Publisher {
            id: "oreilly".to_owned(),
            name: "O'Reilly Media".to_owned(),
            founded: 1980,
            location: "CA".to_owned(),
        };
        db.collection::<Publisher>().insert_one(&publisher).await?;
        let [first, second] = authors();
        let rows = [(123_456_789, 216, first), (234_567_890, 68, second)];
        let texts = TITLES.into_iter().zip(PUBLISHED);
        let books = rows
            .into_iter()
            .zip(texts)
            .map(|((id, pages, author), (title, published))| Book {
                id,
                title: title.to_owned(),
                author,
                published_date: crate::examples::date(published),
                pages,
                language: "English".to_owned(),
                publisher: Ref::to(&publisher),
            });
        db.collection::<Book>().insert_many(books).await?;
        Ok(())
    }

    pub(crate) async fn join(db: &Db) -> odm::Result<Vec<String>> {
        let mut lines = Vec::new();
        let publishers = db.collection::<Publisher>().find_all();
        let newest = publishers.join(|p| p.books.sort(|b| b.published_date.desc()).limit(1));
        for row in newest.all().await? {
            let titles: Vec<_> = row.books().iter().map(|book| book.title.as_str()).collect();
            lines.push(format!("the newest of {}: {}", row.name, titles.join("; ")));
        }
        let books = db.collection::<Book>();
        let old = books
            .find(|b| b.pages.gt(100))
            .where_any(|b| b.publisher, |p| p.founded.lt(1990))
            .join(|b| b.publisher);
        for row in old.all().await? {
            let name = row.publisher().found().map_or("nobody", |it| &it.name);
            lines.push(format!("{} is published by {name}", row.title));
        }
        Ok(lines)
    }
}
