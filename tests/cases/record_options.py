"""Records conversations that use every option of every command, for the engine's unit tests.

    python3 record_options.py 'mongodb://127.0.0.1:27017/?directConnection=true' [TOPIC…]
"""

import sys

from bson import Binary, Decimal128, Int64

from record_commands import BY_ID, FM, SON, create, find, index, insert, key, main, run, update

TOPICS = {}


def topic(function):
    TOPICS[function.__name__] = function
    return function


def only(command, *fields):
    """Of the reply only these are kept: the others are of the machine."""
    return {**command, "$only": list(fields)}


WORDS = ["a", "A", "\u00e1", "b", "B", "10", "9", "a-b", "ab", "a b", "e\u0301", "\u00e9", "cot\u00e9", "c\u00f4te", "", "$"]
COLLATIONS = [
    {"strength": 1}, {"strength": 2}, {"strength": 3}, {"strength": 4}, {"strength": 5}, {"strength": 1, "caseLevel": True}, {"caseLevel": False},
    {"caseFirst": "upper"}, {"caseFirst": "lower"}, {"caseFirst": "off"}, {"numericOrdering": True}, {"numericOrdering": False},
    {"alternate": "shifted"}, {"alternate": "shifted", "maxVariable": "space"}, {"alternate": "shifted", "maxVariable": "punct"}, {"alternate": "non-ignorable"},
    {"normalization": True}, {"normalization": False}, {"backwards": False}, {"version": "57.1"},
]


@topic
def collation_options():
    yield insert("w", *({"_id": at, "w": word} for at, word in enumerate(WORDS)))
    for options in COLLATIONS:
        collation = {"locale": "en", **options}
        yield find("w", sort=key(("w", 1), ("_id", 1)), collation=collation, projection={"_id": 1})
        yield find("w", {"w": "a"}, collation=collation, projection={"_id": 1})
        yield find("w", {"w": {"$gt": "a", "$lte": "b"}}, collation=collation, sort={"_id": 1}, projection={"_id": 1})
    for backwards in (True, None):
        yield find("w", sort=key(("w", 1), ("_id", 1)), collation={"locale": "fr_CA", **({"backwards": True} if backwards else {})}, projection={"_id": 1})
    for name, value in (("strength", 0), ("strength", 6), ("strength", "x"), ("strength", 2.5), ("caseLevel", "x"), ("caseFirst", "x"), ("caseFirst", 1), ("numericOrdering", 1), ("alternate", "x"),
            ("maxVariable", "x"), ("normalization", "x"), ("backwards", 1), ("version", "1"), ("version", 57.1), ("zork", 1), ("locale", ""), ("locale", 5), ("strength", None)):
        yield find("w", collation={"locale": "en", name: value})
    yield from [{"count": "w", "query": {"w": "A"}, "collation": {"locale": "en", "strength": 1}}, {"distinct": "w", "key": "w", "collation": {"locale": "en", "strength": 1}}, {"distinct": "w", "key": "w", "query": {"w": "b"}, "collation": {"locale": "en", "strength": 2}}]
    yield from [{"count": "w", "collation": {"locale": "xx"}}, {"distinct": "w", "key": "w", "collation": {"locale": "xx"}}, {"count": "w", "collation": 5}]
    collation = {"locale": "en", "strength": 2}
    yield from [update("w", {"q": {"w": "B"}, "u": {"$set": {"z": 1}}, "multi": True, "collation": collation}), find("w", {"z": 1}, sort={"_id": 1})]
    yield from [{"delete": "w", "deletes": [{"q": {"w": "AB"}, "limit": 0, "collation": collation}]}, {FM: "w", "query": {"w": "A"}, "sort": {"_id": -1}, "update": {"$set": {"z": 2}}, "new": True, "collation": collation}]
    yield from [{FM: "w", "query": {"w": "A"}, "update": {"$set": {"z": 2}}, "collation": {"locale": "xx"}}, {"delete": "w", "deletes": [{"q": {}, "limit": 0, "collation": {"locale": "xx"}}]}, update("w", {"q": {}, "u": {"$set": {"z": 1}}, "collation": {}})]


@topic
def read_options():
    yield insert("a", *({"_id": at, "a": at % 3, "b": {"c": at}} for at in range(7)))
    for name in ("allowPartialResults", "noCursorTimeout", "allowDiskUse", "tailable", "awaitData", "singleBatch"):
        for value in (True, False, 1, 0, None, "x"):
            yield find("a", {"_id": 1}, **{name: value})
    yield from [{"aggregate": "a", "pipeline": [BY_ID, {"$limit": 1}], "cursor": {}, "allowDiskUse": value} for value in (True, False, 1, "x", None)]
    yield run(BY_ID, {"$addFields": {"d": {"$add": ["$a", 1]}, "b.e": "$$REMOVE"}})
    yield {"aggregate": "a", "pipeline": [], "cursor": {}, "bypassDocumentValidation": True}
    yield from [{"count": "a", "fields": value} for value in (None, {}, {"a": 1}, 5, "x")]
    yield from [{"aggregate": "a", "pipeline": [], "explain": "x"}, {"aggregate": "a", "pipeline": [{"$zork": 1}], "explain": True}]
    yield only({"aggregate": "a", "pipeline": [{"$match": {"a": 1}}], "explain": True}, "ok", "queryPlanner.namespace", "queryPlanner.parsedQuery", "queryPlanner.winningPlan", "queryPlanner.rejectedPlans")
    for verbosity in ("queryPlanner", "executionStats", "allPlansExecution"):
        yield only({"explain": find("a", {"a": {"$gt": 0}}, limit=2), "verbosity": verbosity}, "ok", "queryPlanner.namespace", "queryPlanner.parsedQuery", "executionStats.nReturned", "executionStats.totalDocsExamined", "executionStats.totalKeysExamined")
    yield only({"explain": {"count": "a", "query": {"a": 1}}}, "ok", "queryPlanner.parsedQuery", "executionStats.totalDocsExamined")
    yield only({"explain": {"delete": "a", "deletes": [{"q": {"a": 1}, "limit": 0}]}, "verbosity": "queryPlanner"}, "ok", "queryPlanner.parsedQuery", "queryPlanner.winningPlan.stage")
    yield only({"explain": update("a", {"q": {"a": 1}, "u": {"$set": {"z": 1}}})}, "ok", "queryPlanner.parsedQuery", "queryPlanner.winningPlan.stage")
    yield from [{"explain": find("a"), "verbosity": 5}, {"explain": find("a"), "verbosity": ""}, {"explain": find("a"), "zork": 1}]
    # A share of the documents, all or none of them.
    yield from [find("a", {"$sampleRate": rate}, sort={"_id": 1}) for rate in (1.0, 0.0, 1, 0, Int64(1), Decimal128("1"), 2, -0.5, "x", None, float("nan"))]
    yield from [find("a", {"$alwaysTrue": 1}, limit=1), find("a", {"$alwaysFalse": 1}), find("a", {"$alwaysTrue": 0}), find("a", {"$comment": "x", "_id": 1})]


