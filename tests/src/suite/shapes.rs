//! Field types that round-trip: keys of maps, embedded documents, and variants.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use odm::prelude::*;

use crate::case::cases;

cases![
    map_keys_round_trip,
    map_entries_are_addressed_by_key,
    a_bounded_map_is_validated,
    keys_of_numbers_and_ids_are_text,
    a_key_has_one_text,
    slices_are_lists,
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
    let mail = || Email("ada@example".to_owned());
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

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "shops")]
struct Shop {
    #[serde(rename = "_id")]
    id: i32,
    #[serde(with = "odm::map_keys")]
    stock: HashMap<Ref<Part>, i32>,
    #[serde(with = "odm::map_keys")]
    #[odm(embed(few, max = 2))]
    hours: BTreeMap<i8, Opening>,
    #[serde(default, with = "odm::map_keys")]
    tills: Option<BTreeMap<u64, bool>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Opening {
    from: i32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "parts")]
struct Part {
    #[serde(rename = "_id")]
    id: Id<Part>,
}

fn shop(id: i32, part: &Part) -> Shop {
    Shop {
        id,
        stock: [(Ref::to(part), 3)].into(),
        hours: [(-1, Opening { from: 9 }), (10, Opening { from: 8 })].into(),
        tills: Some([(u64::MAX, true)].into()),
    }
}

async fn keys_of_numbers_and_ids_are_text(db: &Db) {
    let shops = db.collection::<Shop>();
    sync(db, models![Shop, Part]).await;
    let part = Part { id: Id::new() };
    shops.insert_one(shop(1, &part)).await.unwrap();
    let without = Shop {
        tills: None,
        ..shop(2, &part)
    };
    shops.insert_one(&without).await.unwrap();

    let raw = doc! {"find": "shops", "filter": {"_id": 1}};
    let stored = db.run_command(raw).all().await.unwrap();
    let hex = part.id.to_hex();
    let expected = doc! {
        "_id": 1,
        "stock": {&hex: 3},
        "hours": {"-1": {"from": 9}, "10": {"from": 8}},
        "tills": {u64::MAX.to_string(): true},
    };
    assert_eq!(stored, [expected]);
    assert_eq!(shops.get(&1).await.unwrap(), Some(shop(1, &part)));
    assert_eq!(shops.get(&2).await.unwrap(), Some(without));

    let update = shops.update_one(
        |s| s.hours.key(10).from.eq(8) & s.stock.key(&part).gt(2) & s.tills.key(u64::MAX).eq(true),
        |s| s.stock.key(part.id).inc(1) & s.hours.remove_key(-1) & s.tills.set(None),
    );
    assert_eq!(update.await.unwrap().modified, 1);
    let found = shops
        .find_one(|s| s.stock.eq(HashMap::from([(Ref::to(&part), 4)])))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(found.hours.keys().collect::<Vec<_>>(), [&10]);
    assert_eq!(found.tills, None);
    let hours = shops.distinct(|s| s.hours, |s| s.id.eq(1)).await.unwrap();
    assert!(hours.contains(&found.hours), "{hours:?}");
}

async fn a_key_has_one_text(db: &Db) {
    let shops = db.collection::<Shop>();
    sync(db, models![Shop]).await;
    let stored =
        |hour: &str| doc! {"_id": 1, "stock": {}, "hours": {hour: {"from": 9}}, "tills": null};
    let insert = async |shop| {
        let insert = doc! {"insert": "shops", "documents": [shop]};
        let reply = db.run_command(insert).await.unwrap();
        assert_eq!(reply.get_i32("n").ok(), Some(1), "{reply}");
    };
    for wrong in ["007", "+7", " 7", "128", "seven"] {
        insert(stored(wrong)).await;
        let error = shops.find_all().all().await.unwrap_err();
        let text = format!("{wrong:?} is not the text of a key of this map, a `i8`");
        assert!(
            error.is_decode() && error.to_string().contains(&text),
            "{error}"
        );
        shops.delete_all().await.unwrap();
    }
    let part = Part { id: Id::new() };
    let mut many = shop(1, &part);
    many.hours.insert(12, Opening { from: 1 });
    let error = shops.insert_one(&many).await.unwrap_err();
    assert!(
        error.is_validation_failure() && error.to_string().contains("hours"),
        "{error}"
    );
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "slices", index(words), index(openings.from))]
struct Slices {
    #[serde(rename = "_id")]
    id: i32,
    words: Box<[String]>,
    #[odm(embed(few, max = 2))]
    openings: Box<[Opening]>,
    numbers: Cow<'static, [i32]>,
    maybe: Option<Box<[i64]>>,
}

async fn slices_are_lists(db: &Db) {
    let all = db.collection::<Slices>();
    sync(db, models![Slices]).await;
    let slices = Slices {
        id: 1,
        words: ["a".to_owned()].into(),
        openings: [Opening { from: 8 }].into(),
        numbers: Cow::Borrowed(&[1, 2]),
        maybe: None,
    };
    all.insert_one(&slices).await.unwrap();
    assert_eq!(all.get(&1).await.unwrap(), Some(slices));
    let update = all.update_one(
        |s| s.words.has("a") & s.openings.any().from.gte(8) & s.numbers.eq([1, 2]),
        |s| s.words.push("b") & s.numbers.pull(1) & s.maybe.set(Some([7].into())),
    );
    assert_eq!(update.await.unwrap().modified, 1);
    let found = all
        .find_one(|s| s.words.eq(["a", "b"]))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        (&*found.numbers, found.maybe.as_deref()),
        (&[2][..], Some(&[7][..]))
    );
    let many = all.update_one(
        |s| s.id.eq(1),
        |s| {
            s.openings.set([
                Opening { from: 1 },
                Opening { from: 2 },
                Opening { from: 3 },
            ])
        },
    );
    let error = many.await.unwrap_err();
    assert!(error.to_string().contains("openings"), "{error}");
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
