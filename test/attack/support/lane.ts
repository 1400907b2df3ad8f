import { Agent, type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from 'node:http';

/** A request as it is to be sent; a header with several values is sent as several lines. */
export interface LaneRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: OutgoingHttpHeaders;
  readonly body?: string | Buffer | undefined;
}

export interface LaneAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** One connection that is kept open, for many requests one after the other. It adds no header of its own but the length. */
export class Lane {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  readonly #origin: string;

  constructor(origin: string) {
    this.#origin = origin;
  }

  send({ method, path, headers, body = '' }: LaneRequest): Promise<LaneAnswer> {
    return new Promise((resolve, reject) => {
      const length = { 'content-length': Buffer.byteLength(body) };
      const options = { method, agent: this.#agent, headers: { ...headers, ...length }, timeout: 10_000 };
      const sent = request(this.#origin + path, options, (res) => {
        const chunks: Buffer[] = [];
        res.on('data', (chunk: Buffer) => chunks.push(chunk));
        res.on('error', reject);
        res.on('end', () =>
          resolve({ status: res.statusCode ?? 0, headers: res.headers, body: Buffer.concat(chunks).toString() }),
        );
      });
      sent.on('timeout', () => sent.destroy(new Error(`${method} ${path} was not answered.`)));
      sent.on('error', reject);
      sent.end(body);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}
