"""Records what a real mongod makes of an operator with a value of each kind, for the engine's unit tests.

    python3 record_grids.py 'mongodb://127.0.0.1:27017/?directConnection=true' [FILE…]

A case is an expression over the fields `a` and `b`, the values of each, and an answer for every pair: the value as
`{"v": …}`, `{}` where it is missing, or a number that says which of the case's `errors` it was.
"""

import random
import re
import sys
from pathlib import Path

import pymongo

from bsonjson import OPTIONS, RawBSONDocument, d, date, dec, decode, dumps, i, l, raw
from thin import thin

MISSING = {"$missing": True}
OID = {"$oid": "507f1f77bcf86cd799439011"}
TIME = {"$timestamp": {"t": 1700000000, "i": 3}}
REGEX = {"$regularExpression": {"pattern": "^h", "options": "i"}}
BYTES = {"$binary": {"base64": "AQID", "subType": "00"}}
UUID = {"$binary": {"base64": "AAAAAAAAAAAAAAAAAAAABw==", "subType": "04"}}
CODE, SCOPED = {"$code": "x"}, {"$code": "x", "$scope": {"a": i(1)}}
SYMBOL = {"$symbol": "sym"}
POINTER = {"$dbPointer": {"$ref": "x.y", "$id": OID}}
MIN_KEY, MAX_KEY = {"$minKey": 1}, {"$maxKey": 1}

INTEGERS = [i(0), i(1), i(-1), i(7), i(2**31 - 1), i(-(2**31)), l(0), l(-3), l(2**40), l(2**63 - 1), l(-(2**63))]
DOUBLES = [d(0.0), d(-0.0), d(0.5), d(-2.5), d(3.0), d(1e300), d(5e-324), d(2.0**63), d("NaN"), d("Infinity"), d("-Infinity")]
DECIMALS = [dec(text) for text in ("0", "-0", "1.50", "-2.5", "3", "9223372036854775807", "9223372036854775808", "1E-6176", "9.999999999999999999999999999999999E+6144", "NaN", "Infinity", "-Infinity")]
ABSENT = [MISSING, None, {"$undefined": True}]
STRINGS = ["", "abc", "h\u00e9llo w\u00f6rld", "12", "-2.5", "a,b,,c", "507f1f77bcf86cd799439011", "2024-02-29T13:45:59Z"]
OTHERS = [True, False, date(0), date(1709214359123), date(-1), OID, TIME, REGEX, BYTES, UUID, CODE, SCOPED, SYMBOL, POINTER, MIN_KEY, MAX_KEY]
ARRAYS = [[], [i(1), i(2), i(3)], [None, [i(1)], "x", d(2.0)], [["k", i(1)]], [{"k": "a", "v": i(1)}, {"k": "b", "v": i(2)}], ["b", "a", "b"], [i(2), d(2.0), dec("2")]]
DOCUMENTS = [{}, {"a": i(1)}, {"b": {"c": [i(1)]}, "a": None}]
# A month beyond what a calendar of four digits has.
FAR = [date(253402300800000), date(-62135596800001)]

EVERY = ABSENT + INTEGERS + DOUBLES + DECIMALS + STRINGS + OTHERS + ARRAYS + DOCUMENTS
NUMBERS = ABSENT + INTEGERS + DOUBLES + DECIMALS
BINARY = NUMBERS + ["abc", True, date(1709214359123), TIME, [i(1)], {"a": i(1)}]
FLOATS = ABSENT + INTEGERS + DOUBLES + ["abc", True, [i(1)]]
FEW = ABSENT + [i(1), d(1.0), l(-2), d(2.5), d("NaN"), dec("2"), "", "a", "h\u00e9llo", "a,b", True, date(0), OID, REGEX, SYMBOL, [], [i(1), "a", None, i(1)], [d(1.0), "b"], {"a": i(1)}, l(2**40)]
TEXTS = ABSENT + ["", "a", "aXbXa", "h\u00e9llo", "\u00e9", "a\u0000b", i(5), d(2.5), SYMBOL, date(0), ["a"], True]
PLACES = [MISSING, None, i(0), i(1), i(2), i(-1), i(-2), i(9), l(1), d(1.0), d(1.5), d("NaN"), dec("1"), dec("1.5"), l(2**40), "x", True]
# Of a string that is not ASCII, the empty string finds the parts of characters in a server.
FOUND = [text for text in TEXTS if text != ""]
LISTS = ABSENT + ARRAYS + [i(1), "a", {"a": i(1)}]

