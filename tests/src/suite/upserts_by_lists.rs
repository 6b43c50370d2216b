//! Upserts of which MongoDB would make a document that the model can't read: the filter names an element of a list, whose
//! equality MongoDB copies, or nothing sets the `_id`.

use odm::bson::doc;
use odm::collection::ReturnDocument;
use odm::prelude::*;

use crate::case::cases;

cases![
    an_upsert_by_an_element_inserts_a_document_that_can_be_read,
    an_upsert_by_an_element_finds_what_a_find_finds,
    an_upsert_by_parts_of_the_id_is_refused,
    an_upsert_without_an_id_is_refused,
];

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, Document)]
#[odm(collection = "notes")]
struct Note {
    #[serde(rename = "_id")]
    id: i32,
    #[serde(default)]
    n: i32,
    #[serde(default)]
    #[odm(items(max = 9))]
    tags: Vec<String>,
    #[serde(default)]
    #[odm(items(max = 9))]
    grid: Vec<Vec<i32>>,
    #[serde(default)]
    #[odm(embed(few, max = 9))]
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, Embedded)]
struct Part {
    k: i32,
    note: Option<String>,
    #[odm(items(max = 9))]
    marks: Vec<i32>,
}

type Fields<M> = <M as Embedded>::Fields<M>;
type Condition = fn(Fields<Note>) -> Filter<Note>;

/// Conditions of which MongoDB would copy a single value in place of a list.
fn conditions() -> [Condition; 20] {
    [
        |n| n.tags.has("a"),
        |n| n.tags.any().eq("a"),
        |n| n.tags.all(["a"]),
        |n| n.tags.all(["a", "b"]),
        |n| n.tags.any().in_(["a".to_owned()]),
        |n| n.tags.at(0).eq("a"),
        |n| n.grid.has(vec![1, 2]),
        |n| n.grid.all([vec![1, 2]]),
        |n| n.parts.any().k.eq(1),
        |n| n.parts.any().k.in_([1]),
        |n| n.parts.any().note.eq(None),
        |n| n.parts.any().marks.has(3),
        |n| n.parts.any().marks.all([3, 4]),
        |n| n.parts.at(0).k.eq(1),
        |n| n.parts.any().k.eq(1) & n.parts.any().k.eq(2),
        |n| n.parts.any().k.eq(1) & n.tags.has("a") & n.tags.has("b"),
        |n| n.n.eq(0) & n.tags.has("a"),
        |n| n.tags.has("a") & n.tags.size(2),
        |n| {
            n.parts.has(&Part {
                k: 1,
                note: None,
                marks: vec![3],
            })
        },
        |n| n.tags.has("a") | n.tags.has("b"),
    ]
}

async fn an_upsert_by_an_element_inserts_a_document_that_can_be_read(db: &Db) {
    let notes = db.collection::<Note>();
    for (id, condition) in (0..).zip(conditions()) {
        // Each verb in turn.
        let by = |n: Fields<Note>| n.id.eq(id) & condition(n);
        match id % 3 {
            0 => {
                let result = notes.update_one(by, |n| n.n.set(7)).upsert(true).await;
                assert_eq!(result.unwrap().upserted_id, Some(id), "{id}");
            }
            1 => {
                let found = notes
                    .find_one_and_update(by, |n| n.n.set(7))
                    .upsert(true)
                    .return_document(ReturnDocument::After)
                    .await
                    .unwrap();
                assert!(found.is_some(), "{id}");
            }
            _ => {
                let result = notes
                    .bulk_write(|w| [w.update_one(by, |n| n.n.set(7)).upsert(true)])
                    .await;
                assert_eq!(result.unwrap().upserted_ids.len(), 1, "{id}");
            }
        }
        let stored = notes.get(&id).await.unwrap().unwrap();
        let expected = Note {
            id,
            n: 7,
            ..Note::default()
        };
        assert_eq!(stored, expected, "condition {id}");
    }
    // The whole list is copied, and an element into a list that the update makes.
    notes
        .update_one(
            |n| n.id.eq(100) & n.tags.eq(vec!["a".to_owned()]),
            |n| n.n.set(1),
        )
        .upsert(true)
        .await
        .unwrap();
    assert_eq!(notes.get(&100).await.unwrap().unwrap().tags, ["a"]);
    notes
        .update_one(
            |n| n.id.eq(101) & n.tags.has("a"),
            |n| n.tags.push_with(["a"], |push| push.slice(9)),
        )
        .upsert(true)
        .await
        .unwrap();
    assert_eq!(notes.get(&101).await.unwrap().unwrap().tags, ["a"]);
}

