import type { ConnectionOptions } from 'node:tls';

/** Where a host is really reached. */
export interface Place {
  readonly host: string;
  readonly port: number;
}

/** What the doctor sees of the machine it runs on, and how it gets out of it: a seam for tests. */
export interface World {
  /** Such as `20.20.2`. */
  readonly nodeVersion: string;
  /** ms since 1970 */
  now(): number;
  /** The version of an installed package, as this package would load it; undefined where there is none. */
  versionOf(packageName: string): string | undefined;
  /** The `f_type` of the file system that a folder is on, see statfs(2). */
  fileSystemOf(folder: string): Promise<number>;
  /** Where a host of the internet is; by default where the DNS says. */
  placeOf(place: Place): Place;
  /** Certificates that are trusted, in PEM; undefined for those that Node trusts. */
  readonly ca: ConnectionOptions['ca'];
  /** Bound of one check, in milliseconds. */
  readonly checkMs: number;
}
