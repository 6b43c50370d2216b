"""The pipelines of record_stages.py with `$setWindowFields`, `$fill` and `$densify`. Each brings its own documents."""

from datetime import datetime

from bson import Decimal128, Int64

NAN, INFINITY = float("nan"), float("inf")
DAY = datetime(2021, 3, 1)


def given(documents):
    """Stages that replace the collection's documents by these."""
    one = {"$replaceWith": {"$literal": {"d": documents}}}
    return [{"$match": {"_id": 1}}, one, {"$unwind": "$d"}, {"$replaceWith": "$d"}]


def rows(*values, **others):
    """Documents with the position as `_id` and `x`, and a value `v`; `...` is a missing value."""
    return [{"_id": i, "x": i, **others} | ({} if v is ... else {"v": v}) for i, v in enumerate(values, 1)]


def points(*pairs):
    return [{"_id": i, "x": x, "v": v} for i, (x, v) in enumerate(pairs, 1)]


def window(output, documents=None, **options):
    start = [] if documents is None else given(documents)
    return start + [{"$setWindowFields": {"output": output, **options}}]


def one(function, documents, sort={"x": 1}, bounds=None, **options):
    """The values of one function."""
    output = {"r": function if bounds is None else {**function, "window": bounds}}
    options |= {"sortBy": sort} if sort else {}
    return window(output, documents, **options) + [{"$project": {"r": 1}}]


def several(functions, documents, bounds):
    """The values of several functions over the same windows, in a fixed order: mongod adds fields in any."""
    output = {name.strip("$"): {name: argument, "window": bounds} for name, argument in functions.items()}
    return window(output, documents, sortBy={"x": 1}) + [{"$replaceWith": {"_id": "$_id"} | {name: f"${name}" for name in output}}]


MIXED = rows(1, Int64(2), 3, 2.5, 4, 5, "x", ..., None, 7)
LARGE = rows(Int64(2**62), Int64(2**62), Int64(2**62), 1, 2**31 - 1, 1, 3)
SPECIAL = rows(NAN, 1, INFINITY, 2, -INFINITY, 3, 4, 5)
DECIMALS = rows(Decimal128("1.10"), 2, 0.1, 0.2, 0.3, Decimal128("3"), Decimal128("NaN"), 1, 2, Decimal128("Infinity"), 1.5, 2)
LOSSY = rows(1e100, 1, -1e100, 0.1, 0.2, 0.3, 0.4, 5)
EQUAL = rows(3, 3.0, Int64(3), Decimal128("3"), 1, "a", "b", [1], [3.0], [3])
SLIDING = [{"documents": bounds} for bounds in ([-1, 0], [1, 1], ["current", "unbounded"])]
KINDS = [*SLIDING, {"documents": ["unbounded", "current"]}, {"documents": [-1, 1]}]
SUMS = ("$sum", "$avg", "$stdDevPop", "$stdDevSamp")
RANKED = ("$firstN", "$lastN", "$minN", "$maxN")
SORTED = ("$topN", "$bottomN", "$top", "$bottom")


def ranked(name):
    count = {"n": 2} if name.endswith("N") else {}
    return {"output": ["$_id", "$v"], "sortBy": {"v": 1}, **count}


FILES = {}
FILES["window_sums"] = [
    several(dict.fromkeys(SUMS[:2] if documents is DECIMALS else SUMS, "$v"), documents, bounds) for documents in (MIXED, LARGE, SPECIAL, DECIMALS, LOSSY) for bounds in KINDS[:4]] + [one({"$count": {}}, MIXED, bounds=bounds) for bounds in KINDS] + [
    one({name: value}, MIXED[:3], bounds=SLIDING[0]) for name in SUMS for value in (["$v"], "$nope", 1, {"$add": ["$v", 1]}, None)]
VALUES = ("$min", "$max", "$push", "$first", "$last", "$addToSet")
PLACES = {name: {"input": "$v", "n": 2} for name in RANKED} | {name: ranked(name) for name in SORTED}
# The order of `$addToSet` is open where the window only grows.
FILES["window_values"] = [
    several({name: "$v" for name in VALUES if name != "$addToSet" or bounds["documents"][0] != "unbounded"} | PLACES, documents, bounds)
    for documents in (MIXED, EQUAL) for bounds in KINDS]

