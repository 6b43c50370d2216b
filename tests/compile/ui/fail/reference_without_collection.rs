use odm::dbref::DbRef;
use odm::prelude::*;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Address {
    city: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "people", index(address), index(other))]
struct Person {
    #[serde(rename = "_id")]
    id: i32,
    address: Option<Ref<Address>>,
    other: DbRef<Address>,
    text: Ref<String>,
    inner: Inner,
    opt: Option<DbRef<Address>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Inner {
    inner: Ref<Address>,
    #[odm(references(many, max = 3))]
    list: Vec<Ref<Address>>,
    id: Ref<odm::bson::oid::ObjectId>,
}

// What uses it is no mistake of its own.
fn used(people: &Collection<Person>) {
    let _ = people.find(|p| p.address.eq(Ref::from(1)) & p.inner.list.has(Ref::from(1)));
    let _ = people.find(|p| p.id.eq(1)).join(|p| p.address);
}

fn main() {}