# The engine refuses those that it may not know: indexKey, sortKey, and what $geoNear finds.
METAS = ["textScore", "recordId", "randVal", "searchScore", "searchHighlights", "searchScoreDetails", "timeseriesBucketMinTime", "timeseriesBucketMaxTime"]


@topic
def meta_expressions():
    yield insert("a", {"_id": 1, "a": 5}, {"_id": 2, "a": 6})
    yield create(index([("a", 1)]))
    for name in [*METAS, "zork", "", 5, None]:
        yield find("a", {"a": 5}, projection={"m": {"$meta": name}})
        yield run(BY_ID, {"$project": {"m": {"$meta": name}}})
        yield run(BY_ID, {"$set": {"m": {"$ifNull": [{"$type": {"$meta": name}}, "none"]}}})
        yield run(BY_ID, {"$group": {"_id": {"$meta": name}}})
        if name != "randVal":
            yield find("a", sort={"m": {"$meta": name}})


SESSION = {"id": Binary(bytes(16), 4)}


@topic
def write_options():
    yield insert("a", *({"_id": at, "a": at} for at in range(8)))
    yield create(index([("a", 1)], "a_1"))
    for value in (True, False, 1, 0, "x", None):
        yield {"delete": "a", "deletes": [{"q": {"$zork": 1}, "limit": 1}, {"q": {"_id": 99}, "limit": 1}], "ordered": value}
        yield {"update": "a", "updates": [{"q": {"$zork": 1}, "u": {"$set": {"z": 1}}}, {"q": {"_id": 1}, "u": {"$set": {"z": 1}}}], "ordered": value}
    yield {"delete": "a", "deletes": [{"q": {"_id": 99}, "limit": 1}], "ordered": True}
    yield {"update": "a", "updates": [{"q": {"_id": 99}, "u": {"$set": {"z": 1}}}], "ordered": False}
    for hint in ("a_1", {"a": 1}, "_id_", "zork", {"z": 1}, {"$natural": 1}, {}, 5):
        yield {"delete": "a", "deletes": [{"q": {"a": 99}, "limit": 1, "hint": hint}]}
        yield update("a", {"q": {"a": 99}, "u": {"$set": {"z": 1}}, "hint": hint})
        yield {FM: "a", "query": {"a": 99}, "update": {"$set": {"z": 1}}, "hint": hint}
        yield {"count": "a", "query": {"a": 3}, "hint": hint}
    for variables in ({"v": 3}, {}, {"v": {"$add": [1, 2]}}, 5, {"V": 1}):
        yield {"delete": "a", "deletes": [{"q": {"$expr": {"$eq": ["$a", "$$v"]}, "_id": 99}, "limit": 1}], "let": variables}
        yield {"update": "a", "updates": [{"q": {"$expr": {"$eq": ["$a", "$$v"]}}, "u": [{"$set": {"z": "$$v"}}]}], "let": variables}
        yield {FM: "a", "query": {"$expr": {"$eq": ["$a", "$$v"]}}, "update": [{"$set": {"z": "$$v"}}], "new": True, "let": variables}
    # Numbers of statements that are not retried.
    for name, value in (("stmtId", 0), ("stmtId", "x"), ("stmtIds", [0]), ("stmtIds", [0, 1]), ("stmtIds", "x"), ("stmtIds", [])):
        for command in ({"delete": "a", "deletes": [{"q": {"_id": 99}, "limit": 1}]}, {"update": "a", "updates": [{"q": {"_id": 99}, "u": {"$set": {"z": 1}}}]}, insert("i", {"x": 1})):
            # The refusals picture the whole command.
            yield only({**command, name: value}, "ok", "code", "n", "nModified")
        yield {FM: "a", "query": {"_id": 99}, "update": {"$set": {"z": 1}}, name: value}
    for number, command in enumerate([{"delete": "a", "deletes": [{"q": {"_id": 7}, "limit": 1}]}, {"update": "a", "updates": [{"q": {"_id": 1}, "u": {"$inc": {"a": 1}}}]}, insert("i", {"_id": 50}), {FM: "a", "query": {"_id": 2}, "update": {"$inc": {"a": 1}}, "new": True}]):
        for extra in ({"stmtId": 4}, {"stmtId": 4}, {"stmtIds": [5]}, {"stmtId": 1, "stmtIds": [5]}):
            if FM not in command or "stmtIds" not in extra:
                yield only({**command, **extra, "lsid": SESSION, "txnNumber": Int64(number + 1)}, "ok", "code", "n", "nModified", "value", "retriedStmtIds", "retriedStmtId", "lastErrorObject")
    yield {"endSessions": [SESSION]}
    yield from [{"endSessions": value} for value in ([], [{"id": 5}], "x", [5], [SESSION, {"id": Binary(bytes([9] * 16), 4)}])]
    yield update("a", {"q": {"_id": 60}, "u": {"x": 1}, "upsert": True, "upsertSupplied": False})
    yield find("a", sort={"_id": 1})
    yield from [insert("f", {"_id": 1, "l": [{"x": 1}, {"x": 2}, {"x": 3}]}), {FM: "f", "update": {"$set": {"l.$[e].x": 9}}, "arrayFilters": [{"e.x": {"$gt": 1}}], "new": True}]
    yield from [{FM: "f", "update": {"$set": {"l.$[e].x": 9}}, "arrayFilters": value} for value in ([], [{"f": 1}], 5, [5])]
    yield from [{"create": "v", "validator": {"a": {"$gt": 0}}}, insert("v", {"_id": 1, "a": 1}), {FM: "v", "update": {"$set": {"a": -1}}}, {FM: "v", "update": {"$set": {"a": -1}}, "bypassDocumentValidation": True, "new": True}, {FM: "v", "update": {"$set": {"a": -2}}, "bypassDocumentValidation": "x"}, find("v")]
    yield from [update("a", {"q": {"_id": 1}, "u": {"$currentDate": {"d": {"$type": kind}}}}) for kind in ("date", "timestamp")]
    yield run({"$match": {"_id": 1}}, {"$project": {"t": {"$type": "$d"}}})


