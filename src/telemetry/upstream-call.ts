import { IntentError } from '../errors.js';
import type { Happening, UpstreamTransport } from './router-event.js';
import type { TracedCall } from './traced-call.js';

/** The service that is called. */
export interface Upstream {
  readonly transport: UpstreamTransport;
  /** Host and port; undefined where the site brings its own transport. */
  readonly address: string | undefined;
  readonly port: number | undefined;
}

/** @param url of the service; what else is in it is nobody's business */
export function upstreamOf(transport: UpstreamTransport, url: string | undefined): Upstream {
  if (transport === 'custom' || url === undefined || !URL.canParse(url)) {
    return { transport, address: undefined, port: undefined };
  }
  const { hostname, port, protocol } = new URL(url);
  return { transport, address: hostname, port: Number(port) || (protocol === 'http:' ? 80 : 443) };
}

type Ended = Extract<Happening, { readonly type: 'upstream_call' }>;

export interface UpstreamCallOptions {
  /** Such as `MicroPayment.getStatus`. */
  readonly operation: string;
  readonly upstream: Upstream;
  /** Undefined where nobody takes spans. */
  readonly traced: TracedCall | undefined;
  readonly tell: (happening: Ended) => void;
}

/** One call to the service while it is under way. */
export class UpstreamCall {
  readonly #options: UpstreamCallOptions;
  readonly #begunAtMs = performance.now();
  #tries = 0;

  constructor(options: UpstreamCallOptions) {
    this.#options = options;
  }

  get metadata(): Readonly<Record<string, string>> | undefined {
    return this.#options.traced?.metadata;
  }

  run(send: () => Promise<Uint8Array>): Promise<Uint8Array> {
    this.#tries += 1;
    const { traced } = this.#options;
    return traced ? tracedTry(traced, this.#tries, send) : send();
  }

  end(failure: unknown, hasLeft: boolean): void {
    const { operation, upstream, traced, tell } = this.#options;
    const outcome = outcomeOf(failure, hasLeft);
    traced?.end(outcome, failure);
    const ms = Math.round(performance.now() - this.#begunAtMs);
    tell({ type: 'upstream_call', operation, transport: upstream.transport, outcome, tries: this.#tries, ms });
  }
}

async function tracedTry(traced: TracedCall, count: number, send: () => Promise<Uint8Array>): Promise<Uint8Array> {
  try {
    const answer = await traced.run(send);
    traced.tried(count, 'ok');
    return answer;
  } catch (error) {
    traced.tried(count, error instanceof IntentError ? error.code : 'cancelled');
    throw error;
  }
}

function outcomeOf(failure: unknown, hasLeft: boolean): Ended['outcome'] {
  if (failure === undefined) return 'ok';
  if (failure instanceof IntentError) return failure.code;
  return hasLeft ? 'cancelled' : 'internal_error';
}
