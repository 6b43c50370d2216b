//! Operators that decide which of their arguments are evaluated, and with which variables (forms).

mod eval;
mod zip;

use bson::raw::{RawBsonRef, RawDocument};

use crate::error::{ServerError, refuse};
use crate::expression::ast::{Form, Node};
use crate::expression::compat::argument_order::{WrittenOrder, arrange};
use crate::expression::compat::messages;
use crate::expression::globals::Scope;
use crate::expression::meta::Meta;
use crate::expression::parse::{check_variable_name, parse as expression};
use crate::value::raw::{elements, values};

type Parsed = Result<Form, ServerError>;
type Parse = fn(RawBsonRef<'_>, &Scope) -> Parsed;

/// Sorted by name.
const FORMS: &[(&str, Parse)] = &[
    ("$and", |raw, scope| {
        let (nodes, written) = constants_first(raw, scope)?;
        Ok(Form::And(nodes, written))
    }),
    ("$cond", cond),
    ("$filter", filter),
    ("$ifNull", if_null),
    ("$let", let_in),
    ("$map", map),
    ("$meta", |raw, scope| {
        Meta::parse(raw, scope).map(Form::Meta)
    }),
    ("$or", |raw, scope| {
        let (nodes, written) = constants_first(raw, scope)?;
        Ok(Form::Or(nodes, written))
    }),
    ("$reduce", reduce),
    ("$switch", switch),
    ("$zip", zip::parse),
];

const COND: &[&str] = &["if", "then", "else"];
const FILTER: &[&str] = &["input", "as", "cond", "limit"];
const LET: &[&str] = &["vars", "in"];
const MAP: &[&str] = &["input", "as", "in"];
const REDUCE: &[&str] = &["input", "initialValue", "in"];
const BRANCH: &[&str] = &["case", "then"];

/// The named arguments of the forms that have them.
pub(super) const ARGUMENTS: &[(&str, &[&str])] = &[
    ("$cond", COND),
    ("$filter", FILTER),
    ("$let", LET),
    ("$map", MAP),
    ("$reduce", REDUCE),
    ("$switch", &["branches", "default"]),
    ("$switch.branches", BRANCH),
    ("$zip", &["inputs", "useLongestLength", "defaults"]),
];

/// The names of the forms.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    FORMS.iter().map(|(name, _)| *name)
}

/// Compiles a form; `None` if no form has this name.
pub(super) fn parse(name: &str, argument: RawBsonRef<'_>, scope: &Scope) -> Option<Parsed> {
    let index = FORMS.binary_search_by_key(&name, |(known, _)| known).ok()?;
    let (_, parse) = FORMS.get(index)?;
    Some(parse(argument, scope))
}

fn list(raw: RawBsonRef<'_>, scope: &Scope) -> Result<Vec<Node>, ServerError> {
    match raw {
        RawBsonRef::Array(array) => values(array)
            .map(|value| expression(value, scope))
            .collect(),
        one => Ok(vec![expression(one, scope)?]),
    }
}

/// Moves constants to the front, as mongod does: a constant may decide the result before anything else is evaluated.
fn constants_first(
    raw: RawBsonRef<'_>,
    scope: &Scope,
) -> Result<(Vec<Node>, WrittenOrder), ServerError> {
    let nodes = list(raw, scope)?;
    Ok(if scope.is_as_written() {
        (nodes, WrittenOrder::default())
    } else {
        arrange(nodes, |node| !node.is_constant())
    })
}

fn cond(raw: RawBsonRef<'_>, scope: &Scope) -> Parsed {
    let RawBsonRef::Document(document) = raw else {
        let parts = list(raw, scope)?;
        let passed = parts.len();
        return match <[Node; 3]>::try_from(parts) {
            Ok([condition, then, otherwise]) => Ok(Form::Cond {
                condition,
                then,
                otherwise,
            }),
            Err(_) => refuse(
                16020,
                format!("Expression $cond takes exactly 3 arguments. {passed} were passed in."),
            ),
        };
    };
    let mut parts = Parts::parse(document, COND, |key| {
        (17083, format!("Unrecognized parameter to $cond: {key}"))
    })?;
    Ok(Form::Cond {
        condition: parts.expression("if", scope, 17080, "Missing 'if' parameter to $cond")?,
        then: parts.expression("then", scope, 17081, "Missing 'then' parameter to $cond")?,
        otherwise: parts.expression("else", scope, 17082, "Missing 'else' parameter to $cond")?,
    })
}

