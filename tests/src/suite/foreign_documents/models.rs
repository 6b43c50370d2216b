//! Models with every kind of field that may be missing, null or of another type.

use std::collections::BTreeMap;

use odm::bson::{self, Bson, Document as BsonDocument, doc};
use odm::prelude::*;

use super::mutate::mutate;
use crate::random::Random;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "films", index(year), index(cast.actor))]
pub(super) struct Film {
    #[serde(rename = "_id")]
    pub(super) id: i32,
    pub(super) title: String,
    #[serde(default)]
    pub(super) year: i32,
    #[serde(default = "one")]
    pub(super) weight: f64,
    pub(super) length: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) seen: Option<DateTime>,
    #[serde(default)]
    #[odm(index)]
    pub(super) studio: Option<Ref<Studio>>,
    #[serde(default)]
    #[odm(items(max = 12))]
    pub(super) tags: Vec<String>,
    #[serde(default)]
    #[odm(embed(few, max = 12))]
    pub(super) cast: Vec<Role>,
    #[serde(default)]
    pub(super) size: Option<Size>,
    #[serde(default)]
    pub(super) place: Place,
    #[serde(default)]
    pub(super) marks: BTreeMap<String, i32>,
    #[serde(default)]
    pub(super) format: Format,
    #[serde(default)]
    pub(super) pair: (i32, Option<i32>),
    #[serde(
        default,
        with = "odm::chrono_0_4",
        skip_serializing_if = "Option::is_none"
    )]
    pub(super) shown: Option<chrono::DateTime<chrono::Utc>>,
    #[serde(flatten)]
    pub(super) rest: Rest,
}

fn one() -> f64 {
    1.0
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub(super) struct Role {
    pub(super) name: String,
    #[serde(default)]
    pub(super) part: Option<String>,
    #[serde(default)]
    pub(super) actor: Option<Ref<Person>>,
    #[serde(default)]
    #[odm(items(max = 12))]
    pub(super) lines: Vec<Option<i32>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub(super) struct Size {
    #[serde(default)]
    pub(super) h: i64,
    #[serde(default)]
    pub(super) w: Option<i32>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Embedded)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Place {
    pub(super) city_name: String,
    pub(super) zip: Zip,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Embedded)]
pub(super) struct Zip(pub(super) i32);

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Embedded)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(super) enum Format {
    Reel {
        metres: i32,
        #[serde(default)]
        width: Option<f64>,
    },
    File {
        #[serde(default)]
        bytes: i64,
    },
    #[default]
    Lost,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
pub(super) struct Rest {
    #[serde(default)]
    pub(super) country: Option<String>,
    #[serde(default)]
    pub(super) shots: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "studios", has_many(films: Film, by = studio))]
pub(super) struct Studio {
    #[serde(rename = "_id")]
    pub(super) id: i32,
    #[serde(default)]
    pub(super) founded: i32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "people", has_many(roles: Film, by = cast.actor))]
pub(super) struct Person {
    #[serde(rename = "_id")]
    pub(super) id: i32,
    #[serde(default)]
    pub(super) name: Option<String>,
}

/// A part of a film.
#[derive(Debug, PartialEq, Deserialize, Projection)]
#[odm(of = Film)]
pub(super) struct Card {
    #[serde(rename = "_id")]
    pub(super) id: i32,
    #[serde(default)]
    pub(super) year: i32,
    #[serde(default)]
    pub(super) size: Option<Size>,
    #[serde(default)]
    pub(super) cast: Vec<Role>,
}

