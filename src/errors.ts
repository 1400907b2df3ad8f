/**
 * The error codes, each with its HTTP status and a title that is safe to display. Codes are stable, so programs can branch on
 * them. `docs/errors.md` and `openapi.json` have an entry for each. `textsByCode` in browser/texts/texts.ts selects the text that
 * the button shows for a code.
 */
export const errorCodes = {
  // Errors of the caller.
  invalid_json: [400, 'The body is not valid JSON'],
  invalid_request: [400, 'A field of the request is invalid'],
  unknown_field: [400, 'A field of the request is unknown'],
  terms_not_accepted: [400, 'The terms of the payment are set by the server'],
  invalid_amount: [400, 'The amount is not a decimal number with at most two decimal places'],
  amount_too_small: [400, 'The amount is below the minimum'],
  amount_too_large: [400, 'The amount is above the maximum'],
  unknown_currency: [400, 'The currency is unknown'],
  invalid_account: [400, 'The account is not the Base58 or Base64 form of 32 bytes'],
  invalid_domain: [400, 'The domain is not a registrable domain name'],
  invalid_id: [400, 'The intent id is not the Base58 form of 32 bytes'],
  invalid_client_secret: [400, 'The client secret is malformed, or belongs to another intent'],
  invalid_idempotency_key: [400, 'The idempotency key is malformed'],
  not_supported: [400, 'This kind of intent is not supported'],
  invalid_webhook: [400, 'The webhook call is invalid'],
  request_refused: [400, 'The site refused the request'],
  login_required: [401, 'A login is required'],
  payment_required: [402, 'A payment is required'],
  cross_site_request: [403, 'The request does not come from a page of this site'],
  intent_not_found: [404, 'The intent does not exist, or is not available to this browser'],
  method_not_allowed: [405, 'The method is not allowed'],
  login_pending: [409, 'The login is not confirmed yet'],
  payment_pending: [409, 'The payment is not settled yet'],
  body_too_large: [413, 'The body is too large'],
  unsupported_media_type: [415, 'The content type of the body is not supported'],
  idempotency_key_reused: [422, 'The idempotency key was used for another request'],
  too_many_connections: [429, 'Too many connections are open'],
  rate_limited: [429, 'Too many requests'],
  // Errors of the configuration or the site.
  invalid_configuration: [500, 'The configuration is invalid'],
  invalid_terms: [500, 'The site set invalid terms for the payment'],
  invalid_key: [500, 'A key is invalid'],
  signer_failed: [500, 'The signer did not return a valid signature'],
  router_missing: [500, 'The intent router is not mounted'],
  guard_missing: [500, 'The route is not guarded'],
  malformed_message: [500, 'A message cannot be decoded'],
  invalid_signature: [500, 'A signature is invalid'],
  internal_error: [500, 'The server has an internal error'],
  session_unavailable: [503, 'The session store is unavailable'],
  too_busy: [503, 'The site is overloaded'],
  closing: [503, 'The process of the site is shutting down'],
  ledger_unavailable: [503, 'The ledger of the site is unavailable'],
  ledger_locked: [503, 'The ledger of the site is already open'],
  // Errors of the sequencer or the connection to it.
  intent_refused: [502, 'The sequencer refused the intent'],
  sequencer_error: [502, 'The sequencer refused the request'],
  sequencer_bad_status: [502, 'The sequencer failed'],
  sequencer_bad_response: [502, 'The response of the sequencer is invalid'],
  sequencer_unreachable: [503, 'The sequencer is unreachable'],
  sequencer_unavailable: [503, 'Calls to the sequencer are paused, because it failed repeatedly'],
  sequencer_timeout: [504, 'The sequencer did not answer in time'],
} as const satisfies Record<string, readonly [status: number, title: string]>;

/** The code of an {@link IntentError}: a closed union. */
export type IntentErrorCode = keyof typeof errorCodes;

/** Further fields of an error. */
export interface IntentErrorOptions extends ErrorOptions {
  /** When a retry can succeed, in milliseconds from now. */
  readonly retryAfterMs?: number | undefined;
}

/** The error class of this package. `message` is for developers and never contains a secret. */
export class IntentError extends Error {
  /** A stable code, explained in docs/errors.md. */
  readonly code: IntentErrorCode;
  /** When a retry can succeed, in milliseconds from now; absent if unknown. */
  declare readonly retryAfterMs?: number;

  constructor(code: IntentErrorCode, message?: string, options?: IntentErrorOptions) {
    super(message ?? errorCodes[code][1], options);
    this.name = 'IntentError';
    this.code = code;
    // Otherwise a printed error would show an undefined property.
    if (options?.retryAfterMs !== undefined) this.retryAfterMs = options.retryAfterMs;
  }

