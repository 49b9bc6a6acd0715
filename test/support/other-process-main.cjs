/** See other-process.ts. Ends when its parent lets go of it. */
const sqlite3 = require('sqlite3');

const [, , file] = process.argv;
const connections = { run: new sqlite3.Database(file), read: new sqlite3.Database(file, sqlite3.OPEN_READONLY) };

process.on('message', ({ id, kind, sql, values }) => {
  connections[kind].all(sql, values, (error, rows = []) => process.send({ id, error: error?.message, rows }));
});
process.on('disconnect', () => process.exit());
process.send('ready');
