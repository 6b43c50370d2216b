"""Records what a mongod answers to writes, indexes and reads that it refuses, and at the edges of shapes and paths.

    python3 record_refusals.py 'mongodb://127.0.0.1:27017/?directConnection=true' [TOPIC…]
"""

import re
import sys

from bson import Binary, Int64

from record_commands import FM, SON, create, find, index, insert, key, main, run, update

TOPICS = {}


def topic(function):
    TOPICS[function.__name__] = function
    return function


def session(number):
    """The fields of a transaction. All are of one session: the driver puts its own in the place of a command's."""
    return {"lsid": {"id": Binary(b"s" * 16, 4)}, "txnNumber": Int64(number), "autocommit": False}


@topic
def merge_on():
    """$merge with `on` other than `_id`, of documents without `_id`: the target keeps its own."""
    def merge(into="t", **options):
        return {"$merge": {"into": into, **options}}

    yield insert("t", {"_id": 1, "a": 1, "x": "old", "b": {"c": 1}}, {"_id": 2, "a": 2, "x": "old", "b": {"c": 2}})
    yield create(index([("a", 1)], "a", unique=True), index([("b.c", 1)], "b", unique=True, sparse=True), collection="t")
    yield insert("s", {"_id": 7, "a": 1, "x": "new", "b": {"c": 1}}, {"_id": 8, "a": 3, "x": "new", "b": {"c": 3}})
    without = {"$project": {"_id": 0}}
    for options in ({"whenMatched": "replace"}, {"whenMatched": "merge"}, {"whenMatched": "keepExisting"}, {"whenMatched": "fail"}, {"whenMatched": [{"$set": {"y": "$$new"}}]}, {"whenMatched": [{"$replaceWith": "$$new"}]}, {"whenMatched": "replace", "whenNotMatched": "discard"}, {"whenMatched": "merge", "whenNotMatched": "discard"}, {"whenMatched": "merge", "whenNotMatched": "fail"}):
        for on in ("a", "b.c", ["a", "b.c"], ["_id", "a"], "_id"):
            for stages in ([without], [], [{"$project": {"a": 1}}], [{"$project": {"_id": 0, "a": 1}}]):
                yield run({"$match": {"_id": 7}}, *stages, merge(on=on, **options), collection="s")
                yield find("t", {"x": {"$exists": True}, "_id": {"$type": "number"}})
        yield {"delete": "t", "deletes": [{"q": {}, "limit": 0}]}
        yield insert("t", {"_id": 1, "a": 1, "x": "old", "b": {"c": 1}}, {"_id": 2, "a": 2, "x": "old", "b": {"c": 2}})
        yield run(without, merge(on="a", **options), collection="s")
        yield find("t", {}, projection={"_id": 0, "y._id": 0}, sort={"a": 1})
        yield {"delete": "t", "deletes": [{"q": {"_id": {"$not": {"$type": "number"}}}, "limit": 0}]}
    # Grouped by key: the id of a group is not the target's.
    yield run({"$group": {"_id": "$a", "n": {"$sum": 1}}}, {"$project": {"_id": 0, "a": "$_id", "n": 1}}, merge(on="a"), collection="s")
    yield find("t", {}, projection={"_id": 0}, sort={"a": 1})
    # Into the elements of an array.
    yield insert("u", {"_id": 1, "a": [{"b": 1}, {"b": 2}]}, {"_id": 2, "a": {"b": 3}}, {"_id": 3, "a": [{"b": [4, 5]}]})
    yield create(index([("a.b", 1)], "ab", unique=True), collection="u")
    yield insert("w", {"_id": 1, "a": {"b": 1}, "n": 1}, {"_id": 2, "a": {"b": 3}, "n": 2}, {"_id": 3, "a": {"b": 4}, "n": 3}, {"_id": 4, "a": {"b": [1]}}, {"_id": 5, "a": [{"b": 1}]}, {"_id": 6, "a": {"b": None}}, {"_id": 7})
    for matched in ("merge", "replace", "keepExisting", "fail", [{"$set": {"y": "$$new.n"}}]):
        for id in range(1, 8):
            for stages in ([], [without]):
                yield run({"$match": {"_id": id}}, *stages, merge("u", on="a.b", whenMatched=matched), collection="w")
                yield find("u", {"_id": {"$type": "number"}}, sort={"_id": 1})
    # Its variables.
    for value in (None, {}, 1, [], {"new": 1}, {"x": 1}):
        for matched in ("merge", [{"$set": {"z": "$$new.a"}}]):
            yield run(without, merge(on="a", whenMatched=matched, let=value), collection="s")
    for name in ("into", "on", "whenMatched", "whenNotMatched", "let"):
        yield run(without, {"$merge": {"into": "t", "on": "a", name: None}}, collection="s")
    # What verifies that `on` is unique.
    for name, parts, options in (("g1", [("p", "2dsphere")], {"unique": True}), ("g2", [("p", "2dsphere"), ("q", 1)], {"unique": True}), ("g3", [("p", "text")], {}), ("g5", [("p", "2d")], {}), ("g6", [("p", 1)], {"unique": True, "sparse": True}), ("g7", [("p", 1)], {"unique": True, "partialFilterExpression": {"p": 1}}), ("g8", [("p", 1)], {"unique": True, "collation": {"locale": "de"}}), ("g9", [("p", 1)], {"unique": True, "hidden": True}), ("ga", [("p", 1), ("q", "2dsphere")], {"unique": True}), ("gb", [("p", -1)], {"unique": True}), ("gc", [("p", "hashed")], {}), ("gd", [("p.$**", 1)], {})):
        yield create(index(parts, "n", **options), collection=name)
        for on in ("p", "q", ["p", "q"], ["q", "p"]):
            yield run({"$match": {"_id": 7}}, merge(name, on=on), collection="s")
            yield run({"$match": {"_id": 7}}, {"$set": {"p": 1, "q": 2}}, merge(name, on=on), collection="s")


