//! `$group`: one document for each value of an expression, with accumulators over its documents.

use std::collections::HashMap;

use bson::raw::{RawBson, RawBsonRef, RawDocument, RawDocumentBuf};

use crate::engine::expression::accumulate::Accumulator;
use crate::engine::expression::{Expression, Globals, Scope, Value, append};
use crate::engine::pipeline::Documents;
use crate::engine::pipeline::stage::{Cx, Stage};
use crate::error::{Code, ServerError};
use crate::value::key;
use crate::value::number::Number;
use crate::value::raw::elements;

#[derive(Debug)]
pub(super) struct Group {
    id: Id,
    fields: Vec<Field>,
}

/// What groups are made by.
#[derive(Debug)]
enum Id {
    Expression(Expression),
    /// `{name: expression}`: with this one field, and no other number of them, a missing value is null.
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

#[derive(Debug)]
struct Field {
    name: String,
    fresh: Accumulator,
    argument: Expression,
}

/// Accumulators of the server that are not run here; sorted.
const UNSUPPORTED: &[&str] = &[
    "$accumulator",
    "$bottom",
    "$bottomN",
    "$firstN",
    "$lastN",
    "$maxN",
    "$minN",
    "$top",
    "$topN",
];

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
            id = Some(Id::parse(value, &scope)?);
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

impl Field {
    fn parse(name: &str, spec: RawBsonRef<'_>, scope: &Scope) -> Result<Self, ServerError> {
        if name.contains('.') {
            return refuse(40235, format!("The field name '{name}' cannot contain '.'"));
        }
        if name.starts_with('$') {
            return refuse(
                40236,
                format!("The field name '{name}' cannot be an operator name"),
            );
        }
        let RawBsonRef::Document(spec) = spec else {
            return refuse(
                40234,
                format!("The field '{name}' must be an accumulator object"),
            );
        };
        let mut parts = elements(spec);
        let Some((operator, argument)) = parts.next() else {
            return refuse(
                40234,
                format!("The field '{name}' must be an accumulator object"),
            );
        };
        if parts.next().is_some() {
            return refuse(
                40238,
                format!("The field '{name}' must specify one accumulator"),
            );
        }
        if !operator.starts_with('$') {
            return refuse(
                40234,
                format!("The field '{name}' must be an accumulator object"),
            );
        }
        if matches!(argument, RawBsonRef::Array(_)) {
            return refuse(
                40237,
                format!("The {operator} accumulator is a unary operator"),
            );
        }
        let Some(fresh) = Accumulator::new(operator) else {
            return if UNSUPPORTED.binary_search(&operator).is_ok() {
                Err(ServerError::new(
                    Code::COMMAND_NOT_SUPPORTED,
                    format!("the accumulator {operator} is not supported by the in-memory engine"),
                ))
            } else {
                refuse(15952, format!("unknown group operator '{operator}'"))
            };
        };
        let argument = match argument {
            RawBsonRef::Document(none) if operator == "$count" && none.is_empty() => {
                RawBsonRef::Null
            }
            _ if operator == "$count" => {
                return Err(ServerError::new(
                    Code::TYPE_MISMATCH,
                    "$count takes no arguments, i.e. $count:{}",
                ));
            }
            argument => argument,
        };
        Ok(Self {
            name: name.to_owned(),
            fresh,
            argument: Expression::parse(argument, scope)?,
        })
    }
}

impl Stage for Group {
    fn check_constants(&self, globals: &Globals) -> Result<(), ServerError> {
        let (Id::Expression(id) | Id::One(_, id)) = &self.id;
        id.check_constants(globals)?;
        self.fields
            .iter()
            .try_for_each(|field| field.argument.check_constants(globals))
    }

    fn run<'a>(&'a self, input: Documents<'a>, cx: Cx<'a>) -> Result<Documents<'a>, ServerError> {
        let mut places: HashMap<Vec<u8>, usize> = HashMap::new();
        let mut groups: Vec<(RawBson, Vec<Accumulator>)> = Vec::new();
        for document in input {
            let document = document?;
            let id = self.id.eval(&document, cx.globals)?;
            let place = *places
                .entry(key::of(id.or_null(), cx.globals.collator()))
                .or_insert(groups.len());
            if place == groups.len() {
                let fresh = self
                    .fields
                    .iter()
                    .map(|field| field.fresh.clone())
                    .collect();
                groups.push((id.or_null().into(), fresh));
            }
            if let Some((_, accumulators)) = groups.get_mut(place) {
                for (field, accumulator) in self.fields.iter().zip(accumulators) {
                    accumulator.add(&field.argument.eval(&document, cx.globals)?, cx.globals)?;
                }
            }
        }
        Ok(Box::new(groups.into_iter().map(|(id, accumulators)| {
            let mut document = RawDocumentBuf::new();
            append(&mut document, "_id", id.as_raw_bson_ref());
            for (field, accumulator) in self.fields.iter().zip(accumulators) {
                append(
                    &mut document,
                    &field.name,
                    accumulator.finish().as_raw_bson_ref(),
                );
            }
            Ok(document)
        })))
    }
}
