"""Records what a real mongod answers about views, capped collections, tailable cursors, statistics and options.

    python3 record_catalog.py mongodb://127.0.0.1:27717/?directConnection=true [TOPIC…]

The topics of `record_commands.py` that are about collections instead of documents; the files are of the same kind. A
`getMore` of `LAST` goes on with the cursor that the last reply with an open cursor told of.
"""

import sys

from bson import Int64, Regex

import pymongo
import record_commands
from record_commands import FM, admin, create, index, insert, key, set_, update

TOPICS = {}
LAST = record_commands.LAST


def topic(function):
    TOPICS[function.__name__] = function
    return function


def run(collection, *stages, **options):
    return {"aggregate": collection, "pipeline": list(stages), "cursor": {}, **options}


def find(collection, **options):
    return {"find": collection, **options}


def view(name, on, *stages, **options):
    return {"create": name, "viewOn": on, "pipeline": list(stages), **options}


def more(collection, **options):
    return {"getMore": LAST, "collection": collection, **options}


@topic
def views():
    """Reading through views."""
    yield insert("a", *({"_id": i, "a": i % 3, "b": [i, i + 1], "s": f"x{i}"} for i in range(9)))
    yield insert("o", *({"_id": i, "name": "xyz"[i]} for i in range(3)))
    yield view("v", "a", {"$match": {"a": {"$gt": 0}}}, {"$set": {"t": {"$add": ["$a", 10]}}})
    yield view("w", "v", {"$project": {"s": 0}})
    yield view("none", "nope")
    yield from [find("v"), find("w"), find("none"), find("v", filter={"t": 11}), find("v", sort={"_id": -1}, skip=1, limit=2), find("v", projection={"t": 1})]
    yield from [find("v", projection={"s": 0}, filter={"_id": 1}), find("v", batchSize=2), more("v", batchSize=2), more("v"), find("v", batchSize=0), more("v"), find("v", batchSize=2, singleBatch=True), find("v", limit=2, singleBatch=True), find("v", limit=1, singleBatch=True), find("v", limit=1)]
    yield from [find("v", filter={"$expr": {"$eq": ["$t", "$$x"]}}, let={"x": 12}), find("v", filter={"$zork": 1}), find("v", sort={"t": 1, "_id": -1}, limit=3)]
    yield from [find("v", **{option: value}) for option, value in [("tailable", True), ("awaitData", True), ("hint", "_id_"), ("hint", {"_id": 1}), ("sort", {"$natural": 1}), ("hint", {"$natural": 1}), ("noCursorTimeout", True), ("allowPartialResults", True), ("allowDiskUse", True), ("maxTimeMS", 5000), ("comment", "x"), ("collation", {"locale": "fr"}), ("collation", {"locale": "simple"}), ("projection", {"b.$": 1}), ("projection", {"b": {"$slice": 1}}), ("projection", {"b": {"$elemMatch": {"$gt": 3}}})]]
    yield from [find("v", filter={"b": 2}, projection={"b.$": 1}), find("v", filter={"_id": 1}, projection={"_id": 0}), find("v", projection={"zork": {"$zork": 1}})]
    yield from [{"count": "v"}, {"count": "v", "query": {"t": 11}}, {"count": "v", "skip": 1, "limit": 2}, {"count": "v", "limit": -2}, {"count": "none"}, {"count": "v", "hint": "_id_"}, {"count": "v", "collation": {"locale": "fr"}}, {"count": "v", "query": {"t": 99}}, {"count": "v", "skip": 100}, {"count": "v", "query": {"$zork": 1}}]
    yield from [{"distinct": "v", "key": "t", "query": {"_id": {"$lt": 2}}}, {"distinct": "none", "key": "t"}, {"distinct": "v", "key": "zork"}, {"distinct": "v", "key": "t", "collation": {"locale": "fr"}}, {"distinct": "v", "key": ""}]
    yield from [run("v"), run("v", {"$match": {"t": 11}}, {"$sort": {"_id": -1}}), run("v", {"$group": {"_id": "$t", "n": {"$sum": 1}}}, {"$sort": {"_id": 1}}), run("v", {"$count": "n"}), run("v", {"$limit": 1}), run("none", {"$count": "n"}), run("v", {"$zork": 1}), run("v", {"$match": {"$expr": {"$eq": ["$t", "$$x"]}}}, let={"x": 12})]
    yield from [run("v", collation={"locale": "fr"}), run("v", collation={"locale": "simple"}), run("v", hint="_id_"), run("v", cursor={"batchSize": 1}), more("v", batchSize=2), run("w", {"$sort": {"t": -1, "_id": 1}}, cursor={"batchSize": 2}), more("w"), more("a")]
    yield from [run("o", {"$lookup": {"from": "v", "localField": "_id", "foreignField": "a", "as": "v"}}, {"$sort": {"_id": 1}}), run("o", {"$lookup": {"from": "w", "let": {"i": "$_id"}, "pipeline": [{"$match": {"$expr": {"$eq": ["$a", "$$i"]}}}, {"$project": {"t": 1}}], "as": "v"}}, {"$sort": {"_id": 1}})]
    yield from [run("o", {"$unionWith": "v"}), run("o", {"$unionWith": {"coll": "w", "pipeline": [{"$match": {"t": 12}}]}}), run("o", {"$unionWith": "none"}), run("o", {"$lookup": {"from": "v", "localField": "_id", "foreignField": "t", "as": "v"}}, {"$sort": {"_id": 1}})]
    yield view("joined", "o", {"$lookup": {"from": "v", "localField": "_id", "foreignField": "a", "as": "v"}}, {"$set": {"v": {"$size": "$v"}}})
    yield from [find("joined", sort={"_id": 1}), run("a", {"$match": {"_id": {"$lt": 2}}}, {"$lookup": {"from": "joined", "localField": "a", "foreignField": "_id", "as": "j"}}, {"$sort": {"_id": 1}}), view("united", "o", {"$unionWith": "v"}, {"$count": "n"}), find("united")]
    yield from [run("o", {"$facet": {"x": [{"$lookup": {"from": "v", "localField": "_id", "foreignField": "a", "as": "v"}}, {"$count": "n"}]}})]
    yield from [run("v", {"$match": {"t": 12}}, {"$out": "copied"}), find("copied", sort={"_id": 1}), run("a", {"$out": "v"})]
    yield from [{"drop": "a"}, find("v"), {"count": "v"}]


