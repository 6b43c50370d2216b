"""Records what `explain` tells of plans, for the engine's unit tests.

    python3 record_plans.py 'mongodb://127.0.0.1:27017/?directConnection=true' [TOPIC…]
"""

import sys

from bson import Code, MaxKey, MinKey, Regex

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


OF_ALL_TYPES = [
    *({"x": at} for at in range(5)), 1, "a", None, {}, {"y": 1}, Code("a"), Code("b"), Code("a", {"q": 1}), Code("b", {}), Regex("a"), MinKey(), MaxKey(), True,
    {"x": "s"}, {"x": [1]}, b"a",
]
ARRAYS = [[1, 2], [{"x": 1}, {"x": 3}], [], [[1], [2]], [[]], [None], [Code("a")], [{"x": 2}]]


@topic
def range_plans():
    """Ranges of documents, of arrays and of code."""
    values = ({"x": 1}, {}, [1], [], [None], [{"x": 1}], Code("a"), Code("a", {}), Code("a", {"q": 1}), None)
    yield insert("p", {"_id": 99}, *({"_id": at, "a": value} for at, value in enumerate(OF_ALL_TYPES)))
    yield insert("m", {"_id": 99}, *({"_id": at, "a": value} for at, value in enumerate(OF_ALL_TYPES + ARRAYS)))
    ranges = [{operator: value} for value in values for operator in ("$gt", "$gte", "$lt", "$lte")]
    ranges += [{"$gte": {"x": 1}, "$lt": {"x": 3}}, {"$gte": Code("a"), "$lt": Code("b")}, {"$gt": {"x": 1}, "$lt": {"x": 1}}]
    negated = [{"$not": {operator: value}} for value in values for operator in ("$gt", "$lte")]
    for collection in "pm":
        yield create(index([("a", 1)], "a"), collection=collection)
        yield from [explained(find(collection, {"a": condition})) for condition in ranges + negated]
        yield from [find(collection, {"a": condition}, sort={"_id": 1}, projection={"_id": 1}) for condition in ranges + negated]
        for condition in ({"$gte": {"x": 1}}, {"$lt": Code("b")}):
            yield explained(find(collection, {"a": condition}, sort={"a": -1}), "ok", "queryPlanner.winningPlan.stage", "queryPlanner.winningPlan.inputStage", *RAN)
            yield explained(find(collection, {"a": condition}, projection={"a": 1, "_id": 0}), "ok", "queryPlanner.winningPlan.stage", "queryPlanner.winningPlan.inputStage", *RAN)
            yield explained({"count": collection, "query": {"a": condition}}, "ok", "queryPlanner.winningPlan", *RAN)
            yield explained(find(collection, {"a": condition}, collation={"locale": "en"}), "ok", "queryPlanner.winningPlan.stage", *RAN)
    # Of documents as ids.
    yield insert("i", *({"_id": {"x": at}} for at in range(5)))
    yield explained(find("i", {"_id": {"$gte": {"x": 2}, "$lt": {"x": 4}}}))
    yield explained({"delete": "i", "deletes": [{"q": {"_id": {"$gt": {"x": 3}}}, "limit": 0}]}, "ok", "queryPlanner.winningPlan.inputStage.inputStage.indexBounds", *RAN)
    # Within an array of documents, and beside another field.
    yield insert("n", *({"_id": at, "b": {"a": value}} for at, value in enumerate(OF_ALL_TYPES)), *({"_id": at, "b": [{"a": value}]} for at, value in enumerate(OF_ALL_TYPES + ARRAYS, 100)))
    yield create(index([("b.a", 1)], "b.a"), collection="n")
    for value in ({"x": 1}, [1], Code("a")):
        for operator in ("$gt", "$lte"):
            yield explained(find("n", {"b.a": {operator: value}}))
            yield find("n", {"b.a": {operator: value}}, sort={"_id": 1}, projection={"_id": 1})
        yield explained(find("n", {"b": {"$elemMatch": {"a": {"$gte": value}}}}), "ok", "queryPlanner.winningPlan.inputStage.indexBounds", *RAN)
    yield insert("c", *({"_id": at, "a": at % 3, "b": value} for at, value in enumerate(OF_ALL_TYPES)))
    yield create(index([("a", 1), ("b", -1)], "ab"), collection="c")
    yield from [explained(find("c", {"a": 1, "b": {"$gt": value}})) for value in ({"x": 1}, Code("a"), [1])]
    # Other kinds of indexes.
    kinds = (({"a": 1}, {"sparse": True}), ({"a": "hashed"}, {}), ({"$**": 1}, {}), ({"a": 1}, {"partialFilterExpression": {"a": {"$gte": {"x": 1}}}}), ({"a": 1}, {"collation": {"locale": "en", "strength": 2}}))
    for at, (pattern, options) in enumerate(kinds):
        yield insert(f"k{at}", *({"_id": at, "a": value} for at, value in enumerate(OF_ALL_TYPES)))
        yield create(index(list(pattern.items()), "i", **options), collection=f"k{at}")
        for value in ({"x": 1}, {"x": 3}, [1], [], Code("a"), {"x": "S"}):
            for operator in ("$gte", "$lt"):
                yield explained(find(f"k{at}", {"a": {operator: value}}), "ok", "queryPlanner.winningPlan.stage", "queryPlanner.winningPlan.inputStage.indexBounds", *RAN)
    yield explained(find("k4", {"a": {"$gte": {"x": "S"}}}, collation={"locale": "en", "strength": 2}), "ok", *RAN)
    yield from [explained(find("p", {"a": {"$type": kind}})) for kind in ("object", "array", "javascript", "javascriptWithScope", "regex", "binData", "bool", "undefined", ["object", "bool"], ["object", "string"], "dbPointer")]
    yield from [find(collection, {"a": {"$type": kind}}, sort={"_id": 1}, projection={"_id": 1}) for collection in "pm" for kind in ("object", "array", "javascript", "undefined", ["object", "array"])]


