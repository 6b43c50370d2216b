//! Parses BSON into the tree of an expression.

use bson::raw::{RawArray, RawBson, RawBsonRef, RawDocument};

use crate::error::{Code, ServerError, refuse};
use crate::expression::array::sort_by;
use crate::expression::ast::Node;
use crate::expression::compat::argument_order::{WrittenOrder, arrange};
use crate::expression::globals::Scope;
use crate::expression::named::{BareArgument, Constant, Named};
use crate::expression::operator::{ANY, ArgumentForm, WrongCount};
use crate::expression::percentile::not_constant;
use crate::expression::set::SUBSET_AS_WRITTEN;
use crate::expression::special_forms;
use crate::expression::sum::Sum;
use crate::expression::{compat::messages, table};
use crate::refusal;
use crate::value::number::Number;
use crate::value::raw::{elements, values};

/// Compiles any expression.
pub(super) fn parse(raw: RawBsonRef<'_>, scope: &Scope) -> Result<Node, ServerError> {
    match raw {
        RawBsonRef::String(text) if text.starts_with('$') => parse_path(text, scope),
        RawBsonRef::Document(document) => parse_document(document, scope),
        RawBsonRef::Array(array) => values(array)
            .map(|value| parse(value, scope))
            .collect::<Result<_, _>>()
            .map(Node::Array),
        other => Ok(Node::Literal(other.into())),
    }
}

fn parse_path(text: &str, scope: &Scope) -> Result<Node, ServerError> {
    if let Some(variable) = text.strip_prefix("$$") {
        let (name, path) = variable
            .split_once('.')
            .map_or((variable, None), |(name, path)| (name, Some(path)));
        check_variable_use(name)?;
        let known = scope.knows(name)
            || matches!(name, "ROOT" | "CURRENT" | "NOW" | "CLUSTER_TIME" | "REMOVE");
        if !known {
            return refuse(17276, format!("Use of undefined variable: {name}"));
        }
        let path = path.map_or(Ok(Vec::new()), field_path)?;
        if !scope.knows(name) && matches!(name, "ROOT" | "CURRENT") {
            scope.see_document();
        }
        return Ok(Node::Variable(name.to_owned(), path));
    }
    if text == "$" {
        return refuse(16872, "'$' by itself is not a valid FieldPath");
    }
    let path = field_path(text.strip_prefix('$').unwrap_or(text))?;
    if scope.knows("CURRENT") {
        return Ok(Node::Variable("CURRENT".to_owned(), path));
    }
    scope.see_document();
    Ok(Node::Field(path))
}

fn check_variable_use(name: &str) -> Result<(), ServerError> {
    if name.is_empty() {
        return Err(ServerError::new(
            Code::FAILED_TO_PARSE,
            "empty variable names are not allowed",
        ));
    }
    check_characters(
        name,
        name.starts_with(|c: char| c.is_ascii_alphabetic() || !c.is_ascii()),
    )
}

/// Checks the name of a variable that `let` or `as` defines.
pub fn check_variable_name(name: &str) -> Result<(), ServerError> {
    if name.is_empty() {
        return Err(ServerError::new(
            Code::FAILED_TO_PARSE,
            "empty variable names are not allowed",
        ));
    }
    if name == "CURRENT" {
        return Ok(());
    }
    check_characters(
        name,
        name.starts_with(|c: char| c.is_ascii_lowercase() || !c.is_ascii()),
    )
}

fn check_characters(name: &str, starts_well: bool) -> Result<(), ServerError> {
    if !starts_well {
        return Err(ServerError::new(
            Code::FAILED_TO_PARSE,
            format!("'{name}' starts with an invalid character for a user variable name"),
        ));
    }
    match name
        .chars()
        .find(|c| c.is_ascii() && !c.is_ascii_alphanumeric() && *c != '_')
    {
        Some(bad) => Err(ServerError::new(
            Code::FAILED_TO_PARSE,
            format!("'{name}' contains an invalid character for a variable name: '{bad}'"),
        )),
        None => Ok(()),
    }
}

/// Whether this is a field name of a `DBRef`, which expressions and projections may contain.
pub(super) fn is_of_reference(name: &str) -> bool {
    matches!(name, "$db" | "$id" | "$ref")
}

