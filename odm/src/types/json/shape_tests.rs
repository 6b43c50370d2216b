//! Types whose parts JSON has no form for: tuples, double options, values of `serde_json`.

use std::fmt::Debug;

use bson::oid::ObjectId;
use bson::{DateTime, Decimal128};
use serde::de::DeserializeOwned;
use serde_json::json;

use super::Plain;
use crate::model::FieldType;
use crate::prelude::{Deserialize, Embedded, Serialize};

const HEX: &str = "507f1f77bcf86cd799439011";

fn there_and_back<T>(value: &T, json: &serde_json::Value)
where
    T: FieldType + Serialize + DeserializeOwned + PartialEq + Debug,
{
    let text = serde_json::to_string(&Plain(value)).unwrap();
    assert_eq!(
        &serde_json::from_str::<serde_json::Value>(&text).unwrap(),
        json
    );
    let Plain(read): Plain<T> = serde_json::from_str(&text).unwrap();
    assert_eq!(&read, value, "{text}");
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, Embedded)]
struct Pair(DateTime, i32);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
enum Event {
    At(DateTime),
    Between(DateTime, DateTime),
    Of { pair: (ObjectId, DateTime) },
    Paired((DateTime, i32)),
}

#[derive(Debug, PartialEq, Serialize, Deserialize, Embedded)]
struct Tuples {
    pair: (DateTime, i32),
    named: Pair,
    three: Option<(i32, Option<DateTime>, Decimal128)>,
    array: [DateTime; 2],
    events: (Event, Event, Event, Event),
}

#[test]
fn tuples_with_dates_are_read_back() {
    let at = DateTime::from_millis(1_000);
    let id = ObjectId::parse_str(HEX).unwrap();
    let tuples = Tuples {
        pair: (at, 1),
        named: Pair(at, 2),
        three: Some((1, Some(at), "1.50".parse().unwrap())),
        array: [at, at],
        events: (
            Event::At(at),
            Event::Between(at, at),
            Event::Of { pair: (id, at) },
            Event::Paired((at, 3)),
        ),
    };
    let text = "1970-01-01T00:00:01Z";
    let json = json!({
        "pair": [text, 1],
        "named": [text, 2],
        "three": [1, text, "1.50"],
        "array": [text, text],
        "events": [
            {"At": text},
            {"Between": [text, text]},
            {"Of": {"pair": [HEX, text]}},
            {"Paired": [text, 3]},
        ],
    });
    there_and_back(&tuples, &json);
    let none = Tuples {
        three: None,
        ..tuples
    };
    let Plain(read): Plain<Tuples> =
        serde_json::from_str(&serde_json::to_string(&Plain(&none)).unwrap()).unwrap();
    assert_eq!(read, none);
}

#[derive(Debug, Default, PartialEq, Serialize, Deserialize, Embedded)]
#[expect(clippy::option_option, reason = "a field is absent, null or a value")]
struct Change {
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        with = "crate::double_option"
    )]
    due: Option<Option<DateTime>>,
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        with = "crate::double_option"
    )]
    owner: Option<Option<ObjectId>>,
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        with = "crate::double_option"
    )]
    price: Option<Option<Decimal128>>,
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        with = "crate::double_option"
    )]
    event: Option<Option<Event>>,
}

#[test]
fn double_options_tell_absent_from_null() {
    there_and_back(&Change::default(), &json!({}));
    let cleared = Change {
        due: Some(None),
        owner: Some(None),
        price: Some(None),
        event: Some(None),
    };
    there_and_back(
        &cleared,
        &json!({"due": null, "owner": null, "price": null, "event": null}),
    );
    let set = Change {
        due: Some(Some(DateTime::from_millis(1_000))),
        owner: Some(Some(ObjectId::parse_str(HEX).unwrap())),
        price: Some(Some("1.50".parse().unwrap())),
        event: Some(Some(Event::At(DateTime::from_millis(0)))),
    };
    there_and_back(
        &set,
        &json!({
            "due": "1970-01-01T00:00:01Z",
            "owner": HEX,
            "price": "1.50",
            "event": {"At": "1970-01-01T00:00:00Z"},
        }),
    );
    assert!(serde_json::from_str::<Plain<Change>>(r#"{"due": "soon"}"#).is_err());
    // As BSON, too.
    let bytes = bson::serialize_to_vec(&set).unwrap();
    assert_eq!(crate::codec::decode::read::<Change>(&bytes).unwrap(), set);
}