NUMBERS = [{"_id": i, "x": x} for i, x in enumerate([1, 2.0, Decimal128("2"), Int64(3), NAN, INFINITY, -INFINITY, Decimal128("NaN"), 3])]
DATES = [{"_id": i, "x": x} for i, x in enumerate([datetime(2021, 1, 31), datetime(2021, 2, 28), datetime(2021, 3, 1), datetime(2021, 3, 28, 2), datetime(2021, 3, 28, 3), datetime(2021, 3, 31, 1), datetime(2021, 3, 31), datetime(1969, 12, 31, 12, 0, 0, 500000), datetime(1969, 12, 30, 12)])]
IDS = {"$push": "$_id"}
UNITS = ("year", "quarter", "month", "week", "day", "hour", "minute", "second", "millisecond")
FILES["window_ranges"] = [
    one(IDS, NUMBERS, bounds={"range": bounds}) for bounds in ([-1, 1], [0, 0], ["unbounded", "current"], ["current", "unbounded"], ["current", "current"], ["unbounded", "unbounded"], [-1.5, 0], ["unbounded", -1], [1, "unbounded"], [1, 2], [-1, Decimal128("1.5")], [NAN, 1], [-INFINITY, INFINITY], [Int64(-1), 1.0])] + [
    one(IDS, DATES, bounds={"range": bounds, "unit": unit}) for unit in UNITS for bounds in ([-1, 0], [1, 2])] + [
    one(IDS, DATES[:2], bounds={"range": [-2147483648, 2147483647], "unit": unit}) for unit in UNITS] + [
    one(IDS, DATES, bounds={"range": bounds, "unit": "day"}) for bounds in (["unbounded", "current"], ["unbounded", "unbounded"], ["unbounded", -1], [-1.0, Decimal128("1")])] + [
    one(IDS, documents, bounds=bounds) for bounds in ({"range": ["unbounded", "unbounded"]}, {"range": [-1, 1], "unit": "day"}, {"range": [-1, 1], "unit": None})
    for documents in ([{"x": 1}, {"x": 2}], [{"x": 1}, {"x": None}], [{"x": 1}, {}], [{"x": DAY}], [{"x": "a"}], [{"x": [1]}])] + [
    several(dict.fromkeys((*SUMS, *VALUES), "$v"), points((1, 1), (1, 2), (2, 4), (6, 8), (9, 0.1), (9.5, 0.2)), {"range": bounds}) for bounds in ([-1, 0], [1, 3])] + [
    one(IDS, [{"_id": 1, "x": 1}], sort={"x": -1}, bounds={"range": [-1, 1]}), one(IDS, [], sort={"x": -1}, bounds={"range": [-1, 1]}), one(IDS, [{"_id": 1, "x": {"y": 1}}, {"_id": 2, "x": {"y": 3}}], sort={"x.y": 1}, bounds={"range": [-2, 0]})]

TIMES = points((DAY, 1), (datetime(2021, 3, 2), 2), (datetime(2021, 3, 3, 12), Int64(5)), (datetime(2021, 3, 4), Decimal128("7")), (datetime(2021, 3, 4), 9))
SLOPES = [points((1, 1), (2, Int64(3)), (3, Decimal128("5")), (4, 5.5), (4, 7), (5, 8)), points((1, NAN), (2, 2), (3, INFINITY), (4, 4), (5, 5), (6, 1)), points((1, 2**31 - 1), (2, -(2**31)), (3, Int64(2**62)), (4, -Int64(2**63 - 1))), points((Decimal128("1.5"), 1), (2, 2), (2.5, 0.1))]
FAULTS = [points((1, DAY), (2, datetime(2021, 3, 2))), points((1, "a"), (2, "b")), points((1, None), (2, 3)), points((1, 3), (2, None)), points(("a", 1)), points((1, 1), ("b", 2)), points((1, 1), (DAY, 2)), points((DAY, 1)), points(([1], 1)), [{"v": 1}], []]
FILES["window_slopes"] = [
    one({name: {"input": "$v"}}, documents, bounds=bounds) for name in ("$derivative", "$integral") for documents in SLOPES for bounds in (*KINDS[:2], KINDS[3], {"range": [-2, 0]})] + [
    one({name: {"input": "$v", "unit": unit}}, TIMES, bounds=bounds) for name in ("$derivative", "$integral") for unit, bounds in (("day", KINDS[0]), ("hour", KINDS[3]), ("week", KINDS[4]), ("minute", {"range": [-1, 0], "unit": "day"}), ("second", KINDS[1]), ("millisecond", KINDS[0]))] + [
    one({name: {"input": "$v", **unit}}, documents, bounds=KINDS[0]) for name in ("$derivative", "$integral") for documents in FAULTS for unit in ({}, {"unit": "day"})] + [
    one({"$integral": {"input": "$v"}}, SLOPES[0])]
