"""Records what a mongod makes of stages with what a command adds: collations, variables, views, transactions, and no collection.

    python3 record_pipelines.py 'mongodb://127.0.0.1:27017/?directConnection=true' [TOPIC…]
"""

import sys

from bson import Binary, Decimal128, Int64

from record_commands import BY_ID, LAST, find, insert, main, run, update
from record_options import only

TOPICS = {}
FOLDED = {"locale": "en", "strength": 2}
INHIBIT = {"$_internalInhibitOptimization": {}}


def topic(function):
    TOPICS[function.__name__] = function
    return function


def inside(number, command, **fields):
    """A command in a transaction of its own, and the end of that."""
    session = {"lsid": {"id": Binary(b"s" * 16, 4)}, "txnNumber": Int64(number), "autocommit": False}
    yield {**command, **session, "startTransaction": True, **fields}
    yield {"abortTransaction": 1, **session, "$on": "admin"}


def words():
    return insert("a", *({"_id": at, "a": word, "b": [{"a": word.lower(), "n": at}]} for at, word in enumerate(("a", "B", "b", "C", "z", "D", "A"))))


@topic
def redact_options():
    kept = lambda condition: {"$redact": {"$cond": [condition, "$$KEEP", "$$PRUNE"]}}
    yield words()
    for options in ({}, {"collation": FOLDED}):
        for stage in (kept({"$in": ["$a", ["a", "c"]]}), {"$redact": {"$cond": [{"$lte": ["$a", "B"]}, "$$DESCEND", "$$PRUNE"]}}, kept({"$eq": ["KEEP", "keep"]}), {"$redact": {"$literal": "KEEP"}}):
            yield {**run(BY_ID, stage), **options}
    for stage, variables in ((kept({"$eq": ["$_id", "$$v"]}), {"v": 1}), ({"$redact": "$$v"}, {"v": "descend"}), ({"$redact": "$$v"}, {"v": 1}), ({"$redact": "$$KEEP"}, {"KEEP": 1}), (kept("$$PRUNE"), {"v": 1})):
        yield {**run(BY_ID, stage, {"$limit": 2}), "let": variables}
    yield {**run({"$redact": "$$KEEP"}, {"$count": "n"}), "allowDiskUse": True}
    yield run({"$redact": "$$KEEP"}, collection="missing")
    yield run({"$redact": {"$divide": [1, 0]}}, collection="missing")
    yield {"create": "v", "viewOn": "a", "pipeline": [kept({"$lt": ["$_id", 3]})]}
    yield find("v", {}, sort={"_id": 1})
    yield run({"$redact": {"$cond": [{"$eq": ["$_id", 1]}, "$$PRUNE", "$$KEEP"]}}, BY_ID, collection="v")
    yield {"create": "w", "viewOn": "a", "pipeline": [{"$redact": "$$NOPE"}]}
    yield update("a", {"q": {}, "u": [{"$redact": "$$KEEP"}]})
    yield run({"$redact": "$$KEEP"}, {"$out": "kept"})
    yield {"count": "kept"}


@topic
def bucket_options():
    def bucket(boundaries, **options):
        return {"$bucket": {"groupBy": "$a", "boundaries": boundaries, **options}}

    yield words()
    for boundaries in (["a", "B", "c"], ["A", "a"], ["b", "A"], ["a", "C", "z"], ["A", "Z"]):
        for default in (0, "B", "zz"):
            for options in ({}, {"collation": FOLDED}):
                yield {**run(INHIBIT, bucket(boundaries, default=default)), **options}
    for boundaries, default, variables in ((["a", "$$v"], "$$w", {"v": "c", "w": 5}), (["$$v", "a"], 0, {"v": "c"}), (["a", "c"], "$$v", {"v": "b"}), (["a", "$$v"], 0, {"w": 1})):
        yield {**run(INHIBIT, bucket(boundaries, default=default)), "let": variables}
    yield {**run(INHIBIT, bucket(["a", "z"], default=0, output={"n": {"$push": "$$v"}})), "let": {"v": 1}}
    # Variables of a $lookup have no value when the stage is parsed.
    yield run({"$limit": 1}, {"$lookup": {"from": "a", "as": "r", "let": {"v": 5}, "pipeline": [bucket(["a", "z"], default="$$v")]}})
    yield {**run({"$limit": 1}, {"$lookup": {"from": "a", "as": "r", "pipeline": [INHIBIT, bucket(["a", "z"], default="$$v")]}}, {"$project": {"r": 1}}), "let": {"v": 5}}
    yield {**run(INHIBIT, bucket(["a", "z"], default=0)), "allowDiskUse": True}
    yield run(bucket(["a", "z"]), collection="missing")
    yield run(bucket(["z", "a"]), collection="missing")
    yield {"create": "v", "viewOn": "a", "pipeline": [bucket(["a", "z"], default=0)]}
    yield find("v", {}, sort={"_id": 1})
    yield {"create": "w", "viewOn": "a", "pipeline": [bucket(["z", "a"])]}
    for stages in ([bucket(["a", "z"])], [{"$set": {"x": 1}}, bucket(["a", "z"])], [{"$sortByCount": "$a"}], [{"$count": "n"}], [{"$group": {"_id": 1}}]):
        yield update("a", {"q": {}, "u": stages})


