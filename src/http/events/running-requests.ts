import type { ServerResponse } from 'node:http';

/** The requests that are being answered, so that closing can wait for them. */
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

  /** Has those that are not answered yet say that their connection ends with the answer. */
  closeConnections(): void {
    for (const res of this.#running) closeConnection(res);
  }

  /** Resolves when none is left, or after `mostMs` milliseconds: a request may wait for somebody who never answers. */
  async idle(mostMs: number): Promise<void> {
    if (this.#running.size === 0) return;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#whenIdle = resolve;
      timer = setTimeout(resolve, mostMs).unref();
    });
    clearTimeout(timer);
  }
}

/**
 * Says that nothing more is to be sent over the connection of this answer, so that a load balancer takes another process;
 * unless its head is out, or it is HTTP/2, which knows no such header and warns of it.
 */
export function closeConnection(res: ServerResponse): void {
  if (res.headersSent || res.req.httpVersionMajor >= 2) return;
  res.setHeader('Connection', 'close');
}
