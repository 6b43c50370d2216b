//! The relationships of the guides to schema design: the example `documents` stores what the guides show, and joins find it.

use odm::bson::Bson;
use odm::bson::{Document as BsonDocument, doc};
use odm::prelude::*;

use super::relations::watched;
use crate::case::cases;
use crate::examples::{EXAMPLES, Example};

cases![
    patron_and_address_by_reference,
    patron_and_address,
    patron_and_addresses,
    patron_and_addresses_by_reference,
    books_with_a_whole_publisher,
    publisher_with_ids_of_books,
    books_with_their_publisher,
    people_and_places,
    student_and_emails,
    student_and_card,
    students_with_whole_courses,
    students_and_courses,
    student_with_whole_messages,
    student_with_ids_of_messages,
    student_and_posts,
    whole_movie,
    movie_and_details,
    person_and_addresses,
    product_and_parts,
    host_and_messages,
    host_and_its_last_messages,
    person_and_tasks,
    product_and_the_names_of_its_parts,
    parts_and_facts_of_their_product,
    messages_with_the_address_of_their_host,
    messages_without_a_host,
    product_and_reviews,
    product_and_the_mean_of_its_reviews,
];

/// The documents as the guides show them, by example and collection.
pub(super) fn shown(title: &str, collection: &str) -> Vec<BsonDocument> {
    let all = include_str!("../../../examples/data/documents.json");
    let all: serde_json::Value = serde_json::from_str(all).unwrap();
    let documents = all[title][collection].as_array().unwrap().clone();
    let documents = documents.into_iter();
    documents
        .map(|document| match Bson::try_from(document).unwrap() {
            Bson::Document(document) => document,
            other => panic!("{other}"),
        })
        .collect()
}

/// Stores an example, compares what is stored, and joins it with this many commands.
async fn example(db: &Db, title: &str, commands: usize, found: &[&str]) {
    let example: &Example = EXAMPLES.iter().find(|one| one.title == title).unwrap();
    (example.store)(db).await.unwrap();
    for collection in example.collections {
        let expected = shown(title, collection);
        let find = doc! {"find": *collection, "sort": {"_id": 1}};
        let mut stored = db.run_command(find).all().await.unwrap();
        for (stored, expected) in stored.iter_mut().zip(&expected) {
            if !expected.contains_key("_id") {
                assert!(stored.remove("_id").is_some());
            }
        }
        assert_eq!(stored, expected, "{collection}");
        let order = |documents: &[BsonDocument]| -> Vec<Vec<String>> {
            documents
                .iter()
                .map(|it| it.keys().cloned().collect())
                .collect()
        };
        assert_eq!(order(&stored), order(&expected), "{collection}");
    }
    let (db, sent) = watched(db);
    assert_eq!((example.join)(&db).await.unwrap(), found);
    assert_eq!(sent.lock().unwrap().len(), commands);
}

async fn patron_and_address_by_reference(db: &Db) {
    let title = "patron and address, referenced (one-to-one, patron_id in the address)";
    let found = [
        "Joe Bookreader lives in Faketon",
        "123 Fake Street is the address of Joe Bookreader",
    ];
    example(db, title, 4, &found).await;
}

async fn patron_and_address(db: &Db) {
    let title = "patron and address, embedded (one-to-one)";
    example(db, title, 1, &["Joe Bookreader lives in Faketon"]).await;
}

async fn patron_and_addresses(db: &Db) {
    let title = "patron and addresses, embedded (one-to-few)";
    example(db, title, 1, &["Joe Bookreader has 2 addresses"]).await;
}

async fn patron_and_addresses_by_reference(db: &Db) {
    let title = "patron and addresses, referenced (one-to-many, patron_id on the N side)";
    let found = [
        "Joe Bookreader: Boston, Faketon",
        "1 Some Other Street is the address of Joe Bookreader",
    ];
    example(db, title, 4, &found).await;
}

async fn books_with_a_whole_publisher(db: &Db) {
    let title = "books with their publisher inside (repeated)";
    let found = [
        "MongoDB: The Definitive Guide is published by O'Reilly Media",
        "50 Tips and Tricks for MongoDB Developer is published by O'Reilly Media",
        "O'Reilly Media moves in 2 books",
    ];
    example(db, title, 2, &found).await;
}

async fn publisher_with_ids_of_books(db: &Db) {
    let title = "publisher and books, ids in the publisher (one-to-many)";
    let found = [
        "O'Reilly Media: MongoDB: The Definitive Guide; 50 Tips and Tricks for MongoDB Developer",
        "50 Tips and Tricks for MongoDB Developer is published by O'Reilly Media",
    ];
    example(db, title, 4, &found).await;
}

async fn books_with_their_publisher(db: &Db) {
    let title = "publisher and books, publisher_id in the book (one-to-squillions)";
    let found = [
        "the newest of O'Reilly Media: 50 Tips and Tricks for MongoDB Developer",
        "MongoDB: The Definitive Guide is published by O'Reilly Media",
    ];
    // The semi-join asks for the publishers first.
    example(db, title, 5, &found).await;
}

async fn people_and_places(db: &Db) {
    let title = "people and places (manual reference)";
    let found = ["Erin is at Broadway Center", "at Broadway Center: Erin"];
    example(db, title, 4, &found).await;
}

async fn student_and_emails(db: &Db) {
    let title = "student and e-mails (one-to-few)";
    let found = ["Sammy Shark: sammy@digitalocean.com, sammy@example.com"];
    example(db, title, 1, &found).await;
}

async fn student_and_card(db: &Db) {
    let title = "student and card (one-to-one)";
    example(db, title, 1, &["Sammy has the card 123-1234-123"]).await;
}

