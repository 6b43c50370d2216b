//! Expressions of one family over values of its kind: dates, words, arrays, conversions.

use odm::bson::{Bson, DateTime, Document, Timestamp, doc};

use crate::documents::{number, oid, scalar, value};
use crate::expressions::expression;
use crate::rng::Rng;

const MILLIS: &[i64] = &[
    0,
    1,
    -1,
    999,
    951_782_399_999,
    951_782_400_000,
    1_583_020_800_000,
    1_600_000_000_000,
    1_603_584_000_000,
    1_616_893_200_000,
    -62_135_596_800_000,
    -62_167_219_200_000,
    -62_198_755_200_000,
    253_402_300_799_999,
    253_402_300_800_000,
    -2_208_988_800_000,
    1_230_768_000_000,
    1_262_217_600_000,
    4_102_444_800_000,
    9_223_372_036_854_775,
    -377_705_116_800_000,
];
const ZONES: &[&str] = &[
    "UTC",
    "GMT",
    "+01:00",
    "-0530",
    "+14",
    "Europe/Berlin",
    "America/New_York",
    "Asia/Kolkata",
    "Pacific/Apia",
    "+24:00",
    "zork",
    "",
    "Z",
    "Australia/Lord_Howe",
    "-08",
];
const UNITS: &[&str] = &[
    "year",
    "quarter",
    "month",
    "week",
    "day",
    "hour",
    "minute",
    "second",
    "millisecond",
    "years",
    "Day",
    "decade",
];
const FORMATS: &[&str] = &[
    "%Y-%m-%d",
    "%Y-%m-%dT%H:%M:%S.%LZ",
    "%G-W%V-%u",
    "%j %w %U",
    "%z|%Z",
    "%%%d",
    "%H:%M:%S",
    "%",
    "%q",
    "",
    "%Y",
    "%d.%m.%Y %H:%M",
    "%b %B",
];
const DATES: &[&str] = &[
    "2020-02-29",
    "2020-02-29T12:34:56.789Z",
    "2019-02-29",
    "2020-2-9",
    "20200229",
    "2020-W09-6",
    "2020-060",
    "2020-02-29 10:00",
    "2020-02-29T10:00:00+02:00",
    "2020-02-29T10:00:00 Europe/Berlin",
    "10:00",
    "zork",
    "",
    "2020-13-01",
    "0000-01-01",
    "9999-12-31",
    "2020-02-29T24:00:00",
    "2020-02-29T23:59:60",
    "2020/02/29",
    "12/31/2020",
    "2020-02-29T10",
    "1.2.2020",
    "-0001-01-01",
    "2020",
    "2020-02",
];
const TEXTS: &[&str] = &[
    "",
    "a",
    "abc",
    "ABC",
    "aXbXc",
    "  a b  ",
    "é",
    "ñandú",
    "漢字",
    "😀a😀",
    "a\u{0}b",
    "\t\n x",
    "a.b.c",
    "1",
    "-1.5",
    "1e3",
    "0x10",
    "NaN",
    "Infinity",
    "true",
    "aaa",
    "abcabc",
    "İ",
    "ß",
    "ǆ",
    "$a",
    "5f0102030405060708090a0b",
    "9223372036854775808",
    " 1",
    "1 ",
    "1.7976931348623157e309",
    "9.999999999999999999999999999999999E+6144",
    "\u{a0}x\u{a0}",
];
const PATTERNS: &[&str] = &[
    "a", "^a", "(a)(x)?", "(?<n>b)", "[A-Z]+", "\\w+", "", "b|c", "(", "a{2}", "\\b", ".",
    "(?i)ABC", "x*", "\\p{L}", "c$", "(a(b)?)+",
];

fn date(rng: &mut Rng) -> Bson {
    match rng.below(8) {
        0 => Bson::ObjectId(oid(1)),
        1 => Bson::Timestamp(Timestamp {
            time: rng.pick(&[0, 1, 1_600_000_000, u32::MAX]),
            increment: 3,
        }),
        2 => scalar(rng),
        _ => Bson::DateTime(DateTime::from_millis(rng.pick(MILLIS))),
    }
}

/// A document whose fields are a date, a word, an array, a document, a number and anything.
pub(crate) fn stored(rng: &mut Rng, id: i32) -> Document {
    let list: Vec<_> = (0..rng.below(6))
        .map(|_| {
            if rng.chance(70) {
                number(rng)
            } else {
                value(rng, 1)
            }
        })
        .collect();
    let rows: Vec<_> = (0..rng.below(5))
        .map(|_| {
            let pair = doc! { "k": rng.pick(&["a", "b", "a.b", "", "$c"]), "v": scalar(rng) };
            Bson::from(pair)
        })
        .collect();
    doc! { "_id": id, "d": date(rng), "e": date(rng), "s": rng.pick(TEXTS), "t": rng.pick(TEXTS), "l": list, "r": rows, "o": value(rng, 2), "n": number(rng), "v": value(rng, 2) }
}

