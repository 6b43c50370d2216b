"""Records which fault a mongod reports of a command that has two, for the engine's unit tests.

    python3 record_faults.py 'mongodb://127.0.0.1:27017/?directConnection=true' [TOPIC…]
"""

import itertools
import random
import re
import sys

from bson import Binary, Decimal128, Int64, MaxKey, MinKey

from record_commands import FM, SON, create, find, index, insert, key, main, run, update

TOPICS = {}


def topic(function):
    TOPICS[function.__name__] = function
    return function


def lookup(**options):
    return {"$lookup": {"from": "o", "as": "x", "pipeline": [], **options}}


@topic
def pipeline_faults():
    """What of a pipeline is read first: stages' names, the collections they are about, and the pipelines within."""
    yield insert("a", {"_id": 1, "a": [1]})
    yield insert("o", {"_id": 1})
    yield from [{"create": "v", "viewOn": "a", "pipeline": []}, {"create": "k", "capped": True, "size": 4096}]
    merge, graph = (lambda **options: {"$merge": {"into": "o", **options}}), (lambda **options: {"$graphLookup": options})
    faults = [{"$merge": value} for value in ({}, 1, "", ".a", "a\0b", "a$b", "system.x", "v", {"into": ""}, {"into": None}, {"into": {"db": "x"}}, {"into": {"db": "a b", "coll": "x"}}, {"into": {"db": "x.y", "coll": "x"}}, {"into": {"db": "admin", "coll": "x"}})]
    faults += [merge(zork=1), merge(on=1), merge(on=[]), merge(on=[1]), merge(on=""), merge(on=["a", "a"]), merge(on="$a"), merge(on="a"), merge(whenMatched="x"), merge(whenMatched=1), merge(whenNotMatched="x"), merge(whenMatched="fail", whenNotMatched="discard"), merge(let=1)]
    faults += [merge(whenMatched=stages, **options) for stages, options in (([1], {}), ([{"$zork": 1}], {}), ([{"$out": 1}], {}), ([{"$lookup": 1}], {}), ([], {"let": {"A": 1}}), ([], {"let": {"a": "$$nope"}}), ([], {"let": {"new": 1}}), ([], {"let": {"A": 1, "new": 1}}), ("merge", {"let": {"a": 1}}))]
    faults += [{"$out": value} for value in ({}, 1, "", ".a", "a$b", "system.x", "v", "k", {"db": 1, "coll": "x"}, {"db": "x", "coll": 1}, {"db": "admin", "coll": "x"}, {"db": "a b", "coll": "x"}, {"db": "", "coll": "x"}, {"db": "x.y", "coll": "x"}, {"db": "x", "zork": 1})]
    faults += [{"$lookup": 1}, {"$lookup": {}}, {"$lookup": {"as": "x", "pipeline": []}}, {"$lookup": {"as": "x", "localField": "a", "foreignField": "b"}}, {"$lookup": {"from": "o", "as": "x"}}, lookup(**{"from": 1}), lookup(**{"from": ""}), lookup(**{"from": ".a"}), lookup(**{"from": None}), lookup(**{"as": "$x"}), lookup(zork=1), lookup(let=1)]
    faults += [lookup(pipeline=stages) for stages in (1, [{"$zork": 1}], [{"$out": 1}], [{"$out": "x"}], [{"$limit": 0}])]
    faults += [{"$graphLookup": 1}, graph(), graph(**{"from": 1}), graph(**{"from": "o"}), graph(**{"from": ""}), graph(**{"from": ".a"})]
    faults += [{"$unionWith": value} for value in (1, {}, ".a", {"coll": 1}, {"coll": None}, {"coll": "o", "pipeline": None}, {"coll": "o", "zork": 1}, {"coll": "o", "pipeline": 1}, {"coll": "o", "pipeline": [{"$zork": 1}]}, {"coll": "o", "pipeline": [{"$out": 1}]}, {"coll": "o", "pipeline": [{"$out": "x"}]})]
    faults += [{"$facet": value} for value in (1, {}, {"a": 1}, {"a.b": 1}, {"a": [1]}, {"a": [{}]}, {"$a": []}, {"": []}, {"a": [{"$zork": 1}]}, {"a": [{"$out": 1}]}, {"a": [{"$out": "x"}]}, {"a": [{"$limit": 0}, {"$out": "x"}]}, {"a": [{"$out": "x"}, {"$limit": 0}]}, {"a": [{"$out": "x"}, {"$limit": 1}]}, {"a": [{"$facet": {"b": []}}]}, {"a": [{"$match": {}}, {"$collStats": {}}]}, {"a": [{"$limit": 0}], "b": [{"$out": {}}]})]
    faults += [{"$collStats": value} for value in (1, {"zork": 1}, {"count": 1}, {"count": {"a": 1}}, {"storageStats": {"scale": 0}})]
    faults += [{"$indexStats": 1}, {"$planCacheStats": 1}, {"$changeStream": 1}, {"$zork": 1}, {}, {"$match": {}, "$limit": 1}]
    for fault in faults:
        yield run({"$limit": 0}, fault)
        yield run({"$set": {"x": {"$add": [{}, 1]}}}, fault)
        yield {**run(fault), "collation": {"locale": "zz"}}
    # Before the stages in front are run, a server looks at what $out replaces.
    yield from [run({"$set": {"x": {"$add": ["$a", 1]}}}, {"$out": name}) for name in ("v", "k", "a$b")]
    empty = {"$merge": {}}
    yield from [run(empty, collection=name) for name in ("", ".a", "a$b", 1)]
    yield from [{"aggregate": "a", "pipeline": [empty], **options} for options in ({"cursor": 1}, {"cursor": {"batchSize": -1}}, {}, {"cursor": {}, "zork": 1}, {"cursor": {}, "let": {"A": 1}}, {"explain": True})]
    yield {"explain": run(empty)}
    yield from [{"create": "w", "viewOn": "a", "pipeline": stages} for stages in ([empty], [{"$limit": 0}, empty], [lookup(**{"from": ""})], [lookup(pipeline=[{"$out": 1}])])]
    for stages in ([empty], [{"$set": {"a": {}}}, {"$lookup": {}}], [{"$zork": 1}], [{"$facet": 1}], [{"$out": 1}]):
        yield update("a", {"q": {"a": {"$type": []}}, "u": {"$set": {"a": 1}}}, {"q": {}, "u": stages})
        yield {FM: "a", "query": {"a": {"$type": []}}, "update": stages}
    yield from [{FM: "v", "query": {}, "update": [empty]}, {FM: "a", "query": {}, "update": [empty], "remove": True}, {FM: "a$b", "query": {}, "update": [empty]}]
    # It is read when all statements of an update are done; and an upsert that fails has made the collection.
    set_z, nothing = {"q": {}, "u": {"$set": {"z": 1}}}, {"q": {}, "u": [{}]}
    for statements in ([set_z, nothing], [{"q": {}, "u": {"$zork": 1}}, nothing], [nothing, {**set_z, "upsert": True}], [set_z, {**nothing, "upsert": True}]):
        yield from [update("b", *statements), find("b"), {"listCollections": 1, "nameOnly": True, "filter": {"name": "b"}}]
        yield from [insert("b", {"_id": 1}), update("b", *statements), find("b"), {"drop": "b"}]
    for update_ in ({"$zork": 1}, {"$bit": {"b.0.$[e]": {}}}, {"$set": {"_id": [1]}}):
        for ordered in (True, False):
            yield from [update("b", {"q": {}, "u": {"$zork": 2}}, {"q": {}, "u": update_, "upsert": True}, ordered=ordered), {"listCollections": 1, "nameOnly": True, "filter": {"name": "b"}}, {"drop": "b"}]
    # Names with dots in them are found by distinct, and by nothing else.
    yield insert("b", {"_id": 1, "a.b": {"x": 1}}, {"_id": 2, "a": {"b.c": 5}}, {"_id": 3, "a": [{"b.c": 6}, {"b": {"c": 7}}]}, {"_id": 4, "a": {"b": 1}, "a.b": 2}, {"_id": 5, "a.b": [8, [9]]}, {"_id": 6, "a.b": {"c": 10}}, {"_id": 7, "a.0": 11}, {"_id": 8, "a": [[{"b.c": 12}], 13]})
    yield from [{"distinct": "b", "key": path} for path in ("a.b", "a.b.c", "a.0", "a", "a.0.b.c", "a.1")]
    # By an index, its keys are the values: null for what is missing, undefined for an array without elements.
    documents = [{"_id": 1, "a": []}, {"_id": 2, "a": [1, 2]}, {"_id": 3, "a": 3}, {"_id": 4}, {"_id": 5, "a": [[7], 8]}, {"_id": 6, "a": {"b": 9}}, {"_id": 7, "a": [{"b": 10}, {"c": 1}, 5]}, {"_id": 8, "a": {"b": [11, [12]]}}, {"_id": 9, "a": {"b": []}}, {"_id": 10, "a.b": 13}]
    for chosen in (documents, documents[:4], documents[1:4], documents[4:5], documents[5:7], documents[6:9], documents[9:]):
        for parts, options in (([("a", 1)], {}), ([("a.b", 1)], {}), ([("a", -1), ("b", 1)], {}), ([("b", 1), ("a", 1)], {}), ([("a", 1)], {"sparse": True}), ([("a", 1)], {"hidden": True}), ([("a", 1)], {"partialFilterExpression": {"a": {"$exists": True}}})):
            yield from [{"drop": "b"}, insert("b", *chosen), create(index(parts, "n", **options), collection="b")]
            for path in ("a", "a.b"):
                yield from [{"distinct": "b", "key": path}, {"distinct": "b", "key": path, "query": {"_id": {"$lt": 10}, "a": {"$ne": 1}}}]