PAIRS = [[1, 2], [2, 3.5], [3, 4], [Int64(4), 5], ["a", 1], [6, None], [7, 8.5], [0.25, 0.5], [1, 2], [3, 4]]
UNBOUND = [[1, 2], [INFINITY, 1], [3, 4], [NAN, 1], [5, 6]]
FILES["window_covariance"] = [
    several({"$covariancePop": "$v", "$covarianceSamp": "$v"}, documents, bounds) for documents in (rows(*PAIRS), rows([1, 2], [2, 3.5], [2.3, 4], [Int64(4), 5], [2**31 - 1, 2**31 - 1], [5, 7])) for bounds in (*KINDS, {"documents": [-2, 1]})] + [
    several({"$covariancePop": "$v", "$covarianceSamp": "$v"}, rows(*UNBOUND), bounds) for bounds in KINDS[3:]] + [
    one({"$covariancePop": value}, rows(1, 2, 3), bounds=KINDS[0]) for value in (["$x", "$v"], ["$x"], ["$x", "$v", 1], [], "$v", {}, None, ["$x", 1], ["$x", "a"], {"$literal": [1, 2]})]
FILES["window_averages"] = [
    one({"$expMovingAvg": {"input": "$v", **option}}, documents) for option in ({"N": 2}, {"N": Int64(7)}, {"alpha": 0.3}, {"alpha": Decimal128("0.25")}, {"N": 2.0}, {"N": 2**40})
    for documents in (rows(1, None, Int64(3), "a", 2.5, Decimal128("4.5"), 3, 1.5), rows("a", 0.1, 0.7, 0.13, NAN, 1), [])]
GAPS = [rows(1, None, None, 10), rows(1, None, ..., Decimal128("10")), rows(None, 1, ..., 5, None), rows(1, NAN, None, 3), points((1.5, 1.1), (2, None), (3, None), (7, Int64(10))), points((DAY, 1), (datetime(2021, 3, 2), None), (datetime(2021, 3, 9), 10)), points((Decimal128("1"), 1), (2, None), (7, 10)), points((1, 1), (4, None), (7, 2.5), (8, None), (9, 3))]
BROKEN = [points((1, 1), (1, None)), points((1, 1), (1, 2)), points((1, 1), ("a", 1)), points(("a", 1)), points((1, 1), (None, None)), points((1, 1), (DAY, None)), points((1, "a")), points((1, 1), (4, "a")), points(([1], 1)), points((None, 1))]
FILES["window_fills"] = [
    one({"$linearFill": "$v"}, documents) for documents in (*GAPS, *BROKEN, [])] + [
    one({"$locf": value}, rows(..., None, 1, ..., "a", None)) for value in ("$v", ["$v"], {"$add": ["$x", 1]}, "$nope", 5, None)] + [
    one({"$locf": "$v"}, GAPS[0], sort=None), one({"$linearFill": "$v"}, GAPS[4], sort={"x": -1}), one({"$linearFill": {"$multiply": ["$v", 2]}}, GAPS[0])]
TIES = [{"_id": i, **({} if x is ... else {"x": x})} for i, x in enumerate([1, 1.0, ..., None, Decimal128("1"), [1, 2], [1], "a", "A", [], "a", {"y": 1}, {"y": 1.0}])]
FILES["window_places"] = [
    one({name: {}}, TIES, sort=sort) for name in ("$rank", "$denseRank", "$documentNumber") for sort in ({"x": 1}, {"x": -1}, {"x.y": 1})] + [
    one({"$shift": {"output": "$v", "by": by, **default}}, rows(1, ..., None, 4)) for by in (1, -1, 0, Int64(2), -1.0, 9) for default in ({}, {"default": "d"})] + [
    one({"$shift": {"output": "$v", "by": 9, "default": default}}, rows(1)) for default in ({"$add": [1, 2]}, None, "$$REMOVE", [1])]

