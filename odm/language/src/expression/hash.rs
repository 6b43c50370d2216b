//! `$toHashedIndexKey`: the number that mongod's hashed indexes store for a value.
//!
//! It is the first half of an MD5 over a seed of zero, the rank of the value's type, and its bytes. Numbers are hashed
//! as the nearest 64-bit integer, documents and arrays field by field.

use bson::raw::{RawBsonRef, RawDocument};
use bson::spec::ElementType;
use md5::{Digest, Md5};

use crate::expression::operator::{Args, ArgumentForm, Operator, Outcome, owned, row};
use crate::value::decimal::Rounding;
use crate::value::number::Number;
use crate::value::raw::elements;

/// Sorted by name.
pub(super) const OPERATORS: &[Operator] = &[row("$toHashedIndexKey", ArgumentForm::Whole, hashed)];

fn hashed<'a>(args: &mut Args<'a>) -> Outcome<'a> {
    owned(hash(args.or_null(0)))
}

/// The number of a value in a hashed index of mongod.
pub fn hash(value: RawBsonRef<'_>) -> i64 {
    let mut state = Md5::new();
    state.update(0_i32.to_le_bytes());
    feed(&mut state, None, value);
    let digest = state.finalize();
    digest
        .first_chunk()
        .map_or(0, |half| i64::from_le_bytes(*half))
}

fn feed(state: &mut Md5, name: Option<&str>, value: RawBsonRef<'_>) {
    state.update(rank(value.element_type()).to_le_bytes());
    if let Some(name) = name {
        state.update(name);
        state.update([0]);
    }
    if let Some(number) = Number::from_raw(value) {
        state.update(whole(number).to_le_bytes());
        return;
    }
    match value {
        RawBsonRef::Document(document) => feed_all(state, document),
        RawBsonRef::Array(items) => {
            for (index, item) in crate::value::raw::values(items).enumerate() {
                feed(state, Some(&index.to_string()), item);
            }
            state.update(0_i32.to_le_bytes());
        }
        RawBsonRef::JavaScriptCodeWithScope(code) => {
            state.update(code.code);
            state.update([0]);
            feed_all(state, code.scope);
        }
        // The bytes of the value inside a document: after the length, the type and an empty name.
        other => {
            let mut document = bson::RawDocumentBuf::new();
            document.append(bson::raw::cstr!(""), other);
            let bytes = document.as_bytes();
            let stored = bytes.get(6..bytes.len().saturating_sub(1));
            state.update(stored.unwrap_or_default());
        }
    }
}

fn feed_all(state: &mut Md5, document: &RawDocument) {
    for (name, value) in elements(document) {
        feed(state, Some(name), value);
    }
    state.update(0_i32.to_le_bytes());
}

const TWO_63: f64 = 9_223_372_036_854_775_808.0;

/// A number as a 64-bit integer: doubles are truncated, decimals are rounded, and both saturate.
fn whole(number: Number) -> i64 {
    if number.is_nan() {
        return 0;
    }
    let rounded = match number {
        Number::Decimal(decimal) => Number::Decimal(decimal.quantize(0, Rounding::HalfEven)),
        other => other,
    };
    // mongod wraps the double 2^63 around to the smallest integer.
    let wraps = matches!(number, Number::Double(n) if n.total_cmp(&TWO_63).is_eq());
    let limit = if wraps || number.compare(Number::Int32(0)).is_lt() {
        i64::MIN
    } else {
        i64::MAX
    };
    rounded.to_i64_truncated().unwrap_or(limit)
}

/// The rank of a type among all types.
fn rank(kind: ElementType) -> i32 {
    match kind {
        ElementType::MinKey => -1,
        ElementType::MaxKey => 127,
        ElementType::Undefined => 0,
        ElementType::Null => 5,
        ElementType::Double | ElementType::Int32 | ElementType::Int64 | ElementType::Decimal128 => {
            10
        }
        ElementType::String | ElementType::Symbol => 15,
        ElementType::EmbeddedDocument => 20,
        ElementType::Array => 25,
        ElementType::Binary => 30,
        ElementType::ObjectId => 35,
        ElementType::Boolean => 40,
        ElementType::DateTime => 45,
        ElementType::Timestamp => 47,
        ElementType::RegularExpression => 50,
        ElementType::DbPointer => 55,
        ElementType::JavaScriptCode => 60,
        ElementType::JavaScriptCodeWithScope => 65,
    }
}
