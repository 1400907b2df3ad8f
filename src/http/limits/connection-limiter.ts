import type { ConnectionLimits } from '../../config/config.js';
import { IntentError } from '../../errors.js';
import { networkFactor } from './rate-limit-key.js';

/** Who takes a seat: what a connection counts against besides the process. */
export interface Visitor {
  /** Stands for the browser's cookie; undefined for a browser that has none of ours. */
  readonly browser: string | undefined;
  readonly address: string;
  /** The network around the address, where it has one: it may have {@link networkFactor} times as many seats. */
  readonly network?: string | undefined;
}

/** How many streams of events are open, by browser, by address and in all; whoever opens one takes a seat. */
export class ConnectionSeats {
  readonly #limits: ConnectionLimits;
  readonly #onFull: () => void;
  readonly #browsers = new Map<string, number>();
  readonly #addresses = new Map<string, number>();
  readonly #networks = new Map<string, number>();
  #taken = 0;
  #isFullTold = false;

  /** @param onFull called when somebody finds all seats of the process taken; again only after half of them were free */
  constructor(limits: ConnectionLimits, onFull: () => void) {
    this.#limits = limits;
    this.#onFull = onFull;
  }

  get taken(): number {
    return this.#taken;
  }

  /** Of how many browsers, addresses and networks something is counted. */
  get visitors(): number {
    return this.#browsers.size + this.#addresses.size + this.#networks.size;
  }

  /** @throws {IntentError} `too_many_connections`, `too_busy` */
  take({ browser, address, network }: Visitor): void {
    const { perBrowser, perAddress, perProcess } = this.#limits;
    const ofBrowser = browser === undefined ? 0 : (this.#browsers.get(browser) ?? 0);
    const ofAddress = this.#addresses.get(address) ?? 0;
    if (ofBrowser >= perBrowser) throw tooMany('This browser has', perBrowser);
    if (ofAddress >= perAddress) throw tooMany('This address has', perAddress);
    const ofNetwork = network === undefined ? 0 : (this.#networks.get(network) ?? 0);
    if (ofNetwork >= perAddress * networkFactor) throw tooMany('This network has', perAddress * networkFactor);
    if (this.#taken >= perProcess) throw this.#full();
    if (browser !== undefined) this.#browsers.set(browser, ofBrowser + 1);
    this.#addresses.set(address, ofAddress + 1);
    if (network !== undefined) this.#networks.set(network, ofNetwork + 1);
    this.#taken += 1;
  }

  /** Gives back what was taken, once. */
  leave({ browser, address, network }: Visitor): void {
    if (browser !== undefined) countDown(this.#browsers, browser);
    countDown(this.#addresses, address);
    if (network !== undefined) countDown(this.#networks, network);
    this.#taken -= 1;
    if (this.#taken <= this.#limits.perProcess / 2) this.#isFullTold = false;
  }

  #full(): IntentError {
    if (!this.#isFullTold) this.#onFull();
    this.#isFullTold = true;
    return new IntentError('too_busy', 'All streams of events that this process may have are taken.');
  }
}

/** Nothing stays of who has left. */
function countDown(counts: Map<string, number>, key: string): void {
  const count = (counts.get(key) ?? 0) - 1;
  if (count > 0) counts.set(key, count);
  else counts.delete(key);
}

function tooMany(who: string, limit: number): IntentError {
  return new IntentError('too_many_connections', `${who} ${limit} streams of events open, and may have no more.`);
}
