//! The operators on a field.

use std::sync::Arc;

use bson::{RawBson, RawBsonRef, RawDocument};

use super::operand::{non_negative, non_negative_int, truncated};
use super::{
    Parsed, Place, array, bad_value, beside, document, is_expression, is_reference, negate, nested,
    single, written,
};
use crate::error::{Code, ServerError};
use crate::expression::Globals;
use crate::matcher::ast::{ElementMatch, FieldTest, Group, In, Predicate, Test};
use crate::matcher::bits::{Bits, Quantifier};
use crate::matcher::comparison::{Comparison, Operand};
use crate::matcher::geo::{GeoTest, Near};
use crate::matcher::operators::{self, OnField, TopLevel};
use crate::regex::Regex;
use crate::value::bson_type::TypeSet;
use crate::value::number::Number;
use crate::value::path::Path;
use crate::value::{order, print, raw};

/// Parses `path: value`; the value may be a document of operators.
pub(super) fn field(
    path: &str,
    value: RawBsonRef<'_>,
    globals: &Globals,
    children: &mut Vec<Predicate>,
) -> Parsed<()> {
    match value {
        RawBsonRef::Document(operators) if is_expression(operators) => {
            children.extend(operators_on(path, operators, globals)?);
        }
        RawBsonRef::RegularExpression(regex) => {
            let test = Test::Regex(Regex::in_filter(
                regex.pattern.as_str(),
                regex.options.as_str(),
            )?);
            children.push(leaf(path, test, "$regex", single(path, value)));
        }
        _ => children.push(leaf(path, equality(value)?, "$eq", single(path, value))),
    }
    Ok(())
}

/// The condition that the field has this value, whatever it is.
pub(super) fn literal(path: &str, value: RawBsonRef<'_>) -> Parsed<Predicate> {
    let source = written(path, "$eq", value);
    Ok(leaf(path, equality(value)?, "$eq", source))
}

fn leaf(path: &str, test: Test, operator: &'static str, source: bson::RawDocumentBuf) -> Predicate {
    Predicate::Field(FieldTest {
        path: Path::new(path),
        test,
        operator,
        source,
    })
}

fn equality(value: RawBsonRef<'_>) -> Parsed<Test> {
    Ok(Test::Compare(Comparison::Eq, comparable(value)?))
}

fn comparable(value: RawBsonRef<'_>) -> Parsed<Operand> {
    match value {
        RawBsonRef::Undefined => Err(bad_value("cannot compare to undefined")),
        value => Ok(Operand::new(value)),
    }
}

/// The predicates of `path: {operators}`.
fn operators_on(path: &str, operators: &RawDocument, globals: &Globals) -> Parsed<Vec<Predicate>> {
    if let Some(test) = geospatial(path, operators)? {
        return Ok(vec![test]);
    }
    let mut children = Vec::new();
    for (name, value) in raw::elements(operators) {
        let Some((operator, kind)) = operators::on_field(name) else {
            return Err(match operators::top_level(name) {
                Some((_, TopLevel::Unsupported)) if name == "$where" => {
                    bad_value("$where cannot be applied to a field")
                }
                _ => bad_value(format!("unknown operator: {name}")),
            });
        };
        children.extend(one(path, operators, operator, kind, value, globals)?);
    }
    Ok(children)
}

/// Parses a geospatial condition. It consumes all operators of the field: only its own options may stand beside it.
fn geospatial(path: &str, operators: &RawDocument) -> Parsed<Option<Predicate>> {
    for (name, _) in raw::elements(operators) {
        let (name, test) = match operators::on_field(name) {
            Some((name, OnField::GeoWithin)) => {
                (name, Test::Geo(Arc::new(GeoTest::parse(operators, true)?)))
            }
            Some((name, OnField::GeoIntersects)) => {
                (name, Test::Geo(Arc::new(GeoTest::parse(operators, false)?)))
            }
            Some((name, OnField::Near)) => (name, Test::Near(Box::new(Near::parse(operators)?))),
            Some(_) => continue,
            None => return Ok(None),
        };
        let source = nested(path, operators.to_owned());
        return Ok(Some(leaf(path, test, name, source)));
    }
    Ok(None)
}