/// Checks and splits a dotted path.
pub fn field_path(path: &str) -> Result<Vec<String>, ServerError> {
    if path.is_empty() {
        return refuse(40352, "FieldPath cannot be constructed with empty string");
    }
    if path.ends_with('.') {
        return refuse(40353, "FieldPath must not end with a '.'.");
    }
    path.split('.')
        .map(|part| {
            if part.is_empty() {
                return refuse(15998, "FieldPath field names may not be empty strings.");
            }
            if part.starts_with('$') && !is_of_reference(part) {
                return refuse(
                    16410,
                    "FieldPath field names may not start with '$'. Consider using $getField or $setField.",
                );
            }
            if part.contains('\0') {
                return refuse(16411, "FieldPath field names may not contain '\0'.");
            }
            Ok(part.to_owned())
        })
        .collect()
}

fn parse_document(document: &RawDocument, scope: &Scope) -> Result<Node, ServerError> {
    let mut fields = elements(document);
    if let Some((name, argument)) = fields.next()
        && name.starts_with('$')
    {
        if fields.next().is_some() {
            return refuse(
                15983,
                format!(
                    "An object representing an expression must have exactly one field: {}",
                    messages::stored_document(document)
                ),
            );
        }
        return parse_operator(name, argument, scope);
    }
    let mut fields: Vec<(String, Node)> = Vec::new();
    for (name, value) in elements(document) {
        if name.is_empty() {
            return refuse(15998, "FieldPath field names may not be empty strings.");
        }
        if name.contains('.') {
            return refuse(
                16412,
                "FieldPath field names may not contain '.'. Consider using $getField or $setField.",
            );
        }
        if name.starts_with('$') && !is_of_reference(name) {
            return refuse(
                16410,
                "FieldPath field names may not start with '$'. Consider using $getField or $setField.",
            );
        }
        if fields.iter().any(|(known, _)| known == name) {
            return refuse(
                16406,
                format!(
                    "duplicate field name specified in object literal: {}",
                    messages::stored_document(document)
                ),
            );
        }
        fields.push((name.to_owned(), parse(value, scope)?));
    }
    Ok(Node::Object(fields))
}

/// The operators whose argument is not an expression.
pub(super) const LITERALS: &[&str] = &["$const", "$literal"];

/// Compiles `{name: argument}`.
pub(super) fn parse_operator(
    name: &str,
    argument: RawBsonRef<'_>,
    scope: &Scope,
) -> Result<Node, ServerError> {
    if LITERALS.contains(&name) {
        return Ok(Node::Literal(argument.into()));
    }
    if let Some(form) = special_forms::parse(name, argument, scope) {
        return form.map(|form| Node::Form(Box::new(form)));
    }
    let known = table::find(name).filter(|operator| operator.since <= scope.version());
    let Some(operator) = known else {
        return Err(if table::UNSUPPORTED.binary_search(&name).is_ok() {
            ServerError::new(
                Code::COMMAND_NOT_SUPPORTED,
                format!(
                    "the expression {name} is not supported by the in-memory engine{}",
                    refusal::because(name)
                ),
            )
        } else {
            ServerError::new(
                Code::INVALID_PIPELINE_OPERATOR,
                format!("Unrecognized expression '{name}'"),
            )
        });
    };
    if name == "$rand" {
        no_arguments(argument)?;
        if scope.is_stored() {
            return refuse(3_040_500, "$rand not allowed inside collection validators");
        }
    }
    if !scope.is_as_written() && IS_NOT_OPTIMIZED.contains(&name) {
        return as_written(name, argument, scope);
    }
    let (arguments, written) = match operator.shape {
        ArgumentForm::Listed(_, 0, _) => (Vec::new(), WrittenOrder::default()),
        ArgumentForm::Listed(least, most, refusal) => {
            listed(name, argument, (least, most, refusal), scope)?
        }
        ArgumentForm::Whole => (vec![Some(parse(argument, scope)?)], WrittenOrder::default()),
        ArgumentForm::Named(named) => (
            by_name(name, argument, named, scope)?,
            WrittenOrder::default(),
        ),
    };
    let is_subset = name == "$setIsSubset" && (scope.is_as_written() || scope.has_plain_sets());
    Ok(Node::Call {
        operator: if is_subset {
            &SUBSET_AS_WRITTEN
        } else {
            operator
        },
        arguments,
        written,
    })
}

/// The operators whose arguments mongod does not optimize.
const IS_NOT_OPTIMIZED: &[&str] = &[
    "$firstN",
    "$getField",
    "$lastN",
    "$maxN",
    "$minN",
    "$setField",
    "$unsetField",
];

