//! DBRefs: references that name the collection, and may name the database.

use odm::bson::{self, Bson, Document as BsonDocument, RawDocumentBuf};
use odm::dbref::{AnyDbRef, DbRef};
use odm::error::Code;
use odm::prelude::*;
use odm::query::raw;

use crate::case::cases;

cases![
    references_are_stored_as_in_the_guide,
    references_are_read_in_any_order_and_written_back_whole,
    equality_compares_the_whole_document_by_one_index,
    parts_are_found_and_changed_by_their_paths,
    joins_send_one_query_for_each_collection,
    joins_reach_other_databases,
    lists_of_references_are_joined_and_changed,
    one_field_refers_to_several_collections,
    another_collection_is_not_read,
    the_validator_knows_the_collection,
    untyped_references_lead_to_any_collection,
];

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "creators")]
struct Creator {
    #[serde(rename = "_id")]
    id: ObjectId,
}

/// The document of the guide.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "items")]
struct Item {
    #[serde(rename = "_id")]
    id: ObjectId,
    creator: DbRef<Creator>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "publishers")]
struct Publisher {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "books", index(publisher), index(publisher.id), index(shelves.id))]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    publisher: DbRef<Publisher>,
    #[serde(default)]
    reprint: Option<DbRef<Publisher>>,
    #[serde(default)]
    #[odm(references(many, max = 10))]
    shelves: Vec<DbRef<Publisher>>,
    #[serde(default)]
    note: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "reviews", index(subject))]
struct Review {
    #[serde(rename = "_id")]
    id: i32,
    subject: Subject,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
#[serde(untagged, expecting = "a DBRef to publishers or creators")]
enum Subject {
    Press(DbRef<Publisher>),
    Maker(DbRef<Creator>),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "links")]
struct Link {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index)]
    about: AnyDbRef,
}

fn publisher(id: i32) -> Publisher {
    Publisher {
        id,
        name: format!("publisher {id}"),
    }
}

fn book(id: i32, publisher: DbRef<Publisher>) -> Book {
    Book {
        id,
        publisher,
        reprint: None,
        shelves: Vec::new(),
        note: String::new(),
    }
}

async fn library(db: &Db) -> Collection<Book> {
    let models = [Publisher::model(), Book::model()];
    let plan = db.sync(models).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    let publishers = db.collection::<Publisher>();
    publishers
        .insert_many([publisher(1), publisher(2)])
        .await
        .unwrap();
    let books = db.collection::<Book>();
    let all = [
        book(1, DbRef::from(1)),
        book(2, DbRef::from(2)),
        book(3, DbRef::from(1)),
        book(4, DbRef::from(1).in_database("elsewhere")),
        book(5, DbRef::from(9)),
    ];
    books.insert_many(all).await.unwrap();
    books
}

/// Inserts a document as another program may have written it.
async fn insert(db: &Db, collection: &str, document: BsonDocument) {
    let command = doc! {"insert": collection, "documents": [document]};
    let reply = db.run_command(command).await.unwrap();
    assert!(!reply.contains_key("writeErrors"), "{reply}");
}

fn ids(books: &[Book]) -> Vec<i32> {
    books.iter().map(|book| book.id).collect()
}

async fn references_are_stored_as_in_the_guide(db: &Db) {
    let id = |digits: &str| ObjectId::parse_str(digits).unwrap();
    let creator = id("5126bc054aed4daf9e2ab772");
    let item = Item {
        id: id("5126bbf64aed4daf9e2ab771"),
        creator: DbRef::from(creator).in_database("users"),
    };
    let items = db.collection::<Item>();
    items.insert_one(&item).await.unwrap();
    let raw = items
        .find_all()
        .with_type::<RawDocumentBuf>()
        .all()
        .await
        .unwrap();
    let expected = doc! {
        "_id": item.id,
        "creator": {"$ref": "creators", "$id": creator, "$db": "users"},
    };
    // Equality of bytes, because the order of the fields counts.
    assert_eq!(
        raw[0].as_bytes(),
        bson::serialize_to_vec(&expected).unwrap()
    );
    assert_eq!(items.get(&item.id).await.unwrap(), Some(item));
}

