import type { IntentErrorCode } from '../../../src/errors.js';
import type { Transport } from '../../../src/sequencer/transport.js';

/** When a fault strikes: before the service has the request, after it has it and did nothing, or after it did it. */
export const phases = ['before send', 'after send', 'after effect'] as const;
export type Phase = (typeof phases)[number];

/** What a fault comes to. */
export interface Expected {
  /** How it is told when it lasts. */
  readonly code: IntentErrorCode;
  /** Whether a repeat mends it when it strikes once. */
  readonly passes: boolean;
}

/** A line to a sequencer that can be spoilt. */
export interface FaultyLine {
  /** The inner messages that came through whole, with the names of their methods. */
  readonly received: { readonly method: string; readonly body: Uint8Array }[];
  /** A transport over this line, as the package makes it for this way. Closed with the line. */
  connect(): Transport;
  /** Puts a fault on the next calls; all further ones are fine. */
  strike(fault: string, phase: Phase, times: number): void;
  /** Everything is fine from now on. */
  lift(): void;
  close(): Promise<void>;
}

/** A way to the service, and all that can go wrong on it. */
export interface FaultWay {
  readonly name: string;
  readonly faults: Readonly<Record<string, Expected>>;
  /** @param url base_url of a real sequencer: what is not spoilt goes there */
  openLine(url: string): Promise<FaultyLine>;
}
