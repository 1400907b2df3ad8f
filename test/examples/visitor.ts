import { createWallet } from 'express-intents/testing';
import { eventually } from '../support/eventually.js';

/** The origins of a site and its sequencer. */
export interface Addresses {
  readonly site: string;
  readonly simulator: string;
}

/** Distinguishes the site from its simulator by their origins. */
export async function addressesOf(origins: readonly string[]): Promise<Addresses> {
  const isSequencer = await Promise.all(origins.map(async (origin) => (await fetch(`${origin}/healthz`)).ok));
  const simulator = origins.find((_origin, n) => isSequencer[n]) ?? '';
  const site = origins.find((_origin, n) => !isSequencer[n]) ?? '';
  return { site, simulator };
}

/** A visitor with a browser that keeps cookies, and a wallet. */
export class Visitor {
  readonly #addresses: Addresses;
  readonly #cookies = new Map<string, string>();

  constructor(addresses: Addresses) {
    this.#addresses = addresses;
  }

  get(path: string): Promise<Response> {
    return this.#send(path, {});
  }

  /** Requests a page like a browser that follows a link. */
  view(path: string): Promise<Response> {
    return this.#send(path, { headers: { accept: 'text/html', 'sec-fetch-mode': 'navigate' } });
  }

  /** Pays for an order. Returns the id of the intent. */
  async pay(order: unknown): Promise<string> {
    const { id } = await this.#wallet().pay(await this.#create({ mode: 'payment', order }));
    return id;
  }

  /** Pays the code of a link. */
  async payCode(clientSecret: string): Promise<void> {
    await this.#wallet().pay(clientSecret);
  }

  /** Confirms the code of a login. */
  async confirmLogin(clientSecret: string): Promise<void> {
    await this.#wallet().login(clientSecret);
  }

  /** Logs in. Returns the user id. */
  async logIn(): Promise<string> {
    const { id } = await this.#wallet().login(await this.#create({ mode: 'login' }));
    const answer = await this.post('/session', { id });
    const body = (await answer.json()) as { user?: { id: string } };
    if (!body.user) throw new Error(`No login: ${answer.status} ${JSON.stringify(body)}`);
    return body.user.id;
  }

  /** Polls a page until it answers 200 and matches. */
  async waitFor(path: string, words = /./): Promise<string> {
    let text = '';
    await eventually(async () => {
      const answer = await this.get(path);
      text = await answer.text();
      if (answer.status !== 200 || !words.test(text)) throw new Error(`${path}: ${answer.status} ${text}`);
    });
    return text;
  }

  readonly #wallet = () => createWallet({ url: this.#addresses.simulator, name: 'Ada' });

  async #create(body: object): Promise<string> {
    const answer = await this.post('/intent', body);
    const { client_secret: secret, ...rest } = (await answer.json()) as { client_secret?: string };
    if (!secret) throw new Error(`No intent: ${answer.status} ${JSON.stringify(rest)}`);
    return secret;
  }

  /** Posts JSON like a script of the site. */
  post(path: string, body: object): Promise<Response> {
    const headers = { 'content-type': 'application/json', origin: this.#addresses.site };
    return this.#send(path, { method: 'POST', headers, body: JSON.stringify(body) });
  }

  async #send(path: string, { headers, ...init }: RequestInit): Promise<Response> {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await fetch(`${this.#addresses.site}${path}`, {
      ...init,
      redirect: 'manual',
      headers: { ...headers, ...(cookie && { cookie }) } as Record<string, string>,
    });
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      this.#cookies.set(name, value);
    }
    return answer;
  }
}
