"""Records what a real mongod makes of pipelines and of projections of find, for the engine's unit tests.

    python3 record_stages.py mongodb://127.0.0.1:27717/?directConnection=true
"""

import re
import sys
from pathlib import Path

import pymongo
from bson import Decimal128, Int64, MaxKey, MinKey, json_util

import windows

DOCUMENTS = [
    {"_id": 1, "a": 3, "b": "x", "c": [1, 2], "o": {"p": 1, "q": 2}, "g": [{"x": 2, "y": 1}, {"x": 1, "y": 9}]},
    {"_id": 2, "a": 1, "b": "y", "c": [], "o": {"p": 2}, "g": []},
    {"_id": 3, "b": "x", "c": None, "g": [{"x": 1, "y": 3}, 5]},
    {"_id": 4, "a": 3.0, "b": "z", "c": 5, "o": 7, "g": {"x": 0}},
    {"_id": 5, "a": None, "b": "X", "c": ["s", [9], {"k": 1}], "o": [{"p": 5}, {"p": 6, "q": 7}, [{"p": 8}], 9]},
]
BY_ID = {"$sort": {"_id": 1}}


def lookup(**options):
    return {"$lookup": {"from": "stage_cases", "as": "r", **options}}


IDS = {"$project": {"r._id": 1}}
FILES = {
    "match": [[{"$match": {"a": 3}}], [{"$match": 5}], [{"$match": {"$foo": 1}}], [{"$match": {}}], [{"$match": {"$expr": {"$gt": ["$a", 1]}}}]],
    "sort": [[{"$sort": spec}, {"$project": {"_id": 1}}] for spec in ({"a": 1, "_id": 1}, {"a": -1, "_id": 1}, {"c": 1, "_id": 1}, {"c": -1, "_id": 1}, {"g.x": 1, "_id": 1}, {"g.x": -1, "_id": 1}, {"b": 1, "_id": -1}, {"o.p": 1, "_id": 1}, {"o.p": -1, "_id": 1}, {"g.x": 1, "g.y": 1, "_id": 1}, {"c.0": 1, "_id": 1}, {"zz": 1, "_id": -1}, {"g.x": -1, "g.y": 1, "_id": 1})]
        + [[{"$sort": spec}] for spec in ({}, {"a": 2}, 5, {"a": "x"}, {"a": {"$meta": "x"}}, {"": 1}, {"a.": 1}, {"$a": 1}, {"c": 1, "g": 1})],
    "limit_skip": [[BY_ID, {"$limit": 2}], [BY_ID, {"$skip": 2}], [BY_ID, {"$skip": 1}, {"$limit": 2}], [BY_ID, {"$limit": 2.0}]] + [[{"$limit": v}] for v in (0, -1, "x", 1.5)] + [[{"$skip": v}] for v in (-1, "x", 1.5)],
    "count": [[{"$count": v}] for v in ("n", "", 5, "$a", "a.b")] + [[{"$match": {"a": 100}}, {"$count": "n"}]],
    "unwind": [[{"$unwind": v}] for v in ("$c", "c", {"path": "$c", "preserveNullAndEmptyArrays": True, "includeArrayIndex": "i"}, {"path": "$c", "includeArrayIndex": "$i"}, {}, 5, {"path": 5}, {"path": "$c", "x": 1}, {"path": "$c", "preserveNullAndEmptyArrays": 1}, "$c.d", "$o.p", {"path": "$o.p", "includeArrayIndex": "o.i"}, "$g", {"path": "$zz", "preserveNullAndEmptyArrays": True}, {"path": "$c", "includeArrayIndex": "_id"}, {"path": "$c", "includeArrayIndex": ""}, "$")],
    "group": [[{"$group": spec}, BY_ID] for spec in ({"_id": "$b", "n": {"$sum": 1}}, {"_id": "$a", "n": {"$push": "$_id"}}, {"_id": None, "s": {"$sum": "$a"}, "v": {"$avg": "$a"}, "mi": {"$min": "$a"}, "ma": {"$max": "$b"}, "c": {"$count": {}}}, {"_id": {"x": "$a", "y": "$zz"}}, {"_id": None, "p": {"$push": "$$REMOVE"}, "sd": {"$stdDevPop": "$_id"}, "ss": {"$stdDevSamp": "$_id"}}, {"_id": None, "m": {"$mergeObjects": {"x": "$a"}}}, {"_id": 1, "s": {"$sum": "$b"}, "v": {"$avg": "$b"}, "mi": {"$min": "$zz"}, "ma": {"$max": "$c"}}, {"_id": "$o.p", "n": {"$sum": "$_id"}})]
        + [[BY_ID, {"$group": {"_id": None, "f": {"$first": "$a"}, "l": {"$last": "$a"}, "fz": {"$first": "$zz"}, "lg": {"$last": "$g"}}}]]
        + [[{"$group": spec}] for spec in ({"n": {"$sum": 1}}, {"_id": 1, "n": 5}, {"_id": 1, "n": {"$foo": 1}}, {"_id": 1, "n": {"$sum": 1, "$avg": 1}}, {"_id": 1, "n.x": {"$sum": 1}}, {"_id": 1, "$n": {"$sum": 1}}, 5, {"_id": 1, "n": {"$sum": ["$a", 1]}}, {"_id": None, "m": {"$mergeObjects": "$b"}}, {"_id": None, "c": {"$count": 1}}, {"_id": 1, "n": {}})],
    "sort_by_count": [[{"$sortByCount": v}] for v in (5, {"x": 1}, "a")] + [[{"$match": {"_id": {"$in": [1, 3, 2]}}}, {"$sortByCount": "$b"}], [{"$match": {"_id": {"$in": [1, 3, 2]}}}, {"$sortByCount": {"$toUpper": "$b"}}]],
    "facet": [[BY_ID, {"$facet": {"x": [{"$match": {"a": 3}}, {"$project": {"_id": 1}}], "y": [{"$count": "n"}]}}]] + [[{"$facet": v}] for v in ({}, 5, {"x": 5}, {"x": [{"$facet": {"y": []}}]}, {"x": [{"$out": "q"}]}, {"x.y": []}, {"$x": []})],
    "replace": [[BY_ID, {"$match": {"_id": {"$lt": 3}}}, {"$replaceRoot": {"newRoot": "$o"}}], [BY_ID, {"$replaceWith": {"z": "$b"}}]] + [[BY_ID, {"$project": {"b": 1}}, {name: v}] for name, v in (("$replaceRoot", {}), ("$replaceRoot", 5), ("$replaceRoot", {"newRoot": {"a": 1}, "x": 1}))],
    "sample": [[{"$sample": v}] for v in ({"size": -1}, 5, {}, {"size": 0}, {"size": "x"}, {"size": 1, "x": 1})] + [[{"$sample": {"size": 99}}, {"$count": "n"}]],
    "union_with": [[BY_ID, {"$project": {"_id": 1}}, {"$unionWith": v}] for v in ("nope", {"coll": "stage_cases", "pipeline": [{"$match": {"_id": 1}}, {"$project": {"b": 1}}]}, {"pipeline": []}, 5, {"coll": 5}, {"coll": "x", "z": 1})],
    "lookup": [[BY_ID, lookup(localField=local, foreignField=foreign), IDS] for local, foreign in (("a", "a"), ("c", "_id"), ("zz", "a"), ("_id", "c"), ("o.p", "_id"), ("c", "c"))]
        + [[BY_ID, lookup(**{"let": {"v": "$a"}, "pipeline": [{"$match": {"$expr": {"$eq": ["$a", "$$v"]}}}, {"$project": {"_id": 1}}]}), IDS], [BY_ID, lookup(pipeline=[{"$match": {"_id": {"$lt": 3}}}, {"$project": {"b": 1}}]), {"$project": {"r": 1}}],
           [BY_ID, {"$lookup": {"from": "stage_cases", "localField": "a", "foreignField": "a", "let": {"q": "$_id"}, "pipeline": [{"$match": {"$expr": {"$lt": ["$_id", "$$q"]}}}, {"$project": {"_id": 1}}], "as": "r.s"}}, {"$project": {"r": 1}}],
           [BY_ID, {"$lookup": {"from": "nope", "localField": "a", "foreignField": "a", "as": "a"}}, {"$project": {"a": 1}}]]
        + [[{"$lookup": v}] for v in ({"from": "t", "as": "r"}, {"from": "t", "localField": "a", "as": "r"}, {"from": "t", "localField": "a", "foreignField": "a"}, {"localField": "a", "foreignField": "a", "as": "r"}, {"from": 5, "localField": "a", "foreignField": "a", "as": "r"}, 5, {"from": "t", "localField": "a", "foreignField": "a", "as": "r", "x": 1}, {"from": "t", "localField": "a", "foreignField": "a", "as": "r", "x": "q"}, {"from": "t", "localField": "$a", "foreignField": "a", "as": "r"}, {"from": "t", "pipeline": 5, "as": "r"}, {"from": "t", "pipeline": [{"$foo": 1}], "as": "r"}, {"from": "t", "pipeline": [{"$match": {"$expr": "$$nope"}}], "as": "r"}, {"from": "t", "let": 5, "pipeline": [], "as": "r"}, {"from": "t", "let": {"X": 1}, "pipeline": [], "as": "r"}, {"from": "t", "let": {"x": {"$multiply": [[], "$missing"]}}, "pipeline": [], "as": "r"})],
    "project": [[BY_ID, {"$project": spec}] for spec in ({"a": 1}, {"a": 0}, {"_id": 0}, {"_id": 1}, {"_id": 0, "a": 1}, {"a": 1, "_id": 0}, {"o.p": 1}, {"o.p": 0}, {"g.x": 1, "b": 1}, {"o": {"q": 1}}, {"o": {"p": 0}, "c": 0}, {"_id": 0, "z": "$a", "b": 1}, {"b": 1, "_id": "$b"}, {"a": None}, {"a": True, "b": "lit"}, {"o.z": "$a"}, {"o.p": 1, "o.z": "$b"}, {"z": "$g.x", "w": {"$size": {"$ifNull": ["$g", []]}}} if False else {"z": "$g.x"}, {"z": {"n": "$a", "m": "$$REMOVE"}}, {"o": {"p": "$b"}}, {"z": ["$a", "$zz"]}, {"_id.x": 0}, {"_id": 0, "b": 0}, {"a": 1.5}, {"c.k": 1}, {"b": {"$literal": 1}})]
        + [[{"$project": spec}] for spec in ({}, 5, {"a": 1, "b": 0}, {"a": 0, "b": 1}, {"a": 1, "a.b": 1}, {"a.b": 1, "a": 1}, {"a": {}}, {"a": 0, "x": "$b"}, {"x": "$b", "a": 0}, {"": 1}, {"a.": 1}, {"$a": 1}, {"a.$": 1}, {"c": {"$elemMatch": {"$gt": 1}}}, {"x": {"$foo": 1}}, {"x": {"$abs": [1, 2]}}, {"x": {"$abs": "$b"}}, {"_id": 0, "a": 1, "b": 0}, {"_id": 1, "a": 0}, {"a": 0, "n": {"$type": "$c"}})],
    "set": [[BY_ID, {"$set": spec}] for spec in ({"z": "$a"}, {}, {"c.x": 1}, {"a.x": 1}, {"zz.x": "$a"}, {"a": "$$REMOVE"}, {"o": {"p": 9}}, {"o.n": "$_id"}, {"_id": "$b"}, {"a": 1, "z": 2, "b": 3}, {"g.x": {"$literal": 0}})] + [[{"$addFields": 5}], [{"$set": {"a": {}}}], [{"$set": {"a": 1, "a.b": 2}}], [{"$set": {"a.b": 2, "a": 1}}], [{"$set": {"": 1}}], [{"$set": {"$x": 1}}], [{"$set": {"x": {"$foo": 1}}}]],
    "unset": [[BY_ID, {"$unset": v}] for v in (["a", "c"], "o.p", "g.x", 5, [], [5], "", "$a", "_id", ["a", "a.b"])],
    "pipeline": [[], [{}], [{"$a": 1, "$b": 1}], [{"$foo": 1}], [{"a": 1}], [{"$out": 5}], [{"$out": "x"}, {"$match": {}}]],
}

