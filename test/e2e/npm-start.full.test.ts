import { once } from 'node:events';
import { connect } from 'node:net';
import path from 'node:path';
import { createWallet } from 'express-intents/testing';
import { Visitor } from '../../example-app/dist/visitor.js';
import { eventually } from '../support/eventually.js';
import { temporaryFolder } from '../support/runner/temporary-folder.js';
import { begin, order, thanked, thanksOf } from './shop-fixture.js';
import { ownPlace, run, startShop, type Variables } from './shop-process.js';

const mainOf = (page: string): string | undefined => /<main[\s\S]*<\/main>/.exec(page)?.[0];

test('starts, plays, ends quickly with Ctrl-C, and starts again on the same ports and folder', async () => {
  const place = await ownPlace();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    const shop = await startShop(place);
    expect(shop.output).toContain(`http://localhost:${place.PORT}\n`);
    expect(shop.output).toContain(`http://127.0.0.1:${place.INTENT_EMULATOR_PORT}\n`);

    const play = run('play.js', place);
    expect([await play.end(), play.errors]).toEqual([0, '']);
    expect(play.output).toContain('All steps passed.');

    // Somebody who never sends a request does not hold the shop open.
    const idle = connect(Number(place.PORT), '127.0.0.1').on('error', () => undefined);
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

test('makes its database at the first start, and has the orders in it still after the process was killed', async () => {
  const place = { ...(await ownPlace()), INTENT_DATABASE_URL: path.join(temporaryFolder(), 'new') };
  const origin = `http://127.0.0.1:${place.PORT}`;
  const wallet = createWallet({ url: `http://127.0.0.1:${place.INTENT_EMULATOR_PORT}`, name: 'Ada' });
  const visitor = new Visitor(origin);
  const logIn = async (): Promise<void> => {
    const { secret, id } = await begin(visitor, { mode: 'login' });
    await wallet.login(secret);
    expect((await visitor.post('/session', { id })).status).toBe(200);
  };

  const killed = await startShop(place);
  expect(killed.output).toContain('Creating the database of the shop.');
  await logIn();
  const paid = await begin(visitor, order('sugar-cube'));
  const begun = await begin(visitor, order('pot-of-assam'));
  await wallet.pay(paid.secret);
  const thanks = mainOf(await thanked(visitor, paid.id));
  killed.signal('SIGKILL');
  await killed.end();

  const again = await startShop(place);
  expect(again.output).not.toContain('Creating');
  expect(mainOf((await thanksOf(visitor, paid.id)).text)).toBe(thanks);
  // What was begun before is still there: the embedded sequencer has kept it beside the orders.
  expect((await thanksOf(visitor, begun.id)).state).toBe('open');
  await wallet.pay(begun.secret);
  await thanked(visitor, begun.id);
  await logIn();
  expect((await visitor.get('/account')).text).toContain('One sugar cube');
});

test('has lost no payment that was made in the moment before the process was killed', async () => {
  const place = await ownPlace();
  const wallet = createWallet({ url: `http://127.0.0.1:${place.INTENT_EMULATOR_PORT}`, name: 'Ada' });
  const visitor = new Visitor(`http://127.0.0.1:${place.PORT}`);
  const killed = await startShop(place);
  const begun = [await begin(visitor, order('sugar-cube')), await begin(visitor, order('pot-of-assam'))];
  // The shop does not hear of them any more: only the sequencer knows that they are paid.
  await Promise.all(begun.map(({ secret }) => wallet.pay(secret)));
  killed.signal('SIGKILL');
  await killed.end();

  await startShop(place);
  for (const { id } of begun) await thanked(visitor, id);
});

test('says that a port is in use, and how to choose another', async () => {
  const place = await ownPlace();
  await startShop(place);

  const sameShopPort = run('server.js', place);
  expect(await sameShopPort.end()).toBe(1);
  expect(sameShopPort.errors).toContain(`Port ${place.PORT} is in use. Set PORT to a free port`);
  expect(sameShopPort.errors).not.toMatch(/\n\s+at /);

  const { PORT } = await ownPlace();
  const sameEmulatorPort = run('server.js', { ...place, PORT });
  expect(await sameEmulatorPort.end()).toBe(1);
  expect(sameEmulatorPort.errors.match(/Set INTENT_EMULATOR_PORT to a free port/g)).toHaveLength(1);
  expect(sameEmulatorPort.errors).not.toMatch(/\n\s+at /);
});

test.each([
  { variables: { PORT: 'eighty' }, message: /^PORT is "eighty"\. Set it to a number/ },
  { variables: { INTENT_DOMAIN: 'http://example.com/' }, message: /INTENT_DOMAIN: / },
  {
    variables: { NODE_ENV: 'production', INTENT_SEQUENCER_URL: 'embedded' },
    message: /^express-intents cannot start:\n[\s\S]*it is refused when NODE_ENV=production/,
  },
  { variables: { NODE_ENV: 'production' }, message: /INTENT_SEQUENCER_URL: It is not set/ },
])('does not start with $variables, and says why', async ({ variables, message }) => {
  const shop = run('server.js', { ...(await ownPlace()), ...(variables as Variables) });
  expect(await shop.end()).toBe(1);
  expect(shop.errors).toMatch(message);
  expect(shop.errors).not.toMatch(/\n\s+at /);
  expect(shop.output).toBe('');
});

test('play says what is missing when no shop is open', async () => {
  const play = run('play.js', await ownPlace());
  expect(await play.end()).toBe(1);
  expect(play.errors).toContain('Run `npm start` first');
});