/// A film with values in all its fields, some of which films share.
pub(super) fn film(random: &mut Random, id: i32) -> Film {
    let small = |random: &mut Random| i32::try_from(random.below(5)).unwrap();
    let role = |random: &mut Random| Role {
        name: (*random.pick(&["Ann", "Bob", "Cy"])).to_owned(),
        part: random.one_in(2).then(|| "villain".to_owned()),
        actor: random.one_in(2).then(|| Ref::from(small(random))),
        lines: (0..random.below(3)).map(|_| Some(small(random))).collect(),
    };
    Film {
        id,
        title: (*random.pick(&["M", "Heat", "Alien"])).to_owned(),
        year: 2000 + small(random),
        weight: f64::from(small(random)) / 2.0,
        length: random.one_in(2).then(|| i64::from(small(random))),
        seen: random
            .one_in(2)
            .then(|| DateTime::from_millis(small(random).into())),
        studio: random.one_in(2).then(|| Ref::from(small(random))),
        tags: (0..random.below(4))
            .map(|_| (*random.pick(&["a", "b", "c"])).to_owned())
            .collect(),
        cast: (0..random.below(4)).map(|_| role(random)).collect(),
        size: random.one_in(2).then(|| Size {
            h: small(random).into(),
            w: random.one_in(2).then(|| small(random)),
        }),
        place: Place {
            city_name: "Rome".to_owned(),
            zip: Zip(small(random)),
        },
        marks: (0..random.below(3))
            .map(|mark| (format!("m{mark}"), small(random)))
            .collect(),
        format: match random.below(3) {
            0 => Format::Reel {
                metres: small(random),
                width: random.one_in(2).then_some(35.0),
            },
            1 => Format::File { bytes: 7 },
            _ => Format::Lost,
        },
        pair: (small(random), random.one_in(2).then_some(3)),
        shown: random
            .one_in(2)
            .then(|| chrono::DateTime::from_timestamp_millis(86_400_000).unwrap()),
        rest: Rest {
            country: random.one_in(2).then(|| "it".to_owned()),
            shots: small(random).into(),
        },
    }
}

/// A stored document, and the film that serde reads from it.
#[derive(Debug, Clone)]
pub(super) struct Stored {
    pub(super) raw: BsonDocument,
    pub(super) film: Film,
}

/// Reads a film by bson alone.
pub(super) fn by_serde(raw: &BsonDocument) -> Option<Film> {
    bson::deserialize_from_document(raw.clone()).ok()
}

/// Documents of films, each changed several times in ways that serde still reads.
pub(super) fn stored(random: &mut Random, count: usize) -> Vec<Stored> {
    let films = (0..).take(count).map(|id| {
        let mut film = film(random, id);
        let mut raw = bson::serialize_to_document(&film).unwrap();
        for _ in 0..random.below(12) {
            let mut changed = raw.clone();
            mutate(random, &mut changed);
            if let Some(read) = by_serde(&changed) {
                (raw, film) = (changed, read);
            }
        }
        Stored { raw, film }
    });
    films.collect()
}

/// Documents that serde does not read, each a readable one with one change.
pub(super) fn unreadable(random: &mut Random, count: usize) -> Vec<BsonDocument> {
    let mut found = Vec::new();
    for id in (0..).take(count * 20) {
        let mut raw = bson::serialize_to_document(&film(random, id)).unwrap();
        mutate(random, &mut raw);
        if by_serde(&raw).is_none() {
            found.push(raw);
        }
        if found.len() == count {
            break;
        }
    }
    found
}

/// Inserts documents as another program would.
pub(super) async fn insert(db: &Db, collection: &str, documents: Vec<BsonDocument>) {
    let insert =
        doc! {"insert": collection, "documents": documents, "bypassDocumentValidation": true};
    db.run_command(insert).await.unwrap();
}

/// The stored document with this `_id`.
pub(super) async fn raw(db: &Db, id: i32) -> BsonDocument {
    let find = doc! {"find": "films", "filter": {"_id": id}, "singleBatch": true};
    let reply = db.run_command(find).await.unwrap();
    let cursor = reply.get_document("cursor").unwrap();
    match &cursor.get_array("firstBatch").unwrap()[..] {
        [Bson::Document(found)] => found.clone(),
        other => panic!("{other:?}"),
    }
}
