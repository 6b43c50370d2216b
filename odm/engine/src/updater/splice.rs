//! Applies an update's tree to the bytes of a document. Fields that no operator touches are copied unchanged.

use std::mem;
use std::ops::Range;

use bson::raw::{RawDocument, RawDocumentBuf};
use odm_language::error::{Code, ServerError};
use odm_language::value::{raw, raw_writer};
use smallvec::SmallVec;

use crate::updater::Applied;
use crate::updater::conflicts::Fields;
use crate::updater::node::Node;
use crate::updater::operator::{Effect, OperatorContext};
use crate::updater::walk::Walk;

/// The byte range of a field and its replacement; `None` removes the field.
type Piece<'a> = (Range<usize>, Option<(&'a str, Node<'a>)>);

/// Returns the document after the operators ran; `modified` is false if none changed anything.
pub(super) fn apply(
    walk: &Walk<'_>,
    tree: &Fields,
    document: &RawDocument,
    at: &mut OperatorContext<'_>,
) -> Result<Applied, ServerError> {
    let bytes = document.as_bytes();
    let end = bytes.len().saturating_sub(1);
    let children = walk.children(&[tree])?;
    let mut pieces: SmallVec<[Piece<'_>; 1]> = SmallVec::new();
    for (name, trees) in &children {
        let element = raw::walk(document).find_key(name.as_bytes());
        let value = element.as_ref().and_then(raw::Element::value);
        let place = match &element {
            Some(element) => element.place(bytes).ok_or_else(malformed)?,
            None => end..end,
        };
        let mut node = value.map(Node::Raw);
        let piece = match walk.step(name, trees, node.as_mut(), at)? {
            Effect::Nothing | Effect::Resorted => continue,
            Effect::Edited => node.map(|node| (&**name, node)),
            Effect::Put(node) => Some((&**name, node)),
            Effect::Remove if element.is_none() => continue,
            Effect::Remove => None,
        };
        pieces.push((place, piece));
    }
    if pieces.is_empty() {
        return Ok(Applied {
            document: document.to_owned(),
            modified: false,
            nests: false,
            resorted: mem::take(&mut at.resorted),
        });
    }
    let nests = pieces
        .iter()
        .any(|(_, piece)| matches!(piece, Some((_, node)) if node.may_nest()));
    // New fields come last, in the order in which they were created.
    pieces.sort_by_key(|(place, _)| place.start);
    let document = put_together(bytes, end, pieces).ok_or_else(malformed)?;
    Ok(Applied {
        document,
        modified: true,
        nests,
        resorted: Vec::new(),
    })
}

fn put_together(
    bytes: &[u8],
    end: usize,
    pieces: SmallVec<[Piece<'_>; 1]>,
) -> Option<RawDocumentBuf> {
    let mut made = Vec::with_capacity(bytes.len() + 32);
    let mut from = 0;
    for (place, piece) in pieces {
        made.extend_from_slice(bytes.get(from..place.start)?);
        if let Some((name, node)) = piece {
            node.with(|value| raw_writer::raw_element(&mut made, name, value))?;
        }
        from = place.end;
    }
    made.extend_from_slice(bytes.get(from..end)?);
    made.push(0);
    let length = i32::try_from(made.len()).ok()?;
    made.first_chunk_mut::<4>()?
        .copy_from_slice(&length.to_le_bytes());
    RawDocumentBuf::from_bytes(made).ok()
}

fn malformed() -> ServerError {
    ServerError::new(Code::INVALID_BSON, "the stored document is malformed")
}
