import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { formatBase58 } from '../../src/keys/base58.js';
import { recordIntents } from '../../src/ledger/intents/record-intent.js';
import { openTestDatabase, type TestDatabase } from '../support/databases/databases.js';
import { insertLogins, move } from '../support/databases/ledger-rows.js';
import { temporaryFolder } from '../support/runner/temporary-folder.js';
import { runCommand } from './support/run-command.js';
import { main } from './support/start-command.js';

const before = { ...process.env };

afterEach(() => {
  process.env = { ...before };
});

const command = (...args: string[]) => runCommand(args);

const idOf = (number: number): string => formatBase58(new Uint8Array(32).fill(number));
const destination = 'E8otxw1CVX9bfyddKu3ZB3BVLa4VVF9J7CTPdnUwT9jR';

/** Adds five payments, a minute apart, and a login. One payment is dead and one is expired. */
async function fill(test: TestDatabase): Promise<void> {
  const { db } = test;
  const money = { amount: '4.50', currency: 'usd', destination };
  const browser = new Uint8Array(32);
  const times = { watchFirstMs: 0, watchMs: 0 };
  await test.setTime('2026-03-04T05:06:07Z');
  for (let number = 1; number <= 5; number += 1) {
    const metadata = { order: number };
    const terms = { ...money, description: undefined, login: false, resource: undefined, metadata };
    await recordIntents(db, [{ id: idOf(number), terms, browser }], times);
    await test.advance(60_000);
  }
  await recordIntents(db, [{ id: idOf(6), terms: undefined, browser }], times);
  await move(db, idOf(2), ['submit']);
  await test.advance(60_000);
  await move(db, idOf(2), ['bury'], { attempts: 15, hook: 'onPaid', error: 'Error: no \x1b[31mstock' });
  await move(db, idOf(3), ['expire', 'endWatch']);
}

