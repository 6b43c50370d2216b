"""Records how a mongod makes, changes and drops indexes, and refuses to, for the engine's unit tests.

    python3 record_indexes.py 'mongodb://127.0.0.1:27017/?directConnection=true' [TOPIC…]

Two things are never sent, as a server goes down: cappedSize for a view, and collMod of unique or expireAfterSeconds for
a wildcard index.
"""

import itertools
import sys

from bson import Decimal128, Int64

from record_commands import SON, create, index, insert, main

TOPICS = {}


def topic(function):
    TOPICS[function.__name__] = function
    return function


def change(fields, collection="a", **options):
    return {"collMod": collection, "index": fields, **options}


def drop(which, collection="a", **options):
    return {"dropIndexes": collection, "index": which, **options}


ENGLISH = {"locale": "en", "strength": 2}


@topic
def index_faults():
    """Which of two specifications is refused, and in which words, by what there is of the collection."""
    a, both, wild = [("a", 1)], [("a", 1), ("b", 1)], [("$**", 1)]
    faults = [index([("q", 0)], "q"), index(a, "*"), index(both, "q", expireAfterSeconds=1), index(a, "q", collation={"locale": "zz"}), index([("a", "2d")], "q", bits=50), index(a, ""), index(wild, "q", sparse=True, partialFilterExpression={"a": 1})]
    faults += [index(a, "m"), index(both, "n"), index([("q", "hashed")], "q", unique=True), index(a, "n"), index([("z", 1)], "z"), index([("z", 1)], "z", expireAfterSeconds=1), index([("_id", 1)], "q"), index([("q", "2dsphere")], "q", **{"2dsphereIndexVersion": 1.5})]
    present = create(index(a, "n"))
    for before in ([{"drop": "a"}], [{"create": "a"}, present], [{"create": "a", "capped": True, "size": 4096}, present], [insert("a", {"_id": 1}), present]):
        yield from [{"drop": "a"}, *before]
        for one, other in itertools.product(faults, faults):
            yield create(one, other)
            yield {"drop": "a"} if len(before) == 1 else drop(["z"])
    fill = [index([(f"x{at}", 1)], f"x{at}") for at in range(62)]
    for before in ({"drop": "a"}, {"create": "a"}, insert("a", {"_id": 1})):
        yield from [{"drop": "a"}, before, create(*fill, *[index([(name, 1)], name) for name in "abc"]), create(*fill)]
        more = [index([(name, 1)], name) for name in "abc"]
        yield from [create(more[0], more[0], more[1]), create(*more), create(more[0]), create(more[1]), create(index([("b", 1)], "x1")), create(index([("b", 1)], "b", expireAfterSeconds=-1))]
    for quorum in (5, "zork"):
        yield from [create(faults[at], commitQuorum=quorum) for at in (0, 2, 3, 7, 9)]
    more = [index([("a", "text")], "n", weights=[]), index([("a", 1)], "n", weights=[1]), index([("a", 1)], "n", dropDups=None), index([("_id", 1)], "n", dropDups="x"), index([("a", 1)], "n", clustered="x"), index([("a", 1)], "n", clustered=0), index([("a", 1)], "n", clustered=1)]
    more += [index([("$**", 1)], "n", v=1, collation={"locale": "simple"}), index([("a", 1)], "n", v=Decimal128("1E-400")), index([("a", 1)], "n", storageEngine={}, partialFilterExpression={"x": {"$ne": 1}}), index([("a", "text")], "n", sparse=True, partialFilterExpression={"x": 1}, default_language="zork")]
    for value in (0.0, -0.0, 0.5, float("nan"), Decimal128("NaN"), Decimal128("Infinity"), Decimal128("0")):
        more.append(index([("a", "2dsphere")], "n", **{"2dsphereIndexVersion": value}))
    for value in (Int64(2**31), Int64(2**40), 1e300, Decimal128("1E-400")):
        more += [index([("a", "2dsphere")], "n", **{name: value}) for name in ("coarsestIndexedLevel", "finestIndexedLevel")]
    for value in (float("nan"), Int64(2**63 - 1), Decimal128("NaN"), Decimal128("-1"), Decimal128("Infinity")):
        more += [index(parts, "n", max=value) for parts in ([("a", 1)], [("a", "2d")])]
    for value in (-0.5, 2147483647.5, float("nan"), Decimal128("1.5"), Decimal128("NaN"), Decimal128("2147483647.4")):
        more += [index(parts, "n", expireAfterSeconds=value) for parts in ([("a", 1)], [("_id", 1)], [("$**", 1)], [("a", 1), ("b", 1)])]
    for one in more:
        yield from [{"drop": "a"}, {"create": "a"}, create(one), {"listIndexes": "a"}]


