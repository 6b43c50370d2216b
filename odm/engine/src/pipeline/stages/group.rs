//! `$group`: one document for each value of an expression, with accumulators over its documents.

mod field;
mod percentile;

#[cfg(test)]
pub(crate) use self::field::runs;

use std::collections::HashMap;

use bson::raw::{RawBson, RawBsonRef, RawDocument, RawDocumentBuf};
use bson::{Document, doc};
use odm_language::error::{Code, ServerError};
use odm_language::expression::{Expression, Globals, Scope, Value};
use odm_language::value::key::{self, Direction};
use odm_language::value::number::Number;
use odm_language::value::path::Segment;
use odm_language::value::raw::append;
use odm_language::value::raw::elements;

use crate::pipeline::memory::{self, Memory};
use crate::pipeline::shown::{Printer, stage};
use crate::pipeline::source::{Documents, made};
use crate::pipeline::stage::{Cx, PathEffect, Stage, Touched};

pub(super) use self::field::{Field, State};

/// What mongod's `$group` adds to the size of a group's key, and to that of each accumulator's values.
const GROUP: usize = 16;
const FIELD: usize = 64;

#[derive(Debug)]
pub(super) struct Group {
    id: Id,
    fields: Vec<Field>,
}

/// The expression to group by.
#[derive(Debug)]
enum Id {
    Expression(Expression),
    /// `{name: expression}`: with exactly one field, a missing value becomes null.
    One(String, Expression),
}

impl Id {
    fn parse(spec: RawBsonRef<'_>, scope: &Scope) -> Result<Self, ServerError> {
        if let RawBsonRef::Document(document) = spec
            && !elements(document).any(|(name, _)| name.starts_with('$'))
            && elements(document).any(|(_, value)| is_flag(value))
        {
            return refuse(17390, "$group does not support inclusion-style expressions");
        }
        let whole = Expression::parse(spec, scope)?;
        if let RawBsonRef::Document(document) = spec {
            let mut fields = elements(document);
            if let (Some((name, value)), None) = (fields.next(), fields.next())
                && !name.starts_with('$')
            {
                return Ok(Self::One(name.to_owned(), Expression::parse(value, scope)?));
            }
        }
        Ok(Self::Expression(whole))
    }

    fn eval<'a>(
        &'a self,
        document: &'a RawDocument,
        globals: &'a Globals,
    ) -> Result<Value<'a>, ServerError> {
        match self {
            Self::Expression(expression) => expression.eval(document, globals),
            Self::One(name, expression) => {
                let mut id = RawDocumentBuf::new();
                append(&mut id, name, expression.eval(document, globals)?.or_null());
                Ok(Value::Owned(RawBson::Document(id)))
            }
        }
    }
}

pub(super) fn parse(
    _name: &str,
    spec: RawBsonRef<'_>,
    globals: &Globals,
) -> Result<Box<dyn Stage>, ServerError> {
    let RawBsonRef::Document(spec) = spec else {
        return refuse(15947, "a group's fields must be specified in an object");
    };
    let scope = globals.scope();
    let mut id = None;
    let mut fields = Vec::new();
    for (name, value) in elements(spec) {
        if name == "_id" {
            let parsed = Id::parse(value, &scope)?;
            if id.replace(parsed).is_some() {
                return refuse(15948, "a group's _id may only be specified once");
            }
        } else {
            fields.push(Field::parse(name, value, &scope)?);
        }
    }
    match id {
        Some(id) => Ok(Box::new(Group { id, fields })),
        None => refuse(15955, "a group specification must include an _id"),
    }
}

fn is_flag(value: RawBsonRef<'_>) -> bool {
    matches!(value, RawBsonRef::Boolean(_)) || Number::from_raw(value).is_some()
}

fn refuse<T>(code: i32, message: impl Into<String>) -> Result<T, ServerError> {
    Err(ServerError::new(Code::location(code), message))
}

impl Stage for Group {
    fn shown(&self, printer: &dyn Printer) -> Result<Vec<Document>, ServerError> {
        let globals = printer.globals();
        let id = match &self.id {
            Id::Expression(id) => id.optimized(globals),
            Id::One(name, id) => stage(name, id.optimized(globals)).into(),
        };
        let mut shown = doc! { "_id": id };
        for field in &self.fields {
            shown.insert(&field.name, field.shown(globals));
        }
        Ok(vec![stage("$group", shown)])
    }

