import type { LedgerSettings } from '../../../src/ledger/ledger-settings.js';
import type { SettlementContext } from '../../../src/ledger/settlement/settlement-context.js';
import type { SettlementTiming } from '../../../src/ledger/settlement/settlement-timing.js';

/** The configuration of a process with a ledger. */
export interface ChildOrders {
  /** The name of the process in the table of effects. */
  readonly name: string;
  readonly database: LedgerSettings['database'];
  readonly settings: SettlementContext['settings'];
  readonly timing: Partial<SettlementTiming>;
  /** Timeouts of Postgres, in milliseconds. Short by default: a dead connection must not outlast the test. */
  readonly limits?: { readonly connectMs: number; readonly statementMs: number } | undefined;
  readonly fault?: PlannedFault | undefined;
}

/** A signal that a process sends itself when it reaches a point for the nth time. */
export interface PlannedFault {
  readonly point: string;
  readonly times: number;
  readonly signal: 'SIGKILL' | 'SIGSTOP';
}

/** The behavior of a hook for one payment. */
export interface HookOrders {
  /** The delay between the effect and the end of the hook. */
  readonly waitMs: number;
  readonly throws: boolean;
  /** How the hook ends the process after its effect. */
  readonly ends?: 'SIGKILL' | 'SIGTERM' | 'exit' | undefined;
}

const dayMs = 24 * 3_600_000;

/** For a test without dead connections: a busy machine may take seconds for a statement. */
export const longLimits = { connectMs: 120_000, statementMs: 120_000 };

/** A ledger with delays short enough for a test. */
export const fastLedger: Pick<ChildOrders, 'settings' | 'timing'> = {
  settings: {
    ...{ settleDelayMs: 0, watchMs: dayMs, reversalWatchMs: dayMs, lateAfterMs: dayMs },
    ...{ settlementConcurrency: 6, hookAttempts: 4, hookTimeoutMs: 5_000 },
  },
  timing: {
    ...{ roundMs: 15, watchFirstMs: 20, watchCapMs: 1_000, retryFirstMs: 10, retryCapMs: 60 },
    ...{ reversalFirstMs: 40, reversalConfirmMs: 20, leaseMs: 400, closeMs: 60 },
  },
};
