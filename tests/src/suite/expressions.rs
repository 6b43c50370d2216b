//! Expressions that each store computes in its own way.

use odm::bson::spec::BinarySubtype;
use odm::bson::{Binary, Bson, Decimal128, Document as BsonDocument, doc};
use odm::prelude::*;

use crate::case::cases;

cases![
    decimal_functions_agree_with_mongod,
    decimals_outside_a_domain_are_refused,
    sizes_of_binary_values_count_a_stored_length,
];

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Document)]
#[odm(collection = "readings")]
struct Reading {
    #[serde(rename = "_id")]
    id: i32,
}

fn decimal(text: &str) -> Bson {
    Bson::Decimal128(text.parse::<Decimal128>().unwrap())
}

async fn computed(db: &Db, expression: BsonDocument) -> odm::Result<String> {
    let stages = [doc! { "$project": { "v": expression } }];
    let found = db.collection::<Reading>().aggregate(stages).all().await?;
    let value = found.first().and_then(|found| found.get("v"));
    Ok(value.map(ToString::to_string).unwrap_or_default())
}

async fn decimal_functions_agree_with_mongod(db: &Db) {
    let readings = db.collection::<Reading>();
    readings.insert_one(&Reading { id: 1 }).await.unwrap();
    for (function, argument, expected) in [
        ("$exp", "-14210", "4.7360E-6172"),
        ("$exp", "1E-20", "1.000000000000000000010000000000000"),
        ("$ln", "10", "2.302585092994045684017991454684364"),
        ("$log10", "1E-40", "-40.00000000000000000000000000000001"),
        ("$log10", "1E-6176", "-6176"),
        ("$sqrt", "1.000", "1.00"),
        ("$sin", "1E+6144", "0.9168078385445297016578219657016704"),
        ("$cos", "0", "1.000000000000000000000000000000000"),
        ("$tan", "-0E-7", "-0E-47"),
        ("$acosh", "1", "0"),
        (
            "$asinh",
            "65411E-4969",
            "6.475175119438025110924438958227647E-4965",
        ),
        (
            "$sinh",
            "14150",
            "9.244617257381687763023063770892395E+6144",
        ),
    ] {
        let got = computed(db, doc! { function: decimal(argument) }).await;
        assert_eq!(got.unwrap(), expected, "{function} of {argument}");
    }
    for (function, [one, other], expected) in [
        (
            "$pow",
            [decimal("2"), Bson::Int32(-1)],
            "0.5000000000000000000000000000000000",
        ),
        ("$pow", [decimal("10"), Bson::Int32(0)], "0E-6176"),
        (
            "$pow",
            [Bson::Double(0.1), decimal("3")],
            "0.001000000000000000000000000000000000",
        ),
        ("$log", [decimal("8"), Bson::Int32(2)], "3"),
        // mongod divides by the base, not by its logarithm
        (
            "$log",
            [decimal("4862"), Bson::Int32(94)],
            "0.09031069313697945393385316764746544",
        ),
        (
            "$atan2",
            [decimal("Infinity"), decimal("Infinity")],
            "0.785398163397448309615660845819876",
        ),
    ] {
        let got = computed(db, doc! { function: [&one, &other] }).await;
        assert_eq!(got.unwrap(), expected, "{function} of {one} and {other}");
    }
}

async fn decimals_outside_a_domain_are_refused(db: &Db) {
    let readings = db.collection::<Reading>();
    readings.insert_one(&Reading { id: 1 }).await.unwrap();
    for (expression, code, expected) in [
        (
            doc! { "$asin": decimal("1E+3") },
            50989,
            "cannot apply $asin to 1E+3, value must be in [-1,1]",
        ),
        (
            doc! { "$sin": decimal("-Infinity") },
            50989,
            "cannot apply $sin to -Infinity, value must be in (-inf,inf)",
        ),
        (
            doc! { "$ln": decimal("-1") },
            28766,
            "$ln's argument must be a positive number, but is -1",
        ),
        (
            doc! { "$pow": [decimal("0"), decimal("-0")] },
            28764,
            "$pow cannot take a base of 0 and a negative exponent",
        ),
    ] {
        let error = computed(db, expression).await.unwrap_err();
        let server = error.server().unwrap();
        assert_eq!(server.code().number(), code, "{error}");
        assert!(server.message().ends_with(expected), "{error}");
    }
}

/// A value of the old subtype stores its length a second time.
async fn sizes_of_binary_values_count_a_stored_length(db: &Db) {
    let readings = db.collection::<Reading>();
    readings.insert_one(&Reading { id: 1 }).await.unwrap();
    for (subtype, expected) in [
        (BinarySubtype::Generic, "3"),
        (BinarySubtype::BinaryOld, "7"),
    ] {
        let bytes = vec![1, 2, 3];
        let size = doc! { "$binarySize": {"$literal": Binary { subtype, bytes }} };
        assert_eq!(computed(db, size).await.unwrap(), expected, "{subtype:?}");
    }
}
