import { Agent, buildConnector, type Dispatcher, request } from 'undici';
import type { World } from './world.js';

export interface Visit {
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: AbortSignal;
}

/** An answer whose body is still to come. */
export interface Answer {
  readonly status: number;
  /** By lower-case name; what came twice is joined. */
  readonly headers: Readonly<Record<string, string>>;
  readonly cookies: readonly string[];
  readonly body: Dispatcher.ResponseData['body'];
  /** From the request to the head of the answer, its connection included, in milliseconds. */
  readonly tookMs: number;
  /** When it was on its way, by the clock of this machine, ms since 1970. */
  readonly askedAtMs: number;
}

export interface ReadAnswer extends Omit<Answer, 'body'> {
  readonly text: string;
}

/** Nothing that is asked for is longer. */
const maxBytes = 256 * 1024;

/** Asks servers as a stranger on the internet does: over a connection of its own each time, and never where a redirect leads. */
export class Visitor {
  readonly #world: World;
  readonly #agent: Agent;

  constructor(world: World) {
    this.#world = world;
    const { ca } = world;
    const connect = buildConnector({ ...(ca !== undefined && { ca }) });
    this.#agent = new Agent({
      connect: (options, done) => {
        const port = Number(options.port) || (options.protocol === 'https:' ? 443 : 80);
        const place = world.placeOf({ host: options.hostname, port });
        const servername = options.servername ?? options.hostname;
        connect({ ...options, hostname: place.host, port: String(place.port), servername }, done);
      },
      pipelining: 0,
    });
  }

  /** @throws {Error} where there is no answer */
  async ask(url: URL, { method = 'GET', headers = {}, body, signal }: Visit): Promise<Answer> {
    const [askedAtMs, begunAt] = [this.#world.now(), performance.now()];
    const answer = await request(url, {
      dispatcher: this.#agent,
      method,
      headers: { 'user-agent': 'express-intents doctor', ...headers },
      signal,
      ...(body !== undefined && { body }),
    });
    const tookMs = performance.now() - begunAt;
    const read = Object.entries(answer.headers).map(([name, value = '']) => [name, [value].flat().join(', ')]);
    return {
      status: answer.statusCode,
      headers: Object.fromEntries(read),
      cookies: [answer.headers['set-cookie'] ?? []].flat(),
      // What nobody reads any more ends without a word.
      body: answer.body.on('error', () => undefined),
      tookMs,
      askedAtMs,
    };
  }

  /** @throws {Error} where there is no answer, or an endless one */
  async read(url: URL, visit: Visit): Promise<ReadAnswer> {
    const { body, ...head } = await this.ask(url, visit);
    const chunks: Buffer[] = [];
    let length = 0;
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      length += chunk.length;
      if (length > maxBytes) throw new Error(`The answer has more than ${maxBytes / 1024} KiB.`);
    }
    return { ...head, text: Buffer.concat(chunks).toString() };
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }
}
