import { isIPv4 } from 'node:net';

export function parseUrl(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}

export function parseHttpUrl(text: string): URL | undefined {
  const url = parseUrl(text);
  return url && (url.protocol === 'http:' || url.protocol === 'https:') ? url : undefined;
}

/**
 * Whether the `hostname` of a URL, or a bare address, is this machine: `localhost`, 127.0.0.0/8 or ::1. Subdomains of
 * `localhost` are not, because some resolvers query DNS for them, and the DNS response can change.
 */
export function isLoopback(hostname: string): boolean {
  if (hostname === 'localhost' || hostname === '[::1]' || hostname === '::1') return true;
  return hostname.startsWith('127.') && isIPv4(hostname);
}