@topic
def field_types():
    yield insert("a", {"_id": 1, "a": 5})
    yield from [{"count": "a", "limit": value} for value in (2.5, 1e19, -1e19, float("inf"), float("nan"), Decimal128("1.5"), Decimal128("NaN"), Decimal128("9223372036854775807"), Decimal128("9223372036854775808"))]
    yield from [create(index([("p", 1)], "p", prepareUnique=True)), create(index([("p", 1)], "p")), {"dropIndexes": "a", "index": "*"}]
    for name in ("returnKey", "showRecordId", "readOnce", "oplogReplay"):
        yield from [find("a", **{name: value}) for value in (None, 0, "x", {})]
    yield from [{"count": "a", "queryOptions": value} for value in (None, 0, {}, True)]
    yield from [find("a", stmtId="x"), {"distinct": "a", "key": "a", "stmtId": 1}, {"ping": 1, "stmtId": {}}, find("a", stmtIds=[1])]
    for value in (None, {}, [{}], [1, "x"], [1.5], [Int64(1)], [None]):
        yield from [{"insert": "a", "documents": [], "stmtIds": value}, {"insert": "a", "stmtIds": value}]
    yield from [update("a", {"q": {}, "u": {}, "upsertSupplied": value}) for value in (None, 0, "x", {})]
    for quorum in ([], {}, True, "", "majority", "x", 0, 1, 1.5, 5, 50, 51, -1, -0.5, float("nan"), None):
        yield from [{"createIndexes": "a", "indexes": [], "commitQuorum": quorum}, {**create(index([("a", 1)], "a")), "commitQuorum": quorum}, {"dropIndexes": "a", "index": "*"}]
    yield from [{**create(index([("a", 1)], name, **extra)), "commitQuorum": 5} for name, extra in (("a", {}), ("*", {}), ("a", {"zork": 1}))]
    yield from [find("a", filter, min={"a": 1}) for filter in ({"b": {}}, {"b": {"x": 1}}, {"b": {}, "c": {}})]


@topic
def index_options():
    yield from [create(index([("a", 1)], "a", background=value)) for value in (True, 1)] + [create(index([("b", 1)], "b", background="x"))]
    yield from [create(index([("c", 1)], "c", dropDups=True)), create(index([("d", 1)], "d", ns="x.a")), create(index([("e", 1)], "e", ns=5)), create(index([("f", 1)], "f", storageEngine={})), create(index([("f", 1)], "f", storageEngine={"wiredTiger": {}}))]
    yield from [create(index([("g", 1)], "g", prepareUnique=value)) for value in (True, True, "x")] + [create(index([("h", 1)], "h", clustered=False))]
    yield from [create(index([("t", "text")], "t", textIndexVersion=version)) for version in (3, 4, "x")] + [create(index([("p", "2d")], "p", bucketSize=1.0)), create(index([("p", "2d")], "p2", bits=20, min=-10, max=10.0))]
    yield from [create(index([("$**", 1)], "w", wildcardProjection=value), collection="w") for value in ({"a": 1}, {"a": 0}, {"a": 1, "b": 0}, {"_id": 1, "a": 1}, {}, 5, {"a.b": 1})]
    yield from [{"listIndexes": "a"}, {"listIndexes": "w"}]
    yield from [{**create(index([("n", 1)], "n", zork=1)), "ignoreUnknownIndexOptions": value} for value in (True, False, "x")] + [{"listIndexes": "a"}]
    yield from [insert("w", {"_id": 1, "a": 5, "b": 6}), find("w", {"a": 5}, hint="w"), find("w", {"b": 6})]
    # An index that is about to be unique lets no more doubles in.
    yield from [insert("u", {"_id": 1, "g": 1}, {"_id": 2, "g": 1}), create(index([("g", 1)], "g", prepareUnique=True), collection="u"), insert("u", {"_id": 3, "g": 1}), insert("u", {"_id": 3, "g": 2}), {"collMod": "u", "index": {"name": "g", "unique": True}}]
    yield from [{"delete": "u", "deletes": [{"q": {"_id": 2}, "limit": 1}]}, {"collMod": "u", "index": {"name": "g", "unique": True}}, {"listIndexes": "u"}]


@topic
def collection_options():
    yield from [{"create": f"a{at}", "autoIndexId": value} for at, value in enumerate((True, False, 1, "x"))]
    yield from [{"create": f"i{at}", "indexOptionDefaults": value} for at, value in enumerate(({}, {"storageEngine": {}}, {"zork": 1}, 5))]
    for name in ("a0", "a1", "i0", "i1"):
        yield {"listCollections": 1, "filter": {"name": name}}
    yield from [{"create": "m"}, {"collMod": "m", "expireAfterSeconds": 5}, {"collMod": "m", "expireAfterSeconds": "off"}, {"collMod": "m", "expireAfterSeconds": "x"}, {"collMod": "m", "timeseries": {"granularity": "hours"}}, {"collMod": "m", "timeseries": 5}, {"collMod": "m", "timeseries": {}}]
    yield insert("m", {"_id": 1})
    for options in ({"full": True}, {"full": False}, {"background": False}, {"enforceFastCount": True}, {"checkBSONConformance": True}, {"repair": False}, {"full": "x"}, {"full": True, "background": True}, {"enforceFastCount": True, "background": True}, {"repair": True}, {"full": True, "enforceFastCount": True}, {"checkBSONConformance": True, "background": True}, {"checkBSONConformance": True, "repair": True}, {"repair": True, "background": True}):
        yield only({"validate": "m", **options}, "ok", "code", "errmsg", "ns", "nrecords", "nInvalidDocuments", "nNonCompliantDocuments", "valid", "repaired", "nIndexes", "keysPerIndex", "errors", "corruptRecords", "missingIndexEntries", "extraIndexEntries")
    for scale in (1, 1024, 2.5, 0, -1, "x", None):
        yield only({"collStats": "m", "scale": scale}, "ok", "code", "errmsg", "ns", "count", "nindexes", "capped", "scaleFactor", "size", "avgObjSize")
        if scale not in (0, -1, "x"):  # refused without a code
            yield only({"dbStats": 1, "scale": scale}, "ok", "db", "views", "objects", "scaleFactor", "indexes")
    yield only({"dbStats": 1}, "ok", "db", "objects")
    yield only({"buildInfo": 1}, "ok", "maxBsonObjectSize", "bits")
    for name in ("hello", "isMaster"):
        for options in ({}, {"helloOk": True}, {"loadBalanced": False}, {"saslSupportedMechs": "x.y"}, {"compression": []}, {"comment": "x"}):
            yield only({name: 1, **options}, "ok", "code", "errmsg", "maxBsonObjectSize", "maxMessageSizeBytes", "maxWriteBatchSize", "logicalSessionTimeoutMinutes", "minWireVersion", "maxWireVersion", "readOnly", "helloOk")


