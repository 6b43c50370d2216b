//! Evaluates compiled expressions over raw documents.

use std::ptr;

use bson::raw::{RawArrayBuf, RawBson, RawBsonRef, RawDocument, RawDocumentBuf};

use crate::error::{Code, ServerError};
use crate::expression::ast::Node;
use crate::expression::globals::Globals;
use crate::expression::memory_limit;
use crate::expression::operator::{Args, Outcome};
use crate::expression::set::SUBSET_AS_WRITTEN;
use crate::expression::string::bounds;
use crate::expression::top_n::size;
use crate::expression::value::Value;
use crate::value::number::Number;
use crate::value::raw::{append, get, values};

/// The environment of an evaluation.
#[derive(Debug, Clone, Copy)]
pub(super) struct Env<'v, 'a> {
    pub(super) root: RawBsonRef<'a>,
    pub(super) globals: &'a Globals,
    pub(super) locals: Option<&'v Local<'v, 'a>>,
}

/// A variable that an enclosing `$let`, `$map`, `$filter` or `$reduce` binds; the innermost first.
#[derive(Debug)]
pub(super) struct Local<'v, 'a> {
    pub(super) name: &'v str,
    pub(super) value: Value<'a>,
    pub(super) outer: Option<&'v Local<'v, 'a>>,
}

impl<'a> Env<'_, 'a> {
    pub(super) fn new(root: &'a RawDocument, globals: &'a Globals) -> Self {
        Self {
            root: RawBsonRef::Document(root),
            globals,
            locals: None,
        }
    }

    fn variable(&self, name: &str) -> Outcome<'a> {
        let mut local = self.locals;
        while let Some(binding) = local {
            if binding.name == name {
                return Ok(binding.value.clone());
            }
            local = binding.outer;
        }
        if let Some(value) = self.globals.variable(name) {
            return Ok(value);
        }
        Ok(match name {
            "ROOT" | "CURRENT" => Value::Ref(self.root),
            "NOW" | "CLUSTER_TIME" if self.globals.is_timeless() => {
                return Err(ServerError::new(
                    Code::location(51_144),
                    format!("Builtin variable '$${name}' is not available"),
                ));
            }
            "NOW" => Value::Ref(RawBsonRef::DateTime(self.globals.now())),
            "CLUSTER_TIME" => Value::Ref(RawBsonRef::Timestamp(self.globals.timestamp())),
            _ => Value::Missing,
        })
    }
}

impl Node {
    pub(super) fn eval<'a>(&'a self, env: &Env<'_, 'a>) -> Outcome<'a> {
        match self {
            Self::Literal(value) => Ok(Value::Ref(value.as_raw_bson_ref())),
            Self::Field(path) => Ok(follow(env.root, path)),
            Self::Variable(name, path) => Ok(match env.variable(name)? {
                value if path.is_empty() => value,
                Value::Missing => Value::Missing,
                Value::Ref(value) => follow(value, path),
                Value::Owned(value) => follow(value.as_raw_bson_ref(), path)
                    .into_owned()
                    .map_or(Value::Missing, Value::Owned),
            }),
            Self::Object(fields) => {
                let mut document = RawDocumentBuf::new();
                for (name, node) in fields {
                    if let Some(value) = node.eval(env)?.get() {
                        append(&mut document, name, value);
                        memory_limit::check("an object", document.as_bytes().len())?;
                    }
                }
                Ok(Value::Owned(RawBson::Document(document)))
            }
            Self::Array(nodes) => {
                let mut array = RawArrayBuf::new();
                for node in nodes {
                    array.push(node.eval(env)?.or_null());
                    memory_limit::check("an array", array.as_bytes().len())?;
                }
                Ok(Value::Owned(RawBson::Array(array)))
            }
            Self::Call {
                operator,
                arguments,
                ..
            } => {
                let mut values = Vec::with_capacity(arguments.len());
                let substitutes = Substitutes::of(operator.name);
                if let ("$divide" | "$subtract", [Some(left), Some(right)]) =
                    (operator.name, arguments.as_slice())
                {
                    // mongod evaluates the right argument first.
                    let right = right.eval(env)?;
                    values.extend([left.eval(env)?, right]);
                }
                for (at, argument) in arguments.iter().enumerate().skip(values.len()) {
                    let value = match argument {
                        Some(argument) if substitutes.is_none_or(|of| at < of.first) => {
                            argument.eval(env).map_err(|error| {
                                first_fault(operator.name, at, arguments, env, error)
                            })?
                        }
                        _ => Value::Missing,
                    };
                    let ends = decides(operator.name, at, &value)
                        || (operator.name, at) == ("$slice", 1)
                            && values.first().is_some_and(Value::is_nullish);
                    values.push(value);
                    if ends {
                        break;
                    }
                }
                let is_null = values.first().is_none_or(Value::is_nullish);
                let result = (operator.eval)(&mut Args {
                    operator: operator.name,
                    values,
                    given: arguments.iter().map(Option::is_some).collect(),
                    globals: env.globals,
                });
                let instead = substitutes.and_then(|of| of.instead(&result, is_null));
                if let Some(Some(instead)) = instead.and_then(|at| arguments.get(at)) {
                    return instead.eval(env);
                }
                result
                    .and_then(|value| {
                        memory_limit::check_value(operator.name, &value)?;
                        Ok(value)
                    })
                    .map_err(|error| {
                        // mongod compares a constant set in another way, whose error has a different code.
                        let is_other = !ptr::eq(*operator, &raw const SUBSET_AS_WRITTEN)
                            && error.code() == Code::location(17046)
                            && matches!(arguments.as_slice(), [Some(one), Some(set)]
                            if !is_fixed(one, env) && is_fixed(set, env));
                        if is_other {
                            ServerError::new(Code::location(17310), error.message())
                        } else {
                            error
                        }
                    })
            }
            Self::Form(form) => form.eval(env),
        }
    }
}

