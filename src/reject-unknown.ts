import { type ConfigProblem, IntentError, type IntentErrorCode } from './errors.js';

// Unknown options and fields are rejected: one that is ignored may be a typo of one that matters.

/** At a greater edit distance, one name is probably not a typo of the other. */
export const maxTypoDistance = 2;

/** The name with the smallest edit distance, upper and lower case being equal. */
export function nearestName(name: string, names: readonly string[]): string {
  const distanceTo = (known: string): number => editDistance(name.toLowerCase(), known.toLowerCase());
  const [nearest = ''] = [...names].sort((one, other) => distanceTo(one) - distanceTo(other));
  return nearest;
}

/** The Levenshtein distance: letters to change, insert or delete. */
export function editDistance(from: string, to: string): number {
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

/** The own properties of an object that are not known, including those with the value undefined. */
export function unknownNames(given: object, known: readonly string[]): readonly string[] {
  return Object.keys(given).filter((name) => !known.includes(name));
}

/** `Did you mean "amount"?`, and all names. */
function suggestion(name: string, known: readonly string[]): string {
  // A long name costs time, and is no typo.
  const nearest = nearestName(name.slice(0, 40), known);
  return `Did you mean ${JSON.stringify(nearest)}? Known: ${known.join(', ')}.`;
}

/** The problem of an unknown option. @param setting its path, such as `routes.intnet` */
export function unknownOption(setting: string, name: string, known: readonly string[]): ConfigProblem {
  return { setting, problem: `Unknown option ${JSON.stringify(name)}.`, fix: suggestion(name, known) };
}

/** The problems of the options of a function: not an object, or unknown names. @param owner the function */
export function problemsOfOptions(owner: string, given: unknown, known: readonly string[]): ConfigProblem[] {
  if (typeof given !== 'object' || given === null) {
    const fix = `${owner}({ ${known[0] ?? ''} })`;
    return [{ setting: owner, problem: 'Options must be an object.', fix }];
  }
  return unknownNames(given, known).map((name) => unknownOption(`${owner}.${name}`, name, known));
}

/**
 * Rejects options or fields of a call that do not exist.
 * @param owner the function, for the message
 * @throws {IntentError} `invalid_request`, or another code
 */
export function requireKnown(
  owner: string,
  given: unknown,
  known: readonly string[],
  code: IntentErrorCode = 'invalid_request',
): void {
  if (given === undefined) return;
  if (typeof given !== 'object' || given === null) {
    throw new IntentError(code, `${owner}: options must be an object with ${known.join(', ')}.`);
  }
  const [name] = unknownNames(given, known);
  if (name === undefined) return;
  throw new IntentError(code, `${owner}: unknown option ${JSON.stringify(name)}. ${suggestion(name, known)}`);
}
