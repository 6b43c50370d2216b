//! Extended JSON, read strictly: a document with a key of it is that value and nothing more, or is refused.
//!
//! bson reads a value as soon as it meets such a key, and loses the fields beside it, digits below a millisecond, and the
//! signs of `"-+1"`.

use std::fmt;

use bson::{Bson, DateTime, Document, JavaScriptCodeWithScope, doc};
use odm_language::value::decimal::Decimal;
use odm_language::value::raw::MAX_DEPTH;
use serde::Deserializer;
use serde::de::{self, DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor};

/// The field names that mark a document as the spelling of another value.
const MARKS: [&str; 16] = [
    "$oid",
    "$symbol",
    "$regularExpression",
    "$numberInt",
    "$numberLong",
    "$numberDouble",
    "$numberDecimal",
    "$binary",
    "$uuid",
    "$code",
    "$timestamp",
    "$date",
    "$minKey",
    "$maxKey",
    "$dbPointer",
    "$undefined",
];

/// Reads a value at this depth.
#[derive(Clone, Copy)]
pub(crate) struct Nested {
    depth: usize,
    /// Whether a document with a mark is the value that it spells.
    spells: bool,
}

impl Nested {
    /// A document that is in no other.
    pub(crate) const TOP: Self = Self {
        depth: 1,
        spells: true,
    };

    /// The same, in which no key has a meaning yet; see [`spelled`].
    pub(super) const AS_WRITTEN: Self = Self {
        depth: 1,
        spells: false,
    };

    fn deeper<E: de::Error>(self) -> Result<Self, E> {
        // Values that are spelled as documents add levels to the text, so the limit here is larger.
        if self.depth > MAX_DEPTH + 2 {
            return Err(E::custom(format!(
                "documents nest {MAX_DEPTH} deep at most"
            )));
        }
        Ok(Self {
            depth: self.depth + 1,
            ..self
        })
    }
}

