import { parseSetCookie } from 'cookie';

/** A minimal browser for logins: it stores cookies and sends the origin of its requests. */
export class Browser {
  readonly origin: string;
  readonly cookies: Map<string, string>;
  readonly #pages: string;

  /**
   * @param cookies the cookies of a returning browser
   * @param pages the origin of the requesting pages, if the site has configured one
   */
  constructor(origin: string, cookies: ReadonlyMap<string, string> = new Map(), pages = origin) {
    this.origin = origin;
    this.#pages = pages;
    this.cookies = new Map(cookies);
  }

  async send(
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<{ status: number; body: Record<string, unknown>; headers: Headers }> {
    const response = await fetch(this.origin + path, {
      method,
      redirect: 'manual',
      headers: {
        origin: this.#pages,
        'sec-fetch-site': 'same-origin',
        cookie: [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    for (const line of response.headers.getSetCookie()) this.#keep(line);
    const text = await response.text();
    const isJson = /json/.test(response.headers.get('content-type') ?? '');
    return { status: response.status, body: isJson ? JSON.parse(text) : { text }, headers: response.headers };
  }

  #keep(line: string): void {
    const { name, value = '', maxAge } = parseSetCookie(line);
    if (maxAge === 0) this.cookies.delete(name);
    else this.cookies.set(name, value);
  }
}
