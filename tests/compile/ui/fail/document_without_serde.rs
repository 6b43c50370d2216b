use odm::prelude::*;

#[derive(Serialize, Document)]
#[odm(collection = "written")]
struct Written {
    #[serde(rename = "_id")]
    id: i32,
}

#[derive(Deserialize, Document)]
#[odm(collection = "read")]
struct Read {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
}

// What uses it is no mistake of its own.
fn used(read: &Collection<Read>) {
    let _ = read.find(|one| one.title.eq("Dune"));
}

fn main() {}
