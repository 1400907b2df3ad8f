import { Validator } from '@seriousme/openapi-schema-validator';
import request from 'supertest';
import * as z from 'zod';
import { errorCodes, type IntentErrorCode } from '../../../src/errors.js';
import { confirmedCompletionSchema, intentRequestSchema } from '../../../src/http/request/body-schemas.js';
import { Description } from '../../support/sites/described-answers.js';
import { generateJwtKey } from '../../support/sites/service-jwt.js';
import { type SiteOptions, startSite } from '../../support/sites/site.js';
import { countingTransport } from '../../support/transports/counting-transport.js';

const service = generateJwtKey();

/** The document of a site without a service. */
async function documentOf(options: SiteOptions = {}) {
  const { router } = await startSite(
    { sequencer: { transport: countingTransport(), url: 'https://s.example' } },
    options,
  );
  return router.openApi();
}

const everything: SiteOptions = {
  payment: () => ({ amount: 1, currency: 'usd' }),
  onLogin: () => undefined,
  login: { confirm: true },
  webhook: { publicKeys: [service.publicKey] },
  origin: 'https://shop.example',
  routes: { health: '/healthz' },
};

describe('router.openApi()', () => {
  test.each<[string, SiteOptions]>([
    ['all options', everything],
    [
      'all routes and limits off',
      { login: false, limits: { requests: false }, routes: { status: false, events: false, elements: false } },
    ],
  ])('is valid OpenAPI 3.1 with %s', async (_name, options) => {
    const document = await documentOf(options);
    const validator = new Validator();
    const { valid, errors } = await validator.validate(structuredClone(document) as never);
    expect([valid, errors]).toEqual([true, undefined]);
    expect(validator.version).toBe('3.1');
  });

  test('has examples that match their schemas', async () => {
    const document = await documentOf(everything);
    const description = new Description(document);
    let count = 0;
    const checkExamples = (value: unknown): void => {
      if (typeof value !== 'object' || value === null) return;
      const { schema, example, examples = {} } = value as Record<string, object | undefined>;
      const all = [...(example === undefined ? [] : [example]), ...Object.values(examples).map(({ value }) => value)];
      for (const one of schema ? all : []) {
        count += 1;
        expect([one, description.faultsIn(one, schema ?? {})]).toEqual([one, []]);
      }
      for (const child of Object.values(value)) checkExamples(child);
    };
    checkExamples(document.paths);
    expect(count).toBeGreaterThan(8);
  });

  test('describes the routes of the site', async () => {
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

  test('describes the bodies with the schemas of the validation', async () => {
    const described = (path: string): object => {
      const { post } = document.paths[path] as never as {
        post: { requestBody: { content: { 'application/json': { schema: object } } } };
      };
      return post.requestBody.content['application/json'].schema;
    };
    const document = await documentOf(everything);
    const checked = (schema: z.ZodType): object => {
      const { $schema: _dialect, ...rest } = z.toJSONSchema(schema);
      return rest;
    };
    expect(described('/intent')).toEqual(checked(intentRequestSchema));
    expect(described('/session')).toEqual(checked(confirmedCompletionSchema));
  });

  test('has every error code with its status', async () => {
    const document = await documentOf(everything);
    const { Problem } = document.components.schemas as never as {
      Problem: { properties: { code: { enum: string[] } } };
    };
    expect([...Problem.properties.code.enum].sort()).toEqual(Object.keys(errorCodes).sort());
    for (const name of new Description(document).all) {
      const [operation, status, code] = name.split(' ');
      if (code === undefined || code === 'request_refused') continue;
      expect([operation, code, Number(status)]).toEqual([operation, code, errorCodes[code as IntentErrorCode][0]]);
    }
  });

  test('is served, built once, and has the mount path in servers', async () => {
    const { origin, router } = await startSite({
      sequencer: { transport: countingTransport(), url: 'https://s.example' },
    });
    const first = await request(origin).get('/intent/v1/openapi.json').expect(200);
    expect(first.body).toEqual(await router.openApi());
    expect(await router.openApi()).toBe(await router.openApi());
    await request(origin)
      .get('/intent/v1/openapi.json')
      .set('If-None-Match', first.headers.etag ?? '')
      .expect(304);
    const mounted = await startSite({
      sequencer: { transport: countingTransport(), url: 'https://s.example' },
      mountPath: '/shop',
    });
    const { body } = await request(mounted.origin).get('/shop/intent/v1/openapi.json').expect(200);
    expect(body.servers).toEqual([{ url: '/shop' }]);
    await request(origin).get('/status/abc').expect(400);
  });
});
