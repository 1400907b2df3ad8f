import { once } from 'node:events';
import { connect } from 'node:net';
import path from 'node:path';
import { createWallet } from 'express-intents/testing';
import { Visitor } from '../../example-app/dist/visitor.js';
import { eventually } from '../support/eventually.js';
import { temporaryFolder } from '../support/runner/temporary-folder.js';
import { begin, order, thanked, thanksOf } from './shop-fixture.js';
import { newSettings, run, startShop, type Variables } from './shop-process.js';

const mainOf = (page: string): string | undefined => /<main[\s\S]*<\/main>/.exec(page)?.[0];

test('npm start opens the shop, which passes the demo, ends quickly on Ctrl-C, and starts again on the same ports and folder', async () => {
  const settings = await newSettings();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    const shop = await startShop(settings);
    expect(shop.output).toContain(`http://localhost:${settings.PORT}\n`);
    expect(shop.output).toContain(`http://127.0.0.1:${settings.INTENT_SIMULATOR_PORT}\n`);

    const play = run('play.js', settings);
    expect([await play.end(), play.errors]).toEqual([0, '']);
    expect(play.output).toContain('All steps passed.');

    // An idle connection does not delay the shutdown.
    const idle = connect(Number(settings.PORT), '127.0.0.1').on('error', () => undefined);
    await once(idle, 'connect');
    shop.signal(signal);
    shop.signal(signal);
    // Node would close the idle connection after a minute.
    await eventually('the shop has ended', () => shop.hasEnded);
    expect(await shop.end()).toBe(0);
    expect(shop.errors).toBe('');
    idle.destroy();
  }
});

test('the shop creates its database at the first start, and has the orders after its process is killed', async () => {
  const settings = { ...(await newSettings()), INTENT_DATABASE_URL: path.join(temporaryFolder(), 'new') };
  const origin = `http://127.0.0.1:${settings.PORT}`;
  const wallet = createWallet({ url: `http://127.0.0.1:${settings.INTENT_SIMULATOR_PORT}`, name: 'Ada' });
  const visitor = new Visitor(origin);
  const logIn = async (): Promise<void> => {
    const { secret, id } = await begin(visitor, { mode: 'login' });
    await wallet.login(secret);
    expect((await visitor.post('/session', { id })).status).toBe(200);
  };

  const killed = await startShop(settings);
  expect(killed.output).toContain('Creating the database of the shop.');
  await logIn();
  const paid = await begin(visitor, order('sugar-cube'));
  const open = await begin(visitor, order('pot-of-assam'));
  await wallet.pay(paid.secret);
  const thanks = mainOf(await thanked(visitor, paid.id));
  killed.signal('SIGKILL');
  await killed.end();

  const again = await startShop(settings);
  expect(again.output).not.toContain('Creating');
  expect(mainOf((await thanksOf(visitor, paid.id)).text)).toBe(thanks);
  // The open payment still exists: the simulator has stored it next to the orders.
  expect((await thanksOf(visitor, open.id)).state).toBe('created');
  await wallet.pay(open.secret);
  await thanked(visitor, open.id);
  await logIn();
  expect((await visitor.get('/account')).text).toContain('One sugar cube');
});

test('the shop reports a port in use and how to choose another', async () => {
  const settings = await newSettings();
  await startShop(settings);

  const sameShopPort = run('server.js', settings);
  expect(await sameShopPort.end()).toBe(1);
  expect(sameShopPort.errors).toContain(
    `Port ${settings.PORT} is in use. Start the shop with another port: PORT=${Number(settings.PORT) + 1} npm start`,
  );
  expect(sameShopPort.errors).not.toMatch(/\n\s+at /);

  const sameFolder = run('server.js', { ...settings, PORT: (await newSettings()).PORT });
  expect(await sameFolder.end()).toBe(1);
  const used = Number(settings.INTENT_SIMULATOR_PORT);
  expect(sameFolder.errors).toContain(`in use by the simulator at http://127.0.0.1:${used}. Stop that one, or`);
});

test.each([
  { variables: { PORT: 'eighty' }, message: /^PORT is "eighty"\. Set it to a number/ },
  { variables: { INTENT_DOMAIN: 'http://example.com/' }, message: /INTENT_DOMAIN: / },
  {
    variables: { NODE_ENV: 'production', INTENT_SEQUENCER_URL: 'simulator' },
    message: /^express-intents cannot start:\n[\s\S]*it does not start with NODE_ENV=production/,
  },
  { variables: { NODE_ENV: 'production' }, message: /INTENT_SEQUENCER_URL: It is not set/ },
])('the shop does not start with $variables, and reports why', async ({ variables, message }) => {
  const shop = run('server.js', { ...(await newSettings()), ...(variables as Variables) });
  expect(await shop.end()).toBe(1);
  expect(shop.errors).toMatch(message);
  expect(shop.errors).not.toMatch(/\n\s+at /);
  expect(shop.output).toBe('');
});

test('npm run play reports that no shop is open', async () => {
  const play = run('play.js', await newSettings());
  expect(await play.end()).toBe(1);
  expect(play.errors).toContain('Run `npm start` first');
});
