//! The models of the cases.

use std::collections::BTreeMap;

use odm::prelude::*;
use odm::tree::prelude::*;

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[odm(collection = "notes", budget = "1KB")]
pub(super) struct Note {
    #[serde(rename = "_id")]
    pub(super) id: i32,
    #[odm(length(max = 200))]
    pub(super) text: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[odm(collection = "playlists")]
pub(super) struct Playlist {
    #[serde(rename = "_id")]
    pub(super) id: i32,
    pub(super) songs: Vec<String>,
    #[odm(items(max = 50))]
    pub(super) tags: Vec<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Embedded)]
pub(super) struct Album {
    pub(super) tracks: Vec<i32>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[odm(collection = "shelves")]
pub(super) struct Shelf {
    #[serde(rename = "_id")]
    pub(super) id: i32,
    #[odm(embed(few, max = 20))]
    pub(super) albums: Vec<Album>,
    pub(super) plays: BTreeMap<String, i32>,
    pub(super) grid: Vec<Vec<i32>>,
}

/// A reply has replies.
#[derive(Debug, Clone, Serialize, Deserialize, Embedded)]
pub(super) struct Reply {
    #[odm(unbounded = "a thread is read as a whole")]
    pub(super) replies: Vec<Reply>,
    pub(super) likes: Vec<i32>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[odm(collection = "threads")]
pub(super) struct Thread {
    #[serde(rename = "_id")]
    pub(super) id: i32,
    #[odm(unbounded = "a thread is read as a whole")]
    pub(super) replies: Vec<Reply>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[odm(collection = "movies")]
pub(super) struct Movie {
    #[serde(rename = "_id")]
    pub(super) id: i32,
    pub(super) title: String,
    pub(super) year: i32,
    pub(super) rating: i32,
    pub(super) script: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[odm(collection = "reports", index(title, year), unique(code))]
pub(super) struct Report {
    #[serde(rename = "_id")]
    pub(super) id: i32,
    pub(super) title: String,
    pub(super) year: i32,
    pub(super) code: i32,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[odm(collection = "people", unique(mail), index(tags))]
pub(super) struct Person {
    #[serde(rename = "_id")]
    pub(super) id: i32,
    pub(super) mail: String,
    pub(super) tags: Vec<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[odm(
    collection = "members",
    index(mail, collation(locale = "en", strength = 2))
)]
pub(super) struct Member {
    #[serde(rename = "_id")]
    pub(super) id: i32,
    pub(super) mail: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[odm(collection = "hosts", has_one(setup: Setup, by = host))]
pub(super) struct Host {
    #[serde(rename = "_id")]
    pub(super) id: i32,
    pub(super) name: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[odm(collection = "setups")]
pub(super) struct Setup {
    #[serde(rename = "_id")]
    pub(super) id: i32,
    #[odm(unique)]
    pub(super) host: Ref<Host>,
    pub(super) memory: i32,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[odm(collection = "authors", has_many(books: Book, by = author))]
pub(super) struct Author {
    #[serde(rename = "_id")]
    pub(super) id: i32,
    pub(super) name: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[odm(collection = "books", index(author))]
pub(super) struct Book {
    #[serde(rename = "_id")]
    pub(super) id: i32,
    pub(super) author: Ref<Author>,
    pub(super) title: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[odm(collection = "loans", index(book))]
pub(super) struct Loan {
    #[serde(rename = "_id")]
    pub(super) id: i32,
    pub(super) book: Ref<Book>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[odm(
    collection = "countries",
    has_many(cities: City, by = country, allow_scan = "read once a year")
)]
pub(super) struct Country {
    #[serde(rename = "_id")]
    pub(super) id: i32,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[odm(collection = "cities")]
pub(super) struct City {
    #[serde(rename = "_id")]
    pub(super) id: i32,
    pub(super) country: Ref<Country>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[odm(collection = "topics", tree(child_references))]
pub(super) struct Topic {
    #[serde(rename = "_id")]
    pub(super) id: i32,
    pub(super) children: Children<Topic>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[odm(collection = "products")]
pub(super) struct Product {
    #[serde(rename = "_id")]
    pub(super) id: i32,
    pub(super) price: i32,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[odm(collection = "offers")]
pub(super) struct Offer {
    #[serde(rename = "_id")]
    pub(super) id: i32,
    pub(super) product: Ref<Product>,
    #[odm(copy_of(product.price, once))]
    pub(super) price: i32,
}

#[derive(Debug, Clone, Serialize, Deserialize, Embedded)]
pub(super) struct Address {
    pub(super) city: String,
    pub(super) street: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[odm(collection = "readers")]
pub(super) struct Reader {
    #[serde(rename = "_id")]
    pub(super) id: i32,
    pub(super) nickname: Option<String>,
    #[serde(default)]
    pub(super) points: i32,
    pub(super) address: Option<Address>,
}