describe('the command ledger', () => {
  let test: TestDatabase;

  beforeAll(async () => {
    test = await openTestDatabase('postgres', { fakeTime: true });
    await fill(test);
    await test.close();
  });

  beforeEach(() => {
    process.env.INTENT_DATABASE_URL = test.url;
  });

  it('list shows intents newest first, page by page, with errors', async () => {
    const first = await command('ledger', 'list', '--limit', '3');
    expect(first).toMatchObject({ code: 0, error: '' });
    const [head, ...rest] = first.out.split('\n');
    expect(head).toMatch(/^STATE +CREATED \(UTC\) +AMOUNT +INTENT$/);
    expect(rest.slice(0, 3)).toEqual([
      `created    2026-03-04 05:11:07  login              ${idOf(6)}`,
      `created    2026-03-04 05:10:07  4.50 usd           ${idOf(5)}`,
      `created    2026-03-04 05:09:07  4.50 usd           ${idOf(4)}`,
    ]);
    const more = /^More: npx express-intents (.*)$/m.exec(first.out)?.[1]?.split(' ') ?? [];
    const second = await command(...more);
    expect(second.out.split('\n').slice(1)).toEqual([
      `expired    2026-03-04 05:08:07  4.50 usd           ${idOf(3)}`,
      `dead       2026-03-04 05:07:07  4.50 usd           ${idOf(2)}`,
      '           onPaid has failed 15 times: Error: no \\u001b[31mstock',
      `created    2026-03-04 05:06:07  4.50 usd           ${idOf(1)}`,
    ]);
  });

  it.each([
    [['--kind', 'payments'], 'The kind must be payment or login.'],
    [['--metadata', 'order=42'], `--metadata must be JSON, such as '{"order":42}'.`],
    [['--from', 'yesterday'], '--from must be a date or time'],
  ])('list rejects %j', async (flags, message) => {
    const { code, out, error } = await command('ledger', 'list', ...flags);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(error).toContain(message);
  });

  it('list prints JSON with --json and escapes unprintable characters', async () => {
    const { out } = await command('ledger', 'list', '--json', '--limit', '5');
    expect(out).not.toContain('\u001b');
    const page = JSON.parse(out);
    expect(page.intents).toHaveLength(5);
    expect(page.intents[4]).toMatchObject({ id: idOf(2), amount: '4.50', metadata: { order: 2 }, state: 'dead' });
    expect(page.intents[4].lastError).toBe('Error: no \u001b[31mstock');
    expect(page.next).toEqual(expect.any(String));
  });

  it('show prints one intent with its history', async () => {
    expect((await command('ledger', 'show', idOf(2))).out.split('\n')).toEqual([
      `intent       ${idOf(2)}`,
      'kind         payment',
      'state        dead',
      'last error   onPaid has failed 15 times: Error: no \\u001b[31mstock',
      'amount       4.50 usd',
      `destination  ${destination}`,
      'metadata     {"order":2}',
      '',
      '2026-03-04 05:07:07  created',
      '2026-03-04 05:11:07  created -> submitted',
      '2026-03-04 05:12:07  submitted -> dead, after 15 failed hook calls',
      '',
      `To retry it: npx express-intents ledger retry ${idOf(2)}`,
    ]);
    const json = JSON.parse((await command('ledger', 'show', '--json', idOf(2))).out);
    expect(json).toMatchObject({
      intent: { id: idOf(2) },
      history: [{ to: 'submitted' }, { to: 'dead', attempts: 15 }],
    });
  });

  it('retry retries a dead letter once, and says who continues', async () => {
    const retried = await command('ledger', 'retry', idOf(2));
    const out = 'A running site will soon poll it, and call onPaid again if its status requires that.';
    expect(retried).toEqual({ code: 0, out, error: '' });
    expect((await command('ledger', 'show', idOf(2))).out).toMatch(/^state {8}submitted$/m);
    const again = await command('ledger', 'retry', idOf(2));
    expect(again).toEqual({
      code: 1,
      out: '',
      error: 'There is nothing to retry: the intent is in the state submitted.',
    });
    expect(await command('ledger', 'retry', idOf(3))).toMatchObject({
      code: 0,
      out: 'A running site will soon poll it again.',
    });
  });

  it.each(['show', 'retry'])('%s reports an unknown intent', async (name) => {
    expect(await command('ledger', name, idOf(9))).toEqual({
      code: 1,
      out: '',
      error: `There is no intent ${idOf(9)} in the ledger at INTENT_DATABASE_URL. To list them: npx express-intents ledger list`,
    });
  });

  it('migrate reports its migrations and the database, without the password', async () => {
    const fresh = await openTestDatabase('postgres', { migrated: false });
    process.env.INTENT_DATABASE_URL = fresh.url.replace('postgres@', 'postgres:hunter2@');
    const unmigrated = await command('ledger', 'list');
    expect(unmigrated).toMatchObject({ code: 1, error: expect.stringContaining('npx express-intents migrate') });
    const first = await command('migrate');
    expect(first).toMatchObject({ code: 0, error: '' });
    expect(first.out).toMatch(
      /^applied migration 1 \(intents [\da-f]{8}\)\n(?:applied migration \d+ \(\w+\)\n)*The ledger in Postgres at \/.*\/test_\d+ is up to date\.$/,
    );
    expect(first.out).not.toContain('hunter2');
    expect((await command('migrate')).out).toMatch(/^The ledger in .* was already up to date\.$/);
    expect(await command('ledger', 'list')).toEqual({ code: 0, out: 'The ledger has no intents.', error: '' });
  });
});

it('ledger and migrate accept a folder, also in production, and name the fix while the site has it open', async () => {
  const test = await openTestDatabase('embedded', { fakeTime: true });
  await fill(test);
  process.env.INTENT_DATABASE_URL = test.url;
  process.env.NODE_ENV = 'production';
  for (const args of [['ledger', 'list'], ['ledger', 'retry', idOf(1)], ['migrate']]) {
    const { code, out, error } = await command(...args);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(error).toContain(`Another process, probably the site, has the folder ${test.url} open`);
    const inSite = args[1] === undefined ? '' : ` Or call router.intents.${args[1]} in the site.`;
    expect(error.endsWith(`\nStop the site, run this command, and start the site again.${inSite}`)).toBe(true);
  }
  await test.close();
  const upToDate = `The ledger in the folder ${test.url} was already up to date.`;
  expect(await command('migrate')).toEqual({ code: 0, out: upToDate, error: '' });
  expect((await command('ledger', 'list')).out.split('\n')).toHaveLength(8);
  expect((await command('ledger', 'retry', idOf(2))).out).toBe(
    'When the site runs, it will poll it, and call onPaid again if its status requires that.',
  );
});

