"""Records what a real mongod makes of query and update operators with values of every kind, for the engine's unit tests.

    python3 record_operators.py 'mongodb://127.0.0.1:27717/?directConnection=true'

`query/operators.json` holds every value against every operand; `update/operand_types.json` and
`update/array_operand_types.json` every update operator on every value.
"""

import sys
from pathlib import Path

import pymongo

from bsonjson import OPTIONS, RawBSONDocument, d, date, dec, decode, dumps, i, l, raw
from record_grids import BYTES, CODE, DECIMALS, DOUBLES, INTEGERS, MAX_KEY, MIN_KEY, MISSING, OID, POINTER, REGEX, SCOPED, SYMBOL, TIME, UUID
from thin import thin

UNDEFINED = {"$undefined": True}
STRINGS = ["", "abc", "Abc", "h\u00e9llo"]
OTHERS = [True, False, date(0), date(-1), OID, TIME, REGEX, BYTES, UUID, CODE, SCOPED, SYMBOL, POINTER, MIN_KEY, MAX_KEY]
NESTED = [[], [i(1)], [i(1), i(7), "abc"], [None], [[i(1)]], [[]], [{}], [{"a": i(1)}, {"a": "abc"}], [d("NaN")], [REGEX], {}, {"a": i(1)}, {"a": i(1), "b": None}, {"b": None, "a": i(1)}, {"a": [i(1), i(7)]}, [dec("1.50"), d(3.0)], [MAX_KEY, MIN_KEY]]
VALUES = [MISSING, None, UNDEFINED, *INTEGERS, *DOUBLES, *DECIMALS, *STRINGS, *OTHERS, *NESTED]
OPERANDS = [value for value in VALUES if value != MISSING]
MASKS = [i(0), i(1), i(7), i(-1), l(2**40), l(2**63 - 1), l(-1), d(5.0), d(2.5), d("NaN"), d(2.0**63), dec("3"), "1", None, [], [i(0), i(2)], [i(63), i(64), i(200)], [i(-1)], ["x"], [d(1.5)], [l(1)], BYTES, {"$binary": {"base64": "", "subType": "00"}}, {"a": i(1)}, True]
TYPES = [i(n) for n in (-1, *range(0, 21), 127, 128, -2)] + "double string object array binData undefined objectId bool date null regex dbPointer javascript symbol javascriptWithScope int timestamp long decimal minKey maxKey number missing zork".split() + [l(2), d(2.0), d(2.5), dec("2"), [], [i(2), "int"], ["number", i(2)], [["int"]], None, True, {"a": i(1)}]
COUNTS = [i(0), i(1), i(2), i(-1), l(1), d(1.0), d(1.5), d("NaN"), dec("1"), l(2**40), "1", None, [], True]
MODS = [[i(2), i(1)], [i(2), i(-1)], [i(-2), i(1)], [l(3), d(1.0)], [d(2.9), d(1.9)], [dec("4"), dec("3")], [i(0), i(1)], [i(2)], [], [i(2), i(1), i(1)], ["a", i(1)], [i(2), "a"], [i(2), None], [d("NaN"), i(1)], [i(1), d("NaN")], [d("Infinity"), i(0)], [l(2**63 - 1), i(0)], [l(-(2**63)), i(0)], [i(-1), i(0)], i(2), "x", None]
EXISTS = [True, False, i(0), i(1), d(0.0), d("NaN"), dec("0"), None, "x", "", [], {}]
PATTERNS = ["^a", "B", "", "(", "\u00e9", REGEX, SYMBOL, i(5), None, CODE]


