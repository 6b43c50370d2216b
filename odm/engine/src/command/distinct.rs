//! `distinct`.

use std::collections::BTreeMap;

use bson::raw::{CStr, RawArrayBuf, RawBson, RawBsonRef, RawDocument, RawDocumentBuf, cstr};
use odm_language::error::{Code, ServerError};
use odm_language::matcher::Matcher;
use odm_language::value::collation::Collator;
use odm_language::value::key;
use odm_language::value::path::{self, Path, Segment};
use odm_language::value::raw;

use crate::catalog::collection::document;
use crate::command::args::{Field, Kind, field, required, type_name};
use crate::command::compat::explain::explained::Explained;
use crate::command::compat::explain::goal::OuterStages;
use crate::command::compat::explain::{aggregation, report};
use crate::command::invocation::Invocation;

use crate::command::declare::{Command, CommandTarget};
use crate::command::generic_arguments::InTransaction;
use crate::command::view;
use crate::cursor::query::{Query, QueryOutput};
use crate::cursor::sort::check_path;
use crate::index::Index;
use crate::planner::requirements::Distinct;

pub(crate) const FIELDS: &[Field] = &[
    required("key", Kind::Str),
    field("query", Kind::Object),
    field("collation", Kind::Object),
    field("$queryOptions", Kind::Any).checked(is_document),
];

fn is_document(_: &str, value: RawBsonRef<'_>) -> Result<(), ServerError> {
    if value.as_document().is_some() {
        return Ok(());
    }
    let found = type_name(value.element_type());
    Err(ServerError::new(
        Code::TYPE_MISMATCH,
        format!("\"$queryOptions\" had the wrong type. Expected object, found {found}"),
    ))
}

pub(crate) const DISTINCT: Command = Command {
    name: "distinct",
    idl: "distinct",
    fields: FIELDS,
    target: CommandTarget::Collection,
    transaction: InTransaction::Allowed,
    retryable: false,
    writes: false,
    run: distinct,
    explain: Some(explain),
};

/// The maximum size of the values in bytes.
const LARGEST: usize = 16 * 1024 * 1024;

fn distinct(call: &mut Invocation<'_>) -> Result<RawDocumentBuf, ServerError> {
    let namespace = call.namespace();
    namespace.check_read()?;
    let collection = call.find_collection(&namespace);
    let key = call.args.str("key").unwrap_or_default();
    if key.contains('\0') {
        return Err(ServerError::new(
            Code::location(31032),
            "Key field cannot contain an embedded null byte",
        ));
    }
    let filter = call.args.document("query");
    let globals = call.globals(call.args.document("collation"), None, collection.as_deref())?;
    if let Err(refusal) = check_path(key) {
        // mongod reports errors in the filter first.
        filter
            .map(|filter| Matcher::parse_query(filter, &globals))
            .transpose()?;
        return Err(refusal);
    }
    let path = Path::new(key);
    let only = projection(key);
    let query = Query {
        filter,
        sort: None,
        hint: None,
        skip: 0,
        limit: None,
        globals,
        shape: QueryOutput {
            projection: only.as_deref(),
            distinct: only.as_ref().map(|_| Distinct::Value(&path)),
            ..QueryOutput::default()
        },
    };
    let mut values = Values::new(&path, query.globals.collator());
    if call.find_view(&namespace).is_some() {
        if key.is_empty() {
            return Err(ServerError::new(
                Code::location(40352),
                "FieldPath cannot be constructed with empty string",
            ));
        }
        let collation = call.args.document("collation");
        let aggregate = view::query(call, namespace, &query, collation, None)?;
        values.collation = aggregate.globals.collator();
        values.in_order = false;
        for document in aggregate.run(call)? {
            values.add(document.document())?;
        }
        return Ok(values.into_reply(call, RawBson::Int32(1)));
    }
    let prepared = query.prepare(collection.as_deref()).map_err(|error| {
        super::compat::canonical_query::explain_hint(error, &call.namespace(), &call.args)
    })?;
    if let Some(collection) = collection {
        for row in prepared.run(collection, call.deadline())? {
            let (_, bytes) = row.map_err(|e| e.within("Executor error during distinct command"))?;
            if let Some(document) = document(&bytes) {
                values.add(document)?;
            }
        }
    } else {
        call.name_plan("EOF");
    }
    Ok(values.into_reply(call, RawBson::Double(1.0)))
}

/// A projection to one field. A path with a number needs the whole document, since index keys do not show which field
/// is an array element.
pub(crate) fn projection(key: &str) -> Option<RawDocumentBuf> {
    if key.split('.').skip(1).any(path::is_number) {
        return None;
    }
    let mut only = RawDocumentBuf::new();
    if key != "_id" {
        only.append(cstr!("_id"), 0);
    }
    if let Ok(name) = <&CStr>::try_from(key) {
        only.append(name, 1);
    }
    Some(only)
}