@topic
def dbrefs():
    """What updates and $merge make of the parts of a reference at the top of a document."""
    parts = [("_id", 1), ("$ref", "x"), ("$id", 1), ("$db", "y")]
    changes = [{"$set": {"$id": 2}}, {"$set": {"$ref": "y"}}, {"$set": {"$db": "x"}}, {"$set": {"$db": 1}}, {"$set": {"$ref": 1}}, {"$unset": {"$ref": 1}}, {"$unset": {"$id": 1}}, {"$set": {"a": 1}}, {"$set": {"$id": 1}}, {"$set": {"$zork": 1}}]
    changes += [{"$inc": {"$id": 1}}, {"$push": {"$id": 1}}, {"$set": {"$id.a": 1}}, {"$set": {"$ref.a": 1}}, {"$set": {"a.$id": 1}}, {"$set": {"a.$zork": 1}}, {"$rename": {"b": "$id"}}, {"$rename": {"$ref": "b"}}, {"$set": {"$id": {"$zork": 1}}}, {"$addToSet": {"$db": "x"}}, {"$min": {"$ref": "a"}}]
    # The driver would make a reference of its own of a whole one.
    shown = run({"$project": {"r": {"$map": {"input": {"$objectToArray": "$$ROOT"}, "in": ["$$this.k", "$$this.v"]}}}}, collection="r")
    for document, *before in ((parts[:1],), (parts[:2],), (parts[:2], {"$id": 1}), (parts[:2], {"$id": 1}, {"$db": "y"}), ([parts[0], parts[2]],), ([("_id", 1), ("b", 5)],)):
        for change in changes:
            yield from [{"drop": "r"}, insert("r", SON(document))]
            yield from [update("r", {"q": {}, "u": {"$set": fields}}) for fields in before]
            yield from [update("r", {"q": {}, "u": change}), shown]
    yield update("r", {"q": {"_id": 9}, "u": {"$set": {"$id": 1}}, "upsert": True})
    # Not with whenMatched: "merge" where the reference is whole: a server goes down.
    for document in (parts[:2], [parts[0], parts[2]], [parts[0], parts[3]]):
        for mode in ("merge", "replace", "keepExisting"):
            yield from [{"drop": "r"}, insert("r", {"_id": 1}), run({"$limit": 1}, {"$replaceWith": {"$literal": SON(document)}}, {"$merge": {"into": "r", "whenMatched": mode}}, collection="r"), shown]


@topic
def find_and_modify_options():
    """Options that a server knows, checks, and does nothing by."""
    yield insert("a", {"_id": 1}, {"_id": {"k": 1}})
    change = {FM: "a", "query": {"_id": 1}, "update": {"$inc": {"n": 1}}}
    for value in (0, 1, -1, Int64(1), "x", True, None, {}, 1.5):
        yield from [{**change, "batchSize": value}, {**change, "singleBatch": value}, {"delete": "a", "deletes": [{"q": {"_id": 9}, "limit": 1}], "bypassDocumentValidation": value}]
    for sort in ({"a": "x"}, {"a": 0}, {"a": {}}, {"$a": 1}, {"": 1}, {"a.": 1}, "x", {"a": {"$meta": "zork"}}, {"n": -1}):
        for query in ({"_id": 1}, {"_id": {"k": 1}}, {"_id": {}}, {"_id": {"$eq": 1}}, {"_id": {"$gt": 0}}, {"_id": 1, "n": {"$gt": 0}}, {"_id": re.compile("a")}, {}):
            yield {**change, "query": query, "sort": sort}


@topic
def validation_regex():
    """What the details of a refused document show of a $regex that has operators beside it."""
    rules = [{"$regex": "x", "$gt": "z"}, {"$gt": "z", "$regex": "x"}, {"$regex": "x", "$options": "i", "$gt": "z"}, {"$options": "i", "$lt": "a", "$regex": "x"}, {"$regex": "x"}, {"$regex": "x", "$options": "i"}, {"$options": "i", "$regex": "x"}, {"$regex": re.compile("x", re.I), "$in": ["z"]}, {"$not": {"$regex": "b", "$gt": "a"}}, {"$not": {"$options": "", "$regex": "b"}}, {"$elemMatch": {"$regex": "x", "$gt": "z"}}]
    for rule in (*({"a": rule} for rule in rules), {"$nor": [{"a": {"$regex": "b", "$gt": "a"}}]}):
        yield from [{"drop": "a"}, {"create": "a", "validator": rule}, insert("a", {"_id": 1, "a": "b"}), insert("a", {"_id": 1, "a": ["b"]})]


@topic
def create_faults():
    """The options of `create`: first each for itself as they come, then together, then the name, then what they mean."""
    yield from [insert("a", {"_id": 1}), {"create": "v", "viewOn": "a", "pipeline": []}]
    french = {"key": {"_id": 1}, "name": "_id_", "collation": {"locale": "fr"}}
    at_once = [("size", 0), ("size", -1), ("size", Int64(1 << 51)), ("max", Int64(1 << 31)), ("size", "x"), ("validationLevel", "x"), ("validationAction", "x"), ("validationLevel", 1), ("validator", 1), ("idIndex", 1), ("viewOn", ""), ("viewOn", 1), ("pipeline", [1]), ("capped", "x"), ("zork", 1),
        ("indexOptionDefaults", {"zork": 1}), ("indexOptionDefaults", {"storageEngine": 1}), ("changeStreamPreAndPostImages", {}), ("changeStreamPreAndPostImages", {"enabled": 1}), ("changeStreamPreAndPostImages", {"zork": 1})]
    at_once += [("collation", {"locale": "sv", **options}) for options in ({"locale": 1}, {"strength": "x"}, {"strength": 9}, {"zork": 1}, {"caseFirst": "x"}, {"alternate": "x"}, {"maxVariable": "x"}, {"caseLevel": 1}, {"backwards": "x"}, {"version": 1})] + [("collation", {}), ("collation", {"strength": 1})]
    for name, value in at_once:
        yield from [{"create": "n", name: value, "zork": 1}, {"create": "n", "zork": 1, name: value}, {"create": "n", name: value, "capped": True}, {"create": "a", name: value}, {"create": "a$b", name: value}]
    together = [("pipeline", []), ("autoIndexId", False), ("idIndex", {}), ("idIndex", {"key": {"a": 1}, "name": "x"}), ("idIndex", {"key": {"_id": 1}}), ("idIndex", {"key": {"_id": 1}, "zork": 1}), ("idIndex", french), ("capped", True), ("size", 5), ("max", 5), ("collation", {"locale": "zz"}), ("collation", {"locale": "sv", "strength": 0}), ("collation", {"locale": "sv", "version": "x"}), ("validator", {"$zork": 1}), ("viewOn", "x$")]
    for at, (name, value) in enumerate(together):
        yield from [{"create": place, name: value} for place in ("n", "a", "v", "system.n", "a$b")]
        for other, besides in together[at + 1:]:
            # Which fault of a view's is said depends on more than their order.
            if other != name and {name, other} != {"capped", "size"} and (other != "viewOn" or name not in ("autoIndexId", "validator", "collation")):
                yield {"create": "n", other: besides, name: value}
    yield from [{"create": "w", "viewOn": "a", "autoIndexId": False}, {"create": "w2", "viewOn": "a", "idIndex": {}}, {"create": "w3", "viewOn": "a", "collation": {"locale": "zz"}}]
    yield from [{"convertToCapped": "a", "size": size} for size in (Int64(1 << 51),)]
    yield from [{"explain": {"find": "a"}, "verbosity": "x", "zork": 1}, {"explain": {"find": "a"}, "zork": 1, "verbosity": "x"}]


@topic
def coll_mod_faults():
    """The options of `collMod`: first each for itself as they come, then the collection, then in an order of their own."""
    unique = {"unique": True}
    yield insert("a", {"d": 1, "h": 1, "b": 1}, {"d": 1, "h": 2, "b": 2})
    yield create(index([("a", 1)], "i"), index([("b", 1)], "u", **unique), index([("a", 1), ("b", 1)], "ab"), index([("h", "hashed")], "h"), index([("d", 1)], "d"))
    yield {"create": "v", "viewOn": "a", "pipeline": []}
    at_once = [("index", 1), ("index", {"zork": 1}), ("validator", 1), ("validationLevel", "x"), ("validationLevel", 1), ("validationAction", "x"), ("viewOn", 1), ("viewOn", ""), ("pipeline", 1), ("pipeline", [1]), ("expireAfterSeconds", []), ("timeseries", 1), ("changeStreamPreAndPostImages", {}), ("changeStreamPreAndPostImages", {"enabled": 1}),
        ("cappedSize", 0), ("cappedSize", "x"), ("cappedSize", Int64(1 << 51)), ("cappedMax", Int64(1 << 31)), ("dryRun", "x"), ("zork", 1)]
    for name, value in at_once:
        yield from [{"collMod": "a", name: value, "zork": 1}, {"collMod": "a", "zork": 1, name: value}, {"collMod": "nope", name: value}, {"collMod": "v", name: value}]
    later = [("index", value) for value in ({}, {"name": "nope", "hidden": True}, {"name": "i", "expireAfterSeconds": -1}, {"name": "_id_", "hidden": True}, {"name": "i", **unique}, {"name": "i", "unique": False}, {"name": "i", "hidden": False, "prepareUnique": True})]
    later = [("cappedSize", 1000), *later, ("validator", {"$zork": 1}), ("pipeline", []), ("viewOn", "o"), ("expireAfterSeconds", 1), ("timeseries", {})]
    for at, (name, value) in enumerate(later):
        yield from [{"collMod": "a", name: value}, {"collMod": "nope", name: value}]
        for other, besides in later[at + 1:]:
            if other != name:
                yield {"collMod": "a", other: besides, name: value}
    yield {"create": "k", "capped": True, "size": 4096}
    for changes in ({"name": "nope", "expireAfterSeconds": 5}, {"name": "nope", "expireAfterSeconds": -5}, {"name": "_id_", "expireAfterSeconds": 5}, {"keyPattern": {}, "expireAfterSeconds": 5}, {}, {"name": "nope", "hidden": True}):
        yield from [{"collMod": "k", "index": changes}, {"collMod": "a", "index": changes}]
    for changes in ({"name": "i", "unique": False, "expireAfterSeconds": -1}, {"name": "_id_", "unique": False}, {"name": "_id_", **unique}, {"name": "_id_", "prepareUnique": True}, {"name": "_id_", "hidden": True, "expireAfterSeconds": 1}, {"name": "_id_", "expireAfterSeconds": -1}, {"name": "_id_", "expireAfterSeconds": 5, "unique": False}, {"name": "u", "expireAfterSeconds": -1, **unique}, {"name": "i", "expireAfterSeconds": -1, **unique}, {"name": "ab", "expireAfterSeconds": -5}, {"name": "ab", "expireAfterSeconds": 5, **unique}, {"name": "ab", "hidden": True, **unique}, {"name": ""}, {"name": "", "hidden": True}, {"name": "nope"}, {"name": "nope", "unique": False}, {"keyPattern": {}, "hidden": True}, {"name": "", "keyPattern": {"a": 1}}, {"name": "u", "prepareUnique": True, "hidden": True}):
        yield {"collMod": "a", "index": changes}
    yield {"collMod": "a", "index": {"name": "d", "prepareUnique": True}}
    for options in ({}, {"validator": {"$zork": 1}}, {"viewOn": "x"}, {"dryRun": True}, {"dryRun": True, "viewOn": "x"}):
        yield {"collMod": "a", "index": {"name": "d", **unique}, **options}
    for changes in ({"prepareUnique": False, **unique}, {"prepareUnique": False, "hidden": True}):
        yield {"collMod": "a", "index": {"name": "d", **changes}}
    yield {"collMod": "a", "index": {"name": "d", "prepareUnique": False}, "validator": {}}
    yield from [{"collMod": "a", "index": {"name": "h", "prepareUnique": True}}, {"collMod": "a", "index": {"name": "h", **unique}}, {"collMod": "a", "index": {"name": "h", **unique}, "validator": {"$zork": 1}}]
    for changes in ({}, {"name": "d", "unique": False}, {"name": "nope", **unique}, dict(unique)):
        yield from [{"collMod": "a", "dryRun": True, "index": changes}, {"collMod": "nope", "dryRun": True, "index": changes}]
    yield from [{"collMod": "a", "dryRun": True}, {"collMod": "u", "dryRun": True}]
    yield {"collMod": "a", "index": {"name": "u", "prepareUnique": True}, "validator": {"a": {"$ne": 77}}}
    yield {"collMod": "a", "validator": {}}
    for value in (Decimal128("0"), Decimal128("-0"), Decimal128("0E-5"), Decimal128("1"), Decimal128("NaN"), 0.0, 0, False, True):
        yield from [{"drop": "b"}, create(index([("a", 1)], "a", background=value, sparse=value), collection="b"), {"listIndexes": "b"}]