@topic
def near_options():
    yield insert("p", *({"_id": at, "l": [at, 0]} for at in range(4)))
    yield insert("s", *({"_id": at, "l": {"type": "Point", "coordinates": [at, 0]}} for at in range(4)))
    yield from [create(index([("l", "2d")], "l"), collection="p"), create(index([("l", "2dsphere")], "l"), collection="s")]
    point = {"type": "Point", "coordinates": [1, 0]}
    for name in ("$near", "$nearSphere", "$geoNear"):
        for condition in (key((name, [1, 0])), key((name, [1, 0]), ("$maxDistance", 1.5)), key((name, [1, 0]), ("$minDistance", 0.5), ("$maxDistance", 1.5)), key((name, [1, 0]), ("$uniqueDocs", True)), key((name, [1, 0]), ("$uniqueDocs", False)), key((name, [1, 0]), ("$uniqueDocs", "x")), key((name, [1, 0]), ("$zork", 1))):
            yield find("p", {"l": condition}, projection={"_id": 1})
        for condition in ({"$geometry": point}, {"$geometry": point, "$maxDistance": 150000}, {"$geometry": point, "$minDistance": 1000, "$maxDistance": 250000}, {"$geometry": point, "$uniqueDocs": True}, {"$geometry": point, "$maxDistance": -1}, {"$geometry": point, "$minDistance": "x"}, {"$geometry": 5}, {"$maxDistance": 5}):
            yield find("s", {"l": {name: condition}}, projection={"_id": 1})
            yield find("s", {"l": {"$near": condition}}, projection={"_id": 1}, limit=2)


@topic
def transaction_options():
    session = {"id": Binary(bytes([8] * 16), 4)}

    def tx(number, command, **more):
        return {**command, "lsid": session, "txnNumber": Int64(number), "autocommit": False, **more}

    yield insert("a", {"_id": 1})
    for number, name in enumerate(("commitTransaction", "abortTransaction", "commitTransaction", "abortTransaction")):
        yield tx(number, insert("a", {"_id": 10 + number}), startTransaction=True)
        yield {**tx(number, {name: 1}), "recoveryToken": {} if number < 2 else 5, "$on": "admin"}
    yield find("a", sort={"_id": 1})


@topic
def index_values():
    """What an index makes of its options, and refuses of them, whatever kind it is."""
    values = [0, 1, 5.9, "x", None, {}, True, Int64(5), Decimal128("5.5"), float("nan"), float("inf"), -1, 2**40]

    def tried(parts, **options):
        return [create(index(parts, **options), collection="t"), {"listIndexes": "t"}, {"drop": "t"}]

    for name, parts in (("bits", [("g", "2d")]), ("min", [("g", "2d")]), ("max", [("g", "2d")]), ("2dsphereIndexVersion", [("g", "2dsphere")]), ("textIndexVersion", [("t", "text")])):
        for value in values:
            if name != "textIndexVersion" or value not in (1, True):
                yield from tried(parts, **{name: value})
    for name in ("bits", "min", "max", "2dsphereIndexVersion", "textIndexVersion", "weights", "default_language", "language_override", "v"):
        for value in (1.5, "x", None, {}):
            if name != "textIndexVersion" or value != 1.5:
                yield from tried([("a", 1)], **{name: value})
    for weights in ({"t": 0}, {"t": 0.5}, {"t": 1.9}, {"t": Int64(5)}, {"t": Decimal128("2.5")}, {"t": float("nan")}, {"t": 1e5}, {"t": True}, {"$**": 3}, {"a..b": 1}, {"a.": 1}, {"": 1}, {"$a": 1}, {"a.$b": 1}, "$**", "t"):
        yield from tried([("t", "text")], weights=weights)
    for name, value in (("language_override", "a.b"), ("language_override", "$a"), ("language_override", ""), ("default_language", "")):
        yield from tried([("t", "text")], **{name: value})
    for projection in (
        {"a": {"$slice": 1}}, {"a": "x"}, {"a": None}, {"a": [1]}, {"a": {}}, {"_id": "x"}, {"a": {"$elemMatch": {"x": 1}}}, {"a.b": 1, "a": 1}, {"a": 1, "a.b": 1}, {"a": {"b": 1, "c": 0}}, {"a": {"b": 0, "c": 1}},
        {"a..b": 1}, {"a.": 1}, {"$a": 1}, {"a.$": 1}, {"": 1}, {"_id": 1, "a": 0}, {"a": {"b.c": 1}},
    ):
        yield from tried([("$**", 1)], wildcardProjection=projection)
    yield from tried([("a", 1)], name="a\0b") + tried([("a", 1)], v=1, collation={"locale": "en"}) + tried([("a", 1)], v=float("nan")) + tried([("a", 1)], expireAfterSeconds=float("nan"))
    yield from tried([("a", "")]) + tried([("a", "wildcard")]) + tried([("a", 1)], storageEngine={"a": 1}) + tried([("a", 1)], storageEngine={"a": {}})
    many = [(f"f{at}", 1) for at in range(33)]
    yield from tried(many[:32]) + tried(many) + tried([*many[:31], ("t", "text")])
    # An index that can't be begun, where there are documents and where there are none; and two of one command that are one.
    yield insert("a", {"_id": 1, "a": 1})
    yield from [create(index(many)), create(index([("h", "hashed")], unique=True)), create(index([("h", "hashed"), ("i", "hashed")])), create(index([("h", "hashed")], "h"), index([("h", "hashed")], "i", unique=True))]
    yield from [create(index([("z", 1)], "z"), index([("z", 1)], "z")), create(index([("z", 1)], "z"), index([("z", 1)], "y")), create(index([("z", 1)], "z"), index([("y", 1)], "z")), {"listIndexes": "a"}]
    # Of several doubles the first in the index is named, in whatever order the documents are.
    yield insert("d", *({"_id": at, "x": value} for at, value in enumerate((7, 7, 3, 9, 3, 1, 9))))
    yield from [create(index([("x", direction)], "x", unique=True), collection="d") for direction in (1, -1)]
    for dropped in (["x"], ["x", "y"], ["y", "x", "y"], ["y", 5], [5], [{"y": 1}], ["y", "*"], ["*"], ["*", "nope"], []):
        yield from [create(index([("x", 1)], "x"), index([("y", 1)], "y")), {"dropIndexes": "a", "index": dropped}, {"listIndexes": "a"}]


@topic
def argument_types():
    """Names of collections and options of cursors that have the wrong type."""
    yield from [insert("a", {"_id": 1, "a": "x", "b": 1}, {"_id": 2, "a": "Y", "b": 2}, {"_id": 3, "a": 5, "t": "foxes"}), {"create": "v", "viewOn": "a", "pipeline": []}, {"dataSize": "$db.v"}]
    yield from [{name: 5} for name in ("count", "collStats", "validate", "convertToCapped", "listIndexes", "drop")] + [{"distinct": 5, "key": "a"}, {"distinct": None, "key": "a"}]
    for cursor in ({"batchSize": None}, {"batchSize": "x"}, {"zork": 1}):
        yield from [only({"listCollections": 1, "cursor": cursor}, "ok", "code", "errmsg"), {"listIndexes": "a", "cursor": cursor}, {"aggregate": "a", "pipeline": [BY_ID], "cursor": cursor}]


