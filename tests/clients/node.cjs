// CRUD, transactions, change streams, tailing, GridFS, a DBRef, compression and users by the Node driver: node node.cjs URI,
// with NODE_PATH naming its packages. The server takes test commands; ODM_TEST_USER_URI may name one, and its user.
'use strict';
const assert = require('node:assert/strict');
const { BSON, DBRef, GridFSBucket, Long, MongoClient, ObjectId } = require('mongodb');

async function crud(db) {
  const books = db.collection('books');
  await books.insertMany(Array.from({ length: 150 }, (_, i) => ({ _id: i, n: i, big: Long.fromNumber(i) })));
  await assert.rejects(books.insertOne({ _id: 1 }), { code: 11000 });
  const ids = [];
  for await (const book of books.find({ n: { $gte: 100 } }).sort({ n: -1 }).batchSize(9)) ids.push(book._id);
  assert.equal(ids.length, 50);
  assert.equal(ids[0], 149);
  const updated = await books.findOneAndUpdate({ _id: 1 }, { $set: { at: new Date(0) } }, { returnDocument: 'after' });
  assert.equal(updated.at.getTime(), 0);
  const bulk = await books.bulkWrite([
    { insertOne: { document: { _id: 'x' } } },
    { updateOne: { filter: { _id: 'y' }, update: { $set: { a: 1 } }, upsert: true } },
    { deleteMany: { filter: { n: { $lt: 10 } } } },
  ]);
  assert.deepEqual([bulk.insertedCount, bulk.upsertedCount, bulk.deletedCount], [1, 1, 10]);
  assert.equal(await books.countDocuments(), 142);
  const [sum] = await books.aggregate([{ $match: { n: { $lt: 13 } } }, { $group: { _id: null, n: { $sum: '$n' } } }]).toArray();
  assert.equal(sum.n, 33);
  assert.equal(await books.createIndex({ n: 1 }, { sparse: true }), 'n_1');
  assert.equal((await books.indexes()).length, 2);
}

async function transactions(client, db) {
  const accounts = db.collection('accounts');
  await accounts.insertMany([{ _id: 'a', n: 10 }, { _id: 'b', n: 0 }]);
  let runs = 0;
  await client.withSession((session) =>
    session.withTransaction(async () => {
      runs += 1;
      await accounts.updateOne({ _id: 'a' }, { $inc: { n: -4 } }, { session });
      // Somebody else is in the way the first time: the driver runs all of it again.
      if (runs === 1) await db.collection('other').insertOne({ _id: 'late' });
      await db.collection('other').updateOne({ _id: 'late' }, { $inc: { n: 1 } }, { session, upsert: true });
      await accounts.updateOne({ _id: 'b' }, { $inc: { n: 4 } }, { session });
    }));
  assert.deepEqual((await accounts.find().sort({ _id: 1 }).toArray()).map((it) => it.n), [6, 4]);
  const session = client.startSession();
  session.startTransaction();
  await accounts.deleteMany({}, { session });
  await session.abortTransaction();
  await session.endSession();
  assert.equal(await accounts.countDocuments(), 2);
}

async function streams(client, db) {
  const watched = db.collection('watched');
  const stream = watched.watch([], { fullDocument: 'updateLookup', maxAwaitTimeMS: 500 });
  assert.equal(await stream.tryNext(), null);
  await watched.insertOne({ _id: 1, n: 0 });
  await watched.updateOne({ _id: 1 }, { $inc: { n: 1 } });
  const first = await stream.next();
  assert.equal(first.operationType, 'insert');
  const second = await stream.next();
  assert.deepEqual([second.fullDocument.n, second.updateDescription.updatedFields], [1, { n: 1 }]);
  // The driver goes on by itself: after an error that says so, a lost connection and a lost cursor.
  const faults = [{ errorCode: 8, errorLabels: ['ResumableChangeStreamError'] }, { closeConnection: true }];
  for (const [number, fault] of faults.entries()) {
    const data = { failCommands: ['getMore'], appName: 'clients', ...fault };
    await client.db('admin').command({ configureFailPoint: 'failCommand', mode: { times: 1 }, data });
    await watched.insertOne({ _id: 10 + number });
    assert.equal((await stream.next()).documentKey._id, 10 + number);
  }
  await db.command({ killCursors: 'watched', cursors: [stream.cursor.id] });
  await watched.insertOne({ _id: 20 });
  assert.equal((await stream.next()).documentKey._id, 20);
  await stream.close();
  const resumed = db.watch([{ $match: { operationType: 'insert' } }], { resumeAfter: first._id });
  const ids = [];
  for await (const change of resumed) {
    ids.push(change.documentKey._id);
    if (ids.length === 3) break;
  }
  assert.deepEqual(ids, [10, 11, 20]);
  const last = watched.watch([], { startAfter: second._id });
  await watched.drop();
  const kinds = [];
  while (kinds.at(-1) !== 'invalidate') kinds.push((await last.next()).operationType);
  assert.deepEqual(kinds, ['insert', 'insert', 'insert', 'drop', 'invalidate']);
  await last.close();
}

