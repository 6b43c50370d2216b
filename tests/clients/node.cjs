// CRUD, transactions, GridFS and a DBRef by the Node driver: node node.cjs URI, with NODE_PATH naming its packages.
'use strict';
const assert = require('node:assert/strict');
const { DBRef, GridFSBucket, Long, MongoClient, ObjectId } = require('mongodb');

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
  await db.collection('refs').insertOne({ _id: 1, author: new DBRef('authors', new ObjectId('6565656565656565656565ff')) });
  const found = await db.collection('refs').findOne({ 'author.$id': new ObjectId('6565656565656565656565ff') });
  assert.equal(found.author.collection, 'authors');
}

async function main(uri) {
  const client = await MongoClient.connect(uri, { compressors: ['zlib'] });
  try {
    const db = client.db('clients_node');
    await db.dropDatabase();
    await crud(db);
    await transactions(client, db);
    await files(db);
    assert.equal((await db.admin().serverStatus()).repl.isWritablePrimary, true);
    assert.ok((await db.listCollections().toArray()).some((it) => it.name === 'books'));
    assert.ok((await db.admin().listDatabases()).databases.some((it) => it.name === 'clients_node'));
  } finally {
    await client.close();
  }
  console.log('passed');
}

main(process.argv[2]).catch((error) => {
  console.error(error);
  process.exit(1);
});