@topic
def positional_paths():
    """More than one positional `$` in an update's path."""
    yield insert("a", {"_id": 1, "a": [{"b": {"c": 1}}], "n": [[1, 2], [3]], "g": [{"y": [{"z": 1}]}]})
    paths = ["a.$.b.$.c", "a.$.$", "a.$.b.$", "$.a.$", "n.$.$", "n.$[].$", "n.$.$[]", "g.$.y.$[e].z", "g.$[e].y.$.z", "g.$.y.$.z", "g.$[].y.$.z", "g.$.y.$[].z", "$.$", "a.$b.$c", "a.$.b.$.c.$"]
    for query in ({"a.b.c": 1}, {"n": [3]}, {"g.y.z": 1}, {"n": {"$elemMatch": {"$elemMatch": {"$eq": 3}}}}, {"_id": 1}, {"_id": 9}):
        for path in paths:
            for operator, value in (("$set", 2), ("$unset", 1), ("$inc", 1), ("$push", 1), ("$min", 0), ("$mul", 2), ("$addToSet", 1), ("$pull", 1), ("$pop", 1), ("$pullAll", [1]), ("$bit", {"or": 1}), ("$setOnInsert", 1), ("$rename", "x")):
                if operator not in ("$set", "$unset", "$rename") and query != {"a.b.c": 1}:
                    continue
                filters = {"arrayFilters": [{"e.z": 1}]} if "[e]" in path else {}
                yield update("a", {"q": query, "u": {operator: {path: value}}, **filters})
    yield find("a", projection={"a.b.c": 1, "n": 1, "g": 1})
    for path in ("a.$.b.$.c", "a.$", "$"):
        yield from [update("a", {"q": {"_id": 9}, "u": {"$set": {path: 1}}, "upsert": True}), update("a", {"q": {"_id": 9}, "u": {"$setOnInsert": {path: 1}}, "upsert": True}), {FM: "a", "query": {"a.b.c": 1}, "update": {"$set": {path: 1}}}]
        yield from [update("a", {"q": {"a.b.c": 1}, "u": {"$set": {"b": 1, path: 2}}}), update("a", {"q": {"a.b.c": 1}, "u": {"$set": {path: 2, "a.$.b.$.d": 1}}}), update("a", {"q": {"_id": 1}, "u": {"$rename": {"n": path}}})]
        yield {"explain": update("a", {"q": {"a.b.c": 1}, "u": {"$set": {path: 2}}}), "$only": ["ok", "code", "errmsg"]}


@topic
def geo_circles():
    """Centres, and points about as far away as the radius."""
    yield insert("a", *({"_id": at, "p": point} for at, point in enumerate([[5, 52], [5, 52.0001], [5.0001, 52], [4.9999, 52], [5, 51.9999], [5, 52.00010000001], [5, 52.0001000000001], [5.00005, 52.00005], [5.00007071067811865, 52.00007071067811865], [0, 0], [1, 0], [0, 1], [0.6, 0.8], [-0.6, 0.8], [1.0000000000000002, 0], [1.0000000000000004, 0], [0.1, 0.2], [0.4, 0.6], [-170, 85], [-169.9, 85], [3, 4], [30, 40], [3.0000000000000004, 4], [3.0000000000000009, 4.0], [1e-3, 0], [179.9999, 0]])))
    for indexed in (False, True):
        if indexed:
            yield create(index([("p", "2d")]))
        for center, radius in (([5, 52], 0.0001), ([5, 52], 0.00005), ([0, 0], 1), ([0, 0], 5), ([0, 0], 50), ([0.1, 0.2], 0.5), ([0, 0], 0), ([5, 52], 0), ([5, 52], 1e-300), ([-170, 85], 0.1), ([-170, 85], 0.09999999999999), ([180, 0], 0.0001), ([0, 0], 0.001), ([0.3, 0], 0.7), ([5.0001, 52], 0.0001), ([5, 52.00005], 0.00005)):
            yield {"count": "a", "query": {"p": {"$geoWithin": {"$center": [center, radius]}}}}
            yield find("a", {"p": {"$geoWithin": {"$center": [center, radius]}}}, projection={"_id": 1}, sort={"_id": 1})
    boxes = ([[5, 51], [6, 52.0001]], [[5, 52], [5, 52]], [[0, 0], [1, 1]], [[0, 0], [0.9999999999999999, 1]], [[5, 52], [5.00009999999999, 53]])
    yield from [find("a", {"p": {"$geoWithin": {"$box": box}}}, projection={"_id": 1}, sort={"_id": 1}) for box in boxes]
    polygons = ([[5, 51], [6, 52.0001], [4, 52.0001]], [[0, 0], [1, 0], [0, 1]], [[-1, 0], [1, 0], [0, 1]])
    yield from [find("a", {"p": {"$geoWithin": {"$polygon": polygon}}}, projection={"_id": 1}, sort={"_id": 1}) for polygon in polygons]


@topic
def text_prefix_numeric_paths():
    """A text index whose other fields have numbers in their paths."""
    for at, parts in enumerate(([("a.0", 1), ("w", "text")], [("w", "text"), ("a.0", 1)], [("a.0.b", 1), ("w", "text")], [("a.b", 1), ("w", "text")], [("a", 1), ("w", "text")], [("a.1", -1), ("w", "text"), ("c.0", 1)], [("a.0.0", 1), ("w", "text")])):
        name = f"t{at}"
        yield create(index(parts), collection=name)
        for id, value in enumerate(([0, 1, 2], [], [[7]], [{"b": 5}], {"0": 3}, [{"b": [1]}], {"b": 6}, {"b": [1]}, 8, [[1, 2]], [0, [5]], [0, {"b": 2}], {"0": [9]}, {"0": {"b": 4}}, [{"b": 1}, 3])):
            yield insert(name, {"_id": id, "a": value, "w": "x", "c": [id]})
        for path in ("a.0", "a.0.b", "a.b", "a", "a.1", "a.0.0"):
            for value in (0, 5, 7, [7], {"b": 5}, 3, 4):
                query = {path: value, "$text": {"$search": "x"}}
                yield {**find(name, query, projection={"_id": 1}, sort={"_id": 1}), "$only": ["ok", "code", "cursor.firstBatch"]}


