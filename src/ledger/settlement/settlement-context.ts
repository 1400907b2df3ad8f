import type { Observer } from '../../telemetry/router-event.js';
import type { Database } from '../database/database.js';
import type { LedgerLogger } from '../database/database-connector.js';
import type { LedgerSettings } from '../ledger-settings.js';
import type { PaymentHooks } from '../payment.js';
import type { ClaimWrites } from './claim-writes.js';
import type { HookLanes } from './hook-lanes.js';
import type { SettlementTiming } from './settlement-timing.js';

/** The status of an intent at the sequencer (interface section 2.6), as far as the ledger needs it. */
export interface SequencerStatus {
  readonly exists: boolean;
  readonly intentSubmitted: boolean;
}

/** Requests the status from the service. Never returns a cached one. */
export type FetchSequencerStatus = (id: string, options: { readonly signal: AbortSignal }) => Promise<SequencerStatus>;

/** Requests the payer's id from the service, for a payment that logs the payer in. */
export type FetchUserId = (id: string, options: { readonly signal: AbortSignal }) => Promise<string>;

export interface SettlementContext {
  readonly db: Database;
  readonly hooks: PaymentHooks;
  readonly fetchStatus: FetchSequencerStatus;
  readonly fetchUserId: FetchUserId | undefined;
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
  readonly notifySubmitted?: ((id: string) => void) | undefined;
  readonly logger: LedgerLogger;
  readonly observer?: Observer | undefined;
}

export interface SettlementWorkContext extends SettlementContext {
  readonly writes: ClaimWrites;
  readonly lanes: HookLanes;
}
