//! What the validator of a type accepts, the type reads, and what the type writes, the validator accepts.
//!
//! The values are near the ends of ranges and of every BSON type. `ODM_TYPE_VALUES` is the number of random ones for each
//! type; if it is set, they differ from run to run.

mod values;

use std::collections::BTreeMap;
use std::num::{
    NonZeroI8, NonZeroI16, NonZeroI32, NonZeroI64, NonZeroU8, NonZeroU16, NonZeroU32, NonZeroU64,
    NonZeroUsize,
};
use std::time::Duration;

use odm::bson::oid::ObjectId;
use odm::bson::{Bson, Decimal128, Document as BsonDocument, doc};
use odm::geo::{LineString, MultiPoint, Point};
use odm::json::Plain;
use odm::money::{AnyCurrency, AnyMoney, CodeOf, Scaled, Usd};
use odm::prelude::*;
use odm::time::{Iso, JavaScript, LocalTime, Offset};

use self::values::ends;
use crate::case::cases;
use crate::random::{self, Random};

const VARIABLE: &str = "ODM_TYPE_VALUES";

/// Stores every value in every place, and reads what was accepted.
async fn check<T: Document<Id = i32>>(db: &Db, written: Vec<T>) {
    db.sync(models![T])
        .plan()
        .await
        .unwrap()
        .apply(Allow::CREATE)
        .await
        .unwrap();
    let rows = db.collection::<T>();
    // What the type writes is accepted and read.
    rows.insert_many(&written).await.unwrap();
    assert_eq!(rows.find_all().all().await.unwrap().len(), written.len());
    let own: Vec<BsonDocument> = written
        .iter()
        .map(|row| {
            odm::query::encode(row)
                .unwrap()
                .as_document()
                .unwrap()
                .clone()
        })
        .collect();
    for (row, own) in written.iter().zip(&own) {
        // JSON has no NaN and no infinity.
        if matches!(own.get("value"), Some(Bson::Double(value)) if !value.is_finite()) {
            continue;
        }
        let text = serde_json::to_string(&Plain(row)).unwrap();
        let again = serde_json::from_str::<Plain<T>>(&text);
        let Plain(again) = again.unwrap_or_else(|error| panic!("{error}: {text}"));
        let again = odm::query::encode(&again).unwrap();
        assert_eq!(again.as_document(), Some(own), "{text}");
    }
    rows.delete_all().await.unwrap();

    let mut random = Random::unless_set(VARIABLE, 7);
    let seed = random.seed();
    let mut values = ends();
    let like: Vec<Bson> = own
        .iter()
        .map(|row| row.get("value").unwrap().clone())
        .collect();
    values.extend(like.iter().cloned());
    values.extend((0..random::count(VARIABLE, 12)).map(|_| random.value(&like)));
    let base = own.first().unwrap();
    let mut documents = Vec::new();
    for value in values {
        let list: Vec<Bson> = base
            .get_array("list")
            .unwrap()
            .iter()
            .cloned()
            .chain([value.clone()])
            .collect();
        for (name, value) in [
            ("value", value.clone()),
            ("maybe", value.clone()),
            ("list", list.into()),
            ("map", doc! {"key": value}.into()),
        ] {
            let mut document = base.clone();
            document.insert(name, value);
            document.insert("_id", i32::try_from(documents.len()).unwrap());
            documents.push(document);
        }
    }
    let name = T::model().collection;
    for some in documents.chunks(500) {
        let reply = db
            .run_command(doc! {"insert": name, "documents": some.to_vec(), "ordered": false})
            .await
            .unwrap();
        assert!(reply.get("n").is_some());
    }
    let read = rows.find_all().all().await;
    if let Err(error) = read {
        for document in documents {
            let id = document.get_i32("_id").unwrap();
            let row = rows.get(&id).await;
            assert!(
                row.is_ok(),
                "{name} (seed {seed}): {document} is accepted, and not read: {error}"
            );
        }
        panic!("{error}");
    }
    assert!(read.unwrap().len() >= 4, "every value of {name} is refused");
}

