//! References to other fields than a plain `_id`: a unique field, a composite id.

use odm::bson::doc;
use odm::model::{Arity, Document as _, ModelMeta, RelationMeta};
use odm::prelude::*;
use odm::relation::Resolved;

use super::relations::watched;
use crate::case::cases;

cases![
    a_unique_field_is_joined,
    a_unique_field_is_joined_backwards,
    a_unique_field_filters_and_sorts,
    no_document_refers_to_a_row_without_its_key,
    an_optional_unique_field_is_joined,
    a_reference_finds_its_document,
    composite_ids_are_joined,
    references_by_key_are_in_the_metadata,
];

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(
    collection = "books",
    has_many(loans: Loan, by = isbn, key = isbn),
    has_many(shelves: Shelf, by = isbns, key = isbn)
)]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    #[serde(rename = "ISBN")]
    #[odm(unique)]
    isbn: String,
    title: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "loans")]
struct Loan {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index, refers_to(Book, by = isbn))]
    isbn: String,
    #[odm(refers_to(Book, by = isbn))]
    instead: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "shelves")]
struct Shelf {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index, refers_to(Book, by = isbn), items(max = 100))]
    isbns: Vec<String>,
    #[odm(embed(few, max = 10))]
    gaps: Vec<Gap>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Gap {
    #[odm(refers_to(Book, by = isbn))]
    missing: String,
}

#[derive(Debug, Clone, PartialEq, Deserialize, Projection)]
#[odm(of = Book)]
#[serde(deny_unknown_fields)]
struct Title {
    title: String,
}

async fn library(db: &Db) {
    db.sync(models![Book, Loan, Shelf])
        .plan()
        .await
        .unwrap()
        .apply(Allow::CREATE)
        .await
        .unwrap();
    let book = |id, isbn: &str, title: &str| Book {
        id,
        isbn: isbn.to_owned(),
        title: title.to_owned(),
    };
    let books = [book(1, "a", "Moby-Dick"), book(2, "b", "Emma")];
    db.collection::<Book>().insert_many(books).await.unwrap();
    let loan = |id, isbn: &str, instead: Option<&str>| Loan {
        id,
        isbn: isbn.to_owned(),
        instead: instead.map(str::to_owned),
    };
    let loans = [
        loan(1, "b", None),
        loan(2, "a", Some("b")),
        loan(3, "x", Some("y")),
        loan(4, "b", None),
    ];
    db.collection::<Loan>().insert_many(loans).await.unwrap();
    let shelf = Shelf {
        id: 1,
        isbns: ["b", "x", "a"].map(str::to_owned).to_vec(),
        gaps: vec![Gap {
            missing: "a".to_owned(),
        }],
    };
    db.collection::<Shelf>().insert_one(shelf).await.unwrap();
}

async fn a_unique_field_is_joined(db: &Db) {
    library(db).await;
    let (db, sent) = watched(db);
    let rows = db
        .collection::<Loan>()
        .find_all()
        .sort(|l| l.id.asc())
        .join(|l| l.isbn.select::<Title>())
        .join(|l| l.instead.filter(|b| b.title.ne("Emma")))
        .all()
        .await
        .unwrap();
    let found: Vec<_> = rows
        .iter()
        .map(|row| (row.id, row.isbn().found().map(|book| book.title.as_str())))
        .collect();
    assert_eq!(
        found,
        [
            (1, Some("Emma")),
            (2, Some("Moby-Dick")),
            (3, None),
            (4, Some("Emma"))
        ]
    );
    assert!(matches!(rows[2].isbn(), Resolved::Dangling(isbn) if isbn == "x"));
    assert_eq!(rows[0].instead().as_ref().map(Resolved::missing), None);
    assert!(matches!(rows[1].instead(), Some(Resolved::Excluded(isbn)) if isbn == "b"));
    let mut commands = sent.lock().unwrap().clone();
    commands.sort_by_key(|command| command.contains_key("projection"));
    assert_eq!(
        commands[2],
        doc! {
            "find": "books",
            "filter": {"ISBN": {"$in": ["b", "a", "x"]}},
            "projection": {"_id": 0, "title": 1, "ISBN": 1},
        }
    );
    let shelf = db
        .collection::<Shelf>()
        .get(&1)
        .join(|s| s.isbns)
        .join(|s| s.gaps.each(|gap| gap.missing))
        .await
        .unwrap()
        .unwrap();
    let titles: Vec<_> = shelf
        .isbns()
        .iter()
        .map(|book| book.found().map(|it| it.id))
        .collect();
    assert_eq!(titles, [Some(2), None, Some(1)]);
    assert_eq!(shelf.missing()[0].found().map(|it| it.id), Some(1));
}

