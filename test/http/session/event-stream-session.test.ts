import cookieSession from 'cookie-session';
import type { RequestHandler } from 'express';
import session from 'express-session';
import { Browser } from '../../support/browser/browser.js';
import { eventually } from '../../support/eventually.js';
import { intentIdOf } from '../../support/sites/intent-id.js';
import { RawStream } from '../../support/sites/raw-stream.js';
import { expressVersions, startSiteWithSimulator } from '../../support/sites/site.js';

// An event stream lasts for minutes. The session of its request is old when it ends.

declare module 'express-session' {
  interface SessionData {
    basket: string;
    lastSeen: number;
  }
}

/** Changes the session during each request. */
const lastSeen: RequestHandler = (req, _res, next) => {
  req.session.lastSeen = performance.now();
  next();
};
const cases: [settings: string, resave: boolean, unset: 'keep' | 'destroy', more: RequestHandler[]][] = [
  ['resave: true', true, 'keep', []],
  ['unset: "destroy"', true, 'destroy', []],
  ['a middleware that changes each session', false, 'keep', [lastSeen]],
];
const everywhere = Object.entries(expressVersions).flatMap(([version, factory]) =>
  cases.map(([settings, ...rest]) => [settings, version, factory, ...rest] as const),
);

const unknownId = '11111111111111111111111111111111';

describe.each(everywhere)('with %s on %s', (_settings, _version, factory, resave, unset, more) => {
  /** A browser with a basket and an open event stream, which `end` ends as a payment does. */
  async function openStream() {
    const { origin, simulator } = await startSiteWithSimulator({
      factory,
      before: (app) => app.use(session({ secret: 'test', saveUninitialized: false, resave, unset }), ...more),
      after: (app) => {
        app.post('/basket/:item', (req, res) => {
          req.session.basket = req.params.item;
          res.json({});
        });
        app.get('/basket', (req, res) => void res.json({ basket: req.session.basket ?? null }));
        app.post('/leave', (req, res) => req.session.destroy(() => res.json({})));
      },
    });
    const browser = new Browser(origin);
    await browser.send('POST', '/basket/tea');
    const secret = String((await browser.send('POST', '/intent', { order: 42 })).body.client_secret);
    const cookies = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const stream = new RawStream(origin, `/intent/${intentIdOf(secret)}/events`, [`Cookie: ${cookies}`]);
    await stream.has('event: status');
    const end = async (): Promise<void> => {
      await simulator.wallet('Ada').pay(secret);
      await stream.has('0\r\n\r\n');
      expect(stream.text).toContain('event: intent_submitted');
    };
    return { browser, end };
  }
  const basketOf = async (browser: Browser): Promise<unknown> => (await browser.send('GET', '/basket')).body.basket;

  test('an event stream that ends keeps the changes of the session since its start', async () => {
    const { browser, end } = await openStream();
    await browser.send('POST', '/basket/cup');
    await end();
    expect(await basketOf(browser)).toBe('cup');
  });

  test('an event stream that ends does not restore a session that was destroyed', async () => {
    const { browser, end } = await openStream();
    await browser.send('POST', '/leave');
    await end();
    expect(await basketOf(browser)).toBeNull();
  });
});

test('a middleware reads the session of an event stream when the client disconnects', async () => {
  const closed: unknown[] = [];
  const { origin } = await startSiteWithSimulator({
    before: (app) =>
      app.use(session({ secret: 'test', saveUninitialized: false, resave: false }), lastSeen, (req, res, next) => {
        res.once('close', () => closed.push(typeof req.session.lastSeen));
        next();
      }),
  });
  const stream = new RawStream(origin, `/intent/${unknownId}/events`);
  await stream.has('event: status');
  stream.socket.destroy();
  await eventually(() => expect(closed).toEqual(['number']));
});

test('an event stream keeps the session of cookie-session in an app that numbers its sessions', async () => {
  const { origin } = await startSiteWithSimulator({
    before: (app) =>
      app.use(cookieSession({ name: 'app', keys: ['test'] }), (req, _res, next) => {
        Object.assign(req, { sessionID: 'own' });
        Object.assign(req.session ?? {}, { basket: 'tea' });
        next();
      }),
  });
  const stream = new RawStream(origin, `/intent/${unknownId}/events`);
  await stream.has('event: status');
  expect(stream.head).toContain('set-cookie: app=');
  expect(stream.head).not.toContain('expires=thu, 01 jan 1970');
});
