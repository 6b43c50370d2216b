//! Fields with a serializer of their own that are references, keywords or lists of the newest documents, too.

use odm::bson::{self, Bson, doc};
use odm::model::{Arity, Document as _, RelationMeta};
use odm::prelude::*;
use odm::relation::Resolved;

use crate::case::cases;

cases![
    keys_are_joined,
    keys_are_joined_backwards,
    keys_are_compared_and_updated,
    the_validator_knows_keys,
    keys_of_an_undeclared_module_are_read_by_it,
    keys_are_in_the_metadata,
    keywords_are_computed_and_searched,
    the_newest_are_copied,
];

/// A number that has no serde form of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Code(u32);

/// Stores a code as hexadecimal text.
mod hexadecimal {
    use odm::foreign::{ConversionError, StoredAs};

    use super::Code;

    pub(super) enum Hexadecimal {}

    impl StoredAs<Code> for Hexadecimal {
        type Stored = String;

        fn to_stored(value: &Code) -> Result<String, ConversionError> {
            Ok(format!("{:04x}", value.0))
        }

        fn from_stored(text: String) -> Result<Code, ConversionError> {
            let number = u32::from_str_radix(&text, 16);
            number
                .map(Code)
                .map_err(|error| ConversionError::new(error.to_string()))
        }
    }

    odm::serializer!(Hexadecimal);
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(
    collection = "spares",
    has_many(uses: Use, by = code, key = code),
    has_many(kits: Kit, by = codes, key = code)
)]
struct Spare {
    #[serde(rename = "_id")]
    id: i32,
    #[serde(with = "hexadecimal")]
    #[odm(unique)]
    code: Code,
    name: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "spare_uses")]
struct Use {
    #[serde(rename = "_id")]
    id: i32,
    #[serde(with = "hexadecimal")]
    #[odm(index, refers_to(Spare, by = code))]
    code: Code,
    #[serde(default, with = "hexadecimal")]
    #[odm(refers_to(Spare, by = code))]
    instead: Option<Code>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "spare_kits")]
struct Kit {
    #[serde(rename = "_id")]
    id: i32,
    #[serde(with = "hexadecimal")]
    #[odm(index, refers_to(Spare, by = code), items(max = 3))]
    codes: Vec<Code>,
}

