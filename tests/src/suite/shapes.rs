//! Field types that round-trip: keys of maps, embedded documents, and variants.

use std::collections::{BTreeMap, HashMap};

use odm::prelude::*;

use crate::case::cases;

cases![
    map_keys_round_trip,
    map_entries_are_addressed_by_key,
    a_bounded_map_is_validated,
    embedded_documents_are_stored_inline,
    unit_variants_have_a_tag,
    a_newtype_gives_an_id_its_serializer,
    enum_models_store_several_variants,
];

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, Embedded)]
struct Email(String);

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, Embedded)]
#[serde(rename_all = "lowercase")]
enum Day {
    Monday,
    Tuesday,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, Embedded)]
#[serde(transparent)]
struct Of<T> {
    value: T,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
enum Choice {
    Newtype(BTreeMap<Email, i32>),
    Struct { days: HashMap<Day, i32> },
}

type Counts = HashMap<Of<Of<Email>>, i32>;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "keyed")]
struct Keyed {
    #[serde(rename = "_id")]
    id: i32,
    mails: BTreeMap<Email, i32>,
    days: HashMap<Day, String>,
    both: Option<BTreeMap<Of<Day>, Vec<Counts>>>,
    #[odm(embed(few, max = 2))]
    choices: BTreeMap<Box<str>, Choice>,
    #[odm(embed(few, max = 3))]
    list: Vec<Choice>,
}

fn keyed(id: i32) -> Keyed {
    let mail = || Email("ada@example.com".to_owned());
    let of = |value| Of { value };
    Keyed {
        id,
        mails: [(mail(), 1), (Email("bob".to_owned()), 2)].into(),
        days: [(Day::Monday, "m".to_owned()), (Day::Tuesday, String::new())].into(),
        both: Some(
            [(
                of(Day::Tuesday),
                vec![
                    [(
                        Of {
                            value: Of { value: mail() },
                        },
                        3,
                    )]
                    .into(),
                ],
            )]
            .into(),
        ),
        choices: [("a".into(), Choice::Newtype([(mail(), 4)].into()))].into(),
        list: vec![
            Choice::Struct {
                days: [(Day::Monday, 5)].into(),
            },
            Choice::Newtype([(mail(), 6)].into()),
        ],
    }
}

async fn sync(db: &Db, models: impl IntoIterator<Item = &'static odm::model::ModelMeta>) {
    let plan = db.sync(models).plan().await.unwrap();
    plan.apply(Allow::CREATE).await.unwrap();
}

async fn map_keys_round_trip(db: &Db) {
    let all = db.collection::<Keyed>();
    sync(db, models![Keyed]).await;
    all.insert_one(keyed(1)).await.unwrap();
    assert_eq!(all.get(&1).await.unwrap(), Some(keyed(1)));
    let mut loaded = all.load(&1).await.unwrap().unwrap();
    loaded.mails.insert(Email("eve".to_owned()), 7);
    loaded.days.remove(&Day::Monday);
    let saved = (*loaded).clone();
    all.save(&mut loaded).await.unwrap();
    assert_eq!(all.find_all().all().await.unwrap(), [saved]);
}

async fn map_entries_are_addressed_by_key(db: &Db) {
    let all = db.collection::<Keyed>();
    all.insert_one(keyed(1)).await.unwrap();
    let found = all.find(|k| k.mails.key("bob").eq(2) & k.days.key("monday").eq("m"));
    assert_eq!(found.all().await.unwrap().len(), 1);
    all.update_one(|k| k.id.eq(1), |k| k.days.key("tuesday").set("t"))
        .await
        .unwrap();
    let found = all.get(&1).await.unwrap().unwrap();
    assert_eq!(found.days.get(&Day::Tuesday).map(String::as_str), Some("t"));
}

async fn a_bounded_map_is_validated(db: &Db) {
    let all = db.collection::<Keyed>();
    sync(db, models![Keyed]).await;
    let mut many = keyed(1);
    for key in ["a", "b", "c"] {
        many.choices
            .insert(key.into(), Choice::Newtype(BTreeMap::new()));
    }
    for refused in [
        all.insert_one(&many).await.unwrap_err(),
        many.validate().unwrap_err(),
    ] {
        assert!(refused.is_validation_failure(), "{refused}");
        assert!(refused.to_string().contains("choices"), "{refused}");
    }
    many.choices.remove("c");
    all.insert_one(&many).await.unwrap();
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "books")]
struct Book {
    #[serde(rename = "_id")]
    id: i32,
    title: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Wrapped(Book);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "loans")]
struct Loan {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(embed)]
    book: Book,
    #[odm(embed)]
    previous: Option<Box<Book>>,
    #[odm(embed)]
    pair: (i32, Wrapped),
    #[odm(embed(few, max = 3))]
    more: Vec<(i32, Book)>,
    #[odm(embed)]
    two: [Book; 2],
    #[odm(embed(few, max = 3))]
    by_name: BTreeMap<String, Wrapped>,
    #[odm(references(many, max = 10))]
    others: BTreeMap<String, Ref<Book>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Scored {
    #[serde(flatten)]
    #[odm(embed)]
    book: Book,
    score: i32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "lists")]
struct List {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(embed(few, max = 3))]
    books: Vec<Scored>,
}

fn book(id: i32) -> Book {
    Book {
        id,
        title: format!("book {id}"),
    }
}

