//! Indexes that are not needed.

use std::time::Duration;

use odm::advise::{AdviceCode, AdviceReport};
use odm::bson::{Document as BsonDocument, doc};
use odm::model::ModelMeta;
use odm::prelude::*;

use super::models::Report;
use super::{advised, figures, filled, only, run};

pub(super) async fn reports(db: &Db) {
    let report = |id| Report {
        id,
        title: format!("report {id}"),
        year: 1980,
        code: id,
    };
    filled(db, (0..20).map(report)).await;
}

pub(super) async fn without_delay(
    db: &Db,
    models: impl IntoIterator<Item = &'static ModelMeta>,
) -> AdviceReport {
    db.advise(models).unused_for(Duration::ZERO).await.unwrap()
}

pub(super) async fn unused_indexes_are_found(db: &Db) {
    reports(db).await;
    let report = without_delay(db, models![Report]).await;
    let advice = only(&report, AdviceCode::UnusedIndex);
    assert_eq!(advice.index.as_deref(), Some("title_1_year_1"));
    assert_eq!(figures(advice, ["ops", "days"]), [0, 0]);
    assert!(advice.figures.get_datetime("since").is_ok());
    assert!(advice.remedy.contains("from `Report`"), "{}", advice.remedy);
    // The unique index stays without advice, used or not.
    let reports = db.collection::<Report>();
    let found = reports.find(|r| r.title.eq("report 3")).all().await;
    assert_eq!(found.unwrap().len(), 1);
    let report = without_delay(db, models![Report]).await;
    assert!(report.is_empty(), "{report}");
}

pub(super) async fn counters_of_indexes_need_time(db: &Db) {
    reports(db).await;
    let report = advised(db, models![Report]).await;
    assert!(report.is_empty(), "{report}");
    let [text] = report.not_examined.as_slice() else {
        panic!("{report}");
    };
    assert!(
        text.starts_with("unused indexes of Report (`reports`)"),
        "{text}"
    );
}

async fn index(db: &Db, key: BsonDocument, name: &str, options: BsonDocument) {
    let mut index = doc! {"key": key, "name": name};
    index.extend(options);
    run(db, doc! {"createIndexes": "reports", "indexes": [index]}).await;
}

/// The names of the indexes that are redundant, and those that are unused.
fn index_names(report: &AdviceReport) -> Vec<(&str, &str)> {
    let advice = report.advice.iter();
    let mut names: Vec<_> = advice
        .map(|one| (one.code.as_str(), one.index.as_deref().unwrap()))
        .collect();
    names.sort_unstable();
    names
}

pub(super) async fn redundant_indexes_are_found(db: &Db) {
    reports(db).await;
    index(db, doc! {"title": -1}, "down", doc! {}).await;
    index(db, doc! {"title": 1}, "up", doc! {}).await;
    index(db, doc! {"year": 1, "title": -1}, "two", doc! {}).await;
    index(
        db,
        doc! {"year": -1, "title": 1, "code": 1},
        "three",
        doc! {},
    )
    .await;
    let report = advised(db, models![Report]).await;
    let code = "redundant-index";
    assert_eq!(
        index_names(&report),
        [(code, "down"), (code, "two"), (code, "up")]
    );
    let two = report
        .advice
        .iter()
        .find(|one| one.index.as_deref() == Some("two"));
    let two = two.unwrap();
    assert_eq!(figures(two, ["keys", "keys_of_other"]), [2, 3]);
    assert!(two.message.contains("first keys of `three`"), "{two:?}");
}

pub(super) async fn indexes_with_other_options_are_not_redundant(db: &Db) {
    reports(db).await;
    let some = doc! {"partialFilterExpression": {"year": {"$gt": 2000}}};
    index(db, doc! {"title": 1}, "sparse", doc! {"sparse": true}).await;
    index(db, doc! {"title": 1}, "partial", some).await;
    index(db, doc! {"title": 1}, "unique", doc! {"unique": true}).await;
    index(
        db,
        doc! {"title": 1},
        "fr",
        doc! {"collation": {"locale": "fr"}},
    )
    .await;
    index(db, doc! {"title": "hashed"}, "hashed", doc! {}).await;
    index(db, doc! {"title": 1, "year": -1}, "other", doc! {}).await;
    index(
        db,
        doc! {"year": 1, "code": 1},
        "hidden",
        doc! {"hidden": true},
    )
    .await;
    index(db, doc! {"year": 1}, "year", doc! {}).await;
    let report = advised(db, models![Report]).await;
    assert!(report.is_empty(), "{report}");
}

pub(super) async fn undeclared_indexes_are_named_as_such(db: &Db) {
    reports(db).await;
    index(db, doc! {"code": 1, "year": 1}, "foreign", doc! {}).await;
    let report = without_delay(db, models![Report]).await;
    let code = "unused-index";
    let names = [(code, "foreign"), (code, "title_1_year_1")];
    assert_eq!(index_names(&report), names);
    for one in &report.advice {
        let is_foreign = one.index.as_deref() == Some("foreign");
        assert_eq!(
            one.remedy.contains("no model declares"),
            is_foreign,
            "{one:?}"
        );
    }
}
