"""Records what a mongod makes of stages with what a command adds: collations, variables and views.

    python3 record_pipelines.py 'mongodb://127.0.0.1:27017/?directConnection=true' [TOPIC…]
"""

import sys

from record_commands import BY_ID, find, insert, main, run, update

TOPICS = {}
FOLDED = {"locale": "en", "strength": 2}


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


if __name__ == "__main__":
    main(*sys.argv[1:], topics=TOPICS)
