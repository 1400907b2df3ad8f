import { isIPv4 } from 'node:net';

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
