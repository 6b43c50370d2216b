//! The bounds of embedded lists and of lists of references: `$push` and `$addToSet` keep them without a validator.

use futures::future::join_all;
use odm::bson::{Document as BsonDocument, doc};
use odm::collection::{Withheld, WithheldReason};
use odm::prelude::*;
use odm::query::{fields, raw};

use super::relations::watched;
use crate::case::cases;

cases![
    concurrent_pushes_stop_at_the_bound,
    a_full_list_is_reported_by_one_more_command,
    a_document_that_does_not_match_is_not_called_full,
    several_values_need_room_for_all,
    every_number_of_values_is_decided_by_the_room,
    a_value_that_is_there_needs_no_room,
    special_values_are_compared_literally,
    a_slice_within_the_bound_needs_no_room,
    lists_in_elements_are_bounded_too,
    references_are_bounded_too,
    one_update_can_have_several_guards,
    guards_leave_the_positional_operator_alone,
    many_documents_are_counted,
    bulk_writes_carry_the_guards,
    a_renamed_list_keeps_the_bound_of_its_new_name,
    longer_values_are_refused_before_they_are_sent,
    raw_updates_have_no_guards,
    a_guarded_update_uses_the_index,
    versions_are_not_counted_by_withheld_updates,
];

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "patrons")]
pub(super) struct Patron {
    #[serde(rename = "_id")]
    pub(super) id: String,
    #[odm(unique)]
    pub(super) name: String,
    #[odm(embed(few, max = 10))]
    pub(super) addresses: Vec<Address>,
    #[odm(items(max = 3))]
    pub(super) tags: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub(super) struct Address {
    street: String,
    city: String,
    #[odm(embed(few, max = 2))]
    notes: Vec<Note>,
    #[odm(items(max = 2))]
    marks: Vec<i32>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub(super) struct Note {
    by: String,
}

pub(super) fn address(street: &str, notes: usize) -> Address {
    Address {
        street: street.to_owned(),
        city: "Faketon".to_owned(),
        notes: vec![note("joe"); notes],
        marks: Vec::new(),
    }
}

fn note(by: &str) -> Note {
    Note { by: by.to_owned() }
}

pub(super) fn patron(id: &str, addresses: usize) -> Patron {
    Patron {
        id: id.to_owned(),
        name: format!("{id} Bookreader"),
        addresses: vec![address("123 Fake Street", 0); addresses],
        tags: Vec::new(),
    }
}

pub(super) async fn patrons<const N: usize>(db: &Db, all: [Patron; N]) -> Collection<Patron> {
    let patrons = db.collection::<Patron>();
    patrons.insert_many(all).await.unwrap();
    patrons
}

pub(super) fn full(path: &str, max: u32, documents: u64) -> (String, WithheldReason, u64) {
    (path.to_owned(), WithheldReason::Full { max }, documents)
}

pub(super) fn shown(withheld: &[Withheld]) -> Vec<(String, WithheldReason, u64)> {
    let shown = |it: &Withheld| (it.path.clone(), it.reason, it.documents);
    withheld.iter().map(shown).collect()
}

async fn concurrent_pushes_stop_at_the_bound(db: &Db) {
    let patrons = patrons(db, [patron("joe", 0)]).await;
    let push = |number: usize| {
        let patrons = patrons.clone();
        async move {
            let new = address(&format!("{number} Fake Street"), 0);
            let result = patrons
                .update_one(|p| p.id.eq("joe"), |p| p.addresses.push(new))
                .await
                .unwrap();
            (result.modified, result.is_full())
        }
    };
    let results = join_all((0..20).map(push)).await;
    let landed = results.iter().filter(|it| **it == (1, false)).count();
    let withheld = results.iter().filter(|it| **it == (0, true)).count();
    assert_eq!((landed, withheld), (10, 10));
    let joe = patrons.get("joe").await.unwrap().unwrap();
    assert_eq!(joe.addresses.len(), 10);
}

async fn a_full_list_is_reported_by_one_more_command(db: &Db) {
    patrons(db, [patron("joe", 9)]).await;
    let (db, sent) = watched(db);
    let patrons = db.collection::<Patron>();
    let push = || {
        patrons.update_one(
            |p| p.id.eq("joe"),
            |p| p.addresses.push(address("1 Some Other Street", 0)),
        )
    };
    assert_eq!(
        push().command().unwrap().get_array("updates").unwrap()[0]
            .as_document()
            .unwrap()
            .get_document("q")
            .unwrap(),
        &doc! {"_id": "joe", "addresses.9": {"$exists": false}}
    );
    let done = push().await.unwrap();
    assert_eq!((done.matched, done.modified), (1, 1));
    assert_eq!(done.withheld, []);
    assert_eq!(sent.lock().unwrap().len(), 1);
    let full_now = push().await.unwrap();
    assert_eq!((full_now.matched, full_now.modified), (0, 0));
    assert!(full_now.is_full() && !full_now.is_duplicate());
    assert_eq!(shown(&full_now.withheld), [full("addresses", 10, 1)]);
    let sent = sent.lock().unwrap();
    assert_eq!(sent.len(), 3);
    assert_eq!(
        sent[2].get_document("filter").unwrap(),
        &doc! {"_id": "joe", "addresses.9": {"$exists": true}}
    );
}

async fn a_document_that_does_not_match_is_not_called_full(db: &Db) {
    let patrons = patrons(db, [patron("joe", 10)]).await;
    let result = patrons
        .update_one(
            |p| p.id.eq("ann"),
            |p| p.addresses.push(address("2 Fake Street", 0)),
        )
        .await
        .unwrap();
    assert_eq!((result.matched, result.is_full()), (0, false));
}

async fn several_values_need_room_for_all(db: &Db) {
    let patrons = patrons(db, [patron("joe", 0)]).await;
    let push = |tags: Vec<&'static str>| {
        patrons.update_one(|p| p.id.eq("joe"), |p| p.tags.push_each(tags))
    };
    assert_eq!(push(vec!["a", "b"]).await.unwrap().modified, 1);
    assert!(push(vec!["c", "d"]).await.unwrap().is_full());
    assert_eq!(push(vec!["c"]).await.unwrap().modified, 1);
    let error = push(vec!["d"; 4]).await.unwrap_err();
    assert!(error.is_usage(), "{error}");
    assert_eq!(
        (error.model(), error.path()),
        (Some("Patron"), Some("tags"))
    );
    let sorted = patrons
        .update_one(
            |p| p.id.eq("joe"),
            |p| {
                p.tags
                    .push_with(["0"], |push| push.position(0).sort(|tag| tag.asc()))
            },
        )
        .await
        .unwrap();
    assert!(sorted.is_full());
}

/// Every length of a list of at most 3 (and one that is too long already), with every number of new values.
async fn every_number_of_values_is_decided_by_the_room(db: &Db) {
    let tags = |from: usize, count: usize| -> Vec<String> {
        (from..from + count).map(|it| it.to_string()).collect()
    };
    let patrons = patrons(db, [patron("joe", 0)]).await;
    for length in 0..=4 {
        for (from, count) in (0..=4).flat_map(|from| (0..=3).map(move |count| (from, count))) {
            let stored = doc! {"$set": {"tags": tags(0, length)}};
            let reset = || patrons.update_one(|p| p.id.eq("joe"), |_| raw(stored.clone()));
            let new = || tags(from, count);
            let there = from + count <= length;
            let fits = length + count <= 3;

            reset().await.unwrap();
            let pushed = patrons
                .update_one(|p| p.id.eq("joe"), |p| p.tags.push_each(new()))
                .await
                .unwrap();
            let expected = count == 0 || fits;
            let case = format!("{length} stored, {count} from {from}");
            assert_eq!(pushed.matched == 1, expected, "push: {case}");
            assert_eq!(pushed.is_full(), !expected, "push: {case}");

            reset().await.unwrap();
            let added = patrons
                .update_one(|p| p.id.eq("joe"), |p| p.tags.add_to_set_each(new()))
                .await
                .unwrap();
            let expected = expected || there;
            assert_eq!(added.matched == 1, expected, "add_to_set: {case}");
            assert_eq!(added.is_full(), !expected, "add_to_set: {case}");
        }
    }
}

async fn a_value_that_is_there_needs_no_room(db: &Db) {
    let mut joe = patron("joe", 1);
    joe.tags = ["a", "b", "c"].map(str::to_owned).to_vec();
    joe.addresses[0].marks = vec![1, 2];
    let patrons = patrons(db, [joe]).await;
    let add = |tags: Vec<&'static str>| {
        patrons.update_one(|p| p.id.eq("joe"), |p| p.tags.add_to_set_each(tags))
    };
    let there = add(vec!["b", "a"]).await.unwrap();
    assert_eq!((there.matched, there.modified), (1, 0));
    assert_eq!(there.withheld, []);
    assert!(add(vec!["d"]).await.unwrap().is_full());
    // One of two values is there: the update counts both as new.
    assert!(add(vec!["a", "d"]).await.unwrap().is_full());
    let mark = |mark: i32| {
        patrons.update_one(
            |p| p.id.eq("joe"),
            |p| {
                p.addresses
                    .update_where(|a| a.city.eq("Faketon"), |a| a.marks.add_to_set(mark))
            },
        )
    };
    let there = mark(2).await.unwrap();
    assert_eq!((there.matched, there.modified), (1, 0));
    let withheld = mark(3).await.unwrap();
    assert_eq!(shown(&withheld.withheld), [full("addresses.marks", 2, 1)]);
}