async fn a_unique_field_is_joined_backwards(db: &Db) {
    library(db).await;
    let books = db.collection::<Book>();
    let rows = books
        .find_all()
        .sort(|b| b.id.asc())
        .join(|b| b.loans.sort(|l| l.id.asc()))
        .join(|b| b.shelves.count())
        .all()
        .await
        .unwrap();
    let found: Vec<_> = rows
        .iter()
        .map(|row| {
            (
                row.id,
                row.loans().iter().map(|it| it.id).collect::<Vec<_>>(),
                *row.shelves(),
            )
        })
        .collect();
    assert_eq!(found, [(1, vec![2], 1), (2, vec![1, 4], 1)]);
    let rows = books
        .find_all()
        .sort(|b| b.id.asc())
        .join(|b| b.loans.sort(|l| l.id.desc()).limit(1))
        .all()
        .await
        .unwrap();
    let found: Vec<_> = rows.iter().map(|row| row.loans()[0].id).collect();
    assert_eq!(found, [2, 4]);
    let plans = books
        .find(|b| b.id.gt(0))
        .join(|b| b.loans)
        .explain()
        .await
        .unwrap();
    assert_eq!(plans[1].indexes, ["isbn_1"]);
}

async fn a_unique_field_filters_and_sorts(db: &Db) {
    library(db).await;
    let loans = db.collection::<Loan>();
    let found = loans
        .find_all()
        .where_any(|l| l.isbn, |b| b.title.eq("Emma"))
        .order_by_related(|l| l.isbn, |b| b.id.desc())
        .sort(|l| l.id.asc())
        .all()
        .await
        .unwrap();
    assert_eq!(found.iter().map(|loan| loan.id).collect::<Vec<_>>(), [1, 4]);
    let none = loans
        .find_all()
        .sort(|l| l.id.asc())
        .where_none(|l| l.instead, |b| b.id.eq(2))
        .all()
        .await
        .unwrap();
    assert_eq!(
        none.iter().map(|loan| loan.id).collect::<Vec<_>>(),
        [1, 3, 4]
    );
    let all = db
        .collection::<Shelf>()
        .find_all()
        .where_all(|s| s.isbns, |b| b.id.gt(0))
        .count();
    assert_eq!(all.await.unwrap(), 0);
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Seat {
    hall: String,
    number: i32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "seats", has_many(tickets: Ticket, by = seat))]
struct Place {
    #[serde(rename = "_id")]
    id: Seat,
    price: i32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "tickets")]
struct Ticket {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index)]
    seat: Ref<Place>,
}

