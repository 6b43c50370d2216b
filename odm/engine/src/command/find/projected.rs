//! The documents of a `find`, projected.

use bson::raw::{CString, RawBsonRef, RawDocument, RawDocumentBuf, cstr};
use odm_language::error::ServerError;
use odm_language::expression::Globals;
use odm_language::expression::meta::Known;
use odm_language::matcher::Matcher;
use odm_language::value::raw;

use crate::catalog::collection::Version;
use crate::command::invocation::Invocation;
use crate::cursor::exec::Row;
use crate::cursor::point::Listed;
use crate::cursor::query::Found;
use crate::cursor::registry::{Item, Results};
use crate::cursor::sort::Order;
use crate::pipeline::projection::Projection;

/// A projected document. The filter determines which element the positional `$` stands for.
pub(crate) fn project(
    projection: &Projection,
    matcher: Option<&Matcher>,
    document: &RawDocument,
    globals: &Globals,
) -> Result<RawDocumentBuf, ServerError> {
    let index = match matcher {
        Some(matcher) if projection.needs_position() => matcher
            .match_position(document)?
            .and_then(|found| found.array_index),
        _ => None,
    };
    projection.apply(document, index, globals)
}

/// A projection that only includes or excludes fields: it needs neither the filter nor the plan.
pub(super) struct Fields {
    projection: Projection,
    globals: Globals,
}

impl Fields {
    /// `None` if the projection computes anything, or is invalid.
    pub(super) fn parse(call: &Invocation<'_>, projection: &RawDocument) -> Option<Self> {
        let is_switch = |(name, value): (&str, _)| {
            let is_constant = matches!(
                value,
                RawBsonRef::Boolean(_)
                    | RawBsonRef::Int32(_)
                    | RawBsonRef::Int64(_)
                    | RawBsonRef::Double(_)
            );
            is_constant && !name.contains('$')
        };
        if !raw::elements(projection).all(is_switch) {
            return None;
        }
        let globals = call.globals(None, None, None).ok()?;
        let projection = Projection::parse(projection, &globals, &|| Ok(())).ok()?;
        Some(Self {
            projection,
            globals,
        })
    }

    pub(super) fn of(&self, item: &Item) -> Result<Item, ServerError> {
        let projected = self.projection.apply(item.document(), None, &self.globals);
        projected.map(Item::Made)
    }

    pub(super) fn of_each(self, found: Listed) -> ListedFields {
        ListedFields {
            fields: self,
            found,
        }
    }
}

/// The fields of documents that an index has found without a plan.
pub(super) struct ListedFields {
    fields: Fields,
    found: Listed,
}

impl Results for ListedFields {
    fn next(&mut self) -> Option<Result<Item, ServerError>> {
        let found = self.found.next()?;
        let fields = found.and_then(|item| self.fields.of(&item));
        Some(fields.map_err(|error| error.within("Executor error during find command")))
    }

    fn is_at_end(&self) -> bool {
        self.found.is_at_end()
    }
}

/// What a projection does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// It includes fields and does nothing else.
    Inclusion,
    Other,
}

/// The documents of a query, projected.
pub(super) struct Projected {
    pub(super) found: Found,
    pub(super) projection: Option<Projection>,
    pub(super) form: Form,
    /// Set if the projection has a positional `$`.
    pub(super) matcher: Option<Matcher>,
    pub(super) globals: Globals,
    pub(super) reads_metadata: bool,
    /// The sort order, if the projection shows the sort key.
    pub(super) sort: Option<Order>,
    /// Whether each document gets its record id as `$recordId`.
    pub(super) numbered: bool,
    /// With `returnKey`, only the index keys are shown, and the sort keys under these names.
    pub(super) keyed: Option<Vec<String>>,
    pub(super) tailable: bool,
}

/// The fields of a projection that show the sort key.
pub(super) fn sort_keys(projection: Option<&RawDocument>) -> Vec<String> {
    let fields = projection.into_iter().flat_map(raw::elements);
    let wanted = |value| matches!(value, RawBsonRef::Document(meta) if raw::get(meta, "$meta") == Some(RawBsonRef::String("sortKey")));
    fields
        .filter(|(_, value)| wanted(*value))
        .map(|(name, _)| name.to_owned())
        .collect()
}

impl Projected {
    fn with_sort_keys(&self, mut key: RawDocumentBuf, names: &[String]) -> Item {
        for name in names {
            if let (Some(values), Ok(name)) =
                (self.globals.known().sort_key, CString::try_from(&**name))
            {
                key.append(name, values);
            }
        }
        Item::Made(key)
    }

    /// The result document for a record.
    fn result(&self, row: Row) -> Result<Item, ServerError> {
        let record = i64::try_from(row.0).ok();
        let known = self.reads_metadata.then(|| self.found.known(&row));
        let key = match &self.keyed {
            Some(_) => self.found.key_of(&row)?.unwrap_or_default(),
            None => RawDocumentBuf::new(),
        };
        let is_made = row.1.is_made();
        let item = Item::Stored(row.1);
        if let Some(known) = known {
            let sort_key = self.sort.as_ref();
            self.globals.set_known(Known {
                sort_key: sort_key
                    .map(|sort| sort.values(item.document(), &known))
                    .transpose()?,
                ..known
            });
        }
        if let Some(names) = &self.keyed {
            return Ok(self.with_sort_keys(key, names));
        }
        let item = match &self.projection {
            None => item,
            // Such a projection includes all fields of an index that it is made of.
            Some(_) if self.form == Form::Inclusion && is_made => item,
            Some(projection) => Item::Made(project(
                projection,
                self.matcher.as_ref(),
                item.document(),
                &self.globals,
            )?),
        };
        Ok(match record {
            Some(record) if self.numbered => {
                let mut numbered = item.document().to_owned();
                numbered.append(cstr!("$recordId"), record);
                Item::Made(numbered)
            }
            _ => item,
        })
    }
}

impl Results for Projected {
    fn next(&mut self) -> Option<Result<Item, ServerError>> {
        Some(self.found.next()?.and_then(|row| self.result(row)))
    }

    fn is_at_end(&self) -> bool {
        !self.tailable && self.found.is_at_end()
    }

    fn resume(&mut self, collection: Version) -> Result<(), ServerError> {
        self.found.resume(collection)
    }

    fn has_place(&self) -> bool {
        self.found.has_place()
    }

    fn postpone(&mut self, millis: i64) {
        self.found.execution.deadline.postpone(millis);
    }
}