def queries():
    for name in ("$eq", "$ne", "$gt", "$gte", "$lt", "$lte"):
        yield from ({"v": {name: value}} for value in OPERANDS)
    yield from ({"v": value} for value in OPERANDS)
    yield from ({"v": {"$not": {"$gt": value}}} for value in OPERANDS[::3])
    for name in ("$in", "$nin", "$all"):
        yield from ({"v": {name: [value]}} for value in OPERANDS)
        yield from ({"v": {name: value}} for value in ([], [i(1), "abc"], [None, i(7)], [[]], [[i(1)], i(1)], i(1), None, {}, [{"$gt": i(1)}], [{"$elemMatch": {"$gt": i(1)}}]))
    for name in ("$bitsAllClear", "$bitsAllSet", "$bitsAnyClear", "$bitsAnySet"):
        yield from ({"v": {name: mask}} for mask in MASKS)
    yield from ({"v": {"$type": kind}} for kind in TYPES)
    yield from ({"v": {"$size": count}} for count in COUNTS)
    yield from ({"v": {"$mod": mod}} for mod in MODS)
    yield from ({"v": {"$exists": value}} for value in EXISTS)
    yield from ({"v": {"$regex": pattern}} for pattern in PATTERNS)
    yield from ({"v": {"$regex": "^ABC", "$options": options}} for options in ("i", "m", "s", "x", "", "imsx", "g", "u", "ii", i(5), None))
    yield from [{"v": {"$options": "i"}}, {"v": {"$not": {"$regex": "a"}}}, {"v": {"$not": REGEX}}, {"v": {"$not": "x"}}, {"v": {"$not": {}}}, {"v": {"$in": [REGEX]}}]
    for condition in ({"$gt": i(0)}, {"$eq": None}, {"a": i(1)}, {"a": {"$exists": False}}, {}, {"$in": [i(1), "abc"]}, {"$not": {"$gt": i(1)}}, {"$elemMatch": {"$gt": i(0)}}, {"$or": [{"a": i(1)}]}, {"$type": "string"}, {"$expr": i(1)}, {"$zork": i(1)}, i(5), [], None, {"$gt": i(0), "a": i(1)}):
        yield {"v": {"$elemMatch": condition}}
    for name in ("$and", "$or", "$nor"):
        yield from ({name: value} for value in ([{"v": i(1)}], [{"v": i(1)}, {"v": "abc"}], [{}], [], [i(1)], {}, None, [{"$zork": i(1)}], [{"v": {"$gt": i(0)}}, {"v": {"$lt": i(5)}}]))
    for expression in (i(1), i(0), None, "$v", {"$gt": ["$v", i(1)]}, {"$eq": ["$v", None]}, {"$isArray": "$v"}, "$$nope", {"$zork": i(1)}, {"$literal": False}):
        yield {"$expr": expression}
    for schema in ({}, {"required": ["v"]}, {"properties": {"v": {"bsonType": "number"}}}, {"properties": {"v": {"type": "number"}}}, {"properties": {"v": {"minimum": i(1)}}}, {"properties": {"v": {"maximum": i(1), "exclusiveMaximum": True}}}, {"properties": {"v": {"enum": [i(1), "abc", None]}}}, {"properties": {"v": {"minLength": i(1)}}}, {"properties": {"v": {"maxItems": i(1)}}}, {"properties": {"v": {"uniqueItems": True}}}, {"properties": {"v": {"multipleOf": i(2)}}}, {"properties": {"v": {"pattern": "^a"}}}, {"properties": {"v": {"minProperties": i(1)}}}, {"properties": {"v": {"items": {"bsonType": "int"}}}}, {"properties": {"v": {"not": {"bsonType": "array"}}}}, {"zork": i(1)}, i(5)):
        yield {"$jsonSchema": schema}
    yield from ({path: {"$eq": value}} for path in ("v.0", "v.a", "v.a.0", "v.0.a", "v.b") for value in (i(1), None, "abc", []))


def update_cases():
    numbers = [MISSING, None, i(0), i(7), i(2**31 - 1), l(-3), l(2**63 - 1), l(-(2**63)), d(2.5), d(-0.0), d("NaN"), d("Infinity"), d(1e300), dec("1.50"), dec("-0"), dec("NaN"), dec("9.999999999999999999999999999999999E+6144"), "abc", [i(1)], {"a": i(1)}, True, date(0)]
    factors = [i(0), i(1), i(-1), i(2**31 - 1), l(1), l(2**63 - 1), d(1.0), d(0.1), d("NaN"), d("-Infinity"), dec("1"), dec("0.10"), dec("1E+6144"), "1", None, True, [i(1)]]
    for name in ("$inc", "$mul", "$min", "$max"):
        yield from ((value, {name: {"v": factor}}) for value in numbers for factor in factors)
    for name in ("$min", "$max", "$set", "$addToSet", "$push", "$pull"):
        yield from ((value, {name: {"v": operand}}) for value in (MISSING, i(1), "abc", [i(1), d(2.0), "abc", None], {"a": i(1)}) for operand in OPERANDS)
    yield from (([value], {name: {"v": operand}}) for name in ("$addToSet", "$pull") for value in OPERANDS[::2] for operand in (i(1), None, d("NaN"), REGEX, {"a": i(1)}, [i(1)]))
    yield from ((value, {"$pullAll": {"v": operand}}) for value in (MISSING, i(1), [i(1), d(1.0), None, "abc", [i(1)], d("NaN")]) for operand in [[item] for item in OPERANDS] + [[], i(1), None, "x"])
    yield from ((value, {"$pop": {"v": operand}}) for value in (MISSING, None, i(1), [], [i(1)], [i(1), i(2), i(3)], {"a": i(1)}) for operand in (i(1), i(-1), l(1), d(1.0), d(-1.0), dec("1"), i(0), i(2), d(1.5), d("NaN"), "1", None, True))
    for bit in ("and", "or", "xor"):
        yield from ((value, {"$bit": {"v": {bit: operand}}}) for value in (MISSING, None, i(5), i(-1), l(2**40), l(-(2**63)), d(5.0), dec("5"), "abc", [i(1)]) for operand in (i(0), i(3), i(-1), l(3), l(2**62), d(3.0), dec("3"), "3", None))
    for modifiers in ({"$position": i(0)}, {"$position": i(-1)}, {"$position": l(2**40)}, {"$position": d(1.0)}, {"$position": d(1.5)}, {"$position": d("NaN")}, {"$position": "x"}, {"$slice": i(0)}, {"$slice": i(1)}, {"$slice": i(-2)}, {"$slice": l(-(2**63))}, {"$slice": d(1.0)}, {"$slice": d("NaN")}, {"$slice": dec("1")}, {"$slice": None}, {"$sort": i(1)}, {"$sort": i(-1)}, {"$sort": d(1.0)}, {"$sort": l(1)}, {"$sort": i(0)}, {"$sort": True}, {"$sort": {}}, {"$sort": {"a": i(1)}}, {"$sort": {"a": i(2)}}, {"$zork": i(1)}):
        yield from ((value, {"$push": {"v": {"$each": [i(5), "b"], **modifiers}}}) for value in (MISSING, None, i(1), [], [i(7), i(1), i(3)], [{"a": i(2)}, {"a": i(1)}]))
    yield from ((value, {"$unset": {"v": operand}}) for value in (MISSING, None, i(1), [i(1)]) for operand in ("", i(1), None))
    yield from ((value, {"$rename": {"v": operand}}) for value in (MISSING, None, i(1), [i(1)], {"a": i(1)}) for operand in ("w", "v", "w.x", "v.a", "", "$w", i(1), None))
    yield from ((value, {"$currentDate": {"v": operand}}) for value in (MISSING, i(1)) for operand in (False, i(1), "date", "timestamp", None, {"$type": "x"}, {"$type": i(1)}, {}, {"a": i(1)}, {"$type": "date", "b": i(1)}))
    yield from ((value, {"$setOnInsert": {"v": operand}}) for value in (MISSING, i(1)) for operand in (i(1), None, [i(1)]))