async fn composite_ids_are_joined(db: &Db) {
    let seat = |number| Seat {
        hall: "A".to_owned(),
        number,
    };
    let places = db.collection::<Place>();
    for number in [1, 2] {
        let place = Place {
            id: seat(number),
            price: 10 * number,
        };
        places.insert_one(place).await.unwrap();
    }
    let tickets = db.collection::<Ticket>();
    for (id, number) in [(1, 2), (2, 2), (3, 9)] {
        let ticket = Ticket {
            id,
            seat: Ref::from(seat(number)),
        };
        tickets.insert_one(ticket).await.unwrap();
    }
    let rows = tickets
        .find_all()
        .sort(|t| t.id.asc())
        .join(|t| t.seat)
        .all()
        .await
        .unwrap();
    let prices: Vec<_> = rows
        .iter()
        .map(|row| row.seat().found().map(|it| it.price))
        .collect();
    assert_eq!(prices, [Some(20), Some(20), None]);
    assert_eq!(rows[2].seat().missing(), Some(&seat(9)));
    let rows = places
        .find_all()
        .sort(|p| p.price.asc())
        .join(|p| p.tickets.sort(|t| t.id.desc()).limit(1))
        .all()
        .await
        .unwrap();
    let ids: Vec<Vec<_>> = rows
        .iter()
        .map(|row| row.tickets().iter().map(|it| it.id).collect())
        .collect();
    assert_eq!(ids, [vec![], vec![2]]);
    let cheap = tickets
        .find_all()
        .where_any(|t| t.seat, |p| p.price.lt(30))
        .count();
    assert_eq!(cheap.await.unwrap(), 2);
}

async fn references_by_key_are_in_the_metadata(_db: &Db) {
    let shown = |model: &'static ModelMeta| -> Vec<_> {
        let all = model
            .relations()
            .iter()
            .filter_map(RelationMeta::as_reference);
        all.map(|one| (one.name.as_str(), one.target.name, one.key, one.arity))
            .collect()
    };
    let many = |max| Arity::Many { max: Some(max) };
    assert_eq!(
        shown(Shelf::model()),
        [
            ("isbns", "Book", "isbn", many(100)),
            ("gaps.missing", "Book", "isbn", many(10)),
        ]
    );
    assert_eq!(
        shown(Loan::model()),
        [
            ("isbn", "Book", "isbn", Arity::One),
            ("instead", "Book", "isbn", Arity::AtMostOne),
        ]
    );
    let mut inverses = Book::model().relations().iter();
    let inverse = inverses.find_map(RelationMeta::as_inverse).unwrap();
    assert_eq!(inverse.key, ["isbn"]);
}

/// A part that older documents have no code of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(
    collection = "parts",
    has_many(uses: Use, by = code, key = code),
    has_squillions(events: Use, by = code, key = code)
)]
struct Part {
    #[serde(rename = "_id")]
    id: i32,
    #[serde(default)]
    #[odm(unique)]
    code: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "uses")]
struct Use {
    #[serde(rename = "_id")]
    id: i32,
    #[serde(default)]
    #[odm(index, refers_to(Part, by = code))]
    code: Option<String>,
}

/// The ids of a find, in its order.
macro_rules! ids {
    ($find:expr) => {{
        let found = $find.all().await.unwrap();
        found.iter().map(|part| part.id).collect::<Vec<_>>()
    }};
}

async fn no_document_refers_to_a_row_without_its_key(db: &Db) {
    for (name, documents) in [
        ("parts", vec![doc! {"_id": 1, "code": "a"}, doc! {"_id": 2}]),
        (
            "uses",
            vec![
                doc! {"_id": 1, "code": "a"},
                doc! {"_id": 2, "code": null},
                doc! {"_id": 3},
            ],
        ),
    ] {
        let insert = doc! {"insert": name, "documents": documents};
        db.run_command(insert).await.unwrap();
    }
    let plan = db.sync(models![Part, Use]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    let parts = db.collection::<Part>();
    let find = || parts.find_all().sort(|p| p.id.asc());
    let rows = find().join(|p| p.uses).all().await.unwrap();
    let found: Vec<_> = rows.iter().map(|row| row.uses().len()).collect();
    assert_eq!(found, [1, 0]);
    let rows = find().join(|p| p.uses.limit(1)).all().await.unwrap();
    let found: Vec<_> = rows.iter().map(|row| row.uses().len()).collect();
    assert_eq!(found, [1, 0]);
    let rows = find().join(|p| p.uses.count()).all().await.unwrap();
    let found: Vec<_> = rows.iter().map(|row| *row.uses()).collect();
    assert_eq!(found, [1, 0]);
    let rows = find().join(|p| p.uses.exists()).all().await.unwrap();
    let found: Vec<_> = rows.iter().map(|row| *row.uses()).collect();
    assert_eq!(found, [true, false]);
    // By the ids of the related documents, and by a look-up for each row.
    assert_eq!(ids!(find().where_any(|p| p.uses, |_| Filter::all())), [1]);
    assert_eq!(ids!(find().where_any(|p| p.events, |_| Filter::all())), [1]);
    assert_eq!(ids!(find().where_none(|p| p.uses, |_| Filter::all())), [2]);
    assert_eq!(
        ids!(find().where_none(|p| p.events, |_| Filter::all())),
        [2]
    );
    assert_eq!(ids!(find().where_all(|p| p.events, |u| u.id.eq(9))), [2]);
    // A row without related documents sorts first.
    let sorted = parts
        .find_all()
        .order_by_related(|p| p.uses, |u| u.id.asc());
    assert_eq!(ids!(sorted), [2, 1]);
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "editions", has_many(copies: Copy, by = isbn, key = isbn))]
struct Edition {
    #[serde(rename = "_id")]
    id: i32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[odm(unique(sparse))]
    isbn: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "copies")]