@topic
def expression_faults():
    """Of two faults within one expression, the one that is reported."""
    yield insert("d", {"_id": 1, "s": "x", "nul": None, "o": {"a": 1}, "f": False, "a": [1], "b": {"c": 2}})

    def computed(expression):
        return run({"$project": {"_id": 0, "x": expression}}, collection="d")

    late, at_once = {"$ln": "$s"}, {"$ln": "x"}
    constants = [{}, True, 1, "x", [], {"$literal": 5}, {"$add": [1, 1]}, {"a": 1}, {"$and": []}, {"$or": []}, {"$not": [False]}, {"$cond": [True, 1, "$s"]}, {"$cond": [0, "$s", 1]}, {"$ifNull": [None, 1]}, "$$NOW", "$$REMOVE", False, 0, None, {"a": "$s"}, ["$s"]]
    for name in ("$and", "$or"):
        for constant in constants:
            yield from [computed({name: [late, constant]}), computed({name: [at_once, constant]}), computed({name: ["$nul", constant, late]})]
    for constant in (*constants, {"$and": [1, 2]}, {"$and": [1, "$s"]}, {"$or": [1, "$s"]}, {"$and": ["$s", 0]}, {"$let": {"vars": {}, "in": True}}, {"$let": {"vars": {"a": 1}, "in": True}}, {"$switch": {"branches": [{"case": True, "then": True}]}}, {"$map": {"input": [], "in": 1}}):
        yield from [computed({"$multiply": [constant, "$nul"]}), computed({"$setUnion": [constant, "$nul"]})]
    wrong = [({"$toDate": {}}, {"$ln": ["$s", at_once]}), ({"p": at_once}, {"$setEquals": [1, "$s"]}), ({"$ln": [[]]}, {"$abs": [{"$toDate": {}}, "$s"]}), ([at_once], {"q": {"$toDate": {}}, "r": "$s"}), ({"q": {"$toDate": {}}, "r": "$s"}, [at_once])]
    for one, other in wrong:
        for name in ("$add", "$multiply", "$min", "$max", "$setUnion", "$setIntersection", "$and", "$or", "$concat", "$setEquals"):
            yield computed({name: [one, other]})
    for operands in (["$s", 1, at_once], ["$s", at_once, 1], [1, at_once], [[1], at_once], [None, at_once], [at_once, 1]):
        yield from [computed({"$setEquals": operands}), computed({"$setIsSubset": operands[-2:]})]
    # A date's parts: the time of the day, the zone, the day.
    names = ["year", "month", "day", "hour", "minute", "second", "millisecond", "timezone"]
    values = {"year": [1.5, 100000, None], "timezone": ["zork", None, 5]}
    for at, name in enumerate(names):
        for value in values.get(name, [1.5, 100000, None]):
            for other in names[at + 1:]:
                for besides in values.get(other, [1.5, 100000, None]):
                    yield computed({"$dateFromParts": {"year": 2000, other: besides, name: value}})
    for name in ("isoWeek", "isoDayOfWeek", "hour", "timezone"):
        yield from [computed({"$dateFromParts": {"isoWeekYear": 100000, name: value}}) for value in (1.5, 100000, "zork", None)]


@topic
def projection_faults():
    """Of two faults within one projection, the one that is reported."""
    yield insert("d", {"_id": 1, "s": "x", "nul": None, "o": {"a": 1}, "f": False, "a": [1], "b": {"c": 2}})
    # The positional operator, which reads the filter, and $elemMatch.
    elements = [{"$elemMatch": value} for value in ({}, 1, {"$zork": 1})]
    for filter in ({"a": 1}, {"$expr": {}}, {"a": {"$type": []}}):
        for element in elements:
            for path in ("b", "b.c", "a", "_id"):
                yield from [find("d", filter, projection=SON([("a.$", 1), (path, element)])), find("d", filter, projection=SON([(path, element), ("a.$", 1)]))]
            yield from [find("d", filter, projection=SON([("a.$", 1), ("b", {"c": element})])), find("d", filter, projection=SON([("b", {"c": element}), ("a.$", 1)]))]
            yield from [find("d", filter, projection=SON([("b", element), (path, value)])) for path, value in (("a.$", 0), ("a.$", "x"), ("a.$.c", 1))]
        yield from [find("d", filter, projection=SON([("a.$", 1), ("b.$", 1)])), find("d", filter, projection=SON([("_id", 1), ("_id.$", 1), ("a.$", 1)]))]


@topic
def rename_faults():
    """Of two faults of a $rename and another operator, the one that is reported."""
    yield insert("d", {"_id": 1, "s": "x", "nul": None, "o": {"a": 1}, "f": False, "a": [1], "b": {"c": 2}})
    # A $rename has its turn at the field that it makes.
    renames = [{"_id": "A"}, {"_id": "zz"}, {"_id": "s.t"}, {"_id": "b.d"}, {"a.b": "zz"}, {"a.b": "A"}, {"a.0": "zz"}, {"s.t": "zz"}, {"s.t": "A"}, {"s": "a.b"}, {"s": "a.0"}, {"s": "f.g"}, {"s": "b.d"}, {"nope": "a.b"}, {"nope.x": "f.g"}]
    others = [{"$set": {"_id": 2}}, {"$unset": {"_id": 1}}, {"$pull": {"o": 1}}, {"$inc": {"o": 1}}, {"$mul": {"o.a.b": 1}}, {"$set": {"a.$": 1}}, {"$set": {"a.$[].x": 1}}, {"$push": {"b": 1}}, {"$set": {"zzz": 1}}, {"$set": {"f.a": 1}}, {"$unset": {"f.a": 1}}]
    for rename in renames:
        yield {FM: "d", "query": {"_id": 1}, "update": {"$rename": rename}, "fields": {"_id": 1}}
        yield update("d", {"q": {}, "u": {"$set": {"s": "x"}, "$unset": {"A": 1, "zz": 1, "zzz": 1, "b.d": 1}}})
        for other in others:
            yield from [update("d", {"q": {}, "u": {"$rename": rename, **other}}), find("d")]
            yield update("d", {"q": {}, "u": {"_id": 1, "s": "x", "nul": None, "o": {"a": 1}, "f": False, "a": [1], "b": {"c": 2}}})


@topic
def wildcard_index_faults():
    """Which fault of a wildcard index comes first, by the order of the options."""
    for pattern in ({"1.$**": 1}, {"$**": 1}, {"a": 1}):
        for fields in ({}, {"a": 1}, {"a": 1, "b": 0}, 1, None):
            for options in ([("wildcardProjection", fields), ("v", 3)], [("v", 3), ("wildcardProjection", fields)], [("wildcardProjection", fields), ("weights", {"a": 1})], [("wildcardProjection", fields), ("zork", 1)], [("wildcardProjection", fields), ("v", 1), ("sparse", "x")]):
                yield {"createIndexes": "w", "indexes": [SON([("key", pattern), ("name", "i"), *options])]}


