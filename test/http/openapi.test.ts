import { Validator } from '@seriousme/openapi-schema-validator';
import request from 'supertest';
import { Description } from '../support/sites/described-answers.js';
import { generateJwtKey } from '../support/sites/service-jwt.js';
import { type SiteOptions, startSite } from '../support/sites/site.js';
import { countingTransport } from '../support/transports/counting-transport.js';

const service = generateJwtKey();

/** A site of which one thing is otherwise, without anybody behind it. */
async function documentOf(options: SiteOptions = {}) {
  const { router } = await startSite({ transport: countingTransport(), sequencerUrl: 'https://s.example', ...options });
  return router.openApi();
}

const everything: SiteOptions = {
  payment: () => ({ amount: 1, currency: 'usd' }),
  onLogin: () => undefined,
  confirm: true,
  webhook: true,
  serviceKey: service.publicKey,
  origin: 'https://shop.example',
  routes: { health: '/healthz' },
};

describe('the document', () => {
  test.each<[string, SiteOptions]>([
    ['with everything', everything],
    ['with nothing', { login: false, rateLimits: false, routes: { status: false, events: false, elements: false } }],
    ['where the browser chooses the amount', { clientAmount: { min: 1, max: 5, currency: 'usd' } }],
  ])('is valid OpenAPI 3.1, %s', async (_what, options) => {
    const document = await documentOf(options);
    const validator = new Validator();
    const { valid, errors } = await validator.validate(structuredClone(document) as never);
    expect([valid, errors]).toEqual([true, undefined]);
    expect(validator.version).toBe('3.1');
  });

  test('has examples that fit their schemas', async () => {
    const document = await documentOf(everything);
    const description = new Description(document);
    let count = 0;
    const look = (value: unknown): void => {
      if (typeof value !== 'object' || value === null) return;
      const { schema, example, examples = {} } = value as Record<string, object | undefined>;
      const all = [...(example === undefined ? [] : [example]), ...Object.values(examples).map(({ value }) => value)];
      for (const one of schema ? all : []) {
        count += 1;
        expect([one, description.faultsIn(one, schema ?? {})]).toEqual([one, []]);
      }
      for (const child of Object.values(value)) look(child);
    };
    look(document.paths);
    expect(count).toBeGreaterThan(50);
  });

  test('describes the routes as this site has them', async () => {
    const paths = async (options: SiteOptions = {}) => Object.keys((await documentOf(options)).paths).sort();
    const usual = ['/intent', '/intent/v1/openapi.json', '/intent/v1/{file}', '/intent/{id}/events', '/status/{id}'];
    const keyFile = '/.well-known/service-payments.json';
    expect(await paths()).toEqual([keyFile, ...usual.slice(0, 4), '/session', '/status/{id}']);
    expect(await paths({ login: false })).toEqual(usual);
    const routes = {
      intent: '/pay',
      status: false,
      events: '/e',
      elements: false,
      keyFile: false,
      openapi: '/d',
    } as const;
    expect(await paths({ routes })).toEqual(['/d', '/e/{id}/events', '/pay', '/session']);
    expect(await paths({ ...everything, routes: { webhook: '/hook', health: '/up' } })).toEqual(
      [keyFile, ...usual, '/hook', '/session', '/up'].sort(),
    );
  });

  test('describes the body as it is checked', async () => {
    const body = async (options: SiteOptions) => {
      const { post } = (await documentOf(options)).paths['/intent'] as never as {
        post: { requestBody: { content: { 'application/json': { schema: { properties: object } } } } };
      };
      return post.requestBody.content['application/json'].schema;
    };
    const without = await body({});
    expect(without).toMatchObject({ type: 'object', additionalProperties: false });
    expect(Object.keys(without.properties)).toEqual(['mode', 'order']);
    const withAmount = await body({ clientAmount: { min: 1, max: 5, currency: 'usd' } });
    expect(Object.keys(withAmount.properties)).toEqual(['mode', 'order', 'amount']);
  });

  test('is served, made once, and again under the path that the router is mounted under', async () => {
    const { origin, router } = await startSite({ transport: countingTransport(), sequencerUrl: 'https://s.example' });
    const first = await request(origin).get('/intent/v1/openapi.json').expect(200);
    expect(first.body).toEqual(await router.openApi());
    expect(await router.openApi()).toBe(await router.openApi());
    await request(origin)
      .get('/intent/v1/openapi.json')
      .set('If-None-Match', first.headers.etag ?? '')
      .expect(304);
    const under = await startSite({
      transport: countingTransport(),
      sequencerUrl: 'https://s.example',
      mountPath: '/shop',
    });
    const { body } = await request(under.origin).get('/shop/intent/v1/openapi.json').expect(200);
    expect(body.servers).toEqual([{ url: '/shop' }]);
    await request(origin).get('/status/abc').expect(400);
  });
});
