import type { IncomingMessage } from 'node:http';
import { isIPv4 } from 'node:net';
import type { TLSSocket } from 'node:tls';

export function parseUrl(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}

export function parseHttpUrl(text: string): URL | undefined {
  const url = parseUrl(text);
  return url && (url.protocol === 'http:' || url.protocol === 'https:') ? url : undefined;
}

/** Whether a host is this machine: `localhost`, 127.0.0.0/8 or ::1. Not `*.localhost`, which some resolvers query DNS for. */
export function isLoopback(hostname: string): boolean {
  if (hostname === 'localhost' || hostname === '[::1]' || hostname === '::1') return true;
  return hostname.startsWith('127.') && isIPv4(hostname);
}

/** The local origin of this server, derived from a connection to it; undefined once it is closed, and for a Unix socket. */
export function localOriginOf({ socket }: IncomingMessage): string | undefined {
  const { localPort: port, localAddress } = socket;
  if (port === undefined) return undefined;
  const scheme = (socket as Partial<TLSSocket>).encrypted ? 'https' : 'http';
  // A server that listens only on ::1 is unreachable at 127.0.0.1.
  return `${scheme}://${localAddress === '::1' ? '[::1]' : '127.0.0.1'}:${port}`;
}
