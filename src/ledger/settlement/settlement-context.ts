import type { Observer } from '../../telemetry/router-event.js';
import type { Database } from '../database/database.js';
import type { LedgerLogger } from '../database/database-connector.js';
import type { LedgerSettings } from '../ledger-settings.js';
import type { PaymentHooks } from '../payment.js';
import type { HookLanes } from './hook-lanes.js';
import type { SettlementTiming } from './settlement-timing.js';

/** The status of an intent at the sequencer (interface section 2.6), as far as the ledger needs it. */
export interface SequencerStatus {
  readonly exists: boolean;
  readonly intentSubmitted: boolean;
}

/** Gives a new answer of the sequencer, never a cached one. */
export type AskSequencer = (id: string, options: { readonly signal: AbortSignal }) => Promise<SequencerStatus>;

/** Asks the sequencer for the payer, where the terms of the payment log the payer in. */
export type AskUserId = (id: string, options: { readonly signal: AbortSignal }) => Promise<string>;

/** What settlement needs from other parts. */
export interface SettlementContext {
  readonly db: Database;
  readonly hooks: PaymentHooks;
  readonly askStatus: AskSequencer;
  /** Undefined where the site has no logins. */
  readonly askUserId: AskUserId | undefined;
  readonly settings: Pick<
    LedgerSettings,
    | 'settleDelayMs'
    | 'watchMs'
    | 'reversalWatchMs'
    | 'settlementConcurrency'
    | 'hookAttempts'
    | 'hookTimeoutMs'
    | 'lateAfterMs'
  >;
  readonly timing: SettlementTiming;
  /** Called when an intent is found submitted. */
  readonly notifySubmitted?: ((id: string) => void) | undefined;
  readonly logger: LedgerLogger;
  /** Undefined without a subscriber. */
  readonly observer?: Observer | undefined;
}

/** With the hook lanes, which all payments of a process share. */
export interface WorkContext extends SettlementContext {
  readonly lanes: HookLanes;
}
