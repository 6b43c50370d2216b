"""Records what `explain` tells of plans, for the engine's unit tests.

    python3 record_plans.py 'mongodb://127.0.0.1:27017/?directConnection=true' [TOPIC…]
"""

import sys

from bson import MaxKey, MinKey

from record_commands import SON, create, find, index, insert, main, run
from record_options import only

TOPICS = {}
PLANNED = ("ok", "queryPlanner.parsedQuery", "queryPlanner.winningPlan")
RAN = ("executionStats.nReturned", "executionStats.totalKeysExamined", "executionStats.totalDocsExamined")


def topic(function):
    TOPICS[function.__name__] = function
    return function


def explained(command, *fields):
    return only({"explain": command, "verbosity": "executionStats"}, *(fields or PLANNED + RAN))


def compared(operator, field, value):
    """As a server shows it, so that the engine may show it as it was written."""
    return {operator: [f"${field}", {"$const": value}]}


MIXED = [{"_id": at, "a": at % 7, "b": at, "c": {"d": at % 3}} for at in range(20)] + [
    {"_id": 20}, {"_id": 21, "a": None, "b": "x"}, {"_id": 22, "a": "z"}, {"_id": 23, "a": {"x": 1}}, {"_id": 24, "a": True, "c": 5},
]


@topic
def expr_plans():
    """What $expr says of fields bounds an index."""
    yield insert("a", *MIXED)
    yield create(index([("a", 1), ("b", -1)], "ab"), index([("c.d", 1)], "cd"))
    for operator in ("$eq", "$lt", "$lte", "$gt", "$gte"):
        for value in (3, None, "x", True, MinKey(), MaxKey(), {"x": 1}, [1]):
            yield explained(find("a", {"$expr": compared(operator, "a", value)}))
        yield explained(find("a", {"$expr": {operator: [{"$const": 3}, "$a"]}}))
    both = {"$and": [compared("$gte", "a", 2), compared("$lt", "a", 5)]}
    either = {"$or": [compared("$eq", "a", 1), compared("$eq", "a", 4)]}
    for condition in (both, either, {"$and": [compared("$eq", "a", 1), compared("$gt", "b", 4)]}, {"$and": [compared("$eq", "a", 1), compared("$ne", "b", 4)]},
                      {"$and": [either, compared("$eq", "c.d", 1)]}, {"$or": [compared("$eq", "a", 1), compared("$eq", "c.d", 2)]}, {"$or": [compared("$eq", "a", 1), compared("$ne", "b", 2)]},
                      {"$not": [compared("$eq", "a", 1)]}, compared("$ne", "a", 1), compared("$eq", "c.d", 1), {"$eq": ["$a", "$b"]}, "$a"):
        yield explained(find("a", {"$expr": condition}))
        yield explained(find("a", {"$expr": condition, "_id": {"$gt": 3}}, hint="ab"), "ok", "queryPlanner.winningPlan", *RAN)
    for beside in ({"a": {"$gt": 0}}, {"b": 8}, {"c": 5, "b": {"$exists": True}}, {"$nor": [{"b": 1}]}):
        yield explained(find("a", {"$expr": compared("$eq", "a", 1), **beside}))
    yield from [explained(find("a", {operator: [{"$expr": compared("$eq", "a", 1)}, {"a": 5}]})) for operator in ("$or", "$nor", "$and")]
    yield explained(find("a", {"$expr": either}, sort={"b": -1}))
    yield explained(find("a", {"$expr": compared("$gt", "a", 2)}, sort={"a": -1}))
    yield explained({"count": "a", "query": {"$expr": compared("$eq", "a", 1)}})
    yield explained(run({"$match": {"$expr": compared("$eq", "a", 1)}}, collection="a"), "ok", *RAN)
    # Variables, whose values a server shows.
    for expression in ({"$eq": ["$a", "$$x"]}, {"$eq": ["$a", {"$add": [1, "$$x"]}]}, {"$lt": ["$$ROOT.a", "$$x"]}, {"$eq": ["$$CURRENT.a", "$$x"]}, {"$eq": ["$a", "$$y"]}):
        yield explained(find("a", {"$expr": expression}, let={"x": 2, "y": [1]}), "ok", "queryPlanner.winningPlan.stage", "queryPlanner.winningPlan.inputStage", *RAN)
    # Arrays.
    yield insert("m", {"_id": 1, "a": [1, 2], "b": 1}, {"_id": 2, "a": 1, "b": 1}, {"_id": 3, "a": [], "b": 2}, {"_id": 4, "a": {"b": 1}}, {"_id": 5, "a": [{"b": 1}], "b": 1})
    yield create(index([("a", 1)], "a"), index([("b", 1), ("a", 1)], "ba"), index([("a.b", 1)], "a.b"), collection="m")
    for condition in (compared("$eq", "a", 1), compared("$gt", "a", 0), compared("$eq", "b", 1), compared("$eq", "a.b", 1), {"$and": [compared("$eq", "b", 1), compared("$eq", "a", 1)]}):
        yield explained(find("m", {"$expr": condition}))
        yield find("m", {"$expr": condition}, sort={"_id": 1})
    # Other kinds of indexes.
    kinds = (({"a": 1}, {"sparse": True}), ({"a": "hashed"}, {}), ({"$**": 1}, {}), ({"a": 1}, {"partialFilterExpression": {"b": {"$gt": 5}}}), ({"a": 1}, {"collation": {"locale": "en", "strength": 2}}))
    for at, (pattern, options) in enumerate(kinds):
        yield insert(f"k{at}", *MIXED)
        yield create(index(list(pattern.items()), "i", **options), collection=f"k{at}")
        for operator, value in (("$eq", 3), ("$eq", "z"), ("$gt", False), ("$gte", True)):
            # The engine shows no hashes.
            bounds = ("queryPlanner.winningPlan.inputStage.indexBounds",) if at != 1 else ()
            for beside in ({}, {"b": {"$gt": 7}}):
                yield explained(find(f"k{at}", {"$expr": compared(operator, "a", value), **beside}), "ok", "queryPlanner.winningPlan.stage", "queryPlanner.winningPlan.filter", *bounds, *RAN)
    yield explained(find("k4", {"$expr": compared("$eq", "a", "Z")}, collation={"locale": "en", "strength": 2}), "ok", *RAN)
    # A pipeline for each document, by an index.
    for field, value in (("a", "$_id"), ("b", "$a"), ("c.d", "$b"), ("a", "$nope"), ("a", ["$_id"])):
        for operator in ("$eq", "$lt", "$gte"):
            own = {"$match": {"$expr": {operator: [f"${field}", "$$v"]}}}
            yield run({"$sort": {"_id": 1}}, {"$lookup": {"from": "a", "let": {"v": value}, "pipeline": [own, {"$sort": {"_id": 1}}, {"$project": {"_id": 1}}], "as": "l"}}, {"$project": {"l": 1}}, collection="a")


