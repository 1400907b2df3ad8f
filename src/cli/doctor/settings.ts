import { nearestName } from '../../config/nearest-name.js';
import type { Check } from './check.js';
import { fault, ok, warning } from './finding.js';

/** Every setting as the site itself reads it at its start; what is wrong comes at once. */
export const settings: Check = async ({ env, problems, production }) => {
  const faults = problems.map(({ setting, problem, mend }) => fault(`${setting}: ${problem}`, mend));
  const unknown = Object.keys(env)
    .filter((name) => /^INTENTS?_/.test(name) && !known.includes(name))
    .map((name) =>
      warning(
        `${name} is no setting of express-intents.`,
        `Did you mean ${nearestName(name, known)}? Else leave it out.`,
      ),
    );
  const all = [...faults, ...unknown];
  const where = production ? 'in production' : 'not in production';
  return all.length > 0 ? all : [ok(`${countOf(env)} set, all can be read, ${where}`)];
};

const known: readonly string[] = [
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

const countOf = (env: Readonly<Record<string, string | undefined>>): number => known.filter((name) => env[name]).length;