/// The values at a path. Unlike in filters, a number in the path selects only an element of an array, not also a field
/// of the documents in it.
fn collect<'a>(value: RawBsonRef<'a>, path: &[Segment], found: &mut Vec<RawBsonRef<'a>>) {
    let Some((head, rest)) = path.split_first() else {
        found.push(value);
        return;
    };
    // A field named like the whole rest of the path, such as `"a.b"`, takes precedence over nested fields.
    if let (RawBsonRef::Document(document), [_, ..]) = (value, rest) {
        let names: Vec<_> = path.iter().map(Segment::name).collect();
        if let Some(value) = raw::get(document, &names.join(".")) {
            found.push(value);
            return;
        }
    }
    let is_number =
        !head.name().is_empty() && head.name().bytes().all(|byte| byte.is_ascii_digit());
    match value {
        RawBsonRef::Document(document) => {
            if let Some(value) = raw::get(document, head.name()) {
                collect(value, rest, found);
            }
        }
        RawBsonRef::Array(array) if is_number => {
            let element = head.index().and_then(|index| raw::values(array).nth(index));
            if let Some(value) = element {
                collect(value, rest, found);
            }
        }
        RawBsonRef::Array(array) => {
            for value in raw::values(array) {
                if matches!(value, RawBsonRef::Document(_)) {
                    collect(value, path, found);
                }
            }
        }
        _ => {}
    }
}

/// The distinct values so far, in sort order, as on mongod.
#[derive(Debug)]
struct Values<'c> {
    path: &'c Path,
    collation: Option<&'c Collator>,
    /// Whether to add the values of one document in binary order. Of values that a collation makes equal, mongod shows
    /// the first in this order, but on a view the first in the document.
    in_order: bool,
    found: BTreeMap<Vec<u8>, RawBson>,
    size: usize,
}

impl<'c> Values<'c> {
    fn new(path: &'c Path, collation: Option<&'c Collator>) -> Self {
        Self {
            path,
            collation,
            in_order: true,
            found: BTreeMap::new(),
            size: 0,
        }
    }

    /// Adds the values of a document; an array adds its elements.
    fn add(&mut self, document: &RawDocument) -> Result<(), ServerError> {
        let mut found = Vec::new();
        let document = RawBsonRef::Document(document);
        collect(document, self.path.segments(), &mut found);
        let mut elements = Vec::with_capacity(found.len());
        for value in found {
            match value {
                RawBsonRef::Array(array) => elements.extend(raw::values(array)),
                value => elements.push(value),
            }
        }
        if self.collation.is_some() && self.in_order {
            elements.sort_by_cached_key(|value| key::of(*value, None));
        }
        for value in elements {
            let key = key::of(value, self.collation);
            self.size += key.len();
            self.found
                .entry(key)
                .or_insert_with(|| RawBson::from(value));
            if self.size > LARGEST {
                return Err(ServerError::new(
                    Code::location(17217),
                    "distinct too big, 16mb cap",
                ));
            }
        }
        Ok(())
    }

    fn into_reply(self, call: &Invocation<'_>, ok: RawBson) -> RawDocumentBuf {
        let mut reply = RawDocumentBuf::new();
        reply.append(
            cstr!("values"),
            self.found.into_values().collect::<RawArrayBuf>(),
        );
        if let Some(time) = call.read_time() {
            reply.append(cstr!("atClusterTime"), time);
        }
        reply.append(cstr!("ok"), ok);
        reply
    }
}

fn explain(
    call: &mut Invocation<'_>,
    explained: &Explained<'_>,
) -> Result<RawDocumentBuf, ServerError> {
    let (namespace, args) = (explained.namespace, explained.args);
    let collation = args.document("collation");
    if call.find_view(namespace).is_some() {
        let query = report::plain(call, namespace, args.document("query"), None)?;
        let aggregate = view::query(call, namespace.clone(), &query, collation, None)?;
        return aggregation::report(call, explained, &aggregate);
    }
    let mut query = report::plain(call, namespace, args.document("query"), collation)?;
    let key = args.str("key").unwrap_or_default();
    let only = projection(key);
    // mongod shows the projection if an index contains the field.
    let has_key = |index: &Index| index.spec.key.contains_key(key);
    let collection = call.find_collection(namespace);
    let kept = collection.is_some_and(|collection| collection.indexes.iter().any(has_key));
    query.shape.projection = only.as_deref().filter(|_| kept);
    let path = Path::new(key);
    query.shape.distinct = only.as_ref().map(|_| Distinct::Value(&path));
    let around = OuterStages {
        projection: query.shape.projection,
        is_distinct: true,
        ..OuterStages::default()
    };
    report::answer(call, explained, namespace, &query, &around)
}