async fn special_values_are_compared_literally(db: &Db) {
    #[derive(Debug, Serialize, Deserialize, Document)]
    #[odm(collection = "special")]
    struct Special {
        #[serde(rename = "_id")]
        id: i32,
        #[odm(embed(few, max = 2))]
        notes: Vec<Dollar>,
        #[odm(items(max = 2))]
        pairs: Vec<Vec<i32>>,
    }
    #[derive(Debug, Clone, Serialize, Deserialize, Embedded)]
    struct Dollar {
        #[serde(rename = "where")]
        place: String,
    }
    let dollar = |place: &str| Dollar {
        place: place.to_owned(),
    };
    let specials = db.collection::<Special>();
    let one = Special {
        id: 1,
        notes: vec![dollar("$where"), dollar("^x")],
        pairs: vec![vec![1, 2], vec![]],
    };
    specials.insert_one(&one).await.unwrap();
    for (place, is_full) in [("$where", false), ("^x", false), ("x", true)] {
        let result = specials
            .update_one(|s| s.id.eq(1), |s| s.notes.add_to_set(dollar(place)))
            .await
            .unwrap();
        assert_eq!(result.is_full(), is_full, "{place}");
    }
    for (pair, is_full) in [(vec![1, 2], false), (vec![], false), (vec![1], true)] {
        let result = specials
            .update_one(|s| s.id.eq(1), |s| s.pairs.add_to_set(&pair))
            .await
            .unwrap();
        assert_eq!(result.is_full(), is_full, "{pair:?}");
    }
}

