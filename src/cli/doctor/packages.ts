import { readManifest } from '../package-manifest.js';
import type { Check, DoctorContext } from './check.js';
import { type Finding, fault, ok } from './finding.js';
import { satisfies } from './version-range.js';

/** The packages that a site brings itself: those that its settings need, and their versions. */
export const packages: Check = async (context) => {
  const { peerDependencies } = readManifest();
  const needed = neededBy(context);
  const found = Object.keys(needed).map((name) => ({ name, version: context.world.versionOf(name) }));
  const faults: Finding[] = [];
  for (const { name, version } of found) {
    const range = peerDependencies[name] ?? '';
    if (version === undefined) {
      faults.push(fault(`${name} is missing, which ${needed[name]} needs.`, `npm install ${name}`));
    } else if (!satisfies(version, range)) {
      const newest = range.split('||').at(-1)?.trim();
      faults.push(fault(`${name} ${version} is not supported, but ${range}.`, `npm install ${name}@${newest}`));
    }
  }
  if (faults.length > 0) return faults;
  return [ok(found.map(({ name, version }) => `${name} ${version}`).join(', '))];
};

/** By name, with what needs it. */
function neededBy({ settings, env }: DoctorContext): Readonly<Record<string, string>> {
  const { database } = settings;
  return {
    express: 'the router',
    ...(database?.kind === 'postgres' && { pg: 'a ledger in Postgres' }),
    ...(database?.kind === 'embedded' && { '@electric-sql/pglite': 'a ledger in a folder' }),
    ...(env.INTENT_SEQUENCER_GRPC_URL && { '@grpc/grpc-js': 'INTENT_SEQUENCER_GRPC_URL' }),
  };
}
