//! `$sortByCount`: groups by an expression, and sorts by the size of the groups.

use bson::raw::{RawBson, RawBsonRef, RawDocumentBuf, cstr};
use odm_language::error::{Code, ServerError};
use odm_language::expression::Globals;
use odm_language::value::raw::elements;

use crate::pipeline::stage::Stage;
use crate::pipeline::stages::sequence::Sequence;
use crate::pipeline::stages::{group, sort};

pub(super) fn parse(
    _name: &str,
    spec: RawBsonRef<'_>,
    globals: &Globals,
) -> Result<Box<dyn Stage>, ServerError> {
    let refuse = |code, message| Err(ServerError::new(Code::location(code), message));
    match spec {
        RawBsonRef::Document(document) => {
            if !elements(document)
                .next()
                .is_some_and(|(name, _)| name.starts_with('$'))
            {
                return refuse(
                    40147,
                    "the sortByCount field must be defined as a $-prefixed path or an expression inside an object",
                );
            }
        }
        RawBsonRef::String(path) if path.starts_with('$') => {}
        RawBsonRef::String(_) => {
            return refuse(
                40148,
                "the sortByCount field must be defined as a $-prefixed path or an expression inside an object",
            );
        }
        _ => {
            return refuse(
                40149,
                "the sortByCount field must be specified as a string or as an object",
            );
        }
    }
    let mut sum = RawDocumentBuf::new();
    sum.append(cstr!("$sum"), 1);
    let mut grouping = RawDocumentBuf::new();
    grouping.append(cstr!("_id"), spec);
    grouping.append(cstr!("count"), RawBson::Document(sum));
    let mut order = RawDocumentBuf::new();
    order.append(cstr!("count"), -1);
    Ok(Sequence::boxed(vec![
        group::parse("$group", RawBsonRef::Document(&grouping), globals)?,
        sort::parse("$sort", RawBsonRef::Document(&order), globals)?,
    ]))
}