async fn a_slice_within_the_bound_needs_no_room(db: &Db) {
    let patrons = patrons(db, [patron("joe", 0)]).await;
    for tag in ["a", "b", "c", "d"] {
        let update = patrons.update_one(
            |p| p.id.eq("joe"),
            |p| p.tags.push_with([tag], |push| push.slice(-3)),
        );
        let result = update.await.unwrap();
        assert_eq!(result.modified, 1);
    }
    let joe = patrons.get("joe").await.unwrap().unwrap();
    assert_eq!(joe.tags, ["b", "c", "d"]);
    let wider = patrons
        .update_one(
            |p| p.id.eq("joe"),
            |p| p.tags.push_with(["e"], |push| push.slice(-4)),
        )
        .await
        .unwrap();
    assert!(wider.is_full());
}

async fn lists_in_elements_are_bounded_too(db: &Db) {
    let mut joe = patron("joe", 0);
    joe.addresses = vec![address("full", 2), address("free", 0)];
    let patrons = patrons(db, [joe]).await;
    let by_position = |position| {
        patrons.update_one(
            |p| p.id.eq("joe"),
            |p| p.addresses.at(position).notes.push(note("ann")),
        )
    };
    assert!(by_position(0).await.unwrap().is_full());
    assert_eq!(by_position(1).await.unwrap().modified, 1);
    let everywhere = patrons
        .update_one(
            |p| p.id.eq("joe"),
            |p| p.addresses.all_elements().notes.push(note("ann")),
        )
        .await
        .unwrap();
    assert_eq!(shown(&everywhere.withheld), [full("addresses.notes", 2, 1)]);
    let filtered = |street: &'static str| {
        patrons.update_one(
            |p| p.id.eq("joe"),
            |p| {
                p.addresses.filtered("here").notes.push(note("ann"))
                    & p.addresses.array_filter("here", |a| a.street.eq(street))
            },
        )
    };
    assert!(filtered("full").await.unwrap().is_full());
    assert_eq!(filtered("free").await.unwrap().modified, 1);
    assert!(filtered("free").await.unwrap().is_full());
    let nowhere = filtered("elsewhere").await.unwrap();
    assert_eq!((nowhere.matched, nowhere.modified), (1, 0));
    let either = patrons
        .update_one(
            |p| p.id.eq("joe"),
            |p| {
                p.addresses.update_where(
                    |a| a.street.eq("x") | a.street.eq("free"),
                    |a| a.notes.push(note("ann")),
                )
            },
        )
        .await
        .unwrap();
    assert!(either.is_full());
    let error = patrons
        .update_one(
            |p| p.addresses.any().street.eq("free"),
            |p| p.addresses.positional().notes.push(note("ann")),
        )
        .await
        .unwrap_err();
    assert!(
        error.is_usage() && error.to_string().contains("update_where"),
        "{error}"
    );
}