  /** HTTP status, 400 to 599. */
  get status(): number {
    return errorCodes[this.code][0];
  }

  /** A short sentence for the code, safe to display. */
  get title(): string {
    return errorCodes[this.code][1];
  }
}

/** Codes of {@link SequencerError}. */
export type SequencerErrorCode = Extract<IntentErrorCode, `sequencer_${string}` | 'intent_refused'>;

/** Further fields of a failed call. */
export interface SequencerErrorDetails extends IntentErrorOptions {
  /** The error text of the sequencer. */
  readonly serviceMessage?: string | undefined;
  /** The HTTP status of a failed response. */
  readonly httpStatus?: number | undefined;
}

const maxServiceMessageLength = 1_000;

/** A failed call to the sequencer (interface section 7). */
export class SequencerError extends IntentError {
  /** The kind of failure. */
  declare readonly code: SequencerErrorCode;
  /** The error text of the sequencer, at most 1000 characters. For logs only, because the service controls it. */
  declare readonly serviceMessage?: string;
  /** The HTTP status of a failed response; over gRPC also 429 or 500 for an equivalent status. For logs only. */
  declare readonly httpStatus?: number;

  constructor(code: SequencerErrorCode, message: string, details: SequencerErrorDetails = {}) {
    const { cause, retryAfterMs, serviceMessage, httpStatus } = details;
    super(code, message, { ...(cause !== undefined && { cause }), retryAfterMs });
    this.name = 'SequencerError';
    if (serviceMessage !== undefined) this.serviceMessage = String(serviceMessage).slice(0, maxServiceMessageLength);
    if (httpStatus !== undefined) this.httpStatus = httpStatus;
  }
}

/** One problem of the configuration, with its fix. */
export interface ConfigProblem {
  /** The option, environment variable, package or function. */
  readonly setting: string;
  /** The problem, as a sentence without secrets. */
  readonly problem: string;
  /** The fix. */
  readonly fix: string;
}

/** A configuration error, with all problems found. */
export class ConfigError extends IntentError {
  /** At least one. */
  declare readonly problems: readonly ConfigProblem[];

  constructor(problems: readonly ConfigProblem[]) {
    const lines = problems.map(({ setting, problem, fix }) => `  - ${setting}: ${problem}\n    ${fix}`);
    super('invalid_configuration', `express-intents cannot start:\n${lines.join('\n')}`);
    this.name = 'ConfigError';
    // The message contains all problems. A printed error would repeat them.
    Object.defineProperty(this, 'problems', { value: problems, enumerable: false });
    Object.defineProperty(this, 'code', { enumerable: false });
    const frames = siteFrames(this.stack);
    this.stack = [`${this.name}: ${this.message}`, ...(frames.length > 0 ? ['', ...frames] : [])].join('\n');
  }
}

/** The stack frames of the site and its packages. Frames of this package and of Node would hide them. */
export function siteFrames(stack: unknown): readonly string[] {
  if (typeof stack !== 'string' || !URL.canParse('.', import.meta.url)) return [];
  // With --enable-source-maps, the frames of dist/ name the files of src/, by a path instead of a URL.
  const folders = ['.', '../src/'].map((path) => new URL(path, import.meta.url).pathname);
  const hidden = ['node:internal/', ...folders, ...folders.map(decodeURIComponent)];
  const frames = stack.split('\n').filter((line) => /^ {4}at /.test(line));
  return frames.filter((frame) => !hidden.some((text) => frame.includes(text)));
}

/** The first frame of the site's own code, such as `fulfill (file:///app/orders.js:12:5)`. Undefined if there is none. */
export function firstAppFrame(stack: unknown): string | undefined {
  const isOwn = (frame: string): boolean =>
    /:\d+:\d+\)?$/.test(frame) && !/[/\\]node_modules[/\\]|\b(?:node|wasm):/.test(frame);
  return siteFrames(stack)
    .find(isOwn)
    ?.replace(/^ {4}at (?:async )?/, '');
}

export const unreadable = 'The thrown value cannot be read.';

/** The message of a thrown value: of any type, from any realm, even with accessors that throw. */
export function messageOf(thrown: unknown): string {
  try {
    return String((thrown as { readonly message?: unknown } | null | undefined)?.message ?? thrown);
  } catch {
    return unreadable;
  }
}

/** Ends a text with a period, so that another sentence can follow. */
export const withPeriod = (text: string): string => text.replace(/\.?$/, '.');

interface ErrorDetails {
  readonly name?: unknown;
  readonly message?: unknown;
  readonly code?: unknown;
  readonly status?: unknown;
  readonly cause?: unknown;
}

/** The details of a thrown value. Does not use `instanceof`, because test runners have their own Error class. */
export function readError(thrown: unknown): ErrorDetails {
  return typeof thrown === 'object' && thrown !== null ? thrown : {};
}