impl<'de> DeserializeSeed<'de> for Nested {
    type Value = Bson;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Bson, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Nested {
    type Value = Bson;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Bson, E> {
        Ok(Bson::Null)
    }

    fn visit_none<E>(self) -> Result<Bson, E> {
        Ok(Bson::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, reader: D) -> Result<Bson, D::Error> {
        reader.deserialize_any(self)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, reader: D) -> Result<Bson, D::Error> {
        reader.deserialize_any(self)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Bson, E> {
        Ok(Bson::Boolean(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Bson, E> {
        Ok(i32::try_from(value).map_or(Bson::Int64(value), Bson::Int32))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Bson, E> {
        match i64::try_from(value) {
            Ok(value) => self.visit_i64(value),
            Err(_) => Err(E::custom(format!(
                "{value} is not a 64-bit integer: write it with a fraction, as a double, or as a $numberDecimal"
            ))),
        }
    }

    fn visit_f64<E>(self, value: f64) -> Result<Bson, E> {
        Ok(Bson::Double(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Bson, E> {
        Ok(Bson::String(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Bson, A::Error> {
        let inner = self.deeper()?;
        let mut array = Vec::new();
        while let Some(value) = elements.next_element_seed(inner)? {
            array.push(value);
        }
        Ok(Bson::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Bson, A::Error> {
        let inner = self.deeper()?;
        let mut document = Document::new();
        while let Some(name) = fields.next_key::<String>()? {
            if name.contains('\0') {
                return Err(A::Error::custom(format!(
                    "the name {name:?} contains a NUL"
                )));
            }
            if document.contains_key(&name) {
                return Err(A::Error::custom(format!("the field `{name}` occurs twice")));
            }
            let value = fields.next_value_seed(inner)?;
            document.insert(name, value);
        }
        if self.spells {
            return whole(document).map_err(A::Error::custom);
        }
        Ok(Bson::Document(document))
    }
}

/// The value that Extended JSON spells, with the values in it.
pub(super) fn spelled(value: Bson) -> Result<Bson, String> {
    match value {
        Bson::Array(values) => {
            let values = values.into_iter().map(spelled);
            values.collect::<Result<_, _>>().map(Bson::Array)
        }
        Bson::Document(document) => {
            let fields = document
                .into_iter()
                .map(|(name, value)| Ok((name, spelled(value)?)));
            whole(fields.collect::<Result<_, String>>()?)
        }
        other => Ok(other),
    }
}

/// What a document spells in which all values are converted.
fn whole(document: Document) -> Result<Bson, String> {
    match marked(&document) {
        Some(mark) => value(mark, document).map_err(|why| format!("invalid {mark}: {why}")),
        None => Ok(Bson::Document(document)),
    }
}

/// The mark of a document that spells another value.
pub(super) fn marked(document: &Document) -> Option<&'static str> {
    let name = document.keys().find(|name| name.starts_with('$'))?;
    // In metadata, most names that begin with `$` are operators.
    let known = |name: &&'static str| document.contains_key(name);
    MARKS
        .into_iter()
        .find(|mark| mark == name)
        .or_else(|| MARKS.into_iter().find(known))
}

/// The value that a document with one of the marks spells.
fn value(mark: &str, mut document: Document) -> Result<Bson, String> {
    match mark {
        "$code" => {
            // Keeps the order of the scope's fields, which the conversion below would lose.
            if let Some(Bson::Document(scope)) = document.get("$scope")
                && let Some(Bson::String(code)) = document.get("$code")
                && document.len() == 2
            {
                let (code, scope) = (code.clone(), scope.clone());
                return Ok(JavaScriptCodeWithScope { code, scope }.into());
            }
        }
        "$binary" => {
            if let Some(Bson::String(base64)) = document.get("$binary")
                && let Some(kind) = document.get("$type")
                && document.len() == 2
            {
                let subtype = match kind {
                    Bson::Int32(kind) => format!("{kind:02x}"),
                    Bson::String(kind) => format!("{kind:0>2}"),
                    other => return Err(format!("$type is {other}")),
                };
                document = doc! { mark: { "base64": base64, "subType": subtype } };
            }
        }
        "$date" => {
            if let Some(Bson::String(date)) = document.get_mut("$date") {
                punctuate_offset(date);
                instant(date)?;
            }
        }
        "$numberDecimal" => {
            if let Some(Bson::String(text)) = document.get("$numberDecimal")
                && Decimal::read_exact(text).is_none()
            {
                return Err(format!("{text:?} is not a decimal number"));
            }
        }
        _ => {}
    }
    // Values inside are already converted; here they are spelled again for bson's own conversion.
    Bson::try_from(serde_json::Value::from(Bson::Document(document)))
        .map_err(|error| error.to_string())
}

/// `+0100`, as older tools write the offset of a date, to `+01:00`.
fn punctuate_offset(date: &mut String) {
    let is_bare = date
        .len()
        .checked_sub(5)
        .and_then(|at| date.get(at..))
        .and_then(|offset| offset.strip_prefix(['+', '-']))
        .is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
    if is_bare {
        date.insert(date.len() - 2, ':');
    }
}

/// The date that a text in the form of RFC 3339 shows. The error says what is wrong with the text.
pub(super) fn instant(text: &str) -> Result<DateTime, String> {
    let date = DateTime::parse_rfc3339_str(text)
        .map_err(|_| format!("{text:?} is not a date in the form of RFC 3339"))?;
    // Digits before the offset are those of the fraction.
    let fraction = text.split_once('.').map_or("", |(_, rest)| rest);
    let below = fraction.bytes().take_while(u8::is_ascii_digit).skip(3);
    if below.into_iter().any(|digit| digit != b'0') {
        return Err(format!(
            "{text:?} has a fraction of a millisecond, which no date of BSON has"
        ));
    }
    Ok(date)
}
