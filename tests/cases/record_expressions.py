"""Records what a real mongod makes of expressions, for the engine's unit tests.

    python3 record_expressions.py mongodb://127.0.0.1:27717/?directConnection=true

Recorded is the value (absent where it is missing), or the error's code and message without the words that the stage
puts before it.
"""

import datetime
import re
import sys
from pathlib import Path

import pymongo
from bson.datetime_ms import DatetimeMS as DateTime
from bson import Decimal128, Int64, MinKey, ObjectId, Timestamp, json_util

DOCUMENT = {
    "i": 7, "j": -3, "z": 0, "l": Int64(2**40), "big": Int64(2**63 - 1), "max": 2147483647, "d": 2.5, "e": -7.5,
    "dec": Decimal128("1.50"), "s": "Hello wörld", "t": "a,b,,c", "p": "  padded\t", "n": None, "b": True, "f": False,
    "a": [3, 1, 2], "m": [1, "x", None, 2.0, [5]], "o": {"x": 1, "y": {"z": 2}}, "docs": [{"k": "a", "v": 1}, {"k": "b", "v": 2}],
    "nest": [{"q": [{"r": 1}, {"r": 2}]}, {"q": 5}, 6], "when": datetime.datetime(2024, 2, 29, 13, 45, 59, 123000),
    "later": datetime.datetime(2025, 1, 1), "id": ObjectId("507f1f77bcf86cd799439011"), "ts": Timestamp(1700000000, 3),
    "num": "42", "bad": "4x2", "float": "2.5", "hex": "507f1f77bcf86cd799439012", "iso": "2020-01-02T03:04:05Z",
    "nan": float("nan"), "inf": float("inf"), "empty": [], "re": re.compile("^h", re.I),
    "summer": datetime.datetime(2024, 7, 1, 3, 30, 15, 987000), "gap": datetime.datetime(2024, 3, 10, 7, 30), "fold": datetime.datetime(2024, 11, 3, 5, 30),
}


def op(name, *arguments):
    return [{name: argument} for argument in arguments]


UNARY = ["$i", "$j", "$z", "$l", "$d", "$e", "$dec", "$n", "$missing", "$s", "$b", "$nan", "$inf"]
PAIRS = [["$i", "$j"], ["$i", "$d"], ["$l", "$i"], ["$dec", "$i"], ["$i", "$z"], ["$n", "$i"], ["$missing", "$i"], ["$s", "$i"],
    ["$max", "$i"], ["$big", "$i"], ["$when", "$i"], ["$i", "$when"], ["$later", "$when"], ["$e", "$i"], ["$d", "$dec"], ["$b", "$i"]]
LISTS = ["$a", "$m", "$empty", "$n", "$missing", "$i", "$docs"]
DATE_PARTS = ["year", "month", "dayOfMonth", "hour", "minute", "second", "millisecond", "dayOfWeek", "dayOfYear", "week",
    "isoWeek", "isoWeekYear", "isoDayOfWeek"]
CONVERTIBLE = ["$i", "$l", "$d", "$e", "$dec", "$b", "$f", "$n", "$missing", "$num", "$bad", "$float", "$when", "$id", "$ts", "$a",
    "$o", "$nan", "$inf", "$iso", "$hex", "$big", "$re", "$z"]

# The engine reads ISO 8601 only, and does not repeat the server's account of what else it found in a string.
UNREADABLE = [("toDate", value) for value in ("$num", "$bad", "$float", "$hex")]

