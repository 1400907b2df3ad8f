import { doubleCsrf } from 'csrf-csrf';
import express, { type Express } from 'express';
import { intentRouter } from 'express-intents';
import { type Sequencer, sameOriginHeaders, startSequencer } from 'express-intents/testing';
import request from 'supertest';
import { blocksOf } from './guides.js';

// The section on CSRF middleware of docs/existing-app.md.

const skip = blocksOf('docs/existing-app.md').find(({ text }) => text.includes('skipCsrfProtection'))?.text ?? '';

let sequencer: Sequencer;
beforeAll(async () => {
  sequencer = await startSequencer();
});
afterAll(() => sequencer.close());

/** An app whose CSRF middleware runs before the router. */
function csrfFirst(more: object): Express {
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
  app.use(doubleCsrfProtection, intentRouter({ ...sequencer.siteOptions(), logger: false }));
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

test('the exclusion of the guide admits the routes of the router, and no form', async () => {
  const app = csrfFirst(new Function(`return {${skip}}`)() as object);
  expect((await post(app, '/intent')).status).toBe(201);
  expect((await post(app, '/session', { id: sequencer.wallet('Ada').account })).body.code).toBe('intent_not_found');
  expect((await request(app).delete('/session').set(sameOriginHeaders)).status).toBe(204);
  expect((await post(app, '/intent/webhook')).status).not.toBe(403);
  expect((await post(app, '/form')).status).toBe(403);
});
