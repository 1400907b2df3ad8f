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
 * Asks a route of this site for JSON, by POST where there is something to tell it.
 * @param key the same for every question that must have its effect only once
 * @throws {Problem} when the answer is not the one hoped for, or there is none
 */
export async function call<Answer>(
  path: string | false,
  signal: AbortSignal,
  body?: string,
  key?: string,
): Promise<Answer> {
  if (!path) throw new Problem('not_supported', 404);
  const timeout = AbortSignal.timeout(timeoutMs);
  const response = await fetch(path, {
    ...(body && {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...(key && { 'Idempotency-Key': key }) },
      body,
    }),
    // A browser of 2023 cannot join them: what nobody waits for any more runs to its end there, and is not heard.
    signal: AbortSignal.any?.([signal, timeout]) ?? timeout,
  }).catch(() => {
    throw new Problem('offline');
  });
  const answer = await response.json().catch(() => undefined);
  signal.throwIfAborted();
  if (response.ok && answer) return answer;
  throw new Problem(answer?.code ?? 'unreadable', response.ok ? 502 : response.status, answer?.detail);
}