/// The field, or now and then something else.
fn of(rng: &mut Rng, field: &str) -> Bson {
    match rng.below(14) {
        0 => expression(rng, 1),
        1 => Bson::from(rng.pick(&["$d", "$s", "$l", "$r", "$o", "$n", "$v", "$nope"])),
        _ => Bson::from(field),
    }
}

fn count(rng: &mut Rng) -> Bson {
    match rng.below(6) {
        0 => number(rng),
        1 => "$n".into(),
        _ => rng.int(-3, 12).into(),
    }
}

fn text(rng: &mut Rng) -> Bson {
    match rng.below(5) {
        0 => of(rng, "$s"),
        1 => of(rng, "$t"),
        _ => Bson::from(rng.pick(TEXTS)).literal(),
    }
}

trait Literal {
    fn literal(self) -> Self;
}

impl Literal for Bson {
    /// As it is, whatever it begins with.
    fn literal(self) -> Self {
        doc! { "$literal": self }.into()
    }
}

fn zone(rng: &mut Rng, out: &mut Document) {
    if rng.chance(60) {
        out.insert(
            "timezone",
            if rng.chance(92) {
                Bson::from(rng.pick(ZONES))
            } else {
                of(rng, "$s")
            },
        );
    }
}

pub(crate) fn dates(rng: &mut Rng) -> Bson {
    let mut out = Document::new();
    let name = match rng.below(12) {
        0 => {
            out.insert("date", of(rng, "$d"));
            zone(rng, &mut out);
            rng.pick(&[
                "$year",
                "$month",
                "$week",
                "$dayOfMonth",
                "$dayOfWeek",
                "$dayOfYear",
                "$hour",
                "$minute",
                "$second",
                "$millisecond",
                "$isoWeek",
                "$isoWeekYear",
                "$isoDayOfWeek",
            ])
        }
        1 => {
            out.insert("date", of(rng, "$d"));
            zone(rng, &mut out);
            if rng.chance(30) {
                out.insert("iso8601", rng.chance(60));
            }
            "$dateToParts"
        }
        2 | 3 => {
            out.insert("date", of(rng, "$d"));
            if rng.chance(80) {
                out.insert("format", rng.pick(FORMATS));
            }
            zone(rng, &mut out);
            if rng.chance(30) {
                out.insert("onNull", of(rng, "$s"));
            }
            "$dateToString"
        }
        4 | 5 => {
            out.insert("startDate", of(rng, "$d"));
            out.insert("unit", rng.pick(UNITS));
            out.insert(
                "amount",
                if rng.chance(20) {
                    Bson::Int64(rng.pick(&[i64::MAX, i64::MIN, 1 << 40, -(1 << 33)]))
                } else {
                    count(rng)
                },
            );
            zone(rng, &mut out);
            rng.pick(&["$dateAdd", "$dateSubtract"])
        }
        6 => {
            out.insert("startDate", of(rng, "$d"));
            out.insert("endDate", of(rng, "$e"));
            out.insert("unit", rng.pick(UNITS));
            zone(rng, &mut out);
            if rng.chance(40) {
                out.insert(
                    "startOfWeek",
                    rng.pick(&["monday", "sun", "Friday", "zork"]),
                );
            }
            "$dateDiff"
        }
        7 | 8 => {
            out.insert("date", of(rng, "$d"));
            out.insert("unit", rng.pick(UNITS));
            if rng.chance(50) {
                out.insert("binSize", count(rng));
            }
            zone(rng, &mut out);
            if rng.chance(40) {
                out.insert(
                    "startOfWeek",
                    rng.pick(&["monday", "sun", "Friday", "zork"]),
                );
            }
            "$dateTrunc"
        }
        9 => {
            let iso = rng.chance(30);
            out.insert(
                if iso { "isoWeekYear" } else { "year" },
                if rng.chance(80) {
                    Bson::from(rng.pick(&[2020, 1, 0, 9999, 10_000, 1969]))
                } else {
                    count(rng)
                },
            );
            for part in if iso {
                &["isoWeek", "isoDayOfWeek", "hour"][..]
            } else {
                &["month", "day", "hour", "minute", "second", "millisecond"][..]
            } {
                if rng.chance(40) {
                    out.insert(
                        *part,
                        if rng.chance(10) {
                            Bson::from(rng.pick(&[32767, -32768, 32768, 100_000]))
                        } else {
                            count(rng)
                        },
                    );
                }
            }
            zone(rng, &mut out);
            "$dateFromParts"
        }
        10 => {
            out.insert(
                "dateString",
                if rng.chance(80) {
                    Bson::from(rng.pick(DATES))
                } else {
                    of(rng, "$s")
                },
            );
            if rng.chance(30) {
                out.insert("format", rng.pick(FORMATS));
            }
            zone(rng, &mut out);
            if rng.chance(40) {
                out.insert("onError", "error");
            }
            if rng.chance(30) {
                out.insert("onNull", "null");
            }
            "$dateFromString"
        }
        _ => {
            let one = of(rng, "$d");
            let two = match rng.below(3) {
                0 => of(rng, "$e"),
                1 => number(rng),
                _ => of(rng, "$n"),
            };
            return match rng.below(4) {
                0 => doc! { "$add": [one, two] },
                1 => doc! { "$subtract": [one, two] },
                2 => doc! { rng.pick(&["$tsSecond", "$tsIncrement", "$toDate", "$toLong", "$toString", "$type"]): one },
                _ => doc! { rng.pick(&["$gt", "$cmp", "$max", "$min"]): [one, two] },
            }
            .into();
        }
    };
    if rng.chance(4) {
        out.insert("zork", 1);
    }
    doc! { name: out }.into()
}

