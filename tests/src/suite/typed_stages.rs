//! Typed stages over several documents: look-ups, ranges, windows, facets, and pipelines that write.

use std::collections::BTreeMap;

use odm::bson::doc;
use odm::expr::{Unit, text_score};
use odm::facets;
use odm::geo::Point;
use odm::output;
use odm::pipeline::{
    Bounds, DocumentCount, Pipeline, ValueCount, WhenMatched, WhenNotMatched, partition_by,
    pipeline,
};
use odm::prelude::*;

use crate::case::cases as suite;
use crate::polls::dropped_after;

suite![
    look_ups_find_what_rust_finds,
    look_ups_go_on_from_the_documents_found,
    documents_without_a_key_find_nothing,
    look_ups_read_one_model_of_several_in_a_collection,
    look_ups_read_the_chosen_collections,
    graph_look_ups_reach_ancestors_and_subtrees,
    buckets_have_the_documents_of_their_ranges,
    other_values_are_in_the_bucket_none,
    windows_compute_as_rust_does,
    windows_of_dates_and_of_empty_frames,
    facets_run_several_pipelines,
    values_beside_documents,
    accumulators_of_several_values,
    merged_results_are_documents_of_the_model,
    out_replaces_the_collection,
    results_with_hidden_fields_are_not_written,
    pipelines_run_in_transactions_and_are_dropped,
    nested_windows_are_refused,
    views_are_computed_by_typed_pipelines,
    pages_have_totals,
    distances_and_scores_stand_beside_documents,
    parts_of_documents_replace_them,
];

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "authors", has_many(works: Work, by = author), has_many(prizes: Prize, by = winner))]
struct Author {
    #[serde(rename = "_id")]
    id: i32,
    name: String,
    born: i32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "works", index(author))]
struct Work {
    #[serde(rename = "_id")]
    id: i32,
    #[serde(rename = "authorId")]
    author: Option<Ref<Author>>,
    #[odm(references(many, max = 10))]
    translators: Vec<Ref<Author>>,
    title: String,
    year: i32,
    price: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "prizes", index(winner))]
struct Prize {
    #[serde(rename = "_id")]
    id: i32,
    winner: Ref<Author>,
}

fn authors() -> Vec<Author> {
    let author = |id, name: &str, born| Author {
        id,
        name: name.to_owned(),
        born,
    };
    vec![
        author(1, "Austen", 1775),
        author(2, "Joyce", 1882),
        author(3, "Woolf", 1882),
    ]
}

fn works() -> Vec<Work> {
    let work = |id, author: Option<i32>, translators: &[i32], title: &str, year, price| Work {
        id,
        author: author.map(Ref::from),
        translators: translators.iter().copied().map(Ref::from).collect(),
        title: title.to_owned(),
        year,
        price,
    };
    vec![
        work(1, Some(1), &[], "Emma", 1815, Some(8.0)),
        work(2, Some(1), &[2, 3], "Persuasion", 1817, Some(12.0)),
        work(3, Some(2), &[3], "Ulysses", 1922, None),
        // Refers to nobody.
        work(4, None, &[1, 9], "Beowulf", 975, Some(30.0)),
        // Refers to an author who is not there.
        work(5, Some(8), &[], "Lost", 1900, Some(4.0)),
    ]
}

