//! Filters and sorts by the documents on the other side of a relation.

mod finds;

use odm::bson::Bson;
use odm::bson::doc;
use odm::prelude::*;

use self::finds::{
    a_join_takes_all_methods_of_a_find, filtered_documents_are_counted_with_options,
    filtered_documents_are_loaded_and_saved, filtered_documents_are_read_in_pages,
    filtered_documents_exist_or_not,
};
use super::relations::watched;
use crate::case::cases;

cases![
    filters_by_the_referenced_document,
    filters_by_the_referring_documents,
    filters_through_lists_of_subdocuments,
    too_many_ids_become_a_pipeline,
    filters_are_explained_with_their_indexes,
    sorts_by_the_related_document,
    filtered_rows_are_joined_counted_and_streamed,
    errors_of_conditions_are_returned,
    filtered_documents_are_counted_with_options,
    filtered_documents_exist_or_not,
    filtered_documents_are_read_in_pages,
    filtered_documents_are_loaded_and_saved,
    a_join_takes_all_methods_of_a_find,
];

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(
    collection = "publishers",
    has_many(books: Book, by = publisher),
    has_squillions(sold: Book, by = sellers),
    has_one(flagship: Flagship, by = publisher)
)]
struct Publisher {
    #[serde(rename = "_id")]
    id: String,
    founded: i32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "books")]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    #[serde(rename = "p")]
    #[odm(index)]
    publisher: Ref<Publisher>,
    reprint: Option<Ref<Publisher>>,
    #[odm(references(many, max = 10), index)]
    sellers: Vec<Ref<Publisher>>,
    #[odm(embed(few, max = 10))]
    offers: Vec<Offer>,
    pages: i32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Offer {
    seller: Ref<Publisher>,
    #[odm(references(many, max = 3))]
    agents: Vec<Ref<Publisher>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "flagships")]
struct Flagship {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(unique)]
    publisher: Ref<Publisher>,
    pages: i32,
}

const FOUNDED: [(&str, i32); 4] = [("a", 1950), ("b", 1980), ("c", 1990), ("d", 2010)];

fn to(id: &str) -> Ref<Publisher> {
    Ref::from(id)
}

fn all(ids: &[&str]) -> Vec<Ref<Publisher>> {
    ids.iter().map(|id| to(id)).collect()
}

/// The publisher, reprint, sellers and offers of a book.
type Row = (
    &'static str,
    Option<&'static str>,
    &'static [&'static str],
    &'static [(&'static str, &'static [&'static str])],
);

/// Books that refer to every combination of publishers that matters: none, one, several, missing ones.
fn stock() -> Vec<Book> {
    let rows: [Row; 7] = [
        ("a", None, &[], &[]),
        ("b", Some("a"), &["a", "b"], &[("a", &[])]),
        (
            "c",
            Some("d"),
            &["d", "c"],
            &[("d", &["a"]), ("a", &["c", "d"])],
        ),
        ("d", Some("missing"), &["b", "missing"], &[("c", &["d"])]),
        ("missing", None, &["a"], &[("missing", &["missing"])]),
        ("a", Some("c"), &["d"], &[("d", &["d"]), ("c", &["d", "d"])]),
        ("b", None, &["a", "a"], &[("b", &["a"]), ("a", &["b"])]),
    ];
    (1..)
        .zip(rows)
        .map(|(id, (publisher, reprint, sellers, offers))| Book {
            id,
            publisher: to(publisher),
            reprint: reprint.map(to),
            sellers: all(sellers),
            offers: offers
                .iter()
                .map(|(seller, agents)| Offer {
                    seller: to(seller),
                    agents: all(agents),
                })
                .collect(),
            pages: 100 * id,
        })
        .collect()
}

