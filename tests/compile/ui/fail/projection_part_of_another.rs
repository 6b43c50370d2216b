use odm::prelude::*;

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "books")]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    publisher: Publisher,
    printer: Printer,
}

#[derive(Serialize, Deserialize, Embedded)]
struct Publisher {
    name: String,
}

#[derive(Serialize, Deserialize, Embedded)]
struct Printer {
    name: String,
}

#[derive(Deserialize, Projection)]
#[odm(of = Publisher)]
struct Name {
    name: String,
}

#[derive(Deserialize, Projection)]
#[odm(of = Book)]
struct Part {
    publisher: Name,
    printer: Name,
}

fn main() {}
