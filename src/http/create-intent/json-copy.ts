import { IntentError } from '../../errors.js';

/** Deeper than any notes are; what is nested in itself has no end. */
const maxDepth = 32;

/** What neither a text nor JSON in Postgres can hold: a NUL, and half of a pair of surrogates. */
const unstorable = /[\0\p{Surrogate}]/u;

/** Whether a text can be kept as it is. */
export function isStorable(text: string): boolean {
  return !unstorable.test(text);
}

/**
 * Copies what JSON can hold, so that it comes back from a database as it went in; members that are undefined are left out.
 * @param name what is copied, for the message
 * @throws {IntentError} `invalid_configuration`, with the place of what JSON cannot hold
 */
export function jsonCopy(value: unknown, name: string, depth = 0): unknown {
  if (depth > maxDepth) throw refused(name, 'is nested too deeply, or in itself');
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (typeof value === 'string' && isStorable(value)) return value;
  if (Array.isArray(value)) return Array.from(value, (item, at) => jsonCopy(item, `${name}[${at}]`, depth + 1));
  if (!isPlainObject(value)) throw refused(name, `is ${nameOf(value)}`);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  for (const [key] of members) if (!isStorable(key)) throw refused(name, 'has a key with a NUL or half a character');
  return Object.fromEntries(members.map(([key, member]) => [key, jsonCopy(member, `${name}.${key}`, depth + 1)]));
}

function isPlainObject(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  // Not compared with our own Object.prototype: an object may come from another realm, such as that of a test runner.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** Never the value itself, which may be anybody's secret. */
function nameOf(value: unknown): string {
  if (typeof value === 'string') return 'a text with a NUL or half a character';
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'object') return value === undefined ? 'undefined' : `a ${typeof value}`;
  return `a ${value?.constructor?.name ?? 'object of a class'}`;
}

function refused(name: string, problem: string): IntentError {
  return new IntentError('invalid_configuration', `${name} ${problem}, which JSON cannot hold as it is.`);
}
