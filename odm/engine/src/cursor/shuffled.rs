//! Shuffles the results of a query as far as its sort leaves their order open.

use std::collections::VecDeque;
use std::sync::Arc;

use odm_language::error::ServerError;
use odm_language::shuffle::Shuffle;
use odm_language::value::collation::Collator;

use crate::catalog::collection::{Version, document};
use crate::cursor::exec::Row;
use crate::cursor::query::Found;
use crate::cursor::sort::Sort;

/// The order that a query requests, and the part of the results that it takes.
#[derive(Debug)]
pub(crate) struct Requested {
    pub(crate) sort: Option<Arc<Sort>>,
    pub(crate) collation: Option<Collator>,
    pub(crate) skip: u64,
    /// The limit plus the skip.
    pub(crate) limit: Option<u64>,
    pub(crate) shuffle: Shuffle,
}

/// The results of a query, read in full before the first one is returned.
#[derive(Debug)]
pub(crate) struct Shuffled {
    rows: VecDeque<Row>,
    /// The error that ended the query.
    failure: Option<ServerError>,
    /// Whether the query knows its end without looking for one more result.
    knows_end: bool,
}

impl Requested {
    /// Reads all results. Those that the sort treats as equal come in a random order.
    pub(crate) fn read(
        &self,
        found: &mut Found,
        collection: &Version,
    ) -> Result<Shuffled, ServerError> {
        let mut rows = Vec::new();
        let mut equal = Vec::new();
        let mut current = Vec::new();
        let mut failure = None;
        loop {
            let row = match found.next() {
                Some(Ok(row)) => row,
                Some(Err(error)) => {
                    failure = Some(error);
                    break;
                }
                None => break,
            };
            let key = self.key(found, &row, collection)?;
            if key != current {
                self.shuffle.shuffle(&mut equal);
                rows.append(&mut equal);
                current = key;
            }
            equal.push(row);
        }
        self.shuffle.shuffle(&mut equal);
        rows.append(&mut equal);
        let read = rows.len();
        let count = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
        let limit = self.limit.map_or(usize::MAX, count);
        rows.truncate(limit);
        if read > limit {
            failure = None;
        }
        let rows: VecDeque<_> = rows.into_iter().skip(count(self.skip)).collect();
        Ok(Shuffled {
            rows,
            failure,
            knows_end: read >= limit && self.sort.is_none() || found.is_at_end(),
        })
    }

    /// The row's sort key; the same for all rows if nothing sorts them.
    fn key(&self, found: &Found, row: &Row, collection: &Version) -> Result<Vec<u8>, ServerError> {
        let mut key = Vec::new();
        // The row of a covered query may lack the fields of the sort.
        let stored = collection
            .stored(row.0)
            .and_then(|stored| document(stored.bytes));
        if let (Some(sort), Some(document)) = (&self.sort, stored) {
            let score = if sort.scores.is_empty() {
                None
            } else {
                sort.scored_by.of(&found.known(row))
            };
            sort.key_into(document, self.collation.as_ref(), score, &mut key)?;
        }
        Ok(key)
    }
}

impl Shuffled {
    pub(crate) fn next(&mut self) -> Option<Result<Row, ServerError>> {
        match self.rows.pop_front() {
            Some(row) => Some(Ok(row)),
            None => self.failure.take().map(Err),
        }
    }

    /// Whether the end is known without looking for one more result.
    pub(crate) fn is_at_end(&self) -> bool {
        self.knows_end && self.rows.is_empty() && self.failure.is_none()
    }
}
