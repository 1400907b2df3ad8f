import type { ErrorRequestHandler, Express, RequestHandler } from 'express';
import request from 'supertest';
import { intentRouter, requireLogin, requirePayment } from '../../src/index.js';
import { post } from '../support/sites/post.js';
import { domain, expressVersions, startSite, verifierSecret } from '../support/sites/site.js';
import { countingTransport } from '../support/transports/counting-transport.js';

// Setup mistakes that a request reveals. The error names the cause and the fix.

/** Answers the message of an error that reaches the error handler of the app. */
const showError: ErrorRequestHandler = ({ code, message }, _req, res, _next) =>
  void res.status(500).json({ code, message });

async function errorOf(app: Express): Promise<{ code: string; message: string }> {
  app.use(showError);
  return (await request(app).get('/page').expect(500)).body;
}

describe.each(Object.entries(expressVersions))('on %s', (_name, factory) => {
  test.each<[string, unknown, string, string]>([
    ['intentRouter', intentRouter, 'a router', 'app.use(intentRouter())'],
    ['requireLogin', requireLogin, 'a guard', 'requireLogin()'],
    ['requirePayment', requirePayment, 'a guard', "requirePayment({ resource: 'article:tea' })"],
  ])('%s without a call is one problem with its fix', async (name, handler, kind, call) => {
    const app = factory();
    app.get('/page', handler as RequestHandler, (_req, res) => void res.send('page'));
    expect(await errorOf(app)).toEqual({
      code: 'invalid_configuration',
      message:
        `express-intents cannot start:\n  - ${name}: Express received the function ${name} instead of ${kind}.\n` +
        `    Call it: ${call}`,
    });
  });

  test('a guard outside the mount path of the router names this cause, and two copies of the package', async () => {
    const app = factory();
    const router = intentRouter({
      login: { verifierSecret, domain },
      sequencer: { url: 'https://sequencer.example' },
      logger: false,
    });
    app.use('/pay', router);
    app.get('/page', requireLogin(), (_req, res) => void res.send('page'));
    expect(await errorOf(app)).toEqual({
      code: 'router_missing',
      message: expect.stringMatching(
        /app\.use\(intentRouter\(\)\) before.*mounted under a path handles only requests under.*two copies of express-intents/,
      ),
    });
    await router.close();
  });

  const readers: [string, RequestHandler][] = [
    ['data events', (req, _res, next) => void req.on('data', () => undefined).on('end', next)],
    ['a reader that is not done', (req, _res, next) => void req.once('data', () => next(void req.pause()))],
    ['resume()', (req, _res, next) => void req.resume().on('end', next)],
  ];

  test.each(readers)(
    'a body that a middleware has read by %s is reported, and not as a client error',
    async (_by, read) => {
      const transport = countingTransport();
      const payment = () => ({ amount: 5, currency: 'usd' });
      const before = (app: Express) => app.use(read);
      const options = { sequencer: { url: 'https://sequencer.example', transport }, payment, before };
      const { origin, log } = await startSite({ factory, ...options });
      for (const path of ['/intent', '/session']) {
        log.lines.length = 0;
        const { body } = await post(origin, path).send({ order: 1 }).expect(500);
        expect(body.code).toBe('invalid_configuration');
        expect(body).not.toHaveProperty('detail');
        expect(log.lines).toEqual([
          expect.stringMatching(
            /^error .*invalid_configuration .*Another middleware has read the body .*Mount the router before this middleware\./,
          ),
        ]);
      }
      expect(transport.calls).toEqual([]);
    },
  );
});
