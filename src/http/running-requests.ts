import type { ServerResponse } from 'node:http';

/**
 * The requests in progress, and the payments that the site creates without a request. Closing waits for them. States: open;
 * closing connections, from the start of `close()`.
 *
 * Each request has a slot in an array instead of an entry in a `Set`. When a `Set` grows, the engine links its old table to the
 * new one. An old table that survives a minor collection then retains all responses until the next major one: 11 of the 36 KB
 * of memory per status request.
 */
export class RunningRequests {
  readonly #slots: (ServerResponse | undefined)[] = [];
  readonly #freeSlots: number[] = [];
  /** Resolve the pending calls of `idle`. There are two if the drain is ended early. */
  readonly #waiting: (() => void)[] = [];
  #closesConnections = false;

  get size(): number {
    return this.#slots.length - this.#freeSlots.length;
  }

  /** Whether `close()` was called: responses close their connections, and the health check fails. */
  get closesConnections(): boolean {
    return this.#closesConnections;
  }

  /** @param res undefined without a request @returns the slot, for `end` */
  begin(res: ServerResponse | undefined): number {
    const slot = this.#freeSlots.pop() ?? this.#slots.length;
    this.#slots[slot] = res;
    return slot;
  }

  end(slot: number): void {
    this.#slots[slot] = undefined;
    this.#freeSlots.push(slot);
    if (this.size > 0) return;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  closeConnections(): void {
    this.#closesConnections = true;
    for (const res of this.#slots) if (res) closeConnection(res);
  }

  /** Resolves when all requests are complete, or after `timeoutMs`: a hook may never return. */
  async idle(timeoutMs: number): Promise<void> {
    if (this.size === 0) return;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve);
      timer = setTimeout(resolve, timeoutMs).unref();
    });
    clearTimeout(timer);
  }
}

/** Closes the connection after this response. Has no effect on HTTP/2, where Node warns about this header. */
export function closeConnection(res: ServerResponse): void {
  if (res.headersSent || res.req.httpVersionMajor >= 2) return;
  res.setHeader('Connection', 'close');
}