pub(crate) fn texts(rng: &mut Rng) -> Bson {
    let one = text(rng);
    match rng.below(14) {
        0 => doc! { rng.pick(&["$substrCP", "$substrBytes", "$substr"]): [one, count(rng), count(rng)] },
        1 => doc! { rng.pick(&["$indexOfCP", "$indexOfBytes"]): [one, text(rng), count(rng), count(rng)] },
        2 => doc! { rng.pick(&["$indexOfCP", "$indexOfBytes"]): [one, text(rng)] },
        3 => doc! { "$split": [one, text(rng)] },
        4 => doc! { rng.pick(&["$trim", "$ltrim", "$rtrim"]): { "input": one, "chars": text(rng) } },
        5 => doc! { rng.pick(&["$trim", "$ltrim", "$rtrim"]): { "input": one } },
        6 | 7 => {
            let mut out = doc! { "input": one, "regex": rng.pick(PATTERNS) };
            if rng.chance(40) {
                out.insert("options", rng.pick(&["i", "m", "s", "x", "z", ""]));
            }
            doc! { rng.pick(&["$regexMatch", "$regexFind", "$regexFindAll"]): out }
        }
        8 => doc! { rng.pick(&["$replaceOne", "$replaceAll"]): { "input": one, "find": text(rng), "replacement": text(rng) } },
        9 => doc! { rng.pick(&["$toLower", "$toUpper", "$strLenCP", "$strLenBytes", "$binarySize", "$type", "$toBool"]): one },
        10 => doc! { "$concat": [one, text(rng), text(rng)] },
        11 => doc! { rng.pick(&["$strcasecmp", "$cmp", "$eq", "$max"]): [one, text(rng)] },
        12 => doc! { rng.pick(&["$toInt", "$toLong", "$toDouble", "$toDecimal", "$toDate", "$toObjectId", "$toString"]): one },
        _ => doc! { "$convert": { "input": one, "to": rng.pick(&["int", "long", "double", "decimal", "date", "objectId", "bool", "string", "zork", "binData", "missing"]), "onError": of(rng, "$n") } },
    }
    .into()
}

