//! Computes the parts of an expression that mongod computes, and refuses, before it reads any document.
//!
//! mongod folds the constant parts of expressions when it optimizes them. If one fails, the command fails, even on an
//! empty collection. The tables and checks here follow mongod: which operators are folded, and which check a constant
//! argument on its own.

use bson::raw::RawBsonRef;

use crate::error::{ServerError, refuse};
use crate::expression::Globals;
use crate::expression::ast::{Form, Node};
use crate::expression::compat::argument_order::WrittenOrder;
use crate::expression::compat::known_constants::is_folded;
use crate::expression::compat::messages;
use crate::expression::eval::Env;
use crate::expression::operator::{Args, Operator, Outcome};
use crate::expression::parse::is_commutative;
use crate::expression::regex;
use crate::expression::value::Value;

/// Operators whose arguments are not folded either; sorted.
pub(super) const NOT_ENTERED: &[&str] = &[
    "$firstN",
    "$getField",
    "$lastN",
    "$maxN",
    "$minN",
    "$setField",
    "$unsetField",
];

/// Operators that combine adjacent constant arguments; sorted.
pub(super) const ASSOCIATIVE: &[&str] = &["$concat", "$concatArrays"];

/// The value of an expression that does not depend on the document.
type Constant<'a> = Result<Option<Value<'a>>, ServerError>;

pub(super) fn is_one(names: &[&str], name: &str) -> bool {
    names.binary_search(&name).is_ok()
}

impl Node {
    /// The value, if the expression is constant. Fails if a constant part fails.
    pub(super) fn constant<'a>(&'a self, env: &Env<'_, 'a>, bound: &[&str]) -> Constant<'a> {
        match self {
            Self::Literal(value) => Ok(Some(Value::Ref(value.as_raw_bson_ref()))),
            Self::Field(_) => Ok(None),
            Self::Variable(name, _) => {
                let has_value = || {
                    let value = env.globals.variable(name);
                    value.is_some_and(|value| value.get().is_some())
                };
                let fixed = !bound.contains(&name.as_str())
                    && (matches!(name.as_str(), "NOW" | "CLUSTER_TIME" | "REMOVE") || has_value());
                fixed.then(|| self.eval(env)).transpose()
            }
            Self::Object(fields) => {
                let values = all(fields.iter().map(|(_, node)| node), env, bound)?;
                whole(self, env, &values)
            }
            Self::Array(nodes) => {
                let values = all(nodes.iter(), env, bound)?;
                whole(self, env, &values)
            }
            Self::Call {
                operator,
                arguments,
                written,
            } => {
                if is_one(NOT_ENTERED, operator.name) {
                    return Ok(None);
                }
                let mut values: Vec<_> = arguments.iter().map(|_| Some(Value::Missing)).collect();
                for at in written.places(arguments.len()) {
                    if let (Some(Some(argument)), Some(value)) =
                        (arguments.get(at), values.get_mut(at))
                    {
                        *value = argument.constant(env, bound)?;
                        check_member(operator.name, at, value.as_ref())?;
                    }
                }
                check_alone(operator.name, &values, env.globals)?;
                // A null array makes the result null, whatever the other arguments are.
                if operator.name == "$indexOfArray"
                    && let Some(Some(array)) = values.first()
                    && array.is_nullish()
                {
                    return Ok(Some(Value::NULL));
                }
                if !is_folded(operator.name) {
                    return Ok(None);
                }
                if values.iter().all(Option::is_some) {
                    return self.eval(env).map(Some);
                }
                check_some(operator, &values, env)?;
                Ok(None)
            }
            Self::Form(form) => form.constant(self, env, bound),
        }
    }
}

fn all<'a>(
    nodes: impl Iterator<Item = &'a Node>,
    env: &Env<'_, 'a>,
    bound: &[&str],
) -> Result<Vec<Option<Value<'a>>>, ServerError> {
    nodes.map(|node| node.constant(env, bound)).collect()
}