NESTED = [{"$match": {"_id": 5}}]
FILES["projected_paths"] = [NESTED + [stage] for stage in (
    {"$project": {"o.p": 1}}, {"$project": {"o.p": 0}}, {"$project": {"o.z": "$a"}}, {"$project": {"o.p": 1, "o.z": {"$literal": 1}}}, {"$project": {"c.k": 0}}, {"$project": {"c.k.m": 1}},
    {"$set": {"o.z": 1}}, {"$set": {"o.p": "$$REMOVE"}}, {"$set": {"o.p.q": 1}}, {"$unset": "o.p"}, {"$set": {"c.k": "$b"}}, {"$project": {"x": "$o.p", "y": "$c.k", "z": "$o.q"}},
    {"$set": {"n": {"x": {"y": "$b"}, "z": ["$b", {"w": "$a"}]}}}, {"$set": {"b": {"x": 1}}}, {"$set": {"o": {"x": {"y": 1}}}}, {"$project": {"o": {"p": 1, "z": "$b"}}}, {"$project": {"_id": {"x": "$b"}}},
    {"$project": {"b": 1, "a": "$b", "c": 1}}, {"$project": {"_id": 0, "o": {"p": "$$ROOT.b"}}}, {"$set": {"_id": 7, "b": "$_id"}}, {"$replaceWith": {"$mergeObjects": ["$$ROOT", {"b": 1, "q": 2}]}},
    {"$project": {"a.b.c": 1}}, {"$project": {"a.b.c": "$b"}}, {"$set": {"a.b.c": "$b"}}, {"$project": {"b.x": 1}}, {"$project": {"b.x": "$b"}}, {"$project": {"_id.x": 1}}, {"$project": {"_id.x": 1, "b": 1}}, {"$project": {"o.p": True, "b": False}})]
