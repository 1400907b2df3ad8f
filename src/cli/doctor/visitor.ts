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
  readonly body: Dispatcher.ResponseData['body'];
  /** From the request to the head of the answer, its connection included, in milliseconds. */
  readonly tookMs: number;
}

export interface ReadAnswer extends Omit<Answer, 'body'> {
  readonly text: string;
}

/** Nothing that is asked for is longer. */
const maxBytes = 256 * 1024;

/** Asks servers as a stranger on the internet does: over a connection of its own each time, and never where a redirect leads. */
export class Visitor {
  readonly #agent: Agent;

  constructor({ ca, placeOf }: World) {
    const connect = buildConnector({ ...(ca !== undefined && { ca }) });
    this.#agent = new Agent({
      connect: (options, done) => {
        const port = Number(options.port) || (options.protocol === 'https:' ? 443 : 80);
        const place = placeOf({ host: options.hostname, port });
        const servername = options.servername ?? options.hostname;
        connect({ ...options, hostname: place.host, port: String(place.port), servername }, done);
      },
      pipelining: 0,
    });
  }

  /** @throws {Error} where there is no answer */
  async ask(url: URL, { method = 'GET', headers = {}, body, signal }: Visit): Promise<Answer> {
    const begunAt = performance.now();
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
      // What nobody reads any more ends without a word.
      body: answer.body.on('error', () => undefined),
      tookMs,
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

/** The code and the detail of an error answer (RFC 9457); both are missing in an answer that is none. */
export function readProblem(text: string): { readonly code: string | undefined; readonly detail: string } {
  try {
    const { code, detail } = JSON.parse(text) as Record<string, unknown>;
    return { code: typeof code === 'string' ? code : undefined, detail: typeof detail === 'string' ? detail : '' };
  } catch {
    return { code: undefined, detail: '' };
  }
}

/** Where the routes of the site are, as its own button is told; `false` for one that is switched off. */
export interface SiteRoutes {
  readonly intent: string | false;
  readonly status: string | false;
  readonly events: string | false;
}

/** What a running site shows of itself to everybody. */
export interface RunningSite {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined where the button is not there, which tells them. */
  readonly routes: SiteRoutes | undefined;
}

export const buttonPath = '/intent/v1/elements.js';

/** What stands at the top of the button's file. */
const siteConfig = /^const intentSite=(\{.*?\});/;

/** Asks for the file of the button, which every site serves and which costs nothing. @throws {Error} */
export async function visitSite(visitor: Visitor, url: URL, signal: AbortSignal): Promise<RunningSite> {
  const { text, ...head } = await visitor.read(new URL(buttonPath, url), {
    headers: { 'accept-encoding': 'identity' },
    signal,
  });
  return { ...head, routes: head.status === 200 ? readRoutes(text) : undefined };
}

function readRoutes(text: string): SiteRoutes | undefined {
  try {
    const found: unknown = JSON.parse(siteConfig.exec(text)?.[1] ?? '');
    const { intent, status, events } = found as Record<string, unknown>;
    return { intent: pathIn(intent), status: pathIn(status), events: pathIn(events) };
  } catch {
    return undefined;
  }
}

/** A path of the form that a router takes. What follows two slashes would be another machine. */
const pathIn = (value: unknown): string | false =>
  typeof value === 'string' && /^(?:\/[\w.~-]+)+$/.test(value) ? value : false;
