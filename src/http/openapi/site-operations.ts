import { elementFiles } from '../elements.js';
import { limitCodes } from './intent-operations.js';
import { answers, type DescribedSite, headerRef, type JsonObject, type Operation } from './operation.js';

const etag: JsonObject = { ETag: headerRef('ETag') };
const unchanged: JsonObject = { description: 'What the tag stands for still holds.', headers: etag };

/** What wallets, pages, the payment service and load balancers ask for. */
export function siteOperations(site: DescribedSite): Operation[] {
  const { routes, login, webhook } = site.config;
  const { elements, keyFile, openapi, health } = routes;
  return [
    ...(elements === false ? [] : [elementFile(elements)]),
    ...(login && keyFile !== false ? [keyFileOf(keyFile)] : []),
    ...(webhook && routes.webhook !== false ? [receiveWebhook(site, routes.webhook)] : []),
    ...(openapi === false ? [] : [describeSite(openapi)]),
    ...(health === false ? [] : [showHealth(health)]),
  ];
}

function elementFile(path: string): Operation {
  const schema = { type: 'string', enum: elementFiles };
  return {
    ...{ method: 'get', path: `${path}/{file}`, operationId: 'getElement', summary: 'The button, and what it loads' },
    parameters: [{ name: 'file', in: 'path', required: true, schema }],
    answers: {
      200: { description: 'A script.', headers: etag, content: { 'text/javascript': { schema: { type: 'string' } } } },
      304: unchanged,
    },
    codes: ['internal_error'],
  };
}

function keyFileOf(path: string): Operation {
  const example = { public_keys: ['E8otxw1CVX9bfyddKu3ZB3BVLa4VVF9J7CTPdnUwT9jR'] };
  return {
    ...{ method: 'get', path, operationId: 'getKeyFile', summary: 'The verifier keys of this site, for wallets' },
    answers: { 200: answers('The keys.', 'KeyFile', example, etag), 304: unchanged },
    codes: [],
  };
}

function receiveWebhook({ config }: DescribedSite, path: string): Operation {
  return {
    ...{
      method: 'post',
      path,
      operationId: 'receiveWebhook',
      summary: 'Takes a call that the payment service has signed',
    },
    description: 'A hint to ask for the status, and never a proof.',
    requestBody: { required: true, content: { 'application/jwt': { schema: { type: 'string' } } } },
    answers: { 200: { description: 'Accepted. Without a body.' } },
    codes: [
      'invalid_webhook',
      'body_too_large',
      'unsupported_media_type',
      ...limitCodes(config),
      'internal_error',
      'closing',
    ],
    // What succeeds is not counted, which is known only afterwards.
    tellsLimit: config.rateLimits !== undefined,
  };
}

function describeSite(path: string): Operation {
  const document = { schema: { type: 'object', required: ['openapi'] } };
  return {
    ...{ method: 'get', path, operationId: 'describeSite', summary: 'This document' },
    answers: {
      200: { description: 'OpenAPI 3.1.', headers: etag, content: { 'application/json': document } },
      304: unchanged,
    },
    codes: ['internal_error'],
  };
}

function showHealth(path: string): Operation {
  const ok = { status: 'ok' };
  const down = { status: 'down', reason: 'closing' };
  return {
    ...{ method: 'get', path, operationId: 'showHealth', summary: 'Whether this process should get requests' },
    answers: {
      200: answers('It should; where it is `degraded`, somebody should look at it.', 'Health', {
        ...{ status: 'ok', checks: { process: ok, sequencer: ok, streams: ok } },
      }),
      503: answers('It should not.', 'Health', {
        status: 'down',
        checks: { process: down, sequencer: ok, streams: ok },
      }),
    },
    codes: [],
  };
}
