//! The error of a write of one document is the same, whatever else the call checks and writes.

use odm::ValidationFailure;
use odm::prelude::*;

use crate::case::cases;

cases![errors_do_not_depend_on_the_words_of_a_write];

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[odm(
    collection = "owners",
    has_many(items: Item, by = owner, on_delete = cascade)
)]
struct Owner {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
    #[odm(count_of(items))]
    item_count: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "items")]
struct Item {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index)]
    owner: Ref<Owner>,
    #[odm(copy_of(owner.name))]
    owner_name: String,
    #[odm(unique)]
    sku: String,
    #[odm(range(min = 0))]
    stock: i32,
}

fn item(id: i32, owner: i32, sku: &str, stock: i32) -> Item {
    Item {
        id,
        owner: Ref::from(owner),
        owner_name: format!("owner {owner}"),
        sku: sku.to_owned(),
        stock,
    }
}

/// What a program reads of an error. The message may end with what else the call says.
#[derive(Debug, PartialEq)]
struct Seen {
    is_bulk: bool,
    is_validation_failure: bool,
    rules: Vec<String>,
    duplicate: Option<String>,
    model: Option<String>,
    path: Option<String>,
    text: String,
}

fn seen(error: &odm::Error) -> Seen {
    // MongoDB names the command in some messages, and calls with a word send other commands.
    let text = error.to_string();
    let violations = error
        .validation_failure()
        .map(ValidationFailure::violations);
    Seen {
        is_bulk: error.is_bulk(),
        is_validation_failure: error.is_validation_failure(),
        rules: violations
            .into_iter()
            .flatten()
            .map(ToString::to_string)
            .collect(),
        duplicate: error.duplicate_index().map(ToOwned::to_owned),
        model: error.model().map(ToOwned::to_owned),
        path: error.path().map(ToOwned::to_owned),
        text: text.replace(
            "Plan executor error during findAndModify :: caused by :: ",
            "",
        ),
    }
}

/// The errors of a write with each word, the plain one first.
macro_rules! worded {
    ($write:expr) => {
        [
            ("leave_stale", $write.leave_stale().await.map(drop)),
            (
                "checked",
                $write.leave_stale().check_references().await.map(drop),
            ),
            ("propagate", $write.propagate().await.map(drop)),
            (
                "both",
                $write.propagate().check_references().await.map(drop),
            ),
        ]
    };
}

async fn errors_do_not_depend_on_the_words_of_a_write(db: &Db) {
    let models = models![Owner, Item];
    let plan = db.sync(models).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    let owners = [1, 2].map(|id| Owner {
        id,
        name: format!("owner {id}"),
        item_count: 0,
    });
    db.collection().insert_many(owners).await.unwrap();
    let items = db.collection::<Item>();
    let stored = [item(1, 1, "one", 1), item(2, 1, "two", 2)];
    items.insert_many(&stored).propagate().await.unwrap();
    let faults: [(&str, i32); 2] = [("new", -1), ("one", 5)];
    for (sku, stock) in faults {
        let new = item(9, 2, sku, stock);
        let changed = item(2, 2, sku, stock);
        let change = |i: <Item as Embedded>::Fields<Item>| {
            i.sku.set(sku) & i.stock.set(stock) & i.owner.set(Ref::from(2))
        };
        let verbs = [
            ("insert_one", worded!(items.insert_one(&new))),
            (
                "find_one_or_insert",
                worded!(items.find_one_or_insert(|i| i.id.eq(9), &new)),
            ),
            (
                "update_one",
                worded!(items.update_one(|i| i.id.eq(2), change)),
            ),
            ("update_by_id", worded!(items.update_by_id(&2, change))),
            (
                "upsert",
                worded!(items.update_by_id(&2, change).upsert(true)),
            ),
            (
                "replace_one",
                worded!(items.replace_one(|i| i.id.eq(2), &changed)),
            ),
            ("replace_by_id", worded!(items.replace_by_id(&2, &changed))),
            (
                "find_one_and_update",
                worded!(items.find_one_and_update(|i| i.id.eq(2), change)),
            ),
            (
                "find_one_and_replace",
                worded!(items.find_one_and_replace(|i| i.id.eq(2), &changed)),
            ),
        ];
        for (verb, results) in verbs {
            let mut errors = results.into_iter().map(|(word, result)| {
                let error = result.expect_err(word);
                (word, seen(&error))
            });
            let (_, plain) = errors.next().unwrap();
            assert!(!plain.is_bulk, "{verb}: {plain:?}");
            assert_eq!(plain.is_validation_failure, stock < 0, "{verb}: {plain:?}");
            assert_eq!(plain.rules.is_empty(), stock >= 0, "{verb}: {plain:?}");
            assert_eq!(plain.duplicate.is_some(), stock >= 0, "{verb}: {plain:?}");
            for (word, error) in errors {
                assert_eq!(error, plain, "{verb}, {word}");
            }
        }
    }
    assert_eq!(
        items.find_all().sort(|i| i.id.asc()).all().await.unwrap(),
        stored
    );
}