async fn references_are_read_in_any_order_and_written_back_whole(db: &Db) {
    let stored = doc! {
        "_id": 1,
        "publisher": {"$ref": "publishers", "$id": 7, "$db": "x", "rank": 2, "by": {"$id": 1}},
    };
    insert(db, "books", stored.clone()).await;
    let books = db.collection::<Book>();
    let read = books.get(&1).await.unwrap().unwrap();
    assert_eq!(
        (read.publisher.id(), read.publisher.database()),
        (&7, Some("x"))
    );
    assert_eq!(*read.publisher.extra(), doc! {"rank": 2, "by": {"$id": 1}});

    let mut loaded = books.load(&1).await.unwrap().unwrap();
    "new".clone_into(&mut loaded.note);
    books.save(&mut loaded).await.unwrap();
    books.replace_one(|b| b.id.eq(1), &read).await.unwrap();
    let found = books
        .find_all()
        .with_type::<BsonDocument>()
        .first()
        .await
        .unwrap();
    let bytes = |document: &BsonDocument| {
        let publisher = document.get_document("publisher").unwrap();
        bson::serialize_to_vec(publisher).unwrap()
    };
    assert_eq!(bytes(&found.unwrap()), bytes(&stored));
}

async fn equality_compares_the_whole_document_by_one_index(db: &Db) {
    let books = library(db).await;
    let of_first = || books.find(|b| b.publisher.eq(&publisher(1)));
    let plan = of_first().explain().await.unwrap();
    let whole = doc! {"$ref": "publishers", "$id": 1};
    let filter = plan.command.get_document("filter").unwrap();
    assert_eq!(*filter, doc! {"publisher": whole});
    assert_eq!(plan.indexes, ["publisher_1"]);
    assert_eq!(
        ids(&of_first().sort(|b| b.id.asc()).all().await.unwrap()),
        [1, 3]
    );

    let several = [DbRef::from(2), DbRef::from(1).in_database("elsewhere")];
    let of_several = || books.find(|b| b.publisher.in_(several.clone()));
    let plan = of_several().explain().await.unwrap();
    assert_eq!(plan.indexes, ["publisher_1"]);
    let filter = plan.command.get_document("filter").unwrap().to_string();
    assert!(!filter.contains("$expr"), "{filter}");
    assert_eq!(
        ids(&of_several().sort(|b| b.id.asc()).all().await.unwrap()),
        [2, 4]
    );
}

async fn parts_are_found_and_changed_by_their_paths(db: &Db) {
    let books = library(db).await;
    let by_id = || books.find(|b| b.publisher.id.eq(1));
    let plan = by_id().explain().await.unwrap();
    let filter = plan.command.get_document("filter").unwrap();
    assert_eq!(*filter, doc! {"publisher.$id": 1});
    assert_eq!(plan.indexes, ["publisher.$id_1"]);
    assert_eq!(
        ids(&by_id().sort(|b| b.id.asc()).all().await.unwrap()),
        [1, 3, 4]
    );
    let elsewhere = books.find(|b| b.publisher.database.eq("elsewhere".to_owned()));
    assert_eq!(ids(&elsewhere.all().await.unwrap()), [4]);
    let all = books.count_documents(|b| b.publisher.collection.eq("publishers"));
    assert_eq!(all.await.unwrap(), 5);
    let sorted = books
        .find_all()
        .sort(|b| b.publisher.id.desc().then(b.id.asc()));
    assert_eq!(ids(&sorted.all().await.unwrap()), [5, 2, 1, 3, 4]);
    let in_order = || books.find_all().sort(|b| b.id.asc());
    let publishers = in_order().field(|b| b.publisher.id).all().await.unwrap();
    assert_eq!(publishers, [1, 2, 1, 1, 9]);
    let names = in_order().field(|b| b.publisher.collection).first().await;
    assert_eq!(names.unwrap().as_deref(), Some("publishers"));

    let moved = books.update_one(
        |b| b.id.eq(4),
        |b| b.publisher.id.set(2) & b.publisher.database.unset(),
    );
    assert_eq!(moved.await.unwrap().modified, 1);
    let read = books.get(&4).await.unwrap().unwrap();
    assert_eq!(read.publisher, DbRef::from(2));
    let set = books.update_one(|b| b.id.eq(4), |b| b.publisher.database.set("x".to_owned()));
    set.await.unwrap();
    let read = books.get(&4).await.unwrap().unwrap();
    assert_eq!(read.publisher, DbRef::from(2).in_database("x"));
    let set = books.update_one(|b| b.id.eq(4), |b| b.publisher.set(DbRef::from(5)));
    set.await.unwrap();
    let read = books.get(&4).await.unwrap().unwrap();
    assert_eq!(read.publisher, DbRef::from(5));
}

