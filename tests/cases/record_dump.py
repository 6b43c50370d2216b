"""Records a dump of a real MongoDB 6.0.5, in the files of `mongodump`, for `odm/tests/dump.rs`.

    python3 tests/cases/record_dump.py mongodb://127.0.0.1:27017/?directConnection=true

`mongodump` itself writes options in no certain order; here they keep the server's. It uses the database `shop`.
"""

import json
import shutil
import sys
import urllib.parse
from datetime import datetime, timezone
from decimal import Decimal
from pathlib import Path

from bson import (
    Binary, Code, DBRef, Decimal128, Int64, MaxKey, MinKey, ObjectId, Regex, Timestamp, json_util,
)
from bson.raw_bson import RawBSONDocument
from pymongo import MongoClient

FOLDER = Path(__file__).resolve().parents[2] / "odm" / "tests" / "dump"
DATABASE = "shop"

EVERYTHING = {
    "_id": ObjectId("5f9d88b1e1a2c3d4e5f60718"),
    "double": 1.5, "whole": 2.0, "small": 5e-324, "string": "é\"\\\n", "document": {"b": 1, "a": {}},
    "array": [1, [], {}], "binary": Binary(b"\x01\x02", 0), "old": Binary(b"\x01", 2), "own": Binary(b"", 128),
    "uuid": Binary(bytes(range(16)), 4), "oid": ObjectId("5f9d88b1e1a2c3d4e5f60719"), "true": True,
    "date": datetime(2020, 2, 29, 12, tzinfo=timezone.utc), "null": None, "regex": Regex("^a.", "im"),
    "code": Code("f()"), "scoped": Code("f()", {"b": 1, "a": 2}), "int": 7, "time": Timestamp(4, 1),
    "long": Int64(7), "decimal": Decimal128(Decimal("1.10")), "nan": float("nan"), "min": MinKey(), "max": MaxKey(),
    "ref": DBRef("books", 1), "nested": {"unset": Timestamp(0, 0)},
}


def fill(db):
    db.books.insert_many([
        {"_id": 3, "title": "Emma", "year": 1815, "tags": ["novel", "love"], "isbn": "a", "at": [13.4, 52.5]},
        {"_id": 1, "title": "Été", "year": 1980, "tags": [], "isbn": "b", "at": [2.3, 48.9]},
        {"_id": 2, "title": "emma", "year": Int64(2001), "isbn": "c"},
    ])
    db.books.create_index([("isbn", 1)], unique=True)
    db.books.create_index([("year", -1), ("title", 1)], name="by_year")
    db.books.create_index([("title", "text"), ("tags", "text")], weights={"title": 5}, default_language="french")
    db.books.create_index([("at", "2dsphere")])
    db.books.create_index([("flat", "2d")], min=-10, max=10)
    db.books.create_index([("$**", 1)], wildcardProjection={"tags": 1})
    db.books.create_index([("title", "hashed")])
    db.books.create_index([("expires", 1)], expireAfterSeconds=60, hidden=True)
    db.books.create_index([("tags", 1)], sparse=True)
    db.books.create_index([("year", 1)], partialFilterExpression={"year": {"$gt": 1900}}, unique=True)

    db.create_collection(
        "people", validator={"age": {"$gte": 0}}, validationLevel="moderate", validationAction="error",
        collation={"locale": "en", "strength": 2}, changeStreamPreAndPostImages={"enabled": True},
    )
    db.command("insert", "people", documents=[{"_id": "a", "age": -1}], bypassDocumentValidation=True)
    db.people.insert_one({"_id": "b", "age": 1, "name": "Ann"})
    db.people.create_index([("name", 1)], unique=True)
    db.people.create_index([("age", 1)], collation={"locale": "simple"})

    db.create_collection("log", capped=True, size=4096, max=3)
    db.log.insert_many([{"_id": n} for n in (5, 4, 3, 2, 1)])
    db.create_collection("empty")
    db.types.insert_one(EVERYTHING)
    db["café/bar: 50%"].insert_one({"_id": 1})
    db.command("create", "adults", viewOn="people", pipeline=[{"$match": {"age": {"$gte": 18}}}],
               collation={"locale": "en", "strength": 2})
    db.command("create", "aaa", viewOn="novels", pipeline=[])
    db.command("create", "novels", viewOn="books", pipeline=[{"$match": {"tags": "novel"}}, {"$unset": "tags"}])


def text(document):
    options = json_util.CANONICAL_JSON_OPTIONS
    return json.dumps(json.loads(json_util.dumps(document, json_options=options)), separators=(",", ":"),
                      ensure_ascii=False)


def main(uri):
    client = MongoClient(uri)
    client.drop_database(DATABASE)
    db = client[DATABASE]
    fill(db)
    shutil.rmtree(FOLDER, ignore_errors=True)
    (FOLDER / DATABASE).mkdir(parents=True)
    for row in db.command("listCollections")["cursor"]["firstBatch"]:
        name = row["name"]
        if name == "system.views":
            continue
        path = FOLDER / DATABASE / urllib.parse.quote(name, safe="-_.~&+=@")
        metadata = {"options": row["options"], "indexes": []}
        if row["type"] == "collection":
            metadata["indexes"] = db.command("listIndexes", name)["cursor"]["firstBatch"]
            metadata["uuid"] = row["info"]["uuid"].hex()
            raw = client.get_database(DATABASE, client.codec_options.with_options(document_class=RawBSONDocument))
            documents = b"".join(document.raw for document in raw[name].find())
            Path(f"{path}.bson").write_bytes(documents)
        metadata |= {"collectionName": name, "type": row["type"]}
        Path(f"{path}.metadata.json").write_text(text(metadata))
    (FOLDER / "prelude.json").write_text(text({"ServerVersion": "6.0.5", "ToolVersion": "100.9.0"}))
    client.drop_database(DATABASE)


main(sys.argv[1])
