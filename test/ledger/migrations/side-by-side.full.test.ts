import { execFile } from 'node:child_process';
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { type Migration, migrations } from '../../../src/ledger/migrations/migrate.js';
import { type Fleet, startFleet } from '../../fleet/fleet.js';
import { expectNothingLost, whileCustomersArrive } from '../../fleet/rolling-restart.js';
import { ConsumerProject, root } from '../../package/consumer-project.js';
import { Browser } from '../../support/browser/browser.js';
import { eventually } from '../../support/eventually.js';
import { compile } from '../../support/runner/child-program.js';
import { temporaryFolder } from '../../support/runner/temporary-folder.js';
import { violationOf } from './migration-rules.js';

// The packed package and the next version of it, which has one more migration, run side by side: in an upgrade and in the
// rollback after it.

/** The body of the trigger function in the last migration that defines it. */
const body =
  migrations
    .map(({ sql }) => /function express_intents\.enforce_transition\(\).*?as \$\$(.*?)end\s*\$\$/s.exec(sql)?.[1])
    .findLast((found) => found !== undefined) ?? '';
const version = migrations.length + 1;

/**
 * One more column with a default, and one more rule, which the rows of the previous version satisfy. The function serves the
 * table of logins too, which does not have the column.
 */
const channel: Migration = {
  version,
  name: 'channel',
  sql: `alter table express_intents.payments add column channel text not null default 'old';
    create or replace function express_intents.enforce_transition() returns trigger language plpgsql as $$
    ${body.replace('begin', "begin\n  if to_jsonb(new) ->> 'channel' = 'none' then raise exception 'there is no such channel'; end if;")}end $$`,
};

/** Copies this repository, adds the migration and writes the new column in new payments, and builds the copy. */
async function buildNext(): Promise<string> {
  const copy = temporaryFolder();
  const copied = ['src', 'proto', 'docs', 'example-app', 'package.json', 'tsconfig.json', 'rolldown.config.js'];
  for (const name of [...copied, 'README.md', 'LICENSE', 'CHANGELOG.md', 'SECURITY.md']) {
    cpSync(path.join(root, name), path.join(copy, name), { recursive: true });
  }
  symlinkSync(path.join(root, 'node_modules'), path.join(copy, 'node_modules'));
  const change = (file: string, pattern: RegExp, text: string): void => {
    const source = readFileSync(path.join(copy, file), 'utf8');
    const changed = source.replace(pattern, text);
    if (changed === source) throw new Error(`${file} has no ${pattern}.`);
    writeFileSync(path.join(copy, file), changed);
  };
  const file = `${String(version).padStart(3, '0')}-channel`;
  const source = `import type { Migration } from './migrate.js';\nexport const channel: Migration = ${JSON.stringify(channel)};\n`;
  writeFileSync(path.join(copy, `src/ledger/migrations/${file}.ts`), source);
  change('src/ledger/migrations/migrate.ts', /^/, `import { channel } from './${file}.js';\n`);
  change('src/ledger/migrations/migrate.ts', /(const migrations: .*? = \[.*?\n)\];/s, '$1  channel,\n];');
  const insert = /(insert into express_intents\.payments \()(.*?\)\s*select )/;
  change('src/ledger/intents/record-intent.ts', insert, `$1channel, $2'next', `);
  await promisify(execFile)('npm', ['run', '-s', 'build'], { cwd: copy });
  return copy;
}

/** Installs a packed version and the site. @returns the program of the site */
async function install(project: ConsumerProject): Promise<string> {
  for (const name of ['@acpr/rate-limit-postgresql', 'connect-pg-simple', 'express-session']) project.link(name);
  return compile(new URL('../../fleet/site-program.ts', import.meta.url), project.folder);
}

let old: ConsumerProject;
let next: ConsumerProject;
let oldSite: string;
let nextSite: string;
let fleet: Fleet;
let databaseUrl = '';
beforeAll(async () => {
  [old, next] = await Promise.all([ConsumerProject.create(), buildNext().then((copy) => ConsumerProject.create(copy))]);
  [oldSite, nextSite] = await Promise.all([install(old), install(next)]);
  fleet = await startFleet(3, {
    program: oldSite,
    reach: async (server, name) => {
      databaseUrl = server.url(name);
      return databaseUrl;
    },
  });
}, 600_000);
afterAll(() => {
  for (const project of [old, next]) project?.remove();
});

