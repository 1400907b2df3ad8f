/** Paths of the routes the element asks; `false` where a route is switched off. */
export interface ElementRoutes {
  /** Creates an intent. Default `/intent`. */
  readonly intent: string | false;
  /** Tells the status; the id follows. Default `/status`. */
  readonly status: string | false;
  /** Streams events; the id and `/events` follow. Default `/intent`. */
  readonly events: string | false;
  /** Completes a login. Default `/session`. */
  readonly session: string | false;
}

/** What the site tells the element by way of the file it serves. */
interface SiteConfig extends ElementRoutes {
  /** The path of the file itself, without the prefix the router is mounted under. */
  readonly file: string;
  readonly walletUrl?: string;
  /** How long a begun login can be completed, in milliseconds. */
  readonly loginTtlMs?: number;
}

// The build declares it at the top of the file, and the server puts the site's configuration there. In a bundle it stays empty.
declare const intentSite: Partial<SiteConfig> | undefined;

const site: Partial<SiteConfig> = typeof intentSite === 'object' ? intentSite : {};

export const { walletUrl: siteWalletUrl, loginTtlMs = 120_000 } = site;

export const siteRoutes: ElementRoutes = {
  intent: site.intent ?? '/intent',
  status: site.status ?? '/status',
  events: site.events ?? '/intent',
  session: site.session ?? '/session',
};

/** The prefix the router is mounted under, such as `/shop`: what is left of the file's address without its own path. */
export const siteBase = site.file ? new URL(import.meta.url).pathname.slice(0, -site.file.length) : '';