@topic
def index_bounds_and_hints():
    """min and max by an index with another collation, and how a refused hint shows the query."""
    yield insert("a", {"_id": 1, "a": "x", "b": 1}, {"_id": 2, "a": "Y", "b": 2}, {"_id": 3, "a": 5, "t": "foxes"})
    # The bounds of an index that orders otherwise, and what a refusal shows of the query.
    insensitive = {"locale": "en", "strength": 2}
    yield create(index([("a", 1), ("b", 1)]))
    for bounds in ({"min": {"a": "a", "b": 1}}, {"max": {"a": 9, "b": {"c": 1}}}, {"min": {"a": 1, "b": 1}, "max": {"a": 9, "b": 1}}):
        bounds = {name: SON(bound) for name, bound in bounds.items()}
        yield from [find("a", hint="n", **bounds), find("a", hint="n", collation=insensitive, **bounds), find("a", hint="n", collation=insensitive, limit=1, skip=1, batchSize=5, **bounds)]
    yield from [find("a", {"a": 1}, hint="zork", **options) for options in ({"limit": 5}, {"limit": 0, "skip": 2}, {"batchSize": 0, "singleBatch": True}, {"collation": insensitive})]
    yield from [{"count": "a", "query": {"a": 1}, "hint": "zork", "limit": 5}, {"count": "a", "query": {"a": 1}, "hint": "zork", "collation": insensitive}]


@topic
def text_languages():
    """An empty language of $text, and none."""
    yield insert("a", {"_id": 1, "a": "x", "b": 1}, {"_id": 2, "a": "Y", "b": 2}, {"_id": 3, "a": 5, "t": "foxes"})
    yield from [create(index([("t", "text")], "t"))] + [find("a", {"$text": {"$search": "fox", "$language": language}}) for language in ("", "none")]


@topic
def collation_variants():
    """Variants of locales that newer data of ICU names otherwise."""
    # Variants of locales that newer data has under other names, or that few know.
    yield insert("w", *({"_id": at, "w": word} for at, word in enumerate(("va", "wa", "vb", "wb", "\U0001f600", "\u2764", "\u263a", "a", "1"))))
    yield from [find("w", collation={"locale": locale}, sort=key(("w", 1), ("_id", 1)), projection={"_id": 1}) for locale in ("sv", "sv@collation=standard", "en@collation=emoji", "de_DE@collation=phonebook", "kn@collation=traditional")]


@topic
def near_geometries():
    """Points of $near that are GeoJSON or not, and polygons with strict winding."""
    # Points that are no GeoJSON for a $near, or are by their coordinates alone; and a polygon whose outside is meant.
    yield insert("g", *({"_id": at, "g": place} for at, place in enumerate(({"type": "Point", "coordinates": [1, 1]}, {"type": "LineString", "coordinates": [[0, 0], [2, 2]]}, {"type": "LineString", "coordinates": [[0.5, 0.5], [1, 1]]}, {"type": "Point", "coordinates": [9, 9]}))))
    for kind in ("2dsphere", "2d"):
        yield create(index([("g", kind)]), collection="g" if kind == "2dsphere" else "f")
        for near in ({"type": "Point", "coordinates": [0, 0]}, {"type": "point", "coordinates": [0, 0]}, {"coordinates": [0, 0]}, {"coordinates": [0, 0, 1]}, {"coordinates": {"a": 1, "b": 2}}, [0, 0, 0.1], [0, 0, "x"], [0, 0, 1, 1]):
            for name in ("$near", "$nearSphere"):
                yield find("g" if kind == "2dsphere" else "f", {"g": {name: near}}, projection={"_id": 1})
    sibling = {"$near": {"$geometry": {"type": "Point", "coordinates": [0, 0]}}, "$exists": True}
    yield from [find("g", {"g": query}) for query in (sibling, {"$near": {"type": "Point", "coordinates": [0, 0]}, "$maxDistance": 2e5}, {"$near": {"type": "Point", "coordinates": [0, 0]}, "$minDistance": "x"})]
    for place in ([1], [1, 2, 3], ["a", 1], {"a": 1, "b": 2, "c": 3}, [float("nan"), 1], {"type": "Polygon", "coordinates": [[[0, 0]]], "crs": {"type": "name", "properties": {"name": "urn:x-mongodb:crs:strictwinding:EPSG:4326"}}}):
        yield from [find("g", {"g": {"$near": {"$geometry": place}}}), find("g", {"g": {"$geoIntersects": {"$geometry": place}}}), find("g", {"g": {"$geoWithin": {"$box": [place, [5, 5]]}}}), find("g", {"g": {"$geoWithin": {"$center": [place, 1]}}})]
    for corners in ([[0, 0], [0, 2], [2, 2], [2, 0], [0, 0]], [[0, 0], [2, 0], [2, 2], [0, 2], [0, 0]]):
        shape = {"type": "Polygon", "coordinates": [corners], "crs": {"type": "name", "properties": {"name": "urn:x-mongodb:crs:strictwinding:EPSG:4326"}}}
        yield from [find("g", {"g": {name: {"$geometry": shape}}}, projection={"_id": 1}) for name in ("$geoIntersects", "$geoWithin")]
    for coordinates in ([], 5, [[[0, 0], [1, 1], [0, 0]]]):
        yield find("g", {"g": {"$geoIntersects": {"$geometry": {"type": "Polygon", "coordinates": coordinates, "crs": shape["crs"]}}}})


@topic
def hints_in_errors():
    """How a refused hint shows comparisons."""
    yield insert("a", {"_id": 1, "a": "x", "b": 1}, {"_id": 2, "a": "Y", "b": 2}, {"_id": 3, "a": 5, "t": "foxes"})
    yield create(index([("a", 1), ("b", 1)]))
    yield from [find("a", query, hint="zork", limit=3) for query in ({"b": {"$gt": 1}, "a": 2}, {"a": {"$gte": 1, "$lt": 5}, "b": {"$lte": 2}, "c": {"$gt": 3}})]


