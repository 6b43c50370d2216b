//! References and undeclared fields at any depth, and documents that the models did not write.

use std::collections::{BTreeMap, HashMap};

use odm::bson::{Bson, Document as BsonDocument, doc, oid::ObjectId};
use odm::check::Aspect;
use odm::prelude::*;

use super::{AnyDbRef, Author, Book, DbRef, check, filled, insert, models, places, set, texts};

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "works")]
pub(super) struct Work {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(references(many, max = 9))]
    in_map: BTreeMap<String, Ref<Author>>,
    in_tuple: (Ref<Author>, i32),
    in_array: [Ref<Author>; 2],
    #[odm(embed(few, max = 9))]
    parts: Vec<Part>,
    role: Role,
    #[odm(embed(few, max = 9))]
    in_maps: HashMap<String, Part>,
    anything: Bson,
    about: Option<AnyDbRef>,
    either: Either,
    #[serde(flatten)]
    more: More,
    #[serde(alias = "old_name")]
    #[serde(default)]
    new_name: i32,
}

#[derive(Debug, Serialize, Deserialize, Embedded)]
#[odm(depth = 5)]
struct Part {
    author: Option<Ref<Author>>,
    #[odm(embed(few, max = 9))]
    #[serde(default)]
    parts: Vec<Part>,
}

#[derive(Debug, Serialize, Deserialize, Embedded)]
#[serde(tag = "type")]
enum Role {
    Writer { who: Ref<Author> },
    Printer { who: i32, place: String },
    None,
}

#[derive(Debug, Serialize, Deserialize, Embedded)]
#[serde(untagged)]
enum Either {
    Author(DbRef<Author>),
    Book(DbRef<Book>),
}

#[derive(Debug, Serialize, Deserialize, Embedded)]
struct More {
    flat: Option<Ref<Author>>,
}

/// A work that refers to this author from everywhere.
pub(super) fn work(id: i32, author: i32) -> BsonDocument {
    let dbref = doc! {"$ref": "authors", "$id": author};
    let part = |parts: Vec<BsonDocument>| doc! {"author": author, "parts": parts};
    doc! {
        "_id": id,
        "in_map": {"a": author},
        "in_tuple": [author, 77],
        "in_array": [author, 1],
        "parts": [part(vec![part(vec![part(vec![])])])],
        "role": {"type": "Writer", "who": author},
        "in_maps": {"x": {"author": author, "parts": []}},
        "anything": {"deep": [[{"dbref": &dbref}]]},
        "about": &dbref,
        "either": &dbref,
        "flat": author,
        "new_name": 1,
    }
}

pub(super) async fn references_are_found_at_any_depth(db: &Db) {
    filled(db).await;
    insert(db, "works", [work(1, 1)]).await;
    let check = || db.check(models![Work]);
    let report = check().await.unwrap();
    assert!(report.is_sound(), "{report}");

    insert(db, "works", [work(2, 9)]).await;
    let report = check().await.unwrap();
    let expected = [
        "about",
        "anything.deep.dbref",
        "either",
        "flat",
        "in_array",
        "in_map.a",
        "in_maps.x.author",
        "in_tuple",
        "parts.author",
        "parts.parts.author",
        "parts.parts.parts.author",
        "role.who",
    ];
    let expected = expected.map(|path| (format!("Work dangling-reference {path}"), 1));
    assert_eq!(places(&report), expected.into(), "{report}");
    // The check of one collection finds the same, reading less.
    let own = db.collection::<Work>().check_references().await.unwrap();
    assert_eq!((own.read, own.damages), (2, 12), "{own}");

    // A number that is no reference in this variant, and a DBRef where nothing is declared.
    let role = doc! {"type": "Printer", "who": 9, "place": "Oslo"};
    let seen = doc! {"$ref": "authors", "$id": 9, "seen": true};
    let mut other = work(3, 1);
    other.extend(doc! {"role": role, "undeclared": [seen]});
    insert(db, "works", [other]).await;
    let report = check().range::<Work>(3..).await.unwrap();
    let expected = [
        ("Work dangling-reference undeclared".to_owned(), 1),
        ("Work undeclared-field undeclared".to_owned(), 1),
    ];
    let mut found = places(&report);
    // Both variants call the field `who`: the number leads to no author.
    assert_eq!(
        found.remove("Work dangling-reference role.who"),
        Some(1),
        "{report}"
    );
    assert_eq!(found, expected.into(), "{report}");
}

pub(super) async fn undeclared_fields_are_found_at_any_depth(db: &Db) {
    filled(db).await;
    let mut other = work(1, 1);
    other.remove("new_name");
    other.extend(doc! {
        "old_name": 3,
        "in_map": {"any": 1, "names": 2},
        "in_maps": {"x": {"author": 1, "parts": [], "colour": 1}},
        "parts": [{"author": 1, "parts": [{"author": 1, "size": {"a": 1}}], "size": 1}],
        "role": {"type": "Writer", "who": 1, "place": "in another variant", "age": 1},
        "anything": {"goes": 1},
        "Flat": 1,
    });
    insert(db, "works", [other]).await;
    let report = db
        .check(models![Work])
        .only([Aspect::UndeclaredFields])
        .await
        .unwrap();
    let expected = [
        "Flat",
        "in_maps.x.colour",
        "parts.parts.size",
        "parts.size",
        "role.age",
    ];
    let expected = expected.map(|path| (format!("Work undeclared-field {path}"), 1));
    assert_eq!(places(&report), expected.into(), "{report}");
}

