import { IntentError } from '../../errors.js';
import type { ListOptions } from '../ledger.js';
import { type IntentState, intentStates } from './intent-state.js';

/** Where a page begins: after the intent that was created then and has this id. */
export interface Cursor {
  /** The database's own text of the time, since a Date loses the microseconds. */
  readonly created: string;
  readonly id: string;
}

export interface ParsedListOptions {
  readonly state: IntentState | undefined;
  readonly after: Cursor | undefined;
  readonly limit: number;
}

const timestamp = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,6})?[+-]\d\d(?::\d\d)*$/;

/** @throws {IntentError} `invalid_request` */
export function parseListOptions({ state, after, limit = 50 }: ListOptions): ParsedListOptions {
  if (state !== undefined && !intentStates.includes(state)) {
    throw new IntentError('invalid_request', `The state must be one of ${intentStates.join(', ')}.`);
  }
  if (!Number.isInteger(limit) || limit < 1 || limit > 1_000) {
    throw new IntentError('invalid_request', 'The limit must be a whole number from 1 to 1000.');
  }
  return { state, after: after === undefined ? undefined : parseCursor(after), limit };
}

export function toCursor({ created, id }: Cursor): string {
  return Buffer.from(`${created}|${id}`).toString('base64url');
}

function parseCursor(text: string): Cursor {
  const [created = '', id = ''] = Buffer.from(String(text), 'base64url').toString().split('|');
  if (timestamp.test(created) && /^\w{32,44}$/.test(id)) return { created, id };
  throw new IntentError('invalid_request', 'The cursor must be `next` of the page before.');
}