pub(crate) fn arrays(rng: &mut Rng) -> Bson {
    let field = if rng.chance(70) { "$l" } else { "$r" };
    let list = of(rng, field);
    match rng.below(20) {
        0 => doc! { rng.pick(&["$firstN", "$lastN", "$maxN", "$minN"]): { "input": list, "n": count(rng) } },
        1 => doc! { "$slice": [list, count(rng)] },
        2 => doc! { "$slice": [list, count(rng), count(rng)] },
        3 => doc! { "$range": [count(rng), count(rng), count(rng)] },
        4 => doc! { "$indexOfArray": [list, of(rng, "$n"), count(rng), count(rng)] },
        5 => doc! { "$arrayElemAt": [list, count(rng)] },
        6 => doc! { "$filter": { "input": list, "cond": { rng.pick(&["$gt", "$lt", "$ne"]): ["$$this", of(rng, "$n")] }, "limit": count(rng) } },
        7 => doc! { "$map": { "input": list, "in": { rng.pick(&["$add", "$cmp", "$mod", "$concat"]): ["$$this", of(rng, "$n")] } } },
        8 => doc! { "$reduce": { "input": list, "initialValue": rng.pick(&[Bson::from(0), Bson::Array(vec![]), "".into(), Bson::Null]), "in": { rng.pick(&["$add", "$concatArrays", "$concat", "$max", "$multiply"]): ["$$value", rng.pick(&[Bson::from("$$this"), vec!["$$this"].into()])] } } },
        9 => doc! { "$sortArray": { "input": list, "sortBy": rng.pick(&[Bson::from(1), (-1).into(), 0.into(), doc! { "k": 1 }.into(), doc! { "v": -1, "k": 1 }.into(), doc! { "v.a": 1 }.into(), doc! {}.into()]) } },
        10 => doc! { "$zip": { "inputs": [list, of(rng, "$r")], "useLongestLength": true, "defaults": [of(rng, "$n"), rng.int(0, 1)] } },
        11 => doc! { "$zip": { "inputs": [list, of(rng, "$l"), ["x"]] } },
        12 => doc! { rng.pick(&["$arrayToObject", "$objectToArray", "$reverseArray", "$size", "$first", "$last", "$isArray", "$sum", "$avg", "$max", "$min", "$stdDevPop", "$stdDevSamp", "$allElementsTrue", "$anyElementTrue"]): list },
        13 => doc! { rng.pick(&["$setUnion", "$setIntersection", "$setDifference", "$setEquals", "$setIsSubset"]): [list, of(rng, "$l")] },
        14 => doc! { "$concatArrays": [list, of(rng, "$r")] },
        15 => doc! { "$in": [of(rng, "$n"), list] },
        16 => doc! { "$mergeObjects": [of(rng, "$o"), of(rng, "$v")] },
        17 => doc! { "$arrayToObject": { "$map": { "input": list, "in": [rng.pick(&["a", "b", ""]), "$$this"] } } },
        18 => {
            let name = Bson::from(rng.pick(&["a", "b", "", "$c", "a.b"])).literal();
            doc! { rng.pick(&["$getField", "$unsetField"]): { "field": name, "input": of(rng, "$o") } }
        }
        _ => doc! { "$setField": { "field": { "$literal": rng.pick(&["a", "b", "", "$c", "a.b"]) }, "input": of(rng, "$o"), "value": rng.pick(&["$n", "$$REMOVE", "$l"]) } },
    }
    .into()
}

pub(crate) fn conversions(rng: &mut Rng) -> Bson {
    const KINDS: &[&str] = &[
        "int", "long", "double", "decimal", "string", "bool", "date", "objectId", "array",
        "object", "null", "minKey", "zork", "regex", "number",
    ];
    let one = match rng.below(5) {
        0 => of(rng, "$n"),
        1 => of(rng, "$v"),
        2 => of(rng, "$d"),
        _ => scalar(rng).literal(),
    };
    match rng.below(6) {
        0 => doc! { rng.pick(&["$toInt", "$toLong", "$toDouble", "$toDecimal", "$toString", "$toBool", "$toDate", "$toObjectId", "$type", "$isNumber", "$toHashedIndexKey", "$bsonSize"]): one },
        1 | 2 => {
            let to = match rng.below(4) {
                0 => Bson::Int32(rng.pick(&[-1, 1, 2, 3, 7, 8, 9, 10, 16, 18, 19, 127, 20])),
                1 => number(rng),
                _ => Bson::from(rng.pick(KINDS)),
            };
            let mut out = doc! { "input": one, "to": to };
            if rng.chance(40) {
                out.insert("onError", of(rng, "$s"));
            }
            if rng.chance(40) {
                out.insert("onNull", of(rng, "$s"));
            }
            doc! { "$convert": out }
        }
        3 => doc! { rng.pick(&["$pow", "$log", "$mod", "$divide", "$atan2", "$subtract"]): [one, of(rng, "$n")] },
        4 => doc! { rng.pick(&["$round", "$trunc"]): [one, count(rng)] },
        _ => doc! { rng.pick(&["$abs", "$ceil", "$floor", "$sqrt", "$exp", "$ln", "$log10", "$sin", "$cos", "$tan", "$asin", "$acos", "$atan", "$sinh", "$cosh", "$tanh", "$asinh", "$acosh", "$atanh", "$degreesToRadians", "$radiansToDegrees"]): one },
    }
    .into()
}
