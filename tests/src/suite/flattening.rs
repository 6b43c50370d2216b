//! Flattened maps beside declared fields.

use std::collections::BTreeMap;

use odm::bson::Bson;
use odm::prelude::*;

use crate::case::cases;

cases![
    a_flattened_map_is_stored_and_read,
    a_second_id_is_not_stored,
    a_declared_name_is_not_stored_twice,
    replacements_and_upserts_store_no_key_twice,
    embedded_documents_store_no_key_twice,
    a_tag_is_not_stored_twice,
];

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "pages")]
struct Page {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
    meta: Meta,
    #[odm(embed(few, max = 5))]
    history: Vec<Meta>,
    tagged: Tagged,
    #[serde(flatten)]
    extra: BTreeMap<String, i32>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Embedded)]
struct Meta {
    author: String,
    #[serde(flatten)]
    extra: BTreeMap<String, Bson>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
#[serde(tag = "kind")]
enum Tagged {
    Map(BTreeMap<String, i32>),
}

fn page(id: i32, extra: &str) -> Page {
    Page {
        id,
        title: "t".to_owned(),
        meta: meta("b"),
        history: vec![meta("c")],
        tagged: Tagged::Map([("d".to_owned(), 4)].into()),
        extra: [(extra.to_owned(), 1), ("other".to_owned(), 2)].into(),
    }
}

fn meta(extra: &str) -> Meta {
    Meta {
        author: "Ada".to_owned(),
        extra: [(extra.to_owned(), Bson::Int32(1))].into(),
    }
}

/// Asserts that nothing was sent because of this path of `Page`.
#[track_caller]
fn refused<T: std::fmt::Debug>(outcome: odm::Result<T>, path: &str) {
    let error = outcome.unwrap_err();
    assert!(error.is_encode(), "{error}");
    assert_eq!(error.path(), Some(path), "{error}");
    assert_eq!(error.model(), Some("Page"), "{error}");
    let key = path.rsplit('.').next().unwrap();
    let message =
        format!("Page.{path}: the value can't be encoded as BSON: the key `{key}` occurs twice");
    assert!(error.to_string().contains(&message), "{error}");
}

async fn a_flattened_map_is_stored_and_read(db: &Db) {
    let pages = db.collection::<Page>();
    pages.insert_one(page(1, "extra")).await.unwrap();
    assert_eq!(pages.get(&1).await.unwrap(), Some(page(1, "extra")));
}

async fn a_second_id_is_not_stored(db: &Db) {
    let pages = db.collection::<Page>();
    refused(pages.insert_one(page(1, "_id")).await, "_id");
    let several = [page(1, "a"), page(2, "_id")];
    refused(pages.insert_many(several).await, "_id");
    let written = pages.bulk_write(|w| [w.insert_one(page(1, "a")), w.insert_one(page(2, "_id"))]);
    refused(written.await, "_id");
    assert_eq!(pages.find_all().all().await.unwrap(), []);
}

async fn a_declared_name_is_not_stored_twice(db: &Db) {
    let pages = db.collection::<Page>();
    refused(pages.insert_one(page(1, "title")).await, "title");
    refused(pages.insert_many([page(1, "meta")]).await, "meta");
    assert_eq!(pages.find_all().all().await.unwrap(), []);
    refused(page(1, "title").validate(), "title");
}

async fn replacements_and_upserts_store_no_key_twice(db: &Db) {
    let pages = db.collection::<Page>();
    pages.insert_one(page(1, "a")).await.unwrap();
    let replaced = pages.replace_one(|p| p.id.eq(1), page(1, "title"));
    refused(replaced.await, "title");
    let upserted = pages.replace_one(|p| p.id.eq(2), page(2, "_id"));
    refused(upserted.upsert(true).await, "_id");
    let found = pages.find_one_and_replace(|p| p.id.eq(1), page(1, "_id"));
    refused(found.await, "_id");
    let bulk = pages.bulk_write(|w| [w.replace_one(|p| p.id.eq(1), page(1, "title"))]);
    refused(bulk.await, "title");
    let mut loaded = pages.load(&1).await.unwrap().unwrap();
    loaded.extra.insert("title".to_owned(), 3);
    refused(pages.save(&mut loaded).await, "title");
    assert_eq!(pages.find_all().all().await.unwrap(), [page(1, "a")]);
}

async fn embedded_documents_store_no_key_twice(db: &Db) {
    let pages = db.collection::<Page>();
    let twice = || meta("author");
    let mut nested = page(1, "a");
    nested.history.push(twice());
    refused(pages.insert_one(&nested).await, "history.1.author");
    pages.insert_one(page(1, "a")).await.unwrap();
    let set = pages.update_one(|p| p.id.eq(1), |p| p.meta.set(twice()));
    refused(set.await, "meta.author");
    let upsert = pages.update_one(|p| p.id.eq(2), |p| p.meta.set_on_insert(twice()));
    refused(upsert.upsert(true).await, "meta.author");
    let push = pages.update_one(|p| p.id.eq(1), |p| p.history.push(twice()));
    refused(push.await, "history.0.author");
    let all = pages.update_one(|p| p.id.eq(1), |p| p.history.set(vec![meta("x"), twice()]));
    refused(all.await, "history.1.author");
    let found = pages.find(|p| p.meta.eq(twice())).all();
    refused(found.await, "meta.author");
    assert_eq!(pages.find_all().all().await.unwrap(), [page(1, "a")]);
}

async fn a_tag_is_not_stored_twice(db: &Db) {
    let pages = db.collection::<Page>();
    let mut tagged = page(1, "a");
    tagged.tagged = Tagged::Map([("kind".to_owned(), 1)].into());
    refused(pages.insert_one(&tagged).await, "tagged.kind");
    pages.insert_one(page(1, "a")).await.unwrap();
    let set = pages.update_one(|p| p.id.eq(1), |p| p.tagged.set(tagged.tagged));
    refused(set.await, "tagged.kind");
}
