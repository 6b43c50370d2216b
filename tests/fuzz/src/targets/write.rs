//! Documents into BSON: the bytes that bson writes, and its refusals.

use odm::bson::raw::RawDocumentBuf;
use odm::bson::{Bson, Document};
use odm::support::bytes;

use crate::draw::Draw;
use crate::targets::DEPTH;

pub fn write(data: &[u8]) {
    let mut draw = Draw::new(data);
    let mut document = Document::new();
    for _ in 0..draw.below(5) {
        let value = draw.value(DEPTH);
        let kind = draw.below(2);
        let value = draw.wrapped(value, |value| match kind {
            0 => Bson::Array(vec![value, Bson::Null]),
            _ => odm::bson::doc! { "a": value }.into(),
        });
        document.insert(draw.text(), value);
    }
    let ours = bytes::write(&document);
    let theirs = RawDocumentBuf::try_from(&document);
    match (ours, theirs) {
        (Ok(ours), Ok(theirs)) => assert_eq!(ours, theirs, "{document}"),
        (Err(ours), Err(theirs)) => assert_eq!(ours.to_string(), theirs.to_string()),
        (ours, theirs) => panic!("{ours:?}, but bson: {theirs:?}"),
    }
}
