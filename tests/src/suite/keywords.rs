//! Keywords: lists of words with an index.

use odm::bson::{self, Bson};
use odm::error::Code;
use odm::prelude::*;
use odm::query::raw;
use odm::schema::validator;

use crate::case::cases;

cases![
    keywords_are_stored_as_in_the_guide,
    the_index_serves_one_any_all_and_prefixes,
    the_bound_holds_for_updates,
    the_validator_knows_the_bound,
    computed_words_follow_every_typed_write,
    computed_words_are_searched_by_the_index,
    updates_that_would_leave_stale_words_are_refused,
];

/// A volume of the guide.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "volumes")]
struct Volume {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
    author: String,
    published: i32,
    #[serde(rename = "ISBN")]
    isbn: String,
    #[odm(keywords(max = 10))]
    topics: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Deserialize, Projection)]
#[odm(of = Volume)]
struct Title {
    title: String,
}

const TOPICS: [&str; 8] = [
    "whaling", "allegory", "revenge", "American", "novel", "nautical", "voyage", "Cape Cod",
];

fn volume(id: i32, title: &str, topics: &[&str]) -> Volume {
    Volume {
        id,
        title: title.to_owned(),
        author: "Herman Melville".to_owned(),
        published: 1851,
        isbn: "0451526996".to_owned(),
        topics: topics.iter().map(|topic| (*topic).to_owned()).collect(),
    }
}

