"""CRUD, indexes, transactions, change streams, tailing, GridFS, a DBRef, compression, users and diagnostics by pymongo.

    python3 python.py URI

The server takes test commands. ODM_TEST_USER_URI may name one, and a user that it lets in.
"""

import os
import sys
import threading
import time

import gridfs
import pymongo
from bson import Binary, Decimal128, Int64, Regex
from bson.dbref import DBRef
from pymongo import CursorType, DeleteOne, InsertOne, ReadPreference, ReplaceOne, UpdateMany, UpdateOne
from pymongo.errors import BulkWriteError, DuplicateKeyError, OperationFailure, PyMongoError
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


def streams(client, db):
    watched = db.create_collection("watched", changeStreamPreAndPostImages={"enabled": True})

    def told(stream, count):
        return [(e["operationType"], e.get("documentKey", {}).get("_id")) for e in (next(stream) for _ in range(count))]

    with watched.watch(max_await_time_ms=500, full_document="updateLookup", full_document_before_change="required") as stream:
        assert stream.try_next() is None
        watched.insert_one({"_id": 1, "n": 0})
        watched.update_one({"_id": 1}, {"$inc": {"n": 1}})
        assert next(stream)["fullDocument"] == {"_id": 1, "n": 0}
        token = stream.resume_token
        change = next(stream)
        assert change["updateDescription"]["updatedFields"] == {"n": 1}, change
        assert (change["fullDocument"]["n"], change["fullDocumentBeforeChange"]["n"]) == (1, 0)

        # The driver goes on by itself: after errors that say so, a lost connection and a lost cursor.
        for number, fault in enumerate([
            {"errorCode": 8, "errorLabels": ["ResumableChangeStreamError"]},
            {"closeConnection": True},
        ]):
            data = {"failCommands": ["getMore"], "appName": "clients", **fault}
            client.admin.command("configureFailPoint", "failCommand", mode={"times": 1}, data=data)
            watched.insert_one({"_id": 10 + number})
            assert told(stream, 1) == [("insert", 10 + number)], fault
        client.admin.command("configureFailPoint", "failCommand", mode="off")
        db.command("killCursors", "watched", cursors=[stream._cursor.cursor_id])
        watched.insert_one({"_id": 20})
        assert told(stream, 1) == [("insert", 20)]

    # By its token, a client that was gone goes on where it was.
    watched.delete_one({"_id": 20})
    with watched.watch(resume_after=token) as stream:
        assert told(stream, 5) == [("update", 1), *[("insert", id) for id in (10, 11, 20)], ("delete", 20)]
        deleted = stream.resume_token
    with watched.watch([{"$match": {"operationType": "delete"}}], start_after=deleted) as stream:
        watched.insert_one({"_id": 21})
        watched.delete_one({"_id": 21})
        assert told(stream, 1) == [("delete", 21)]
    fails(9, lambda: watched.watch(resume_after={"_data": "no token"}))

    with client.start_session() as session:
        watched.insert_one({"_id": 30}, session=session)
        time_of_insert = session.operation_time
        with session.start_transaction():
            watched.insert_one({"_id": 31}, session=session)
            db.other.insert_one({"_id": 32}, session=session)
    with db.watch(start_at_operation_time=time_of_insert) as stream:
        assert told(stream, 3) == [("insert", 30), ("insert", 31), ("insert", 32)]
    with client.watch() as stream:
        watched.drop()
        assert [e["ns"]["coll"] for e in [next(stream)]] == ["watched"]
    with db.other.watch() as stream:
        db.other.drop()
        assert [e["operationType"] for e in stream] == ["drop", "invalidate"] and not stream.alive


def tailing(db):
    queue = db.create_collection("queue", capped=True, size=100_000, max=10)
    queue.insert_many([{"_id": i} for i in range(3)])
    tail = queue.find(cursor_type=CursorType.TAILABLE_AWAIT).max_await_time_ms(3000)
    assert [next(tail)["_id"] for _ in range(3)] == [0, 1, 2]
    writer = threading.Timer(0.2, lambda: queue.insert_one({"_id": 3}))
    writer.start()
    began = time.monotonic()
    assert next(tail)["_id"] == 3
    assert 0.1 < time.monotonic() - began < 2.5, "it is told at once"
    writer.join()
    # Nothing comes: the client is told so in time, and the cursor goes on.
    patient = queue.find({"_id": {"$gt": 3}}, cursor_type=CursorType.TAILABLE_AWAIT).max_await_time_ms(100)
    assert next(patient, None) is None and patient.alive
    queue.insert_one({"_id": 4})
    assert next(patient)["_id"] == 4
    # What it would go on with has been overwritten.
    queue.insert_many([{"_id": i} for i in range(5, 30)])
    assert next(patient, None) is None and not patient.alive
    plain = queue.find(cursor_type=CursorType.TAILABLE)
    assert len(list(plain)) == 10 and plain.alive


def compression(uri):
    for name in ("snappy", "zlib", "zstd"):
        with pymongo.MongoClient(uri, compressors=name) as client:
            papers = client.clients_python.papers
            text = "All is in it, and many times. " * 40_000
            out = lambda: client.admin.command("serverStatus")["network"]["physicalBytesOut"]
            before = out()
            papers.replace_one({"_id": name}, {"text": text}, upsert=True)
            assert papers.find_one({"_id": name})["text"] == text
            assert out() - before < len(text) / 4, name


def users(uri):
    with pymongo.MongoClient(uri) as client:
        assert client.admin.command("connectionStatus")["authInfo"]["authenticatedUsers"]
        client.clients_python.users.insert_one({})
    nobody = uri.replace(uri.split("//")[1].split("@")[0] + "@", "")
    for wrong, code in ((uri.replace("@", "x@"), 18), (nobody, 13)):
        with pymongo.MongoClient(wrong) as client:
            try:
                client.clients_python.users.insert_one({})
                raise AssertionError("no error")
            except PyMongoError as error:
                assert error.code == code, error


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
    # The test wrote it by odm before it started this script.
    ours = gridfs.GridFSBucket(db.client.clients_rust)
    if list(ours.find({})):
        stream = ours.open_download_stream_by_name("ours.bin")
        assert stream.read() == bytes(i % 249 for i in range(2_500))
        assert (stream.chunk_size, stream.metadata) == (1000, {"kind": "test"})
    db.authors.insert_one({"_id": 7, "name": "Jane"})
    db.refs.insert_one({"_id": 1, "author": DBRef("authors", 7, db.name), "raw": Binary(b"\0\1")})
    found = db.refs.find_one({"author.$id": 7})
    assert db.dereference(found["author"])["name"] == "Jane"
    # In other orders and with another field, which no driver writes and every driver reads.
    db.refs.insert_one({"_id": 2, "author": {"$id": 7, "$db": db.name, "$ref": "authors", "rank": 1}})
    # The test wrote it by odm before it started this script.
    written = db.client.clients_rust.refs.find_one({"_id": 1})
    if written is not None:
        assert written["author"] == DBRef("authors", 7, db.name), written
        assert db.dereference(written["author"])["name"] == "Jane"
        assert written["untyped"] == DBRef("films", "x")


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
            streams(client, db)
            tailing(db)
            files(db)
            diagnostics(client, db)
    compression(uri)
    if "ODM_TEST_USER_URI" in os.environ:
        users(os.environ["ODM_TEST_USER_URI"])
    print("passed")


if __name__ == "__main__":
    main(sys.argv[1])