@topic
def explain_fields():
    """Collations, wildcards, counts, projections and skips in the output of explain."""
    insensitive = {"locale": "en", "strength": 2}
    # What explain tells of collations, of wildcards, of counts to the end of an index, of what is left out and of what is skipped.
    yield insert("e", *({"_id": at, "a": at % 5, "b": -at} for at in range(10)))
    yield create(index([("a", 1)], "a"), index([("$**", 1)], "w"), collection="e")
    shown = ("ok", "queryPlanner.collation", "queryPlanner.winningPlan", "executionStats.totalKeysExamined", "executionStats.executionStages.keysExamined")
    yield only({"explain": find("e", {"b": 1}, collation=insensitive), "verbosity": "queryPlanner"}, *shown)
    yield only({"explain": find("e", {"b": -1}), "verbosity": "queryPlanner"}, *shown)
    yield from [only({"explain": {"count": "e", "query": {"a": query}, "hint": "a"}, "verbosity": "executionStats"}, "ok", "executionStats.totalKeysExamined") for query in (2, 4, {"$gt": 2}, {"$gte": 2, "$lt": 4}, {"$lt": 2}, {"$gt": 9})]
    yield from [only({"explain": find("e", {"a": 2}, projection=projection, hint="a"), "verbosity": "queryPlanner"}, *shown) for projection in ({"b": 0}, {"_id": 0}, {"_id": 0, "b": 1}, {"_id": 1}, {"a.b": 0})]
    yield from [only({"explain": find("e", {"b": {"$lt": 1}}, skip=skip, limit=2, hint={"$natural": 1}), "verbosity": verbosity}, *shown) for skip in (3, 30) for verbosity in ("queryPlanner", "executionStats")]
    yield only({"explain": {FM: "e", "query": {"a": 2}, "update": {"$set": {"z": 1}}, "sort": {"b": 1}}, "verbosity": "queryPlanner"}, *shown)


@topic
def validators_without_details():
    """Validators whose refusals have no details."""
    # Where a validator can't say why.
    for at, validator in enumerate(({"$alwaysFalse": 1}, {"$or": [{"a": 1}, {"$alwaysFalse": 1}]}, {"$nor": [{"$alwaysTrue": 1}]})):
        yield from [{"create": f"r{at}", "validator": validator}, insert(f"r{at}", {"_id": 1, "a": 5})]


@topic
def dates_and_field_names():
    """Formats and zones of dates, hours of $dateDiff, and the names of $getField and $setField."""
    yield insert("a", {"_id": 1, "a": "x", "b": 1}, {"_id": 2, "a": "Y", "b": 2}, {"_id": 3, "a": 5, "t": "foxes"})
    def computed(expression):
        return run({"$match": {"_id": 1}}, {"$project": {"r": expression}})

    for text in ("2020-01-01T10:00:00.5", "2020-01-01T10:00:00.05", "2020-01-01T10:00:00.050", "2020-01-01T10:00:00.007"):
        yield computed({"$dateFromString": {"dateString": text, "format": "%Y-%m-%dT%H:%M:%S.%L"}})
    yield from [computed({"$dateFromString": {"dateString": f"2020-01-01T10:00:00{zone}", "timezone": "UTC"}}) for zone in ("Z", "+02:00", "-0800")]
    # Hours that do not begin with those of UTC.
    for start, end in ((1540677600000, -62135596800000), (-62135596800000, 1540677600000), (-3760909441000, -3760909439000), (1540677600000, 1540677659999)):
        for unit in ("hour", "minute", "second"):
            dates = [{"$toDate": Int64(start)}, {"$toDate": Int64(end)}]
            yield computed({"$dateDiff": {"startDate": dates[0], "endDate": dates[1], "unit": unit, "timezone": "America/New_York"}})
    for field in (5, None, True, ["a"], {"a": 1}, {"$concat": ["a", "b"]}, "$a", "$$ROOT", "$$ROOT.a", "$$NOW", {"$literal": 5}, {"$literal": "a"}):
        yield from [computed({"$getField": {"field": field, "input": {"a": 1}}}), computed({"$setField": {"field": field, "input": {"a": 1}, "value": 2}}), computed({"$unsetField": {"field": field, "input": {"a": 1}}})]
        yield computed({"$getField": field})
    yield from [computed({"$let": {"vars": variables, "in": 1}}) for variables in (5, None, [], [1], {})]


@topic
def ignored_options():
    """What a server takes, checks, and does nothing by; and the commands that look past what they do not know."""
    yield insert("a", {"_id": 1, "a": 1})
    values = (None, True, False, 1, -1, 1.5, "x", {}, [], Int64(1))
    statements = {"insert": {"documents": [{"_id": 1}]}, "update": {"updates": [{"q": {"_id": 9}, "u": {"$set": {"b": 1}}}]}, "delete": {"deletes": [{"q": {"_id": 9}, "limit": 1}]}}
    for value in values:
        for field in ("$configTime", "$topologyTime", "$configServerState", "$queryOptions", "allowImplicitCollectionCreation", "clientOperationKey", "mayBypassWriteBlocking", "maxTimeMSOpOnly", "coordinator"):
            yield from [{"find": "a", field: value}, {"ping": 1, field: value}]
        for field in ("oplogReplay", "readOnce", "allowSpeculativeMajorityRead", "options", "ntoreturn"):
            yield {"find": "a", field: value}
        for field in ("fromMongos", "isMapReduceCommand"):
            yield {"aggregate": "a", "pipeline": [], "cursor": {}, field: value}
        for command, more in statements.items():
            yield {command: "a", **more, "isTimeseriesNamespace": value}
        for field in ("v", "isTimeseriesNamespace"):
            yield create(index({"a": 1}, "i"), **{field: value})
        for field in ("includeBuildUUIDs", "includeIndexBuildInfo", "isTimeseriesNamespace"):
            yield {"listIndexes": "a", field: value}
        yield from [{"dropIndexes": "a", "index": "nope", "isTimeseriesNamespace": value}, {"listCollections": 1, "nameOnly": True, "includePendingDrops": value}]
        yield from [{"renameCollection": "engine_ignored_options.nope", "to": "engine_ignored_options.other", "stayTemp": value, "$on": "admin"}, {"create": "b", "flags": value}, {"drop": "b"}]
        for field in ("zork", "capped"):
            yield from [only({command: argument, field: value, **more}, "ok", "code", "errmsg") for command, argument, more in (("collStats", "a", {}), ("dataSize", "engine_ignored_options.a", {}), ("dbStats", 1, {}), ("validate", "a", {}), ("buildInfo", 1, {}), ("convertToCapped", "nope", {"size": 1000}), ("cloneCollectionAsCapped", "nope", {"toCollection": "other", "size": 1000}))]
    yield {"listIndexes": "a", "includeBuildUUIDs": True, "includeIndexBuildInfo": True}
    yield from [insert("d", {"_id": 1}, isTimeseriesNamespace=False), create(index({"a": 1}, "i"), collection="d"), {"dropIndexes": "d", "index": "i", "isTimeseriesNamespace": True}]
    yield {"renameCollection": "engine_ignored_options.d", "to": "engine_ignored_options.e", "stayTemp": True, "$on": "admin"}
    for key, value in (("clientOperationKey", Binary(b"0" * 16, 4)), ("clientOperationKey", Binary(b"0" * 15, 4)), ("clientOperationKey", Binary(b"0" * 16, 3)), ("apiVersion", None), ("apiStrict", None), ("apiDeprecationErrors", None), ("txnNumber", None), ("autocommit", None), ("startTransaction", None), ("startTransaction", True)):
        yield from [{"find": "a", key: value}, {"insert": "c", "documents": [{"_id": 1}], key: value}]


