use odm::prelude::*;
use odm::tree::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "categories", tree(child_references, graph))]
struct Part {
    #[serde(rename = "_id")]
    id: String,
    children: Children<Part>,
}

async fn graph(db: &Db, one: &Part, other: &Part) -> odm::Result<()> {
    let tree = db.tree::<Part>();
    tree.move_to(one, Position::child_of(other)).await?;
    tree.ancestors(one).all().await?;
    tree.insert(
        Part {
            id: String::new(),
            children: Children::default(),
        },
        Position::after(one),
    )
    .await?;
    Ok(())
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "categories", tree(child_references))]
struct Category {
    #[serde(rename = "_id")]
    id: String,
    children: Children<Category>,
}

async fn tree(db: &Db, one: &Category, other: &Category) -> odm::Result<()> {
    db.tree::<Category>().add_child(one, other).await?;
    Ok(())
}

fn main() {}
