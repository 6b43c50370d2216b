//! Fields that odm keeps, in documents where other programs left them out or wrote another number type.

use odm::bson::{self, Bson, DateTime, Document as BsonDocument, doc};
use odm::money::{Money, Usd};
use odm::prelude::*;

use super::matching::number;
use super::models::Person;
use super::mutate::mutate;
use super::{insert, number_of_films, randomness};
use crate::random::Random;

/// Everything that odm keeps, and the shapes that a film does not have.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "articles")]
struct Article {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
    #[serde(default)]
    #[odm(version)]
    version: i64,
    #[odm(created_at)]
    created_at: Option<DateTime>,
    #[odm(updated_at)]
    updated_at: Option<DateTime>,
    #[serde(default)]
    #[odm(keywords(from(title), language = "english", max = 50))]
    words: Vec<String>,
    #[serde(default)]
    #[odm(references(many, max = 9))]
    authors: Vec<Ref<Person>>,
    #[serde(default)]
    price: Option<Money<Usd>>,
    #[serde(default)]
    source: Source,
    #[serde(default)]
    reads: i32,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Embedded)]
#[serde(tag = "kind", content = "of")]
enum Source {
    #[default]
    Own,
    Agency(String),
    Paper {
        issue: i64,
        #[serde(default)]
        page: Option<i32>,
    },
}

struct Stored {
    raw: BsonDocument,
    article: Article,
}

fn article(random: &mut Random, id: i32) -> Article {
    let small = i32::try_from(random.below(4)).unwrap();
    let time = |random: &mut Random| {
        let millis = i64::try_from(random.below(1_000)).unwrap();
        random.one_in(2).then(|| DateTime::from_millis(millis))
    };
    Article {
        id,
        title: (*random.pick(&["Running shoes", "The boots"])).to_owned(),
        version: small.into(),
        created_at: time(random),
        updated_at: time(random),
        words: vec!["run".to_owned()],
        authors: (0..small).map(Ref::from).collect(),
        price: random.one_in(2).then(|| "1.50".parse().unwrap()),
        source: match random.below(3) {
            0 => Source::Own,
            1 => Source::Agency("a".to_owned()),
            _ => Source::Paper {
                issue: small.into(),
                page: random.one_in(2).then_some(small),
            },
        },
        reads: small,
    }
}

fn by_serde(raw: &BsonDocument) -> Option<Article> {
    bson::deserialize_from_document(raw.clone()).ok()
}

async fn articles(db: &Db, seed: u64) -> (Collection<Article>, Vec<Stored>) {
    let mut random = randomness(seed);
    let stored = (0..).take(number_of_films()).map(|id| {
        let mut article = article(&mut random, id);
        let mut raw = bson::serialize_to_document(&article).unwrap();
        for _ in 0..random.below(8) {
            let mut changed = raw.clone();
            mutate(&mut random, &mut changed);
            if let Some(read) = by_serde(&changed) {
                (raw, article) = (changed, read);
            }
        }
        Stored { raw, article }
    });
    let stored: Vec<Stored> = stored.collect();
    let documents = stored.iter().map(|one| one.raw.clone()).collect();
    insert(db, "articles", documents).await;
    (db.collection(), stored)
}

async fn raw(db: &Db, id: i32) -> BsonDocument {
    let find = doc! {"find": "articles", "filter": {"_id": id}, "singleBatch": true};
    let reply = db.run_command(find).await.unwrap();
    let batch = reply
        .get_document("cursor")
        .unwrap()
        .get_array("firstBatch")
        .unwrap();
    batch[0].as_document().unwrap().clone()
}

/// The document without the fields that odm keeps and those that the write names.
fn rest(raw: &BsonDocument, written: &[&str]) -> BsonDocument {
    let kept = ["version", "created_at", "updated_at", "words"];
    let fields = raw.clone().into_iter();
    fields
        .filter(|(name, _)| !kept.contains(&&**name) && !written.contains(&&**name))
        .collect()
}

/// How the kept fields should have changed.
struct Kept<'t> {
    creates: bool,
    words: Option<&'t [&'t str]>,
}

/// Checks the kept fields after a write.
fn check_kept(before: &Stored, after: &BsonDocument, kept: &Kept<'_>) {
    let was = |name: &str| before.raw.get(name).filter(|value| **value != Bson::Null);
    let version = was("version").and_then(number).unwrap_or(0.0) + 1.0;
    assert_eq!(
        after.get("version").and_then(number),
        Some(version),
        "{}",
        before.raw
    );
    let updated = after.get_datetime("updated_at").unwrap();
    assert!(updated.timestamp_millis() > 1_000_000, "{}", before.raw);
    match was("created_at") {
        Some(time) => assert_eq!(after.get("created_at"), Some(time), "{}", before.raw),
        None if kept.creates => {
            assert_eq!(
                after.get_datetime("created_at").ok(),
                Some(updated),
                "{}",
                before.raw
            );
        }
        None => assert_eq!(after.get("created_at"), before.raw.get("created_at")),
    }
    match kept.words {
        Some(words) => {
            let words = words.iter().map(|word| Bson::from(*word)).collect();
            assert_eq!(
                after.get("words"),
                Some(&Bson::Array(words)),
                "{}",
                before.raw
            );
        }
        None => assert_eq!(
            after.get("words"),
            before.raw.get("words"),
            "{}",
            before.raw
        ),
    }
}

