//! `serverStatus`: the state of the process.

use std::sync::atomic::{AtomicI64, Ordering};

use bson::{Document, doc};

use super::{Call, Command};

pub(super) const SERVER_STATUS: Command = Command {
    name: "serverStatus",
    run: |call| Ok(server_status(call)),
    is_open: false,
};

/// The server opens no connections, so it has no pools.
pub(super) const CONN_POOL_STATS: Command = Command {
    name: "connPoolStats",
    run: |_| {
        Ok(doc! {
            "numClientConnections": 0,
            "numAScopedConnections": 0,
            "totalInUse": 0,
            "totalAvailable": 0,
            "totalCreated": 0,
            "totalRefreshing": 0,
            "totalRefreshed": 0,
            "pools": {},
            "hosts": {},
            "numReplicaSetMonitorsCreated": 0,
            "replicaSets": {},
        })
    },
    is_open: false,
};

fn version(call: &Call<'_>) -> String {
    let [major, minor, patch] = call.state.service.version().full();
    format!("{major}.{minor}.{patch}")
}

fn server_status(call: &Call<'_>) -> Document {
    let state = call.state;
    let uptime = state.started.elapsed();
    let (open, created) = state.counts();
    let limit = state.options.max_connections;
    let address = state.address.to_string();
    let counters = &state.operations.counters;
    let count = |counter: &AtomicI64| counter.load(Ordering::Relaxed);
    let [sessions, transactions, cursors] = state.service.counts().map(int);
    let in_use = int(state.service.cursors_in_use());
    let running = state.operations.all();
    let running = running.iter().filter(|(_, it)| it.running.is_some());
    let mut status = doc! {
        "host": &address,
        "version": version(call),
        "process": "odm-server",
        "pid": i64::from(std::process::id()),
        "uptime": uptime.as_secs_f64().floor(),
        "uptimeMillis": i64::try_from(uptime.as_millis()).unwrap_or(i64::MAX),
        "uptimeEstimate": i64::try_from(uptime.as_secs()).unwrap_or(i64::MAX),
        "localTime": state.service.now(),
        "connections": {
            "current": int(open),
            "available": int(limit.saturating_sub(open)),
            "totalCreated": created,
            "active": int(running.count()),
        },
        "logicalSessionRecordCache": { "activeSessionsCount": sessions },
        "network": {
            "physicalBytesIn": count(&counters.received),
            "physicalBytesOut": count(&counters.sent),
            "numRequests": count(&counters.requests),
        },
        "opcounters": {
            "insert": count(&counters.insert),
            "query": count(&counters.query),
            "update": count(&counters.update),
            "delete": count(&counters.delete),
            "getmore": count(&counters.get_more),
            "command": count(&counters.command),
        },
        "repl": {
            "hosts": [&address],
            "setName": &state.options.replica_set,
            "setVersion": 1,
            "isWritablePrimary": true,
            "secondary": false,
            "primary": &address,
            "me": &address,
        },
        "storageEngine": {
            "name": "memory",
            "supportsCommittedReads": true,
            "supportsSnapshotReadConcern": true,
            "readOnly": false,
            "persistent": false,
        },
        "transactions": { "currentOpen": i64::from(transactions) },
        "metrics": { "cursor": { "open": { "pinned": i64::from(in_use), "total": i64::from(cursors) } } },
    };
    if let Some(memory) = memory() {
        status.insert("mem", memory);
    }
    status
}

/// The process's memory in mebibytes, on systems with Linux's `/proc`.
fn memory() -> Option<Document> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let of = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        let kilobytes: i32 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
        Some(kilobytes / 1024)
    };
    Some(doc! {
        "bits": i32::try_from(usize::BITS).ok()?,
        "resident": of("VmRSS:")?,
        "virtual": of("VmSize:")?,
        "supported": true,
    })
}

fn int(count: usize) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}
