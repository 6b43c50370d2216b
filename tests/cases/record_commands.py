"""Records what a real mongod answers to commands, for the engine's unit tests.

    python3 record_commands.py mongodb://127.0.0.1:27717/?directConnection=true [TOPIC…]

Each file is one conversation with a fresh database: commands and their replies, in order. What differs from run to run
(times, UUIDs, cursor ids) is left out or made equal by the test.
"""

import functools
import re
import sys
import uuid
from pathlib import Path

import pymongo
from bson import Binary, Decimal128, Int64, json_util
from bson.son import SON

from thin import thin

FM = "findAndModify"
BY_ID = {"$sort": {"_id": 1}}
# Stands for the id of the last open cursor.
LAST = "the last cursor"
TOPICS = {}


def topic(function):
    TOPICS[function.__name__] = function
    return function


def key(*parts):
    return SON(parts)


def index(parts, name="n", **options):
    return {"key": SON(parts), "name": name, **options}


def create(*indexes, collection="a", **options):
    return {"createIndexes": collection, "indexes": list(indexes), **options}


def insert(collection, *documents, **options):
    return {"insert": collection, "documents": list(documents), **options}


def update(collection, *statements, **options):
    return {"update": collection, "updates": list(statements), **options}


def set_(query, **fields):
    return {"q": query, "u": {"$set": fields}}


def find(collection, filter=None, **options):
    return {"find": collection, "filter": filter or {}, **options}


def run(*stages, collection="a"):
    return {"aggregate": collection, "pipeline": list(stages), "cursor": {}}


@topic
def command_fields():
    yield from [{"ping": 1}, {"nope": 1}, {"ping": 1, "zork": 1}, {"find": "c", "zork": 1}, {"find": 1}, {"find": ""}]
    yield from [{"find": "a$b"}, insert("a"), {"insert": "a"}, {"find": "a", "limit": -1}, {"find": "a", "skip": -1}]
    yield from [{"find": "a", "batchSize": -1}, {"find": "a", "limit": "x"}, {"find": "a", "filter": 5}]
    yield from [{"find": "a", "singleBatch": "x"}, {"find": "a", "let": "x"}, {"find": "a", "hint": 5}]
    yield from [{"find": "a", "readConcern": "x"}, {"find": "a", "maxTimeMS": "x"}, {"find": "a", "writeConcern": {}}]
    yield from [{"count": "a", "limit": "x"}, {"count": "a", "skip": "x"}, {"count": "a", "zork": 1}]
    yield from [{"distinct": "a", "key": {}}, {"distinct": "a"}, {"create": "a", "capped": "x"}]
    yield from [{"create": "a", "validationLevel": "x"}, {"create": "a", "validationAction": "x"}]
    yield from [{"listCollections": 1, "nameOnly": "x"}, {"dropIndexes": "a"}, {"getMore": 5}, {"getMore": 5, "collection": "a"}]
    yield from [{"getMore": Int64(5), "collection": "a"}, {"killCursors": "a", "cursors": [5]}]
    yield from [{"killCursors": "a", "cursors": [Int64(5)]}, {"killCursors": "a", "cursors": []}]
    yield from [{"aggregate": "a", "pipeline": []}, {"aggregate": 1, "pipeline": [], "cursor": {}}]
    yield from [{"aggregate": 2, "pipeline": [], "cursor": {}}, {"aggregate": "a", "pipeline": [], "cursor": {"zork": 1}}]
    yield from [{"aggregate": "a", "pipeline": [], "cursor": {"batchSize": -1}}, {"aggregate": "a", "pipeline": 5, "cursor": {}}]
    yield from [{"explain": {"nope": 1}}, {"explain": {"ping": 1}}, {"explain": 5}, {"explain": {"find": "a"}, "verbosity": "x"}]
    yield from [{"update": "a", "updates": [{"q": {}}]}, {"update": "a", "updates": [{"u": {}}]}]
    for name in "q u c upsert multi collation arrayFilters zork".split():
        yield update("a", {"q": {}, "u": {"$set": {"a": 1}}, name: "x"})
    for name in "q collation zork".split():
        yield {"delete": "a", "deletes": [{"q": {}, "limit": 1, name: "x"}]}
    yield from [{"delete": "a", "deletes": [{"q": {}}]}, {"delete": "a", "deletes": [{"q": {}, "limit": 2}]}]


@topic
def inserts():
    yield insert("a", {"_id": [1]}, {"_id": 1}, {"_id": 1})
    yield insert("a", {"_id": 1}, {"_id": 2}, {"_id": 1}, {"_id": 3}, ordered=False)
    yield insert("a", {"_id": 4}, {"_id": 4}, {"_id": 5})
    yield from [insert("a", {"_id": {"$x": 1}}), insert("a", {"_id": re.compile("a")}), insert("a", {"x": 1, "_id": 9})]
    yield from [insert("a", {"_id": 10, "x": {"$y": 1}, "a.b": 1, "$z": 1}), insert("system.x", {"x": 1}), insert(".x", {"x": 1})]
    yield from [insert("x" * 260, {"x": 1}), {"find": "a"}, {"find": "a", "filter": {"_id": 5}}]
    yield from [insert("a", {"_id": 1.0}), insert("a", {"_id": Int64(1)}), insert("a", {"_id": None}), insert("a", {"_id": None})]


@topic
def plans():
    """What indexes answer: keys alone, wildcards, alternatives, hints, min and max."""
    yield insert("a", *({"_id": i, "b": i % 3, "a": i % 5, "s": f"x{i}"} for i in range(12)))
    yield insert("a", {"a": 2, "_id": 12}, {"c": {"d": [1, {"e": 2}]}, "_id": 13}, {"_id": 14, "a": None, "b": 7})
    yield create(index([("a", 1), ("b", -1)], "ab"), index([("$**", 1)], "w"), index([("s", 1)], "s", sparse=True))
    yield create(index([("b", "hashed")], "h"), index([("c.d.e", 1)], "cde"))
    # Of keys alone, fields come in the order of the index, and what is missing is null.
    for projection in ({"_id": 0, "b": 1, "a": 1}, {"_id": 0, "b": 1}, {"b": 1, "a": 1}):
        yield find("a", {"a": 2}, projection=projection, hint="ab")
        yield find("a", {"a": {"$in": [2, 4]}}, projection=projection, sort=key(("a", -1), ("b", 1)), hint="ab")
    yield find("a", {"c.d.e": {"$gt": 0}}, projection={"_id": 0, "c.d.e": 1})
    yield find("a", {"c.d.e": 2}, hint="w")
    yield find("a", {"c.d": {"$exists": True}}, hint="w")
    yield find("a", {"s": {"$regex": "^x1"}}, hint="w")
    yield find("a", {"a": 3, "s": "x3"}, hint="w")
    yield find("a", {"$or": [{"a": 3, "b": 0}, {"s": "x4"}, {"a": 3}]})
    yield find("a", {"$or": [{"a": 3}, {"a": 1, "b": 2}]}, sort={"b": -1}, projection={"a": 1, "b": 1})
    for filter in ({}, {"a": None}):
        yield find("a", filter, hint="w")
    yield find("a", hint="nope")
    for bounds in (
        {"min": {"a": 2}},
        {"min": {"s": "x3"}, "max": {"s": "x7"}, "hint": "s"},
        {"min": {"s": "x3"}, "hint": {"s": 1}, "sort": {"s": -1}, "limit": 2},
        {"max": {"s": "x3"}, "hint": "s", "filter": {"b": 1}},
        {"min": key(("a", 2), ("b", 1)), "max": key(("a", 4), ("b", 1)), "hint": "ab"},
        {"min": {"a": 2}, "hint": "ab"},
        {"min": {"s": "x3"}, "max": {"a": 1}, "hint": "s"},
        {"min": {"s": "x3"}, "max": {"s": "x3"}, "hint": "s"},
        {"min": {"s": "x3"}, "hint": {"$natural": 1}},
        {"min": {"a": 2}, "hint": "w"},
    ):
        yield find("a", bounds.pop("filter", {}), **bounds)
    for query in ({"a": 2}, {"a": {"$gt": 1}}, {"a": {"$in": [1, 3]}}, {"b": 1}, {"a": None}, {"c.d.e": 2}):
        yield {"count": "a", "query": query}
        yield {"count": "a", "query": query, "skip": 1, "limit": 2}
        yield {"distinct": "a", "key": "b", "query": query}
    # Unique indexes name the keys.
    yield create(index([("c.d.e", 1), ("s", -1)], "u", unique=True))
    yield insert("a", {"_id": 20, "c": {"d": [{"e": 2}, {"e": 5}]}})


@topic
def finds():
    yield insert("a", *({"_id": i, "a": i % 5, "b": i % 3, "s": f"x{i}"} for i in range(20)))
    yield {"find": "a", "batchSize": 1, "singleBatch": True}
    yield from [{"find": "a", "limit": 2, "batchSize": 2}, {"find": "a", "batchSize": 0}, {"find": "a", "batchSize": 20}]
    yield from [{"find": "a", "sort": {"_id": -1}, "limit": 3}, {"find": "a", "sort": key(("a", 1), ("b", -1), ("_id", 1)), "skip": 2, "limit": 5}]
    yield from [{"find": "a", "sort": {"a": 2}}, {"find": "a", "sort": {"a": "x"}}, {"find": "a", "sort": {"a.": 1}}]
    yield from [{"find": "a", "sort": {"": 1}}, {"find": "a", "sort": {"$a": 1}}, {"find": "a", "sort": {"$natural": -1}, "limit": 2}]
    yield from [{"find": "a", "hint": "zz"}, {"find": "a", "hint": {"zz": 1}}, {"find": "nope", "hint": "zz"}, {"find": "nope"}]
    yield from [{"find": "a", "filter": {"_id": 3}, "hint": "_id_"}, {"find": "a", "filter": {"a": 1, "b": 1}, "hint": "no", "sort": {"a": 1}}]
    yield from [{"find": "a", "filter": {"a": 1}, "projection": {"s": 1}}, {"find": "a", "filter": {"_id": 1}, "projection": {"s": 0}}]
    yield from [{"find": "a", "filter": {"$expr": {"$eq": ["$a", "$$v"]}}, "let": {"v": 2}}, {"find": "a", "filter": {"s": "X1"}, "collation": {"locale": "en", "strength": 2}}]
    yield from [{"find": "a", "collation": {"locale": "xx"}}, {"count": "a"}, {"count": "a", "query": {"a": 1}}, {"count": "a", "limit": -2, "skip": 1}]
    yield from [{"count": "a", "skip": -2}, {"count": "nope"}, {"distinct": "a", "key": "a", "query": {"a": {"$gt": 2}}}]
    yield from [{"distinct": "nope", "key": "x"}, {"distinct": "a", "key": ""}, {"find": "a", "filter": {"a": {"$in": [4, 1]}, "b": {"$lt": 1}}}]
    yield from [insert("s", {"_id": 1, "a": [3, 1]}, {"_id": 2, "a": 2}, {"_id": 3}, {"_id": 4, "a": []}, {"_id": 5, "a": None}, {"_id": 6, "a": "x"}, {"_id": 7, "a": {"b": 1}}, {"_id": 8, "a": [[1]]})]
    yield from [{"find": "s", "sort": {"a": 1}}, {"find": "s", "sort": {"a": -1}}, {"distinct": "s", "key": "a"}]
    yield from [insert("p", {"_id": 1, "a": [1, 2], "b": [1, 2]}), {"find": "p", "sort": {"a": 1, "b": 1}}]