@topic
def pattern_plans():
    """The prefix of a regular expression bounds an index."""
    texts = ["abc", "ab", "a|b", "a", "b", "^x", "a b", "a#b", "a.b", "abcabc", "ABC", "a\nb", "", "a*b", "ab*c"]
    yield insert("a", *({"_id": at, "a": text} for at, text in enumerate(texts)), {"_id": 90, "a": Regex("^abc")}, {"_id": 91, "a": Regex("\\Aabc", "m")}, {"_id": 92, "a": 5})
    yield create(index([("a", 1)], "a"))
    patterns = ["^a\\|", "\\Aabc", "^\\Qabc\\E", "^\\Qab\\Ec", "^\\Qab*\\E+", "\\Aab|c", "^\\Qa|b\\E", "^a|b", "^(a|b)", "^a\\|b|c", "^abc.*", "^abc", "^ab?", "^", "\\A", "^a\\.b", "^a b", "^a#b", "^a\\tb", "^a\\/b",
                "^ab*", "^ab{2}", "^ab+", "^a[|]b", "^\\Q\\E", "^a\\Q\\Eb", "^a\\Qb\\E*", "^ab]", "^ab$", "^abc.*$", "^ab\\Z", "^\\Qa\\Eb*", "^a-b", "^a\\_", "^a\\|*", "\\Aa\\|b", "^\\^x", "abc", "^.", "^abc.*x"]
    for pattern in patterns:
        yield explained(find("a", {"a": {"$regex": pattern}}))
        yield find("a", {"a": {"$regex": pattern}}, sort={"_id": 1}, projection={"_id": 1})
    for options in ("m", "i", "x", "s", "ms", "mx"):
        for pattern in ("^abc", "\\Aabc", "^a b", "^\\Qabc\\E", "^a\\ b", "^a\\#b c", "^a.*", "\\Aa b", "\\Aab *"):
            yield explained(find("a", {"a": {"$regex": pattern, "$options": options}}))
            yield find("a", {"a": {"$regex": pattern, "$options": options}}, sort={"_id": 1}, projection={"_id": 1})
    yield explained(find("a", {"a": {"$regex": "^ab*"}}, projection={"a": 1, "_id": 0}))
    yield explained(find("a", {"a": {"$in": [Regex("^a\\|"), Regex("\\Aabc"), "b"]}}))