async fn shop(db: &Db) -> (Collection<Publisher>, Collection<Book>) {
    db.sync(models![Publisher, Book, Flagship])
        .plan()
        .await
        .unwrap()
        .apply(Allow::CREATE)
        .await
        .unwrap();
    let publishers = db.collection::<Publisher>();
    let rows = FOUNDED.map(|(id, founded)| Publisher {
        id: id.to_owned(),
        founded,
    });
    publishers.insert_many(rows).await.unwrap();
    let books = db.collection::<Book>();
    books.insert_many(stock()).await.unwrap();
    let flagship = |id, publisher, pages| Flagship {
        id,
        publisher: to(publisher),
        pages,
    };
    db.collection::<Flagship>()
        .insert_many([flagship(1, "a", 30), flagship(2, "c", 10)])
        .await
        .unwrap();
    (publishers, books)
}

/// Whether the publisher is stored and was founded before that year.
fn founded_before(year: i32, publisher: &Ref<Publisher>) -> bool {
    FOUNDED
        .iter()
        .any(|(id, founded)| publisher.id() == *id && *founded < year)
}

/// The ids of the books that this condition on all their references holds of: some match, none matches, all match.
fn expected(year: i32, references: impl Fn(&Book) -> Vec<Ref<Publisher>>) -> [Vec<i32>; 3] {
    let matching = |keep: &dyn Fn(&[bool]) -> bool| -> Vec<i32> {
        let books = stock().into_iter();
        books
            .filter(|book| {
                let found: Vec<bool> = references(book)
                    .iter()
                    .map(|one| founded_before(year, one))
                    .collect();
                keep(&found)
            })
            .map(|book| book.id)
            .collect()
    };
    [
        matching(&|found| found.contains(&true)),
        matching(&|found| !found.contains(&true)),
        matching(&|found| !found.contains(&false)),
    ]
}

/// The ids that each of the three filters finds.
macro_rules! found {
    ($collection:expr, $relation:expr, $condition:expr) => {{
        let mut ids = Vec::new();
        for find in [
            $collection.find_all().where_any($relation, $condition),
            $collection.find_all().where_none($relation, $condition),
            $collection.find_all().where_all($relation, $condition),
        ] {
            let mut rows: Vec<_> = find
                .all()
                .await
                .unwrap()
                .into_iter()
                .map(|row| row.id)
                .collect();
            rows.sort_unstable();
            ids.push(rows);
        }
        ids
    }};
}

async fn filters_by_the_referenced_document(db: &Db) {
    let (_, books) = shop(db).await;
    for year in [1900, 1970, 1985, 2000, 2020] {
        assert_eq!(
            found!(books, |b| b.publisher, |p| p.founded.lt(year)),
            expected(year, |book| vec![book.publisher.clone()]),
            "publisher, {year}"
        );
        assert_eq!(
            found!(books, |b| b.reprint, |p| p.founded.lt(year)),
            expected(year, |book| book.reprint.iter().cloned().collect()),
            "reprint, {year}"
        );
        assert_eq!(
            found!(books, |b| b.sellers, |p| p.founded.lt(year)),
            expected(year, |book| book.sellers.clone()),
            "sellers, {year}"
        );
    }
}

async fn filters_through_lists_of_subdocuments(db: &Db) {
    let (_, books) = shop(db).await;
    for year in [1900, 1970, 1985, 2000, 2020] {
        assert_eq!(
            found!(books, |b| b.offers.any().seller, |p| p.founded.lt(year)),
            expected(year, |book| book
                .offers
                .iter()
                .map(|offer| offer.seller.clone())
                .collect()),
            "offers.seller, {year}"
        );
        assert_eq!(
            found!(books, |b| b.offers.any().agents, |p| p.founded.lt(year)),
            expected(year, |book| book
                .offers
                .iter()
                .flat_map(|offer| offer.agents.clone())
                .collect()),
            "offers.agents, {year}"
        );
    }
}

