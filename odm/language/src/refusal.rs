//! What the engine will not do, and why. Every other name that a table knows and does not run is planned.

/// Commands that no table of commands has, by the reason. Names that a server lists and that stand nowhere are unknown.
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

/// Commands to come.
const PLANNED_COMMANDS: &[&str] = &["validateDBMetadata"];

/// Names of stages, operators and options, and why they are refused for good; sorted.
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

/// Why something is refused for good; `None` for what is planned.
pub fn reason(name: &str) -> Option<&'static str> {
    let index = REASONS
        .binary_search_by_key(&name, |(known, _)| known)
        .ok()?;
    REASONS.get(index).map(|(_, reason)| *reason)
}

/// The end of a message that refuses something: the reason, if there is one.
pub fn because(name: &str) -> String {
    reason(name).map_or_else(String::new, |reason| format!(": {reason}"))
}

/// What the reasons are for.
pub fn names() -> impl Iterator<Item = &'static str> {
    REASONS.iter().map(|(name, _)| *name)
}

/// A command of a server's that the engine has not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Absent {
    Planned,
    Refused(&'static str),
}

/// Whether a server has a command that the engine has not.
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
