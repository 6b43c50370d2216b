//! `ping`, `hello` and its older spelling, `buildInfo`.

use bson::{doc, raw::RawDocumentBuf};
use odm_language::error::ServerError;

use crate::command::args::{Field, Kind, field};
use crate::command::declare::{Command, CommandTarget};
use crate::command::generic_arguments::InTransaction;
use crate::command::invocation::Invocation;
use crate::command::reply::reply;

pub(crate) const PING: Command = Command {
    name: "ping",
    idl: "ping",
    fields: &[],
    target: CommandTarget::Database,
    transaction: InTransaction::Never,
    retryable: false,
    writes: false,
    run: |_| reply(doc! {}),
    explain: None,
};

const HELLO_FIELDS: &[Field] = &[
    field("client", Kind::Object),
    field("compression", Kind::Strings),
    field("hello", Kind::Any),
    field("helloOk", Kind::Any),
    field("loadBalanced", Kind::Bool),
    field("saslSupportedMechs", Kind::Any),
];

pub(crate) const HELLO: Command = Command {
    name: "hello",
    idl: "hello",
    fields: HELLO_FIELDS,
    target: CommandTarget::Database,
    transaction: InTransaction::Never,
    retryable: false,
    writes: false,
    run: |call| hello(call, "isWritablePrimary"),
    explain: None,
};

pub(crate) const IS_MASTER: Command = Command {
    name: "isMaster",
    idl: "hello",
    run: |call| hello(call, "ismaster"),
    ..HELLO
};

pub(crate) const BUILD_INFO: Command = Command {
    name: "buildInfo",
    idl: "buildInfo",
    run: |call| {
        let [major, minor, patch] = call.context.version().full();
        reply(doc! {
            "version": format!("{major}.{minor}.{patch}"),
            "modules": [],
            "versionArray": [i32::from(major), i32::from(minor), i32::from(patch), 0],
            "bits": 64,
            "debug": cfg!(debug_assertions),
            "maxBsonObjectSize": 16 * 1024 * 1024,
            "storageEngines": ["memory"],
        })
    },
    ..PING
};

fn hello(call: &Invocation<'_>, primary: &str) -> Result<RawDocumentBuf, ServerError> {
    let mut fields = doc! {
        primary: true,
        "maxBsonObjectSize": 16 * 1024 * 1024,
        "maxMessageSizeBytes": 48_000_000,
        "maxWriteBatchSize": 100_000,
        "localTime": call.context.now(),
        "logicalSessionTimeoutMinutes": 30,
        "connectionId": 1,
        "minWireVersion": 0,
        "maxWireVersion": call.context.version().wire(),
        "readOnly": false,
    };
    if call.args.flag("helloOk") {
        fields.insert("helloOk", true);
    }
    reply(fields)
}
