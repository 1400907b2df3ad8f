import { readManifest } from '../package-manifest.js';
import type { Check } from './check.js';
import { fault, ok } from './finding.js';
import { satisfies } from './version-range.js';

/** The version of Node, against what this package needs. */
export const nodeVersion: Check = async ({ world }) => {
  const { node: range } = readManifest().engines;
  const { nodeVersion: version } = world;
  if (satisfies(version, range)) return [ok(version)];
  return [fault(`${version} is too old: express-intents needs ${range}.`, 'Install Node 24 or 22, or at least 20.19.')];
};