/// Values that no field expects, or all do.
fn values() -> Vec<Bson> {
    let dbref = |name: &str| doc! {"$ref": name, "$id": 1};
    let mut values = vec![
        Bson::Null,
        Bson::Undefined,
        Bson::MinKey,
        1.into(),
        1.5.into(),
        f64::NAN.into(),
        "".into(),
        true.into(),
        ObjectId::new().into(),
        Bson::Array(vec![]),
        vec![Bson::Null, 1.into(), vec![Bson::from(1)].into()].into(),
        doc! {}.into(),
        doc! {"": 1, "a.b": 1, "$set": 1}.into(),
        doc! {"$ref": "authors"}.into(),
        doc! {"$id": 1, "$ref": "authors"}.into(),
        doc! {"$ref": 7, "$id": 1}.into(),
        doc! {"$ref": "authors", "$id": Bson::Null}.into(),
        doc! {"$ref": "authors", "$id": dbref("authors")}.into(),
        doc! {"$ref": "authors", "$id": 1, "$db": 7}.into(),
        doc! {"$ref": "authors", "$id": 1, "$db": ""}.into(),
        doc! {"$ref": "authors", "$id": 1, "$db": "a/b c."}.into(),
        doc! {"$ref": "authors", "$id": [1]}.into(),
    ];
    let names = [
        "authors",
        "nothing",
        "",
        "$cmd",
        "a\0b",
        ".",
        "a.b",
        "system.x.y",
    ];
    values.extend(names.map(|name| dbref(name).into()));
    values
}

pub(super) async fn documents_of_other_programs_are_read(db: &Db) {
    filled(db).await;
    insert(db, "works", [work(1, 1)]).await;
    let mut fields: Vec<(&str, i32, String)> = Vec::new();
    for (collection, id, nested) in [
        ("authors", 1, ["newest.0.year", "reviews.0"].as_slice()),
        ("books", 1, &["tags.0", "translator.$id"]),
        ("reviews", 1, &[]),
        ("shelves", 2, &[]),
        (
            "works",
            1,
            &[
                "in_map.a",
                "parts.0.parts",
                "parts.0.author",
                "role.who",
                "in_maps.x",
                "in_tuple.0",
            ],
        ),
    ] {
        let find = doc! {"find": collection, "filter": {"_id": id}};
        let stored = db.run_command(find).all().await.unwrap();
        let names = stored[0].keys().filter(|name| *name != "_id").cloned();
        let names = names.chain(nested.iter().map(|name| (*name).to_owned()));
        fields.extend(names.map(|name| (collection, id, name)));
    }
    let all = models![Author, Book, super::Review, super::Shelf, Work];
    for (collection, id, path) in fields {
        let find = doc! {"find": collection, "filter": {"_id": id}};
        let before = db.run_command(find).all().await.unwrap().remove(0);
        // A document for each value.
        let (mut documents, mut updates) = (Vec::new(), Vec::new());
        for (id, value) in (1_000..).zip(values()) {
            let mut document = before.clone();
            document.insert("_id", id);
            documents.push(document);
            updates.push(doc! {"q": {"_id": id}, "u": {"$set": {&path: value}}});
        }
        let count = documents.len() as u64;
        insert(db, collection, documents).await;
        // MongoDB refuses some values at some paths.
        let update = doc! {"update": collection, "updates": updates, "ordered": false, "bypassDocumentValidation": true};
        drop(db.run_command(update).await);
        let mut heard = 0;
        let checked = db.check(all).on_finding(|finding| {
            assert!(finding.to_json().starts_with("{\"kind\""), "{finding}");
            heard += 1;
        });
        let report = checked
            .await
            .unwrap_or_else(|error| panic!("{collection}.{path}: {error}"));
        assert!(
            heard > 0 && report.read() > count,
            "{collection}.{path}: {report}"
        );
        let delete =
            doc! {"delete": collection, "deletes": [{"q": {"_id": {"$gte": 1_000}}, "limit": 0}]};
        db.run_command(delete).await.unwrap();
    }
    let report = db.check(all).await.unwrap();
    assert!(report.is_sound(), "{report}");
    assert!(check(db).await.is_sound());
    set(db, "books", 1, doc! {"$set": {"author": [1, 9]}}).await;
    let report = db.check(models()).only([Aspect::References]).await.unwrap();
    assert_eq!(
        texts(&report),
        ["Book 1: dangling reference: `author` leads to no `Author` with the _id 9"]
    );
}
