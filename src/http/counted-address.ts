import { isIPv6 } from 'node:net';

/**
 * What an address counts as. One subscriber has a whole /56 of IPv6 to choose from; and an IPv4 address is the same
 * one on a socket that speaks both.
 */
export function countedAddress(ip: string | undefined): string {
  if (ip === undefined || !isIPv6(ip)) return (ip ?? '').slice(0, 64);
  const [text = ''] = ip.toLowerCase().split('%');
  if (text.startsWith('::ffff:') && text.includes('.')) return text.slice('::ffff:'.length);
  const [head = '', tail] = text.split('::');
  const groups = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? 0 : tail.split(':').length;
  const zeros = tail === undefined ? 0 : 8 - groups.length - after;
  const all = [...groups, ...new Array<string>(zeros).fill('0'), ...(tail ? tail.split(':') : [])];
  const [first, second, third, fourth] = all.map((group) => Number.parseInt(group, 16));
  return `${[first, second, third, (fourth ?? 0) & 0xff00].map((group) => group?.toString(16)).join(':')}::/56`;
}
