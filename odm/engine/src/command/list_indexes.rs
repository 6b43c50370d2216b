//! `listIndexes`.

use bson::doc;
use bson::raw::RawDocumentBuf;
use odm_language::error::{Code, ServerError};

use crate::catalog::options::to_raw;
use crate::command::args::{Kind, field};
use crate::command::collections::{batch_size, listing};
use crate::command::declare::{Command, CommandTarget};
use crate::command::generic_arguments::InTransaction;
use crate::command::invocation::Invocation;

pub(crate) const LIST_INDEXES: Command = Command {
    name: "listIndexes",
    idl: "listIndexes",
    fields: &[
        field("cursor", Kind::Object),
        field("includeBuildUUIDs", Kind::SafeBool),
        field("includeIndexBuildInfo", Kind::SafeBool),
        field("isTimeseriesNamespace", Kind::Bool),
    ],
    target: CommandTarget::Collection,
    transaction: InTransaction::Refused,
    retryable: false,
    writes: false,
    run: list_indexes,
    explain: None,
};

fn list_indexes(call: &mut Invocation<'_>) -> Result<RawDocumentBuf, ServerError> {
    let namespace = call.namespace();
    // No index is ever under construction when it is listed.
    let in_parts = call.args.flag("includeIndexBuildInfo");
    if in_parts && call.args.flag("includeBuildUUIDs") {
        return Err(ServerError::new(
            Code::INVALID_OPTIONS,
            "The includeBuildUUIDs flag and includeBuildIndexInfo flag cannot both be set to true",
        ));
    }
    let batch_size = batch_size(call.args.document("cursor"), "listIndexes.cursor")?;
    call.check_not_view(&namespace)?;
    let Some(collection) = call.find_collection(&namespace) else {
        return Err(ServerError::new(
            Code::NAMESPACE_NOT_FOUND,
            format!("ns does not exist: {namespace}"),
        ));
    };
    let rows = collection
        .indexes
        .iter()
        .map(|index| {
            let document = &index.spec.document;
            if in_parts {
                to_raw(&doc! { "spec": document })
            } else {
                to_raw(document)
            }
        })
        .collect::<Result<_, _>>()?;
    listing(call, namespace, rows, batch_size)
}
