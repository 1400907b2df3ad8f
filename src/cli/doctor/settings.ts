import { knownVariables } from '../../config/known-variables.js';
import { nearestName } from '../../config/nearest-name.js';
import type { Check } from './check.js';
import { fault, ok, warning } from './finding.js';

/** Every setting as the site itself reads it at its start; what is wrong comes at once. */
export const settings: Check = async ({ env, problems, production }) => {
  const faults = problems.map(({ setting, problem, mend }) => fault(`${setting}: ${problem}`, mend));
  const unknown = Object.keys(env)
    .filter((name) => /^INTENTS?_/.test(name) && !knownVariables.includes(name))
    .map((name) =>
      warning(
        `${name} is no setting of express-intents.`,
        `Did you mean ${nearestName(name, knownVariables)}? Else leave it out.`,
      ),
    );
  const all = [...faults, ...unknown];
  const where = production ? 'in production' : 'not in production';
  return all.length > 0 ? all : [ok(`${countOf(env)} set, all can be read, ${where}`)];
};

const countOf = (env: Readonly<Record<string, string | undefined>>): number =>
  knownVariables.filter((name) => env[name]).length;