FILES["group_sets"] = [[BY_ID, {"$group": {"_id": "$_id", "s": {"$addToSet": value}}}, BY_ID] for value in ("$a", "$b", "$zz", "$c", {"$type": "$a"}, "$o.p", 1, None)] + [
    [{"$group": {"_id": None, "s": {"$addToSet": value}}}] for value in (1, "$zz", None, {"$literal": [1]}, "$$nope")] + [
    [{"$group": {"_id": None, "s": {"$addToSet": "$_id"}}}, {"$project": {"s": {"$sortArray": {"input": "$s", "sortBy": 1}}}}]]
FILES["group_more"] = [[BY_ID, {"$group": spec}, {"$sort": {"_id": 1}}] for spec in (
    {"_id": "$c"}, {"_id": ["$b", "$a"]}, {"_id": {"$type": "$c"}, "n": {"$push": {"i": "$_id", "z": "$zz"}}}, {"_id": None, "s": {"$sum": {"$multiply": ["$a", 0.1]}}}, {"_id": "$o.q", "n": {"$min": "$c"}}, {"_id": {"k": "$o.q"}}, {"_id": None, "n": {"$max": "$a"}, "m": {"$min": {"$ifNull": ["$a", 3]}}}, {"_id": {"k": {"x": "$zz"}}}, {"_id": {}},
    {"_id": None, "m": {"$max": "$g"}, "a": {"$avg": {"$ifNull": ["$a", 10]}}}, {"_id": None, "l": {"$last": "$o"}, "p": {"$push": "$o.p"}}, {"_id": {"$ifNull": ["$nope", "none"]}, "n": {"$sum": "$c"}})]
RANKED = ("$firstN", "$lastN", "$maxN", "$minN")
SORTED = ("$topN", "$bottomN")
FILES["group_ranked"] = [[BY_ID, {"$group": {"_id": None, "v": {name: argument}}}] for name in RANKED for argument in (
    {"input": "$b", "n": 3}, {"input": "$a", "n": 9}, {"input": "$zz", "n": 2}, {"input": "$c", "n": 2}, {"input": "$o.p", "n": Int64(2)}, {"input": "$a", "n": 2.0}, {"input": "$a", "n": 0}, {"input": "$a", "n": -1}, {"input": "$a", "n": 1.5}, {"input": "$a", "n": "x"}, {"input": "$a", "n": None}, {"input": "$a", "n": "$a"}, {"input": "$a", "n": {"$add": [1, 1]}},
    {"input": "$a"}, {"n": 1}, {}, 5, "$a", ["$a"], {"input": "$a", "n": 1, "x": 1}, {"input": "$a", "n": 1, "sortBy": {"a": 1}}, {"input": "$a", "n": Int64(2**40)}, {"input": ["$a", "$b"], "n": 2})] + [
    [BY_ID, {"$group": {"_id": "$b", "v": {name: {"input": "$_id", "n": {"$cond": [{"$eq": ["$b", "x"]}, 1, 2]}}}}}, BY_ID] for name in RANKED] + [
    [BY_ID, {"$group": {"_id": {"b": "$b"}, "v": {name: {"input": "$_id", "n": {"$cond": [{"$eq": ["$b", "x"]}, 1, 2]}}}}}, BY_ID] for name in (*RANKED, "$topN") if name != "$topN"] + [
    [BY_ID, {"$group": {"_id": None, "v": {name: {"output": "$_id", "sortBy": sort, "n": n}}}}] for name in SORTED for sort, n in (({"a": 1}, 2), ({"a": -1}, 3), ({"b": 1, "_id": -1}, 9), ({"c": 1}, 2), ({"g.x": -1, "_id": 1}, 3), ({}, 1), (5, 1), ({"a": 2}, 1), ({"a": 1}, 0), ({"a": 1}, "x"), ({"a": 1, "b": "x"}, 1), ({"$a": 1}, 1))] + [
    [BY_ID, {"$group": {"_id": None, "v": {name: argument}}}] for name in ("$top", "$bottom", *SORTED) for argument in ({"output": "$b", "sortBy": {"_id": -1}}, {"output": ["$b", "$_id"], "sortBy": {"b": 1, "_id": 1}}, {"output": "$zz", "sortBy": {"_id": 1}}, {"output": "$zz", "sortBy": {"_id": 1}, "n": 2}, {"output": "$b"}, {"sortBy": {"a": 1}}, {}, 5, "$a", {"output": "$b", "sortBy": {"a": 1}, "n": 1}, {"output": "$b", "sortBy": {"a": 1}, "x": 1}, {"output": {"i": "$_id", "z": "$zz"}, "sortBy": {"zz": 1, "_id": 1}, "n": 2})] + [
    [BY_ID, {"$group": {"_id": "$b", "v": {name: {"output": "$_id", "sortBy": {"_id": -1}}}}}, BY_ID] for name in ("$top", "$bottom")] + [
    [{"$match": {"_id": 9}}, {"$group": {"_id": None, "v": {name: {"input": "$a", "n": 1}}}}] for name in RANKED] + [
    [{"$project": {"v": {name: {"output": "$a", "sortBy": {"a": 1}, "n": 1}}}}] for name in ("$top", "$topN", "$bottom", "$bottomN")]

