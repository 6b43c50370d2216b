//! One query: planned once, then run over a snapshot.

use std::sync::Arc;

use bson::DateTime;
use bson::raw::{RawBsonRef, RawDocument, RawDocumentBuf};

use crate::engine::catalog::collection::{Collection, document};
use crate::engine::catalog::scan::Scan;
use crate::engine::context::Context;
use crate::engine::cursor::sort::{Order, Sort};
use crate::engine::expression::Globals;
use crate::engine::index::RecordId;
use crate::engine::matcher::Matcher;
use crate::engine::planner::{self, Access, Plan, Wanted};
use crate::error::{Code, ServerError};
use crate::value::collation::Collator;

/// The time by which an operation must end.
#[derive(Debug, Clone)]
pub(crate) struct Deadline {
    context: Context,
    at: Option<DateTime>,
    ticks: u32,
}

impl Deadline {
    /// `max_time` is `maxTimeMS`; zero is no limit.
    pub(crate) fn new(context: &Context, max_time: Option<i64>) -> Self {
        let at = max_time.filter(|millis| *millis > 0).map(|millis| {
            DateTime::from_millis(context.now().timestamp_millis().saturating_add(millis))
        });
        Self {
            context: context.clone(),
            at,
            ticks: 0,
        }
    }

    /// Looks at the clock now and then.
    pub(crate) fn check(&mut self) -> Result<(), ServerError> {
        let Some(at) = self.at else {
            return Ok(());
        };
        self.ticks = self.ticks.wrapping_add(1);
        if self.ticks.is_multiple_of(256) && self.context.now() > at {
            return Err(ServerError::new(
                Code::MAX_TIME_MS_EXPIRED,
                "operation exceeded time limit",
            ));
        }
        Ok(())
    }
}

/// What to look for.
#[derive(Debug)]
pub(crate) struct Query<'a> {
    pub(crate) filter: Option<&'a RawDocument>,
    pub(crate) sort: Option<&'a RawDocument>,
    pub(crate) hint: Option<RawBsonRef<'a>>,
    pub(crate) skip: u64,
    pub(crate) limit: Option<u64>,
    pub(crate) globals: Globals,
}

/// A query that knows how it will run.
#[derive(Debug, Clone)]
pub(crate) struct Prepared {
    pub(crate) matcher: Option<Arc<Matcher>>,
    pub(crate) plan: Plan,
    /// The sort that remains to be done.
    pub(crate) sort: Option<Sort>,
    pub(crate) skip: u64,
    pub(crate) limit: Option<u64>,
    pub(crate) collation: Option<Collator>,
}

impl Query<'_> {
    /// Checks the filter and the sort, and chooses a plan. `collection` is absent if there is none: then only
    /// the checks count.
    pub(crate) fn prepare(&self, collection: Option<&Collection>) -> Result<Prepared, ServerError> {
        let collation = self.globals.collator().cloned();
        let matcher = match self.filter {
            Some(filter) if !filter.is_empty() => {
                let matcher = Matcher::parse(filter, &self.globals)?;
                matcher.check_constants(&self.globals)?;
                Some(Arc::new(matcher))
            }
            _ => None,
        };
        let order = Order::parse(self.sort)?;
        let sort = match &order {
            Order::Fields(sort) => Some(sort.clone()),
            Order::None | Order::Natural { .. } => None,
        };
        let Some(collection) = collection else {
            return Ok(Prepared {
                matcher,
                plan: Plan::of(Access::Nothing),
                sort: None,
                skip: self.skip,
                limit: self.limit,
                collation,
            });
        };
        let plan = planner::plan(
            &collection.indexes,
            &Wanted {
                filter: matcher.as_deref().map(Matcher::predicate),
                sort: sort
                    .as_ref()
                    .map(|sort| (sort.paths.as_slice(), sort.directions.as_slice())),
                natural: match order {
                    Order::Natural { backwards } => Some(backwards),
                    Order::None | Order::Fields(_) => None,
                },
                hint: self.hint,
                collation: collation.as_ref(),
            },
        )?;
        Ok(Prepared {
            matcher,
            sort: sort.filter(|_| !plan.sorted),
            plan,
            skip: self.skip,
            limit: self.limit,
            collation,
        })
    }
}

impl Prepared {
    /// Starts the query on a snapshot.
    pub(crate) fn run(
        self,
        collection: Arc<Collection>,
        deadline: Deadline,
    ) -> Result<Found, ServerError> {
        let scan = Scan::new(collection, self.plan.access);
        let mut found = Found {
            rows: Rows::Scan(Box::new(scan)),
            matcher: self.matcher,
            skip: self.skip,
            left: self.limit,
            keys_examined: 0,
            docs_examined: 0,
            deadline,
        };
        if let Some(sort) = &self.sort {
            let needed = self.limit.map(|limit| limit.saturating_add(self.skip));
            found.sort(sort, self.collation.as_ref(), needed)?;
        }
        Ok(found)
    }
}