FILES = {
    "field_paths": ["$i", "$missing", "$o.x", "$o.y.z", "$o.x.q", "$docs.k", "$docs.zz", "$nest.q.r", "$nest.q", "$a.0", "$$ROOT.i",
        "$$CURRENT.o.x", "$$REMOVE", "$$nope", "$", "$a.", "$a..b", "$.a", "$$", "$$1x", "$$NOW.x", "plain", 5, None, True, [],
        ["$i", "$missing"], {"x": "$i", "y": "$missing"}, {"x": {"y": "$o.x"}}, {"$literal": "$i"}, {"$literal": {"$add": 1}},
        {"x.y": 1}, {"$foo": 1}, {"$add": 1, "$subtract": 2}, {"x": 1, "$add": 2}, {"$const": 5}, "$o.$x"],
    "arithmetic": op("$abs", *UNARY) + op("$ceil", *UNARY) + op("$floor", *UNARY) + op("$sqrt", *UNARY) + op("$exp", "$z", "$n", "$s")
        + op("$ln", "$i", "$z", "$j", "$n", "$s") + op("$log10", "$l", "$z", "$n") + op("$log", ["$i", 7], ["$i", 1], ["$z", 2], ["$s", 2], ["$i", "$s"], ["$n", 2])
        + op("$add", *PAIRS, [], ["$i"], "$i", ["$i", "$j", "$d", "$l"], ["$when", "$later"], ["$d", 0.1, 0.2, 0.3], ["$big", 1, -1], ["$big", "$big"], ["$i", "$s"], [0.1, "$dec"], [0.1, 0.2, "$i", "$dec"])
        + op("$subtract", *PAIRS, ["$i"], ["$when", "$s"]) + op("$multiply", *PAIRS, [], ["$big", 2], ["$i", "$j", "$d"]) + op("$divide", *PAIRS)
        + op("$mod", *PAIRS) + op("$pow", *PAIRS[:2], ["$i", 2], ["$i", -1], ["$z", -1], ["$max", 2], ["$l", 2], ["$big", 2], ["$d", 2], ["$n", 2], ["$s", 2], ["$i", "$s"])
        + op("$round", "$d", "$e", ["$d", 0], [2.345, 2], ["$i", -1], ["$l", -3], ["$dec", 1], ["$dec", 0], "$n", "$s", ["$d", "$s"], ["$d", 101], "$nan", "$inf", [-0.4, 0])
        + op("$trunc", "$d", "$e", [2.345, 2], ["$i", -1], ["$dec", 0], "$n", "$s"),
    "comparison": [{name: pair} for name in ("$cmp", "$eq", "$gt", "$lt") for pair in (["$i", 7.0], ["$i", "$j"], ["$missing", None], ["$n", None],
        ["$missing", "$nope"], ["$s", "$i"], ["$a", [3, 1, 2]], ["$o", "$a"], ["$missing", MinKey()], ["$dec", 1.5])] + op("$eq", ["$i"], [1, 2, 3])
        + op("$not", ["$i"], "$i", ["$z"], ["$n"], ["$missing"], ["$s"], []) + op("$gte", [1, 1]) + op("$lte", [2, 1]) + op("$ne", [2, 1]),
    "boolean": op("$and", [], ["$i"], ["$i", "$z"], "$i", ["$n"], ["$s", "$a", "$o"]) + op("$or", [], ["$z", "$i"], ["$n", "$missing"])
        + op("$cond", ["$b", 1, 2], ["$f", 1, 2], {"if": "$i", "then": "y", "else": "n"}, {"if": 1, "then": 2}, {"if": 1, "then": 2, "else": 3, "x": 4}, [1, 2], {"then": 1, "else": 2}, {"if": 1, "else": 2})
        + op("$ifNull", ["$n", "$missing", 5], ["$i", 5], ["$n"], ["$missing", "$nope"], 5)
        + op("$switch", {"branches": [{"case": "$f", "then": 1}, {"case": "$b", "then": 2}], "default": 3}, {"branches": [{"case": "$f", "then": 1}], "default": 3},
            {"branches": [{"case": "$f", "then": 1}]}, {"branches": []}, {}, 5, {"branches": 5}, {"branches": [5]}, {"branches": [{"case": 1}]}, {"branches": [{"then": 1}]}, {"x": 1}, {"branches": [{"case": 1, "then": 1, "x": 1}]}),
    "string": op("$concat", ["$s", "!"], ["$s", "$n"], ["$s", "$i"], [], "$s") + op("$toLower", "$s", "$n", "$i", "$a", "$d", "$when", "$ts", {"$divide": ["$i", 3]}) + op("$toUpper", "$s", "$missing")
        + op("$substrCP", ["$s", 6, 3], ["$s", 0, 100], ["$s", -1, 2], ["$s", 1, -1], ["$n", 0, 1], ["$s", "x", 1], ["$s", 1, "x"], ["$s", 1.5, 1], ["$i", 0, 1], ["$s", 50, 1], ["$s", 0, 1.5])
        + op("$substrBytes", ["$s", 6, 3], ["$s", 0, -1], ["$s", 7, 1], ["$s", 8, 2], ["$s", -1, 2], ["$n", 0, 1], ["$s", 50, 1], ["$s", "x", 1], ["$s", 1, "x"])
        + op("$strLenCP", "$s", "$n", "$i", "$missing") + op("$strLenBytes", "$s", "$n", "$i") + op("$split", ["$t", ","], ["$t", ""], ["$n", ","], ["$i", ","], ["$t", 5], ["$t", "zz"])
        + op("$indexOfCP", ["$s", "l"], ["$s", "l", 4], ["$s", "l", 4, 6], ["$s", "zz"], ["$n", "l"], ["$i", "l"], ["$s", 5], ["$s", "l", -1], ["$s", "l", "x"], ["$s", ""], ["$s", "l", 50])
        + [{name: argument} for name in ("$trim", "$ltrim", "$rtrim") for argument in ({"input": "$p"}, {"input": "$p", "chars": " p"}, {"input": "$n"}, {"input": "$p", "chars": None}, {"input": "$i"}, {"input": "$p", "chars": 5}, {}, 5, {"input": "$p", "x": 1})]
        + op("$strcasecmp", ["$s", "HELLO Wörld"], ["$s", "a"], ["$n", "a"], ["a", "$s"])
        + op("$regexMatch", {"input": "$s", "regex": "^h"}, {"input": "$s", "regex": "^h", "options": "i"}, {"input": "$s", "regex": "$re"}, {"input": "$n", "regex": "a"}, {"input": "$i", "regex": "a"},
            {"input": "$s", "regex": 5}, {"input": "$s"}, {"regex": "a"}, {"input": "$s", "regex": "a", "x": 1}, 5, {"input": "$s", "regex": "a", "options": "q"}, {"input": "$s", "regex": "$n"}, {"input": "$s", "regex": "$re", "options": "i"}, {"input": "$s", "regex": "a", "options": 5}),
    "replace": [{name: argument} for name in ("$replaceOne", "$replaceAll") for argument in ({"input": "$t", "find": ",", "replacement": "-"}, {"input": "$n", "find": "a", "replacement": "b"}, {"input": "$t", "find": "$n", "replacement": "b"},
        {"input": "$i", "find": "a", "replacement": "b"}, {"input": "$t", "find": 5, "replacement": "b"}, {"input": "$t", "find": "a", "replacement": 5}, {"input": "$t", "find": "a"}, {"find": "a", "replacement": "b"}, {"input": "$t", "replacement": "b"}, 5, {"input": "$t", "find": "a", "replacement": "b", "x": 1}, {"input": "$t", "find": "", "replacement": "b"})]
        + op("$indexOfBytes", ["$s", "l"], ["$s", "r"], ["$s", "l", 4], ["$s", "l", 4, 6], ["$s", "zz"], ["$n", "l"], ["$i", "l"], ["$s", 5], ["$s", "l", -1], ["$s", "l", "x"], ["$s", ""], ["$s", "l", 50]) + op("$substr", ["$s", 0, 5], ["$i", 0, 1]),
    "trigonometry": [{"$" + name: value} for name in ("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "degreesToRadians", "radiansToDegrees") for value in ("$z", "$n", "$s", "$nan", "$inf", 0.5, "$i", "$dec")],
    "sizes": op("$bsonSize", "$o", "$n", "$i") + op("$binarySize", "$s", "$n", "$i") + op("$tsSecond", "$ts", "$n", "$i") + op("$tsIncrement", "$ts", "$n", "$i"),
    "array": op("$size", *[[x] for x in LISTS]) + op("$first", *LISTS) + op("$last", *LISTS) + op("$isArray", "$a", "$i", ["$a"], "$missing") + op("$reverseArray", *LISTS)
        + op("$arrayElemAt", ["$a", 0], ["$a", -1], ["$a", 9], ["$a", -9], ["$n", 0], ["$i", 0], ["$a", "x"], ["$a", 1.5], ["$a", 1.0], ["$a", "$n"])
        + op("$in", [2, "$a"], [2.0, "$a"], [9, "$a"], [1, "$i"], [1, "$n"], ["$n", "$m"], ["$missing", "$m"]) + op("$concatArrays", ["$a", "$m"], ["$a", "$n"], ["$a", "$i"], [])
        + op("$slice", ["$a", 2], ["$a", -2], ["$a", 1, 1], ["$a", -2, 1], ["$a", 9, 1], ["$a", 0], ["$n", 1], ["$i", 1], ["$a", "x"], ["$a", 1.5], ["$a", 1, 0], ["$a", 1, "x"], ["$a", -9, 2])
        + op("$range", [0, 3], [3, 0, -1], [0, 10, 3], [0, 3, 0], ["x", 1], [0, "x"], [0, 1, "x"], [0.5, 1], [0, 3, -1], [2, 2])
        + op("$indexOfArray", ["$a", 1], ["$a", 9], ["$a", 2, 1], ["$a", 2, 0, 2], ["$n", 1], ["$i", 1], ["$a", 1, -1], ["$a", 1, "x"])
        + op("$zip", {"inputs": ["$a", "$m"]}, {"inputs": ["$a", "$m"], "useLongestLength": True}, {"inputs": ["$a", "$m"], "useLongestLength": True, "defaults": [0, 1]}, {"inputs": ["$a", "$n"]}, {"inputs": ["$a", "$i"]})
        + op("$arrayToObject", "$docs", [[["a", 1], ["b", 2]]], "$n", "$i", "$a", [[["a", 1], ["a", 2]]], [[["a"]]], [[[1, 2]]], [[{"k": "a"}]], [[{"k": 1, "v": 2}]], [[{"k": "a", "v": 1, "z": 2}]], [[["a", 1], {"k": "b", "v": 1}]], "$empty")
        + op("$sortArray", {"input": "$a", "sortBy": 1}, {"input": "$a", "sortBy": -1}, {"input": "$m", "sortBy": 1}, {"input": "$docs", "sortBy": {"v": -1}}, {"input": "$n", "sortBy": 1}, {"input": "$i", "sortBy": 1}, {"input": "$a"}, {"sortBy": 1}, 5, {"input": "$a", "sortBy": 1, "x": 1})
        + op("$allElementsTrue", ["$a"], ["$m"], ["$empty"], ["$n"], ["$i"]) + op("$anyElementTrue", ["$a"], ["$empty"], ["$n"], ["$i"]),
    "let_and_control": op("$let", {"vars": {"x": "$i", "y": 2}, "in": {"$add": ["$$x", "$$y"]}}, {"vars": {"x": "$o"}, "in": "$$x.y.z"}, {"vars": {"X": 1}, "in": 1}, {"vars": {"x": 1}, "in": "$$y"}, {"vars": {}, "in": "$i"}, {"in": 1}, {"vars": {}}, 5, {"vars": {}, "in": 1, "z": 1}, {"vars": {"x-y": 1}, "in": 1}, {"vars": {"x": 1}, "in": {"$let": {"vars": {"x": 2}, "in": "$$x"}}}, {"vars": {"CURRENT": "$o"}, "in": "$x"})
        + op("$map", {"input": "$a", "as": "v", "in": {"$multiply": ["$$v", 2]}}, {"input": "$a", "in": "$$this"}, {"input": "$docs", "as": "v", "in": "$$v.k"}, {"input": "$n", "in": 1}, {"input": "$i", "in": 1}, {"in": 1}, {"input": "$a"}, 5, {"input": "$a", "in": "$missing"}, {"input": "$a", "as": "V", "in": 1}, {"input": "$a", "as": 5, "in": 1})
        + op("$filter", {"input": "$a", "cond": {"$gt": ["$$this", 1]}}, {"input": "$a", "as": "v", "cond": {"$gt": ["$$v", 1]}, "limit": 1}, {"input": "$n", "cond": 1}, {"input": "$i", "cond": 1}, {"cond": 1}, {"input": "$a"}, 5, {"input": "$a", "cond": 1, "limit": 0}, {"input": "$a", "cond": 1, "limit": "x"}, {"input": "$a", "cond": 1, "limit": "$n"}, {"input": "$a", "cond": 1, "z": 1})
        + op("$reduce", {"input": "$a", "initialValue": 0, "in": {"$add": ["$$value", "$$this"]}}, {"input": "$n", "initialValue": 0, "in": 1}, {"input": "$i", "initialValue": 0, "in": 1}, {"input": "$a", "initialValue": 0}, {"input": "$a", "in": 0}, 5, {"initialValue": 0, "in": 1}, {"input": "$empty", "initialValue": "$s", "in": 1}),
    "object": op("$mergeObjects", ["$o", {"x": 9}], "$o", ["$o", "$n"], ["$o", "$i"], [], ["$missing"], "$docs") + op("$objectToArray", "$o", "$n", "$i", {"a": 1})
        + op("$getField", "i", {"field": "x", "input": "$o"}, {"field": "zz", "input": "$o"}, {"field": 5}, {"input": "$o"}, {"field": "x", "input": "$n"}, {"field": "x", "input": "$i"}, {"field": "x", "input": "$missing"}, {"field": "x", "input": "$o", "z": 1}, "$s", {"field": "$s", "input": "$o"}, {"field": "x", "input": {"$multiply": [[], "$missing"]}}, {"field": "x", "input": {"$or": [{"$allElementsTrue": "$missing"}, True]}})
        + op("$setField", {"field": "x", "input": "$o", "value": 5}, {"field": "new", "input": "$o", "value": "$i"}, {"field": "x", "input": "$o", "value": "$$REMOVE"}, {"field": "x", "input": "$n", "value": 1}, {"field": "x", "input": "$i", "value": 1}, {"field": "x", "value": 1}),
    "set": op("$setUnion", ["$a", [2, 9]], ["$a", "$n"], ["$a", "$i"], []) + op("$setIntersection", ["$a", [2, 9, 2.0]], ["$a", "$n"], ["$a", "$i"], []) + op("$setDifference", ["$a", [2]], ["$a", "$n"], ["$a", "$i"], ["$i", "$a"], [[1, 1, 2], [3]])
        + op("$setEquals", ["$a", [1, 2, 3, 3]], ["$a", [1]], ["$a", "$n"], ["$a"]) + op("$setIsSubset", [[1, 2], "$a"], ["$a", [1]], ["$a", "$n"], ["$n", "$a"]),
    "types": [{"$" + name: value} for name in ("toBool", "toDate", "toDecimal", "toDouble", "toInt", "toLong", "toObjectId", "toString") for value in CONVERTIBLE if (name, value) not in UNREADABLE]
        + [{"$toString": {"$multiply": ["$d", factor]}} for factor in (1e5, 1e6, 1e-5, 1e-6, 1 / 3, 2.0**60, 0.4, 399999.8, -1e-9)]
        + op("$type", *CONVERTIBLE) + op("$isNumber", "$i", "$s", "$missing", "$dec")
        + op("$convert", {"input": "$num", "to": "int"}, {"input": "$bad", "to": "int", "onError": "e"}, {"input": "$n", "to": "int", "onNull": "z"}, {"input": "$n", "to": "int"}, {"input": "$i", "to": 2}, {"input": "$i", "to": "zz"}, {"input": "$i", "to": 1000}, {"input": "$i", "to": {"$add": [1, 0.5]}}, {"input": "$i", "to": "$n"}, {"input": "$i"}, {"to": "int"}, 5, {"input": "$i", "to": "int", "x": 1}, {"input": "$i", "to": "object"}, {"input": "$i", "to": "$a"}),
    "date": [{"$" + part: value} for part in DATE_PARTS for value in ("$when", "$later", "$n", "$id")] + op("$year", "$i", "$ts", {"date": "$when", "timezone": "+05:30"}, {"date": "$when", "timezone": "-0100"}, ["$when"], {"date": "$when", "timezone": None}, {"date": "$when", "timezone": 5}, ["$when", "$when"], {"timezone": "UTC"}, {"date": "$when", "x": 1})
        + op("$dateToString", {"date": "$when"}, {"date": "$when", "format": "%Y/%m/%d %H:%M:%S.%L %j %w %u %U %V %G %z %Z %%"}, {"date": "$n"}, {"date": "$n", "onNull": "x"}, {"date": "$when", "format": "%q"}, {"date": "$when", "format": "%"}, {"date": "$when", "format": 5}, {"date": "$i"}, {}, 5, {"date": "$when", "timezone": "+02:00"}, {"date": "$when", "x": 1})
        + [{name: {"startDate": start, "unit": unit, "amount": amount}} for name in ("$dateAdd", "$dateSubtract") for start, unit, amount in (("$when", "day", 1), ("$when", "month", 12), ("$when", "year", 1), ("$when", "quarter", 3), ("$when", "week", 2), ("$when", "hour", 25), ("$n", "day", 1), ("$when", "zz", 1), ("$when", "day", 1.5), ("$i", "day", 1), ("$when", 5, 1))]
        + [{"$dateDiff": {"startDate": "$when", "endDate": "$later", "unit": unit}} for unit in ("year", "quarter", "month", "week", "day", "hour", "second", "millisecond", "zz")] + op("$dateDiff", {"startDate": "$n", "endDate": "$later", "unit": "day"}, {"startDate": "$when", "endDate": "$later", "unit": "week", "startOfWeek": "monday"}, {"startDate": "$i", "endDate": "$later", "unit": "day"})
        + [{"$dateTrunc": {"date": "$when", "unit": unit}} for unit in ("year", "quarter", "month", "week", "day", "hour", "minute", "second")] + op("$dateTrunc", {"date": "$n", "unit": "day"}, {"date": "$when", "unit": "week", "startOfWeek": "mon"}, {"date": "$i", "unit": "day"}),
    "first_and_last_n": [{name: argument} for name in ("$firstN", "$lastN", "$maxN", "$minN") for argument in ({"input": "$a", "n": 2}, {"input": "$m", "n": 3}, {"input": "$m", "n": 99}, {"input": "$empty", "n": 1}, {"input": "$a", "n": 2.0}, {"input": "$a", "n": "$i"}, {"input": "$a", "n": Int64(1)},
        {"input": "$n", "n": 1}, {"input": "$missing", "n": 1}, {"input": "$i", "n": 1}, {"input": "$a", "n": 0}, {"input": "$a", "n": -1}, {"input": "$a", "n": 1.5}, {"input": "$a", "n": "x"}, {"input": "$a", "n": "$n"}, {"input": "$a", "n": "$missing"}, {"input": "$a"}, {"n": 1}, {}, 5, "$a", ["$a", 1], {"input": "$a", "n": 1, "x": 1},
        {"input": "$docs", "n": 1}, {"input": "$s", "n": "$s"}, {"input": [3, None, 1, "$missing"], "n": 3}, {"input": [1, 1.0, Int64(1)], "n": 2}, {"input": "$a", "n": Int64(2**40)})],
    "find_regex": [{name: argument} for name in ("$regexFind", "$regexFindAll") for argument in ({"input": "$s", "regex": "l+"}, {"input": "$s", "regex": "(h)(.)", "options": "i"}, {"input": "$s", "regex": "(x)?l(o)?"}, {"input": "$s", "regex": "w(ö)r"}, {"input": "$s", "regex": "ld$"}, {"input": "$s", "regex": ""}, {"input": "$s", "regex": "o*"}, {"input": "$s", "regex": "$re"}, {"input": "$s", "regex": "zz"},
        {"input": "$t", "regex": "[a-c]?,"}, {"input": "$t", "regex": "(?<name>[a-c])"}, {"input": "$t", "regex": "(a)|(b)|(c)"}, {"input": "$n", "regex": "a"}, {"input": "$missing", "regex": "a"}, {"input": "$s", "regex": "$n"}, {"input": "$i", "regex": "a"}, {"input": "$s", "regex": 5}, {"input": "$s"}, {"regex": "a"}, {"input": "$s", "regex": "a", "x": 1}, 5, {"input": "$s", "regex": "a", "options": "q"}, {"input": "$s", "regex": "$re", "options": "i"}, {"input": "$s", "regex": "a", "options": 5}, {"input": "$s", "regex": "a", "options": "$n"},
        {"input": "$p", "regex": "P A D D", "options": "ix"}, {"input": "a\nb", "regex": "^b", "options": "m"}, {"input": "a\nb", "regex": "a.b", "options": "s"}, {"input": "ößü", "regex": "ß|ü"}, {"input": "aXbX", "regex": "(?=X)"}, {"input": "", "regex": ""}, {"input": "$s", "regex": "a\0b"})],
    "evaluation_order": op("$slice", ["$n", {"$divide": [1, "$z"]}], ["$a", "$n", {"$divide": [1, "$z"]}], ["$a", {"$divide": [1, "$z"]}, "$n"], ["$n", 1, {"$divide": [1, "$z"]}])
        + op("$zip", {"inputs": ["$n", {"$divide": [1, "$z"]}]}, {"inputs": [{"$divide": [1, "$z"]}, "$n"]}, {"inputs": ["$a", "$n"], "useLongestLength": True, "defaults": [1, {"$divide": [1, "$z"]}]}, {"inputs": ["$a", "$n", 5]}, {"inputs": [5, "$n"]}, {"inputs": ["$n", 5]}, {"inputs": ["$n"], "useLongestLength": False, "defaults": [1]}, {"inputs": ["$a"], "useLongestLength": True, "defaults": [1, 2]}, {"inputs": ["$a"], "useLongestLength": True, "defaults": [{"$divide": [1, "$z"]}]},
            {"inputs": ["$a", "$empty"], "useLongestLength": True, "defaults": [{"$divide": [1, "$z"]}, "$i"]}, {"inputs": ["$a", "$empty"], "useLongestLength": True, "defaults": [1, {"$divide": [1, "$z"]}]}, {"inputs": "$a"}, {"inputs": ["$a"], "useLongestLength": 1}, {"inputs": ["$a"], "defaults": "$a"}, {"inputs": ["$n"], "useLongestLength": True, "defaults": [1, 2]}, {"inputs": ["$a"], "useLongestLength": "$a"}, {"inputs": []}, {"inputs": ["$a"], "useLongestLength": True, "defaults": []}, {}, 5, [1], {"inputs": ["$a"], "x": 1}),
    "atan2": op("$atan2", *PAIRS, ["$i"], [1, 1], [0.0, -1], [-0.0, -1], ["$i", "$s"], ["$nan", 1], ["$inf", "$inf"], ["$s", "$n"]),
    "unset_field": op("$unsetField", {"field": "x", "input": "$o"}, {"field": "zz", "input": "$o"}, {"field": "a.b", "input": {"$literal": {"a.b": 1, "c": 2}}}, {"field": {"$literal": "$q"}, "input": {"$literal": {"$q": 1, "c": 2}}}, {"field": "x", "input": "$n"}, {"field": "x", "input": "$missing"}, {"field": "x", "input": "$i"}, {"field": "$x", "input": "$o"}, {"field": 5, "input": "$o"}, {"field": {"$concat": ["x", ""]}, "input": "$o"}, {"field": "x"}, {"input": "$o"}, {}, 5, "x", {"field": "x", "input": "$o", "value": 1}, {"field": "x", "input": "$$ROOT.o"}, {"field": "$s", "input": "$o"}, {"field": None, "input": "$o"}),
    "hash": op("$toHashedIndexKey", *CONVERTIBLE, "$s", "$o.y", "$docs", "$nest", "$dec", "$max", "$j", 2.9, "$empty", "", None, -0.0, 1e300, -1e300),
    "random": op("$rand", 5, [1], "x", {"a": 1}, None) + [{"$lt": [{"$rand": {}}, 1]}, {"$gte": [{"$rand": []}, 0]}, {"$type": {"$rand": {}}}, {"$sampleRate": 0.5}, {"$sampleRate": {}}],
    "zones": [{name: {"date": date, "timezone": zone}} for name in ("$hour", "$dayOfMonth", "$isoWeek") for date in ("$when", "$summer", "$gap", "$fold") for zone in ("America/New_York", "Europe/Vienna", "Asia/Kolkata", "America/St_Johns")]
        + [{"$hour": {"date": "$when", "timezone": zone}} for zone in ("UTC", "GMT", "Etc/UTC", "Z", "utc", "europe/vienna", "EST", "EST5EDT", "CET", "Etc/GMT+5", "US/Pacific", "Nowhere/Land", "", "+5", "+05", "+0530", "+05:30", "-05:30", "+5:30", "+24:00", "+99", "05:30", "+05:3", "Europe", "PST", "+", "+05:30:00", "Asia/Calcutta", "America/Argentina/Buenos_Aires", "Zulu", "Universal", "posixrules")]
        + op("$hour", {"date": DateTime(-10**12), "timezone": "Europe/Vienna"}, {"date": DateTime(-3 * 10**12), "timezone": "America/New_York"}, {"date": DateTime(5 * 10**12), "timezone": "America/New_York"}, {"date": DateTime(2 * 10**12), "timezone": "Australia/Lord_Howe"})
        + op("$dateToString", *[{"date": date, "format": "%Y-%m-%d %H:%M:%S.%L %z %Z %j %w", "timezone": zone} for date in ("$when", "$summer") for zone in ("America/New_York", "Asia/Kolkata", "America/St_Johns", "-03:30")], {"date": "$when", "timezone": "Europe/Vienna"}, {"date": "$when", "timezone": "+02:00"}, {"date": "$when", "timezone": "Nowhere"}, {"date": "$when", "timezone": 5}),
    "date_parts": op("$dateToParts", {"date": "$when"}, {"date": "$when", "iso8601": True}, {"date": "$when", "iso8601": False}, {"date": "$when", "timezone": "America/New_York"}, {"date": "$summer", "timezone": "Europe/Vienna", "iso8601": True}, {"date": "$n"}, {"date": "$missing"}, {"date": "$i"}, {"date": "$ts"}, {"date": "$id"}, {"date": "$when", "iso8601": "$n"}, {"date": "$when", "iso8601": 5}, {"date": "$when", "timezone": "$n"}, {"date": "$when", "timezone": 5}, {}, 5, "$when", {"date": "$when", "x": 1}, {"timezone": "UTC"}, {"date": DateTime(-1)})
        + op("$dateFromParts", *({"year": 2024, **parts} for parts in ({}, {"month": 2, "day": 29}, {"month": 5, "day": 6, "hour": 7, "minute": 8, "second": 9, "millisecond": 10}, {"month": 14}, {"month": 0}, {"month": -1}, {"day": 0}, {"day": 400}, {"hour": 25}, {"minute": -1}, {"second": 3600}, {"millisecond": -1}, {"millisecond": 100000}, {"month": 2.0}, {"month": 1.5}, {"month": "x"}, {"month": "$n"}, {"month": "$missing"}, {"month": 32768}, {"day": -32769}, {"month": Int64(3)}, {"second": 2**31}, {"hour": 32767}, {"timezone": "America/New_York"}, {"month": 7, "timezone": "America/New_York"}, {"month": 3, "day": 10, "hour": 2, "minute": 30, "timezone": "America/New_York"}, {"month": 11, "day": 3, "hour": 1, "minute": 30, "timezone": "America/New_York"}, {"timezone": "+05:30"}, {"timezone": "$n"}, {"timezone": 5}, {"isoWeek": 1}, {"x": 1})))
        + op("$dateFromParts", {"isoWeekYear": 2024}, {"isoWeekYear": 2024, "isoWeek": 9, "isoDayOfWeek": 4}, {"isoWeekYear": 2020, "isoWeek": 53, "isoDayOfWeek": 7, "hour": 5}, {"isoWeekYear": 2024, "isoWeek": 0}, {"isoWeekYear": 2024, "isoWeek": 60}, {"isoWeekYear": 2024, "isoDayOfWeek": 8}, {"isoWeekYear": 2024, "isoDayOfWeek": 0}, {"isoWeekYear": 2024, "month": 2}, {"isoWeekYear": 2024, "isoWeek": 9, "timezone": "Europe/Vienna"}, {"isoWeekYear": 2024, "year": 2024}, {"year": 0}, {"year": 10000}, {"year": 9999}, {"year": 1}, {"year": "x"}, {"year": 1.5}, {"year": "$n"}, {"year": "$missing"}, {"isoWeekYear": 0}, {"isoWeekYear": 10000}, {"month": 2}, {}, 5, "$when", {"year": 2024, "isoWeekYear": "$n"}, {"year": 2024, "hour": "$s"}, {"year": -1}),
    "date_strings": op("$dateFromString", *({"dateString": text} for text in ("2024-02-29", "2024-02-29T13:45:59", "2024-02-29T13:45:59.123Z", "2024-02-29T13:45:59.123+05:30", "2024-02-29 13:45:59", "2024-02-29T13:45", "2024-02-29T13:45:59Z", "$iso", "$n", "$missing", "$i")))
        + op("$dateFromString", *({"dateString": "2024-02-29T13:45:59", "timezone": zone} for zone in ("America/New_York", "+05:30", "UTC", "Nowhere", 5, "$n")), {"dateString": "2024-07-29T13:45:59Z", "timezone": "America/New_York"}, {"dateString": "2024-03-10T02:30:00", "timezone": "America/New_York"}, {"dateString": "2024-11-03T01:30:00", "timezone": "America/New_York"})
        + op("$dateFromString", *({"dateString": text, "format": format} for text, format in (("29/02/2024", "%d/%m/%Y"), ("2024-02-29 13:45:59.123", "%Y-%m-%d %H:%M:%S.%L"), ("2024-02-29 13:45 +0530", "%Y-%m-%d %H:%M %z"), ("2024 9 4", "%G %V %u"), ("2024-W09-4", "%G-W%V-%u"), ("2024-060", "%Y-%j"), ("2024-02-29%", "%Y-%m-%d%%"), ("2024-02-29 +330", "%Y-%m-%d %Z"), ("2024-2-9", "%Y-%m-%d"), ("2024-02", "%Y-%m"), ("2024", "%Y"), ("13:45", "%H:%M"), ("20240229", "%Y%m%d"))))
        + op("$dateFromString", {"dateString": "$iso", "onError": "e"}, {"dateString": "$n", "onNull": "z"}, {"dateString": "$i", "onError": "e"}, {"dateString": "$i"}, {"dateString": "xx", "onError": "$i"}, {"dateString": "2024-13-01", "onError": "e"}, {"dateString": "$iso", "format": 5}, {"dateString": "$iso", "format": "$n"}, {"dateString": "$iso", "format": "%q"}, {"dateString": "$iso", "format": "%"}, {"dateString": "29/02/2024", "format": "%d/%m/%Y", "timezone": "Europe/Vienna"}, {"format": "%Y"}, {}, 5, "$iso", {"dateString": "$iso", "x": 1}, {"dateString": "$iso", "timezone": "$n"}, {"dateString": "2024-02-29T13:45:59Z", "onError": "$missing"}, {"dateString": "zz", "onError": "$missing"}, {"dateString": "$n", "onNull": "$missing"}),
    "date_steps": [{"$dateTrunc": {"date": date, "unit": unit, **rest}} for date in ("$when", "$summer", "$gap", "$fold") for unit in ("year", "quarter", "month", "week", "day", "hour", "minute", "second", "millisecond") for rest in ({"timezone": "America/New_York"}, {"timezone": "Asia/Kolkata", "binSize": 5}, {"binSize": 7})]
        + [{"$dateTrunc": {"date": date, "unit": unit, "timezone": "America/New_York", "binSize": 2}} for date in ("$gap", "$fold", DateTime(1730613600000), DateTime(1730617200000), DateTime(900000000000)) for unit in ("hour", "minute", "day")]
        + op("$dateTrunc", *({"date": "$when", "unit": "day", "binSize": size} for size in (0, -1, 1.5, "x", "$n", "$missing", Int64(3), 2.0, 2**40, 10**18)), {"date": "$when", "unit": "week", "binSize": 2, "startOfWeek": "friday"}, {"date": "$when", "unit": "week", "startOfWeek": "zz"}, {"date": "$when", "unit": "week", "startOfWeek": "$n"}, {"date": "$when", "unit": "day", "startOfWeek": "zz"}, {"date": "$when", "unit": "day", "startOfWeek": "$n"}, {"date": "$when", "unit": "$n"}, {"date": "$when", "unit": "week", "startOfWeek": 5}, {"date": DateTime(-10**12), "unit": "week", "binSize": 3}, {"date": DateTime(-10**12), "unit": "hour", "binSize": 7}, {"date": DateTime(-10**12), "unit": "month", "binSize": 7})
        + [{"$dateAdd": {"startDate": date, "unit": unit, "amount": amount, "timezone": "America/New_York"}} for date in ("$gap", "$fold", "$when") for unit, amount in (("year", 1), ("quarter", 2), ("month", -1), ("week", 1), ("day", 1), ("day", -1), ("hour", 1), ("hour", -24), ("minute", 90), ("second", 5), ("millisecond", 7))]
        + [{"$dateAdd": {"startDate": DateTime(start), "unit": unit, "amount": amount, "timezone": "America/New_York"}} for start, unit, amount in ((1730701800000, "day", -1), (1733207400000, "month", -1), (1727933400000, "month", 1), (1710138600000, "day", -1), (1730615400000, "day", 0))]
        + op("$dateAdd", {"startDate": DateTime(1709965800000), "unit": "day", "amount": 1, "timezone": "America/New_York"}, {"startDate": DateTime(1730525400000), "unit": "day", "amount": 1, "timezone": "America/New_York"}, {"startDate": "$when", "unit": "day", "amount": 1, "timezone": "Nowhere"}, {"startDate": "$when", "unit": "year", "amount": 10**6}, {"startDate": "$when", "unit": "day", "amount": Int64(2**62)})
        + [{"$dateDiff": {"startDate": start, "endDate": end, "unit": unit, "timezone": zone}} for start, end in (("$when", "$later"), ("$gap", "$fold"), ("$fold", "$gap")) for unit in ("year", "quarter", "month", "week", "day", "hour", "minute", "second", "millisecond") for zone in ("America/New_York", "Asia/Kolkata")]
        + op("$dateDiff", {"startDate": DateTime(1710050400000 + 30 * 60000), "endDate": DateTime(1710057600000), "unit": "hour", "timezone": "America/New_York"}, {"startDate": "$when", "endDate": "$later", "unit": "week", "startOfWeek": "fri"}, {"startDate": "$when", "endDate": "$later", "unit": "day", "startOfWeek": "zz"}, {"startDate": "$when", "endDate": "$later", "unit": "week", "startOfWeek": "$n"}, {"startDate": "$when", "endDate": "$i", "unit": "day"}, {"startDate": "$when", "endDate": "$later", "unit": 5}),
    "accumulate": [{name: argument} for name in ("$sum", "$avg", "$min", "$max", "$stdDevPop", "$stdDevSamp") for argument in ("$a", "$m", "$i", "$s", "$n", "$missing", ["$i", "$d"], ["$i", "$s", "$n"], ["$a", 5], [], ["$i", "$dec"], "$empty", ["$big", 1], ["$i", 7.0], [0.1, 0.2, 0.3], [0.1, "$dec"])],
}

NOISE = re.compile(r"^(PlanExecutor error during aggregation|Failed to optimize pipeline|Invalid \$\w+) :: caused by :: ")


def record(collection, expression):
    case = {"expression": expression}
    try:
        result = list(collection.aggregate([{"$replaceWith": {"v": expression}}]))[0]
    except pymongo.errors.OperationFailure as error:
        message = NOISE.sub("", error.details["errmsg"])
        return {**case, "error": {"code": error.code, "message": message}}
    return {**case, **{"result": result["v"] for _ in range(1) if "v" in result}}


def main(uri):
    database = pymongo.MongoClient(uri, datetime_conversion="DATETIME_AUTO").exprs
    database.expressions.delete_many({})
    database.expressions.insert_one({"_id": 1, **DOCUMENT})
    here = Path(__file__).parent / "expression"
    here.mkdir(exist_ok=True)
    dumps = lambda value: json_util.dumps(value, json_options=json_util.CANONICAL_JSON_OPTIONS)
    (here / "document.json").write_text(dumps({"_id": 1, **DOCUMENT}) + "\n")
    for name, expressions in FILES.items():
        lines = [dumps(record(database.expressions, expression)) for expression in expressions]
        (here / f"{name}.json").write_text("[\n" + ",\n".join(lines) + "\n]\n")


main(sys.argv[1])