FILES["combined"] = [
    [{"$unwind": "$g"}, {"$group": {"_id": "$g.x", "n": {"$sum": 1}}}, {"$sort": {"n": -1, "_id": 1}}], [{"$unwind": {"path": "$g", "preserveNullAndEmptyArrays": True}}, {"$sort": {"g.x": -1, "_id": 1}}, {"$project": {"g": 1}}],
    [BY_ID, {"$limit": 3}, {"$match": {"a": {"$ne": None}}}, {"$project": {"a": 1}}], [BY_ID, {"$match": {"c": {"$elemMatch": {"$gt": 1}}}}, {"$set": {"d": {"$filter": {"input": "$c", "cond": {"$gt": ["$$this", 1]}}}}}],
    [BY_ID, {"$lookup": {"from": "stage_cases", "let": {"x": "$_id", "b": "$b"}, "pipeline": [{"$match": {"$expr": {"$and": [{"$eq": ["$b", "$$b"]}, {"$ne": ["$_id", "$$x"]}]}}}, {"$project": {"_id": 1}}, {"$sort": {"_id": 1}}], "as": "same"}}, {"$project": {"same": 1, "n": {"$size": "$same"}}}],
    [BY_ID, {"$lookup": {"from": "stage_cases", "localField": "_id", "foreignField": "_id", "as": "self"}}, {"$unwind": "$self"}, {"$replaceRoot": {"newRoot": "$self"}}, {"$project": {"b": 1}}],
    [BY_ID, {"$lookup": {"from": "stage_cases", "pipeline": [{"$lookup": {"from": "stage_cases", "localField": "_id", "foreignField": "_id", "as": "in"}}, {"$match": {"_id": 1}}, {"$project": {"in.b": 1}}], "as": "r"}}, {"$limit": 1}, {"$project": {"r": 1}}],
    [{"$sort": {"_id": -1}}, {"$skip": 1}, {"$limit": 2}, {"$count": "n"}], [{"$facet": {"a": [{"$sortByCount": "$b"}, {"$limit": 1}], "b": []}}, {"$project": {"a": 1, "n": {"$size": "$b"}}}],
    [BY_ID, {"$set": {"t": {"$switch": {"branches": [{"case": {"$eq": [{"$type": "$c"}, "array"]}, "then": {"$size": "$c"}}], "default": -1}}}}, {"$project": {"t": 1}}],
]