async fn joins_send_one_query_for_each_collection(db: &Db) {
    let books = library(db).await;
    let both = books.update_one(|b| b.id.eq(1), |b| b.reprint.set(DbRef::from(2)));
    both.await.unwrap();
    let join = || {
        books
            .find(|b| b.id.lte(3) | b.id.eq(5))
            .sort(|b| b.id.asc())
    };
    let plans = join().join(|b| b.publisher).explain().await.unwrap();
    assert_eq!(plans.len(), 2);
    let filter = plans[1].command.get_document("filter").unwrap();
    assert_eq!(*filter, doc! {"_id": {"$in": [1, 2, 9]}});
    assert_eq!(plans[1].indexes, ["_id_"]);

    let rows = join()
        .join(|b| b.publisher)
        .join(|b| b.reprint)
        .all()
        .await
        .unwrap();
    let found: Vec<Option<i32>> = rows
        .iter()
        .map(|row| row.publisher().found().map(|publisher| publisher.id))
        .collect();
    assert_eq!(found, [Some(1), Some(2), Some(1), None]);
    assert_eq!(*rows[3].publisher(), Resolved::Dangling(9));
    assert_eq!(
        rows[0].reprint().as_ref().unwrap().found(),
        Some(&publisher(2))
    );
    assert!(rows[1].reprint().is_none());

    let rows = join()
        .join(|b| b.publisher.filter(|p| p.id.eq(2)))
        .all()
        .await
        .unwrap();
    assert_eq!(*rows[0].publisher(), Resolved::Excluded(1));
    assert_eq!(rows[1].publisher().found(), Some(&publisher(2)));
}

async fn joins_reach_other_databases(db: &Db) {
    let books = library(db).await;
    let name = format!("{}_x", db.name());
    let other = db.database(&name);
    let elsewhere = Publisher {
        name: "elsewhere".to_owned(),
        ..publisher(1)
    };
    other
        .collection::<Publisher>()
        .insert_one(&elsewhere)
        .await
        .unwrap();
    let reference = DbRef::to(&elsewhere).in_database(&name);
    books.insert_one(book(6, reference.clone())).await.unwrap();

    let join = books.find(|b| b.id.in_([1, 6])).sort(|b| b.id.asc());
    let rows = join.join(|b| b.publisher).all().await.unwrap();
    assert_eq!(rows[0].publisher().found(), Some(&publisher(1)));
    assert_eq!(rows[1].publisher().found(), Some(&elsewhere));
    assert_eq!(db.dereference(&reference).await.unwrap(), Some(elsewhere));
    other.drop().await.unwrap();
}

async fn lists_of_references_are_joined_and_changed(db: &Db) {
    let books = library(db).await;
    let add = |id: i32| {
        books.update_one(
            |b| b.id.eq(1),
            move |b| b.shelves.add_to_set(DbRef::from(id)),
        )
    };
    for (id, modified) in [(1, 1), (9, 1), (2, 1), (9, 0)] {
        assert_eq!(add(id).await.unwrap().modified, modified);
    }
    let holds = || books.find(|b| b.shelves.has(DbRef::from(9)));
    assert_eq!(ids(&holds().all().await.unwrap()), [1]);
    let by_id = books.find(|b| b.shelves.any().id.eq(9));
    let plan = by_id.explain().await.unwrap();
    let filter = plan.command.get_document("filter").unwrap();
    assert_eq!(*filter, doc! {"shelves.$id": 9});
    assert_eq!(plan.indexes, ["shelves.$id_1"]);
    let here = books.find(|b| b.shelves.elem_match(|s| s.id.eq(9) & s.database.eq(None)));
    assert_eq!(ids(&here.all().await.unwrap()), [1]);
    let name = "x".to_owned();
    let there = books.find(|b| b.shelves.elem_match(|s| s.id.eq(9) & s.database.eq(name)));
    assert!(there.all().await.unwrap().is_empty());
    // MongoDB takes what stands behind `$id` in an element for a value.
    let operators = books.find(|b| b.shelves.elem_match(|s| s.id.gt(5) | s.id.eq(1)));
    let error = operators.all().await.unwrap_err().to_string();
    assert!(
        error.contains("write `eq`") && error.contains("$id"),
        "{error}"
    );
    let literal = doc! {"shelves": {"$elemMatch": {"$id": {"$gt": 5}}}};
    let literal = books.find(|_| raw(literal));
    assert!(literal.all().await.unwrap().is_empty());
    let all = books.count_documents(|b| b.shelves.all([DbRef::from(1), DbRef::from(2)]));
    assert_eq!(all.await.unwrap(), 1);

    let rows = holds().join(|b| b.shelves).all().await.unwrap();
    let expected = [
        Resolved::Found(publisher(1).into()),
        Resolved::Dangling(9),
        Resolved::Found(publisher(2).into()),
    ];
    assert_eq!(*rows[0].shelves(), expected);
    let pull = books.update_one(|b| b.id.eq(1), |b| b.shelves.pull(DbRef::from(9)));
    assert_eq!(pull.await.unwrap().modified, 1);
    assert_eq!(holds().all().await.unwrap(), []);
}

