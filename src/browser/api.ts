import { Problem } from './problem.js';

/** `GET /status/:id` (interface section 2.6). */
export interface Status {
  readonly exists?: boolean;
  readonly code_scanned?: boolean;
  readonly intent_submitted?: boolean;
}

/** An answer that takes longer is as good as none: the connection may be gone without anyone having noticed. */
const timeoutMs = 15_000;

/**
 * Asks a route of this site for JSON.
 * @throws {Problem} when the answer is not the one hoped for, or there is none
 */
export async function call<Answer>(
  method: string,
  path: string | false,
  body?: unknown,
  signal?: AbortSignal,
): Promise<Answer> {
  if (path === false) throw new Problem('not_supported', 404);
  const given = new AbortController();
  const abort = (): void => given.abort();
  const timer = setTimeout(abort, timeoutMs);
  signal?.addEventListener('abort', abort);
  if (signal?.aborted) abort();
  try {
    const init =
      body === undefined ? {} : { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) };
    const response = await fetch(path, { method, ...init, cache: 'no-store', signal: given.signal });
    const answer = await response.json().catch(() => undefined);
    if (response.ok && answer) return answer;
    throw new Problem(answer?.code ?? 'unreadable', response.ok ? 502 : response.status, answer?.detail);
  } catch (error) {
    throw error instanceof Problem ? error : new Problem('offline');
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}