async fn filled(db: &Db) -> (Collection<Author>, Collection<Work>) {
    let (of_authors, of_works) = (db.collection::<Author>(), db.collection::<Work>());
    of_authors.insert_many(authors()).await.unwrap();
    of_works.insert_many(works()).await.unwrap();
    let prize = |id, winner: i32| Prize {
        id,
        winner: Ref::from(winner),
    };
    let prizes = [prize(1, 1), prize(2, 2), prize(3, 2)];
    db.collection::<Prize>().insert_many(prizes).await.unwrap();
    (of_authors, of_works)
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Shelf {
    name: String,
    titles: Vec<String>,
    prizes: i32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
#[odm(result)]
struct Written {
    title: String,
    author: Option<Author>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Age {
    title: String,
    age: i32,
}

async fn look_ups_find_what_rust_finds(db: &Db) {
    let (of_authors, of_works) = filled(db).await;
    // Two inverse relations, the second one of a document that has the first beside it.
    let shelves = pipeline::<Author>()
        .sort(|a| a.id.asc())
        .lookup_with(
            |a| a.works,
            |works| works.match_(|w| w.year.gt(1815)).sort(|w| w.year.desc()),
        )
        .lookup(|(a, _)| a.prizes)
        .project(|((a, works), prizes)| {
            output!(Shelf {
                name: a.name,
                titles: works.expr().map(|work| work.title),
                prizes: prizes.expr().size(),
            })
        });
    let shelf = |name: &str, titles: &[&str], prizes| Shelf {
        name: name.to_owned(),
        titles: titles.iter().map(|title| (*title).to_owned()).collect(),
        prizes,
    };
    let expected = [
        shelf("Austen", &["Persuasion"], 1),
        shelf("Joyce", &["Ulysses"], 2),
        shelf("Woolf", &[], 0),
    ];
    assert_eq!(of_authors.aggregate(shelves).all().await.unwrap(), expected);

    // A reference: with and without the documents that find none.
    let ages = pipeline::<Work>()
        .lookup_one(|w| w.author)
        .match_(|(work, author)| author.born.lt(1800) & work.id.gt(0))
        .sort(|(work, author)| author.name.asc().then(work.year.desc()))
        .project(|(w, a)| {
            output!(Age {
                title: w.title,
                age: w.year - a.born
            })
        });
    let age = |title: &str, age| Age {
        title: title.to_owned(),
        age,
    };
    let expected = [age("Persuasion", 42), age("Emma", 40)];
    assert_eq!(of_works.aggregate(ages).all().await.unwrap(), expected);
    let written = pipeline::<Work>()
        .sort(|w| w.id.asc())
        .lookup_or_none(|w| w.author)
        .project(|(w, a)| {
            output!(Written {
                title: w.title,
                author: a.expr(),
            })
        });
    let found = of_works.aggregate(written).all().await.unwrap();
    let expected: Vec<Written> = works()
        .into_iter()
        .map(|work| Written {
            title: work.title,
            author: authors().into_iter().find(|author| {
                work.author
                    .as_ref()
                    .is_some_and(|one| *one.id() == author.id)
            }),
        })
        .collect();
    assert_eq!(found, expected);
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Translated {
    #[serde(rename = "_id")]
    translator: String,
    titles: Vec<String>,
    works: i64,
}

/// From works to their translators, one at a time, and on to the works of those.
async fn look_ups_go_on_from_the_documents_found(db: &Db) {
    let (_, of_works) = filled(db).await;
    let translated = pipeline::<Work>()
        .sort(|w| w.id.asc())
        .lookup_one(|w| w.translators)
        .lookup(|(_, translator)| translator.works)
        .group_by(
            |((_, translator), _)| translator.name,
            |((work, _), works), group| {
                output!(Translated {
                    translator: group.key(),
                    titles: group.push(work.title),
                    works: group.sum(works.expr().size()),
                })
            },
        )
        .sort(|t| t.translator.asc());
    let found = of_works.aggregate(translated).all().await.unwrap();
    let mut expected: BTreeMap<String, Translated> = BTreeMap::new();
    for work in works() {
        for translator in authors() {
            if !work
                .translators
                .iter()
                .any(|one| *one.id() == translator.id)
            {
                continue;
            }
            let own = works();
            let own = own.iter().filter(|work| {
                work.author
                    .as_ref()
                    .is_some_and(|one| *one.id() == translator.id)
            });
            let entry = expected.entry(translator.name.clone());
            let entry = entry.or_insert_with(|| Translated {
                translator: translator.name.clone(),
                titles: Vec::new(),
                works: 0,
            });
            entry.titles.push(work.title.clone());
            entry.works += i64::try_from(own.count()).unwrap();
        }
    }
    let expected: Vec<Translated> = expected.into_values().collect();
    assert_eq!(found, expected);
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "countries", has_many(cities: City, by = country, key = code))]
struct Country {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(unique(sparse))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    code: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "cities", index(country))]
struct City {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(refers_to(Country, by = code))]
    country: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Found {
    #[serde(rename = "_id")]
    id: i32,
    found: i32,
}

/// MongoDB compares a missing key as null, which a document without a reference equals.
async fn documents_without_a_key_find_nothing(db: &Db) {
    let (countries, cities) = (db.collection::<Country>(), db.collection::<City>());
    let country = |id, code: Option<&str>| Country {
        id,
        code: code.map(str::to_owned),
    };
    let city = |id, country: Option<&str>| City {
        id,
        country: country.map(str::to_owned),
    };
    let (all_countries, all_cities) = (
        [country(1, Some("de")), country(2, None)],
        [city(1, Some("de")), city(2, None), city(3, Some("xx"))],
    );
    countries.insert_many(all_countries).await.unwrap();
    cities.insert_many(all_cities).await.unwrap();
    // The city without a country is not sorted by the country without a code.
    let sorted = cities
        .find_all()
        .order_by_related(|c| c.country, |c| c.id.desc());
    let sorted = sorted.sort(|c| c.id.asc()).all().await.unwrap();
    let sorted: Vec<i32> = sorted.iter().map(|city| city.id).collect();
    assert_eq!(sorted, [1, 2, 3]);
    let of_countries = pipeline::<Country>()
        .lookup(|c| c.cities)
        .project(|(c, cities)| {
            output!(Found {
                id: c.id,
                found: cities.expr().size()
            })
        })
        .sort(|f| f.id.asc());
    let found = countries.aggregate(of_countries).all().await.unwrap();
    assert_eq!(
        found,
        [Found { id: 1, found: 1 }, Found { id: 2, found: 0 }]
    );
    let of_cities = pipeline::<City>()
        .lookup(|c| c.country)
        .project(|(c, countries)| {
            output!(Found {
                id: c.id,
                found: countries.expr().size()
            })
        })
        .sort(|f| f.id.asc());
    let found = cities.aggregate(of_cities).all().await.unwrap();
    let found: Vec<i32> = found.iter().map(|found| found.found).collect();
    assert_eq!(found, [1, 0, 0]);
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "media")]
#[serde(tag = "kind")]
enum Medium {
    Novel(Novel),
    Film(Film),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(variant_of = Medium)]
struct Novel {
    #[serde(rename = "_id")]
    id: i32,
    source: Option<Ref<Novel>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(variant_of = Medium)]
struct Film {
    #[serde(rename = "_id")]
    id: i32,
    source: Option<Ref<Novel>>,
}

async fn look_ups_read_one_model_of_several_in_a_collection(db: &Db) {
    let novel = |id: i32, source: Option<i32>| {
        let source = source.map(Ref::from);
        Medium::Novel(Novel { id, source })
    };
    let film = |id: i32, source: i32| {
        let source = Some(Ref::from(source));
        Medium::Film(Film { id, source })
    };
    let media = [novel(1, None), novel(2, Some(1)), film(3, 2), film(4, 3)];
    db.collection::<Medium>().insert_many(media).await.unwrap();
    let films = db.collection::<Film>();
    let sources = pipeline::<Film>()
        .lookup(|f| f.source)
        .project(|(f, sources)| {
            output!(Found {
                id: f.id,
                found: sources.expr().size()
            })
        })
        .sort(|f| f.id.asc());
    let found = films.aggregate(sources).all().await.unwrap();
    // The source of the last one is a film.
    assert_eq!(
        found,
        [Found { id: 3, found: 1 }, Found { id: 4, found: 0 }]
    );
    let reached = pipeline::<Novel>()
        .graph_lookup(|n| n.source)
        .project(|(n, sources)| {
            output!(Found {
                id: n.id,
                found: sources.expr().size()
            })
        })
        .sort(|f| f.id.asc());
    let novels = db.collection::<Novel>();
    let found = novels.aggregate(reached).all().await.unwrap();
    assert_eq!(
        found,
        [Found { id: 1, found: 0 }, Found { id: 2, found: 1 }]
    );
}

async fn look_ups_read_the_chosen_collections(db: &Db) {
    filled(db).await;
    let tenant = db.with_collection_names(|name| format!("tenant_{name}"));
    let (authors, works) = (tenant.collection::<Author>(), tenant.collection::<Work>());
    let author = Author {
        id: 1,
        name: "Eliot".to_owned(),
        born: 1819,
    };
    authors.insert_one(author).await.unwrap();
    let work = self::works().swap_remove(0);
    works.insert_one(work).await.unwrap();
    let names = pipeline::<Work>().match_(|w| w.id.eq(1)).facet(|works| {
        facets!(Authors {
            authors: works
                .lookup_one(|w| w.author)
                .project(|(_, a)| output!(Name { name: a.name })),
        })
    });
    for (db, expected) in [(db, "Austen"), (&tenant, "Eliot")] {
        let works = db.collection::<Work>();
        let found = works.aggregate(names.clone()).first().await.unwrap();
        assert_eq!(found.unwrap().authors[0].name, expected);
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Name {
    name: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
#[odm(result)]
struct Authors {
    authors: Vec<Name>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "units", has_many(parts: Part, by = parent))]
struct Part {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index)]
    parent: Option<Ref<Part>>,
    is_open: bool,
}

async fn graph_look_ups_reach_ancestors_and_subtrees(db: &Db) {
    let parts = db.collection::<Part>();
    let part = |id, parent: Option<i32>| Part {
        id,
        parent: parent.map(Ref::from),
        is_open: id != 3,
    };
    let all = [
        part(1, None),
        part(2, Some(1)),
        part(3, Some(1)),
        part(4, Some(3)),
        part(5, Some(4)),
        // Its parent is missing.
        part(6, Some(77)),
    ];
    parts.insert_many(all).await.unwrap();
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
    struct Below {
        #[serde(rename = "_id")]
        id: i32,
        below: i32,
        ids: Vec<i32>,
    }
    let below = pipeline::<Part>()
        .sort(|p| p.id.asc())
        .graph_lookup(|p| p.parts)
        .project(|(p, below)| {
            output!(Below {
                id: p.id,
                below: below.expr().size(),
                ids: below.expr().map(|part| part.id),
            })
        });
    let found = parts.aggregate(below).all().await.unwrap();
    let found: Vec<(i32, i32)> = found.iter().map(|one| (one.id, one.below)).collect();
    assert_eq!(found, [(1, 4), (2, 0), (3, 2), (4, 1), (5, 0), (6, 0)]);
    let ids = |depth: Option<u32>| {
        let parts = parts.clone();
        async move {
            let five = pipeline::<Part>().match_(|p| p.id.eq(5));
            let reached = match depth {
                None => five.graph_lookup(|p| p.parent),
                Some(depth) => {
                    five.graph_lookup_within(|p| p.parent, depth, |p| p.is_open.eq(true))
                }
            };
            let reached = reached.project(|(p, above)| {
                output!(Below {
                    id: p.id,
                    below: 0,
                    ids: above.expr().map(|part| part.id),
                })
            });
            let mut found = parts.aggregate(reached).all().await.unwrap();
            let mut ids = found.remove(0).ids;
            ids.sort_unstable();
            ids
        }
    };
    assert_eq!(ids(None).await, [1, 3, 4]);
    assert_eq!(ids(Some(9)).await, [4]);
    assert_eq!(ids(Some(0)).await, [4]);
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Range {
    #[serde(rename = "_id")]
    from: Option<f64>,
    works: i64,
    titles: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Years {
    years: Bounds<i32>,
    works: i64,
    mean: f64,
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
                years: range.key().expr(),
                works: range.count(),
                mean: range.sum(&w.year) / range.count(),
            })
        },
    );
    let found = of_works.aggregate(years).all().await.unwrap();
    let years = |min, max, all: &[i32]| Years {
        years: Bounds { min, max },
        works: i64::try_from(all.len()).unwrap(),
        mean: f64::from(all.iter().sum::<i32>()) / f64::from(u32::try_from(all.len()).unwrap()),
    };
    let expected = [
        years(975, 1900, &[975, 1815, 1817]),
        years(1900, 1922, &[1900, 1922]),
    ];
    assert_eq!(found, expected);
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
                output!(Range {
                    from: range.key(),
                    works: range.count(),
                    titles: range.push(w.id.expr().to_text()),
                })
            },
        )
        .sort(|r| r.from.asc());
    let found = of_works.aggregate(ranges).all().await.unwrap();
    let found: Vec<_> = found.iter().map(|one| one.titles.concat()).collect();
    assert_eq!(found, ["23456", "1"]);
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "sales")]
struct Sale {
    #[serde(rename = "_id")]
    id: i32,
    state: String,
    at: DateTime,
    amount: i32,
    rating: Option<f64>,
}