async fn filters_by_the_referring_documents(db: &Db) {
    let (publishers, _) = shop(db).await;
    let expected = |pages: i32, refers: fn(&Book, &str) -> bool| -> Vec<Vec<String>> {
        let keep = |keep: fn(&[bool]) -> bool| -> Vec<String> {
            let ids = FOUNDED.iter().map(|(id, _)| *id);
            ids.filter(|id| {
                let books = stock().into_iter().filter(|book| refers(book, id));
                let found: Vec<bool> = books.map(|book| book.pages <= pages).collect();
                keep(&found)
            })
            .map(str::to_owned)
            .collect()
        };
        vec![
            keep(|found| found.contains(&true)),
            keep(|found| !found.contains(&true)),
            keep(|found| !found.contains(&false)),
        ]
    };
    for pages in [0, 100, 200, 300, 500, 900] {
        assert_eq!(
            found!(publishers, |p| p.books, |b| b.pages.lte(pages)),
            expected(pages, |book, id| book.publisher.id() == id),
            "books, {pages}"
        );
        assert_eq!(
            found!(publishers, |p| p.sold, |b| b.pages.lte(pages)),
            expected(pages, |book, id| book
                .sellers
                .iter()
                .any(|it| it.id() == id)),
            "sold, {pages}"
        );
    }
}

/// Thirteen publishers with ids of a megabyte each.
async fn too_many_ids_become_a_pipeline(db: &Db) {
    let publishers = db.collection::<Publisher>();
    let books = db.collection::<Book>();
    let id = |n: usize| n.to_string().repeat(1_000_000 / n.to_string().len());
    for n in 10..23 {
        let founded = 1_900 + i32::try_from(n).unwrap();
        publishers
            .insert_one(&Publisher { id: id(n), founded })
            .await
            .unwrap();
    }
    let book = |number: i32, publisher: &str, sellers: &[&str]| Book {
        id: number,
        publisher: to(publisher),
        reprint: None,
        sellers: all(sellers),
        offers: vec![Offer {
            seller: to(publisher),
            agents: Vec::new(),
        }],
        pages: number,
    };
    let (first, last) = (id(10), id(22));
    for one in [
        book(1, &first, &[&first, &last]),
        book(2, "missing", &[]),
        book(3, &last, &[&last, "missing"]),
    ] {
        books.insert_one(&one).await.unwrap();
    }
    let (db, sent) = watched(db);
    let books = db.collection::<Book>();
    assert_eq!(
        found!(books, |b| b.publisher, |p| p.founded.gte(1_910)),
        [vec![1, 3], vec![2], vec![1, 3]]
    );
    assert_eq!(
        found!(books, |b| b.reprint, |p| p.founded.gte(1_910)),
        [vec![], vec![1, 2, 3], vec![1, 2, 3]]
    );
    assert_eq!(
        found!(books, |b| b.sellers, |p| p.founded.gte(1_910)),
        [vec![1, 3], vec![2], vec![1, 2]]
    );
    assert_eq!(
        found!(books, |b| b.offers.any().seller, |p| p.founded.gte(1_910)),
        [vec![1, 3], vec![2], vec![1, 3]]
    );
    let commands: Vec<String> = sent
        .lock()
        .unwrap()
        .iter()
        .filter_map(|command| command.keys().next().cloned())
        .collect();
    assert_eq!(commands, ["find", "aggregate"].repeat(12));
    let lists = books
        .find_all()
        .where_all(|b| b.offers.any().agents, |p| p.founded.gte(1_910))
        .all()
        .await
        .unwrap_err();
    assert!(
        lists.is_usage() && lists.path() == Some("offers.agents"),
        "{lists}"
    );
}