@topic
def element_plans():
    """$elemMatch on plain values bounds an index."""
    yield insert("m", {"_id": 99}, *({"_id": at, "a": value} for at, value in enumerate(OF_ALL_TYPES + ARRAYS)))
    yield create(index([("a", 1)], "a"), collection="m")
    yield insert("s", {"_id": 99}, *({"_id": at, "a": value} for at, value in enumerate(OF_ALL_TYPES + ARRAYS)))
    yield create(index([("a", 1)], "a", sparse=True), collection="s")
    tests = ({"$exists": True}, {"$exists": True, "$gt": 1}, {"$ne": 1}, {"$nin": [1, "b"]}, {"$not": {"$gt": 1}}, {"$type": "object"}, {"$in": [1, {}]}, {"$in": [1, None]}, {"$eq": None}, {"$size": 1}, {"$mod": [2, 1]}, {"$regex": "^a"}, {"$eq": [1]},
             {"$elemMatch": {"$gt": 1}}, {"$type": "null"}, {"$ne": None}, {"$ne": {"x": 1}}, {"$nin": [None]}, {"$ne": [1]}, {"$gte": {"x": 1}}, {"$gt": []}, {"$lt": [1]}, {"$gte": Code("a")}, {"$ne": 1, "$gt": 0})
    for test in tests:
        for collection in "ms":
            yield explained(find(collection, {"a": {"$elemMatch": test}}), "ok", "queryPlanner.winningPlan.stage", "queryPlanner.winningPlan.inputStage.indexBounds", *RAN)
        yield find("m", {"a": {"$elemMatch": test}}, sort={"_id": 1}, projection={"_id": 1})
    # A wildcard index has the keys of a document's fields, not of the document.
    yield insert("w", {"_id": 99}, *({"_id": at, "a": value} for at, value in enumerate(OF_ALL_TYPES + ARRAYS)))
    yield create(index([("$**", 1)], "w"), collection="w")
    conditions = [{"$type": "object"}, {"$type": ["object", "string"]}, {"$type": "array"}, {"$gt": None}]
    conditions += [{"$elemMatch": test} for test in ({"$exists": True}, {"$eq": 1}, {"$eq": None}, {"$gte": {}}, {"$gte": []}, {"$ne": 1}, {"$ne": None}, {"$in": [1, "a"]})]
    for condition in conditions:
        yield explained(find("w", {"a": condition}), "ok", "queryPlanner.winningPlan.stage", "queryPlanner.winningPlan.inputStage.indexBounds", *RAN)
        yield find("w", {"a": condition}, sort={"_id": 1}, projection={"_id": 1})
    # Values of a hashed field, merged in the order of another one.
    yield insert("h", *({"_id": at, "a": at % 4, "b": -at} for at in range(12)))
    yield create(index([("a", "hashed"), ("b", 1)], "ab"), collection="h")
    merged = ("ok", "queryPlanner.winningPlan.stage", "queryPlanner.winningPlan.filter", "queryPlanner.winningPlan.inputStage.stage", *RAN)
    for sort in ({"b": 1}, {"b": -1}, {"a": 1, "b": 1}, {"c": 1}):
        yield explained(find("h", {"a": {"$in": [1, 2, None]}}, sort=sort), *merged)
        yield find("h", {"a": {"$in": [1, 2, None]}}, sort=sort | {"_id": 1})


@topic
def missing_collection_plans():
    """Writes to a collection that does not exist."""
    for command in ({"delete": "a", "deletes": [{"q": {"a": 1}, "limit": 0}]}, {"delete": "a", "deletes": [{"q": {}, "limit": 1}]}, {"update": "a", "updates": [{"q": {"a": 1}, "u": {"$set": {"b": 1}}}]}, {"update": "a", "updates": [{"q": {"a": 1}, "u": {"a": 1}, "upsert": True}]},
                    {"findAndModify": "a", "query": {"a": 1}, "remove": True}, {"findAndModify": "a", "query": {"a": 1}, "update": {"a": 1}, "sort": {"b": 1}}):
        yield explained(command, "ok", "queryPlanner.parsedQuery", "queryPlanner.winningPlan", "executionStats.nReturned", "executionStats.executionStages.stage", "executionStats.executionStages.works", "executionStats.executionStages.isEOF")


