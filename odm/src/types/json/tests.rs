//! Round trips of models, and what is refused.

use std::collections::BTreeMap;

use bson::spec::BinarySubtype;
use bson::{Binary, Bson, Decimal128, Regex, Timestamp, Uuid};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::Plain;
use crate::dbref::DbRef;
use crate::money::{AnyMoney, Money, Usd};
use crate::prelude::{
    DateTime, Deserialize, Document, Embedded, Id, ObjectId, Ref, Serialize, doc,
};
use crate::time::{Iso, LocalTime};

const HEX: &str = "507f1f77bcf86cd799439011";

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "owners")]
struct Owner {
    #[serde(rename = "_id")]
    id: Id<Owner>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Line {
    product: ObjectId,
    added: DateTime,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Audit {
    created: DateTime,
    editor: Option<Id<Owner>>,
    note: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Payment {
    Card { charged: DateTime, by: ObjectId },
    Invoice(Due),
    Free,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Due {
    due: DateTime,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
#[serde(untagged)]
enum When {
    Span { from: DateTime, to: DateTime },
    Label { from: String },
    Day(DateTime),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
enum Step {
    Sent(DateTime),
    Signed { by: Id<Owner>, at: DateTime },
    Moved(DateTime, ObjectId),
    Lost,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
#[serde(tag = "t", content = "c")]
enum Verdict {
    At(DateTime),
    Nothing,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Place(String);

impl crate::model::MapKey for Place {}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "orders")]
#[serde(rename_all = "camelCase")]
struct Order {
    #[serde(rename = "_id")]
    id: Id<Order>,
    placed_at: DateTime,
    total: Decimal128,
    key: Uuid,
    photo: Binary,
    at: Timestamp,
    pattern: Regex,
    count: i64,
    ratio: f64,
    text: String,
    owner: Ref<Owner>,
    seller: DbRef<Owner>,
    #[odm(embed(few, max = 9))]
    lines: Vec<Line>,
    visits: BTreeMap<Place, DateTime>,
    #[serde(flatten)]
    audit: Audit,
    payment: Payment,
    #[odm(embed(few, max = 9))]
    when: Vec<When>,
    #[odm(embed(few, max = 9))]
    steps: Vec<Step>,
    result: Verdict,
    #[serde(skip_serializing_if = "Option::is_none")]
    paid: Option<DateTime>,
    price: Money<Usd>,
    #[serde(with = "crate::money::json::amount")]
    shown: Money<Usd>,
    #[serde(with = "crate::money::json::text")]
    tip: AnyMoney,
    local: LocalTime<Iso>,
}

fn date(text: &str) -> DateTime {
    DateTime::parse_rfc3339_str(text).unwrap()
}

fn order() -> Order {
    let oid = ObjectId::parse_str(HEX).unwrap();
    let noon = date("2026-04-02T12:00:00Z");
    Order {
        id: oid.into(),
        placed_at: date("2026-04-02T10:30:00.123Z"),
        total: "9.990".parse().unwrap(),
        key: Uuid::parse_str("2f1c9a3e-0b1d-4c5e-8f00-112233445566").unwrap(),
        photo: Binary {
            subtype: BinarySubtype::Generic,
            bytes: vec![0, 255, 1],
        },
        at: Timestamp {
            time: u32::MAX,
            increment: 2,
        },
        pattern: Regex {
            pattern: "^a".to_owned().try_into().unwrap(),
            options: "im".to_owned().try_into().unwrap(),
        },
        count: i64::MAX,
        ratio: 0.5,
        // Text that looks like a date stays text.
        text: "2026-04-02T10:30:00Z".to_owned(),
        owner: Ref::from(Id::from(oid)),
        seller: DbRef::from(Id::from(oid)),
        lines: vec![Line {
            product: oid,
            added: noon,
        }],
        visits: [(Place("Ahab's".to_owned()), noon)].into(),
        audit: Audit {
            created: noon,
            editor: Some(oid.into()),
            note: HEX.to_owned(),
        },
        payment: Payment::Card {
            charged: noon,
            by: oid,
        },
        when: vec![
            When::Span {
                from: noon,
                to: noon,
            },
            When::Label {
                from: "2026-04-02T12:00:00Z".to_owned(),
            },
            When::Day(noon),
        ],
        steps: vec![
            Step::Sent(noon),
            Step::Signed {
                by: oid.into(),
                at: noon,
            },
            Step::Moved(noon, oid),
            Step::Lost,
        ],
        result: Verdict::At(noon),
        paid: None,
        price: Money::from_minor(999),
        shown: Money::from_minor(999),
        tip: "0.05 EUR".parse().unwrap(),
        local: "2026-03-29T10:30:00+02:00".parse().unwrap(),
    }
}

fn order_json() -> Value {
    json!({
        "_id": HEX,
        "placedAt": "2026-04-02T10:30:00.123Z",
        "total": "9.990",
        "key": "2f1c9a3e-0b1d-4c5e-8f00-112233445566",
        "photo": "AP8B",
        "at": {"t": u32::MAX, "i": 2},
        "pattern": {"pattern": "^a", "options": "im"},
        "count": i64::MAX,
        "ratio": 0.5,
        "text": "2026-04-02T10:30:00Z",
        "owner": HEX,
        "seller": {"$ref": "owners", "$id": HEX},
        "lines": [{"product": HEX, "added": "2026-04-02T12:00:00Z"}],
        "visits": {"Ahab's": "2026-04-02T12:00:00Z"},
        "created": "2026-04-02T12:00:00Z",
        "editor": HEX,
        "note": HEX,
        "payment": {"kind": "card", "charged": "2026-04-02T12:00:00Z", "by": HEX},
        "when": [
            {"from": "2026-04-02T12:00:00Z", "to": "2026-04-02T12:00:00Z"},
            {"from": "2026-04-02T12:00:00Z"},
            "2026-04-02T12:00:00Z",
        ],
        "steps": [
            {"Sent": "2026-04-02T12:00:00Z"},
            {"Signed": {"by": HEX, "at": "2026-04-02T12:00:00Z"}},
            {"Moved": ["2026-04-02T12:00:00Z", HEX]},
            "Lost",
        ],
        "result": {"t": "At", "c": "2026-04-02T12:00:00Z"},
        "price": 999,
        "shown": "9.99",
        "tip": "0.05 EUR",
        "local": {"date": "2026-03-29T08:30:00Z", "offset": 120},
    })
}

fn read<T>(json: Value) -> Result<T, String>
where
    Plain<T>: serde::de::DeserializeOwned,
{
    let read = serde_json::from_value::<Plain<T>>(json);
    read.map(Plain::into_inner)
        .map_err(|error| error.to_string())
}

#[test]
fn a_model_has_plain_json() {
    assert_eq!(serde_json::to_value(Plain(&order())).unwrap(), order_json());
    assert_eq!(read::<Order>(order_json()), Ok(order()));
    // As text, too, which serde_json reads in another way than a tree.
    let text = serde_json::to_string(&Plain(&order())).unwrap();
    assert_eq!(
        serde_json::from_str::<Plain<Order>>(&text).unwrap().0,
        order()
    );
}

#[test]
fn other_variants_and_containers_are_read() {
    let due = json!({"kind": "invoice", "due": "2026-04-02T12:00:00Z"});
    let payment = Payment::Invoice(Due {
        due: date("2026-04-02T12:00:00Z"),
    });
    assert_eq!(serde_json::to_value(Plain(&payment)).unwrap(), due);
    assert_eq!(read(due), Ok(payment));
    assert_eq!(read(json!({"kind": "free"})), Ok(Payment::Free));
    assert_eq!(read(json!({"t": "Nothing"})), Ok(Verdict::Nothing));

    let mut orders = json!([order_json(), order_json()]);
    assert_eq!(read(orders.clone()), Ok(vec![order(), order()]));
    let plain: Vec<Plain<Order>> = serde_json::from_value(orders.clone()).unwrap();
    assert_eq!(plain.len(), 2);
    assert_eq!(serde_json::to_value(plain).unwrap(), orders);
    orders[1]["paid"] = json!("2026-04-02T14:00:00+02:00");
    let all: Vec<Order> = read(orders).unwrap();
    assert_eq!(all[1].paid, Some(date("2026-04-02T12:00:00Z")));
    assert_eq!(read::<Option<Order>>(Value::Null), Ok(None));
}

#[test]
fn a_request_needs_only_deserialize() {
    #[derive(Debug, PartialEq, Deserialize, Embedded)]
    struct Request {
        product: ObjectId,
        #[serde(default)]
        due: Option<DateTime>,
    }
    let product = ObjectId::parse_str(HEX).unwrap();
    assert_eq!(
        read(json!({"product": HEX})),
        Ok(Request { product, due: None })
    );
    assert_eq!(
        read(json!({"product": HEX, "due": 5})),
        Ok(Request {
            product,
            due: Some(DateTime::from_millis(5))
        })
    );
}

#[test]
fn extended_json_is_read() {
    let extended = serde_json::to_value(order()).unwrap();
    assert_eq!(
        extended["placedAt"]["$date"]["$numberLong"],
        "1775125800123"
    );
    assert_eq!(read::<Order>(extended), Ok(order()));
}

#[test]
fn undeclared_values_have_plain_forms_and_stay_text() {
    let document = doc! {
        "id": ObjectId::parse_str(HEX).unwrap(),
        "dates": [date("2026-04-02T12:00:00Z")],
        "undefined": Bson::Undefined,
        "symbol": Bson::Symbol("s".to_owned()),
        "code": Bson::JavaScriptCode("f()".to_owned()),
        "max": Bson::MaxKey,
        "encrypted": Binary { subtype: BinarySubtype::Encrypted, bytes: vec![7] },
        "short": Binary { subtype: BinarySubtype::Uuid, bytes: vec![7] },
    };
    let json = json!({
        "id": HEX,
        "dates": ["2026-04-02T12:00:00Z"],
        "undefined": null,
        "symbol": "s",
        "code": "f()",
        "max": {"$maxKey": 1},
        "encrypted": {"base64": "Bw==", "subType": "06"},
        "short": {"base64": "Bw==", "subType": "04"},
    });
    assert_eq!(serde_json::to_value(Plain(&document)).unwrap(), json);
    let back: bson::Document = read(json).unwrap();
    assert_eq!(back.get_str("id").unwrap(), HEX);
    assert_eq!(back.get("max"), Some(&Bson::MaxKey));
}

#[test]
fn fields_beside_a_key_of_extended_json_are_not_lost() {
    let refused = |json: Value| read::<bson::Document>(json!({"any": [json]})).unwrap_err();
    for json in [
        json!({"b": 1, "$date": 0}),
        json!({"$date": 0, "b": 1}),
        json!({"$oid": HEX, "a": 1}),
        json!({"$numberLong": "5", "a": 1}),
        json!({"$date": "2026-04-02T10:30:00.123456Z"}),
    ] {
        assert!(refused(json.clone()).contains("invalid $"), "{json}");
    }
    let zeros = json!({"any": {"$date": "1970-01-01T00:00:00.001000Z"}});
    let date = DateTime::from_millis(1);
    assert_eq!(read(zeros), Ok(doc! {"any": date}));
}

#[test]
fn raw_documents_have_the_same_form() {
    let document = doc! {"id": ObjectId::parse_str(HEX).unwrap(), "b": Binary { subtype: BinarySubtype::Encrypted, bytes: vec![7] }};
    let raw = bson::serialize_to_raw_document_buf(&document).unwrap();
    assert_eq!(
        serde_json::to_value(Plain(&raw)).unwrap(),
        serde_json::to_value(Plain(&document)).unwrap()
    );
}

#[test]
fn bson_gets_the_value_as_it_is() {
    let bytes = bson::serialize_to_vec(&Plain(order())).unwrap();
    assert_eq!(bytes, bson::serialize_to_vec(&order()).unwrap());
    let read: Plain<Order> = crate::codec::decode::read(&bytes).unwrap();
    assert_eq!(read.0, order());
}

#[test]
fn dates_beyond_rfc_3339_are_numbers() {
    for (millis, json) in [
        (-62_167_219_200_001, json!(-62_167_219_200_001_i64)),
        (-62_167_219_200_000, json!("0000-01-01T00:00:00Z")),
        (253_402_300_799_999, json!("9999-12-31T23:59:59.999Z")),
        (253_402_300_800_000, json!(253_402_300_800_000_i64)),
    ] {
        let date = DateTime::from_millis(millis);
        assert_eq!(serde_json::to_value(Plain(date)).unwrap(), json);
        assert_eq!(read(json), Ok(date));
    }
}

#[test]
fn what_is_wrong_is_named_by_its_path() {
    for (pointer, value, message) in [
        (
            "/_id",
            json!("507f"),
            "_id: expected an id of 24 hexadecimal digits, found \"507f\"",
        ),
        (
            "/placedAt",
            json!("2026-04-02"),
            "placedAt: expected a date as text in the form of RFC 3339",
        ),
        (
            "/placedAt",
            json!("2026-04-02T10:30:00.1234Z"),
            "placedAt: expected a date as text in the form of RFC 3339, with at most milliseconds",
        ),
        (
            "/placedAt",
            json!({"$date": "2026-04-02T10:30:00.1234Z"}),
            "placedAt: invalid $date: \"2026-04-02T10:30:00.1234Z\" has a fraction of a millisecond",
        ),
        (
            "/placedAt",
            json!({"b": 1, "$date": 0}),
            "placedAt: invalid $date",
        ),
        (
            "/total",
            json!("-+32.4"),
            "total: expected a decimal number as text",
        ),
        (
            "/total",
            json!({"$numberDecimal": ""}),
            "total: invalid $numberDecimal: \"\" is not a decimal number",
        ),
        (
            "/total",
            json!(9.99),
            "total: expected a decimal number as text, such as \"9.99\", found 9.99",
        ),
        (
            "/lines/0/added",
            json!("soon"),
            "lines.0.added: expected a date",
        ),
        (
            "/lines/0/product",
            json!({"a": 1}),
            "lines.0.product: expected an id of 24 hexadecimal digits, found an object",
        ),
        (
            "/visits/Ahab's",
            json!(true),
            "visits.Ahab's: expected a date",
        ),
        ("/editor", json!("x"), "editor: expected an id"),
        (
            "/payment/charged",
            json!("x"),
            "payment.charged: expected a date",
        ),
        (
            "/steps/1/Signed/at",
            json!("x"),
            "steps.1.Signed.at: expected a date",
        ),
        ("/result/c", json!("x"), "result.c: expected a date"),
        (
            "/photo",
            json!("-"),
            "photo: expected binary data as base64 text",
        ),
        ("/at", json!({"t": -1, "i": 0}), "at: expected a timestamp"),
        (
            "/pattern",
            json!("^a"),
            "pattern: expected a regular expression",
        ),
        ("/key", json!("2f1c9a3e"), "key: "),
        (
            "/count",
            json!("1"),
            "count: invalid type: string \"1\", expected i64",
        ),
        (
            "/when/0",
            json!({"from": 1}),
            "when[0]: data did not match any variant of untagged enum When",
        ),
        ("/shown", json!("9.999"), "shown: "),
        ("/seller/$id", json!("x"), "seller.$id: expected an id"),
    ] {
        let mut json = order_json();
        *json.pointer_mut(pointer).unwrap() = value;
        let error = read::<Order>(json).unwrap_err();
        assert!(error.starts_with(message), "{pointer}: {error}");
    }
    let mut json = order_json();
    json.as_object_mut().unwrap().remove("placedAt");
    assert_eq!(
        read::<Order>(json),
        Err("missing field `placedAt`".to_owned())
    );
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
struct Anything {
    id: ObjectId,
    date: DateTime,
    decimal: Decimal128,
    uuid: Uuid,
    binary: Binary,
    at: Timestamp,
    int: i32,
    long: i64,
    double: f64,
    text: String,
    list: Vec<Option<DateTime>>,
    #[serde(flatten)]
    rest: BTreeMap<String, DateTime>,
}

prop_compose! {
    fn anything()(
        id in any::<[u8; 12]>(),
        // Years that RFC 3339 has, and all others.
        date in prop_oneof![-62_167_219_200_000_i64..253_402_300_800_000, any::<i64>()],
        decimal in any::<[u8; 16]>(),
        uuid in any::<[u8; 16]>(),
        subtype in prop_oneof![Just(0_u8), Just(4), any::<u8>()],
        bytes in prop::collection::vec(any::<u8>(), 0..40),
        (time, increment) in any::<(u32, u32)>(),
        int in any::<i32>(),
        long in any::<i64>(),
        double in -1e300_f64..1e300,
        text in any::<String>(),
        list in prop::collection::vec(prop::option::of(any::<i64>()), 0..3),
        rest in prop::collection::btree_map("x[a-z]{1,3}", any::<i64>(), 0..3),
    ) -> Anything {
        Anything {
            id: ObjectId::from_bytes(id),
            date: DateTime::from_millis(date),
            // Through text, which has one form of each value.
            decimal: Decimal128::from_bytes(decimal).to_string().parse().unwrap(),
            uuid: Uuid::from_bytes(uuid),
            binary: Binary { subtype: BinarySubtype::from(subtype), bytes },
            at: Timestamp { time, increment },
            int,
            long,
            double,
            text,
            list: list.into_iter().map(|one| one.map(DateTime::from_millis)).collect(),
            rest: rest.into_iter().map(|(name, one)| (name, DateTime::from_millis(one))).collect(),
        }
    }
}

proptest! {
    #[test]
    fn values_survive_a_round_trip(value in anything()) {
        let json = serde_json::to_string(&Plain(&value)).unwrap();
        let back: Plain<Anything> = serde_json::from_str(&json).unwrap();
        prop_assert_eq!(&back.0, &value, "{}", json);
    }
}

#[test]
fn serializers_of_bson_are_left_alone() {
    /// Its id and its date are text in the database, too.
    #[derive(Debug, PartialEq, Serialize, Deserialize, Document)]
    #[odm(collection = "texts", index(at))]
    struct Texts {
        #[serde(rename = "_id")]
        id: i32,
        #[serde(with = "bson::serde_helpers::object_id::AsHexString")]
        oid: ObjectId,
        #[serde(with = "bson::serde_helpers::datetime::AsRfc3339String")]
        at: DateTime,
    }
    let texts = Texts {
        id: 1,
        oid: ObjectId::parse_str(HEX).unwrap(),
        at: date("2026-04-02T12:00:00Z"),
    };
    let json = json!({"_id": 1, "oid": HEX, "at": "2026-04-02T12:00:00Z"});
    assert_eq!(serde_json::to_value(Plain(&texts)).unwrap(), json);
    let oid = texts.oid;
    // A filter has the form of the field's serializer.
    let filter = crate::query::fields::<Texts>().oid.eq(oid);
    assert_eq!(filter.to_document().unwrap(), doc! {"oid": HEX});
    assert_eq!(read(json), Ok(texts));
}

#[test]
fn flattened_enums_are_read_by_their_variant() {
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
    #[serde(tag = "kind")]
    enum Internal {
        Note { at: String },
        Visit { at: DateTime },
    }
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
    #[serde(untagged)]
    enum Untagged {
        Until {
            until: DateTime,
            #[serde(with = "crate::money::json::amount")]
            price: Money<Usd>,
        },
        Label {
            label: String,
        },
    }
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Embedded)]
    struct All {
        #[serde(flatten)]
        internal: Internal,
        #[serde(flatten)]
        external: Step,
        #[serde(flatten)]
        adjacent: Verdict,
        untagged: Untagged,
    }
    let noon = date("2026-04-02T12:00:00Z");
    let note = All {
        internal: Internal::Note {
            at: "2026-04-02T12:00:00Z".to_owned(),
        },
        external: Step::Moved(noon, ObjectId::parse_str(HEX).unwrap()),
        adjacent: Verdict::At(noon),
        untagged: Untagged::Until {
            until: noon,
            price: Money::from_minor(1),
        },
    };
    let visit = All {
        internal: Internal::Visit { at: noon },
        external: Step::Sent(noon),
        untagged: Untagged::Label {
            label: HEX.to_owned(),
        },
        ..note.clone()
    };
    for value in [note, visit] {
        let json = serde_json::to_string(&Plain(&value)).unwrap();
        let back: Plain<All> = serde_json::from_str(&json).unwrap();
        assert_eq!(back.0, value, "{json}");
    }
}