async fn filters_are_explained_with_their_indexes(db: &Db) {
    let (publishers, books) = shop(db).await;
    let plan = books
        .find(|b| b.pages.gt(0))
        .where_any(|b| b.publisher, |p| p.id.in_(["a", "b"].map(str::to_owned)))
        .explain()
        .await
        .unwrap();
    assert_eq!(plan.to_string().matches("; then ").count(), 1, "{plan}");
    let shown: Vec<_> = plan
        .before
        .iter()
        .chain([&plan])
        .map(|plan| {
            (
                plan.command.iter().next().unwrap().1.as_str().unwrap(),
                plan.indexes.join(","),
            )
        })
        .collect();
    assert_eq!(
        shown,
        [
            ("publishers", "_id_".to_owned()),
            ("books", "p_1".to_owned())
        ]
    );
    let (db, sent) = watched(db);
    drop((publishers, books));
    let found = db
        .collection::<Publisher>()
        .find(|p| p.founded.gt(1900))
        .sort(|p| p.id.desc())
        .skip(1)
        .limit(1)
        .where_any(|p| p.sold, |b| b.pages.gte(300))
        .all()
        .await
        .unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].id, "c");
    let sent = sent.lock().unwrap();
    assert_eq!(sent.len(), 1);
    assert_eq!(
        sent[0]
            .get_array("pipeline")
            .unwrap()
            .iter()
            .filter_map(Bson::as_document)
            .cloned()
            .collect::<Vec<_>>(),
        [
            doc! {"$match": {"founded": {"$gt": 1900}}},
            doc! {"$sort": {"_id": -1}},
            doc! {"$lookup": {
                "from": "books",
                "localField": "_id",
                "foreignField": "sellers",
                "pipeline": [
                    {"$match": {"pages": {"$gte": 300}}},
                    {"$limit": 1},
                    {"$project": {"_id": 1}},
                ],
                "as": "__odm_0",
            }},
            doc! {"$match": {"__odm_0": {"$ne": []}}},
            doc! {"$skip": 1_i64},
            doc! {"$limit": 1_i64},
            doc! {"$unset": ["__odm_0"]},
        ]
    );
}

async fn sorts_by_the_related_document(db: &Db) {
    let (publishers, books) = shop(db).await;
    let rows = books
        .find_all()
        .sort(|b| b.id.desc())
        .order_by_related(|b| b.publisher, |p| p.founded.desc())
        .all()
        .await
        .unwrap();
    let ids: Vec<_> = rows.iter().map(|book| book.id).collect();
    assert_eq!(ids, [4, 3, 7, 2, 6, 1, 5]);
    assert_eq!(rows[0], stock()[3]);
    // The newest of several, and a row that has none.
    let rows = publishers
        .find_all()
        .order_by_related(|p| p.sold, |b| b.pages.desc())
        .all()
        .await
        .unwrap();
    let ids: Vec<_> = rows.iter().map(|publisher| publisher.id.as_str()).collect();
    assert_eq!(ids, ["a", "d", "b", "c"]);
    let rows = publishers
        .find_all()
        .sort(|p| p.id.asc())
        .limit(3)
        .order_by_related(|p| p.flagship, |f| f.pages.asc())
        .join(|p| p.flagship)
        .all()
        .await
        .unwrap();
    let found: Vec<_> = rows
        .iter()
        .map(|row| (row.id.as_str(), row.flagship().as_ref().map(|it| it.pages)))
        .collect();
    assert_eq!(found, [("b", None), ("d", None), ("c", Some(10))]);
}