@topic
def index_option_order():
    """Options in the order in which they were given, as messages show them, and which of them make another index."""
    options = [("sparse", 0), ("bits", 20.5), ("background", True), ("expireAfterSeconds", 5.5), ("unique", 1), ("hidden", True), ("prepareUnique", False), ("collation", ENGLISH), ("storageEngine", {"wiredTiger": {}}), ("textIndexVersion", 3.0), ("default_language", "french"), ("min", 1), ("dropDups", True), ("v", 2.0), ("weights", {"z": 2.5, "b": 3})]
    chosen = [options[at:at + 4] for at in range(len(options) - 3)] + [options[at::-5] for at in range(10, len(options))]
    for parts, few in itertools.product(([("a", 1)], [("a", "2dsphere")], [("a", "text")]), chosen):
        few = [(name, value) for name, value in few if (parts == [("a", "text")]) == (name == "weights") or name not in ("weights", "collation")]
        given = SON([few[0], ("name", "n"), *few[1:], ("key", SON(parts))])
        yield from [{"drop": "a"}, {"create": "a", "collation": {"locale": "fr"}} if few[0][0] == "bits" and parts == [("a", 1)] else {"create": "a"}]
        yield from [create(given), create(index([("b", 1)])), create(index([("c", 1)])), drop("n"), create(index([("b", 1)])), create(given)]
    for parts in ([("a", 1)], [("a", "text")]):
        pairs = [({}, {"sparse": False}), ({}, {"sparse": True}), ({"bits": 20}, {"bits": 20.0}), ({"bits": 20}, {"bits": 20.5}), ({"expireAfterSeconds": 5}, {"expireAfterSeconds": 5.5}), ({"storageEngine": {"wiredTiger": {}}}, {}), ({}, {"prepareUnique": True}), ({"textIndexVersion": 3}, {"textIndexVersion": 3.0}), ({"v": 1}, {}), ({"unique": True}, {}), ({}, {"default_language": "french"}), ({}, {"weights": {"a": 2}}), ({}, {"hidden": True, "dropDups": 1})]
        for one, other in pairs:
            yield from [{"drop": "a"}, {"create": "a"}, create(index(parts, **one)), create(index(parts, **other)), create(index(parts, "m", **other)), create(index([("b", parts[0][1])], "m", **other))]
    shown = [{"b": 1, "a": 1}, {"a": 1, "b": 1}, {"a": True, "b": 5}, {"a": {"b": 1}}, {"a.b": 1}, {"_id": 0, "a": 1}, {"a": 1}, {"a": 0}, {"_id": 1, "a": 0}]
    for one, other in itertools.product(shown, shown):
        yield from [{"drop": "a"}, {"create": "a"}, create(index([("$**", 1)], wildcardProjection=one)), create(index([("$**", 1)], wildcardProjection=other))]
    for version in (1, 2):
        yield from [{"drop": "a"}, {"create": "a", "collation": ENGLISH}, create(index([("_id", 1)], v=version)), create(index([("x", 1)], v=version)), create(index([("t", "text")], "t", v=version)), {"listIndexes": "a"}]
    for fields in ([{"expireAfterSeconds": 5}, {"hidden": True}], [{"hidden": True}, {"hidden": False}], [{"unique": True}]):
        given = index([("a", 1)], expireAfterSeconds=3.5, bits=20, prepareUnique=True)
        yield from [{"drop": "a"}, {"create": "a"}, create(given), *[change({"name": "n", **field}) for field in fields], create(index([("b", 1)])), {"listIndexes": "a"}]


