//! The examples: the structs of each, what they store, and what joins find.

pub(crate) mod copies;
pub(crate) mod discouraged;
pub(crate) mod hosts;
pub(crate) mod movies;
pub(crate) mod patrons;
pub(crate) mod people;
pub(crate) mod products;
pub(crate) mod publishers;
pub(crate) mod students;
pub(crate) mod summaries;
pub(crate) mod tasks;

use std::pin::Pin;

use odm::prelude::*;

type Running<'d, T> = Pin<Box<dyn Future<Output = odm::Result<T>> + Send + 'd>>;

/// One example of the guides.
pub(crate) struct Example {
    /// Its name, the key in `examples/data/documents.json`.
    pub(crate) title: &'static str,
    /// The collections that it fills.
    pub(crate) collections: &'static [&'static str],
    /// Stores its documents.
    pub(crate) store: for<'d> fn(&'d Db) -> Running<'d, ()>,
    /// Joins them in both directions, and returns what it found, a line each.
    pub(crate) join: for<'d> fn(&'d Db) -> Running<'d, Vec<String>>,
}

macro_rules! examples {
    ($($title:literal in $collections:expr => $module:ident;)*) => {
        /// Every example, in the order of the guides.
        pub(crate) const EXAMPLES: &[Example] = &[$(Example {
            title: $title,
            collections: &$collections,
            store: |db| Box::pin($module::store(db)),
            join: |db| Box::pin($module::join(db)),
        }),*];
    };
}

use copies::{addresses as copied, part_names, product_facts};
use discouraged::{message_ids, whole_courses, whole_messages};
use movies::whole as movie;
use patrons::{addresses, embedded as patron, few, one as address};
use publishers::{ids, repeated, squillions as books};
use students::{card, courses, emails, posts};

examples! {
    "patron and address, referenced (one-to-one, patron_id in the address)" in ["patrons", "addresses"] => address;
    "patron and address, embedded (one-to-one)" in ["patrons"] => patron;
    "patron and addresses, embedded (one-to-few)" in ["patrons"] => few;
    "patron and addresses, referenced (one-to-many, patron_id on the N side)" in ["patrons", "addresses"] => addresses;
    "books with their publisher inside (repeated)" in ["books"] => repeated;
    "publisher and books, ids in the publisher (one-to-many)" in ["publishers", "books"] => ids;
    "publisher and books, publisher_id in the book (one-to-squillions)" in ["publishers", "books"] => books;
    "people and places (manual reference)" in ["places", "people"] => people;
    "student and e-mails (one-to-few)" in ["students"] => emails;
    "student and card (one-to-one)" in ["students"] => card;
    "students with whole courses (advised against)" in ["students"] => whole_courses;
    "students and courses (many-to-many, child references)" in ["students", "courses"] => courses;
    "student with whole messages (advised against)" in ["students", "courses"] => whole_messages;
    "student with ids of messages (advised against)" in ["students", "courses", "message_board_messages"] => message_ids;
    "student and posts (one-to-squillions, posted_by)" in ["message_board_messages"] => posts;
    "movie with all its details" in ["movie"] => movie;
    "movie and details (subset, one-to-one)" in ["movie", "movie_details"] => movies;
    "person and addresses (one-to-few)" in ["person"] => kate;
    "product and parts (one-to-many, ids in the product)" in ["products", "parts"] => parts;
    "host and messages (one-to-squillions)" in ["hosts", "logmsg"] => messages;
    "host and its last messages (the newest N)" in ["hosts", "logmsg"] => newest;
    "person and tasks (two-way references)" in ["people", "tasks"] => owners;
    "product and the names of its parts (copies from many to one)" in ["products", "parts"] => part_names;
    "parts and facts of their product (copies from one to many)" in ["products", "parts"] => product_facts;
    "messages with the address of their host (copies with squillions)" in ["hosts", "logmsg"] => copied;
    "messages with all facts of their host (no host)" in ["logmsg"] => alone;
    "product and reviews (the newest N)" in ["products", "reviews"] => reviews;
    "product and reviews (count and mean)" in ["products", "reviews"] => summaries;
}

use hosts::{alone, messages, newest};
use products::{parts, reviews};
use tasks::{kate, owners};

/// Creates the collections, the validators and the indexes of models.
async fn sync(
    db: &Db,
    models: impl IntoIterator<Item = &'static odm::model::ModelMeta>,
) -> odm::Result<()> {
    db.sync(models).plan().await?.apply(Allow::CREATE).await?;
    Ok(())
}

/// A date, as RFC 3339 writes it.
fn date(text: &str) -> DateTime {
    DateTime::parse_rfc3339_str(text).unwrap_or(DateTime::MIN)
}