macro_rules! types {
    ($($case:ident: [$($with:tt)*] [$($default:tt)*] [$($list:tt)*] $ty:ty, $written:expr;)*) => {
        cases![$($case,)* keys_of_maps, offsets_in_fields, tuples_and_variants, a_decrement_below_zero_is_refused, plans_show_the_range,];

        $(async fn $case(db: &Db) {
            #[derive(Serialize, Deserialize, Document)]
            #[odm(collection = "rows")]
            struct Row {
                #[serde(rename = "_id")]
                id: i32,
                $($with)*
                value: $ty,
                $($default)*
                maybe: Option<$ty>,
                $($with)*
                $($list)*
                list: Vec<$ty>,
                $($with)*
                $($list)*
                map: BTreeMap<String, $ty>,
            }
            let written: Vec<$ty> = $written.into_iter().collect();
            let rows = (0..).zip(written).map(|(id, value)| Row {
                id,
                value: value.clone(),
                maybe: (id != 1).then(|| value.clone()),
                list: vec![value.clone()],
                map: [("key".to_owned(), value)].into(),
            });
            check::<Row>(db, rows.collect()).await;
        })*
    };
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, Embedded)]
enum Choice {
    One,
    Two,
}

#[derive(Debug, Clone, Serialize, Deserialize, Embedded)]
struct Level(i8);

#[derive(Debug, Clone, Serialize, Deserialize, Embedded)]
struct Pair(u8, Level);

#[derive(Debug, Clone, Serialize, Deserialize, Embedded)]
struct Stock {
    pieces: u16,
    weight: Option<u8>,
}

#[derive(Debug, Clone, Serialize, Deserialize, Embedded)]
enum Tagged {
    None,
    Whole(u8),
    Two(u8, i16),
    Named { pieces: u32 },
}

#[derive(Debug, Clone, Serialize, Deserialize, Embedded)]
#[serde(tag = "kind")]
enum Inside {
    None,
    Stock(Stock),
    Named { pieces: u32 },
}

#[derive(Debug, Clone, Serialize, Deserialize, Embedded)]
#[serde(tag = "t", content = "c")]
enum Beside {
    Whole(u8),
    Two(u8, i16),
    Named { pieces: u32 },
}

fn day(text: &str) -> chrono::NaiveDate {
    text.parse().unwrap()
}

fn decimal(text: &str) -> rust_decimal::Decimal {
    text.parse().unwrap()
}

fn point(longitude: f64, latitude: f64) -> Point {
    Point::new(longitude, latitude).unwrap()
}