@topic
def updates():
    yield insert("a", *({"_id": i, "a": i} for i in range(5)))
    yield from [update("a", {"q": {"_id": 1}, "u": {"$inc": {"a": 1}}}), update("a", {"q": {"_id": 1}, "u": {"$set": {"a": 2}}})]
    yield from [update("a", {"q": {}, "u": {"$set": {"z": 1}}, "multi": True}), update("a", {"q": {"_id": 77}, "u": {"$set": {"z": 1}}})]
    yield update("a", {"q": {"_id": 50, "k": "x"}, "u": {"$set": {"z": 1}}, "upsert": True}, {"q": {"_id": 51}, "u": {"n": 1}, "upsert": True})
    yield from [update("a", {"q": {}, "u": {"x": 1}, "multi": True}), update("nope", {"q": {"$zork": 1}, "u": {"x": 1}})]
    yield from [update("a", {"q": {"_id": 1}, "u": {"$set": {"_id": 5}}}), update("a", {"q": {"_id": 1}, "u": {"_id": 5}})]
    yield update("a", {"q": {"_id": 1}, "u": {"$inc": {"a": "x"}}}, set_({"_id": 2}, w=1))
    yield update("a", {"q": {"_id": 1}, "u": {"$inc": {"a": "x"}}}, set_({"_id": 2}, w=1), ordered=False)
    yield from [update("a", {"q": {"_id": 1}, "u": {"$set": {"a": 1}}, "hint": "zz"}), update("up", {"q": {"_id": 1}, "u": {"$set": {"a": 1}}, "upsert": True})]
    yield from [{"find": "a"}, {"find": "up"}, {"delete": "a", "deletes": [{"q": {"a": {"$gt": 2}}, "limit": 1}]}]
    yield from [{"delete": "a", "deletes": [{"q": {"$zork": 1}, "limit": 0}, {"q": {"_id": 0}, "limit": 0}], "ordered": False}]
    yield from [{"delete": "a", "deletes": [{"q": {}, "limit": 0}]}, {"delete": "nope", "deletes": [{"q": {}, "limit": 0}]}, {"find": "a"}]
    yield insert("b", {"_id": 1, "g": [{"x": 1}, {"x": 2}]})
    yield from [update("b", {"q": {"g.x": 2}, "u": {"$set": {"g.$.y": 5}}}), update("b", {"q": {}, "u": {"$set": {"g.$[e].z": 6}}, "arrayFilters": [{"e.x": 1}]})]
    yield from [{"find": "b"}, {"find": "b", "filter": {"g.x": 2}, "projection": {"g.$": 1}}]


@topic
def find_and_modify():
    yield insert("a", *({"_id": i, "a": i} for i in range(5)))
    yield from [{FM: "a", "remove": True, "update": {}}, {FM: "a", "remove": True, "upsert": True}, {FM: "a", "remove": True, "new": True}]
    yield from [{FM: "a", "remove": True, "arrayFilters": []}, {FM: "a"}, {FM: "a", "update": "x"}, {FM: "a", "query": {"_id": 1}, "update": {"$set": {"b": 1}}, "new": True, "fields": {"b": 1}}]
    yield from [{FM: "a", "query": {"_id": 99}, "update": {"$set": {"b": 1}}, "upsert": True}, {FM: "a", "query": {"_id": 98}, "update": {"$set": {"b": 1}}, "upsert": True, "new": True}]
    yield from [{FM: "a", "query": {"_id": 97}, "update": {"$set": {"b": 1}}}, {FM: "a", "query": {"_id": 97}, "remove": True}]
    yield from [{FM: "a", "query": {"_id": 98}, "remove": True}, {FM: "a", "query": {}, "sort": {"_id": -1}, "update": {"$inc": {"a": "x"}}}]
    yield from [{FM: "nope", "query": {}, "remove": True}, {FM: "nope", "query": {}, "update": {"x": 1}}, {FM: "a", "query": {"_id": 1}, "update": {"_id": 5}}]
    yield from [{FM: "a", "sort": {"a": -1}, "update": {"$inc": {"a": 10}}}, {FM: "up", "query": {"k": 1}, "update": {"_id": 4}, "upsert": True, "new": True}]
    yield from [{FM: "a", "query": {"_id": 0}, "update": [{"$set": {"t": {"$add": ["$_id", 1]}}}], "new": True}, {"find": "a"}]


@topic
def collections():
    yield from [{"create": "a"}, {"create": "a"}, {"create": "cap", "capped": True}, {"create": "cap", "size": 100}, {"create": "cap", "max": 100}]
    yield from [{"create": "cap", "capped": True, "size": -1}, {"create": "cap", "capped": True, "size": 5000, "max": 3}]
    yield from [{"create": "v", "validationLevel": "moderate", "validationAction": "warn", "validator": {"a": {"$gt": 1}}}]
    yield from [{"create": "c", "collation": {"locale": "en", "strength": 2}}, {"create": "c2", "collation": {"locale": "simple"}}, {"create": "c3", "collation": {}}]
    yield from [{"create": "system.foo"}, {"create": "a$b"}, {"create": ".a"}, {"create": "a..b"}, {"create": "a."}, {"create": 5}, {"create": ""}]
    yield from [{"create": "i", "idIndex": {"key": {"_id": 1}, "name": "_id_"}}, {"create": "e", "validator": {}}]
    for name in ["a", "cap", "v", "c", "c2", "e", "nope"]:
        yield {"listCollections": 1, "filter": {"name": name}}
    yield from [{"listCollections": 1, "filter": {"name": "cap"}, "cursor": {"batchSize": 0}}, {"listCollections": 1, "filter": {"options.capped": True}, "nameOnly": True}]
    for i in range(5):
        yield insert("cap", {"_id": i})
    yield from [{"find": "cap"}, update("cap", set_({"_id": 4}, aaa="b")), {"delete": "cap", "deletes": [{"q": {"_id": 3}, "limit": 1}]}]
    yield from [{"collMod": "cap", "cappedMax": 10}, {"collMod": "cap", "cappedSize": 10000}, {"collMod": "a", "cappedSize": 10000}, {"collMod": "nope", "validationAction": "warn"}]
    yield from [{"drop": "nope"}, create(index([("x", 1)])), {"drop": "a"}, {"drop": "system.foo"}, {"dropDatabase": 2}]
    yield from [{"listDatabases": 1}, {"renameCollection": "x.v", "to": "x.w"}, {"listIndexes": "nope"}, {"listIndexes": "c"}]
    yield from [insert("c", {"_id": "a"}), {"find": "c", "filter": {"_id": "A"}}, {"find": "c", "filter": {"_id": "A"}, "collation": {"locale": "simple"}}]
    yield from [insert("n", {"_id": 1}), {"count": "n"}, {"dropDatabase": 1}, {"count": "n"}, {"listCollections": 1}]


@topic
def validation():
    yield from [{"create": "v", "validator": {"a": {"$gt": 1}}}, insert("v", {"_id": 1, "a": 0}), insert("v", {"_id": 1, "a": 0}, {"_id": 2, "a": 5}, {"_id": 3}, ordered=False)]
    yield from [insert("v", {"_id": 1, "a": 0}, bypassDocumentValidation=True), update("v", set_({"_id": 1}, b=1)), {FM: "v", "query": {"_id": 1}, "update": {"$set": {"b": 1}}}]
    yield from [{"collMod": "v", "validationLevel": "moderate"}, update("v", set_({"_id": 1}, b=1)), update("v", set_({"_id": 2}, a=0)), update("v", set_({"_id": 2}, a=0), bypassDocumentValidation=True)]
    yield from [{"collMod": "v", "validationAction": "warn"}, insert("v", {"_id": 4, "a": 0}), {"collMod": "v", "validator": {}}, {"collMod": "v", "validationLevel": "off"}, {"collMod": "v"}]
    yield from [{"listCollections": 1, "filter": {"name": "v"}}, {"collMod": "v", "validator": {"$zork": 1}}]
    yield from [{"create": "w", "validator": {"$where": "1"}}, {"create": "w", "validator": {"$text": {"$search": "a"}}}, {"create": "w", "validator": {"a": {"$near": [1, 1]}}}, {"create": "w", "validator": {"$zork": 1}}]
    yield from [{"create": "system.js", "validator": {"a": 1}}]
    yield from [{"create": "j", "validator": {"$jsonSchema": {"required": ["a"], "properties": {"a": {"bsonType": "int", "minimum": 1}}}}}, insert("j", {"_id": 1, "a": 0}), insert("j", {"_id": 1}), insert("j", {"_id": 1, "a": "x"}), insert("j", {"_id": 1, "a": 2})]


