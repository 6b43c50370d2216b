//! Parses filter documents into predicates, and refuses what mongod refuses.

use bson::{RawArray, RawBson, RawBsonRef, RawDocument, RawDocumentBuf, raw::CString, rawdoc};

use crate::error::{Code, ServerError};
use crate::expression::{Expression, Globals, meta};
use crate::matcher::ast::{Expr, Group, Negation, Predicate};
use crate::matcher::json_schema::Schema;
use crate::matcher::operators::{self, TopLevel};
use crate::refusal;
use crate::value::number::Number;
use crate::value::raw;

mod field;
pub(super) mod operand;

use self::operand::integer;

type Parsed<T> = Result<T, ServerError>;

/// The place of a filter: some operators apply to whole documents only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Document,
    Element,
    /// A condition of `$pull` or of an array filter, which treats elements as documents.
    Condition,
}

/// Parses a filter.
pub(super) fn filter(filter: &RawDocument, globals: &Globals) -> Parsed<Predicate> {
    document(filter, Place::Document, globals)
}

/// Parses a condition of an update on the elements of an array.
pub(super) fn condition(filter: &RawDocument, globals: &Globals) -> Parsed<Predicate> {
    document(filter, Place::Condition, globals)
}

fn bad_value(message: impl Into<String>) -> ServerError {
    ServerError::new(Code::BAD_VALUE, message)
}

fn unsupported(operator: &str) -> ServerError {
    ServerError::new(
        Code::NOT_IMPLEMENTED,
        format!(
            "{operator} is not supported by the in-memory engine{}",
            refusal::because(operator)
        ),
    )
}

/// A document of one field.
fn single(key: &str, value: RawBsonRef<'_>) -> RawDocumentBuf {
    let mut document = RawDocumentBuf::new();
    // a key that came from a document has no zero byte
    if let Ok(key) = CString::try_from(key) {
        document.append(key, value);
    }
    document
}

fn nested(key: &str, inner: RawDocumentBuf) -> RawDocumentBuf {
    single(key, RawBson::Document(inner).as_raw_bson_ref())
}

/// Joins sibling conditions into a conjunction; a single condition needs no group.
fn beside(mut children: Vec<Predicate>, source: &RawDocument) -> Predicate {
    match (children.len(), children.pop()) {
        (1, Some(child)) => child,
        (_, last) => {
            children.extend(last);
            Predicate::And(Group::new(children, None, source.to_owned()))
        }
    }
}

fn document(filter: &RawDocument, place: Place, globals: &Globals) -> Parsed<Predicate> {
    let mut children = Vec::new();
    for (key, value) in raw::elements(filter) {
        if is_reference_field(key) {
            children.push(field::literal(key, value)?);
        } else if key.starts_with('$') {
            top_level(key, value, place, globals, &mut children)?;
        } else {
            field::field(key, value, globals, &mut children)?;
        }
    }
    Ok(beside(children, filter))
}

/// The fields of a `DBRef` are field names although they begin with `$`. mongod compares each with the whole value, which
/// holds no operators.
fn is_reference_field(key: &str) -> bool {
    matches!(key, "$ref" | "$id" | "$db")
}

