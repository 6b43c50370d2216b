//! Projections of a part of a document, at any depth.

use odm::bson::Document as BsonDocument;
use odm::prelude::*;

use crate::case::cases;

cases![
    parts_of_embedded_structs_are_sent_alone,
    the_newest_copies_hold_parts,
    joins_read_keys_beside_a_part,
];

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "films")]
#[serde(rename_all = "camelCase")]
struct Film {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
    first_review: Review,
    best_review: Option<Review>,
    #[odm(embed(few, max = 10))]
    reviews: Vec<Review>,
    #[odm(recent_in = newest)]
    studio: Ref<Studio>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
#[serde(rename_all = "camelCase")]
struct Review {
    by_whom: Person,
    text: String,
    stars: i32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Person {
    name: String,
    #[serde(rename = "mail")]
    email: String,
    agent: Option<Ref<Studio>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "studios")]
struct Studio {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(recent(Film, max = 3, sort = title))]
    newest: Vec<Copy>,
}

/// What a list shows.
#[derive(Debug, PartialEq, Deserialize, Projection)]
#[odm(of = Film)]
#[serde(rename_all = "camelCase")]
struct Line {
    title: String,
    first_review: Byline,
    best_review: Option<Byline>,
    reviews: Vec<Stars>,
}

#[derive(Debug, PartialEq, Deserialize, Projection)]
#[odm(of = Review)]
#[serde(rename_all = "camelCase")]
struct Byline {
    by_whom: Name,
    stars: Option<i32>,
}

#[derive(Debug, PartialEq, Deserialize, Projection)]
#[odm(of = Person)]
struct Name {
    name: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded, Projection)]
#[odm(of = Review)]
struct Stars {
    stars: i32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded, Projection)]
#[odm(of = Film)]
#[serde(rename_all = "camelCase")]
struct Copy {
    title: String,
    first_review: Stars,
    best_review: Option<Stars>,
}

fn review(name: &str, stars: i32) -> Review {
    Review {
        by_whom: Person {
            name: name.to_owned(),
            email: format!("{name}@example.org"),
            agent: Some(Ref::from(1)),
        },
        text: "…".to_owned(),
        stars,
    }
}

fn film(id: i32) -> Film {
    Film {
        id,
        title: format!("film {id}"),
        first_review: review("ada", 4),
        best_review: (id > 1).then(|| review("bob", 5)),
        reviews: vec![review("ada", 4), review("bob", 5)],
        studio: Ref::from(1),
    }
}

async fn parts_of_embedded_structs_are_sent_alone(db: &Db) {
    let films = db.collection::<Film>();
    let insert = films.insert_many([film(1), film(2)]);
    insert.leave_stale().await.unwrap();
    let find = || films.find_all().sort(|f| f.id.asc()).select::<Line>();
    let command = find().command().unwrap();
    let expected = doc! {
        "_id": 0,
        "title": 1,
        "firstReview.byWhom.name": 1,
        "firstReview.stars": 1,
        "bestReview.byWhom.name": 1,
        "bestReview.stars": 1,
        "reviews.stars": 1,
    };
    assert_eq!(command.get_document("projection").ok(), Some(&expected));
    let byline = |name: &str, stars| Byline {
        by_whom: Name {
            name: name.to_owned(),
        },
        stars: Some(stars),
    };
    let lines = find().all().await.unwrap();
    let expected = [(1, None), (2, Some(byline("bob", 5)))].map(|(id, best_review)| Line {
        title: format!("film {id}"),
        first_review: byline("ada", 4),
        best_review,
        reviews: vec![Stars { stars: 4 }, Stars { stars: 5 }],
    });
    assert_eq!(lines, expected);
    // MongoDB sends nothing else, and leaves out a null that has no such field.
    let sent = find().with_type::<BsonDocument>().first().await.unwrap();
    assert_eq!(
        sent,
        Some(doc! {
            "title": "film 1",
            "firstReview": {"byWhom": {"name": "ada"}, "stars": 4},
            "reviews": [{"stars": 4}, {"stars": 5}],
        })
    );
    let one = films.find_one(|f| f.id.eq(2)).select::<Line>().await;
    assert_eq!(one.unwrap().as_ref(), expected.get(1));
}

async fn the_newest_copies_hold_parts(db: &Db) {
    let studios = db.collection::<Studio>();
    let studio = Studio {
        id: 1,
        newest: Vec::new(),
    };
    studios.insert_one(&studio).await.unwrap();
    let films = db.collection::<Film>();
    films.insert_one(film(2)).propagate().await.unwrap();
    let stored = studios.find_all().with_type::<BsonDocument>();
    assert_eq!(
        stored.first().await.unwrap(),
        Some(doc! {
            "_id": 1,
            "newest": [{"title": "film 2", "firstReview": {"stars": 4}, "bestReview": {"stars": 5}}],
        })
    );
}

async fn joins_read_keys_beside_a_part(db: &Db) {
    let studio = Studio {
        id: 1,
        newest: Vec::new(),
    };
    db.collection::<Studio>().insert_one(studio).await.unwrap();
    let films = db.collection::<Film>();
    films.insert_one(film(1)).leave_stale().await.unwrap();
    // The part does not have the reference, so the rows could not have it.
    let joined = films
        .find_all()
        .select::<Line>()
        .join(|f| f.first_review.by_whom.agent);
    let error = joined.all().await.unwrap_err();
    assert!(error.is_usage(), "{error}");
    assert_eq!(error.path(), Some("firstReview.byWhom.agent"));
}