@topic
def index_specs():
    yield from [create(index([("a", 1)], "a_1"))] * 2 + [create(index([("a", 1)], "other")), create(index([("b", 1)], "a_1"))]
    yield from [create(index([("a", 1)], "a_1", unique=True)), create(index([("a", 1)], "a_1s", sparse=True)), create(index([("a", 1)], "a_1p", partialFilterExpression={"x": 1}))]
    yield from [create(index([("a", 1)], "a_1p2", partialFilterExpression={"x": 2})), create(index([("a", 1)], "a_1c", collation={"locale": "en"})), create(index([("a", 1)], "a_1c2", collation={"locale": "en"}))]
    yield from [create(index([("a", 1)], "a_1", hidden=True)), create({"key": {"a": 1}}), create({"name": "x"}), create(index([], "e"))]
    for value in [0, "x", True, None, [], {}, 1.5, -2]:
        yield create(index([("k", value)], f"k{value}"))
    for name in ["", "a.", ".a", "a..b", "$a", "a.$b", "a.$id"]:
        yield create(index([(name, 1)]))
    yield from [create(index([("q", 1)], "")), create(index([("q", 1)], "*")), create(index([("_id", 1)], "foo")), create(index([("_id", 1)], "_id_", unique=True))]
    yield from [create(index([("_id", 1)], "_id_", sparse=True)), create(index([("_id", -1)])), create(index([("_id", 1)], "_id_")), create(index([("_id", "hashed")], "idh")), create(index([("z", 1)], "_id_"))]
    yield from [create(index([("t", 1)], "t", expireAfterSeconds=-1)), create(index([("t", 1), ("u", 1)], "tu", expireAfterSeconds=1)), create(index([("t", 1)], "t", expireAfterSeconds="x"))]
    yield from [create(index([("_id", 1)], "tid", expireAfterSeconds=1)), create(index([("t", 1)], "t", expireAfterSeconds=2**31)), create(index([("t", 1)], "t", expireAfterSeconds=10)), create(index([("t", 1)], "t", expireAfterSeconds=11))]
    yield from [create(index([("h", "hashed")], "h")), create(index([("h", "hashed"), ("i", 1)], "hc"))]
    yield from [create(index([("$**", 1)], "w")), create(index([("$**", -1)], "wm", wildcardProjection={"a": 1})), create(index([("x.$**", 1)], "wx")), create(index([("x.$**", 1)], "wxp", wildcardProjection={"a": 1}))]
    yield from [create(index([("$**", 1), ("b", 1)], "wc")), create(index([("$**", 1)], "wu", unique=True)), create(index([("$**", 1)], "ws", sparse=True)), create(index([("$**", "hashed")], "wh")), create(index([("$**", 1)], "wt", expireAfterSeconds=1))]
    yield from [create(index([("p", 1)], "pp", wildcardProjection={"a": 1})), create(index([("tx", "text"), ("ty", "text")], "txt", weights={"tx": 10})), create(index([("pre", 1), ("tx", "text")], "txt3"))]
    yield from [create(index([("loc", "2dsphere")], "geo")), create(index([("l2", "2d")], "geo2")), create(index([("loc", "geoHaystack")], "geo3"))]
    yield from [create(index([("s", 1)], "bads", sparse=True, partialFilterExpression={"a": 1}))]
    for at, filter in enumerate([{"a": {"$ne": 1}}, {"a": {"$exists": True}, "b": {"$gt": 1}, "$and": [{"c": 1}]}, {"$or": [{"c": 1}]}, {"c": {"$in": [1]}}, {"c": {"$regex": "a"}}, {"c": {"$exists": False}}, {"c": {"$type": "string"}}, 5, {}]):
        yield create(index([(f"s{at}", 1)], f"pf{at}", partialFilterExpression=filter))
    yield from [create(index([("o", 1)], "opt", zork=1)), create(index([("o", 1)], "opt", unique="x")), create(index([("o", 1)], "opt", unique=1)), create(index([("o2", 1)], "opt2", v=3)), create(index([("o3", 1)], "opt3", sparse=False, unique=False))]
    yield from [create(index([("o4", 1)], "opt4", collation={"locale": "simple"})), create(index([("o8", 1)], "opt8", hidden=False)), create(), create(index([("m4", 1)], "m4"), commitQuorum=1), create(index([("m5", 1)], "m5"), commitQuorum="x")]
    yield from [create(SON([("name", "n2"), ("expireAfterSeconds", 5.0), ("v", 2), ("key", {"b": 1}), ("collation", {"locale": "fr"}), ("partialFilterExpression", {"x": 1}), ("hidden", True)]))]
    yield from [create(index([("c", "text")], "tt", weights="c"), collection="b"), create(index([("c", "text")], "tt", default_language="klingon"), collection="b"), create(index([("c", "text"), ("a", 1), ("b", "text")], "tt"), collection="b")]
    yield from [create(index([("c", "text")], "tt", collation={"locale": "fr"}), collection="b"), create(index([("$**", "text")], "tt", weights={"b": 3, "a": 2}, language_override="lang"), collection="b")]
    yield from [create(index([("l", "2dsphere"), ("x", 1)], "g", **{"2dsphereIndexVersion": 2}), collection="b"), create(index([("x", 1)], "x", collation={"locale": "zz"})), create(index([("x", 1)], "x", collation=5)), create(index([("x", 1)], "x", v="x"))]
    yield from [create(index([("x", 1)], 5)), create(index([("x", 1)], "x", storageEngine=5)), create(index([("x", 1)], "x", weights={"a": 1})), create({"name": "x", "key": 5}), create(index([("q", Int64(1)), ("r", -1.0)], "num")), create(index([("q", 1), ("r", -1)], "num"))]
    yield from [{"listIndexes": "a"}, {"listIndexes": "b"}, {"listIndexes": "a", "cursor": {"batchSize": 2}}]
    for which in ["a_1", "nope", {"t": 1}, {"zz": 1}, {"_id": 1}, "_id_", ["h", "nope"], ["h"], [], 5, "*"]:
        yield {"dropIndexes": "a", "index": which}
    yield from [{"dropIndexes": "nope", "index": "*"}, {"listIndexes": "a"}]
    for i in range(60, 65):
        yield create(*(index([(f"f{j}", 1)], f"f{j}") for j in range(i if i == 60 else i, i + 1)), collection="many")
    yield create(*(index([(f"g{j}", 1)], f"g{j}") for j in range(58)), collection="many")
    yield create(index([("last", 1)], "last"), collection="many")


@topic
def index_changes():
    yield create(index([("t", 1)], "t_1", expireAfterSeconds=10), index([("u", 1)], "u_1"))
    mods = [{"name": "t_1", "expireAfterSeconds": 20}, {"keyPattern": {"u": 1}, "hidden": True}, {"keyPattern": {"u": 1}, "hidden": True}, {"keyPattern": {"u": 1}, "expireAfterSeconds": 5}, {"name": "zz", "hidden": True}, {"name": "u_1"}]
    mods += [{"hidden": True}, {"name": "_id_", "hidden": True}, {"name": "t_1", "expireAfterSeconds": -5}, {"name": "t_1", "expireAfterSeconds": 30, "hidden": True}, {"name": "t_1", "keyPattern": {"t": 1}, "hidden": True}, {"name": "t_1", "unique": True}, {"keyPattern": {"zzz": 1}, "hidden": True}]
    for mod in mods:
        yield {"collMod": "a", "index": mod}
    yield {"listIndexes": "a"}


@topic
def index_keys():
    yield insert("d", {"_id": 1, "u": 5, "v": "x"}, {"_id": 2, "u": 5, "v": "x"})
    yield create(index([("u", 1), ("v", -1)], "uv", unique=True), collection="d")
    yield insert("p", {"_id": 1, "a": [1, 2], "b": [3, 4]})
    yield from [create(index([("a", 1), ("b", 1)], "ab"), collection="p"), create(index([("a", "hashed")], "ah"), collection="p")]
    yield create(index([("a", 1), ("b", 1)], "ab"), index([("c", "hashed")], "ch"), index([("e.f", 1)], "ef", unique=True), collection="q")
    yield from [insert("q", {"_id": 1, "a": [1], "b": [2]}), insert("q", {"_id": 1, "c": [2]}), insert("q", {"_id": 1, "e": [{"f": 1}, {"f": 2}]}), insert("q", {"_id": 2, "e": {"f": [2, {"x": "y"}]}})]
    yield from [insert("q", {"_id": 3}), insert("q", {"_id": 4}), update("q", set_({"_id": 3}, a=[1], b=[2])), update("q", {"q": {"_id": 3}, "u": {"$set": {"e.f": 2}}}), {FM: "q", "query": {"_id": 3}, "update": {"$set": {"e.f": 2}}}]
    yield from [{"create": "cc", "collation": {"locale": "en", "strength": 2}}, create(index([("a", 1)], "a", unique=True), collection="cc"), create(index([("a", 1)], "a2", collation={"locale": "simple"}), collection="cc"), {"listIndexes": "cc"}]
    yield from [create(index([("a", 1)], "a", unique=True, sparse=True), collection="s"), insert("s", {"_id": 1}, {"_id": 2}, {"_id": 3, "a": None}, {"_id": 4, "a": None}, ordered=False)]
    yield from [create(index([("a", 1)], "a", unique=True, partialFilterExpression={"k": {"$gt": 5}}), collection="f"), insert("f", {"_id": 1, "a": 1, "k": 1}, {"_id": 2, "a": 1, "k": 1}, {"_id": 3, "a": 1, "k": 9}, {"_id": 4, "a": 1, "k": 9}, ordered=False), update("f", set_({"_id": 1}, k=7))]
    yield create(index([("a", 1)], "a", unique=True), collection="arr")
    for value in [[], [[]], [1, [2]], {"x": 1.5}, {"x": 1e20}, {"x": [1, "x"]}, "a\"b"]:
        yield from [insert("arr", {"_id": 1, "a": value}), insert("arr", {"_id": 2, "a": value}), {"delete": "arr", "deletes": [{"q": {}, "limit": 0}]}]
    yield from [create(index([("t", "text")], "t"), collection="txt"), insert("txt", {"_id": 1, "t": 5, "language": "zork"}), insert("txt", {"_id": 2, "language": 5}), insert("txt", {"_id": 3, "t": "x", "language": "French"})]
    yield create(index([("l", "2dsphere")], "g"), collection="geo")
    for place in [5, "x", None, [1, 2], {"type": "Point", "coordinates": [500, 0]}, {"type": "Point", "coordinates": [10, 20]}]:
        yield from [insert("geo", {"_id": 1, "l": place}), {"delete": "geo", "deletes": [{"q": {}, "limit": 0}]}]
    yield create(index([("x.a", 1), ("y.b", 1)]), collection="par")
    yield from [insert("par", {"_id": 1, "x": {"a": [1]}, "y": {"b": [1]}}), insert("par", {"_id": 1, "x": [{"a": 1}], "y": [{"b": 1}]}), insert("par", {"_id": 1, "x": [{"a": 1}, {"a": 2}], "y": {"b": 1}})]


def admin(command):
    return {**command, "$on": "admin"}


