use odm::prelude::*;
use odm::tree::prelude::*;
use serde::{Deserialize, Serialize};

async fn used(db: &Db, one: &Misspelt, other: &Incomplete) -> odm::Result<()> {
    db.tree::<Misspelt>().next_sibling(one).all().await?;
    db.tree::<ByRegion>().ancestors(other).all().await?;
    Ok(())
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "categories", tree(parent_reference, order = rank))]
struct Misspelt {
    #[serde(rename = "_id")]
    id: String,
    parent: Parent<Misspelt>,
    rank: Rank,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "categories", tree(parent_references, name = ByRegion))]
struct Incomplete {
    #[serde(rename = "_id")]
    id: String,
    name: String,
}

fn main() {}