PLAIN = rows(1, 2)
BY = {"x": 1}
FILES["set_window_fields"] = [[{"$setWindowFields": spec}] for spec in (5, "a", None, [], {}, {"output": 5}, {"foo": 1}, {"output": {}, "foo": 1}, {"output": None})] + [
    window({"r": {"$sum": "$v"}}, PLAIN, **options) for options in (
        {}, {"sortBy": {}}, {"sortBy": None}, {"sortBy": {"x": -1}}, {"sortBy": 5}, {"sortBy": {"x": 2}}, {"sortBy": {"$x": 1}}, {"sortBy": {"x": {"$meta": "textScore"}}},
        {"partitionBy": None}, {"partitionBy": "a"}, {"partitionBy": 5}, {"partitionBy": "$$foo"}, {"partitionBy": {"$foo": 1}}, {"partitionBy": [1]}, {"partitionBy": ["$x"]}, {"partitionBy": {"$range": [0, 1]}}, {"partitionBy": {"$add": [1, "a"]}}, {"partitionBy": "$$ROOT"}, {"partitionBy": "$$CURRENT"}, {"partitionBy": {"$concatArrays": [["$x"]]}})] + [
    window({"r": spec}, PLAIN, sortBy=BY) for spec in (
        5, {}, {"$foo": 1}, {"foo": 1}, {"$sum": 1, "$avg": 1}, {"window": {}}, {"$sum": 1, "foo": 1}, {"foo": 1, "$sum": 1}, {"$mergeObjects": "$v"}, {"$accumulator": {}}, {"$count": 5}, {"$count": None}, {"$sum": {"$foo": 1}}, {"$sum": {"$add": [1, "a"]}}, {"$sum": {"$add": ["$v", "a"]}})] + [
    window({"r": {"$sum": "$v", "window": bounds}}, PLAIN, sortBy=BY) for bounds in (
        5, None, {}, {"documents": 5}, {"documents": [1]}, {"documents": [1, 2, 3]}, {"documents": ["a", 1]}, {"documents": [2, 1]}, {"documents": [1.5, 2]}, {"documents": [None, 1]}, {"documents": [-1, 2**40]}, {"documents": ["current", -1]}, {"documents": [1, "current"]}, {"documents": ["unbounded", -2]}, {"documents": [-1.0, Decimal128("1")]}, {"documents": [-3, -2]}, {"documents": [2, 3]},
        {"documents": [0, 0], "range": [0, 1]}, {"documents": [0, 0], "foo": 1}, {"documents": [0, 0], "unit": "day"}, {"unit": "day"}, {"foo": [0, 0]},
        {"range": 5}, {"range": [1]}, {"range": ["a", 1]}, {"range": [2, 1]}, {"range": [1.5, 1]}, {"range": [None, 1]}, {"range": [0, 1], "unit": "foo"}, {"range": [0, 1], "unit": 5}, {"range": [0.5, 1], "unit": "day"}, {"range": [0, 2**40], "unit": "day"})] + [
    window({"r": {"$sum": "$v", "window": bounds}}, PLAIN, **sort) for bounds in ({"documents": [-1, 1]}, {"documents": ["unbounded", "unbounded"]}, {"documents": ["current", "current"]}, {"range": ["unbounded", "unbounded"]}, {"range": [-1, 1]}) for sort in ({}, {"sortBy": {"x": 1, "v": 1}})] + [
    window({path: {"$sum": 1}}, PLAIN) for path in ("", "a.", "$a", "_id", "v", "a.b.c", "a..b")] + [
    window({path: {"$sum": 1}, other: {"$sum": 1}}, PLAIN) for path, other in (("a", "a.b"), ("a.b", "a"), ("x", "v"))] + [
    window({path: function}, [{"a": [1, {"b": 2}, [3]]}, {"a": 5}, {"a": {"c": 1, "b": 2}}, {"b": 1, "a": []}, {}]) for path in ("a", "a.b") for function in ({"$sum": 1}, {"$first": "$nope"})] + [
    window({"a": {"$sum": "$v"}, "b": {"$push": "$a"}, "v": {"$last": "$x"}}, rows(1, 2, a=3, b=4))]
MARKS = [{"_id": i, **({} if g is ... else {"g": g})} for i, g in enumerate([None, ..., 1, 1.0, "a", "A", {"a": 1}, {"a": 1.0}, Decimal128("1"), ..., "a"])]
FILES["window_partitions"] = [
    one(IDS, MARKS, partitionBy=by, sort=sort) for by in ("$g", "$$ROOT.g", "$$CURRENT.g", "$g.a", {"a": "$g"}, {"$ifNull": ["$g", "$nope"]}, {"$type": "$g"}, "$$NOW", {"$literal": 1}) for sort in ({"_id": 1}, {"_id": -1})] + [
    one(IDS, MARKS, partitionBy="$g", sort=sort) for sort in (None, {"g": -1}, {"_id": -1, "g": -1}, {"g.a": 1, "_id": 1})] + [
    one(IDS, documents, partitionBy="$g") for documents in ([{"g": [1]}, {"g": 2}], [])]