async fn one_field_refers_to_several_collections(db: &Db) {
    library(db).await;
    let creator = Creator {
        id: ObjectId::new(),
    };
    db.collection::<Creator>()
        .insert_one(&creator)
        .await
        .unwrap();
    let reviews = db.collection::<Review>();
    let plan = db.sync([Review::model()]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    let subjects = [
        Subject::Press(DbRef::from(1)),
        Subject::Maker(DbRef::to(&creator)),
        Subject::Press(DbRef::from(2)),
    ];
    for (id, subject) in (1..).zip(subjects.clone()) {
        reviews.insert_one(&Review { id, subject }).await.unwrap();
    }
    let about = reviews.find(|r| r.subject.eq(subjects[1].clone()));
    assert_eq!(about.explain().await.unwrap().indexes, ["subject_1"]);
    let join = || {
        let find = reviews.find_all().sort(|r| r.id.asc());
        find.join(|r| r.subject.press).join(|r| r.subject.maker)
    };
    let plans = join().explain().await.unwrap();
    let sent: Vec<&str> = plans
        .iter()
        .map(|plan| plan.command.get_str("find").unwrap())
        .collect();
    assert_eq!(sent.len(), 3);
    assert!(
        sent.contains(&"publishers") && sent.contains(&"creators"),
        "{sent:?}"
    );
    let rows = join().all().await.unwrap();
    assert_eq!(rows[0].press().found(), Some(&publisher(1)));
    assert!(rows[0].maker().is_absent());
    assert!(rows[1].press().is_absent());
    assert_eq!(rows[1].maker().found(), Some(&creator));
    assert_eq!(rows[2].press().found(), Some(&publisher(2)));

    let other = doc! {"_id": 9, "subject": {"$ref": "films", "$id": 1}};
    let refused = db
        .run_command(doc! {"insert": "reviews", "documents": [other]})
        .await
        .unwrap();
    assert!(refused.contains_key("writeErrors"), "{refused}");
}

async fn another_collection_is_not_read(db: &Db) {
    let wrong = doc! {"_id": 2, "publisher": {"$ref": "authors", "$id": 1}};
    insert(db, "books", wrong).await;
    let error = db
        .collection::<Book>()
        .get(&2)
        .await
        .unwrap_err()
        .to_string();
    for part in ["publisher", "`authors`", "`publishers`"] {
        assert!(error.contains(part), "{error}");
    }
    let subject = doc! {"_id": 1, "subject": {"$ref": "films", "$id": 1}};
    insert(db, "reviews", subject).await;
    let error = db
        .collection::<Review>()
        .get(&1)
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("subject") && error.contains("publishers or creators"),
        "{error}"
    );
}

async fn the_validator_knows_the_collection(db: &Db) {
    library(db).await;
    let wrong = [
        doc! {"$ref": "authors", "$id": 1},
        doc! {"$ref": "publishers", "$id": "x"},
        doc! {"$ref": "publishers"},
        doc! {"$ref": "publishers", "$id": 1, "$db": 7},
    ];
    for (id, publisher) in (20..).zip(wrong) {
        let document = doc! {"_id": id, "publisher": &publisher};
        let command = doc! {"insert": "books", "documents": [document]};
        let reply = db.run_command(command).await.unwrap();
        let errors = reply.get_array("writeErrors").unwrap();
        let code = errors[0].as_document().unwrap().get_i32("code").unwrap();
        assert!(
            code == Code::DOCUMENT_VALIDATION_FAILURE.number() || publisher.get_i32("$db").is_ok(),
            "{publisher}: {reply}"
        );
    }
    let extra = doc! {"$ref": "publishers", "$id": 1, "$db": "x", "more": 1};
    let document = doc! {
        "_id": 30, "publisher": extra, "reprint": Bson::Null, "shelves": [], "note": "",
    };
    insert(db, "books", document).await;
    book(1, DbRef::from(1)).validate().unwrap();
}

async fn untyped_references_lead_to_any_collection(db: &Db) {
    library(db).await;
    let links = db.collection::<Link>();
    let about = AnyDbRef::new("publishers", 2);
    links
        .insert_one(&Link {
            id: 1,
            about: about.clone(),
        })
        .await
        .unwrap();
    let other = AnyDbRef::new("films", "x").in_database("cinema");
    links
        .insert_one(&Link {
            id: 2,
            about: other.clone(),
        })
        .await
        .unwrap();

    let link = links
        .find_one(|l| l.about.eq(about))
        .await
        .unwrap()
        .unwrap();
    let reference = link.about.typed::<Publisher>().unwrap();
    assert_eq!(
        db.dereference(&reference).await.unwrap(),
        Some(publisher(2))
    );
    let link = links
        .find_one(|l| l.about.collection.eq("films"))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(link.about, other);
    assert!(link.about.typed::<Publisher>().is_err());
    let by_id = links.count_documents(|l| l.about.id.eq(Bson::from("x")));
    assert_eq!(by_id.await.unwrap(), 1);
}