@topic
def view_changes():
    """Making, changing and dropping views; what is refused of them."""
    yield insert("a", {"_id": 1, "a": 1}, {"_id": 2, "a": 2})
    yield from [view("v", "a"), {"create": "u", "viewOn": "a"}, view("v", "a"), {"create": "v"}, {"create": "a", "viewOn": "v", "pipeline": []}, {"create": "x", "pipeline": []}, {"create": "x", "viewOn": ""}, {"create": "x", "viewOn": 5}, {"create": "x", "viewOn": "a", "pipeline": 5}]
    yield from [view("x", "a", {"$zork": 1}), view("x", "a", {"$out": "b"}), view("x", "a", {"$merge": "b"}), view("x", "a", {"$match": {"$zork": 1}}), view("x", "a", 5), view("x", "a", {}), view("x", "a$b"), view("x", "a", {"$match": {"$expr": {"$eq": ["$a", "$$zork"]}}})]
    yield from [view("x", "a", **{option: value}) for option, value in [("capped", True), ("size", 100), ("max", 5), ("validator", {"a": 1}), ("validationLevel", "off"), ("validationAction", "warn"), ("autoIndexId", True), ("idIndex", {"key": {"_id": 1}, "name": "_id_"}), ("indexOptionDefaults", {"storageEngine": {}}), ]]
    yield from [{"listCollections": 1, "filter": {"type": "view", "name": "u"}}, {"listCollections": 1, "filter": {"name": "v"}, "nameOnly": True}, {"listCollections": 1, "filter": {"name": "system.views"}, "nameOnly": True}, {"listCollections": 1, "filter": {"name": "x"}}, find("system.views"), {"listCollections": 1, "filter": {"name": "system.views"}}]
    yield from [view("c", "a", collation={"locale": "en", "strength": 2}), view("cc", "c", collation={"locale": "en", "strength": 2}), view("cs", "c"), view("cf", "c", collation={"locale": "fr"}), {"listCollections": 1, "filter": {"name": "c"}}, find("c", filter={"a": 1}), find("c", collation={"locale": "en", "strength": 2}), find("c", collation={"locale": "en"}), find("c", collation={"locale": "simple"})]
    yield from [run("a", {"$lookup": {"from": "c", "localField": "a", "foreignField": "a", "as": "c"}}), run("a", {"$unionWith": "c"}), run("c", {"$lookup": {"from": "v", "localField": "a", "foreignField": "a", "as": "c"}}), run("a", {"$unionWith": "c"}, collation={"locale": "en", "strength": 2}), view("lc", "a", {"$lookup": {"from": "c", "localField": "a", "foreignField": "a", "as": "c"}}), view("lu", "a", {"$unionWith": "c"}), view("lf", "a", {"$facet": {"x": [{"$unionWith": "c"}]}})]
    # Writes and the rest.
    for command in [insert("v", {"_id": 5}), insert("v", {"_id": 5}, ordered=False), update("v", set_({"_id": 1}, a=2)), update("v", {"q": {"_id": 9}, "u": {"$set": {"a": 1}}, "upsert": True}), {"delete": "v", "deletes": [{"q": {}, "limit": 0}]}, {FM: "v", "query": {"_id": 1}, "update": {"$set": {"a": 1}}}, {FM: "v", "query": {"_id": 1}, "remove": True}, {FM: "v", "query": {"_id": 1}, "update": {"$set": {"a": 1}}, "upsert": True}, create(index([("a", 1)]), collection="v"), {"dropIndexes": "v", "index": "*"}, {"listIndexes": "v"}, {"collStats": "v"}, {"dataSize": "$db.v"}, {"validate": "v"}, {"convertToCapped": "v", "size": 1000}, {"create": "v", "capped": True, "size": 100}, {"killCursors": "v", "cursors": [Int64(1)]}]:
        yield command
    # collMod.
    yield from [{"collMod": "v", "viewOn": "a", "pipeline": [{"$match": {"a": 1}}]}, find("v"), {"collMod": "v", "viewOn": "b"}, {"listCollections": 1, "filter": {"name": "v"}}, {"collMod": "v", "viewOn": "a", "pipeline": [{"$match": {"a": 1}}]}, {"collMod": "v", "pipeline": []}, {"listCollections": 1, "filter": {"name": "v"}}, {"collMod": "v"}, {"collMod": "v", "validator": {}}, {"collMod": "v", "index": {"name": "x", "hidden": True}}, {"collMod": "v", "viewOn": "", "pipeline": []}, {"collMod": "a", "viewOn": "b", "pipeline": []}, {"collMod": "nope", "viewOn": "b", "pipeline": []}, {"collMod": "v", "viewOn": "a", "pipeline": [{"$zork": 1}]}, {"collMod": "v", "viewOn": "a", "pipeline": [], "collation": {"locale": "en"}}, {"collMod": "v", "viewOn": "c", "pipeline": []}, {"collMod": "v", "viewOn": "a", "pipeline": [], "validationLevel": "off"}]
    # Cycles.
    yield from [view("s", "s"), view("c1", "c2"), view("c2", "c3"), view("c3", "c1"), view("c3", "a", {"$unionWith": "c1"}), view("c3", "a", {"$lookup": {"from": "c1", "localField": "a", "foreignField": "a", "as": "x"}}), view("c3", "a", {"$facet": {"x": [{"$lookup": {"from": "c3", "localField": "a", "foreignField": "a", "as": "x"}}]}}), {"collMod": "c2", "viewOn": "c1", "pipeline": []}, {"collMod": "u", "viewOn": "a", "pipeline": [{"$unionWith": "u"}]}, find("c1")]
    # Depth.
    yield view("d0", "a")
    for i in range(1, 21):
        yield view(f"d{i}", f"d{i - 1}")
    yield from [find("d18"), find("d19"), find("d20"), view("q0", "q1", collation={"locale": "en"}), view("q1", "a"), {"drop": "q0"}, *([{"update": "system.views", "updates": [{"q": {}, "u": {"$set": {"a": 1}}}]}, {"delete": "system.views", "deletes": [{"q": {}, "limit": 0}]}, {FM: "system.views", "query": {}, "remove": True}, create(index([("a", 1)]), collection="system.views"), {"create": "system.views"}, {"explain": update("v", set_({}, a=1))}]), view("d19b", "d18"), {"create": "e20", "viewOn": "d18", "pipeline": []}]
    yield from [{"drop": "v"}, {"drop": "v"}, find("v"), {"drop": "system.views"}, {"listCollections": 1, "filter": {"name": {"$in": ["u", "c"]}}}, find("u"), insert("u", {"_id": 1}), view("u", "a"), {"drop": "u"}, view("u", "a"), {"dropDatabase": 1}, {"listCollections": 1}, insert("system.views", {"_id": 1})]


