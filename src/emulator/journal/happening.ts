import type { SettledFault } from '../faults/fault.js';

/** The way a call came. */
export type Via = 'proxy' | 'websocket' | 'grpc' | 'in-process';

/** Something that went wrong, as it was told to the caller. */
export interface Refusal {
  /** A code of this package; undefined for what is no error of it. */
  readonly code: string | undefined;
  readonly message: string;
}

/** Bytes that came or went. Those of a very large message are not kept, only how many they were. */
export interface KeptBytes {
  readonly length: number;
  readonly bytes: Uint8Array | undefined;
}

/** Something that came to the sequencer, or that it did. Messages are kept as they travelled, and read when somebody looks. */
export type Happening =
  | {
      readonly kind: 'call';
      /** Such as `Intents.createIntent`. */
      readonly operation: string;
      readonly via: Via;
      readonly request: KeptBytes;
      /** Undefined where the call was refused. */
      readonly answer: KeptBytes | undefined;
      readonly refusal: Refusal | undefined;
      readonly durationMs: number;
    }
  | {
      readonly kind: 'stream';
      readonly via: Via;
      readonly request: KeptBytes;
      readonly refusal: Refusal | undefined;
    }
  | { readonly kind: 'delivery'; readonly via: Via; readonly message: KeptBytes }
  | { readonly kind: 'stream-end'; readonly via: Via; readonly reason: 'done' | 'left' }
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
      /** The JWT that was sent, where it was answered. */
      readonly token?: string;
      /** The status it was answered with. */
      readonly status?: number;
      /** Why there was no answer. */
      readonly problem?: string;
      readonly durationMs: number;
    }
  | { readonly kind: 'fault'; readonly operation: string; readonly via: Via; readonly fault: SettledFault }
  | { readonly kind: 'reversed' | 'kept' };