fn day(day: u32) -> DateTime {
    DateTime::parse_rfc3339_str(format!("2024-03-{day:02}T00:00:00Z")).unwrap()
}

fn sales() -> Vec<Sale> {
    let sale = |id, state: &str, at, amount, rating| Sale {
        id,
        state: state.to_owned(),
        at: day(at),
        amount,
        rating,
    };
    vec![
        sale(1, "CA", 1, 10, Some(3.0)),
        sale(2, "CA", 2, 30, None),
        sale(3, "WA", 2, 5, Some(1.0)),
        sale(4, "CA", 9, 30, Some(5.0)),
        sale(5, "WA", 11, -7, None),
        sale(6, "CA", 10, 2, Some(9.0)),
    ]
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Running {
    #[serde(rename = "_id")]
    id: i32,
    total: i64,
    of_three: Option<f64>,
    share: f64,
    rank: i64,
    dense: i64,
    number: i64,
    before: Option<i32>,
    rating: Option<f64>,
    best_rating: Option<f64>,
}

async fn windows_compute_as_rust_does(db: &Db) {
    let of_sales = db.collection::<Sale>();
    of_sales.insert_many(sales()).await.unwrap();
    let running = pipeline::<Sale>()
        .set_window_fields(
            |s| partition_by(s.state).sort(s.at.asc()),
            |s, w| {
                let amount = &s.amount;
                output!(Running {
                    id: s.id,
                    total: w.documents(..=0).sum(amount),
                    of_three: w.documents(-1..2).avg(amount),
                    share: amount.expr() / w.documents(..).sum(amount),
                    rank: w.rank(),
                    dense: w.dense_rank(),
                    number: w.document_number(),
                    before: w.shift(amount, -1),
                    rating: w.locf(&s.rating),
                    best_rating: w.documents(..).max(s.rating),
                })
            },
        )
        .sort(|r| r.id.asc());
    let found = of_sales.aggregate(running).all().await.unwrap();
    assert_eq!(found.len(), 6);
    for (sale, found) in sales().into_iter().zip(found) {
        let mut all = sales();
        all.retain(|other| other.state == sale.state);
        all.sort_by_key(|other| other.at);
        let place = all.iter().position(|other| other.id == sale.id).unwrap();
        let amounts: Vec<i32> = all.iter().map(|other| other.amount).collect();
        let until: i32 = amounts[..=place].iter().sum();
        assert_eq!((found.id, found.total), (sale.id, i64::from(until)));
        let three = &amounts[place.saturating_sub(1)..amounts.len().min(place + 2)];
        let mean = three.iter().copied().map(f64::from).sum::<f64>();
        let mean = mean / f64::from(u32::try_from(three.len()).unwrap());
        assert_eq!(found.of_three, Some(mean));
        let total: i32 = amounts.iter().sum();
        assert_eq!(
            Some(found.share),
            Some(f64::from(sale.amount) / f64::from(total))
        );
        let number = i64::try_from(place).unwrap() + 1;
        assert_eq!(
            (found.rank, found.dense, found.number),
            (number, number, number)
        );
        let before = place.checked_sub(1).map(|before| amounts[before]);
        assert_eq!(found.before, before);
        let rated = all[..=place].iter().rev().find_map(|other| other.rating);
        assert_eq!(found.rating, rated);
        let best = all.iter().filter_map(|other| other.rating);
        assert_eq!(found.best_rating, best.max_by(f64::total_cmp));
    }
    // Without a partition, and with equal keys.
    let ranks = pipeline::<Sale>()
        .set_window_fields(
            |s| s.amount.desc(),
            |s, w| {
                output!(Ranked {
                    id: s.id,
                    rank: w.rank(),
                    dense: w.dense_rank(),
                })
            },
        )
        .sort(|r| r.id.asc());
    let found = of_sales.aggregate(ranks).all().await.unwrap();
    let found: Vec<_> = found.iter().map(|one| (one.rank, one.dense)).collect();
    assert_eq!(found, [(3, 2), (1, 1), (4, 3), (1, 1), (6, 5), (5, 4)]);
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Ranked {
    #[serde(rename = "_id")]
    id: i32,
    rank: i64,
    dense: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Week {
    #[serde(rename = "_id")]
    id: i32,
    week: i64,
    before: Option<i32>,
    around: i64,
    growth: Option<f64>,
    filled: Option<f64>,
    smooth: Option<f64>,
}

async fn windows_of_dates_and_of_empty_frames(db: &Db) {
    let of_sales = db.collection::<Sale>();
    of_sales.insert_many(sales()).await.unwrap();
    let weeks = pipeline::<Sale>()
        .match_(|s| s.state.eq("CA"))
        .set_window_fields(
            |s| s.at.asc(),
            |s, w| {
                output!(Week {
                    id: s.id,
                    week: w.range_in(Unit::Day, -7..=0).sum(&s.amount),
                    before: w.documents(-9..=-1).min(&s.amount),
                    around: w.documents(..).count(),
                    growth: w.documents(-1..=0).derivative(&s.amount, Unit::Day),
                    filled: w.linear_fill(&s.rating),
                    smooth: w.exp_moving_avg(&s.amount, 3),
                })
            },
        )
        .sort(|w| w.id.asc());
    let found = of_sales.aggregate(weeks).all().await.unwrap();
    let weeks: Vec<_> = found.iter().map(|one| (one.id, one.week)).collect();
    assert_eq!(weeks, [(1, 10), (2, 40), (4, 60), (6, 32)]);
    let before: Vec<_> = found.iter().map(|one| one.before).collect();
    assert_eq!(before, [None, Some(10), Some(10), Some(10)]);
    assert!(found.iter().all(|one| one.around == 4));
    let growth: Vec<_> = found.iter().map(|one| one.growth).collect();
    assert_eq!(growth, [None, Some(20.0), Some(0.0), Some(-28.0)]);
    assert_eq!(found[1].filled, Some(3.25));
    assert_eq!(found[0].smooth, Some(10.0));
    assert_eq!(found[1].smooth, Some(20.0));
    let ranged = pipeline::<Sale>()
        .set_window_fields(
            |s| s.amount.asc(),
            |s, w| {
                output!(Ranked {
                    id: s.id,
                    rank: w.range(-5.0..=5.0).count(),
                    dense: w.range(..).count(),
                })
            },
        )
        .sort(|r| r.id.asc());
    let found = of_sales.aggregate(ranged).all().await.unwrap();
    let near: Vec<i64> = sales()
        .iter()
        .map(|sale| {
            let all = sales();
            let near = all
                .iter()
                .filter(|other| (other.amount - sale.amount).abs() <= 5);
            i64::try_from(near.count()).unwrap()
        })
        .collect();
    let found: Vec<i64> = found.iter().map(|one| one.rank).collect();
    assert_eq!(found, near);
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

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct State {
    #[serde(rename = "_id")]
    state: String,
    first: Option<f64>,
    last: i32,
    spread: Option<f64>,
    least: Vec<i32>,
    greatest: Vec<i32>,
    firsts: Vec<i32>,
    lasts: Vec<i32>,
    top: i32,
    bottom: i32,
    tops: Vec<DateTime>,
    bottoms: Vec<i32>,
}

async fn accumulators_of_several_values(db: &Db) {
    let of_sales = db.collection::<Sale>();
    of_sales.insert_many(sales()).await.unwrap();
    let states = pipeline::<Sale>()
        .sort(|s| s.id.asc())
        .group_by(
            |s| s.state,
            |s, group| {
                output!(State {
                    state: group.key(),
                    first: group.first(&s.rating),
                    last: group.last(&s.amount),
                    spread: group.std_dev_samp(&s.amount),
                    least: group.min_n(2, &s.amount),
                    greatest: group.max_n(9, &s.amount),
                    firsts: group.first_n(1, &s.id),
                    lasts: group.last_n(2, &s.id),
                    top: group.top(s.at.desc(), &s.id),
                    bottom: group.bottom(s.at.desc(), &s.id),
                    tops: group.top_n(2, s.amount.desc().then(s.id.asc()), &s.at),
                    bottoms: group.bottom_n(1, s.at.asc(), &s.id),
                })
            },
        )
        .sort(|s| s.state.asc());
    let found = of_sales.aggregate(states).all().await.unwrap();
    let expected = State {
        state: "CA".to_owned(),
        first: Some(3.0),
        last: 2,
        spread: found[0].spread,
        least: vec![2, 10],
        greatest: vec![30, 30, 10, 2],
        firsts: vec![1],
        lasts: vec![4, 6],
        top: 6,
        bottom: 1,
        tops: vec![day(2), day(9)],
        bottoms: vec![6],
    };
    assert_eq!(found[0], expected);
    let spread = found[0].spread.unwrap();
    assert!((spread * spread - 608.0 / 3.0).abs() < 1e-9, "{spread}");
    let sampled = of_sales.aggregate(pipeline::<Sale>().sample(4));
    let mut ids: Vec<i32> = sampled
        .all()
        .await
        .unwrap()
        .iter()
        .map(|one| one.id)
        .collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 4);
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "totals")]
struct Total {
    #[serde(rename = "_id")]
    state: String,
    #[odm(range(min = -100))]
    total: i64,
    note: Option<String>,
}

fn totals() -> Pipeline<Sale, Total> {
    pipeline::<Sale>().group_by(
        |s| s.state,
        |s, group| {
            output!(Total {
                state: group.key(),
                total: group.sum(s.amount),
                note: group.max(s.state),
            })
        },
    )
}

async fn merged_results_are_documents_of_the_model(db: &Db) {
    let of_sales = db.collection::<Sale>();
    of_sales.insert_many(sales()).await.unwrap();
    let of_totals = db.collection::<Total>();
    let total = |state: &str, total, note: &str| Total {
        state: state.to_owned(),
        total,
        note: Some(note.to_owned()),
    };
    let read = || async {
        of_totals
            .find_all()
            .sort(|t| t.state.asc())
            .all()
            .await
            .unwrap()
    };
    of_totals.insert_one(total("WA", 0, "old")).await.unwrap();
    let known = totals().match_(|t| t.state.ne("WA"));
    let discard = known.merge(WhenMatched::Merge(WhenNotMatched::Discard));
    let none = of_sales.aggregate(discard).all().await.unwrap();
    assert!(none.is_empty());
    assert_eq!(read().await, [total("WA", 0, "old")]);
    let insert = totals().merge(WhenMatched::KeepExisting);
    of_sales.aggregate(insert).all().await.unwrap();
    assert_eq!(read().await, [total("CA", 72, "CA"), total("WA", 0, "old")]);
    let replace = totals().merge(WhenMatched::Replace(WhenNotMatched::Fail));
    of_sales.aggregate(replace).all().await.unwrap();
    assert_eq!(read().await, [total("CA", 72, "CA"), total("WA", -2, "WA")]);
    let fail = totals().merge(WhenMatched::Fail);
    let error = of_sales.aggregate(fail).await.unwrap_err();
    assert!(error.is_duplicate_key(), "{error}");
}

async fn out_replaces_the_collection(db: &Db) {
    let of_sales = db.collection::<Sale>();
    of_sales.insert_many(sales()).await.unwrap();
    let of_totals = db.collection::<Total>();
    let old = Total {
        state: "OR".to_owned(),
        total: 1,
        note: None,
    };
    of_totals.insert_one(old).await.unwrap();
    let some = totals().match_(|t| t.total.gt(0));
    of_sales.aggregate(some.out()).all().await.unwrap();
    let found = of_totals.find_all().all().await.unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].state.as_str(), found[0].total), ("CA", 72));
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

