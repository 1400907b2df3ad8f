import type { ConnectionOptions } from 'node:tls';

/** Where a host is really reached. */
export interface Place {
  readonly host: string;
  readonly port: number;
}

/** How the doctor reaches the network: a seam for tests. */
export interface World {
  /** Where a host of the internet is; by default where the DNS says. */
  placeOf(place: Place): Place;
  /** Certificates that are trusted, in PEM; undefined for those that Node trusts. */
  readonly ca: ConnectionOptions['ca'];
  /** Bound of one check, in milliseconds. */
  readonly checkMs: number;
}

/** The network as it is. */
export const systemWorld: World = { placeOf: (place) => place, ca: undefined, checkMs: 5_000 };