async fn students_with_whole_courses(db: &Db) {
    let title = "students with whole courses (advised against)";
    let found = [
        "Sammy takes Physics 101, Introduction to Cloud Computing",
        "the courses: Introduction to Cloud Computing, Physics 101",
    ];
    example(db, title, 2, &found).await;
}

async fn students_and_courses(db: &Db) {
    let title = "students and courses (many-to-many, child references)";
    let found = [
        "Sammy takes Physics 101, Introduction to Cloud Computing",
        "Physics 101 is taken by Sammy",
    ];
    example(db, title, 4, &found).await;
}

async fn student_with_whole_messages(db: &Db) {
    let title = "student with whole messages (advised against)";
    let found = ["Sammy takes 2 courses, and has posted Books on kinematics and dynamics"];
    example(db, title, 2, &found).await;
}

async fn student_with_ids_of_messages(db: &Db) {
    let title = "student with ids of messages (advised against)";
    let found = [
        "Sammy has posted Books on kinematics and dynamics",
        "Books on kinematics and dynamics was posted by Sammy",
    ];
    example(db, title, 4, &found).await;
}

async fn student_and_posts(db: &Db) {
    let title = "student and posts (one-to-squillions, posted_by)";
    let found = [
        "Sammy has posted Books on kinematics and dynamics",
        "Books on kinematics and dynamics was posted by Sammy",
    ];
    example(db, title, 4, &found).await;
}

async fn whole_movie(db: &Db) {
    let title = "movie with all its details";
    let found = [
        "The Arrival of a Train (1896)",
        "The Arrival of a Train is rated 7.3",
    ];
    example(db, title, 2, &found).await;
}

async fn movie_and_details(db: &Db) {
    let title = "movie and details (subset, one-to-one)";
    let found = [
        "The Arrival of a Train (1896) is rated 7.3",
        "the details 156 are those of The Arrival of a Train",
    ];
    example(db, title, 4, &found).await;
}

async fn person_and_addresses(db: &Db) {
    let title = "person and addresses (one-to-few)";
    example(db, title, 1, &["Kate Monster has 2 addresses"]).await;
}

async fn product_and_parts(db: &Db) {
    let title = "product and parts (one-to-many, ids in the product)";
    let found = ["product 1234: #4 grommet", "#4 grommet belongs to 1234"];
    example(db, title, 4, &found).await;
}

async fn host_and_messages(db: &Db) {
    let title = "host and messages (one-to-squillions)";
    let found = [
        "goofy.example.com: cpu is on fire!",
        "cpu is on fire! at goofy.example.com",
    ];
    example(db, title, 4, &found).await;
}

async fn host_and_its_last_messages(db: &Db) {
    let title = "host and its last messages (the newest N)";
    let found = [
        "goofy.example.com: the last of 2 messages is cpu is on fire!",
        "cpu is on fire! at goofy.example.com",
    ];
    example(db, title, 4, &found).await;
}

async fn person_and_tasks(db: &Db) {
    let title = "person and tasks (two-way references)";
    let found = [
        "Kate Monster: Write lesson plan",
        "Write lesson plan is due by Kate Monster",
        "Erin now: Write lesson plan",
        "Kate Monster now: ",
        "Write lesson plan is due by Erin now",
    ];
    // Four joins of two commands each; between them, a find and the new owner; the update reads the task before and after, and
    // changes both lists by one command.
    example(db, title, 13, &found).await;
}

async fn product_and_the_names_of_its_parts(db: &Db) {
    let title = "product and the names of its parts (copies from many to one)";
    let found = [
        "left-handed smoke shifter: #4 grommet, fan blade assembly; 106 in stock",
        "#4 grommet belongs to 1234",
        "left-handed smoke shifter now: #5 grommet, fan blade assembly",
    ];
    // Two joins and a find; between them, the update finds and changes the part, locks its name, reads it, and writes the copies.
    example(db, title, 10, &found).await;
}

async fn parts_and_facts_of_their_product(db: &Db) {
    let title = "parts and facts of their product (copies from one to many)";
    let found = [
        "#4 grommet is a part of left-handed smoke shifter (1234), made by Acme Corp",
        "1234: #4 grommet",
        "#4 grommet is a part of right-handed smoke shifter (1235) now",
    ];
    example(db, title, 10, &found).await;
}

async fn messages_with_the_address_of_their_host(db: &Db) {
    let title = "messages with the address of their host (copies with squillions)";
    let found = [
        "cpu is on fire! at 127.66.66.66",
        "cpu is on fire! at goofy.example.com",
        "goofy.example.com has 1 message",
        "cpu is on fire! at 127.0.0.66 now",
    ];
    // Copies of `has_squillions` are written after the transaction: it stores a record of the change, which is removed at last.
    example(db, title, 14, &found).await;
}

async fn messages_without_a_host(db: &Db) {
    let title = "messages with all facts of their host (no host)";
    let found = ["cpu is on fire! at goofy.example.com, 127.66.66.66"];
    example(db, title, 1, &found).await;
}

async fn product_and_reviews(db: &Db) {
    let title = "product and reviews (the newest N)";
    let found = [
        "#4 grommet: 3, 4, 5 stars in the newest of 5 reviews",
        "1 star for #4 grommet",
    ];
    example(db, title, 4, &found).await;
}

async fn product_and_the_mean_of_its_reviews(db: &Db) {
    let title = "product and reviews (count and mean)";
    let found = [
        "#4 grommet: 2 reviews, 3.5 stars",
        "fan blade assembly: 1 reviews, 4 stars",
        "#4 grommet now: 1 reviews, 3 stars",
        "fan blade assembly now: 1 reviews, 5 stars",
    ];
    // Two finds. Each update reads its documents before and after, writes a fence, computes the summaries and writes them; so does
    // the delete, which reads once.
    example(db, title, 17, &found).await;
}
