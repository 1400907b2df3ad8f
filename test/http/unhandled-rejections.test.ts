import type { ErrorRequestHandler, Express } from 'express';
import request from 'supertest';
import { refuse } from '../../src/http/hook-errors.js';
import { requirePayment } from '../../src/http/paywall/require-payment.js';
import { requireLogin } from '../../src/http/session/require-login.js';
import { newDatabaseUrl } from '../support/databases/databases.js';
import { unreachableUrl } from '../support/sequencers/fault-sequencer.js';
import { post } from '../support/sites/post.js';
import { expressVersions, startSite } from '../support/sites/site.js';
import { countingTransport } from '../support/transports/counting-transport.js';

// An unhandled rejection ends the process. In a test, jest reports it as an error of the test.

const fail = (): never => {
  throw new Error('disk full');
};

test.each([
  ['throws', { warn: fail, error: fail }],
  ['rejects', { warn: async () => fail(), error: async () => fail() }],
])('a logger that %s does not change the response, and does not end the process', async (_name, logger) => {
  const { origin } = await startSite({ sequencer: { url: await unreachableUrl() }, logger, mountPath: '/shop' });
  const response = await post(origin, '/shop/intent').send({ mode: 'login' }).expect(503);
  expect(response.body.code).toBe('sequencer_unreachable');
});

test.each(['setHeader', 'end'] as const)(
  'a middleware whose %s of the response throws closes the connection, and does not end the process',
  async (method) => {
    const { origin } = await startSite({
      sequencer: { url: await unreachableUrl() },
      before: (app) =>
        app.use((_req, res, next) => {
          res[method] = fail;
          next();
        }),
    });
    await expect(post(origin, '/intent').send({ mode: 'login' })).rejects.toMatchObject({ code: 'ECONNRESET' });
  },
);

test('a request that a timeout middleware of the app has answered is not reported as a bug, and keeps its connection', async () => {
  let answered = (): void => undefined;
  const isAnswered = new Promise<void>((resolve) => {
    answered = resolve;
  });
  const { origin, log } = await startSite({
    sequencer: { url: await unreachableUrl(), transport: countingTransport() },
    before: (app) =>
      app.use((_req, res, next) => {
        next();
        res.status(503).type('text').send('Timed out.');
        answered();
      }),
    payment: async () => {
      await isAnswered;
      return { amount: 1, currency: 'usd' };
    },
  });
  const response = await post(origin, '/intent').send({ order: 1 }).expect(503);
  expect(response.text).toBe('Timed out.');
  expect(log.text).not.toContain('internal_error');
});

/** A timeout middleware that has begun its response when the guard runs. */
const answerFirst = (app: Express): void => {
  app.use((_req, res, next) => {
    res.status(503).type('text').write('Timed ');
    next();
    // The guard has then completed.
    setImmediate(() => res.end('out.'));
  });
};

const pageView = { accept: 'text/html', 'sec-fetch-mode': 'navigate' };

describe.each(Object.entries(expressVersions))(
  'requireLogin on %s, after a timeout middleware of the app',
  (_, factory) => {
    test.each([
      ['a request of an API client', {}, { accept: 'application/json' }],
      ['a page view with a loginUrl', { loginUrl: '/login' }, pageView],
    ])('leaves the response to %s unchanged, and does not end the process', async (_name, options, headers) => {
      const { origin } = await startSite({
        factory,
        sequencer: { url: await unreachableUrl() },
        before: answerFirst,
        after: (app) => app.get('/account', requireLogin(options)),
      });
      const response = await request(origin).get('/account').set(headers).expect(503);
      expect(response.text).toBe('Timed out.');
    });
  },
);

describe.each(Object.entries(expressVersions))(
  'requirePayment on %s, for a visitor without a payment',
  (_, factory) => {
    test.each([
      ['a request of an API client', {}, { accept: 'application/json' }],
      ['a page view with a payUrl', { payUrl: '/buy' }, pageView],
    ])('after a timeout middleware of the app leaves the response to %s unchanged', async (_name, options, headers) => {
      const errors: unknown[] = [];
      const { origin } = await startSite({
        factory,
        sequencer: { url: await unreachableUrl() },
        ledger: { url: await newDatabaseUrl('postgres') },
        before: answerFirst,
        after: (app) => {
          const guard = requirePayment(() => ({ resource: 'article' }), options);
          app.get('/article', guard);
          const onError: ErrorRequestHandler = (error, _req, _res, _next) => void errors.push(error);
          app.use(onError);
        },
      });
      const response = await request(origin).get('/article').set(headers).expect(503);
      expect(response.text).toBe('Timed out.');
      expect(errors).toEqual([]);
    });
  },
);

describe.each(Object.entries(expressVersions))('requirePayment on %s, whose hook refuses', (_, factory) => {
  const guard = requirePayment(() => refuse('Members only.', 403));

  test('passes the error of a middleware whose setHeader throws to the app', async () => {
    const { origin } = await startSite({
      factory,
      sequencer: { url: await unreachableUrl() },
      after: (app) => {
        app.use((_req, res, next) => {
          res.setHeader = fail;
          next();
        });
        app.get('/article', guard);
        const onError: ErrorRequestHandler = (error, _req, res, _next) => void res.end(error.message);
        app.use(onError);
      },
    });
    expect((await request(origin).get('/article').expect(403)).text).toBe('disk full');
  });
});