@topic
def transactions():
    session = {"id": Binary(uuid.UUID(int=7).bytes, 4)}

    def tx(n, command, start=False, **more):
        return {**command, "lsid": session, "txnNumber": Int64(n), "autocommit": False, **({"startTransaction": True} if start else {}), **more}

    commit, abort = {"commitTransaction": 1}, {"abortTransaction": 1}
    find = {"find": "cc"}
    yield insert("cc", {"_id": 0})
    yield from [tx(1, find), tx(1, find, True), tx(1, find, True), tx(1, insert("cc", {"_id": 1})), tx(1, find), find, admin(tx(1, commit)), admin(tx(1, commit)), admin(tx(1, abort)), tx(1, find)]
    yield from [tx(2, find, True), admin(tx(2, abort)), admin(tx(2, abort)), admin(tx(2, commit)), tx(2, find), admin(tx(3, commit)), admin(tx(3, abort)), admin(tx(3, commit, True))]
    refused = [create(index([("a", 1)]), collection="cc"), {"drop": "cc"}, {"listCollections": 1}, {"count": "cc"}, {"ping": 1}, {"listIndexes": "cc"}, {"collMod": "cc"}, {"explain": find}, {"aggregate": "cc", "pipeline": [{"$out": "x"}], "cursor": {}}, {"distinct": "cc", "key": "_id"}, {"dropIndexes": "cc", "index": "*"}, {"getMore": Int64(1), "collection": "cc"}, {"killCursors": "cc", "cursors": [Int64(1)]}, {"dropDatabase": 1}, {"collStats": "cc"}, {"nope": 1}]
    number = 4
    for command in refused:
        yield tx(number, command, True)
        number += 1
    yield from [tx(30, {"create": "fresh"}, True), tx(30, create(index([("a", 1)]), collection="fresh")), tx(30, insert("fresh", {"_id": 1})), {"find": "fresh"}, admin(tx(30, commit)), {"find": "fresh"}]
    yield from [tx(31, find, True, readConcern={"level": "majority"}), tx(31, find, readConcern={"level": "majority"}), tx(32, find, True, writeConcern={"w": 1}), tx(33, insert("cc", {"_id": 50}), True, writeConcern={"w": 1}), tx(34, find, True, readConcern={"level": "linearizable"})]
    yield from [tx(35, find, True), insert("cc", {"_id": 70}), tx(35, {"find": "cc", "filter": {"_id": 70}}), admin(tx(35, commit))]
    yield from [tx(36, find, True), update("cc", set_({"_id": 70}, q=1)), tx(36, update("cc", set_({"_id": 70}, q=2))), tx(36, find)]
    yield from [tx(37, insert("cc", {"_id": 70}), True), tx(37, find)]
    yield from [tx(38, update("cc", set_({"_id": 70}, q=5)), True), tx(38, {"find": "cc", "filter": {"_id": 70}}), {"find": "cc", "filter": {"_id": 70}}, admin(tx(38, commit)), {"find": "cc", "filter": {"_id": 70}}]
    yield from [tx(39, {"delete": "cc", "deletes": [{"q": {}, "limit": 0}]}, True), tx(39, find), find, admin(tx(39, abort)), find]
    yield from [{**find, "autocommit": False}, admin(commit), tx(40, commit)]
    yield from [{**insert("cc", {"_id": 310}), "lsid": session, "txnNumber": Int64(48), **more} for more in ({"startTransaction": True}, {"startTransaction": True, "autocommit": True}, {"startTransaction": False, "autocommit": False})]


@topic
def sessions():
    one = uuid.UUID(int=9).bytes
    user = Binary(b"u" * 32)
    ids = [{"id": Binary(one, 4)}, {"id": Binary(b"x", 4)}, *({"id": Binary(one, kind)} for kind in (0, 1, 2, 3, 5, 6, 7, 128)), {}, {"id": 1}, 1, {"id": Binary(one, 4), "x": 1}, {"x": 1}]
    ids += [{"id": Binary(one, 4), **more} for more in ({"uid": user}, {"uid": Binary(b"u")}, {"uid": Binary(b"u" * 32, 4)}, {"uid": 1}, {"txnNumber": Int64(3)}, {"txnNumber": 3})]
    child = {"id": Binary(one, 4), "txnUUID": Binary(one, 4)}
    for name in ("refreshSessions", "killSessions", "endSessions"):
        yield from [{name: [value]} for value in ids]
        yield from [{name: 1}, {name: None}, {name: {}}, {name: [ids[0], 1]}, {name: [ids[0]] * 2}, {name: [ids[0]], "maxTimeMS": 100, "comment": "c"}, {name: [ids[0]], "writeConcern": {"w": 1}}, {name: [ids[0]], "readConcern": {"level": "majority"}}]
    yield from [{"refreshSessions": [child]}, {"killSessions": [child]}, {"refreshSessions": []}, {"endSessions": []}]
    pair = {"user": "a", "db": "b"}
    yield from [{"killAllSessions": value} for value in ([pair], [{"user": "a"}], [{"db": "b"}], [{**pair, "x": 1}], [{}], [1], 1, None, [{"user": 1, "db": "b"}], [{"user": "a", "db": 1}])]
    lsid = {"id": Binary(one, 4), "uid": user}
    patterns = [{"lsid": 1}, {"lsid": {}}, {"lsid": ids[0]}, {"lsid": lsid}, {"lsid": {**lsid, "txnUUID": Binary(one, 4)}}, {"uid": 1}, {"uid": Binary(b"u")}, {"uid": user}, {"uid": user, "lsid": lsid}, {"x": 1}, 1]
    patterns += [{"uid": user, **more} for more in ({"users": 1}, {"users": []}, {"users": [1]}, {"users": [pair]}, {"users": [{}]}, {"roles": 1}, {"roles": [{"role": "a", "db": "b"}]}, {"roles": [pair]})]
    yield from [{"killAllSessionsByPattern": [value]} for value in patterns]
    yield from [{"killAllSessionsByPattern": value} for value in (1, None)]
    yield from [{"startSession": 1, "$only": ["timeoutMinutes", "ok"]}, {"startSession": 1, "writeConcern": {"w": 1}}, {"startSession": 1, "readConcern": {"level": "snapshot"}}]
    # Of everybody: record this topic on a server that nobody else uses.
    yield {"killAllSessions": []}
    # These take no part in transactions, whatever they say of them.
    session = {"id": Binary(one, 4)}
    for command in ({"startSession": 1}, {"refreshSessions": []}, {"endSessions": []}, {"killSessions": [session]}, {"killAllSessions": [pair]}, {"killAllSessionsByPattern": [{"uid": user}]}):
        tx = {**command, "lsid": session, "txnNumber": Int64(1)}
        yield from [tx, {**tx, "autocommit": False, "startTransaction": True}, {**tx, "autocommit": False}]


@topic
def retries():
    session = {"id": Binary(uuid.UUID(int=8).bytes, 4)}

    def retry(n, command, times=2, **more):
        return [{**command, "lsid": session, "txnNumber": Int64(n), **more}] * times

    yield from retry(1, insert("cc", {"_id": 200}))
    yield from retry(2, update("cc", {"q": {"_id": 200}, "u": {"$inc": {"x": 1}}}, {"q": {"_id": 201}, "u": {"$inc": {"x": 1}}, "upsert": True}))
    yield from retry(3, {FM: "cc", "query": {"_id": 200}, "update": {"$inc": {"x": 1}}})
    yield from retry(3, {FM: "cc", "query": {"_id": 200}, "remove": True}, 1)
    yield from retry(4, update("cc", {"q": {}, "u": {"$inc": {"x": 1}}, "multi": True}), 1)
    yield from retry(4, {"delete": "cc", "deletes": [{"q": {}, "limit": 0}]}, 1)
    yield from retry(5, insert("cc", {"_id": 300}, {"_id": 300}, {"_id": 301}, ordered=False))
    yield from retry(6, insert("cc", {"_id": 310}), stmtId=7)
    yield from retry(6, insert("cc", {"_id": 311}), stmtId=8)
    yield from retry(6, {"find": "cc"}, 1)
    yield from retry(7, {"delete": "cc", "deletes": [{"q": {"_id": 300}, "limit": 1}]})
    yield from [{"find": "cc"}]


@topic
def retried_statements():
    """What is executed again, and what is not."""
    session = {"id": Binary(uuid.UUID(int=10).bytes, 4)}
    number = 0

    def twice(*commands, **more):
        nonlocal number
        number += 1
        first, *rest = commands
        for command in (first, *(rest or [first])):
            yield {**command, "lsid": session, "txnNumber": Int64(number), **more}

    yield insert("cc", *({"_id": i, "v": 0} for i in range(5)))
    # What wrote nothing is executed anew.
    nothing = {"q": {"_id": 40}, "u": {"$set": {"v": 1}}}
    yield from twice(update("cc", nothing))
    yield from twice(update("cc", nothing), insert("cc", {"_id": 40}), update("cc", nothing), update("cc", nothing))
    yield from twice(update("cc", {"q": {"_id": 0}, "u": {"$set": {"v": 0}}}))
    yield from twice({"delete": "cc", "deletes": [{"q": {"_id": 41}, "limit": 1}]})
    for change in ({"update": {"$set": {"v": 0}}}, {"update": {"$inc": {"v": 1}}, "fields": {"v": 1, "_id": 0}}, {"update": {"$inc": {"v": 1}}, "fields": {"v": 1, "_id": 0}, "new": True}, {"update": [{"$set": {"p": 1}}], "new": True}, {"update": {"$set": {"_id": 5}}}):
        yield from twice({FM: "cc", "query": {"_id": 0}, **change})
    for command in ({"update": {"$inc": {"v": 1}}}, {"remove": True}, {"update": {"$inc": {"v": 1}}, "upsert": True}, {"update": {"$inc": {"v": 1}}, "upsert": True, "new": True, "fields": {"v": 1}}):
        yield from twice({FM: "cc", "query": {"_id": 42 + number}, **command})
    # A statement without an id, and others of the same number.
    yield from twice(insert("cc", {"_id": 50}), stmtId=-1)
    yield from twice(update("cc", nothing, nothing, {"q": {"_id": 1}, "u": {"$inc": {"v": 1}}}))
    yield from twice(insert("cc", {"_id": 60}, {"_id": 61}), insert("cc", {"_id": 62}, {"_id": 61}), stmtIds=[5, 6])
    yield from twice(insert("cc", {"_id": 63}), {"delete": "cc", "deletes": [{"q": {"_id": 63}, "limit": 1}]})
    yield from twice({FM: "cc", "query": {"_id": 2}, "update": {"$inc": {"v": 1}}}, update("cc", {"q": {"_id": 3}, "u": {"$inc": {"v": 1}}}), {FM: "cc", "query": {"_id": 3}, "remove": True}, insert("cc", {"_id": 64}))
    for command in ({"ping": 1}, {"buildInfo": 1, "$only": ["ok", "code", "errmsg"]}, {"find": "cc"}, {"count": "cc"}, {"create": "q"}, {"drop": "q"}, {"aggregate": "cc", "pipeline": [], "cursor": {}}):
        yield from twice(command)
    # Numbers that a transaction has had.
    tx = {"lsid": session, "txnNumber": Int64(100), "autocommit": False}
    yield from [{**find("cc", {"_id": 0}), **tx, "startTransaction": True}, {**insert("cc", {"_id": 70}), "lsid": session, "txnNumber": Int64(100)}, admin({"commitTransaction": 1, **tx}), {**insert("cc", {"_id": 70}), "lsid": session, "txnNumber": Int64(100)}, {"find": "cc"}]


