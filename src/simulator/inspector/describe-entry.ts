import type { JournalEntry } from '../journal/journal.js';
import type { JournalRecord, RecordedBytes } from '../journal/journal-record.js';
import { type SequencerOperation, sequencerOperationOf } from '../operations/request.js';
import { type CheckedSignature, checkSignatures } from './check-signatures.js';
import { decodeMessage, type MessageTree } from './message-tree.js';

export type DescribedEntry = Readonly<Record<string, unknown>>;

interface DescribedMessage {
  readonly size: number;
  /** Undefined if the message was too large to record or cannot be decoded. */
  readonly content: MessageTree | undefined;
}

export function describeEntry({ number, atMs, lastAtMs, times, record }: JournalEntry): DescribedEntry {
  return { number, atMs, lastAtMs, times, ...describe(record) };
}

export function checkedSignaturesOf(record: JournalRecord): readonly CheckedSignature[] {
  if (record.kind === 'stream') return checkSignatures('openMessageStream', record.request);
  return record.kind === 'call' ? checkSignatures(operationIn(record.operation), record.request) : [];
}

function describe(record: JournalRecord): DescribedEntry {
  switch (record.kind) {
    case 'call': {
      const operation = operationIn(record.operation);
      const { request, response, ...rest } = record;
      return {
        ...rest,
        request: describeMessage(operation, 'request', request),
        response: response && describeMessage(operation, 'response', response),
        signatures: checkedSignaturesOf(record),
      };
    }
    case 'stream':
      return {
        ...record,
        request: describeMessage('openMessageStream', 'request', record.request),
        signatures: checkedSignaturesOf(record),
      };
    case 'delivery':
      return { ...record, message: describeMessage('openMessageStream', 'response', record.message) };
    case 'webhook': {
      const { token, ...rest } = record;
      return { ...rest, claims: token === undefined ? undefined : claimsIn(token) };
    }
    default:
      return record;
  }
}

function operationIn(name: string): SequencerOperation | undefined {
  const [service = '', method = ''] = name.split('.', 2);
  return sequencerOperationOf({ service, method });
}

function describeMessage(
  operation: SequencerOperation | undefined,
  part: 'request' | 'response',
  recorded: RecordedBytes,
): DescribedMessage {
  return { size: recorded.length, content: decodeMessage(operation, part, recorded) };
}

function claimsIn(token: string): unknown {
  try {
    return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
  } catch {
    return undefined;
  }
}
