use odm::prelude::*;

macro_rules! fields {
    ($($name:ident { $(#[$attribute:meta])* $ty:ty })*) => {$(
        #[derive(Serialize, Deserialize, Embedded)]
        struct $name {
            $(#[$attribute])*
            field: $ty,
        }
    )*};
}

fields! {
    A { #[odm(length = 3)] String }
    B { #[odm(range(1, 3))] i32 }
    C { #[odm(length(max = "3"))] String }
    D { #[odm(pattern)] String }
    E { #[odm(pattern("a"))] String }
    F { #[odm(one_of = "a")] String }
    G { #[odm(unique_items = 3)] Vec<i32> }
    H { #[odm(items(min))] Vec<i32> }
    I { #[odm(embed(few, max = many))] Vec<A> }
    J { #[odm(length(max = -1))] String }
    K { #[odm(length(max = 5_000_000_000))] String }
    L { #[odm(bson_type(date))] i32 }
}

macro_rules! containers {
    ($($name:ident { $(#[$attribute:meta])* })*) => {$(
        #[derive(Serialize, Deserialize, Document)]
        $(#[$attribute])*
        struct $name {
            #[serde(rename = "_id")]
            id: i32,
            title: String,
        }
    )*};
}

containers! {
    M { #[odm(collection)] }
    N { #[odm(collection = 3)] }
    O { #[odm(collection = "a", index = 3)] }
    P { #[odm(collection = "a", index(title title))] }
    Q { #[odm(collection = "a", deny_undeclared = 3)] }
    R { #[odm(collection = "a", capped = 3)] }
    S { #[odm(collection = "a", rule("x"))] }
    T { #[odm(collection = "a", validation = "off")] }
    U { #[odm(collection = "a", text(title = 3))] }
    V { #[odm(collection = "a", collation = "en")] }
    W { #[odm(collection = "a", change_stream_images = true)] }
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "books")]
struct Indexed {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(index = 3)]
    title: String,
    #[odm(unique(3))]
    isbn: String,
    #[odm(version(1))]
    version: i64,
}

#[derive(Deserialize, Projection)]
#[odm(of = "Indexed")]
struct Part {
    title: String,
}

fn main() {}
