import type { ServerResponse } from 'node:http';

/** The end clears `res`: the engine may retain a deleted entry of a set until a major garbage collection. */
interface RunningRequest {
  res: ServerResponse | undefined;
}

/**
 * The requests in progress, and the payments that the site creates without a request. Closing waits for them. States: open;
 * closing connections, from the start of `close()`.
 */
export class RunningRequests {
  readonly #running = new Set<RunningRequest>();
  /** Resolve the pending calls of `idle`. There are two if the drain is ended early. */
  readonly #waiting: (() => void)[] = [];
  #closesConnections = false;

  get size(): number {
    return this.#running.size;
  }

  /** Whether `close()` was called: responses close their connections, and the health check fails. */
  get closesConnections(): boolean {
    return this.#closesConnections;
  }

  /** @param res undefined without a request @returns the running request, for `end` */
  begin(res: ServerResponse | undefined): RunningRequest {
    const request = { res };
    this.#running.add(request);
    return request;
  }

  end(request: RunningRequest): void {
    this.#running.delete(request);
    request.res = undefined;
    if (this.size > 0) return;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  closeConnections(): void {
    this.#closesConnections = true;
    for (const { res } of this.#running) if (res) closeConnection(res);
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