def stages(*pipeline, collection="a"):
    command = {"explain": run(*pipeline, collection=collection), "verbosity": "queryPlanner"}
    shown = ("parsedQuery", "optimizedPipeline", "winningPlan")
    query = [f"{place}queryPlanner.{part}" for place in ("", "stages.0.$cursor.") for part in shown]
    first = ["stages.0"] if list(pipeline[0])[0] in ("$collStats", "$indexStats", "$planCacheStats") else []
    if "$unionWith" in pipeline[-1]:
        # The server also shows hashes of the queries.
        return only(command, *query, "stages.1.$unionWith.coll", *(f"stages.1.$unionWith.pipeline.0.$cursor.{part}" for part in query[:3]))
    return only(command, *query, *first, "stages.1", "stages.2", "stages.3", "stages.4")


def counted(at, *pipeline, fields=("nReturned",), collection="a"):
    """What the stage of this number did."""
    kept = ["stages.0.nReturned", *(f"stages.{at}.{field}" for field in fields)]
    return only({"explain": run(*pipeline, collection=collection), "verbosity": "executionStats"}, *kept)


JOIN = {"from": "d", "localField": "a", "foreignField": "k", "as": "j"}
INNER = {"from": "d", "let": {"x": "$a", "y": {"$add": [1, "$a", 2]}}, "pipeline": [{"$match": {"$expr": {"$eq": ["$k", "$$x"]}}}, {"$project": {"v": 1}}], "as": "j"}
GRAPH = {"from": "d", "startWith": "$a", "connectFromField": "p", "connectToField": "_id", "as": "g"}
PLACES = {"$bucket": {"groupBy": "$b", "boundaries": [0, 3, 6], "default": "o", "output": {"l": {"$push": "$s"}}}}
WINDOWS = {
    "s": {"$sum": 1}, "r": {"$rank": {}}, "x.y": {"$avg": "$b", "window": {"documents": ["unbounded", "current"]}}, "h": {"$shift": {"output": "$b", "by": 1, "default": 0}}, "c": {"$count": {}},
    "d": {"$derivative": {"input": "$b"}, "window": {"documents": [-1, 0]}}, "e": {"$expMovingAvg": {"input": "$b", "N": 2}}, "l": {"$locf": "$b"}, "t": {"$topN": {"n": {"$add": [1, 1]}, "sortBy": {"b": -1}, "output": ["$s"]}},
}
COMPUTED = {
    "sum": {"$add": [1, "$a", 2]}, "text": {"$concat": ["$s", "a", "b"]}, "whole": {"$add": [1, 2]}, "both": {"$and": ["$a", True]}, "either": {"$or": ["$a", 0, "$b"]}, "all": {"$and": []},
    "cond": {"$cond": {"if": True, "then": "$a", "else": 1}}, "null": {"$ifNull": [None, "$a", 1]}, "case": {"$switch": {"branches": [{"case": False, "then": 1}, {"case": "$a", "then": 2}], "default": 3}},
    "map": {"$map": {"input": "$t", "in": {"$multiply": ["$$this", 2]}}}, "filter": {"$filter": {"input": "$t", "as": "x", "cond": {"$gt": ["$$x", "$$ROOT.b"]}, "limit": 2}},
    "reduce": {"$reduce": {"input": "$t", "initialValue": [], "in": {"$concatArrays": ["$$value", ["$$this"]]}}}, "let": {"$let": {"vars": {"z": "$a"}, "in": "$$z"}}, "int": {"$toInt": "$a"},
    "year": {"$year": "$q"}, "trim": {"$trim": {"chars": "x", "input": "$s"}}, "field": {"$getField": "a"}, "unset": {"$unsetField": {"field": "a", "input": "$d"}}, "sorted": {"$sortArray": {"input": "$t", "sortBy": 1}},
    "zip": {"$zip": {"inputs": ["$t", "$t"], "useLongestLength": True, "defaults": [0, 1]}}, "some": {"$firstN": {"input": "$t", "n": 2}}, "path": "$$CURRENT.a", "removed": "$$REMOVE", "literal": {"$literal": "$x"},
    "in": {"$in": ["$a", [1, 2]]}, "list": ["$a", 1], "below": {"z": 1, "y": "$a"}, "merged": {"$mergeObjects": ["$d", {"x": 1}]}, "regex": {"$regexMatch": {"input": "$s", "regex": "x"}}, "random": {"$rand": {}},
}


