//! Indexes on foreign fields, built while a stage joins each document of its input with a collection.

use odm_language::value::collation::Collator;
use odm_language::value::path;

use crate::catalog::collection::{Collection, Version};
use crate::catalog::namespace::Namespace;
use crate::index::Index;
use crate::index::spec::Spec;

/// How many times a join scans a collection before it builds an index, which costs about as much as these scans.
const SCANS: u32 = 4;

/// The joins of one aggregation. Their indexes hold its snapshot, and no other command uses them.
#[derive(Debug, Default)]
pub(crate) struct JoinIndexes(Vec<Join>);

/// Reads of one collection for values at one path.
#[derive(Debug)]
pub(crate) struct Join {
    namespace: Namespace,
    path: String,
    collation: Option<Collator>,
    scans: u32,
    indexed: Option<Version>,
}

impl JoinIndexes {
    /// Returns the join by this path under a collation, and adds it the first time.
    pub(crate) fn join(
        &mut self,
        namespace: &Namespace,
        path: &str,
        collation: Option<&Collator>,
    ) -> Option<&mut Join> {
        let is_known = |join: &Join| {
            join.path == path
                && join.namespace == *namespace
                && join.collation.as_ref() == collation
        };
        let at = self.0.iter().position(is_known).unwrap_or_else(|| {
            self.0.push(Join {
                namespace: namespace.clone(),
                path: path.to_owned(),
                collation: collation.cloned(),
                scans: 0,
                indexed: None,
            });
            self.0.len() - 1
        });
        self.0.get_mut(at)
    }
}

impl Join {
    /// The collection with an index on the path, once it is built.
    pub(crate) fn indexed(&self) -> Option<&Version> {
        self.indexed.as_ref()
    }

    /// Counts a scan, and returns whether the next read should have an index.
    pub(crate) fn scanned(&mut self) -> bool {
        self.scans = self.scans.saturating_add(1);
        // A segment with digits may be a position or a name, and no index has keys for a document where it is both.
        self.scans == SCANS && !self.path.split('.').any(path::is_number)
    }

    /// Builds the index. A collection with a document that can't be indexed is scanned further.
    pub(crate) fn build(&mut self, collection: &Collection) {
        let spec = Spec::ascending("$join", &self.path, self.collation.as_ref());
        if let Ok(index) = collection.build(Index::new(spec.into())) {
            let mut indexed = collection.clone();
            indexed.indexes.push(index);
            self.indexed = Some(Version::new(indexed));
        }
    }
}