/** Waits until one of these processes has settled a payment that this version created after the call. */
async function settles(processes: readonly string[], creator: 'old' | 'next'): Promise<void> {
  const [{ now } = {}] = await fleet.sql('select now()');
  const search = `select from public.fulfilled join express_intents.payments using (intent_id)
    where by = any($1) and channel = $2 and created_at > $3`;
  await eventually(
    `${processes.join(' or ')} settles a payment of the ${creator} version`,
    async () => (await fleet.sql(search, [processes, creator, now])).length > 0,
  );
}

/** A payer buys an article from any process, and opens it on each. */
async function buyArticle(): Promise<void> {
  const begun = new Browser(fleet.origin);
  const { status, body } = await begun.send('POST', '/intent', { mode: 'payment' });
  expect(status).toBe(201);
  // A wallet may pay again.
  await eventually(() => fleet.simulator.wallet('Ben').pay(String(body.client_secret)));
  for (const origin of fleet.origins) {
    const browser = new Browser(origin, begun.cookies);
    await eventually(async () => expect((await browser.send('GET', '/article')).status).toBe(200));
  }
}

const tableVersions = async (): Promise<unknown[]> =>
  (await fleet.sql('select version from express_intents.schema_versions order by version')).map((row) => row.version);

/** The 5xx responses except 503, after which a page may retry. */
const failures = async (): Promise<[status: string, count: number][]> =>
  Object.entries(await fleet.balancer.failures()).filter(([status]) => status !== '503');

/**
 * What a kill causes elsewhere: another process claims the payment of an interrupted hook, and the sequencer cannot read the key
 * file of the site while the balancer still sends requests to the killed process.
 */
const ofKill = {
  logged: /^express-intents: (work on payment \w+ was interrupted|intent_refused)/,
  repeated: /^(503 closing|502( intent_refused)?)$/,
};

test('the migration of the next version follows the rules', () => {
  expect(violationOf(channel)).toBeUndefined();
  expect(body).toContain('cannot change from');
});

test('an upgrade and a rollback lose and double nothing, fail no request and log nothing, except by a kill', async () => {
  const before = migrations.map((migration) => migration.version);
  let failuresOfKill: Awaited<ReturnType<typeof failures>> = [];
  const seen = await whileCustomersArrive(fleet, { rate: 10, payEvery: 2 }, async () => {
    await eventually('a payment settles', async () => (await fleet.sql('select from public.fulfilled')).length > 0);
    expect(await tableVersions()).toEqual(before);

    await fleet.replace(0, 'SIGTERM', nextSite);
    expect(await tableVersions()).toEqual([...before, version]);
    await Promise.all([settles(['process 4'], 'old'), settles(['process 2', 'process 3'], 'next'), buyArticle()]);

    await fleet.replace(1, 'SIGTERM', nextSite);
    expect([await failures(), fleet.printed()]).toEqual([[], '']);
    await fleet.replace(2, 'SIGKILL', nextSite);
    failuresOfKill = await failures();
    await settles(['process 6'], 'next');

    await fleet.replace(0, 'SIGTERM', oldSite);
    await Promise.all([settles(['process 7'], 'next'), settles(['process 5', 'process 6'], 'old'), buyArticle()]);
  });
  expectNothingLost(seen);
  expect(seen.lostLogins).toBeLessThanOrEqual(1);
  expect(await failures()).toEqual(failuresOfKill);
  expect(failuresOfKill.filter(([status]) => status !== '502')).toEqual([]);
  expect(Object.keys(seen.repeated).filter((what) => !ofKill.repeated.test(what))).toEqual([]);
  const entries = fleet.printed().split(/^(?=express-intents: |CRASHED )/m);
  expect(entries.filter((entry) => entry !== '' && !ofKill.logged.test(entry))).toEqual([]);

  // The commands of the old version read what the next one has written.
  const main = 'node_modules/express-intents/dist/cli.js';
  const exported = await old.node([main, 'ledger', 'export'], { INTENT_DATABASE_URL: databaseUrl });
  const intents = await fleet.sql('select from express_intents.intents');
  expect([exported.code, exported.stderr]).toEqual([0, `${intents.length} intents exported.\n`]);
  expect(await tableVersions()).toEqual([...before, version]);
}, 600_000);
