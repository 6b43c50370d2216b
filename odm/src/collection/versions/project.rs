//! Projections of documents that were upgraded after they were read.

use bson::raw::{RawDocument, RawDocumentBuf};
use bson::{Bson, Document};

use crate::error::{Error, Result};

/// What a projection does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// It has no fields.
    Everything,
    /// It only includes fields.
    Included,
    /// It only excludes fields.
    Excluded,
    /// It computes something.
    Computed,
}

impl Shape {
    pub(super) fn of(projection: &Document) -> Self {
        if projection.is_empty() {
            return Self::Everything;
        }
        let flags = projection.iter().map(|(path, value)| {
            let is_path = !path.starts_with('$') && !path.contains(".$");
            flag(value).filter(|_| is_path)
        });
        let Some(flags) = flags.collect::<Option<Vec<bool>>>() else {
            return Self::Computed;
        };
        // The `_id` may differ from the others.
        let others = projection.keys().zip(&flags);
        let mut others = others.filter(|(path, _)| *path != "_id").map(|(_, it)| it);
        let first = others.next().or(flags.first());
        match first {
            Some(true) => Self::Included,
            _ => Self::Excluded,
        }
    }
}

/// Whether a value of a projection includes the field; `None` if it computes one.
fn flag(value: &Bson) -> Option<bool> {
    match value {
        Bson::Boolean(flag) => Some(*flag),
        Bson::Int32(number) => Some(*number != 0),
        Bson::Int64(number) => Some(*number != 0),
        Bson::Double(number) => Some(*number != 0.0),
        _ => None,
    }
}

/// The fields of a document that a projection includes.
pub(super) fn included(raw: &RawDocument, projection: &Document) -> Result<RawDocumentBuf> {
    let document = Document::try_from(raw).map_err(Error::encode)?;
    let mut paths: Vec<Vec<&str>> = Vec::new();
    let mut has_id = true;
    for (path, value) in projection {
        if path == "_id" {
            has_id = flag(value) == Some(true);
        } else {
            paths.push(path.split('.').collect());
        }
    }
    if has_id {
        paths.push(vec!["_id"]);
    }
    let paths: Vec<&[&str]> = paths.iter().map(Vec::as_slice).collect();
    RawDocumentBuf::try_from(&part(document, &paths)).map_err(Error::encode)
}

fn part(document: Document, paths: &[&[&str]]) -> Document {
    let mut kept = Document::new();
    for (name, value) in document {
        let below = paths.iter().filter_map(|path| match path.split_first() {
            Some((first, rest)) if *first == name => Some(rest),
            _ => None,
        });
        let below: Vec<&[&str]> = below.collect();
        if below.iter().any(|rest| rest.is_empty()) {
            kept.insert(name, value);
        } else if !below.is_empty()
            && let Some(value) = inside(value, &below)
        {
            kept.insert(name, value);
        }
    }
    kept
}

/// What a projection includes of a value by paths inside it. A value without fields is left out, as MongoDB does.
fn inside(value: Bson, paths: &[&[&str]]) -> Option<Bson> {
    match value {
        Bson::Document(document) => Some(part(document, paths).into()),
        Bson::Array(elements) => {
            let kept = elements.into_iter();
            let kept = kept.filter_map(|element| inside(element, paths));
            Some(Bson::Array(kept.collect()))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bson::doc;

    #[test]
    fn projections_are_told_apart() {
        assert_eq!(Shape::of(&doc! {}), Shape::Everything);
        assert_eq!(Shape::of(&doc! {"_id": 0}), Shape::Excluded);
        assert_eq!(Shape::of(&doc! {"_id": 1}), Shape::Included);
        assert_eq!(Shape::of(&doc! {"_id": 0, "a.b": true}), Shape::Included);
        assert_eq!(Shape::of(&doc! {"a": 0.0, "b": 0_i64}), Shape::Excluded);
        assert_eq!(Shape::of(&doc! {"a.$": 1}), Shape::Computed);
        assert_eq!(Shape::of(&doc! {"a": 1, "b": "$c"}), Shape::Computed);
        assert_eq!(Shape::of(&doc! {"a": {"$slice": 2}}), Shape::Computed);
    }

    #[test]
    fn parts_are_those_that_mongodb_returns() {
        let document = doc! {
            "_id": 1, "a": {"b": 1, "c": 2}, "d": [{"b": 1, "c": 1}, 5, [{"b": 2}], {}], "e": 1, "f": 2,
        };
        let raw = RawDocumentBuf::try_from(&document).unwrap();
        let included = |projection: Document| {
            Document::try_from(included(&raw, &projection).unwrap()).unwrap()
        };
        assert_eq!(
            included(doc! {"a.b": 1, "d.b": 1, "e.x": 1}),
            doc! {"_id": 1, "a": {"b": 1}, "d": [{"b": 1}, [{"b": 2}], {}]}
        );
        assert_eq!(included(doc! {"_id": 0, "f": 1}), doc! {"f": 2});
        assert_eq!(included(doc! {"_id": 1}), doc! {"_id": 1});
    }
}
