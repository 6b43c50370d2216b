//! The type operators and conversions: `$convert $isNumber $to… $type`.

use bson::DateTime;
use bson::oid::ObjectId;
use bson::raw::{RawBson, RawBsonRef, RawDocument};
use bson::spec::BinarySubtype;

use crate::error::{Code, ServerError, refuse};
use crate::expression::binary::{self, Format};
use crate::expression::calendar;
use crate::expression::compat::messages;
use crate::expression::free_text;
use crate::expression::named::{BareArgument, Named, UNKNOWN_ARGUMENT, Wording};
use crate::expression::operator::{
    Args, ArgumentForm, Operator, Outcome, count, integral_32, listed, null, owned, row,
};
use crate::expression::parse_number::{self, Fault};
use crate::expression::value::Value;
use crate::value::number::Number;
use crate::value::raw::elements;
use crate::version::ServerVersion;

/// The argument of `$toBool` and the like.
const ONE: ArgumentForm =
    ArgumentForm::Listed(1, 1, Some((50723, "requires a single argument, got ")));

/// Sorted by name.
pub(super) const OPERATORS: &[Operator] = &[
    listed("$binarySize", 1, 1, binary_size),
    row(
        "$convert",
        ArgumentForm::Named(&Named {
            names: &["input", "to", "format", "onError", "onNull"],
            required: &[("input", 9), ("to", 9)],
            missing: Wording("Missing '<key>' parameter to <operator>"),
            unknown: (9, UNKNOWN_ARGUMENT),
            bare: BareArgument::Refused(
                9,
                Wording("<operator> expects an object of named arguments but found: <type>"),
            ),
            added: &[("format", ServerVersion::V8_0)],
            ..Named::DEFAULT
        }),
        convert,
    ),
    listed("$isNumber", 1, 1, |args| {
        owned(args.get(0).and_then(Number::from_raw).is_some())
    }),
    row("$toBool", ONE, |args| to(args, Target::of("bool"))),
    row("$toDate", ONE, |args| to(args, Target::of("date"))),
    row("$toDecimal", ONE, |args| to(args, Target::of("decimal"))),
    row("$toDouble", ONE, |args| to(args, Target::of("double"))),
    row("$toInt", ONE, |args| to(args, Target::of("int"))),
    row("$toLong", ONE, |args| to(args, Target::of("long"))),
    row("$toObjectId", ONE, |args| to(args, Target::of("objectId"))),
    row("$toString", ONE, |args| {
        let format = (args.globals.version() >= ServerVersion::V8_0).then_some(Format::Auto);
        to(
            args,
            Target {
                format,
                ..Target::of("string")
            },
        )
    }),
    row("$toUUID", ONE, |args| to(args, UUID)).since(ServerVersion::V8_0),
    listed("$tsIncrement", 1, 1, |args| {
        timestamp(args, 5_687_302, |at| at.increment)
    }),
    listed("$tsSecond", 1, 1, |args| {
        timestamp(args, 5_687_301, |at| at.time)
    }),
    listed("$type", 1, 1, |args| owned(args.type_name(0))),
];

fn binary_size<'a>(args: &mut Args<'a>) -> Outcome<'a> {
    match args.get(0) {
        None | Some(RawBsonRef::Null | RawBsonRef::Undefined) => null(),
        Some(RawBsonRef::String(text)) => owned(count(text.len())),
        Some(RawBsonRef::Binary(binary)) => {
            // A value of the old subtype stores its length a second time.
            let is_old = binary.subtype == BinarySubtype::BinaryOld;
            owned(count(binary.bytes.len() + if is_old { 4 } else { 0 }))
        }
        Some(_) => refuse(
            51276,
            format!(
                "$binarySize requires a string or BinData argument, found: {}",
                args.type_name(0)
            ),
        ),
    }
}