async fn spares(db: &Db) {
    let plan = db.sync(models![Spare, Use, Kit]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    let spare = |id, code, name: &str| Spare {
        id,
        code: Code(code),
        name: name.to_owned(),
    };
    let all = [spare(1, 10, "bolt"), spare(2, 255, "nut")];
    db.collection::<Spare>().insert_many(all).await.unwrap();
    let used = |id, code, instead: Option<u32>| Use {
        id,
        code: Code(code),
        instead: instead.map(Code),
    };
    let all = [
        used(1, 10, None),
        used(2, 255, Some(10)),
        used(3, 7, Some(8)),
    ];
    db.collection::<Use>().insert_many(all).await.unwrap();
    let kit = Kit {
        id: 1,
        codes: vec![Code(255), Code(7), Code(10)],
    };
    db.collection::<Kit>().insert_one(kit).await.unwrap();
}

async fn keys_are_joined(db: &Db) {
    spares(db).await;
    let rows = db
        .collection::<Use>()
        .find_all()
        .sort(|u| u.id.asc())
        .join(|u| u.code)
        .join(|u| u.instead.filter(|s| s.name.ne("bolt")))
        .all()
        .await
        .unwrap();
    let found: Vec<_> = rows
        .iter()
        .map(|row| row.code().found().map(|spare| spare.id))
        .collect();
    assert_eq!(found, [Some(1), Some(2), None]);
    assert_eq!(rows[2].code().missing(), Some(&Code(7)));
    assert!(rows[0].instead().is_none());
    assert!(matches!(rows[1].instead(), Some(Resolved::Excluded(code)) if *code == Code(10)));
    let kit = db.collection::<Kit>().get(&1).join(|k| k.codes).await;
    let kit = kit.unwrap().unwrap();
    let found: Vec<_> = kit
        .codes()
        .iter()
        .map(|spare| (spare.found().map(|it| it.id), spare.missing().copied()))
        .collect();
    assert_eq!(
        found,
        [(Some(2), None), (None, Some(Code(7))), (Some(1), None)]
    );
}

async fn keys_are_joined_backwards(db: &Db) {
    spares(db).await;
    let rows = db
        .collection::<Spare>()
        .find_all()
        .sort(|s| s.id.asc())
        .join(|s| s.uses)
        .join(|s| s.kits.count())
        .all()
        .await
        .unwrap();
    let found: Vec<_> = rows
        .iter()
        .map(|row| (row.uses().iter().map(|it| it.id).collect(), *row.kits()))
        .collect();
    assert_eq!(found, [(vec![1], 1), (vec![2], 1)]);
    let uses = db.collection::<Use>();
    let found = uses
        .find_all()
        .where_any(|u| u.code, |s| s.name.eq("nut"))
        .all();
    let ids: Vec<_> = found.await.unwrap().iter().map(|it| it.id).collect();
    assert_eq!(ids, [2]);
    let sorted = uses
        .find(|u| u.id.lt(3))
        .order_by_related(|u| u.code, |s| s.name.desc())
        .all();
    let ids: Vec<_> = sorted.await.unwrap().iter().map(|it| it.id).collect();
    assert_eq!(ids, [2, 1]);
}

async fn keys_are_compared_and_updated(db: &Db) {
    spares(db).await;
    let uses = db.collection::<Use>();
    let found = uses
        .find_one(|u| u.code.eq(Code(255)) & u.instead.in_([Some(Code(10))]))
        .await;
    assert_eq!(found.unwrap().map(|it| it.id), Some(2));
    uses.update_one(|u| u.id.eq(3), |u| u.code.set(Code(10)))
        .await
        .unwrap();
    let kits = db.collection::<Kit>();
    let kit = kits.find_one(|k| k.codes.has(Code(7))).await.unwrap();
    assert_eq!(kit.map(|it| it.id), Some(1));
    kits.update_one(|k| k.id.eq(1), |k| k.codes.pull_all([Code(7)]))
        .await
        .unwrap();
    let stored = uses.find(|u| u.id.eq(3)).with_type::<bson::Document>();
    let expected = doc! {"_id": 3, "code": "000a", "instead": "0008"};
    assert_eq!(stored.all().await.unwrap(), [expected]);
    let stored = kits.find_all().with_type::<bson::Document>();
    let expected = doc! {"_id": 1, "codes": ["00ff", "000a"]};
    assert_eq!(stored.all().await.unwrap(), [expected]);
    let full = kits
        .update_one(|k| k.id.eq(1), |k| k.codes.push_each([Code(1), Code(2)]))
        .await
        .unwrap();
    assert!(full.is_full() && full.matched == 0);
}

async fn the_validator_knows_keys(db: &Db) {
    spares(db).await;
    for wrong in [
        doc! {"_id": 9, "code": 10},
        doc! {"_id": 9, "instead": "0001"},
    ] {
        let insert = doc! {"insert": "spare_uses", "documents": [wrong]};
        let reply = db.run_command(insert).await.unwrap();
        let errors = reply.get_array("writeErrors").unwrap();
        let code = errors[0].as_document().unwrap().get_i32("code");
        assert_eq!(code.unwrap(), 121, "{reply}");
    }
}

/// Stores a word in capitals, and does not say what it stores.
mod capitals {
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

    pub(super) fn serialize<S: Serializer>(word: &str, serializer: S) -> Result<S::Ok, S::Error> {
        word.to_uppercase().serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<String, D::Error> {
        String::deserialize(deserializer).map(|word| word.to_lowercase())
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "labels", has_many(stickers: Sticker, by = word, key = word))]
struct Label {
    #[serde(rename = "_id")]
    id: i32,
    #[serde(with = "capitals")]
    #[odm(unique)]
    word: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "stickers")]
struct Sticker {
    #[serde(rename = "_id")]
    id: i32,
    #[serde(with = "capitals")]
    #[odm(index, refers_to(Label, by = word))]
    word: String,
}

async fn keys_of_an_undeclared_module_are_read_by_it(db: &Db) {
    let word = "fragile".to_owned();
    let labels = db.collection::<Label>();
    labels.insert_one(Label { id: 1, word }).await.unwrap();
    let stickers = db.collection::<Sticker>();
    for (id, word) in [(1, "fragile"), (2, "heavy")] {
        let word = word.to_owned();
        stickers.insert_one(Sticker { id, word }).await.unwrap();
    }
    let rows = stickers
        .find_all()
        .sort(|s| s.id.asc())
        .join(|s| s.word)
        .all();
    let rows = rows.await.unwrap();
    assert_eq!(rows[0].word().found().map(|it| it.id), Some(1));
    assert_eq!(rows[1].word().missing().map(String::as_str), Some("heavy"));
    let row = labels.get(&1).join(|l| l.stickers).await.unwrap().unwrap();
    assert_eq!(row.stickers().len(), 1);
}

async fn keys_are_in_the_metadata(_db: &Db) {
    let found: Vec<_> = Kit::model()
        .relations()
        .iter()
        .chain(Use::model().relations())
        .filter_map(RelationMeta::as_reference)
        .map(|one| (one.name.as_str(), one.key, one.arity))
        .collect();
    assert_eq!(
        found,
        [
            ("codes", "code", Arity::Many { max: Some(3) }),
            ("code", "code", Arity::One),
            ("instead", "code", Arity::AtMostOne),
        ]
    );
}

/// A word that has no serde form of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Word(String);

/// Stores a word as text.
mod words {
    use odm::foreign::{ConversionError, StoredAs};

    use super::Word;

    pub(super) enum Text {}

    impl StoredAs<Word> for Text {
        type Stored = String;

        fn to_stored(value: &Word) -> Result<String, ConversionError> {
            Ok(value.0.clone())
        }

        fn from_stored(text: String) -> Result<Word, ConversionError> {
            Ok(Word(text))
        }
    }

    odm::serializer!(Text);
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "notes")]
struct Note {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
    #[serde(with = "words")]
    #[odm(keywords(from(title), language = "english", max = 8))]
    words: Vec<Word>,
}

