//! Evaluates forms: only the arguments that they need, with their variables.

use bson::raw::{RawArrayBuf, RawBson, RawBsonRef};

use crate::error::{ServerError, refuse};
use crate::expression::ast::{Form, Node};
use crate::expression::compat::messages;
use crate::expression::eval::{Env, Local};
use crate::expression::memory_limit;
use crate::expression::operator::{Outcome, integral_32};
use crate::expression::value::Value;
use crate::value::raw::values;

impl Form {
    pub(in crate::expression) fn eval<'a>(&'a self, env: &Env<'_, 'a>) -> Outcome<'a> {
        match self {
            Self::And(nodes, _) => {
                for node in nodes {
                    if !node.eval(env)?.truthy() {
                        return boolean(false);
                    }
                }
                boolean(true)
            }
            Self::Or(nodes, _) => {
                for node in nodes {
                    if node.eval(env)?.truthy() {
                        return boolean(true);
                    }
                }
                boolean(false)
            }
            Self::Cond {
                condition,
                then,
                otherwise,
            } => {
                if condition.eval(env)?.truthy() {
                    then.eval(env)
                } else {
                    otherwise.eval(env)
                }
            }
            Self::IfNull(nodes) => {
                let mut value = Value::Missing;
                for node in nodes {
                    value = node.eval(env)?;
                    if !value.is_nullish() {
                        break;
                    }
                }
                Ok(value)
            }
            Self::Switch { branches, default } => {
                for (case, then) in branches {
                    if case.eval(env)?.truthy() {
                        return then.eval(env);
                    }
                }
                match default {
                    Some(default) => default.eval(env),
                    None => refuse(
                        40066,
                        "$switch could not find a matching branch for an input, and no default was specified.",
                    ),
                }
            }
            Self::Let { variables, within } => {
                let mut values = Vec::new();
                for (name, node) in variables {
                    values.push((name.as_str(), node.eval(env)?));
                }
                bind(env, &mut values.into_iter(), within)
            }
            Self::Meta(meta) => Ok(meta.eval(env.globals)),
            Self::Map {
                input,
                name,
                within,
            } => map(env, input, name, within),
            Self::Filter {
                input,
                name,
                condition,
                limit,
            } => filter(env, input, (name, condition), limit.as_ref()),
            Self::Zip(zip) => zip.eval(env),
            Self::Reduce {
                input,
                initial,
                within,
            } => reduce(env, input, initial, within),
        }
    }
}

fn map<'a>(env: &Env<'_, 'a>, input: &'a Node, name: &'a str, within: &'a Node) -> Outcome<'a> {
    let message = "input to $map must be an array not";
    each(env, input, message, 16883, |items| {
        let mut mapped = RawArrayBuf::new();
        for item in items {
            let value = bind(env, &mut std::iter::once((name, item)), within)?;
            mapped.push(value.or_null());
            memory_limit::check("$map", mapped.as_bytes().len())?;
        }
        Ok(mapped)
    })
}

fn filter<'a>(
    env: &Env<'_, 'a>,
    input: &'a Node,
    (name, condition): (&'a str, &'a Node),
    limit: Option<&'a Node>,
) -> Outcome<'a> {
    let message = "input to $filter must be an array not";
    each(env, input, message, 28651, |items| {
        let mut kept = RawArrayBuf::new();
        if items.is_empty() {
            return Ok(kept);
        }
        let mut left = match limit {
            Some(limit) => limit_of(&limit.eval(env)?)?,
            None => usize::MAX,
        };
        for item in items {
            if left == 0 {
                break;
            }
            let mut bound = std::iter::once((name, item.clone()));
            if bind(env, &mut bound, condition)?.truthy() {
                kept.push(item.or_null());
                left -= 1;
            }
        }
        Ok(kept)
    })
}

fn reduce<'a>(
    env: &Env<'_, 'a>,
    input: &'a Node,
    initial: &'a Node,
    within: &'a Node,
) -> Outcome<'a> {
    let list = input.eval(env)?;
    if list.is_nullish() {
        return Ok(Value::NULL);
    }
    let Some(items) = items(&list) else {
        return refuse(
            40080,
            format!(
                "$reduce requires that 'input' be an array, found: {}",
                list.get().map(messages::computed).unwrap_or_default()
            ),
        );
    };
    let mut value = initial.eval(env)?;
    for item in items {
        let bound = [("this", item), ("value", value)];
        value = bind(env, &mut bound.into_iter(), within)?;
    }
    Ok(value)
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "the ending of functions that may fail"
)]
fn boolean<'a>(value: bool) -> Outcome<'a> {
    Ok(Value::Ref(RawBsonRef::Boolean(value)))
}

fn limit_of(value: &Value<'_>) -> Result<usize, ServerError> {
    if value.is_nullish() {
        return Ok(usize::MAX);
    }
    match value.get().and_then(integral_32) {
        Some(limit) if limit >= 1 => Ok(usize::try_from(limit).unwrap_or(usize::MAX)),
        Some(limit) => refuse(
            327_392,
            format!("$filter: limit must be greater than 0: {limit}"),
        ),
        None => refuse(
            327_391,
            format!(
                "$filter: limit must be represented as a 32-bit integral value: {}",
                value.get().map(messages::computed).unwrap_or_default()
            ),
        ),
    }
}

/// The elements of an array, borrowed if the array is borrowed.
fn items<'a>(value: &Value<'a>) -> Option<Vec<Value<'a>>> {
    match value {
        Value::Ref(RawBsonRef::Array(array)) => Some(values(array).map(Value::Ref).collect()),
        Value::Owned(RawBson::Array(array)) => Some(
            values(array)
                .map(|item| Value::Owned(item.into()))
                .collect(),
        ),
        _ => None,
    }
}

fn each<'a>(
    env: &Env<'_, 'a>,
    input: &'a Node,
    refusal: &str,
    code: i32,
    run: impl FnOnce(Vec<Value<'a>>) -> Result<RawArrayBuf, ServerError>,
) -> Outcome<'a> {
    let list = input.eval(env)?;
    if list.is_nullish() {
        return Ok(Value::NULL);
    }
    match items(&list) {
        Some(items) => Ok(Value::Owned(RawBson::Array(run(items)?))),
        None => refuse(
            code,
            format!("{refusal} {}", messages::type_name(list.get())),
        ),
    }
}

/// Evaluates `within` with more variables. Each recursion binds one, which keeps the linked list on the stack.
fn bind<'a>(
    env: &Env<'_, 'a>,
    variables: &mut dyn Iterator<Item = (&str, Value<'a>)>,
    within: &'a Node,
) -> Outcome<'a> {
    match variables.next() {
        None => within.eval(env),
        Some((name, value)) => {
            let local = Local {
                name,
                value,
                outer: env.locals,
            };
            let inner = Env {
                locals: Some(&local),
                ..*env
            };
            bind(&inner, variables, within)
        }
    }
}
