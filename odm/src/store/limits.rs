//! The limits of commands.

use bson::raw::RawDocumentBuf;

/// The most bytes of a list of values in a filter, such as the keys of a join. A command is a document of at most
/// 16 MiB; the rest of it needs room, too.
pub(crate) const LIST_BYTES: usize = 12_000_000;

/// The most bytes of the statements of an `update` or a `delete`, which are part of the command.
pub(crate) const STATEMENT_BYTES: usize = 16_000_000;

/// The most statements of an `update` or a `delete` of odm's own: a limit of what one command keeps locked.
pub(crate) const STATEMENTS: usize = 1_000;

/// The most bytes of the documents of an `insert`, which follow the command in its message: MongoDB's
/// `maxMessageSizeBytes`, without room for the command.
pub(crate) const INSERT_BYTES: usize = 48_000_000 - 16_384;

/// The most writes of a command: MongoDB's `maxWriteBatchSize`.
pub(crate) const WRITES: usize = 100_000;

/// The most documents of an `insert` of a load: enough that a command's own cost does not count, and few enough that the
/// next ones are encoded meanwhile.
pub(crate) const LOADED: usize = 10_000;

/// The most bytes of the documents of an `insert` of a load.
pub(crate) const LOADED_BYTES: usize = 16_000_000;

/// The bytes that an element of an array adds to a document: a type, the index as text and a NUL.
pub(crate) const ELEMENT_BYTES: usize = 8;

/// Splits documents into batches with at most `count` documents and `bytes` bytes; a larger document is alone in its
/// batch.
pub(crate) fn batches(
    documents: impl IntoIterator<Item = RawDocumentBuf>,
    count: usize,
    bytes: usize,
) -> Vec<Vec<RawDocumentBuf>> {
    let mut batches: Vec<Vec<RawDocumentBuf>> = Vec::new();
    let mut free = 0;
    for document in documents {
        let size = document.as_bytes().len() + ELEMENT_BYTES;
        match batches.last_mut() {
            Some(batch) if batch.len() < count && size <= free => batch.push(document),
            _ => {
                batches.push(vec![document]);
                free = bytes;
            }
        }
        free = free.saturating_sub(size);
    }
    batches
}

#[cfg(test)]
mod tests {
    use super::*;
    use bson::rawdoc;

    #[test]
    fn batches_hold_few_documents_and_few_bytes() {
        let lengths = |texts: &[usize], count, bytes| {
            // A document of one string takes 13 bytes and its text.
            let documents = texts
                .iter()
                .map(|length| rawdoc! {"a": "x".repeat(*length)});
            let batches = batches(documents, count, bytes);
            batches.iter().map(Vec::len).collect::<Vec<_>>()
        };
        assert!(lengths(&[], 2, 100).is_empty());
        assert_eq!(lengths(&[1, 1, 1], 2, 100), [2, 1]);
        assert_eq!(lengths(&[29, 29, 29], 9, 100), [2, 1]);
        assert_eq!(lengths(&[30, 29, 29], 9, 100), [1, 2]);
        assert_eq!(lengths(&[1, 500, 1], 9, 100), [1, 1, 1]);
    }
}