@topic
def failed_writes():
    """Which writes that fail create the collection."""
    def is_there(*names):
        # Not by listCollections, which a mongod answers in no order.
        return [{"listIndexes": name, "$only": ["ok", "code", "codeName"]} for name in names]

    bad = [{"_id": [1]}, {"_id": re.compile("x")}, {"_id": {"$x": 1}}, {"_id": 1, "a": "x" * 10}]
    for at, document in enumerate(bad):
        for ordered in (True, False):
            name = f"i{at}{ordered}"
            yield from [insert(name, document, ordered=ordered), *is_there(name)]
    yield from [insert("two", {"_id": [1]}, {"_id": 2}, ordered=False), insert("three", {"_id": 1}, {"_id": [2]}), insert("four", {"_id": [1]}, {"_id": 2}), *is_there("two", "three", "four")]
    faults = [{"q": {"_id": [1]}, "u": {"$set": {"a": 1}}}, {"q": {}, "u": {"_id": [1]}}, {"q": {}, "u": {"$set": {"_id": [1]}}}, {"q": {}, "u": {"$zork": 1}}, {"q": {"a": {"$zork": 1}}, "u": {"$set": {"a": 1}}}, {"q": {"a": 1, "$and": [{"a": 2}]}, "u": {"$set": {"b": 1}}}, {"q": {"a.b": 1, "a": 2}, "u": {"$set": {"b": 1}}}, {"q": {"_id": 1}, "u": {"_id": 2}}, {"q": {"a": 1}, "u": {"$inc": {"a": "x"}}}, {"q": {"a": "s"}, "u": {"$inc": {"a": 1}}}, {"q": {"a": 1}, "u": [{"$set": {"_id": [1]}}]}, {"q": {}, "u": {"$set": {"a.$": 1}}}, {"q": {}, "u": {"$set": {"a.$[e]": 1}}}, {"q": {}, "u": {"$set": {"a.$[]": 1}}}, {"q": {}, "u": {"a": {"$x": 1}, "_id": {"$a": 1}}}]
    for at, fault in enumerate(faults):
        yield from [update(f"u{at}", {**fault, "upsert": True}), {FM: f"f{at}", "query": fault["q"], "update": fault["u"], "upsert": True}, *is_there(f"u{at}", f"f{at}")]
        yield from [update(f"w{at}", {**fault}), {FM: f"g{at}", "query": fault["q"], "update": fault["u"]}, *is_there(f"w{at}", f"g{at}")]
        yield {"dropDatabase": 1}
    yield from [{"delete": "d", "deletes": [{"q": {"a": {"$zork": 1}}, "limit": 1}]}, {"delete": "d2", "deletes": [{"q": {}, "limit": 1, "hint": "n"}]}, *is_there("d", "d2")]
    yield from [create(index([("a", 1)], "n", zork=1), collection="c1"), create(index([("a", 5e400)], "n"), collection="c2"), create(index([("a", 1)], "n"), index([("a", 1)], "m"), collection="c3"), create(index([("a", 1)], "n"), index([("b", 1)], "n"), collection="c4"), create(index([("_id", -1)], "n", unique=True), collection="c5"), *is_there("c1", "c2", "c3", "c4", "c5")]
    yield insert("s", {"_id": 1})
    yield from [run({"$set": {"_id": [1]}}, {"$merge": "m1"}, collection="s"), run({"$set": {"x": {"$divide": [1, 0]}}}, {"$merge": "m2"}, collection="s"), run({"$match": {"_id": 9}}, {"$merge": "m3"}, collection="s"), run({"$merge": {"into": "m4", "whenNotMatched": "fail"}}, collection="s"), run({"$merge": {"into": "m5", "whenNotMatched": "discard"}}, collection="s"), run({"$set": {"_id": [1]}}, {"$out": "o1"}, collection="s"), run({"$match": {"_id": 9}}, {"$out": "o2"}, collection="s"), {**run({"$unionWith": "s"}, {"$out": "o3"}, collection="s"), "$only": ["ok", "code"]}, *is_there("m1", "m2", "m3", "m4", "m5", "o1", "o2", "o3")]
    yield from [run({"$merge": {"into": "m6", "whenMatched": [{"$set": {"x": 1}}], "whenNotMatched": "discard"}}, collection="s"), run({"$merge": {"into": "m7", "whenMatched": "fail"}}, collection="s"), run({"$set": {"_id": [1]}}, {"$merge": {"into": "m8", "whenMatched": "fail"}}, collection="s"), *is_there("m6", "m7", "m8")]


