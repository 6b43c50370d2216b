//! Command fields, checked against the command's declaration as mongod's parser does.

use std::time::Duration;

use bson::raw::{RawArray, RawBsonRef, RawDocument};
use bson::spec::ElementType;

use odm_language::error::{Code, ServerError};
use odm_language::refusal;
use odm_language::value::decimal::Decimal;
use odm_language::value::raw;

/// The type that a command's field accepts. It also selects the error message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Any,
    Object,
    /// An array of objects. As in every typed array, null elements are ignored, while a null in place of the array is
    /// refused.
    Objects,
    /// An array of strings.
    Strings,
    /// An array of 32-bit integers.
    Ints,
    /// An array of 64-bit integers.
    Longs,
    Str,
    Bool,
    /// A boolean or any number: MongoDB's "safe bool".
    SafeBool,
    /// Any number: MongoDB's "safe int".
    SafeInt,
    /// An object, not null, with the older error message that `find` still uses.
    FindObject,
    /// A 32-bit integer.
    Int,
    /// A boolean, not null, with the older error message that `find` still uses.
    FindBool,
    /// A field that MongoDB has and the engine does not: refused by name, unless absent, null or false.
    Unsupported,
    /// Like [`Kind::Unsupported`], for fields of the type [`Kind::FindBool`].
    UnsupportedBool,
}

/// One declared field.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    pub name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) required: bool,
    /// An extra check of a value of the right type. It runs before the fields behind this one are parsed.
    check: Option<Check>,
}

/// Checks the value of a field, whose name comes with the command's name in front.
type Check = fn(&str, RawBsonRef<'_>) -> Result<(), ServerError>;

impl Kind {
    /// The type of the array's elements; `None` for other kinds.
    fn of_elements(self) -> Option<ElementType> {
        match self {
            Self::Objects => Some(ElementType::EmbeddedDocument),
            Self::Strings => Some(ElementType::String),
            Self::Ints => Some(ElementType::Int32),
            Self::Longs => Some(ElementType::Int64),
            _ => None,
        }
    }
}

impl Field {
    pub(crate) const fn checked(self, check: Check) -> Self {
        Self {
            check: Some(check),
            ..self
        }
    }
}

pub(crate) const fn field(name: &'static str, kind: Kind) -> Field {
    Field {
        name,
        kind,
        required: false,
        check: None,
    }
}

pub const fn required(name: &'static str, kind: Kind) -> Field {
    Field {
        name,
        kind,
        required: true,
        check: None,
    }
}

/// Refuses `isTimeseriesNamespace: true`: the engine has no time series collections.
pub(crate) fn is_of_no_series(_name: &str, value: RawBsonRef<'_>) -> Result<(), ServerError> {
    if value != RawBsonRef::Boolean(true) {
        return Ok(());
    }
    Err(ServerError::new(
        Code::location(5_916_400),
        "'isTimeseriesNamespace' parameter can only be set when the request is sent on system.buckets namespace",
    ))
}

/// The fields that every command accepts. Other modules read them; this list only keeps them from being refused as
/// unknown.
pub const GENERIC: &[&str] = &[
    "$clusterTime",
    "$configServerState",
    "$configTime",
    "$db",
    "$queryOptions",
    "$readPreference",
    "$topologyTime",
    "allowImplicitCollectionCreation",
    "apiDeprecationErrors",
    "apiStrict",
    "apiVersion",
    "autocommit",
    "clientOperationKey",
    "comment",
    "coordinator",
    "lsid",
    "maxTimeMS",
    "mayBypassWriteBlocking",
    "readConcern",
    "startTransaction",
    "stmtId",
    "txnNumber",
    "writeConcern",
];

/// The commands that ignore unknown fields, by the names used in error messages.
const LENIENT: &[&str] = &[
    "KillAllSessionsByPatternCmd",
    "KillAllSessionsCmd",
    "KillSessionsCmd",
    "buildInfo",
    "cloneCollectionAsCapped",
    "collStats",
    "convertToCapped",
    "dataSize",
    "dbStats",
    "profile",
    "startSession",
    "validate",
];

/// The checked fields of a command or of one of its statements.
#[derive(Debug)]
pub struct Args<'a> {
    values: Vec<(&'static str, RawBsonRef<'a>)>,
}

impl<'a> Args<'a> {
    /// No fields.
    pub(crate) fn none() -> Self {
        Self { values: Vec::new() }
    }

