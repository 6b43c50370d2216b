//! Imitates mongod's reports about queries, on which no result depends: the replies of `explain`, and the text of a query
//! in an error message.

pub(super) mod canonical_query;
pub(super) mod explain;
