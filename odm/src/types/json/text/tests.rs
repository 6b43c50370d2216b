use std::str::FromStr;

use bson::oid::ObjectId;
use bson::spec::BinarySubtype;
use bson::{
    Binary, Bson, DateTime, Decimal128, Document, JavaScriptCodeWithScope, Regex, Timestamp, Uuid,
    doc,
};
use proptest::collection::vec;
use proptest::prelude::*;

use super::{document, documents, to_text};

fn read(text: &str) -> Vec<Document> {
    let documents = documents(text.as_bytes()).unwrap();
    let decoded = documents.iter().map(|raw| Document::try_from(&**raw));
    decoded.collect::<Result<_, _>>().unwrap()
}

fn regex(pattern: &str, options: &str) -> Bson {
    let [pattern, options] = [pattern, options].map(|text| text.try_into().unwrap());
    Bson::RegularExpression(Regex { pattern, options })
}

fn fault(text: impl AsRef<[u8]>) -> String {
    documents(text.as_ref()).unwrap_err()
}

#[test]
fn documents_are_read_from_lines_or_an_array() {
    let both = [doc! { "b": 1, "a": 2 }, doc! { "b": 3 }];
    for text in [
        "{\"b\": 1, \"a\": 2}\n{\"b\": 3}\n",
        "{\"b\": 1, \"a\": 2}{\"b\": 3}",
        "\u{feff}{\n  \"b\": 1,\n  \"a\": 2\n}\r\n\r\n{\"b\": 3}",
        "[{\"b\": 1, \"a\": 2}, {\"b\": 3}]",
        " [{\"b\": 1, \"a\": 2}]\n[{\"b\": 3}]",
    ] {
        assert_eq!(read(text), both, "{text}");
    }
    assert!(read("").is_empty() && read("\n[]\n").is_empty());
}

