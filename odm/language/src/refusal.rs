//! Features that the engine refuses for good, each with the reason. Any other name that a table lists as unsupported is
//! planned.

/// mongod's commands that the engine will never run, grouped by reason. A command that is neither here nor planned is
/// unknown.
const COMMANDS: &[(&str, &[&str])] = &[
    (
        ACCESS,
        &[
            "authenticate",
            "connectionStatus",
            "createRole",
            "createUser",
            "dropAllRolesFromDatabase",
            "dropAllUsersFromDatabase",
            "dropRole",
            "dropUser",
            "getnonce",
            "grantPrivilegesToRole",
            "grantRolesToRole",
            "grantRolesToUser",
            "invalidateUserCache",
            "logout",
            "revokePrivilegesFromRole",
            "revokeRolesFromRole",
            "revokeRolesFromUser",
            "rolesInfo",
            "saslContinue",
            "saslStart",
            "updateRole",
            "updateUser",
            "usersInfo",
        ],
    ),
    (
        CLUSTER,
        &[
            "abortShardSplit",
            "appendOplogNote",
            "applyOps",
            "autoSplitVector",
            "checkShardingIndex",
            "cleanupOrphaned",
            "clusterAbortTransaction",
            "clusterAggregate",
            "clusterCommitTransaction",
            "clusterDelete",
            "clusterFind",
            "clusterGetMore",
            "clusterInsert",
            "clusterUpdate",
            "commitShardSplit",
            "coordinateCommitTransaction",
            "donorAbortMigration",
            "donorForgetMigration",
            "donorStartMigration",
            "flushRouterConfig",
            "forgetShardSplit",
            "getClusterParameter",
            "getDatabaseVersion",
            "getDefaultRWConcern",
            "getShardMap",
            "getShardVersion",
            "makeSnapshot",
            "mergeChunks",
            "pinHistoryReplicated",
            "prepareTransaction",
            "recipientForgetMigration",
            "recipientSyncData",
            "recipientVoteImportedFiles",
            "replSetAbortPrimaryCatchUp",
            "replSetFreeze",
            "replSetGetConfig",
            "replSetGetRBID",
            "replSetGetStatus",
            "replSetHeartbeat",
            "replSetInitiate",
            "replSetMaintenance",
            "replSetReconfig",
            "replSetRequestVotes",
            "replSetResizeOplog",
            "replSetStepDown",
            "replSetStepUp",
            "replSetSyncFrom",
            "replSetTest",
            "replSetTestEgress",
            "replSetUpdatePosition",
            "setClusterParameter",
            "setCommittedSnapshot",
            "setDefaultRWConcern",
            "setIndexCommitQuorum",
            "setShardVersion",
            "shardingState",
            "splitChunk",
            "splitVector",
            "voteCommitIndexBuild",
            "waitForOngoingChunkSplits",
        ],
    ),
    (
        PROCESS,
        &[
            "availableQueryOptions",
            "clearLog",
            "compact",
            "connPoolStats",
            "connPoolSync",
            "currentOp",
            "dbCheck",
            "dbHash",
            "dropConnections",
            "features",
            "fsync",
            "fsyncUnlock",
            "getCmdLineOpts",
            "getDiagnosticData",
            "getFreeMonitoringStatus",
            "getLog",
            "getParameter",
            "hostInfo",
            "killOp",
            "listCommands",
            "lockInfo",
            "logMessage",
            "logRotate",
            "rotateCertificates",
            "serverStatus",
            "setFeatureCompatibilityVersion",
            "setFreeMonitoring",
            "setParameter",
            "setProfilingFilterGlobally",
            "setUserWriteBlockMode",
            "shutdown",
            "startRecordingTraffic",
            "stopRecordingTraffic",
            "top",
            "whatsmysni",
            "whatsmyuri",
        ],
    ),
    (
        PLANS,
        &[
            "planCacheClear",
            "planCacheClearFilters",
            "planCacheListFilters",
            "planCacheSetFilter",
        ],
    ),
    (JAVASCRIPT, &["mapReduce"]),
    (ENCRYPTION, &["compactStructuredEncryptionData"]),
    (
        "an old driver's command",
        &["driverOIDTest", "filemd5", "getLastError", "reIndex"],
    ),
    (
        "a test of the server's own",
        &[
            "captrunc",
            "configureFailPoint",
            "cpuload",
            "echo",
            "emptycapped",
            "godinsert",
            "httpClientRequest",
            "internalRenameIfOptionsAndIndexesMatch",
            "reapLogicalSessionCacheNow",
            "refreshLogicalSessionCacheNow",
            "sleep",
            "stageDebug",
            "testDeprecation",
            "testDeprecationInVersion2",
            "testInternalTransactions",
            "testRemoval",
            "testReshardCloneCollection",
            "testVersion2",
            "testVersions1And2",
            "waitForFailPoint",
        ],
    ),
];

