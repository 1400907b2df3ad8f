import type { Visitor } from './visitor.js';

/** Where the routes of the site are, as its own button is told; `false` for one that is switched off. */
export interface SiteRoutes {
  readonly intent: string | false;
  readonly status: string | false;
  readonly events: string | false;
  readonly session: string | false;
}

/** What a running site shows of itself to everybody. */
export interface RunningSite {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly tookMs: number;
  readonly askedAtMs: number;
  /** Undefined where the button is not there, which tells them. */
  readonly routes: SiteRoutes | undefined;
}

export const buttonPath = '/intent/v1/elements.js';

/** What stands at the top of the button's file. */
const siteConfig = /^const intentSite=(\{.*?\});/;

/** Asks for the file of the button, which every site serves and which costs nothing. @throws {Error} */
export async function visitSite(visitor: Visitor, url: URL, signal: AbortSignal): Promise<RunningSite> {
  const { text, ...head } = await visitor.read(new URL(buttonPath, url), {
    headers: { 'accept-encoding': 'identity' },
    signal,
  });
  return { ...head, routes: head.status === 200 ? readRoutes(text) : undefined };
}

function readRoutes(text: string): SiteRoutes | undefined {
  try {
    const found: unknown = JSON.parse(siteConfig.exec(text)?.[1] ?? '');
    const { intent, status, events, session } = found as Record<string, unknown>;
    return { intent: pathIn(intent), status: pathIn(status), events: pathIn(events), session: pathIn(session) };
  } catch {
    return undefined;
  }
}

const pathIn = (value: unknown): string | false => (typeof value === 'string' && value.startsWith('/') ? value : false);
