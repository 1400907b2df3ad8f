import { IntentError } from '../errors.js';

/** Ends the recursion for a circular value. */
const maxDepth = 32;

/** Neither `text` nor `jsonb` of Postgres can hold NUL or a lone surrogate. */
const unstorable = /[\0\p{Surrogate}]/u;

export function isStorable(text: string): boolean {
  return !unstorable.test(text);
}

/**
 * Clones a value that the database can return unchanged as JSON. Undefined members are omitted.
 * @param name of the value, for the message
 * @throws {IntentError} `invalid_configuration`, with the path of the member that is not JSON
 */
export function toJsonClone(value: unknown, name: string, depth = 0): unknown {
  if (depth > maxDepth) throw refused(name, 'is circular or nested too deeply', 'Omit it.');
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (typeof value === 'string') {
    if (isStorable(value)) return value;
    throw refused(name, 'is a string that contains a NUL character or a lone surrogate', 'Remove these characters.');
  }
  if (Array.isArray(value)) return Array.from(value, (item, at) => toJsonClone(item, `${name}[${at}]`, depth + 1));
  if (!isPlainObject(value)) throw refused(name, `is ${typeNameOf(value)}`, 'Omit it, or convert it to text.');
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  for (const [key] of members)
    if (!isStorable(key))
      throw refused(name, 'has a key that contains a NUL character or a lone surrogate', 'Rename it.');
  return Object.fromEntries(members.map(([key, member]) => [key, toJsonClone(member, `${name}.${key}`, depth + 1)]));
}

function isPlainObject(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  // Not compared with Object.prototype of this realm: an object may come from another realm, such as a test runner's.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** The type, not the value: the value may be secret. */
function typeNameOf(value: unknown): string {
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'object') return value === undefined ? 'undefined' : `a ${typeof value}`;
  return `an instance of ${value?.constructor?.name ?? 'a class'}`;
}

function refused(name: string, problem: string, fix: string): IntentError {
  return new IntentError('invalid_configuration', `${name} ${problem}, which cannot be stored as JSON. ${fix}`);
}
