import type { Request } from 'express';

/**
 * Whether whoever asks has it already (RFC 9110, section 13.1.2): weakly compared, since a proxy that compresses weakens tags.
 * @param hash what the tags of it begin with, whatever the encoding
 */
export function hasAlready({ headers }: Request, hash: string): boolean {
  const known = headers['if-none-match']?.split(',').map((one) => one.trim().replace(/^W\//, '')) ?? [];
  return known.includes('*') || known.some((one) => one.startsWith(`"${hash}`));
}