async fn pipelines_run_in_transactions_and_are_dropped(db: &Db) {
    let (of_authors, of_works) = filled(db).await;
    let counted = pipeline::<Author>().lookup_one(|a| a.works).count();
    let late = Work {
        id: 9,
        ..works().swap_remove(0)
    };
    let inside = transaction!(db, |tx| -> odm::Result<_> {
        of_works.insert_one(&late).session(tx).await?;
        let inside = of_authors.aggregate(counted.clone()).session(tx);
        let outside = of_authors.aggregate(counted.clone());
        Ok((inside.first().await?, outside.first().await?))
    });
    let (inside, outside) = inside.await.unwrap();
    let counts = (inside.unwrap().count, outside.unwrap().count);
    assert_eq!(counts, (4, 3));
    // A pipeline that is dropped on its way leaves nothing behind that the next one would meet.
    for polls in 0..6 {
        let read = of_authors.aggregate(counted.clone()).all();
        dropped_after(polls, read).await;
        let all = of_authors.aggregate(counted.clone()).all().await.unwrap();
        assert_eq!(all, [DocumentCount { count: 4 }]);
    }
}

async fn nested_windows_are_refused(db: &Db) {
    let of_sales = db.collection::<Sale>();
    let nested = pipeline::<Sale>().set_window_fields(
        |s| s.at.asc(),
        |s, w| {
            let total = w.documents(..).sum(&s.amount);
            output!(Ranked {
                id: s.id,
                rank: w.documents(..).sum(total),
                dense: 1,
            })
        },
    );
    let error = of_sales.aggregate(nested).all().await.unwrap_err();
    assert!(error.is_usage(), "{error}");
    assert!(error.to_string().contains("before this one"), "{error}");
    let open = pipeline::<Sale>().set_window_fields(
        |s| s.amount.asc(),
        |s, w| {
            output!(Ranked {
                id: s.id,
                rank: w.range(-1.0..1.0).count(),
                dense: 1,
            })
        },
    );
    let error = of_sales.aggregate(open).all().await.unwrap_err();
    assert!(
        error.is_usage() && error.to_string().contains("ends"),
        "{error}"
    );
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