def error_of(error):
    return {"code": i(error.code), "message": error.details["errmsg"]}


def record_queries(collection):
    collection.drop()
    documents = [{"_id": i(at), **({} if value == MISSING else {"v": value})} for at, value in enumerate(VALUES)]
    collection.insert_many([raw(document) for document in documents])
    out = []
    for filter in queries():
        try:
            found = [decode(document.raw)["_id"] for document in collection.find(raw(filter), {"_id": 1})]
            out.append({"filter": filter, "ids": sorted(found, key=lambda id: int(id["$numberInt"]))})
        except pymongo.errors.OperationFailure as error:
            out.append({"filter": filter, "code": i(error.code), "errmsg": error.details["errmsg"]})
    return documents, out


def record_update(collection, value, update):
    document = {"_id": i(1), **({} if value == MISSING else {"v": value})}
    collection.delete_many({})
    collection.insert_one(raw(document))
    case = {"document": document, "update": update}
    try:
        reply = collection.database.command({"update": collection.name, "updates": [raw({"q": {}, "u": update})]})
        if "writeErrors" in reply:
            [error] = reply["writeErrors"]
            return {**case, "error": {"code": i(error["code"]), "message": error["errmsg"]}}
        [result] = collection.find()
        return {**case, "result": decode(result.raw), "modified": reply["nModified"] == 1}
    except pymongo.errors.OperationFailure as error:
        return {**case, "error": error_of(error)}


def main(uri):
    client = pymongo.MongoClient(uri)
    collection = client.engine_operators.get_collection("v", codec_options=OPTIONS.with_options(document_class=RawBSONDocument))
    here = Path(__file__).parent
    documents, answers = record_queries(collection)
    lines = ",\n".join(dumps(answer) for answer in answers)
    (here / "query" / "operators.json").write_text(f'[{{"documents": {dumps(documents)},\n"queries": [\n{lines}\n]}}]\n')
    thin(here / "query" / "operators.json")
    # What depends on the time can't be compared.
    timed = lambda update: "$currentDate" in update
    cases = [record_update(collection, value, update) for value, update in update_cases()]
    cases = [case for case in cases if "error" in case or not timed(case["update"])]
    of_elements = lambda case: next(iter(case["update"]), "") in ("$addToSet", "$pop", "$pull", "$pullAll", "$push")
    for name, wanted in (("operand_types", False), ("array_operand_types", True)):
        lines = [dumps(case) for case in cases if of_elements(case) == wanted]
        (here / "update" / f"{name}.json").write_text("[\n" + ",\n".join(lines) + "\n]\n")
        thin(here / "update" / f"{name}.json")
    client.drop_database("engine_operators")
    print(len(answers), len(cases))


if __name__ == "__main__":
    main(*sys.argv[1:])
