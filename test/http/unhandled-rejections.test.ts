import request from 'supertest';
import { requireLogin } from '../../src/http/session/require-login.js';
import { unreachableUrl } from '../support/sequencers/fault-sequencer.js';
import { post } from '../support/sites/post.js';
import { expressVersions, startSite } from '../support/sites/site.js';

// An unhandled rejection ends the process. In a test, jest reports it as an error of the test.

const fail = (): never => {
  throw new Error('disk full');
};

test.each([
  ['throws', { warn: fail, error: fail }],
  ['rejects', { warn: async () => fail(), error: async () => fail() }],
])('a logger that %s does not change the response, and does not end the process', async (_name, logger) => {
  const { origin } = await startSite({ sequencerUrl: await unreachableUrl(), logger, mountPath: '/shop' });
  const response = await post(origin, '/shop/intent').send({ mode: 'login' }).expect(503);
  expect(response.body.code).toBe('sequencer_unreachable');
});

test.each(['setHeader', 'end'] as const)(
  'a middleware whose %s of the response throws closes the connection, and does not end the process',
  async (method) => {
    const { origin } = await startSite({
      sequencerUrl: await unreachableUrl(),
      before: (app) =>
        app.use((_req, res, next) => {
          res[method] = fail;
          next();
        }),
    });
    await expect(post(origin, '/intent').send({ mode: 'login' })).rejects.toMatchObject({ code: 'ECONNRESET' });
  },
);

const pageView = { accept: 'text/html', 'sec-fetch-mode': 'navigate' };

describe.each(Object.entries(expressVersions))(
  'requireLogin on %s, after a timeout middleware of the app',
  (_, factory) => {
    test.each([
      ['a request of an API client', {}, { accept: 'application/json' }],
      ['a page view', {}, pageView],
      ['a page view with a loginUrl', { loginUrl: '/login' }, pageView],
    ])('leaves the response to %s unchanged, and does not end the process', async (_name, options, headers) => {
      const { origin } = await startSite({
        factory,
        sequencerUrl: await unreachableUrl(),
        before: (app) =>
          app.use((_req, res, next) => {
            res.status(503).type('text').write('Timed ');
            next();
            // The guard has then completed.
            setImmediate(() => res.end('out.'));
          }),
        after: (app) => app.get('/account', requireLogin(options)),
      });
      const response = await request(origin).get('/account').set(headers).expect(503);
      expect(response.text).toBe('Timed out.');
    });
  },
);
