import { IntentError } from '../../errors.js';

/** Deeper than metadata needs; a value that contains itself has no end. */
const maxDepth = 32;

/** Neither `text` nor `jsonb` of Postgres can hold a NUL or half of a surrogate pair. */
const unstorable = /[\0\p{Surrogate}]/u;

/** Whether the database can store a text unchanged. */
export function isStorable(text: string): boolean {
  return !unstorable.test(text);
}

/**
 * Clones a value that JSON can hold, so that a database returns it unchanged. Members that are undefined are left out.
 * @param name of the value, for the message
 * @throws {IntentError} `invalid_configuration`, with the path of the member that JSON cannot hold
 */
export function toJsonClone(value: unknown, name: string, depth = 0): unknown {
  if (depth > maxDepth) throw refused(name, 'is nested too deeply, or in itself');
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (typeof value === 'string' && isStorable(value)) return value;
  if (Array.isArray(value)) return Array.from(value, (item, at) => toJsonClone(item, `${name}[${at}]`, depth + 1));
  if (!isPlainObject(value)) throw refused(name, `is ${typeNameOf(value)}`);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  for (const [key] of members) if (!isStorable(key)) throw refused(name, 'has a key with a NUL or half a character');
  return Object.fromEntries(members.map(([key, member]) => [key, toJsonClone(member, `${name}.${key}`, depth + 1)]));
}

function isPlainObject(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  // Not compared with our own Object.prototype: an object may come from another realm, such as that of a test runner.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** The type and never the value, which may be a secret. */
function typeNameOf(value: unknown): string {
  if (typeof value === 'string') return 'a text with a NUL or half a character';
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'object') return value === undefined ? 'undefined' : `a ${typeof value}`;
  return `a ${value?.constructor?.name ?? 'object of a class'}`;
}

function refused(name: string, problem: string): IntentError {
  return new IntentError('invalid_configuration', `${name} ${problem}, which JSON cannot hold as it is.`);
}
