import { type FaultyOperation, operationNameOf } from '../faults/faulty-operation.js';
import { type CheckedSignature, checkedSignatures } from './checked-signatures.js';
import type { Happening, KeptBytes } from './happening.js';
import type { JournalEntry } from './journal.js';
import type { MessageTree } from './message-tree.js';
import { readMessage } from './operation-codecs.js';

/** An entry as the page gets it: JSON, its messages read. */
export type DescribedEntry = Readonly<Record<string, unknown>>;

/** A message that travelled. */
interface DescribedMessage {
  /** In bytes. */
  readonly size: number;
  /** Undefined where it was too large to be kept, or cannot be read. */
  readonly content: MessageTree | undefined;
}

export function describeEntry({ number, atMs, lastAtMs, times, what }: JournalEntry): DescribedEntry {
  return { number, atMs, lastAtMs, times, ...describe(what) };
}

/** The signatures that a request needs, of what the journal has of it. */
export function signaturesIn(what: Happening): readonly CheckedSignature[] {
  if (what.kind === 'stream') return checkedSignatures('openMessageStream', what.request);
  return what.kind === 'call' ? checkedSignatures(nameIn(what.operation), what.request) : [];
}

function describe(what: Happening): DescribedEntry {
  switch (what.kind) {
    case 'call': {
      const name = nameIn(what.operation);
      const { request, answer, ...rest } = what;
      return {
        ...rest,
        request: message(name, 'request', request),
        answer: answer && message(name, 'answer', answer),
        signatures: signaturesIn(what),
      };
    }
    case 'stream':
      return {
        ...what,
        request: message('openMessageStream', 'request', what.request),
        signatures: signaturesIn(what),
      };
    case 'delivery':
      return { ...what, message: message('openMessageStream', 'answer', what.message) };
    case 'webhook': {
      const { token, ...rest } = what;
      return { ...rest, claims: token === undefined ? undefined : claimsIn(token) };
    }
    default:
      return what;
  }
}

function nameIn(operation: string): FaultyOperation | undefined {
  const [service = '', method = ''] = operation.split('.', 2);
  return operationNameOf({ service, method });
}

function message(
  operation: FaultyOperation | undefined,
  part: 'request' | 'answer',
  kept: KeptBytes,
): DescribedMessage {
  return { size: kept.length, content: readMessage(operation, part, kept) };
}

function claimsIn(token: string): unknown {
  try {
    return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
  } catch {
    return undefined;
  }
}