pub(super) async fn updates_keep_what_odm_keeps(db: &Db) {
    let (articles, stored) = articles(db, 15).await;
    for (at, before) in stored.iter().enumerate() {
        let id = before.article.id;
        let title = "A walking boot";
        match at % 4 {
            0 => {
                let update = articles.update_one(|a| a.id.eq(id), |a| a.title.set(title));
                assert_eq!(update.await.unwrap().modified, 1);
            }
            1 => {
                let update = articles.find_one_and_update(|a| a.id.eq(id), |a| a.title.set(title));
                assert_eq!(update.await.unwrap().as_ref(), Some(&before.article));
            }
            2 => {
                let write = articles
                    .bulk_write(|w| vec![w.update_one(|a| a.id.eq(id), |a| a.title.set(title))]);
                assert_eq!(write.await.unwrap().modified, 1);
            }
            _ => {
                let update = articles.update_many(|a| a.id.eq(id), |a| a.title.set_literal(title));
                // The keywords of a title that a pipeline sets are unknown.
                assert!(update.await.unwrap_err().is_usage());
                let update = articles.update_many(|a| a.id.eq(id), |a| a.title.set(title));
                assert_eq!(update.await.unwrap().modified, 1);
            }
        }
        let after = raw(db, id).await;
        let kept = Kept {
            creates: false,
            words: Some(&["boot", "walk"]),
        };
        check_kept(before, &after, &kept);
        assert_eq!(rest(&after, &["title"]), rest(&before.raw, &["title"]));

        // A field that has no keywords, changed by a pipeline.
        let reads = before.article.reads + 1;
        let before = Stored {
            raw: after.clone(),
            article: by_serde(&after).unwrap(),
        };
        articles
            .update_one(|a| a.id.eq(id), |a| a.reads.set_literal(reads))
            .await
            .unwrap();
        let after = raw(db, id).await;
        check_kept(
            &before,
            &after,
            &Kept {
                creates: false,
                words: None,
            },
        );
        assert_eq!(after.get("reads"), Some(&reads.into()));
    }
}

pub(super) async fn saves_keep_what_odm_keeps(db: &Db) {
    let (articles, stored) = articles(db, 16).await;
    for before in &stored {
        let id = before.article.id;
        let mut mine = articles.load(&id).await.unwrap().unwrap();
        let mut yours = articles.load(&id).await.unwrap().unwrap();
        "Walking".clone_into(&mut mine.title);
        mine.authors.push(Ref::from(7));
        assert!(articles.save(&mut mine).await.unwrap(), "{}", before.raw);
        let after = raw(db, id).await;
        check_kept(
            before,
            &after,
            &Kept {
                creates: false,
                words: Some(&["walk"]),
            },
        );
        let written = ["title", "authors"];
        assert_eq!(rest(&after, &written), rest(&before.raw, &written));
        yours.price = None;
        yours.source = Source::Agency("b".to_owned());
        let refused = articles.save(&mut yours).await.unwrap_err();
        assert!(refused.is_stale(), "{refused}: {}", before.raw);
        assert_eq!(raw(db, id).await, after);

        // The second save continues from the first one.
        mine.reads += 1;
        assert!(articles.save(&mut mine).await.unwrap());
        let mut read = articles.get(&id).await.unwrap().unwrap();
        read.words.clone_from(&mine.words);
        assert_eq!(read, *mine, "{}", before.raw);
    }
}

pub(super) async fn replacements_keep_what_odm_keeps(db: &Db) {
    let (articles, stored) = articles(db, 17).await;
    for (at, before) in stored.iter().enumerate() {
        let id = before.article.id;
        let new = Article {
            title: "Shoes".to_owned(),
            ..before.article.clone()
        };
        if at % 2 == 0 {
            let replaced = articles.replace_one(|a| a.id.eq(id), &new).await.unwrap();
            assert_eq!((replaced.matched, replaced.modified), (1, 1));
        } else {
            let found = articles
                .find_one_and_replace(|a| a.id.eq(id), &new)
                .await
                .unwrap();
            assert_eq!(found.as_ref(), Some(&before.article));
        }
        let after = raw(db, id).await;
        check_kept(
            before,
            &after,
            &Kept {
                creates: true,
                words: Some(&["shoe"]),
            },
        );
        let written = bson::serialize_to_document(&new).unwrap();
        assert_eq!(rest(&after, &[]), rest(&written, &[]), "{}", before.raw);
    }
}

pub(super) async fn authors_are_joined(db: &Db) {
    let (articles, stored) = articles(db, 18).await;
    let people = (0..3).map(|id| Person { id, name: None });
    db.collection::<Person>()
        .insert_many(people.collect::<Vec<_>>())
        .await
        .unwrap();
    let rows = articles
        .find_all()
        .sort(|a| a.id.asc())
        .join(|a| a.authors)
        .all()
        .await
        .unwrap();
    assert_eq!(rows.len(), stored.len());
    for (row, Stored { raw, article }) in rows.iter().zip(&stored) {
        assert_eq!(&**row, article, "{raw}");
        let ids: Vec<i32> = row
            .authors()
            .iter()
            .filter_map(|one| one.found())
            .map(|one| one.id)
            .collect();
        let right: Vec<i32> = article
            .authors
            .iter()
            .map(|author| *author.id())
            .filter(|id| *id < 3)
            .collect();
        assert_eq!(ids, right, "{raw}");
    }
}
