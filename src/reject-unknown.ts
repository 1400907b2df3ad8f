import { type ConfigProblem, IntentError, type IntentErrorCode } from './errors.js';

// Unknown options and fields are rejected, because an ignored one may be a typo of one that matters.

/** Whether a name is probably a typo: at most two letters differ, or one in a name of up to three. Ignores case. */
export function isTypo(name: string, known: string): boolean {
  // A long name would take time, and is not a typo.
  if (name.length > 40) return false;
  return editDistance(name.toLowerCase(), known.toLowerCase()) <= Math.min(2, Math.ceil(name.length / 3));
}

/** The known name that was probably meant: `name` is a typo of it, or one begins with the other, such as `ttl` and `ttlMs`. */
export function closestName(name: string, names: readonly string[]): string | undefined {
  const distanceTo = (known: string): number => editDistance(name.toLowerCase(), known.toLowerCase());
  return names
    .filter((known) => isTypo(name, known) || known.startsWith(name) || name.startsWith(known))
    .sort((one, other) => distanceTo(one) - distanceTo(other))
    .at(0);
}

function editDistance(from: string, to: string): number {
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

/** A longer list would hide the suggestion. */
const maxListedAfterSuggestion = 12;

/** `Did you mean "amount"?` if a name is close, and the valid names. */
function suggestion(name: string, known: readonly string[], list: string): string {
  const closest = closestName(name, known);
  if (closest === undefined) return list;
  return `Did you mean "${closest}"?${known.length > maxListedAfterSuggestion ? '' : ` ${list}`}`;
}

/** Names in lines that fit into a terminal, indented like the fix of a problem. */
function wrapped(names: readonly string[]): string {
  let length = names[0]?.length ?? 0;
  return names.reduce((text, name) => {
    length += name.length + 2;
    const separator = length > 100 ? ',\n    ' : ', ';
    if (length > 100) length = name.length;
    return text + separator + name;
  });
}

/** The problem of an unknown option. @param setting its path, such as `routes.intnet` */
export function unknownOption(setting: string, name: string, known: readonly string[]): ConfigProblem {
  return {
    setting,
    problem: `Unknown option ${JSON.stringify(name)}.`,
    fix: suggestion(name, known, `Valid options: ${wrapped(known)}.`),
  };
}

/** The problems of the options of a function: not an object, or unknown properties. @param owner the function */
export function problemsOfOptions(owner: string, given: unknown, known: readonly string[]): ConfigProblem[] {
  if (typeof given !== 'object' || given === null) {
    const fix = `Pass an object, or omit it. Valid options: ${wrapped(known)}.`;
    return [{ setting: owner, problem: 'Options must be an object.', fix }];
  }
  return unknownNames(given, known).map((name) => unknownOption(`${owner}.${name}`, name, known));
}

/** Rejects unknown properties, and values that are not objects. @param owner a function or hook @throws {IntentError} `code` */
export function requireKnown(
  owner: string,
  given: unknown,
  known: readonly string[],
  code: IntentErrorCode = 'invalid_request',
): void {
  if (given === undefined) return;
  const list = `Valid properties: ${known.join(', ')}.`;
  if (typeof given !== 'object' || given === null) {
    throw new IntentError(code, `${owner}: expected an object. ${list}`);
  }
  for (const name of Object.keys(given)) {
    if (known.includes(name)) continue;
    throw new IntentError(code, `${owner}: unknown property ${JSON.stringify(name)}. ${suggestion(name, known, list)}`);
  }
}
