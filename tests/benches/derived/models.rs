//! The models, and what the benchmark does to them in the same way whatever derives.

use mongodb::bson::{Bson, Document as BsonDocument, doc};
use odm::prelude::*;

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[odm(collection = "products", has_many(reviews: Review, by = product))]
pub(crate) struct Product {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(count_of(reviews))]
    count: i64,
    #[odm(mean_of(reviews.stars))]
    mean: Option<f64>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[odm(collection = "reviews")]
pub(crate) struct Review {
    #[serde(rename = "_id")]
    pub(crate) id: i32,
    #[odm(index)]
    pub(crate) product: Ref<Product>,
    pub(crate) stars: i32,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[odm(collection = "shops", has_squillions(visits: Visit, by = shop))]
pub(crate) struct Shop {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(count_of(visits))]
    count: i64,
    #[odm(mean_of(visits.stars))]
    mean: Option<f64>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[odm(collection = "visits")]
pub(crate) struct Visit {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index)]
    shop: Ref<Shop>,
    stars: i32,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[odm(collection = "people")]
pub(crate) struct Person {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(references(many, max = 5_000), two_way = owner)]
    tasks: Vec<Ref<Task>>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[odm(collection = "tasks")]
pub(crate) struct Task {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index, two_way = tasks)]
    owner: Option<Ref<Person>>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[odm(collection = "hosts", has_many(messages: Message, by = host))]
pub(crate) struct Host {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(recent(Message, max = 10, sort = time))]
    newest: Vec<MessageLine>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[odm(collection = "messages", index(host, time = desc))]
pub(crate) struct Message {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(recent_in = newest)]
    host: Ref<Host>,
    time: i32,
}

#[derive(Debug, Clone, Serialize, Deserialize, Embedded, Projection)]
#[odm(of = Message)]
struct MessageLine {
    time: i32,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[odm(collection = "stations", has_squillions(readings: Reading, by = station))]
pub(crate) struct Station {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(recent(Reading, max = 10, sort = time))]
    newest: Vec<ReadingLine>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[odm(collection = "readings", index(station, time = desc))]
pub(crate) struct Reading {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(recent_in = newest)]
    station: Ref<Station>,
    time: i32,
}

#[derive(Debug, Clone, Serialize, Deserialize, Embedded, Projection)]
#[odm(of = Reading)]
struct ReadingLine {
    time: i32,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[odm(collection = "albums", has_many(songs: Song, by = album))]
pub(crate) struct Album {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(count_of(songs))]
    count: i64,
    #[odm(mean_of(songs.stars))]
    mean: Option<f64>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Document)]
#[odm(collection = "songs", change_stream_images)]
pub(crate) struct Song {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index)]
    album: Ref<Album>,
    stars: i32,
}

/// What derives, and by which guarantee.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Case {
    StrictSummary,
    SettledSummary,
    TwoWay,
    StrictList,
    SettledList,
    /// A summary that a follower writes.
    Followed,
}

/// The names by which the code by hand finds the documents.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Names {
    pub(crate) parents: &'static str,
    pub(crate) children: &'static str,
    pub(crate) reference: &'static str,
}

impl Case {
    pub(crate) fn names(self) -> Names {
        let (parents, children, reference) = match self {
            Self::StrictSummary => ("products", "reviews", "product"),
            Self::SettledSummary => ("shops", "visits", "shop"),
            Self::TwoWay => ("people", "tasks", "owner"),
            Self::StrictList => ("hosts", "messages", "host"),
            Self::SettledList => ("stations", "readings", "station"),
            Self::Followed => ("albums", "songs", "album"),
        };
        Names {
            parents,
            children,
            reference,
        }
    }

