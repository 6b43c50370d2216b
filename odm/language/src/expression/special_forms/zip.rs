//! `$zip`: stops evaluating its inputs at the first null, and evaluates its defaults only if an input is shorter.

use bson::raw::{RawArrayBuf, RawBson, RawBsonRef};

use crate::error::{ServerError, refuse};
use crate::expression::ast::{Form, Node, Zip};
use crate::expression::compat::messages;
use crate::expression::eval::Env;
use crate::expression::globals::Scope;
use crate::expression::operator::{Outcome, owned};
use crate::expression::parse::parse as expression;
use crate::expression::special_forms::Parsed;
use crate::expression::value::Value;
use crate::value::raw::{elements, values};

pub(super) fn parse(raw: RawBsonRef<'_>, scope: &Scope) -> Parsed {
    let RawBsonRef::Document(document) = raw else {
        return refuse(
            34460,
            format!(
                "$zip only supports an object as an argument, found {}",
                messages::type_name(Some(raw))
            ),
        );
    };
    let mut zip = Zip {
        inputs: Vec::new(),
        is_longest: false,
        defaults: Vec::new(),
    };
    for (name, value) in elements(document) {
        match (name, value) {
            ("inputs", value) => zip.inputs = list(name, value, 34461, scope)?,
            ("defaults", value) => zip.defaults = list(name, value, 34462, scope)?,
            ("useLongestLength", RawBsonRef::Boolean(longest)) => zip.is_longest = longest,
            ("useLongestLength", _) => {
                // mongod names the type of the whole specification.
                return refuse(34463, "useLongestLength must be a bool, found object");
            }
            (other, _) => {
                return refuse(34464, format!("$zip found an unknown argument: {other}"));
            }
        }
    }
    if zip.inputs.is_empty() {
        return refuse(34465, "$zip requires at least one input array");
    }
    if !zip.defaults.is_empty() && !zip.is_longest {
        return refuse(
            34466,
            "cannot specify defaults unless useLongestLength is true",
        );
    }
    if !zip.defaults.is_empty() && zip.defaults.len() != zip.inputs.len() {
        return refuse(34467, "defaults and inputs must have the same length");
    }
    Ok(Form::Zip(zip))
}

fn list(
    name: &str,
    value: RawBsonRef<'_>,
    code: i32,
    scope: &Scope,
) -> Result<Vec<Node>, ServerError> {
    let RawBsonRef::Array(items) = value else {
        return refuse(
            code,
            format!(
                "{name} must be an array of expressions, found {}",
                messages::type_name(Some(value))
            ),
        );
    };
    values(items).map(|item| expression(item, scope)).collect()
}

impl Zip {
    pub(super) fn eval<'a>(&'a self, env: &Env<'_, 'a>) -> Outcome<'a> {
        let mut rows: Vec<Vec<RawBson>> = Vec::new();
        for input in &self.inputs {
            let value = input.eval(env)?;
            if value.is_nullish() {
                return Ok(Value::NULL);
            }
            let RawBsonRef::Array(items) = value.or_null() else {
                return refuse(
                    34468,
                    format!(
                        "$zip found a non-array expression in input: {}",
                        messages::computed(value.or_null())
                    ),
                );
            };
            rows.push(values(items).map(RawBson::from).collect());
        }
        let shortest = rows.iter().map(Vec::len).min().unwrap_or(0);
        let longest = rows.iter().map(Vec::len).max().unwrap_or(0);
        let length = if self.is_longest { longest } else { shortest };
        let mut defaults = Vec::new();
        if shortest < length {
            for default in &self.defaults {
                defaults.push(default.eval(env)?);
            }
        }
        let mut zipped = RawArrayBuf::new();
        for index in 0..length {
            let mut tuple = RawArrayBuf::new();
            for (row, items) in rows.iter().enumerate() {
                match (items.get(index), defaults.get(row)) {
                    (Some(item), _) => tuple.push(item.as_raw_bson_ref()),
                    // A missing default leaves the tuple shorter.
                    (None, Some(default)) => {
                        if let Some(item) = default.get() {
                            tuple.push(item);
                        }
                    }
                    (None, None) => tuple.push(RawBsonRef::Null),
                }
            }
            zipped.push(tuple);
        }
        owned(zipped)
    }
}
