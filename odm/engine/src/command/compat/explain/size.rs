//! Shortens an `explain` reply that is larger than a document may be.

use bson::raw::{RawDocument, RawDocumentBuf, cstr};
use bson::{Bson, Document};
use odm_language::error::ServerError;
use odm_language::expression::memory_limit;

use crate::catalog::options::to_raw;
use crate::command::create::to_document;

/// The reply, without index bounds if it is too large with them, and without the command if that does not fit either.
pub(super) fn limited(
    mut fields: Document,
    command: &RawDocument,
    database: &str,
) -> Result<RawDocumentBuf, ServerError> {
    let mut explained = to_raw(&fields)?;
    if explained.as_bytes().len() > memory_limit::MAX_DOCUMENT {
        drop_bounds(&mut fields);
        explained = to_raw(&fields)?;
    }
    if explained.as_bytes().len() + command.as_bytes().len() <= memory_limit::MAX_DOCUMENT {
        let mut shown = to_document(command)?;
        shown.insert("$db", database);
        explained.append(cstr!("command"), to_raw(&shown)?);
    } else {
        let warning = "'command' has been omitted due to BSON size limit";
        explained.append(cstr!("warning"), warning);
    }
    explained.append(cstr!("ok"), 1.0);
    memory_limit::checked(explained)
}

/// Leaves the bounds out of every index scan.
fn drop_bounds(stage: &mut Document) {
    if stage.contains_key("indexBounds") {
        let fields = std::mem::take(stage);
        stage.extend(fields.into_iter().map(|(name, value)| {
            if name == "indexBounds" {
                let warning = "index bounds omitted due to BSON size limit for explain";
                ("warning".to_owned(), Bson::from(warning))
            } else {
                (name, value)
            }
        }));
    }
    for (name, value) in stage.iter_mut() {
        match value {
            // These hold the user's query, in which a field may be named `indexBounds`.
            _ if matches!(name.as_str(), "filter" | "parsedQuery") => {}
            Bson::Document(inner) => drop_bounds(inner),
            Bson::Array(values) => values
                .iter_mut()
                .filter_map(Bson::as_document_mut)
                .for_each(drop_bounds),
            _ => {}
        }
    }
}
