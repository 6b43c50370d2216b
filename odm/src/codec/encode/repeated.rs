//! Keys that a document has twice.

use smallvec::SmallVec;

use odm_language::value::raw::Elements;

/// A key that is in the document twice, if one is.
pub(super) fn key<'a>(elements: Elements<'a>) -> Option<&'a [u8]> {
    let mut keys: SmallVec<[&'a [u8]; 24]> = elements.map(|element| element.key_bytes()).collect();
    keys.sort_unstable();
    keys.windows(2).find_map(|pair| match pair {
        [one, other] if one == other => Some(*one),
        _ => None,
    })
}

/// The path of the first key that a document, or one within it, has twice.
pub(super) fn path(elements: Elements<'_>) -> Option<String> {
    if let Some(key) = key(elements.clone()) {
        return Some(String::from_utf8_lossy(key).into_owned());
    }
    elements.into_iter().find_map(|element| {
        let inside = path(element.children()?)?;
        let key = String::from_utf8_lossy(element.key_bytes());
        Some(format!("{key}.{inside}"))
    })
}