@topic
def numeric_path_plans():
    """An index on a path with a number in it."""
    elements = [[5, 6], [7], {"0": 5}, [], [[5, 9]], {"0": [5, 8]}, 5, [None], [[5]], [{"b": 5}], [{"b": [5, 6]}], ["xyz"], {"0": {"b": 5}}, [[{"b": 5}]]]
    yield insert("a", *({"_id": at, "a": element, "0": at} for at, element in enumerate(elements)))
    yield insert("o", *({"_id": at, "a": {"0": at % 5, "1": {"b": at}}, "b": at % 3} for at in range(20)))
    for collection in "ao":
        yield create(index([("a.0", 1)], "a0"), index([("a.1.b", 1)], "a1b"), index([("0", 1)], "0"), index([("b", 1), ("a.0", 1)], "ba0"), collection=collection)
    conditions = [{"a.0": 5}, {"a.0": {"$in": [5, 7]}}, {"a.0": {"$gt": 4}}, {"a.0": {"$gte": 4, "$lt": 7}}, {"a.0": [5, 9]}, {"a.0": {"b": 5}}, {"a.1.b": 5}, {"0": 3}, {"b": 1, "a.0": 3}, {"a.0": {"$regex": "^x"}}, {"$or": [{"a.0": 5}, {"a.0": 7}]}, {"$or": [{"a.0": 5}, {"0": 3}]}]
    for condition in conditions:
        if "$or" not in condition:
            yield explained(find("o", condition))
        yield find("a", condition, sort={"_id": 1})
        yield find("o", condition, sort={"_id": 1})
    for condition in conditions[:3] + conditions[7:8]:
        yield explained(find("a", condition), "ok", "queryPlanner.winningPlan.stage", "queryPlanner.winningPlan.inputStage.indexBounds", *RAN)
    for condition in ({"a.0": {"$ne": 5}}, {"a.0": {"$nin": [5, 7]}}, {"a.0": {"$not": {"$gt": 4}}}, {"a.0": {"$exists": True}}, {"a.0": {"$type": "int"}}, {"a.0": {"$mod": [5, 0]}}, {"a.0": {"$elemMatch": {"$gt": 4}}}, {"a": {"$elemMatch": {"0": 6}}}, {"$expr": {"$eq": ["$a.0", 5]}}):
        yield from [find(collection, condition, sort={"_id": 1}) for collection in "ao"]
    yield from [find(collection, {"a.0": {"$gt": 3}}, sort={"a.0": direction, "_id": 1}, projection={"a": 1}) for collection in "ao" for direction in (1, -1)]