async fn references_are_bounded_too(db: &Db) {
    #[derive(Debug, Serialize, Deserialize, Document)]
    #[odm(collection = "products")]
    struct Product {
        #[serde(rename = "_id")]
        id: i32,
        #[odm(references(many, max = 2))]
        parts: Vec<Ref<Patron>>,
    }
    let products = db.collection::<Product>();
    let one = Product {
        id: 1,
        parts: Vec::new(),
    };
    products.insert_one(&one).await.unwrap();
    let add = |id: &'static str| {
        products.update_one(
            |p| p.id.eq(1),
            |p| p.parts.add_to_set(Ref::<Patron>::from(id)),
        )
    };
    assert_eq!(add("a").await.unwrap().modified, 1);
    assert_eq!(add("b").await.unwrap().modified, 1);
    assert_eq!(add("a").await.unwrap().matched, 1);
    assert!(add("c").await.unwrap().is_full());
}

async fn one_update_can_have_several_guards(db: &Db) {
    let mut joe = patron("joe", 10);
    joe.tags = vec!["a".to_owned(); 3];
    let patrons = patrons(db, [joe]).await;
    let push = || {
        patrons.update_one(
            |p| p.id.eq("joe"),
            |p| p.tags.push("b") & p.addresses.push(address("x", 0)),
        )
    };
    let both = push().await.unwrap();
    assert_eq!(
        shown(&both.withheld),
        [full("tags", 3, 1), full("addresses", 10, 1)]
    );
    patrons
        .update_one(|p| p.id.eq("joe"), |p| p.addresses.pop_last())
        .await
        .unwrap();
    let one = push().await.unwrap();
    assert_eq!(shown(&one.withheld), [full("tags", 3, 1)]);
    let joe = patrons.get("joe").await.unwrap().unwrap();
    assert_eq!((joe.tags.len(), joe.addresses.len()), (3, 9));
}