async fn filtered_rows_are_joined_counted_and_streamed(db: &Db) {
    let (_, books) = shop(db).await;
    let find = || {
        books
            .find(|b| b.pages.gt(100))
            .sort(|b| b.id.asc())
            .where_none(|b| b.publisher, |p| p.founded.gt(1985))
            .where_any(|b| b.sellers, |p| p.founded.lt(1970))
    };
    let rows = find().join(|b| b.publisher).all().await.unwrap();
    let found: Vec<_> = rows
        .iter()
        .map(|row| (row.id, row.publisher().is_dangling()))
        .collect();
    assert_eq!(found, [(2, false), (5, true), (7, false)]);
    assert_eq!(find().count().await.unwrap(), 3);
    assert_eq!(find().first().await.unwrap().map(|book| book.id), Some(2));
    let sorted = find().order_by_related(|b| b.publisher, |p| p.founded.asc());
    assert_eq!(sorted.count().await.unwrap(), 3);
    assert_eq!(find().skip(1).limit(1).count().await.unwrap(), 3);
    let page = find().page(2, 2).all().await.unwrap();
    assert_eq!(page.iter().map(|book| book.id).collect::<Vec<_>>(), [7]);
    let joined = find().join(|b| b.publisher).filter(|b| b.id.lt(7));
    let rows = joined.sort(|b| b.id.desc()).skip(1).limit(1).all();
    assert_eq!(rows.await.unwrap()[0].id, 2);
    let sorted = find().order_by_related(|b| b.publisher, |p| p.founded.asc());
    let rows = sorted.page(2, 1).all().await.unwrap();
    assert_eq!(rows.iter().map(|book| book.id).collect::<Vec<_>>(), [2]);
    let sorted = find().order_by_related(|b| b.publisher, |p| p.founded.asc());
    assert_eq!(sorted.first().await.unwrap().map(|book| book.id), Some(5));
    let mut cursor = find().await.unwrap();
    let mut stream = find().join(|b| b.publisher).stream();
    for id in [2, 5, 7] {
        assert_eq!(cursor.next().await.unwrap().unwrap().id, id);
        assert_eq!(stream.next().await.unwrap().unwrap().id, id);
    }
    assert!(cursor.next().await.is_none() && stream.next().await.is_none());
    transaction!(db, |tx| -> odm::Result<()> {
        db.collection::<Publisher>()
            .delete_one(|p| p.id.eq("a"))
            .session(tx)
            .await?;
        let rows = find().session(tx).all().await?;
        assert!(rows.is_empty());
        Ok(())
    })
    .await
    .unwrap();
}

async fn errors_of_conditions_are_returned(db: &Db) {
    let (publishers, books) = shop(db).await;
    let error = books
        .find_all()
        .show_record_id(true)
        .order_by_related(|b| b.publisher, |p| p.founded.asc())
        .all()
        .await
        .unwrap_err();
    assert!(
        error.is_usage() && error.to_string().contains("show_record_id"),
        "{error}"
    );
    let error = books
        .find_all()
        .where_any(|b| b.publisher, |p| p.founded.lt(1) & p.founded.lt(2))
        .order_by_related(|b| b.publisher, |p| p.founded.asc().then(p.founded.desc()))
        .all()
        .await
        .unwrap_err();
    assert_eq!(error.model(), Some("Publisher"), "{error}");
    for last in [None, Some(&stock()[0])] {
        let sorted = || {
            let find = books.find_all().after(last);
            find.order_by_related(|b| b.publisher, |p| p.founded.asc())
        };
        let error = sorted().all().await.unwrap_err();
        assert!(error.is_usage(), "{error}");
        assert!(error.to_string().contains("use `page`"), "{error}");
        assert_eq!(error.model(), Some("Book"));
        let error = sorted().await.unwrap_err();
        assert!(error.is_usage(), "{error}");
        let mut rows = sorted().join(|b| b.publisher).stream();
        let error = rows.next().await.unwrap().unwrap_err();
        assert!(error.is_usage(), "{error}");
    }
    let find = || {
        let find = books.find_all();
        find.where_any(|b| b.publisher, |p| p.founded.gt(0))
    };
    for error in [
        find().command().unwrap_err(),
        find().count().command().unwrap_err(),
    ] {
        assert!(error.to_string().contains("use `explain`"), "{error}");
        assert_eq!(error.model(), Some("Book"));
    }
    let two_queries = find().show_record_id(true).await;
    assert!(two_queries.is_ok(), "they take the options of a find");
    let of_its_own = publishers
        .find_all()
        .where_any(|p| p.books.limit(1), |b| b.pages.gt(100));
    let error = of_its_own.all().await.unwrap_err();
    assert!(error.is_usage() && error.path() == Some("books"), "{error}");
    assert_eq!(error.model(), Some("Publisher"));
    let invalid = || {
        let find = publishers.find_all();
        find.join(|p| p.books.sort(|b| b.pages.asc().then(b.pages.desc())))
    };
    for error in [
        invalid().count().await.unwrap_err(),
        invalid().exists().await.unwrap_err(),
        invalid().all().await.unwrap_err(),
    ] {
        assert_eq!(error.model(), Some("Book"), "{error}");
    }
}