async function tailing(db) {
  const queue = await db.createCollection('queue', { capped: true, size: 100000 });
  await queue.insertMany([{ _id: 0 }, { _id: 1 }]);
  const tail = queue.find({}, { tailable: true, awaitData: true, maxAwaitTimeMS: 3000 });
  assert.equal((await tail.next())._id, 0);
  assert.equal((await tail.next())._id, 1);
  const began = Date.now();
  setTimeout(() => queue.insertOne({ _id: 2 }), 200);
  assert.equal((await tail.next())._id, 2);
  assert.ok(Date.now() - began < 2500);
  await tail.close();
}

async function compression(uri) {
  for (const name of ['snappy', 'zlib', 'zstd']) {
    const client = await MongoClient.connect(uri, { compressors: [name] });
    const papers = client.db('clients_node').collection('papers');
    const text = 'All is in it, and many times. '.repeat(40000);
    const out = async () => Number((await client.db('admin').admin().serverStatus()).network.physicalBytesOut);
    const before = await out();
    await papers.replaceOne({ _id: name }, { text }, { upsert: true });
    assert.equal((await papers.findOne({ _id: name })).text, text);
    assert.ok((await out()) - before < text.length / 4, name);
    await client.close();
  }
}

async function users(uri) {
  const client = await MongoClient.connect(uri);
  const status = await client.db('admin').command({ connectionStatus: 1 });
  assert.equal(status.authInfo.authenticatedUsers.length, 1);
  await client.close();
  await assert.rejects(MongoClient.connect(uri.replace('@', 'x@')), { code: 18 });
}

async function files(db) {
  const bucket = new GridFSBucket(db, { chunkSizeBytes: 1000 });
  const content = Buffer.from(Array.from({ length: 4321 }, (_, i) => i % 253));
  const upload = bucket.openUploadStream('kept.bin', { metadata: { kind: 'test' } });
  await new Promise((done, failed) => upload.on('finish', done).on('error', failed).end(content));
  const parts = [];
  for await (const part of bucket.openDownloadStream(upload.id)) parts.push(part);
  assert.ok(Buffer.concat(parts).equals(content));
  await bucket.rename(upload.id, 'renamed.bin');
  const gone = bucket.openUploadStream('gone.bin');
  await new Promise((done, failed) => gone.on('finish', done).on('error', failed).end(content));
  await bucket.delete(gone.id);
  assert.deepEqual((await bucket.find().toArray()).map((it) => it.filename), ['renamed.bin']);
  // The test wrote it by odm before it started this script.
  const ours = new GridFSBucket(db.client.db('clients_rust'));
  for (const file of await ours.find().toArray()) {
    const read = [];
    for await (const part of ours.openDownloadStream(file._id)) read.push(part);
    assert.ok(Buffer.concat(read).equals(Buffer.from(Array.from({ length: 2500 }, (_, i) => i % 249))));
    assert.deepEqual([file.filename, file.chunkSize, file.metadata], ['ours.bin', 1000, { kind: 'test' }]);
  }
  await db.collection('refs').insertOne({ _id: 1, author: new DBRef('authors', new ObjectId('6565656565656565656565ff')) });
  const found = await db.collection('refs').findOne({ 'author.$id': new ObjectId('6565656565656565656565ff') });
  assert.equal(found.author.collection, 'authors');
  await db.collection('refs').insertOne({ _id: 2, author: { $id: 7, $db: 'clients_node', $ref: 'authors', rank: 1 } });
  // The test wrote it by odm before it started this script.
  const written = await db.client.db('clients_rust').collection('refs').findOne({ _id: 1 });
  if (written) {
    assert.ok(written.author instanceof DBRef && written.untyped instanceof DBRef);
    assert.deepEqual([written.author.collection, written.author.oid], ['authors', 7]);
    assert.deepEqual([written.untyped.collection, written.untyped.oid], ['films', 'x']);
    const bytes = BSON.serialize({ author: new DBRef('authors', 7, written.author.db) });
    assert.deepEqual(BSON.serialize({ author: written.author }), bytes);
  }
}

async function main(uri) {
  const client = await MongoClient.connect(uri, { compressors: ['zlib'], appName: 'clients' });
  try {
    const db = client.db('clients_node');
    await db.dropDatabase();
    await crud(db);
    await transactions(client, db);
    await streams(client, db);
    await tailing(db);
    await files(db);
    assert.equal((await db.admin().serverStatus()).repl.isWritablePrimary, true);
    assert.ok((await db.listCollections().toArray()).some((it) => it.name === 'books'));
    assert.ok((await db.admin().listDatabases()).databases.some((it) => it.name === 'clients_node'));
  } finally {
    await client.close();
  }
  await compression(uri);
  if (process.env.ODM_TEST_USER_URI) await users(process.env.ODM_TEST_USER_URI);
  console.log('passed');
  process.exit(0);
}

main(process.argv[2]).catch((error) => {
  console.error(error);
  process.exit(1);
});