async fn guards_leave_the_positional_operator_alone(db: &Db) {
    let mut joe = patron("joe", 0);
    joe.addresses = vec![address("a", 0), address("b", 0), address("c", 0)];
    joe.tags = vec!["x".to_owned(), "y".to_owned(), "z".to_owned()];
    let patrons = patrons(db, [joe]).await;
    let result = patrons
        .update_one(
            |p| p.addresses.any().street.eq("b"),
            |p| p.addresses.positional().city.set("here") & p.tags.add_to_set("z"),
        )
        .await
        .unwrap();
    assert_eq!(result.modified, 1);
    let joe = patrons.get("joe").await.unwrap().unwrap();
    let cities: Vec<_> = joe.addresses.iter().map(|it| it.city.as_str()).collect();
    assert_eq!(cities, ["Faketon", "here", "Faketon"]);
}

async fn many_documents_are_counted(db: &Db) {
    let patrons = patrons(
        db,
        [
            patron("a", 10),
            patron("b", 10),
            patron("c", 9),
            patron("d", 0),
        ],
    )
    .await;
    let result = patrons
        .update_many(
            |p| p.id.ne("d"),
            |p| p.addresses.push(address("new", 0)) & p.tags.push("moved"),
        )
        .await
        .unwrap();
    assert_eq!((result.matched, result.modified), (1, 1));
    assert_eq!(shown(&result.withheld), [full("addresses", 10, 2)]);
    let error = patrons
        .update_many(|_| Filter::all(), |p| p.tags.push("x"))
        .await
        .unwrap_err();
    assert!(error.to_string().contains("update_all"), "{error}");
    let all = patrons
        .update_all(|p| p.addresses.push(address("new", 0)))
        .await
        .unwrap();
    assert_eq!(all.matched, 1);
    assert_eq!(shown(&all.withheld), [full("addresses", 10, 3)]);
    let limit = patrons
        .update_many(
            |_| raw(doc! {"$expr": {"$eq": ["$_id", "$$wanted"]}}),
            |p| p.addresses.push(address("new", 0)),
        )
        .let_vars(doc! {"wanted": "a"})
        .await
        .unwrap();
    assert_eq!(shown(&limit.withheld), [full("addresses", 10, 1)]);
}

async fn bulk_writes_carry_the_guards(db: &Db) {
    let patrons = patrons(db, [patron("joe", 9)]).await;
    let result = patrons
        .bulk_write(|w| {
            (0..3).map(move |_| {
                w.update_one(|p| p.id.eq("joe"), |p| p.addresses.push(address("new", 0)))
            })
        })
        .await
        .unwrap();
    assert_eq!((result.matched, result.modified), (1, 1));
}

