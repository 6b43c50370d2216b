//! Each type of another crate: it is stored as its BSON type, read back, found, sorted, changed, indexed and validated.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use chrono::{DateTime as ChronoTime, NaiveDate, NaiveDateTime, TimeDelta, Utc};
use jiff::{SignedDuration, Timestamp, civil};
use odm::bson::spec::BinarySubtype;
use odm::bson::{Binary, Bson, Document as BsonDocument, doc};
use odm::prelude::*;
use rust_decimal::Decimal;
use serde_json::{Value, json};
use time::OffsetDateTime;
use url::Url;
use uuid::Uuid;

use crate::case::cases;

cases![
    chrono_times,
    chrono_days,
    chrono_times_without_a_zone,
    chrono_spans,
    jiff_timestamps,
    jiff_days,
    jiff_spans,
    time_times,
    time_days,
    uuids,
    uuids_as_text,
    decimals,
    urls,
    bare_urls,
    json_values,
    durations,
    system_times,
    addresses,
    paths,
    bytes,
    boxed_bytes,
    bytes_have_no_elements,
    bytes_of_other_subtypes_are_read,
    large_integers,
    large_integers_as_text,
    large_negative_integers_as_text,
];

/// Makes a case of three values in ascending order. `$bson` is the BSON type, and `$other` a value of another one.
macro_rules! types {
    ($($case:ident: $ty:ty, [$($with:tt)*] [$($default:tt)*], $bson:literal, $other:expr, $values:expr;)*) => {$(
        async fn $case(db: &Db) {
            #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
            #[odm(collection = "rows", index(value), index(list))]
            struct Row {
                #[serde(rename = "_id")]
                id: i32,
                $($with)*
                value: $ty,
                $($default)*
                maybe: Option<$ty>,
                $($with)*
                list: Vec<$ty>,
                $($with)*
                map: BTreeMap<String, $ty>,
            }

            let values: [$ty; 3] = $values;
            let [low, middle, high] = values.clone();
            let rows: Vec<Row> = [2, 0, 1].into_iter().zip([high.clone(), low.clone(), middle.clone()]).map(|(id, value)| Row {
                id,
                value: value.clone(),
                maybe: (id != 0).then(|| value.clone()),
                list: values.iter().take(usize::try_from(id).unwrap()).cloned().collect(),
                map: [("key".to_owned(), value)].into(),
            }).collect();

            db.sync(models![Row]).plan().await.unwrap().apply(Allow::CREATE).await.unwrap();
            let stored = db.collection::<Row>();
            stored.insert_many(&rows).await.unwrap();
            let ids = |rows: Vec<Row>| -> Vec<i32> { rows.iter().map(|row| row.id).collect() };

            // Read back, in the order of the values.
            let sorted = stored.find_all().sort(|r| r.value.asc()).all().await.unwrap();
            assert_eq!(sorted, [rows[1].clone(), rows[2].clone(), rows[0].clone()]);
            let sorted = stored.find_all().sort(|r| r.value.desc()).all().await.unwrap();
            assert_eq!(ids(sorted), [2, 1, 0]);

            // Stored as the type.
            for path in ["value", "maybe", "list", "map.key"] {
                let is_type = doc! {path: {"$type": $bson}};
                let count = stored.count_documents(|_| odm::query::raw(is_type)).await.unwrap();
                assert_eq!(count, if path == "value" || path == "map.key" { 3 } else { 2 }, "{path}");
            }

            // Found.
            let found = |filter: Filter<Row>| {
                let find = stored.find(move |_| filter).sort(|r| r.id.asc());
                async move { ids(find.all().await.unwrap()) }
            };
            let row = odm::query::fields::<Row>();
            assert_eq!(found(row.value.eq(&middle)).await, [1]);
            assert_eq!(found(row.value.ne(&middle)).await, [0, 2]);
            assert_eq!(found(row.value.gt(&low) & row.value.lt(&high)).await, [1]);
            assert_eq!(found(row.value.gte(&middle)).await, [1, 2]);
            assert_eq!(found(row.value.in_([&low, &high])).await, [0, 2]);
            assert_eq!(found(row.maybe.eq(&high)).await, [2]);
            assert_eq!(found(row.maybe.eq(None)).await, [0]);
            assert_eq!(found(row.list.has(&middle)).await, [2]);
            assert_eq!(found(row.list.any().lte(&low)).await, [1, 2]);
            assert_eq!(found(row.list.elem_match(|e| e.gt(&low) & e.lt(&high))).await, [2]);
            assert_eq!(found(row.list.eq([low.clone(), middle.clone()])).await, [2]);

            // Changed.
            stored.update_one(
                |r| r.id.eq(0),
                |r| r.value.max(&high) & r.maybe.set(&middle) & r.list.push_each([&high, &low]),
            ).await.unwrap();
            let changed = stored.get(&0).await.unwrap().unwrap();
            assert_eq!((changed.value, changed.maybe), (high.clone(), Some(middle.clone())));
            assert_eq!(changed.list, [high.clone(), low.clone()]);
            stored.update_one(
                |r| r.id.eq(0),
                |r| r.value.set(&low) & r.maybe.set(None) & r.list.pull(&high),
            ).await.unwrap();
            let changed = stored.get(&0).await.unwrap().unwrap();
            assert_eq!((changed.value, changed.maybe), (low.clone(), None));
            assert_eq!(changed.list, std::slice::from_ref(&low));
            stored.update_one(|r| r.id.eq(0), |r| r.list.at(0).set(&middle)).await.unwrap();
            assert_eq!(stored.get(&0).await.unwrap().unwrap().list, [middle]);

            // Only the values themselves, as they are distinct.
            let distinct = stored.distinct(|r| r.value.clone(), |_| Filter::all()).await.unwrap();
            assert_eq!(distinct, [low, rows[2].value.clone(), high]);

            // Validated.
            let other: Option<Bson> = $other;
            if let Some(other) = other {
                let wrong: BsonDocument = doc! {"_id": 9, "value": other, "maybe": null, "list": [], "map": {}};
                let insert = doc! {"insert": "rows", "documents": [wrong]};
                let reply = db.run_command(insert).await.unwrap();
                let errors = reply.get_array("writeErrors").unwrap();
                let code = errors[0].as_document().unwrap().get_i32("code").unwrap();
                assert_eq!(code, 121, "{errors:?}");
            }
        }
    )*};
}

