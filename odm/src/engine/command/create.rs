//! `create`.

use bson::raw::{RawArray, RawBsonRef, RawDocument, RawDocumentBuf};
use bson::{Bson, Document, Uuid, doc};

use crate::engine::catalog::Root;
use crate::engine::catalog::changes::definition::{self, Definition};
use crate::engine::catalog::namespace::Namespace;
use crate::engine::catalog::options::Options;
use crate::engine::catalog::view::View;
use crate::engine::command::args::{
    Args, Field, Kind, field, required, unknown, unsupported, wrong_type,
};
use crate::engine::command::call::Call;
use crate::engine::command::reply::reply;
use crate::engine::command::table::{Command, InTransaction, Target};
use crate::error::{Code, ServerError};
use crate::value::collation::Collator;
use crate::value::{number::Number, print, raw};

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
    field(IMAGES, Kind::Object),
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

/// Whether change streams can tell documents as they were and as they became.
pub(super) const IMAGES: &str = "changeStreamPreAndPostImages";

/// Capped sizes are multiples of this.
const CAPPED_STEP: i64 = 256;

/// The largest capped size: a pebibyte.
const LARGEST_CAPPED: i64 = 1 << 50;

fn create(call: &mut Call<'_>) -> Result<RawDocumentBuf, ServerError> {
    let namespace = call.namespace();
    namespace.check_create()?;
    let args = &call.args;
    if args.get("pipeline").is_some() && args.get("viewOn").is_none() {
        return Err(invalid("'pipeline' requires 'viewOn' to also be specified"));
    }
    if args.filled("storageEngine").is_some() {
        return Err(unsupported("the option 'create.storageEngine'"));
    }
    if args.bool("autoIndexId") == Some(false) {
        return Err(ServerError::new(
            Code::location(50001),
            format!(
                "autoIndexId:false is not allowed for collection {namespace} because it can be replicated"
            ),
        ));
    }
    if let Some(defaults) = args.document("indexOptionDefaults")
        && let Some((name, _)) = raw::elements(defaults).find(|(name, _)| *name != "storageEngine")
    {
        return Err(unknown("create.indexOptionDefaults", name));
    }
    let document = document(args)?;
    if let Some(index) = args.document("idIndex") {
        check_id_index(index, &document)?;
    }
    if document.contains_key("validator") {
        check_validator_place(&namespace, call.uuid())?;
    }
    if let Some(on) = args.str("viewOn") {
        if let Some(index) = args.document("idIndex") {
            return Err(invalid(format!(
                "'idIndex' is not allowed with 'viewOn': {}",
                print::document(index)
            )));
        }
        if document.contains_key(IMAGES) {
            return Err(invalid(format!("option not supported on a view: {IMAGES}")));
        }
        return create_view(call, namespace, on);
    }
    if document.contains_key(IMAGES) && namespace.is_internal() {
        return Err(invalid(format!(
            "{IMAGES} collection option is not supported on the {} database",
            namespace.database
        )));
    }
    let is_indexed = args.flag("autoIndexId");
    // Whether the name is free is asked before what the options mean.
    let is_free =
        call.find_collection(&namespace).is_none() && call.find_view(&namespace).is_none();
    if is_free && call.create(&namespace, Options::compile(document)?, true)? {
        return reply(if is_indexed {
            doc! { "note": "The autoIndexId option is deprecated and will be removed in a future release" }
        } else {
            doc! {}
        });
    }
    Err(ServerError::new(
        Code::NAMESPACE_EXISTS,
        if call.find_view(&namespace).is_some() {
            format!("A view already exists. NS: {namespace}")
        } else {
            format!("Collection {namespace} already exists.")
        },
    ))
}