it('ledger import accepts the output of ledger export in another ledger', async () => {
  const from = await openTestDatabase('postgres', { fakeTime: true });
  await fill(from);
  process.env.INTENT_DATABASE_URL = from.url;
  const exported = await command('ledger', 'export');
  expect(exported).toMatchObject({ code: 0, error: '6 intents exported.' });
  const listed = (await command('ledger', 'list')).out;
  const to = await openTestDatabase('postgres');
  process.env.INTENT_DATABASE_URL = to.url;
  const imported = await runCommand(['ledger', 'import'], { input: `${exported.out}\n` });
  expect(imported).toEqual({ code: 0, out: '6 intents imported.', error: '' });
  expect((await command('ledger', 'list')).out).toBe(listed);
  const again = await runCommand(['ledger', 'import'], { input: exported.out });
  expect(again).toMatchObject({ code: 1, out: '', error: expect.stringContaining('Nothing was imported.') });
});

it('ledger prune deletes old intents and archives them in a file', async () => {
  const old = await openTestDatabase('postgres');
  await old.db.query(
    insertLogins(`select 'login' || days as id, days from generate_series(1, 9) days`, `days * interval '1 day'`),
  );
  process.env.INTENT_DATABASE_URL = old.url;
  const file = path.join(temporaryFolder(), 'old.jsonl');
  const pruned = await command('ledger', 'prune', '--older-than-days', '5.5', '--archive', file);
  expect(pruned).toEqual({ code: 0, out: `4 intents deleted, and archived in ${file}.`, error: '' });
  expect(statSync(file).mode & 0o077).toBe(0);
  const archived = readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).id);
  expect(archived).toEqual(['login9', 'login8', 'login7', 'login6']);
  expect(await command('ledger', 'prune', '--older-than-days', '5.5')).toMatchObject({ out: '0 intents deleted.' });
});

describe('ledger prune with an archive that cannot be written completely', () => {
  const earlier = '{"id":"earlier"}\n';
  let file: string;
  const archived = (): string => readFileSync(file, 'utf8');
  const args = () => ['ledger', 'prune', '--older-than-days', '5', '--archive', file];

  beforeEach(async () => {
    const { db, url } = await openTestDatabase('postgres');
    await db.query(
      insertLogins(`select 'login' || number as id from generate_series(1, 100) number`, `interval '9 days'`),
    );
    process.env.INTENT_DATABASE_URL = url;
    file = path.join(mkdtempSync(path.join(temporaryFolder(), 'archive-')), 'old.jsonl');
    writeFileSync(file, earlier);
  });

  it('restores the file and deletes nothing, so the command can be repeated', async () => {
    // The limit of the file size, at most 8 KiB, ends the write within a line, as a full disk does.
    const limited = ['-c', 'ulimit -f 8 && exec "$@"', 'sh', process.execPath, main, ...args()];
    await expect(promisify(execFile)('sh', limited, { env: process.env })).rejects.toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^EFBIG: .*\n$/),
    });
    expect(archived()).toBe(earlier);
    expect(await command(...args())).toMatchObject({ code: 0, out: `100 intents deleted, and archived in ${file}.` });
    const ids = archived()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).id);
    expect(ids[0]).toBe('earlier');
    expect(new Set(ids).size).toBe(101);
  });
});

describe('ledger and migrate', () => {
  it.each([
    [
      'no setting',
      '',
      ['ledger', 'list'],
      1,
      /INTENT_DATABASE_URL: It is not set\. It names the database of the ledger\.\n.*Set it to the value that the site uses/,
    ],
    [
      'an unreachable database',
      'postgres://shop:hunter2@127.0.0.1:1/shop',
      ['ledger', 'list'],
      1,
      /^Cannot connect to the database: .*ECONNREFUSED/,
    ],
    ['an unknown state', '', ['ledger', 'list', '--state', 'lost'], 2, /The state must be one of creating, created/],
    ['an invalid age', '', ['ledger', 'prune', '--older-than-days', 'ten'], 2, /a number of days from 1 to 99999/],
    [
      'an invalid cursor',
      '',
      ['ledger', 'list', '--after', 'x'],
      2,
      /`after` \(--after\) must be the `next` of a previous page/,
    ],
    ['an invalid id', '', ['ledger', 'show', 'nope'], 2, /^"nope" is not an intent id.* Base58 .*\n.*ledger list$/],
    ['a missing file', '', ['migrate', '--env-file', 'no.env'], 1, /The file no\.env cannot be read \(ENOENT\)\./],
  ])('report the error with exit code: %s', async (_name, url, args, code, error) => {
    process.env.INTENT_DATABASE_URL = url;
    const result = await command(...args);
    expect(result).toMatchObject({ code, out: '', error: expect.stringMatching(error) });
    expect(result.error).not.toContain('hunter2');
  });
});
