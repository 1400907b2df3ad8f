import { request as forward, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createSecureContext } from 'node:tls';
import { shopCertificate } from '../../support/sites/shop-certificates.js';

/** What is wrong with the proxy; nothing where it is as it should be. */
export interface FrontFaults {
  /** Origin of the site behind it, in place of the one it was started for. */
  readonly site?: string;
  /** In place of the one that is right. */
  readonly certificate?: { readonly key: string; readonly cert: string };
  /** Answers itself; true where it did. */
  readonly answer?: (req: IncomingMessage, res: ServerResponse) => boolean;
  /** Changes what the site gets. */
  readonly request?: (headers: IncomingHttpHeaders) => void;
  /** Changes what people get. */
  readonly response?: (headers: IncomingHttpHeaders) => void;
  /** Keeps the body until all of it is there. */
  readonly buffers?: boolean;
}

/** A proxy that ends TLS for `shop-example.com`, as they stand in front of sites. */
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
    request?.(headers);
    const upstream = forward(new URL(req.url ?? '/', site), { method: req.method ?? 'GET', headers }, (got) => {
      // Who has left is not told.
      got.on('error', () => res.destroy());
      const changed = { ...got.headers };
      response?.(changed);
      if (!buffers) {
        res.writeHead(got.statusCode ?? 502, changed).flushHeaders();
        got.pipe(res);
        return;
      }
      const chunks: Buffer[] = [];
      got.on('data', (chunk) => chunks.push(chunk));
      got.on('end', () => res.writeHead(got.statusCode ?? 502, changed).end(Buffer.concat(chunks)));
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
