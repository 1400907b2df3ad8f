import { errorCodes, type IntentErrorCode } from '../../errors.js';
import type { RouterContext } from '../router-context.js';
import type { AnswerName } from './answer-schemas.js';

/** What of a router its description depends on. */
export type DescribedSite = Pick<RouterContext, 'config' | 'hooks' | 'termsOf'>;

/** A value of JSON, as the document has them. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };
/** An object of JSON. */
export type JsonObject = { readonly [name: string]: Json };

/** One method of one path. */
export interface Operation {
  readonly method: 'get' | 'post' | 'delete';
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly Json[];
  readonly security?: readonly Json[];
  readonly requestBody?: Json;
  /** By status; what is refused comes from `codes`. */
  readonly answers: { readonly [status: string]: JsonObject };
  /** The codes of the problems it can answer. */
  readonly codes: readonly IntentErrorCode[];
  /** Whether a hook of the site can refuse the request with any status of 4xx. */
  readonly mayRefuse?: boolean;
  /** Whether the headers of a limit are in every answer, and not only where it is reached. */
  readonly tellsLimit?: boolean;
}

export const schemaRef = (name: AnswerName): JsonObject => ({ $ref: `#/components/schemas/${name}` });
export const headerRef = (name: string): JsonObject => ({ $ref: `#/components/headers/${name}` });

/** An answer of JSON. */
export function answers(description: string, name: AnswerName, example: Json, headers: JsonObject = {}): JsonObject {
  return { description, headers, content: { 'application/json': { schema: schemaRef(name), example } } };
}

/** The codes with which the way to the payment service fails. */
export const upstreamCodes: readonly IntentErrorCode[] = [
  'sequencer_error',
  'sequencer_bad_status',
  'sequencer_bad_response',
  'sequencer_unreachable',
  'sequencer_unavailable',
  'too_busy',
  'sequencer_timeout',
];

/** An operation as OpenAPI has it. */
export function describeOperation(operation: Operation): JsonObject {
  const { method: _method, path: _path, answers, codes, mayRefuse = false, tellsLimit = false, ...rest } = operation;
  const limits = tellsLimit ? limitHeaders(false) : {};
  const fine = Object.entries(answers).map(([status, answer]) => {
    const headers = { ...(answer.headers as JsonObject), ...limits };
    return [status, Object.keys(headers).length > 0 ? { ...answer, headers } : withoutHeaders(answer)];
  });
  const problems = [...groupByStatus(codes, mayRefuse)].map(([status, group]) => [
    String(status),
    problemAnswer(status, group, limits),
  ]);
  const refusal = mayRefuse ? { '4XX': problemAnswer(undefined, ['request_refused'], limits) } : {};
  return { ...rest, responses: { ...Object.fromEntries([...fine, ...problems]), ...refusal } } as JsonObject;
}

function withoutHeaders({ headers: _headers, ...answer }: JsonObject): JsonObject {
  return answer;
}

/** A hook may choose a status that has codes of its own. */
function groupByStatus(codes: readonly IntentErrorCode[], mayRefuse: boolean): Map<number, IntentErrorCode[]> {
  const groups = new Map<number, IntentErrorCode[]>();
  for (const code of codes) {
    const [status] = errorCodes[code];
    groups.set(status, [...(groups.get(status) ?? []), code]);
  }
  if (mayRefuse) for (const [status, group] of groups) if (status < 500) group.push('request_refused');
  return new Map([...groups].sort(([a], [b]) => a - b));
}

function problemAnswer(status: number | undefined, codes: readonly IntentErrorCode[], limits: JsonObject): JsonObject {
  const properties = { ...(status !== undefined && { status: { const: status } }), code: { enum: codes } };
  const headers = { 'X-Request-Id': headerRef('X-Request-Id'), ...limits, ...retryHeaders(codes) };
  const examples = Object.fromEntries(codes.map((code) => [code, { value: exampleOf(code, status) }]));
  const description = codes.map((code) => `\`${code}\`: ${errorCodes[code][1]}.`).join(' ');
  const schema = { ...schemaRef('Problem'), properties };
  return { description, headers, content: { 'application/problem+json': { schema, examples } } };
}

function retryHeaders(codes: readonly IntentErrorCode[]): JsonObject {
  const isLimit = codes.includes('rate_limited');
  const mayPass =
    isLimit ||
    codes.includes('too_many_connections') ||
    codes.includes('closing') ||
    codes.some((code) => upstreamCodes.includes(code));
  if (!mayPass) return {};
  const isAlwaysTold = codes.every((code) => errorCodes[code][0] === 429);
  return { 'Retry-After': header('Retry-After', isAlwaysTold), ...(isLimit && limitHeaders(codes.length === 1)) };
}

function limitHeaders(isRequired: boolean): JsonObject {
  return { RateLimit: header('RateLimit', isRequired), 'RateLimit-Policy': header('RateLimit-Policy', isRequired) };
}

function header(name: keyof typeof sharedHeaders, isRequired: boolean): JsonObject {
  return isRequired ? { ...sharedHeaders[name], required: true } : headerRef(name);
}

/** The headers that several operations share. */
export const sharedHeaders = {
  'Retry-After': {
    description: 'In so many seconds it may be worth another try.',
    schema: { type: 'integer', minimum: 1 },
  },
  RateLimit: { description: 'What is left of the limit, and until when.', schema: { type: 'string' } },
  'RateLimit-Policy': {
    description: 'Which limit it is: its name, how many requests, in how many seconds.',
    schema: { type: 'string' },
  },
  'X-Request-Id': {
    description: 'The id in `instance`; absent where the app has ids of its own, and so tells them itself.',
    schema: { type: 'string', pattern: '^[\\w.:~@+=/-]{1,128}$' },
  },
  'Set-Cookie': { description: 'The cookie that this is about; others may come with it.', schema: { type: 'string' } },
  ETag: { description: 'Send it as `If-None-Match`, and get 304 while it holds.', schema: { type: 'string' } },
} as const satisfies JsonObject;

const exampleId = 'urn:express-intents:request:6f1c2a34-9d2e-4b7a-8c55-0e9f7d3b1a20';

function exampleOf(code: IntentErrorCode, given?: number): JsonObject {
  const [status, title] = errorCodes[code];
  return { type: `urn:express-intents:error:${code}`, title, status: given ?? status, code, instance: exampleId };
}