/// Like [`all`], for moved nodes, in the written order.
fn in_order<'a>(
    nodes: &'a [Node],
    written: &WrittenOrder,
    env: &Env<'_, 'a>,
    bound: &[&str],
) -> Result<Vec<Option<Value<'a>>>, ServerError> {
    let places = written.places(nodes.len());
    all(places.filter_map(|at| nodes.get(at)), env, bound)
}

fn whole<'a>(node: &'a Node, env: &Env<'_, 'a>, parts: &[Option<Value<'a>>]) -> Constant<'a> {
    if parts.iter().all(Option::is_some) {
        node.eval(env).map(Some)
    } else {
        Ok(None)
    }
}

/// Checks one constant argument of the operators that check each before they read the next.
fn check_member(
    operator: &'static str,
    at: usize,
    value: Option<&Value<'_>>,
) -> Result<(), ServerError> {
    match value.map(Value::get) {
        None | Some(Some(RawBsonRef::Array(_))) => Ok(()),
        Some(other) if operator == "$setEquals" => refuse(
            5_887_502,
            format!(
                "All operands of $setEquals must be arrays. {}-th argument is of type: {}",
                at + 1,
                messages::type_name(other)
            ),
        ),
        Some(_) => Ok(()),
    }
}

/// Checks the constant arguments that an operator checks whatever the other arguments are.
fn check_alone(
    operator: &'static str,
    values: &[Option<Value<'_>>],
    globals: &Globals,
) -> Result<(), ServerError> {
    let not_array = |index: usize| {
        let value = values.get(index)?.as_ref()?;
        (!matches!(value.get(), Some(RawBsonRef::Array(_))))
            .then(|| messages::type_name(value.get()))
    };
    let all = values.iter().all(Option::is_some);
    match operator {
        "$regexFind" | "$regexFindAll" | "$regexMatch" => {
            let given = |index: usize| values.get(index).cloned().flatten();
            match (given(1), given(2)) {
                (Some(pattern), Some(options)) => regex::check(operator, pattern, options, globals),
                _ => Ok(()),
            }
        }
        "$setIsSubset" if !all => match not_array(1) {
            Some(kind) => refuse(
                17311,
                format!(
                    "both operands of $setIsSubset must be arrays. Second argument is of type: {kind}"
                ),
            ),
            None => Ok(()),
        },
        "$indexOfArray" if !all => match not_array(0) {
            Some(kind)
                if !values
                    .first()
                    .and_then(Option::as_ref)
                    .is_some_and(Value::is_nullish) =>
            {
                refuse(
                    50809,
                    format!(
                        "First operand of $indexOfArray must be an array. First argument is of type: {kind}"
                    ),
                )
            }
            _ => Ok(()),
        },
        _ => Ok(()),
    }
}

/// Evaluates together the constant arguments that the operator may combine.
fn check_some<'a>(
    operator: &'static Operator,
    values: &[Option<Value<'a>>],
    env: &Env<'_, 'a>,
) -> Result<(), ServerError> {
    let run = |together: Vec<Value<'a>>| -> Outcome<'a> {
        (operator.eval)(&mut Args {
            operator: operator.name,
            given: vec![true; together.len()],
            values: together,
            globals: env.globals,
        })
    };
    if is_commutative(operator.name, env.globals.collator().is_some()) {
        let together: Vec<_> = values.iter().flatten().cloned().collect();
        if together.len() > 1 {
            run(together)?;
        }
    } else if is_one(ASSOCIATIVE, operator.name) {
        for neighbours in values.split(Option::is_none) {
            if neighbours.len() > 1 {
                run(neighbours.iter().flatten().cloned().collect())?;
            }
        }
    }
    Ok(())
}

impl Form {
    fn constant<'a>(&'a self, node: &'a Node, env: &Env<'_, 'a>, bound: &[&str]) -> Constant<'a> {
        match self {
            Self::And(nodes, written) => {
                let values = in_order(nodes, written, env, bound)?;
                short(node, &values, env, false)
            }
            Self::Or(nodes, written) => {
                let values = in_order(nodes, written, env, bound)?;
                short(node, &values, env, true)
            }
            Self::IfNull(nodes) => {
                let values = all(nodes.iter(), env, bound)?;
                let mut others = values
                    .iter()
                    .skip_while(|value| matches!(value, Some(value) if value.is_nullish()));
                match others.next() {
                    Some(Some(value)) => Ok(Some(value.clone())),
                    _ => whole(node, env, &values),
                }
            }
            Self::Cond {
                condition,
                then,
                otherwise,
            } => {
                let condition = condition.constant(env, bound)?;
                let then = then.constant(env, bound)?;
                let otherwise = otherwise.constant(env, bound)?;
                Ok(match condition {
                    Some(condition) if condition.truthy() => then,
                    Some(_) => otherwise,
                    None => None,
                })
            }
            Self::Switch { branches, default } => switch(branches, default.as_ref(), env, bound),
            Self::Let { variables, within } => {
                all(variables.iter().map(|(_, node)| node), env, bound)?;
                if variables.is_empty() {
                    return within.constant(env, bound);
                }
                let names = variables.iter().map(|(name, _)| name.as_str());
                let bound: Vec<_> = bound.iter().copied().chain(names).collect();
                within.constant(env, &bound)?;
                Ok(None)
            }
            Self::Meta(_) => Ok(None),
            Self::Map {
                input,
                name,
                within,
            } => {
                input.constant(env, bound)?;
                within.constant(env, &with(bound, &[name]))?;
                Ok(None)
            }
            Self::Filter {
                input,
                name,
                condition,
                limit,
            } => {
                input.constant(env, bound)?;
                condition.constant(env, &with(bound, &[name]))?;
                all(limit.iter(), env, bound)?;
                Ok(None)
            }
            Self::Zip(zip) => {
                all(zip.nodes(), env, bound)?;
                Ok(None)
            }
            Self::Reduce {
                input,
                initial,
                within,
            } => {
                input.constant(env, bound)?;
                initial.constant(env, bound)?;
                within.constant(env, &with(bound, &["this", "value"]))?;
                Ok(None)
            }
        }
    }
}

/// `$switch`, whose constant cases may leave only one branch.
fn switch<'a>(
    branches: &'a [(Node, Node)],
    default: Option<&'a Node>,
    env: &Env<'_, 'a>,
    bound: &[&str],
) -> Constant<'a> {
    let mut otherwise = default.map(|node| node.constant(env, bound)).transpose()?;
    let mut is_open = false;
    for (case, then) in branches {
        match case.constant(env, bound)? {
            // A branch that is never taken is dropped without being checked.
            Some(case) if !case.truthy() => {}
            // A branch that is always taken is the last one.
            Some(_) => {
                otherwise = Some(then.constant(env, bound)?);
                break;
            }
            None => {
                is_open = true;
                then.constant(env, bound)?;
            }
        }
    }
    match otherwise {
        Some(value) if !is_open => Ok(value),
        None if !is_open => refuse(
            40069,
            "Cannot execute a switch statement where all the cases evaluate to false without a default",
        ),
        _ => Ok(None),
    }
}

/// `$and` and `$or`, which a single constant may decide.
fn short<'a>(
    node: &'a Node,
    values: &[Option<Value<'a>>],
    env: &Env<'_, 'a>,
    decides: bool,
) -> Constant<'a> {
    if values
        .iter()
        .flatten()
        .any(|value| value.truthy() == decides)
    {
        return Ok(Some(Value::Ref(RawBsonRef::Boolean(decides))));
    }
    whole(node, env, values)
}

fn with<'n>(bound: &[&'n str], more: &[&'n str]) -> Vec<&'n str> {
    bound.iter().chain(more).copied().collect()
}
