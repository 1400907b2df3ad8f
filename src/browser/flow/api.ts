/** A failed request or page handler, or an invalid attribute or order (`handler_failed`). */
export class Problem extends Error {
  /**
   * The code of the response, one from docs/errors.md, or `offline`, `unreadable`, `insecure_page`, `cookies_blocked`,
   * `handler_failed`.
   */
  declare readonly code: string;
  /**
   * HTTP status of the response; 502 for an `unreadable` 2xx response. Without a response: 0 for `offline`, 404 for a disabled
   * route, 426 for `insecure_page`, 403 for `cookies_blocked`, otherwise -1.
   */
  declare readonly status: number;

  /** @param message the site's own text for a refusal; any other message is not displayed */
  constructor(code: string, status = 0, message = code, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.status = status;
  }
}

/** Whether the site refused permanently: any 4xx except 409 and 429, and a refusal by a hook. A retry cannot succeed. */
export const isFinalRefusal = ({ status, code }: Problem): boolean =>
  code === 'request_refused' || (status >= 400 && status < 500 && status !== 409 && status !== 429);

/** Whether the payment service refused this intent. It refuses each retry too. */
export const isServiceRefusal = ({ code }: Problem): boolean => code === 'intent_refused' || code === 'sequencer_error';

/** Whether the site answers, but its call to the payment service failed. */
export const isServiceFailure = ({ code, status }: Problem): boolean => status >= 502 && code.startsWith('sequencer_');

export function toProblem(error: unknown, code = 'internal_error'): Problem {
  return error instanceof Problem ? error : new Problem(code, -1, String(error), { cause: error });
}

/** `GET /status/:id` (interface section 2.6). */
export interface Status {
  readonly exists?: boolean;
  readonly code_scanned?: boolean;
  readonly intent_submitted?: boolean;
}

/** A connection can stop responding without an error. */
const timeoutMs = 15_000;

/**
 * Requests JSON from a route of this site, by POST if there is a body.
 * @param idempotencyKey the same for every retry of one request
 * @throws {Problem} unless the answer is 2xx with JSON @throws the reason of the signal
 */
export async function requestJson<Answer>(
  path: string | false,
  signal: AbortSignal,
  body?: string,
  idempotencyKey?: string,
): Promise<Answer> {
  if (!path) throw new Problem('not_supported', 404);
  const timeout = AbortSignal.timeout(timeoutMs);
  const response = await fetch(path, {
    ...(body && {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...(idempotencyKey && { 'Idempotency-Key': idempotencyKey }) },
      body,
    }),
    // Browsers of 2023 have no AbortSignal.any: there an aborted request completes and its answer is ignored.
    signal: AbortSignal.any?.([signal, timeout]) ?? timeout,
  }).catch(() => {
    throw new Problem('offline');
  });
  const answer = await response.json().catch(() => undefined);
  signal.throwIfAborted();
  if (response.ok && answer) return answer;
  if (!answer?.code) explainForeignAnswer(path, response, body);
  throw new Problem(answer?.code ?? 'unreadable', response.ok ? 502 : response.status, answer?.detail);
}

const explained = new Set<string>();

/** The router answers every error as JSON with a code. Any other answer is a fault of the installation, reported once. */
function explainForeignAnswer(path: string, { status, headers, redirected }: Response, body?: string): void {
  const answer = `${body ? 'POST' : 'GET'} ${new URL(path).pathname} returned ${status} ${headers.get('Content-Type') ?? 'without Content-Type'}`;
  // A 2xx JSON answer that cannot be parsed can come from the router: a broken connection truncates it.
  if (explained.has(answer) || / 20.*json/.test(answer)) return;
  explained.add(answer);
  const kind = status === 403 && body ? 'CSRF ' : redirected ? 'login ' : '';
  const cause =
    status === 404
      ? 'the mount path. Mount the router at the root, or set base'
      : `${kind}middleware or a proxy before the router. Mount the router first`;
  // biome-ignore lint/suspicious/noConsole: only the developer of the page can fix this.
  console.warn(`express-intents: ${answer}. Not from the router. Check: ${cause}. See docs/existing-app.md.`);
}
