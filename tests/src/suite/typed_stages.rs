//! Typed ranges, facets, pages, views, and values beside documents.

use odm::bson::doc;
use odm::expr::text_score;
use odm::facets;
use odm::geo::Point;
use odm::output;
use odm::pipeline::{
    Bounds, DocumentCount, Pipeline, ValueCount, WhenMatched, WhenNotMatched, pipeline,
};
use odm::prelude::*;

use super::typed_lookups::{Author, Film, Name, Work, authors, filled, works};
use crate::case::cases as suite;

suite![
    buckets_have_the_documents_of_their_ranges,
    other_values_are_in_the_bucket_none,
    facets_run_several_pipelines,
    values_beside_documents,
    results_with_hidden_fields_are_not_written,
    views_are_computed_by_typed_pipelines,
    pages_have_totals,
    distances_and_scores_stand_beside_documents,
    parts_of_documents_replace_them,
];

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Range {
    #[serde(rename = "_id")]
    from: Option<f64>,
    works: i64,
    titles: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Years {
    span: Bounds<i32>,
    works: i64,
    mean: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct WholeRange {
    #[serde(rename = "_id")]
    from: Option<i32>,
    ids: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Half {
    #[serde(rename = "_id")]
    from: Option<f64>,
    works: i64,
}

async fn buckets_have_the_documents_of_their_ranges(db: &Db) {
    let (_, of_works) = filled(db).await;
    let ranges = pipeline::<Work>().sort(|w| w.id.asc()).bucket(
        |w| w.price.expr().or(-1.0),
        [0.0, 8.0, 20.0],
        |w, range| {
            output!(Range {
                from: range.key(),
                works: range.count(),
                titles: range.push(w.title),
            })
        },
    );
    let found = of_works.aggregate(ranges).all().await.unwrap();
    let range = |from, titles: &[&str]| Range {
        from,
        works: i64::try_from(titles.len()).unwrap(),
        titles: titles.iter().map(|title| (*title).to_owned()).collect(),
    };
    let expected = [
        range(None, &["Ulysses", "Beowulf"]),
        range(Some(0.0), &["Lost"]),
        range(Some(8.0), &["Emma", "Persuasion"]),
    ];
    assert_eq!(found, expected);

    let years = pipeline::<Work>().bucket_auto(
        |w| w.year,
        2,
        |w, range| {
            output!(Years {
                span: range.key().expr(),
                works: range.count(),
                mean: range.sum(&w.year) / range.count(),
            })
        },
    );
    let found = of_works.aggregate(years).all().await.unwrap();
    let years = |min, max, all: &[i32]| Years {
        span: Bounds { min, max },
        works: i64::try_from(all.len()).unwrap(),
        mean: f64::from(all.iter().sum::<i32>()) / f64::from(u32::try_from(all.len()).unwrap()),
    };
    let expected = [
        years(975, 1900, &[975, 1815, 1817]),
        years(1900, 1922, &[1900, 1922]),
    ];
    assert_eq!(found, expected);
    // The key is a boundary, of its type.
    let halves = pipeline::<Work>().bucket(
        |w| w.year,
        [0.5, 1900.5, 3000.0],
        |_, range| {
            output!(Half {
                from: range.key(),
                works: range.count(),
            })
        },
    );
    let found = of_works.aggregate(halves).all().await.unwrap();
    let half = |from, works| Half {
        from: Some(from),
        works,
    };
    assert_eq!(found, [half(0.5, 4), half(1900.5, 1)]);
    // Boundaries that don't ascend are the mistake of the caller, which MongoDB reports.
    let wrong = pipeline::<Work>().bucket(
        |w| w.year,
        [2000, 1000],
        |_, range| {
            output!(DocumentCount {
                count: range.count()
            })
        },
    );
    let error = of_works.aggregate(wrong).all().await.unwrap_err();
    assert_eq!(
        error.code().map(odm::error::Code::number),
        Some(40194),
        "{error}"
    );
}

async fn other_values_are_in_the_bucket_none(db: &Db) {
    let of_works = db.collection::<Work>();
    let insert = doc! {"insert": "works", "documents": [
        {"_id": 1, "price": 5_i64},
        {"_id": 2, "price": "five"},
        {"_id": 3},
        {"_id": 4, "price": f64::NAN},
        {"_id": 5, "price": [5.0]},
        {"_id": 6, "price": 10},
    ]};
    db.run_command(insert).await.unwrap();
    let ranges = pipeline::<Work>()
        .sort(|w| w.id.asc())
        .bucket(
            |w| w.price,
            [0, 10],
            |w, range| {
                output!(WholeRange {
                    from: range.key(),
                    ids: range.push(w.id.expr().to_text()),
                })
            },
        )
        .sort(|r| r.from.asc());
    let found = of_works.aggregate(ranges).all().await.unwrap();
    let found: Vec<_> = found.iter().map(|one| one.ids.concat()).collect();
    assert_eq!(found, ["23456", "1"]);
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
#[odm(result)]
struct Page {
    works: Vec<Work>,
    years: Vec<ValueCount<f64>>,
    authors: Vec<Name>,
    total: Vec<DocumentCount>,
}

async fn facets_run_several_pipelines(db: &Db) {
    let (_, of_works) = filled(db).await;
    let page = |least: i32| {
        pipeline::<Work>()
            .match_(|w| w.year.gte(least))
            .facet(|works| {
                facets!(Page {
                    works: works.clone().sort(|w| w.year.asc()).skip(1).limit(2),
                    years: works
                        .clone()
                        .count_by(|w| w.year / 100 * 100)
                        .raw(doc! {"$sort": {"_id": 1}})
                        .match_(|y| y.count.gt(0)),
                    authors: works
                        .clone()
                        .lookup_one(|w| w.author)
                        .project(|(_, a)| output!(Name { name: a.name })),
                    total: works.count(),
                })
            })
    };
    let error = of_works.aggregate(page(0)).all().await;
    // `1815 / 100 * 100` is a double.
    let page_one = error.unwrap();
    let ids: Vec<i32> = page_one[0].works.iter().map(|work| work.id).collect();
    assert_eq!(ids, [1, 2]);
    assert_eq!(page_one[0].total, [DocumentCount { count: 5 }]);
    assert_eq!(page_one[0].authors.len(), 3);
    let empty = of_works.aggregate(page(3000)).all().await.unwrap();
    let nothing = Page {
        works: Vec::new(),
        years: Vec::new(),
        authors: Vec::new(),
        total: Vec::new(),
    };
    assert_eq!(empty, [nothing]);
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Priced {
    #[serde(rename = "_id")]
    id: i32,
    age: i32,
    translator: Option<i32>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Placed {
    #[serde(rename = "_id")]
    id: i32,
    translator: Ref<Author>,
    position: i64,
}

async fn values_beside_documents(db: &Db) {
    let (_, of_works) = filled(db).await;
    let priced = pipeline::<Work>()
        .add_field(|w| 2000 - w.year.expr())
        .match_(|(_, age)| age.lt(500))
        .add_field(|(w, _)| w.translators.expr().first_item())
        .sort(|((w, age), _)| age.desc().then(w.id.asc()))
        .limit(3)
        .project(|((w, age), _)| {
            output!(Priced {
                id: w.id,
                age: age,
                translator: w.translators.expr().size(),
            })
        });
    let found = of_works.aggregate(priced).all().await.unwrap();
    let found: Vec<_> = found
        .iter()
        .map(|one| (one.id, one.age, one.translator))
        .collect();
    let expected = [(1, 185, Some(0)), (2, 183, Some(2)), (5, 100, Some(0))];
    assert_eq!(found, expected);
    let second = pipeline::<Work>()
        .unwind_with_position(|w| w.translators)
        .match_(|((work, _), position)| position.eq(1) & work.id.gt(0))
        .project(|((work, translator), position)| {
            output!(Placed {
                id: work.id,
                translator: translator,
                position: position,
            })
        })
        .sort(|p| p.id.asc());
    let found = of_works.aggregate(second).all().await.unwrap();
    let found: Vec<_> = found
        .iter()
        .map(|one| (one.id, *one.translator.id(), one.position))
        .collect();
    assert_eq!(found, [(2, 3, 1), (4, 9, 1)]);
    // No function of a window.
    let plain = pipeline::<Work>()
        .set_window_fields(
            |w| w.id.asc(),
            |w, _| output!(DocumentCount { count: w.id }),
        )
        .limit(2);
    assert_eq!(of_works.aggregate(plain).all().await.unwrap().len(), 2);
    // An element of a list, or none.
    let insert = doc! {"insert": "works", "documents": [
        {"_id": 10, "translators": 2}, {"_id": 11}, {"_id": 12, "translators": null},
    ]};
    db.run_command(insert).await.unwrap();
    let each = |works: Pipeline<Work>| {
        works
            .unwind_or_none(|w| w.translators)
            .sort(|(w, _)| w.id.asc())
            .count()
    };
    let all = of_works.aggregate(each(pipeline::<Work>())).first().await;
    assert_eq!(all.unwrap().unwrap().count, 10);
    let some = pipeline::<Work>().unwind(|w| w.translators).count();
    let some = of_works.aggregate(some).first().await.unwrap();
    assert_eq!(some.unwrap().count, 6);
}

async fn results_with_hidden_fields_are_not_written(db: &Db) {
    let films = db.collection::<Film>();
    let error = films.aggregate(pipeline::<Film>().out()).await.unwrap_err();
    assert!(
        error.is_usage() && error.to_string().contains("Film"),
        "{error}"
    );
    let merge = pipeline::<Film>().merge(WhenMatched::Merge(WhenNotMatched::Insert));
    let error = films.aggregate(merge).await.unwrap_err();
    assert!(error.is_usage(), "{error}");
}

fn cheap_works() -> Pipeline<Work, Cheap> {
    pipeline::<Work>()
        .match_(|w| w.price.lte(12.0))
        .lookup_or_none(|w| w.author)
        .project(|(w, author)| {
            output!(Cheap {
                id: w.id,
                title: w.title.expr().to_upper(),
                author: author.name.expr(),
            })
        })
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "cheap", view(on = Work, pipeline = cheap_works))]
struct Cheap {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
    author: Option<String>,
}

/// The look-up of a view reads the collection that the handle has chosen.
async fn views_are_computed_by_typed_pipelines(db: &Db) {
    let tenant = db.with_collection_names(|name| format!("tenant_{name}"));
    for (db, name) in [(db, "Austen"), (&tenant, "Shelley")] {
        let mut all = authors();
        name.clone_into(&mut all[0].name);
        let plan = db.sync(models![Cheap, Work, Author]).plan().await.unwrap();
        plan.apply(Allow::CREATE).await.unwrap();
        db.collection::<Author>().insert_many(all).await.unwrap();
        db.collection::<Work>().insert_many(works()).await.unwrap();
        let again = db.sync(models![Cheap, Work, Author]).plan().await.unwrap();
        assert!(again.is_empty(), "{again}");
        let cheap = db.collection::<Cheap>();
        let found = cheap.find(|c| c.id.ne(2)).sort(|c| c.id.asc());
        let found = found.all().await.unwrap();
        let expected = [(1, "EMMA", Some(name)), (5, "LOST", None)];
        let found: Vec<_> = found
            .iter()
            .map(|one| (one.id, one.title.as_str(), one.author.as_deref()))
            .collect();
        assert_eq!(found, expected);
        // A pipeline goes on from the view.
        let count = cheap.aggregate(pipeline::<Cheap>().count()).first().await;
        assert_eq!(count.unwrap().unwrap().count, 3);
    }
}

async fn pages_have_totals(db: &Db) {
    let (_, of_works) = filled(db).await;
    let page = |skip, limit| {
        let page = pipeline::<Work>()
            .match_(|w| w.year.gt(1000))
            .sort(|w| w.id.asc())
            .page(skip, limit);
        let of_works = of_works.clone();
        async move { of_works.aggregate(page).all().await.unwrap().remove(0) }
    };
    let ids = |works: &[Work]| works.iter().map(|work| work.id).collect::<Vec<_>>();
    let first = page(0, 3).await;
    assert_eq!((ids(&first.items), first.total), (vec![1, 2, 3], 4));
    let second = page(3, 3).await;
    assert_eq!((ids(&second.items), second.total), (vec![5], 4));
    let beyond = page(6, 3).await;
    assert_eq!((ids(&beyond.items), beyond.total), (vec![], 4));
    of_works.delete_all().await.unwrap();
    let none = page(0, 3).await;
    assert_eq!((ids(&none.items), none.total), (vec![], 0));
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "cafes", index(at = "2dsphere"), text(name))]
struct Cafe {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
    at: Point,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Scored {
    #[serde(rename = "_id")]
    id: i32,
    score: f64,
}

async fn distances_and_scores_stand_beside_documents(db: &Db) {
    let plan = db.sync(models![Cafe]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    let cafes = db.collection::<Cafe>();
    let cafe = |id, name: &str, longitude| Cafe {
        id,
        name: name.to_owned(),
        at: Point::new(longitude, 52.0).unwrap(),
    };
    let all = [
        cafe(1, "the red house", 13.02),
        cafe(2, "house of houses", 13.01),
        cafe(3, "the boat", 13.5),
    ];
    cafes.insert_many(all).await.unwrap();
    let here = Point::new(13.0, 52.0).unwrap();
    let near = pipeline::<Cafe>()
        .geo_near(|c| c.at, here, ..=10_000.0)
        .match_(|(_, metres)| metres.gt(100.0))
        .project(|(c, metres)| {
            output!(Scored {
                id: c.id,
                score: metres,
            })
        });
    let found = cafes.aggregate(near).all().await.unwrap();
    let ids: Vec<i32> = found.iter().map(|one| one.id).collect();
    assert_eq!(ids, [2, 1]);
    assert_eq!(Some(found[0].score.round()), Some(685.0));
    let relevant = pipeline::<Cafe>()
        .match_(|_| Filter::text("house"))
        .add_field(|_| text_score())
        .sort(|(c, score)| score.desc().then(c.id.asc()))
        .project(|(c, score)| {
            output!(Scored {
                id: c.id,
                score: score,
            })
        });
    let found = cafes.aggregate(relevant).all().await.unwrap();
    let found: Vec<_> = found.iter().map(|one| (one.id, Some(one.score))).collect();
    assert_eq!(found, [(2, Some(1.5)), (1, Some(0.75))]);
}

async fn parts_of_documents_replace_them(db: &Db) {
    let (_, of_works) = filled(db).await;
    let authors = pipeline::<Work>()
        .lookup_one(|w| w.author)
        .replace_with(|(_, author)| author.expr())
        .sort(|a| a.id.asc());
    let found = of_works.aggregate(authors).all().await.unwrap();
    let ids: Vec<i32> = found.iter().map(|one| one.id).collect();
    assert_eq!(ids, [1, 1, 2]);
}