    /// The fields of a `find`, of one document if `one`.
    pub(crate) fn of_find(filter: &'a RawDocument, one: bool) -> Self {
        let mut values = Vec::with_capacity(3);
        values.push(("filter", RawBsonRef::Document(filter)));
        if one {
            values.push(("limit", RawBsonRef::Int64(1)));
            values.push(("singleBatch", RawBsonRef::Boolean(true)));
        }
        Self { values }
    }

    /// The fields of a command. The first element is the command's name and is not checked here.
    pub(crate) fn of_command(
        command: &'a RawDocument,
        idl: &str,
        fields: &[Field],
    ) -> Result<Self, ServerError> {
        Self::parse(command, idl, fields, 1, GENERIC, LENIENT.contains(&idl))
    }

    /// The fields of a document inside a command, such as one of `updates`.
    pub fn of_statement(
        statement: &'a RawDocument,
        idl: &str,
        fields: &[Field],
    ) -> Result<Self, ServerError> {
        Self::parse(statement, idl, fields, 0, &[], false)
    }

    fn parse(
        document: &'a RawDocument,
        idl: &str,
        fields: &[Field],
        skip: usize,
        generic: &[&str],
        is_lenient: bool,
    ) -> Result<Self, ServerError> {
        let mut values: Vec<(&'static str, RawBsonRef<'a>)> = Vec::new();
        for element in document.iter().skip(skip) {
            let (name, value) = element.map_err(|e| invalid_bson(&e))?;
            let Some(declared) = fields.iter().find(|field| field.name == name.as_str()) else {
                if is_lenient || generic.contains(&name.as_str()) {
                    continue;
                }
                return Err(unknown(idl, name.as_str()));
            };
            if is_null(value)
                && !matches!(
                    declared.kind,
                    Kind::Any | Kind::FindObject | Kind::FindBool | Kind::UnsupportedBool
                )
            {
                if declared.kind.of_elements().is_some() {
                    return Err(null_list(declared.name));
                }
                continue;
            }
            check(idl, declared, value)?;
            if let Some(check) = declared.check {
                check(&format!("{idl}.{name}"), value)?;
            }
            if values.iter().any(|(seen, _)| *seen == declared.name) {
                return Err(ServerError::new(
                    Code::location(40413),
                    format!("BSON field '{idl}.{name}' is a duplicate field"),
                ));
            }
            values.push((declared.name, value));
        }
        let args = Self { values };
        for field in fields {
            if field.required && args.get(field.name).is_none() {
                return Err(ServerError::new(
                    Code::location(40414),
                    format!(
                        "BSON field '{idl}.{}' is missing but a required field",
                        field.name
                    ),
                ));
            }
        }
        Ok(args)
    }

    pub fn get(&self, name: &str) -> Option<RawBsonRef<'a>> {
        self.values
            .iter()
            .find(|(key, _)| *key == name)
            .map(|(_, value)| *value)
    }

    /// Whether no fields other than these are given.
    pub(crate) fn has_only(&self, names: &[&str]) -> bool {
        self.values.iter().all(|(name, _)| names.contains(name))
    }

    pub(crate) fn document(&self, name: &str) -> Option<&'a RawDocument> {
        match self.get(name)? {
            RawBsonRef::Document(document) => Some(document),
            _ => None,
        }
    }

    /// The document, unless it is `{}`: several options have no effect when empty.
    pub(crate) fn filled(&self, name: &str) -> Option<&'a RawDocument> {
        self.document(name)
            .filter(|document| !is_empty_document(document))
    }

    /// The `hint`: the name or the key of an index.
    pub(crate) fn hint(&self) -> Result<Option<RawBsonRef<'a>>, ServerError> {
        match self.get("hint") {
            hint @ (None | Some(RawBsonRef::String(_) | RawBsonRef::Document(_))) => Ok(hint),
            Some(_) => Err(ServerError::new(
                Code::FAILED_TO_PARSE,
                "Hint must be a string or an object",
            )),
        }
    }

    pub(crate) fn array(&self, name: &str) -> Option<&'a RawArray> {
        match self.get(name)? {
            RawBsonRef::Array(array) => Some(array),
            _ => None,
        }
    }

    /// The array, or an empty one if the field is absent.
    pub(crate) fn array_or_empty(&self, name: &str) -> &'a RawArray {
        const EMPTY: &[u8] = b"\x05\0\0\0\0";
        self.array(name)
            .or_else(|| raw::array_from_bytes(EMPTY))
            .expect("five bytes are an empty array")
    }

    pub(crate) fn str(&self, name: &str) -> Option<&'a str> {
        match self.get(name)? {
            RawBsonRef::String(string) => Some(string),
            _ => None,
        }
    }

    pub(crate) fn bool(&self, name: &str) -> Option<bool> {
        self.get(name).map(truthy)
    }

    pub(crate) fn flag(&self, name: &str) -> bool {
        self.bool(name).unwrap_or(false)
    }

    /// `allowDiskUse`, which is true by default.
    pub(crate) fn allows_disk_use(&self) -> bool {
        self.bool("allowDiskUse").unwrap_or(true)
    }

    pub(crate) fn int(&self, name: &str) -> Option<i64> {
        self.get(name).and_then(whole)
    }

    /// A number that must not be negative, such as `limit`, `skip` and `batchSize`.
    pub(crate) fn natural(&self, name: &str) -> Result<Option<u64>, ServerError> {
        let Some(number) = self.int(name) else {
            return Ok(None);
        };
        u64::try_from(number).map(Some).map_err(|_| {
            ServerError::new(
                Code::location(51024),
                format!("BSON field '{name}' value must be >= 0, actual value '{number}'"),
            )
        })
    }
}

