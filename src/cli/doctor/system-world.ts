import { existsSync, readFileSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { World } from './world.js';

const require = createRequire(import.meta.url);

/** This machine as it is. */
export function systemWorld(): World {
  return {
    nodeVersion: process.versions.node,
    now: Date.now,
    versionOf: installedVersion,
    fileSystemOf: async (folder) => (await statfs(folder)).type,
    placeOf: (place) => place,
    ca: undefined,
    checkMs: 5_000,
  };
}

/** Not by `require`: packages may keep their `package.json` to themselves. */
function installedVersion(name: string): string | undefined {
  const files = (require.resolve.paths(name) ?? []).map((folder) => path.join(folder, name, 'package.json'));
  const file = files.find((candidate) => existsSync(candidate));
  return file && JSON.parse(readFileSync(file, 'utf8')).version;
}