@topic
def tailable():
    yield {"create": "c", "capped": True, "size": 4096, "max": 4}
    yield insert("a", {"_id": 1})
    yield from [find("a", tailable=True), find("nope", tailable=True), find("c", tailable=True), find("c", awaitData=True), find("c", tailable=True, sort={"_id": 1}), find("c", tailable=True, sort={"$natural": -1}), find("c", tailable=True, singleBatch=True), find("c", tailable=True, limit=-1)]
    yield insert("c", {"_id": 1}, {"_id": 2})
    yield from [find("c", tailable=True), more("c"), insert("c", {"_id": 3}), more("c"), more("c"), insert("c", {"_id": 4}, {"_id": 5}), more("c"), insert("c", *({"_id": i} for i in range(6, 12))), more("c"), more("c")]
    yield from [find("c", tailable=True, filter={"_id": {"$gte": 10}}, batchSize=1), more("c", batchSize=1), more("c"), insert("c", {"_id": 12}, {"_id": 13}), more("c"), more("c", maxTimeMS=5)]
    yield from [find("c", tailable=True, awaitData=True), more("c", maxTimeMS=5), insert("c", {"_id": 14}), more("c", maxTimeMS=5), more("c", batchSize=1, maxTimeMS=5)]
    yield from [find("c", tailable=True, limit=2), more("c"), find("c", tailable=True, limit=10), more("c"), find("c", tailable=True, skip=1), insert("c", {"_id": 15}), more("c"), find("c", tailable=True, projection={"_id": 0}), find("c", tailable=True, sort={"$natural": 1}), find("c", tailable=True, hint={"$natural": 1}), find("c", tailable=True, hint={"$natural": -1}), find("c", tailable=True, hint="_id_"), find("c", tailable=True, filter={"_id": 15}), more("c"), find("c", sort={"$natural": -1}), find("c", hint={"$natural": -1}), find("c", sort={"$natural": 1})]
    yield from [find("c", tailable=True), {"drop": "c"}, more("c")]
    yield from [{"create": "d", "capped": True, "size": 4096}, insert("d", {"_id": 1}), find("d", tailable=True), {"delete": "d", "deletes": [{"q": {"_id": 1}, "limit": 1}]}, more("d"), insert("d", {"_id": 2}), more("d")]
    yield from [{"create": "e", "capped": True, "size": 4096}, find("e", tailable=True, awaitData=True), insert("e", {"_id": 1}), find("e", tailable=True, awaitData=True), {"drop": "e"}, more("e")]
    yield from [insert("a", {"_id": 2}, {"_id": 3}), find("a", batchSize=1), more("a", maxTimeMS=5), find("a", batchSize=1), more("b"), {"killCursors": "a", "cursors": [LAST]}, {"killCursors": "a", "cursors": [LAST]}]
    yield from [run("d", {"$match": {}}, cursor={"batchSize": 0, "tailable": True})]