    fn check_constants(&self, globals: &Globals) -> Result<(), ServerError> {
        let (Id::Expression(id) | Id::One(_, id)) = &self.id;
        id.check_constants(globals)?;
        self.fields
            .iter()
            .try_for_each(|field| field.check_constants(globals))
    }

    fn effect(&self) -> Option<PathEffect> {
        let (above, id) = match &self.id {
            Id::Expression(id) => ("_id".to_owned(), id),
            Id::One(name, id) => (format!("_id.{name}"), id),
        };
        let copies = id.copied_fields().into_iter().map(|(below, field)| {
            let path = match below.as_str() {
                "" => above.clone(),
                below => format!("{above}.{below}"),
            };
            (path, field.to_owned())
        });
        Some(PathEffect {
            copies: copies.collect(),
            never_missing: Some("_id"),
            ..PathEffect::new(Touched::AllBut(Vec::new()))
        })
    }

    fn needs(&self) -> Option<Vec<String>> {
        let (Id::Expression(id) | Id::One(_, id)) = &self.id;
        let mut needs = id.paths()?;
        for field in &self.fields {
            needs.extend(field.paths()?);
        }
        Some(needs)
    }

    fn reads_first_by(&self) -> Option<String> {
        let (Id::Expression(id) | Id::One(_, id)) = &self.id;
        id.as_path()
            .filter(|_| self.fields.iter().all(Field::is_first))
    }

    fn forgets_metadata(&self) -> bool {
        true
    }

    fn run<'a>(&'a self, input: Documents<'a>, cx: Cx<'a>) -> Result<Documents<'a>, ServerError> {
        let mut memory = Memory::new(cx.globals);
        let mut places: HashMap<Vec<u8>, usize> = HashMap::new();
        let mut groups: Vec<(RawBson, Vec<State>)> = Vec::new();
        let fields: Option<Vec<Segment>> = self.needs().map(|paths| {
            let heads = paths.iter().filter_map(|path| path.split('.').next());
            heads.map(Segment::new).collect()
        });
        let (mut key, mut buffer) = (Vec::new(), RawDocumentBuf::new());
        for document in input {
            let document = document?;
            let document = document.with_fields(fields.as_deref(), &mut buffer);
            let id = self.id.eval(document, cx.globals)?;
            key.clear();
            let ascending = Direction::Ascending;
            key::append(&mut key, id.or_null(), ascending, cx.globals.collator());
            let known = places.get(&key).copied();
            let place = known.unwrap_or(groups.len());
            if known.is_none() {
                memory.add(GROUP + key.len() + FIELD * self.fields.len());
                places.insert(key.clone(), place);
                let fresh = self
                    .fields
                    .iter()
                    .map(|field| field.start(id.or_null(), cx.globals))
                    .collect::<Result<_, _>>()?;
                groups.push((id.or_null().into(), fresh));
            }
            if let Some((_, states)) = groups.get_mut(place) {
                for (field, state) in self.fields.iter().zip(states) {
                    let before = memory.is_limited().then(|| state.size());
                    field.add(state, document, cx.globals)?;
                    if let Some(before) = before {
                        memory.remove(before);
                        memory.add(state.size());
                    }
                }
            }
            if memory.is_exceeded() {
                return Err(memory::needs_disk(
                    "Exceeded memory limit for $group, but didn't allow external spilling; pass allowDiskUse:true to opt in",
                ));
            }
        }
        if let Some(shuffle) = cx.globals.shuffle() {
            shuffle.shuffle(&mut groups);
        }
        Ok(made(groups.into_iter().map(|(id, states)| {
            let mut document = RawDocumentBuf::new();
            append(&mut document, "_id", id.as_raw_bson_ref());
            for (field, state) in self.fields.iter().zip(states) {
                let value = state.finish(cx.globals);
                append(&mut document, &field.name, value.as_raw_bson_ref());
            }
            Ok(document)
        })))
    }
}
