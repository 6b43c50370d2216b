//! `create`.

pub(super) mod checks;

use bson::raw::{RawArrayBuf, RawBsonRef, RawDocument, RawDocumentBuf};
use bson::{Bson, Document, Uuid, doc};
use odm_language::error::{Code, ServerError};
use odm_language::value::collation::Collator;
use odm_language::value::{print, raw};

use crate::catalog::Root;
use crate::catalog::changes::definition::{self, Definition};
use crate::catalog::namespace::Namespace;
use crate::catalog::options::Options;
use crate::catalog::view::View;
use crate::command::args::{Args, Field, Kind, field, objects, unsupported};
use crate::command::create::checks::{
    are_images, are_index_defaults, is_action, is_capped_max, is_capped_size, is_collation,
    is_level, is_view_source,
};
use crate::command::declare::{Command, CommandTarget};
use crate::command::generic_arguments::InTransaction;
use crate::command::invocation::Invocation;
use crate::command::reply::reply;
use crate::index::spec::parse::ParsedSpec;

const FIELDS: &[Field] = &[
    field("capped", Kind::SafeBool),
    field("size", Kind::SafeInt).checked(is_capped_size),
    field("max", Kind::SafeInt).checked(is_capped_max),
    field("validator", Kind::Object),
    field("validationLevel", Kind::Str).checked(is_level),
    field("validationAction", Kind::Str).checked(is_action),
    field("collation", Kind::Object).checked(is_collation),
    field("idIndex", Kind::Object),
    field("autoIndexId", Kind::SafeBool),
    // mongod accepts these and ignores them.
    field("flags", Kind::SafeInt),
    field("storageEngine", Kind::Object),
    field("indexOptionDefaults", Kind::Object).checked(are_index_defaults),
    field("viewOn", Kind::Str).checked(is_view_source),
    field("pipeline", Kind::Objects),
    field("expireAfterSeconds", Kind::Unsupported),
    field("timeseries", Kind::Unsupported),
    field("clusteredIndex", Kind::Unsupported),
    field(IMAGES, Kind::Object).checked(are_images),
    field(RECORDED, Kind::SafeBool),
    field("encryptedFields", Kind::Unsupported),
    field("temp", Kind::Unsupported),
];

pub(crate) const CREATE: Command = Command {
    name: "create",
    idl: "create",
    fields: FIELDS,
    target: CommandTarget::Collection,
    transaction: InTransaction::Allowed,
    retryable: false,
    writes: true,
    run: create,
    explain: None,
};

/// The option that lets change streams show documents before and after a change.
pub(super) const IMAGES: &str = "changeStreamPreAndPostImages";

/// The older option that records documents before a change. The engine stores the option but records nothing.
pub(super) const RECORDED: &str = "recordPreImages";

/// Capped sizes are multiples of this.
const CAPPED_STEP: i64 = 256;

