"""CRUD, indexes, transactions, GridFS, a DBRef and diagnostics by pymongo.

    python3 python.py URI
"""

import sys

import gridfs
import pymongo
from bson import Binary, Decimal128, Int64, Regex
from bson.dbref import DBRef
from pymongo import DeleteOne, InsertOne, ReadPreference, ReplaceOne, UpdateMany, UpdateOne
from pymongo.errors import BulkWriteError, DuplicateKeyError, OperationFailure
from pymongo.read_concern import ReadConcern
from pymongo.write_concern import WriteConcern


def fails(code, run):
    try:
        run()
    except OperationFailure as error:
        assert error.code == code, error.details
        return
    raise AssertionError(f"no error {code}")


def crud(db):
    books = db.books
    assert books.insert_one({"_id": 1, "title": "Emma", "tags": ["a"]}).inserted_id == 1
    assert books.insert_many([{"_id": i, "n": i} for i in range(2, 250)]).acknowledged
    fails(11000, lambda: books.insert_one({"_id": 1}))
    assert books.find_one({"title": Regex("^em", "i")})["_id"] == 1
    assert [b["_id"] for b in books.find({"n": {"$gt": 5}}).sort("n", -1).limit(3)] == [249, 248, 247]
    assert len(list(books.find(batch_size=7))) == 249
    assert books.update_many({"n": {"$lt": 10}}, {"$inc": {"n": Int64(1)}}).modified_count == 8
    found = books.find_one_and_update({"_id": 1}, {"$push": {"tags": "b"}}, return_document=True)
    assert found["tags"] == ["a", "b"]
    assert books.replace_one({"_id": "new"}, {"price": Decimal128("1.50")}, upsert=True).upserted_id == "new"
    assert books.delete_many({"n": {"$gte": 100}}).deleted_count == 150
    assert books.count_documents({}) == 100 and books.estimated_document_count() == 100
    assert books.distinct("tags") == ["a", "b"]
    sums = list(books.aggregate([{"$group": {"_id": {"$mod": ["$n", 2]}, "n": {"$sum": 1}}}, {"$sort": {"_id": 1}}]))
    assert [s["_id"] for s in sums] == [None, 0, 1], sums


def bulk(db):
    result = db.bulk.bulk_write([InsertOne({"_id": 1}), UpdateOne({"_id": 2}, {"$set": {"a": 1}}, upsert=True),
                                 ReplaceOne({"_id": 1}, {"a": 2}), UpdateMany({}, {"$inc": {"a": 1}}), DeleteOne({"_id": 2})])
    assert (result.inserted_count, result.modified_count, result.deleted_count) == (1, 3, 1), result.bulk_api_result
    assert result.upserted_ids == {1: 2}
    try:
        db.bulk.bulk_write([InsertOne({"_id": 1}), InsertOne({"_id": 3}), InsertOne({"_id": 3})], ordered=False)
        raise AssertionError("no error")
    except BulkWriteError as error:
        assert [e["index"] for e in error.details["writeErrors"]] == [0, 2]


def indexes(db):
    name = db.books.create_index([("title", 1)], unique=True, partialFilterExpression={"title": {"$exists": True}})
    assert set(db.books.index_information()) == {"_id_", name}
    try:
        db.books.insert_one({"title": "Emma"})
        raise AssertionError("no error")
    except DuplicateKeyError as error:
        assert error.details["keyPattern"] == {"title": 1}
    stage = db.books.find({"title": "Emma"}).explain()["queryPlanner"]["winningPlan"]
    assert stage["inputStage"]["stage"] == "IXSCAN"
    db.books.drop_index(name)
    db.create_collection("capped", capped=True, size=4096, max=2)
    db.capped.insert_many([{"_id": i} for i in range(5)])
    assert [d["_id"] for d in db.capped.find()] == [3, 4]
    assert "capped" in db.list_collection_names()