@topic
def capped():
    yield from [{"create": "c", "capped": True, "size": 1}, {"listCollections": 1, "filter": {"name": "c"}}]
    yield from [insert("c", {"_id": i, "s": "x" * 100}) for i in range(4)]
    yield from [find("c"), {"count": "c"}]
    for size in [255, 256, 257, 4095, 4096, 4097, 100000, 2**31, 2**50, 2**51]:
        yield from [{"create": f"s{size}", "capped": True, "size": Int64(size)}, {"listCollections": 1, "filter": {"name": f"s{size}"}}]
    for most in [0, -1, 1, 2**31 - 1, 2**31]:
        yield from [{"create": f"m{most}", "capped": True, "size": 5000, "max": Int64(most)}, {"listCollections": 1, "filter": {"name": f"m{most}"}}]
    yield from [{"create": "f", "capped": False, "size": 5000}, {"create": "g", "capped": True, "size": 5000.7, "max": 2.5}, {"listCollections": 1, "filter": {"name": "g"}}, {"create": "z", "capped": True, "size": 0}]
    yield from [{"create": "k", "capped": True, "size": 4096, "max": 3}, insert("k", *({"_id": i, "a": 1} for i in range(5))), find("k"), find("k", sort={"$natural": -1})]
    yield from [update("k", set_({"_id": 3}, a="a much longer string than there was")), update("k", {"q": {"_id": 3}, "u": {"a": 1}}), update("k", {"q": {"_id": 9}, "u": {"$set": {"a": 1}}, "upsert": True}), find("k"), {"delete": "k", "deletes": [{"q": {"_id": 4}, "limit": 1}]}, {"delete": "k", "deletes": [{"q": {}, "limit": 0}]}, find("k")]
    yield from [insert("k", {"_id": 1, "s": "x" * 5000}), find("k"), insert("k", {"_id": 2}, {"_id": 2}), {"create": "kk", "capped": True, "size": 512}, insert("kk", {"_id": 1}, {"_id": 2, "s": "x" * 600}, {"_id": 3}), find("kk")]
    yield from [create(index([("a", 1)], unique=True), collection="k"), insert("k", {"_id": 30, "a": 1}, {"_id": 31, "a": 2}, {"_id": 32, "a": 3}, {"_id": 33, "a": 1}), find("k")]
    yield insert("n", *({"_id": i, "s": "y" * 200} for i in range(10)))
    yield from [{"convertToCapped": "n", "size": 1000}, find("n", projection={"_id": 1}), {"listCollections": 1, "filter": {"name": "n"}}, {"convertToCapped": "nope", "size": 1000}, {"convertToCapped": "nope", "size": 100}]
    yield from [{"cloneCollectionAsCapped": "k", "toCollection": "kc", "size": 300}, find("kc"), {"listIndexes": "kc"}, {"cloneCollectionAsCapped": "k", "toCollection": "kc", "size": 300}, {"cloneCollectionAsCapped": "nope", "toCollection": "kd", "size": 300}]
    yield from [{"collMod": "k", "cappedSize": Int64(2**51)}, {"collMod": "k", "cappedSize": 0}, {"collMod": "k", "cappedSize": 300}, {"listCollections": 1, "filter": {"name": "k"}}, {"collMod": "k", "cappedMax": 0}, {"listCollections": 1, "filter": {"name": "k"}}, {"collMod": "k", "cappedMax": -5}, {"collMod": "k", "cappedMax": Int64(2**31)}, {"collMod": "k", "cappedMax": 2}, {"count": "k"}, insert("k", {"_id": 99, "a": 99}), find("k")]
    yield from [create(index([("t", 1)], "t", expireAfterSeconds=5), collection="k"), run("n", {"$out": "k"})]