@topic
def transaction_conflicts():
    """What stands in the way of a transaction and of those beside it."""
    session = {"id": Binary(uuid.UUID(int=11).bytes, 4)}
    number = 0

    def begin(command):
        nonlocal number
        number += 1
        return inside({**command, "startTransaction": True})

    def inside(command):
        return {**command, "lsid": session, "txnNumber": Int64(number), "autocommit": False}

    def end(name="abortTransaction"):
        return admin(inside({name: 1}))

    remove = {"delete": "cc", "deletes": [{"q": {"_id": 1}, "limit": 1}]}
    yield from [insert("cc", {"_id": 1, "u": 1}, {"_id": 2, "u": 2}), create(index([("u", 1)], "u", unique=True), collection="cc")]
    # What is there for others is a duplicate for them, also while it is being taken away.
    yield from [begin(remove), insert("cc", {"_id": 1}), insert("cc", {"_id": 3, "u": 1}), update("cc", set_({"_id": 2}, u=1)), inside(insert("cc", {"_id": 1, "u": 9})), inside(find("cc")), end()]
    yield from [begin(update("cc", set_({"_id": 1}, u=7))), insert("cc", {"_id": 3, "u": 1}), inside(insert("cc", {"_id": 3, "u": 1})), end("commitTransaction"), find("cc")]
    # The first failure is the end, whatever is said.
    both = {"ordered": False}
    yield from [begin(insert("cc", {"_id": 50}, {"_id": 1}, {"_id": 51}, **both)), inside(find("cc")), end("commitTransaction")]
    yield from [begin(update("cc", set_({"_id": 1}, v=1), set_({"_id": 1}, _id=2), set_({"_id": 2}, v=1), **both)), end()]
    yield from [begin({"delete": "cc", "deletes": [{"q": {"_id": 1}, "limit": 1}, {"q": {"$nope": 1}, "limit": 1}, {"q": {"_id": 2}, "limit": 1}], **both}), end()]
    yield {"create": "cap", "capped": True, "size": 4096}
    for query in ({"_id": 1}, {"x": 1}):
        for command in (insert("cap", {"_id": 1}, {"_id": 2}), update("cap", {"q": query, "u": {"$set": {"x": 1}}}), {"delete": "cap", "deletes": [{"q": query, "limit": 1}]}, {FM: "cap", "query": query, "remove": True}, {FM: "cap", "query": query, "update": {"$set": {"x": 1}}}):
            yield from [begin(command), end()]
    yield insert("dd", {"_id": 1})
    for stages in ([{"$unionWith": "cc"}], [{"$facet": {"a": [{"$unionWith": "cc"}]}}], [{"$lookup": {"from": "cc", "pipeline": [{"$unionWith": "dd"}], "as": "x"}}], [{"$planCacheStats": {}}], [{"$indexStats": {}}], [{"$changeStream": {}}]):
        yield from [begin(run(*stages, collection="dd")), inside(find("dd")), end()]
    for command in ({"find": "system.views"}, insert("system.foo", {"_id": 1}), {"find": "dd", "tailable": True}, {"find": "dd", "zork": 1}, {"find": 5}, {"distinct": "dd"}, {"distinct": "dd", "key": 5}, {"find": "dd", "filter": 5}):
        yield begin(command)
    for command in ({"find": "dd", "zork": 1}, {"distinct": "dd"}):
        yield from [begin(find("dd")), inside(command), inside(find("dd"))]
    yield from [begin(insert("new", {"_id": 1})), inside(create(index([("x", 1)]), collection="new")), inside(find("new"))]
    yield from [begin(create(index([("_id", 1)], "_id_"), collection="dd")), end(), begin(create(index([("x", 1)]), collection="dd")), begin(create(collection="dd")), begin(create({"key": {"x": 1}}, collection="dd"))]
    yield from [begin({"create": "empty"}), inside(create(index([("x", 1)]), collection="empty")), end("commitTransaction"), {"listIndexes": "empty"}]
    yield admin(inside({"abortTransaction": 1, "startTransaction": True}))


@topic
def concerns_and_preferences():
    """Which commands take which concerns and preferences."""
    yield insert("cc", {"_id": 1})
    commands = [{"find": "cc"}, {"count": "cc"}, {"distinct": "cc", "key": "_id"}, run(collection="cc"), {"listCollections": 1, "filter": {"name": "none"}}, {"listIndexes": "none"}, insert("cc", {"_id": 1}), update("cc", set_({"_id": 2}, a=1)), {"delete": "cc", "deletes": [{"q": {"_id": 2}, "limit": 1}]}, {FM: "cc", "query": {"_id": 2}, "remove": True}, {"create": "cc"}, {"drop": "none"}, create(index([("_id", 1)], "_id_"), collection="cc"), {"collMod": "cc"}, {"explain": {"find": "cc"}, "$only": ["ok", "code", "errmsg"]}, {"ping": 1}, {"validate": "none"}, admin({"renameCollection": "$db.none", "to": "$db.x"})]
    for concern in ({"level": "local"}, {"level": "majority"}, {"level": "available"}, {"level": "linearizable"}, {"level": "bogus"}, {"level": 1}, {"level": "majority", "zork": 1}, {"zork": 1}, {}):
        for command in commands:
            yield {**command, "readConcern": concern}
    writers = [insert("cc", {"_id": 1}), {FM: "cc", "query": {"_id": 2}, "remove": True}, {"collMod": "cc"}, {"find": "cc"}, {"ping": 1}, {"count": "cc"}]
    for concern in ({"w": 51}, {"fsync": True, "j": True}, {"fsync": True, "j": False}, {"zork": 1}, {"w": {"dc": 1}}, {"w": {}}, {"w": 1, "j": "x"}, {"w": "none"}, {"w": 1.5}):
        for command in writers:
            yield {**command, "writeConcern": concern}
    for preference in ({"mode": "nope"}, {"mode": 5}, {}, {"mode": "primary", "zork": 1}, {"mode": "primary", "tags": [{"a": "b"}]}, {"mode": "primary", "tags": [{}]}, {"mode": "nearest", "tags": 5}, {"mode": "primary", "maxStalenessSeconds": 90}, {"mode": "secondary", "maxStalenessSeconds": 5}, {"mode": "secondary", "maxStalenessSeconds": 90}, {"mode": "nearest", "hedge": {"enabled": True}}, {"mode": "primary", "hedge": {"enabled": True}}, {"mode": "primary", "hedge": {"enabled": False}}):
        yield {"find": "cc", "$readPreference": preference}
    for millis in (-1, 2**31, Int64(2**40), "x", 1.5):
        yield {"find": "cc", "maxTimeMS": millis}
    for name, more in (("collStats", {}), ("convertToCapped", {"size": 1000}), ("count", {}), ("distinct", {"key": "a"}), ("validate", {}), ("cloneCollectionAsCapped", {"toCollection": "x", "size": 1000}), ("listIndexes", {}), ("drop", {}), ("aggregate", {"pipeline": [], "cursor": {}})):
        yield from [{name: value, **more} for value in (5, True, None)]


@topic
def versioned_api():
    """The versioned API."""
    one = {"apiVersion": "1"}
    strict = {**one, "apiStrict": True}
    yield from [{"ping": 1, **more} for more in (one, {"apiVersion": "2"}, {"apiVersion": 1}, {"apiVersion": ""}, {"apiStrict": True}, {"apiStrict": False}, {"apiDeprecationErrors": True}, {**one, "apiStrict": "x"}, {**one, "apiDeprecationErrors": 1}, {**strict, "apiDeprecationErrors": True}, {"apiVersion": "2", "apiStrict": True})]
    yield insert("cc", {"_id": 1})
    yield from [{"distinct": "cc", "key": "_id", **one}, {"distinct": "cc", "key": "_id", **one, "apiStrict": False}, {"nope": 1, **strict}, {"nope": 1, "apiVersion": "2"}]
    short = ["ok", "code", "errmsg"]
    for command in ({"find": "cc"}, {"count": "cc"}, {"distinct": "cc", "key": "_id"}, run(collection="cc"), insert("cc", {"_id": 2}), update("cc", set_({"_id": 2}, a=1)), {"delete": "cc", "deletes": [{"q": {"_id": 2}, "limit": 1}]}, {FM: "cc", "query": {"_id": 2}, "remove": True}, {"create": "dd"}, {"drop": "dd"}, {"collMod": "cc"}, {"explain": {"find": "cc"}}, {"explain": {"distinct": "cc", "key": "_id"}}, {"listCollections": 1}, {"listIndexes": "cc"}, {"dropIndexes": "cc", "index": "none"}, {"buildInfo": 1}, {"collStats": "cc"}, {"dbStats": 1}, {"dataSize": "none.none"}, {"validate": "cc"}, {"startSession": 1}, {"endSessions": []}, {"refreshSessions": []}, {"killSessions": [{"id": Binary(uuid.UUID(int=12).bytes, 4)}]}, {"getMore": Int64(1), "collection": "cc"}, {"killCursors": "cc", "cursors": [Int64(1)]}, {"convertToCapped": "cc", "size": 1000}, {"isMaster": 1}, {"hello": 1}, admin({"listDatabases": 1}), admin({"renameCollection": "$db.none", "to": "$db.x"})):
        yield {**command, **strict, "$only": short}
    for field, value in (("awaitData", True), ("tailable", True), ("min", {"_id": 1}), ("max", {"_id": 1}), ("returnKey", True), ("showRecordId", True), ("noCursorTimeout", True), ("noCursorTimeout", None), ("allowPartialResults", True), ("oplogReplay", True)):
        yield {"find": "cc", field: value, **strict}
    for field, value in (("size", 1000), ("max", 5), ("autoIndexId", True), ("storageEngine", {}), ("indexOptionDefaults", {}), ("changeStreamPreAndPostImages", {"enabled": True})):
        yield {"create": "ee", field: value, **strict}
    yield {**run(collection="cc"), "explain": True, **strict}
    for stages in ([{"$collStats": {"count": {}}}], [{"$collStats": {"storageStats": {}}}], [{"$indexStats": {}}], [{"$lookup": {"from": "cc", "pipeline": [{"$indexStats": {}}], "as": "x"}}], [{"$unionWith": {"coll": "cc", "pipeline": [{"$planCacheStats": {}}]}}], [{"$planCacheStats": {}}], [{"$sample": {"size": 0}}]):
        yield {**run(*stages, collection="cc"), **strict, "$only": short}
    for name, parts in (("t", {"a": "text"}), ("h", {"a": "hashed"}), ("g", {"a": "2dsphere"})):
        yield {**create({"key": parts, "name": name}, collection="cc"), **strict, "$only": short}
    yield {**create(index([("a", 1)]), collection="cc"), "ignoreUnknownIndexOptions": True, **strict}


