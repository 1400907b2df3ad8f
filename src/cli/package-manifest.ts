import { readFileSync } from 'node:fs';

/** What this package says of itself. */
export interface PackageManifest {
  readonly version: string;
  readonly engines: { readonly node: string };
  readonly peerDependencies: Readonly<Record<string, string>>;
}

/** Reads the `package.json` of this package. */
export function readManifest(): PackageManifest {
  return JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
}