    /// A parent of these children.
    pub(crate) fn parent(self, id: i32, children: &[i32]) -> BsonDocument {
        match self {
            Self::StrictSummary | Self::SettledSummary | Self::Followed => {
                let count = i32::try_from(children.len()).unwrap();
                let sum: i32 = children.iter().map(|child| stars(*child)).sum();
                let mean = (count > 0).then(|| f64::from(sum) / f64::from(count));
                doc! {"_id": id, "count": i64::from(count), "mean": mean}
            }
            Self::TwoWay => doc! {"_id": id, "tasks": children},
            Self::StrictList | Self::SettledList => {
                let newest = children.iter().rev().take(10).rev();
                let newest: Vec<_> = newest.map(|child| doc! {"time": child}).collect();
                doc! {"_id": id, "newest": newest}
            }
        }
    }

    pub(crate) fn child(self, id: i32, parent: i32) -> BsonDocument {
        let mut child = doc! {"_id": id, self.names().reference: parent};
        match self {
            Self::StrictSummary | Self::SettledSummary | Self::Followed => {
                child.insert("stars", stars(id))
            }
            Self::TwoWay => None::<Bson>,
            Self::StrictList | Self::SettledList => child.insert("time", id),
        };
        child
    }

    /// Inserts a child by odm.
    pub(crate) async fn insert(self, db: &Db, id: i32, parent: i32) {
        match self {
            Self::StrictSummary => {
                let product = Ref::from(parent);
                let stars = stars(id);
                let review = db.collection().insert_one(Review { id, product, stars });
                review.propagate().await.unwrap();
            }
            Self::SettledSummary => {
                let shop = Ref::from(parent);
                let stars = stars(id);
                let visit = db.collection().insert_one(Visit { id, shop, stars });
                visit.propagate().await.unwrap();
            }
            Self::TwoWay => {
                let owner = Some(Ref::from(parent));
                let task = db.collection().insert_one(Task { id, owner });
                task.propagate().await.unwrap();
            }
            Self::StrictList => {
                let host = Ref::from(parent);
                let message = db.collection().insert_one(Message { id, host, time: id });
                message.propagate().await.unwrap();
            }
            Self::SettledList => {
                let station = Ref::from(parent);
                let time = id;
                let reading = db.collection().insert_one(Reading { id, station, time });
                reading.propagate().await.unwrap();
            }
            Self::Followed => unreachable!("the follower is measured beside writes past odm"),
        }
    }

    /// Lets a child refer to another parent by odm.
    pub(crate) async fn reassign(self, db: &Db, id: i32, to: i32) {
        match self {
            Self::StrictSummary => {
                let reviews = db.collection::<Review>();
                let update = reviews.update_by_id(&id, |r| r.product.set(Ref::from(to)));
                update.propagate().await.unwrap();
            }
            Self::SettledSummary => {
                let visits = db.collection::<Visit>();
                let update = visits.update_by_id(&id, |v| v.shop.set(Ref::from(to)));
                update.propagate().await.unwrap();
            }
            Self::TwoWay => {
                let tasks = db.collection::<Task>();
                let update = tasks.update_by_id(&id, |t| t.owner.set(Some(Ref::from(to))));
                update.propagate().await.unwrap();
            }
            Self::StrictList | Self::SettledList | Self::Followed => {
                unreachable!("only summaries and two-way references are moved")
            }
        }
    }

    /// Whether all that derives is right.
    pub(crate) async fn is_sound(self, db: &Db) -> bool {
        match self {
            Self::StrictSummary => {
                let products = db.collection::<Product>();
                products.check_summaries().await.unwrap().is_sound()
            }
            Self::SettledSummary => {
                let shops = db.collection::<Shop>();
                shops.check_summaries().await.unwrap().is_sound()
            }
            Self::TwoWay => {
                let people = db.collection::<Person>();
                people.check_two_way().await.unwrap().is_sound()
            }
            Self::StrictList => {
                let hosts = db.collection::<Host>();
                hosts.check_recent().await.unwrap().is_sound()
            }
            Self::SettledList => {
                let stations = db.collection::<Station>();
                stations.check_recent().await.unwrap().is_sound()
            }
            Self::Followed => {
                let albums = db.collection::<Album>();
                albums.check_summaries().await.unwrap().is_sound()
            }
        }
    }
}

pub(crate) fn stars(id: i32) -> i32 {
    1 + id % 5
}