CALLS = {
    "$shift": [5, {}, {"output": "$v"}, {"output": "$v", "by": 1.5}, {"output": "$v", "by": "a"}, {"output": "$v", "by": None}, {"output": "$v", "by": 2**31}, {"output": "$v", "by": {"$add": [1, 1]}}, {"output": "$v", "by": 1, "foo": 3}, {"by": 1}, {"output": "$v", "by": 1, "default": "$x"}, {"output": "$v", "by": 1, "default": [1, {"a": "$x"}]}, {"output": "$v", "by": 1, "default": {"$add": [1, "a"]}}, {"output": "$v", "by": 1, "default": "$$foo"}],
    "$rank": [5, {"a": 1}, None, [], "$x"], "$denseRank": [5], "$documentNumber": [{"a": 1}],
    "$expMovingAvg": [5, {}, {"input": "$v"}, {"input": "$v", "alpha": 0.5, "N": 2}, {"N": 2}, {"alpha": 0.5}, {"input": "$v", "N": 0}, {"input": "$v", "N": -1}, {"input": "$v", "N": 1.5}, {"input": "$v", "N": "a"}, {"input": "$v", "N": None}, {"input": "$v", "N": Decimal128("3.5")}, {"input": "$v", "alpha": 0}, {"input": "$v", "alpha": 1.0}, {"input": "$v", "alpha": -0.1}, {"input": "$v", "alpha": "a"}, {"input": "$v", "alpha": 0.5, "foo": 1}, {"input": "$v", "foo": 1}],
    "$derivative": [5, {}, {"input": "$v", "unit": "month"}, {"input": "$v", "unit": "foo"}, {"input": "$v", "unit": 5}, {"input": "$v", "unit": None}, {"input": "$v", "foo": 1}, {"unit": "day"}], "$integral": [5, {}, {"input": "$v", "unit": "year"}, {"input": "$v", "outputUnit": "day"}],
    "$locf": [{"$foo": 1}], "$linearFill": [{"a": 1}, ["$v"]],
    **{name: ["$v", {}, {"n": 0, "input": "$v"}, {"n": 1.5, "input": "$v"}, {"n": "a", "input": "$v"}, {"n": "$x", "input": "$v"}, {"n": {"$add": [1, 1]}, "input": "$v"}, {"n": 1}, {"n": 2, "input": "$v", "foo": 1}] for name in RANKED},
    **{name: ["$v", {}, {"n": 2, "input": "$v"}, {"output": "$v"}, {"sortBy": {"v": 1}, "output": "$v"}, {"sortBy": {"v": 1}, "output": "$v", "n": 0}] for name in SORTED},
}
NEEDS_SORT = {"$rank": {}, "$shift": {"output": "$v", "by": 1}, "$expMovingAvg": {"input": "$v", "N": 2}, "$derivative": {"input": "$v"}, "$integral": {"input": "$v"}, "$linearFill": "$v", "$locf": "$v"}
FILES["window_arguments"] = [
    one({name: argument}, PLAIN, bounds=bounds) for name, arguments in CALLS.items() for argument in arguments for bounds in ([{"documents": [-1, 0]}] if name in ("$derivative", "$integral", *RANKED, *SORTED) else [None])] + [
    one({name: argument, **others}, PLAIN, sort=sort) for name, argument in NEEDS_SORT.items() for sort, others in ((None, {}), ({"x": 1, "v": 1}, {}), (BY, {"window": {}}), (BY, {"foo": 1}), (BY, {}))] + [
    one({name: argument}, [], bounds={"documents": [-1, 0]}) for name in ("$firstN", "$topN") for argument in ({"n": 0, "input": "$v"}, {"n": 0, "output": "$v", "sortBy": {"v": 1}})]