UNARY = ("abs ceil floor round trunc sqrt exp ln log10 not size first last isArray isNumber reverseArray allElementsTrue anyElementTrue "
    "toLower toUpper strLenCP strLenBytes bsonSize binarySize tsSecond tsIncrement objectToArray arrayToObject mergeObjects type toBool toDate "
    "toDecimal toDouble toInt toLong toObjectId toString sum avg min max stdDevPop stdDevSamp setUnion setIntersection concatArrays concat "
    "add multiply toHashedIndexKey year month dayOfMonth dayOfWeek dayOfYear hour minute second millisecond week isoWeek isoWeekYear isoDayOfWeek "
    "dateToString dateToParts and or").split()
WRAPPED = {"dateToString": "date", "dateToParts": "date"}
ROUND = "sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh degreesToRadians radiansToDegrees".split()
CALENDAR = "year month dayOfMonth dayOfWeek dayOfYear hour minute second millisecond week isoWeek isoWeekYear isoDayOfWeek dateToString dateToParts toString".split()
A, B = "$a", "$b"


def op(name, argument):
    return {"$" + name: argument}


def over(expression, a, b=(MISSING,)):
    return {"expression": expression, "a": list(a), "b": list(b)}


def unary(name):
    return op(name, {WRAPPED[name]: A} if name in WRAPPED else A)


def binary(names, a, b=None):
    return [over(op(name, [A, B]), a, b or a) for name in names.split()]


def named(name, a, b, **arguments):
    return over(op(name, arguments), a, b)


DATES = [*ABSENT, date(1709214359123), date(-1), *FAR, OID, TIME, i(5), "2024-02-29", True]
UNITS = ["year", "quarter", "month", "week", "day", "hour", "minute", "second", "millisecond", "Day", "fortnight", None, i(5), MISSING]
AMOUNTS = [MISSING, None, i(0), i(1), i(-13), l(2**40), l(2**63 - 1), d(2.0), d(1.5), dec("3"), dec("3.5"), d("NaN"), "1"]

# The engine reads ISO 8601 only, and does not repeat the server's account of what else it found in a string.
DATED = [value for value in EVERY if not isinstance(value, str) or value.startswith("2024")]
COLUMNS = {"toDate": DATED, "date": DATED}
# Of equal values any may come first.
UNEQUAL = [None, i(1), d(2.5), dec("3.25"), l(2**40), d("NaN"), dec("-Infinity"), i(-(2**31)), dec("1E-6176"), "", "abc", {}, {"a": i(1)}, [], [i(1)], BYTES, UUID, OID, True, False, date(-1), date(0), TIME, REGEX, POINTER, CODE, SCOPED, MIN_KEY, MAX_KEY, SYMBOL]

DRAW = random.Random(128)