/// The arguments that replace the result of an operator, such as `onNull`. They are evaluated only when they do.
#[derive(Clone, Copy)]
struct Substitutes {
    /// The arguments from this one on are not evaluated up front.
    first: usize,
    /// The argument that replaces the result if the first argument is null.
    on_null: usize,
    on_error: Option<usize>,
}

impl Substitutes {
    fn of(operator: &str) -> Option<Self> {
        let (first, on_null, on_error) = match operator {
            "$convert" => (3, 4, Some(3)),
            "$dateFromString" => (3, 3, Some(4)),
            "$dateToString" => (3, 3, None),
            _ => return None,
        };
        Some(Self {
            first,
            on_null,
            on_error,
        })
    }

    /// The index of the argument that replaces this result, if any. An operator returns a missing value to ask for it.
    fn instead(self, result: &Outcome<'_>, is_null: bool) -> Option<usize> {
        match result {
            Ok(Value::Missing) if is_null => Some(self.on_null),
            Ok(Value::Missing) => self.on_error,
            Err(error) if error.code() == Code::CONVERSION_FAILURE => self.on_error,
            _ => None,
        }
    }
}

fn is_fixed<'a>(node: &'a Node, env: &Env<'_, 'a>) -> bool {
    matches!(node.constant(env, &[]), Ok(Some(_)))
}

/// The error that mongod reports if an argument fails: `$indexOfArray` checks its range before it evaluates the value
/// to find.
#[inline(never)]
fn first_fault<'a>(
    operator: &str,
    at: usize,
    arguments: &'a [Option<Node>],
    env: &Env<'_, 'a>,
    error: ServerError,
) -> ServerError {
    match (operator, at) {
        ("$indexOfArray", 1) => check_range(arguments, env).err().unwrap_or(error),
        _ => error,
    }
}

/// Fails if the range of `$indexOfArray` is invalid.
fn check_range<'a>(arguments: &'a [Option<Node>], env: &Env<'_, 'a>) -> Result<(), ServerError> {
    let values = arguments
        .iter()
        .enumerate()
        .map(|(at, argument)| match argument {
            Some(argument) if at > 1 => argument.eval(env),
            _ => Ok(Value::Missing),
        })
        .collect::<Result<_, _>>()?;
    let args = Args {
        operator: "$indexOfArray",
        values,
        given: arguments.iter().map(Option::is_some).collect(),
        globals: env.globals,
    };
    bounds(&args, 0).map(drop)
}

/// Whether this argument decides the result, null or an error, so that the later arguments are not evaluated.
fn decides(operator: &str, at: usize, value: &Value<'_>) -> bool {
    let is_number = || value.get().and_then(Number::from_raw).is_some();
    let is_text = || {
        matches!(
            value.get(),
            Some(RawBsonRef::String(_) | RawBsonRef::Symbol(_))
        )
    };
    let is_array = || matches!(value.get(), Some(RawBsonRef::Array(_)));
    match (operator, at) {
        ("$add", _) => !is_number() && !matches!(value.get(), Some(RawBsonRef::DateTime(_))),
        ("$multiply", _) | ("$atan2" | "$round" | "$trunc", 0) | ("$range" | "$slice", 1) => {
            !is_number()
        }
        ("$concat", _) | ("$indexOfBytes" | "$indexOfCP", 0 | 1) => !is_text(),
        ("$concatArrays" | "$setEquals" | "$setIntersection" | "$setUnion", _)
        | ("$indexOfArray", 0) => !is_array(),
        ("$mergeObjects", _) => {
            !value.is_nullish() && !matches!(value.get(), Some(RawBsonRef::Document(_)))
        }
        ("$firstN" | "$lastN" | "$maxN" | "$minN", 0) => size(value.get()).is_err(),
        ("$setField", 1) => !matches!(value.get(), Some(RawBsonRef::Document(_))),
        _ => false,
    }
}

/// The value at a path. A path enters documents and maps over arrays; any other value ends it.
fn follow<'a>(value: RawBsonRef<'a>, path: &[String]) -> Value<'a> {
    let Some((head, rest)) = path.split_first() else {
        return Value::Ref(value);
    };
    match value {
        RawBsonRef::Document(document) => {
            get(document, head).map_or(Value::Missing, |value| follow(value, rest))
        }
        RawBsonRef::Array(array) => {
            let mut mapped = RawArrayBuf::new();
            for item in values(array) {
                if matches!(item, RawBsonRef::Document(_))
                    && let Some(found) = follow(item, path).get()
                {
                    mapped.push(found);
                }
            }
            Value::Owned(RawBson::Array(mapped))
        }
        _ => Value::Missing,
    }
}
