import type { Observer } from '../../telemetry/router-event.js';
import type { Database } from '../database/database.js';
import type { LedgerLogger } from '../database/database-connector.js';
import type { LedgerSettings } from '../ledger-settings.js';
import type { PaymentHooks } from '../payment.js';
import type { HookLanes } from './hook-lanes.js';
import type { SettlementTiming } from './settlement-timing.js';

/** What the sequencer says of an intent (interface section 2.6), as far as the ledger needs it. */
export interface SequencerStatus {
  readonly exists: boolean;
  readonly intentSubmitted: boolean;
}

/** Asks the sequencer now, and not a cache. */
export type AskSequencer = (id: string, options: { readonly signal: AbortSignal }) => Promise<SequencerStatus>;

/** Asks the sequencer who has paid, where the terms of the payment log the payer in. */
export type AskUserId = (id: string, options: { readonly signal: AbortSignal }) => Promise<string>;

/** Takes the events of payments that are settled. */
export type LedgerObserver = Observer;

/** What settling needs of the rest. */
export interface SettlementContext {
  readonly db: Database;
  readonly hooks: PaymentHooks;
  readonly askStatus: AskSequencer;
  /** Undefined where the site has no logins. */
  readonly askUserId: AskUserId | undefined;
  readonly settings: Pick<
    LedgerSettings,
    'settleDelayMs' | 'watchMs' | 'reversalWatchMs' | 'looksAtOnce' | 'hookAttempts' | 'hookTimeoutMs' | 'lateAfterMs'
  >;
  readonly timing: SettlementTiming;
  /** Called when an intent is found submitted. */
  readonly announce?: ((id: string) => void) | undefined;
  readonly logger: LedgerLogger;
  /** Undefined where nobody looks on. */
  readonly observer?: LedgerObserver | undefined;
}

/** The same while there is work: with what all the work of a process shares. */
export interface WorkContext extends SettlementContext {
  readonly lanes: HookLanes;
}
