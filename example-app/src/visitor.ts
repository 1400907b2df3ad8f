/** The response to a request. */
export interface VisitorResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed body; undefined if it is not JSON. */
  readonly json: unknown;
}

/** A visitor without a browser, for `npm run play` and the tests: keeps cookies and sends an `Origin` header. */
export class Visitor {
  readonly #origin: string;
  readonly #cookies = new Map<string, string>();

  /** @param origin of the shop, such as `http://localhost:3000` */
  constructor(origin: string) {
    this.#origin = origin;
  }

  get(path: string, headers: Record<string, string> = {}): Promise<VisitorResponse> {
    return this.#send(path, { headers: { Accept: 'text/html', ...headers } });
  }

  post(path: string, body: unknown): Promise<VisitorResponse> {
    const headers = { 'Content-Type': 'application/json', Origin: this.#origin };
    return this.#send(path, { method: 'POST', headers, body: JSON.stringify(body) });
  }

  delete(path: string): Promise<VisitorResponse> {
    return this.#send(path, { method: 'DELETE', headers: { Origin: this.#origin } });
  }

  async #send(
    path: string,
    { headers, ...init }: RequestInit & { headers: Record<string, string> },
  ): Promise<VisitorResponse> {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(`${this.#origin}${path}`, {
      ...init,
      headers: cookie === '' ? headers : { ...headers, Cookie: cookie },
      redirect: 'manual',
      signal: AbortSignal.timeout(15_000),
    });
    this.#keepCookies(response.headers.getSetCookie());
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, json: parseJson(text) };
  }

  #keepCookies(lines: readonly string[]): void {
    for (const line of lines) {
      const [pair = '', ...attributes] = line.split(';');
      const end = pair.indexOf('=');
      const name = pair.slice(0, end);
      const isExpired = attributes.some((attribute) => /^\s*max-age=0\s*$/i.test(attribute));
      if (isExpired) this.#cookies.delete(name);
      else this.#cookies.set(name, pair.slice(end + 1));
    }
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
