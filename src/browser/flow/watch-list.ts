import { NativePromise } from '../built-ins.js';
import { rememberPending } from './pending-intents.js';
import type { Watch } from './watch.js';

/** The lists of this page by the intents that they handle. Only one of two buttons with the same order handles its intent. */
const owners = new Map<string, WatchList>();

/**
 * The watches of all intents of a button that can still be submitted. Each retry adds one. An intent is handled by one list: until
 * its watch ends, or if it was submitted, until `release`.
 */
export class WatchList {
  readonly #element: Element;
  readonly #handOver: (id: string) => void;
  readonly #watches = new Map<string, Watch>();

  /**
   * @param element the button
   * @param handOver releases an intent that another button handles from now on
   */
  constructor(element: Element, handOver: (id: string) => void) {
    this.#element = element;
    this.#handOver = handOver;
  }

  get(id: string): Watch | undefined {
    return this.#watches.get(id);
  }

  add(watch: Watch): void {
    this.#watches.set(watch.id, watch);
    owners.set(watch.id, this);
  }

  /** Ends the watch of an intent, if there is one. Another button of its order may handle the intent. */
  release(id: string): void {
    this.#watches.get(id)?.stop();
    this.#watches.delete(id);
    owners.delete(id);
  }

  endAll(): void {
    for (const id of this.#watches.keys()) this.release(id);
  }

  /** The intent was submitted: ends all watches of its order. Another button must not restore it until `release`. */
  endOrder({ id, settings: { orderKey } }: Watch): void {
    for (const watch of this.#watches.values()) if (watch.settings.orderKey === orderKey) this.release(watch.id);
    owners.set(id, this);
  }

  /** Whether this list may restore an intent. A button that the page has replaced hands it over: the page no longer listens to it. */
  canRestore(id: string): boolean {
    const owner = owners.get(id);
    if (owner && owner !== this && !owner.#element.isConnected) owner.#handOver(id);
    return !owners.has(id);
  }

  /** The codes are no longer on the screen. */
  slowDown(): void {
    for (const watch of this.#watches.values()) watch.slowDown();
  }

  /** The dialog is closed: only payments that a wallet can still confirm are watched, and are restored on the next visit. */
  endUnscanned(): void {
    for (const watch of this.#watches.values()) {
      // While polls fail, a scan may not have been reported.
      if (watch.settings.mode === 'payment' && (watch.isScanned || watch.isFailing)) {
        watch.slowDown();
        // A later code of this order, which is no longer watched, may have replaced this id.
        rememberPending(watch.settings.orderKey, watch);
      } else this.release(watch.id);
    }
  }

  /** The newest payment of an order that a wallet can still confirm: it was scanned, or may have been, and not declined. */
  findPayable(orderKey: string): Watch | undefined {
    return [...this.#watches.values()].findLast(
      ({ settings, isScanned, isFailing, isDeclined }) =>
        settings.orderKey === orderKey && (isScanned || isFailing) && !isDeclined,
    );
  }

  /** As `findPayable`, for the other buttons of the page. The one that has the payment hands it over. */
  takePayable(orderKey: string): Watch | undefined {
    for (const owner of owners.values()) {
      const found = owner.findPayable(orderKey);
      if (!found) continue;
      owner.#handOver(found.id);
      return found;
    }
    return undefined;
  }

  /** Polls all statuses now. @returns whether each has been received */
  async poll(): Promise<boolean> {
    const answers = await NativePromise.all([...this.#watches.values()].map((watch) => watch.poll()));
    return answers.every(Boolean);
  }
}
