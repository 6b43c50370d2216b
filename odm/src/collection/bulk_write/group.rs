//! Groups writes of one kind into commands.

use bson::raw::RawDocumentBuf;

use super::write::Prepared;
use crate::store::{Operation, WriteKind, limits};

/// One command, and the positions of its statements in the bulk write.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) operation: Operation,
    pub(super) kind: WriteKind,
    pub(super) indexes: Vec<usize>,
}

/// Groups writes into commands: ordered writes keep their order, unordered ones are sorted by kind.
pub(super) fn groups(mut writes: Vec<Prepared>, ordered: bool) -> Vec<Group> {
    if !ordered {
        writes.sort_by_key(|write| write.kind as u8);
    }
    let mut groups = Vec::new();
    let mut open: Option<Open> = None;
    for write in writes {
        let Prepared {
            index,
            kind,
            statement,
            ..
        } = write;
        let size = statement.as_bytes().len() + limits::ELEMENT_BYTES;
        if let Some(full) = open.take_if(|open| !open.takes(kind, size)) {
            groups.push(full.close());
        }
        let group = open.get_or_insert_with(|| Open::new(kind));
        group.bytes += size;
        group.indexes.push(index);
        group.statements.push(statement);
    }
    groups.extend(open.map(Open::close));
    groups
}

struct Open {
    kind: WriteKind,
    bytes: usize,
    indexes: Vec<usize>,
    statements: Vec<RawDocumentBuf>,
}

impl Open {
    fn new(kind: WriteKind) -> Self {
        Self {
            kind,
            bytes: 0,
            indexes: Vec::new(),
            statements: Vec::new(),
        }
    }

    fn takes(&self, kind: WriteKind, size: usize) -> bool {
        let limit = match kind {
            WriteKind::Insert => limits::INSERT_BYTES,
            WriteKind::Update | WriteKind::Delete => limits::STATEMENT_BYTES,
        };
        self.kind == kind && self.statements.len() < limits::WRITES && self.bytes + size <= limit
    }

    fn close(self) -> Group {
        let statements = self.statements;
        Group {
            operation: match self.kind {
                WriteKind::Insert => Operation::InsertMany {
                    documents: statements,
                },
                WriteKind::Update => Operation::Updates { statements },
                WriteKind::Delete => Operation::Deletes { statements },
            },
            kind: self.kind,
            indexes: self.indexes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn writes() -> Vec<Prepared> {
        let kinds = [
            WriteKind::Update,
            WriteKind::Insert,
            WriteKind::Insert,
            WriteKind::Delete,
            WriteKind::Update,
        ];
        let prepared = |(index, kind)| Prepared {
            index,
            kind,
            statement: RawDocumentBuf::new(),
            stale: None,
            is_followed: false,
            multi: false,
            collation: None,
            hint: None,
            outdated: None,
        };
        kinds.into_iter().enumerate().map(prepared).collect()
    }

    fn indexes(groups: &[Group]) -> Vec<(WriteKind, &[usize])> {
        groups
            .iter()
            .map(|group| (group.kind, group.indexes.as_slice()))
            .collect()
    }

    #[test]
    fn ordered_writes_keep_their_order() {
        assert_eq!(
            indexes(&groups(writes(), true)),
            [
                (WriteKind::Update, &[0][..]),
                (WriteKind::Insert, &[1, 2]),
                (WriteKind::Delete, &[3]),
                (WriteKind::Update, &[4]),
            ]
        );
    }

    #[test]
    fn unordered_writes_are_one_command_for_each_kind() {
        assert_eq!(
            indexes(&groups(writes(), false)),
            [
                (WriteKind::Insert, &[1, 2][..]),
                (WriteKind::Update, &[0, 4]),
                (WriteKind::Delete, &[3]),
            ]
        );
    }
}
