"""Records what a real mongod makes of updates, for the engine's unit tests.

    python3 record_updates.py mongodb://127.0.0.1:27717/?directConnection=true [FILE…]

Each case is a document (or none, for an upsert), a filter, an update and array filters; recorded are the document
that results and whether it counted as modified, or the error's code and message.
"""

import re
import sys
from pathlib import Path

import pymongo
from bson import Decimal128, Int64, Timestamp, json_util

from thin import thin

D = {"_id": 1, "a": 5, "b": [1, 2, 3], "s": "x", "o": {"p": 1, "q": 2}, "n": None}
G = {**D, "g": [{"x": 1, "y": [1, 2]}, {"x": 2, "y": [3]}]}
M = {"_id": 1, "a": 5, "b": [1, [3], 3], "s": "x", "g": [{"x": 1, "y": [1, 2]}], "h": ["abc", "b"], "z": {}}
LONG = Int64(2**63 - 1)
# Names that are numbers, or begin like one, in no order.
NUMBERED = {str(i * 37 % 29) + mark: 1 for mark in ("", "a", "0") for i in range(29)} | {"007": 1, "08": 1, "-1": 1, "a9": 1, "a10": 1}


def each(values, **options):
    return {"$each": values, **{"$" + name: value for name, value in options.items()}}


def on(document, *updates):
    return [{"document": document, "update": update} for update in updates]


def at(document, filter, update, array_filters=None):
    case = {"document": document, "filter": filter, "update": update}
    if array_filters is not None:
        case["arrayFilters"] = array_filters
    return case


def upsert(filter, update):
    return {"filter": filter, "update": update, "upsert": True}


def ops(name, *arguments):
    return [{name: argument} for argument in arguments]


IDS = [{"_id": {"a": 1}, "q": 1}, {"_id": {"a": {"x": 1}}, "q": 1}, {"_id": {"a": [1, {"b": 1}]}, "q": 1}, {"_id": 1, "q": 1}, {"_id": {"a": []}, "q": 1}]
# What may not be done to an `_id`, and what changes nothing of it.
OF_ID = [*ops("$set", {"_id": 2}, {"_id": [2]}, {"_id.b": 1}, {"_id.b": 1, "_id.c": 1}, {"_id.a": 1}, {"_id.a.b": 1}, {"_id.a.b.c": 1}, {"_id.b.c": 1}, {"_id.a.0": 1}, {"_id.a.3": 2}, {"_id.a.1.c": 2}, {"_id.a.x": 2, "_id.a.y": 3}, {"_id.a": 2, "_id.b": 1}, {"_id.b": 1, "a": {"$x": 1}}, {"_id.a.$[].x": 1}, {"_id.$[]": 1}, {}),
    *ops("$push", {"_id": 1}, {"_id.a": 1}, {"_id.z": 1}, {"_id.z": {"$each": []}}, {"_id.a": {"$each": [], "$sort": 1}}, {"_id": each([])}, {"_id": each([], sort=1)}, {"_id": each([5], slice=0)}, {"_id": each([], slice=1)}, {"_id.0": 3}, {"_id.5": 3}, {"_id.$[]": 3}),
    *ops("$addToSet", {"_id": 1}, {"_id": {"$each": []}}, {"_id": {"$each": [1, 3]}}, {"_id.a": 1}), *ops("$unset", {"_id": 1}, {"_id.a": 1}, {"_id.z": 1}, {"_id.a.b": 1}),
    *ops("$rename", {"q": "_id.b"}, {"q": "_id"}, {"_id.a": "r"}, {"_id.a": "_id.b"}, {"_id.z": "r"}, {"_id": "r"}, {"_id.a": "q"}), *ops("$inc", {"_id.z": 1}, {"_id.a": 0}, {"_id": 1}), *ops("$setOnInsert", {"_id": [1]}, {"_id.z": 1}), *ops("$pull", {"_id": 1}, {"_id": 5}), {"$pop": {"_id": 1}}, {"$min": {"_id": [0]}}, {"$max": {"_id": [9]}},
    {}, {"a": 1}, {"_id": [1]}, {"_id": [2]}, {"_id": 2}, {"_id": {"$a": 1}}, {"_id": re.compile("a")}, [], *([{"$set": {"_id": value}}] for value in ([1], [2], 2, re.compile("a"), {"$literal": {"$a": 1}})),
    [{"$set": {"a": 1}}], [{"$set": {"_id.a": 1}}], [{"$unset": "_id"}], [{"$replaceWith": {"a": 1}}], [{"$replaceWith": {"_id": [1]}}], [{"$project": {"_id": 0}}], [{"$project": {"a": 1}}]]

