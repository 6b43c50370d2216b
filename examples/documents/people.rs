//! People and places: a reference by hand, `places_id`.

use odm::bson::oid::ObjectId;
use odm::prelude::*;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "places", has_many(people: Person, by = place))]
pub(crate) struct Place {
    #[serde(rename = "_id")]
    id: Id<Place>,
    name: String,
    url: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "people")]
pub(crate) struct Person {
    #[serde(rename = "_id")]
    id: Id<Person>,
    name: String,
    #[serde(rename = "places_id")]
    #[odm(index)]
    place: Ref<Place>,
    url: String,
}

pub(crate) async fn store(db: &Db) -> odm::Result<()> {
    crate::examples::sync(db, models![Place, Person]).await?;
    let place = Place {
        id: ObjectId::from_bytes([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xaa, 0xaa]).into(),
        name: "Broadway Center".to_owned(),
        url: "bc.example.net".to_owned(),
    };
    let person = Person {
        id: Id::new(),
        name: "Erin".to_owned(),
        place: Ref::to(&place),
        url: "bc.example.net/Erin".to_owned(),
    };
    db.collection::<Place>().insert_one(&place).await?;
    db.collection::<Person>().insert_one(&person).await?;
    Ok(())
}

pub(super) async fn join(db: &Db) -> odm::Result<Vec<String>> {
    let mut lines = Vec::new();
    for row in db
        .collection::<Person>()
        .find_all()
        .join(|p| p.place)
        .all()
        .await?
    {
        let place = row.place().found().map_or("nowhere", |place| &place.name);
        lines.push(format!("{} is at {place}", row.name));
    }
    for row in db
        .collection::<Place>()
        .find_all()
        .join(|p| p.people)
        .all()
        .await?
    {
        let names: Vec<_> = row.people().iter().map(|it| it.name.as_str()).collect();
        lines.push(format!("at {}: {}", row.name, names.join(", ")));
    }
    Ok(lines)
}