def transactions(client, db):
    accounts = db.accounts
    accounts.insert_many([{"_id": "a", "n": 10}, {"_id": "b", "n": 0}])

    def move(session):
        accounts.update_one({"_id": "a"}, {"$inc": {"n": -4}}, session=session)
        accounts.update_one({"_id": "b"}, {"$inc": {"n": 4}}, session=session)
        assert accounts.find_one({"_id": "b"})["n"] == 0

    with client.start_session() as session:
        session.with_transaction(move, ReadConcern("snapshot"), WriteConcern("majority"))
        assert accounts.find_one({"_id": "b"})["n"] == 4
        session.start_transaction()
        accounts.delete_many({}, session=session)
        session.abort_transaction()
        assert accounts.count_documents({}) == 2
        # Two in each other's way.
        with client.start_session() as other:
            session.start_transaction()
            other.start_transaction()
            accounts.update_one({"_id": "a"}, {"$inc": {"n": 1}}, session=session)
            try:
                accounts.update_one({"_id": "a"}, {"$inc": {"n": 1}}, session=other)
                raise AssertionError("no error")
            except OperationFailure as error:
                assert error.code == 112 and error.has_error_label("TransientTransactionError")
            session.commit_transaction()
        session.start_transaction()
        accounts.update_one({"_id": "a"}, {"$inc": {"n": 1}}, session=session)
        client.admin.command("killSessions", [session.session_id])
        fails(251, session.commit_transaction)
    with client.start_session(snapshot=True) as session:
        before = accounts.find_one({"_id": "a"}, session=session)["n"]
        accounts.update_one({"_id": "a"}, {"$inc": {"n": 1}})
        assert accounts.find_one({"_id": "a"}, session=session)["n"] == before
    with client.start_session(causal_consistency=True) as session:
        accounts.update_one({"_id": "a"}, {"$set": {"n": 0}}, session=session)
        secondary = db.get_collection("accounts", read_preference=ReadPreference.SECONDARY_PREFERRED)
        assert secondary.find_one({"_id": "a"}, session=session)["n"] == 0


def files(db):
    """What is left is read by another client."""
    bucket = gridfs.GridFSBucket(db, chunk_size_bytes=1000)
    content = bytes(i % 251 for i in range(10_500))
    file = bucket.upload_from_stream("kept.bin", content, metadata={"kind": "test"})
    assert bucket.open_download_stream(file).read() == content
    assert bucket.open_download_stream_by_name("kept.bin").read() == content
    gone = bucket.upload_from_stream("gone.bin", b"x" * 5000)
    bucket.delete(gone)
    bucket.rename(file, "renamed.bin")
    assert [f.filename for f in bucket.find({})] == ["renamed.bin"]
    assert db["fs.chunks"].count_documents({}) == 11
    db.authors.insert_one({"_id": 7, "name": "Jane"})
    db.refs.insert_one({"_id": 1, "author": DBRef("authors", 7, db.name), "raw": Binary(b"\0\1")})
    found = db.refs.find_one({"author.$id": 7})
    assert db.dereference(found["author"])["name"] == "Jane"


def diagnostics(client, db):
    status = client.admin.command("serverStatus")
    assert status["connections"]["current"] >= 1 and status["opcounters"]["insert"] > 200
    assert client.server_info()["versionArray"][:2] == [6, 0]
    assert client.admin.command("replSetGetStatus")["members"][0]["stateStr"] == "PRIMARY"
    assert client.admin.command("replSetGetConfig")["config"]["members"][0]["_id"] == 0
    commands = client.admin.command("listCommands")["commands"]
    assert commands["find"]["requiresAuth"] and not commands["hello"]["requiresAuth"]
    operations = client.admin.command("currentOp", **{"command.currentOp": {"$exists": True}})["inprog"]
    assert any(it["op"] == "command" and it["client"] for it in operations), operations
    stages = [{"$currentOp": {"allUsers": True}}, {"$match": {"ns": "admin.$cmd.aggregate"}}, {"$project": {"op": 1}}]
    assert {"op": "command"} in list(client.admin.aggregate(stages))
    assert db.command("profile", -1)["was"] == 0
    assert db.command("dbStats")["collections"] >= 5
    assert db.name in client.list_database_names()
    fails(13, lambda: db.command("replSetGetStatus"))
    fails(59, lambda: db.command("noSuchCommand"))


def main(uri):
    # With and without compression: the data of the second round stays.
    for options in ({"compressors": "zlib"}, {}):
        with pymongo.MongoClient(uri, appname="clients", **options) as client:
            client.drop_database("clients_python")
            db = client.clients_python
            crud(db)
            bulk(db)
            indexes(db)
            transactions(client, db)
            files(db)
            diagnostics(client, db)
    print("passed")


if __name__ == "__main__":
    main(sys.argv[1])