#[inline(never)]
fn as_written(name: &str, argument: RawBsonRef<'_>, scope: &Scope) -> Result<Node, ServerError> {
    parse_operator(name, argument, &scope.clone().unmoved())
}

/// Checks that the argument of `$rand` is empty.
fn no_arguments(argument: RawBsonRef<'_>) -> Result<(), ServerError> {
    let is_empty = match argument {
        RawBsonRef::Document(document) => elements(document).next().is_none(),
        RawBsonRef::Array(array) => values(array).next().is_none(),
        _ => return refuse(10065, "invalid parameter: expected an object ($rand)"),
    };
    if is_empty {
        Ok(())
    } else {
        refuse(3_040_501, "$rand does not currently accept arguments")
    }
}

/// Whether mongod moves the constant arguments of an operator to the end, where a null among the others hides their
/// errors. `$setUnion` keeps the first of the strings that a collation treats as equal, so its arguments stay.
pub(super) fn is_commutative(name: &str, is_collated: bool) -> bool {
    match name {
        "$add" | "$max" | "$min" | "$multiply" | "$setIntersection" => true,
        "$setUnion" => !is_collated,
        _ => false,
    }
}

/// Combines the numeric arguments of a sum or a product into one at the end, as mongod does before it reads a document.
/// The order affects the rounding of doubles.
fn fold(name: &str, mut arguments: Vec<Option<Node>>) -> Vec<Option<Node>> {
    let number = |argument: &Option<Node>| match argument {
        Some(Node::Literal(value)) => Number::from_raw(value.as_raw_bson_ref()),
        _ => None,
    };
    let numbers: Vec<Number> = arguments.iter().filter_map(number).collect();
    if !(2..arguments.len()).contains(&numbers.len()) {
        return arguments;
    }
    let folded = match name {
        "$add" | "$sum" => numbers
            .into_iter()
            .fold(Sum::ZERO, |mut sum, number| {
                sum.add(number);
                sum
            })
            .number(),
        "$multiply" => numbers.into_iter().fold(Number::Int32(1), Number::mul),
        _ => return arguments,
    };
    arguments.retain(|argument| number(argument).is_none());
    arguments.push(Some(Node::Literal(folded.to_raw().into())));
    arguments
}

fn listed(
    name: &str,
    argument: RawBsonRef<'_>,
    (least, most, refusal): (usize, usize, Option<WrongCount>),
    scope: &Scope,
) -> Result<(Vec<Option<Node>>, WrittenOrder), ServerError> {
    let arguments: Vec<Option<Node>> = match argument {
        RawBsonRef::Array(array) => values(array)
            .map(|value| parse(value, scope).map(Some))
            .collect::<Result<_, _>>()?,
        one => vec![Some(parse(one, scope)?)],
    };
    let passed = arguments.len();
    if passed >= least && passed <= most {
        if scope.is_as_written() {
            return Ok((arguments, WrittenOrder::default()));
        }
        let arguments = fold(name, arguments);
        let is_constant =
            |argument: &Option<Node>| argument.as_ref().is_some_and(Node::is_constant);
        return Ok(if is_commutative(name, scope.is_collated()) {
            arrange(arguments, is_constant)
        } else {
            (arguments, WrittenOrder::default())
        });
    }
    if let Some((code, message)) = refusal {
        return refuse(code, format!("{name} {message}{passed}"));
    }
    if least == most {
        return refuse(
            16020,
            format!("Expression {name} takes exactly {least} arguments. {passed} were passed in."),
        );
    }
    if most == ANY {
        return refuse(
            28667,
            format!(
                "Expression {name} takes at least {least} arguments, but only {passed} were passed in."
            ),
        );
    }
    refuse(
        28667,
        format!(
            "Expression {name} takes at least {least} arguments, and at most {most}, but {passed} were passed in."
        ),
    )
}

