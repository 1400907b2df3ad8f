import type { ExternalClient } from './external-client.js';

/** Paths of the routes, as the site gives them to its button. `false` for a disabled route. */
export interface SiteRoutes {
  readonly intent: string | false;
  readonly status: string | false;
  readonly events: string | false;
}

export interface RunningSite {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Including the mount path. Undefined if the site does not serve the file of the button. */
  readonly routes: SiteRoutes | undefined;
  /** The path under which the router is mounted. Empty at the root. */
  readonly mountPath: string;
}

export const buttonPath = '/intent/v1/elements.js';
export const openApiPath = '/intent/v1/openapi.json';

const siteConfig = /^const intentSite = (\{.*\});$/m;

/**
 * Requests the file of the button, which almost every site serves and which is cheap. If the file is not at its usual path, because
 * the router is mounted under a path or the route is renamed, searches the home page for its path.
 * @throws {Error} without an answer
 */
export async function requestSite(client: ExternalClient, url: URL, signal: AbortSignal): Promise<RunningSite> {
  const usual = await requestButton(client, new URL(buttonPath, url), signal);
  if (usual.routes || usual.status === 429 || usual.status >= 500) return usual;
  const named = await findButton(client, url, signal).catch(() => undefined);
  return named?.routes ? named : usual;
}

async function requestButton(client: ExternalClient, url: URL, signal: AbortSignal): Promise<RunningSite> {
  const headers = { 'accept-encoding': 'identity' };
  const { text, status, headers: answered } = await client.read(url, { headers, signal });
  const found = status === 200 ? readRoutes(text, url.pathname) : undefined;
  return { status, headers: answered, routes: found?.routes, mountPath: found?.mountPath ?? '' };
}

/** The path of a file of the button in a page. A path of this site only: `//host` is another machine. */
const buttonInPage = /["'](\/(?:[\w.~-]+\/)+elements\.js)["']/;

async function findButton(client: ExternalClient, url: URL, signal: AbortSignal): Promise<RunningSite | undefined> {
  const headers = { accept: 'text/html', 'accept-encoding': 'identity' };
  const { text } = await client.read(new URL('/', url), { headers, signal });
  const [, path] = buttonInPage.exec(text) ?? [];
  return path === undefined ? undefined : requestButton(client, new URL(path, url), signal);
}

function readRoutes(text: string, path: string): { routes: SiteRoutes; mountPath: string } | undefined {
  try {
    const found: unknown = JSON.parse(siteConfig.exec(text)?.[1] ?? '');
    const { elements, intent, status, events } = (found as { routes: Record<string, unknown> }).routes;
    const file = `${elements}/elements.js`;
    const mountPath = path.endsWith(file) ? path.slice(0, -file.length) : '';
    const under = (value: unknown): string | false => parsePath(typeof value === 'string' ? mountPath + value : value);
    return { mountPath, routes: { intent: under(intent), status: under(status), events: under(events) } };
  } catch {
    return undefined;
  }
}

/** Refuses `//host`, which would send the next request to another machine. */
const parsePath = (value: unknown): string | false =>
  typeof value === 'string' && /^(?:\/[\w.~-]+)+$/.test(value) ? value : false;

type Operations = Readonly<Record<string, { readonly operationId?: unknown }>>;

/** The path of an operation that the router describes, `false` if it has none, undefined if the site describes no routes. */
export async function pathOfOperation(
  operation: 'getKeyFile' | 'receiveWebhook',
  client: ExternalClient,
  url: URL,
  signal: AbortSignal,
): Promise<string | false | undefined> {
  try {
    const { status, text } = await client.read(url, { signal });
    const { paths } = JSON.parse(text) as { paths: Readonly<Record<string, Operations>> };
    if (status !== 200) return undefined;
    const described = Object.entries(paths).find(([, methods]) =>
      Object.values(methods).some(({ operationId }) => operationId === operation),
    );
    return parsePath(described?.[0]);
  } catch {
    return undefined;
  }
}
