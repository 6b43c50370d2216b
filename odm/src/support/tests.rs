//! What the derives make, seen from inside.
use bson::doc;
use serde::{Deserialize, Serialize};

use crate::model::*;
use crate::query::typing::Descend;
use crate::{Document, Embedded, Projection};

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "hosts", index(name, address = desc), index(contacts.city, name = "byCity", sparse), rule("named", |h| h.name.ne("")))]
struct Host {
    #[serde(rename = "_id")]
    id: i32,
    address: Option<Address>,
    #[odm(embed(few, max = 12))]
    contacts: Vec<Address>,
    #[odm(length(min = 1), index(unique))]
    name: String,
    page: Page<String>,
    #[serde(with = "shout")]
    loud: String,
    colour: Colour,
    isbn: Isbn,
    shape: Figure,
    tags: Tags<String>,
}

#[derive(Serialize, Deserialize, Embedded)]
struct Address {
    city: String,
    #[odm(embed(few, max = 9))]
    kids: Vec<Address>,
    up: Option<Box<Address>>,
}

#[derive(Serialize, Deserialize, Embedded)]
#[serde(rename_all = "camelCase")]
struct Page<T> {
    first_item: T,
    all: Vec<T>,
}

#[derive(Serialize, Deserialize, Embedded)]
struct Isbn(String);

#[derive(Serialize, Deserialize, Embedded)]
struct Tags<T>(Vec<T>);

#[derive(Deserialize, Projection)]
#[odm(of = Host)]
#[expect(dead_code, reason = "only its derived parts are tested")]
struct Part {
    #[serde(rename = "_id")]
    id: i32,
    name: Option<String>,
    contacts: Vec<Address>,
}

#[derive(Serialize, Deserialize, Embedded)]
#[serde(rename_all = "snake_case")]
enum Colour {
    LightRed,
    Green,
}

#[derive(Serialize, Deserialize, Embedded)]
#[serde(tag = "type")]
enum Figure {
    Circle { radius: i32 },
    Nested(Address),
    Empty,
}

mod shout {
    use serde::{Deserialize, Deserializer, Serializer};

    #[expect(clippy::ptr_arg, reason = "serde's signature")]
    pub(super) fn serialize<S: Serializer>(
        value: &String,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&value.to_uppercase())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<String, D::Error> {
        String::deserialize(deserializer)
    }
}

#[test]
fn paths() {
    let host = Host::fields::<Host>(Path::root());
    assert_eq!(host.address.city.path().to_string(), "address.city");
    assert_eq!(host.address.path().to_string(), "address");
    assert_eq!(host.page.first_item.path().to_string(), "page.firstItem");
    assert_eq!(host.shape.tag.path().to_string(), "shape.type");
    assert_eq!(host.shape.circle.radius.path().to_string(), "shape.radius");
    assert_eq!(host.shape.nested.city.path().to_string(), "shape.city");
    assert_eq!(host.id.path().to_string(), "_id");
    assert_eq!(
        host.loud.eq("abc").to_document().unwrap(),
        doc! {"loud": "ABC"}
    );
    assert_eq!(
        host.isbn.starts_with("978").to_document().unwrap(),
        doc! {"isbn": {"$regex": "^978"}}
    );
    assert_eq!(
        host.tags.any().eq("a").to_document().unwrap(),
        doc! {"tags": "a"}
    );
    assert_eq!(
        host.address.descend().city.path().to_string(),
        "address.city"
    );
    assert_eq!(host.isbn.path().to_string(), "isbn");
    assert_eq!(
        host.colour.eq(Colour::LightRed).to_document().unwrap(),
        doc! {"colour": "light_red"}
    );
}

#[test]
fn projections() {
    let names: Vec<_> = Part::FIELDS.iter().map(|field| field.name).collect();
    assert_eq!(names, ["_id", "name", "contacts"]);
}

#[test]
fn resolving() {
    let found = |path: &[&str]| name::resolve(Host::META, path).unwrap();
    assert_eq!(
        found(&["contacts", "city"]).path.to_string(),
        "contacts.city"
    );
    assert!(found(&["contacts", "city"]).through_array);
    assert_eq!(
        found(&["page", "first_item"]).path.to_string(),
        "page.firstItem"
    );
    assert_eq!(found(&["shape", "tag"]).path.to_string(), "shape.type");
    assert_eq!(
        found(&["shape", "nested", "city"]).path.to_string(),
        "shape.city"
    );
    let error = name::resolve(Host::META, &["contacts", "town"]).unwrap_err();
    assert!(error.is_declaration());
    assert_eq!(
        error.to_string(),
        "`Address` has no field `town`; expected one of city, kids, up"
    );
}

#[test]
fn metadata() {
    let model = Host::model();
    assert_eq!(model.collection, "hosts");
    assert_eq!(model.indexes.len(), 3);
    assert_eq!(model.indexes[2].name, Some("byCity"));
    assert_eq!(model.indexes[2].keys[0].path, ["contacts", "city"]);
    assert_eq!(
        (model.rules[0].filter)().unwrap(),
        doc! {"name": {"$ne": ""}}
    );
    assert!(matches!(
        <Colour as FieldType>::TYPE.shape,
        Shape::OneOf(["light_red", "green"])
    ));
    assert_eq!(Address::META.fields.len(), 3);
}