types! {
    i8s: [] [] [] i8, [i8::MIN, 0, i8::MAX];
    i16s: [] [] [] i16, [i16::MIN, i16::MAX];
    i32s: [] [] [] i32, [i32::MIN, i32::MAX];
    i64s: [] [] [] i64, [i64::MIN, 0, i64::MAX];
    isizes: [] [] [] isize, [isize::MIN, isize::MAX];
    u8s: [] [] [] u8, [u8::MIN, u8::MAX];
    u16s: [] [] [] u16, [u16::MIN, u16::MAX];
    u32s: [] [] [] u32, [u32::MIN, u32::MAX];
    u64s: [] [] [] u64, [0, u64::try_from(i64::MAX).unwrap()];
    usizes: [] [] [] usize, [0, usize::try_from(i64::MAX).unwrap()];
    not_zero_i8s: [] [] [] NonZeroI8, [NonZeroI8::MIN, NonZeroI8::MAX];
    not_zero_i16s: [] [] [] NonZeroI16, [NonZeroI16::MIN, NonZeroI16::MAX];
    not_zero_i32s: [] [] [] NonZeroI32, [NonZeroI32::MIN, NonZeroI32::MAX];
    not_zero_i64s: [] [] [] NonZeroI64, [NonZeroI64::MIN, NonZeroI64::MAX];
    not_zero_u8s: [] [] [] NonZeroU8, [NonZeroU8::MIN, NonZeroU8::MAX];
    not_zero_u16s: [] [] [] NonZeroU16, [NonZeroU16::MIN, NonZeroU16::MAX];
    not_zero_u32s: [] [] [] NonZeroU32, [NonZeroU32::MIN, NonZeroU32::MAX];
    not_zero_u64s: [] [] [] NonZeroU64, [NonZeroU64::MIN];
    not_zero_usizes: [] [] [] NonZeroUsize, [NonZeroUsize::MIN];
    f32s: [] [] [] f32, [f32::MIN, 0.1, f32::NAN, f32::INFINITY];
    f64s: [] [] [] f64, [f64::MIN, f64::NAN, f64::INFINITY];
    bools: [] [] [] bool, [true, false];
    chars: [] [] [] char, ['a', '\u{1F600}', '\n', '\0'];
    strings: [] [] [] String, [String::new(), "a\n".to_owned()];
    dates: [] [] [] DateTime, [DateTime::MIN, DateTime::MAX];
    object_ids: [] [] [] ObjectId, [ObjectId::from_bytes([7; 12])];
    decimals: [] [] [] Decimal128, ["NaN".parse().unwrap(), "1E+6000".parse().unwrap()];
    newtypes: [] [] [] Level, [Level(i8::MIN), Level(i8::MAX)];
    choices: [] [] [] Choice, [Choice::One, Choice::Two];
    pairs: [] [] [] (u8, i16), [(0, i16::MIN), (255, i16::MAX)];
    tuple_structs: [] [] [#[odm(items(max = 9))]] Pair, [Pair(255, Level(-128)), Pair(0, Level(127))];
    arrays: [] [] [#[odm(items(max = 9))]] [u8; 3], [[0, 7, 255]];
    structs: [] [] [#[odm(embed(few, max = 9))]] Stock, [Stock { pieces: 65_535, weight: None }, Stock { pieces: 0, weight: Some(255) }];
    tagged: [] [] [#[odm(embed(few, max = 9))]] Tagged, [
        Tagged::None, Tagged::Whole(255), Tagged::Two(0, -1), Tagged::Named { pieces: u32::MAX },
    ];
    tagged_inside: [] [] [#[odm(embed(few, max = 9))]] Inside, [
        Inside::Stock(Stock { pieces: 1, weight: Some(1) }), Inside::Named { pieces: u32::MAX }, Inside::None,
    ];
    tagged_beside: [] [] [#[odm(embed(few, max = 9))]] Beside, [Beside::Whole(255), Beside::Two(0, -1), Beside::Named { pieces: 0 }];
    offsets: [] [] [] Offset<Iso>, [Offset::from_minutes_east(-1_080).unwrap(), Offset::from_minutes_east(1_080).unwrap()];
    local_times: [] [] [] LocalTime<JavaScript>, [LocalTime::new(DateTime::from_millis(0), Offset::from_minutes_east(120).unwrap())];
    currencies: [] [] [] AnyCurrency, ["USD".parse().unwrap(), "KWD".parse().unwrap()];
    finer_currencies: [] [] [] AnyCurrency<Scaled<2>>, ["USD".parse().unwrap(), "JPY".parse().unwrap()];
    codes: [] [] [] CodeOf<Usd>, [CodeOf::new()];
    amounts: [] [] [#[odm(embed(few, max = 9))]] AnyMoney, ["1 USD".parse().unwrap()];
    points: [] [] [] Point, [point(-180.0, 90.0)];
    lines: [] [] [] LineString, [LineString::new([point(0.0, 0.0), point(180.0, -90.0)]).unwrap()];
    several_points: [] [] [] MultiPoint, [MultiPoint::new([point(0.0, 0.0)]).unwrap()];
    durations: [#[serde(with = "odm::duration")]] [#[serde(default, with = "odm::duration")]] [] Duration, [
        Duration::ZERO, Duration::from_millis(u64::try_from(i64::MAX).unwrap()),
    ];
    chrono_spans: [#[serde(with = "odm::chrono_0_4")]] [#[serde(default, with = "odm::chrono_0_4")]] [] chrono::TimeDelta, [
        chrono::TimeDelta::MIN, chrono::TimeDelta::MAX,
    ].map(|delta| chrono::TimeDelta::milliseconds(delta.num_milliseconds()));
    chrono_seconds: [#[serde(with = "odm::duration::seconds")]] [#[serde(default, with = "odm::duration::seconds")]] [] chrono::TimeDelta, [
        chrono::TimeDelta::MIN, chrono::TimeDelta::MAX,
    ].map(|delta| chrono::TimeDelta::seconds(delta.num_seconds()));
    chrono_days: [#[serde(with = "odm::chrono_0_4")]] [#[serde(default, with = "odm::chrono_0_4")]] [] chrono::NaiveDate, [
        day("0000-01-01"), day("2024-02-29"), day("9999-12-31"),
    ];
    chrono_times_of_day: [#[serde(with = "odm::chrono_0_4")]] [#[serde(default, with = "odm::chrono_0_4")]] [] chrono::NaiveTime, [
        chrono::NaiveTime::MIN, chrono::NaiveTime::from_hms_nano_opt(23, 59, 59, 999_999_999).unwrap(),
    ];
    chrono_times: [#[serde(with = "odm::chrono_0_4")]] [#[serde(default, with = "odm::chrono_0_4")]] [] chrono::NaiveDateTime, [
        day("2024-02-29").and_hms_milli_opt(23, 59, 59, 7).unwrap(),
    ];
    jiff_days: [#[serde(with = "odm::jiff_0_2")]] [#[serde(default, with = "odm::jiff_0_2")]] [] jiff::civil::Date, [
        jiff::civil::date(0, 1, 1), jiff::civil::date(9_999, 12, 31),
    ];
    jiff_times: [#[serde(with = "odm::jiff_0_2")]] [#[serde(default, with = "odm::jiff_0_2")]] [] jiff::civil::DateTime, [
        jiff::civil::datetime(2_000, 2, 29, 23, 59, 59, 999_999_999),
    ];
    time_days: [#[serde(with = "odm::time_0_3")]] [#[serde(default, with = "odm::time_0_3")]] [] time::Date, [
        time::Date::from_ordinal_date(2_024, 60).unwrap(), time::Date::MAX,
    ];
    decimals_of_96_bits: [#[serde(with = "odm::rust_decimal_1")]] [#[serde(default, with = "odm::rust_decimal_1")]] [] rust_decimal::Decimal, [
        rust_decimal::Decimal::MIN, rust_decimal::Decimal::MAX, decimal("7.9228162514264337593543950335"), decimal("0.0000000000000000000000000001"),
    ];
    large_integers: [#[serde(with = "odm::int128")]] [#[serde(default, with = "odm::int128")]] [] u128, [0, 10_u128.pow(34) - 1];
    large_signed_integers: [#[serde(with = "odm::int128")]] [#[serde(default, with = "odm::int128")]] [] i128, [1 - 10_i128.pow(34), 10_i128.pow(34) - 1];
    uuids_as_text: [#[serde(with = "odm::uuid_1::text")]] [#[serde(default, with = "odm::uuid_1::text")]] [] uuid::Uuid, [
        uuid::Uuid::from_u128(7), uuid::Uuid::max(),
    ];
}

/// Writes each value under `field` of a valid document with raw commands; returns the ids of those that were accepted.
async fn accepted<T: Document<Id = i32>>(
    db: &Db,
    valid: &T,
    field: &str,
    values: Vec<Bson>,
) -> Vec<i32> {
    db.sync(models![T])
        .plan()
        .await
        .unwrap()
        .apply(Allow::CREATE)
        .await
        .unwrap();
    let base = odm::query::encode(valid)
        .unwrap()
        .as_document()
        .unwrap()
        .clone();
    let documents = (0_i32..).zip(values).map(|(id, value)| {
        let mut document = base.clone();
        document.insert("_id", id);
        document.insert(field, value);
        document
    });
    let documents: Vec<_> = documents.collect();
    db.run_command(
        doc! {"insert": T::model().collection, "documents": documents, "ordered": false},
    )
    .await
    .unwrap();
    let rows = db.collection::<T>();
    let found = rows.find_all().all().await.unwrap();
    let mut ids: Vec<i32> = found.iter().map(|row| *row.id()).collect();
    ids.sort_unstable();
    ids
}

async fn keys_of_maps(db: &Db) {
    #[derive(Serialize, Deserialize, Document)]
    #[odm(collection = "chosen")]
    struct Row {
        #[serde(rename = "_id")]
        id: i32,
        by_choice: BTreeMap<Choice, u8>,
        of_lists: BTreeMap<Choice, Vec<u8>>,
    }
    let row = Row {
        id: 0,
        by_choice: [(Choice::Two, 7)].into(),
        of_lists: [(Choice::One, vec![255])].into(),
    };
    let maps = [
        doc! {},
        doc! {"One": 1, "Two": 255},
        doc! {"Three": 1},
        doc! {"One": 256},
        doc! {"one": 1},
    ];
    let ids = accepted(
        db,
        &row,
        "by_choice",
        maps.into_iter().map(Bson::from).collect(),
    )
    .await;
    assert_eq!(ids, [0, 1]);
}

async fn offsets_in_fields(db: &Db) {
    #[derive(Serialize, Deserialize, Document)]
    #[odm(collection = "visits")]
    struct Visit {
        #[serde(rename = "_id")]
        id: i32,
        at: LocalTime<Iso>,
    }
    let at = LocalTime::new(
        DateTime::from_millis(0),
        Offset::from_minutes_east(60).unwrap(),
    );
    let offsets = [
        Bson::Double(60.5),
        Bson::Double(60.0),
        60.into(),
        Bson::Int64(-1_080),
        1_081.into(),
        Bson::Double(f64::NAN),
    ];
    let times =
        offsets.map(|offset| doc! {"date": DateTime::from_millis(0), "offset": offset}.into());
    assert_eq!(
        accepted(db, &Visit { id: 0, at }, "at", times.into()).await,
        [1, 2, 3]
    );
}

async fn tuples_and_variants(db: &Db) {
    #[derive(Serialize, Deserialize, Document)]
    #[odm(collection = "nested")]
    struct Row {
        #[serde(rename = "_id")]
        id: i32,
        value: (u8, Option<Level>, Vec<u16>),
    }
    let values = [
        vec![1.into(), Bson::Null, Bson::Array(vec![])],
        vec![1.into(), 127.into(), vec![65_535].into()],
        vec![256.into(), Bson::Null, Bson::Array(vec![])],
        vec![1.into(), 128.into(), Bson::Array(vec![])],
        vec![1.into(), Bson::Null, vec![-1].into()],
        vec![1.into(), Bson::Null],
        vec!["1".into(), Bson::Null, Bson::Array(vec![])],
    ];
    let row = Row {
        id: 0,
        value: (0, None, vec![]),
    };
    assert_eq!(
        accepted(db, &row, "value", values.map(Bson::Array).into()).await,
        [0, 1]
    );
}

#[derive(Debug, Serialize, Deserialize, Document)]
#[odm(collection = "goods")]
struct Good {
    #[serde(rename = "_id")]
    id: i32,
    stock: u32,
    #[odm(range(min = 1, max = 9_000_000_000))]
    sold: u32,
}

async fn a_decrement_below_zero_is_refused(db: &Db) {
    db.sync(models![Good])
        .plan()
        .await
        .unwrap()
        .apply(Allow::CREATE)
        .await
        .unwrap();
    let goods = db.collection::<Good>();
    goods
        .insert_one(Good {
            id: 1,
            stock: 0,
            sold: 1,
        })
        .await
        .unwrap();
    let error = goods
        .update_one(|g| g.id.eq(1), |g| g.stock.dec(1))
        .await
        .unwrap_err();
    let failure = error.validation_failure().unwrap();
    let violation = &failure.violations()[0];
    assert_eq!(
        (violation.rule.as_str(), violation.path.as_str()),
        ("minimum", "stock")
    );
    let error = goods
        .find_one_and_update(|g| g.id.eq(1), |g| g.stock.dec(1))
        .await
        .unwrap_err();
    assert!(error.is_validation_failure());
    assert_eq!(goods.get(&1).await.unwrap().unwrap().stock, 0);
    let error = goods
        .update_one(|g| g.id.eq(1), |g| g.sold.inc(u32::MAX))
        .await
        .unwrap_err();
    assert!(
        error.is_validation_failure(),
        "the narrower of two ends holds: {error}"
    );
}

async fn plans_show_the_range(db: &Db) {
    let old = doc! {"$jsonSchema": {
        "title": "Good",
        "bsonType": "object",
        "required": ["_id", "stock", "sold"],
        "properties": {
            "_id": {"bsonType": "int"},
            "stock": {"bsonType": "long"},
            "sold": {"bsonType": "long", "minimum": 1, "maximum": 4_294_967_295_i64},
        },
    }};
    db.run_command(doc! {"create": "goods", "validator": old})
        .await
        .unwrap();
    let plan = db.sync(models![Good]).plan().await.unwrap().to_string();
    for line in [
        "`stock`: no minimum, declared 0",
        "`stock`: no maximum, declared",
    ] {
        assert!(plan.contains(line), "{plan}");
    }
    assert!(!plan.contains("`sold`"), "{plan}");
}