fn top_level(
    key: &str,
    value: RawBsonRef<'_>,
    place: Place,
    globals: &Globals,
    children: &mut Vec<Predicate>,
) -> Parsed<()> {
    let Some((name, operator)) = operators::top_level(key) else {
        let advice = if key == "$not" {
            "If you are trying to negate an entire expression, use $nor."
        } else {
            "If you have a field name that starts with a '$' symbol, consider using $getField or \
             $setField."
        };
        return Err(bad_value(format!(
            "unknown top level operator: {key}. {advice}"
        )));
    };
    let whole_documents_only = matches!(
        operator,
        TopLevel::Expr | TopLevel::SampleRate | TopLevel::Text | TopLevel::Unsupported
    );
    if whole_documents_only && place == Place::Element {
        return Err(bad_value(format!(
            "{name} can only be applied to the top-level document"
        )));
    }
    if place == Place::Condition
        && (whole_documents_only && operator != TopLevel::SampleRate
            || operator == TopLevel::JsonSchema)
    {
        let code = match operator {
            TopLevel::Expr | TopLevel::JsonSchema => Code::QUERY_FEATURE_NOT_ALLOWED,
            _ => Code::BAD_VALUE,
        };
        let message = format!("{name} is not allowed in this context");
        return Err(ServerError::new(code, message));
    }
    children.push(match operator {
        TopLevel::And => Predicate::And(group(name, value, place, globals)?),
        TopLevel::Or => Predicate::Or(group(name, value, place, globals)?),
        TopLevel::Nor => Predicate::Nor(group(name, value, place, globals)?),
        TopLevel::Comment => return Ok(()),
        TopLevel::AlwaysTrue | TopLevel::AlwaysFalse => {
            let number = integer(name, value)
                .map_err(|problem| ServerError::new(Code::FAILED_TO_PARSE, problem))?;
            if number != 1 {
                return Err(ServerError::new(
                    Code::FAILED_TO_PARSE,
                    format!("{name} must be an integer value of 1"),
                ));
            }
            Predicate::Always(operator == TopLevel::AlwaysTrue)
        }
        TopLevel::Expr if meta::mentions(value, Some("textScore")) => {
            return Err(meta::unavailable());
        }
        TopLevel::Expr => {
            if let Some(error) = meta::lacks_distance(value) {
                return Err(error);
            }
            Predicate::Expr(Expr {
                expression: Expression::parse(value, &globals.scope().with_plain_sets())?,
                source: single(name, value),
            })
        }
        TopLevel::JsonSchema => match value {
            RawBsonRef::Document(schema) => Predicate::Schema(Box::new(Schema::parse(schema)?)),
            _ => {
                return Err(ServerError::new(
                    Code::TYPE_MISMATCH,
                    "$jsonSchema must be an object",
                ));
            }
        },
        TopLevel::SampleRate => {
            let comparison = sample_rate(value)?;
            Predicate::Expr(Expr {
                expression: Expression::parse(RawBsonRef::Document(&comparison), &globals.scope())?,
                source: single("$expr", RawBsonRef::Document(&comparison)),
            })
        }
        TopLevel::Text => crate::matcher::text::parse(value)?,
        TopLevel::Unsupported => {
            return Err(unsupported(name));
        }
    });
    Ok(())
}

/// Rewrites `$sampleRate` as `{$lt: [{$rand: {}}, rate]}`, or as a constant if the rate is 0 or 1.
fn sample_rate(value: RawBsonRef<'_>) -> Parsed<RawDocumentBuf> {
    let Some(number) = Number::from_raw(value) else {
        return Err(bad_value("argument to $sampleRate must be a numeric type"));
    };
    let rate = number.to_f64();
    if !(0.0..=1.0).contains(&rate) {
        return Err(bad_value(
            "numeric argument to $sampleRate must be in [0, 1]",
        ));
    }
    Ok(if rate <= 0.0 || rate >= 1.0 {
        rawdoc! { "$const": rate >= 1.0 }
    } else {
        rawdoc! { "$lt": [{ "$rand": {} }, rate] }
    })
}

fn group(
    name: &'static str,
    value: RawBsonRef<'_>,
    place: Place,
    globals: &Globals,
) -> Parsed<Group> {
    let RawBsonRef::Array(clauses) = value else {
        return Err(bad_value(format!("{name} must be an array")));
    };
    if clauses.is_empty() {
        return Err(bad_value("$and/$or/$nor must be a nonempty array"));
    }
    let children = raw::values(clauses)
        .map(|clause| match clause {
            RawBsonRef::Document(clause) => document(clause, place, globals),
            _ => Err(bad_value("$or/$and/$nor entries need to be full objects")),
        })
        .collect::<Parsed<_>>()?;
    Ok(Group::new(children, Some(name), single(name, value)))
}

fn negate(child: Predicate, operator: &'static str, source: RawDocumentBuf) -> Predicate {
    Predicate::Not(Negation {
        child: Box::new(child),
        operator,
        source,
    })
}

/// Whether a document holds operators, judged by its first field.
fn is_expression(document: &RawDocument) -> bool {
    let first = raw::walk(document).next().and_then(|element| element.key());
    first.is_some_and(|key| key.starts_with('$')) && !is_reference(document)
}

/// Whether a document is a complete `DBRef`: it has `$ref` and `$id`.
fn is_reference(document: &RawDocument) -> bool {
    raw::get(document, "$ref").is_some() && raw::get(document, "$id").is_some()
}

fn array<'a>(value: RawBsonRef<'a>, name: &str) -> Parsed<&'a RawArray> {
    match value {
        RawBsonRef::Array(array) => Ok(array),
        _ => Err(bad_value(format!("{name} needs an array"))),
    }
}

/// The condition as mongod prints it: `{path: {operator: value}}`.
pub(super) fn written(path: &str, operator: &str, value: RawBsonRef<'_>) -> RawDocumentBuf {
    nested(path, single(operator, value))
}