def drawn():
    """A decimal of any length, mostly near one, now and then at the rims."""
    digits = str(DRAW.randrange(1, 10 ** DRAW.choice((1, 2, 5, 16, 17, 33, 34, 34))))
    if DRAW.random() < 0.3:
        digits = digits[: DRAW.randrange(1, len(digits) + 1)] + DRAW.choice(("0", "5", "9", "49", "50", "99")) * DRAW.randrange(1, 8)
    digits = digits[:34]
    spread = DRAW.choice((3, 10, 40, 40, 6144))
    exponent = max(-6176, min(6144 - len(digits), DRAW.randrange(-spread, spread) - len(digits) // 2))
    return dec(f"{DRAW.choice(('', '-'))}{digits}E{exponent}")


RIMS = [dec(text) for text in ("0", "-0", "1", "-1", "0.5", "2", "3", "7", "10", "1E+33", "9.999999999999999999999999999999999", "9999999999999999999999999999999999", "1.000000000000000000000000000000001", "5E-34", "1E-6176", "5E-6176", "1E-6143", "9.999999999999999999999999999999999E+6144", "1E+6144", "1E+6111", "NaN", "Infinity", "-Infinity")]
DRAWN = [drawn() for _ in range(28)] + RIMS
MANY = [drawn() for _ in range(200)] + RIMS
# Decimals that doubles and longs are next to.
NEAR = [d(0.1), d(2.0**53), d(1e22), d(1 / 3), d(5e-324), d(1.7976931348623157e308), d(-2.5), l(2**53 + 1), l(2**63 - 1), l(-(2**63)), i(2**31 - 1)]
BESIDE = [dec(text) for text in ("0.1", "0.1000000000000000055511151231257827", "0.1000000000000000055511151231257828", "9007199254740992", "9007199254740992.000000000000000001", "9007199254740993", "1E+22", "10000000000000000000000.00000000001", "0.3333333333333333", "0.3333333333333333148296162562473909", "0.3333333333333333148296162562473910",
    "4.940656458412465441765687928682213E-324", "4.940656458412465441765687928682214E-324", "1.797693134862315708145274237317043E+308", "1.797693134862315708145274237317044E+308", "-2.5", "-2.500000000000000000000000000000001", "9223372036854775807", "9223372036854775807.5", "9223372036854775808", "-9223372036854775808", "-9223372036854775808.1", "2147483647", "2147483647.000000001")]
# To an integer, a double and back, at what rounds.
ROUNDED = [dec(text) for text in ("0.5", "1.5", "2.5", "-0.5", "-1.5", "0.4999999999999999999999999999999999", "2147483647.5", "2147483647.4", "-2147483648.5", "2147483648", "9223372036854775807.5", "9223372036854775807.4", "-9223372036854775808.5", "1E+10", "1E-10", "123456789.987654321", "0.1", "1E+400", "1E-400", "1.7976931348623157081E+308", "2.2250738585072013E-308", "2.2250738585072014E-308")]

# Where the functions of decimals are computed in another way, and next to it.
STEPS = [dec(text) for text in ("0E+5", "-0E-7", "-0E+5", "1.0", "100", "1E+3", "1E-20", "-1E-30", "1E-40", "1.1E-40", "1E-35", "1E-36", "1E-51", "1E-52", "1E-53", "0.7", "-0.7", "0.71", "1.03125", "1.0312", "64", "-64", "64.5", "-65", "1001", "11000", "11001", "-11000", "-11001", "14149", "14150", "-14210", "-14220", "-14230", "15001", "-15001", "20000", "-20001", "0.9999999999999999999999999999999999", "-0.9999999999999999999999999999999999",
    "1E+34", "1E+35", "12345E+36", "2E+4464", "1E-4465", "3.4E-4932", "6E-4966", "3E-4966", "22.5", "1.570796326794896619231321691639751", "3.141592653589793238462643383279503", "2.718281828459045235360287471352662", "7E+6000", "0.1591549430918953357688837633725144", "0.99999999999999999999999999999998", "1.00000000000000000000000000000002")]
CURVES = random.Random(35)


def between(low, high):
    """A decimal of 34 digits, evenly drawn."""
    return dec(f"{CURVES.randrange(low * 10**12, high * 10**12)}{CURVES.randrange(10**18, 10**19)}E-31")


UNIT = [between(-1, 1) for _ in range(20)] + [dec(f"{CURVES.choice(('', '-'))}0.{'9' * CURVES.randrange(1, 34)}{CURVES.randrange(1, 9)}"[:35]) for _ in range(10)]
NUMBERED = [between(-100, 100) for _ in range(20)] + [dec(str(CURVES.randrange(-99, 99))) for _ in range(8)] + [dec(f"{CURVES.randrange(-99, 99)}.5") for _ in range(4)]
SPREAD = [dec(f"{CURVES.choice(('', '-'))}{CURVES.randrange(10**33, 10**34)}E{CURVES.randrange(-6000, 6000)}") for _ in range(16)]
POSITIVE = [dec(value["$numberDecimal"].lstrip("-")) for value in SPREAD + NUMBERED[:20]] + [dec(f"1.{'0' * CURVES.randrange(1, 30)}{CURVES.randrange(1, 99)}") for _ in range(10)]
CURVED = [*RIMS, *STEPS, *UNIT, *NUMBERED, *SPREAD]
# Bases, exponents and sides; zeros of both signs and infinities are among the rims.
SIDES = [dec(text) for text in ("0", "-0", "0E+10", "1", "-1", "1.00", "2", "-2", "0.5", "3", "10", "1E+1", "-10", "NaN", "Infinity", "-Infinity", "1E-6176", "-1E-6176", "9.999999999999999999999999999999999E+6144", "1234567890123456789012345678901235", "20000", "-30000", "6112", "-6177", "1.000000000000000000000000000000001", "0.9999999963", "1.0000000036", "7E+40")]
MIXED = [i(0), i(1), i(2), i(10), i(-3), l(2**62), d(0.1), d(-0.0), d(2.0), d(1 / 3), d(1e300), d("NaN"), d("-Infinity"), None, "x", True]
BASES = [between(0, 10) for _ in range(6)] + [dec(f"{CURVES.randrange(10**33, 10**34)}E{CURVES.randrange(-300, 300)}") for _ in range(4)] + [dec("10"), dec("2"), dec("-7")]
EXPONENTS = [between(-10, 10) for _ in range(6)] + [dec("0.5"), dec("-1"), dec("12"), dec("-1E-20"), dec("117")]

FILES = {
    "unary": [over(unary(name), COLUMNS.get(name, EVERY)) for name in UNARY] + [over(op("ifNull", [A, B]), EVERY, [MISSING, None, i(5)]), over(op("cond", [A, "yes", "no"]), EVERY), over(op("switch", {"branches": [{"case": A, "then": "yes"}], "default": "no"}), EVERY)],
    "trigonometry": [over(op(name, A), [*FLOATS, *DECIMALS]) for name in ROUND] + binary("atan2", FLOATS),
    "calendar": [over(unary(name), [*FAR, date(2**53), date(-(2**53)), date(2**63 - 1), date(-(2**63)), date(1709251200000), date(1735603200000), date(1483228800000)]) for name in CALENDAR],
    "arithmetic": binary("add subtract multiply divide mod", BINARY) + binary("pow log", FLOATS),
    "zones": [named(name, [date(1709965800000), date(1730525400000), None, MISSING, i(5)], ["UTC", "America/New_York", "+05:30", "Nowhere", None, MISSING, i(5)], startDate=A, unit="day", amount=1, timezone=B) for name in ("dateAdd", "dateSubtract")]
        + [named("dateDiff", [date(1709965800000), None], ["UTC", "America/New_York", "Nowhere", None, MISSING, i(5)], startDate=A, endDate=date(1730525400000), unit="hour", timezone=B)]
        + [named("dateTrunc", [date(1709965800000), None], ["UTC", "America/New_York", "Nowhere", None, MISSING, i(5)], date=A, unit="day", timezone=B)],
    "constant_folding": [over(op(name, [A if item == A else B if item == B else item if isinstance(item, dict) else d(item) for item in items]), [d(0.123), d(1e-9), i(7), dec("0.1"), None, MISSING], [d(0.456), i(3)])
        for name in ("add", "multiply", "sum", "avg", "max") for items in ([0.1, A, 0.2, 0.3], [A, 0.1, 0.2], [0.1, 0.7, A, 1.1], [3.0, A, 7.7, 1e-9], [0.1, A, B, 0.3], [0.1, 0.2, 0.3], [0.1, A, {"$literal": d(0.2)}, 1e20], [i(2**31 - 1), A, i(2**31 - 1)], [l(2**63 - 1), A, l(2)], [dec("0.1"), A, 0.2, B])],
    "rounding": binary("round trunc", NUMBERS + ["abc", True], PLACES + [i(20), i(21), i(100), i(101), i(-20), i(-21)]),
    "comparison": binary("cmp", EVERY) + binary("eq ne gt gte lt lte", FEW),
    "binary": binary("concat strcasecmp split indexOfBytes indexOfCP", TEXTS) + binary("setUnion setIntersection setDifference setEquals setIsSubset concatArrays mergeObjects in arrayElemAt sum avg min max stdDevPop stdDevSamp and or", FEW)
        + binary("in indexOfArray", FEW, LISTS) + binary("indexOfArray", LISTS, FEW),
    "arrays": binary("arrayElemAt slice range", LISTS, PLACES) + binary("range", PLACES) + [over(op("slice", [[i(1), i(2), i(3)], A, B]), PLACES), over(op("range", [A, i(5), B]), PLACES), over(op("range", [i(5), A, B]), PLACES)]
        + [over(op("indexOfArray", [["a", "b", "a"], "a", A, B]), PLACES)] + [named(name, LISTS, PLACES, input=A, n=B) for name in ("firstN", "lastN", "maxN", "minN")]
        + [named("sortArray", LISTS, [i(1), i(-1)], input=A, sortBy=1), named("sortArray", LISTS, [MISSING], input=A, sortBy=-1), named("sortArray", LISTS, [MISSING], input=A, sortBy={"v": -1, "k": 1}), named("sortArray", [UNEQUAL], [MISSING], input=A, sortBy=1), named("sortArray", [UNEQUAL], [MISSING], input=A, sortBy=-1)]
        + [named("filter", LISTS, PLACES, input=A, cond={"$gte": ["$$this", 1]}, limit=B), named("filter", LISTS, [i(1), None, MISSING], input=A, **{"as": "x", "cond": {"$eq": ["$$x", B]}}), named("map", LISTS, [i(1), MISSING], input=A, **{"as": "x", "in": ["$$x", B]}), named("reduce", LISTS, FEW, input=A, initialValue=B, **{"in": ["$$value", "$$this"]})]
        + [over(op("zip", {"inputs": [A, B]}), LISTS, LISTS), over(op("zip", {"inputs": [A, B], "useLongestLength": True}), ARRAYS, ARRAYS), over(op("zip", {"inputs": [A, B], "useLongestLength": True, "defaults": ["x", A]}), ARRAYS, ARRAYS)]
        + [over(op("arrayToObject", [A]), [[["a", value]] for value in EVERY] + [[[value, i(1)]] for value in EVERY] + [[{"k": value, "v": i(1)}] for value in EVERY] + [[value] for value in EVERY])],
    "strings": [over(op(name, ["h\u00e9llo", A, B]), PLACES) for name in ("substrCP", "substrBytes", "substr")] + [over(op(name, [A, 1, 2]), EVERY) for name in ("substrCP", "substrBytes", "substr")]
        + [over(op(name, ["h\u00e9lloh\u00e9", "\u00e9", A, B]), PLACES) for name in ("indexOfBytes", "indexOfCP")]
        + [named(name, TEXTS, TEXTS, input=A, chars=B) for name in ("trim", "ltrim", "rtrim")] + [named(name, EVERY, [MISSING], input=A) for name in ("trim", "ltrim", "rtrim")]
        + [named(name, TEXTS, FOUND, input=A, find=B, replacement="-") for name in ("replaceOne", "replaceAll")] + [named(name, TEXTS, TEXTS, input="aXbXa", find=A, replacement=B) for name in ("replaceOne", "replaceAll")]
        + [named(name, TEXTS + [REGEX], TEXTS + [REGEX, "X", "[a-z]+", "(a)(X)?", "(", {"$regularExpression": {"pattern": "x", "options": "i"}}], input=A, regex=B) for name in ("regexFind", "regexFindAll", "regexMatch")]
        + [named(name, ABSENT + ["", "a", i(5), ["a"], True, "i", "m", "s", "x", "imsx", "u", "ii", "g"], [MISSING], input="aXb\nxX", regex="x .", options=A) for name in ("regexFind", "regexFindAll", "regexMatch")],
    "objects": [named("getField", EVERY, [MISSING], field="a", input=A), named("setField", EVERY, [MISSING], field="a", input=A, value="new"), named("setField", EVERY, [MISSING], field="a", input={"$literal": {"a": 1, "b": 2}}, value=A), named("unsetField", EVERY, [MISSING], field="a", input=A)]
        + [over({"$getField": {"field": {"$literal": name}, "input": A}}, DOCUMENTS) for name in ("a", "b", "zz", "b.c", "$a", "")]
        + [over({"$setField": {"field": {"$literal": name}, "input": A, "value": B}}, DOCUMENTS, [MISSING, None, i(5)]) for name in ("a", "zz", "b.c", "$a", "")]
        + [over({"$unsetField": {"field": {"$literal": name}, "input": A}}, DOCUMENTS) for name in ("a", "zz", "b.c", "$a", "")]
        + [over({"$let": {"vars": {"x": A}, "in": {"v": "$$x", "w": "$$x.a"}}}, EVERY), over({"$literal": "$a"}, [i(1)]), over({"$const": "$a"}, [i(1)]), over({"$literal": {"$add": [1, 2]}}, [i(1)])],
    "conversions": [named("convert", COLUMNS.get(to, EVERY), [MISSING], input=A, to=to) for to in ("double", "string", "objectId", "bool", "date", "int", "long", "decimal")]
        + [named("convert", EVERY, [i(16), d(18.0), "array", "Int", None], input=A, to=B)] + [named("convert", [MISSING, None, "x", i(1)], ["int", "date", "objectId", None, i(2), d(2.5), "minKey", i(-1), i(99), [i(1)]], input=A, to=B, onError="E", onNull="N")]
        + [over(op(name, A), [text for text in ("0", "-0", "+7", " 7", "7 ", "0x10", "1e3", "1E-3", ".5", "5.", "nan", "NaN", "inf", "Infinity", "-Infinity", "infinity", "1_000", "", "-", "2147483648", "9223372036854775807", "9223372036854775808", "-9223372036854775809", "1e309", "1e-400", "123456789012345678901234567890123456789", "1e6145", "1E-6177", "true", "\u0661", "1\u0000", "00012", "1.0000000000000000000000000000000000001", "1,5", "0b1", "1d", "1f", "0x1p3")]) for name in ("toInt", "toLong", "toDouble", "toDecimal", "toBool")]
        + [over(op("toDate", A), [l(2**62), d(1e15), d(1.9), d(-1.9), d(9.3e18), dec("1709214359123.9"), dec("1E+20"), i(5)])] + [over(op("toObjectId", A), ["507F1F77BCF86CD799439011", "507f1f77bcf86cd79943901", "507f1f77bcf86cd79943901g", " 07f1f77bcf86cd799439011"])]
        + [over(op("toString", A), [d(value) for value in (1e5, 1e6, 123456.0, 1234567.0, 1e15, 1e16, 1e17, 1e21, 1e22, 0.1, 1e-4, 1e-5, 1e-7, 1 / 3, 2 / 3, 1e100, 5e-324, 1.7976931348623157e308, 4.35, 100.0, 2.0**53, -1e-6)] + [dec(text) for text in ("1E+3", "1E-7", "1E-6", "0.000001", "1.000", "0E+3", "0E-10", "1234567890123456789012345678901234", "1E+33", "1.0E+34", "-0")])],
    "decimals": binary("add subtract multiply divide mod", DRAWN) + binary("add subtract multiply divide mod", NEAR, BESIDE[::3]),
    "decimal_functions": [over(op(name, A), MANY) for name in ("sqrt", "abs", "floor", "ceil", "trunc", "round")] + binary("round trunc", MANY[:60] + RIMS, [i(place) for place in (-20, -7, -1, 0, 1, 5, 20, 33, 34, 50, 100)])
        + binary("cmp eq lt gte", NEAR, BESIDE)
        + [over(op(name, A), ROUNDED + MANY[:40] + RIMS) for name in ("toInt", "toLong", "toDouble", "toString", "toBool", "toDate", "toDecimal")] + [over(op("toDecimal", A), DOUBLES + INTEGERS + NEAR + [d(DRAW.uniform(-1, 1) * 10.0 ** DRAW.randrange(-300, 300)) for _ in range(60)])]
        + [over(op(name, A), [[DRAWN[at], DRAWN[at + 1], i(3), d(0.1)] for at in range(20)]) for name in ("sum", "avg", "min", "max", "stdDevPop", "stdDevSamp")],
    "decimal_curves": [over(op(name, A), CURVED) for name in (*ROUND, "exp")] + [over(op(name, A), CURVED + POSITIVE) for name in ("ln", "log10", "sqrt")] + [over(op("acosh", A), POSITIVE)]
        + [case for name in ("pow", "log", "atan2") for case in binary(name, SIDES) + binary(name, SIDES[:14], MIXED) + binary(name, MIXED, SIDES[:14]) + binary(name, BASES, EXPONENTS)],
    "dates": [named(name, DATES, UNITS, startDate=A, unit=B, amount=1) for name in ("dateAdd", "dateSubtract")] + [named(name, [date(1709214359123), date(2**52), FAR[0]], AMOUNTS, startDate=A, unit="month", amount=B) for name in ("dateAdd", "dateSubtract")] + [named(name, AMOUNTS, ["day", "second"], startDate=date(1709214359123), unit=B, amount=A) for name in ("dateAdd", "dateSubtract")]
        + [named("dateDiff", DATES, DATES, startDate=A, endDate=B, unit="month"), named("dateDiff", [date(0)], UNITS, startDate=A, endDate=date(1709214359123), unit=B), named("dateTrunc", DATES, UNITS, date=A, unit=B), named("dateTrunc", [date(1709214359123)], AMOUNTS, date=A, unit="hour", binSize=B)]
        + [over(op("dateToString", {"date": A, "format": B}), DATES, [None, MISSING, "%Y", "%d%%", "%G-%V-%u", "%q", "%", i(5), "", "\u00e9%m"]), over(op("dateFromString", {"dateString": A}), DATED), over(op("dateFromString", {"dateString": A, "onError": "E", "onNull": "N"}), DATED)]
        + [over(op("dateFromParts", {"year": A, "month": B}), [i(2024), i(0), i(1), i(9999), i(10000), d(2024.0), l(2024), dec("2024"), d(2024.5), None, MISSING, "2024", d("NaN")], [i(1), i(0), i(13), i(-13), i(32767), i(32768), i(-32768), i(-32769), d(2.0), d(2.5), None, MISSING, "1"])]
        + [over(op(name, {"date": A, "timezone": B}), [date(1709214359123), date(-1), None, MISSING], ["UTC", "+05:30", "-0100", "America/New_York", "Nowhere", "", None, MISSING, i(5), "+25:00", "Europe/Vienna"]) for name in ("year", "month", "dayOfMonth", "dayOfWeek", "dayOfYear", "hour", "minute", "second", "millisecond", "week", "isoWeek", "isoWeekYear", "isoDayOfWeek", "dateToString", "dateToParts")],
}

NOISE = re.compile(r"^(PlanExecutor error during aggregation|Failed to optimize pipeline|Invalid \$\w+) :: caused by :: ")


def plain(expression):
    """Plain integers of Python are int32."""
    if isinstance(expression, bool) or expression is None or isinstance(expression, str):
        return expression
    if isinstance(expression, int):
        return i(expression)
    if isinstance(expression, list):
        return [plain(item) for item in expression]
    return expression if next(iter(expression), "").startswith("$number") else {key: plain(value) for key, value in expression.items()}


def pictured(a, b):
    return {name: value for name, value in (("a", a), ("b", b)) if value != MISSING}


def record(collection, case):
    expression = plain(case["expression"])
    errors, answers = [], []
    for a in case["a"]:
        for b in case["b"]:
            collection.replace_one({"_id": 1}, raw({"_id": i(1), **pictured(a, b)}), upsert=True)
            try:
                [result] = collection.aggregate(raw_pipeline(expression))
                answers.append(decode(result.raw))
            except pymongo.errors.OperationFailure as error:
                message = {"code": i(error.code), "message": NOISE.sub("", error.details["errmsg"])}
                if message not in errors:
                    errors.append(message)
                answers.append(i(errors.index(message)))
    return {"expression": expression, "a": case["a"], "b": case["b"], "errors": errors, "answers": answers}


def raw_pipeline(expression):
    return [raw({"$replaceWith": {"v": expression}})]


def main(uri, *wanted):
    client = pymongo.MongoClient(uri)
    collection = client.engine_grids.get_collection("v", codec_options=OPTIONS.with_options(document_class=RawBSONDocument))
    here = Path(__file__).parent / "grid"
    here.mkdir(exist_ok=True)
    for name, cases in FILES.items():
        if not wanted or name in wanted:
            lines = [dumps(record(collection, case)) for case in cases]
            (here / f"{name}.json").write_text("[\n" + ",\n".join(lines) + "\n]\n")
            thin(here / f"{name}.json")
            print(name, len(lines))
    client.drop_database("engine_grids")


if __name__ == "__main__":
    main(*sys.argv[1:])
