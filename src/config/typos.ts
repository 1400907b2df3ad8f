import type { Environment } from './config-options.js';

/** Every environment variable that is read. */
export const knownVariables: readonly string[] = [
  'INTENT_SEQUENCER_URL',
  'INTENT_SEQUENCER_GRPC_URL',
  'INTENT_EMULATOR_PORT',
  'INTENT_EMULATOR_STATE',
  'INTENT_VERIFIER_SECRET',
  'INTENT_VERIFIER_SECRET_FILE',
  'INTENT_DOMAIN',
  'INTENT_DESTINATION',
  'INTENT_ORIGIN',
  'INTENT_SECRET',
  'INTENT_WEBHOOK_PUBLIC_KEY',
  'INTENT_WALLET_URL',
  'INTENT_DATABASE_URL',
];

/** A variable that is not read, and the one that was most likely meant. */
export interface VariableTypo {
  readonly name: string;
  readonly meant: string;
}

/** With more different letters, a name may well be the app's own. */
const maxTypoDistance = 2;

/** Variables whose names are nearly those of ours. */
export function findTypos(env: Environment): readonly VariableTypo[] {
  return Object.keys(env)
    .filter((name) => env[name] && /^INTENTS?_/.test(name) && !knownVariables.includes(name))
    .map((name) => ({ name, meant: nearestName(name, knownVariables) }))
    .filter(({ name, meant }) => distance(name, meant) <= maxTypoDistance);
}

/** Common abbreviations of `production`. */
const shortModes: readonly string[] = ['prod', 'prd', 'live'];

/** A warning where `NODE_ENV` is nearly `production`: Node, Express and this package know that spelling only. */
export function modeWarnings({ NODE_ENV = '' }: Environment): readonly string[] {
  const mode = NODE_ENV.trim().toLowerCase();
  if (NODE_ENV === 'production' || NODE_ENV === '') return [];
  if (!shortModes.includes(mode) && distance(mode.slice(0, 20), 'production') > maxTypoDistance) return [];
  return [`NODE_ENV is ${JSON.stringify(NODE_ENV)}, so the checks of production are off. Set NODE_ENV=production.`];
}

/** The name with the smallest Levenshtein distance. */
export function nearestName(name: string, names: readonly string[]): string {
  const [nearest = ''] = [...names].sort((one, other) => distance(name, one) - distance(name, other));
  return nearest;
}

/** The Levenshtein distance: letters to change, insert or delete. */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [index, letter] of [...from].entries()) {
    const next = [index + 1];
    for (const [column, other] of [...to].entries()) {
      const changed = (row[column] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(changed, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
