//! What shows and reads the models besides: diagrams, reports, repairs, scrubs, and models from stored data.

use odm::prelude::*;
use odm::pull::Sample;
use odm::repair::Answer;

use super::{Author, Book, Film, Medium, Praise, Review, fill, film};
use crate::case::cases;

cases![
    a_diagram_has_the_fields_of_all_variants,
    a_report_lists_the_collection_once,
    checks_filter_by_a_variant,
    repairs_reach_references_in_variants,
    scrubs_read_each_document_once,
    pulled_models_read_all_variants,
    deletes_act_on_references_in_variants,
    lock_files_have_the_variants,
    limits_count_the_tag,
];

async fn a_diagram_has_the_fields_of_all_variants(_: &Db) {
    let diagram =
        odm::schema::diagram(models![Author, Medium, Book, Film, Review, Praise]).unwrap();
    assert_eq!(diagram.matches("[\"media\"]").count(), 1, "{diagram}");
    for line in [
        "string isbn",
        "int minutes",
        "string label",
        "string kind",
        "int pages",
    ] {
        assert!(diagram.contains(line), "{line}: {diagram}");
    }
    assert_eq!(diagram.matches("_id PK").count(), 4, "{diagram}");
    for line in ["books / Book.author", "praise / book", "reviews / medium"] {
        assert!(diagram.contains(line), "{line}: {diagram}");
    }
}

async fn a_report_lists_the_collection_once(db: &Db) {
    fill(db).await;
    let report = db
        .report(models![Author, Medium, Book, Film])
        .await
        .unwrap();
    let html = report.html();
    for text in [
        "minutes",
        "isbn",
        "soundRecording",
        ">book</code>",
        "isbn_1_film",
    ] {
        assert!(html.contains(text), "{text}: {html}");
    }
    assert_eq!(report.models.len(), 2);
}

async fn checks_filter_by_a_variant(db: &Db) {
    fill(db).await;
    let report = db
        .check(models![Book])
        .filter::<Book>(|b| b.pages.gt(100))
        .await
        .unwrap();
    assert_eq!(report.read(), 2);
    let report = db
        .check(models![Medium])
        .filter::<Film>(|_| Filter::all())
        .await
        .unwrap();
    assert_eq!(report.read(), 2);
    let all = db.check(models![Book, Film]).await.unwrap();
    assert_eq!((all.read(), all.collections.len()), (6, 1));
}

async fn repairs_reach_references_in_variants(db: &Db) {
    fill(db).await;
    db.collection::<Book>()
        .delete_one(|b| b.id.eq(2))
        .await
        .unwrap();
    let plan = db
        .repair(models![Medium, Film])
        .answer::<Film, _, _>(|f| f.based_on, Answer::SetNull)
        .plan()
        .await
        .unwrap();
    plan.run().await.unwrap();
    let film = db.collection::<Film>().get(&12).await.unwrap().unwrap();
    assert_eq!(film.based_on, None);
    assert_eq!(film.minutes, 107);
    assert!(db.check(models![Medium]).await.unwrap().is_sound());
}

async fn scrubs_read_each_document_once(db: &Db) {
    fill(db).await;
    let report = db.scrub(models![Book, Medium, Film]).await.unwrap();
    assert_eq!(report.documents, 6);
}

async fn pulled_models_read_all_variants(db: &Db) {
    fill(db).await;
    let source = db
        .pull()
        .sample(Sample::All)
        .only(["media"])
        .await
        .unwrap()
        .to_source();
    for line in [
        "struct Media ",
        "kind: String",
        "isbn: Option<String>",
        "minutes: Option<i32>",
    ] {
        assert!(source.contains(line), "{line}: {source}");
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(
    collection = "owners",
    has_many(cats: Cat, by = owner, on_delete = cascade),
    has_many(dogs: Dog, by = owner, on_delete = set_null),
)]
struct Owner {
    #[serde(rename = "_id")]
    id: i32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "pets")]
#[serde(tag = "t")]
enum Pet {
    Cat(Cat),
    Dog(Dog),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(variant_of = Pet)]
struct Cat {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index)]
    owner: Ref<Owner>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(variant_of = Pet)]
struct Dog {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index)]
    owner: Option<Ref<Owner>>,
}

