use odm::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, Embedded)]
struct Author {
    #[odm(length(max = 10))]
    name: String,
    badge: Badge,
}

#[derive(Serialize, Deserialize, Embedded)]
struct Badge {
    inner: Inner,
}

#[derive(Serialize, Deserialize, Embedded)]
struct Inner {
    points: i32,
}

#[derive(Serialize, Deserialize, Embedded)]
struct Comment {
    author: Author,
    #[odm(embed(few, max = 20))]
    replies: Vec<Reply>,
}

#[derive(Serialize, Deserialize, Embedded)]
struct Reply {
    comment: Box<Comment>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "posts", budget = "1MiB")]
struct Post {
    #[serde(rename = "_id")]
    id: Id<Self>,
    #[odm(embed(few, max = 20))]
    comments: Vec<Comment>,
    last: Option<Comment>,
}

fn main() {}
