//! Checks of `gridfs`.

use syn::spanned::Spanned;

use crate::errors::Errors;
use crate::facts::Facts;
use crate::model::rust_type::{Kind, stored_kind};
use crate::parse::container::CollectionName;

/// A chunk is a document, with some fields besides its bytes.
const MAX_CHUNK: u64 = 16 * 1024 * 1024 - 16 * 1024;

pub(super) fn check(facts: &Facts<'_>, errors: &mut Errors) {
    let model = facts.model;
    let Some(gridfs) = &model.attributes.gridfs else {
        return;
    };
    if !model.generics.params.is_empty() {
        errors.at(
            &gridfs.word,
            "a generic struct can't describe files: declare `gridfs` on a struct without parameters",
        );
    }
    if let Some(CollectionName::Literal(name)) = &model.attributes.collection {
        let text = name.value();
        if text.strip_suffix(".files").is_none_or(str::is_empty) {
            let bucket = text.strip_suffix(".files").unwrap_or(&text);
            let bucket = if bucket.is_empty() { "fs" } else { bucket };
            errors.at(
                name,
                format!("GridFS keeps the documents of files in `<bucket>.files`: write `collection = \"{bucket}.files\"`"),
            );
        }
    }
    if let Some((bytes, span)) = gridfs.chunk_size
        && (bytes == 0 || bytes > MAX_CHUNK)
    {
        let message = format!(
            "a chunk is a document: it has between 1 and {MAX_CHUNK} bytes; drivers take \"255KiB\""
        );
        errors.push(syn::Error::new(span, message));
    }
    for field in model.fields() {
        let kind = stored_kind(&field.ty);
        let (is_fit, what) = match field.stored.as_str() {
            "length" | "chunkSize" => (matches!(kind, Kind::Integer), "a number of bytes: `i64`"),
            "uploadDate" => (matches!(kind, Kind::Date), "a date: `DateTime`"),
            "filename" => (
                matches!(kind, Kind::Text),
                "a text: `String` or `Option<String>`",
            ),
            _ => continue,
        };
        if !is_fit && !matches!(kind, Kind::Unknown) {
            errors.push(syn::Error::new(
                field.ty.span(),
                format!("GridFS stores `{}` as {what}", field.stored),
            ));
        }
    }
}