@topic
def dropped_indexes():
    """How the indexes are named that are dropped."""
    indexes = [index([("a", 1)], "a1"), index([("a", 1)], "a2", collation=ENGLISH), index([("a", 1)], "a3", partialFilterExpression={"a": 1}), index([("b", -1), ("c", 1)], "bc", hidden=True), index([("t", "text"), ("u", "text")], "t"), index([("$**", 1)], "w"), index([("h", "hashed")], "h"), index([("x", 1)], "x1"), index([("x", 1)], "x2", sparse=True)]
    names = ["a1", "_id_", "*", "zz", "", None, 1, True, [], ["a1", "a2"], ["a1", "_id_"], ["a1", "zz"], ["*"], ["a1", "*"], ["*", "a1"], ["*", 1], ["a1", "a1"], [1], [None], ["a1", None], ["a1", 1], [["a1"]]]
    keys = [{"a": 1}, {"b": -1.0, "c": Int64(1)}, SON([("c", 1), ("b", -1)]), {"_id": 1}, {"t": "text"}, SON([("t", "text"), ("u", "text")]), SON([("_fts", "text"), ("_ftsx", 1)]), {"$**": 1}, {"h": "hashed"}, {"h": 1}, {"x": 1}, {"zz": 1}, {}]
    for which in names + keys:
        yield from [{"drop": "a"}, create(*indexes), drop(which), {"listIndexes": "a"}]
    yield {"create": "v", "viewOn": "a", "pipeline": []}
    for collection, which in itertools.product(("v", "nope", "", "system.views", ".a"), ("a", 1, None, [1], ["a", 1], ["a", None], {"a": 1})):
        yield drop(which, collection)
    yield from [drop(1, zork=1), SON([("dropIndexes", "a"), ("zork", 1), ("index", 1)]), {"dropIndexes": "a"}]


@topic
def index_versions():
    """The first version of indexes, which is older than decimals."""
    yield create(index([("a", 1)], v=1))
    one = Decimal128("1")
    for at, document in enumerate(({"a": one}, {"a": {"b": one}}, {"a": [1, one]}, {"a": [[one]]}, {"b": one}, {"b": 2})):
        yield insert("a", {"_id": at, **document})
    change = {"q": {"_id": 4}, "u": {"$set": {"a": one}}}
    yield from [{"update": "a", "updates": [change]}, {"findAndModify": "a", "query": change["q"], "update": change["u"]}, insert("a", {"_id": one})]
    yield from [create(index([("b", "hashed")], "h", v=1)), create(index([("b", 1)], "p", v=1, partialFilterExpression={"z": 1})), create(index([("b", 1)], "b", v=1)), {"find": "a"}]
    yield from [insert("a", {"_id": 7, "b": one, "z": 1}), insert("a", {"_id": 8, "b": one}), {"listIndexes": "a"}]


@topic
def changed_indexes():
    """Which index collMod means, and what it makes of numbers."""
    yield create(index([("a", 1)], "a"), index([("b", 1), ("c", 1)], "bc"), index([("t", "text")], "t"), index([("d", 1)], "d", expireAfterSeconds=Decimal128("1.5")), index([("x", 1)], "x1"), index([("x", 1)], "x2", sparse=True, prepareUnique=True), index([("p", 1)], "p", expireAfterSeconds=5, partialFilterExpression={"q": 1}))
    yield {"create": "v", "viewOn": "a", "pipeline": []}
    meant = [{"name": "a"}, {"name": "bc"}, {"name": "t"}, {"name": "d"}, {"name": "p"}, {"keyPattern": {"x": 1}}, {"keyPattern": {"a": 1.0}}, {"keyPattern": SON([("_fts", "text"), ("_ftsx", 1)])}, {"keyPattern": {"t": "text"}}, {"keyPattern": {}}, {"name": "zz"}, {"name": "_id_"}]
    seconds = [0, -1, -0.5, 1.5, Decimal128("1.5"), Decimal128("2.5"), Decimal128("NaN"), float("nan"), float("inf"), Int64(2**40), Int64(-2**40), True, None, "x"]
    fields = [{"expireAfterSeconds": value} for value in seconds] + [{"hidden": True}, {"hidden": 0}, {"unique": True}, {"unique": False}, {"unique": True, "expireAfterSeconds": 7}, {"unique": False, "hidden": True, "expireAfterSeconds": -1}, {"prepareUnique": True, "hidden": True}]
    for which, field in itertools.product(meant, fields):
        yield change({**which, **field})
    yield {"listIndexes": "a"}
    for field, options in itertools.product(({"unique": True}, {"unique": False}, {"hidden": True}), ({}, {"dryRun": True}, {"validator": {}})):
        yield from [change({"name": "a", **field}, name, **options) for name in ("v", "nope")]
    for options in ({"recordPreImages": False}, {"recordPreImages": True}, {"validator": {}}, {}):
        yield change({"name": "a", "prepareUnique": True}, **options)
    yield insert("n", *({"_id": at} for at in range(5)))
    yield from [{"find": "n", "limit": Decimal128(limit)} for limit in ("1.5", "2.5", "0.5", "0.6")]


if __name__ == "__main__":
    main(*sys.argv[1:], topics=TOPICS)