@topic
def aggregates():
    def run(*stages, **options):
        return {"aggregate": "a", "pipeline": list(stages), "cursor": {}, **options}

    yield insert("a", *({"_id": i, "a": i % 3, "b": [i, i + 1]} for i in range(8)))
    yield create(index([("a", 1)], "a_1"))
    yield from [run(), run({"$match": {"a": 1}}), run({"$match": {"a": 1}}, {"$sort": {"_id": -1}}, {"$limit": 2}), run({"$zork": 1}), run({"$match": {"_id": 1}}, cursor={"batchSize": 0})]
    yield from [run({"$group": {"_id": "$a", "n": {"$sum": 1}}}, {"$sort": {"_id": 1}}), run({"$count": "n"}), {**run({"$count": "n"}), "aggregate": "nope"}]
    yield insert("c", {"_id": 0, "name": "x"}, {"_id": 1, "name": "y"})
    yield run({"$match": {"_id": {"$lt": 3}}}, {"$lookup": {"from": "c", "localField": "a", "foreignField": "_id", "as": "c"}}, {"$sort": {"_id": 1}})
    yield from [run({"$match": {"a": 2}}, {"$out": "o"}), {"find": "o"}, run({"$match": {"a": 0}}, hint="zz"), run({"$limit": 0}), run({"$sort": {"_id": 1}}, {"$limit": 3}, cursor={"batchSize": 2})]
    yield from [run({"$match": {"$expr": {"$eq": ["$a", "$$x"]}}}, let={"x": 1}), run({"$match": {"$expr": {"$eq": ["$a", "$$x"]}}}, let={"X": 1})]


@topic
def statistics_stages():
    """What $collStats and $indexStats tell, as far as it is not of the machine."""
    told = {"$project": {"ns": 1, "count": 1, "queryExecStats": 1, "storageStats": {"size": 1, "count": 1, "avgObjSize": 1, "capped": 1, "nindexes": 1, "scaleFactor": 1}}}
    uses = [{"$project": {"name": 1, "key": 1, "spec": 1, "ops": "$accesses.ops", "since": {"$type": "$accesses.since"}}}, {"$sort": {"name": 1}}]

    def of(spec, **where):
        return run({"$collStats": spec}, told, **where)

    yield insert("a", *({"_id": i, "a": i, "b": i % 3} for i in range(8)))
    yield create(index([("a", 1)], "a_1"), index([("b", -1), ("a", 1)], "ba", sparse=True))
    yield {"create": "v", "viewOn": "a", "pipeline": []}
    yield {"create": "w", "viewOn": "a", "pipeline": [{"$match": {"a": 1}}]}
    yield from [find("a", {"a": 1}), find("a", {"_id": 1}), find("a", {"z": 1}), {"delete": "a", "deletes": [{"q": {"b": 1}, "limit": 1}]}]
    yield from [run({"$indexStats": {}}, *uses, collection=name) for name in ("a", "v", "w", "nope")]
    for spec in [{}, {"count": {}}, {"storageStats": {}}, {"storageStats": {"scale": 3}}, {"storageStats": {"scale": 2.9, "x": 1}}, {"storageStats": {"scale": None}}, {"queryExecStats": {}}, {"count": {}, "storageStats": {}, "queryExecStats": {}, "latencyStats": None}]:
        yield from [of(spec), of(spec, collection="v"), of(spec, collection="nope")]
    yield from [of(spec) for spec in [1, None, [], {"x": 1}, {"count": 1}, {"count": {"x": 1}}, {"queryExecStats": []}, {"queryExecStats": {"x": {"y": 1}}}, {"storageStats": True}, {"latencyStats": 1}, {"latencyStats": {"x": 1}}, {"latencyStats": {"histograms": 1}}]]
    yield from [of({"storageStats": {"scale": scale}}) for scale in (0, -1, "a", [], float("nan"))]
    yield from [run({"$indexStats": spec}) for spec in (1, None, [], {"x": 1})]
    yield from [run({"$planCacheStats": spec}) for spec in (1, None, {"x": 1}, {})]
    yield from [run({"$planCacheStats": {}}, collection=name) for name in ("v", "nope")]
    yield from [{"aggregate": 1, "pipeline": [{"$planCacheStats": {}}], "cursor": {}}, run({"$match": {}}, {"$planCacheStats": {}})]
    yield {"dbStats": 1, "freeStorage": 1, "$only": ["ok", "objects", "freeStorageSize", "indexFreeStorageSize", "totalFreeStorageSize"]}
    yield {"dbStats": 1, "freeStorage": 0, "$only": ["ok", "objects", "freeStorageSize", "indexFreeStorageSize", "totalFreeStorageSize"]}
    for stage in [{"$collStats": {"count": {}}}, {"$indexStats": {}}]:
        yield {"aggregate": 1, "pipeline": [stage], "cursor": {}}
        yield from [run({"$match": {}}, stage), run({"$facet": {"x": [stage]}}), run(stage, stage)]
        ends = uses if "$indexStats" in stage else [{"$project": {"ns": 1, "count": 1}}]
        yield run({"$match": {"_id": 0}}, {"$lookup": {"from": "a", "pipeline": [stage, *ends], "as": "x"}})
        yield run({"$match": {"_id": 0}}, {"$unionWith": {"coll": "a", "pipeline": [stage, *ends]}})
        yield run({"$match": {"_id": 0}}, {"$lookup": {"from": "v", "pipeline": [stage, *ends], "as": "x"}})
        yield run({"$match": {"_id": 0}}, {"$lookup": {"from": "w", "pipeline": [stage, *ends], "as": "x"}})
        yield run({"$match": {"_id": 0}}, {"$lookup": {"from": "a", "localField": "_id", "foreignField": "_id", "pipeline": [stage, *ends], "as": "x"}})
        yield run({"$match": {"_id": 0}}, {"$lookup": {"from": "nope", "pipeline": [stage, *ends], "as": "x"}})
        yield {"create": "told", "viewOn": "a", "pipeline": [stage, *ends]}
        yield from [run(collection="told"), {"drop": "told"}]
    yield from [{"collMod": "a", "index": {"name": "ba", "hidden": True}}, run({"$indexStats": {}}, *uses)]


def compute(expression):
    return run({"$project": {"r": expression}})


@topic
def constant_folding():
    """Constants that fail, and which operands of an expression are evaluated."""
    bad = {"$ln": "x"}
    yield insert("a", {"_id": 1, "s": "x", "n": 5, "l": [1]})
    # Constants are folded before a document is read.
    folded = [{"$cond": [True, "$a", bad]}, {"$ifNull": [1, bad]}, {"$and": [False, bad]}, {"$switch": {"branches": [{"case": False, "then": bad}], "default": 1}}, {"$switch": {"branches": [{"case": "$a", "then": bad}], "default": 1}}]
    folded += [{"$switch": {"branches": [{"case": False, "then": 1}]}}, {"$let": {"vars": {"v": "x"}, "in": {"$toUpper": "$$v"}}}, {"$let": {"vars": {"v": bad}, "in": 1}}, {"$map": {"input": [], "in": bad}}, {"$map": {"input": "$m", "in": bad}}, {"$filter": {"input": "$m", "cond": bad}}]
    folded += [{"$reduce": {"input": "$m", "initialValue": 1, "in": bad}}, {"$add": ["$m", "x"]}, {"$add": ["$m", "x", 1]}, {"$add": ["x", "$m", 1]}, {"$concat": ["$m", 1]}, {"$concat": ["$m", 1, 2]}, {"$concatArrays": ["$m", [1], 2]}, {"$setUnion": ["$m", 1, 2]}]
    folded += [{"$ln": [{"a": 1}]}, {"$ln": [[1]]}, {"$ln": "$$NOW"}, {"a": {"b": bad}}, ["$a", bad], {"$getField": {"field": "a", "input": "$m"}}, {"$setEquals": ["$l", 2]}, {"$setIsSubset": ["$l", 2]}, {"$setIsSubset": [2, 3]}, {"$indexOfArray": [2, "$m"]}, {"$indexOfArray": [2, 3]}]
    folded += [{"$toInt": "x"}, {"$divide": [1, 0]}, {"$toInt": [1, 2]}, {"$dateTrunc": {"date": {"$toDate": Int64(-(2**63))}, "unit": "week"}}, {"$dateTrunc": {"date": {"$toDate": Int64(-(2**63))}, "unit": "hour"}}]
    for expression in folded:
        yield compute(expression)
    # A null ends what is evaluated.
    late = {"$ln": "$s"}
    for operator in ["$add", "$multiply", "$concat", "$concatArrays", "$setUnion", "$indexOfArray", "$indexOfCP", "$round", "$subtract", "$slice", "$in"]:
        for arguments in [["$m", late], ["$s", "$m"], ["q", "$m"]]:
            yield compute({operator: arguments})
    yield compute({"$setField": {"field": "a", "input": "$m", "value": late}})
    yield from [find("a", filter={"$expr": bad}), find("nope", filter={"$expr": bad}), find("a", filter={"$nor": [{"$expr": bad}]}), find("a", filter={"s": "x", "$expr": bad}), find("a", projection={"a": bad}), {"count": "a", "query": {"$expr": bad}}]
    yield from [{"delete": "a", "deletes": [{"q": {"$expr": bad}, "limit": 0}]}, update("a", set_({"$expr": bad}, a=1)), update("a", {"q": {"_id": 9}, "u": [{"$set": {"a": bad}}]}), {FM: "a", "query": {"$expr": bad}, "remove": True}]
    for stage in [{"$match": {"$expr": bad}}, {"$group": {"_id": bad}}, {"$group": {"_id": 1, "s": {"$sum": bad}}}, {"$facet": {"a": [{"$set": {"x": bad}}]}}, {"$unionWith": {"coll": "q", "pipeline": [{"$set": {"x": bad}}]}}, {"$replaceWith": bad}, {"$sortByCount": bad}]:
        yield run(stage, collection="nope")
    for expression in [{"$multiply": [None, {}]}, {"$setIntersection": [{"$max": []}, {"p": "$m"}]}, {"$add": [[], "$m"]}, {"$add": [{"$cond": [[], "x", "$m"]}]}, {"$indexOfCP": [{}, {"$ifNull": [3, "$m"]}]}, {"$ln": {"$and": ["$m", False]}}, {"$ln": {"$or": ["$m", 1]}}]:
        yield compute(expression)
    yield from [compute({"$convert": {"input": 1, "to": "string", "onNull": late}}), compute({"$convert": {"input": None, "to": "string", "onNull": late}})]
    for grouped in [{"q": -1}, {"a": "$x", "q": True}, {"a": {"b": 1}}, {"a": [1]}, {"q": {"$literal": 1}}]:
        yield run({"$group": {"_id": grouped}})
    yield run({"$group": {"_id": 1, "q": {"q": 1}}})
    for operator in ["$floor", "$ceil", "$trunc"]:
        yield compute({operator: Decimal128("-Infinity")})
    yield from [compute({"$or": [late, True]}), compute({"$and": [late, False]}), compute({"$multiply": [{}, "$$REMOVE"]})]
    for u in [{"$setOnInsert": {"a.a": []}}, {"$setOnInsert": {"a.a": []}, "$set": {"b": 1}}]:
        yield update("a", {"q": {"a": 1}, "u": u, "upsert": True})
    yield from [find("a", filter={"$expr": late}), {"distinct": "a", "key": "n", "query": {"$expr": late}}, {"count": "a", "query": {"$expr": late}}, find("a", filter={"a": {"$type": "missing"}})]


