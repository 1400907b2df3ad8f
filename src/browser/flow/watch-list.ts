import { NativePromise } from '../built-ins.js';
import { rememberPending } from './pending-intents.js';
import type { Watch } from './watch.js';

/** The watches of all intents of a button that can still be submitted. Each retry adds one. */
export class WatchList {
  readonly #watches = new Map<string, Watch>();
  readonly #onEnd: (id: string) => void;

  /** @param onEnd called when an intent is no longer watched */
  constructor(onEnd: (id: string) => void) {
    this.#onEnd = onEnd;
  }

  get isEmpty(): boolean {
    return this.#watches.size === 0;
  }

  get(id: string): Watch | undefined {
    return this.#watches.get(id);
  }

  add(watch: Watch): void {
    this.#watches.set(watch.id, watch);
  }

  end(watch: Watch): void {
    watch.stop();
    this.#watches.delete(watch.id);
    this.#onEnd(watch.id);
  }

  /** @param orderKey if given, payments of other orders are still watched */
  endAll(orderKey?: string): void {
    for (const watch of this.#watches.values()) {
      if (orderKey === undefined || watch.settings.orderKey === orderKey) this.end(watch);
    }
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
      } else this.end(watch);
    }
  }

  /**
   * The newest payment of an order that a wallet can still confirm: it was scanned, or may have been, and not declined.
   */
  findPayable(orderKey: string): Watch | undefined {
    return [...this.#watches.values()]
      .filter(
        ({ settings, isScanned, isFailing, isDeclined }) =>
          settings.orderKey === orderKey && (isScanned || isFailing) && !isDeclined,
      )
      .at(-1);
  }

  /** Polls all statuses now. @returns whether each has been received */
  async poll(): Promise<boolean> {
    const answers = await NativePromise.all([...this.#watches.values()].map((watch) => watch.poll()));
    return answers.every(Boolean);
  }
}
