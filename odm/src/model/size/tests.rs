//! Values that the bounds allow are never larger than the computed size, and the largest ones are as large.

use bson::oid::ObjectId;
use bson::{Bson, DateTime, Decimal128, Timestamp, Uuid};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};

use crate::model::{Budget, ModelMeta};
use crate::types::{Id, Ref};
use crate::{Document, Embedded};

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "all", budget = "1MiB")]
struct All {
    #[serde(rename = "_id")]
    id: Id<Self>,
    #[odm(length(max = 40))]
    name: String,
    #[serde(rename = "oneOf")]
    #[odm(one_of("a", "longest"))]
    one_of: Option<String>,
    scalars: Scalars,
    #[odm(embed(few, max = 120))]
    reviews: Vec<Review>,
    #[odm(references(many, max = 30))]
    parts: Vec<Ref<All>>,
    maker: Option<Ref<Maker>>,
    #[odm(length(max = 6), references(many, max = 11))]
    countries: Vec<Ref<Country>>,
    grid: [[i32; 3]; 11],
    pair: (i64, Review),
    pairs: [Pair; 2],
    colour: Colour,
    external: External,
    internal: Internal,
    adjacent: Adjacent,
    untagged: Untagged,
    #[serde(flatten)]
    flat: Flat,
    #[serde(flatten)]
    flat_enum: External2,
    #[serde(skip_serializing_if = "Option::is_none")]
    thread: Option<Comment>,
    tree: Option<Box<Tree>>,
    person: Person,
    #[odm(bytes(max = "100B"))]
    extra: Bson,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "makers")]
struct Maker {
    #[serde(rename = "_id")]
    id: Key,
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "countries")]
struct Country {
    #[serde(rename = "_id")]
    id: String,
}

#[derive(Clone, Serialize, Deserialize, Embedded)]
struct Key {
    country: Uuid,
    number: i32,
}

#[derive(Serialize, Deserialize, Embedded)]
struct Scalars {
    boolean: bool,
    int: i32,
    long: i64,
    double: f64,
    decimal: Decimal128,
    date: DateTime,
    time: Timestamp,
    object_id: ObjectId,
    uuid: Uuid,
    letter: char,
    nothing: (),
}

#[derive(Clone, Serialize, Deserialize, Embedded)]
struct Review {
    #[odm(length(max = 7))]
    text: String,
    #[odm(length(max = 2), items(max = 12))]
    tags: Vec<String>,
    stars: Option<i32>,
}

#[derive(Serialize, Deserialize, Embedded)]
struct Pair(f64, Colour);

#[derive(Serialize, Deserialize, Embedded)]
#[serde(rename_all = "lowercase")]
enum Colour {
    Red,
    Turquoise,
}

#[derive(Serialize, Deserialize, Embedded)]
enum External {
    Nothing,
    One(Review),
    Two(i32, Review),
    Three {
        #[odm(length(max = 50))]
        text: String,
    },
}

#[derive(Serialize, Deserialize, Embedded)]
enum External2 {
    First(i32),
    Second { inner: i64 },
}

#[derive(Serialize, Deserialize, Embedded)]
#[serde(tag = "kind")]
enum Internal {
    Nothing,
    One(Review),
    Three { size: i32 },
}

#[derive(Serialize, Deserialize, Embedded)]
#[serde(tag = "kind", content = "what")]
enum Adjacent {
    Nothing,
    One(Review),
    Two(i32, i64),
}

#[derive(Serialize, Deserialize, Embedded)]
#[serde(untagged)]
enum Untagged {
    One(Review),
    Number(i32),
}

#[derive(Serialize, Deserialize, Embedded)]
struct Flat {
    width: f64,
    #[odm(length(max = 3))]
    unit: String,
}

#[derive(Serialize, Deserialize, Embedded)]
#[odm(depth = 3)]
struct Comment {
    #[odm(length(max = 5))]
    text: String,
    #[odm(embed(few, max = 2))]
    replies: Vec<Comment>,
}

#[derive(Serialize, Deserialize, Embedded)]
#[odm(depth = 3)]
struct Tree {
    size: i32,
    left: Option<Box<Tree>>,
    right: Option<Box<Tree>>,
}

/// A person and what belongs to a person contain each other.
#[derive(Serialize, Deserialize, Embedded)]
#[odm(depth = 2)]
struct Person {
    #[odm(length(max = 9))]
    name: String,
    house: Option<Box<House>>,
}

#[derive(Serialize, Deserialize, Embedded)]
struct House {
    number: i32,
    #[odm(embed(few, max = 3))]
    people: Vec<Person>,
}

/// Where values come from: the choices of a test, or always the largest one.
struct Draw<'a> {
    choices: Option<&'a [u32]>,
}