async fn an_upsert_by_an_element_finds_what_a_find_finds(db: &Db) {
    let notes = db.collection::<Note>();
    let text = |list: &[&str]| list.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
    let part = |k, note: Option<&str>, marks: &[i32]| Part {
        k,
        note: note.map(str::to_owned),
        marks: marks.to_vec(),
    };
    let all = [
        (vec![], vec![], vec![]),
        (text(&["a"]), vec![vec![1, 2]], vec![part(1, None, &[3])]),
        (
            text(&["b", "a"]),
            vec![vec![1], vec![2]],
            vec![part(2, Some("x"), &[3, 4])],
        ),
        (
            text(&["b"]),
            vec![vec![]],
            vec![part(2, None, &[]), part(1, Some("y"), &[4])],
        ),
    ];
    for (id, (tags, grid, parts)) in (0..).zip(all) {
        notes
            .insert_one(&Note {
                id,
                n: 0,
                tags,
                grid,
                parts,
            })
            .await
            .unwrap();
    }
    let old = doc! {"insert": "notes", "documents": [{"_id": 4, "n": 0}, {"_id": 5, "n": 0, "parts": [{"k": 1, "marks": []}]}]};
    db.run_command(old).await.unwrap();
    for (number, condition) in (0..).zip(conditions()) {
        for id in 0..6 {
            let found = notes
                .find(|n| n.id.eq(id) & condition(n))
                .count()
                .await
                .unwrap();
            let by = |n: Fields<Note>| n.id.eq(id) & n.n.gte(0) & condition(n);
            let update = notes.update_one(by, |n| n.n.inc(0)).upsert(true).await;
            match update {
                Ok(result) => assert_eq!((result.matched, found), (1, 1), "{number} of {id}"),
                // It does not match, so MongoDB inserts a second document with the id.
                Err(error) => {
                    assert!(error.is_duplicate_key(), "{number} of {id}: {error}");
                    assert_eq!(found, 0, "{number} of {id}");
                }
            }
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Key {
    tenant: i32,
    number: i32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "entries")]
struct Entry {
    #[serde(rename = "_id")]
    id: Key,
    n: i32,
}

async fn an_upsert_by_parts_of_the_id_is_refused(db: &Db) {
    let entries = db.collection::<Entry>();
    let by = |e: Fields<Entry>| e.id.tenant.eq(1) & e.id.number.eq(2);
    let error = entries
        .update_one(by, |e| e.n.set(1))
        .upsert(true)
        .await
        .unwrap_err();
    assert!(error.to_string().contains("whole `_id`"), "{error}");
    assert_eq!(error.model(), Some("Entry"));
    let whole = Key {
        tenant: 1,
        number: 2,
    };
    let set = entries.update_one(|e| e.id.eq(&whole), |e| e.n.set(1));
    set.upsert(true).await.unwrap();
    let result = entries.update_one(by, |e| e.n.set(2)).await.unwrap();
    assert_eq!(result.matched, 1);
}

async fn an_upsert_without_an_id_is_refused(db: &Db) {
    let notes = db.collection::<Note>();
    let refused: [Condition; 5] = [
        |n| n.n.eq(7),
        |n| n.id.gt(7),
        |n| n.id.in_([7, 8]),
        |n| n.id.eq(7) | n.id.eq(8),
        |n| !n.id.eq(7),
    ];
    for condition in refused {
        let upsert = || notes.update_one(condition, |n| n.n.set(1)).upsert(true);
        let error = upsert().await.unwrap_err();
        assert!(error.is_usage() && error.path() == Some("_id"), "{error}");
        let error = notes
            .find_one_and_update(condition, |n| n.n.set(1))
            .upsert(true)
            .await
            .unwrap_err();
        assert!(error.is_usage(), "{error}");
        let error = notes
            .bulk_write(|w| vec![w.update_one(condition, |n| n.n.set(1)).upsert(true)])
            .await
            .unwrap_err();
        assert!(error.is_usage(), "{error}");
        notes.update_one(condition, |n| n.n.set(1)).await.unwrap();
    }
    assert_eq!(notes.find_all().count().await.unwrap(), 0);
    let allowed: [Condition; 4] = [
        |n| n.id.eq(1),
        |n| n.n.eq(7) & n.id.eq(2),
        |n| n.id.in_([3]),
        |n| n.id.eq(4) & n.id.gt(3),
    ];
    for condition in allowed {
        let upsert = notes.update_one(condition, |n| n.n.set(1)).upsert(true);
        assert!(upsert.await.unwrap().upserted_id.is_some());
    }
    let by_update = notes.update_one(|n| n.n.eq(9), |n| n.id.set_on_insert(5));
    assert!(by_update.upsert(true).await.unwrap().upserted_id.is_some());
    let ids: Vec<i32> = notes
        .find_all()
        .sort(|n| n.id.asc())
        .all()
        .await
        .unwrap()
        .iter()
        .map(|note| note.id)
        .collect();
    assert_eq!(ids, [1, 2, 3, 4, 5]);
}
