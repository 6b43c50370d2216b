use odm::prelude::*;
use serde::{Deserialize, Serialize};

// Each declares one side of a relation, and the other model does not declare the other.
#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "movies", subset(details: Details, by = movie), subset(rights: Rights, by = movie))]
struct Movie {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(recent(Review, max = 10, sort = -stars))]
    reviews: Vec<Stars>,
    #[odm(references(many, max = 10), two_way = movies)]
    actors: Vec<Ref<Actor>>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "details")]
struct Details {
    #[serde(rename = "_id")]
    movie: Ref<Movie>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "rights")]
struct Rights {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index, rest_of = rights)]
    movie: Ref<Movie>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "reviews")]
struct Review {
    #[serde(rename = "_id")]
    id: i32,
    movie: Ref<Movie>,
    stars: i32,
}

#[derive(Serialize, Deserialize, Embedded, Projection)]
#[odm(of = Review)]
struct Stars {
    stars: i32,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "actors")]
struct Actor {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(references(many, max = 10))]
    movies: Vec<Ref<Movie>>,
    #[odm(recent_in = films)]
    studio: Ref<Studio>,
    #[odm(rest_of = part)]
    agent: Ref<Studio>,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "studios")]
struct Studio {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(embed(few, max = 10))]
    films: Vec<ActorName>,
    part: i32,
}

#[derive(Serialize, Deserialize, Embedded, Projection)]
#[odm(of = Actor)]
struct ActorName {
    #[serde(rename = "_id")]
    id: i32,
}

fn main() {}
