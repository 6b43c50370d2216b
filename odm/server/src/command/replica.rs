//! The commands of a replica set with one member: `replSetGetStatus`, `replSetGetConfig`, `getDefaultRWConcern`.

use bson::{DateTime, Document, doc};
use odm_language::error::{Code, ServerError};

use super::hello::TERM;
use super::{Call, Command, only_admin};

pub(super) const GET_STATUS: Command = Command {
    name: "replSetGetStatus",
    run: status,
    is_open: false,
};

pub(super) const GET_CONFIG: Command = Command {
    name: "replSetGetConfig",
    run: config,
    is_open: false,
};

/// The replica set exists from the start.
pub(super) const INITIATE: Command = Command {
    name: "replSetInitiate",
    run: |call| {
        only_admin(call)?;
        Err(ServerError::new(
            Code::ALREADY_INITIALIZED,
            "already initialized",
        ))
    },
    is_open: false,
};

pub(super) const GET_DEFAULT_RW_CONCERN: Command = Command {
    name: "getDefaultRWConcern",
    run: |call| {
        only_admin(call)?;
        Ok(doc! {
            "defaultReadConcern": { "level": "local" },
            "defaultWriteConcern": { "w": "majority", "wtimeout": 0 },
            "defaultReadConcernSource": "implicit",
            "defaultWriteConcernSource": "implicit",
            "localUpdateWallClockTime": call.state.service.now(),
        })
    },
    is_open: false,
};

fn status(call: &mut Call<'_>) -> Result<Document, ServerError> {
    only_admin(call)?;
    let state = call.state;
    let last = state.service.operation_time();
    let optime = doc! { "ts": last, "t": TERM };
    let written = DateTime::from_millis(i64::from(last.time) * 1000);
    let uptime = i32::try_from(state.started.elapsed().as_secs()).unwrap_or(i32::MAX);
    Ok(doc! {
        "set": &state.options.replica_set,
        "date": state.service.now(),
        "myState": 1,
        "term": TERM,
        "majorityVoteCount": 1,
        "writeMajorityCount": 1,
        "votingMembersCount": 1,
        "writableVotingMembersCount": 1,
        "optimes": {
            "lastCommittedOpTime": &optime,
            "readConcernMajorityOpTime": &optime,
            "appliedOpTime": &optime,
        },
        "members": [{
            "_id": 0,
            "name": state.address.to_string(),
            "health": 1.0,
            "state": 1,
            "stateStr": "PRIMARY",
            "uptime": uptime,
            "optime": &optime,
            "optimeDate": written,
            "configVersion": 1,
            "configTerm": TERM,
            "self": true,
        }],
    })
}

fn config(call: &mut Call<'_>) -> Result<Document, ServerError> {
    only_admin(call)?;
    let state = call.state;
    Ok(doc! {
        "config": {
            "_id": &state.options.replica_set,
            "version": 1,
            "term": TERM,
            "members": [{
                "_id": 0,
                "host": state.address.to_string(),
                "arbiterOnly": false,
                "buildIndexes": true,
                "hidden": false,
                "priority": 1.0,
                "tags": {},
                "secondaryDelaySecs": 0_i64,
                "votes": 1,
            }],
            "protocolVersion": 1_i64,
        },
    })
}