DECISIONS = ("$$DESCEND", "$$PRUNE", "$$KEEP")
BELOW = {"$cond": [{"$ifNull": ["$p", "$x"]}, "$$KEEP", "$$DESCEND"]}
FILES["redact"] = [[BY_ID, {"$redact": spec}] for spec in (
    *DECISIONS, "descend", {"$literal": "prune"}, {"$concat": ["ke", "ep"]}, {"$let": {"vars": {"x": "$$PRUNE"}, "in": "$$x"}}, {"$ifNull": ["$zz", "$$DESCEND"]}, BELOW,
    # Documents in documents and in arrays, which the expression sees as `$$CURRENT`.
    {"$cond": [{"$gt": ["$x", 1]}, "$$PRUNE", "$$DESCEND"]}, {"$cond": [{"$gte": ["$p", 2]}, "$$PRUNE", "$$DESCEND"]}, {"$cond": [{"$eq": ["$k", 1]}, "$$PRUNE", "$$DESCEND"]}, {"$cond": [{"$eq": ["$$CURRENT.p", "$p"]}, "$$DESCEND", "$$PRUNE"]},
    {"$cond": [{"$eq": ["$$ROOT.b", "x"]}, "$$DESCEND", {"$cond": ["$_id", "$$DESCEND", "$$PRUNE"]}]}, {"$cond": [{"$eq": ["$$ROOT", "$$CURRENT"]}, "$$DESCEND", "$$PRUNE"]}, {"$let": {"vars": {"CURRENT": "$o"}, "in": {"$cond": ["$p", "$$KEEP", "$$PRUNE"]}}},
    {"$switch": {"branches": [{"case": {"$eq": ["$_id", 5]}, "then": "$$DESCEND"}, {"case": "$_id", "then": "$$PRUNE"}], "default": {"$cond": [{"$lt": ["$p", 6]}, "$$KEEP", "$$PRUNE"]}}},
    # Anything else is an error.
    "DESCEND", 5, None, True, [], {}, Decimal128("1.5"), "$a", "$zz", "$$ROOT.a", "$$REMOVE", "$$DESCEND.x", {"a": "$$PRUNE"}, ["$$KEEP"], {"$cond": [{"$eq": ["$p", 1]}, "$nope", "$$DESCEND"]}, {"$cond": ["$o.p", 1.0, "$$KEEP"]},
    "$$NOPE", {"$foo": 1}, {"$divide": [1, 0]}, {"$cond": ["$a", "$$KEEP", {"$add": ["x", 1]}]}, {"$let": {"vars": {"KEEP": 1}, "in": "$$KEEP"}}, {"$switch": {"branches": [{"case": {"$eq": ["$p", 1]}, "then": "$$PRUNE"}]}})] + [
    [BY_ID, {"$project": {"b": 1}}, {"$redact": {"$cond": [{"$eq": ["$b", "x"]}, "$$KEEP", "$$PRUNE"]}}, {"$count": "n"}], [{"$project": {"x": "$$KEEP"}}], [{"$match": {"$expr": "$$PRUNE"}}], [{"$match": {"_id": 9}}, {"$redact": 5}],
    [BY_ID, {"$facet": {"x": [{"$redact": BELOW}, {"$project": {"g": 1}}], "y": [{"$redact": "$$PRUNE"}]}}], [BY_ID, {"$limit": 2}, lookup(**{"let": {"v": "$_id"}, "pipeline": [{"$redact": {"$cond": [{"$eq": ["$_id", "$$v"]}, "$$KEEP", "$$PRUNE"]}}, {"$project": {"b": 1}}]}), {"$project": {"r": 1}}],
    [{"$match": {"_id": 1}}, {"$project": {"b": 1}}, {"$unionWith": {"coll": "stage_cases", "pipeline": [{"$redact": {"$cond": [{"$lt": ["$_id", 3]}, "$$DESCEND", "$$PRUNE"]}}, BY_ID, {"$project": {"b": 1}}]}}]]


def over(values, *stages):
    """The stages over documents `{a: value}`. mongod runs them in its classic engine, whose error codes the engine has."""
    return [{"$match": {"_id": 1}}, {"$project": {"_id": 0, "a": {"$literal": values}}}, {"$unwind": {"path": "$a", "includeArrayIndex": "i"}}, {"$_internalInhibitOptimization": {}}, *stages]


MIXED = [1, 5, 10.0, 12, "x", None, Decimal128("7"), float("nan"), Int64(5), [1], {"x": 1}, True, -1]


def bucket(groupBy="$a", boundaries=(0, 5, 10), **options):
    return {"$bucket": {"groupBy": groupBy, "boundaries": list(boundaries), **options}}


FILES["bucket"] = [over(MIXED, bucket(**options)) for options in (
    {}, *({"default": value} for value in ("other", 20, 10, 10.0, Decimal128("10"), -1, None, [1], {"a": 1}, {"a": {"$add": [1, 1]}}, {"$add": [10, 1]}, {"$literal": "$i"}, {"$literal": {"$add": ["$i", 50]}}, "$$REMOVE", MinKey(), MaxKey(), float("nan"))),
    *({"default": "o", "boundaries": value} for value in ([1, 2.5, Decimal128("8")], ["a", "z"], [False, True], [[0], [2]], [{"x": 0}, {"x": 2}], [float("nan"), 2], [1, {"$add": [1, 4]}, {"$literal": 11}], [{"$literal": "$i"}, {"$literal": "$z"}], [Int64(1), 6.0, 11])),
    *({"groupBy": value, "default": "o"} for value in ("$i", {"$add": ["$i", 1]}, {"$literal": 3}, "$$ROOT", "$zz", "$a.x", {"$cond": ["$a", "$i", "$zz"]}, {"$divide": [1, "$i"]})),
    *({"output": value, "default": "o"} for value in ({}, {"n": {"$sum": 1}}, {"n": {"$push": "$i"}, "m": {"$max": "$a"}, "f": {"$first": "$a"}}, {"n": {"$topN": {"n": 2, "sortBy": {"i": -1}, "output": "$i"}}}, {"n": {"$firstN": {"n": 2, "input": "$a"}}}, {"count": {"$avg": "$i"}})))] + [
    [bucket(**options)] for options in (
        *({"default": value} for value in (0, 5, 9.9, {"$add": [1, 1]}, Decimal128("5"), "$a", "$$ROOT", {"x": "$a"}, {"$rand": {}}, {"$divide": [1, 0]}, "$$nope")),
        *({"boundaries": value} for value in ([MinKey(), MaxKey()], [], [1], [None, 5], [1, 1], [2, 1], [1, 1.0], [1, "x"], [None, None], [1, 2, 2], [3, 2, "x"], [1, "$a"], [1, "$$ROOT"], [1, {"$rand": {}}], ["$$REMOVE", 1], ["$$REMOVE", "$$REMOVE"], [1, {"$divide": [1, 0]}], [1, "$$NOW"])),
        *({"groupBy": value} for value in ("a", 5, None, True, {}, {"x": "$a"}, ["$a"], {"x": 1, "$add": 1}, "$", {"$foo": 1}, {"$divide": [1, 0]}, "$$nope")),
        *({"output": value} for value in (5, None, {"n": 5}, {"_id": {"$sum": 1}}, {"n.x": {"$sum": 1}}, {"$n": {"$sum": 1}}, {"n": {"$foo": 1}}, {"n": {"$sum": 1, "$avg": 1}}, {"n": {"$sum": ["$a", 1]}}, {"n": {"$sum": {"$divide": [1, 0]}}})),
        {"x": 1}, {"default": 7, "output": {"n": {"$foo": 1}}}, {"default": 7, "groupBy": "$$nope"})] + [
    [{"$bucket": spec}] for spec in (5, None, [], "a", {}, {"groupBy": "$a"}, {"boundaries": [1, 2], "default": "o"}, {"x": 1, "groupBy": 5}, {"output": 5, "groupBy": 5}, {"boundaries": [1], "groupBy": 5}, {"boundaries": [2, 1], "output": 5}, {"groupBy": "$a", "boundaries": 5}, {"groupBy": "$a", "boundaries": "$a"})] + [
    [{"$match": {"_id": 9}}, bucket()], [BY_ID, {"$facet": {"x": [bucket(default="o")]}}], [bucket(default="o"), {"$match": {"_id": "o"}}], [bucket(default="o"), {"$sort": {"_id": -1}}, {"$limit": 1}],
    [BY_ID, {"$limit": 1}, lookup(pipeline=[bucket(default="o", output={"i": {"$sum": "$_id"}})]), {"$project": {"r": 1}}], [BY_ID, {"$limit": 1}, lookup(**{"let": {"v": 9}, "pipeline": [bucket(default="$$v")]})], [{"$match": {"_id": 9}}, {"$unionWith": {"coll": "stage_cases", "pipeline": [bucket("$_id", (1, 3, 9))]}}]]