@topic
def write_concern_errors():
    """Commands that fail, and what they say of the write concern that could not be had."""
    yield insert("a", {"_id": 1}, {"_id": 2, "x": 5})
    yield from [{"create": "b"}, {"create": "v", "viewOn": "a", "pipeline": []}, {"create": "cap", "capped": True, "size": 4096}, create(index([("x", 1)], "x", unique=True))]
    failing = [
        {"drop": "nonexist"}, {"create": "a"}, {"create": "a", "capped": True, "size": 4096}, {"create": "a", "capped": True}, {"create": "a$b"}, {"create": "system.zork"}, {"create": "c", "zork": 1}, {"create": "c", "validator": {"$zork": 1}},
        {"$on": "admin", "renameCollection": "$db.a", "to": "$db.b"}, {"$on": "admin", "renameCollection": "$db.nope", "to": "$db.c"}, {"$on": "admin", "renameCollection": "$db.a", "to": "$db.a"}, {"$on": "admin", "renameCollection": "$db.a", "to": "x"}, {"renameCollection": "$db.a", "to": "$db.c"},
        {"dropIndexes": "a", "index": "nope"}, {"dropIndexes": "a", "index": "_id_"}, {"dropIndexes": "nope", "index": "x"}, {"dropIndexes": "a", "index": 5}, {"dropIndexes": "a", "index": {"z": 1}}, {"dropIndexes": "v", "index": "x"}, {"dropIndexes": "a", "index": ["x", "nope"]}, {"dropIndexes": "a"},
        create(index([("x", 1)], "y")), create(index([("x", 1)], "x")), create(index([("x", 5e5)], "x2", zork=1)), create(index([("y", 1)], "x")), create(index([("a", 1)]), collection="v"), create(), create(index([("z.$**", 1)], "q", unique=True)),
        {"collMod": "nope"}, {"collMod": "a", "zork": 1}, {"collMod": "a"}, {"collMod": "a", "index": {"name": "nope", "hidden": True}}, {"collMod": "a", "validator": {"$zork": 1}}, {"collMod": "v", "pipeline": [{"$zork": 1}]}, {"collMod": "a", "viewOn": "b"},
        insert("a", {"_id": 1}), insert("a", {"_id": 1}, {"_id": 9}, ordered=False), insert("v", {"_id": 1}), insert("a$b", {"_id": 1}), insert("a"), insert("a", {"_id": 1}, zork=1), insert("system.zork", {"_id": 1}), insert("", {"_id": 1}),
        update("a", {"q": {}, "u": {"$zork": 1}}), update("a", {"q": {}, "u": {"$set": {"_id": 5}}}), update("v", {"q": {}, "u": {"$set": {"_id": 5}}}), update("a"), update("a", {"q": {}, "u": {}, "zork": 1}), update("a", {"q": {"_id": 77}, "u": {"$set": {"a": 1}}}),
        {"delete": "a", "deletes": [{"q": {"$zork": 1}, "limit": 1}]}, {"delete": "cap", "deletes": [{"q": {}, "limit": 5}]}, {"delete": "v", "deletes": [{"q": {}, "limit": 1}]}, {"delete": "a", "deletes": [{"q": {"_id": 77}, "limit": 1}]}, {"delete": "a", "deletes": []},
        {FM: "a", "query": {"$zork": 1}, "remove": True}, {FM: "a", "query": {"_id": 1}, "update": {"$set": {"_id": 4}}}, {FM: "a", "query": {"_id": 77}, "update": {"$set": {"a": 4}}}, {FM: "a", "query": {"_id": 77}, "remove": True}, {FM: "a"}, {FM: "v", "query": {}, "remove": True}, {FM: "a", "query": {"_id": 1}, "update": {"$inc": {"_id": 4}}}, {FM: "a", "remove": True, "update": {}}, {FM: "a", "query": {"_id": 78}, "update": {"$set": {"x": 5}}, "upsert": True}, {FM: "a", "query": {"_id": 1}, "update": {"$zork": 1}},
        run({"$zork": 1}), run({"$out": "v"}), run({"$match": {"_id": 77}}, {"$out": "o"}), run({"$merge": {"into": "a", "on": "zork"}}), run({"$set": {"x": {"$divide": [1, 0]}}}, {"$out": "o"}), run({"$merge": {"into": "b", "whenNotMatched": "fail"}}), run({"$set": {"x": {"$divide": [1, 0]}}}), run({"$match": {"_id": 77}}),
        {"dropDatabase": 2}, {"dropDatabase": 1, "zork": 1}, {"convertToCapped": "nope", "size": 4096}, {"convertToCapped": "v", "size": 4096}, {"cloneCollectionAsCapped": "nope", "toCollection": "z", "size": 4096}, {"cloneCollectionAsCapped": "a", "toCollection": "b", "size": 4096}, {"zork": 1}, {"ping": 1}, {"find": "a"}, {"count": "a"}, {"distinct": "a", "key": "x"}, {"validate": "a", "full": 1}, {"collStats": "a"}, {"listCollections": 1}, {"killCursors": "a", "cursors": [Int64(5)]}, {"getMore": Int64(5), "collection": "a"}, {"commitTransaction": 1}, {"abortTransaction": 1}, {"explain": {"find": "a"}}, {"endSessions": []}, {"listIndexes": "a"},
    ]
    concerns = [{"w": 2, "wtimeout": 1}, {"w": 2}, {"w": "zork"}, {"w": 1}]
    for command in failing:
        for concern in concerns[:1] if "aggregate" in command else concerns:
            yield {**command, "writeConcern": concern}
    yield from [{"drop": "a", "writeConcern": {"w": 2}}, {"drop": "a", "writeConcern": {"w": 2}}, {"create": "a", "writeConcern": {"w": 2}}, {"$on": "admin", "renameCollection": "$db.a", "to": "$db.a2", "writeConcern": {"w": 2}}, insert("a", {"_id": 1}, {"_id": 1}, writeConcern={"w": 2}), {"convertToCapped": "a", "size": 4096, "writeConcern": {"w": 2}}]
    # The message has the time of the last drop.
    told = ["ok", "code", "codeName", "writeConcernError"]
    for concern in concerns:
        yield insert("a", {"_id": 1})
        yield from [{"dropDatabase": 1, "writeConcern": concern, "$only": told}, {"listCollections": 1, "nameOnly": True}, {"dropDatabase": 1, "writeConcern": concern, "$only": told}]
    for number in (1, 3):
        ends = [{name: 1, **session(number), "writeConcern": {"w": 2}, "$on": "admin"} for name in ("commitTransaction", "abortTransaction")]
        yield from [*ends, *ends[::-1], {"create": f"t{number}"}]
        ends = [{**end, **session(number + 1)} for end in ends]
        yield from [insert(f"t{number}", {"_id": 2}, startTransaction=True, **session(number + 1)), *ends[:: 1 if number == 1 else -1], *ends]


@topic
def index_refusals():
    """Indexes refused: options of the `_id` index, wildcards, hidden indexes of system collections."""
    for option in ({"sparse": True}, {"sparse": False}, {"unique": True}, {"unique": False}, {"expireAfterSeconds": 5}, {"hidden": True}, {"hidden": False}, {"partialFilterExpression": {"a": 1}}, {"background": True}, {"v": 2}, {"v": 5}, {"weights": {"a": 1}}, {"storageEngine": {}}, {"bits": 5}, {"min": 5}, {"wildcardProjection": {"a": 1}}, {"collation": {"locale": "de"}}, {"collation": {"locale": "simple"}}, {"ns": "x.y"}, {"zork": 1}, {"name": "x"}, {"key": {"_id": -1}}, {"key": {"a": 1}}, {"key": {"_id": 1, "a": 1}}, {"key": {"_id": "hashed"}}, {"default_language": "de"}, {"2dsphereIndexVersion": 3}, {"bucketSize": 1}, {"clustered": True}, {"prepareUnique": True}):
        yield from [{"create": "a", "idIndex": {"key": {"_id": 1}, "name": "_id_", **option}}, {"listIndexes": "a"}, {"drop": "a"}]
        yield from [create({"key": {"_id": 1}, "name": "_id_", **option}, collection="a"), {"listIndexes": "a"}, {"drop": "a"}]
    for collation, of_index in (({"locale": "de"}, None), ({"locale": "de"}, {"locale": "de"}), ({"locale": "de"}, {"locale": "de", "strength": 2}), ({"locale": "de"}, {"locale": "simple"}), ({"locale": "simple"}, {"locale": "de"}), (None, {"locale": "de"}), (None, {"locale": "zz"}), ({"locale": "de"}, {"locale": "zz"})):
        made = {"create": "a", "idIndex": {"key": {"_id": 1}, "name": "_id_", **({"collation": of_index} if of_index else {})}}
        yield from [{**made, **({"collation": collation} if collation else {})}, {"listIndexes": "a"}, {"drop": "a"}]
    yield from [{"create": "a", "idIndex": value} for value in (1, None, {}, {"key": {"_id": 1}}, {"name": "_id_"}, {"key": 1, "name": "_id_"}, {"key": {"_id": 1}, "name": 1})]
    yield {"drop": "a"}
    for path in ("a.$**.$**", "$**.$**", "a.$**.b", "$**.b", "a.$**", "$**", "a.$**.$**.$**", "a..$**", ".$**", "a.$**.", "$**.", "a.b.$**", "a$**", "a.$*", "$**a", "a.b$**", "$a.$**", "a.$b.$**"):
        yield from [create(index([(path, 1)])), {"dropIndexes": "a", "index": "*"}]
        yield from [create(index([(path, "text")])), {"dropIndexes": "a", "index": "*"}]
        yield from [create(index([(path, -1)], hidden=True)), {"dropIndexes": "a", "index": "*"}]
    for name in ("system.js", "system.users", "system.views", "system.profile", "system.version", "system.zork", "system.buckets.a"):
        for options in ({"hidden": True}, {"hidden": False}, {}):
            yield create(index([("a", 1)], **options), collection=name)
        yield from [{"collMod": name, "index": {"name": "n", "hidden": hidden}} for hidden in (True, False)]
        yield {"dropIndexes": name, "index": "*"}


