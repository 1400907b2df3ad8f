import { Agent, type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from 'node:http';

/** A request. A header with several values is sent as several lines. */
export interface ConnectionRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: OutgoingHttpHeaders;
  readonly body?: string | Buffer | undefined;
}

export interface ConnectionAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A kept-alive connection for sequential requests. It adds only `Content-Length`. */
export class KeepAliveConnection {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  readonly #origin: string;

  constructor(origin: string) {
    this.#origin = origin;
  }

  send({ method, path, headers, body = '' }: ConnectionRequest): Promise<ConnectionAnswer> {
    return new Promise((resolve, reject) => {
      const length = { 'content-length': Buffer.byteLength(body) };
      const options = { method, agent: this.#agent, headers: { ...headers, ...length }, timeout: 60_000 };
      const req = request(this.#origin + path, options, (res) => {
        const chunks: Buffer[] = [];
        res.on('data', (chunk: Buffer) => chunks.push(chunk));
        res.on('error', reject);
        res.on('end', () =>
          resolve({ status: res.statusCode ?? 0, headers: res.headers, body: Buffer.concat(chunks).toString() }),
        );
      });
      req.on('timeout', () => req.destroy(new Error(`${method} ${path} was not answered.`)));
      req.on('error', reject);
      req.end(body);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}
