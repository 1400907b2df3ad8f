import { isIPv4 } from 'node:net';

/** Parses a URL; undefined for any other text. */
export function parseUrl(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}

/** Parses an http or https URL; undefined for any other text. */
export function parseHttpUrl(text: string): URL | undefined {
  const url = parseUrl(text);
  return url && (url.protocol === 'http:' || url.protocol === 'https:') ? url : undefined;
}

/**
 * Whether a URL's `hostname`, or a bare address, is this machine: `localhost`, 127.0.0.0/8 or ::1. Names below `.localhost`
 * are not, because some resolvers ask DNS for them, and the answer of DNS can change.
 */
export function isLoopback(hostname: string): boolean {
  if (hostname === 'localhost' || hostname === '[::1]' || hostname === '::1') return true;
  return hostname.startsWith('127.') && isIPv4(hostname);
}