fn timestamp<'a>(args: &mut Args<'a>, code: i32, of: fn(bson::Timestamp) -> u32) -> Outcome<'a> {
    match args.get(0) {
        None | Some(RawBsonRef::Null | RawBsonRef::Undefined) => null(),
        Some(RawBsonRef::Timestamp(at)) => owned(i64::from(of(at))),
        Some(_) => refuse(
            code,
            format!(
                " Argument to {} must be a timestamp, but is {}",
                args.operator,
                args.type_name(0)
            ),
        ),
    }
}

/// What a value is converted to.
#[derive(Debug, Clone, Copy)]
struct Target {
    /// The name of the type.
    name: &'static str,
    /// Of binary data.
    subtype: BinarySubtype,
    /// How a text stands for binary data.
    format: Option<Format>,
    /// Whether binary data is converted, as from 8.0 on.
    has_binary: bool,
}

impl Target {
    const fn of(name: &'static str) -> Self {
        Self {
            name,
            subtype: BinarySubtype::Generic,
            format: None,
            has_binary: false,
        }
    }
}

const UUID: Target = Target {
    subtype: BinarySubtype::Uuid,
    format: Some(Format::Uuid),
    has_binary: true,
    ..Target::of("binData")
};

fn to<'a>(args: &Args<'a>, target: Target) -> Outcome<'a> {
    match args.get(0) {
        None | Some(RawBsonRef::Null | RawBsonRef::Undefined) => null(),
        Some(value) => converted(value, target).map(Value::Owned),
    }
}

fn convert<'a>(args: &mut Args<'a>) -> Outcome<'a> {
    let has_binary = args.globals.version() >= ServerVersion::V8_0;
    let (kind, subtype) = match args.get(1) {
        Some(RawBsonRef::Document(fields)) if has_binary => kind_and_subtype(fields)?,
        kind => (kind, None),
    };
    let name = target(kind)?;
    if args.is_nullish(0) {
        return if args.is_present(4) {
            Ok(args.take(4))
        } else {
            null()
        };
    }
    let Some(name) = name else {
        return null();
    };
    let target = Target {
        subtype: match subtype {
            None => BinarySubtype::Generic,
            Some(code) => binary_subtype(code)?,
        },
        format: format(args)?,
        has_binary,
        ..Target::of(name)
    };
    // The caller evaluates `onError`.
    converted(args.or_null(0), target).map(Value::Owned)
}

/// `{type: "binData", subtype: 4}`.
fn kind_and_subtype(fields: &RawDocument) -> Result<KindAndSubtype<'_>, ServerError> {
    let (mut kind, mut subtype) = (None, None);
    for (name, value) in elements(fields) {
        match name {
            "type" => kind = Some(value),
            "subtype" => subtype = Some(value),
            _ => {
                return Err(ServerError::new(
                    Code::FAILED_TO_PARSE,
                    format!("$convert found an unknown argument of 'to': {name}"),
                ));
            }
        }
    }
    if kind.is_none() {
        return Err(ServerError::new(
            Code::FAILED_TO_PARSE,
            "Missing 'to.type' parameter to $convert",
        ));
    }
    Ok((kind, subtype))
}

type KindAndSubtype<'r> = (Option<RawBsonRef<'r>>, Option<RawBsonRef<'r>>);

/// The subtype of a code: those that BSON defines, and those of users.
fn binary_subtype(code: RawBsonRef<'_>) -> Result<BinarySubtype, ServerError> {
    let known = integral_32(code).and_then(|code| u8::try_from(code).ok());
    match known {
        Some(code @ (0..=9 | 128..)) => Ok(code.into()),
        _ => Err(ServerError::new(
            Code::FAILED_TO_PARSE,
            format!(
                "In $convert, the value for 'to.subtype' does not correspond to a binary subtype: {}",
                messages::computed(code)
            ),
        )),
    }
}