/// Commands that are planned.
const PLANNED_COMMANDS: &[&str] = &["validateDBMetadata"];

/// Stages, operators and options that are refused for good, each with the reason; sorted by name.
const REASONS: &[(&str, &str)] = &[
    ("$_internalJsEmit", JAVASCRIPT),
    ("$accumulator", JAVASCRIPT),
    ("$currentOp", PROCESS),
    ("$function", JAVASCRIPT),
    ("$listCachedAndActiveUsers", ACCESS),
    ("$listCatalog", STORAGE),
    ("$listLocalSessions", PROCESS),
    ("$listSessions", PROCESS),
    ("$mergeCursors", CLUSTER),
    ("$operationMetrics", PROCESS),
    ("$queue", "a stage of the server's own"),
    ("$search", "a service beside a server does it"),
    ("$setVariableFromSubPipeline", "a stage of the server's own"),
    ("$shardedDataDistribution", CLUSTER),
    ("$where", JAVASCRIPT),
    ("create.encryptedFields", ENCRYPTION),
    ("create.storageEngine", STORAGE),
    ("create.temp", "an option of the server's own"),
    ("encrypt", ENCRYPTION),
    ("encryptMetadata", ENCRYPTION),
    ("getMore.lastKnownCommittedOpTime", CLUSTER),
    ("getMore.term", CLUSTER),
    ("profile.filter", FIELDS),
    ("update.updates.c", "an option of the server's own"),
];

const ACCESS: &str = "there are no users, roles and credentials";
const CLUSTER: &str = "there are no other members, shards and oplog";
const ENCRYPTION: &str = "encryption is the client's";
const FIELDS: &str = "entries lack fields that a filter may name";
const JAVASCRIPT: &str = "it runs no JavaScript";
const PLANS: &str = "plans are not cached";
const PROCESS: &str = "there is no server process to look into or to steer";
const STORAGE: &str = "nothing is kept on disk";

/// Returns the reason why `name` is refused for good; `None` if it is planned.
pub fn reason(name: &str) -> Option<&'static str> {
    let index = REASONS
        .binary_search_by_key(&name, |(known, _)| known)
        .ok()?;
    REASONS.get(index).map(|(_, reason)| *reason)
}

/// Returns the end of an error message (`: reason`), or an empty string for a name without a reason.
pub fn because(name: &str) -> String {
    reason(name).map_or_else(String::new, |reason| format!(": {reason}"))
}

/// The names of the refused stages, operators and options.
pub fn names() -> impl Iterator<Item = &'static str> {
    REASONS.iter().map(|(name, _)| *name)
}

/// A command that mongod has and the engine does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Absent {
    Planned,
    Refused(&'static str),
}

/// Looks up a command that mongod has and the engine does not; `None` if the command is unknown.
pub fn command(name: &str) -> Option<Absent> {
    if PLANNED_COMMANDS.contains(&name) {
        return Some(Absent::Planned);
    }
    COMMANDS
        .iter()
        .find(|(_, names)| names.contains(&name))
        .map(|(reason, _)| Absent::Refused(reason))
}

#[cfg(test)]
mod tests {
    #[test]
    fn reasons_are_sorted() {
        assert!(super::REASONS.is_sorted_by_key(|(name, _)| *name));
    }
}
