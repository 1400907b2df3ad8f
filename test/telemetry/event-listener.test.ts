import { AsyncLocalStorage } from 'node:async_hooks';
import type { RouterEvent } from '../../src/index.js';
import { Browser } from '../support/browser/browser.js';
import { eventually } from '../support/eventually.js';
import { type SiteOptions, startSite } from '../support/sites/site.js';
import { countingTransport } from '../support/transports/counting-transport.js';

const start = async (onEvent: SiteOptions['onEvent'], options: SiteOptions = {}) => {
  const site = await startSite({ sequencer: { transport: countingTransport() }, onEvent }, options);
  const browser = new Browser(site.origin);
  return { ...site, create: () => browser.send('POST', '/intent', { mode: 'login' }) };
};

test.each<[string, () => Promise<void>]>([
  [
    'throws',
    () => {
      throw new Error('The disk is full.');
    },
  ],
  [
    'throws a value whose message throws',
    () => {
      throw {
        get message() {
          throw new Error('No.');
        },
        toString: null,
      };
    },
  ],
])(
  'a listener that %s changes no response, receives the next event, and is logged once a minute',
  async (_how, fail) => {
    const clock = { nowMs: 1_000_000 };
    let emitted = 0;
    const onEvent = (): Promise<void> => {
      emitted += 1;
      return fail();
    };
    const { create, log } = await start(onEvent, { testClock: () => clock.nowMs });
    expect((await create()).status).toBe(201);
    expect((await create()).status).toBe(201);
    await eventually('four events were received', () => emitted === 4);
    await eventually('it was logged', () => log.lines.length > 0);
    expect(log.lines).toEqual([expect.stringMatching(/^warn express-intents: onEvent failed/)]);
    clock.nowMs += 60_000;
    await create();
    await eventually('it was logged again', () => log.lines.length > 1);
  },
);

test('a listener that never resolves delays nothing', async () => {
  const emitted: RouterEvent[] = [];
  const { create, router } = await start((event) => {
    emitted.push(event);
    return new Promise(() => undefined);
  });
  expect((await create()).status).toBe(201);
  await eventually('both events were received', () => emitted.length === 2);
  await router.close();
});

test('a listener is called in the order of the events, with the clock of the router', async () => {
  const emitted: RouterEvent[] = [];
  const { create } = await start((event) => void emitted.push(event), { testClock: () => 1_234_567 });
  await create();
  await eventually('both events were received', () => emitted.length === 2);
  expect(emitted.map(({ type, atMs }) => [type, atMs])).toEqual([
    ['upstream_call', 1_234_567],
    ['intent_created', 1_234_567],
  ]);
});

test('a listener is called in the async context of the request', async () => {
  const requests = new AsyncLocalStorage<string>();
  const emitted: [string, string | undefined][] = [];
  const { origin } = await start(({ type }) => void emitted.push([type, requests.getStore()]), {
    before: (app) => app.use((req, _res, next) => requests.run(String(req.headers['x-request-id']), next)),
  });
  const browser = new Browser(origin);
  await Promise.all(['a', 'b'].map((id) => browser.send('POST', '/intent', { mode: 'login' }, { 'x-request-id': id })));
  await eventually('all events were received', () => emitted.length === 4);
  expect(
    emitted
      .filter(([type]) => type === 'intent_created')
      .map(([, id]) => id)
      .sort(),
  ).toEqual(['a', 'b']);
});
