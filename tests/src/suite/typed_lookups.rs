//! Typed look-ups: what they find is compared with the same found in Rust.

use std::collections::BTreeMap;

use odm::bson::doc;
use odm::facets;
use odm::output;
use odm::pipeline::{DocumentCount, Pipeline, With, pipeline};
use odm::prelude::*;

use crate::case::cases as suite;
use crate::polls::dropped_after;

suite![
    look_ups_find_what_rust_finds,
    look_ups_go_on_from_the_documents_found,
    look_ups_compare_both_documents,
    documents_without_a_key_find_nothing,
    documents_without_a_key_reach_nothing,
    look_ups_read_one_model_of_several_in_a_collection,
    look_ups_read_the_chosen_collections,
    graph_look_ups_reach_ancestors_and_subtrees,
    pipelines_run_in_transactions_and_are_dropped,
];

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "authors", has_many(works: Work, by = author), has_many(prizes: Prize, by = winner))]
pub(super) struct Author {
    #[serde(rename = "_id")]
    pub(super) id: i32,
    pub(super) name: String,
    pub(super) born: i32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "works", index(author))]
pub(super) struct Work {
    #[serde(rename = "_id")]
    pub(super) id: i32,
    #[serde(rename = "authorId")]
    pub(super) author: Option<Ref<Author>>,
    #[odm(references(many, max = 10))]
    pub(super) translators: Vec<Ref<Author>>,
    pub(super) title: String,
    pub(super) year: i32,
    pub(super) price: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "prizes", index(winner))]
struct Prize {
    #[serde(rename = "_id")]
    id: i32,
    winner: Ref<Author>,
}

pub(super) fn authors() -> Vec<Author> {
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

pub(super) fn works() -> Vec<Work> {
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

pub(super) async fn filled(db: &Db) -> (Collection<Author>, Collection<Work>) {
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
struct Compared {
    title: String,
    names: Vec<String>,
}

async fn look_ups_compare_both_documents(db: &Db) {
    let (_, of_works) = filled(db).await;
    let compared = pipeline::<Work>()
        .sort(|w| w.id.asc())
        .lookup_where(
            |w| w.translators,
            |w, a| a.born.expr().gt(w.year - 940) & w.price.expr().or(1.0).gt(0.5),
        )
        .project(|(w, translators)| {
            output!(Compared {
                title: w.title,
                names: translators.expr().map(|one| one.name),
            })
        });
    let mut found = of_works.aggregate(compared).all().await.unwrap();
    for one in &mut found {
        one.names.sort();
    }
    let expected: Vec<Compared> = works()
        .into_iter()
        .map(|work| {
            let translators = authors().into_iter().filter(|author| {
                let is_one = work.translators.iter().any(|one| *one.id() == author.id);
                is_one && author.born > work.year - 940
            });
            let names = translators.map(|author| author.name).collect();
            Compared {
                title: work.title,
                names,
            }
        })
        .collect();
    assert_eq!(found, expected);
    assert_eq!(found[1].names, ["Joyce", "Woolf"]);

    // A work without an author finds nothing, whatever the condition is.
    let by_author = pipeline::<Work>()
        .lookup_where(|w| w.author, |w, a| w.title.expr().ne(a.name))
        .match_(|(w, found)| w.id.gte(4) & found.size(0));
    let counted = of_works.aggregate(by_author.count()).first().await.unwrap();
    assert_eq!(counted, Some(DocumentCount { count: 2 }));
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
#[odm(collection = "codes", has_many(parts: Coded, by = whole, key = code))]
struct Coded {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(unique(sparse))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    code: Option<String>,
    #[odm(index, refers_to(Coded, by = code))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    whole: Option<String>,
}

async fn documents_without_a_key_reach_nothing(db: &Db) {
    let codes = db.collection::<Coded>();
    let coded = |id, code: Option<&str>, whole: Option<&str>| Coded {
        id,
        code: code.map(str::to_owned),
        whole: whole.map(str::to_owned),
    };
    let all = [
        coded(1, Some("a"), None),
        coded(2, None, Some("a")),
        coded(3, None, None),
        coded(4, Some("b"), Some("a")),
    ];
    codes.insert_many(all).await.unwrap();
    // As another program may have written it.
    let insert = doc! {"insert": "codes", "documents": [{"_id": 5, "code": null, "whole": null}]};
    db.run_command(insert).await.unwrap();
    let counts = |reached: Pipeline<Coded, With<Coded, Vec<Coded>>>| {
        let counted = reached
            .project(|(c, reached)| {
                output!(Found {
                    id: c.id,
                    found: reached.expr().size()
                })
            })
            .sort(|f| f.id.asc());
        let codes = codes.clone();
        async move {
            let found = codes.aggregate(counted).all().await.unwrap();
            found.iter().map(|found| found.found).collect::<Vec<_>>()
        }
    };
    let up = counts(pipeline::<Coded>().graph_lookup(|c| c.whole)).await;
    assert_eq!(up, [0, 1, 0, 1, 0]);
    let down = counts(pipeline::<Coded>().graph_lookup(|c| c.parts)).await;
    assert_eq!(down, [2, 0, 0, 0, 0]);
    let near = pipeline::<Coded>().graph_lookup_within(|c| c.parts, 3, |c| c.id.lt(4));
    assert_eq!(counts(near).await, [1, 0, 0, 0, 0]);
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
pub(super) struct Film {
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
pub(super) struct Name {
    pub(super) name: String,
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

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Below {
    #[serde(rename = "_id")]
    id: i32,
    count: i32,
    ids: Vec<i32>,
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
    let below = pipeline::<Part>()
        .sort(|p| p.id.asc())
        .graph_lookup(|p| p.parts)
        .project(|(p, below)| {
            output!(Below {
                id: p.id,
                count: below.expr().size(),
                ids: below.expr().map(|part| part.id),
            })
        });
    let found = parts.aggregate(below).all().await.unwrap();
    let found: Vec<(i32, i32)> = found.iter().map(|one| (one.id, one.count)).collect();
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
                    count: 0,
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
