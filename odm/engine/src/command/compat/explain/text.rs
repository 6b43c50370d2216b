//! Describes the stages of a `$text`: a scan for each term, and their union.

use bson::{Bson, Document, doc};

use crate::catalog::collection::Collection;
use crate::planner::access_path::text::TextScan;

/// The description of its stage, with the stages below it.
pub(super) fn described(collection: &Collection, scan: &TextScan) -> Document {
    let Some(index) = collection.index(&scan.name) else {
        return Document::new();
    };
    let spec = &index.spec;
    let one = doc! {
        "stage": "IXSCAN",
        "keyPattern": spec.key.clone(),
        "indexName": &spec.name,
        "isMultiKey": index.multikey(),
        "isUnique": spec.unique,
        "isSparse": spec.sparse,
        "isPartial": spec.partial.is_some(),
        "indexVersion": 2,
        "direction": "backward",
        "indexBounds": {},
    };
    let joined = match scan.terms.len() {
        0 => doc! { "inputStage": { "stage": "EOF" } },
        1 => doc! { "inputStage": one },
        terms => doc! { "inputStages": vec![Bson::Document(one); terms] },
    };
    let mut found = doc! { "stage": if scan.scored { "TEXT_OR" } else { "FETCH" } };
    if scan.terms.len() > 1 && !scan.scored {
        let mut any = doc! { "stage": "OR" };
        any.extend(joined);
        found.insert("inputStage", any);
    } else {
        found.extend(joined);
    }
    let shown = |bytes: &[u8]| Document::from_reader(bytes).unwrap_or_default();
    doc! {
        "indexPrefix": shown(&scan.equalities),
        "indexName": &spec.name,
        "parsedTextQuery": shown(&scan.parsed),
        "textIndexVersion": 3,
        "inputStage": found,
    }
}
