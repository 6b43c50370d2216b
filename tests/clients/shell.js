// What people type into mongosh, which runs it: mongosh URI --quiet --norc --file shell.js
const assert = require('node:assert/strict');
const shop = db.getSiblingDB('clients_shell');
shop.dropDatabase();
shop.books.insertMany([{ _id: 1, title: 'Emma' }, { _id: 2, title: 'Persuasion' }]);
assert.equal(shop.books.find({ title: /^em/i }).toArray()[0]._id, 1);
assert.equal(shop.books.countDocuments(), 2);
assert.equal(shop.books.updateOne({ _id: 1 }, { $set: { year: 1815 } }).modifiedCount, 1);
shop.books.createIndex({ year: 1 });
assert.equal(shop.books.getIndexes().map((it) => it.name).join(), '_id_,year_1');
assert.equal(shop.books.find({ year: 1815 }).explain().queryPlanner.winningPlan.inputStage.stage, 'IXSCAN');
const session = db.getMongo().startSession();
session.startTransaction();
session.getDatabase('clients_shell').books.deleteOne({ _id: 1 });
assert.equal(shop.books.countDocuments(), 2);
session.commitTransaction();
session.endSession();
assert.equal(shop.books.countDocuments(), 1);
shop.createCollection('watched');
let stream = shop.watched.watch([], { maxAwaitTimeMS: 500 });
shop.watched.insertMany([{ _id: 1 }, { _id: 2 }]);
const next = () => {
  for (let tries = 0; tries < 20; tries += 1) {
    const change = stream.tryNext();
    if (change) return change;
  }
  throw new Error('nothing was told');
};
const first = next();
assert.equal(first.documentKey._id, 1);
stream.close();
stream = shop.watch([], { resumeAfter: first._id });
assert.equal(next().documentKey._id, 2);
stream.close();
shop.createCollection('queue', { capped: true, size: 4096 });
shop.queue.insertOne({ _id: 1 });
const tail = shop.queue.find().tailable();
assert.equal(tail.tryNext()._id, 1);
shop.queue.insertOne({ _id: 2 });
assert.equal(tail.tryNext()._id, 2);
tail.close();
if (process.env.ODM_TEST_USER_URI) {
  const known = new Mongo(process.env.ODM_TEST_USER_URI);
  assert.equal(known.getDB('admin').runCommand({ connectionStatus: 1 }).authInfo.authenticatedUsers.length, 1);
  let refused;
  try {
    new Mongo(process.env.ODM_TEST_USER_URI.replace('@', 'x@')).getDB('admin').runCommand({ listDatabases: 1 });
  } catch (error) {
    refused = error;
  }
  assert.match(String(refused), /uthentication/);
}
shop.createView('titles', 'books', [{ $project: { title: 1 } }]);
assert.equal(shop.getCollectionNames().sort().join(), 'books,queue,system.views,titles,watched');
assert.equal(shop.stats().collections >= 1, true);
assert.equal(db.hello().isWritablePrimary, true);
assert.equal(db.serverStatus().ok, 1);
assert.equal(Array.isArray(db.currentOp().inprog), true);
assert.equal(rs.status().members[0].stateStr, 'PRIMARY');
assert.equal(rs.conf().members.length, 1);
assert.equal(db.adminCommand({ listCommands: 1 }).ok, 1);
assert.equal(db.getProfilingStatus().was, 0);
assert.equal(db.version().startsWith('6.0'), true);
assert.equal(db.hostInfo().ok, 1);
// What collections and indexes tell, also to Compass.
const stats = shop.books.stats({ scale: 1 });
assert.equal(stats.count, 1);
assert.equal(Object.keys(stats.indexSizes).sort().join(), '_id_,year_1');
assert.equal(shop.books.totalSize(), stats.totalSize);
assert.equal(shop.books.dataSize(), stats.size);
assert.equal(shop.books.storageSize() > 0 && shop.books.totalIndexSize() > 0, true);
assert.equal(shop.books.latencyStats({ histograms: true })[0].latencyStats.reads.ops > 0, true);
const uses = shop.books.aggregate([{ $indexStats: {} }]).toArray();
assert.equal(uses.find((it) => it.name === 'year_1').accesses.since instanceof Date, true);
assert.equal(shop.books.aggregate([{ $collStats: { count: {} } }]).toArray()[0].count, 1);
assert.equal(shop.books.validate({ full: true }).valid, true);
assert.equal(shop.stats({ freeStorage: 1 }).totalFreeStorageSize, 0);
assert.equal(shop.books.getPlanCache().list().length, 0);
shop.books.getPlanCache().clear();
assert.equal(db.adminCommand({ top: 1 }).totals['clients_shell.books'].total.count > 0, true);
assert.equal(db.adminCommand({ connectionStatus: 1, showPrivileges: true }).ok, 1);
assert.equal(shop.books.aggregate([{ $sample: { size: 1 } }]).toArray().length, 1);
assert.equal(db.currentOp(true).ok, 1);
assert.equal(db.killOp(1).ok, 1);
assert.equal(shop.getUsers().users.length, 0);
assert.equal(shop.getRoles().roles.length, 0);
assert.equal(shop.getUser('nobody'), null);
const refused = (run, words) => {
  let message = '';
  try {
    run();
  } catch (error) {
    message = error.message;
  }
  assert.match(message, words);
};
refused(() => shop.books.reIndex(), /standalone/);
refused(() => rs.initiate(), /already initialized/);
refused(() => db.fsyncLock(), /lock/);
refused(() => db.createUser({ user: 'x', pwd: 'y', roles: [] }), /no such command/);
show('users');
show('roles');
show('logs');
show('dbs');
use('clients_shell');
show('collections');
print('passed');
