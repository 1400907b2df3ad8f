import type { UpstreamTransport } from './router-event.js';

/** The service that is called. */
export interface Upstream {
  readonly transport: UpstreamTransport;
  /** Host and port; undefined where the site brings its own transport. */
  readonly address: string | undefined;
  readonly port: number | undefined;
}

/** @param url of the service; what else is in it is nobody's business */
export function upstreamOf(transport: UpstreamTransport, url: string | undefined): Upstream {
  if (transport === 'custom' || url === undefined || !URL.canParse(url)) {
    return { transport, address: undefined, port: undefined };
  }
  const { hostname, port, protocol } = new URL(url);
  return { transport, address: hostname, port: Number(port) || (protocol === 'http:' ? 80 : 443) };
}