struct Copy {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index, refers_to(Edition, by = isbn))]
    isbn: String,
    #[odm(refers_to(Edition, by = isbn))]
    instead: Option<String>,
}

async fn an_optional_unique_field_is_joined(db: &Db) {
    let plan = db.sync(models![Edition, Copy]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    let (editions, copies) = (db.collection::<Edition>(), db.collection::<Copy>());
    let edition = |id, isbn: Option<&str>| Edition {
        id,
        isbn: isbn.map(str::to_owned),
    };
    let stored = [
        edition(1, Some("a")),
        edition(2, None),
        edition(3, None),
        edition(4, Some("b")),
    ];
    editions.insert_many(stored).await.unwrap();
    let copy = |id, isbn: &str, instead: Option<&str>| Copy {
        id,
        isbn: isbn.to_owned(),
        instead: instead.map(str::to_owned),
    };
    let stored = [
        copy(7, "a", None),
        copy(8, "a", Some("b")),
        copy(9, "x", None),
    ];
    copies.insert_many(stored).await.unwrap();

    let find = copies.find_all().sort(|c| c.id.asc());
    let rows = find
        .join(|c| c.isbn)
        .join(|c| c.instead)
        .all()
        .await
        .unwrap();
    let id = |edition: &Edition| edition.id;
    let isbns: Vec<_> = rows.iter().map(|row| row.isbn().found().map(id)).collect();
    assert_eq!(isbns, [Some(1), Some(1), None]);
    let instead = |row: usize| rows[row].instead().as_ref().and_then(Resolved::found);
    assert_eq!(
        [0, 1, 2].map(|row| instead(row).map(id)),
        [None, Some(4), None]
    );

    let rows = editions.find_all().sort(|e| e.id.asc());
    let rows = rows.join(|e| e.copies).all().await.unwrap();
    let counts: Vec<_> = rows.iter().map(|row| row.copies().len()).collect();
    assert_eq!(counts, [2, 0, 0, 0]);
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "rooms")]
struct Room {
    #[serde(rename = "_id")]
    id: String,
    beds: i32,
}

async fn a_reference_finds_its_document(db: &Db) {
    let rooms = db.collection::<Room>();
    let room = |beds| Room {
        id: "blue".to_owned(),
        beds,
    };
    rooms.insert_one(room(1)).await.unwrap();
    let reference: Ref<Room> = Ref::from("blue");
    let update = rooms.update_by_id(&reference, |r| r.beds.set(2));
    assert_eq!(update.await.unwrap().modified, 1);
    assert_eq!(rooms.get(&reference).await.unwrap(), Some(room(2)));
    rooms.replace_by_id(&reference, &room(3)).await.unwrap();
    let loaded = rooms.load(reference.clone()).await.unwrap();
    assert_eq!(loaded.map(|room| room.beds), Some(3));
    assert_eq!(rooms.delete_by_id(reference).await.unwrap().deleted, 1);
    assert_eq!(rooms.get("blue").await.unwrap(), None);
}