@topic
def partial_filter_depths():
    """How deep the filter of a partial index may be."""
    leaves = [1, {"$all": [1]}, {"$all": [1, 2]}, {"$gt": 1, "$lt": 2}, {"$in": [1]}, {"$exists": True}, {"$ne": 1}]
    for leaf in leaves:
        inner = [{"a": leaf}, {"a": leaf, "c": 1}]
        for document in inner:
            for outer in (lambda f: f, lambda f: {"$or": [f]}, lambda f: {"$and": [f]}, lambda f: {"b": 1, "$or": [f]}, lambda f: {"$or": [f, {"d": 1}]}, lambda f: {"$or": [{"$and": [f]}]}, lambda f: {"$or": [{"$or": [{"$or": [f]}]}]}, lambda f: {"$and": [{"$or": [{"$and": [{"$or": [f]}]}]}]}, lambda f: {"$comment": "x", "$or": [f]}, lambda f: {"b": 1, "$or": [{"$or": [f]}, {"e": 1}]}):
                yield {"createIndexes": "p", "indexes": [{"key": {"a": 1}, "name": "i", "partialFilterExpression": outer(document)}]}
                yield {"dropIndexes": "p", "index": "*"}


@topic
def distinct_collation():
    """Which of the values that a collation makes equal `distinct` shows."""
    weak = {"locale": "hi", "strength": 1}
    yield {"create": "e", "collation": weak}
    yield insert("e", *({"_id": at, "a": value} for at, value in enumerate((["ä", "Å"], ["b", "B"], ["C", "c"], [{"x": "b"}, {"x": "B"}], ["e", "E", "é", "a", "A"], "f", "F", [[]], [["g"], ["G"]]))))
    yield insert("e", {"_id": 20, "d": [{"x": "b"}, {"x": ["C", "B"]}, {"x": "c"}]})
    for path in ("a", "d.x"):
        yield {"distinct": "e", "key": path}
        yield {"distinct": "e", "key": path, "collation": {"locale": "simple"}}
        yield {"distinct": "e", "key": path, "collation": {"locale": "en", "strength": 2}}
        yield {"distinct": "e", "key": path, "query": {"_id": {"$gte": 1}}}


@topic
def typed_arrays():
    """Arrays of values of one type: nulls among them, other values, and a null in place of the array."""
    yield insert("a", {"_id": 1, "a": [1, 2]})
    one = {"key": {"a": 1}, "name": "n"}
    for indexes in ([None], [None, None], [], [one, None], [None, {"key": {"b": 1}, "name": "m"}, None], [None, one], [None, 5], [5, None], [None, {**one, "z": 1}], None, 5):
        yield {"createIndexes": "a", "indexes": indexes}
    yield from [{"createIndexes": "new", "indexes": [None]}, {"find": "new"}, {"createIndexes": "a$b", "indexes": [None]}, {"createIndexes": "a$b", "indexes": [5]}]
    for options in ([("indexes", [None]), ("commitQuorum", -1)], [("indexes", [5]), ("commitQuorum", -1)], [("commitQuorum", -1), ("indexes", [5])], [("indexes", [5]), ("zork", 1)], [("zork", 1), ("indexes", [5])]):
        yield SON([("createIndexes", "a"), *options])
    for stages in ([None, {"$limit": 1}], [None], [None, {"$limit": 2}, None], [5], [None, 5], None, 5):
        yield from [{"create": "v", "viewOn": "a", "pipeline": stages}, {"listCollections": 1, "filter": {"name": "v"}, "$only": ["cursor.firstBatch"]}]
        yield from [{"collMod": "v", "viewOn": "a", "pipeline": stages}, {"listCollections": 1, "filter": {"name": "v"}, "$only": ["cursor.firstBatch"]}, {"drop": "v"}]
        yield run({"$unionWith": {"coll": "a", "pipeline": stages}})
    yield from [{"create": "v", "pipeline": [None], "viewOn": "a", "zork": 1}, run({"$unionWith": {"pipeline": [5], "zork": 1}}), run({"$unionWith": {"pipeline": [None]}}), run({"$unionWith": {"coll": "a", "pipeline": [{}, 5]}})]
    for filters in ([None], [None, {"i": 1}, None], [None, 5], [5], None, 5):
        yield update("a", {"q": {}, "u": {"$set": {"a.$[i]": 3}}, "arrayFilters": filters})
        yield update("a", {"q": {}, "u": [{"$set": {"b": 3}}], "arrayFilters": filters})
        yield {FM: "a", "query": {}, "update": {"$set": {"a.$[i]": 3}}, "arrayFilters": filters}
        yield {FM: "a", "query": {}, "update": [{"$set": {"b": 3}}], "arrayFilters": filters}
        yield {FM: "a", "query": {}, "remove": True, "arrayFilters": filters}
    piped = {FM: "a", "update": [{"$set": {"b": 3}}], "arrayFilters": []}
    yield from [piped, {**piped, "update": [{"$zork": 1}]}, {**piped, "arrayFilters": [{"$zork": 1}]}, {**piped, "hint": 5}, {**piped, "remove": True}, {**piped, "query": {"$zork": 1}}, {**piped, "let": {"a": "$b"}}, {"explain": piped}, {"explain": {FM: "a", "remove": True, "upsert": True}}, {"explain": {FM: "a"}}]
    for cursors in ([None], [None, 5], [Int64(7), None, Int64(6)], ["x"], None, 5):
        yield from [{"killCursors": "a", "cursors": cursors}, {"killCursors": "a", "cursors": cursors, "zork": 1}]
    for name in ("killSessions", "killAllSessions", "killAllSessionsByPattern", "refreshSessions", "endSessions"):
        yield from [{name: [None]}, {name: [None, 5]}, {name: None}]
    yield from [{"killAllSessionsByPattern": [{name: value}]} for name in ("users", "roles") for value in (None, [None], [None, 5])]
    # A reply tells of the connection.
    yield from [{"hello": 1, "compression": value, "$only": ["ok", "code", "errmsg"]} for value in ([5], [None, 5], [None], None, "x")]


@topic
def push_sort():
    """What counts as modified where an array without elements is sorted: what an index may be on."""
    flat, deep, language = {"_id": 1, "a": []}, {"_id": 1, "a": {"b": [], "lg": []}}, {"_id": 1, "a": {"b": [], "language": []}}
    paths = [("a", flat), ("a.b", deep), ("a.0.b", {"_id": 1, "a": [{"b": []}]}), ("a.$[].b", {"_id": 1, "a": [{"b": []}]}), ("a.0", {"_id": 1, "a": {"0": []}}), ("a.language", language), ("a.lg", deep)]
    wild = lambda **projection: {"wildcardProjection": projection}
    partial = lambda **filter: {"partialFilterExpression": filter}
    indexes = [({"a": 1}, {}), ({"b": 1}, {}), ({"a.b": 1}, {}), ({"a.b.c": 1}, {}), ({"a.c": 1}, {}), ({"aa": 1}, {}), ({"x.a": 1}, {}), ({"a.0.b": 1}, {}), ({"b": 1, "a.c.d": 1}, {}), ({"a": 1}, {"hidden": True}), ({"a": 1}, {"sparse": True}), ({"$**": 1}, {}), ({"$**": 1}, wild(b=1)), ({"$**": 1}, wild(a=1)), ({"$**": 1}, wild(a=0)), ({"a.$**": 1}, {}), ({"a.b.$**": 1}, {}), ({"b.$**": 1}, {}),
        ({"b": 1}, partial(a=1)), ({"b": 1}, {"partialFilterExpression": {"a.b": {"$exists": True}}}), ({"b": 1}, {"partialFilterExpression": {"$or": [{"a": 1}, {"c": 1}]}}), ({"b": "text"}, {}), ({"b": "text"}, {"language_override": "lg"}), ({"$**": "text"}, {}), ({"a": "2dsphere"}, {})]
    for number, (pattern, options) in enumerate(indexes):
        name = f"c{number}"
        yield {"createIndexes": name, "indexes": [{"key": pattern, "name": "i", **options}]}
        for path, document in paths:
            yield from [insert(name, document), update(name, {"q": {}, "u": {"$push": {path: {"$each": [], "$sort": 1}}}}), {"delete": name, "deletes": [{"q": {}, "limit": 0}]}]
    for more in ({"$set": {"b": 1}}, {"$set": {"b": 2}}, {"$unset": {"z": 1}}, {"$rename": {"z": "y"}}, {"$rename": {"b": "y"}}, {"$push": {"a": {"$each": [], "$sort": 1, "$slice": 1}}}, {"$push": {"a": {"$each": [], "$slice": 0}}}):
        for name in ("c0", "c1"):
            yield from [insert(name, {"_id": 1, "a": [], "b": 1}), update(name, {"q": {}, "u": {"$push": {"a": {"$each": [], "$sort": 1}}, **more}}), find(name), {"delete": name, "deletes": [{"q": {}, "limit": 0}]}]


