//! A find by related documents is a find: it is counted, read in pages, loaded and joined.

use odm::bson::Bson;
use odm::collection::Collation;
use odm::prelude::*;

use super::{Book, BookJoined, Publisher, PublisherJoined, shop, to};

#[derive(Debug, Deserialize, Projection)]
#[odm(of = Publisher)]
struct Bare {
    #[serde(rename = "_id")]
    id: String,
}

/// Publishers by a semi-join, and by a pipeline, because `sold` is a relation of squillions.
macro_rules! sellers {
    ($publishers:expr, |$find:ident| $use:expr) => {{
        let $find = || {
            $publishers
                .find_all()
                .where_any(|p| p.books, |b| b.pages.gt(100))
        };
        let by_ids = $use;
        let $find = || {
            $publishers
                .find_all()
                .where_any(|p| p.sold, |b| b.pages.gt(100))
        };
        [by_ids, $use]
    }};
}

pub(super) async fn filtered_documents_are_counted_with_options(db: &Db) {
    let (publishers, _) = shop(db).await;
    // Books over 100 pages are published by `a` to `d`, and sold by the same.
    let counts = sellers!(publishers, |find| {
        let all = find().count().await.unwrap();
        let some = find().count().limit(2).await.unwrap();
        let later = find().count().skip(3).await.unwrap();
        let page = find().page(2, 3).count().await.unwrap();
        let sorted = find().order_by_related(|p| p.flagship, |f| f.pages.asc());
        (all, some, later, page, sorted.count().await.unwrap())
    });
    assert_eq!(counts, [(4, 2, 1, 4, 4); 2]);
    let no = publishers
        .find(|p| p.founded.lt(1900))
        .where_any(|p| p.sold, |_| Filter::all());
    assert_eq!(no.count().await.unwrap(), 0);
    let late = Collation::new("en").strength(2);
    let counted = publishers
        .find(|p| p.id.eq("A"))
        .where_any(|p| p.books, |b| b.pages.eq(100))
        .count();
    assert_eq!(counted.collation(late).await.unwrap(), 1);
    let mut session = db.start_session().await.unwrap();
    session.start_transaction().await.unwrap();
    let books = db.collection::<Book>();
    let gone = books.delete_many(|b| b.publisher.eq(to("d")));
    gone.session(&mut session).await.unwrap();
    let count = publishers
        .find_all()
        .where_any(|p| p.books, |_| Filter::all())
        .count();
    assert_eq!(count.session(&mut session).await.unwrap(), 3);
    session.abort_transaction().await.unwrap();
}

pub(super) async fn filtered_documents_exist_or_not(db: &Db) {
    let (publishers, books) = shop(db).await;
    let found = sellers!(publishers, |find| {
        let sorted = find().order_by_related(|p| p.flagship, |f| f.pages.asc());
        (
            find().exists().await.unwrap(),
            find().filter(|p| p.id.eq("d")).exists().await.unwrap(),
            find().filter(|p| p.id.eq("z")).exists().await.unwrap(),
            sorted.exists().await.unwrap(),
        )
    });
    assert_eq!(found, [(true, true, false, true); 2]);
    let dangling = books
        .find_all()
        .where_none(|b| b.publisher, |_| Filter::all());
    assert!(dangling.join(|b| b.publisher).exists().await.unwrap());
    let all = books
        .find(|b| b.id.gt(5))
        .where_all(|b| b.publisher, |p| p.founded.lt(1990));
    assert!(all.exists().await.unwrap());
}

pub(super) async fn filtered_documents_are_read_in_pages(db: &Db) {
    let (publishers, _) = shop(db).await;
    let pages = sellers!(publishers, |find| {
        let sorted = || find().sort(|p| p.founded.desc());
        let first = sorted().page(1, 3).all().await.unwrap();
        let last = first.last().unwrap();
        let second = sorted().after(last).all().await.unwrap();
        let page = sorted().page_after(None, 3).await.unwrap();
        let token = sorted().page_token(last).await.unwrap();
        assert_eq!(page.next.as_ref(), Some(&token));
        let next = sorted().page_after(&token, 3).await.unwrap();
        assert_eq!((&page.items, &next.items), (&first, &second));
        assert!(next.next.is_none());
        let joined = sorted().after_token(&token).join(|p| p.flagship);
        assert_eq!(joined.all().await.unwrap().len(), 1);
        let ids = first.into_iter().chain(second).map(|it| it.id);
        ids.collect::<Vec<_>>()
    });
    assert_eq!(pages[0], ["d", "c", "b", "a"]);
    assert_eq!(pages[1], pages[0]);
}

pub(super) async fn filtered_documents_are_loaded_and_saved(db: &Db) {
    let (publishers, _) = shop(db).await;
    let founded = sellers!(publishers, |find| {
        for mut publisher in find().load().await.unwrap() {
            publisher.founded += 1;
            publishers.save(&mut publisher).await.unwrap();
        }
        publishers.get("a").await.unwrap().unwrap().founded
    });
    assert_eq!(founded, [1951, 1952]);
}

pub(super) async fn a_join_takes_all_methods_of_a_find(db: &Db) {
    let (publishers, books) = shop(db).await;
    let rows = publishers
        .find_all()
        .join(|p| p.flagship)
        .where_any(|p| p.sold, |b| b.pages.gt(100))
        .select::<Bare>()
        .sort(|p| p.founded.asc())
        .after(None)
        .hint("_id_")
        .batch_size(1)
        .comment("rows")
        .all()
        .await
        .unwrap();
    let ids: Vec<_> = rows.iter().map(|row| row.id.as_str()).collect();
    assert_eq!(ids, ["a", "b", "c", "d"]);
    assert_eq!(rows[2].flagship().as_ref().map(|it| it.pages), Some(10));
    let find = books
        .find_one(|b| b.pages.gt(100))
        .join(|b| b.publisher)
        .sort(|b| b.pages.desc())
        .skip(1);
    let row = find.await.unwrap().unwrap();
    assert_eq!((row.id, row.publisher().found().is_some()), (6, true));
    let joined = publishers
        .find_all()
        .where_any(|p| p.books, |b| b.pages.eq(100))
        .join(|p| p.books);
    let plans = joined.explain().await.unwrap();
    let collections: Vec<_> = plans
        .iter()
        .map(|plan| plan.command.iter().next().unwrap().1.clone())
        .collect();
    assert_eq!(
        collections,
        ["books", "publishers", "books"].map(Bson::from)
    );
    assert!(plans.iter().all(|plan| plan.before.is_empty()));
}