def bucket_auto(groupBy="$a", buckets=2, **options):
    return {"$bucketAuto": {"groupBy": groupBy, "buckets": buckets, **options}}


def first_n(n, operator="$firstN"):
    return {"v": {operator: {"n": n, "input": "$i"}}}


FILES["bucket_auto"] = [over(MIXED, bucket_auto(**options)) for options in (
    *({"buckets": value} for value in (1, 2, 3, 5, 20, 2.0, Decimal128("3"), Int64(4), 2**31 - 1)), *({"groupBy": value} for value in ("$i", {"$multiply": ["$i", -1]}, {"$literal": 3}, "$zz", "$$ROOT", {"$type": "$a"}, {"$divide": [1, "$i"]})),
    *({"output": value} for value in ({}, {"n": {"$sum": 1}}, {"n": {"$push": "$i"}, "m": {"$max": "$a"}}, {"f": {"$first": "$i"}, "l": {"$last": "$i"}}, {"n": {"$topN": {"n": 2, "sortBy": {"i": -1}, "output": "$i"}}}, {"a": {"$avg": "$i"}, "t": {"$top": {"sortBy": {"i": 1}, "output": "$a"}}}, first_n(2), first_n({"$cond": [True, 1, "$a"]}), first_n(2, "$maxN"), first_n(0), first_n("x"), {"n": {"$mergeObjects": "$a"}})),
    {"granularity": "R5"}, {"groupBy": "$zz", "granularity": "R5"})] + [
    [bucket_auto(**options)] for options in (
        *({"buckets": value} for value in (0, -1, 1.5, "x", None, True, {"$add": [1, 1]}, "$a", 2**31, Int64(2**40), 1e10, Decimal128("2.5"), Decimal128("1E+30"), float("nan"), float("inf"))), *({"groupBy": value} for value in ("a", 5, None, {}, {"x": "$a"}, ["$a"], {"x": 1, "$add": 1}, "$", {"$foo": 1}, {"$divide": [1, 0]}, "$$nope")),
        *({"output": value} for value in (5, None, {"n": 5}, {"n.x": {"$sum": 1}}, {"$n": {"$sum": 1}}, {"n": {"$foo": 1}}, {"n": {"$sum": 1, "$avg": 1}}, {"n": {"$sum": ["$a", 1]}}, {"n": {"$sum": {"$divide": [1, 0]}}}, first_n("$min"), first_n("$$ROOT"), first_n({"$rand": {}}), first_n({"$divide": [1, 0]}), {"n": {"$topN": {"n": "$min", "sortBy": {"i": 1}, "output": "$i"}}})),
        *({"granularity": value} for value in ("R6", "r5", "", 5, None)), {"x": 1}, {"buckets": 0, "granularity": "x"}, {"buckets": 0, "output": first_n("$min")}, {"groupBy": "$", "buckets": 0})] + [
    [{"$bucketAuto": spec}] for spec in (5, None, [], "a", {}, {"groupBy": "$a"}, {"buckets": 2}, {"buckets": 0}, {"x": 1, "groupBy": 5}, {"buckets": "x", "groupBy": 5}, {"buckets": 2, "output": 5}, {"buckets": 2, "granularity": "x"})] + [
    [{"$match": {"_id": 9}}, bucket_auto()], [BY_ID, {"$facet": {"x": [bucket_auto("$_id", 3)], "y": [bucket_auto("$b")]}}], [bucket_auto("$_id", 3), {"$match": {"count": 2}}, {"$sort": {"_id.min": -1}}],
    [BY_ID, {"$limit": 1}, lookup(pipeline=[bucket_auto("$_id")]), {"$project": {"r": 1}}], [BY_ID, {"$limit": 1}, lookup(**{"let": {"v": 2}, "pipeline": [bucket_auto("$_id", output={"n": {"$firstN": {"n": "$$v", "input": "$_id"}}})]})], [{"$match": {"_id": 9}}, {"$unionWith": {"coll": "stage_cases", "pipeline": [bucket_auto("$_id")]}}]]
# How many documents a bucket has, and that equal values stay together.
FILES["bucket_auto_sizes"] = [over(values, bucket_auto(buckets=buckets)) for values in ([3], [1, 2, 3], [1, 1, 2, 2, 3, 5, 5, 5, 5, 8], list(range(15)), [1, 5, 5, 5, 5, 5, 8], [5, Int64(5), 5.0, 5, 6], ["b", "a", "B", "c"]) for buckets in (2, 3, 4, 8)] + [
    # A $first that has its value evaluates nothing.
    over(["x", 5, None], bucket_auto("$i", 1, output={"v": {operator: {"$concat": ["$a", "y"]}}})) for operator in ("$first", "$last")]