async fn volumes(db: &Db) -> Collection<Volume> {
    let plan = db.sync([Volume::model()]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    let volumes = db.collection::<Volume>();
    let all = [
        volume(1, "Moby-Dick", &TOPICS),
        volume(2, "Typee", &["voyage", "novel", "Polynesia"]),
        volume(3, "Walden", &["Cape Ann", "essay"]),
        volume(4, "Omoo", &[]),
    ];
    volumes.insert_many(all).await.unwrap();
    volumes
}

async fn keywords_are_stored_as_in_the_guide(db: &Db) {
    let volumes = volumes(db).await;
    let raw = volumes.find(|v| v.id.eq(1)).with_type::<bson::Document>();
    let stored = raw.all().await.unwrap();
    let topics: Vec<Bson> = TOPICS.map(Bson::from).to_vec();
    let expected = doc! {
        "_id": 1, "title": "Moby-Dick", "author": "Herman Melville", "published": 1851,
        "ISBN": "0451526996", "topics": topics,
    };
    assert_eq!(stored, [expected]);
    let found = volumes.find_one(|v| v.topics.has("voyage") & v.id.eq(1));
    assert_eq!(found.await.unwrap(), Some(volume(1, "Moby-Dick", &TOPICS)));
    let title = volumes.find(|v| v.topics.has("whaling")).select::<Title>();
    let title = title.first().await.unwrap().unwrap();
    assert_eq!(title.title, "Moby-Dick");
}

async fn the_index_serves_one_any_all_and_prefixes(db: &Db) {
    type Condition = fn(VolumeFields<Volume>) -> Filter<Volume>;

    let volumes = volumes(db).await;
    let cases: [(Condition, bson::Document, &[i32]); 6] = [
        (
            |v| v.topics.has("Cape Cod"),
            doc! {"topics": "Cape Cod"},
            &[1],
        ),
        (
            |v| v.topics.any().in_(["essay", "revenge"]),
            doc! {"topics": {"$in": ["essay", "revenge"]}},
            &[1, 3],
        ),
        (
            |v| v.topics.all(["novel", "voyage"]),
            doc! {"topics": {"$all": ["novel", "voyage"]}},
            &[1, 2],
        ),
        (
            |v| v.topics.any().starts_with("Cape "),
            doc! {"topics": {"$regex": "^Cape "}},
            &[1, 3],
        ),
        // Words are compared as they are.
        (
            |v| v.topics.has("american"),
            doc! {"topics": "american"},
            &[],
        ),
        (|v| v.topics.has("Cape"), doc! {"topics": "Cape"}, &[]),
    ];
    for (condition, command, ids) in cases {
        let plan = volumes.find(condition).explain().await.unwrap();
        assert_eq!(plan.command.get_document("filter").unwrap(), &command);
        assert_eq!(plan.indexes, ["topics_1"], "{command}");
        let found = volumes.find(condition).sort(|v| v.id.asc()).all();
        let found: Vec<i32> = found.await.unwrap().iter().map(|v| v.id).collect();
        assert_eq!(found, ids, "{command}");
    }
}

async fn the_bound_holds_for_updates(db: &Db) {
    let volumes = volumes(db).await;
    for (word, is_full) in [("reprint", false), ("sea", false), ("ship", true)] {
        let add = volumes.update_one(|v| v.id.eq(1), |v| v.topics.add_to_set(word));
        let result = add.await.unwrap();
        assert_eq!(
            (result.modified, result.is_full()),
            (1 - u64::from(is_full), is_full)
        );
    }
    // A word that is there needs no room.
    let again = volumes.update_one(|v| v.id.eq(1), |v| v.topics.add_to_set("sea"));
    let result = again.await.unwrap();
    assert_eq!((result.matched, result.is_full()), (1, false));
    let most: Vec<String> = (0..11).map(|n| n.to_string()).collect();
    let set = volumes.update_one(|v| v.id.eq(1), |v| v.topics.set(most));
    assert!(set.await.unwrap_err().to_string().contains("topics"));
}

async fn the_validator_knows_the_bound(db: &Db) {
    let volumes = volumes(db).await;
    let validator = validator(Volume::model()).unwrap();
    let schema = validator.get_document("$jsonSchema").unwrap();
    let topics = schema.get_document("properties").unwrap();
    let topics = topics.get_document("topics").unwrap();
    let expected = doc! {
        "bsonType": "array", "items": {"bsonType": "string"}, "maxItems": 10, "uniqueItems": true,
    };
    assert_eq!(topics.len(), expected.len());
    for (key, value) in &expected {
        assert_eq!(topics.get(key), Some(value), "{key}");
    }
    let numbers: Vec<String> = (0..11).map(|n| n.to_string()).collect();
    let many: Vec<&str> = numbers.iter().map(String::as_str).collect();
    for topics in [&many[..], &["sea", "sea"]] {
        let insert = volumes.insert_one(volume(9, "Mardi", topics)).await;
        assert_eq!(
            insert.unwrap_err().code(),
            Some(Code::DOCUMENT_VALIDATION_FAILURE)
        );
    }
}

/// An article whose words are computed from its texts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "articles")]
struct Article {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
    #[serde(rename = "text")]
    body: Option<String>,
    stock: i32,
    #[odm(keywords(from(title, body), language = "english", max = 8))]
    words: Vec<String>,
}

fn article(id: i32, title: &str, body: Option<&str>) -> Article {
    Article {
        id,
        title: title.to_owned(),
        body: body.map(str::to_owned),
        stock: 1,
        // Overwritten.
        words: vec!["mine".to_owned()],
    }
}

async fn articles(db: &Db) -> Collection<Article> {
    let plan = db.sync([Article::model()]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    db.collection::<Article>()
}

async fn words(articles: &Collection<Article>, id: i32) -> Vec<String> {
    articles.get(&id).await.unwrap().unwrap().words
}

async fn computed_words_follow_every_typed_write(db: &Db) {
    let articles = articles(db).await;
    let shoes = article(
        1,
        "The Running Shoes",
        Some("A shoe for runners, and Crème"),
    );
    articles.insert_one(&shoes).await.unwrap();
    assert_eq!(
        words(&articles, 1).await,
        ["creme", "run", "runner", "shoe"]
    );
    articles
        .insert_many([article(2, "Walking", None)])
        .await
        .unwrap();
    assert_eq!(words(&articles, 2).await, ["walk"]);

    articles
        .replace_one(|a| a.id.eq(2), article(2, "Swimming", None))
        .await
        .unwrap();
    assert_eq!(words(&articles, 2).await, ["swim"]);
    let upsert = articles.replace_one(|a| a.id.eq(3), article(3, "Flights", Some("high")));
    upsert.upsert(true).await.unwrap();
    assert_eq!(words(&articles, 3).await, ["flight", "high"]);
    let found = articles.find_one_and_replace(|a| a.id.eq(3), article(3, "Kites", None));
    found.await.unwrap();
    assert_eq!(words(&articles, 3).await, ["kite"]);

    let mut loaded = articles.load(&2).await.unwrap().unwrap();
    "Swimming and diving".clone_into(&mut loaded.title);
    articles.save(&mut loaded).await.unwrap();
    assert_eq!(words(&articles, 2).await, ["dive", "swim"]);
    loaded.stock = 5;
    articles.save(&mut loaded).await.unwrap();
    assert_eq!(words(&articles, 2).await, ["dive", "swim"]);

    let both = articles.update_one(
        |a| a.id.eq(2),
        |a| a.title.set("Rowing") & a.body.set("boats".to_owned()) & a.stock.inc(1),
    );
    assert_eq!(both.await.unwrap().modified, 1);
    assert_eq!(words(&articles, 2).await, ["boat", "row"]);
    let bulk = articles.bulk_write(|w| [w.insert_one(article(4, "Sailing", None))]);
    bulk.await.unwrap();
    assert_eq!(words(&articles, 4).await, ["sail"]);
}

async fn computed_words_are_searched_by_the_index(db: &Db) {
    let articles = articles(db).await;
    let all = [
        article(1, "The Running Shoes", None),
        article(2, "Shoes and boots", None),
        article(3, "Runs", Some("boot")),
    ];
    articles.insert_many(all).await.unwrap();
    let ids = |list: Vec<Article>| list.iter().map(|one| one.id).collect::<Vec<_>>();
    let search = |text: &'static str| {
        articles
            .find(move |a| a.words.search(text))
            .sort(|a| a.id.asc())
    };
    assert_eq!(ids(search("a running SHOE").all().await.unwrap()), [1]);
    assert_eq!(ids(search("boots").all().await.unwrap()), [2, 3]);
    assert_eq!(ids(search("the and").all().await.unwrap()), [0_i32; 0]);
    let both = articles.find(|a| a.words.search("running shoes"));
    assert_eq!(both.explain().await.unwrap().indexes, ["words_1"]);
    let any = articles
        .find(|a| a.words.search_any("run or boot"))
        .sort(|a| a.id.asc());
    assert_eq!(ids(any.all().await.unwrap()), [1, 2, 3]);
    let any = articles.find(|a| a.words.search_any("run or boot"));
    assert_eq!(any.explain().await.unwrap().indexes, ["words_1"]);
}

async fn updates_that_would_leave_stale_words_are_refused(db: &Db) {
    type Change = fn(ArticleFields<Article>) -> Update<Article>;

    let articles = articles(db).await;
    articles
        .insert_one(article(1, "Running", None))
        .await
        .unwrap();
    let changes: [Change; 5] = [
        |a| a.title.set("Walking"),
        |a| a.title.set("Walking") & a.body.unset(),
        |a| a.words.push("mine"),
        |a| a.words.set(vec!["mine".to_owned()]),
        |a| {
            a.body
                .set("one two three four five six seven eight nine ten".to_owned())
                & a.title.set("")
        },
    ];
    for change in changes {
        let error = articles
            .update_one(|a| a.id.eq(1), change)
            .await
            .unwrap_err();
        assert!(error.to_string().contains("words"), "{error}");
        assert!(error.code().is_none(), "{error}");
    }
    assert_eq!(words(&articles, 1).await, ["run"]);
    // Other fields change as ever, and raw updates are the caller's.
    let stock = articles.update_one(|a| a.id.eq(1), |a| a.stock.set(9));
    assert_eq!(stock.await.unwrap().modified, 1);
    let raw_change =
        articles.update_one(|a| a.id.eq(1), |_| raw(doc! {"$set": {"title": "Walking"}}));
    raw_change.await.unwrap();
    assert_eq!(words(&articles, 1).await, ["run"]);
    // The next save finds the stale words.
    let mut loaded = articles.load(&1).await.unwrap().unwrap();
    articles.save(&mut loaded).await.unwrap();
    assert_eq!(words(&articles, 1).await, ["walk"]);
}
