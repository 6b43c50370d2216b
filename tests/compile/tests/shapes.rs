//! Every shape that serde can give a type.
#![deny(missing_docs, unreachable_pub, missing_debug_implementations)]
#![deny(warnings)]

use odm::prelude::*;
use serde::{Deserialize, Serialize};

mod types {
    //! In a module of its own, as models are.
    use super::*;

    /// A page of anything.
    #[derive(Debug, Serialize, Deserialize, Embedded)]
    pub(crate) struct Page<T: Clone, const N: usize = 3>
    where
        T: PartialEq,
    {
        /// What is on it.
        pub(crate) items: Vec<T>,
        /// By number.
        pub(crate) first: Option<T>,
    }

    /// Borrows.
    #[derive(Debug, Serialize, Embedded)]
    pub(crate) struct Borrowed<'a> {
        pub(crate) name: std::borrow::Cow<'a, str>,
    }

    /// A newtype.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
    pub(crate) struct Isbn(pub(crate) String);

    /// A transparent one.
    #[derive(Debug, Serialize, Deserialize, Embedded)]
    #[serde(transparent)]
    pub(crate) struct Wrapped {
        pub(crate) inner: Isbn,
    }

    /// Both coordinates.
    #[derive(Debug, Serialize, Deserialize, Embedded)]
    pub(crate) struct Point(pub(crate) i32, pub(crate) i32);

    /// One of some strings.
    #[derive(Debug, Serialize, Deserialize, Embedded)]
    #[serde(rename_all = "kebab-case")]
    pub(crate) enum Colour {
        DarkRed,
        Green,
    }

    /// Tagged outside.
    #[derive(Debug, Serialize, Deserialize, Embedded)]
    pub(crate) enum External<T> {
        Unit,
        Newtype(T),
        Tuple(i32, T),
        Struct { value: T },
    }

    /// Tagged beside.
    #[derive(Debug, Serialize, Deserialize, Embedded)]
    #[serde(tag = "t", content = "c", rename_all_fields = "camelCase")]
    pub(crate) enum Adjacent {
        Unit,
        Struct { first_value: i32 },
    }

    /// Not tagged.
    #[derive(Debug, Serialize, Deserialize, Embedded)]
    #[serde(untagged)]
    pub(crate) enum Untagged {
        Number(i32),
        Struct { value: String },
    }

    /// Stored as another.
    #[derive(Debug, Clone, Serialize, Deserialize, Embedded)]
    #[serde(into = "String", from = "String")]
    pub(crate) struct Into_(pub(crate) String);

    impl From<String> for Into_ {
        fn from(value: String) -> Self {
            Self(value)
        }
    }

    impl From<Into_> for String {
        fn from(value: Into_) -> Self {
            value.0
        }
    }
}

use types::*;

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "all", index(page.first), index(external.struct_.value), index(inner_name))]
struct All<T>
where
    T: Clone + PartialEq,
{
    #[serde(rename = "_id")]
    id: Isbn,
    page: Page<T>,
    wrapped: Wrapped,
    point: Point,
    colour: Colour,
    external: External<i32>,
    adjacent: Adjacent,
    untagged: Untagged,
    into: Into_,
    #[serde(flatten)]
    flat: Flat,
    inner_name: Option<Box<Flat>>,
}

#[derive(Debug, Serialize, Deserialize, Embedded)]
struct Flat {
    #[serde(rename = "one")]
    number_one: i32,
}

#[test]
fn runs() {
    use odm::model::{Embedded, Path};
    let all = All::<String>::fields::<All<String>>(Path::root());
    let inner = all.inner_name.fields();
    let paths = [
        (all.id.path(), "_id"),
        (all.page.items.path(), "page.items"),
        (all.page.path(), "page"),
        (all.wrapped.path(), "wrapped"),
        (all.external.newtype.path(), "external.Newtype"),
        (all.external.tuple.path(), "external.Tuple"),
        (all.external.struct_.value.path(), "external.Struct.value"),
        (all.adjacent.tag.path(), "adjacent.t"),
        (
            all.adjacent.struct_.first_value.path(),
            "adjacent.c.firstValue",
        ),
        (all.untagged.number.path(), "untagged"),
        (all.untagged.struct_.value.path(), "untagged.value"),
        (all.flat.number_one.path(), "one"),
        (inner.number_one.path(), "inner_name.one"),
    ];
    for (path, expected) in paths {
        assert_eq!(path.to_string(), expected);
    }
    let _ = all.wrapped.starts_with("978");
    let _ = all.into.ends_with("x");
    let _ = |borrowed: &BorrowedFields<'_, ()>| borrowed.name.path().to_string();
}