@topic
def bucket_auto_options():
    def bucket_auto(buckets=3, **options):
        return {"$bucketAuto": {"groupBy": "$a", "buckets": buckets, **options}}

    yield words()
    for buckets in (1, 2, 3, 5):
        for options in ({}, {"collation": FOLDED}):
            yield {**run(BY_ID, bucket_auto(buckets, output={"p": {"$push": "$a"}, "_id": {"$sum": 1}} if buckets == 5 else {"p": {"$push": "$a"}})), **options}
    first = {"n": {"$firstN": {"n": "$$v", "input": "$_id"}}}
    for stage in (bucket_auto(output=first), bucket_auto("$$v"), {"$bucketAuto": {"groupBy": "$$v", "buckets": 2}}):
        yield {**run(BY_ID, stage), "let": {"v": 2}}
    yield run({"$limit": 1}, {"$lookup": {"from": "a", "as": "r", "let": {"v": 2}, "pipeline": [bucket_auto(output=first)]}})
    yield {**run(bucket_auto()), "allowDiskUse": True}
    yield {**run(bucket_auto()), "allowDiskUse": False}
    yield run(bucket_auto(), collection="missing")
    yield run(bucket_auto(0), collection="missing")
    yield {"create": "v", "viewOn": "a", "pipeline": [bucket_auto()]}
    yield find("v", {}, sort={"_id": 1})
    yield run(bucket_auto(), collection="v")
    yield update("a", {"q": {}, "u": [bucket_auto()]})
    yield run({"$changeStream": {}}, bucket_auto())


