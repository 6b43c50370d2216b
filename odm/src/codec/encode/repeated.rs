//! Finds repeated keys in documents.

use smallvec::SmallVec;

use odm_language::value::raw::Elements;

/// A key that occurs more than once in the document, if there is one.
pub(super) fn key<'a>(elements: Elements<'a>) -> Option<&'a [u8]> {
    let mut keys: SmallVec<[&'a [u8]; 24]> = elements.map(|element| element.key_bytes()).collect();
    keys.sort_unstable();
    keys.windows(2).find_map(|pair| match pair {
        [one, other] if one == other => Some(*one),
        _ => None,
    })
}

/// The path of the first repeated key in a document or its subdocuments.
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