@topic
def open_range_plans():
    """What is above the least value, or below the greatest."""
    values = [MinKey(), MaxKey(), 5, None, "x", {"b": 1}]
    yield insert("p", {"_id": 9}, *({"_id": at, "a": value, "b": at} for at, value in enumerate(values)))
    yield insert("m", {"_id": 9}, *({"_id": at, "a": value} for at, value in enumerate([*values, [], [1, MinKey()], [MinKey()], [MaxKey()], [[]]], 10)))
    for collection in "pm":
        yield create(index([("a", 1)], "a"), index([("b", -1), ("a", -1)], "ba"), collection=collection)
        for operator in ("$gt", "$gte", "$lt", "$lte", "$eq", "$ne"):
            for value in (MinKey(), MaxKey()):
                yield explained(find(collection, {"a": {operator: value}}))
                yield find(collection, {"a": {operator: value}}, sort={"_id": 1})
                yield explained({"count": collection, "query": {"a": {operator: value}}}, "ok", "queryPlanner.winningPlan", *RAN)
        for condition in ({"$gt": MinKey(), "$lt": MaxKey()}, {"$gt": MinKey(), "$lt": 6}, {"$not": {"$gt": MinKey()}}, {"$gte": MinKey(), "$ne": 5}):
            yield find(collection, {"a": condition}, sort={"_id": 1})
        yield explained(find(collection, {"b": 2, "a": {"$gt": MinKey()}}))
    for condition in ({"$gt": MinKey(), "$lt": MaxKey()}, {"$gt": MinKey(), "$lt": 6}, {"$gte": MinKey(), "$ne": 5}):
        yield explained(find("p", {"a": condition}))


