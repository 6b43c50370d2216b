//! Collations of indexes, as `createIndexes` takes them.

use bson::{Bson, Document, doc};

use super::i64_to_bson;
use crate::model::CollationMeta;

/// The collation as it is declared; MongoDB fills in the rest.
pub(crate) fn document(collation: &CollationMeta) -> Document {
    let CollationMeta {
        locale,
        strength,
        case_level,
        case_first,
        numeric_ordering,
        alternate,
        max_variable,
        backwards,
        normalization,
    } = *collation;
    let strength = strength.map(|strength| i64_to_bson(strength.into()));
    let options = [
        ("strength", strength),
        ("caseLevel", case_level.map(Bson::Boolean)),
        ("caseFirst", case_first.map(Bson::from)),
        ("numericOrdering", numeric_ordering.map(Bson::Boolean)),
        ("alternate", alternate.map(Bson::from)),
        ("maxVariable", max_variable.map(Bson::from)),
        ("backwards", backwards.map(Bson::Boolean)),
        ("normalization", normalization.map(Bson::Boolean)),
    ];
    let mut document = doc! {"locale": locale};
    document.extend(
        options
            .into_iter()
            .filter_map(|(key, value)| Some((key.to_owned(), value?))),
    );
    document
}