fn by_name(
    name: &str,
    argument: RawBsonRef<'_>,
    named: &Named,
    scope: &Scope,
) -> Result<Vec<Option<Node>>, ServerError> {
    let RawBsonRef::Document(document) = argument else {
        let argument = match (named.bare, argument) {
            (BareArgument::Refused(code, wording), _) => {
                return Err(Named::not_an_object((code, wording), name, argument));
            }
            (BareArgument::Only, RawBsonRef::Array(array)) => only(name, array)?,
            (BareArgument::Only | BareArgument::OfCurrent, argument) => argument,
        };
        return bare(name, argument, named, scope);
    };
    if !matches!(named.bare, BareArgument::Refused(..))
        && elements(document)
            .next()
            .is_some_and(|(first, _)| first.starts_with('$'))
    {
        return bare(name, argument, named, scope);
    }
    if named.is_checked_first {
        check_names(name, document, named, scope)?;
    }
    let mut arguments: Vec<Option<Node>> = named.names.iter().map(|_| None).collect();
    for (key, value) in elements(document) {
        let slot = named
            .position(key, scope.version())
            .and_then(|index| arguments.get_mut(index));
        match slot {
            Some(slot) if (name, key) == ("$sortArray", "sortBy") => {
                sort_by(value)?;
                *slot = Some(Node::Literal(value.into()));
            }
            Some(slot) if (name, key) == ("$percentile", "p") => {
                let apart = scope.apart();
                *slot = Some(parse(value, &apart)?);
                if apart.sees_document() {
                    return not_constant(value);
                }
            }
            Some(slot) => *slot = Some(parse(value, scope)?),
            None => return Err(named.unknown(name, key, document)),
        }
    }
    check_names(name, document, named, scope)?;
    if let Some(constant) = &named.constant {
        let field = named.position(constant.argument, scope.version());
        if let Some(field) = field.and_then(|index| arguments.get(index)) {
            check_constant(name, constant, field.as_ref())?;
        }
    }
    Ok(arguments)
}

/// The only element of an array that stands for the argument of an operator.
fn only<'r>(name: &str, array: &'r RawArray) -> Result<RawBsonRef<'r>, ServerError> {
    let mut items = values(array);
    match (items.next(), items.next()) {
        (Some(only), None) => Ok(only),
        _ => refuse(
            40536,
            format!(
                "{name} accepts exactly one argument if given an array, but was given {}",
                values(array).count()
            ),
        ),
    }
}

/// Refuses unknown names of arguments, and missing required arguments.
fn check_names(
    name: &str,
    document: &RawDocument,
    named: &Named,
    scope: &Scope,
) -> Result<(), ServerError> {
    let given = |wanted: &str| elements(document).any(|(key, _)| key == wanted);
    for (key, _) in elements(document) {
        if named.position(key, scope.version()).is_none() {
            return Err(named.unknown(name, key, document));
        }
    }
    if let Some(check) = named.check {
        check(&given)?;
    }
    match named.required.iter().find(|(key, _)| !given(key)) {
        Some((key, code)) => Err(named.missing(*code, name, key, document)),
        None => Ok(()),
    }
}

/// Compiles the only argument, written without a name, of an operator with several named arguments.
fn bare(
    name: &str,
    argument: RawBsonRef<'_>,
    named: &Named,
    scope: &Scope,
) -> Result<Vec<Option<Node>>, ServerError> {
    let first = parse(argument, scope)?;
    if let Some(constant) = &named.constant {
        check_constant(name, constant, Some(&first))?;
    }
    let mut parsed = vec![Some(first)];
    parsed.resize_with(named.names.len(), || None);
    if matches!(named.bare, BareArgument::OfCurrent)
        && let Some(input) = parsed.last_mut()
    {
        *input = Some(Node::Variable("CURRENT".to_owned(), Vec::new()));
    }
    Ok(parsed)
}

/// Checks that an argument is a constant string.
fn check_constant(
    operator: &str,
    constant: &Constant,
    node: Option<&Node>,
) -> Result<(), ServerError> {
    let argument = constant.argument;
    let path_refused = |path: &str| {
        refuse(
            constant.path,
            format!(
                "'{path}' is a field path reference which is not allowed in this context. Did you mean {{$literal: '{path}'}}?"
            ),
        )
    };
    match node {
        None | Some(Node::Literal(RawBson::String(_))) => Ok(()),
        Some(Node::Field(path)) => path_refused(&format!("$CURRENT.{}", path.join("."))),
        Some(Node::Variable(name, path)) if path.is_empty() => path_refused(&format!("${name}")),
        Some(Node::Variable(name, path)) => path_refused(&format!("${name}.{}", path.join("."))),
        Some(Node::Literal(other)) => refuse(
            constant.wrong_type,
            format!(
                "{operator} requires '{argument}' to evaluate to type String, but got {}",
                messages::type_name(Some(other.as_raw_bson_ref()))
            ),
        ),
        Some(_) => refuse(
            constant.computed,
            format!(
                "{operator} requires '{argument}' to evaluate to a constant, but got a non-constant argument"
            ),
        ),
    }
}