fn create(call: &mut Invocation<'_>) -> Result<RawDocumentBuf, ServerError> {
    let namespace = call.namespace();
    let args = &call.args;
    if args.filled("storageEngine").is_some() {
        return Err(unsupported("the option 'create.storageEngine'"));
    }
    check_together(args)?;
    namespace.check_create()?;
    if call.transaction.is_some() && namespace.is_system() {
        return Err(ServerError::new(
            Code::OPERATION_NOT_SUPPORTED_IN_TRANSACTION,
            format!("Cannot create system collection {namespace} within a transaction."),
        ));
    }
    let has = |name| args.filled(name).is_some();
    if has("validator") {
        check_validator_place(&namespace, call.uuid())?;
    }
    check_images(args)?;
    let keeps_images = args.document(IMAGES).is_some_and(keeps_images);
    // mongod warns about the option even if it is `false`.
    let note = args.get("autoIndexId").map_or(Document::new(), |_| {
        doc! { "note": "The autoIndexId option is deprecated and will be removed in a future release" }
    });
    if let Some(on) = args.str("viewOn") {
        if keeps_images {
            return Err(invalid(format!("option not supported on a view: {IMAGES}")));
        }
        create_view(call, namespace, on)?;
        return reply(note);
    }
    if keeps_images && namespace.is_internal() {
        return Err(invalid(format!(
            "{IMAGES} collection option is not supported on the {} database",
            namespace.database
        )));
    }
    if args.flag(RECORDED) && matches!(&*namespace.database, "admin" | "local") {
        return Err(invalid(format!(
            "{RECORDED} collection option is not supported on the {} database",
            namespace.database
        )));
    }
    call.locked.set(true);
    // mongod checks that the name is free before it parses the options.
    let catalog = &call.engine.catalog;
    let is_view = catalog.view(&namespace).is_some();
    let mut is_free = !is_view && catalog.collection(&namespace).is_none();
    if is_free {
        // The transaction may have created the collection, or still see one that was dropped.
        call.follow(&namespace)?;
        is_free = call.find_collection(&namespace).is_none();
    }
    if is_free && call.create(&namespace, options(call, &namespace)?, true)? {
        return reply(note);
    }
    Err(ServerError::new(
        Code::NAMESPACE_EXISTS,
        if is_view {
            format!("A view already exists. NS: {namespace}")
        } else {
            format!("Collection {namespace} already exists.")
        },
    ))
}

/// Refuses options that do not go together.
fn check_together(args: &Args<'_>) -> Result<(), ServerError> {
    let sized = args.get("size").is_some() || args.get("max").is_some();
    match (args.flag("capped"), args.get("size")) {
        (true, None) => {
            return Err(invalid(
                "the 'size' field is required when 'capped' is true",
            ));
        }
        (false, _) if sized => {
            return Err(invalid(
                "the 'capped' field needs to be true when either the 'size' or 'max' fields are present",
            ));
        }
        _ => {}
    }
    if args.get("pipeline").is_some() && args.get("viewOn").is_none() {
        return Err(invalid("'pipeline' requires 'viewOn' to also be specified"));
    }
    let Some(index) = args.document("idIndex") else {
        return Ok(());
    };
    let other = ["viewOn", "autoIndexId"]
        .into_iter()
        .find(|name| args.get(name).is_some());
    if let Some(other) = other {
        return Err(invalid(format!(
            "'idIndex' is not allowed with '{other}': {}",
            print::document(index)
        )));
    }
    check_id_index(index, args.filled("collation"))
}

/// Parses and checks the collection's options.
fn options(call: &Invocation<'_>, namespace: &Namespace) -> Result<Options, ServerError> {
    let args = &call.args;
    let options = Options::compile(document(args)?, call.context.version())?;
    if args.bool("autoIndexId") == Some(false) {
        return Err(ServerError::new(
            Code::location(50001),
            format!(
                "autoIndexId:false is not allowed for collection {namespace} because it can be replicated"
            ),
        ));
    }
    Ok(options)
}

fn create_view(call: &Invocation<'_>, namespace: Namespace, on: &str) -> Result<(), ServerError> {
    if call.transaction.is_some() {
        return Err(ServerError::new(
            Code::OPERATION_NOT_SUPPORTED_IN_TRANSACTION,
            "Cannot create a view in a multi-document transaction.",
        ));
    }
    let stages: RawArrayBuf = objects(call.args.array_or_empty("pipeline")).collect();
    let collation = match call.args.filled("collation") {
        Some(collation) => Collator::parse_created(collation)?,
        None => None,
    };
    let uuid = call.uuid();
    let exists = |message: &str| Err(ServerError::new(Code::NAMESPACE_EXISTS, message.to_owned()));
    let free = |root: &Root, namespace: &Namespace| {
        if root.collection(namespace).is_some() {
            return exists(&format!(
                "Cannot create collection {namespace} - collection already exists."
            ));
        }
        root.check_case(&namespace.database)
    };
    call.locked.set(true);
    free(&call.root(), &namespace)?;
    if call.find_view(&namespace).is_some() {
        return exists("Namespace already exists");
    }
    let view = View::new(namespace, on, &stages, collation, call.simple_globals())?;
    call.engine.catalog.change_views(call.database, |root| {
        free(root, &view.namespace)?;
        if root.view(&view.namespace).is_some() {
            exists("Namespace already exists")?;
        }
        view.check(root)?;
        let change = definition::viewed(&view, Definition::Create);
        root.put_view(view, uuid)?;
        Ok(((), Some(change)))
    })
}

