import { IntentError } from '../../errors.js';
import type { SettledFault } from '../faults/fault.js';

/** The transport of a call. */
export type Via = 'proxy' | 'websocket' | 'grpc' | 'in-process';

/** An error as the caller got it. */
export interface Refusal {
  /** A code of this package; undefined for any other error. */
  readonly code: string | undefined;
  readonly message: string;
}

/** What a caller gets of an error. The text of an unexpected one stays here. */
export function refusalOf(error: unknown): Refusal {
  if (error instanceof IntentError) return { code: error.code, message: error.message };
  return { code: undefined, message: 'The sequencer met an error.' };
}

/** A message as it was sent. Of a very large one only the length is recorded. */
export interface RecordedBytes {
  readonly length: number;
  readonly bytes: Uint8Array | undefined;
}

/** An event at the sequencer. Messages are recorded as sent, and decoded when the inspector shows them. */
export type JournalRecord =
  | {
      readonly kind: 'call';
      /** Such as `Intents.createIntent`. */
      readonly operation: string;
      readonly via: Via;
      readonly request: RecordedBytes;
      /** Undefined where the call was refused. */
      readonly answer: RecordedBytes | undefined;
      readonly refusal: Refusal | undefined;
      readonly durationMs: number;
    }
  | {
      readonly kind: 'stream';
      readonly via: Via;
      readonly request: RecordedBytes;
      readonly refusal: Refusal | undefined;
    }
  | { readonly kind: 'delivery'; readonly via: Via; readonly message: RecordedBytes }
  | { readonly kind: 'stream-end'; readonly via: Via; readonly reason: 'complete' | 'disconnected' }
  | {
      readonly kind: 'key-file';
      readonly domain: string;
      readonly verifier: string;
      readonly address: string;
      /** Why the login was refused; undefined where the file lists the verifier. */
      readonly problem: string | undefined;
      readonly durationMs: number;
    }
  | {
      readonly kind: 'webhook';
      readonly url: string;
      /** The JWT that was sent; undefined where there was no response. */
      readonly token?: string;
      /** The status of the response. */
      readonly status?: number;
      /** Why there was no response. */
      readonly problem?: string;
      readonly durationMs: number;
    }
  | { readonly kind: 'fault'; readonly operation: string; readonly via: Via; readonly fault: SettledFault }
  /** `restored`: from the state file, at the start. */
  | { readonly kind: 'reversed' | 'restored' };