fn one(
    path: &str,
    siblings: &RawDocument,
    name: &'static str,
    kind: OnField,
    value: RawBsonRef<'_>,
    globals: &Globals,
) -> Parsed<Option<Predicate>> {
    let source = || written(path, name, value);
    let test = match kind {
        OnField::Eq => equality(value)?,
        OnField::Gt => ordering(Comparison::Gt, path, value)?,
        OnField::Gte => ordering(Comparison::Gte, path, value)?,
        OnField::Lt => ordering(Comparison::Lt, path, value)?,
        OnField::Lte => ordering(Comparison::Lte, path, value)?,
        OnField::In => Test::In(alternatives(name, value, globals)?),
        OnField::Type => Test::Type(types(path, value)?),
        OnField::Mod => modulus(value)?,
        OnField::Size => size(name, value)?,
        OnField::ElemMatch => Test::Element(element(value, globals)?),
        OnField::BitsAllSet => bits(path, name, value, Quantifier::All, true)?,
        OnField::BitsAllClear => bits(path, name, value, Quantifier::All, false)?,
        OnField::BitsAnySet => bits(path, name, value, Quantifier::Any, true)?,
        OnField::BitsAnyClear => bits(path, name, value, Quantifier::Any, false)?,
        OnField::Regex => {
            let (regex, source) = regex(path, siblings, value)?;
            return Ok(Some(leaf(path, Test::Regex(regex), "$regex", source)));
        }
        OnField::Exists => {
            let exists = leaf(path, Test::Exists, name, source());
            return Ok(Some(if truthy(value) {
                exists
            } else {
                negate(exists, name, source())
            }));
        }
        OnField::Ne => {
            if let RawBsonRef::RegularExpression(_) = value {
                return Err(bad_value("Can't have regex as arg to $ne."));
            }
            let equal = leaf(path, equality(value)?, "$eq", source());
            return Ok(Some(negate(equal, name, source())));
        }
        OnField::Nin => {
            let test = Test::In(alternatives(name, value, globals)?);
            let within = leaf(path, test, "$in", source());
            return Ok(Some(negate(within, name, source())));
        }
        OnField::All => return all(path, value, globals).map(Some),
        OnField::Not => return not(path, value, globals).map(Some),
        OnField::Options => {
            if raw::get(siblings, "$regex").is_none() {
                return Err(bad_value("$options needs a $regex"));
            }
            return Ok(None);
        }
        // `geospatial` handles these: no other operator may stand beside them.
        OnField::GeoWithin | OnField::GeoIntersects | OnField::Near => {
            return Err(bad_value(format!("{name} must stand alone")));
        }
    };
    Ok(Some(leaf(path, test, name, source())))
}

fn ordering(comparison: Comparison, path: &str, value: RawBsonRef<'_>) -> Parsed<Test> {
    if let RawBsonRef::RegularExpression(_) = value {
        return Err(bad_value(format!(
            "Can't have RegEx as arg to predicate over field '{path}'."
        )));
    }
    Ok(Test::Compare(comparison, comparable(value)?))
}

fn alternatives(name: &str, value: RawBsonRef<'_>, globals: &Globals) -> Parsed<In> {
    let mut values = Vec::new();
    let mut regexes = Vec::new();
    for value in raw::values(array(value, name)?) {
        match value {
            RawBsonRef::Document(document) if is_expression(document) => {
                return Err(bad_value("cannot nest $ under $in"));
            }
            RawBsonRef::RegularExpression(regex) => {
                regexes.push(Regex::in_filter(
                    regex.pattern.as_str(),
                    regex.options.as_str(),
                )?);
            }
            RawBsonRef::Undefined => {
                return Err(bad_value("InMatchExpression equality cannot be undefined"));
            }
            value => values.push(comparable(value)?),
        }
    }
    let compare =
        |a: &Operand, b: &Operand| order::compare(a.value(), b.value(), globals.collator());
    values.sort_by(compare);
    values.dedup_by(|a, b| compare(a, b).is_eq());
    Ok(In { values, regexes })
}

/// Reads a flag as mongod does: everything but false, null, undefined and zero is true.
fn truthy(value: RawBsonRef<'_>) -> bool {
    match value {
        RawBsonRef::Boolean(value) => value,
        RawBsonRef::Null | RawBsonRef::Undefined => false,
        value => Number::from_raw(value).is_none_or(|number| !number.is_zero()),
    }
}

/// The types of `$type`.
pub(in crate::matcher) fn types(path: &str, value: RawBsonRef<'_>) -> Parsed<TypeSet> {
    let RawBsonRef::Array(list) = value else {
        return one_type(value);
    };
    if list.is_empty() {
        return Err(ServerError::new(
            Code::FAILED_TO_PARSE,
            format!("{path} must match at least one type"),
        ));
    }
    raw::values(list).try_fold(TypeSet::default(), |set, value| {
        Ok(set.union(one_type(value)?))
    })
}

