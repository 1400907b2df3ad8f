import { closestName, isTypo } from '../reject-unknown.js';
import { type Environment, knownVariables } from './variables.js';

export interface VariableTypo {
  readonly name: string;
  readonly meant: string;
}

export function findTypos(env: Environment): readonly VariableTypo[] {
  return unknownVariables(env).flatMap((name) => {
    const meant = closestName(name, knownVariables);
    return meant !== undefined && isTypo(name, meant) ? [{ name, meant }] : [];
  });
}

/** The variables that begin with `INTENT_` or `INTENTS_`, but that this package does not read. They may belong to the app. */
export function unknownVariables(env: Environment): readonly string[] {
  return Object.keys(env).filter((name) => env[name] && /^INTENTS?_/.test(name) && !knownVariables.includes(name));
}

/** A sentence about the unknown variables that are not typos of known ones. Empty if there are none. */
export function unknownNote(env: Environment): string {
  const typos = findTypos(env).map(({ name }) => name);
  const others = unknownVariables(env).filter((name) => !typos.includes(name));
  if (others.length === 0) return '';
  const [are, them] = others.length > 1 ? ['are', 'them'] : ['is', 'it'];
  return `${others.join(', ')} ${are} set, but express-intents does not read ${them}.`;
}

const shortModes: readonly string[] = ['prod', 'prd', 'live'];

/**
 * A warning if `NODE_ENV` is close to `production`: only the exact value enables production mode in Express too.
 * @param production whether it is on
 */
export function modeWarnings({ NODE_ENV = '' }: Environment, production: boolean): readonly string[] {
  const mode = NODE_ENV.trim().toLowerCase();
  if (NODE_ENV === 'production' || mode === '') return [];
  if (!shortModes.includes(mode) && !isTypo(mode, 'production')) return [];
  const effect = production ? 'so Express is not in production mode' : 'so production mode is off';
  return [`NODE_ENV is ${JSON.stringify(NODE_ENV)}, ${effect}. Set NODE_ENV=production.`];
}
