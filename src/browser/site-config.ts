/** Paths of the routes the element asks; `false` where a route is switched off. */
export type ElementRoutes = {
  /** Creates an intent. Default `/intent`. */
  readonly intent: string | false;
  /** Tells the status; the id follows. Default `/status`. */
  readonly status: string | false;
  /** Streams events; the id and `/events` follow. Default `/intent`. */
  readonly events: string | false;
  /** Completes a login. Default `/session`. */
  readonly session: string | false;
};

/** What the site tells the element by way of the file it serves. */
interface SiteConfig extends ElementRoutes {
  /** The path of the file itself, without the prefix the router is mounted under. In a bundle there is none. */
  readonly file?: string;
  readonly walletUrl?: string;
  /** Origins besides the page's own that a person may be sent to. */
  readonly returnOrigins?: readonly string[];
  /** How long a begun login can be completed, in milliseconds. */
  readonly loginTtlMs: number;
}

// The build declares it at the top of the file, with the defaults, and the server puts the site's configuration there.
declare const intentSite: SiteConfig;

// Without a prototype, so that what another script has put on Object.prototype is no configuration.
const { file, walletUrl, returnOrigins = [], loginTtlMs, ...routes } = { __proto__: null, ...intentSite } as SiteConfig;

export { loginTtlMs, returnOrigins as siteReturnOrigins, routes as siteRoutes, walletUrl as siteWalletUrl };

/** The prefix the router is mounted under, such as `/shop`: what is left of the file's address without its own path. */
export const siteBase = file ? new URL(import.meta.url).pathname.slice(0, -file.length) : '';
