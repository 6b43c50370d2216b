//! What the process is and how it is doing: `serverStatus`, `hostInfo` and their like.

use bson::raw::RawBsonRef;
use bson::{Bson, Document, doc};

use super::{Call, Command};
use crate::error::{Code, ServerError};
use crate::value::raw;

pub(super) const GET_CMD_LINE_OPTS: Command = Command {
    name: "getCmdLineOpts",
    run: |call| {
        let address = call.host.address;
        Ok(doc! {
            "argv": std::env::args().collect::<Vec<_>>(),
            "parsed": {
                "net": { "bindIp": address.ip().to_string(), "port": i32::from(address.port()) },
                "replication": { "replSet": &call.host.options.replica_set },
            },
        })
    },
    is_open: false,
};

pub(super) const GET_FREE_MONITORING_STATUS: Command = Command {
    name: "getFreeMonitoringStatus",
    run: |_| Ok(doc! { "state": "disabled" }),
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

pub(super) const HOST_INFO: Command = Command {
    name: "hostInfo",
    run: |call| Ok(host_info(call)),
    is_open: false,
};

pub(super) const SERVER_STATUS: Command = Command {
    name: "serverStatus",
    run: |call| Ok(server_status(call)),
    is_open: false,
};

/// Nothing is logged: the logs that there are, are empty.
fn get_log(call: &mut Call<'_>) -> Result<Document, ServerError> {
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

fn get_parameter(call: &mut Call<'_>) -> Result<Document, ServerError> {
    let parameters = doc! {
        "authenticationMechanisms": ["SCRAM-SHA-256"],
        "featureCompatibilityVersion": { "version": "6.0" },
        "transactionLifetimeLimitSeconds": 60,
    };
    let all = raw::get(call.command, call.name).and_then(RawBsonRef::as_str) == Some("*");
    let asked = |name: &str| all || raw::get(call.command, name).is_some();
    let found: Document = parameters
        .into_iter()
        .filter(|(name, _)| asked(name))
        .collect();
    if found.is_empty() {
        return Err(ServerError::new(
            Code::INVALID_OPTIONS,
            "no option found to get",
        ));
    }
    Ok(found)
}

fn host_info(call: &Call<'_>) -> Document {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    doc! {
        "system": {
            "currentTime": call.host.memory.now(),
            "hostname": call.host.address.to_string(),
            "cpuAddrSize": i32::try_from(usize::BITS).unwrap_or(64),
            "numCores": i32::try_from(cores).unwrap_or(i32::MAX),
            "cpuArch": std::env::consts::ARCH,
            "numaEnabled": false,
        },
        "os": { "type": std::env::consts::OS, "name": std::env::consts::FAMILY },
        "extra": {},
    }
}

fn server_status(call: &Call<'_>) -> Document {
    let host = call.host;
    let uptime = host.started.elapsed();
    let (open, created) = host.counts();
    let limit = host.options.max_connections;
    let int = |count: usize| i32::try_from(count).unwrap_or(i32::MAX);
    doc! {
        "host": host.address.to_string(),
        "version": "6.0.5",
        "process": "odm-server",
        "pid": i64::from(std::process::id()),
        "uptime": uptime.as_secs_f64().floor(),
        "uptimeMillis": i64::try_from(uptime.as_millis()).unwrap_or(i64::MAX),
        "localTime": host.memory.now(),
        "connections": {
            "current": int(open),
            "available": int(limit.saturating_sub(open)),
            "totalCreated": created,
        },
        "storageEngine": {
            "name": "memory",
            "supportsCommittedReads": true,
            "readOnly": false,
            "persistent": false,
        },
    }
}