@topic
def pre_images():
    """recordPreImages, which every collMod takes away that does not ask for it."""
    shown = {"listCollections": 1, "filter": {"name": "a"}, "$only": ["cursor.firstBatch"]}
    on, off = {"enabled": True}, {"enabled": False}
    for options in ({"recordPreImages": True}, {"recordPreImages": 1.5}, {"recordPreImages": False}, {"recordPreImages": None}, {"recordPreImages": "x"}, {"capped": True, "size": 4096, "recordPreImages": True, "validator": {"a": 1}, "collation": {"locale": "fr"}}, {"recordPreImages": 1, "changeStreamPreAndPostImages": off}, {"recordPreImages": 1, "changeStreamPreAndPostImages": on}, {"recordPreImages": 0, "changeStreamPreAndPostImages": on}, {"recordPreImages": True, "viewOn": "b"}, {"recordPreImages": True, "changeStreamPreAndPostImages": on, "viewOn": "b"}, {"recordPreImages": True, "changeStreamPreAndPostImages": on, "size": 5}):
        yield from [{"create": "a", **options}, shown, {"collMod": "a", "recordPreImages": True}, shown, {"drop": "a"}]
    yield {"create": "a", "validator": {"a": 1}, "capped": True, "size": 4096}
    for change in ({"recordPreImages": True, "changeStreamPreAndPostImages": on}, {"recordPreImages": True}, {"recordPreImages": None}, {"recordPreImages": True, "changeStreamPreAndPostImages": off}, {"validationLevel": "moderate"}, {"recordPreImages": True}, {}, {"changeStreamPreAndPostImages": on}, {"recordPreImages": False}, {"recordPreImages": 1}, {"recordPreImages": "x"}, {"changeStreamPreAndPostImages": on}, {"recordPreImages": True, "cappedSize": 8192}, {"dryRun": False}):
        yield from [{"collMod": "a", **change}, shown]
    yield from [{"create": "b", "recordPreImages": True, "$on": "local"}, {"create": "b", "recordPreImages": True, "$on": "admin"}, {"collMod": "nope", "recordPreImages": True, "changeStreamPreAndPostImages": on}, {"collMod": "nope", "recordPreImages": True}]


@topic
def record_ids_and_sort_keys():
    """What a find shows beside the documents: the ids of records, and what they are sorted by."""
    yield insert("a", *({"_id": at, "a": at % 3, "b": [at, at + 1], "c": {"d": at}, "s": f"x{at}", "t": f"word w{at}"} for at in range(4)), {"_id": 9}, {"_id": 10, "b": [], "s": None}, {"_id": 11, "b": [[3], 1.5, "x"], "c": [{"d": 7}, {"d": 2}]})
    yield create(index([("a", 1), ("c.d", -1)], "acd"), index({"b": 1}, "b"), index({"t": "text"}, "t"), index({"_id": 1, "a": 1}, "ia"))
    yield from [{"delete": "a", "deletes": [{"q": {"_id": 2}, "limit": 1}]}, insert("a", {"_id": 2, "a": 2})]
    for options in ({}, {"filter": {"a": 1}}, {"filter": {"_id": 1}}, {"projection": {"_id": 1}}, {"filter": {"a": 1}, "projection": {"_id": 0, "a": 1}}, {"filter": {"_id": 1}, "projection": {"_id": 1, "a": 1}, "hint": "ia"}, {"sort": {"s": -1}, "limit": 2, "projection": {"s": 1}}, {"skip": 2}, {"batchSize": 2, "singleBatch": True}, {"projection": {"a": 1, "r": {"$meta": "recordId"}}}, {"filter": {"b": 2}, "projection": {"b.$": 1}}, {"collation": {"locale": "fr"}, "sort": {"s": 1}}):
        for shows in (True, False):
            yield {"find": "a", **options, "showRecordId": shows}
    key_of = {"_id": 1, "k": {"$meta": "sortKey"}}
    for sort in ({"a": 1}, {"a": -1}, {"b": 1}, {"b": -1}, {"c.d": 1}, {"c.d": -1}, key(("b", -1), ("a", 1)), key(("a", 1), ("b", -1), ("s", 1)), {"zz": 1}, {"_id": 1}, key(("a", 1), ("a", -1)), {"$natural": 1}, {"$natural": -1}, {}, {"b.0": 1}, {"c": 1}):
        for options in ({}, {"filter": {"b": {"$gt": 1}}}, {"filter": {"a": {"$gte": 1}}, "skip": 1}):
            yield {"find": "a", "projection": key_of, "sort": sort, **options}
    yield from [{"find": "a", "filter": {"$text": {"$search": "w1 w2"}}, "projection": key_of, "sort": sort} for sort in ({"x": {"$meta": "textScore"}}, key(("x", {"$meta": "textScore"}), ("a", 1)), key(("a", 1), ("x", {"$meta": "textScore"})))]
    yield from [{"find": "a", "projection": key_of}, {"find": "nope", "projection": key_of}, {"find": "nope", "projection": key_of, "sort": {"a": 1}}, {"explain": {"find": "a", "projection": key_of}}, {"find": "a", "projection": {"k": {"$meta": "sortKey"}, "z": {"$zork": 1}}}, {"find": "a", "projection": {"k": {"$literal": {"$meta": "x"}}}, "limit": 1}]
    yield from [{"find": "a", "projection": {"_id": 1, "k": {"$concat": [{"$meta": "sortKey"}]}}, "sort": {"a": 1}}, {"find": "a", "projection": {"_id": 1, "k": {"$arrayElemAt": [{"$meta": "sortKey"}, 0]}, "l": {"n": {"$meta": "sortKey"}}}, "sort": {"a": 1}}, {"find": "a", "projection": {"k": {"$meta": "sortKey"}}, "sort": {"a": 1}, "showRecordId": True, "limit": 1}]
    yield from [{FM: "a", "query": {"_id": 0}, "update": {"$set": {"q": 1}}, "fields": key_of, **more} for more in ({}, {"sort": {"a": 1}})]
    yield {"create": "v", "viewOn": "a", "pipeline": []}
    yield from [{"find": "v", "showRecordId": True}, {"find": "v", "projection": key_of}, {"find": "nope", "showRecordId": True}]
    yield from [{"create": "k", "capped": True, "size": 4096, "max": 2}, insert("k", *({"_id": at} for at in range(4))), {"find": "k", "showRecordId": True}, {"find": "k", "showRecordId": True, "sort": {"$natural": -1}}, {"find": "k", "showRecordId": True, "tailable": True}]


