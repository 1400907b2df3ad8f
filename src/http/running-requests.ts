import type { ServerResponse } from 'node:http';

/** The requests in progress. Closing waits for them. States: open; closing connections, from the start of `close()`. */
export class RunningRequests {
  readonly #running = new Set<ServerResponse>();
  #whenIdle: (() => void) | undefined;
  #closesConnections = false;

  get size(): number {
    return this.#running.size;
  }

  /** Whether `close()` was called: responses close their connections, and the health check fails. */
  get closesConnections(): boolean {
    return this.#closesConnections;
  }

  begin(res: ServerResponse): void {
    this.#running.add(res);
  }

  end(res: ServerResponse): void {
    this.#running.delete(res);
    if (this.#running.size === 0) this.#whenIdle?.();
  }

  closeConnections(): void {
    this.#closesConnections = true;
    for (const res of this.#running) closeConnection(res);
  }

  /** Resolves when all requests are complete, or after `timeoutMs`: a hook may never return. */
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

/** Closes the connection after this response. Has no effect on HTTP/2, where Node warns about this header. */
export function closeConnection(res: ServerResponse): void {
  if (res.headersSent || res.req.httpVersionMajor >= 2) return;
  res.setHeader('Connection', 'close');
}