async fn keywords_are_computed_and_searched(db: &Db) {
    let plan = db.sync([Note::model()]).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
    let notes = db.collection::<Note>();
    for (id, title) in [(1, "Running shoes"), (2, "Walking")] {
        let (title, words) = (title.to_owned(), Vec::new());
        let note = Note { id, title, words };
        notes.insert_one(note).await.unwrap();
    }
    let found = notes.find_one(|n| n.words.search("a shoe to run")).await;
    let words = found.unwrap().unwrap().words;
    assert_eq!(words, [Word("run".to_owned()), Word("shoe".to_owned())]);
    notes
        .update_one(|n| n.id.eq(2), |n| n.title.set("Swimming"))
        .await
        .unwrap();
    let swim = Word("swim".to_owned());
    let found = notes.find_one(|n| n.words.has(swim)).await.unwrap();
    assert_eq!(found.map(|it| it.id), Some(2));
    let found = notes.find(|n| n.words.search_any("running, walking")).all();
    assert_eq!(found.await.unwrap().len(), 1);
}

/// Keeps the oldest message first, and stores the newest first.
mod oldest_first {
    use serde::{Deserialize as _, Deserializer, Serializer};

    use super::Headline;

    pub(super) fn serialize<S: Serializer>(
        list: &[Headline],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(list.iter().rev())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<Headline>, D::Error> {
        let mut list = Vec::deserialize(deserializer)?;
        list.reverse();
        Ok(list)
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "papers")]
struct Paper {
    #[serde(rename = "_id")]
    id: i32,
    #[serde(with = "oldest_first")]
    #[odm(recent(News, max = 2, sort = -day))]
    headlines: Vec<Headline>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded, Projection)]
#[odm(of = News)]
struct Headline {
    day: i32,
    title: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "news")]
struct News {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index, recent_in = headlines)]
    paper: Ref<Paper>,
    day: i32,
    title: String,
    text: String,
}

async fn the_newest_are_copied(db: &Db) {
    let papers = db.collection::<Paper>();
    let headlines = Vec::new();
    papers.insert_one(Paper { id: 1, headlines }).await.unwrap();
    let news = db.collection::<News>();
    for (id, day) in [(1, 5), (2, 7), (3, 6)] {
        let one = News {
            id,
            paper: Ref::from(1),
            day,
            title: format!("Day {day}"),
            text: String::new(),
        };
        news.insert_one(one).propagate().await.unwrap();
    }
    let paper = papers.get(&1).await.unwrap().unwrap();
    let days: Vec<_> = paper.headlines.iter().map(|it| it.day).collect();
    assert_eq!(days, [6, 7]);
    let stored = papers.find_all().with_type::<bson::Document>();
    let headline = |day: i32| Bson::from(doc! {"day": day, "title": format!("Day {day}")});
    let expected = doc! {"_id": 1, "headlines": [headline(7), headline(6)]};
    assert_eq!(stored.all().await.unwrap(), [expected]);
    let found = papers.find_one(|p| p.headlines.eq(paper.headlines));
    assert_eq!(found.await.unwrap().map(|it| it.id), Some(1));
}
