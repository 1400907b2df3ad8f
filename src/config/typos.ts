import { closestName, isTypo } from '../reject-unknown.js';
import type { Environment } from './config-options.js';

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

export interface VariableTypo {
  readonly name: string;
  readonly meant: string;
}

export function findTypos(env: Environment): readonly VariableTypo[] {
  return Object.keys(env)
    .filter((name) => env[name] && /^INTENTS?_/.test(name) && !knownVariables.includes(name))
    .flatMap((name) => {
      const meant = closestName(name, knownVariables);
      return meant !== undefined && isTypo(name, meant) ? [{ name, meant }] : [];
    });
}

const shortModes: readonly string[] = ['prod', 'prd', 'live'];

/** A warning if `NODE_ENV` is close to `production`: only the exact value enables production mode. */
export function modeWarnings({ NODE_ENV = '' }: Environment): readonly string[] {
  const mode = NODE_ENV.trim().toLowerCase();
  if (NODE_ENV === 'production' || NODE_ENV === '') return [];
  if (!shortModes.includes(mode) && !isTypo(mode, 'production')) return [];
  return [`NODE_ENV is ${JSON.stringify(NODE_ENV)}, so production mode is off. Set NODE_ENV=production.`];
}