@topic
def schema_required():
    """What is told of a property that `required` names and a document has not; and which keyword is read first."""
    draw = random.Random(7)
    plain = [{"bsonType": "int"}, {"bsonType": ["int", "object"]}, {"enum": [1, None]}, {"minimum": 3}, {"maxLength": 1}, {"minItems": 1}, {"bsonType": "object", "required": ["x"]}, {"required": ["x"]}, {"properties": {"x": {"bsonType": "int"}}}, {"uniqueItems": True}, {"items": {"bsonType": "int"}}, {"pattern": "a"}, {"additionalProperties": False}, {}, {"title": "t"}, {"type": "string"}, {"enum": [{}]}]

    def rule(depth):
        kind = draw.choice(["plain"] * 3 + ["allOf", "anyOf", "oneOf", "not", "both"] * (depth < 3))
        if kind == "plain":
            return dict(draw.choice(plain))
        if kind == "not":
            drawn = {"not": rule(depth + 1)}
        elif kind == "both":
            drawn = {**rule(depth + 1), **rule(depth + 1)}
        else:
            drawn = {kind: [rule(depth + 1) for _ in range(draw.randint(1, 3))]}
        if draw.random() < 0.2:
            drawn["title"] = "T"
        if draw.random() < 0.1:
            drawn["description"] = "D"
        return drawn

    documents = [{"_id": 1}, {"_id": 2, "a": 1}, {"_id": 3, "b": "x"}, {"_id": 4, "o": {}}, {"_id": 5, "o": {"b": 2}, "a": [1]}, {"_id": 6, "p": {"q": [1, 1]}}, {"_id": 7, "p": [{"q": 1}, {}]}, {"_id": 8, "p": [{"q": draw.choice([1, {}, "aa"])}, {"q": draw.choice([1, "a", [], {"x": 1}])}], "a": 1}]
    yield {"create": "j"}
    for _ in range(46):
        names = draw.sample(["a", "b", "o", "p.q"], draw.randint(1, 3))
        schema = {"required": names, "properties": {name: rule(0) for name in draw.sample(["a", "b", "o", "p.q"], 3)}}
        form = draw.randrange(6)
        if form == 1:
            schema = {"properties": {"o": {"bsonType": "object", **schema}, "p.q": rule(0)}}
        elif form == 2:
            schema = {"allOf": [schema, rule(1)]}
        elif form == 3:
            schema = {"anyOf": [schema, {"required": ["zork"]}]}
        elif form == 4:
            schema = {"dependencies": {"a": schema}, "required": ["b"]}
        yield {"collMod": "j", "validator": {"$jsonSchema": schema}}
        yield from [insert("j", document) for document in documents]
        yield {"delete": "j", "deletes": [{"q": {}, "limit": 0}]}
    for rule, document in (({"bsonType": ["double", "number"], "minProperties": 3}, {"a": {}}), ({"bsonType": ["int", "long", "double", "decimal"], "minLength": 3}, {"a": "x"}), ({"bsonType": ["number"], "minLength": 3}, {"a": "x"}), ({"pattern": "a"}, {"a": [{"b": 1}, {"b": "b"}]}), ({"dependencies": {"x": ["y"]}}, {"a": {"b": {"x": 1}}})):
        yield {"collMod": "j", "validator": {"$jsonSchema": {"properties": {"a": rule, "a.b": rule}}}}
        yield insert("j", {"_id": 1, **document})
    bad = {"required": [], "properties": 5, "patternProperties": 5, "additionalProperties": 3, "minProperties": "a", "maxProperties": -1, "dependencies": 5, "items": 5, "additionalItems": 5, "minItems": "x", "type": 5, "allOf": 5, "not": 5, "title": 5, "minimum": "x", "enum": 5, "zork": 1, "$ref": 1}
    for one in bad:
        for other in bad:
            yield find("j", {"$jsonSchema": {one: bad[one], other: bad[other]}})


