import { createHash } from 'node:crypto';
import type { Request } from 'express';
import { IntentError } from '../../errors.js';
import type { IntentRequestBody } from './intent-request.js';

/** 1 to 255 visible ASCII characters, without what would need the quotes. */
const bareForm = /^[!#-[\]-~]{1,255}$/;
/** A string of RFC 9651, section 3.3.3, in which a backslash comes before a quote or another backslash. */
const quotedForm = /^"((?:[!#-[\]-~]|\\["\\])+)"$/;
const maxLength = 255;

/**
 * The `Idempotency-Key` of a request (draft-ietf-httpapi-idempotency-key-header), in quotes as it should be or bare as it
 * often is; undefined where there is none.
 * @throws {IntentError} `invalid_idempotency_key`
 */
export function parseIdempotencyKey({ headers }: Request): string | undefined {
  const header = headers['idempotency-key'];
  if (header === undefined) return undefined;
  // Node joins a header that came twice with a comma and a space.
  const text = String(header);
  const key = bareForm.test(text) ? text : quotedForm.exec(text)?.[1]?.replace(/\\(.)/g, '$1');
  if (key !== undefined && key.length <= maxLength) return key;
  throw new IntentError('invalid_idempotency_key', 'Send 1 to 255 visible ASCII characters, once, bare or in quotes.');
}

/** SHA-256 of what a request asks for, however its members are ordered: 32 bytes. */
export function fingerprintOf(mode: 'payment' | 'login', { order, amount }: IntentRequestBody): Uint8Array {
  return createHash('sha256').update(JSON.stringify({ mode, order, amount }, sortMembers)).digest();
}

function sortMembers(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
