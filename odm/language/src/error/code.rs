//! MongoDB's error codes and their names.

use std::fmt;

/// A MongoDB error code, with its name where it has one.
///
/// ```
/// # use odm_language::error as odm;
/// use odm::Code;
/// assert_eq!(Code::DUPLICATE_KEY.number(), 11000);
/// assert_eq!(Code::DUPLICATE_KEY.name(), "DuplicateKey");
/// assert_eq!(Code::from(40415).name(), "Location40415");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Code(i32);

macro_rules! codes {
    ($($constant:ident = $number:literal $name:literal;)*) => {
        impl Code {
            $(#[doc = concat!("`", $name, "`, ", stringify!($number), ".")]
              pub const $constant: Self = Self($number);)*
        }

        /// Sorted by number: [`Code::name`] searches it.
        const NAMES: &[(i32, &str)] = &[$(($number, $name)),*];
    };
}

codes! {
    INTERNAL_ERROR = 1 "InternalError";
    BAD_VALUE = 2 "BadValue";
    NO_SUCH_KEY = 4 "NoSuchKey";
    GRAPH_CONTAINS_CYCLE = 5 "GraphContainsCycle";
    HOST_UNREACHABLE = 6 "HostUnreachable";
    HOST_NOT_FOUND = 7 "HostNotFound";
    UNKNOWN_ERROR = 8 "UnknownError";
    FAILED_TO_PARSE = 9 "FailedToParse";
    CANNOT_MUTATE_OBJECT = 10 "CannotMutateObject";
    USER_NOT_FOUND = 11 "UserNotFound";
    UNSUPPORTED_FORMAT = 12 "UnsupportedFormat";
    UNAUTHORIZED = 13 "Unauthorized";
    TYPE_MISMATCH = 14 "TypeMismatch";
    OVERFLOW = 15 "Overflow";
    INVALID_LENGTH = 16 "InvalidLength";
    PROTOCOL_ERROR = 17 "ProtocolError";
    AUTHENTICATION_FAILED = 18 "AuthenticationFailed";
    ILLEGAL_OPERATION = 20 "IllegalOperation";
    INVALID_BSON = 22 "InvalidBSON";
    ALREADY_INITIALIZED = 23 "AlreadyInitialized";
    LOCK_TIMEOUT = 24 "LockTimeout";
    NAMESPACE_NOT_FOUND = 26 "NamespaceNotFound";
    INDEX_NOT_FOUND = 27 "IndexNotFound";
    PATH_NOT_VIABLE = 28 "PathNotViable";
    CANNOT_BACKFILL_ARRAY = 30 "CannotBackfillArray";
    CONFLICTING_UPDATE_OPERATORS = 40 "ConflictingUpdateOperators";
    CURSOR_NOT_FOUND = 43 "CursorNotFound";
    NO_MATCHING_DOCUMENT = 47 "NoMatchingDocument";
    NAMESPACE_EXISTS = 48 "NamespaceExists";
    MAX_TIME_MS_EXPIRED = 50 "MaxTimeMSExpired";
    DOLLAR_PREFIXED_FIELD_NAME = 52 "DollarPrefixedFieldName";
    INVALID_ID_FIELD = 53 "InvalidIdField";
    NOT_SINGLE_VALUE_FIELD = 54 "NotSingleValueField";
    INVALID_DB_REF = 55 "InvalidDBRef";
    EMPTY_FIELD_NAME = 56 "EmptyFieldName";
    DOTTED_FIELD_NAME = 57 "DottedFieldName";
    COMMAND_NOT_FOUND = 59 "CommandNotFound";
    WRITE_CONCERN_FAILED = 64 "WriteConcernFailed";
    IMMUTABLE_FIELD = 66 "ImmutableField";
    CANNOT_CREATE_INDEX = 67 "CannotCreateIndex";
    INDEX_ALREADY_EXISTS = 68 "IndexAlreadyExists";
    INVALID_OPTIONS = 72 "InvalidOptions";
    INVALID_NAMESPACE = 73 "InvalidNamespace";
    UNKNOWN_REPL_WRITE_CONCERN = 79 "UnknownReplWriteConcern";
    INDEX_OPTIONS_CONFLICT = 85 "IndexOptionsConflict";
    INDEX_KEY_SPECS_CONFLICT = 86 "IndexKeySpecsConflict";
    NETWORK_TIMEOUT = 89 "NetworkTimeout";
    SHUTDOWN_IN_PROGRESS = 91 "ShutdownInProgress";
    OPERATION_FAILED = 96 "OperationFailed";
    CANNOT_SATISFY_WRITE_CONCERN = 100 "UnsatisfiableWriteConcern";
    NOT_EXACT_VALUE_FIELD = 111 "NotExactValueField";
    WRITE_CONFLICT = 112 "WriteConflict";
    COMMAND_NOT_SUPPORTED = 115 "CommandNotSupported";
    CONFLICTING_OPERATION_IN_PROGRESS = 117 "ConflictingOperationInProgress";
    DOCUMENT_VALIDATION_FAILURE = 121 "DocumentValidationFailure";
    COMMAND_FAILED = 125 "CommandFailed";
    READ_CONCERN_MAJORITY_NOT_AVAILABLE_YET = 134 "ReadConcernMajorityNotAvailableYet";
    CAPPED_POSITION_LOST = 136 "CappedPositionLost";
    CURSOR_IN_USE = 143 "CursorInUse";
    EXCEEDED_MEMORY_LIMIT = 146 "ExceededMemoryLimit";
    STALE_EPOCH = 150 "StaleEpoch";
    DURATION_OVERFLOW = 159 "DurationOverflow";
    MAX_STALENESS_OUT_OF_RANGE = 160 "MaxStalenessOutOfRange";
    INCOMPATIBLE_COLLATION_VERSION = 161 "IncompatibleCollationVersion";
    VIEW_DEPTH_LIMIT_EXCEEDED = 165 "ViewDepthLimitExceeded";
    COMMAND_NOT_SUPPORTED_ON_VIEW = 166 "CommandNotSupportedOnView";
    OPTION_NOT_SUPPORTED_ON_VIEW = 167 "OptionNotSupportedOnView";
    INVALID_PIPELINE_OPERATOR = 168 "InvalidPipelineOperator";
    CANNOT_INDEX_PARALLEL_ARRAYS = 171 "CannotIndexParallelArrays";
    QUERY_PLAN_KILLED = 175 "QueryPlanKilled";
    AMBIGUOUS_INDEX_KEY_PATTERN = 181 "AmbiguousIndexKeyPattern";
    CLIENT_METADATA_DOCUMENT_TOO_LARGE = 185 "ClientMetadataDocumentTooLarge";
    CLIENT_METADATA_CANNOT_BE_MUTATED = 186 "ClientMetadataCannotBeMutated";
    PRIMARY_STEPPED_DOWN = 189 "PrimarySteppedDown";
    INVALID_INDEX_SPECIFICATION_OPTION = 197 "InvalidIndexSpecificationOption";
    CANNOT_BUILD_INDEX_KEYS = 201 "CannotBuildIndexKeys";
    NETWORK_INTERFACE_EXCEEDED_TIME_LIMIT = 202 "NetworkInterfaceExceededTimeLimit";
    CLUSTER_TIME_FAILS_RATE_LIMITER = 205 "ClusterTimeFailsRateLimiter";
    INVALID_UUID = 207 "InvalidUUID";
    KEY_NOT_FOUND = 211 "KeyNotFound";
    INCOMPLETE_TRANSACTION_HISTORY = 217 "IncompleteTransactionHistory";
    QUERY_FEATURE_NOT_ALLOWED = 224 "QueryFeatureNotAllowed";
    TRANSACTION_TOO_OLD = 225 "TransactionTooOld";
    MAX_SUB_PIPELINE_DEPTH_EXCEEDED = 232 "MaxSubPipelineDepthExceeded";
    RETRY_CHANGE_STREAM = 234 "RetryChangeStream";
    CURSOR_KILLED = 237 "CursorKilled";
    NOT_IMPLEMENTED = 238 "NotImplemented";
    SNAPSHOT_TOO_OLD = 239 "SnapshotTooOld";
    CONVERSION_FAILURE = 241 "ConversionFailure";
    SNAPSHOT_UNAVAILABLE = 246 "SnapshotUnavailable";
    NO_SUCH_TRANSACTION = 251 "NoSuchTransaction";
    TRANSACTION_COMMITTED = 256 "TransactionCommitted";
    INVALID_RESUME_TOKEN = 260 "InvalidResumeToken";
    TOO_MANY_LOGICAL_SESSIONS = 261 "TooManyLogicalSessions";
    EXCEEDED_TIME_LIMIT = 262 "ExceededTimeLimit";
    OPERATION_NOT_SUPPORTED_IN_TRANSACTION = 263 "OperationNotSupportedInTransaction";
    FAIL_POINT_SET_FAILED = 266 "FailPointSetFailed";
    PREPARED_TRANSACTION_IN_PROGRESS = 267 "PreparedTransactionInProgress";
    UNSATISFIABLE_COMMIT_QUORUM = 278 "UnsatisfiableCommitQuorum";
    CHANGE_STREAM_FATAL_ERROR = 280 "ChangeStreamFatalError";
    CHANGE_STREAM_HISTORY_LOST = 286 "ChangeStreamHistoryLost";
    TRANSACTION_EXCEEDED_LIFETIME_LIMIT_SECONDS = 290 "TransactionExceededLifetimeLimitSeconds";
    NO_QUERY_EXECUTION_PLANS = 291 "NoQueryExecutionPlans";
    QUERY_EXCEEDED_MEMORY_LIMIT_NO_DISK_USE_ALLOWED = 292 "QueryExceededMemoryLimitNoDiskUseAllowed";
    OBJECT_IS_BUSY = 314 "ObjectIsBusy";
    API_VERSION_ERROR = 322 "APIVersionError";
    API_STRICT_ERROR = 323 "APIStrictError";
    MECHANISM_UNAVAILABLE = 334 "MechanismUnavailable";
    UNSUPPORTED_OP_QUERY_COMMAND = 352 "UnsupportedOpQueryCommand";
    CANNOT_CONVERT_INDEX_TO_UNIQUE = 359 "CannotConvertIndexToUnique";
    SOCKET_EXCEPTION = 9001 "SocketException";
    LEGACY_NOT_PRIMARY = 10058 "LegacyNotPrimary";
    NOT_WRITABLE_PRIMARY = 10107 "NotWritablePrimary";
    BSON_OBJECT_TOO_LARGE = 10334 "BSONObjectTooLarge";
    DUPLICATE_KEY = 11000 "DuplicateKey";
    INTERRUPTED_AT_SHUTDOWN = 11600 "InterruptedAtShutdown";
    INTERRUPTED = 11601 "Interrupted";
    INTERRUPTED_DUE_TO_REPL_STATE_CHANGE = 11602 "InterruptedDueToReplStateChange";
    MERGE_STAGE_NO_MATCHING_DOCUMENT = 13113 "MergeStageNoMatchingDocument";
    DATABASE_DIFFER_CASE = 13297 "DatabaseDifferCase";
    NOT_PRIMARY_NO_SECONDARY_OK = 13435 "NotPrimaryNoSecondaryOk";
    NOT_PRIMARY_OR_SECONDARY = 13436 "NotPrimaryOrSecondary";
    NOT_A_RETRYABLE_WRITE_COMMAND = 50768 "NotARetryableWriteCommand";
}

impl Code {
    /// The code of an unnamed mongod assertion with this number (`Location40415`).
    #[doc(hidden)]
    pub const fn location(number: i32) -> Self {
        Self(number)
    }

    /// The number itself.
    pub const fn number(self) -> i32 {
        self.0
    }

    /// MongoDB's name for the code; `Location…` for an unnamed assertion.
    pub fn name(self) -> String {
        NAMES
            .iter()
            .find(|(number, _)| *number == self.0)
            .map_or_else(
                || format!("Location{}", self.0),
                |(_, name)| (*name).to_owned(),
            )
    }
}

impl From<i32> for Code {
    fn from(number: i32) -> Self {
        Self(number)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.0, self.name())
    }
}