fn one_type(value: RawBsonRef<'_>) -> Parsed<TypeSet> {
    if let RawBsonRef::String(alias) = value {
        return TypeSet::from_alias(alias)
            .ok_or_else(|| match alias {
                "missing" => bad_value(
                    "'missing' is not a legal type name. To query for non-existence of a field, use {$exists:false}.",
                ),
                alias => bad_value(format!("Unknown type name alias: {alias}")),
            });
    }
    let Some(number) = Number::from_raw(value) else {
        return Err(ServerError::new(
            Code::TYPE_MISMATCH,
            "type must be represented as a number or a string",
        ));
    };
    let shown = match number {
        Number::Int32(_) => print::value(value),
        number => print::significant(number.to_f64(), 6),
    };
    let code = number.to_i64_exact();
    if code == Some(0) {
        return Err(bad_value(
            "Invalid numerical type code: 0. Instead use {$exists:false}.",
        ));
    }
    code.and_then(|code| i32::try_from(code).ok())
        .and_then(TypeSet::from_code)
        .ok_or_else(|| bad_value(format!("Invalid numerical type code: {shown}")))
}

fn modulus(value: RawBsonRef<'_>) -> Parsed<Test> {
    let RawBsonRef::Array(list) = value else {
        return Err(bad_value("malformed mod, needs to be an array"));
    };
    let mut values = raw::values(list);
    let parts = (values.next(), values.next());
    let number = |value, what: &str| {
        Number::from_raw(value)
            .ok_or_else(|| bad_value(format!("malformed mod, {what} not a number")))
    };
    let whole = |number, what: &str| {
        truncated(number).map_err(|cause| {
            bad_value(format!(
                "malformed mod, {what} value is invalid :: caused by :: {cause}"
            ))
        })
    };
    let few = || bad_value("malformed mod, not enough elements");
    let divisor = number(parts.0.ok_or_else(few)?, "divisor")?;
    let remainder = number(parts.1.ok_or_else(few)?, "remainder")?;
    if values.next().is_some() {
        return Err(bad_value("malformed mod, too many elements"));
    }
    let divisor = whole(divisor, "divisor")?;
    let remainder = whole(remainder, "remainder")?;
    if divisor == 0 {
        return Err(bad_value("divisor cannot be 0"));
    }
    Ok(Test::Mod { divisor, remainder })
}

fn size(name: &str, value: RawBsonRef<'_>) -> Parsed<Test> {
    let size = non_negative_int(name, value)
        .map_err(|problem| bad_value(format!("Failed to parse {name}. {problem}")))?;
    Ok(Test::Size(usize::try_from(size).unwrap_or_default()))
}

fn bits(
    path: &str,
    name: &str,
    value: RawBsonRef<'_>,
    quantifier: Quantifier,
    set: bool,
) -> Parsed<Test> {
    let positions = match value {
        RawBsonRef::Array(list) => raw::elements(raw::array_document(list))
            .map(|(index, position)| {
                non_negative_int(index, position)
                    .map(|position| u64::from(position.unsigned_abs()))
                    .map_err(|problem| {
                        bad_value(format!("Failed to parse bit position. {problem}"))
                    })
            })
            .collect::<Parsed<_>>()?,
        RawBsonRef::Binary(mask) => mask
            .bytes
            .iter()
            .zip(0u64..)
            .flat_map(|(byte, index)| {
                (0..8)
                    .filter(move |bit| byte >> bit & 1 == 1)
                    .map(move |bit| index * 8 + bit)
            })
            .collect(),
        _ if Number::from_raw(value).is_some() => {
            let mask = non_negative(name, value)
                .map_err(|problem| ServerError::new(Code::FAILED_TO_PARSE, problem))?;
            (0..63).filter(|bit| mask >> bit & 1 == 1).collect()
        }
        _ => {
            return Err(bad_value(format!(
                "{path} takes an Array, a number, or a BinData but received: {}",
                print::field(name, value)
            )));
        }
    };
    Ok(Test::Bits(Bits {
        quantifier,
        set,
        positions,
    }))
}

