import { IntentError } from '../../errors.js';
import type { ResolvedFault } from '../faults/fault-kinds.js';

export type TransportKind = 'proxy' | 'websocket' | 'grpc' | 'in-process';

export interface Refusal {
  /** A code of this package; undefined for any other error. */
  readonly code: string | undefined;
  readonly message: string;
}

/** The error that a caller receives. The text of an unexpected error is not disclosed. */
export function refusalOf(error: unknown): Refusal {
  if (error instanceof IntentError) return { code: error.code, message: error.message };
  return {
    code: undefined,
    message: 'The simulator failed. This is a bug in express-intents. Please report it.',
  };
}

/** A serialized message. `bytes` is undefined for a message over the limit. */
export interface RecordedBytes {
  readonly length: number;
  readonly bytes: Uint8Array | undefined;
}

/** An event at the simulator. Messages are recorded serialized; the inspector decodes them for display. */
export type JournalRecord =
  | {
      readonly kind: 'call';
      readonly operation: string;
      readonly via: TransportKind;
      readonly request: RecordedBytes;
      readonly response: RecordedBytes | undefined;
      readonly refusal: Refusal | undefined;
      readonly durationMs: number;
    }
  | {
      readonly kind: 'stream';
      readonly via: TransportKind;
      readonly request: RecordedBytes;
      readonly refusal: Refusal | undefined;
    }
  | { readonly kind: 'delivery'; readonly via: TransportKind; readonly message: RecordedBytes }
  | { readonly kind: 'stream-end'; readonly via: TransportKind; readonly reason: 'complete' | 'disconnected' }
  | {
      readonly kind: 'key-file';
      readonly domain: string;
      readonly verifier: string;
      /** Undefined if the keys of the domain are trusted without a key file. */
      readonly address: string | undefined;
      /** Why the login was refused; undefined if the file or the trusted keys list the verifier. */
      readonly problem: string | undefined;
      readonly durationMs: number;
    }
  | {
      readonly kind: 'webhook';
      readonly url: string;
      /** The JWT that was sent; undefined if there was no response. */
      readonly token?: string;
      readonly status?: number;
      /** Why there was no response. */
      readonly problem?: string;
      readonly durationMs: number;
    }
  | { readonly kind: 'fault'; readonly operation: string; readonly via: TransportKind; readonly fault: ResolvedFault }
  /** `restored`: read from the state file at startup. */
  | { readonly kind: 'reversed' | 'restored' };