@topic
def or_plans():
    """$or: in which order its alternatives are walked, what each of them tests, and when keys are enough to count."""
    yield insert("a", *({"_id": at, "a": at % 7, "b": at % 5, "c": at % 3, "d": at} for at in range(40)))
    yield create(index([("b", 1), ("c", 1)], "bc"), index([("a", 1)], "a"), collection="a")
    stages = ("ok", "queryPlanner.parsedQuery", "queryPlanner.winningPlan", "executionStats.executionStages.nCounted", "executionStats.executionStages.nSkipped",
              "executionStats.executionStages.works", "executionStats.executionStages.inputStage.works", "executionStats.executionStages.inputStage.inputStage.dupsTested",
              "executionStats.executionStages.inputStage.inputStage.dupsDropped", "executionStats.executionStages.inputStage.docsExamined", *RAN)
    either = ({"$or": [{"a": 1}, {"b": 2}]}, {"$or": [{"a": 1, "d": {"$gt": 3}}, {"b": 2}]}, {"$or": [{"b": 1, "c": 1}, {"a": {"$lt": 2}}]}, {"$or": [{"a": 1}, {"d": 2}]}, {"$or": [{"a": 1, "d": 3}, {"b": 2, "e": {"$exists": False}}]})
    for query in (*either, {}, {"a": 1}, {"d": {"$gt": 3}}):
        for window in ({}, {"skip": 2}, {"limit": 3}, {"skip": 1, "limit": 2}, {"limit": 100}, {"skip": 100}):
            yield explained({"count": "a", "query": query, **window}, *stages)
            yield {"count": "a", "query": query, **window}
    for query in either:
        yield explained(find("a", query), *stages)
        yield find("a", query, sort={"_id": 1}, projection={"_id": 1})
        yield explained(find("a", query, skip=2, limit=4), "ok", "queryPlanner.parsedQuery", "executionStats.nReturned")
    # What is left behind an index, in its order.
    for query in ({"a": 1, "d": 5, "c": {"$gt": 1}}, {"a": 1, "d": {"$in": [1, 2]}, "c": 5, "e": {"$exists": False}}, {"a": {"$in": [1, None]}, "d": {"$gt": 4}}, {"b": 1, "$nor": [{"d": 1}, {"c": 2}], "d": {"$type": 16}, "e": {"$in": [1, None]}},
                  {"a": 1, "$or": [{"d": {"$gt": 3}, "c": {"$nin": [5, 6]}}, {"c": {"$lte": 5}, "e": None}, {"e": 4}]}, {"a": {"$type": ["int", "null"]}, "d": {"$type": ["string", "number", "int"]}}):
        yield explained(find("a", query))
    # A hint at a wildcard index that has nothing of what is asked for, and one that can't serve it.
    yield insert("w", {"_id": 1, "a": {"b": 1}})
    yield create(index([("a.$**", 1)], "w"), collection="w")
    yield from [find("w", query, hint="w") for query in ({}, {"b": 1}, {"b": {"$gt": 1}, "c": 2}, {"b": 1, "a.c": None}, {"a.c": None}, {"a.b": 1}, {"a": {"$elemMatch": {"b": 1}}}, {"$expr": {"$eq": ["$a.b", 1]}})]
    # As filters are shown.
    for query in ({"$or": [{"a": 2, "d": {"$ne": 5}}, {"d": 5, "c": {"$lt": 5}}, {"b": {"$gt": 7}}]}, {"$nor": [{"a": 1}]}, {"$nor": [{"a": 1, "b": 2}]}, {"d": {"$ne": 1}, "c": {"$exists": False}}, {"e": {"$bitsAllSet": 5}}, {"e": {"$bitsAnyClear": [1, 2]}}, {"e": {"$type": "number"}}, {"e": {"$type": [2, "int", 16.0]}}, {"e": {"$type": -1}}):
        yield explained(find("a", query, hint={"$natural": 1}), "ok", "queryPlanner.parsedQuery")
    yield from [explained({"distinct": "a", "key": key, "query": query}) for key, query in (("d", {"a": 1}), ("a", {"b": 1}), ("_id", {"a": 1}), ("x", {}), ("a.x", {}))]


if __name__ == "__main__":
    main(*sys.argv[1:], topics=TOPICS)
