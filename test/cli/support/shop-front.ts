import { request as forward, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createSecureContext } from 'node:tls';
import { shopCertificate } from '../../support/sites/shop-certificates.js';

/** Faults of the proxy. */
export interface FrontFaults {
  /** The origin of another site behind it. */
  readonly site?: string;
  /** Another certificate. */
  readonly certificate?: { readonly key: string; readonly cert: string };
  /** Answers a request itself. Returns whether it did. */
  readonly answer?: (req: IncomingMessage, res: ServerResponse) => boolean;
  /** Changes the request headers. `claimed` is the client's own `X-Forwarded-For`. */
  readonly request?: (headers: IncomingHttpHeaders, claimed: string | string[] | undefined) => void;
  /** Changes the response headers. */
  readonly response?: (headers: IncomingHttpHeaders) => void;
  /** Sends the body only when it is complete. A function decides for each request. */
  readonly buffers?: boolean | ((req: IncomingMessage) => boolean);
}

/** A TLS-terminating proxy for `shop-example.com`. */
export class ShopFront {
  readonly #site: string;
  readonly #server: Server;
  faults: FrontFaults = {};

  private constructor(site: string) {
    this.#site = site;
    this.#server = createServer(
      { ...shopCertificate, SNICallback: (_name, done) => done(null, createSecureContext(this.#certificate)) },
      (req, res) => this.#serve(req, res),
    );
  }

  static async start(site: string): Promise<ShopFront> {
    const front = new ShopFront(site);
    await new Promise<void>((resolve) => front.#server.listen(0, '127.0.0.1', resolve));
    fronts.push(front);
    return front;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  get #certificate() {
    return this.faults.certificate ?? shopCertificate;
  }

  #serve(req: IncomingMessage, res: ServerResponse): void {
    const { answer, request, response, buffers, site = this.#site } = this.faults;
    if (answer?.(req, res)) return;
    const headers = { ...req.headers, 'x-forwarded-proto': 'https', 'x-forwarded-for': '192.0.2.7' };
    request?.(headers, req.headers['x-forwarded-for']);
    const upstream = forward(new URL(req.url ?? '/', site), { method: req.method ?? 'GET', headers }, (incoming) => {
      // The client may have disconnected.
      incoming.on('error', () => res.destroy());
      const changed = { ...incoming.headers };
      response?.(changed);
      if (!(typeof buffers === 'function' ? buffers(req) : buffers)) {
        res.writeHead(incoming.statusCode ?? 502, changed).flushHeaders();
        incoming.pipe(res);
        return;
      }
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk) => chunks.push(chunk));
      incoming.on('end', () => res.writeHead(incoming.statusCode ?? 502, changed).end(Buffer.concat(chunks)));
    });
    upstream.on('error', () => res.writeHead(502).end('Bad Gateway'));
    res.on('close', () => upstream.destroy());
    req.pipe(upstream);
  }
}

const fronts: ShopFront[] = [];

afterAll(async () => {
  for (const front of fronts.splice(0)) await front.close();
});