@topic
def query_and_update_faults():
    """Of a fault in the query and one in the projection or the update, the one that is reported."""
    yield insert("a", {"_id": 1, "s": "x", "n": 5, "l": [1]})
    mod = {"a": {"$mod": []}}
    yield from [find("a", filter=mod, projection={"a": 1, "a.b": 1}), {FM: "a", "query": mod, "update": {"$set": {"a.b": 1}, "$inc": {"a": 1}}}, {FM: "a", "update": {"$set": {"a.b": 1}, "$inc": {"a": 1}}, "fields": {"a": 1, "a.b": 1}}]
    yield from [{FM: "a", "query": {}, "update": {}, "new": True, "fields": {"x.$": 1}}, find("a", filter={"$expr": 1}, projection={"b.$": 1}), find("a", filter={"$jsonSchema": {}}, projection={"b.$": 1})]
    for projection in [key(("a", 0), ("a.b", 1)), key(("a.b", 0), ("a", 1)), key(("a.b", 0), ("a", "x")), {"b": 0, "a": {"x": "x"}}, key(("a", "a"), ("a.0.b", False)), key(("a", {"$slice": 1}), ("c", 0), ("a.b", 1))]:
        yield find("a", projection=projection)
    for projection in [key(("a.$", 1), ("b", {"$elemMatch": {}})), key(("b", {"$elemMatch": {}}), ("a.$", 1)), key(("b", 0), ("a.$", 1)), key(("_id", 1), ("l", {"$slice": 1})), key(("_id", 0), ("l", {"$slice": 1}))]:
        yield find("a", projection=projection)
    yield from [run({"$group": {"q": {"$add": []}}}), run({"$group": {"_id": 1, "q": {"$zork": [1]}}})]
    for u in [[{}], [{"$zork": 1}], [5], [{"$match": {}}]]:
        yield update("a", set_({"_id": 7}, x=1), {"q": {}, "u": u})
    for q in [{"$expr": {}}, {"$nor": [{"$expr": {}}]}, {"$or": [{"$expr": {}}, {}]}]:
        yield update("a", {"q": q, "u": {"$set": {"x": 1}}, "upsert": True})
    yield from [update("a", {"q": key(("a.0.b", 1), ("a.0", None)), "u": {"_id": 40}, "upsert": True}), update("a", {"q": key(("b", {"$in": []}), ("k", 3)), "u": {"$set": {"_id": 41}}, "upsert": True}), find("a", filter={"_id": 41})]
    yield from [update("a", {"q": {}, "u": {"$pull": {"l": {"$expr": {}}}}}), update("a", {"q": {}, "u": {"$pull": {"l": {"$jsonSchema": {}}}}})]


@topic
def numeric_path_keys():
    """Numbers in the paths of indexes and sorts."""
    yield insert("k", {"_id": 1, "a": [[1, 2]]}, {"_id": 2, "a": [[]]}, {"_id": 3, "a": [0, {"b": 1}]}, {"_id": 4, "a": []})
    yield from [find("k", sort={"a.0": 1}), find("k", sort={"a.0": -1}), find("k", sort=key(("a.b", -1), ("a.0", 1))), run({"$sort": {"a.0": 1, "a.b": 1}}, collection="k")]
    yield create(index([("a.0", 1)], unique=True), collection="u")
    for value in [[[1, 2]], [[1, 3]], [[1, 2]], [[]], [5, 6], [5], [{"b": [1]}], [{"b": [1]}]]:
        yield insert("u", {"a": value})
    yield from [find("u", sort={"a.0": 1}, projection={"_id": 0}), insert("u", {"_id": 1, "a": [{"0": "1"}]}), create(index([("b.0", -1), ("a.0.b", -1)]), collection="v"), insert("v", {"_id": 1, "a": [], "b": []})]
    yield from [insert("w", {"_id": 1, "a": [{"0": 1}]}), find("w", sort={"a.0": 1}), run({"$sort": {"a.0": 1}}, collection="w"), create(index([("h.0", "hashed")]), collection="h")]


@topic
def sorted_cursors():
    """Batches of sorted documents, groups and sorts of missing values, and limits of a count."""
    yield insert("s", *({"_id": i, "a": i % 3} for i in range(6)))
    for options in [{"batchSize": 6}, {"batchSize": 3, "limit": 3}, {"batchSize": 3, "limit": 3, "skip": 1}, {"batchSize": 0, "limit": 1}]:
        for sort in [{}, {"sort": key(("a", 1), ("_id", 1))}, {"sort": {"_id": 1}}]:
            yield find("s", **options, **sort)
    yield insert("g", {"_id": 1, "x": []}, {"_id": 2, "x": None}, {"_id": 3})
    yield from [run({"$group": {"_id": "$x"}}, {"$sort": {"_id": 1}}, collection="g"), run({"$project": {"x": 1}}, {"$sort": {"x": 1}}, collection="g")]
    yield from [{"count": "least", "limit": Int64(limit)} for limit in (-(2**63), -(2**63) + 1)]
    yield {"createIndexes": "least", "indexes": None}


@topic
def merge_stage():
    def merge(into, *documents, target=(), **options):
        yield from [{"drop": "z"}, {"drop": "s"}]
        if documents:
            yield insert("s", *documents)
        if target:
            yield insert("z", *target)
        yield {"aggregate": "s", "pipeline": [BY_ID, {"$merge": into}], "cursor": {}, **options}
        yield find("z", sort={"_id": 1})

    source = [{"_id": 1, "a": 5}, {"_id": 2, "z": 6, "b": 1}]
    target = [{"_id": 1, "t": 1, "a": 0}]
    modes = ["replace", "merge", "keepExisting", "fail", [{"$set": {"n": "$$new.a", "old": "$a"}}], [], [{"$replaceWith": {"q": 1}}], [{"$unset": "t"}], [{"$project": {"a": 1}}], [{"$set": {"_id": 9}}], [{"$group": {"_id": 1}}], [{"$set": {"a": "$$nope"}}]]
    for mode in modes:
        for otherwise in ("insert", "discard", "fail"):
            yield from merge({"into": "z", "whenMatched": mode, "whenNotMatched": otherwise}, *source, target=target)
    yield from merge("z", *source, target=target)
    yield from merge("z", *source)
    yield from merge("z")
    yield {"listCollections": 1, "nameOnly": True, "filter": {"name": "z"}}
    yield from merge({"into": "z", "whenNotMatched": "fail"}, *source)
    for let in ({"q": "$a", "w": {"$add": ["$a", 1]}}, {"q": "$a", "w": 1, "new": "$$ROOT"}):
        yield from merge({"into": "z", "let": let, "whenMatched": [{"$set": {"n": "$$q", "m": "$$w", "k": "$$ROOT.t", "l": "$$new.a"}}]}, *source, target=target)
    yield from merge({"into": "z", "whenMatched": [{"$set": {"n": "$$v"}}]}, *source, target=target, let={"v": 77})
    yield from merge({"into": "z", "let": {"v": 5}, "whenMatched": [{"$set": {"n": "$$v"}}]}, *source, target=target, let={"v": 77})
    wide = [{"_id": 1, "z": 1, "y": 2, "m": {"q": 1}}, {"_id": 2, "z": 1, "y": 2}]
    for mode in ("merge", "replace", "keepExisting"):
        yield from merge({"into": "z", "whenMatched": mode}, *wide, target=[{"_id": 1, "m": {"p": 1}}])
    for specification in (5, "", {}, {"into": 5}, {"into": ""}, {"into": {"db": "other"}}, {"into": {"coll": "z"}}, {"into": {"db": "", "coll": "z"}}, {"into": {"db": "other", "coll": "z", "x": 1}}, {"into": {}}, {"into": "z", "on": 5}, {"into": "z", "on": []}, {"into": "z", "on": ["a", "a"]},
            {"into": "z", "on": [5]}, {"into": "z", "on": "a"}, {"into": "z", "on": ["_id", "a"]}, {"into": "z", "on": ""}, {"into": "z", "on": "$a"}, {"into": "z", "on": "a."}, {"into": "z", "whenMatched": 5}, {"into": "z", "whenMatched": "x"}, {"into": "z", "whenMatched": [{"$foo": {}}]}, {"into": "z", "whenMatched": [5]}, {"into": "z", "whenNotMatched": 5}, {"into": "z", "whenNotMatched": "x"},
            {"into": "z", "let": {}}, {"into": "z", "let": 5}, {"into": "z", "let": {"a": "$a"}, "whenMatched": "replace"}, {"into": "z", "let": {"new": 1}, "whenMatched": [{"$set": {"a": 1}}]}, {"into": "z", "let": {"X": 1}, "whenMatched": [{"$set": {"a": 1}}]}, {"into": "z", "let": {"a": "$$b"}, "whenMatched": [{"$set": {"a": 1}}]}, {"into": "z", "x": 1}, {"on": "_id"}, {"into": "system.x"}, {"into": {"db": "admin", "coll": "x"}}, {"into": {"db": "local", "coll": "x"}}, {"into": {"db": "config", "coll": "x"}}, {"into": "a$b"}, {"into": {"db": "a b", "coll": "x"}}, {"into": "z", "whenMatched": "pipeline"}):
        yield run({"$merge": specification}, collection="s")
    yield from [run({"$merge": "z"}, {"$match": {}}), run({"$facet": {"a": [{"$merge": "q"}]}}), run({"$lookup": {"from": "y", "pipeline": [{"$merge": "q"}], "as": "r"}}), run({"$lookup": {"from": "y", "pipeline": [{"$out": "q"}], "as": "r"}}), run({"$unionWith": {"coll": "y", "pipeline": [{"$merge": "q"}]}})]
    # On other fields.
    unique = dict(unique=True)
    cases = [("a", source, target, [index([("a", 1)], **unique)]), ("a", [{"_id": 5, "a": 0, "k": 1}, {"_id": 6, "a": 9}], target, [index([("a", 1)], **unique)]), ("a.b", [{"_id": 5, "a": {"b": 1}}], [{"_id": 1, "a": {"b": 1}}], [index([("a.b", 1)], **unique)]), ("a.b", [{"_id": 5, "a": [{"b": 1}]}], [], [index([("a.b", 1)], **unique)]),
        (["a", "b"], [{"_id": 5, "a": 1, "b": 2, "k": 1}], [{"_id": 1, "a": 1, "b": 2}], [index([("b", 1), ("a", -1)], **unique)]), (["a"], [{"_id": 5, "a": 1}], [], [index([("a", 1), ("b", -1)], **unique)]), ("a", [{"_id": 5, "a": [1]}], [], [index([("a", 1)], **unique)]), ("a", [{"_id": 5, "a": None}], [], [index([("a", 1)], **unique)]), ("a", [{"_id": 5}], [], [index([("a", 1)], **unique)]), ("a", [{"_id": 5, "a": 1}], [], [index([("a", 1)])])] + [
        ("a", [{"_id": 1, "a": 0, "k": 1}], target, [index([("a", 1)], **unique, **options)]) for options in ({"sparse": True}, {"partialFilterExpression": {"a": {"$gt": 0}}}, {"hidden": True}, {"collation": {"locale": "en"}})]
    for on, documents, there, indexes in cases:
        for mode in ("merge", "replace", "keepExisting"):
            yield from [{"drop": "z"}, {"drop": "s"}, {"create": "z"}, create(*indexes, collection="z"), insert("s", *documents)]
            if there:
                yield insert("z", *there)
            yield run(BY_ID, {"$merge": {"into": "z", "on": on, "whenMatched": mode}}, collection="s")
            yield find("z", sort={"_id": 1})
    # Validators, another unique index, and a collection that is merged into itself.
    yield from [{"drop": "z"}, {"drop": "s"}, insert("s", *source), {"create": "z", "validator": {"a": {"$gt": 1}}}, run(BY_ID, {"$merge": "z"}, collection="s"), find("z")]
    yield from [{"aggregate": "s", "pipeline": [BY_ID, {"$merge": "z"}], "cursor": {}, "bypassDocumentValidation": True}, find("z", sort={"_id": 1})]
    yield from [{"drop": "z"}, insert("z", {"_id": 9, "a": 5}), create(index([("a", 1)], **unique), collection="z"), run(BY_ID, {"$merge": "z"}, collection="s"), find("z", sort={"_id": 1})]
    yield from [run(BY_ID, {"$set": {"n": 1}}, {"$merge": "s"}, collection="s"), run(BY_ID, {"$merge": {"into": "s", "whenMatched": [{"$set": {"y": {"$add": ["$n", "$$new.n"]}}}]}}, collection="s"), find("s", sort={"_id": 1})]
    yield from [run({"$merge": {"into": {"db": "engine_merged", "coll": "w"}}}, collection="s"), {"find": "w", "sort": {"_id": 1}, "$on": "engine_merged"}, {"dropDatabase": 1, "$on": "engine_merged"}]


