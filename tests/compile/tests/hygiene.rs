//! What surrounds a struct does not break what is derived from it, and nothing derived warns.
#![deny(
    elided_lifetimes_in_paths,
    missing_debug_implementations,
    missing_docs,
    unreachable_pub,
    unused,
    unused_qualifications
)]

/// `Self` in the types of fields.
pub mod own_name {
    use odm::prelude::*;

    /// A node.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "nodes", index(name, id = desc), rule("named", |n| n.name.ne("")))]
    pub struct Node {
        /// The id.
        #[serde(rename = "_id")]
        pub id: Id<Self>,
        /// Its name.
        pub name: String,
        /// The node above.
        pub parent: Option<Ref<Self>>,
        /// A shape.
        pub r#type: Kind<i32>,
        /// What is below.
        pub tree: Option<Box<Tree>>,
        #[serde(flatten)]
        private: Private,
    }

    /// A part that holds others of its kind.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
    pub struct Tree {
        /// One of them.
        pub left: Option<Box<Self>>,
        /// Some of them.
        #[odm(embed(few, max = 3))]
        pub children: Vec<Self>,
    }

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
    struct Private {
        extra: i32,
    }

    /// An enum that holds itself, with a parameter.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
    #[serde(tag = "kind", content = "of")]
    pub enum Kind<T> {
        /// Nothing.
        Leaf,
        /// A value.
        Value {
            /// The value.
            r#type: T,
        },
        /// Another.
        Not(Box<Self>),
    }

    /// A part of a node.
    #[derive(Debug, Clone, PartialEq, Deserialize, Projection)]
    #[odm(of = Node)]
    pub struct Typed {
        /// A shape.
        pub r#type: Kind<i32>,
    }
}

mod shadowed {
    #![allow(
        dead_code,
        missing_debug_implementations,
        missing_docs,
        non_camel_case_types
    )]

    type Result<T> = std::result::Result<T, ()>;
    struct Option;
    struct String;
    struct Vec;
    struct Box;
    struct Some;
    struct None;
    struct Ok;
    struct Err;
    struct Field;
    struct Filter;
    struct bool;
    struct i32;
    trait Default {}
    trait Deref {}
    trait Into {}
    mod bson {}
    mod core {}
    mod serde {}
    mod support {}

    use odm::{Document, Embedded};

    #[derive(::serde::Serialize, ::serde::Deserialize, Embedded)]
    struct Isbn(::std::string::String);

    #[derive(::serde::Serialize, ::serde::Deserialize, Document)]
    #[odm(collection = "all", index(name), wildcard(except(n)), rule("r", |m| m.n.gt(0)))]
    pub(crate) struct All {
        #[serde(rename = "_id")]
        id: ::std::string::String,
        name: ::std::option::Option<::std::string::String>,
        isbn: Isbn,
        #[odm(range(min = 1))]
        n: ::std::primitive::i32,
    }
}

mod renamed {
    use odm as mapper;

    use mapper::prelude::*;

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "renamed", crate = mapper)]
    pub(crate) struct Renamed {
        #[serde(rename = "_id")]
        pub(super) id: i32,
        node: Ref<crate::own_name::Node>,
    }
}

#[test]
fn runs() {
    use odm::prelude::*;

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "locals", index(part.by), rule("by somebody", |l| l.part.by.ne("")))]
    struct Local {
        #[serde(rename = "_id")]
        id: Id<Local>,
        part: Part,
    }

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
    struct Part {
        by: String,
    }

    let db = Db::memory();
    let command = db
        .collection::<Local>()
        .find(|l| l.part.by.eq("a"))
        .command();
    assert_eq!(
        command.unwrap(),
        doc! {"find": "locals", "filter": {"part.by": "a"}}
    );
    let command = db
        .collection::<own_name::Node>()
        .find(|n| n.r#type.value.r#type.eq(1))
        .command();
    assert_eq!(
        command.unwrap(),
        doc! {"find": "nodes", "filter": {"type.of.type": 1}}
    );
    let indexes = odm::schema::indexes(<shadowed::All as Document>::model()).unwrap();
    assert_eq!(
        indexes[1],
        doc! {"key": {"$**": 1}, "name": "$**_1", "wildcardProjection": {"n": 0}}
    );
    let _ = db.collection::<renamed::Renamed>().find(|r| r.id.eq(1));
}