@topic
def statistics():
    yield insert("a", *({"_id": i, "s": "x" * i} for i in range(10)))
    yield create(index([("s", 1)], "s_1"))
    yield from [{"dataSize": "$db.a"}, {"dataSize": "$db.a", "estimate": True}, {"dataSize": "$db.nope"}, {"dataSize": "a"}, {"dataSize": 5}, {"datasize": "$db.a"}]
    yield from [{"collStats": "a", "scale": 0}, {"collStats": "a", "scale": -1}, {"collStats": "a", "scale": "x"}, {"collStats": ""}, {"validate": "nope"}, {"validate": ""}, {"validate": "a"}, {"validate": "a", "full": True, "background": True}, {"validate": "a", "repair": True, "background": True}, {"validate": "a", "enforceFastCount": True, "background": True}, {"validate": "a", "repair": True}]
    yield from [insert("m", *({"_id": i, "b": [1, 2, i]} for i in range(3))), create(index([("b", 1)], "b_1"), index([("z", 1)], "z_1", sparse=True), index([("b", 1), ("z", 1)], "p", partialFilterExpression={"_id": 1}), collection="m"), {"validate": "m"}]


@topic
def renames():
    yield from [insert("a", {"_id": 1, "a": 1}), create(index([("a", 1)])), insert("b", {"_id": 2}), view("v", "a")]

    def rename(source, target, **options):
        return admin({"renameCollection": f"$db.{source}", "to": f"$db.{target}", **options})

    yield from [rename("a", "b"), rename("a", "a"), rename("nope", "b"), rename("nope", "c"), rename("a", "a$b"), rename("a", ""), rename("a", ".x"), rename("a", "x" * 255), rename("a", "system.foo"), rename("system.foo", "x"), rename("v", "w"), rename("a", "v"), rename("a", "v", dropTarget=True), rename("v", "v"), rename("system.views", "z"), rename("a", "system.views")]
    yield from [admin({"renameCollection": "$db.a", "to": "c"}), admin({"renameCollection": "a", "to": "$db.c"}), admin({"renameCollection": 5, "to": "$db.c"}), admin({"renameCollection": "$db.a"}), admin({"renameCollection": "$db.a", "to": 5})]
    yield from [rename("a", "b", dropTarget=True), find("b"), find("a"), {"listIndexes": "b"}, rename("b", "c"), find("c"), find("v")]
    yield from [find("c", batchSize=0), rename("c", "d"), more("c"), more("d")]
    yield from [admin({"renameCollection": "$db.d", "to": "$db_other.d"}), find("d"), {**find("d"), "$on": "$db_other"}, {"listIndexes": "d", "$on": "$db_other"}, admin({"renameCollection": "$db_other.d", "to": "$db.e"}), find("e"), insert("f", {"_id": 5}), admin({"renameCollection": "$db.f", "to": "$db_other.d"}), insert("g", {"_id": 6}), {**insert("d", {"_id": 1}), "$on": "$db_other"}, admin({"renameCollection": "$db.g", "to": "$db_other.d"}), admin({"renameCollection": "$db.g", "to": "$db_other.d", "dropTarget": True}), {**find("d"), "$on": "$db_other"}]
    yield from [{"create": "k", "capped": True, "size": 4096, "max": 5}, rename("k", "kk"), {"listCollections": 1, "filter": {"name": "kk"}}, admin({"renameCollection": "$db.kk", "to": "$db_other.kk"}), {"listCollections": 1, "filter": {"name": "kk"}, "$on": "$db_other"}, {"dropDatabase": 1, "$on": "$db_other"}]


