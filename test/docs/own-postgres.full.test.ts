import { createRequire } from 'node:module';
import express from 'express';
import { intentRouter } from 'express-intents';
import * as testing from 'express-intents/testing';
import pg from 'pg';
import request from 'supertest';
import { newDatabaseUrl } from '../support/databases/databases.js';
import { blocksOf } from './guides.js';

// The section "Your own Postgres" of docs/testing.md, run twice in the same database.

const load = createRequire(import.meta.url);
const text = blocksOf('docs/testing.md').find((block) => block.text.includes('drop schema'))?.text ?? '';

interface Started {
  readonly simulator: testing.Simulator;
  readonly pool: pg.Pool;
  readonly app: express.Express;
  readonly router: ReturnType<typeof intentRouter>;
}

test('the setup of the guide starts each run with an empty database', async () => {
  const url = await newDatabaseUrl('postgres');
  const tables = new pg.Pool({ connectionString: url });
  for (const table of ['users', 'wallets', 'orders']) await tables.query(`create table ${table} (id serial)`);
  await tables.end();
  for (let run = 0; run < 2; run += 1) {
    const { simulator, pool, app, router } = await startAsInGuide(url);
    const { intents } = await router.intents.list({});
    const { rowCount } = await pool.query('select from orders');
    expect([intents.length, rowCount]).toEqual([0, 0]);
    await pool.query('insert into orders default values');
    await request(app).post('/intent').set(testing.sameOriginHeaders).send({ mode: 'payment' }).expect(201);
    expect((await router.intents.list({})).intents).toHaveLength(1);
    await router.close();
    await simulator.close();
    await pool.end();
  }
});

async function startAsInGuide(url: string): Promise<Started> {
  const before = { ...process.env };
  let setUp = async (): Promise<void> => undefined;
  const createApp = (): object => {
    const router = intentRouter({ logger: false, payment: () => ({ amount: '4.50', currency: 'usd' }) });
    return { app: express().use(router), router };
  };
  const requireInGuide = (name: string): unknown => {
    if (name === '../app') return createApp();
    return name === 'express-intents/testing' ? testing : load(name);
  };
  const code = `${text.replace('postgres://localhost/shop_test', url)}; return () => ({ simulator, pool, app, router });`;
  const started = new Function('require', 'beforeAll', code)(requireInGuide, (run: typeof setUp) => {
    setUp = run;
  }) as () => Started;
  try {
    await setUp();
  } finally {
    process.env = before;
  }
  return started();
}
