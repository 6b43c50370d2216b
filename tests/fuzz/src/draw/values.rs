//! Values that are no documents of words: numbers, text, and BSON as it comes.

use arbitrary::Arbitrary;
use odm::bson::oid::ObjectId;
use odm::bson::raw::{CStr, RawArrayBuf, RawBson, RawDocumentBuf};
use odm::bson::spec::BinarySubtype;
use odm::bson::{
    Binary, Bson, DateTime, Decimal128, JavaScriptCodeWithScope, Regex, Timestamp, doc,
};

use crate::draw::Draw;
use crate::words::{PATHS, PATTERNS, REFERENCES, STRINGS, TYPES};

impl<'a> Draw<'a> {
    /// Any value of a type that bytes may be.
    pub fn number<T: Arbitrary<'a> + Default>(&mut self) -> T {
        self.bytes.arbitrary().unwrap_or_default()
    }

    fn long(&mut self) -> i64 {
        const EDGES: &[i64] = &[
            0,
            1,
            2,
            -1,
            3,
            10,
            100,
            1000,
            i32::MAX as i64,
            i32::MIN as i64,
            i64::MAX,
            i64::MIN,
            1 << 53,
            1_700_000_000_000,
            253_402_300_800_000,
            -62_135_596_800_001,
        ];
        if self.one_in(4) {
            self.bytes.arbitrary().unwrap_or(0)
        } else {
            EDGES[self.below(EDGES.len())]
        }
    }

    pub(super) fn double(&mut self) -> f64 {
        const EDGES: &[f64] = &[
            0.0,
            -0.0,
            1.0,
            0.5,
            1.5,
            -1.0,
            f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::MAX,
            f64::MIN_POSITIVE,
            9.223_372_036_854_775e18,
            1e-7,
            180.0,
            90.0,
            -90.1,
        ];
        if self.one_in(4) {
            self.bytes.arbitrary().unwrap_or(0.0)
        } else {
            EDGES[self.below(EDGES.len())]
        }
    }

    fn decimal(&mut self) -> Decimal128 {
        const EDGES: &[&str] = &[
            "0",
            "-0",
            "1",
            "1.50",
            "NaN",
            "-NaN",
            "Infinity",
            "-Infinity",
            "9.999999999999999999999999999999999E+6144",
            "1E-6176",
            "0E+6111",
            "0E-6176",
            "12345678901234567890.123",
            "9223372036854775808",
            "1E+34",
            "-2.5",
        ];
        if self.one_in(4) {
            Decimal128::from_bytes(self.bytes.arbitrary().unwrap_or([0; 16]))
        } else {
            self.pick(EDGES).parse().expect("the text of a decimal")
        }
    }

    pub fn text(&mut self) -> String {
        match self.below(12) {
            0 => self
                .bytes
                .arbitrary::<&str>()
                .unwrap_or("")
                .replace('\0', ""),
            1 => self.bytes.arbitrary::<&str>().unwrap_or("").to_owned(),
            2 => self.pick(TYPES).to_owned(),
            3 => self.pick(REFERENCES).to_owned(),
            4 => self.pick(PATHS).to_owned(),
            5 => "ab\u{e9}".repeat(self.below(40)),
            _ => self.pick(STRINGS).to_owned(),
        }
    }

    pub fn pattern(&mut self) -> String {
        let mut pattern = String::new();
        for _ in 0..self.below(12) {
            pattern.push_str(self.pick(PATTERNS));
        }
        if self.one_in(8) {
            pattern = pattern.repeat(self.below(50));
        }
        pattern.replace('\0', "")
    }

    fn regex(&mut self) -> Bson {
        let options = self.pick(&["", "i", "m", "s", "x", "imsx", "u", "g", "xx"]);
        let pattern = self.pattern();
        match (pattern.try_into(), options.to_owned().try_into()) {
            (Ok(pattern), Ok(options)) => Bson::RegularExpression(Regex { pattern, options }),
            _ => Bson::Null,
        }
    }

    /// A value that is neither a document nor an array.
    pub fn leaf(&mut self) -> Bson {
        match self.below(24) {
            0..=3 => Bson::Int32(self.below(5) as i32 - 1),
            4 => Bson::Int32(self.bytes.arbitrary().unwrap_or(0)),
            5 | 6 => Bson::Int64(self.long()),
            7 | 8 => Bson::Double(self.double()),
            9 | 10 => Bson::Decimal128(self.decimal()),
            11..=14 => Bson::String(self.text()),
            15 => Bson::Boolean(self.one_in(2)),
            16 => Bson::Null,
            17 => Bson::DateTime(DateTime::from_millis(self.long())),
            18 => self.regex(),
            19 => Bson::Binary(Binary {
                subtype: [
                    BinarySubtype::Generic,
                    BinarySubtype::Uuid,
                    BinarySubtype::BinaryOld,
                    BinarySubtype::UserDefined(128),
                ][self.below(4)],
                bytes: self.bytes.arbitrary().unwrap_or_default(),
            }),
            20 => Bson::ObjectId(ObjectId::from_bytes(
                self.bytes.arbitrary().unwrap_or([0; 12]),
            )),
            21 => Bson::Timestamp(Timestamp {
                time: self.below(9) as u32,
                increment: self.below(9) as u32,
            }),
            22 => [
                Bson::MinKey,
                Bson::MaxKey,
                Bson::Undefined,
                Bson::Symbol("a".to_owned()),
                Bson::JavaScriptCode("1".to_owned()),
                Bson::JavaScriptCodeWithScope(JavaScriptCodeWithScope {
                    code: "1".to_owned(),
                    scope: doc! { "a": 1 },
                }),
            ][self.below(6)]
            .clone(),
            _ => Bson::String(self.pick(REFERENCES).to_owned()),
        }
    }

    /// A name that is a number, or much like one.
    pub fn index_like(&mut self) -> String {
        let number = self.below(120);
        let mark = self.pick(&["", "", "", "a", "0", "-", "\u{e9}"]);
        match self.below(4) {
            0 => format!("{mark}{number}"),
            _ => format!("{number}{mark}"),
        }
    }

    /// A document that may hold a name twice.
    pub fn raw_document(&mut self, names: &[&str], depth: usize) -> RawDocumentBuf {
        let mut document = RawDocumentBuf::new();
        for _ in 0..self.below(10) {
            let name = self.pick(names);
            let value = match self.below(4) {
                0 if depth > 0 => RawBson::Document(self.raw_document(names, depth - 1)),
                1 if depth > 0 => {
                    let mut array = RawArrayBuf::new();
                    for _ in 0..self.below(4) {
                        match self.below(2) {
                            0 => array.push(self.raw_document(names, depth - 1)),
                            _ => {
                                array.push(RawBson::try_from(self.leaf()).unwrap_or(RawBson::Null))
                            }
                        }
                    }
                    RawBson::Array(array)
                }
                _ => RawBson::try_from(self.leaf()).unwrap_or(RawBson::Null),
            };
            if let Ok(name) = <&CStr>::try_from(name) {
                document.append(name, value);
            }
        }
        document
    }

    /// Changes some bytes.
    pub fn spoil(&mut self, bytes: &mut [u8]) {
        for _ in 0..self.below(4) + 1 {
            let at = self.below(bytes.len());
            if let Some(byte) = bytes.get_mut(at) {
                *byte = self.bytes.arbitrary().unwrap_or(0);
            }
        }
    }

    /// The bytes that are left.
    pub fn rest(&mut self) -> &'a [u8] {
        self.bytes.bytes(self.bytes.len()).unwrap_or_default()
    }
}
