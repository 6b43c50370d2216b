//! MongoDB's total order of BSON values.

use std::cmp::Ordering;

use bson::{
    Document, RawArray, RawBsonRef, RawDocument, RawDocumentBuf, raw::RawBinaryRef, raw::cstr,
    spec::BinarySubtype,
};

use crate::value::bson_type::Bracket;
use crate::value::collation::Collator;
use crate::value::number::{Number, compare_doubles};
use crate::value::raw::{self, Elements};

/// Compares two values: by bracket, then by value; numbers of all types by their exact value.
///
/// Missing values have no place in this order: callers pass null where MongoDB treats a missing value as null.
pub fn compare(a: RawBsonRef<'_>, b: RawBsonRef<'_>, collator: Option<&Collator>) -> Ordering {
    use RawBsonRef as R;
    match (a, b) {
        (R::Double(a), R::Double(b)) => compare_doubles(a, b),
        (R::String(a) | R::Symbol(a), R::String(b) | R::Symbol(b)) => match collator {
            Some(collator) => collator.compare(a, b),
            None => a.cmp(b),
        },
        (R::Document(a), R::Document(b)) => compare_documents(a, b, collator),
        (R::Array(a), R::Array(b)) => compare_arrays(a, b, collator),
        (R::Binary(a), R::Binary(b)) => binary_key(a).cmp(&binary_key(b)),
        (R::ObjectId(a), R::ObjectId(b)) => a.bytes().cmp(&b.bytes()),
        (R::Boolean(a), R::Boolean(b)) => a.cmp(&b),
        (R::DateTime(a), R::DateTime(b)) => a.timestamp_millis().cmp(&b.timestamp_millis()),
        (R::RegularExpression(a), R::RegularExpression(b)) => {
            (a.pattern.as_str(), a.options.as_str()).cmp(&(b.pattern.as_str(), b.options.as_str()))
        }
        (R::DbPointer(_), R::DbPointer(_)) => db_pointer_key(a).cmp(&db_pointer_key(b)),
        (R::JavaScriptCode(a), R::JavaScriptCode(b)) => a.cmp(b),
        (R::JavaScriptCodeWithScope(a), R::JavaScriptCodeWithScope(b)) => a
            .code
            .cmp(b.code)
            .then_with(|| compare_documents(a.scope, b.scope, collator)),
        (R::Int32(a), R::Int32(b)) => a.cmp(&b),
        (R::Timestamp(a), R::Timestamp(b)) => (a.time, a.increment).cmp(&(b.time, b.increment)),
        (R::Int64(a), R::Int64(b)) => a.cmp(&b),
        _ => match (Number::from_raw(a), Number::from_raw(b)) {
            (Some(a), Some(b)) => a.compare(b),
            _ => Bracket::of(a).cmp(&Bracket::of(b)),
        },
    }
}

/// Compares two documents element by element: bracket, then field name, then value.
pub fn compare_documents(
    a: &RawDocument,
    b: &RawDocument,
    collator: Option<&Collator>,
) -> Ordering {
    compare_elements(raw::walk(a), raw::walk(b), true, collator)
}

/// Compares two arrays element by element.
pub fn compare_arrays(a: &RawArray, b: &RawArray, collator: Option<&Collator>) -> Ordering {
    compare_elements(raw::walk_array(a), raw::walk_array(b), false, collator)
}

/// Whether two values are equal in the order: `1` and `1.0` are.
pub fn equal(a: RawBsonRef<'_>, b: RawBsonRef<'_>, collator: Option<&Collator>) -> bool {
    compare(a, b, collator) == Ordering::Equal
}

/// Compares two decoded documents.
pub fn compare_decoded(a: &Document, b: &Document) -> Ordering {
    match (RawDocumentBuf::try_from(a), RawDocumentBuf::try_from(b)) {
        (Ok(a), Ok(b)) => compare_documents(&a, &b, None),
        (a, b) => a.is_ok().cmp(&b.is_ok()),
    }
}

fn compare_elements(
    mut a: Elements<'_>,
    mut b: Elements<'_>,
    names: bool,
    collator: Option<&Collator>,
) -> Ordering {
    loop {
        let (a, b) = match (a.next(), b.next()) {
            (None, None) => return Ordering::Equal,
            (None, Some(_)) => return Ordering::Less,
            (Some(_), None) => return Ordering::Greater,
            (Some(a), Some(b)) => (a, b),
        };
        let bracket = |kind: Option<_>| kind.map(Bracket::of_type);
        let order = bracket(a.element_type())
            .cmp(&bracket(b.element_type()))
            .then_with(|| {
                if names {
                    a.key_bytes().cmp(b.key_bytes())
                } else {
                    Ordering::Equal
                }
            })
            .then_with(|| match (a.value(), b.value()) {
                (Some(a), Some(b)) => compare(a, b, collator),
                _ => a.value_bytes().cmp(b.value_bytes()),
            });
        if order != Ordering::Equal {
            return order;
        }
    }
}

/// The sort key of binary data: length, subtype, bytes. The length is the stored one, which for the old subtype
/// includes the inner length prefix.
fn binary_key(value: RawBinaryRef<'_>) -> (usize, u8, &[u8]) {
    let inner = match value.subtype {
        BinarySubtype::BinaryOld => 4,
        _ => 0,
    };
    (value.bytes.len() + inner, value.subtype.into(), value.bytes)
}

/// The sort key of a `DBPointer`: the length of its encoding, then the encoded bytes.
pub fn db_pointer_key(value: RawBsonRef<'_>) -> (usize, Vec<u8>) {
    let mut document = RawDocumentBuf::new();
    document.append(cstr!(""), value);
    let bytes = document.into_bytes();
    (bytes.len(), bytes)
}
