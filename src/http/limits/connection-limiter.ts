import type { StreamLimits } from '../../config/config-options.js';
import { IntentError } from '../../errors.js';
import { networkFactor, type RateLimitKey } from './rate-limit-key.js';

export const streamLimitFix = 'Run more processes, or raise limits.streams.perProcess.';

/** The owner whose limits an event stream counts against, in addition to the limit of the process. */
export interface ConnectionOwner extends Partial<RateLimitKey> {
  /** The hash of the browser's cookie; undefined without a cookie of the router. */
  readonly browser: string | undefined;
  readonly address: string;
}

/**
 * Limits the open event streams by browser, address, network and process.
 *
 * - available: `acquire` succeeds below the limits.
 * - full: a stream was rejected by `perProcess`, and `onFull` was called. It is not called again before the number of open
 *   streams has fallen to half of `perProcess`.
 */
export class ConnectionLimiter {
  readonly #limits: StreamLimits;
  readonly #onFull: () => void;
  readonly #browsers = new Map<string, number>();
  readonly #addresses = new Map<string, number>();
  readonly #networks = new Map<string, number>();
  #open = 0;
  #isFull = false;

  constructor(limits: StreamLimits, onFull: () => void) {
    this.#limits = limits;
    this.#onFull = onFull;
  }

  get open(): number {
    return this.#open;
  }

  /** For tests. */
  get trackedKeys(): number {
    return this.#browsers.size + this.#addresses.size + this.#networks.size;
  }

  /** Counts a stream, to be released once. @throws {IntentError} `too_many_connections`, `too_busy`; then nothing is counted */
  acquire({ browser, address, network }: ConnectionOwner): void {
    const { perBrowser, perAddress, perProcess } = this.#limits;
    const perNetwork = perAddress * networkFactor;
    const ofBrowser = countOf(this.#browsers, browser);
    const ofAddress = countOf(this.#addresses, address);
    const ofNetwork = countOf(this.#networks, network);
    if (ofBrowser >= perBrowser) throw tooMany('browser', perBrowser);
    if (ofAddress >= perAddress) throw tooMany('address', perAddress);
    if (ofNetwork >= perNetwork) throw tooMany('network', perNetwork);
    if (this.#open >= perProcess) throw this.#full();
    if (browser !== undefined) this.#browsers.set(browser, ofBrowser + 1);
    this.#addresses.set(address, ofAddress + 1);
    if (network !== undefined) this.#networks.set(network, ofNetwork + 1);
    this.#open += 1;
  }

  release({ browser, address, network }: ConnectionOwner): void {
    countDown(this.#browsers, browser);
    countDown(this.#addresses, address);
    countDown(this.#networks, network);
    this.#open -= 1;
    if (this.#open <= this.#limits.perProcess / 2) this.#isFull = false;
  }

  #full(): IntentError {
    if (!this.#isFull) this.#onFull();
    this.#isFull = true;
    return new IntentError(
      'too_busy',
      `This process has reached its limit of ${this.#limits.perProcess} event streams. ${streamLimitFix}`,
    );
  }
}

function countOf(counts: ReadonlyMap<string, number>, key: string | undefined): number {
  return key === undefined ? 0 : (counts.get(key) ?? 0);
}

/** Deletes a key at zero, so that the maps do not grow. */
function countDown(counts: Map<string, number>, key: string | undefined): void {
  if (key === undefined) return;
  const count = countOf(counts, key) - 1;
  if (count > 0) counts.set(key, count);
  else counts.delete(key);
}

function tooMany(owner: 'browser' | 'address' | 'network', limit: number): IntentError {
  const message = `This ${owner} has reached its limit of ${limit} event streams. Close other pages, or poll GET /status/:id.`;
  return new IntentError('too_many_connections', message);
}