FILES["window_places_in_pipelines"] = [
    given(PLAIN) + [{"$facet": {"f": window({"r": {"$sum": "$v", "window": {"documents": [-1, 0]}}}, sortBy=BY)}}],
    [{"$match": {"_id": 1}}, {"$lookup": {"from": "stage_cases", "as": "r", "pipeline": window({"n": {"$documentNumber": {}}}, sortBy={"_id": -1}) + [{"$project": {"n": 1}}]}}, {"$project": {"r": 1}}],
    [{"$match": {"_id": 1}}, {"$lookup": {"from": "stage_cases", "let": {"k": "$_id"}, "as": "r", "pipeline": window({"n": {"$sum": {"$add": ["$_id", "$$k"]}, "window": {"documents": ["unbounded", "current"]}}}, sortBy={"_id": 1}) + [{"$project": {"n": 1}}]}}, {"$project": {"r": 1}}],
    given(PLAIN) + [{"$unionWith": {"coll": "stage_cases", "pipeline": window({"n": {"$rank": {}}}, sortBy={"_id": 1}) + [{"$project": {"n": 1}}]}}],
    given(PLAIN) + [{"$sort": {"x": -1}}] + window({"n": {"$documentNumber": {}}}, sortBy={"x": 1}) + [{"$match": {"n": {"$gt": 1}}}, {"$limit": 1}],
    given(PLAIN) + window({"n": {"$sum": "$v"}}) + window({"m": {"$sum": "$n"}})]

HOLES = [{"_id": 1, "x": 1, "g": 1, "v": 1}, {"_id": 2, "x": 2, "g": 2, "v": 5}, {"_id": 3, "x": 3, "g": 1}, {"_id": 4, "x": 4, "g": 2, "v": None}, {"_id": 5, "x": 5, "g": 1, "v": 9}, {"_id": 6, "x": 6, "g": 2, "v": 6, "w": 2}]


def fill(documents=HOLES, **spec):
    return given(documents) + [{"$fill": spec}]


LOCF, LINEAR = {"v": {"method": "locf"}}, {"v": {"method": "linear"}}
FILES["fill"] = [[{"$fill": spec}] for spec in (5, None, {}, {"output": 5}, {"output": {}}, {"output": None}, {"foo": 1, "output": {"a": {"value": 1}}})] + [
    fill(HOLES[:2], output=output, **sort) for sort in ({"sortBy": {"x": 1}}, {}) for output in (
        {"a": 5}, {"a": None}, {"a": {}}, {"a": {"foo": 1}}, {"a": {"method": "foo"}}, {"a": {"method": 5}}, {"a": {"method": None}}, LOCF, LINEAR, {"a": {"method": "locf", "value": 1}}, {"a": {"method": "linear", "foo": 1}}, {"a": {"value": {"$foo": 1}}}, {"a": {"value": {"$add": [1, "a"]}}}, {"a": {"value": None}}, {"a.b": {"value": 1}}, {"$a": {"value": 1}}, {"": {"value": 1}}, {"a": {"value": 1}, "c": {"value": "$a"}}, {"a": {"method": "locf"}, "a.b": {"method": "locf"}})] + [
    fill(output=output, **options) for output in (LOCF, LINEAR, {**LOCF, "w": {"value": {"$add": ["$x", 1]}}}) for options in (
        {"sortBy": {"x": 1}}, {"sortBy": {"x": -1}, "partitionByFields": ["g"]}, {"sortBy": {"x": 1}, "partitionBy": {"a": "$g"}}, {"sortBy": {"x": 1, "g": 1}}, {"sortBy": {"x": 1}, "partitionByFields": []})] + [
    fill(HOLES[:2], output=output, sortBy={"x": 1}, **options) for output in (LOCF, {"v": {"value": 1}}) for options in (
        {"partitionBy": "$g"}, {"partitionBy": {}}, {"partitionBy": None}, {"partitionBy": {"$foo": 1}}, {"partitionBy": {"$add": [1, "a"]}}, {"partitionBy": {"a": "$g"}, "partitionByFields": ["g"]}, {"partitionByFields": 5}, {"partitionByFields": [5]}, {"partitionByFields": ["$g"]}, {"partitionByFields": ["g.h"]}, {"partitionByFields": ["x", "g"]})] + [
    fill(HOLES[:2], output={"v": {"value": 1}}, sortBy=sort) for sort in (5, {"x": 2}, None)] + [
    fill([], output=LOCF, sortBy={"x": 1}), fill([{"v": [1, None]}, {"v": {"a": None}}], output={"v.a": {"value": 3}})]

PARTED = [{"_id": i, **({} if g is ... else {"g": g}), "x": x} for i, (g, x) in enumerate([(1, 1), (1, 4), (2, 2), (2, 6), (None, 3), (..., 5)])]