@topic
def list_collections():
    yield from [insert("b", {"_id": 1}), {"create": "a", "capped": True, "size": 4096}, {"create": "c", "validator": {"a": 1}}, view("v", "b", {"$match": {"a": 1}})]
    yield from [{"listCollections": 1, "nameOnly": True, "filter": {"name": {"$ne": "system.views"}, **more}} for more in ({"type": "view"}, {"name": Regex("^[a]$")}, {"options": {}}, {"options.capped": True}, {"info.readOnly": True}, {"options.viewOn": "b"}, {"$or": [{"name": "zork"}, {"type": "view"}]}, {"idIndex": {"$exists": True}})]
    yield from [{"listCollections": 1, "filter": {"info.readOnly": True}}, {"listCollections": 1, "filter": {"options.viewOn": "b"}}, {"listCollections": 1, "filter": {"$zork": 1}}, {"listCollections": 1, "filter": {"name": "a", "$expr": {"$eq": ["$type", "collection"]}}, "nameOnly": True}, {"listCollections": 1, "filter": 5}, {"listCollections": "x", "filter": {"name": "a"}}, {"listCollections": 1, "filter": {"name": "a"}, "nameOnly": False, "authorizedCollections": True}, {"listCollections": 1, "cursor": {"batchSize": -1}}, {"listCollections": 1, "cursor": 5}, {"listCollections": 1, "nameOnly": 1}, {"listCollections": 1, "zork": 1}]
    yield from [{"listCollections": 1, "filter": {"name": {"$in": ["a", "b", "c"]}}, "nameOnly": True, "cursor": {"batchSize": 0}}, {"listCollections": 1, "filter": {"name": "a"}, "nameOnly": True, "cursor": {"batchSize": 0}}, more("$cmd.listCollections"), {"listIndexes": "b", "cursor": {"batchSize": 0}}, more("b"), {"listIndexes": "b", "cursor": 5}]
    yield from [{"listDatabases": 1}, *(admin({"listDatabases": 1, "nameOnly": True, "filter": {"name": name}}) for name in ("$db", "nope"))]
    yield from [admin({"listDatabases": 1, "filter": 5}), admin({"listDatabases": 1, "nameOnly": "x"}), admin({"listDatabases": 1, "filter": {"$zork": 1}}), admin({"listDatabases": 1, "nameOnly": True, "filter": {"name": "$db"}, "authorizedDatabases": True}), admin({"listDatabases": 1, "zork": 1})]