types! {
    chrono_times: ChronoTime<Utc>, [#[serde(with = "odm::chrono_0_4")]] [#[serde(default, with = "odm::chrono_0_4")]], "date", Some("x".into()),
        [-1_500, 0, 1_700_000_000_123].map(|millis| ChronoTime::from_timestamp_millis(millis).unwrap());
    chrono_days: NaiveDate, [#[serde(with = "odm::chrono_0_4")]] [#[serde(default, with = "odm::chrono_0_4")]], "string", Some(1.into()),
        [(999, 12), (2026, 2), (2026, 11)].map(|(year, month)| NaiveDate::from_ymd_opt(year, month, 3).unwrap());
    chrono_times_without_a_zone: NaiveDateTime, [#[serde(with = "odm::chrono_0_4")]] [#[serde(default, with = "odm::chrono_0_4")]], "string", Some(1.into()),
        [0, 1, 1_000_000_000].map(|nanos| ChronoTime::from_timestamp_nanos(nanos).naive_utc());
    chrono_spans: TimeDelta, [#[serde(with = "odm::chrono_0_4")]] [#[serde(default, with = "odm::chrono_0_4")]], "long", Some("x".into()),
        [-1_500, 0, i64::MAX].map(TimeDelta::milliseconds);
    jiff_timestamps: Timestamp, [#[serde(with = "odm::jiff_0_2")]] [#[serde(default, with = "odm::jiff_0_2")]], "date", Some("x".into()),
        [-1_500, 0, 1_700_000_000_123].map(|millis| Timestamp::from_millisecond(millis).unwrap());
    jiff_days: civil::Date, [#[serde(with = "odm::jiff_0_2")]] [#[serde(default, with = "odm::jiff_0_2")]], "string", Some(1.into()),
        [(999, 12), (2026, 2), (2026, 11)].map(|(year, month)| civil::date(year, month, 3));
    jiff_spans: SignedDuration, [#[serde(with = "odm::jiff_0_2")]] [#[serde(default, with = "odm::jiff_0_2")]], "long", Some("x".into()),
        [-1_500, 0, i64::MAX].map(SignedDuration::from_millis);
    time_times: OffsetDateTime, [#[serde(with = "odm::time_0_3")]] [#[serde(default, with = "odm::time_0_3")]], "date", Some("x".into()),
        [-1, 0, 1_700_000_000].map(|seconds| OffsetDateTime::from_unix_timestamp(seconds).unwrap());
    time_days: time::Date, [#[serde(with = "odm::time_0_3")]] [#[serde(default, with = "odm::time_0_3")]], "string", Some(1.into()),
        [999, 2025, 2026].map(|year| time::Date::from_ordinal_date(year, 100).unwrap());
    uuids: Uuid, [#[serde(with = "odm::uuid_1")]] [#[serde(default, with = "odm::uuid_1")]], "binData", Some("x".into()),
        [0, 1, u128::MAX].map(Uuid::from_u128);
    uuids_as_text: Uuid, [#[serde(with = "odm::uuid_1::text")]] [#[serde(default, with = "odm::uuid_1::text")]], "string", Some(1.into()),
        [0, 1, u128::MAX].map(Uuid::from_u128);
    decimals: Decimal, [#[serde(with = "odm::rust_decimal_1")]] [#[serde(default, with = "odm::rust_decimal_1")]], "decimal", Some("x".into()),
        [Decimal::MIN, Decimal::new(15, 1), Decimal::MAX];
    urls: Url, [#[serde(with = "odm::url_2")]] [#[serde(default, with = "odm::url_2")]], "string", Some(1.into()),
        ["http://a.example/", "http://b.example/", "https://a.example/?b=c"].map(|url| url.parse().unwrap());
    bare_urls: Url, [] [], "string", Some(1.into()),
        ["http://a.example/", "http://b.example/", "https://a.example/?b=c"].map(|url| url.parse().unwrap());
    json_values: Value, [#[serde(with = "odm::serde_json_1")]] [#[serde(default, with = "odm::serde_json_1")]], "object", None,
        [json!({"a": -1}), json!({"a": 0.5, "b": null}), json!({"a": {"b": [true, "x", i64::MAX]}})];
    durations: Duration, [#[serde(with = "odm::duration")]] [#[serde(default, with = "odm::duration")]], "long", Some("x".into()),
        [0, 1, i64::MAX as u64].map(Duration::from_millis);
    system_times: SystemTime, [#[serde(with = "odm::system_time")]] [#[serde(default, with = "odm::system_time")]], "date", Some("x".into()),
        [0, 1, 1_700_000_000_123].map(|millis| SystemTime::UNIX_EPOCH + Duration::from_millis(millis));
    addresses: IpAddr, [#[serde(with = "odm::ip")]] [#[serde(default, with = "odm::ip")]], "string", Some(1.into()),
        ["10.0.0.1", "10.0.0.2", "::1"].map(|address| address.parse().unwrap());
    paths: PathBuf, [] [], "string", Some(1.into()),
        ["", "/a/b", "ä"].map(PathBuf::from);
    bytes: Vec<u8>, [#[serde(with = "odm::bytes")]] [#[serde(default, with = "odm::bytes")]], "binData", Some("x".into()),
        [vec![], vec![255], vec![0, 1]];
    boxed_bytes: Box<[u8]>, [#[serde(with = "odm::bytes")]] [#[serde(default, with = "odm::bytes")]], "binData", Some("x".into()),
        [vec![], vec![255], vec![0, 1]].map(Vec::into_boxed_slice);
    large_integers: u128, [#[serde(with = "odm::int128")]] [#[serde(default, with = "odm::int128")]], "decimal", Some("x".into()),
        [0, u128::from(u64::MAX) + 1, 10_u128.pow(34) - 1];
    large_integers_as_text: u128, [#[serde(with = "odm::int128::text")]] [#[serde(default, with = "odm::int128::text")]], "string", Some(1.into()),
        [9, 10, u128::MAX];
    large_negative_integers_as_text: i128, [#[serde(with = "odm::int128::text")]] [#[serde(default, with = "odm::int128::text")]], "string", Some(1.into()),
        [i128::MIN, -10, -9];
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "avatars")]
struct Avatar {
    #[serde(rename = "_id")]
    id: i32,
    #[serde(with = "odm::bytes")]
    image: Vec<u8>,
}

async fn bytes_have_no_elements(db: &Db) {
    let avatars = db.collection::<Avatar>();
    avatars
        .insert_one(&Avatar {
            id: 1,
            image: vec![1, 2],
        })
        .await
        .unwrap();
    let error = avatars
        .update_one(|a| a.id.eq(1), |a| a.image.push(3))
        .await
        .unwrap_err();
    assert_eq!(error.path(), Some("image"), "{error}");
    let error = avatars.find(|a| a.image.has(1)).all().await.unwrap_err();
    assert_eq!(error.path(), Some("image"), "{error}");
}

async fn bytes_of_other_subtypes_are_read(db: &Db) {
    let avatars = db.collection::<Avatar>();
    let subtypes = [
        BinarySubtype::Generic,
        BinarySubtype::Md5,
        BinarySubtype::UserDefined(0x80),
    ];
    for (id, subtype) in (1..).zip(subtypes) {
        let image = Binary {
            subtype,
            bytes: vec![7; 16],
        };
        let insert = doc! {"insert": "avatars", "documents": [{"_id": id, "image": image}]};
        db.run_command(insert).await.unwrap();
        let mut loaded = avatars.load(&id).await.unwrap().unwrap();
        assert_eq!(loaded.image, [7; 16]);
        avatars.save(&mut loaded).await.unwrap();
        let stored = avatars
            .find(|a| a.id.eq(id))
            .with_type::<BsonDocument>()
            .first()
            .await;
        let stored = stored.unwrap().unwrap();
        let Some(Bson::Binary(stored)) = stored.get("image") else {
            panic!("{stored}")
        };
        assert_eq!(stored.subtype, subtype, "an unchanged save writes nothing");
    }
}