@topic
def out_stage():
    yield insert("s", {"_id": 1, "a": 5}, {"_id": 2, "z": 6})
    yield insert("z", {"_id": 7})
    yield from [run(BY_ID, {"$out": "z"}, collection="s"), find("z", sort={"_id": 1})]
    yield from [run({"$out": {"db": "engine_out", "coll": "w"}}, collection="s"), {"find": "w", "sort": {"_id": 1}, "$on": "engine_out"}, {"dropDatabase": 1, "$on": "engine_out"}]
    yield from [run({"$out": name}, collection="s") for name in ("", "system.x", "a$b", {"db": "admin", "coll": "w"}, {"db": "local", "coll": "w"}, {"db": "config", "coll": "w"}, {"db": "x"}, {"coll": "x"}, {"db": "", "coll": "x"}, {"db": "a b", "coll": "x"}, {"db": "x", "coll": ""}, {"db": 5, "coll": "x"}, {"db": "x", "coll": "w", "x": 1}, {}, 5)]
    yield from [run({"$out": "z"}, {"$match": {}}, collection="s"), {"create": "c", "capped": True, "size": 4096}, run({"$out": "c"}, collection="s")]
    yield from [run({"$project": {"_id": {"$literal": [1]}}}, {"$out": "z"}, collection="s"), find("z", sort={"_id": 1})]
    yield from [{"create": "v", "validator": {"a": 5}}, run({"$out": "v"}, collection="s"), find("v")]


@topic
def graph_lookups():
    yield insert("g", {"_id": 1, "n": "a", "to": ["b", "c"]}, {"_id": 2, "n": "b", "to": ["d"]}, {"_id": 3, "n": "c", "to": "d"}, {"_id": 4, "n": "d", "to": None}, {"_id": 5, "n": None, "to": "a"}, {"_id": 6, "to": ["e"]}, {"_id": 7, "n": "e"},
        {"_id": 8, "n": ["a", "e"], "o": [{"p": "b"}, {"p": ["c"]}]}, {"_id": 9, "n": {"k": 1}, "to": {"k": 1}}, {"_id": 10, "n": 1, "to": 1.0}, {"_id": 11, "n": 1.0, "to": []}, {"_id": 13, "n": [["a"]], "to": "A"})

    def graph(**options):
        specification = {"from": "g", "startWith": "$n", "connectFromField": "to", "connectToField": "n", "as": "r", **options}
        return {"$graphLookup": {name: value for name, value in specification.items() if value is not ...}}

    # The order of what is found is the server's own.
    sort = {"$set": {"r": {"$sortArray": {"input": "$r", "sortBy": {"_id": 1}}}}}
    for options in [{}, {"depthField": "dd"}, {"maxDepth": 0}, {"maxDepth": 1, "depthField": "d.d"}, {"startWith": "$to"}, {"startWith": ["b", "zz"]}, {"startWith": "$zzz"}, {"startWith": None}, {"startWith": "b", "restrictSearchWithMatch": {"to": {"$ne": "d"}}}, {"connectFromField": "o.p"}, {"connectToField": "o.p", "startWith": "b", "connectFromField": "n"},
            {"connectFromField": "zzz"}, {"from": "nope"}, {"startWith": {"$literal": {"k": 1}}}, {"startWith": {"$add": [1, 0]}}, {"startWith": [["a"]]}, {"depthField": "n"}]:
        yield run(BY_ID, graph(**options), sort, {"$project": {"r": 1}}, collection="g")
    yield run(BY_ID, graph(**{"as": "to.q", "startWith": "e", "maxDepth": 0, "restrictSearchWithMatch": {"_id": 7}}), collection="g")
    yield {"aggregate": "g", "pipeline": [BY_ID, graph(), sort, {"$project": {"r._id": 1}}], "cursor": {}, "collation": {"locale": "en", "strength": 2}}
    yield {"aggregate": "g", "pipeline": [BY_ID, graph(restrictSearchWithMatch={"$expr": {"$ne": ["$n", "$$v"]}}), sort, {"$project": {"r._id": 1}}], "cursor": {}, "let": {"v": "b"}}
    yield from [create(index([("n", 1)]), collection="g"), run(BY_ID, graph(), sort, {"$project": {"r._id": 1}}, collection="g")]
    for options in [{"from": 5}, {"from": ...}, {"from": {"db": "x", "coll": "x"}}, {"from": {"db": 5}}, {"from": {"x": 5}}, {"startWith": ...}, {"connectFromField": ...}, {"connectToField": ...}, {"as": ...}, {"connectFromField": 5}, {"connectFromField": "$f"}, {"connectToField": "t."}, {"as": "$r"}, {"as": 5}, {"as": ""}, {"maxDepth": -1}, {"maxDepth": "x"}, {"maxDepth": 1.5}, {"maxDepth": Int64(1)}, {"maxDepth": None}, {"depthField": 5}, {"depthField": "$d"},
            {"restrictSearchWithMatch": 5}, {"restrictSearchWithMatch": {"$foo": 1}}, {"zz": 1}, {"startWith": "$$nope"}, {"startWith": {"$foo": 1}}, {"startWith": {"$divide": [1, 0]}}]:
        yield run({"$match": {"_id": 7}}, graph(**options), collection="g")
    yield from [run({"$graphLookup": value}, collection="g") for value in (5, "x", {})]
    # From another database.
    for start in ({"db": "x", "coll": "y"}, {"db": "x"}, {}, {"db": 5, "coll": "y"}, {"db": "x", "coll": "y", "z": 1}):
        yield run({"$lookup": {"from": start, "localField": "a", "foreignField": "a", "as": "r"}}, collection="g")

CANONICAL = json_util.CANONICAL_JSON_OPTIONS

def minimal(file):
    """The commands of a file `minimal_….json`, to which `differential --keep` adds, each case in a database of its own."""
    for step in json_util.loads(file.read_text(), json_options=READ):
        yield {**step["command"], "$on": step["db"]}


READ = json_util.JSONOptions(json_mode=json_util.JSONMode.CANONICAL, document_class=SON)
TOPICS.update((file.stem, functools.partial(minimal, file)) for file in sorted((Path(__file__).parent / "command").glob("minimal_*.json")))
VOLATILE = ("$clusterTime", "operationTime", "electionId", "opTime")


def named(case, database):
    """The command, with the database's name in the place of `$db`."""
    text = json_util.dumps(case, json_options=CANONICAL).replace("$db", database)
    return json_util.loads(text, json_options=json_util.JSONOptions(document_class=SON, json_mode=json_util.JSONMode.CANONICAL))


def inside(reply, path):
    """The part of a reply at a path, in which a number is the place in an array."""
    for name in path.split("."):
        if isinstance(reply, list) and name.isdigit() and int(name) < len(reply):
            reply = reply[int(name)]
        else:
            reply = reply.get(name) if isinstance(reply, dict) else None
    return reply


def main(uri, *wanted, topics=None):
    for name, cases in (topics or TOPICS).items():
        if wanted and name not in wanted:
            continue
        # One client each: the driver puts its own session's id in the place of a command's.
        client = pymongo.MongoClient(uri, retryWrites=False)
        database = client[f"engine_{name}"]
        other = client[f"engine_{name}_other"]
        client.drop_database(database.name)
        client.drop_database(other.name)
        steps = []
        dropped = {"admin", "config", "local", database.name, other.name}
        last = Int64(0)
        for case in cases():
            command = named(case, database.name)
            target = client[command.pop("$on", database.name)]
            if target.name not in dropped:
                client.drop_database(target.name)
                dropped.add(target.name)
            for place in ("getMore", "cursors"):
                if command.get(place) == LAST:
                    command[place] = last
                elif command.get(place) == [LAST]:
                    command[place] = [last]
            kept = command.pop("$only", None)
            sent = SON(command)
            reply = target.command(command, check=False)
            for volatile in VOLATILE:
                reply.pop(volatile, None)
            last = reply.get("cursor", {}).get("id") or last
            if kept:
                reply = {path: value for path in kept if (value := inside(reply, path)) is not None}
            step = {"db": "x" if target == database else "x_other" if target == other else target.name, "command": sent, "reply": reply}
            if kept:
                step["only"] = kept
            text = json_util.dumps(step, json_options=CANONICAL)
            steps.append(text.replace(database.name, "x"))
        for name_ in {database.name, other.name} | dropped - {"admin", "config", "local"}:
            client.drop_database(name_)
        path = Path(__file__).parent / "command" / f"{name}.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text("[\n" + ",\n".join(steps) + "\n]\n")
        thin(path)
        print(path.name, len(steps))


if __name__ == "__main__":
    main(*sys.argv[1:])