@topic
def read_faults():
    """Reads that are refused."""
    yield insert("a", *({"_id": at, "a": at} for at in range(5)))
    yield from [create(index([("a", 1)], "a")), {"create": "v", "viewOn": "a", "pipeline": []}]
    for filter in ({"_id": 2}, {"_id": 2, "a": 2}, {"_id": {"$gt": 1}}, {"a": 2}, {}):
        for options in ({"min": {"_id": 1}}, {"max": {"_id": 3}}, {"min": {"_id": 1}, "hint": {"_id": 1}}, {"min": {"_id": 1}, "hint": "_id_"}, {"max": {"a": 3}, "hint": "a"}, {"max": {"a": 3}}, {"min": {}, "max": {}}, {"min": {"_id": 1}, "hint": {}}, {"min": {"_id": 1}, "hint": {"$natural": 1}}):
            yield from [find("a", filter, **options), {"explain": find("a", filter, **options), "$only": ["ok", "code", "errmsg", "queryPlanner.winningPlan.stage"]}, find("nope", filter, **options)]
            yield find("v", filter, **options)
    # A key of a filter that begins with `$`, in stages that something else comes before.
    for query in ({"a.$c": 4}, {"a.$c.d": 4}, {"$c": 4}, {"a.b.$c": {"$gt": 1}}, {"a": {"$elemMatch": {"$c": 1}}}, {"a": {"$elemMatch": {"b.$c": 1}}}, {"$or": [{"a.$c": 4}]}, {"a.$id": 4}, {"a.$ref": 4}, {"a.$db": 4}, {"a.$": 4}, {"a..b": 4}, {"a.": 4}, {".a": 4}, {"": 4}, {"a.$c": {"$exists": True}}, {"a.$c": None}, {"a.$c": {"$in": [1]}}, {"a": {"$eq": 1}, "b.$x": {"$not": {"$gt": 1}}}, {"$nor": [{"b.$x": 1}]}, {"a.$c": {"$expr": 1}}, {"$expr": {"$eq": ["$a.$c", 1]}}, {"a.$c": {"$elemMatch": {"b": 1}}}, {"a.$c": {"$size": 1}}, {"a.$c": {"$type": 1}}, {"a.$c": {"$all": [1]}}):
        for before in ([], [{"$limit": 3}], [{"$project": {"a": 1}}]):
            yield run(*before, {"$match": query})
        yield from [find("a", query), {"count": "a", "query": query}, run({"$facet": {"x": [{"$match": query}]}}), run({"$lookup": {"from": "a", "as": "x", "pipeline": [{"$match": query}]}}), run({"$lookup": {"from": "a", "as": "x", "pipeline": [{"$limit": 1}, {"$match": query}]}}), run({"$unionWith": {"coll": "a", "pipeline": [{"$limit": 1}, {"$match": query}]}}), run({"$graphLookup": {"from": "a", "startWith": "$a", "connectFromField": "a", "connectToField": "a", "as": "x", "restrictSearchWithMatch": query}})]
        yield from [{"create": "w", "viewOn": "a", "pipeline": [{"$limit": 1}, {"$match": query}]}, {"find": "w"}, {"drop": "w"}, {"create": "z", "validator": query}, {"drop": "z"}, find("a", projection={"a": {"$elemMatch": query}}), update("a", {"q": {}, "u": {"$pull": {"a": query}}}), update("a", {"q": query, "u": {"$set": {"z": 1}}})]
    # Filters of $elemMatch in projections.
    for query in ({"$jsonSchema": {}}, {"$jsonSchema": {"required": ["b"]}}, {"a": {"$elemMatch": {"$jsonSchema": {}}}}, {"$and": [{"$jsonSchema": {}}]}, {"$or": [{"$jsonSchema": {}}]}, {"$text": {"$search": "x"}}, {"$where": "1"}, {"$expr": True}, {"$comment": "x"}, {"$sampleRate": 1.0}, {"$alwaysTrue": 1}, {"a": {"$near": [0, 0]}}, {"a": {"$geoWithin": {"$center": [[0, 0], 1]}}}, {"a": {"$geoNear": [0, 0]}}, {"a": {"$nearSphere": [0, 0]}}, {"$nor": [{"$text": {"$search": "x"}}]}, {"$or": [{"$where": "1"}]}, {"$and": [{"$expr": 1}]}, {"$near": [0, 0]}, {"$geoWithin": {"$center": [[0, 0], 1]}}):
        yield from [find("a", projection={"a": {"$elemMatch": query}}), find("a", {"a": {"$elemMatch": query}}), find("v", projection={"a": {"$elemMatch": query}}), {FM: "a", "query": {"_id": 1}, "fields": {"a": {"$elemMatch": query}}, "update": {"$set": {"b": 1}}}, run({"$project": {"a": {"$elemMatch": query}}}), run({"$match": {"a": {"$elemMatch": query}}}), update("a", {"q": {"_id": 1}, "u": {"$pull": {"a": query}}}), update("a", {"q": {"_id": 1}, "u": {"$set": {"a.$[e].x": 1}}, "arrayFilters": [{"e": query}]})]
        yield from [update("a", {"q": {"_id": 1}, "u": {"$set": {"a.$[e].x": 1}}, "arrayFilters": [query]}), run({"$limit": 1}, {"$match": query})]
    # readOnce.
    for collection in ("a", "v", "nope"):
        for value in (True, False, None, 1):
            yield find(collection, readOnce=value)
    yield {"explain": find("v", readOnce=True), "$only": ["ok", "code", "errmsg"]}
    for options in ({"_use44SortKeys": True}, {"allowPartialResults": True}, {"tailable": True}, {"returnKey": True}, {"showRecordId": True}, {"allowDiskUse": True}, {"noCursorTimeout": True}, {"oplogReplay": True}, {"_requestReshardingResumeToken": True}, {"_requestResumeToken": True}, {"_resumeAfter": {"$recordId": Int64(1)}}, {"awaitData": True}, {"tailable": True, "awaitData": True}, {"min": {"a": 1}, "hint": "a"}, {"max": {"a": 1}, "hint": "a"}):
        yield find("v", **options)
    # Explains of another database, of an aggregation that explains itself, and of what is not there.
    commands = [find("a"), {"count": "a"}, {"distinct": "a", "key": "a"}, update("a", {"q": {}, "u": {"$set": {"z": 1}}}), {"delete": "a", "deletes": [{"q": {}, "limit": 1}]}, {FM: "a", "query": {}, "remove": True}, run()]
    for command in commands:
        yield from [{"explain": {**command, "$db": other}, "$only": ["ok", "code", "errmsg", "codeName"]} for other in ("zork", "", 1)]
    for concern in ({"w": 1}, {"w": 2}, {}, {"w": "majority"}, {"j": True}):
        yield from [{"aggregate": "a", "pipeline": [], "explain": True, "writeConcern": concern, "$only": ["ok", "code", "errmsg", "codeName"]}, {"explain": {"aggregate": "a", "pipeline": [], "cursor": {}, "writeConcern": concern}, "$only": ["ok", "code", "errmsg"]}, {"aggregate": "a", "pipeline": [{"$out": "x"}], "explain": True, "writeConcern": concern, "$only": ["ok", "code", "errmsg", "codeName"]}]
        yield from [{"explain": {**command, "writeConcern": concern}, "$only": ["ok", "code", "errmsg", "codeName"]} for command in commands[:6]]
        yield from [{"explain": command, "writeConcern": concern, "$only": ["ok", "code", "errmsg", "codeName"]} for command in commands[:6]]
    for name in ("nope", "v"):
        for command in ({FM: name, "query": {}, "remove": True}, {FM: name, "query": {}, "update": {"$set": {"a": 1}}}, {FM: name, "query": {}, "update": {"$set": {"a": 1}}, "upsert": True}, find(name), {"count": name}, update(name, {"q": {}, "u": {"$set": {"a": 1}}, "upsert": True}), {"delete": name, "deletes": [{"q": {}, "limit": 1}]}):
            yield from [{"explain": command, "verbosity": verbosity, "$only": ["ok", "code", "errmsg", "codeName"]} for verbosity in ("queryPlanner", "executionStats")]
            yield {**{"$on": "zork_none"}, "explain": command, "$only": ["ok", "code", "errmsg", "codeName"]}