@topic
def coll_mods():
    yield insert("a", {"_id": 1, "a": 1, "b": 1}, {"_id": 2, "a": 1, "b": 2})
    yield from [create(index([("a", 1)], "a_1"), index([("b", 1)], "b_1"), index([("a", 1), ("b", 1)], "ab"), index([("t", 1)], "t_1", expireAfterSeconds=100))]

    def mod(**options):
        return {"collMod": "a", "index": options}

    yield from [mod(name="b_1", prepareUnique=True), {"listIndexes": "a"}, insert("a", {"_id": 3, "b": 2}), mod(name="b_1", unique=True), {"listIndexes": "a"}, mod(name="b_1", unique=True), mod(name="b_1", prepareUnique=False), {"listIndexes": "a"}, insert("a", {"_id": 3, "b": 2}), mod(name="b_1", unique=False)]
    yield from [mod(name="a_1", unique=True), mod(name="a_1", prepareUnique=True), mod(name="a_1", unique=True), mod(name="a_1", prepareUnique=False), {"listIndexes": "a"}, mod(name="a_1", prepareUnique=False), mod(name="a_1", prepareUnique=True, unique=True), mod(name="_id_", prepareUnique=True), mod(name="_id_", unique=True), mod(name="_id_", hidden=True), mod(name="_id_", expireAfterSeconds=5), mod(name="a_1", prepareUnique=True, hidden=True), {"listIndexes": "a"}]
    yield from [{"collMod": "a", "index": {"name": "a_1", "unique": True}, "dryRun": True}, {"collMod": "a", "index": {"name": "a_1", "hidden": False}, "dryRun": True}, {"collMod": "a", "dryRun": True}, {"collMod": "a", "index": {"name": "ab", "prepareUnique": True}}, {"collMod": "a", "index": {"name": "ab", "unique": True}, "dryRun": True}, {"collMod": "a", "index": {"name": "ab", "unique": True}}]
    yield from [mod(name="t_1", expireAfterSeconds=50), mod(name="t_1", expireAfterSeconds=50), mod(keyPattern={"t": 1}, expireAfterSeconds=60.5), mod(name="a_1", expireAfterSeconds=50), mod(name="ab", expireAfterSeconds=50), mod(name="t_1", expireAfterSeconds=-1), mod(name="t_1", expireAfterSeconds=Int64(2**31)), mod(name="t_1", expireAfterSeconds=Int64(2**40)), mod(name="t_1", expireAfterSeconds="x"), mod(name="t_1", hidden=True, expireAfterSeconds=10), {"listIndexes": "a"}]
    yield from [mod(), mod(name="a_1"), mod(name="zz", hidden=True), mod(keyPattern={"zz": 1}, hidden=True), mod(name="a_1", keyPattern={"a": 1}, hidden=True), mod(name="a_1", zork=1), mod(keyPattern={}, hidden=True), mod(name="", hidden=True)]
    yield from [{"collMod": "a", "zork": 1}, {"collMod": "a", "index": 5}, {"collMod": "a", "expireAfterSeconds": 5}, {"collMod": "a", "expireAfterSeconds": "off"}, {"collMod": "a", "timeseries": {"granularity": "hours"}}, {"collMod": "a", "noPadding": True}, {"collMod": "a", "usePowerOf2Sizes": True}, {"collMod": "a", "validator": {"a": 1}, "validationLevel": "strict", "validationAction": "warn", "index": {"name": "a_1", "hidden": True}}, {"listCollections": 1, "filter": {"name": "a"}}]