/// Whether mongod treats the value as true: every number but zero, and every value that is neither false, null nor
/// undefined.
pub fn truthy(value: RawBsonRef<'_>) -> bool {
    match value {
        RawBsonRef::Boolean(value) => value,
        RawBsonRef::Null | RawBsonRef::Undefined => false,
        RawBsonRef::Double(value) => value != 0.0 || value.is_nan(),
        RawBsonRef::Int32(value) => value != 0,
        RawBsonRef::Int64(value) => value != 0,
        RawBsonRef::Decimal128(value) => !Decimal::from_bson(value).is_zero(),
        _ => true,
    }
}

/// Converts a number to 64 bits with saturation: doubles are truncated, decimals rounded.
#[expect(
    clippy::cast_possible_truncation,
    reason = "`as` saturates, which is the meaning wanted"
)]
pub fn whole(value: RawBsonRef<'_>) -> Option<i64> {
    match value {
        RawBsonRef::Int32(value) => Some(i64::from(value)),
        RawBsonRef::Int64(value) => Some(value),
        RawBsonRef::Double(value) => Some(value as i64),
        RawBsonRef::Decimal128(value) => value
            .to_string()
            .parse::<f64>()
            .ok()
            .map(|value| value.round_ties_even() as i64),
        _ => None,
    }
}

/// The command's `maxTimeMS`, of any numeric type; 0 means no limit.
pub fn max_time(command: &RawDocument) -> Option<Duration> {
    let millis = u64::try_from(whole(raw::get(command, "maxTimeMS")?)?).ok()?;
    (millis > 0).then(|| Duration::from_millis(millis))
}

pub fn is_empty_document(document: &RawDocument) -> bool {
    document.as_bytes().len() <= 5
}

/// The name of a BSON type in mongod's error messages.
pub(crate) fn type_name(kind: ElementType) -> &'static str {
    match kind {
        ElementType::Double => "double",
        ElementType::String => "string",
        ElementType::EmbeddedDocument => "object",
        ElementType::Array => "array",
        ElementType::Binary => "binData",
        ElementType::Undefined => "undefined",
        ElementType::ObjectId => "objectId",
        ElementType::Boolean => "bool",
        ElementType::DateTime => "date",
        ElementType::Null => "null",
        ElementType::RegularExpression => "regex",
        ElementType::DbPointer => "dbPointer",
        ElementType::JavaScriptCode => "javascript",
        ElementType::Symbol => "symbol",
        ElementType::JavaScriptCodeWithScope => "javascriptWithScope",
        ElementType::Int32 => "int",
        ElementType::Timestamp => "timestamp",
        ElementType::Int64 => "long",
        ElementType::Decimal128 => "decimal",
        ElementType::MinKey => "minKey",
        ElementType::MaxKey => "maxKey",
    }
}

pub fn unknown(idl: &str, name: &str) -> ServerError {
    ServerError::new(
        Code::location(40415),
        format!("BSON field '{idl}.{name}' is an unknown field."),
    )
}

pub(crate) fn invalid_bson(error: &dyn std::fmt::Display) -> ServerError {
    ServerError::new(Code::INVALID_BSON, format!("invalid BSON: {error}"))
}

pub fn unsupported(what: &str) -> ServerError {
    ServerError::new(
        Code::COMMAND_NOT_SUPPORTED,
        format!("the in-memory engine does not support {what}"),
    )
}