/// A record and its document.
pub(crate) type Row = (RecordId, Arc<[u8]>);

#[derive(Debug)]
enum Rows {
    Scan(Box<Scan>),
    Sorted(std::vec::IntoIter<Row>),
}

/// The matching records, in order.
#[derive(Debug)]
pub(crate) struct Found {
    rows: Rows,
    matcher: Option<Arc<Matcher>>,
    skip: u64,
    left: Option<u64>,
    keys_examined: u64,
    docs_examined: u64,
    deadline: Deadline,
}

impl Found {
    /// The next match, before skip and limit.
    fn next_match(&mut self) -> Option<Result<Row, ServerError>> {
        let scan = match &mut self.rows {
            Rows::Sorted(rows) => return rows.next().map(Ok),
            Rows::Scan(scan) => scan,
        };
        for (record, bytes) in scan.by_ref() {
            if let Err(e) = self.deadline.check() {
                return Some(Err(e));
            }
            let Some(matcher) = &self.matcher else {
                return Some(Ok((record, bytes)));
            };
            let matches = match document(&bytes) {
                Some(document) => matcher.matches(document),
                None => Ok(false),
            };
            match matches {
                Ok(true) => return Some(Ok((record, bytes))),
                Ok(false) => {}
                Err(e) => return Some(Err(e)),
            }
        }
        None
    }

    /// Sorts all matches; of many, keeps no more than are needed.
    fn sort(
        &mut self,
        sort: &Sort,
        collation: Option<&Collator>,
        needed: Option<u64>,
    ) -> Result<(), ServerError> {
        let needed = needed.and_then(|needed| usize::try_from(needed).ok());
        let mut keyed: Vec<(Vec<u8>, Row)> = Vec::new();
        while let Some(row) = self.next_match() {
            let row = row?;
            let key = match document(&row.1) {
                Some(document) => sort.key(document, collation)?,
                None => Vec::new(),
            };
            keyed.push((key, row));
            if let Some(needed) = needed
                && keyed.len() >= needed.saturating_mul(2).max(1024)
            {
                keyed.sort_by(|(one, _), (other, _)| one.cmp(other));
                keyed.truncate(needed);
            }
        }
        keyed.sort_by(|(one, _), (other, _)| one.cmp(other));
        if let Some(needed) = needed {
            keyed.truncate(needed);
        }
        (self.keys_examined, self.docs_examined) = self.examined();
        let rows: Vec<_> = keyed.into_iter().map(|(_, row)| row).collect();
        self.rows = Rows::Sorted(rows.into_iter());
        Ok(())
    }

    /// Index keys and documents that were looked at so far.
    pub(crate) fn examined(&self) -> (u64, u64) {
        match &self.rows {
            Rows::Scan(scan) => (scan.keys_examined, scan.docs_examined),
            Rows::Sorted(_) => (self.keys_examined, self.docs_examined),
        }
    }

    /// Goes on in a newer version of the collection: what a tailable cursor does.
    pub(crate) fn resume(&mut self, collection: Arc<Collection>) -> Result<(), ServerError> {
        match &mut self.rows {
            Rows::Scan(scan) => scan.resume(collection),
            Rows::Sorted(_) => Ok(()),
        }
    }

    /// Whether there is a place to go on from.
    pub(crate) fn has_place(&self) -> bool {
        matches!(&self.rows, Rows::Scan(scan) if scan.has_place())
    }

    /// Whether it is known, without looking further, that nothing more comes.
    pub(crate) fn is_at_end(&self) -> bool {
        // A server's sort learns of its end by being asked for one more; it does the limiting itself.
        matches!(self.rows, Rows::Scan(_)) && self.left == Some(0)
    }
}

impl Iterator for Found {
    type Item = Result<Row, ServerError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.left == Some(0) {
            return None;
        }
        while self.skip > 0 {
            self.skip -= 1;
            if let Err(e) = self.next_match()? {
                return Some(Err(e));
            }
        }
        let row = self.next_match()?;
        if let Some(left) = &mut self.left {
            *left -= 1;
        }
        Some(row)
    }
}

/// A document of one's own, from a record's bytes.
pub(crate) fn owned(bytes: &[u8]) -> RawDocumentBuf {
    document(bytes).map_or_else(RawDocumentBuf::new, RawDocument::to_owned)
}
