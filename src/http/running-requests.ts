import type { ServerResponse } from 'node:http';

/** The requests that are being answered. Closing waits for them. */
export class RunningRequests {
  readonly #running = new Set<ServerResponse>();
  #whenIdle: (() => void) | undefined;

  /** How many requests are being answered. */
  get size(): number {
    return this.#running.size;
  }

  begin(res: ServerResponse): void {
    this.#running.add(res);
  }

  end(res: ServerResponse): void {
    this.#running.delete(res);
    if (this.#running.size === 0) this.#whenIdle?.();
  }

  /** Ends the connection of every request with its answer. */
  closeConnections(): void {
    for (const res of this.#running) closeConnection(res);
  }

  /** Resolves when none is left, or after `timeoutMs`: a request may wait for a hook that never returns. */
  async idle(timeoutMs: number): Promise<void> {
    if (this.#running.size === 0) return;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#whenIdle = resolve;
      timer = setTimeout(resolve, timeoutMs).unref();
    });
    clearTimeout(timer);
  }
}

/**
 * Ends the connection with this answer, so that a load balancer takes another process. Does nothing once the head is sent,
 * and on HTTP/2, which has no such header and warns of it.
 */
export function closeConnection(res: ServerResponse): void {
  if (res.headersSent || res.req.httpVersionMajor >= 2) return;
  res.setHeader('Connection', 'close');
}
