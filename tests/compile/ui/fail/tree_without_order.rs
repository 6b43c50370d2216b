use odm::prelude::*;
use odm::tree::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "categories", tree(parent_references))]
struct Category {
    #[serde(rename = "_id")]
    id: String,
    parent: Parent<Category>,
}

async fn order(db: &Db, one: &Category) -> odm::Result<()> {
    let tree = db.tree::<Category>();
    tree.next_sibling(one).all().await?;
    tree.move_to(one, Position::before(one)).await?;
    tree.move_to(one, Position::first_root()).await?;
    Ok(())
}

fn main() {}
