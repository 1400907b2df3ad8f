import { distance, nearestName } from './nearest-name.js';

/** Every variable of the environment that is read. */
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
  'INTENT_SERVICE_KEY',
  'INTENT_WALLET_URL',
  'INTENT_DATABASE_URL',
];

/** A variable that nobody reads, and the one that was most likely meant. */
export interface MisspeltVariable {
  readonly name: string;
  readonly meant: string;
}

/** So many letters are slips; with more it may well be a variable of the app's own. */
const mostSlips = 2;

/** Variables whose names are nearly those of ours. */
export function misspeltVariables(env: Readonly<Record<string, string | undefined>>): readonly MisspeltVariable[] {
  return Object.keys(env)
    .filter((name) => env[name] && /^INTENTS?_/.test(name) && !knownVariables.includes(name))
    .map((name) => ({ name, meant: nearestName(name, knownVariables) }))
    .filter(({ name, meant }) => distance(name, meant) <= mostSlips);
}

/** What people write who mean `production`. */
const shortModes: readonly string[] = ['prod', 'prd', 'live'];

/** A warning where `NODE_ENV` is nearly `production`: Node, Express and this package know that one spelling alone. */
export function modeWarnings({ NODE_ENV = '' }: Readonly<Record<string, string | undefined>>): readonly string[] {
  const mode = NODE_ENV.trim().toLowerCase();
  if (NODE_ENV === 'production' || NODE_ENV === '') return [];
  if (!shortModes.includes(mode) && distance(mode.slice(0, 20), 'production') > mostSlips) return [];
  return [`NODE_ENV is ${JSON.stringify(NODE_ENV)}, so the checks of production are off. Set NODE_ENV=production.`];
}
