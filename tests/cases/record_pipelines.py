"""Records what a mongod makes of stages with what a command adds: collations, variables and views.

    python3 record_pipelines.py 'mongodb://127.0.0.1:27017/?directConnection=true' [TOPIC…]
"""

import sys

from record_commands import BY_ID, find, insert, main, run, update

TOPICS = {}
FOLDED = {"locale": "en", "strength": 2}
INHIBIT = {"$_internalInhibitOptimization": {}}


def topic(function):
    TOPICS[function.__name__] = function
    return function


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


if __name__ == "__main__":
    main(*sys.argv[1:], topics=TOPICS)
