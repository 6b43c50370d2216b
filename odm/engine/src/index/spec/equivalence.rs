//! Decides which specifications describe the same index.

use bson::raw::RawBson;
use bson::{Bson, Document};
use odm_language::value::order;

use crate::index::spec::{Spec, same_key};

impl Spec {
    /// Whether both index the same documents by the same keys. mongod considers such indexes identical.
    pub(crate) fn same_signature(&self, other: &Self) -> bool {
        same_key(&self.key, &other.key)
            && self.wildcard == other.wildcard
            && self.collation == other.collation
            && self.unique == other.unique
            && self.sparse == other.sparse
            && self.same_part(other)
    }

    /// Whether both have equivalent partial filters. Numbers of equal value are equal, and a plain value equals its
    /// `$eq`.
    fn same_part(&self, other: &Self) -> bool {
        let (ours, theirs) = match (&self.partial, &other.partial) {
            (None, None) => return true,
            (Some(ours), Some(theirs)) => (&ours.document, &theirs.document),
            _ => return false,
        };
        let fields = |filter: &Document| -> Option<Vec<(String, RawBson)>> {
            let mut fields: Vec<_> = filter
                .clone()
                .into_iter()
                .map(|(name, condition)| Some((name, RawBson::try_from(plain(condition)).ok()?)))
                .collect::<Option<_>>()?;
            fields.sort_by(|(one, _), (other, _)| one.cmp(other));
            Some(fields)
        };
        let (Some(ours), Some(theirs)) = (fields(ours), fields(theirs)) else {
            return false;
        };
        ours.len() == theirs.len()
            && ours
                .iter()
                .zip(&theirs)
                .all(|((name, one), (other_name, other))| {
                    let (one, other) = (one.as_raw_bson_ref(), other.as_raw_bson_ref());
                    name == other_name && order::compare(one, other, None).is_eq()
                })
    }

    /// Whether the remaining options are equal. Numbers compare by value.
    pub(crate) fn same_options(&self, other: &Self) -> bool {
        /// The options that are part of the signature, or that do not distinguish indexes.
        const ELSEWHERE: &[&str] = &[
            "v",
            "key",
            "name",
            "unique",
            "sparse",
            "hidden",
            "background",
            "collation",
            "partialFilterExpression",
            "wildcardProjection",
            "textIndexVersion",
            "2dsphereIndexVersion",
        ];
        let options = |spec: &Self| -> Document {
            let options = spec.kept.iter();
            let mut options: Vec<_> = options
                .filter(|(name, _)| !ELSEWHERE.contains(&name.as_str()))
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect();
            options.sort_by(|(one, _), (other, _)| one.cmp(other));
            options.into_iter().collect()
        };
        order::compare_decoded(&options(self), &options(other)).is_eq()
    }
}

/// The operand of a condition that consists of a single `$eq`.
fn plain(condition: Bson) -> Bson {
    match condition {
        Bson::Document(mut operators) if operators.len() == 1 => {
            operators.remove("$eq").unwrap_or(Bson::Document(operators))
        }
        condition => condition,
    }
}
