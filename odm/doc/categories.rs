// The set-up of examples about trees: they include this file.

use odm::prelude::*;
use odm::tree::prelude::*;
use odm::tree::Branch;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "categories", tree(materialized_path, order = rank))]
struct Category {
    #[serde(rename = "_id")]
    id: String,
    path: Materialized<Category>,
    rank: Rank,
}

fn new(id: &str) -> Category {
    Category {
        id: id.to_owned(),
        path: Materialized::default(),
        rank: Rank::default(),
    }
}

fn node(id: &str) -> Ref<Category> {
    Ref::from(id)
}

/// A database with this tree:
///
/// ```text
/// Books
///   Programming
///     Languages
///     Databases
///   Fiction
/// ```
async fn five_categories() -> odm::Result<Db> {
    let db = Db::memory();
    let programming = Branch::leaf(new("Programming"))
        .with(new("Languages"))
        .with(new("Databases"));
    let books = Branch::leaf(new("Books"))
        .with(programming)
        .with(new("Fiction"));
    db.tree::<Category>().insert_branches([books]).await?;
    Ok(db)
}
