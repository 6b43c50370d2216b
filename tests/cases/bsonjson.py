"""Values of every BSON type, as canonical extended JSON on one side and as bytes on the other.

pymongo reads undefined as null, symbols as strings and DBPointers as DBRefs, and writes none of them. Here they stay what
they are: a value is canonical extended JSON, and `encode` and `decode` make BSON of it and back.
"""

import json
import struct

import bson
from bson import json_util
from bson.codec_options import CodecOptions
from bson.datetime_ms import DatetimeConversion
from bson.raw_bson import RawBSONDocument
from bson.son import SON

CANONICAL = json_util.JSONOptions(
    json_mode=json_util.JSONMode.CANONICAL, document_class=SON, datetime_representation=json_util.DatetimeRepresentation.NUMBERLONG
)
OPTIONS = CodecOptions(document_class=SON, datetime_conversion=DatetimeConversion.DATETIME_MS, unicode_decode_error_handler="replace")


def cstring(text):
    return text.encode() + b"\0"


def string(text):
    encoded = cstring(text)
    return struct.pack("<i", len(encoded)) + encoded


def element(value):
    """Type byte and payload."""
    if isinstance(value, dict):
        if "$undefined" in value:
            return b"\x06", b""
        if "$date" in value:
            return b"\x09", struct.pack("<q", int(value["$date"]["$numberLong"]))
        if "$symbol" in value:
            return b"\x0e", string(value["$symbol"])
        if "$dbPointer" in value:
            pointer = value["$dbPointer"]
            return b"\x0c", string(pointer["$ref"]) + bytes.fromhex(pointer["$id"]["$oid"])
        if "$code" in value and "$scope" in value:
            body = string(value["$code"]) + encode(value["$scope"])
            return b"\x0f", struct.pack("<i", len(body) + 4) + body
        if len(value) > 2 or not any(name.startswith("$") for name in value) or next(iter(value)) not in WRAPPED:
            return b"\x03", encode(value)
    if isinstance(value, list):
        return b"\x04", encode({str(at): item for at, item in enumerate(value)})
    plain = json_util.object_hook(SON(value), CANONICAL) if isinstance(value, dict) else value
    raw = bson.encode({"v": plain}, codec_options=OPTIONS)[4:-1]
    return raw[:1], raw[3:]


WRAPPED = {
    "$numberInt", "$numberLong", "$numberDouble", "$numberDecimal", "$date", "$timestamp", "$oid", "$regularExpression",
    "$binary", "$minKey", "$maxKey", "$code",
}


def encode(document):
    body = b""
    for name, value in document.items():
        kind, payload = element(value)
        body += kind + cstring(name) + payload
    return struct.pack("<i", len(body) + 5) + body + b"\0"


def raw(document):
    return RawBSONDocument(encode(document), codec_options=OPTIONS.with_options(document_class=RawBSONDocument))


def skip(kind, data, at):
    """Where the value of this type ends."""
    size = lambda: struct.unpack_from("<i", data, at)[0]
    if kind in (0x01, 0x09, 0x11, 0x12):
        return at + 8
    if kind in (0x06, 0x0A, 0x7F, 0xFF):
        return at
    if kind in (0x02, 0x0D, 0x0E):
        return at + 4 + size()
    if kind in (0x03, 0x04, 0x0F):
        return at + size()
    if kind == 0x05:
        return at + 5 + size()
    if kind == 0x0B:
        return data.index(b"\0", data.index(b"\0", at) + 1) + 1
    return at + {0x07: 12, 0x08: 1, 0x0C: 16 + size() if kind == 0x0C else 0, 0x10: 4, 0x13: 16}[kind]


def decode(data):
    """The JSON of a document's bytes."""
    data, out, at = bytes(data), {}, 4
    while data[at]:
        kind = data[at]
        end = data.index(b"\0", at)
        name, start = data[at + 1 : end].decode(), end + 1
        at = skip(kind, data, start)
        out[name] = scalar(kind, data[start:at])
    return out


def scalar(kind, payload):
    if kind == 0x03:
        return decode(payload)
    if kind == 0x04:
        return list(decode(payload).values())
    if kind == 0x06:
        return {"$undefined": True}
    if kind == 0x0E:
        return {"$symbol": payload[4:-1].decode()}
    if kind == 0x0C:
        return {"$dbPointer": {"$ref": payload[4:-13].decode(), "$id": {"$oid": payload[-12:].hex()}}}
    if kind == 0x0F:
        size = struct.unpack_from("<i", payload, 4)[0]
        return {"$code": payload[8 : 7 + size].decode(), "$scope": decode(payload[8 + size :])}
    if kind == 0x09:
        return {"$date": {"$numberLong": str(struct.unpack("<q", payload)[0])}}
    if kind == 0x01 and payload[:6] == b"\0" * 6 and payload[6:8] == b"\xf8\xff":
        return {"$numberDouble": "NaN"}
    body = bytes([kind]) + b"v\0" + payload
    plain = bson.decode(struct.pack("<i", len(body) + 5) + body + b"\0", codec_options=OPTIONS)["v"]
    return json.loads(json_util.dumps(plain, json_options=CANONICAL))


def dumps(value):
    return json.dumps(value, ensure_ascii=True)


def i(value):
    return {"$numberInt": str(value)}


def l(value):
    return {"$numberLong": str(value)}


def d(value):
    return {"$numberDouble": value if isinstance(value, str) else repr(float(value))}


def dec(value):
    return {"$numberDecimal": str(value)}


def date(millis):
    return {"$date": l(millis)}
