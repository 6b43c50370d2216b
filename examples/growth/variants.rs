//! Books and films in one collection: a model for each, and an enum for all.

use odm::prelude::*;

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "authors", has_many(books: Book, by = author))]
struct Author {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "media", index(book.title))]
#[serde(tag = "kind", rename_all = "camelCase")]
enum Medium {
    Book(Book),
    Film(Film),
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(variant_of = Medium)]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
    #[odm(unique)]
    isbn: String,
    #[odm(index)]
    author: Ref<Author>,
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(variant_of = Medium)]
struct Film {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
    #[odm(range(min = 1))]
    minutes: i32,
    based_on: Option<Ref<Book>>,
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "loans")]
struct Loan {
    #[serde(rename = "_id")]
    id: i32,
    medium: Ref<Medium>,
}

pub(super) async fn show(db: &Db) -> Result<(), Box<dyn std::error::Error>> {
    let plan = db.sync(models![Author, Medium, Loan]).plan().await?;
    plan.apply(Allow::CREATE).await?;
    let (books, films) = (db.collection::<Book>(), db.collection::<Film>());
    let author = Author {
        id: 1,
        name: "Jane Austen".to_owned(),
    };
    db.collection::<Author>().insert_one(&author).await?;
    for (id, title, isbn) in [(1, "Emma", "978-1"), (2, "Persuasion", "978-2")] {
        let (title, isbn) = (title.to_owned(), isbn.to_owned());
        let author = Ref::to(&author);
        books
            .insert_one(Book {
                id,
                title,
                isbn,
                author,
            })
            .await?;
    }
    let film = Film {
        id: 11,
        title: "Emma".to_owned(),
        minutes: 124,
        based_on: Some(Ref::from(1)),
    };
    films.insert_one(&film).await?;

    for medium in db
        .collection::<Medium>()
        .find(|m| m.book.title.eq("Emma"))
        .sort(|m| m.id.asc())
        .all()
        .await?
    {
        match medium {
            Medium::Book(book) => println!("a book, {}", book.isbn),
            Medium::Film(film) => println!("a film of {} minutes", film.minutes),
        }
    }
    let find = books.find(|b| b.isbn.eq("978-1"));
    println!("only books: {}", find.command()?);
    let explain = books.find(|b| b.isbn.eq("978-1")).explain().await?;
    println!("  by the index {}", explain.indexes.join(", "));

    let refused = films
        .insert_one(Film {
            id: 12,
            minutes: 0,
            ..film
        })
        .await;
    println!(
        "a film without a minute is refused: {}",
        refused.is_err_and(|error| error.is_validation_failure())
    );

    let loan = Loan {
        id: 1,
        medium: Ref::from(11),
    };
    db.collection::<Loan>().insert_one(loan).await?;
    let loans = db.collection::<Loan>();
    let loan = loans.get(&1).join(|l| l.medium).await?.ok_or("no loan")?;
    println!("lent: {:?}", loan.medium().found());
    let film = films
        .get(&11)
        .join(|f| f.based_on.join(|b| b.author))
        .await?;
    let film = film.ok_or("no film")?;
    if let Some(book) = film.based_on().as_ref().and_then(|book| book.found()) {
        let author = book.author().found().map(|author| author.name.as_str());
        println!("  by a book of {}", author.unwrap_or("nobody"));
    }

    // Another program stores a variant that this one does not know.
    let game = doc! {"_id": 21, "kind": "game", "title": "Emma"};
    db.run_command(doc! {"insert": "media", "documents": [game], "bypassDocumentValidation": true})
        .await?;
    println!("books are read: {}", books.find_all().all().await?.len());
    let all = db.collection::<Medium>().find_all().all().await;
    println!("all are not: {}", all.is_err_and(|error| error.is_decode()));
    for finding in db.check(models![Medium]).await?.listed.iter().take(1) {
        println!(
            "  a check finds: {} in {}",
            finding.kind, finding.collection
        );
    }
    Ok(())
}