@topic
def geo_polygon_holes():
    """Polygons with holes that touch their shells."""
    shell = [[0, 0], [10, 0], [10, 10], [0, 10], [0, 0]]
    holes = [
        [[0, 0], [10, 0], [5, 5], [0, 0]], [[0, 0], [5, 2], [2, 5], [0, 0]], [[0, 0], [10, 10], [2, 8], [0, 0]], [[1, 1], [9, 1], [9, 9], [1, 9], [1, 1]], [[0, 0], [10, 0], [10, 10], [0, 10], [0, 0]], [[0, 10], [10, 10], [5, 5], [0, 10]],
        [[10, 0], [10, 10], [5, 5], [10, 0]], [[0, 0], [10, 0], [10, 10], [0, 0]], [[10, 10], [5, 5], [4, 6], [10, 10]], [[0, 0], [5, 5], [10, 0], [0, 0]], [[2, 2], [20, 2], [5, 5], [2, 2]], [[0, 0], [2, 3], [10, 10], [3, 2], [0, 0]], [[0, 0], [2, 3], [10, 10], [0, 0]], [[0, 0], [4, 4], [10, 10], [6, 2], [0, 0]],
        [[0, 0], [0, 10], [5, 5], [0, 0]], [[5, 0], [6, 5], [4, 5], [5, 0]],
    ]
    yield create(index([("p", "2dsphere")]))
    for at, hole in enumerate(holes):
        polygon = {"type": "Polygon", "coordinates": [shell, hole]}
        yield insert("a", {"_id": at, "p": polygon})
        yield find("a", {"p": {"$geoIntersects": {"$geometry": polygon}}}, projection={"_id": 1}, sort={"_id": 1})
    yield from [insert("a", {"_id": 100 + at, "p": {"type": "Polygon", "coordinates": [shell, *pair]}}) for at, pair in enumerate(([holes[1], [[0, 0], [1, 4], [1, 3.9], [0, 0]]], [[[1, 1], [2, 1], [2, 2], [1, 1]], [[2, 2], [3, 3], [3, 4], [2, 2]]], [[[1, 1], [4, 1], [4, 4], [1, 4], [1, 1]], [[1, 1], [4, 4], [3, 2], [1, 1]]], [[[1, 1], [2, 1], [2, 2], [1, 1]], [[1, 1], [2, 1], [2, 2], [1, 1]]]))]
    yield insert("a", {"_id": 200, "p": {"type": "MultiPolygon", "coordinates": [[shell, holes[0]]]}})


@topic
def transaction_definitions():
    """create and createIndexes in a transaction: read concerns, system collections; readOnce."""
    yield {"create": "there"}
    yield insert("full", {"_id": 1})
    number = 0
    for level in (None, "local", "majority", "snapshot"):
        for command in ({"create": "new"}, {"create": "there"}, create(index([("a", 1)]), collection="new"), create(index([("a", 1)]), collection="there"), create(index([("a", 1)]), collection="full"), create(index([("a", 1)]), collection="system.js"), {"create": "system.js"}, {"create": "system.zork"}, {"create": "system.profile"}, {"create": "system.views"}, {"create": "vv", "viewOn": "a", "pipeline": []}, {"create": "new", "capped": True, "size": 4096}, create(index([("a", 1)]), collection="system.views"), create(index([("a", 1)]), collection="system.buckets.a"), create(index([("_id", 1)], "_id_"), collection="there"), find("full", readOnce=True), find("full", readOnce=False), insert("system.js", {"_id": 1}), insert("new", {"_id": 1}), find("there"), {"collMod": "there"}, {"listCollections": 1}, {"drop": "there"}, insert("system.views", {"_id": 1}), update("system.views", {"q": {}, "u": {"$set": {"a": 1}}}), find("system.views"), find("system.js")):
            number += 1
            begin = {"startTransaction": True, **({"readConcern": {"level": level}} if level else {})}
            yield {**command, **session(number), **begin}
            yield {"abortTransaction": 1, **session(number), "$on": "admin", "$only": ["writeConcernError"]}
            if level in (None, "snapshot", "local"):
                number += 1
                yield {"find": "there", **session(number), **begin}
                yield {**command, **session(number)}
                yield {"abortTransaction": 1, **session(number), "$on": "admin", "$only": ["writeConcernError"]}