fn create_view(
    call: &Call<'_>,
    namespace: Namespace,
    on: &str,
) -> Result<RawDocumentBuf, ServerError> {
    if call.transaction.is_some() {
        return Err(ServerError::new(
            Code::OPERATION_NOT_SUPPORTED_IN_TRANSACTION,
            "Cannot create a view in a multi-document transaction.",
        ));
    }
    let stages = call.args.array_or_empty("pipeline");
    check_stages("create", Some(stages))?;
    let collation = match call.args.filled("collation") {
        Some(collation) => Collator::parse_created(collation)?,
        None => None,
    };
    let uuid = call.uuid();
    let exists = |message| Err(ServerError::new(Code::NAMESPACE_EXISTS, message));
    let free = |root: &Root, namespace: &Namespace| {
        if root.collection(namespace).is_some() {
            return exists(format!(
                "Cannot create collection {namespace} - collection already exists."
            ));
        }
        root.check_case(&namespace.database)
    };
    free(&call.root(), &namespace)?;
    let view = View::new(namespace, on, stages, collation, call.now)?;
    call.engine.catalog.change_views(call.database, |root| {
        free(root, &view.namespace)?;
        if root.view(&view.namespace).is_some() {
            exists("Namespace already exists".to_owned())?;
        }
        view.check(root)?;
        let told = definition::viewed(&view, Definition::Create);
        root.put_view(view, uuid)?;
        Ok(((), Some(told)))
    })?;
    reply(doc! {})
}

fn invalid(message: impl Into<String>) -> ServerError {
    ServerError::new(Code::INVALID_OPTIONS, message)
}

/// Refuses a view's pipeline with what is no stage.
pub(crate) fn check_stages(command: &str, stages: Option<&RawArray>) -> Result<(), ServerError> {
    for (at, stage) in stages.into_iter().flat_map(raw::values).enumerate() {
        if !matches!(stage, RawBsonRef::Document(_)) {
            return Err(wrong_type(
                &format!("{command}.pipeline.{at}"),
                stage,
                "type 'object'",
            ));
        }
    }
    Ok(())
}

/// The options in the form and the order of `listCollections`.
/// What `changeStreamPreAndPostImages` says.
pub(super) fn keeps_images(command: &str, images: &RawDocument) -> Result<bool, ServerError> {
    let idl = format!("{command}.changeStreamPreAndPostImages");
    let args = Args::of_statement(images, &idl, &[required("enabled", Kind::Bool)])?;
    Ok(args.flag("enabled"))
}

fn document(args: &Args<'_>) -> Result<Document, ServerError> {
    let mut document = Document::new();
    let capped = args.flag("capped");
    let (size, max) = (args.int("size"), args.int("max"));
    let size = size.map(|size| capped_size("size", size)).transpose()?;
    let max = max.map(|max| capped_max("max", max)).transpose()?;
    match (capped, size) {
        (true, None) => {
            return Err(invalid(
                "the 'size' field is required when 'capped' is true",
            ));
        }
        (true, Some(size)) => {
            document.insert("capped", true);
            document.insert("size", int(size));
            if let Some(max) = max {
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
    if args.flag("autoIndexId") {
        document.insert("autoIndexId", true);
    }
    if let Some(defaults) = args.filled("indexOptionDefaults") {
        document.insert("indexOptionDefaults", to_document(defaults)?);
    }
    if let Some(images) = args.document(IMAGES)
        && keeps_images("create", images)?
    {
        document.insert(IMAGES, to_document(images)?);
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
        && let Some(collator) = Collator::parse_created(collation)?
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

pub(crate) fn int(value: i64) -> Bson {
    i32::try_from(value).map_or(Bson::Int64(value), Bson::Int32)
}

/// The size of a capped collection, rounded up.
pub(crate) fn capped_size(name: &str, size: i64) -> Result<i64, ServerError> {
    if size < 1 {
        return Err(out_of_range(name, ">= 1", size));
    }
    if size > LARGEST_CAPPED {
        return Err(out_of_range(name, &format!("<= {LARGEST_CAPPED}"), size));
    }
    Ok((size + CAPPED_STEP - 1) / CAPPED_STEP * CAPPED_STEP)
}

/// How many documents a capped collection may hold; nothing and less stand for as many as fit.
pub(crate) fn capped_max(name: &str, max: i64) -> Result<i64, ServerError> {
    let most = i64::from(i32::MAX);
    if max > most {
        return Err(out_of_range(name, &format!("< {}", most + 1), max));
    }
    Ok(if max < 1 { most } else { max })
}

fn out_of_range(name: &str, range: &str, value: i64) -> ServerError {
    ServerError::new(
        Code::location(51024),
        format!("BSON field '{name}' value must be {range}, actual value '{value}'"),
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
