//! MongoDB's conditions, decided by hand on stored documents.

use odm::bson::{Bson, Document as BsonDocument};

/// The values that a condition on the path compares: each value at the path, and the elements of those that are arrays.
/// `None` stands for a path that leads nowhere.
pub(super) fn candidates<'d>(document: &'d BsonDocument, path: &str) -> Vec<Option<&'d Bson>> {
    let mut found = Vec::new();
    let names: Vec<&str> = path.split('.').collect();
    descend(document, &names, &mut found);
    let elements: Vec<Option<&Bson>> = found
        .iter()
        .filter_map(|value| value.and_then(Bson::as_array))
        .flat_map(|elements| elements.iter().map(Some))
        .collect();
    found.extend(elements);
    found
}

fn descend<'d>(document: &'d BsonDocument, names: &[&str], found: &mut Vec<Option<&'d Bson>>) {
    let Some((first, rest)) = names.split_first() else {
        return;
    };
    match document.get(*first) {
        value if rest.is_empty() => found.push(value),
        Some(Bson::Document(inner)) => descend(inner, rest, found),
        Some(Bson::Array(elements)) => {
            for inner in elements.iter().filter_map(Bson::as_document) {
                descend(inner, rest, found);
            }
        }
        _ => found.push(None),
    }
}

pub(super) fn number(value: &Bson) -> Option<f64> {
    match value {
        Bson::Int32(number) => Some(f64::from(*number)),
        #[expect(clippy::cast_precision_loss, reason = "the numbers are small")]
        Bson::Int64(number) => Some(*number as f64),
        Bson::Double(number) => Some(*number),
        Bson::Decimal128(number) => number.to_string().parse().ok(),
        _ => None,
    }
}

/// Whether MongoDB takes the values for equal, numbers of any type included.
pub(super) fn equal(one: &Bson, other: &Bson) -> bool {
    match (number(one), number(other)) {
        (Some(one), Some(other)) => one.total_cmp(&other).is_eq(),
        (None, None) => one == other,
        _ => false,
    }
}

/// `{path: value}`
pub(super) fn eq(document: &BsonDocument, path: &str, value: &Bson) -> bool {
    let found = candidates(document, path);
    if *value == Bson::Null {
        return found
            .iter()
            .any(|one| matches!(one, None | Some(Bson::Null)));
    }
    found.into_iter().flatten().any(|one| equal(one, value))
}

/// `{path: {$gt: number}}`, or another comparison of numbers.
pub(super) fn compares(document: &BsonDocument, path: &str, holds: impl Fn(f64) -> bool) -> bool {
    let found = candidates(document, path);
    found.into_iter().flatten().filter_map(number).any(holds)
}

/// `{path: {$exists: true}}`
pub(super) fn exists(document: &BsonDocument, path: &str) -> bool {
    let found = candidates(document, path);
    found.into_iter().flatten().next().is_some()
}