@topic
def namespace_names():
    yield from [insert(name, {"_id": 1}) for name in ["", "a\0b", "$a", "a$", ".a", "a.", "a..b", "a b", "ä", "x" * 200, "x" * 255, "system.", "system.x", "systemx", "a/b", "oplog.$main", "system.js", "system.indexes", "system.namespaces", "system.buckets.x", "system.profile", "system.users"]]
    for name in ["a.b", "a b", "a/b", "a\\b", 'a"b', "", "x" * 63, "x" * 64, "ä" * 31, "ä" * 32, "a*b", "a<b", "a>b", "a:b", "a|b", "a?b", "a\0b"]:
        yield {**find("nope"), "$on": name}
    for command in [{"drop": "a$b"}, {"drop": ".a"}, {"drop": ""}, {"create": "x" * 255}, {"listIndexes": "a$b"}, {"listIndexes": ""}, {"collStats": "a$b"}, {"collMod": "a$b"}, {"collMod": ".a"}, {"count": "a$b"}, {"count": ".a"}, {"distinct": "a$b", "key": "a"}, run("a$b"), run(".a"), run(""), find(".a"), find("a$b"), update("a$b", set_({}, a=1)), update(".a", set_({}, a=1)), {"delete": "a$b", "deletes": [{"q": {}, "limit": 0}]}, {FM: "a$b", "query": {}, "remove": True}, create(index([("a", 1)]), collection="a$b"), {"dropIndexes": "a$b", "index": "*"}]:
        yield command


if __name__ == "__main__":
    # The server is to refuse the names, not the client.
    pymongo.synchronous.database._check_name = lambda name: None
    record_commands.main(*sys.argv[1:], topics=TOPICS)