@topic
def pipeline_plans():
    """The stages of aggregations: what the query answers, and the form of the others. The server must run with
    internalQueryForceClassicEngine, and so show them in one form."""
    yield insert("a", *({"_id": at, "a": at % 3, "b": at, "t": [at, at + 1], "s": f"x{at}", "d": {"e": at}} for at in range(6)))
    yield insert("d", *({"_id": at, "k": at % 3, "v": at, "p": at - 1} for at in range(5)))
    yield create(index([("a", 1)], "a_1"))
    yield create(index([("k", 1)], "k_1"), collection="d")
    group = {"$group": {"_id": "$a", "n": {"$sum": "$b"}}}
    # One query answers all of it.
    for pipeline in ([{"$match": {"a": 1}}], [{"$sort": {"b": -1}}, {"$skip": 1}, {"$limit": 2}], [{"$match": {"a": 1}}, {"$project": {"b": 1}}], [{"$match": {"a": 1}}, {"$project": {"a": 1, "_id": 0}}],
                     [{"$project": {"d.e": 1, "x": "$d.e"}}], [{"$project": {"a": 1, "x": {"$add": ["$a", 1]}}}], [{"$limit": 3}, {"$project": {"b": 1}}]):
        yield stages(*pipeline)
    # What the stages behind it need.
    for pipeline in ([group], [{"$match": {"b": {"$gt": 1}}}, group, {"$sort": {"n": -1}}, {"$limit": 2}], [group, {"$match": {"n": {"$gt": 3}, "_id": {"$lt": 2}}}], [{"$unwind": "$t"}, {"$group": {"_id": "$t", "n": {"$sum": "$d.e"}}}],
                     [{"$sort": {"b": 1}}, {"$group": {"_id": "$a", "f": {"$first": "$b"}}}], [{"$match": {"a": 1}}, {"$count": "n"}], [{"$count": "n"}], [{"$group": {"_id": "$a"}}], [{"$group": {"_id": "$a", "r": {"$push": "$$ROOT"}}}],
                     [{"$limit": 3}, {"$project": {"x": {"$add": ["$a", 1]}}}], [{"$project": {"x": {"$add": ["$a", 1]}}}, {"$match": {"x": 1, "a": 2}}], [{"$set": {"z": "$a"}}, {"$project": {"z": 1}}],
                     [{"$lookup": JOIN}, {"$project": {"b": 1, "n": {"$size": "$j"}}}], [{"$lookup": JOIN}, {"$unwind": "$j"}, {"$group": {"_id": "$j.v", "n": {"$sum": 1}}}], [{"$replaceRoot": {"newRoot": "$d"}}],
                     [{"$facet": {"x": [{"$group": {"_id": "$a"}}], "y": [{"$project": {"b": 1}}]}}], [{"$setWindowFields": {"partitionBy": "$a", "sortBy": {"b": 1}, "output": {"s": {"$sum": "$b"}}}}, {"$project": {"s": 1}}]):
        yield stages(*pipeline)
    # The forms of stages.
    for pipeline in ([{"$addFields": COMPUTED}], [{"$project": {"b": 0, "d.e": 0}}], [{"$unset": ["b", "d.e"]}], [{"$set": {"d.f": 1, "y": {"z": "$a"}}}], [{"$replaceWith": {"q": "$a", "r": 1}}],
                     [{"$unwind": {"path": "$t", "includeArrayIndex": "i", "preserveNullAndEmptyArrays": True}}], [{"$sortByCount": "$a"}], [PLACES], [{"$bucketAuto": {"groupBy": "$b", "buckets": 2, "granularity": "R5"}}],
                     [{"$group": {"_id": {"a": "$a", "k": {"$literal": 1}}, "m": {"$max": "$b"}, "c": {"$count": {}}, "t": {"$top": {"sortBy": {"b": 1}, "output": "$s"}}, "f": {"$firstN": {"input": "$b", "n": 2}}}}],
                     [{"$lookup": JOIN}, {"$unwind": {"path": "$j", "preserveNullAndEmptyArrays": True, "includeArrayIndex": "i"}}, {"$match": {"j.v": {"$gt": 1}, "b": {"$gt": 1}}}], [{"$lookup": INNER}],
                     [{"$lookup": JOIN}, {"$unwind": "$j"}, {"$match": {"j.v": {"$gt": 1}, "b": {"$lt": 5}}}], [{"$lookup": {**JOIN, "pipeline": [{"$match": {"v": 1}}]}}, {"$unwind": "$j"}], [{"$graphLookup": {**GRAPH, "maxDepth": 2, "depthField": "h"}}],
                     [{"$graphLookup": {**GRAPH, "restrictSearchWithMatch": {"v": {"$gt": 0}}}}, {"$unwind": "$g"}], [{"$match": {"a": 1}}, {"$unionWith": {"coll": "d", "pipeline": [{"$match": {"k": 1}}]}}], [{"$unionWith": "nope"}],
                     [{"$sample": {"size": 2}}], [{"$redact": {"$cond": [{"$eq": ["$a", 1]}, "$$DESCEND", "$$PRUNE"]}}], [{"$setWindowFields": {"sortBy": {"b": 1}, "output": WINDOWS}}], [{"$fill": {"sortBy": {"b": 1}, "output": {"a": {"method": "linear"}, "q": {"value": 1}}}}],
                     [{"$densify": {"field": "b", "partitionByFields": ["a"], "range": {"step": 1, "bounds": "partition"}}}], [{"$match": {"a": 1}}, {"$out": "o"}], [{"$merge": {"into": {"db": "x2", "coll": "o"}, "on": "_id", "whenMatched": [{"$set": {"x": 1}}]}}],
                     [{"$facet": {"x": [{"$match": {"a": 1}}, {"$count": "n"}], "y": [{"$sort": {"b": 1}}, {"$limit": 1}]}}], [group, {"$skip": 1}, {"$skip": 1}, {"$limit": 3}, {"$limit": 2}], [group, {"$sort": {"n": 1}}, {"$skip": 1}, {"$limit": 1}],
                     [{"$indexStats": {}}, {"$match": {"name": "a_1"}}], [{"$collStats": {"count": {}, "latencyStats": {"histograms": True}, "storageStats": {"scale": 2}}}], [{"$planCacheStats": {}}]):
        yield stages(*pipeline)
    # What they do.
    read = ("nReturned", "totalDocsExamined", "totalKeysExamined", "collectionScans", "indexesUsed")
    yield counted(1, {"$lookup": JOIN}, fields=read)
    yield counted(1, {"$lookup": {**JOIN, "foreignField": "v"}}, fields=read)
    yield counted(1, {"$lookup": {"from": "d", "pipeline": [{"$match": {"k": 1}}], "as": "j"}}, fields=read)
    yield counted(1, {"$lookup": JOIN}, {"$unwind": "$j"}, {"$match": {"j.v": {"$gt": 1}}}, fields=("nReturned",))
    yield counted(1, {"$unwind": "$t"}, {"$match": {"t": {"$gt": 2}}})
    yield counted(2, group, {"$skip": 1}, {"$limit": 1})
    yield counted(1, {"$facet": {"x": [{"$limit": 1}], "y": [{"$skip": 1}, {"$limit": 2}]}}, fields=("nReturned", "$facet.x.0.nReturned", "$facet.y.0.nReturned", "$facet.y.1.nReturned"))
    yield counted(1, {"$unionWith": {"coll": "d", "pipeline": [{"$match": {"k": 1}}]}}, fields=("nReturned", "$unionWith.pipeline.0.nReturned"))
    yield counted(1, {"$match": {"a": 1}}, {"$merge": "o"})
    yield counted(1, group, fields=("nReturned", "usedDisk", "spills"))
    yield find("o", {})


if __name__ == "__main__":
    main(*sys.argv[1:], topics=TOPICS)
