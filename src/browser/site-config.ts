/** Paths of the routes the element requests; `false` for a route that is switched off. */
export type ElementRoutes = {
  /** Creates an intent. Default `/intent`. */
  readonly intent: string | false;
  /** Returns the status; the id follows. Default `/status`. */
  readonly status: string | false;
  /** Streams events; the id and `/events` follow. Default `/intent`. */
  readonly events: string | false;
  /** Completes a login. Default `/session`. */
  readonly session: string | false;
};

/** The site's configuration, which the server writes into the served file. */
interface SiteConfig extends ElementRoutes {
  /** The path of the file, without the prefix the router is mounted under. Missing in a bundle. */
  readonly file?: string;
  readonly walletUrl?: string;
  /** Origins other than the page's own that the browser may be redirected to. */
  readonly returnOrigins?: readonly string[];
  /** How long a login can be completed after its creation, in milliseconds. */
  readonly loginTtlMs: number;
}

// The first statement of the built file declares the defaults. The server replaces it.
declare const intentSite: SiteConfig;

// No prototype: a polluted Object.prototype must not configure the element.
const { file, walletUrl, returnOrigins = [], loginTtlMs, ...routes } = { __proto__: null, ...intentSite } as SiteConfig;

export { loginTtlMs, returnOrigins as siteReturnOrigins, routes as siteRoutes, walletUrl as siteWalletUrl };

/** The prefix the router is mounted under, such as `/shop`: the file's address without its own path. */
export const siteBase = file ? new URL(import.meta.url).pathname.slice(0, -file.length) : '';

/** The address of the folder with the files that are loaded on demand. Empty in a bundle, which knows their addresses. */
export const siteFolder = file ? new URL('.', import.meta.url).href : '';