fn if_null(raw: RawBsonRef<'_>, scope: &Scope) -> Parsed {
    let nodes = list(raw, scope)?;
    if nodes.len() < 2 {
        return refuse(
            1_257_300,
            format!("$ifNull needs at least two arguments, had: {}", nodes.len()),
        );
    }
    Ok(Form::IfNull(nodes))
}

fn switch(raw: RawBsonRef<'_>, scope: &Scope) -> Parsed {
    let RawBsonRef::Document(document) = raw else {
        return refuse(
            40060,
            format!(
                "$switch requires an object as an argument, found: {}",
                messages::type_name(Some(raw))
            ),
        );
    };
    let mut branches = Vec::new();
    let mut default = None;
    for (name, value) in elements(document) {
        match (name, value) {
            ("branches", RawBsonRef::Array(array)) => {
                for branch in values(array) {
                    branches.push(switch_branch(branch, scope)?);
                }
            }
            ("branches", other) => {
                return refuse(
                    40061,
                    format!(
                        "$switch expected an array for 'branches', found: {}",
                        messages::type_name(Some(other))
                    ),
                );
            }
            ("default", value) => default = Some(expression(value, scope)?),
            (other, _) => {
                return refuse(40067, format!("$switch found an unknown argument: {other}"));
            }
        }
    }
    if branches.is_empty() {
        return refuse(40068, "$switch requires at least one branch");
    }
    Ok(Form::Switch { branches, default })
}

fn switch_branch(raw: RawBsonRef<'_>, scope: &Scope) -> Result<(Node, Node), ServerError> {
    let RawBsonRef::Document(document) = raw else {
        return refuse(
            40062,
            format!(
                "$switch expected each branch to be an object, found: {}",
                messages::type_name(Some(raw))
            ),
        );
    };
    let mut parts = Parts::parse(document, BRANCH, |key| {
        (
            40063,
            format!("$switch found an unknown argument to a branch: {key}"),
        )
    })?;
    Ok((
        parts.expression(
            "case",
            scope,
            40064,
            "$switch requires each branch have a 'case' expression",
        )?,
        parts.expression(
            "then",
            scope,
            40065,
            "$switch requires each branch have a 'then' expression.",
        )?,
    ))
}

fn let_in(raw: RawBsonRef<'_>, scope: &Scope) -> Parsed {
    let RawBsonRef::Document(document) = raw else {
        return refuse(16874, "$let only supports an object as its argument");
    };
    let mut parts = Parts::parse(document, LET, |key| {
        (16875, format!("Unrecognized parameter to $let: {key}"))
    })?;
    let vars = match parts.raw("vars", 16876, "Missing 'vars' parameter to $let")? {
        RawBsonRef::Document(vars) => elements(vars).collect::<Vec<_>>(),
        // An array counts as a document with the field names 0, 1, …, none of which is a valid variable name.
        RawBsonRef::Array(vars) => {
            if values(vars).next().is_some() {
                check_variable_name("0")?;
            }
            Vec::new()
        }
        _ => return refuse(10065, "invalid parameter: expected an object (vars)"),
    };
    let mut inner = scope.clone();
    let mut variables = Vec::new();
    for (name, value) in vars {
        check_variable_name(name)?;
        variables.push((name.to_owned(), expression(value, scope)?));
        inner = inner.with(name);
    }
    let within = parts.expression("in", &inner, 16877, "Missing 'in' parameter to $let")?;
    Ok(Form::Let { variables, within })
}

