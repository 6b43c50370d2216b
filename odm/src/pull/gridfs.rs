//! Buckets of GridFS: files have a model, and their chunks have none.

use std::collections::HashSet;

use bson::Document;

use super::item::{Attribute, Body, Item, Type};
use super::literal::code;
use super::number::separated;
use super::shape::{Shape, Value};
use super::source::Listed;
use crate::model::gridfs::{DEFAULT_CHUNK_SIZE, MAX_CHUNK_SIZE, chunks_of};

/// The collections of files that have a collection of chunks beside them.
pub(super) fn files(listed: &[Listed]) -> HashSet<String> {
    let chosen = || listed.iter().filter(|one| one.refusal.is_none());
    let names: HashSet<&str> = chosen().map(|one| one.name.as_str()).collect();
    let is_of_files = |name: &&str| {
        let bucket = name.strip_suffix(".files").unwrap_or_default();
        !bucket.is_empty() && names.contains(chunks_of(name).as_str())
    };
    let files = names.iter().copied().filter(is_of_files);
    files.map(str::to_owned).collect()
}

/// Why a collection with the chunks of files has no model.
pub(super) fn refusal(name: &str, files: &HashSet<String>) -> Option<String> {
    let own = files.iter().find(|files| chunks_of(files) == name)?;
    let files = code(own);
    Some(format!(
        "it has the chunks of the files in {files}, which `Db::gridfs` reads"
    ))
}

/// Declares that a model describes files, if its fields are those of files. Returns whether they are.
pub(super) fn declare(item: &mut Item, shape: &Shape) -> bool {
    let Body::Struct(fields) = &mut item.body else {
        return false;
    };
    let misfit = fields.iter().find(|field| {
        let ty = field.ty.innermost();
        let is_single = field.ty.containers() == 0;
        let is_fit = match field.stored.as_str() {
            "length" | "chunkSize" => is_number(ty),
            "uploadDate" => *ty == Type::Plain("DateTime"),
            "filename" => *ty == Type::Plain("String"),
            _ => return false,
        };
        !(is_single && is_fit)
    });
    if let Some(field) = misfit {
        let line = format!(
            "It is not declared as a bucket of GridFS, because its {} has other values.",
            code(&field.stored)
        );
        item.comments.push(line);
        return false;
    }
    for field in fields {
        if matches!(field.stored.as_str(), "length" | "chunkSize") {
            // Drivers disagree on the numeric type.
            let ty = std::mem::replace(&mut field.ty, Type::Plain("ByteCount"));
            field.ty = ty.around(Type::Plain("ByteCount"));
        }
    }
    let size = chunk_size(shape).map(|size| format!("(chunk_size = {})", separated(size)));
    let attribute = format!("gridfs{}", size.unwrap_or_default());
    item.attributes.push(Attribute::text(attribute));
    true
}

/// Whether an index is one that the model has without a declaration.
pub(super) fn is_implied(index: &Document) -> bool {
    let keys = index.get_document("key");
    let keys = keys.map(|keys| keys.keys().map(String::as_str).collect::<Vec<_>>());
    keys.is_ok_and(|keys| keys == ["filename", "uploadDate"])
        && index
            .get_str("name")
            .is_ok_and(|name| name == "filename_1_uploadDate_1")
}

fn is_number(ty: &Type) -> bool {
    matches!(ty, Type::Plain("i32" | "i64" | "f64"))
}

/// The size of chunks, if all files that were read have the same and it is not the usual one.
fn chunk_size(shape: &Shape) -> Option<i64> {
    let mut sizes = shape.fields.get("chunkSize")?.values.kept();
    let size = match (sizes.next(), sizes.next()) {
        (Some(Value::Int(size)), None) => *size,
        _ => return None,
    };
    let is_allowed = (1..=i64::from(MAX_CHUNK_SIZE)).contains(&size);
    (is_allowed && size != i64::from(DEFAULT_CHUNK_SIZE)).then_some(size)
}

#[cfg(test)]
mod tests;