FILES = {
    "immutable_ids": [case for document in IDS for case in on(document, *OF_ID)] + [upsert(filter, update) for filter in ({}, {"_id": 1}, {"_id": [1]}, {"_id": []}, {"_id": {"$in": [[2, 1]]}}, {"_id": {"$all": [[1]]}}, {"_id.a": 1}, {"_id.0": 1}, {"_id": {"b": [1]}}, {"_id": {"$gt": 0}}, {"$and": [{"_id": [1], "a": 1}]}) for update in OF_ID],
    "set": on(D, *ops("$set", {}, {"a": 1}, {"a": 5}, {"a": 5.0}, {"": 1}, {"a.": 1}, {".a": 1}, {"a..b": 1}, {"$a": 1},
        {"o.$a": 1}, {"a.b": 1}, {"b.x": 1}, {"n.x": 1}, {"b.5": 9}, {"b.1": 9}, {"b.2000000": 9}, {"b.01": 9},
        {"q.r": 1, "q.s": 2}, {"q.1": 3}, {"a1": 1, "a10": 2, "a2": 3, "10": 1, "9": 2}, {"z": {"$a": 1}}, {"a$": 1},
        {"z": Timestamp(0, 0)}, {"_id": 1}, {"_id": 2}, {"_id": 1.0}, {"_id.x": 2}, {"$[]": 7}, {"$": 7}, {"b.$[e": 7},
        {"b.$x": 7}, NUMBERED, {"y." + name: 1 for name in NUMBERED}, {"b.+1": 1}), *ops("$setOnInsert", {"y": 1}, {"a.y": 1}, {"_id": 1}),
        {"$foo": {"a": 1}}, {"$set": 5}, {"$set": [1]}, {"$set": None}, {"$set": {"b": 1}, "a": 1},
        {"$set": {"a": 1}, "$set2": {}}, {"$pushAll": {"b": [1]}}),
    "unset": on(D, *ops("$unset", {"a": 1}, {"b.1": 1}, {"b.+1": 1}, {"b.01": 1}, {"o.p": 1}, {"zz.y": 1}, {"a.y": 1}, {"b.9": 1}, {"b.x": 1},
        {"b.x.y": 1}, {"_id": 1}, {"_id.y": 1}, {"b.$[]": 7})),
    "arithmetic": on(D, *ops("$inc", {"a": 1}, {"s": 1}, {"a": "x"}, {"a": None}, {"n": 1}, {"zz": 1.5}, {"a": 2147483647},
        {"a": LONG}, {"a": 0}, {"a": 0.0}, {"a": Int64(0)}, {"o": 1}, {"b": 1}, {"b.0": 1}, {"a": Decimal128("1.5")},
        {"a": float("nan")}, {"b.$[]": 10}, {"a.y": 1}), *ops("$mul", {"a": 2}, {"zz": 2}, {"zz": 2.5}, {"zz": Int64(3)},
        {"zz": Decimal128("3")}, {"s": 2}, {"a": "q"}, {"a": Int64(2**62)}, {"a": 1}, {"a": 1.0}, {"a": Decimal128("1.5")})),
    "compare": on(D, *ops("$min", {"a": 3}, {"a": 7}, {"zz": 7}, {"a": 4.0}, {"a": None}, {"a.y.z": 1}),
        *ops("$max", {"a": "x"}, {"a": 5.0}, {"n": 1}, {"_id": 0}, {"_id": 4})),
    "rename": on(D, *ops("$rename", {"b.+1": "z"}, {"b.01": "z"}, {"a": "z"}, {"a": "s"}, {"a": "a"}, {"a": "o.z"}, {"o.p": "p2"}, {"zz": "y"}, {"zz": "a"},
        {"b.0": "y"}, {"a": "b.0"}, {"a": 5}, {"a": ""}, {"o": "o.p"}, {"o.p": "o"}, {"a": "$x"}, {"a": "b.$"}, {"b.$": "x"},
        {"_id": "x"}, {"a": "_id"}, {"a": "s.y"}, {"a": "z", "z": "q"}, {"b.$[]": "x"}, {"a": "x.$[]"}, {"a": "c", "s": "d"},
        {"a.x": "q"}, {"b.x": "q"}, {"s": "a.x.y"}, {"zz": "a.x"}, {"b": "y"}, {"a": "b"}),
        {"$rename": {"a": "w.c"}, "$set": {"w.d": 1}}) + on(M, {"$rename": {"g.x": "zz"}}),
    "current_date": on(D, *ops("$currentDate", {"a": 1}, {"a": "date"}, {"a": {"$type": "x"}}, {"a": {"$type": 1}},
        {"a": {"type": "date"}}, {"a": {"$type": "date", "x": 1}}, {"a.x": True}, {})),
    "push": on(G, *ops("$push", {"b": 4}, {"a": 4}, {"zz": 4}, {"b": [4, 5]}, {"b": each([4, 5])}, {"b": each(4)},
        {"b": each([4], slice=2)}, {"b": each([4], slice=-2)}, {"b": each([4], slice=0)}, {"b": each([4], slice="x")},
        {"b": each([4], slice=1.5)}, {"b": each([4], slice=2.0)}, {"b": each([4], sort=-1)}, {"b": each([4], sort=2)},
        {"b": each([4], sort="x")}, {"g": each([], sort={"x": -1})}, {"g": each([], sort={"x": "q"})},
        {"g": each([], sort={})}, {"g": each([], sort={"": 1})}, {"g": each([], sort={"x.": 1})},
        {"b": each([4], position=1)}, {"b": each([4], position=-1)}, {"b": each([4], position=-9)},
        {"b": each([4], position="x")}, {"b": each([4], position=1.5)}, {"b": each([4], foo=1)}, {"b": {"$slice": 1}},
        {"b": {"x": 1, "$each": [1]}}, {"b": {"$foo": 1}}, {"b": each([])}, {"zz": each([])}, {"b": each([], slice=5)},
        {"b": each([], slice=2)}, {"b": each([], sort=1)}, {"n": 1}, {"b": each([7, 8], position=0, slice=3, sort=-1)},
        {"b": each([1], slice=Int64(2**31))}, {"g": each([{"x": 0}, 5], sort={"x": 1})}, {"g.0.y": 7}, {"a.y": 1})),
    "add_to_set": on(G, *ops("$addToSet", {"b": 4}, {"b": 3}, {"b": 3.0}, {"a": 3}, {"zz": 3}, {"b": [1, 2]},
        {"b": each([3, 4, 4])}, {"b": each(3)}, {"b": each([3], slice=1)}, {"b": each([])}, {"zz": each([])},
        {"b": {"$foo": []}}, {"b": {"x": 1, "$each": [9]}}, {"g": {"x": 1, "y": [1, 2]}}, {"g": {"y": [1, 2], "x": 1}},
        {"a.x": 1})),
    "pull": on(G, *ops("$pull", {"b": 2}, {"b": {"$gte": 2}}, {"b": 9}, {"a": 9}, {"zz": 9}, {"g": {"x": 1}},
        {"g": {"x": {"$gt": 1}}}, {"g": {"y": 3}}, {"b": {"x": 1}}, {"b": {"$in": [1, 3]}}, {"b": {"$foo": 1}}, {"b": [1, 2]},
        {"g": {"$or": [{"x": 1}]}}, {"g": {}}, {"b": {}}, {"b": None}, {"g.y": 3}, {"g.0.y": 1}, {"b": {"$exists": True}},
        {"g": {"y": {"$exists": True}, "x": 2}}, {"b": {"$gt": 1, "x": 1}}, {"g": {"x": 1, "$gt": 1}}),
        *ops("$pullAll", {"b": [1, 2]}, {"b": 1}, {"a": [1]}, {"zz": [1]}, {"b": [1.0]}, {"b": []}))
        + on(M, *ops("$pull", {"b": {"$gte": 3}}, {"b": 3}, {"b": [3]}, {"h": re.compile("^a")}, {"b": {"$ne": 3}},
        {"b": {"$not": {"$gte": 3}}}, {"g": {"$elemMatch": {"x": 1}}}, {"g": {"x": {"$exists": False}}},
        {"b": {"$elemMatch": {"$gt": 2}}}, {"b": {"$size": 1}}, {"b": {"$type": "array"}}, {"b": {"$in": [3]}},
        {"b": {"$all": [3]}}, {"a.y": 1}, {"a.y.z": 1}, {"b.9": 1}, {"z.q.r": 1}),
        *ops("$pullAll", {"a.y": [1]}, {"b.y.z": [1]})),
    "pop": on(G, *ops("$pop", {"b": 1}, {"b": -1}, {"b": 2}, {"b": "x"}, {"a": 1}, {"zz": 1}, {"b": 1.0}, {"b": 1.5},
        {"a.y": 1}, {"b.y": 1}, {"b.9": 1}, {"b.9.x": 1}, {"b": Int64(1)}, {"b": None}, {"b": 0})),
    "bit": on(G, *ops("$bit", {"a": {"and": 4}}, {"a": {"or": Int64(8)}}, {"a": {"xor": 1, "or": 2}}, {"a": {"foo": 1}},
        {"a": {"and": 1.0}}, {"a": {}}, {"a": 5}, {"s": {"and": 1}}, {"zz": {"or": 3}}, {"zz": {"and": 3}},
        {"zz": {"and": Int64(3)}}, {"n": {"and": 3}}, {"a": {"and": 5}}, {"b.x": {"or": 1}})),
    "conflicts": on(D, {"$set": {"a": 1}, "$inc": {"a": 1}}, {"$set": {"o": 1, "o.p": 1}},
        {"$set": {"o.p": 1}, "$unset": {"o": 1}}, {"$set": {"b.$[]": 1, "b.1": 2}}, {"$set": {"b.$[]": 1, "b.$[].x": 2}},
        {"$set": {"b.$.y": 1, "b.$": 2}}, {"$set": {"b.$[]": 1, "b.$[e]": 2}}),
    "positional": on(G, *ops("$set", {"b.$": 1}, {"b.$.x": 1}, {"b.$[]": 1}, {"a.$[]": 1}, {"zz.$[]": 1}, {"b.$[e]": 1},
        {"g.$[].x": 7}, {"g.$[].y.$[]": 7}, {"g.$[].x.z": 7}, {"b.$[].$[]": 7}, {"a.b.$[]": 1}, {"a.b.$[].x": 1},
        {"b.$[].x": 1}, {"g.$[e]b.x": 1}, {"g.$[E].x": 1}, {"g.$[e x].x": 1}),
        *ops("$unset", {"b.$[].x": 1}, {"a.$[].x": 1}, {"zz.$[].x": 1})) + [
        at(G, {"b": 2}, {"$set": {"b.$": 9}}), at(G, {"a": 5}, {"$set": {"b.$": 9}}), at(G, {"g.x": 2}, {"$set": {"g.$.x": 9}}),
        at(G, {"b": {"$elemMatch": {"$gt": 1}}}, {"$set": {"b.$": 9}}), at(M, {"b": 1}, {"$set": {"b.$": 1, "b.1": 2}}),
        at(M, {"b": 1}, {"$set": {"b.$": 1, "b.0": 2}}), at(M, {"g.x": 1}, {"$set": {"g.$.z": 1, "g.0.z": 2}}),
        at(M, {"g.x": 1}, {"$set": {"g.$.z": 1, "g.0.w": 2}}), at(M, {"b": 1}, {"$set": {"a.$": 1}}),
        at(M, {"b": 1}, {"$set": {"q.$": 1}}), at(M, {"b": 1}, {"$set": {"q.$.x": 1}}), at(M, {"b": 1}, {"$unset": {"z.$": 1}}),
        at(M, {"b": 1}, {"$unset": {"b.$": 1}}), at(M, {"b": 1}, {"$set": {"b.$.$[]": 1}})],
    "array_filters": [at(G, {}, {"$set": {"b.$[e]": 9}}, filters) for filters in ([{"e": 2}], [{"e": {"$gte": 2}}],
        [{"e": 2}, {"e": 3}], [{"e": 2}, {"f": 3}], [{"E": 2}], [{"e": 2, "f": 1}], [{}], [{"$or": [{"e": 1}, {"e": 3}]}],
        [{"e": {"$foo": 1}}], [{"$expr": 1}], [{"e1_": 1}])] + [
        at(G, {}, {"$set": {"g.$[e].x": 9}}, [{"e.x": 2}]), at(G, {}, {"$set": {"b": 9}}, [{"e": 1}]),
        at(G, {}, {"$set": {"g.$[e].y.$[f]": 9}}, [{"e.x": 1}, {"f": {"$gt": 1}}]), at(G, {}, {"x": 1}, [{"e": 1}]),
        at(G, {}, {"$set": {"b.$[e]": 9, "b.$[f]": 1}}, [{"e": 1}, {"f": 2}]), at(G, {}, [{"$set": {"x": 1}}], [{"e": 1}]),
        at(G, {}, {"$set": {"b.$[e]": 9, "b.$[f]": 1}}, [{"e": 1}, {"f": 1}]), at(G, {}, {"$unset": {"g.$[e].x": 9}}, [{"e.x": 1}]),
        at(G, {}, {"$set": {"g.$[e].y.$[]": 9}}, [{"e.x": 1}]), at(G, {}, {"$pull": {"g.$[e].y": 1}}, [{"e.x": 1}]),
        at(G, {}, {"$push": {"g.$[e].y": each([1], slice=-1)}}, [{"e.x": 1}]), at(G, {}, {"$set": {"g.$[e].y.0": 9}}, [{"e.x": 1}])],
    "replacement": on(D, {"a": 1, "$set": {"b": 1}}, {"x": 1}, {"_id": 2, "x": 1}, {"_id": 1, "x": 1}, {}, {"a.b": 1},
        {"a": {"$b": 1}}, {"": 1}, {"_id": [1]}, {"x": 1, "_id": 1}, {"x": 1, "_id": 1.0}, {"x": 1, "_id": re.compile("a")}, D),
    "pipeline": on(G, [{"$set": {"z": "$a"}}], [{"$addFields": {"z": "$a"}}], [{"$unset": "a"}], [{"$unset": ["a", "b"]}],
        [{"$project": {"a": 1}}], [{"$project": {"a": 0}}], [{"$replaceWith": {"x": "$a"}}],
        [{"$replaceRoot": {"newRoot": {"x": "$a"}}}], [{"$replaceRoot": {"newRoot": 5}}], [{"$match": {"a": 1}}], [],
        [{"$set": {"_id": 2}}], [{"$unset": "_id"}], [{"$set": {"a": 5}}], [{"$set": {"z": "$$NOW"}}, {"$unset": "z"}],
        [{"$set": {"o": {"p": 9}}}], [{"$set": {"g.x": 9}}], [{"$set": {"z": "$$foo"}}], [{"$replaceWith": {"_id": 5, "x": 1}}],
        [{"$project": {"_id": 0, "a": 1}}], [{"$set": {"$x": 5}}], [{"$set": {"x": {"$divide": [1, 0]}}}], [{"$set": {"": 1}}],
        [{"$replaceWith": {"$literal": {"$a": 1}}}], [{"$set": {"a": {"$add": ["$a", 1]}, "n": "$$REMOVE"}}]),
    "mixed_types": on({"_id": 1, "i": 2147483647, "l": Int64(5), "dec": Decimal128("2.50"), "z": -0.0, "nan": float("nan"), "m": [3, "a", None, {"x": 2}, {"x": 1}, [1], 2.5], "dd": [{"a": {"b": 3}}, {"a": {"b": 1}}, {"a": 5}, {}], "nn": [[1, 2], [3]], "e": [], "o": {}},
        {"$inc": {"i": 1}}, {"$mul": {"i": 2}}, {"$inc": {"l": 1.5}}, {"$inc": {"dec": 1}}, {"$inc": {"dec": 0.1}}, {"$mul": {"dec": Decimal128("0.10")}}, {"$inc": {"nan": 1}}, {"$min": {"nan": 5}}, {"$max": {"nan": 5}}, {"$set": {"z": 0.0}}, {"$min": {"z": 0}},
        {"$push": {"m": each([], sort=1)}}, {"$push": {"m": each([], sort=-1)}}, {"$push": {"m": each([], sort={"x": 1})}}, {"$push": {"dd": each([{"a": {"b": 2}}], sort={"a.b": -1})}}, {"$push": {"dd": each([], sort={"a.b": 1, "zz": 1})}},
        {"$addToSet": {"m": float("nan")}}, {"$addToSet": {"m": Decimal128("3.0")}}, {"$addToSet": {"m": {"x": 2.0}}}, {"$addToSet": {"e": each([1, 1.0, Int64(1), "1"])}}, {"$addToSet": {"m": {"$each": [[1], [1, 2]]}}},
        {"$pull": {"m": None}}, {"$pull": {"m": {"x": {"$gte": 2}}}}, {"$pull": {"m": {"$in": [3, "a", [1]]}}}, {"$pull": {"dd": {"a.b": {"$gt": 1}}}}, {"$pull": {"dd": {"a": 5}}}, {"$pull": {"dd": {"a": {"b": 3}}}}, {"$pull": {"dd": {"a": {"$exists": False}}}}, {"$pull": {"nn": {"$in": [[3]]}}}, {"$pull": {"nn": 3}}, {"$pull": {"m": {"$nin": [3]}}}, {"$pull": {"m": {"$type": "string"}}}, {"$pull": {"m": {"$mod": [2, 1]}}},
        {"$pullAll": {"m": [{"x": 2}, None, 2.5]}}, {"$set": {"nn.$[].$[]": 0}}, {"$inc": {"nn.$[].$[]": 1}}, {"$push": {"nn.$[]": 9}}, {"$set": {"nn.0.5": 1}}, {"$unset": {"nn.0.1": 1}}, {"$set": {"e.0": 1}}, {"$set": {"e.1.x": 1}}, {"$set": {"o.0": 1}}, {"$set": {"m.3.x": 7, "m.4.y": 8}}, {"$rename": {"o": "p.q"}}, {"$rename": {"l": "o.l", "i": "o.i"}}, {"$unset": {"o.x": 1, "e.0": 1}}, {"$pop": {"e": 1}}, {"$pop": {"nn.0": -1}}, {"$bit": {"l": {"xor": 6}}}, {"$bit": {"i": {"and": Int64(255)}}}, {"$set": {"a.b": 1, "a.c.d": 2, "a.c.e": 3}}, {"$set": {"b": 1}, "$unset": {"b2": 1}, "$inc": {"c": 1}, "$push": {"d": 1}, "$rename": {"l": "ll"}},
        {"$min": {"m": 1}}, {"$max": {"m": [4]}}, {"$max": {"o": {"a": 1}}}, {"$set": {"dd.$[].a": 1}}, {"$unset": {"dd.$[].a": 1}}, {"$set": {"dd.0": 1, "dd.1.q": 2}}, {"$set": {"m.$[].x": 1}}, {"$unset": {"m.$[].x": 1}}, {"$inc": {"q.w.e": 1}}, {"$set": {"e": {}}}, {"$set": {"e": []}}, {"$push": {"e": each([5, 3, 4], sort=1, slice=-2)}}, {"$push": {"e": each([1, 2, 3], position=-1)}}, {"$mul": {"l": Int64(2**62)}}, {"$currentDate": {}}, {"$set": {}, "$unset": {}}, {"$push": {"dd.0.a.b": 1}}, {"$push": {"nn.$[].$[]": 1}}, {"$set": {"m.9": 1, "m.x": 2}}),
    "upsert": [upsert(f, u) for f, u in [({"a": 1}, {"$set": {"b": 2}}), ({"a": 1, "b.c": 2}, {"$set": {"d": 2}}),
        ({"a": {"$eq": 1}}, {"$set": {"d": 2}}), ({"a": {"$gt": 1}}, {"$set": {"d": 2}}),
        ({"$and": [{"a": 1}, {"b": 2}]}, {"$set": {"d": 2}}), ({"$or": [{"a": 1}]}, {"$set": {"d": 2}}),
        ({"$or": [{"a": 1}, {"b": 1}]}, {"$set": {"d": 2}}), ({"a": {"$in": [1]}}, {"$set": {"d": 2}}),
        ({"a": {"$in": [1, 2]}}, {"$set": {"d": 2}}), ({"a": {"$all": [1]}}, {"$set": {"d": 2}}),
        ({"a": {"$all": [1, 2]}}, {"$set": {"d": 2}}), ({"a": 1, "$and": [{"a": 2}]}, {"$set": {"d": 2}}),
        ({"a": 1, "a.b": 2}, {"$set": {"d": 2}}), ({"a.b": 1, "a": 1}, {"$set": {"q": 1}}), ({"a": 1}, {"$inc": {"a": 2}}),
        ({"_id": 5}, {"$set": {"a": 2}}), ({"_id": 5}, {"$set": {"_id": 6}}), ({"_id": 5}, {"x": 1}),
        ({"_id": 5}, {"_id": 6, "x": 1}), ({"a": 5}, {"x": 1}), ({"_id.x": 5}, {"$set": {"a": 2}}), ({"_id.x": 5}, {"q": 1}),
        ({"_id": {"$gt": 5}}, {"q": 1}), ({"a": 5}, {"$setOnInsert": {"q": 1}}), ({"a": 5}, {"$set": {"z": 1, "b": 2, "y": 3}}),
        ({"a": 5}, {"$unset": {"a": 1}}), ({"a": 5}, [{"$set": {"z": "$a"}}]), ({"a": 5}, {"$set": {"_id": 9}}),
        ({"a": 5}, {"$push": {"a": 9}}), ({"a": {"x": 1}}, {"$set": {"a.y": 9}}), ({"a": None}, {"$set": {"q": 9}}),
        ({"a.0": 5}, {"$set": {"q": 1}}), ({"$expr": {"$eq": ["$a", 1]}}, {"$set": {"q": 1}}),
        ({"_id": {"$in": [7]}}, {"$set": {"q": 1}}), ({"_id": {"x": 1}, "_id.y": 2}, {"$set": {"q": 1}}),
        ({"a": {"$eq": 1, "$gt": 0}}, {"$set": {"q": 1}}), ({"b": 1, "_id": 3}, {"$set": {"q": 1}}),
        ({"_id": 5}, [{"$replaceWith": {"q": 1}}]), ({"_id": 5}, [{"$set": {"_id": 6}}]), ({"a.b": 5}, {"$set": {"a.c": 1}}),
        ({"a": re.compile("x")}, {"$set": {"q": 1}}), ({"b": 2}, {"$set": {"b.$": 1}}), ({"b": [1]}, {"$set": {"b.$[]": 1}}),
        ({"a": 5}, {}), ({"a": 5}, {"$min": {"a": 3}, "$max": {"b": 7}, "$bit": {"c": {"or": 1}}, "$currentDate": {}}),
        ({"_id": [1]}, {"$set": {"x": 1}}), ({}, {"$set": {"_id": [1]}}), ({"z": 1, "a": 2}, {"$set": {"q": 1}}),
        ({"a.z": 1, "a.b": 2, "Z": 1}, {"$set": {"q": 1}}), ({"x": 1}, {"$set": {"_id": {"$a": 1}}}),
        ({"x": 1}, {"_id": {"a": {"$b": 1}}}), ({"a": {"$in": [re.compile("x")]}}, {"$set": {"q": 1}}),
        ({"a": {"$all": [{"$elemMatch": {"x": 1}}]}}, {"$set": {"q": 1}}), ({"a": [1, 2]}, {"$set": {"q": 1}}),
        ({"a.b.c": 1, "a.b": 5}, {"$set": {"q": 1}}), ({"$or": [{"a": 1, "b": 2}]}, {"$set": {"q": 1}}),
        ({"$and": [{"_id": 7}, {"_id": 7}]}, {"q": 1}), ({"a": 5}, {"$rename": {"a": "b"}}), ({"_id": 5}, {"$unset": {"_id": 1}})]],
}


