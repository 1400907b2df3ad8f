import { type LookupAddress, type LookupAllOptions, lookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { Agent, buildConnector, request } from 'undici';
import { readError } from '../../errors.js';
import { isLoopback } from '../../net/url.js';

const timeoutMs = 3_000;
const maxBytes = 8 * 1024;

export type Resolve = (
  hostname: string,
  options: LookupAllOptions,
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

export interface OutboundOptions {
  readonly resolve?: Resolve | undefined;
  /** Additional trusted certificates, PEM. */
  readonly ca?: string | undefined;
  /** Accepts any certificate, for servers on this machine. */
  readonly anyCertificate?: boolean | undefined;
}

export interface OutboundRequest {
  readonly method: 'GET' | 'POST';
  readonly headers?: Record<string, string> | undefined;
  readonly body?: string | undefined;
}

export interface OutboundResponse {
  readonly status: number;
  /** Empty unless the status is 2xx. */
  readonly text: string;
}

/**
 * Calls URLs that a client supplied, and prevents server-side request forgery: it connects only to addresses that the policy
 * allows, follows no redirects, and reads at most 8 KiB within 3 seconds. The policy is checked for the address of the
 * connection, which prevents DNS rebinding.
 */
export class GuardedHttpClient {
  readonly #agent: Agent;

  constructor(allows: AddressPolicy, { resolve = lookup, ca, anyCertificate = false }: OutboundOptions = {}) {
    const guarded = guardedLookup(allows, resolve);
    const tls = { rejectUnauthorized: !anyCertificate, ...(ca !== undefined && { ca }) };
    const connect = buildConnector({ lookup: guarded, timeout: timeoutMs, ...tls });
    this.#agent = new Agent({
      connect: (options, done) => {
        // A literal address in the URL is not resolved.
        const isRefused = isIP(options.hostname) !== 0 && !allows(options.hostname);
        if (isRefused) done(refusedAddress(options.hostname), null);
        else connect(options, done);
      },
      maxResponseSize: maxBytes,
      // An idle connection would keep the process alive.
      pipelining: 0,
    });
  }

  /** @throws {Error} whose message is the reason, for use within a sentence */
  async call(url: URL | string, { method, headers, body }: OutboundRequest): Promise<OutboundResponse> {
    try {
      const signal = AbortSignal.timeout(timeoutMs);
      const answer = await request(url, {
        dispatcher: this.#agent,
        method,
        signal,
        ...(headers && { headers }),
        ...(body !== undefined && { body }),
      });
      const { statusCode: status } = answer;
      if (status >= 200 && status < 300) return { status, text: await answer.body.text() };
      await answer.body.dump({ limit: maxBytes }).catch(() => undefined);
      return { status, text: '' };
    } catch (cause) {
      throw new Error(reasonOf(cause), { cause });
    }
  }
}

function guardedLookup(allows: AddressPolicy, resolve: Resolve): LookupFunction {
  return (hostname, options, done) => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      const [first] = addresses ?? [];
      if (error || !first) return done(error ?? new Error(`${hostname} has no address`), '', 0);
      // A host name is rejected if any of its addresses is not allowed.
      const refused = addresses.find(({ address }) => !allows(address));
      if (refused) return done(refusedAddress(refused.address), '', 0);
      if (options.all) done(null, addresses);
      else done(null, first.address, first.family);
    });
  };
}

function refusedAddress(address: string): Error {
  return new Error(`its address ${address} is not allowed`);
}

function reasonOf(thrown: unknown): string {
  const { name, message } = readError(thrown);
  if (name === 'TimeoutError') return `timeout after ${timeoutMs / 1000} seconds`;
  if (name === 'ResponseExceededMaxSizeError') return `the response has more than ${maxBytes} bytes`;
  return String(message);
}

export type AddressPolicy = (address: string) => boolean;

/** IANA special-purpose addresses that are not globally reachable, and multicast. */
const specialIPv4 = subnets('ipv4', [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
]);

/**
 * Global unicast is 2000::/3. Everything else is special-purpose or unallocated, and so are the listed
 * parts of 2000::/3, such as those for documentation and tunnels to IPv4.
 */
const specialIPv6 = subnets('ipv6', [
  '::/3',
  '4000::/2',
  '8000::/1',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '3fff::/20',
]);

export const publicAddresses: AddressPolicy = (address) => {
  const family = isIP(address);
  if (family === 4) return !specialIPv4.check(address, 'ipv4');
  // Only link-local addresses have a zone.
  return family === 6 && !address.includes('%') && !specialIPv6.check(address, 'ipv6');
};

export const loopbackAddresses: AddressPolicy = (address) => isIP(address) !== 0 && isLoopback(address);

function subnets(family: 'ipv4' | 'ipv6', networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const subnet of networks) {
    const [network = '', prefix] = subnet.split('/');
    list.addSubnet(network, Number(prefix), family);
  }
  return list;
}