fn map(raw: RawBsonRef<'_>, scope: &Scope) -> Parsed {
    let RawBsonRef::Document(document) = raw else {
        return refuse(16878, "$map only supports an object as its argument");
    };
    let mut parts = Parts::parse(document, MAP, |key| {
        (16879, format!("Unrecognized parameter to $map: {key}"))
    })?;
    let input = parts.raw("input", 16880, "Missing 'input' parameter to $map")?;
    let within = parts.raw("in", 16882, "Missing 'in' parameter to $map")?;
    let input = expression(input, scope)?;
    let name = parts.name()?;
    let within = expression(within, &scope.with(&name))?;
    Ok(Form::Map {
        input,
        name,
        within,
    })
}

fn filter(raw: RawBsonRef<'_>, scope: &Scope) -> Parsed {
    let RawBsonRef::Document(document) = raw else {
        return refuse(28646, "$filter only supports an object as its argument");
    };
    let mut parts = Parts::parse(document, FILTER, |key| {
        (28647, format!("Unrecognized parameter to $filter: {key}"))
    })?;
    let input = parts.raw("input", 28648, "Missing 'input' parameter to $filter")?;
    let condition = parts.raw("cond", 28650, "Missing 'cond' parameter to $filter")?;
    let input = expression(input, scope)?;
    let name = parts.name()?;
    let condition = expression(condition, &scope.with(&name))?;
    let limit = match parts.take("limit") {
        Some(limit) => Some(expression(limit, scope)?),
        None => None,
    };
    Ok(Form::Filter {
        input,
        name,
        condition,
        limit,
    })
}

fn reduce(raw: RawBsonRef<'_>, scope: &Scope) -> Parsed {
    let RawBsonRef::Document(document) = raw else {
        return refuse(
            40075,
            format!(
                "$reduce requires an object as an argument, found: {}",
                messages::type_name(Some(raw))
            ),
        );
    };
    let mut parts = Parts::parse(document, REDUCE, |key| {
        (40076, format!("$reduce found an unknown argument: {key}"))
    })?;
    let input = parts.expression(
        "input",
        scope,
        40077,
        "$reduce requires 'input' to be specified",
    )?;
    let initial = parts.expression(
        "initialValue",
        scope,
        40078,
        "$reduce requires 'initialValue' to be specified",
    )?;
    let inner = scope.with("this").with("value");
    let within = parts.expression("in", &inner, 40079, "$reduce requires 'in' to be specified")?;
    Ok(Form::Reduce {
        input,
        initial,
        within,
    })
}

/// The named arguments of a form.
struct Parts<'r>(Vec<(&'r str, RawBsonRef<'r>)>);

impl<'r> Parts<'r> {
    fn parse(
        document: &'r RawDocument,
        names: &[&str],
        unknown: impl Fn(&str) -> (i32, String),
    ) -> Result<Self, ServerError> {
        let mut parts = Vec::new();
        for (name, value) in elements(document) {
            if !names.contains(&name) {
                let (code, message) = unknown(name);
                return refuse(code, message);
            }
            parts.push((name, value));
        }
        Ok(Self(parts))
    }

    fn take(&mut self, name: &str) -> Option<RawBsonRef<'r>> {
        let index = self.0.iter().position(|(known, _)| *known == name)?;
        Some(self.0.remove(index).1)
    }

    fn raw(&mut self, name: &str, code: i32, missing: &str) -> Result<RawBsonRef<'r>, ServerError> {
        self.take(name).map_or_else(|| refuse(code, missing), Ok)
    }

    fn expression(
        &mut self,
        name: &str,
        scope: &Scope,
        code: i32,
        missing: &str,
    ) -> Result<Node, ServerError> {
        expression(self.raw(name, code, missing)?, scope)
    }

    /// The `as` of `$map` and `$filter`; `this` by default.
    fn name(&mut self) -> Result<String, ServerError> {
        let name = match self.take("as") {
            None => "this",
            Some(RawBsonRef::String(name)) => name,
            Some(_) => "",
        };
        check_variable_name(name)?;
        Ok(name.to_owned())
    }
}
