import { type LookupAddress, type LookupAllOptions, lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { Agent, buildConnector, request } from 'undici';
import type { Reach } from './address-policy.js';
import { readError } from './read-error.js';

const timeoutMs = 3_000;
const maxBytes = 8 * 1024;

/** Asks the DNS for all addresses of a name. */
export type Resolve = (
  hostname: string,
  options: LookupAllOptions,
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

export interface OutboundOptions {
  /** Default: as the system does. */
  readonly resolve?: Resolve | undefined;
  /** Certificates to trust besides; for tests. */
  readonly ca?: string | undefined;
}

export interface OutboundRequest {
  readonly method: 'GET' | 'POST';
  readonly headers?: Record<string, string> | undefined;
  readonly body?: string | undefined;
}

export interface OutboundAnswer {
  readonly status: number;
  /** Empty where the status is no success. */
  readonly text: string;
}

/**
 * Calls URLs that somebody else has named: only within its reach, for at most 3 seconds and 8 KiB, and never where a
 * redirect leads. What counts is the address that the connection goes to, and not what the name was before.
 */
export class Outbound {
  readonly #agent: Agent;

  constructor(reach: Reach, { resolve = lookup, ca }: OutboundOptions = {}) {
    const guarded = guardedLookup(reach, resolve);
    const connect = buildConnector({ lookup: guarded, timeout: timeoutMs, ...(ca !== undefined && { ca }) });
    this.#agent = new Agent({
      connect: (options, done) => {
        // For an address that stands in the URL nobody is asked.
        const isRefused = isIP(options.hostname) !== 0 && !reach(options.hostname);
        if (isRefused) done(outOfReach(options.hostname), null);
        else connect(options, done);
      },
      maxResponseSize: maxBytes,
      // No connection is kept, and so none keeps the process.
      pipelining: 0,
    });
  }

  /** @throws {Error} that says why there is no answer, in words that go on after "because" */
  async call(url: URL | string, { method, headers, body }: OutboundRequest): Promise<OutboundAnswer> {
    try {
      const signal = AbortSignal.timeout(timeoutMs);
      const answer = await request(url, {
        dispatcher: this.#agent,
        method,
        signal,
        ...(headers && { headers }),
        ...(body !== undefined && { body }),
      });
      const { statusCode: status } = answer;
      if (status >= 200 && status < 300) return { status, text: await answer.body.text() };
      await answer.body.dump({ limit: maxBytes }).catch(() => undefined);
      return { status, text: '' };
    } catch (cause) {
      throw new Error(reasonOf(cause), { cause });
    }
  }
}

function guardedLookup(reach: Reach, resolve: Resolve): LookupFunction {
  return (hostname, options, done) => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      const [first] = addresses ?? [];
      if (error || !first) return done(error ?? new Error(`${hostname} has no address`), '', 0);
      // With one that is out of reach among them, the name is somebody's trick.
      const refused = addresses.find(({ address }) => !reach(address));
      if (refused) return done(outOfReach(refused.address), '', 0);
      if (options.all) done(null, addresses);
      else done(null, first.address, first.family);
    });
  };
}

function outOfReach(address: string): Error {
  return new Error(`it is at ${address}, which is not called`);
}

function reasonOf(thrown: unknown): string {
  const { name, message } = readError(thrown);
  if (name === 'TimeoutError') return `no answer within ${timeoutMs / 1000} seconds`;
  if (name === 'ResponseExceededMaxSizeError') return `it has more than ${maxBytes} bytes`;
  return String(message);
}