def record(database, case):
    collection = database.update_cases
    collection.delete_many({})
    if "document" in case:
        collection.insert_one(dict(case["document"]))
    statement = {"q": case.get("filter", {}), "u": case["update"], "upsert": case.get("upsert", False)}
    if "arrayFilters" in case:
        statement["arrayFilters"] = case["arrayFilters"]
    try:
        reply = database.command("update", collection.name, updates=[statement])
    except pymongo.errors.OperationFailure as error:
        return {**case, "error": {"code": error.code, "message": error.details["errmsg"]}}
    if "writeErrors" in reply:
        error = reply["writeErrors"][0]
        return {**case, "error": {"code": error["code"], "message": error["errmsg"]}}
    result = collection.find_one({})
    if "upserted" in reply and not isinstance(result["_id"], (int, dict)):
        del result["_id"]  # made up by the server
    return {**case, "modified": reply["nModified"] == 1, "result": result}


def main(uri, *wanted):
    database = pymongo.MongoClient(uri).exprs
    here = Path(__file__).parent / "update"
    here.mkdir(exist_ok=True)
    for name, cases in FILES.items():
        if wanted and name not in wanted:
            continue
        lines = [json_util.dumps(record(database, case), json_options=json_util.CANONICAL_JSON_OPTIONS) for case in cases]
        (here / f"{name}.json").write_text("[\n" + ",\n".join(lines) + "\n]\n")
        thin(here / f"{name}.json")


main(*sys.argv[1:])
