import { doubleCsrf } from 'csrf-csrf';
import express, { type Express, type RequestHandler } from 'express';
import { intentRouter } from 'express-intents';
import { type Simulator, sameOriginHeaders, startSimulator } from 'express-intents/testing';
import session from 'express-session';
import request from 'supertest';
import { blocksOf } from './guides.js';

// The sections on CSRF middleware and on Express 4 of docs/existing-app.md.

const blocks = blocksOf('docs/existing-app.md');
const blockWith = (word: string): string => blocks.find(({ text }) => text.includes(word))?.text ?? '';
const skip = blockWith('skipCsrfProtection');

let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator();
});
afterAll(() => simulator.close());

/** An app whose CSRF middleware runs before the router. */
function csrfFirst(more: object, mount = (app: Express, guard: RequestHandler): unknown => app.use(guard)): Express {
  const { doubleCsrfProtection } = doubleCsrf({
    getSecret: () => 'secret of this test',
    getSessionIdentifier: () => 'session',
    ...more,
  });
  const app = express();
  app.use((req, _res, next) => {
    req.cookies = {};
    next();
  });
  mount(app, doubleCsrfProtection);
  app.use(intentRouter(simulator.siteOptions({ logger: false })));
  app.post('/form', (_req, res) => void res.send('Accepted.'));
  app.use((error: { code: string }, _req: unknown, res: express.Response, _next: unknown) => {
    res.status(403).send(`<h1>${error.code}</h1>`);
  });
  return app;
}

const post = (app: Express, path: string, body: object = { mode: 'login' }) =>
  request(app).post(path).set(sameOriginHeaders).send(body);

test('a CSRF middleware before the router answers POST /intent with 403 and a web page', async () => {
  const { status, type } = await post(csrfFirst({}), '/intent');
  expect([status, type]).toEqual([403, 'text/html']);
});

const excluding = (): Express => csrfFirst(new Function(`return {${skip}}`)() as object);
const wrapping = (): Express =>
  csrfFirst({}, (app, guard) => new Function('app', 'csurf', blockWith('csurf()'))(app, () => guard));

test.each([
  ['csrf-csrf', excluding],
  ['a middleware without options', wrapping],
])('the exclusion for %s admits the routes of the router, and no form', async (_name, create) => {
  const app = create();
  expect((await post(app, '/intent')).status).toBe(201);
  expect((await post(app, '/session', { id: simulator.wallet('Ada').account })).body.code).toBe('intent_not_found');
  expect((await request(app).delete('/session').set(sameOriginHeaders)).status).toBe(204);
  expect((await post(app, '/intent/webhook')).status).not.toBe(403);
  expect((await post(app, '/form')).status).toBe(403);
});

test.each([
  ['without', false, null],
  ['with', 1, { id: expect.any(String) }],
])(
  'behind https %s trust proxy, POST /session answers 200, and the user of the next request is known only with it',
  async (_name, trust, user) => {
    const app = express().set('trust proxy', trust);
    app.use(session({ secret: 'secret', resave: false, saveUninitialized: false, cookie: { secure: true } }));
    app.use(intentRouter(simulator.siteOptions({ logger: false })));
    const cookies = new Map<string, string>();
    const send = async (method: 'get' | 'post', path: string, body?: object) => {
      const cookie = [...cookies].map((pair) => pair.join('=')).join('; ');
      const headers = { ...sameOriginHeaders, 'x-forwarded-proto': 'https', cookie };
      const response = await request(app)[method](path).set(headers).send(body);
      for (const line of response.get('Set-Cookie') ?? []) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
        cookies.set(name, value);
      }
      return response;
    };
    const { body } = await send('post', '/intent', { mode: 'login' });
    const { id } = await simulator.wallet('Ada').login(body.client_secret);
    expect((await send('post', '/session', { id })).status).toBe(200);
    expect((await send('get', '/session')).body.user).toEqual(user);
  },
);
