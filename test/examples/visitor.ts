import { createWallet } from 'express-intents/testing';
import { eventually } from '../support/eventually.js';

/** Where a site is, and where its sequencer. */
export interface Addresses {
  readonly site: string;
  readonly sequencer: string;
}

/** Of the two servers of a site with an embedded sequencer, which one is which. */
export async function addressesOf(origins: readonly string[]): Promise<Addresses> {
  const isSequencer = await Promise.all(origins.map(async (origin) => (await fetch(`${origin}/healthz`)).ok));
  const sequencer = origins.find((_origin, n) => isSequencer[n]) ?? '';
  const site = origins.find((_origin, n) => !isSequencer[n]) ?? '';
  return { site, sequencer };
}

/** Somebody with a browser that keeps cookies, and a wallet. */
export class Visitor {
  readonly #addresses: Addresses;
  readonly #cookies = new Map<string, string>();

  constructor(addresses: Addresses) {
    this.#addresses = addresses;
  }

  get(path: string): Promise<Response> {
    return this.#ask(path, {});
  }

  /** As somebody who follows a link, and not as a program. */
  view(path: string): Promise<Response> {
    return this.#ask(path, { headers: { accept: 'text/html', 'sec-fetch-mode': 'navigate' } });
  }

  /** Pays for an order; gives the id of the intent. */
  async pay(order: unknown): Promise<string> {
    const { id } = await this.#wallet().pay(await this.#begin({ mode: 'payment', order }));
    return id;
  }

  /** Logs in; gives who that is. */
  async logIn(): Promise<string> {
    const { id } = await this.#wallet().login(await this.#begin({ mode: 'login' }));
    const answer = await this.#post('/session', { id });
    const body = (await answer.json()) as { user?: { id: string } };
    if (!body.user) throw new Error(`No login: ${answer.status} ${JSON.stringify(body)}`);
    return body.user.id;
  }

  /** Looks at a page until it is there, and says this. */
  async waitFor(path: string, words = /./): Promise<string> {
    let text = '';
    await eventually(async () => {
      const answer = await this.get(path);
      text = await answer.text();
      if (answer.status !== 200 || !words.test(text)) throw new Error(`${path}: ${answer.status} ${text}`);
    });
    return text;
  }

  readonly #wallet = () => createWallet({ url: this.#addresses.sequencer, name: 'Ada' });

  async #begin(body: object): Promise<string> {
    const answer = await this.#post('/intent', body);
    const { client_secret: secret, ...rest } = (await answer.json()) as { client_secret?: string };
    if (!secret) throw new Error(`No intent: ${answer.status} ${JSON.stringify(rest)}`);
    return secret;
  }

  #post(path: string, body: object): Promise<Response> {
    const headers = { 'content-type': 'application/json', origin: this.#addresses.site };
    return this.#ask(path, { method: 'POST', headers, body: JSON.stringify(body) });
  }

  async #ask(path: string, { headers, ...init }: RequestInit): Promise<Response> {
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
