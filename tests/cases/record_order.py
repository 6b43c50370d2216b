"""Records the order that a real mongod gives values of every type, for the engine's unit tests.

    python3 record_order.py 'mongodb://127.0.0.1:27717/?directConnection=true'

`value/order.json` has the values, and for each of them a row that says of every other whether it is greater (`<`), equal
(`=`) or less (`>`).
"""

import sys
from pathlib import Path

import pymongo

from bsonjson import OPTIONS, RawBSONDocument, d, date, dec, decode, dumps, i, l, raw

OID = ["000000000000000000000000", "507f1f77bcf86cd799439011", "ffffffffffffffffffffffff"]
# The names of pointers differ in length: with those of one length, a server disagrees with itself.
NUMBERS = [i(0), i(1), i(-1), i(2**31 - 1), i(-(2**31)), l(0), l(2**53), l(2**53 + 1), l(-(2**53) - 1), l(2**63 - 1), l(-(2**63)), l(2**63 - 512)]
NUMBERS += [d(value) for value in (0.0, -0.0, 0.1, -0.1, 1.0, 2.0**53, 2.0**53 + 2, 2.0**63, -(2.0**63), 1e300, -1e300, 5e-324, -5e-324, 1.7976931348623157e308, 9.223372036854775e18)] + [d("NaN"), d("Infinity"), d("-Infinity")]
NUMBERS += [dec(text) for text in ("0", "-0", "0E+6111", "0E-6176", "1", "1.000", "0.1", "0.1000000000000000055511151231257827", "0.1000000000000000055511151231257828", "9007199254740993", "9007199254740992.5", "9223372036854775807", "9223372036854775807.5", "9223372036854775808",
    "1E+300", "1.000000000000000052504760255204421E+300", "1E-6176", "-1E-6176", "9.999999999999999999999999999999999E+6144", "4.940656458412465441765687928682213E-324", "4.940656458412465441765687928682214E-324", "NaN", "Infinity", "-Infinity")]
BINARIES = [{"$binary": {"base64": data, "subType": kind}} for data in ("", "AA==", "AQ==", "AQI=", "/w==") for kind in ("00", "02", "05", "80")]
VALUES = NUMBERS + BINARIES + [
    {"$minKey": 1}, {"$maxKey": 1}, None, {"$undefined": True}, True, False, date(0), date(-1), date(2**62), date(-(2**62)),
    *({"$oid": id} for id in OID), *({"$timestamp": {"t": t, "i": n}} for t, n in ((0, 0), (0, 1), (1, 0), (2**32 - 1, 2**32 - 1), (2**31, 0))),
    *("", "a", "A", "ab", "b", "\u00e9", "z", "a\u0000", "a\u0000b", "\U0001f600", "\uffff"), *({"$symbol": text} for text in ("", "a", "b", "a\u0000")),
    *({"$regularExpression": {"pattern": pattern, "options": options}} for pattern, options in (("", ""), ("a", ""), ("a", "i"), ("a", "m"), ("b", ""), ("ab", ""))),
    *({"$dbPointer": {"$ref": name, "$id": {"$oid": id}}} for name in ("", "a", "aa") for id in OID[:2]),
    *({"$code": text} for text in ("", "a", "b", "ab")), *({"$code": text, "$scope": scope} for text in ("", "a", "b") for scope in ({}, {"a": i(1)}, {"a": i(2)}, {"b": i(0)})),
    {}, {"": i(1)}, {"a": None}, {"a": i(1)}, {"a": l(1)}, {"a": d(1.5)}, {"a": "x"}, {"b": i(0)}, {"a": i(1), "b": i(1)}, {"b": i(1), "a": i(1)}, {"a": {"a": i(1)}}, {"a": []}, {"a": {"$minKey": 1}}, {"a": {"$maxKey": 1}}, {"a\u00e9": i(1)}, {"aa": i(1)},
    [], [None], [[]], [i(1)], [d(1.0)], [i(1), i(2)], [i(2)], ["a"], [{}], [{"a": i(1)}], [[i(1)]], [[i(1)], i(1)], [{"$maxKey": 1}], [{"$minKey": 1}], [{"$undefined": True}], [d("NaN")], [dec("NaN")], [True], [i(1), None],
]


def main(uri):
    client = pymongo.MongoClient(uri)
    collection = client.engine_order.get_collection("v", codec_options=OPTIONS.with_options(document_class=RawBSONDocument))
    collection.drop()
    collection.insert_one(raw({"_id": i(1), "all": VALUES}))
    each = lambda name, within: {"$map": {"input": "$all", "as": name, "in": within}}
    [found] = collection.aggregate([raw({"$project": {"rows": each("a", each("b", {"$cmp": ["$$a", "$$b"]}))}})])
    signs = {"-1": "<", "0": "=", "1": ">"}
    rows = ["".join(signs[sign["$numberInt"]] for sign in row) for row in decode(found.raw)["rows"]]
    path = Path(__file__).parent / "value" / "order.json"
    path.write_text(f'[{{"values": {dumps(VALUES)},\n"rows": [\n' + ",\n".join(map(dumps, rows)) + "\n]}]\n")
    client.drop_database("engine_order")
    print(len(VALUES))


if __name__ == "__main__":
    main(*sys.argv[1:])
