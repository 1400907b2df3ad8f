import type { IntentErrorCode } from '../../errors.js';
import {
  answers,
  type DescribedSite,
  headerRef,
  type Json,
  type JsonObject,
  type Operation,
  schemaRef,
  upstreamCodes,
} from './operation.js';

/** An id as an intent has it; of nobody's. */
const exampleId = '9g7uDNB441jNqo9exZuNq95A8CsbWRXQmoDo9DMopxZH';
const idParameter: Json = {
  ...{ name: 'id', in: 'path', required: true, description: 'The id of the intent: Base58 of 32 bytes.' },
  ...{ schema: { type: 'string' }, example: exampleId },
};

/** What is looked up of an intent by anybody who has its id, and how one is created. */
export function intentOperations(site: DescribedSite, requestSchema: JsonObject): Operation[] {
  const { intent, status, events } = site.config.routes;
  return [
    ...(intent === false ? [] : [createIntent(site, intent, requestSchema)]),
    ...(status === false ? [] : [getStatus(site, `${status}/{id}`)]),
    ...(events === false ? [] : [followIntent(site, `${events}/{id}/events`)]),
  ];
}

function createIntent({ config, hooks, termsOf }: DescribedSite, path: string, schema: JsonObject): Operation {
  const hasHook = Boolean(hooks.payment ?? hooks.onCreated);
  const codes: readonly (IntentErrorCode | false)[] = [
    ...(['invalid_json', 'invalid_request', 'unknown_field', 'terms_not_accepted', 'not_supported'] as const),
    ...(termsOf ? termsCodes : []),
    ...(config.ledger ? ledgerCodes : []),
    ...(['cross_site_request', 'body_too_large', 'unsupported_media_type'] as const),
    config.rateLimits !== undefined && 'rate_limited',
    ...(['internal_error', 'closing', 'intent_refused', ...upstreamCodes] as const),
    config.login !== undefined && 'signer_failed',
    hasHook && 'guard_missing',
  ];
  return {
    ...{ method: 'post', path, operationId: 'createIntent', summary: 'Creates a payment or login intent' },
    description:
      'The secret comes only after the payment service said OK. The browser gets a cookie, by which it is known when it asks ' +
      'again or completes a login. The price is set by the server.',
    parameters: config.ledger ? [originParameter, idempotencyParameter] : [originParameter],
    security: [{}, { browser: [] }],
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema,
          examples: { order: { value: { order: 42 } }, login: { value: { mode: 'login' } } },
        },
      },
    },
    answers: {
      201: answers(
        'Created.',
        'CreatedIntent',
        { client_secret: 'ThisSecretisAnExampLe111111' },
        {
          'Set-Cookie': headerRef('Set-Cookie'),
        },
      ),
    },
    codes: codes.filter((code) => code !== false),
    mayRefuse: hasHook,
    tellsLimit: config.rateLimits?.store !== undefined,
  };
}

/** What is wrong with terms, be they the browser's own or those that the site's hook has set. */
const termsCodes: readonly IntentErrorCode[] = [
  'invalid_amount',
  'amount_too_small',
  'amount_too_large',
  'unknown_currency',
  'invalid_account',
  'invalid_configuration',
];
const ledgerCodes: readonly IntentErrorCode[] = [
  'invalid_idempotency_key',
  'idempotency_key_reused',
  'ledger_unavailable',
];

const idempotencyParameter: Json = {
  ...{ name: 'Idempotency-Key', in: 'header', required: false, schema: { type: 'string', minLength: 1 } },
  description:
    'A random key for each intent that is wanted; a repeat of the same request with it gets the same intent.',
  example: '6f1c2a34-9d2e-4b7a-8c55-0e9f7d3b1a20',
};

/** Browsers say by themselves where a request comes from. */
export const originParameter: Json = {
  ...{ name: 'Origin', in: 'header', required: false, schema: { type: 'string' } },
  description: "The site's own origin. Browsers send it, or `Sec-Fetch-Site`, by themselves; a program has to.",
};

function getStatus({ config }: DescribedSite, path: string): Operation {
  const example = { exists: true, code_scanned: true, intent_submitted: false };
  return {
    ...{ method: 'get', path, operationId: 'getStatus', summary: 'The three flags of an intent' },
    parameters: [idParameter],
    answers: { 200: answers('An unknown id does not exist, which is no error.', 'Status', example) },
    codes: ['invalid_id', ...limitCodes(config), 'internal_error', 'closing', ...upstreamCodes],
    tellsLimit: config.rateLimits?.store !== undefined,
  };
}

export function limitCodes({ rateLimits }: DescribedSite['config']): readonly IntentErrorCode[] {
  return rateLimits ? ['rate_limited'] : [];
}

/** The events besides `status`, each with data of the same form. */
const eventNames = [
  'code_scanned',
  'client_rejected_payment',
  'client_rejected_login',
  'airdrop_received',
  'webhook_called',
  'intent_submitted',
] as const;

function followIntent({ config }: DescribedSite, path: string): Operation {
  const lastEventId: Json = {
    ...{ name: 'Last-Event-ID', in: 'header', required: false, schema: { type: 'string' } },
    description: 'The id of the last event that the browser had; EventSource sends it when it comes back.',
  };
  return {
    ...{ method: 'get', path, operationId: 'followIntent', summary: 'What happens to an intent, as it happens' },
    description:
      'Server-Sent Events. First comes `status`, then what happens; after `intent_submitted` the stream ends. `x-events` has ' +
      'the schema of the data of each event, which is JSON.',
    parameters: [idParameter, lastEventId],
    answers: { 200: { description: 'The stream.', content: { 'text/event-stream': stream } }, 204: ended },
    codes: ['invalid_id', ...limitCodes(config), 'too_many_connections', 'internal_error', 'too_busy'],
    tellsLimit: config.rateLimits?.store !== undefined,
  };
}

const ended: JsonObject = { description: 'The browser had the last event, so that it need not come back.' };

const stream: JsonObject = {
  schema: { type: 'string' },
  'x-events': {
    status: schemaRef('Status'),
    ...Object.fromEntries(eventNames.map((name) => [name, schemaRef('Event')])),
  },
  example:
    'retry: 3000\n\nevent: status\ndata: {"exists":true,"code_scanned":false,"intent_submitted":false}\n\n' +
    'event: code_scanned\nid: code_scanned\ndata: {"id":"code_scanned"}\n\n',
};
