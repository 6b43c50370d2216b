//! The server process: `hostInfo`, its parameters and its logs.

use bson::raw::RawBsonRef;
use bson::{Bson, Document, doc};
use odm_engine::COMMON_FIELDS;
use odm_engine::args;
use odm_language::error::{Code, ServerError};
use odm_language::value::raw;

use super::{Call, Command, only_admin};
use crate::state::ServerState;

pub(super) const GET_CMD_LINE_OPTS: Command = Command {
    name: "getCmdLineOpts",
    run: |call| {
        only_admin(call)?;
        let address = call.state.address;
        let mut parsed = doc! {
            "net": { "bindIp": address.ip().to_string(), "port": i32::from(address.port()) },
            "replication": { "replSet": &call.state.options.replica_set },
        };
        if call.state.options.test_commands {
            parsed.insert("setParameter", doc! { "enableTestCommands": "1" });
        }
        Ok(doc! { "argv": std::env::args().collect::<Vec<_>>(), "parsed": parsed })
    },
    is_open: false,
};

pub(super) const GET_FREE_MONITORING_STATUS: Command = Command {
    name: "getFreeMonitoringStatus",
    run: |call| {
        only_admin(call)?;
        Ok(doc! { "state": "disabled" })
    },
    is_open: false,
};

pub(super) const GET_LOG: Command = Command {
    name: "getLog",
    run: get_log,
    is_open: false,
};

pub(super) const GET_PARAMETER: Command = Command {
    name: "getParameter",
    run: get_parameter,
    is_open: false,
};

pub(super) const SET_PARAMETER: Command = Command {
    name: "setParameter",
    run: set_parameter,
    is_open: false,
};

/// The version is always 6.0.
pub(super) const SET_FEATURE_COMPATIBILITY_VERSION: Command = Command {
    name: "setFeatureCompatibilityVersion",
    run: set_version,
    is_open: false,
};

pub(super) const HOST_INFO: Command = Command {
    name: "hostInfo",
    run: |call| Ok(host_info(call)),
    is_open: false,
};

/// The server writes no logs, so all of them are empty.
fn get_log(call: &mut Call<'_>) -> Result<Document, ServerError> {
    only_admin(call)?;
    let name = raw::get(call.command, call.name).and_then(RawBsonRef::as_str);
    match name {
        Some("*") => Ok(doc! { "names": ["global", "startupWarnings"] }),
        Some("global" | "startupWarnings") => {
            Ok(doc! { "totalLinesWritten": 0, "log": Vec::<Bson>::new() })
        }
        Some(other) => Err(ServerError::new(
            Code::OPERATION_FAILED,
            format!("No log named '{other}'"),
        )),
        None => Err(ServerError::new(
            Code::TYPE_MISMATCH,
            "Argument to getLog must be of type String",
        )),
    }
}

fn set_version(call: &mut Call<'_>) -> Result<Document, ServerError> {
    only_admin(call)?;
    let version = call.state.service.version().to_string();
    match raw::get(call.command, call.name).unwrap_or(RawBsonRef::Null) {
        RawBsonRef::String(same) if same == version => Ok(doc! {}),
        RawBsonRef::String(older @ ("5.0" | "5.3" | "6.0" | "7.0")) if *older < *version => {
            Err(args::unsupported(&format!(
                "to be downgraded: its feature compatibility version is {version}"
            )))
        }
        RawBsonRef::String(_) => Err(ServerError::new(
            Code::location(4_926_900),
            "Invalid feature compatibility version value, expected '5.0' or '5.3' or '6.0. See \
             https://docs.mongodb.com/master/release-notes/5.0-compatibility/#feature-compatibility.",
        )),
        other => Err(args::wrong_type(
            &format!("{0}.{0}", call.name),
            other,
            "type 'string'",
        )),
    }
}

/// The readable parameters. None can be changed.
fn parameters(state: &ServerState) -> Document {
    doc! {
        "acceptApiVersion2": false,
        "authenticationMechanisms": ["SCRAM-SHA-256"],
        "cursorTimeoutMillis": 600_000,
        "enableTestCommands": state.options.test_commands,
        "featureCompatibilityVersion": { "version": state.service.version().to_string() },
        "localLogicalSessionTimeoutMinutes": 30,
        "requireApiVersion": false,
        "transactionLifetimeLimitSeconds": 60,
    }
}

fn get_parameter(call: &mut Call<'_>) -> Result<Document, ServerError> {
    only_admin(call)?;
    let (mut all, mut details) = (false, false);
    match raw::get(call.command, call.name) {
        Some(RawBsonRef::String("*")) => all = true,
        Some(RawBsonRef::Document(asked)) => {
            let is_set = |name| raw::get(asked, name).is_some_and(args::truthy);
            all = is_set("allParameters");
            details = is_set("showDetails");
        }
        _ => {}
    }
    let found: Document = parameters(call.state)
        .into_iter()
        .filter(|(name, _)| all || raw::get(call.command, name).is_some())
        .map(|(name, value)| {
            if !details {
                return (name, value);
            }
            let entry = doc! {
                "value": value, "settableAtRuntime": false, "settableAtStartup": false,
            };
            (name, entry.into())
        })
        .collect();
    if found.is_empty() {
        return Err(ServerError::new(
            Code::INVALID_OPTIONS,
            "no option found to get",
        ));
    }
    Ok(found)
}

fn set_parameter(call: &mut Call<'_>) -> Result<Document, ServerError> {
    only_admin(call)?;
    let fields = raw::elements(call.command).skip(1);
    let name = fields
        .map(|(name, _)| name)
        .find(|name| !COMMON_FIELDS.contains(name));
    let message = match name {
        None => "no option found to set, use help:true to see options ".to_owned(),
        Some(name) if parameters(call.state).contains_key(name) => {
            format!("not allowed to change [{name}] at runtime")
        }
        Some(name) => format!(
            "attempted to set unrecognized parameter [{name}], use help:true to see options "
        ),
    };
    Err(ServerError::new(Code::INVALID_OPTIONS, message))
}

fn host_info(call: &Call<'_>) -> Document {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut system = doc! {
        "currentTime": call.state.service.now(),
        "hostname": call.state.address.to_string(),
        "cpuAddrSize": i32::try_from(usize::BITS).unwrap_or(64),
    };
    if let Some(memory) = memory() {
        system.insert("memSizeMB", memory);
    }
    system.insert("numCores", i32::try_from(cores).unwrap_or(i32::MAX));
    system.insert("cpuArch", std::env::consts::ARCH);
    system.insert("numaEnabled", false);
    let mut os = doc! { "type": family(), "name": std::env::consts::OS };
    if let Ok(release) = std::fs::read_to_string("/proc/sys/kernel/osrelease") {
        os.insert("version", format!("Kernel {}", release.trim()));
    }
    doc! { "system": system, "os": os, "extra": {} }
}

/// The operating system's type in MongoDB's terms.
fn family() -> &'static str {
    match std::env::consts::OS {
        "linux" => "Linux",
        "macos" => "Darwin",
        "windows" => "Windows",
        other => other,
    }
}

/// The machine's memory in mebibytes, on systems with Linux's `/proc`.
fn memory() -> Option<i64> {
    let memory = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = memory
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kilobytes: i64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes / 1024)
}
