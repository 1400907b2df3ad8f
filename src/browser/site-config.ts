import type { DialogConfig } from './dialog/dialog-config.js';

/** Paths of the routes the element requests; `false` for a disabled route. */
export type ElementRoutes = {
  /** Creates an intent. Default `/intent`. */
  readonly intent: string | false;
  /** Returns the status; the id follows. Default `/status`. */
  readonly status: string | false;
  /** Streams events; the id and `/events` follow. Default `/intent`. */
  readonly events: string | false;
  /** Completes a login. Default `/session`. */
  readonly session: string | false;
  /** The folder of the element's files, where a bundle finds the site's configuration. Default `/intent/v1`. */
  readonly elements: string | false;
};

/** The site's configuration. The server writes it into the file that it serves; a bundle requests it. */
export interface SiteConfig {
  readonly routes: ElementRoutes;
  readonly walletUrl?: string;
  /** Origins other than the page's own that the browser may be redirected to. */
  readonly returnOrigins: readonly string[];
  /** How long a login can be completed after its creation, in milliseconds. */
  readonly loginTtlMs: number;
  /** The accent of the site, as a rule of a style sheet. */
  readonly css?: string;
  /** The site's own texts of the button by language. A language of its own has an entry, also an empty one. */
  readonly texts?: Readonly<Record<string, object>>;
  /** Only in a bundle: the served file of the dialog contains it. */
  readonly dialog?: DialogConfig;
  /** Requests the configuration of the site. Only in a bundle, until it has succeeded. Never rejects. */
  readonly load?: (routes: ElementRoutes) => Promise<void>;
}

// The first statement of the built file declares the defaults, and how a bundle loads the configuration. The server replaces
// it.
declare const intentSite: SiteConfig;

// No prototype: a polluted Object.prototype must not configure the element.
export const siteConfig = { __proto__: null, ...intentSite } as SiteConfig;

/** The prefix the router is mounted under, such as `/shop`: the address of the served file without its own path. */
export const siteBase = siteConfig.load
  ? ''
  : new URL('.', import.meta.url).pathname.slice(0, -1 - (siteConfig.routes.elements as string).length);

/** The address of the folder with the files that are loaded on demand. Empty in a bundle, which knows their addresses. */
export const siteFolder = siteConfig.load ? '' : new URL('.', import.meta.url).href;