fn check(idl: &str, field: &Field, value: RawBsonRef<'_>) -> Result<(), ServerError> {
    use ElementType as T;
    if let Some(elements) = field.kind.of_elements() {
        return check_list(&format!("{idl}.{}", field.name), value, elements).map(drop);
    }
    let found = value.element_type();
    let number = matches!(found, T::Int32 | T::Int64 | T::Double | T::Decimal128);
    let (fits, expected) = match field.kind {
        Kind::Unsupported if truthy(value) => return Err(refused(idl, field)),
        Kind::UnsupportedBool if value == RawBsonRef::Boolean(true) => {
            return Err(refused(idl, field));
        }
        Kind::Any | Kind::Unsupported => return Ok(()),
        Kind::Object | Kind::FindObject => (found == T::EmbeddedDocument, "type 'object'"),
        Kind::Objects | Kind::Strings | Kind::Ints | Kind::Longs => (false, "type 'array'"),
        Kind::Str => (found == T::String, "type 'string'"),
        Kind::Bool => (found == T::Boolean, "type 'bool'"),
        Kind::FindBool | Kind::UnsupportedBool => (found == T::Boolean, ""),
        Kind::Int => (found == T::Int32, "type 'int'"),
        Kind::SafeBool => (
            number || found == T::Boolean,
            "types '[bool, long, int, decimal, double']",
        ),
        Kind::SafeInt => (number, "types '[long, int, decimal, double']"),
    };
    if fits {
        return Ok(());
    }
    let (name, found) = (field.name, type_name(found));
    let message = match field.kind {
        Kind::FindObject => format!("Expected field {name}to be of type object"),
        // mongod's message for this boolean names an object, without a space after the field name.
        Kind::FindBool if name == "oplogReplay" => {
            format!("Expected field {name}to be of type object")
        }
        Kind::FindBool | Kind::UnsupportedBool => {
            format!("Field '{name}' should be a boolean value, but found: {found}")
        }
        _ => return Err(wrong_type(&format!("{idl}.{name}"), value, expected)),
    };
    Err(ServerError::new(Code::TYPE_MISMATCH, message))
}

/// mongod's error for a field of the wrong type. `expected` is one `type '…'` or several `types '[…']`.
pub fn wrong_type(field: &str, found: RawBsonRef<'_>, expected: &str) -> ServerError {
    ServerError::new(
        Code::TYPE_MISMATCH,
        format!(
            "BSON field '{field}' is the wrong type '{}', expected {expected}",
            type_name(found.element_type())
        ),
    )
}

/// The error for a null in place of a typed array.
pub(crate) fn null_list(name: &str) -> ServerError {
    ServerError::new(
        Code::location(10065),
        format!("invalid parameter: expected an object ({name})"),
    )
}

/// The array, if all of its elements are of the type or null.
pub(crate) fn check_list<'a>(
    name: &str,
    value: RawBsonRef<'a>,
    elements: ElementType,
) -> Result<&'a RawArray, ServerError> {
    let RawBsonRef::Array(array) = value else {
        return Err(wrong_type(name, value, "type 'array'"));
    };
    for (at, element) in raw::values(array).enumerate() {
        if element.element_type() != elements && !is_null(element) {
            let expected = format!("type '{}'", type_name(elements));
            return Err(wrong_type(&format!("{name}.{at}"), element, &expected));
        }
    }
    Ok(array)
}

fn is_null(value: RawBsonRef<'_>) -> bool {
    matches!(value, RawBsonRef::Null | RawBsonRef::Undefined)
}

/// The documents of an array of objects, without its nulls.
pub(crate) fn objects(array: &RawArray) -> impl Iterator<Item = &RawDocument> + Clone {
    raw::values(array).filter_map(|value| match value {
        RawBsonRef::Document(document) => Some(document),
        _ => None,
    })
}

fn refused(idl: &str, field: &Field) -> ServerError {
    let option = format!("{idl}.{}", field.name);
    let because = refusal::because(&option);
    unsupported(&format!("the option '{option}'{because}"))
}

pub(crate) fn collection<'a>(
    command: &str,
    target: RawBsonRef<'a>,
) -> Result<&'a str, ServerError> {
    match target {
        RawBsonRef::String(collection) => Ok(collection),
        _ if command == "cloneCollectionAsCapped" => Err(ServerError::new(
            Code::TYPE_MISMATCH,
            format!("'{command}' must be of type String"),
        )),
        other => Err(ServerError::new(
            match command {
                "collStats" | "convertToCapped" | "count" | "distinct" | "validate" => {
                    Code::INVALID_NAMESPACE
                }
                _ => Code::BAD_VALUE,
            },
            format!(
                "collection name has invalid type {}",
                odm_language::value::bson_type::alias(other.element_type())
            ),
        )),
    }
}