impl Draw<'_> {
    /// A number up to `most`.
    fn number(&mut self, most: u32) -> u32 {
        let Some(choices) = self.choices else {
            return most;
        };
        let Some((first, rest)) = choices.split_first() else {
            return 0;
        };
        self.choices = Some(rest);
        first % (most + 1)
    }

    fn text(&mut self, most: u32) -> String {
        let characters = ['a', 'é', '€', '😀'];
        (0..self.number(most))
            .map(|_| characters[self.number(3) as usize])
            .collect()
    }

    fn list<T>(&mut self, most: u32, mut one: impl FnMut(&mut Self) -> T) -> Vec<T> {
        (0..self.number(most)).map(|_| one(self)).collect()
    }

    fn option<T>(&mut self, one: impl FnOnce(&mut Self) -> T) -> Option<T> {
        (self.number(1) == 1).then(|| one(self))
    }

    fn review(&mut self) -> Review {
        Review {
            text: self.text(7),
            tags: self.list(12, |draw| draw.text(2)),
            stars: self.option(|_| 3),
        }
    }

    fn comment(&mut self, depth: u32) -> Comment {
        Comment {
            text: self.text(5),
            replies: if depth == 1 {
                Vec::new()
            } else {
                self.list(2, |draw| draw.comment(depth - 1))
            },
        }
    }

    fn tree(&mut self, depth: u32) -> Option<Box<Tree>> {
        if depth == 0 {
            return None;
        }
        self.option(|draw| {
            Box::new(Tree {
                size: 1,
                left: draw.tree(depth - 1),
                right: draw.tree(depth - 1),
            })
        })
    }

    fn person(&mut self, depth: u32) -> Person {
        Person {
            name: self.text(9),
            house: self.option(|draw| {
                Box::new(House {
                    number: 1,
                    people: if depth == 1 {
                        Vec::new()
                    } else {
                        draw.list(3, |draw| draw.person(depth - 1))
                    },
                })
            }),
        }
    }

    fn all(&mut self) -> All {
        All {
            id: Id::new(),
            name: self.text(40),
            one_of: self.option(|draw| ["a", "longest"][draw.number(1) as usize].to_owned()),
            scalars: Scalars {
                boolean: true,
                int: 1,
                long: 1,
                double: 1.0,
                decimal: Decimal128::from_bytes([0; 16]),
                date: DateTime::from_millis(1),
                time: Timestamp {
                    time: 1,
                    increment: 1,
                },
                object_id: ObjectId::new(),
                uuid: Uuid::new(),
                letter: ['a', '😀'][self.number(1) as usize],
                nothing: (),
            },
            reviews: self.list(120, Self::review),
            parts: self.list(30, |_| Ref::from(Id::new())),
            maker: self.option(|_| {
                Ref::from(Key {
                    country: Uuid::new(),
                    number: 1,
                })
            }),
            countries: self.list(11, |draw| Ref::from(draw.text(6))),
            grid: [[1; 3]; 11],
            pair: (1, self.review()),
            pairs: [Pair(1.0, self.colour()), Pair(2.0, self.colour())],
            colour: self.colour(),
            external: match self.number(3) {
                0 => External::Nothing,
                1 => External::One(self.review()),
                2 => External::Three {
                    text: self.text(50),
                },
                _ => External::Two(1, self.review()),
            },
            internal: match self.number(2) {
                0 => Internal::Nothing,
                1 => Internal::Three { size: 1 },
                _ => Internal::One(self.review()),
            },
            adjacent: match self.number(2) {
                0 => Adjacent::Nothing,
                1 => Adjacent::Two(1, 2),
                _ => Adjacent::One(self.review()),
            },
            untagged: match self.number(1) {
                0 => Untagged::Number(1),
                _ => Untagged::One(self.review()),
            },
            flat: Flat {
                width: 1.0,
                unit: self.text(3),
            },
            flat_enum: match self.number(1) {
                0 => External2::First(1),
                _ => External2::Second { inner: 1 },
            },
            thread: self.option(|draw| draw.comment(3)),
            tree: self.tree(3),
            person: self.person(2),
            // A length, the characters and a NUL.
            extra: Bson::String("a".repeat(self.number(95) as usize)),
        }
    }

    fn colour(&mut self) -> Colour {
        match self.number(1) {
            0 => Colour::Red,
            _ => Colour::Turquoise,
        }
    }
}

fn size_of(value: &All) -> u64 {
    bson::serialize_to_vec(value).unwrap().len() as u64
}

fn computed() -> u64 {
    All::model().worst_case().unwrap()
}

