import type { Express } from 'express';
import request from 'supertest';
import { requireLogin } from '../../../src/http/session/require-login.js';
import { faultSequencer } from '../../support/sequencers/fault-sequencer.js';
import { expressVersions, type SiteOptions, startSite } from '../../support/sites/site.js';
import { pending, StatusTransport } from '../../support/transports/status-transport.js';

const id = '9g7uDNB441jNqo9exZuNq95A8CsbWRXQmoDo9DMopxZH';
const prefix = 'urn:express-intents:request:';
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const behindProxy = (app: Express): void => void app.set('trust proxy', 1);
const withId = (id: unknown) => (app: Express) => app.use((req, _res, next) => next(void Object.assign(req, { id })));

/** A site whose sequencer fails: every response is a problem and is logged. */
async function startDownSite(options: SiteOptions = {}) {
  const { url } = await faultSequencer((_call, res) => res.writeHead(404).end());
  return startSite({ sequencer: { url } }, options);
}

async function problemFrom(origin: string, headers: Record<string, string> = {}) {
  const { body, headers: responseHeaders } = await request(origin).get(`/status/${id}`).set(headers).expect(502);
  const instance = body.instance as string;
  expect(instance.startsWith(prefix)).toBe(true);
  return { id: instance.slice(prefix.length), header: responseHeaders['x-request-id'] };
}

describe.each(Object.entries(expressVersions))('the id of a request on %s', (_name, factory) => {
  test('is generated without an incoming id, and is the same in the problem, the header and the log', async () => {
    const { origin, log } = await startDownSite({ factory });
    const first = await problemFrom(origin);
    const second = await problemFrom(origin);
    expect(first.id).toMatch(uuid);
    expect(first.header).toBe(first.id);
    expect(second.id).not.toBe(first.id);
    expect(log.lines.filter((line) => line.includes(`"requestId":"${first.id}"`))).toHaveLength(1);
    expect(log.lines.filter((line) => line.includes(`"requestId":"${second.id}"`))).toHaveLength(1);
  });

  test.each([
    ['a string', 'req-7', 'req-7'],
    ['a number, as from pino-http', 7, '7'],
  ])('is req.id of the app when that is %s', async (_name, appId, expected) => {
    const { origin, log } = await startDownSite({ factory, before: withId(appId) });
    expect(await problemFrom(origin, { 'X-Request-Id': 'theirs' })).toEqual({ id: expected, header: undefined });
    expect(log.text).toContain(`"requestId":"${expected}"`);
  });

  test('is X-Request-Id of the response, if the app has set it', async () => {
    const before = (app: Express) => app.use((_req, res, next) => next(void res.set('X-Request-Id', 'given-by-app')));
    const { origin } = await startDownSite({ factory, before });
    expect(await problemFrom(origin)).toEqual({ id: 'given-by-app', header: 'given-by-app' });
  });

  test('is X-Request-Id of a trusted proxy', async () => {
    const { origin } = await startDownSite({ factory, before: behindProxy });
    const proxyId = 'Root=1-67891233-abcdef012345678912345678';
    expect(await problemFrom(origin, { 'X-Request-Id': proxyId })).toEqual({ id: proxyId, header: proxyId });
  });

  test('is never X-Request-Id of a client', async () => {
    const { origin, log } = await startDownSite({ factory });
    expect((await problemFrom(origin, { 'X-Request-Id': 'chosen-by-a-stranger' })).id).toMatch(uuid);
    expect(log.text).not.toContain('chosen-by-a-stranger');
  });
});

test.each([
  ['an object', { toString: (): string => 'x' }],
  ['a line break', 'a\nexpress-intents: all is well'],
  ['white space', 'a b'],
  ['129 characters', 'x'.repeat(129)],
  ['undefined', undefined],
])('req.id is ignored when it is %s', async (_name, appId) => {
  const { origin, log } = await startDownSite({ before: withId(appId) });
  const found = await problemFrom(origin);
  if (Number.isNaN(appId)) expect(found.id).toBe('NaN');
  else expect(found.id).toMatch(uuid);
  expect(log.text).not.toContain('all is well');
});

test('every problem has a request id, also those of the guards; other responses have none', async () => {
  const transport = new StatusTransport();
  transport.answer = pending;
  const { origin } = await startSite({
    sequencer: { url: 'https://sequencer.example', transport },
    limits: { requests: { status: 2 } },
    after: (app) => app.get('/guarded', requireLogin(), (_req, res) => void res.send('in')),
  });
  const unguarded = await request(origin).get(`/status/${id}`).expect(200);
  expect(unguarded.headers).not.toHaveProperty('x-request-id');
  for (const answer of [
    await request(origin).get('/guarded').expect(401),
    await request(origin).post('/intent').expect(403),
    await request(origin).put('/intent').expect(405),
    await request(origin).get('/status/abc').expect(400),
    await request(origin).get(`/status/${id}`).expect(429),
  ]) {
    expect(answer.body.instance).toBe(`${prefix}${answer.headers['x-request-id']}`);
  }
});
