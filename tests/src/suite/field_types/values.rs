//! The values that are stored: those near the ends of ranges, and random ones.

use odm::bson::oid::ObjectId;
use odm::bson::spec::BinarySubtype;
use odm::bson::{
    Binary, Bson, DateTime, Decimal128, Document as BsonDocument, Regex, Timestamp, doc,
};

use crate::random::Random;

impl Random {
    /// A text like `like`, of which some characters are another, missing or doubled.
    fn text(&mut self, like: &str) -> String {
        let mut text = String::new();
        for each in like.chars() {
            match self.below(12) {
                0 => {}
                1 => text.push(char::from(b'0' + u8::try_from(self.below(10)).unwrap())),
                2 => text.extend([each, each]),
                _ => text.push(each),
            }
        }
        text
    }

    pub(super) fn value(&mut self, like: &[Bson]) -> Bson {
        let bits = i64::from_ne_bytes(self.next().to_ne_bytes());
        let small = bits >> self.below(64);
        let kind = self.below(7);
        let mut decimal = |digits: usize| -> Decimal128 {
            let digits: String = (0..=self.below(digits))
                .map(|_| char::from(b'0' + u8::try_from(self.below(10)).unwrap()))
                .collect();
            let exponent = i64::try_from(self.below(64)).unwrap() - 40;
            format!("{digits}E{exponent}").parse().unwrap()
        };
        match kind {
            0 => Bson::Int64(small),
            1 => Bson::Int32(i32::try_from(small).unwrap_or(7)),
            2 => Bson::Double(f64::from_bits(u64::from_ne_bytes(bits.to_ne_bytes()))),
            3 => Bson::Double(i32::try_from(small).map_or(0.5, f64::from)),
            4 => Bson::Decimal128(decimal(34)),
            _ => match like.get(self.below(like.len())) {
                Some(Bson::String(text)) => Bson::String(self.text(text)),
                Some(Bson::Document(fields)) => Bson::Document(self.document(fields)),
                Some(Bson::Array(values)) if !values.is_empty() => Bson::Array(self.list(values)),
                _ => Bson::Int64(bits),
            },
        }
    }

    /// A document like `like`, with one other value or without it.
    fn document(&mut self, like: &BsonDocument) -> BsonDocument {
        let mut document = like.clone();
        let at = self.below(like.len());
        if let Some((name, value)) = like.iter().nth(at) {
            if self.below(8) == 0 {
                document.remove(name);
            } else {
                document.insert(name, self.value(std::slice::from_ref(value)));
            }
        }
        document
    }

    fn list(&mut self, like: &[Bson]) -> Vec<Bson> {
        let mut list = like.to_vec();
        let at = self.below(list.len());
        match self.below(6) {
            0 => {
                list.remove(at);
            }
            1 => list.push(list[at].clone()),
            _ => list[at] = self.value(&like[at..=at]),
        }
        list
    }
}

/// Values of every BSON type, and those near the ends of the ranges of the types below.
pub(super) fn ends() -> Vec<Bson> {
    let ends: [i64; 19] = [
        0,
        90,
        1_080,
        180,
        0x7F,
        0x80,
        0xFF,
        0x7FFF,
        0x8000,
        0xFFFF,
        0x7FFF_FFFF,
        0x8000_0000,
        0xFFFF_FFFF,
        i64::MAX / 1_000,
        i64::MAX / 1_000 + 1,
        i64::MAX - 1,
        1 << 53,
        7,
        100_000,
    ];
    let mut values = vec![
        Bson::Null,
        Bson::MinKey,
        Bson::MaxKey,
        Bson::Boolean(true),
        Bson::Int64(i64::MIN),
        ObjectId::from_bytes([7; 12]).into(),
        DateTime::from_millis(7).into(),
        Bson::Timestamp(Timestamp {
            time: 7,
            increment: 7,
        }),
        Bson::RegularExpression(Regex {
            pattern: "a".try_into().unwrap(),
            options: "".try_into().unwrap(),
        }),
        Bson::Binary(Binary {
            subtype: BinarySubtype::Generic,
            bytes: vec![7; 4],
        }),
        doc! {}.into(),
        doc! {"a": 7, "b": 300, "-1": 7, "07": 7, "7": 7}.into(),
        Bson::Array(vec![]),
        vec![1, 2].into(),
        vec![Bson::from("a"), 300.into(), (-1).into()].into(),
    ];
    for end in ends
        .into_iter()
        .flat_map(|end| [end - 1, end, end.saturating_add(1)])
        .flat_map(|end| [end, -end])
    {
        values.push(Bson::Int64(end));
        values.extend(i32::try_from(end).ok().map(Bson::Int32));
        values.extend(
            i32::try_from(end)
                .ok()
                .into_iter()
                .flat_map(|end| [f64::from(end), f64::from(end) + 0.5].map(Bson::Double)),
        );
    }
    values.extend(
        [
            f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::MAX,
            -0.0,
            1e300,
        ]
        .map(Bson::Double),
    );
    let nines = "9".repeat(34);
    let most = ((1_u128 << 96) - 1).to_string();
    for text in [
        "0",
        "-0",
        "1",
        "-1",
        "1.5",
        "1E+3",
        "1.50E-1",
        "NaN",
        "Infinity",
        "-Infinity",
        "1E-28",
        "1E-29",
        "0E-40",
        "1E+29",
        "0.0000000000000000000000000001000000",
        "333333.3333333333333333333333333333",
        "3.3333333333333333333333333333",
        &format!("{nines}E+1"),
        &nines,
        &format!("-{nines}"),
        &most,
        &format!("{most}E-28"),
        &format!("{most}E+1"),
        "79228162514264337593543950336",
        "7922816251426433759354395033.6",
        "7.9228162514264337593543950336",
    ] {
        values.push(Bson::Decimal128(text.parse().unwrap()));
    }
    for text in [
        "",
        "a",
        "ab",
        "ß",
        "\u{1F600}",
        "a\n",
        "\n",
        "\0",
        "2026-11-23",
        "2026-11-23\n",
        "2023-02-29",
        "2024-02-29",
        "1900-02-29",
        "2000-02-29",
        "2026-13-01",
        "2026-00-10",
        "2026-04-31",
        "0000-01-01",
        "12026-01-01",
        "２026-11-23",
        "09:30:00",
        "24:00:00",
        "09:60:00",
        "09:30:60",
        "09:30:00.",
        "09:30:00.123456789",
        "09:30:00.1234567890",
        "2026-11-23T09:30:00",
        "2026-11-23t09:30:00",
        "67e55044-10b1-426f-9247-bb680e5fe0c8",
        "67E55044-10b1-426f-9247-bb680e5fe0c8",
        "67e5504410b1426f9247bb680e5fe0c8",
        "USD",
        "usd",
        "XXY",
        "KWD",
        "EUR",
        "10.0.0.7",
        "10.0.0.07",
        "256.0.0.1",
        "One",
        "Two",
        "Three",
        "000000000000000000000000000000000000007",
    ] {
        values.push(text.into());
    }
    values
}