#[test]
fn the_largest_value_has_the_computed_size() {
    let largest = Draw { choices: None }.all();
    assert_eq!(size_of(&largest), computed());
}

proptest! {
    #[test]
    fn no_value_is_larger(choices in proptest::collection::vec(any::<u32>(), 0..4_000)) {
        let value = Draw { choices: Some(&choices) }.all();
        prop_assert!(size_of(&value) <= computed());
    }
}

#[test]
fn names_of_positions_are_counted() {
    for len in [0, 1, 9, 10, 11, 99, 100, 101, 1_000, 5_000, 123_456] {
        let array: Vec<bool> = vec![true; len];
        let document = bson::doc! {"a": array};
        let size = bson::serialize_to_vec(&document).unwrap().len() as u64;
        // The document around it: a length, a NUL, and the type and the name of the field.
        assert_eq!(size, 5 + 3 + super::list(len as u64, 1), "{len}");
    }
}

fn with_budget(max: u64, allow: Option<&'static str>) -> crate::Result<()> {
    let model = ModelMeta {
        name: "All",
        embedded: (All::MODEL).embedded,
        budget: Some(Budget { max, allow }),
        ..ModelMeta::EMPTY
    };
    model.check_budget()
}

#[test]
fn fields_are_listed_by_weight() {
    let text = with_budget(1_000, None).unwrap_err().to_string();
    assert!(text.starts_with("All: a document can have "), "{text}");
    assert!(text.contains(": `reviews` "), "{text}");
    assert!(text.contains(", and smaller ones; "), "{text}");
    with_budget(1 << 20, None).unwrap();
    with_budget(1_000, Some("tests")).unwrap();
    let text = with_budget(1 << 20, Some("tests")).unwrap_err().to_string();
    assert!(text.contains("nothing to allow"), "{text}");
}

#[derive(Serialize, Deserialize, Document)]
#[odm(collection = "open", budget = "1MiB")]
struct Open {
    #[serde(rename = "_id")]
    id: String,
    #[odm(embed(few, max = 3))]
    reviews: Vec<Unmeasured>,
    choice: Option<Choice>,
    #[odm(references(many, max = 3))]
    refs: Vec<crate::dbref::DbRef<All>>,
    #[serde(flatten)]
    more: More,
    thread: Thread,
    any: Bson,
    picture: bson::Binary,
    #[serde(with = "stamp")]
    sold: i64,
    #[serde(with = "stamp")]
    #[odm(bson_type = "date")]
    made: i64,
    #[odm(unbounded = "few makers")]
    makers: Vec<Ref<All>>,
    amount: crate::money::AnyMoney,
    house: Option<House>,
}

mod stamp {
    use serde::{Deserialize as _, Serialize as _};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it")]
    pub(super) fn serialize<S: serde::Serializer>(
        at: &i64,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        bson::DateTime::from_millis(*at).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: serde::Deserializer<'de>>(
        deserializer: D,
    ) -> Result<i64, D::Error> {
        bson::DateTime::deserialize(deserializer).map(bson::DateTime::timestamp_millis)
    }
}

#[derive(Serialize, Deserialize, Embedded)]
struct Unmeasured {
    text: String,
}

#[derive(Serialize, Deserialize, Embedded)]
enum Choice {
    Text(String),
    Grid([Vec<i32>; 2]),
}

#[derive(Serialize, Deserialize, Embedded)]
struct More {
    #[odm(items(max = 9))]
    grid: Vec<Vec<i32>>,
    counts: std::collections::BTreeMap<String, i32>,
}

#[derive(Serialize, Deserialize, Embedded)]
struct Thread {
    #[odm(embed(few, max = 2))]
    replies: Vec<Reply>,
}

#[derive(Serialize, Deserialize, Embedded)]
struct Reply {
    answer: Option<Box<Thread>>,
}

#[test]
fn every_field_without_a_bound_is_named() {
    let error = Open::model().check_budget().unwrap_err();
    assert!(error.is_declaration());
    let text = error.to_string();
    for part in [
        "Open: `id` is a string without a bound: write `#[odm(length(max = N))]`",
        "`reviews.text` is a string",
        "`choice.Text` holds a string that can't declare a bound",
        "`refs` can be of any size",
        "`more.grid` holds a list inside another value",
        "`thread` holds values of `Thread` inside each other without a bound: write how many there can be, `#[odm(depth = N)]`",
        "`any` can be of any size",
        "`picture` can be of any size",
        "`sold` can be of any size",
        "`makers` is a list without a bound",
    ] {
        assert!(text.contains(part), "{text} without {part}");
    }
    assert!(!text.contains("`amount"), "{text}");
    assert!(
        !text.contains("`house") && !text.contains("`made"),
        "{text}"
    );
}