#[test]
fn numbers_are_read_as_mongoimport_reads_them() {
    let text = r#"{"a": 1, "b": -2147483648, "c": 3000000000, "d": 1.0, "e": 1e2, "f": 0.1}"#;
    assert_eq!(
        read(text),
        [doc! { "a": 1, "b": i32::MIN, "c": 3_000_000_000_i64, "d": 1.0, "e": 100.0, "f": 0.1 }]
    );
    // The last bit, which a quick reader of numbers gets wrong.
    let Some(Bson::Double(double)) = read(r#"{"a": 51.24817837550540}"#)[0].remove("a") else {
        panic!("a fraction is a double");
    };
    assert_eq!(double.to_bits(), 51.248_178_375_505_4_f64.to_bits());
    assert!(fault(r#"{"a": 9223372036854775808}"#).contains("not a 64-bit integer"));
    assert!(fault(r#"{"a": 1e400}"#).contains("out of range"));
}

#[test]
fn extended_json_versions_1_and_2_are_read() {
    let date = DateTime::from_millis(1_356_351_330_501);
    let binary = |subtype, bytes: &[u8]| Binary {
        subtype,
        bytes: bytes.to_vec(),
    };
    let uuid = Uuid::parse_str("73ffd264-44b3-4c69-90e8-e7d1dfc035d4").unwrap();
    let id = ObjectId::parse_str("57e193d7a9cc81b4027498b5").unwrap();
    let cases: Vec<(&str, Bson)> = vec![
        (r#"{"$oid": "57e193d7a9cc81b4027498b5"}"#, id.into()),
        (r#"{"$symbol": "s"}"#, Bson::Symbol("s".into())),
        (r#"{"$numberInt": "7"}"#, 7.into()),
        (r#"{"$numberLong": "7"}"#, 7_i64.into()),
        (r#"{"$numberDouble": "7.0"}"#, 7.0.into()),
        (
            r#"{"$numberDouble": "-Infinity"}"#,
            f64::NEG_INFINITY.into(),
        ),
        (
            r#"{"$numberDecimal": "7.10"}"#,
            Decimal128::from_str("7.10").unwrap().into(),
        ),
        (
            r#"{"$binary": {"base64": "AQI=", "subType": "00"}}"#,
            binary(BinarySubtype::Generic, &[1, 2]).into(),
        ),
        (
            r#"{"$binary": "AQI=", "$type": "00"}"#,
            binary(BinarySubtype::Generic, &[1, 2]).into(),
        ),
        (
            r#"{"$type": 128, "$binary": "AQI="}"#,
            binary(BinarySubtype::UserDefined(0x80), &[1, 2]).into(),
        ),
        (
            r#"{"$uuid": "73ffd264-44b3-4c69-90e8-e7d1dfc035d4"}"#,
            uuid.into(),
        ),
        (r#"{"$code": "f()"}"#, Bson::JavaScriptCode("f()".into())),
        (
            r#"{"$code": "f()", "$scope": {"b": 1, "a": {"$numberLong": "2"}}}"#,
            JavaScriptCodeWithScope {
                code: "f()".into(),
                scope: doc! { "b": 1, "a": 2_i64 },
            }
            .into(),
        ),
        (
            r#"{"$timestamp": {"t": 4000000000, "i": 1}}"#,
            Timestamp {
                time: 4_000_000_000,
                increment: 1,
            }
            .into(),
        ),
        (
            r#"{"$regularExpression": {"pattern": "a.", "options": "xi"}}"#,
            regex("a.", "ix"),
        ),
        (r#"{"$date": "2012-12-24T12:15:30.501Z"}"#, date.into()),
        (r#"{"$date": "2012-12-24T13:15:30.501+01:00"}"#, date.into()),
        (r#"{"$date": "2012-12-24T13:15:30.501+0100"}"#, date.into()),
        (
            r#"{"$date": {"$numberLong": "1356351330501"}}"#,
            date.into(),
        ),
        (r#"{"$date": 1356351330501}"#, date.into()),
        (r#"{"$date": -1}"#, DateTime::from_millis(-1).into()),
        (r#"{"$minKey": 1}"#, Bson::MinKey),
        (r#"{"$maxKey": 1}"#, Bson::MaxKey),
        (r#"{"$undefined": true}"#, Bson::Undefined),
        // Operators are documents.
        (
            r#"{"$regex": "^a", "$options": "i"}"#,
            doc! { "$regex": "^a", "$options": "i" }.into(),
        ),
        (r#"{"$type": "int"}"#, doc! { "$type": "int" }.into()),
        (
            r#"{"$ref": "c", "$id": {"$oid": "57e193d7a9cc81b4027498b5"}}"#,
            doc! { "$ref": "c", "$id": id }.into(),
        ),
    ];
    for (text, value) in cases {
        let expected = doc! { "a": value.clone(), "n": [value] };
        assert_eq!(
            read(&format!(r#"{{"a": {text}, "n": [{text}]}}"#)),
            [expected],
            "{text}"
        );
    }
    let pointer = r#"{"a":{"$dbPointer":{"$ref":"c","$id":{"$oid":"57e193d7a9cc81b4027498b5"}}}}"#;
    let Some(Bson::DbPointer(_)) = read(pointer)[0].get("a").cloned() else {
        panic!("a pointer is one");
    };
}

#[test]
fn errors_name_their_position() {
    for (text, parts) in [
        (
            "{\"a\": 1}\n{\"a\": 2}\n{\"a\" 3}",
            vec!["document 3: ", "line 3 column 6"],
        ),
        (
            "[{\"a\": 1},\n{\"a\": 2,}]",
            vec!["document 2: ", "line 2 column 9"],
        ),
        ("{\"a\": 1}\n{\"a\": [1, ", vec!["document 2: ", "EOF"]),
        ("[{\"a\": 1}", vec!["document 2: ", "EOF"]),
        (
            "{\"a\": 1, \"a\": 2}",
            vec!["the field `a` occurs twice", "line 1"],
        ),
        ("[1]", vec!["expected a document, found a value: 1"]),
        (
            "7",
            vec!["document 1: ", "a document, or an array of documents"],
        ),
        (
            "{\"a\": {\"$oid\": \"x\"}}",
            vec!["invalid $oid", "line 1 column"],
        ),
        ("{\"a\": {\"$date\": \"soon\"}}", vec!["invalid $date"]),
        (
            "{\"a\": {\"$date\": \"2012-12-24T12:15:30.5011Z\"}}",
            vec!["invalid $date", "fraction of a millisecond"],
        ),
        (
            "{\"a\": {\"$numberDecimal\": \"\"}}",
            vec!["invalid $numberDecimal", "is not a decimal number"],
        ),
        (
            "{\"a\": {\"$numberDecimal\": \"-+32.4\"}}",
            vec!["invalid $numberDecimal"],
        ),
        (
            "{\"a\": {\"x\": 1, \"$numberInt\": \"1\"}}",
            vec!["invalid $numberInt"],
        ),
        (
            "{\"a\": {\"$numberInt\": \"1\", \"x\": 1}}",
            vec!["invalid $numberInt"],
        ),
        ("{\"a\\u0000b\": 1}", vec!["contains a NUL"]),
        ("{'a': 1}", vec!["line 1 column 2"]),
    ] {
        let fault = fault(text);
        assert!(
            parts.iter().all(|part| fault.contains(part)),
            "{text}: {fault}"
        );
    }
    let fault = fault(b"{\"a\": \"\xff\"}");
    assert!(fault.contains("invalid unicode"), "{fault}");
}

#[test]
fn json_depth_is_limited() {
    let nested = |depth: usize| format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth));
    assert_eq!(read(&nested(200)).len(), 1);
    assert!(fault(nested(201)).contains("200"));
    assert!(fault("[".repeat(1_000_000)).contains("document"));
    assert!(fault(format!("{{\"a\": {}", "[".repeat(1_000_000))).contains("200"));
}

fn value() -> impl Strategy<Value = Bson> {
    let leaf = prop_oneof![
        Just(Bson::Null),
        Just(Bson::Undefined),
        Just(Bson::MinKey),
        any::<bool>().prop_map(Bson::from),
        any::<i32>().prop_map(Bson::from),
        any::<i64>().prop_map(Bson::from),
        // NaNs are not equal.
        any::<f64>()
            .prop_filter("a number", |value| !value.is_nan())
            .prop_map(Bson::from),
        ".{0,8}".prop_map(Bson::from),
        any::<i64>().prop_map(|millis| DateTime::from_millis(millis).into()),
        any::<[u8; 12]>().prop_map(|bytes| ObjectId::from_bytes(bytes).into()),
        (any::<u32>(), any::<u32>())
            .prop_map(|(time, increment)| Timestamp { time, increment }.into()),
        (any::<u8>(), vec(any::<u8>(), 0..8)).prop_map(|(kind, bytes)| {
            Binary {
                subtype: kind.into(),
                bytes,
            }
            .into()
        }),
        ("[a-z.]{0,4}", "[imsx]{0,1}").prop_map(|(pattern, options)| regex(&pattern, &options)),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Bson::Array),
            fields(inner.clone()).prop_map(Bson::Document),
            ("[a-z]{0,4}", fields(inner))
                .prop_map(|(code, scope)| { JavaScriptCodeWithScope { code, scope }.into() }),
        ]
    })
}

fn fields(value: impl Strategy<Value = Bson>) -> impl Strategy<Value = Document> {
    vec(("[a-z\"\\\\é.]{0,3}", value), 0..4).prop_map(|fields| fields.into_iter().collect())
}

proptest! {
    #[test]
    fn written_json_round_trips(written in fields(value())) {
        let text = to_text(&written);
        prop_assert_eq!(document(text.as_bytes()).unwrap(), written.clone());
        prop_assert_eq!(read(&text), [written]);
    }

    #[test]
    fn arbitrary_text_does_not_panic(text in "[\\[\\]{}\",:$ a1.\\\\u-]{0,40}") {
        let _ = documents(text.as_bytes());
        let _ = document(text.as_bytes());
    }
}