async fn a_renamed_list_keeps_the_bound_of_its_new_name(db: &Db) {
    #[derive(Debug, Serialize, Deserialize, Document)]
    #[odm(collection = "drawers")]
    struct Drawer {
        #[serde(rename = "_id")]
        id: i32,
        #[serde(default)]
        any: Vec<i32>,
        #[serde(default)]
        #[odm(items(max = 9))]
        many: Vec<i32>,
        #[serde(default)]
        #[odm(items(max = 2))]
        few: Vec<i32>,
    }
    let drawers = db.collection::<Drawer>();
    for (id, count) in [(1, 3), (2, 2)] {
        let many = vec![7; count];
        let any = many.clone();
        let drawer = Drawer {
            id,
            any,
            many,
            few: vec![],
        };
        drawers.insert_one(drawer).await.unwrap();
    }
    for (id, modified) in [(1, 0), (2, 1)] {
        let moved = drawers
            .update_one(|d| d.id.eq(id), |d| d.many.rename(&d.few))
            .await
            .unwrap();
        assert_eq!((moved.modified, moved.is_full()), (modified, modified == 0));
    }
    let moved = drawers
        .update_one(|d| d.id.eq(1), |d| d.any.rename(&d.few))
        .await
        .unwrap();
    assert_eq!(shown(&moved.withheld), [full("few", 2, 1)]);
    let moved = drawers
        .update_one(|d| d.id.eq(1), |d| d.many.rename(&d.any))
        .await
        .unwrap();
    assert_eq!(moved.modified, 1);
    let moved = drawers
        .update_one(|d| d.id.eq(2), |d| d.few.rename(&d.many))
        .await
        .unwrap();
    assert_eq!(moved.modified, 1);
}

async fn longer_values_are_refused_before_they_are_sent(db: &Db) {
    patrons(db, [patron("joe", 0)]).await;
    let (db, sent) = watched(db);
    let patrons = db.collection::<Patron>();
    let error = patrons
        .update_one(
            |p| p.id.eq("joe"),
            |p| p.addresses.set(vec![address("x", 0); 11]),
        )
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "Patron.addresses: the new value has 11 elements, and the declaration allows at most 10"
    );
    let error = patrons
        .update_one(|p| p.id.eq("joe"), |p| p.addresses.push(address("x", 3)))
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "Patron.addresses.notes: the new value has 3 elements, and the declaration allows at most 2"
    );
    let error = patrons
        .update_one(|p| p.id.eq("joe"), |p| p.tags.at(3).set("x"))
        .await
        .unwrap_err();
    assert!(error.is_usage(), "{error}");
    assert!(sent.lock().unwrap().is_empty());
}

async fn raw_updates_have_no_guards(db: &Db) {
    let patrons = patrons(db, [patron("joe", 10)]).await;
    let note: BsonDocument = doc! {"street": "x", "city": "y", "notes": [], "marks": []};
    let result = patrons
        .update_one(
            |p| p.id.eq("joe"),
            |_| raw(doc! {"$push": {"addresses": note}}),
        )
        .await
        .unwrap();
    assert_eq!(result.modified, 1);
}

async fn a_guarded_update_uses_the_index(db: &Db) {
    let patrons = patrons(db, [patron("joe", 10), patron("ann", 0)]).await;
    let explain = patrons
        .update_one(|p| p.id.eq("joe"), |p| p.addresses.push(address("new", 0)))
        .explain()
        .await
        .unwrap();
    assert!(explain.documents_examined <= 1, "{explain}");
    assert!(!explain.stages.iter().any(|stage| stage == "COLLSCAN"));
    let filter = fields::<Patron>().id.eq("joe").to_document().unwrap();
    assert_eq!(filter, doc! {"_id": "joe"});
}

async fn versions_are_not_counted_by_withheld_updates(db: &Db) {
    #[derive(Debug, Serialize, Deserialize, Document)]
    #[odm(collection = "counted")]
    struct Counted {
        #[serde(rename = "_id")]
        id: i32,
        #[odm(items(max = 1))]
        tags: Vec<String>,
        #[odm(version)]
        version: i64,
    }
    let counted = db.collection::<Counted>();
    let one = Counted {
        id: 1,
        tags: Vec::new(),
        version: 0,
    };
    counted.insert_one(&one).await.unwrap();
    for modified in [1, 0] {
        let result = counted
            .update_one(|c| c.id.eq(1), |c| c.tags.push("x"))
            .await
            .unwrap();
        assert_eq!(result.modified, modified);
    }
    assert_eq!(counted.get(&1).await.unwrap().unwrap().version, 1);
}