@topic
def documents_stage():
    """Pipelines without a collection."""
    def documents(value, *stages, **options):
        return {**run({"$documents": value}, *stages, collection=1), **options}

    yield insert("a", {"_id": 1, "a": 1}, {"_id": 2, "a": 5})
    for value in ([{"a": 1}, {"b": {"$add": [1, 2]}}], [], [{"a": "$x", "b": "$$ROOT"}], [{"a": {"$divide": [1, 0]}}], 5, "$x", {}, {"a": {"$foo": 1}}, {"$map": {"input": [1, 2], "in": {"x": "$$this"}}}, "$$nope", [{"a": Decimal128("1.5"), "b": Int64(1)}], [{"a": {"$meta": "textScore"}}]):
        yield documents(value)
    # The message has a random name in it.
    for value in ([5], [None], [[{"a": 1}]], [{"a": 1}, "x"], {"$range": [0, 2]}):
        yield only(documents(value), "ok", "code", "codeName")
    yield documents([{"a": "$$v"}], let={"v": 7})
    yield documents("$$v", let={"v": [{"x": 1}]})
    yield documents([{"a": "x"}, {"a": "X"}, {"a": "y"}], {"$match": {"a": "x"}}, collation=FOLDED)
    numbers = [{"a": 1}, {"a": 2}, {"a": 3}]
    for stages in ([{"$match": {"a": {"$gt": 1}}}], [{"$sort": {"a": -1}}, {"$limit": 1}], [{"$count": "n"}], [{"$facet": {"x": [{"$count": "n"}]}}], [{"$unionWith": "a"}], [{"$lookup": {"from": "a", "localField": "a", "foreignField": "a", "as": "r"}}], [{"$unionWith": {"pipeline": [{"$documents": [{"x": 1}]}]}}], [{"$documents": []}], [{"$facet": {"x": [{"$documents": []}]}}],
                   [{"$match": {"$text": {"$search": "a"}}}], [{"$geoNear": {"near": [0, 0], "distanceField": "d"}}], [{"$collStats": {}}], [{"$foo": 1}], [{"$limit": "x"}], [{"$set": {"_id": "$a"}}, {"$out": "o"}], [{"$set": {"_id": "$a", "b": 1}}, {"$merge": "o"}]):
        yield documents(numbers, *stages)
    yield find("o", {}, sort={"_id": 1})
    for options in ({"hint": "_id_"}, {"hint": {"$natural": 1}}, {"allowDiskUse": True}, {"readConcern": {"level": "majority"}}, {"comment": "x"}, {"bypassDocumentValidation": True}):
        yield documents([{"a": 1}], **options)
    yield documents(numbers, cursor={"batchSize": 1})
    yield {"getMore": LAST, "collection": "$cmd.aggregate"}
    yield {**documents([{"a": 1}]), "$on": "x_missing"}
    yield from inside(1, documents([{"a": 1}]))
    yield from inside(2, run({"$lookup": {"as": "r", "pipeline": [{"$documents": [{"x": 1}]}]}}))
    # Over a collection, a missing one, a view.
    yield {"create": "v", "viewOn": "a", "pipeline": []}
    yield {"create": "w", "viewOn": "a", "pipeline": [{"$match": {"a": 1}}]}
    for collection in ("a", "missing", "v", "w"):
        yield run({"$documents": [{"a": 1}]}, collection=collection)
        yield run({"$limit": 1}, {"$lookup": {"from": collection, "as": "r", "pipeline": [{"$documents": [{"a": 1}]}]}})
        yield run({"$limit": 1}, {"$unionWith": {"coll": collection, "pipeline": [{"$documents": [{"a": 1}]}]}})
        yield run({"$lookup": {"as": "r", "pipeline": [{"$documents": [{"a": 1}]}]}}, collection=collection)
    for stages in ([{"$documents": 5}], [{"$match": {}}, {"$documents": 5}], [{"$documents": []}, {"$documents": []}], [{"$documents": []}, {"$limit": "x"}], [{"$documents": {"$foo": 1}}]):
        yield run(*stages)
    yield {**run({"$documents": []}), "let": {"v": "$x"}}
    # In definitions of views.
    for stages in ([{"$documents": [{"a": 1}]}], [{"$set": {"x": 1}}, {"$documents": []}], [{"$documents": 5}], [{"$facet": {"x": [{"$documents": []}]}}]):
        yield {"create": "d", "viewOn": "a", "pipeline": stages}
    for at, stage in enumerate(({"$lookup": {"as": "r", "pipeline": [{"$documents": [{"x": 1}]}]}}, {"$unionWith": {"pipeline": [{"$documents": [{"x": 1}]}]}})):
        yield {"create": f"d{at}", "viewOn": "a", "pipeline": [BY_ID, stage]}
        yield find(f"d{at}")
    for stages in ([{"$documents": []}], [{"$documents": 5}], [{"$set": {"x": 1}}, {"$documents": []}]):
        yield update("a", {"q": {}, "u": stages})
    yield run({"$changeStream": {}}, {"$documents": []}, collection=1)
    # Any other stage needs a collection.
    plain = {"$match": {}, "$addFields": {"x": 1}, "$set": {"x": 1}, "$project": {"a": 1}, "$unset": "a", "$sort": {"a": 1}, "$limit": 1, "$skip": 1, "$group": {"_id": 1}, "$sortByCount": "$a", "$count": "n", "$unwind": "$a", "$replaceRoot": {"newRoot": "$a"}, "$replaceWith": "$a", "$unionWith": "a", "$facet": {"a": []}, "$sample": {"size": 1},
             "$redact": "$$KEEP", "$bucket": {"groupBy": "$a", "boundaries": [1, 2]}, "$bucketAuto": {"groupBy": "$a", "buckets": 1}, "$out": "o", "$merge": "o", "$collStats": {}, "$indexStats": {}, "$geoNear": {"near": [0, 0], "distanceField": "d"}, "$_internalInhibitOptimization": {}, "$lookup": {"from": "a", "as": "x", "localField": "a", "foreignField": "a"},
             "$graphLookup": {"from": "a", "startWith": "$a", "connectFromField": "a", "connectToField": "a", "as": "x"}}
    for name, spec in plain.items():
        yield run({name: spec}, collection=1)
    for stages in ([], [{"$match": {"$foo": 1}}], [{"$limit": 1}, {"$documents": []}], [{"$limit": 1}, {"$foo": 1}], [{"$out": "o"}, {"$limit": 1}]):
        yield run(*stages, collection=1)


if __name__ == "__main__":
    main(*sys.argv[1:], topics=TOPICS)
