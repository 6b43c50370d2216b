//! Lists that overflow: what is pushed comes back, no document is overfilled, and no overflow document is lost or forgotten.

mod composed;
mod foreign;
mod writers;

use odm::bson::{Document as BsonDocument, doc};
use odm::prelude::*;

use self::composed::{
    copies_in_elements_are_filled_and_followed, elements_are_references,
    elements_with_numbers_as_names, maintained_fields_follow, other_names_and_types,
};
use self::foreign::{
    documents_of_other_programs_are_read, documents_of_other_programs_get_elements,
    large_elements_open_documents_by_their_size, orphans_are_found, wrong_counts_are_repaired,
};
use self::writers::{
    a_push_that_opens_documents_needs_a_transaction, concurrent_pushes_never_overfill,
    dropped_pushes_leave_sound_documents, pushes_beside_deletes, pushes_beside_removals,
    transactions_keep_or_abort,
};
use crate::case::cases;
use crate::random::Random;

cases![
    pushes_fill_the_document_first,
    random_pushes_keep_their_order,
    random_pushes_and_removals,
    a_usual_push_is_one_command,
    streams_end_at_their_limit,
    removals_delete_empty_documents,
    elements_are_changed_wherever_they_are,
    other_changes_are_refused,
    sync_creates_a_unique_index,
    deletes_take_the_overflow_along,
    chosen_names_are_used,
    copies_in_elements_are_filled_and_followed,
    elements_are_references,
    elements_with_numbers_as_names,
    maintained_fields_follow,
    other_names_and_types,
    documents_of_other_programs_are_read,
    documents_of_other_programs_get_elements,
    large_elements_open_documents_by_their_size,
    orphans_are_found,
    wrong_counts_are_repaired,
    a_push_that_opens_documents_needs_a_transaction,
    concurrent_pushes_never_overfill,
    dropped_pushes_leave_sound_documents,
    pushes_beside_deletes,
    pushes_beside_removals,
    transactions_keep_or_abort,
];

/// A number of elements, those that overflow, the documents that are opened, and the lengths of all after it.
type Push = (i32, u64, u64, &'static [(i32, usize)]);

const INSIDE: usize = 3;
const OUTSIDE: usize = 4;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(
    collection = "books",
    has_many(overflow: MoreReaders, by = book, on_delete = cascade)
)]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(embed(few, max = 3))]
    readers: Vec<Reader>,
    #[odm(count_of(overflow))]
    overflow_count: i32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Reader {
    number: i32,
    mark: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(
    collection = "more_readers",
    overflow(list = readers, by = book, number = number, max = 4)
)]
struct MoreReaders {
    #[serde(rename = "_id")]
    id: Id<MoreReaders>,
    book: Ref<Book>,
    number: i32,
    readers: Vec<Reader>,
}

fn reader(number: i32) -> Reader {
    Reader {
        number,
        mark: false,
    }
}

fn readers(numbers: impl IntoIterator<Item = i32>) -> Vec<Reader> {
    numbers.into_iter().map(reader).collect()
}

