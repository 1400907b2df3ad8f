import { BlockList, isIP } from 'node:net';
import { isLoopback } from '../../net/loopback.js';

/** Whether an address may be called. */
export type Reach = (address: string) => boolean;

/** What IANA's registry of special purposes keeps off the internet, and multicast. */
const specialIPv4 = listOf('ipv4', [
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
 * Of IPv6 only 2000::/3 is given out for the internet. The rest is loopback, link-local, unique local, multicast, IPv4
 * in other clothes, or nothing yet; and a few parts of it are for documentation, or lead to IPv4 as well.
 */
const specialIPv6 = listOf('ipv6', [
  '::/3',
  '4000::/2',
  '8000::/1',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '3fff::/20',
]);

/** Addresses that anybody on the internet can call as well. */
export const publicReach: Reach = (address) => {
  const family = isIP(address);
  if (family === 4) return !specialIPv4.check(address, 'ipv4');
  // One with a zone is of this link.
  return family === 6 && !address.includes('%') && !specialIPv6.check(address, 'ipv6');
};

/** Addresses of this very machine. */
export const loopbackReach: Reach = (address) => isIP(address) !== 0 && isLoopback(address);

function listOf(family: 'ipv4' | 'ipv6', subnets: readonly string[]): BlockList {
  const list = new BlockList();
  for (const subnet of subnets) {
    const [network = '', prefix] = subnet.split('/');
    list.addSubnet(network, Number(prefix), family);
  }
  return list;
}