fn invalid(message: impl Into<String>) -> ServerError {
    ServerError::new(Code::INVALID_OPTIONS, message)
}

/// Refuses both options that record documents before a change.
pub(super) fn check_images(args: &Args<'_>) -> Result<(), ServerError> {
    if args.flag(RECORDED) && args.document(IMAGES).is_some_and(keeps_images) {
        return Err(invalid(format!(
            "'{RECORDED}' and '{IMAGES}.enabled' can not be set to true simultaneously"
        )));
    }
    Ok(())
}

/// Whether `changeStreamPreAndPostImages` is enabled.
pub(super) fn keeps_images(images: &RawDocument) -> bool {
    raw::get(images, "enabled") == Some(RawBsonRef::Boolean(true))
}

/// The options in the form and the order of `listCollections`.
fn document(args: &Args<'_>) -> Result<Document, ServerError> {
    let mut document = Document::new();
    if let Some(size) = args.int("size") {
        document.insert("capped", true);
        document.insert("size", int(rounded(size)));
        if let Some(max) = args.int("max") {
            document.insert("max", int(filled(max)));
        }
    }
    if args.flag("autoIndexId") {
        document.insert("autoIndexId", true);
    }
    if let Some(defaults) = args.filled("indexOptionDefaults") {
        document.insert("indexOptionDefaults", to_document(defaults)?);
    }
    if args.flag(RECORDED) {
        document.insert(RECORDED, true);
    }
    if let Some(images) = args.document(IMAGES)
        && keeps_images(images)
    {
        document.insert(IMAGES, to_document(images)?);
    }
    if let Some(validator) = args.filled("validator") {
        document.insert("validator", to_document(validator)?);
    }
    for name in VALIDATION {
        if let Some(value) = args.str(name) {
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

/// The two options about validation.
pub(crate) const VALIDATION: &[&str] = &["validationLevel", "validationAction"];

pub(crate) fn to_document(raw: &RawDocument) -> Result<Document, ServerError> {
    Document::try_from(raw).map_err(|e| ServerError::new(Code::INVALID_BSON, e.to_string()))
}

pub(crate) fn int(value: i64) -> Bson {
    i32::try_from(value).map_or(Bson::Int64(value), Bson::Int32)
}

/// The size of a capped collection, rounded up.
pub(crate) fn rounded(size: i64) -> i64 {
    (size + CAPPED_STEP - 1) / CAPPED_STEP * CAPPED_STEP
}

/// The maximum number of documents of a capped collection; a `max` below 1 means no limit.
pub(crate) fn filled(max: i64) -> i64 {
    if max < 1 { i64::from(i32::MAX) } else { max }
}

fn check_id_index(index: &RawDocument, collation: Option<&RawDocument>) -> Result<(), ServerError> {
    let given = ParsedSpec::read_id(index)?;
    let of_collection = match collation {
        Some(collation) => Collator::parse_created(collation)?,
        None => None,
    };
    if !given.agrees(of_collection.as_ref())? {
        return Err(ServerError::new(
            Code::BAD_VALUE,
            "'idIndex' must have the same collation as the collection.",
        ));
    }
    Ok(())
}

/// mongod allows no validators in its internal databases and collections.
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
