/** `yardgraph backup`, `restore` and `check` on a SQLite file. */
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { connectDatabase } from '../../../src/store/database.ts';
import { runCommand } from '../../support/command.ts';
import { useTestDatabase } from '../../support/database.ts';
import { byEffort } from '../../support/effort.ts';
import { createRandom } from '../../support/random.ts';
import { startService } from '../../support/service.ts';

const database = useTestDatabase();
let path = '';
let folder = '';
beforeEach(() => {
  path = database.url.replace('sqlite:', '');
  folder = join(dirname(path), 'backups');
  mkdirSync(folder);
});

const run = (...command: string[]) => runCommand({ DATABASE_URL: database.url }, ...command);

async function inDatabase(sql: string, at = path) {
  const { run, close } = await connectDatabase(`sqlite:${at}`);
  return run(sql).finally(close);
}

async function backUp(...options: string[]): Promise<string> {
  const { code, out, err } = await run('backup', folder, ...options);
  expect([code, err]).toEqual([0, `database: ${path}`]);
  return out.replace(/: complete[\s\S]*/, '');
}

const seed = Number(process.env.BACKUP_SEED ?? Date.now());
const backups = byEffort({ small: 5, long: 50 });

test(`${backups} backups during random writes each restore a state that was acknowledged (seed ${seed})`, async () => {
  const random = createRandom(seed);
  const service = await startService({ DATABASE_URL: database.url });
  const records = new Map<string, string[]>();
  const states: string[] = [];
  let isOver = false;
  const write = async (name: string) => {
    const id = random.pick([...records.keys()]);
    const keep = (record: Record<string, string>) =>
      records.set(`${record.id}`, [`${record.id}`, name, `${record.updatedAt}`]);
    if (!id || (records.size < 60 && random.chance(0.5))) {
      for (const record of await service.create('/projects', ...Array(1 + random.integer(3)).fill({ name })))
        keep(record);
    } else if (random.chance(0.6)) keep((await service.patch(`/projects/${id}`, { name })).body);
    else {
      await service.data(`mutation { deleteProjects(ids: ["${id}"]) { id } }`);
      records.delete(id);
    }
  };
  const writing = (async () => {
    for (; !isOver; await write(`${states.length}`)) states.push(JSON.stringify([...records.values()].toSorted()));
  })();
  const restored: { earliest: number; latest: number; state: string }[] = [];
  for (let index = 0; index < backups; index += 1) {
    const earliest = states.length - 1;
    const file = await backUp();
    // The next write may be stored, too, and not be acknowledged yet.
    const latest = states.length;
    expect((await runCommand({ DATABASE_URL: `${database.url}.${index}` }, 'restore', file)).code).toBe(0);
    const rows = await inDatabase('select id, name, updated_at from projects', `${path}.${index}`);
    restored.push({ earliest, latest, state: JSON.stringify(rows.map((row) => Object.values(row)).toSorted()) });
  }
  isOver = true;
  await writing;
  await service.stop();

  for (const { earliest, latest, state } of restored) expect(states.slice(earliest, latest + 1)).toContain(state);
  if (backups > 5) console.log(`${states.length} writes during ${backups} backups`);
}, 600_000);

test('--keep removes older backups of the database, and no other file', async () => {
  const [oldest, old] = ['yardgraph-2025-01-10T03-00-00.000Z.db', 'yardgraph-2025-01-11T03-00-00.000Z.db'];
  const others = ['yardgraph.db', 'yardgraph-old.db', oldest.replace('yardgraph', 'otheryard'), `${oldest}.gz`];
  for (const name of [...others, oldest, old]) writeFileSync(join(folder, name), '');

  const latest = await backUp('--keep', '2');

  expect(readdirSync(folder).toSorted()).toEqual([...others, old, latest.slice(folder.length + 1)].toSorted());
  expect((statSync(latest).mode & 0o777).toString(8)).toBe('600');
  expect((await run('backup', folder, '--keep', '0')).err).toBe('--keep: expected a number of at least 1');
  const { err } = await runCommand({ DATABASE_URL: 'postgres://localhost/yardgraph' }, 'backup', folder);
  expect(err).toBe('only for SQLite: for Postgres, see docs/production.md#backups');
});

test('a copy with problems is not kept, and nothing is removed for it', async () => {
  const kept = await backUp();
  await inDatabase("insert into labels (workspace_id, id, created_at, updated_at) values (1, 'label_x', '', '')");
  const err = `database: ${path}\ndefault: Label label_x: it has no change in the log`;

  const refused = await run('backup', folder, '--keep', '1');

  expect(refused).toEqual({ code: 1, out: '', err: `${err}\nthe copy has problems: nothing was changed` });
  expect(readdirSync(folder).map((name) => join(folder, name))).toEqual([kept]);
  expect(await run('check')).toEqual({ code: 2, out: '', err });
});

test('restore --overwrite replaces the database, which is kept under another name, unless it is in use', async () => {
  const file = await backUp();
  await inDatabase("update workspaces set name = 'later'");
  const service = await startService({ DATABASE_URL: database.url });
  expect((await run('restore', file, '--overwrite')).err).toContain(`${path} is in use, or damaged: stop the service`);
  await service.stop();

  const { code, out } = await run('restore', file, '--overwrite');

  const [, renamed] = /^the replaced database is now (.*)$/m.exec(out) ?? [];
  const first = 'select name from workspaces where number = 1';
  const names = [...(await inDatabase(first)), ...(await inDatabase(first, renamed))].map(({ name }) => name);
  expect([code, names]).toEqual([0, ['default', 'later']]);
  expect(await run('check')).toEqual({ code: 0, out: 'no problems', err: `database: ${path}` });
});

test('restore refuses to overwrite unasked, and what is no sound backup, and changes nothing', async () => {
  const file = await backUp();
  writeFileSync(join(folder, 'damaged'), readFileSync(file).fill(7, 40_960, 45_056));
  writeFileSync(join(folder, 'text'), 'x'.repeat(999));
  writeFileSync(join(folder, 'empty'), '');
  writeFileSync(`${join(folder, 'used')}-wal`, '');
  const contents = () => ['', 'backups'].map((name) => readdirSync(join(dirname(path), name)));
  const before = [contents(), readFileSync(path, 'base64')];

  for (const [name, message] of [
    ['damaged', /file: .*|SQLITE_CORRUPT/s],
    ['text', /SQLITE_NOTADB/],
    ['empty', /empty has no tables of Yardgraph/],
    ['used', /used is in use, as .*used-wal shows: restore a backup/],
    ['none', /ENOENT: no such file/],
  ] as const) {
    const { code, err } = await run('restore', join(folder, name), '--overwrite');
    expect([name, code, [contents(), readFileSync(path, 'base64')]]).toEqual([name, 1, before]);
    expect(err).toMatch(message);
  }
  expect((await run('restore', file)).err).toBe(`${path} exists: --overwrite replaces it, and keeps it renamed`);
});
