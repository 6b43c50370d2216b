use odm::prelude::*;
use odm::tree::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "categories", tree(parent_references, order = rank))]
struct Category {
    #[serde(rename = "_id")]
    id: String,
    parent: Parent<Category>,
    rank: Rank,
}

fn from_id() -> Category {
    Category {
        id: "Fiction".to_owned(),
        parent: Parent::of("Books".to_owned()),
        rank: Rank::from("a"),
    }
}

fn root() -> Category {
    Category {
        id: "Books".to_owned(),
        parent: None,
        rank: Rank::new(1),
    }
}

fn below_an_id() -> Position<Category> {
    Position::child_of("Books".to_owned())
}

fn main() {}