@topic
def positional_schemas():
    """Which array element the positional operator stands for behind a schema."""
    whole = {"_id": 1, "p": [0, 1, 2, 3, 4], "a": [1, 2], "b": [3, 4], "e": [], "s": 1, "n": [[1, 2], 3], "o": {"a": [7, 8]}, "oa": [{"z": 1}, {"a": 5}, {"a": [6, 7]}]}
    yield insert("a", whole)
    schemas = [{"required": names} for names in (["a"], ["e"], ["a", "e"], ["e", "a"], ["s"], ["n"], ["o.a"], ["oa.a"], ["oa.a", "s"], ["a", "oa.a"], ["oa.a", "a"])]
    schemas += [{kind: [{"required": [name]}]} for kind in ("allOf", "anyOf", "oneOf") for name in ("a", "oa.a")]
    schemas += [{"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}, {"not": {"required": ["zork"]}}, {"not": {"not": {"required": ["a"]}}}]
    schemas += [{"dependencies": value} for value in ({"a": ["s"]}, {"s": ["oa.a"]}, {"zork": ["a"]}, {"s": {"required": ["a"]}}, {"oa.a": {"minProperties": 1}})]
    schemas += [{"properties": {"o": {"required": ["a"]}}}, {"properties": {"a": {"minItems": 1}}}, {"properties": {"a": {"minItems": 1}}, "required": ["a"]}, {"required": ["oa.a"], "minProperties": 1}, {"patternProperties": {"a": {"bsonType": "array"}}}]
    others = [{}, {"b": 4}, {"b": {"$in": [4]}}, {"b": {"$exists": True}}, {"b": {"$gt": 3}}, {"p": {"$mod": [4, 3]}}, {"p": {"$elemMatch": {"$gt": 2}}}, {"p": {"$bitsAllSet": 3}}, {"p": {"$type": "int"}}, {"s": 1}, {"b": {"$not": {"$gt": 9}}}, {"p": {"$size": 5}}]
    for at, schema in enumerate(schemas):
        for other in others if at < 12 else others[:3]:
            yield {FM: "a", "query": {"$jsonSchema": schema, **other}, "update": {"$set": {"p.$": "X"}}, "new": True, "fields": {"p": 1}}
            yield update("a", {"q": {"_id": 1}, "u": {"$set": {"p": whole["p"]}}})
    yield {FM: "a", "query": {"$or": [{"$jsonSchema": {"required": ["a"]}}]}, "update": {"$set": {"p.$": "X"}}, "new": True}
    yield {FM: "a", "query": {"$or": [{"p": 9}, {"$jsonSchema": {"required": ["a"]}}]}, "update": {"$set": {"p.$": "X"}}, "new": True}
    yield {FM: "a", "query": {"$and": [{"b": 4}, {"$jsonSchema": {"required": ["a"]}}]}, "update": {"$set": {"p.$": "X"}}, "new": True}


@topic
def nin_plans():
    """What is in none of a list, by an index that has no arrays: null, arrays and patterns beside other values."""
    values = [None, 1, "a", "abc", "xz", {"x": 1}, {}, 2.5, re.compile("z")]
    yield insert("a", *({"_id": at, "a": value} for at, value in enumerate(values)), {"_id": 99})
    yield create(index([("a", 1)]))
    # Behind a hash that no bound tells, the next field's bounds say nothing of where to begin.
    yield insert("h", *({"_id": at, "b": at % 3, "d": at, "c": at % 2} for at in range(40)))
    for last in (1, -1):
        yield create(index([("b", -1), ("d", "hashed"), ("c", last)], f"h{last}"), collection="h")
        for query in ({"b": {"$not": {"$gt": 0}}}, {"b": {"$in": [0, 2]}}, {"b": {"$ne": 1}, "c": 1}, {"b": {"$in": [0, 2]}, "c": {"$gt": 0}}, {"b": {"$in": [0, 2]}, "d": 6}, {"b": {"$in": [0, 2]}, "d": {"$in": [6, 8]}, "c": {"$gte": 0}}):
            yield {"count": "h", "query": query, "hint": f"h{last}"}
    yield insert("w", {"_id": 0, "a": {"c": 0}}, {"_id": 2, "a": 1}, {"_id": 3}, {"_id": 4, "a": {}}, {"_id": 5, "a": None})
    yield create(index([("$**", 1)]), collection="w")
    yield from [{"count": "w", "query": {"a": {"$nin": [None, *more]}}} for more in ([], [MinKey()], [MaxKey()], [MinKey(), MaxKey()], [1], ["a"], [{}], [True])]
    listed = [None, [1], [], [[1]], re.compile("z"), re.compile("^a"), 1, "a", {"x": 1}, [None], ["a", None]]
    for count in (1, 2):
        for chosen in itertools.combinations(listed, count):
            yield from [{"count": "a", "query": {"a": {"$nin": list(chosen)}}}, {"count": "a", "query": {"$nor": [{"a": {"$in": list(chosen)}}]}}]


@topic
def regex_syntax():
    """The syntax of PCRE: what an option changes and what not, quotations, properties, names, and what is refused."""
    texts = ["a", "A", "aB", "ab", "AB", "1", "8", "81", "9", "\u017f", "\u212a", "\u00e9", "\u00c9", "_", "-", "a-z", "x y", "\u01c5", "\u03a3", "\u0431", "\u00bd", "\u00a0", "\x85", "$", "[", "]", "Q", "E", "a # c", "S", "k"]
    yield insert("a", *({"_id": at, "s": text} for at, text in enumerate(texts)))
    classes = [r"[\p{Lu}x]", r"[^\p{Lu}x]", r"[\wé]", r"[^\wé]", r"[^\w]", r"[\W]", r"[[:upper:]]", r"[^[:upper:]]", r"[[:^lower:]b]", r"[[:alpha:]б]", r"[[:word:]]", r"\p{Ll}\p{Lu}", r"\P{Lu}", r"[\P{Lu}]", r"[\p{^Lu}]", r"\bs", r"\Bs", r"(?i)\p{Lu}(?-i)b", r"(?i:[\w])", r"[a-z]", r"[^k]"]
    quoted = [r"\Qa", r"a # c", r"(?x)a # c", r"[\Qa-z\E]", r"[\Qa\E-z]", r"[a-\Qz\E]", r"[\E]", r"[\Q]\E]", r"[\Q\E]", r"[\Q", r"[^\Qa-z\E]", r"[a\Q]", r"[a\E-z]", r"a\Q\E+", r"\Qab\E+"]
    posix = [r"[[.a.]]", r"[[=a=]]", r"[[.a]", r"[.a.]", r"[a[.b.]]", r"[:alpha:]", r"[[:a]", r"[[:alpha]]", r"[[:zork:]]", r"[:a]"]
    names = [r"(?<a-b>x)", r"(?<aé>x)", r"(?<" + "n" * 32 + ">a)", r"(?<" + "n" * 33 + ">a)", r"(?P<a-b>x)", r"\k<a-b>", r"(?P=a-b)", r"\g{a-b}", r"(a)\g{-1}", r"(?C)a", r"(?C255)a", r"(?C256)a", r"(?Cx)a", r"(?C"]
    escapes = [r"\7", r"\8", r"\9", r"\81", r"(a)\8", r"\N{2}", r"\N{U+41}", r"\N{,2}", r"\o{141}", r"\o", r"\o{}", r"\o{9}", r"\o{141", r"[\o{141}]", r"\o{77777777}"]
    properties = [fr"\p{{{name}}}" for name in "L& Xan Xwd Xsp Xps Xuc ^Xan Alphabetic Letter greek Greek GREEK sc=Greek lu LU Emoji ASCII Lower LC Cyrillic Common Adlam Cn C".split()] + [r"[\p{L&}]", r"\P{Xan}", r"[^\p{Xwd}]", r"\p{}", r"\pS", r"\p"]
    for pattern in classes + quoted + posix + names + escapes + properties:
        for options in ("", "i") if pattern in classes else ("",):
            yield find("a", {"s": {"$regex": pattern, "$options": options}}, projection={"_id": 1}, sort={"_id": 1})
            yield run({"$project": {"r": {"$regexMatch": {"input": "$s", "regex": pattern, "options": options}}}}, {"$match": {"r": True}}, {"$group": {"_id": None, "n": {"$sum": "$_id"}}})


@topic
def positional_conditions():
    """Which element the positional $ means where several conditions match: to a projection the last as written, to an
    update the last as a server sorts them."""
    whole = {"_id": 1, "b": [1, 2, 3], "c": [{"x": 1}, {"x": 2}, {"x": 3}], "a": [5, 6, 7]}
    yield insert("a", whole)
    conditions = [{"b": 3}, {"c.x": 1}, {"a": 6}, {"c": {"$elemMatch": {"x": 2}}}, {"b": {"$gt": 1}}, {"a": {"$in": [7]}}, {"c.x": {"$gte": 3}}, {"a": {"$lt": 6}}, {"b": {"$elemMatch": {"$gt": 2}}}]
    for one in conditions:
        for other in conditions:
            if one.keys() != other.keys():
                query = {**one, **other}
                yield find("a", query, projection={"b.$": 1})
                yield find("a", {"$and": [one, {"$and": [other]}]}, projection={"c.$": 1})
                yield {FM: "a", "query": query, "update": {"$set": {"z": 1}}, "fields": {"a.$": 1}}
                yield from [{FM: "a", "query": query, "update": {"$set": {"b.$": 0}}, "new": True}, update("a", {"q": {}, "u": whole})]
    for pattern in (re.compile("z"), "z"):
        yield from [insert("t", {"_id": 1, "b": ["x", "y"], "s": ["x", "z"]}), find("t", {"s": {"$in": [pattern]}, "b": "x"}, projection={"b.$": 1})]
        yield from [{FM: "t", "query": {"s": {"$in": [pattern]}, "b": "x"}, "update": {"$set": {"b.$": 0}}, "new": True}, {"drop": "t"}]
    change = {FM: "a", "query": {"_id": 1}}
    yield from [{**change, "remove": True, "fields": {"c.$": 1}}, {**change, "update": {"$set": {"z": 1}}, "fields": {"c.$": 1}}, {**change, "update": {"$set": {"b.$": 1}}, "sort": {"a": 2}}, {**change, "update": {"$set": {"b": 1}}, "sort": {"a": 2}}]


@topic
def set_union_collation():
    """$setUnion with a collation."""
    yield insert("a", {"_id": 1, "s": "A", "l": ["A"]}, {"_id": 2, "s": "b", "l": ["á", "b"]})
    weak = {"locale": "en", "strength": 1}
    for union in ([["a"], "$l"], ["$l", ["a"]], [["a", "á"], "$l", ["B"]], ["$l", ["a"], ["á", "B"]]):
        yield {**run({"$project": {"r": {"$setUnion": union}}}), "collation": weak}
        yield run({"$project": {"r": {"$setUnion": union}}})


@topic
def namespace_faults():
    """Names of views and of renamed collections, and capped collections."""
    yield insert("a", {"_id": 1, "s": "A", "l": ["A"]}, {"_id": 2, "s": "b", "l": ["á", "b"]})
    # Views.
    yield {"create": "p", "viewOn": "a", "pipeline": [{"$project": {"_id": 0, "s": 1}}]}
    yield run({"$graphLookup": {"from": "p", "startWith": "$s", "connectFromField": "s", "connectToField": "s", "as": "j"}})
    yield from [find("p", min={"_id": 1}, hint={"_id": 1}), find("p", max={"_id": 1}, hint={"_id": 1}), find("p", tailable=True, min={"_id": 1})]
    yield from [{"create": "q", "viewOn": name, "pipeline": []} for name in (".a", "a\0b", "a$b", "")]
    # Renames.
    for target in ("$db.p", "$db.z\0y", "$db_other.a", "$db.q"):
        yield {"renameCollection": "$db.nope", "to": target, "$on": "admin"}
    yield from [{"renameCollection": "$db.a", "to": "$db.z\0y", "$on": "admin"}, find("a", {"_id": 1})]
    # Capped collections.
    yield from [{"create": "c", "validator": {"a": 1}, "collation": {"locale": "de"}}, {"convertToCapped": "c", "size": -5}, {"convertToCapped": "c", "size": 1000}, {"listCollections": 1, "filter": {"name": "c"}}]


@topic
def validator_rules():
    """Types that $jsonSchema names, and validators of geometries."""
    yield insert("a", {"_id": 1, "s": "A", "l": ["A"]}, {"_id": 2, "s": "b", "l": ["á", "b"]})
    # Names of codes.
    yield from [{FM: "a", "query": {"_id.a": 1}, "update": {"z": 1}, "upsert": True}]
    # Validators.
    for types in ([1], ["int", 1], "integer", ["integer"], "missing", "zork"):
        yield find("a", {"$jsonSchema": {"bsonType": types}})
    yield from [find("a", {"$jsonSchema": {"type": [1]}}), {"create": "n", "validator": {"$near": 1}}, {"create": "n", "validator": {"$and": [{"$near": 1}]}}, {"create": "n", "validator": {"$and": [{"a": {"$not": {"$near": [0, 0]}}}]}}]
    square = {"$geometry": {"type": "Polygon", "coordinates": [[[0, 0], [10, 0], [10, 10], [0, 10], [0, 0]]]}}
    for path in ("a", "a.b", "a.0", "a.0.b"):
        for rule in ({"$geoWithin": square}, {"$not": {"$geoWithin": square}}, {"$geoIntersects": square}):
            yield from [{"drop": "g"}, {"create": "g", "validator": {path: rule}}]
            for value in ([1, 2], [11, 2], [[1, 2]], {"x": 1, "y": 2}, [{"x": 11, "y": 2}, 3], {"0": [11, 2]}):
                yield from [insert("g", {"a": value, "_id": 1}), insert("g", {"a": {"b": value}, "_id": 2}), insert("g", {"a": [{"b": value}, {"b": 5}], "_id": 3}), {"delete": "g", "deletes": [{"q": {}, "limit": 0}]}]


@topic
def partial_index_conflicts():
    """Indexes of one name or one key whose options differ."""
    # Conditions of a partial index that are the same.
    conditions = [{"b": 1}, {"b": 1.0}, {"b": {"$eq": Int64(1)}}, {"b": 2}, {"b": 1, "c": 2}, {"c": 2.0, "b": 1}, {"b": {"x": 1, "y": 2}}, {"b": {"y": 2, "x": 1}}, {"b": {"$gt": 1}}, {"b": {"$gt": 1.0}}]
    for one in conditions:
        for other in conditions:
            yield from [create(index([("a", 1)], "p", partialFilterExpression=condition), collection="j") for condition in (one, other)] + [{"dropIndexes": "j", "index": "*"}]
    # What a conflict shows.
    yield create(index([("a", 1)], "h", hidden=True), collection="i")
    yield from [create(index([("b", 1)], "h"), collection="i"), create(index([("a", 1)], "h", sparse=True, hidden=True), collection="i")]


@topic
def hints_and_sorts():
    """Hints and sorts that exclude each other or other options, and which fault is reported."""
    yield from [insert("c", {"_id": 1, "a": 1}, {"_id": 2, "a": [1, 2]}), create(index([("a", 1)], "a_1")), {"create": "v", "viewOn": "c", "pipeline": []}]
    yield create(index([("s", "text")], "s"), index([("a", "2d")], "a_2d"), collection="t")
    orders = [{"$natural": value} for value in (1, -1, 2, -2, 0, "x", 1.0, -1.5, Int64(1), True, {"a": 1}, None, Decimal128("1"), Decimal128("-1"))]
    orders += [SON([("$natural", 1), ("a", 1)]), SON([("a", 1), ("$natural", 1)]), {"a.$natural": 1}, {"a": 1}]
    hints = ["a_1", {"a": 1}, {"$natural": 1}, {"$natural": -1}, {"$natural": "x"}, {"$natural": -1.0}, {"$natural": 2}, {"$natural": -2}, SON([("a", 1), ("$natural", 1)]), SON([("$natural", 1), ("a", 1)]), "", {}, {"$hint": "a_1"}, {"$hint": "b"}, {"$hint": 1}, "$natural"]
    for sort, hint in itertools.product(orders, hints):
        yield {"find": "c", "sort": sort, "hint": hint}
        yield {FM: "c", "sort": sort, "hint": hint, "update": {"$set": {"b": 1}}}
    for hint in hints:
        for sort in orders[:2] + orders[-4:]:
            for options in ({"filter": {"$zork": 1}}, {"projection": {"a": 1, "b": 0}}, {"tailable": True}, {"min": {"a": 1}}, {"filter": {"_id": 1}}, {"collation": {"locale": "zz"}}):
                yield {"find": "c", "sort": sort, "hint": hint, **options}
            yield {"find": "v", "sort": sort, "hint": hint}
        yield from [{"find": "c", "hint": hint}, {"count": "c", "hint": hint}, {**run(collection="c"), "hint": hint}]
        yield from [{"delete": "c", "deletes": [{"q": {"b": 3}, "limit": 1, "hint": hint}]}, update("c", {"q": {"b": 3}, "u": {"$set": {"c": 1}}, "hint": hint})]
    search, near = {"$text": {"$search": "x"}}, {"a": {"$near": [0, 0]}}
    options = [{"sort": {"$natural": 1}}, {"hint": {"$natural": 1}}, {"hint": "a_1"}, {"hint": {}}, {"tailable": True}, {"sort": {"$natural": 1}, "hint": {"$natural": -1}}, {"sort": {"$natural": 1}, "projection": {"a": 1, "b": 0}}, {"sort": {"a": 1}, "hint": "z"}, {"tailable": True, "hint": "z"}, {}]
    yield from [{"find": name, "filter": filter_, **more} for filter_ in (search, near, {**search, **near}) for name in ("t", "n") for more in options]


@topic
def sort_key_limits():
    """A sort by more fields than are allowed."""
    yield from [insert("c", {"_id": 1, "a": 1}, {"_id": 2, "a": [1, 2]}), create(index([("a", 1)], "a_1")), {"create": "v", "viewOn": "c", "pipeline": []}]
    # So many fields are too many to sort by, where documents are sorted.
    many = SON([(f"f{number}", 1) for number in range(33)])
    yield from [run(*stages, collection=name) for name in ("c", "n") for stages in ([{"$sort": many}], [{"$set": {"z": 1}}, {"$sort": many}], [{"$facet": {"z": [{"$sort": many}]}}], [{"$lookup": {"from": "n", "as": "z", "pipeline": [{"$sort": many}]}}])]
    yield {"create": "w", "viewOn": "c", "pipeline": [{"$sort": many}]}
    yield from [{"find": name, "sort": many, **more} for name in ("c", "n", "v") for more in ({}, {"hint": "z"}, {"min": {"a": 1}}, {"filter": {"_id": 1}}, {"filter": {"_id": 1}, "skip": 1}, {"filter": {"_id": 1}, "hint": "_id_"}, {"limit": 1}, {"returnKey": True})]
    yield from [{FM: name, "sort": many, "query": query, "update": {"$set": {"a": 1}}, **more} for name in ("c", "n") for query in ({"_id": 1}, {"a": 1}) for more in ({}, {"upsert": True})]


@topic
def upsert_empty_paths():
    """An upsert by a filter whose path is empty: it sets the whole document."""
    # The path without a name is the whole document to an upsert.
    filters = [{"": 1}, {"": [1]}, {"": {"$eq": 1}}, {"": {"$in": [1]}}, {"": {"$in": [1, 2]}}, {"": {"$all": [1]}}, {"": {"$gt": 1}}, {"": 1, "a": 2}, {"$and": [{"": 1}, {"": 2}]}, {"_id": 5, "": 1}, {"a..b": 1}, {"a.": 1}, {".a": 1}, {"a": {"": 1}}]
    for filter_ in filters:
        for change in ({"$set": {"b": 1, "_id": 7}}, {"_id": 7, "b": 1}, [{"$set": {"_id": 7}}]):
            yield from [update("u", {"q": filter_, "u": change, "upsert": True}), {FM: "u", "query": filter_, "update": change, "upsert": True}, find("u"), {"delete": "u", "deletes": [{"q": {}, "limit": 0}]}]


@topic
def positional_projections():
    """The positional $ within a document of a projection, and where findAndModify reads its projection at all."""
    yield insert("c", {"_id": 1, "c": [{"b": [1, 2, 3]}, {"b": [2, 3]}], "d": [1, 2]}, {"_id": 2, "c": {"1": {"b": [5, 6]}}})
    shown = [{"c.1": {"b.$": 1}}, {"c": {"b.$": 1}}, {"c.b.$": 1}, {"c": {"b": {"d.$": 1}}}, {"c": {"b": {"$": 1}}}, {"c": {"$": 1}}, {"c.$": 1}, {"c": {"x": 1, "b.$": 1}}, {"a": "$x", "c": {"b.$": 1}}, {"c": {"b.$": 0}}, {"c": {"b.$": "x"}}, {"c": {"b.$.d": 1}}, {"c": {"b.$": {"$add": [1]}}}, {"$": 1}, {"c.$": {"x": 1}}, {"c.$": {}}, {"c.$.b": {"d": 1}}, {"c.$.b": 1}, {"c": {"b$.$": 1}}]
    for filter_, projection in itertools.product(({"c.b": 2}, {"d": 2}, {"_id": 1}, {}), shown):
        yield {"find": "c", "filter": filter_, "projection": projection}
        yield run({"$match": filter_}, {"$project": projection}, collection="c")
        yield from [{FM: "c", "query": filter_, "fields": projection, "new": new, "update": {"$set": {"z": 1}}} for new in (True, False)]
    for fields in (*shown[:3], {"a": 1, "b": 0}, {"a": {"$zork": 1}}, {"a": {"$meta": "sortKey"}}, {"a": {"$add": ["x", 1]}}):
        for more in ({"update": {"$set": {"z": 1}}}, {"remove": True}, {"update": {"$set": {"z": 1}}, "new": True}, {"update": {"$zork": 1}}, {"update": {"$set": {"z": 1}}, "upsert": True}, {"update": {"$set": {"z": 1}}, "upsert": True, "new": True}):
            yield from [insert("m", {"_id": 1, "a": 1}), {FM: "m", "query": {"a": 1}, "fields": {"a": {"$meta": "textScore"}}, **more}, {"delete": "m", "deletes": [{"q": {}, "limit": 0}]}]
            yield from [{FM: "n", "query": {"a": 1}, "fields": fields, **more}, find("n", projection={"_id": 0}), {"listCollections": 1, "nameOnly": True, "filter": {"name": "n"}}, {"drop": "n"}]


@topic
def transaction_snapshots():
    """What a transaction meets where collections, views and indexes are made, changed and dropped after it began."""
    numbers = itertools.count(1)
    a, hint = [("a", 1)], {"find": "c", "hint": "a"}
    add, drop, hide = create(index(a, "a"), collection="c"), {"dropIndexes": "c", "index": "a"}, {"collMod": "c", "index": {"name": "a", "hidden": True}}
    gone, again, new = {"drop": "c"}, {"create": "c"}, [{"create": "n"}, insert("n", {"_id": 1})]
    moved = {"renameCollection": "$db.c", "to": "$db.d", "$on": "admin"}
    write = [insert("c", {"_id": 5, "a": 1}), update("c", {"q": {"_id": 1}, "u": {"$set": {"z": 1}}}), update("c", {"q": {"_id": 1}, "u": {"$set": {"a": 7}}}), {"delete": "c", "deletes": [{"q": {"_id": 1}, "limit": 1}]}, {"delete": "c", "deletes": [{"q": {"_id": 7}, "limit": 1}]}, {FM: "c", "query": {"_id": 1}, "update": {"$inc": {"a": 1}}}]
    read = [find("c"), {"distinct": "c", "key": "a"}, run({"$match": {}}, collection="c")]
    other = [find("n"), insert("n", {"_id": 2}), update("n", {"q": {}, "u": {"$set": {"a": 1}}}), {"distinct": "n", "key": "a"}, run(collection="n"), run({"$lookup": {"from": "n", "as": "x", "pipeline": []}}, collection="c"), run({"$graphLookup": {"from": "n", "startWith": "$_id", "connectFromField": "_id", "connectToField": "_id", "as": "x"}}, collection="c"), {"create": "n"}, create(index(a, "a"), collection="n"), create(index(a, "a"), collection="c")]
    view = {"create": "v", "viewOn": "c", "pipeline": []}
    scenes = [([], new, [step]) for step in other] + [([], new[1:], [find("n")]), ([], [*new, {"create": "v", "viewOn": "n", "pipeline": []}], [find("v")])]
    scenes += [([], changes, [step]) for changes in ([add], [add, drop], [{"collMod": "c", "validator": {"a": 2}}], [{"collMod": "c", "validator": {"a": 1}}], [gone], [gone, again], [moved], []) for step in (*read, *write, again, hint)]
    scenes += [([add], changes, [step]) for changes in ([drop], [hide], [drop, add]) for step in (*read, *write, hint) if changes == [drop] or step not in (write[2], write[5])]
    scenes += [([], [gone], [again, write[0], find("c")]), ([], [gone], [write[0], find("c")]), ([], [view], [find("v")]), ([view], [{"drop": "v"}], [find("v")]), ([], [add], [write[1], find("c", {"a": 1})]), ([], [insert("c", {"_id": 5})], [find("c"), write[0]])]
    kept = ["ok", "code", "codeName", "errorLabels", "n", "nModified", "writeErrors", "cursor.firstBatch", "values", "numIndexesBefore", "numIndexesAfter"]
    for before, changes, steps in scenes:
        yield from [{"drop": name} for name in ("c", "n", "v", "d")]
        yield from [insert("c", {"_id": 1, "a": 1}), *before]
        number = {"lsid": {"id": Binary(b"0123456789abcdef", 4)}, "txnNumber": Int64(next(numbers)), "autocommit": False}
        yield {**find("zz"), **number, "startTransaction": True, "$only": ["ok"]}
        yield from changes
        yield from [{**step, **number, "$only": kept} for step in steps]
        yield {"commitTransaction": 1, **number, "$on": "admin", "$only": kept}
        yield from [{**find("c", sort={"_id": 1}), "$only": kept}, {**find("c", {"a": 1}), "$only": kept}]


@topic
def upsert_filters():
    """What an upsert takes of a filter where some of it can match nothing."""
    string, none = {"bsonType": "string"}, {"a": {"$all": []}}
    schemas = [string, {"type": "array"}, {"bsonType": ["string", "int"]}, {"bsonType": ["string", "object"]}, {"required": ["a"]}, {"not": {}}, {"not": {"bsonType": "object"}}, {"enum": [1]}, {"enum": [1, {"a": 1}]}, {"enum": [{"a": 1}]}, {"properties": {"x": {"not": {}}}}, {"required": ["x"], "properties": {"x": {"not": {}}}}, {"minProperties": 5, "maxProperties": 1}, {"additionalProperties": False}, {"items": string}, {"not": {"anyOf": [{}, {"minimum": 1}]}}]
    schemas += [{word: parts} for word in ("anyOf", "oneOf", "allOf") for parts in ([string], [string, {"type": "array"}], [string, {}], [{"not": {}}, {"enum": [1]}], [{"oneOf": [string]}], [{"anyOf": [string, {"enum": [2]}]}, string])]
    filters = [{"$jsonSchema": schema} for schema in schemas] + [none, {"a": {"$in": []}}, {"$alwaysFalse": 1}, {"a": {"$in": [], "$eq": 2}}, {"a": {"$elemMatch": {"$in": []}}}, {"a": {"$not": {"$nin": []}}}, {"a": {"$elemMatch": {"x": {"$all": []}}}}, {"$nor": [{}]}, {"$nor": [{"$alwaysTrue": 1}]}]
    shapes = [lambda f: {"b": 1, **f}, lambda f: {"b": 1, "$and": [f]}, lambda f: {"b": 1, "$or": [f]}, lambda f: {"b": 1, "$or": [f, {"c": 1}]}, lambda f: {"$or": [{"$and": [{"b": 1}, f]}, {"c": 2, "d": {"$gt": 1}}]}, lambda f: {"$and": [{"$or": [{"b": 1}]}, {"$or": [{"$and": [{"d": 1}, f]}]}]}, lambda f: {"_id": 5, "$and": [{"c": 1}, {"$nor": [f]}]}, lambda f: {"_id": 5, "$or": [{"$or": [f]}, {"c": 1}]}]
    for at, filter in enumerate(filters):
        for shape in shapes:
            yield {"update": "a", "updates": [{"q": shape(filter), "u": [{"$set": {"q": 1}}, {"q": 1}][at % 2], "upsert": True}], "$only": ["n", "writeErrors", "ok"]}
            yield from [run({"$project": {"_id": {"$cond": [{"$eq": [{"$type": "$_id"}, "objectId"]}, None, "$_id"]}, "b": 1, "c": 1, "d": 1, "q": 1}}), {"delete": "a", "deletes": [{"q": {}, "limit": 0}]}]


@topic
def zip_inputs():
    """Which of the inputs of $zip are looked at."""
    yield insert("a", {"_id": 1, "n": None, "a": [1, 2], "b": [3], "s": "x", "z": 0})
    fault = {"$divide": [1, "$z"]}
    inputs = [["$n", fault], ["$s", fault], ["$a", fault], [fault, "$n"], ["$missing", fault], [[1], fault], ["$a", "$n", fault], ["$a", "$s", fault], ["$n", "$s"], ["$s", "$n"], [{"$divide": [1, 0]}, "$n"], ["$n", {"$divide": [1, 0]}]]
    yield from [run({"$project": {"r": {"$zip": {"inputs": of}}}}) for of in inputs]
    for of in (["$a", "$a"], ["$n", "$a"], ["$a", "$b"], ["$a", ["x", 2, 3]]):
        for defaults in ([1, fault], [fault, 1], ["$n", 2], ["$missing", fault], [fault, fault]):
            yield run({"$project": {"r": {"$zip": {"inputs": of, "useLongestLength": True, "defaults": defaults}}}})


@topic
def min_and_max_key_ranges():
    """Ranges up to MinKey and MaxKey by an index with a collation."""
    ends = [{"b.c": {"$gte": MinKey()}}, {"b.c": {"$gt": MinKey()}}, {"b.c": {"$lte": MaxKey()}}, {"b.c": {"$lt": MaxKey()}}]
    values = [[], None, [{}], 3, {"c": 1}, [1], {"c": []}]
    for name, collation in (("a", None), ("e", {"locale": "de"})):
        yield {"create": name, **({"collation": collation} if collation else {})}
        yield insert(name, *({"_id": at, "b": value} for at, value in enumerate(values)), {"_id": 9})
        yield create(index([("b.c", 1)], collation={"locale": "de"}), collection=name)
        yield from [{"count": name, "query": query} for query in ends]
        yield from [{"count": name, "query": query, "collation": {"locale": "simple"}} for query in ends]


@topic
def push_sort_validators():
    """Which validators let a $push count that only sorts."""
    resort = [{"$push": {"b.0": {"$each": [], "$sort": 1}}}, {"$push": {"b.0": {"$each": []}}}]
    for options in ({}, {"validator": {}}, {"validator": {"$jsonSchema": {}}}, {"validator": {"x": 1}}, {"validator": {"x": 1}, "validationLevel": "off"}, {"validator": {"x": 2}, "validationAction": "warn"}):
        yield from [{"create": "v", **options}, insert("v", {"_id": 1, "x": 1, "b": [[]]})]
        yield from [update("v", {"q": {}, "u": change}) for change in resort]
        yield {"drop": "v"}


@topic
def query_options():
    """$queryOptions, which is ignored."""
    yield insert("a", {"_id": 1, "b": 1})
    yield from [{"distinct": "a", "key": "b", "$queryOptions": value} for value in ([], 5, None, {}, {"x": 1})]
    yield from [{**command, "$queryOptions": value} for command in ({"count": "a"}, {"aggregate": "a", "pipeline": [], "cursor": {}}) for value in ([], 5, None, {})]


@topic
def nested_index_keys():
    """Indexes on paths within arrays and on numbers in paths."""
    yield from [{"create": "p"}, insert("p", {"_id": 0, "b": []}, {"_id": 1, "b": [{"c": {"d": 1}}]}), create(index([("b.c.d", -1)], partialFilterExpression={"b": {"$exists": True}}), collection="p")]
    yield from [find("p", {"b.c.d": end}, hint="n") for end in ({"$gte": MinKey()}, {"$lt": MaxKey()})]
    numbered = [{"_id": 0}, {"_id": 1, "c": {"1": 5}}, {"_id": 2, "c": 5}, {"_id": 3, "c": {"1": None}}, {"_id": 4, "b": {"c": 1}}]
    for at, keys in enumerate(([("b.c", -1), ("c.1", 1)], [("c.1", 1)], [("c.1", 1), ("b.c", 1)])):
        for document in numbered:
            yield from [insert(f"n{at}", document), create(index(keys), collection=f"n{at}")]
            yield from [{"distinct": f"n{at}", "key": "c.1", "query": query} for query in ({"b.c": {"$ne": 3}}, {"c.1": {"$gte": 0}}, {"c.1": {"$ne": 7}}, {"b.c": None}, {})]
            yield {"delete": f"n{at}", "deletes": [{"q": {}, "limit": 0}]}


@topic
def graph_lookup_depth():
    """Paths that connect, and the field of the depth."""
    yield insert("g", {"_id": 7, "a": 0}, {"_id": 8, "a": 1}, {"_id": 9, "a": 9})
    yield from [run({"$match": {"_id": 8}}, {"$graphLookup": {"from": "g", "startWith": "$a", "connectFromField": onward, "connectToField": "a", "as": "g", "depthField": depth}}, collection="g") for onward in ("_id", "a", "a.b") for depth in ("_id", "a", "a.b", "x")]


@topic
def failing_expr():
    """A $expr that fails beside conditions that match nothing, also in a validator."""
    yield insert("f", {"_id": 1, "a": "x", "b": {"a": 5}})
    failing = {"$expr": {"$abs": "$a"}}
    yield from [find("f", query) for query in ({**failing, "c": {"$all": []}}, {**failing, "c": {"$in": []}}, {"$and": [failing, {"c": {"$in": []}}]}, {"$or": [{"c": {"$in": []}}, failing]}, {"$and": [{"$and": [{"c": {"$in": []}}]}, failing]})]
    for value in ({"$elemMatch": {}}, {"$elemMatch": {"$gt": 1}}, {"$size": 2}, {"$mod": [2, 1]}, {"$regex": "a"}, {"$bitsAllSet": 4}, {"$gt": "x"}, {"$type": "string"}, {"$in": ["x"]}):
        yield from [{"collMod": "f", "validator": {"$nor": [{**failing, "b.a": value, "x": 1}]}}, insert("f", {"_id": 2, "a": "x", "b": {"a": 5}}), insert("f", {"_id": 3, "a": "x", "b": {"a": "y"}})]


@topic
def hashed_keys():
    """The operands of $toHashedIndexKey."""
    yield insert("a", *({"_id": at, "b": value} for at, value in enumerate([[], None, [{}], 3, {"c": 1}, [1], {"c": []}])), {"_id": 9})
    hashed = [[1, 2], [], [1], "x", ["$b"], {"$literal": [1, 2]}]
    yield from [run({"$sort": {"_id": 1}}, {"$limit": 1}, {"$project": {"r": {"$toHashedIndexKey": value}}}) for value in hashed]


@topic
def sum_order():
    """The order in which numbers of several types are added."""
    yield insert("s", {"_id": 1, "x": 2147483648.0, "y": 0.7071067811865475, "z": Int64(-2147483647), "w": -2147483647.0, "i": -2147483647, "o": 1.0, "l": Int64(2147483648), "m": Int64(2**62 + 3), "n": -(2.0**62)})
    for names in ("xyz", "xzy", "zxy", "yxz", "yzx", "xyi", "xyw", "yxw", "lyz", "lyw", "xwy", "ywx", "xywo", "xyzo", "myn", "mny", "nmy", "mnyo"):
        sums = ["$" + name for name in names]
        yield run({"$project": {"a": {"$add": sums}, "s": {"$sum": sums}, "v": {"$avg": sums}}}, collection="s")
    never = [{"$setEquals": [[1], [1]]}, {"$setUnion": [{"$setEquals": [[], []]}]}, {"$setEquals": [1, [1]]}, {"$not": [{"$setEquals": [[], []]}]}, {"$subtract": [{"$dayOfWeek": [{"$setEquals": [[], []]}]}, {"$add": [{}]}]}]
    yield from [run({"$project": {"r": value}}, collection="none") for value in never]


@topic
def nin_documents():
    """$nin and $ne of documents by an index."""
    yield insert("d", {"_id": 1}, {"_id": 2, "a": {"x": 1}}, {"_id": 3, "a": {}}, {"_id": 4, "a": 2})
    yield create(index([("a", -1)]), collection="d")
    for query in ({"a": {"$nin": [{}]}}, {"a": {"$ne": {"x": 1}}}, {"a": {"$nin": [{}, {"x": 1}, 2]}}, {"a": {"$nin": [None, {}]}}, {"a": {"$not": {"$eq": {}}}}):
        yield from [find("d", query), {"distinct": "d", "key": "a", "query": query}, {"count": "d", "query": query}]


if __name__ == "__main__":
    main(*sys.argv[1:], topics=TOPICS)