async fn embedded_documents_are_stored_inline(db: &Db) {
    sync(db, models![Loan, List]).await;
    let loan = Loan {
        id: 1,
        book: book(1),
        previous: Some(Box::new(book(2))),
        pair: (1, Wrapped(book(3))),
        more: vec![(1, book(4))],
        two: [book(5), book(6)],
        by_name: [("x".to_owned(), Wrapped(book(7)))].into(),
        others: [("y".to_owned(), Ref::from(8))].into(),
    };
    let loans = db.collection::<Loan>();
    loans.insert_one(&loan).await.unwrap();
    let found =
        loans.find_one(|l| l.book.title.eq("book 1") & l.by_name.key("x").title.eq("book 7"));
    assert_eq!(found.await.unwrap(), Some(loan));
    let list = List {
        id: 1,
        books: vec![Scored {
            book: book(9),
            score: 1,
        }],
    };
    let lists = db.collection::<List>();
    lists.insert_one(&list).await.unwrap();
    let found = lists.find_one(|l| l.books.any().book.title.eq("book 9"));
    assert_eq!(found.await.unwrap(), Some(list));
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
#[serde(tag = "t")]
enum Inside {
    Unit,
    Empty(()),
    Map(BTreeMap<Email, i32>),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
#[serde(tag = "t", content = "c")]
enum Beside {
    Unit,
    Empty(()),
    List(Vec<i32>),
    Maybe(Option<i32>),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
enum Outside {
    Unit,
    Empty(()),
    List(Vec<i32>),
    Maybe(Option<i32>),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
#[serde(untagged)]
enum Untagged {
    List(Vec<i32>),
    Number(i32),
    Nothing,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "variants")]
struct Variants {
    #[serde(rename = "_id")]
    id: i32,
    #[odm(embed(few, max = 9))]
    inside: Vec<Inside>,
    #[odm(embed(few, max = 9))]
    beside: Vec<Beside>,
    #[odm(embed(few, max = 9))]
    outside: Vec<Outside>,
    #[odm(embed(few, max = 9))]
    untagged: Vec<Untagged>,
}

async fn unit_variants_have_a_tag(db: &Db) {
    sync(db, models![Variants]).await;
    let variants = Variants {
        id: 1,
        inside: vec![
            Inside::Unit,
            Inside::Empty(()),
            Inside::Map([(Email("a".to_owned()), 1)].into()),
        ],
        beside: vec![
            Beside::Unit,
            Beside::Empty(()),
            Beside::List(vec![1]),
            Beside::Maybe(None),
            Beside::Maybe(Some(1)),
        ],
        outside: vec![
            Outside::Unit,
            Outside::Empty(()),
            Outside::List(vec![1]),
            Outside::Maybe(None),
            Outside::Maybe(Some(1)),
        ],
        untagged: vec![
            Untagged::List(vec![1]),
            Untagged::Number(1),
            Untagged::Nothing,
        ],
    };
    let all = db.collection::<Variants>();
    all.insert_one(&variants).await.unwrap();
    assert_eq!(all.get(&1).await.unwrap(), Some(variants));
}

/// A type of another crate, as `uuid::Uuid` is.
mod foreign {
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(super) struct Uuid(pub(super) [u8; 16]);
}

/// Its serializer, as `bson::serde_helpers` has them.
mod as_binary {
    use odm::bson::{Binary, spec::BinarySubtype};
    use odm::prelude::*;
    use serde::de::Error;
    use serde::{Deserializer, Serializer};

    use super::foreign::Uuid;

    pub(super) fn serialize<S: Serializer>(uuid: &Uuid, to: S) -> Result<S::Ok, S::Error> {
        let binary = Binary {
            subtype: BinarySubtype::Uuid,
            bytes: uuid.0.to_vec(),
        };
        binary.serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Uuid, D::Error> {
        let binary = Binary::deserialize(from)?;
        binary
            .bytes
            .try_into()
            .map(Uuid)
            .map_err(|_| D::Error::custom("not 16 bytes"))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Embedded)]
struct SessionId(
    #[serde(with = "as_binary")]
    #[odm(bson_type = "binData")]
    foreign::Uuid,
);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "sessions")]
struct Session {
    #[serde(rename = "_id")]
    id: SessionId,
    parent: Option<Ref<Session>>,
}

async fn a_newtype_gives_an_id_its_serializer(db: &Db) {
    sync(db, models![Session]).await;
    let id = |byte| SessionId(foreign::Uuid([byte; 16]));
    let (root, child) = (
        Session {
            id: id(1),
            parent: None,
        },
        Session {
            id: id(2),
            parent: Some(Ref::from(id(1))),
        },
    );
    let sessions = db.collection::<Session>();
    sessions
        .insert_many([root.clone(), child.clone()])
        .await
        .unwrap();
    assert_eq!(sessions.get(&id(1)).await.unwrap(), Some(root.clone()));
    let found = sessions.find(|s| s.parent.eq(&root)).all().await.unwrap();
    assert_eq!(found, [child]);
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Kind {
    Car { doors: i32 },
    Bike { gears: i32 },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "vehicles", index(kind.car.doors))]
struct Vehicle {
    #[serde(rename = "_id")]
    id: i32,
    #[serde(flatten)]
    kind: Kind,
}

async fn enum_models_store_several_variants(db: &Db) {
    sync(db, models![Vehicle]).await;
    let all = db.collection::<Vehicle>();
    let car = Vehicle {
        id: 1,
        kind: Kind::Car { doors: 5 },
    };
    let bike = Vehicle {
        id: 2,
        kind: Kind::Bike { gears: 7 },
    };
    all.insert_many([car.clone(), bike.clone()]).await.unwrap();
    let found = all.find(|v| v.kind.tag.eq("bike")).all().await.unwrap();
    assert_eq!(found, [bike]);
    let found = all.find(|v| v.kind.car.doors.gt(3)).all().await.unwrap();
    assert_eq!(found, [car]);
}
