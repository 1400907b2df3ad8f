import { isIPv4 } from 'node:net';

/**
 * Whether a URL's `hostname`, or a bare address, is this machine: `localhost`, 127.0.0.0/8 or ::1. Names below `.localhost`
 * are not, because some resolvers ask DNS for them, and the answer of DNS can change.
 */
export function isLoopback(hostname: string): boolean {
  if (hostname === 'localhost' || hostname === '[::1]' || hostname === '::1') return true;
  return hostname.startsWith('127.') && isIPv4(hostname);
}
