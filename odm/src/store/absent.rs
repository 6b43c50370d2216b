//! The store that is not compiled in: its types have no values, so that code for two stores compiles with one.

use std::borrow::Cow;
use std::future::Ready;
use std::task::{Context, Poll};

use bson::Document;
use bson::raw::RawDocument;

use crate::error::Result;
use crate::store::changes::{RawChanges, Step};
use crate::store::cursor::RawCursor;
use crate::store::operation::Request;
use crate::store::response::Response;
use crate::store::session::{Session, SessionOptions, TransactionOptions};
use crate::store::watch::Watch;
use crate::store::{Answer, Capability, Transactions};

/// Stands for every type of an absent store. The field is private, so that the compiler does not report code after
/// calls that return it as unreachable.
#[derive(Debug, Clone)]
pub(crate) struct Absent(Never);

#[derive(Debug, Clone)]
enum Never {}

// The names in `store::memory`.
pub(crate) type Memory = Absent;
pub(crate) type MemoryChanges = Absent;
pub(crate) type MemoryCursor = Absent;
pub(crate) type MemoryPage = Absent;
pub(crate) type MemorySession = Absent;

// The names in `store::driver`.
pub(crate) type Driver = Absent;
pub(crate) type DriverChanges<'s> = Absent;
pub(crate) type DriverCursor<'s> = Absent;
pub(crate) type DriverSession = Absent;
pub(crate) type RawBatch = Absent;

/// Declares methods without a body: nobody has a value to call them on.
macro_rules! methods {
    ($(fn $name:ident$(<$s:lifetime>)?($($operand:ty),*) -> $result:ty;)*) => {
        impl Absent {
            $(pub(crate) fn $name$(<$s>)?(&self $(, _: $operand)*) -> $result {
                match self.0 {}
            })*
        }
    };
}

// Stores.
methods! {
    fn at(&str) -> Self;
    fn apart() -> Self;
    fn sibling(&str) -> Self;
    fn session(SessionOptions) -> Result<Session>;
    fn transactions() -> Ready<Option<Transactions>>;
    fn start_session(SessionOptions) -> Ready<Result<Session>>;
    fn exec_now<'s>(&Request) -> Option<Result<Response<'s>>>;
    fn exec<'s>(Request, Option<&'s mut Session>) -> Answer<'s>;
    fn run_command(Document, Option<&mut Session>) -> Ready<Result<Document>>;
    fn run_cursor<'s>(Document, Option<&'s mut Session>) -> Ready<Result<RawCursor<'s>>>;
    fn watch<'s>(Watch, Option<&'s mut Session>) -> Ready<Result<RawChanges<'s>>>;
    fn drop_database() -> Ready<Result<()>>;
    fn capability() -> Ready<Result<Capability>>;
}

// Sessions: the engine's need not wait, the driver's do.
methods! {
    fn in_transaction() -> bool;
    fn start(TransactionOptions) -> Result<()>;
    fn commit() -> Ready<Result<()>>;
    fn expect_retries() -> ();
    fn abort() -> Result<()>;
    fn start_transaction(TransactionOptions) -> Ready<Result<()>>;
    fn commit_transaction() -> Ready<Result<()>>;
    fn abort_transaction() -> Ready<Result<()>>;
}

// Cursors, change streams and batches.
methods! {
    fn poll_step(&mut Context<'_>) -> Poll<Result<Step>>;
    fn cursor_id() -> i64;
    fn to_reply() -> Cow<'_, RawDocument>;
    fn as_raw_document() -> &RawDocument;
    fn collection() -> &str;
    fn resume_token() -> Option<&RawDocument>;
    fn is_read() -> bool;
    fn left() -> usize;
    fn step() -> bool;
    fn current() -> Option<&RawDocument>;
}

impl Absent {
    pub(crate) fn poll_batch<B>(&mut self, _: &mut Context<'_>) -> Poll<B> {
        match self.0 {}
    }
}