async fn synced(db: &Db) {
    let plan = db.sync(models![Book, MoreReaders]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
}

/// Books without readers.
async fn filled(db: &Db, ids: impl IntoIterator<Item = i32>) -> Collection<Book> {
    synced(db).await;
    let books = db.collection();
    let book = |id| Book {
        id,
        readers: Vec::new(),
        overflow_count: 0,
    };
    books.insert_many(ids.into_iter().map(book)).await.unwrap();
    books
}

/// The numbers of the readers of a book, as they are read.
async fn numbers(db: &Db, id: i32) -> Vec<i32> {
    let items = db.overflow::<MoreReaders>().items(id).all().await.unwrap();
    items.iter().map(|reader| reader.number).collect()
}

/// The lengths of the lists of overflow documents, by their numbers.
async fn lengths(db: &Db, id: i32) -> Vec<(i32, usize)> {
    let all = db.collection::<MoreReaders>();
    let all = all
        .find(|m| m.book.eq(Ref::from(id)))
        .sort(|m| m.number.asc());
    let all = all.all().await.unwrap();
    let all = all.iter().map(|one| (one.number, one.readers.len()));
    all.collect()
}

/// Nothing is overfilled, counted wrongly, or left over.
async fn assert_sound(db: &Db) {
    let report = db.check(models![Book, MoreReaders]).await.unwrap();
    assert!(report.is_sound(), "{report}");
}

async fn pushes_fill_the_document_first(db: &Db) {
    let books = filled(db, [1, 2]).await;
    let overflow = db.overflow::<MoreReaders>();
    let pushes: [Push; 7] = [
        (2, 0, 0, &[]),
        (0, 0, 0, &[]),
        (2, 1, 1, &[(1, 1)]),
        (3, 3, 0, &[(1, 4)]),
        (1, 1, 1, &[(1, 4), (2, 1)]),
        (12, 12, 3, &[(1, 4), (2, 4), (3, 4), (4, 4), (5, 1)]),
        (3, 3, 0, &[(1, 4), (2, 4), (3, 4), (4, 4), (5, 4)]),
    ];
    let mut next = 0;
    for (count, overflowed, opened, after) in pushes {
        let items = readers(next..next + count);
        let result = overflow.push(1, &items).await.unwrap();
        assert_eq!(
            (
                result.matched,
                result.pushed,
                result.overflowed,
                result.opened
            ),
            (1, u64::try_from(count).unwrap(), overflowed, opened)
        );
        next += count;
        assert_eq!(lengths(db, 1).await, after);
        assert_eq!(numbers(db, 1).await, (0..next).collect::<Vec<_>>());
        let book = books.get(&1).await.unwrap().unwrap();
        assert_eq!(usize::try_from(book.overflow_count).unwrap(), after.len());
    }
    assert_eq!(overflow.count(1).await.unwrap(), 23);
    assert_eq!(overflow.rest(1).all().await.unwrap(), readers(3..23));
    assert_eq!(
        (numbers(db, 2).await, overflow.count(2).await.unwrap()),
        (Vec::new(), 0)
    );

    let result = overflow.push(9, readers(0..1)).await.unwrap();
    assert_eq!((result.matched, result.pushed), (0, 0));
    let result = overflow.push(9, readers(0..9)).await.unwrap();
    assert_eq!((result.matched, result.pushed, result.opened), (0, 0, 0));
    assert_eq!(
        (numbers(db, 9).await, lengths(db, 9).await),
        (Vec::new(), Vec::new())
    );
    assert_sound(db).await;
}

async fn random_pushes_keep_their_order(db: &Db) {
    let books = filled(db, 0..12).await;
    let overflow = db.overflow::<MoreReaders>();
    for id in 0..12 {
        let mut random = Random::of(u64::try_from(id).unwrap());
        let mut next = 0;
        for _ in 0..8 {
            let count = i32::try_from(random.below(9)).unwrap();
            overflow
                .push(id, readers(next..next + count))
                .await
                .unwrap();
            next += count;
        }
        assert_eq!(numbers(db, id).await, (0..next).collect::<Vec<_>>());
        let inside = books.get(&id).await.unwrap().unwrap();
        let whole = usize::try_from(next).unwrap();
        assert_eq!(inside.readers.len(), whole.min(INSIDE));
        let rest = whole.saturating_sub(INSIDE);
        let count = usize::try_from(inside.overflow_count).unwrap();
        assert_eq!(count, rest.div_ceil(OUTSIDE));
    }
    assert_sound(db).await;
}

async fn random_pushes_and_removals(db: &Db) {
    filled(db, 0..4).await;
    let overflow = db.overflow::<MoreReaders>();
    let mut random = Random::unless_set("ODM_OVERFLOW_SEED", 11);
    let mut expected: [Vec<i32>; 4] = Default::default();
    let mut next = 0;
    for _ in 0..60 {
        let at = random.below(4);
        let id = i32::try_from(at).unwrap();
        if random.one_in(3) {
            let divisor = 2 + i32::try_from(random.below(3)).unwrap();
            let result = overflow
                .update(id, |m| {
                    m.readers
                        .pull_where(|reader| reader.number.mod_(i64::from(divisor), 0))
                })
                .await
                .unwrap();
            assert_eq!(result.matched, 1);
            expected[at].retain(|number| number % divisor != 0);
        } else {
            let count = i32::try_from(random.below(7)).unwrap();
            overflow
                .push(id, readers(next..next + count))
                .await
                .unwrap();
            expected[at].extend(next..next + count);
            next += count;
        }
        // Later elements fill the room that removals have left, so there is no order.
        let mut all = numbers(db, id).await;
        all.sort_unstable();
        assert_eq!(all, expected[at], "seed {}", random.seed());
        assert_eq!(overflow.count(id).await.unwrap(), all.len() as u64);
        let empty = |(_, length): &(i32, usize)| *length == 0;
        assert!(!lengths(db, id).await.iter().any(empty));
    }
    assert_sound(db).await;
}

async fn a_usual_push_is_one_command(db: &Db) {
    filled(db, [1]).await;
    let budget = db.budget().max_commands(1);
    let overflow = budget.db().overflow::<MoreReaders>();
    overflow.push(1, readers(0..3)).await.unwrap();
    assert_eq!(budget.commands().len(), 1);
    db.overflow::<MoreReaders>()
        .push(1, readers(3..4))
        .await
        .unwrap();

    let budget = db.budget().max_commands(2);
    let overflow = budget.db().overflow::<MoreReaders>();
    overflow.push(1, readers(4..6)).await.unwrap();
    assert_eq!(budget.commands().len(), 2);
    assert_eq!(numbers(db, 1).await, [0, 1, 2, 3, 4, 5]);
}

async fn streams_end_at_their_limit(db: &Db) {
    filled(db, [1]).await;
    let overflow = db.overflow::<MoreReaders>();
    overflow.push(1, readers(0..13)).await.unwrap();
    for limit in 1..16 {
        let items = overflow.items(1).limit(limit).all().await.unwrap();
        let expected = i32::try_from(limit).unwrap().min(13);
        assert_eq!(items, readers(0..expected));
        let rest = overflow.rest(1).limit(limit).all().await.unwrap();
        assert_eq!(rest, readers(3..13.min(3 + expected)));
    }
    let mut session = db.start_session().await.unwrap();
    session.start_transaction().await.unwrap();
    let before = overflow.items(1).session(&mut session).all().await.unwrap();
    overflow.push(1, readers(13..20)).await.unwrap();
    let after = overflow.items(1).session(&mut session).all().await.unwrap();
    assert_eq!((before.len(), after.len()), (13, 13));
    let count = overflow.count(1).session(&mut session).await.unwrap();
    session.abort_transaction().await.unwrap();
    assert_eq!((count, overflow.count(1).await.unwrap()), (13, 20));
}

async fn removals_delete_empty_documents(db: &Db) {
    let books = filled(db, [1]).await;
    let overflow = db.overflow::<MoreReaders>();
    overflow.push(1, readers(0..13)).await.unwrap();
    let result = overflow
        .update(1, |m| m.readers.pull_where(|r| r.number.gte(7)))
        .await
        .unwrap();
    assert_eq!((result.matched, result.modified, result.deleted), (1, 2, 2));
    assert_eq!(lengths(db, 1).await, [(1, 4)]);
    assert_eq!(books.get(&1).await.unwrap().unwrap().overflow_count, 1);

    // The document has room again.
    let result = overflow
        .update(1, |m| {
            m.readers.pull(reader(1)) & m.readers.pull_all([reader(4)])
        })
        .await;
    assert!(result.is_err(), "one update can't change a list twice");
    overflow
        .update(1, |m| m.readers.pull(reader(1)))
        .await
        .unwrap();
    let result = overflow.push(1, readers([20])).await.unwrap();
    assert_eq!((result.pushed, result.overflowed), (1, 0));
    assert_eq!(numbers(db, 1).await, [0, 2, 20, 3, 4, 5, 6]);
    let all = overflow.update(1, |m| m.readers.pull_where(|r| r.number.gte(0)));
    let result = all.await.unwrap();
    assert_eq!((result.modified, result.deleted), (2, 1));
    assert_eq!(overflow.count(1).await.unwrap(), 0);

    let missing = overflow
        .update(9, |m| m.readers.pull(reader(1)))
        .await
        .unwrap();
    assert_eq!(
        (missing.matched, missing.modified, missing.deleted),
        (0, 0, 0)
    );
    assert_sound(db).await;
}

async fn elements_are_changed_wherever_they_are(db: &Db) {
    filled(db, [1, 2]).await;
    let overflow = db.overflow::<MoreReaders>();
    for id in [1, 2] {
        overflow.push(id, readers(0..9)).await.unwrap();
    }
    let result = overflow
        .update(1, |m| {
            m.readers
                .update_where(|r| r.number.mod_(2, 0), |r| r.mark.set(true))
        })
        .await
        .unwrap();
    assert_eq!((result.matched, result.modified, result.deleted), (1, 3, 0));
    let marked = overflow.items(1).all().await.unwrap();
    assert!(
        marked.iter().all(|r| r.mark == (r.number % 2 == 0)),
        "{marked:?}"
    );
    let result = overflow
        .update(1, |m| m.readers.all_elements().number.inc(100))
        .await;
    assert_eq!(result.unwrap().modified, 3);
    assert_eq!(numbers(db, 1).await, (100..109).collect::<Vec<_>>());
    assert_eq!(overflow.items(2).all().await.unwrap(), readers(0..9));
}

async fn other_changes_are_refused(db: &Db) {
    filled(db, [1]).await;
    let overflow = db.overflow::<MoreReaders>();
    overflow.push(1, readers(0..5)).await.unwrap();
    let refused = [
        overflow.update(1, |m| m.readers.push(reader(7))).await,
        overflow
            .update(1, |m| m.readers.add_to_set(reader(7)))
            .await,
        overflow.update(1, |m| m.readers.set(readers(0..1))).await,
        overflow.update(1, |m| m.readers.pop_first()).await,
        overflow.update(1, |m| m.number.inc(1)).await,
        overflow
            .update(1, |m| m.readers.pull(reader(7)) & m.number.inc(1))
            .await,
        overflow
            .update(1, |_| {
                Update::raw(doc! {"$pull": {"readers": {"number": 1}}})
            })
            .await,
        overflow
            .update(1, |_| Update::pipeline([doc! {"$set": {"readers": []}}]))
            .await,
    ];
    for refused in refused {
        let error = refused.unwrap_err();
        assert_eq!(
            (error.model(), error.path()),
            (Some("MoreReaders"), Some("readers"))
        );
        assert!(error.to_string().contains("list"), "{error}");
    }
    assert_eq!(overflow.items(1).all().await.unwrap(), readers(0..5));
}

async fn sync_creates_a_unique_index(db: &Db) {
    filled(db, [1]).await;
    let indexes = db.collection::<MoreReaders>().list_indexes().await.unwrap();
    let has = |index: &BsonDocument| {
        index.get_document("key").unwrap() == &doc! {"book": 1, "number": 1}
            && index.get_bool("unique").unwrap_or_default()
    };
    assert!(indexes.iter().any(has), "{indexes:?}");
    let plan = db.sync(models![Book, MoreReaders]).plan().await.unwrap();
    assert!(plan.is_empty(), "{plan}");
}

async fn deletes_take_the_overflow_along(db: &Db) {
    let books = filled(db, [1, 2]).await;
    let overflow = db.overflow::<MoreReaders>();
    for id in [1, 2] {
        overflow.push(id, readers(0..9)).await.unwrap();
    }
    assert!(books.delete_by_id(&1).await.is_err());
    let result = books.delete_by_id(&1).with_dependents().await.unwrap();
    assert_eq!((result.deleted, result.dependents[0].documents), (1, 2));
    assert_eq!(overflow.count(1).await.unwrap(), 0);
    assert_eq!(numbers(db, 2).await, (0..9).collect::<Vec<_>>());
    assert_sound(db).await;
}

async fn chosen_names_are_used(db: &Db) {
    let db = db.with_collection_names(|name| format!("acme_{name}"));
    filled(&db, [1]).await;
    let overflow = db.overflow::<MoreReaders>();
    overflow.push(1, readers(0..9)).await.unwrap();
    assert_eq!(overflow.count(1).await.unwrap(), 9);
    assert_eq!(numbers(&db, 1).await, (0..9).collect::<Vec<_>>());
    let result = overflow.update(1, |m| m.readers.pull_where(|r| r.number.gte(3)));
    assert_eq!(result.await.unwrap().deleted, 2);
    assert_sound(&db).await;
}