def densify(documents, bounds, step=1, field="x", parts=None, unit=None):
    spec = {"field": field, "range": {"step": step, **({"unit": unit} if unit else {}), "bounds": bounds}}
    return given(documents) + [{"$densify": spec | ({} if parts is None else {"partitionByFields": parts})}]


def at(*values):
    return [{"_id": i, **({} if x is ... else {"x": x})} for i, x in enumerate(values)]


INSTANTS = [datetime(2020, 1, 31, 1), datetime(2020, 2, 2, 5), datetime(2020, 3, 31)]
LONG_AGO = [datetime(1960, 1, 1, 0, 0, 0, 500000), datetime(1960, 1, 4)]
# mongod returns what it adds behind the last document in no particular order of the partitions.
ORDER = [{"$sort": {"g": 1, "x": 1, "_id": 1}}]
FILES["densify"] = [
    densify(at(*values), "full", step) for values in ([1, 4], [1, 4.5], [1.0, 4], [1, Int64(4)], [Int64(1), 4], [1, Decimal128("4")], [Decimal128("1"), 4]) for step in (1, Int64(2), 1.5, Decimal128("1.5"))] + [
    densify(at(*values), "full", step) for values, step in (([0.1, 0.9], 0.1), ([None, 1, ..., 3], 1), ([None], 1), ([], 1), ([1, 2.5, 4, 6], 1), ([1, 1, 3, 3], 1), ([2**31 - 2, Int64(2**31 + 1)], 1), ([Int64(2**63 - 3), Int64(2**63 - 1)], 1), (["a", 1], 1), ([DAY, 1], 1), ([DAY], 1), ([[1, 2]], 1), ([True], 1), ([{"y": 1}], 1))] + [
    densify(at(*values), [1, 4]) for values in ([], [...], [0, 5], [2], [1.5], [10], [-10], [1, 4], [1, 1, 3, 3], [0.5, 2.5, 3.5], [2.0], [Int64(2)], [NAN, 1, 2, 2, INFINITY], [1, 4, "a"], [1, "a"], [True], [DAY], [None, 2])] + [
    densify(at(2), bounds, step) for bounds, step in (([1, 5], 3), ([1, 4], 3), ([1, 1], 1), ([Decimal128("1"), Decimal128("4")], Decimal128("1")), ([1.0, 4.0], 0.5), ([Int64(1), Int64(4)], Int64(1)), ([1.0, 4.0], 1), ([1, 4.0], 1), ([1, 4], 1.0), ([1, 4], Int64(1)))] + [
    densify(PARTED[:5] if bounds == "full" else PARTED, bounds, step, parts=["g"]) + ORDER for bounds in ("full", "partition", [0, 4]) for step in (1, 2)] + [
    densify(PARTED[:4], bounds, 2, parts=["g"]) for bounds in ("partition", [0, 4])] + [
    densify(documents, "full", 2, field="x.y", parts=parts) + [{"$sort": {"x": 1}}] for documents in ([{"x": {"y": 1, "z": 5}}, {"x": {"y": 4, "z": 7}}], [{"x": [{"y": 1}]}, {"x": {"y": 4}}], [{"x": 5}, {"x": {"y": 1}}, {"x": {"y": 5}}]) for parts in ([], ["x.z"], ["g.h"])] + [
    densify([{"g": {"h": 1}, "x": 1}, {"g": 1, "x": 4}], bounds, 2, parts=["g.h", "k"]) + [{"$sort": {"x": 1, "g": 1}}] for bounds in ("full", "partition", [0, 4])] + [
    densify([], bounds, parts=["g"]) for bounds in ("full", "partition", [1, 3])] + [
    densify(at(*INSTANTS), bounds, step, unit=unit) for unit, step, bounds in (("month", 1, "full"), ("month", 2, [datetime(2020, 1, 30), datetime(2020, 7, 30)]), ("hour", 400, "full"), ("week", 1.0, "full"), ("day", Decimal128("9"), [datetime(2020, 1, 30), datetime(2020, 2, 28)]), ("year", Int64(1), [datetime(2019, 1, 1), datetime(2021, 1, 1)]), ("quarter", 1, "full"), ("minute", 30000, "full"), ("second", 10**6, "full"), ("millisecond", 10**9, "full"))] + [
    densify(at(*LONG_AGO), "full", unit="day"), densify(at(1), "full", unit="day"), densify(at(1), [DAY, DAY], unit="day"), densify(at(None, "a"), "full", unit="day"), densify(at(1, 2), "full", parts=["x"]), densify(at(1, 3), "full", parts=["x"])] + [
    [{"$densify": spec}] for spec in (5, None, {}, {"field": "x"}, {"field": 5}, {"field": "x", "range": 5}, {"field": "x", "range": {}}, {"field": "x", "range": {"step": 1}}, {"field": "x", "range": {"bounds": "full"}}, {"field": "x", "foo": 1})] + [
    [{"$densify": {"field": field, "range": {"step": 1, "bounds": "full"}}}] for field in ("", "$x", "x.", "x..y")] + [
    [{"$densify": {"field": "x", "partitionByFields": parts, "range": {"step": 1, "bounds": "partition"}}}] for parts in (5, [5], [], None, [""], ["$g"])] + [
    [{"$densify": {"field": "x", "range": {"step": 1, "bounds": "full", **part}}}] for part in (
        {"step": 0}, {"step": -1}, {"step": "a"}, {"step": NAN}, {"bounds": "foo"}, {"bounds": "partition"}, {"bounds": 5}, {"bounds": [1]}, {"bounds": [1, 2, 3]}, {"bounds": [2, 1]}, {"bounds": ["a", "b"]}, {"bounds": [None, 1]}, {"bounds": [1, DAY]}, {"bounds": [DAY, DAY]}, {"bounds": [1, 2], "unit": "day"}, {"bounds": [DAY, datetime(2020, 1, 1)], "unit": "day"}, {"bounds": [DAY, DAY], "step": 1.5, "unit": "day"}, {"step": 1.5, "unit": "day"}, {"unit": "foo"}, {"unit": 5}, {"foo": 1})]