@topic
def refusal_codes():
    """Codes and messages of refusals."""
    yield insert("a", {"_id": 1, "a": "x", "n": "a\0b"}, {"_id": 2, "a": [{"k": "x", "v": 1}]})
    yield from [create(index([("t", "text")], "t")), {"create": "v", "viewOn": "a", "pipeline": []}, {"create": "de", "collation": {"locale": "de"}}, {"create": "vde", "viewOn": "de", "pipeline": [], "collation": {"locale": "de"}}]
    stages = [{"$changeStream": {}}, {"$out": "x"}, {"$merge": "x"}, {"$facet": {"x": []}}, {"$match": {"$where": "1"}}, {"$match": {"a": {"$near": [0, 0]}}}]
    for stage in stages:
        for before in ([], [{"$limit": 1}]):
            for after in ([], [{"$limit": 1}]):
                inner = [*before, stage, *after]
                yield run({"$lookup": {"from": "a", "as": "x", "pipeline": inner}})
                yield run({"$lookup": {"from": "nope", "as": "x", "pipeline": inner}})
                yield run({"$facet": {"x": inner}})
                yield run({"$unionWith": {"coll": "a", "pipeline": inner}})
                yield run({"$lookup": {"from": "a", "as": "x", "localField": "a", "foreignField": "a", "pipeline": inner}})
                yield run({"$lookup": {"from": "a", "as": "x", "pipeline": [{"$lookup": {"from": "a", "as": "x", "pipeline": inner}}]}})
                yield run({"$lookup": {"from": "v", "as": "x", "pipeline": inner}})
                yield run({"$lookup": {"from": "a", "as": "x", "pipeline": [{"$unionWith": {"coll": "a", "pipeline": inner}}]}})
                yield run({"$lookup": {"from": "a", "as": "x", "pipeline": [{"$facet": {"f": inner}}]}})
                yield from [{"create": "w", "viewOn": "a", "pipeline": inner}, {"drop": "w"}, {"create": "w", "viewOn": "a", "pipeline": [{"$lookup": {"from": "a", "as": "x", "pipeline": inner}}]}, {"drop": "w"}]
    yield from [run({"$facet": {"x": [{"$match": {"$text": {"$search": "x"}}}, *after]}}) for after in ([], [{"$limit": 1}])]
    for pipeline in (1, None, "x", {}, {"$match": {}}, True, [1], [None], [[]]):
        for options in ({}, {"cursor": {}}, {"cursor": 1}, {"explain": True}, {"cursor": {"batchSize": -1}}, {"cursor": {}, "hint": 5}):
            yield {"aggregate": "a", "pipeline": pipeline, **options}
    yield from [{"aggregate": "a"}, {"aggregate": "a", "cursor": 1}, {"aggregate": "a", "cursor": {}}]
    x = re.compile("x", re.I)
    plain = re.compile("x")
    for expression in (SON([("$options", ""), ("$regex", x)]), SON([("$regex", x), ("$options", "")]), SON([("$options", "i"), ("$regex", x)]), SON([("$regex", x), ("$options", "i")]), SON([("$regex", x), ("$options", "m")]), SON([("$options", "m"), ("$regex", x)]), SON([("$options", "i"), ("$regex", plain)]), SON([("$regex", plain), ("$options", "i")]), SON([("$options", "i")]), SON([("$options", "i"), ("$regex", 1)]), SON([("$regex", 1), ("$options", "i")]), SON([("$options", "z"), ("$regex", x)]), SON([("$regex", x), ("$options", "z")])):
        yield from [find("a", {"a": expression}), find("a", {"a": {"$not": expression}}), find("a", {"a": {"$elemMatch": expression}})]
    for value in ([["a\0b", 1]], [{"k": "a\0b", "v": 1}], [["a\0", 1]], [["\0", 1]], [["a", "b\0"]], [["$a", 1]], [["", 1]], [["a.b", 1]], [[1, 1]], [{"k": 1, "v": 1}], [["a"]], [{"k": "a"}], [{"k": "a", "v": 1, "z": 1}], [["a", 1], {"k": "b", "v": 1}], [{"k": "a", "v": 1}, ["b", 1]], [1], [["a", 1], 1], [{"z": "a", "v": 1}], [{"k": "b", "v": 1}, ["a\0b", 1]]):
        for form in ({"$literal": value}, value, [value]):
            yield run({"$match": {"_id": 1}}, {"$project": {"x": {"$arrayToObject": form}}})
            yield run({"$match": {"_id": 3}}, {"$project": {"x": {"$arrayToObject": form}}})
    yield from [run({"$match": {"_id": 1}}, {"$project": {"x": {"$arrayToObject": [[["$n", 1]]]}}}), run({"$match": {"_id": 1}}, {"$project": {"x": {"$arrayToObject": [[{"k": "$n", "v": 1}]]}}}), run({"$group": {"_id": None, "x": {"$first": "$n"}}}, {"$replaceWith": {"$arrayToObject": [[["$x", 1]]]}})]
    for spec in ({"x.$": {"$slice": 1}}, {"x.$": {"$elemMatch": {}}}, {"x.$": {"a": 1}}, {"x.$": {}}, {"x.$": 1}, {"x.$": 0}, {"x.$": "a"}, {"x.$": "$a"}, {"x.$": {"$add": [1]}}, {"x.$": {"$literal": 1}}, {"x.$": {"$zork": 1}}, {"x.$.y": {"$slice": 1}}, {"x.$.y": 1}, {"x.$.y": {"$add": [1]}}, {"$": {"$slice": 1}}, {"$": 1}, {"x": {"$slice": 1}, "y.$": 1}, {"x": {"y.$": {"$slice": 1}}}, {"x": {"y.$": 1}}, {"x": {"$": {"$slice": 1}}}, {"x.$a": {"$slice": 1}}, {"x.$.": {"$slice": 1}}, {"x.$": None}, {"x.$": []}, {"x.$": True}, {"x.$": False}, {"x.$": {"$elemMatch": {"a": 1}}, "a": 1}, {"x.$": {"$slice": "z"}}, {"x..$": {"$slice": 1}}, {"x.$": {"$slice": 1, "y": 1}}):
        yield from [find("a", {"x": 1}, projection=spec), run({"$project": spec}), {FM: "a", "query": {"x": 1}, "fields": spec, "remove": True}]
    for query in ({"$where": "1"}, {"$and": [{"$where": "1"}]}, {"$or": [{"a": 1}, {"$where": "1"}]}, {"$where": 1}, {"a": {"$elemMatch": {"$where": "1"}}}, {"$nor": [{"$where": "1"}]}, {"$where": {}}):
        yield from [run({"$match": query}), run({"$limit": 1}, {"$match": query}), run({"$lookup": {"from": "a", "as": "x", "pipeline": [{"$match": query}]}}), run({"$facet": {"x": [{"$match": query}]}}), run({"$unionWith": {"coll": "a", "pipeline": [{"$match": query}]}}), run({"$graphLookup": {"from": "a", "startWith": "$a", "connectFromField": "a", "connectToField": "a", "as": "x", "restrictSearchWithMatch": query}}), {"create": "w", "validator": query}, {"create": "w", "viewOn": "a", "pipeline": [{"$match": query}]}, create(index([("zz", 1)], "zz", partialFilterExpression=query)), {"drop": "w"}]
        yield from [update("a", {"q": {"_id": 1}, "u": {"$pull": {"a": query}}}), update("a", {"q": {"_id": 1}, "u": {"$set": {"a.$[e]": 1}}, "arrayFilters": [query]}), {"explain": run({"$match": query}), "$only": ["code", "errmsg", "ok"]}]
    de, fr = {"locale": "de"}, {"locale": "fr"}
    yield from [{"create": "v1", "viewOn": "vde", "pipeline": []}, {"create": "v2", "viewOn": "vde", "pipeline": [], "collation": fr}, {"create": "v3", "viewOn": "vde", "pipeline": [], "collation": de}, {"create": "v4", "viewOn": "v", "pipeline": [], "collation": fr}, {"create": "v5", "viewOn": "a", "pipeline": [{"$lookup": {"from": "vde", "as": "x", "pipeline": []}}]}, {"create": "v6", "viewOn": "a", "pipeline": [{"$unionWith": "vde"}]}, {"create": "v7", "viewOn": "a", "pipeline": [{"$graphLookup": {"from": "vde", "startWith": "$a", "connectFromField": "a", "connectToField": "a", "as": "x"}}]}]
    yield from [{"collMod": "v", "viewOn": "vde", "pipeline": []}, {"collMod": "vde", "viewOn": "v", "pipeline": []}, {"collMod": "vde", "viewOn": "de", "pipeline": [], "collation": fr}, {"collMod": "v", "viewOn": "a", "pipeline": [{"$unionWith": "vde"}]}]
    for collection in ("v", "vde"):
        for collation in (de, fr, {"locale": "simple"}, {}, {"locale": "zz"}):
            yield from [find(collection, collation=collation), {"count": collection, "collation": collation}, {**run(collection=collection), "collation": collation}]
            yield {"aggregate": "a", "pipeline": [{"$lookup": {"from": collection, "as": "x", "pipeline": []}}], "cursor": {}, "collation": collation}
            yield {"aggregate": "a", "pipeline": [{"$unionWith": collection}], "cursor": {}, "collation": collation}
            yield {"aggregate": "a", "pipeline": [{"$graphLookup": {"from": collection, "startWith": "$a", "connectFromField": "a", "connectToField": "a", "as": "x"}}], "cursor": {}, "collation": collation}
            yield {"aggregate": "a", "pipeline": [{"$facet": {"f": [{"$lookup": {"from": collection, "as": "x", "pipeline": []}}]}}], "cursor": {}, "collation": collation}
            yield {"explain": find(collection, collation=collation), "$only": ["code", "errmsg", "ok"]}


