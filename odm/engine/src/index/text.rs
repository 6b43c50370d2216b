//! The entries of a text index: the ordered fields before the text, a term and its score, and the ordered fields after.

use bson::Document;
use bson::raw::{RawBsonRef, RawDocument};
use odm_language::error::{Code, ServerError};
use odm_language::value::key::{self, Direction};
use odm_language::value::path::Path;
use odm_language::value::path::starts_with;
use odm_language::value::print;
use odm_language::value::raw;
use odm_language::value::text::Fields;

use crate::index::Keys;
use crate::index::keys::Values;
use crate::index::multikey::Arrays;
use crate::index::spec::value::number;

/// The parts of a document that a text index reads.
#[derive(Debug, Clone)]
pub(crate) struct TextIndex {
    pub(crate) fields: Fields,
    /// A query must have an equality for each of these.
    pub(crate) before: Vec<Ordered>,
    after: Vec<Ordered>,
}

/// An ordered field.
#[derive(Debug, Clone)]
pub(crate) struct Ordered {
    pub(crate) path: Path,
    direction: Direction,
}

impl Ordered {
    /// Appends the field's part of a key.
    pub(crate) fn append(&self, bytes: &mut Vec<u8>, value: RawBsonRef<'_>) {
        key::append(bytes, value, self.direction, None);
    }
}

impl TextIndex {
    /// Builds it from a specification in its stored form.
    pub(crate) fn new(specification: &Document) -> Self {
        let mut before = Vec::new();
        let mut after = Vec::new();
        let mut passed = false;
        for (path, value) in specification.get_document("key").into_iter().flatten() {
            match path.as_str() {
                "_fts" => passed = true,
                "_ftsx" => {}
                path => {
                    let side = if passed { &mut after } else { &mut before };
                    side.push(Ordered {
                        path: Path::new(path),
                        direction: match number(value) {
                            Some(direction) if direction < 0.0 => Direction::Descending,
                            _ => Direction::Ascending,
                        },
                    });
                }
            }
        }
        Self {
            fields: Fields::new(specification),
            before,
            after,
        }
    }

    /// Whether a change of a field from one value to the other may affect the keys.
    pub(super) fn may_read(&self, name: &str, values: [Option<RawBsonRef<'_>>; 2]) -> bool {
        let mut ordered = self.before.iter().chain(&self.after);
        ordered.any(|field| starts_with(field.path.as_str(), name))
            || self.fields.may_read(name, values)
    }

    /// Calls `emit` with each key of a document and its values.
    pub(super) fn each_key(
        &self,
        document: &RawDocument,
        emit: &mut dyn FnMut(Vec<u8>, &Values<'_>),
    ) -> Result<(), ServerError> {
        let scores = self.fields.scores(document)?;
        let before = ordered(&self.before, document)?;
        let after = ordered(&self.after, document)?;
        for (term, score) in &scores {
            let mut bytes = Vec::new();
            for (field, value) in self.before.iter().zip(&before) {
                field.append(&mut bytes, *value);
            }
            append_term(&mut bytes, term);
            bytes.extend(score.to_bits().to_be_bytes());
            for (field, value) in self.after.iter().zip(&after) {
                field.append(&mut bytes, *value);
            }
            let own = [RawBsonRef::String(term), RawBsonRef::Double(*score)];
            let values = before.iter().chain(&own).chain(&after).copied().map(Some);
            emit(bytes, &values.collect());
        }
        Ok(())
    }

    /// The keys of a document. Several of them make the index multikey.
    pub(super) fn keys(&self, document: &RawDocument) -> Result<(Keys, Arrays), ServerError> {
        let mut keys = Keys::default();
        self.each_key(document, &mut |key, _| keys.push(key.into()))?;
        keys.sort_unstable();
        // Several terms are several keys, like the elements of an array.
        let mut arrays = Arrays::default();
        if keys.len() > 1 {
            arrays.add("_fts");
        }
        Ok((keys, arrays))
    }
}

/// Appends a term. A score follows it: scores are positive, so their bits sort like the scores.
pub(crate) fn append_term(bytes: &mut Vec<u8>, term: &str) {
    key::append(bytes, RawBsonRef::String(term), Direction::Ascending, None);
}

/// Reads the score from the bytes after a term.
pub(crate) fn score(rest: &[u8]) -> Option<f64> {
    let bits = rest.first_chunk::<8>()?;
    Some(f64::from_bits(u64::from_be_bytes(*bits)))
}

fn ordered<'d>(
    fields: &[Ordered],
    document: &'d RawDocument,
) -> Result<Vec<RawBsonRef<'d>>, ServerError> {
    fields
        .iter()
        .map(|field| value(&field.path, document))
        .collect()
}

/// The value of an ordered field; null if the field is missing. An array on its path is an error unless the next part
/// of the path is an array index.
fn value<'d>(path: &Path, document: &'d RawDocument) -> Result<RawBsonRef<'d>, ServerError> {
    let mut value = RawBsonRef::Document(document);
    let mut parts = path.as_str().split('.').peekable();
    while let Some(part) = parts.next() {
        value = match value {
            RawBsonRef::Document(inner) => raw::get(inner, part),
            RawBsonRef::Array(array) => index(part).and_then(|index| raw::values(array).nth(index)),
            _ => None,
        }
        .unwrap_or(RawBsonRef::Null);
        let is_element_named = parts.peek().is_some_and(|next| index(next).is_some());
        if matches!(value, RawBsonRef::Array(_)) && !is_element_named {
            return Err(ServerError::new(
                Code::CANNOT_BUILD_INDEX_KEYS,
                format!(
                    "Field '{}' of text index contains an array in document: {}",
                    path.as_str(),
                    print::document(document)
                ),
            ));
        }
    }
    Ok(value)
}

/// The array index that a part of a path stands for, if it is a number.
fn index(part: &str) -> Option<usize> {
    let is_number = part.bytes().all(|byte| byte.is_ascii_digit());
    part.parse().ok().filter(|_| is_number)
}