fn regex(
    path: &str,
    siblings: &RawDocument,
    value: RawBsonRef<'_>,
) -> Parsed<(Regex, bson::RawDocumentBuf)> {
    let given = match raw::get(siblings, "$options") {
        None => None,
        Some(RawBsonRef::String(options)) => Some(options),
        Some(_) => return Err(bad_value("$options has to be a string")),
    };
    let (pattern, options) = match value {
        RawBsonRef::String(pattern) => (pattern, given.unwrap_or_default()),
        RawBsonRef::RegularExpression(regex) => {
            let own = regex.options.as_str();
            let mut names = raw::elements(siblings).map(|(name, _)| name);
            let is_first = names.find(|name| matches!(*name, "$regex" | "$options"));
            // mongod ignores empty options that stand before the pattern.
            let (given, code) = match is_first {
                Some("$options") => (given.filter(|given| !given.is_empty()), 51074),
                _ => (given, 51075),
            };
            if !own.is_empty() && given.is_some() {
                return Err(ServerError::new(
                    Code::location(code),
                    "options set in both $regex and $options",
                ));
            }
            (regex.pattern.as_str(), given.unwrap_or(own))
        }
        _ => return Err(bad_value("$regex has to be a string")),
    };
    // Options may stand before or after the pattern, so the source is the whole document of operators.
    let source = nested(path, siblings.to_owned());
    Ok((Regex::in_filter(pattern, options)?, source))
}

fn not(path: &str, value: RawBsonRef<'_>, globals: &Globals) -> Parsed<Predicate> {
    let child = match value {
        RawBsonRef::RegularExpression(regex) => leaf(
            path,
            Test::Regex(Regex::in_filter(
                regex.pattern.as_str(),
                regex.options.as_str(),
            )?),
            "$regex",
            single(path, value),
        ),
        RawBsonRef::Document(operators) if operators.is_empty() => {
            return Err(bad_value("$not cannot be empty"));
        }
        RawBsonRef::Document(operators) => {
            beside(operators_on(path, operators, globals)?, operators)
        }
        _ => return Err(bad_value("$not needs a regex or a document")),
    };
    Ok(negate(child, "$not", written(path, "$not", value)))
}

fn all(path: &str, value: RawBsonRef<'_>, globals: &Globals) -> Parsed<Predicate> {
    let list = array(value, "$all")?;
    let source = written(path, "$all", value);
    let starts_with_operator = |value: RawBsonRef<'_>| match value {
        RawBsonRef::Document(document) => is_expression(document)
            .then(|| raw::elements(document).next())
            .flatten()
            .map(|(key, inner)| (key.to_owned(), RawBson::from(inner))),
        _ => None,
    };
    let first = raw::values(list).next().and_then(starts_with_operator);
    let by_element = first.is_some_and(|(key, _)| key == "$elemMatch");
    let mut children = Vec::new();
    for value in raw::values(list) {
        let test = match (by_element, starts_with_operator(value)) {
            (true, Some((key, inner))) if key == "$elemMatch" => {
                let test = Test::Element(element(inner.as_raw_bson_ref(), globals)?);
                (test, "$elemMatch")
            }
            (true, _) => return Err(bad_value("$all/$elemMatch has to be consistent")),
            (false, Some((key, _))) if operators::on_field(&key).is_some() => {
                return Err(bad_value("no $ expressions in $all"));
            }
            (false, _) => match value {
                RawBsonRef::RegularExpression(regex) => (
                    Test::Regex(Regex::in_filter(
                        regex.pattern.as_str(),
                        regex.options.as_str(),
                    )?),
                    "$regex",
                ),
                value => (equality(value)?, "$eq"),
            },
        };
        children.push(leaf(path, test.0, test.1, source.clone()));
    }
    if children.is_empty() {
        children.push(Predicate::Always(false));
    }
    Ok(Predicate::And(Group::new(children, Some("$all"), source)))
}

fn element(value: RawBsonRef<'_>, globals: &Globals) -> Parsed<ElementMatch> {
    let RawBsonRef::Document(condition) = value else {
        return Err(bad_value("$elemMatch needs an Object"));
    };
    let first = raw::walk(condition).next();
    let first = first
        .as_ref()
        .and_then(raw::Element::key)
        .unwrap_or_default();
    let tests_values = first.starts_with('$')
        && operators::top_level(first).is_none()
        && !super::is_reference_field(first)
        && !is_reference(condition);
    if tests_values {
        return Ok(ElementMatch::Value(operators_on("", condition, globals)?));
    }
    let predicate = document(condition, Place::Element, globals)?;
    Ok(ElementMatch::Document(Box::new(predicate)))
}