@topic
def statistics_of_views():
    """Views that begin with $collStats, and what is asked of them."""
    yield from [insert("a", {"_id": 1}), {"create": "v", "viewOn": "a", "pipeline": [{"$collStats": {"count": {}}}, {"$project": {"count": 1}}]}, {"create": "w", "viewOn": "v", "pipeline": []}, {"create": "i", "viewOn": "a", "pipeline": [{"$indexStats": {}}, {"$project": {"name": 1}}]}, {"create": "p", "viewOn": "a", "pipeline": []}, {"create": "c", "viewOn": "p", "pipeline": [{"$collStats": {"count": {}}}, {"$project": {"count": 1}}]}, {"create": "l", "viewOn": "v", "pipeline": [{"$collStats": {"count": {}}}, {"$project": {"count": 1}}]}]
    for view in "vwipcl":
        yield run({"$project": {"count": 1, "name": 1}}, collection=view)
        yield run({"$collStats": {}}, {"$project": {"ns": 1, "_id": 0}}, collection=view)
        yield run({"$collStats": {"count": {}}}, {"$project": {"count": 1, "_id": 0}}, collection=view)
        yield run({"$collStats": {"storageStats": {}}}, {"$project": {"ns": 1, "_id": 0}}, collection=view)
        yield run({"$indexStats": {}}, {"$project": {"name": 1, "_id": 0}}, collection=view)
        yield run({"$planCacheStats": {}}, {"$project": {"ns": 1, "_id": 0}}, collection=view)
        yield run({"$limit": 1}, {"$collStats": {}}, collection=view)
        yield from [run({"$lookup": {"from": view, "as": "x", "pipeline": []}}, {"$project": {"x.count": 1, "x.name": 1}}), run({"$unionWith": view}, {"$project": {"count": 1, "name": 1}}), run({"$lookup": {"from": view, "as": "x", "pipeline": [{"$collStats": {"count": {}}}]}}, {"$project": {"x.count": 1}}), run({"$unionWith": {"coll": view, "pipeline": [{"$collStats": {"count": {}}}]}}, {"$project": {"count": 1}})]


@topic
def scaled_statistics():
    """`scale` of what collStats says of a capped collection."""
    yield from [{"create": "c", "capped": True, "size": 1048576, "max": 1000}, insert("c", {"_id": 1, "a": "x" * 5000})]
    for scale in (1, 1000, 1024, 1.5, 3, Int64(1024), 2000000):
        yield {"collStats": "c", "scale": scale, "$only": ["ns", "size", "count", "avgObjSize", "capped", "max", "maxSize", "scaleFactor", "ok"]}
        yield {**run({"$collStats": {"storageStats": {"scale": scale}}}, {"$project": {"_id": 0, "storageStats.size": 1, "storageStats.maxSize": 1, "storageStats.max": 1, "storageStats.avgObjSize": 1, "storageStats.scaleFactor": 1}}, collection="c")}


@topic
def server_databases():
    """The databases that are there from the start."""
    for filter in ({"name": {"$in": ["admin", "config", "local"]}}, {"name": "admin"}, {"name": "local", "sizeOnDisk": {"$gt": 0}}):
        yield {"$on": "admin", "listDatabases": 1, "nameOnly": True, "filter": filter}


if __name__ == "__main__":
    main(*sys.argv[1:], topics=TOPICS)
