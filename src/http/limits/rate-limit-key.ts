import { createRequire } from 'node:module';
import { isIPv4, isIPv6 } from 'node:net';

const require = createRequire(import.meta.url);

export interface RateLimitKey {
  /** An IPv4 address, or an IPv6 /56: one subscriber has at least that range. */
  readonly address: string;
  /** The /48 around the /56: one customer of a hosting company may have that range. Undefined for IPv4. */
  readonly network: string | undefined;
}

/** The limit of a /48, as a multiple of the limit of an address. */
export const networkFactor = 8;

export const unreadableAddress = 'unreadable';
const unreadable: RateLimitKey = { address: unreadableAddress, network: undefined };

/** Addresses are shorter, even with a zone and a port. */
const maxLength = 80;
/** `[address]:port` and `address:port`, which some load balancers write to `X-Forwarded-For`. */
const bracketed = /^\[([^\]]*)\](?::\d{1,5})?$/;
const withPort = /^([\d.]+):\d{1,5}$/;

/** Loads ipaddr.js with the first IPv6 address: many servers never see one. */
function loadIPv6() {
  const { IPv4, IPv6 }: typeof import('ipaddr.js') = require('ipaddr.js');
  /** IPv4 addresses behind the gateway of an IPv6-only network (RFC 6052, section 2.1). */
  const nat64 = IPv6.parseCIDR('64:ff9b::/96');
  return { IPv4, IPv6, nat64 };
}
let loaded: ReturnType<typeof loadIPv6> | undefined;

/** @param ip `req.ip`: the address of the connection, or from a trusted proxy; undefined after the connection has closed */
export function rateLimitKey(ip: string | undefined): RateLimitKey {
  if (ip === undefined) return unreadable;
  if (isIPv4(ip)) return { address: ip, network: undefined };
  const text = ip.length > maxLength ? '' : ip.trim();
  const [bare = ''] = (bracketed.exec(text)?.[1] ?? withPort.exec(text)?.[1] ?? text).split('%');
  if (isIPv4(bare)) return { address: bare, network: undefined };
  return isIPv6(bare) ? keyOfIPv6(bare) : unreadable;
}

/** An IPv4 visitor has the same key on a dual-stack socket and behind a gateway. */
function keyOfIPv6(text: string): RateLimitKey {
  loaded ??= loadIPv6();
  const { IPv4, IPv6, nat64 } = loaded;
  const ip = IPv6.parse(text);
  if (ip.isIPv4MappedAddress()) return { address: ip.toIPv4Address().toString(), network: undefined };
  if (ip.match(nat64)) return { address: new IPv4(ip.toByteArray().slice(12)).toString(), network: undefined };
  const [first = 0, second = 0, third = 0, fourth = 0] = ip.parts;
  const network = [first, second, third].map((part) => part.toString(16)).join(':');
  return { address: `${network}:${(fourth & 0xff00).toString(16)}::/56`, network: `${network}::/48` };
}