fn format(args: &Args<'_>) -> Result<Option<Format>, ServerError> {
    match args.get(2) {
        None | Some(RawBsonRef::Null | RawBsonRef::Undefined) => Ok(None),
        Some(RawBsonRef::String(name)) => Format::named(name).map(Some),
        Some(_) => Err(ServerError::new(
            Code::FAILED_TO_PARSE,
            format!(
                "$convert's 'format' argument must be a string, but is {}",
                args.type_name(2)
            ),
        )),
    }
}

/// The name of the type that `to` names; `None` if it is null.
fn target(kind: Option<RawBsonRef<'_>>) -> Result<Option<&'static str>, ServerError> {
    let failed = |message: String| Err(ServerError::new(Code::FAILED_TO_PARSE, message));
    match kind {
        None | Some(RawBsonRef::Null | RawBsonRef::Undefined) => Ok(None),
        Some(RawBsonRef::String(name)) => match TARGETS.iter().find(|(_, known)| *known == name) {
            Some((_, name)) => Ok(Some(*name)),
            None => Err(ServerError::new(
                Code::BAD_VALUE,
                format!("Unknown type name: {name}"),
            )),
        },
        Some(code) if Number::from_raw(code).is_some() => {
            let Some(code) = integral_32(code) else {
                return failed("In $convert, numeric 'to' argument is not an integer".to_owned());
            };
            match TARGETS.iter().find(|(known, _)| *known == code) {
                Some((_, name)) => Ok(Some(*name)),
                None => failed(format!(
                    "In $convert, numeric value for 'to' does not correspond to a BSON type: {code}"
                )),
            }
        }
        Some(_) => failed(format!(
            "$convert's 'to' argument must be a string or number, but is {}",
            messages::type_name(kind)
        )),
    }
}

/// The type codes and names that `to` accepts, sorted by code.
const TARGETS: &[(i32, &str)] = &[
    (-1, "minKey"),
    (0, "missing"),
    (1, "double"),
    (2, "string"),
    (3, "object"),
    (4, "array"),
    (5, "binData"),
    (6, "undefined"),
    (7, "objectId"),
    (8, "bool"),
    (9, "date"),
    (10, "null"),
    (11, "regex"),
    (12, "dbPointer"),
    (13, "javascript"),
    (14, "symbol"),
    (15, "javascriptWithScope"),
    (16, "int"),
    (17, "timestamp"),
    (18, "long"),
    (19, "decimal"),
    (127, "maxKey"),
];

const CONVERSION_FAILURE: Code = Code::CONVERSION_FAILURE;

fn failure<T>(message: String) -> Result<T, ServerError> {
    Err(ServerError::new(CONVERSION_FAILURE, message))
}

fn unsupported<T>(value: RawBsonRef<'_>, target: &str) -> Result<T, ServerError> {
    failure(format!(
        "Unsupported conversion from {} to {target} in $convert with no onError value",
        messages::type_name(Some(value))
    ))
}

/// Converts a value that is not null.
fn converted(value: RawBsonRef<'_>, target: Target) -> Result<RawBson, ServerError> {
    if let Some(converted) = to_or_from_binary(value, target) {
        return converted;
    }
    let target = target.name;
    match target {
        "bool" => Ok(RawBson::Boolean(match value {
            RawBsonRef::Array(_) | RawBsonRef::String(_) => true,
            value => Value::Ref(value).truthy(),
        })),
        "string" => to_string(value),
        "double" => to_double(value),
        "decimal" => to_decimal(value),
        "int" => integer(value, "int", |n| i32::try_from(n).ok().map(RawBson::Int32)),
        "long" => match value {
            RawBsonRef::DateTime(date) => Ok(RawBson::Int64(date.timestamp_millis())),
            value => integer(value, "long", |n| i64::try_from(n).ok().map(RawBson::Int64)),
        },
        "date" => to_date(value),
        "objectId" => match value {
            RawBsonRef::ObjectId(id) => Ok(RawBson::ObjectId(id)),
            RawBsonRef::String(hex) => ObjectId::parse_str(hex).map(RawBson::ObjectId).or_else(|_| {
                let fault = match hex.chars().find(|c| !c.is_ascii_hexdigit()) {
                    Some(other) if hex.len() == 24 => {
                        format!("Invalid character found in hex string: {other}")
                    }
                    _ => format!(
                        "Invalid string length for parsing to OID, expected 24 but found {}",
                        hex.len()
                    ),
                };
                failure(format!(
                    "Failed to parse objectId '{hex}' in $convert with no onError value: {fault}"
                ))
            }),
            other => unsupported(other, target),
        },
        other => unsupported(value, other),
    }
}

/// The conversion between text and binary data, and between binary data; `None` for any other.
fn to_or_from_binary(
    value: RawBsonRef<'_>,
    target: Target,
) -> Option<Result<RawBson, ServerError>> {
    if !target.has_binary && target.format.is_none() {
        return None;
    }
    let format = || {
        target.format.ok_or_else(|| {
            ServerError::new(
                Code::location(4_341_115),
                "$convert between a string and binary data needs a 'format'",
            )
        })
    };
    match (value, target.name) {
        (RawBsonRef::Binary(binary), "string") => {
            Some(format().and_then(|format| binary::to_text(binary, format)))
        }
        (RawBsonRef::String(text), "binData") => {
            Some(format().and_then(|format| binary::from_text(text, format, target.subtype)))
        }
        (RawBsonRef::Binary(binary), "binData") => Some(if binary.subtype == target.subtype {
            Ok(RawBson::Binary(binary.to_binary()))
        } else {
            failure(
                "Conversion to another subtype of binary data is unsupported in $convert with no onError value"
                    .to_owned(),
            )
        }),
        _ => None,
    }
}

fn to_string(value: RawBsonRef<'_>) -> Result<RawBson, ServerError> {
    Ok(RawBson::String(match value {
        RawBsonRef::String(text) => text.to_owned(),
        RawBsonRef::Boolean(b) => b.to_string(),
        RawBsonRef::ObjectId(id) => id.to_hex(),
        RawBsonRef::DateTime(date) => calendar::iso_text(date.timestamp_millis())?,
        RawBsonRef::Double(n) if n.is_nan() => "NaN".to_owned(),
        RawBsonRef::Double(n) if n.is_infinite() => {
            if n > 0.0 { "Infinity" } else { "-Infinity" }.to_owned()
        }
        RawBsonRef::Int32(_)
        | RawBsonRef::Int64(_)
        | RawBsonRef::Double(_)
        | RawBsonRef::Decimal128(_) => messages::computed(value),
        other => return unsupported(other, "string"),
    }))
}

fn to_double(value: RawBsonRef<'_>) -> Result<RawBson, ServerError> {
    Ok(RawBson::Double(match value {
        RawBsonRef::Boolean(b) => f64::from(u8::from(b)),
        RawBsonRef::DateTime(date) => Number::Int64(date.timestamp_millis()).to_f64(),
        RawBsonRef::String(text) => {
            return match parse_number::double(text) {
                Ok(n) => Ok(RawBson::Double(n)),
                Err(fault) => unparsable(text, &fault),
            };
        }
        other => match Number::from_raw(other) {
            Some(number) => {
                let double = number.to_f64();
                let is_decimal = matches!(number, Number::Decimal(_));
                // A decimal that is too small for a double overflows as well.
                let is_lost = double.abs() < f64::MIN_POSITIVE && !number.is_zero();
                if is_decimal && (double.is_infinite() && number.is_finite() || is_lost) {
                    return overflow(other);
                }
                double
            }
            None => return unsupported(other, "double"),
        },
    }))
}

fn unparsable<T>(text: &str, fault: &Fault) -> Result<T, ServerError> {
    failure(match fault {
        Fault::Hexadecimal => {
            format!("Illegal hexadecimal input in $convert with no onError value: {text}")
        }
        Fault::Other(why) => {
            format!("Failed to parse number '{text}' in $convert with no onError value: {why}")
        }
    })
}

fn overflow<T>(value: RawBsonRef<'_>) -> Result<T, ServerError> {
    // mongod leaves the number out of the message if it is a long.
    let shown = match value {
        RawBsonRef::Int64(_) => String::new(),
        other => messages::computed(other),
    };
    failure(format!(
        "Conversion would overflow target type in $convert with no onError value: {shown}"
    ))
}

fn to_decimal(value: RawBsonRef<'_>) -> Result<RawBson, ServerError> {
    Ok(RawBson::Decimal128(match value {
        RawBsonRef::Boolean(b) => Number::Int32(i32::from(b)).to_decimal().to_bson(),
        RawBsonRef::DateTime(date) => Number::Int64(date.timestamp_millis())
            .to_decimal()
            .to_bson(),
        RawBsonRef::String(text) => match parse_number::decimal128(text) {
            Ok(decimal) => decimal.to_bson(),
            Err(fault) => return unparsable(text, &fault),
        },
        other => match Number::from_raw(other) {
            Some(number) => number.to_decimal().to_bson(),
            None => return unsupported(other, "decimal"),
        },
    }))
}

fn integer(
    value: RawBsonRef<'_>,
    target: &str,
    fit: impl Fn(i128) -> Option<RawBson>,
) -> Result<RawBson, ServerError> {
    let fitted = match value {
        RawBsonRef::Boolean(b) => fit(i128::from(b)),
        RawBsonRef::String(text) => {
            return match parse_number::integer(text).map(fit) {
                Ok(Some(n)) => Ok(n),
                Ok(None) => unparsable(text, &Fault::Other("Overflow")),
                Err(fault) => unparsable(text, &fault),
            };
        }
        other => match Number::from_raw(other) {
            Some(number) if !number.is_finite() => {
                return failure(format!(
                    "Attempt to convert {} value to integer type in $convert with no onError value",
                    if number.is_nan() { "NaN" } else { "infinity" }
                ));
            }
            Some(number) => number.to_i64_truncated().and_then(|n| fit(i128::from(n))),
            None => return unsupported(other, target),
        },
    };
    fitted.map_or_else(|| overflow(value), Ok)
}

/// The error for a text that mongod might read as a date.
pub(super) fn unread_date(text: &str) -> ServerError {
    ServerError::new(
        Code::COMMAND_NOT_SUPPORTED,
        format!(
            "reading the date '{text}' is not supported by the in-memory engine: it reads ISO 8601, the forms of calendars, mail and logs, and by $dateFromString any with a format"
        ),
    )
}

fn to_date(value: RawBsonRef<'_>) -> Result<RawBson, ServerError> {
    let millis = match value {
        RawBsonRef::DateTime(date) => Some(date.timestamp_millis()),
        RawBsonRef::ObjectId(id) => Some(id.timestamp().timestamp_millis()),
        RawBsonRef::Timestamp(at) => Some(i64::from(at.time) * 1000),
        RawBsonRef::String(text) => match calendar::parse_iso(text) {
            Some(millis) => Some(millis),
            None => match free_text::read(text) {
                Ok(read) => Some(read.local - read.zone.map_or(0, |(_, offset)| offset)),
                Err(free_text::Fault::Unknown) if !calendar::is_no_date(text) => {
                    return Err(unread_date(text));
                }
                Err(_) => return failure(format!("Error parsing date string '{text}'")),
            },
        },
        RawBsonRef::Int64(_) | RawBsonRef::Double(_) | RawBsonRef::Decimal128(_) => {
            return match integer(value, "date", |n| i64::try_from(n).ok().map(RawBson::Int64))? {
                RawBson::Int64(millis) => Ok(RawBson::DateTime(DateTime::from_millis(millis))),
                other => Ok(other),
            };
        }
        other => return unsupported(other, "date"),
    };
    millis.map_or_else(
        || overflow(value),
        |millis| Ok(RawBson::DateTime(DateTime::from_millis(millis))),
    )
}
