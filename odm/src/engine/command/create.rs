//! `create`.

use bson::raw::{RawBsonRef, RawDocument, RawDocumentBuf};
use bson::{Bson, Document, Uuid, doc};

use crate::engine::catalog::namespace::Namespace;
use crate::engine::catalog::options::Options;
use crate::engine::command::args::{Args, Field, Kind, field, unsupported};
use crate::engine::command::call::Call;
use crate::engine::command::reply::reply;
use crate::engine::command::table::{Command, InTransaction, Target};
use crate::error::{Code, ServerError};
use crate::value::collation::Collator;
use crate::value::{number::Number, raw};

const FIELDS: &[Field] = &[
    field("capped", Kind::SafeBool),
    field("size", Kind::SafeInt),
    field("max", Kind::SafeInt),
    field("validator", Kind::Object),
    field("validationLevel", Kind::Str),
    field("validationAction", Kind::Str),
    field("collation", Kind::Object),
    field("idIndex", Kind::Object),
    field("autoIndexId", Kind::SafeBool),
    field("storageEngine", Kind::Object),
    field("indexOptionDefaults", Kind::Object),
    field("viewOn", Kind::Str),
    field("pipeline", Kind::Array),
    field("expireAfterSeconds", Kind::Unsupported),
    field("timeseries", Kind::Unsupported),
    field("clusteredIndex", Kind::Unsupported),
    field("changeStreamPreAndPostImages", Kind::Unsupported),
    field("encryptedFields", Kind::Unsupported),
    field("temp", Kind::Unsupported),
];

pub(crate) const CREATE: Command = Command {
    name: "create",
    idl: "create",
    fields: FIELDS,
    target: Target::Collection,
    transaction: InTransaction::Allowed,
    retryable: false,
    writes: true,
    run: create,
};

/// Capped sizes are multiples of this.
const CAPPED_STEP: i64 = 256;

fn create(call: &mut Call<'_>) -> Result<RawDocumentBuf, ServerError> {
    let namespace = call.namespace();
    namespace.check_create()?;
    let args = &call.args;
    if args.get("viewOn").is_some() {
        return Err(unsupported("views ('create.viewOn')"));
    }
    if args.get("pipeline").is_some() {
        return Err(invalid("'pipeline' requires 'viewOn' to also be specified"));
    }
    if args.filled("storageEngine").is_some() {
        return Err(unsupported("the option 'create.storageEngine'"));
    }
    if args.bool("autoIndexId") == Some(false) {
        return Err(invalid("The autoIndexId option is not allowed to be false"));
    }
    let document = document(args)?;
    if let Some(index) = args.document("idIndex") {
        check_id_index(index, &document)?;
    }
    if document.contains_key("validator") {
        check_validator_place(&namespace, call.uuid())?;
    }
    let existing = call.find_collection(&namespace);
    let options = Options::compile(document)?;
    if existing.is_some() || !call.create(&namespace, options)? {
        return Err(exists(&namespace));
    }
    reply(doc! {})
}

fn exists(namespace: &Namespace) -> ServerError {
    ServerError::new(
        Code::NAMESPACE_EXISTS,
        format!("Collection {namespace} already exists."),
    )
}

fn invalid(message: impl Into<String>) -> ServerError {
    ServerError::new(Code::INVALID_OPTIONS, message)
}

/// The options in the form and the order of `listCollections`.
fn document(args: &Args<'_>) -> Result<Document, ServerError> {
    let mut document = Document::new();
    let capped = args.flag("capped");
    let (size, max) = (args.int("size"), args.int("max"));
    if let Some(size) = size
        && size < 1
    {
        return Err(too_small("size", 1, size));
    }
    match (capped, size) {
        (true, None) => {
            return Err(invalid(
                "the 'size' field is required when 'capped' is true",
            ));
        }
        (true, Some(size)) => {
            let rounded = (size.saturating_add(CAPPED_STEP - 1) / CAPPED_STEP) * CAPPED_STEP;
            document.insert("capped", true);
            document.insert("size", int(rounded));
            if let Some(max) = max.filter(|max| *max > 0) {
                document.insert("max", int(max));
            }
        }
        (false, size) if size.is_some() || max.is_some() => {
            return Err(invalid(
                "the 'capped' field needs to be true when either the 'size' or 'max' fields are present",
            ));
        }
        (false, _) => {}
    }
    if let Some(defaults) = args.document("indexOptionDefaults") {
        document.insert("indexOptionDefaults", to_document(defaults)?);
    }
    if let Some(validator) = args.filled("validator") {
        document.insert("validator", to_document(validator)?);
    }
    for (name, values) in VALIDATION {
        if let Some(value) = args.str(name) {
            check_word("create", name, value, values)?;
            document.insert(*name, value);
        }
    }
    if let Some(collation) = args.document("collation")
        && let Some(collator) = Collator::parse(collation, "create.collation")?
    {
        document.insert("collation", collator.document());
    }
    Ok(document)
}

/// The words of the two options about validation.
pub(crate) const VALIDATION: &[(&str, &[&str])] = &[
    ("validationLevel", &["off", "strict", "moderate"]),
    ("validationAction", &["error", "warn"]),
];

pub(crate) fn check_word(
    command: &str,
    name: &str,
    value: &str,
    values: &[&str],
) -> Result<(), ServerError> {
    if values.contains(&value) {
        return Ok(());
    }
    Err(ServerError::new(
        Code::BAD_VALUE,
        format!("Enumeration value '{value}' for field '{command}.{name}' is not a valid value."),
    ))
}

pub(crate) fn to_document(raw: &RawDocument) -> Result<Document, ServerError> {
    Document::try_from(raw).map_err(|e| ServerError::new(Code::INVALID_BSON, e.to_string()))
}

fn int(value: i64) -> Bson {
    i32::try_from(value).map_or(Bson::Int64(value), Bson::Int32)
}

fn too_small(name: &str, least: i64, value: i64) -> ServerError {
    ServerError::new(
        Code::location(51024),
        format!("BSON field '{name}' value must be >= {least}, actual value '{value}'"),
    )
}

fn check_id_index(index: &RawDocument, options: &Document) -> Result<(), ServerError> {
    let key_is_id = match raw::get(index, "key") {
        Some(RawBsonRef::Document(key)) => {
            let mut elements = raw::elements(key);
            matches!(elements.next(), Some(("_id", value)) if Number::from_raw(value).is_some_and(|n| n.to_f64() > 0.0))
                && elements.next().is_none()
        }
        _ => false,
    };
    if !key_is_id {
        return Err(ServerError::new(
            Code::BAD_VALUE,
            "The field 'key' for an _id index must be {_id: 1}",
        ));
    }
    if raw::get(index, "collation").is_some() && !options.contains_key("collation") {
        return Err(ServerError::new(
            Code::BAD_VALUE,
            "'idIndex' must have the same collation as the collection.",
        ));
    }
    Ok(())
}

/// The server keeps validators out of its own databases and collections.
pub(crate) fn check_validator_place(
    namespace: &Namespace,
    uuid: [u8; 16],
) -> Result<(), ServerError> {
    let uuid = Uuid::from_bytes(uuid);
    if namespace.is_internal() {
        return Err(invalid(format!(
            "Document validators are not allowed on collection {namespace} with UUID {uuid} in the {} internal database",
            namespace.database
        )));
    }
    if namespace.is_system() {
        return Err(invalid(format!(
            "Document validators not allowed on system collection {namespace} with UUID {uuid}"
        )));
    }
    Ok(())
}