NUMBERS = [0, 1, 1, 2, 3, 5, 8, 13, Int64(55), 89.0, Decimal128("144"), 0.3, 1.0, 1e5, 2**31]
DECIMALS = [Decimal128(text) for text in ("1", "0.3", "0.01", "7", "123.456", "1E+30", "1E-30", "1E+6000", "1E-6000", "0", "4", "0E+5")]
EXTREMES = [1e-300, 5e-324, 1e200, 1.7e308, float("inf"), Decimal128("Infinity"), 2.0**62, 2.0**63, Int64(2**62), 4]
GRANULARITIES = ("1-2-5", "E6", "E12", "E24", "E48", "E96", "E192", "POWERSOF2", "R5", "R10", "R20", "R40", "R80")
# The boundaries and the sizes in one document.
BOUNDARIES = {"$group": {"_id": None, "min": {"$first": "$_id.min"}, "max": {"$push": "$_id.max"}, "n": {"$push": "$count"}}}
FILES["bucket_auto_granularity"] = [over(values, bucket_auto(buckets=buckets, granularity=granularity), BOUNDARIES) for granularity in GRANULARITIES for values, buckets in ((NUMBERS, 4), (DECIMALS, 20), (EXTREMES, 20))] + [
    # Each number of a series: one document lies between two of them.
    [{"$match": {"_id": 1}}, {"$project": {"a": {"$range": [100, 1000, step]}}}, {"$unwind": "$a"}, bucket_auto(buckets=1000, granularity=granularity), {"$group": {"_id": None, "max": {"$push": "$_id.max"}}}] for granularity, step in (("1-2-5", 50), ("E6", 20), ("E12", 10), ("E24", 5), ("E48", 4), ("E96", 2), ("E192", 1), ("R5", 25), ("R10", 10), ("R20", 5), ("R40", 5), ("R80", 3))] + [
    over(values, bucket_auto(granularity=granularity)) for granularity in ("R5", "POWERSOF2") for values in ([0, 0, 0], [0, 2], [-0.0, 2], [Decimal128("-0"), 2], [2, -1], [float("nan")], [Decimal128("NaN")], [Decimal128("-1")], [None], ["x"], [True], [1, 1, 1, 1])]

FILES["computed_documents"] = [[BY_ID, {"$limit": 2}, {"$project": {"a": 1}}, lookup_spec] for spec in (
    [{"x": 1}, {"x": {"$add": [1, 2]}}], [], [{}], [{"x": "$a"}], [{"x": "$$ROOT"}], [{"x": "$$REMOVE"}], [{"x": None, "y": Decimal128("1.5"), "z": Int64(1)}], [{"_id": 1}], [{"$literal": {"x": "$y"}}], [{"x": {}}], {"$literal": [{"x": "$y"}]}, {"$concatArrays": [[{"x": 1}], [{"y": 1}]]},
    {"$map": {"input": {"$range": [0, 3]}, "in": {"x": "$$this"}}}, {"$cond": [True, [{"x": 1}], 5]}, {"$ifNull": ["$x", [{"x": 1}]]}, {"$arrayElemAt": [[[{"x": 1}]], 0]}, [{"x": {"$meta": "textScore"}}],
    5, 0, True, None, "x", "$x", {"x": 1}, {"x": 0}, {"x": {"y": 1}}, {"x.y": 1}, "$$NOW", "$$REMOVE", {"$literal": 5}, {}, {"x": {}}, {"": 1}, {"$a": 1}, {"x": {"$foo": 1}}, {"x": 1, "$add": 1}, [{"x.y": 1}], [{"$a": 1}], [{"x": {"$foo": 1}}], [{"": 1}], "$$nope", "$", "$$")
    for lookup_spec in ({"$lookup": {"as": "r", "pipeline": [{"$documents": spec}]}},)] + [
    [BY_ID, {"$limit": 2}, {"$project": {"a": 1}}, {"$lookup": {"as": "r", **options}}] for options in (
        {"let": {"v": "$a"}, "pipeline": [{"$documents": [{"x": "$$v"}]}]}, {"let": {"v": ["$$ROOT"]}, "pipeline": [{"$documents": "$$v"}]}, {"let": {"v": "$zz"}, "pipeline": [{"$documents": [{"x": "$$v"}]}]}, {"let": {"v": "$a"}, "pipeline": [{"$documents": "$$v"}]}, {"from": "stage_cases", "pipeline": [{"$documents": [{"x": 1}]}]}, {"from": "nope", "pipeline": [{"$documents": [{"x": 1}]}]},
        {"localField": "a", "foreignField": "x", "pipeline": [{"$documents": [{"x": 1}, {"x": 3}, {"x": 3.0}, {"y": 1}]}]}, {"from": "stage_cases", "localField": "a", "foreignField": "x", "pipeline": [{"$documents": [{"x": 1}, {"x": 3}]}, {"$match": {"x": 3}}]}, {"localField": "_id", "foreignField": "x.y", "pipeline": [{"$documents": [{"x": [{"y": 1}, {"y": 2}]}]}, {"$set": {"z": "$x.y"}}]},
        {"pipeline": [{"$documents": [{"x": 1}, {"x": 2}]}, {"$match": {"x": 2}}]}, {"pipeline": [{"$documents": [{"x": 1}, {"x": 2}]}, {"$sort": {"x": -1}}, {"$limit": 1}]}, {"let": {"v": "$a"}, "pipeline": [{"$documents": [{"x": 1}, {"x": 3}]}, {"$match": {"$expr": {"$eq": ["$x", "$$v"]}}}]}, {"pipeline": [{"$documents": [{"x": 1}]}, {"$lookup": {"as": "q", "pipeline": [{"$documents": [{"y": 1}]}]}}]},
        {"pipeline": [{"$documents": [{"x": 1}]}, {"$unionWith": "nope"}, {"$facet": {"n": [{"$count": "n"}]}}]}, {"pipeline": [{"$match": {}}, {"$documents": [{"x": 1}]}]}, {"pipeline": []}, {"from": "stage_cases", "pipeline": [{"$match": {}}, {"$documents": []}]}, {"pipeline": [{"$documents": []}, {"$documents": []}]}, {"pipeline": [{"$facet": {"x": [{"$documents": []}]}}], "from": "stage_cases"})] + [
    [BY_ID, {"$limit": 1}, {"$project": {"a": 1}}, {"$unionWith": options}] for options in (
        {"pipeline": [{"$documents": [{"x": 1}, {"x": {"$add": [1, 1]}}]}]}, {"coll": "stage_cases", "pipeline": [{"$documents": [{"x": 1}]}]}, {"pipeline": [{"$documents": [{"x": 1}]}, {"$match": {"x": 2}}]}, {"pipeline": [{"$documents": [{"x": "$a"}]}, {"$set": {"y": 1}}]}, {"pipeline": [{"$documents": 5}]}, {"pipeline": [{"$documents": "$$nope"}]}, {"pipeline": [{"$documents": [{"x": {"$divide": [1, 0]}}]}]},
        {"pipeline": [{"$match": {}}, {"$documents": [{"x": 1}]}]}, {"coll": "stage_cases", "pipeline": [{"$match": {}}, {"$documents": []}]}, {"pipeline": [{"$documents": []}, {"$documents": []}]})] + [
    [{"$match": {"_id": 9}}, {"$lookup": {"as": "r", "pipeline": [{"$documents": 5}]}}], [{"$match": {}}, {"$documents": [{"x": 1}]}], [{"$facet": {"x": [{"$documents": [{"x": 1}]}]}}], [{"$facet": {"x": [{"$limit": 1}, {"$documents": [{"x": 1}]}]}}]]