# What random pipelines found.
NESTED = [{"h": {"k": 0}}, {"h": {"k": 1}}]
TOPS = [{"a": [], "b": []}, {"a": [1], "b": [2]}, {"a": [1, 5]}, {"a": {"1": 5}, "b": 1}, {"a": {"1": 5}}, {"a": 1, "b": {"0": 2}}, {"a": [{"0": 1}], "b": 1}, {"b": []}]
PAIRS = [{"x": 1, "v": 1}, {"x": 2, "v": 2}, {"x": 2, "g": 1, "v": 5}, {"x": 3, "g": 1}]
FILES["window_edges"] = [
    densify([{"g": 1, "x": x} for x in values], [-1, 1], 2, parts=parts) for values in ([1, "a"], [5, "a"], [1, DAY]) for parts in (None, ["g"])] + [
    densify(documents, bounds, 3, field="h.k", parts=parts) for parts in (["h"], ["h.k"]) for bounds in ("full", [0, 3]) for documents in ([], [{}], [{"h": 7}], NESTED[:1], NESTED, [{}, NESTED[1]])] + [
    densify(documents, bounds, parts=["g"]) for bounds in ([7, 9], [7, 7]) for documents in ([], [{"g": None}], [{"g": 1}, {"g": 2}], [{"g": 1}, {"g": 2, "x": 8}], [{"g": 1, "x": 10}, {"g": 2}], [{"g": 1, "x": 6}])] + [
    densify([{"x": 2.0**53}], "full", parts=parts) for parts in (None, ["g"])] + [
    densify(at(0, 10**6), "full") + [{"$limit": 3}]] + [
    given([document]) + [stage, {"$project": {"_id": 0, "r": 1}}] for document in TOPS for sort in ({"a": 1}, {"a": 1, "b": -1}, {"b.c": 1, "b.0": 1}) for function in ({"$top": {"output": "$b", "sortBy": sort}}, {"$bottomN": {"n": 2, "output": "$b", "sortBy": sort}})
    for stage in ({"$setWindowFields": {"output": {"r": function}}},)] + [
    one({"$push": "$x"}, [{"x": x} for x in values], bounds={"range": bounds}) for values in ([1, "a"], [1, 2, "a"], [1, 2]) for bounds in ([1, "unbounded"], [-1, "unbounded"], [5, "unbounded"], ["current", "unbounded"])] + [
    one({"$linearFill": "$v"}, documents, partitionBy="$g") for documents in (PAIRS, PAIRS[1:], PAIRS[::2], PAIRS[:2])] + [
    window({"r": function}, [{}]) for function in ({"$linearFill": "$$nope"}, {"$shift": {"output": "$$nope"}}, {"$shift": 5}, {"$shift": {"output": "$v"}}, {"$shift": {"output": "$v", "by": 1}})] + [
    window({"r": {}}, [{}], partitionBy=partition) for partition in ([], "$$nope", {"$size": "a"})]