async fn deletes_act_on_references_in_variants(db: &Db) {
    let plan = db.sync(models![Owner, Pet]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    let owners = db.collection::<Owner>();
    owners
        .insert_many([Owner { id: 1 }, Owner { id: 2 }])
        .await
        .unwrap();
    for (id, owner) in [(1, 1), (2, 2)] {
        let owner = Ref::from(owner);
        db.collection::<Cat>()
            .insert_one(Cat { id, owner })
            .await
            .unwrap();
        let (id, owner) = (10 + id, Some(owner));
        db.collection::<Dog>()
            .insert_one(Dog { id, owner })
            .await
            .unwrap();
    }
    let delete = || owners.delete_one(|o| o.id.eq(1)).with_dependents();
    let plan = delete().plan().await.unwrap();
    let shown = format!("{plan:?}");
    assert!(shown.contains("Cat"), "{shown}");
    delete().await.unwrap();
    let pets = db
        .collection::<Pet>()
        .find_all()
        .sort(|p| p.id.asc())
        .all()
        .await
        .unwrap();
    assert_eq!(
        pets,
        [
            Pet::Cat(Cat {
                id: 2,
                owner: Ref::from(2)
            }),
            Pet::Dog(Dog {
                id: 11,
                owner: None
            }),
            Pet::Dog(Dog {
                id: 12,
                owner: Some(Ref::from(2))
            }),
        ]
    );
    let checked = db.collection::<Dog>().insert_one(Dog {
        id: 13,
        owner: Some(Ref::from(9)),
    });
    assert!(checked.check_references().await.is_err());
}

async fn lock_files_have_the_variants(_: &Db) {
    let lock = odm::schema::lock(models![Book, Medium, Film]).unwrap();
    let text = lock.to_string();
    for line in [
        "collection media model Medium version 1\n",
        "  field <book>: object tagging=\"internal kind\"\n",
        "  field <book>.author: string required ref=\"authors\"\n",
        "  field <soundRecording>.label: string required\n",
        "  index isbn_1_book: ",
        "  relation Book.praise: ",
        "  relation reviews: ",
        "  rule \"Book.a book has pages\": ",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    assert_eq!(text.matches("collection ").count(), 1, "{text}");
    assert_eq!(odm::schema::Lock::parse(&text).unwrap(), lock);
    let changes = |old: &str| {
        let old = odm::schema::Lock::parse(old).unwrap();
        let changes = odm::schema::Lock::compare(&old, &lock);
        let changes: Vec<_> = changes.iter().map(ToString::to_string).collect();
        changes.join("\n")
    };
    let longer = changes(&text.replace("field <book>.pages: int", "field <book>.pages: long"));
    assert!(
        longer.contains("needs a rewrite: Medium.<book>.pages"),
        "{longer}"
    );
    let renamed = changes(&text.replace("<film>.minutes", "<film>.length"));
    assert!(renamed.contains("<film>.minutes"), "{renamed}");
    let film = text
        .lines()
        .filter(|line| !line.contains("<film>") && !line.contains("isbn_1_film"));
    let without_films: Vec<_> = film.collect();
    let added = changes(&(without_films.join("\n") + "\n"));
    assert!(
        added.contains("compatible: Medium.<film>: a variant is added"),
        "{added}"
    );

    let alone = odm::schema::lock(models![Book]).unwrap_err();
    assert!(alone.is_declaration());
    assert!(alone.to_string().contains("list `Medium`"), "{alone}");
}

async fn limits_count_the_tag(db: &Db) {
    const MAX: usize = 16 * 1024 * 1024;
    let films = db.collection::<Film>();
    let of_title = |length| film(1, &"x".repeat(length), 1);
    let stored = odm::bson::serialize_to_vec(&Medium::Film(of_title(0))).unwrap();
    let fits = MAX - stored.len();
    let error = films.insert_one(of_title(fits + 1)).await.unwrap_err();
    assert!(
        error
            .to_string()
            .contains("the document has 16777217 bytes"),
        "{error}"
    );
    assert_eq!(error.path(), Some("title"));
    let whole = Medium::Film(of_title(fits + 1));
    let error = db
        .collection::<Medium>()
        .insert_one(whole)
        .await
        .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("the document has 16777217 bytes"),
        "{error}"
    );
    films.insert_one(of_title(fits)).await.unwrap();
    assert_eq!(films.find_all().count().await.unwrap(), 1);
}