INHIBIT = "$_internalInhibitOptimization"
FILES["inhibit"] = [[{INHIBIT: v}] for v in ({"a": 1}, 1, None, [], "x")] + [
    [BY_ID, {INHIBIT: {}}, {"$match": {"a": 3}}, {"$project": {"b": 1}}], [{"$match": {"_id": 1}}, {INHIBIT: {}}, {"$unwind": "$c"}],
    [{INHIBIT: {}}, {"$sort": {"_id": -1}}, {INHIBIT: {}}, {"$limit": 2}, {"$project": {"_id": 1}}], [BY_ID, {"$facet": {"x": [{INHIBIT: {}}, {"$count": "n"}]}}]]

FILES |= windows.FILES

FINDS = [({}, p) for p in ({"a": 1}, {"a": 0}, {"c": {"$slice": 1}}, {"c": {"$slice": -1}}, {"c": {"$slice": [1, 1]}}, {"c": {"$slice": [-2, 1]}}, {"c": {"$slice": 1}, "a": 1}, {"c": {"$slice": 1}, "a": 0}, {"c": {"$slice": [0, 0]}}, {"c": {"$slice": "x"}}, {"g": {"$elemMatch": {"x": 1}}}, {"g": {"$elemMatch": {"x": 1}}, "b": 1}, {"c": {"$elemMatch": {"$gt": 1}}}, {"g": {"$elemMatch": 5}}, {"g.x": {"$elemMatch": {"$gt": 1}}}, {"g": {"$elemMatch": {"x": 1}}, "a": 0}, {"z": "$a"}, {"z": {"$add": [1, 2]}}, {"a": "lit"}, {"o": {"p": 1}}, {"g.x": {"$slice": 1}}, {"c": {"$slice": ["$c", 1]}} if False else {"c": {"$slice": 0}}, {"a": 1, "b": 0}, {"x": {"$foo": 1}}, {"": 1}, {"a.": 1}, {"_id": 0})] + [
    ({"c": 2}, {"c.$": 1}), ({"g.x": 1}, {"g.$": 1}), ({"g": {"$elemMatch": {"y": 9}}}, {"g.$": 1, "b": 1}), ({"a": 3}, {"c.$": 1}), ({"c": 2}, {"c.$": 0}), ({"c": 2}, {"c.$": 1, "g.$": 1}), ({"c": 2}, {"c.$.x": 1}), ({"c": 2}, {"$": 1}), ({"_id": 1}, {"b": 1, "g": {"$elemMatch": {"x": 1}}, "a": 1}), ({"_id": 1}, {"o": 0, "g": {"$slice": 1}}), ({"_id": 1}, {"o.p": 1, "g": {"$slice": 1}}), ({"_id": 5}, {"c": {"$elemMatch": {"k": 1}}}), ({"_id": 1}, {"_id": 0, "z": {"$size": "$c"}, "b": 1}), ({"_id": 1}, {"g.$.x": 1, "b": 1}), ({"c": {"$gt": 1}}, {"_id": 0, "c.$": 1}), ({"g.x": 1, "c": 2}, {"g.$": 1}), ({"c": 2}, {"c.$": 1, "a": 0})]


def outcome(case, run):
    try:
        return {**case, "result": list(run())}
    except pymongo.errors.OperationFailure as error:
        return {**case, "error": {"code": error.code, "message": error.details["errmsg"]}}


def main(uri):
    collection = pymongo.MongoClient(uri).exprs.stage_cases
    collection.delete_many({})
    collection.insert_many(DOCUMENTS)
    here = Path(__file__).parent / "stage"
    here.mkdir(exist_ok=True)
    dumps = lambda value: json_util.dumps(value, json_options=json_util.CANONICAL_JSON_OPTIONS)
    write = lambda name, values: (here / f"{name}.json").write_text("[\n" + ",\n".join(map(dumps, values)) + "\n]\n")
    write("documents", DOCUMENTS)
    for name, pipelines in FILES.items():
        write(name, [outcome({"pipeline": p}, lambda: collection.aggregate(p)) for p in pipelines])
    write("find", [outcome({"filter": f, "projection": p}, lambda: collection.find(f, p).sort("_id", 1)) for f, p in FINDS])


main(sys.argv[1])