@topic
def return_key():
    """returnKey: the key of the index that a document was found by, and nothing of one that no index found."""
    yield insert("a", *({"_id": at, "a": at % 3, "b": [at, at + 1], "c": {"d": at}, "s": f"x{at}", "n": [Int64(3), 1.5, 2]} for at in range(5)), {"_id": 9}, {"_id": 10, "b": [], "s": None, "c": [{"d": 7}, {"d": 2}]})
    yield create(index([("a", 1), ("c.d", -1)], "acd"), index({"b": 1}, "b"), index({"s": "hashed"}, "s"), index({"n": 1}, "n", sparse=True), index({"z": 1}, "z", partialFilterExpression={"a": 1}), index([("b", -1), ("a", 1)], "ba"))
    for filter, options in (({}, {}), ({"a": 1}, {}), ({"_id": 1}, {}), ({"_id": {"$gt": 1}}, {}), ({"_id": 77}, {}), ({"a": 1}, {"projection": {"a": 1}}), ({"a": 1}, {"projection": {"_id": 0, "a": 1, "c.d": 1}}), ({"a": 1}, {"showRecordId": True}), ({"a": 1}, {"sort": {"s": 1}}), ({"a": 1}, {"sort": {"c.d": 1}}), ({"b": 2}, {"hint": "b"}), ({"b": {"$gt": 2}}, {"hint": "b"}), ({"b": {"$gt": 2}}, {"hint": "b", "sort": {"b": -1}}), ({"b": {"$gt": 2, "$lt": 5}}, {"hint": "ba"}), ({"s": "x1"}, {}), ({"s": {"$in": ["x3", None]}}, {"hint": "s"}), ({"n": 3}, {}), ({"n": {"$gt": 1}}, {"limit": 1}),
        ({"$or": [{"a": 1}, {"b": 2}]}, {"sort": {"_id": 1}}), ({"$or": [{"a": 1, "s": "x9"}, {"b": {"$lt": 3}, "s": "x1"}]}, {"sort": {"_id": 1}}), ({"a": {"$in": [0, 2]}}, {"sort": {"c.d": 1}, "hint": "acd"}), ({}, {"hint": "acd"}), ({}, {"hint": {"$natural": 1}}), ({"c.d": 2}, {"hint": "acd"}), ({"a": 1}, {"hint": "z"}), ({"a": 1, "z": None}, {"hint": "z"}), ({"a": 1}, {"projection": {"k": {"$meta": "sortKey"}, "a": 0}, "sort": {"a": 1}}), ({"a": 1}, {"projection": {"k": {"$meta": "sortKey"}, "l": {"$meta": "sortKey"}, "r": {"$meta": "recordId"}, "m": {"$add": [1, 2]}}, "sort": {"s": 1}}), ({"a": 1}, {"projection": {"k": {"$zork": 1}}}), ({"a": {"$lt": 2}}, {"skip": 1, "limit": 1}), ({}, {"min": {"b": 2}, "max": {"b": 4}, "hint": "b"}), ({"a": 1}, {"batchSize": 1, "singleBatch": True})):
        yield {"find": "a", "filter": filter, **options, "returnKey": True}
    yield {"find": "a", "filter": {"a": 1}, "returnKey": False, "projection": {"_id": 1}}
    yield {"create": "v", "viewOn": "a", "pipeline": []}
    yield from [{"find": "v", "returnKey": True}, {"find": "nope", "returnKey": True}, {"create": "k", "capped": True, "size": 4096}, insert("k", {"_id": 1}), {"find": "k", "returnKey": True, "tailable": True}]


@topic
def index_cell_levels():
    """The levels of a 2dsphere index: what may be one, and what is listed."""
    yield insert("full", {"_id": 1})
    levels = [("coarsestIndexedLevel", value) for value in (-1, 0, 5, 14, 15, 16, 17, 30, 31, 5.7, "x", None, True, Int64(4), Decimal128("5"), Decimal128("5.5"))] + [("finestIndexedLevel", value) for value in (-1, 0, 1, 2, 6, 7, 9.0, 30, 31, 5.7, {}, True)]
    both = [{name: value, **more} for name, value in levels for more in ({}, {"2dsphereIndexVersion": 2})] + [{"coarsestIndexedLevel": 5, "finestIndexedLevel": 10}, {"finestIndexedLevel": 10, "coarsestIndexedLevel": 5}, {"coarsestIndexedLevel": 10, "finestIndexedLevel": 5}, {"coarsestIndexedLevel": -3, "finestIndexedLevel": 50}, {"coarsestIndexedLevel": 0, "finestIndexedLevel": 30, "2dsphereIndexVersion": 1}, {"coarsestIndexedLevel": 40, "2dsphereIndexVersion": 7}]
    for options in both:
        for collection in ("new", "full"):
            yield from [create(index({"g": "2dsphere"}, "g", **options), collection=collection), {"listIndexes": collection}, {"dropIndexes": collection, "index": "*"}]
        yield {"drop": "new"}
    for pattern in ({"g": 1}, {"g": "2d"}, {"g": "hashed"}):
        for options in ({"coarsestIndexedLevel": 5}, {"coarsestIndexedLevel": 40}, {"finestIndexedLevel": 5.7}, {"finestIndexedLevel": "x"}, {"finestIndexedLevel": 9, "coarsestIndexedLevel": 12}):
            yield from [create(index(pattern, "g", **options), collection="full"), {"listIndexes": "full"}, {"dropIndexes": "full", "index": "*"}]
    one = index({"g": "2dsphere"}, "g", coarsestIndexedLevel=5)
    yield from [create(one, collection="g"), create(index({"g": "2dsphere"}, "g"), collection="g"), create(index({"g": "2dsphere"}, "g", coarsestIndexedLevel=5.0), collection="g"), create(index({"g": "2dsphere"}, "h", coarsestIndexedLevel=6), collection="g")]
    shapes = [{"_id": 1, "g": [1, 2]}, {"_id": 2, "g": {"type": "Polygon", "coordinates": [[[0, 0], [10, 0], [10, 10], [0, 0]]]}}, {"_id": 3, "g": {"type": "Point", "coordinates": [20, 20]}}]
    yield from [insert("g", *shapes), find("g", {"g": {"$geoIntersects": {"$geometry": {"type": "Point", "coordinates": [5, 2]}}}}), find("g", {"g": {"$geoWithin": {"$centerSphere": [[1, 2], 0.01]}}}), find("g", {"g": {"$near": {"$geometry": {"type": "Point", "coordinates": [19, 19]}}}}, limit=1)]


if __name__ == "__main__":
    main(*sys.argv[1:], topics=TOPICS)
