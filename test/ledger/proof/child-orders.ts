import type { LedgerSettings } from '../../../src/ledger/ledger-settings.js';
import type { SettlementContext } from '../../../src/ledger/settlement/settlement-context.js';
import type { SettlementTiming } from '../../../src/ledger/settlement/settlement-timing.js';

/** What a process with a ledger is to do. */
export interface ChildOrders {
  /** Who it is, in the table of the effects. */
  readonly name: string;
  readonly database: LedgerSettings['database'];
  readonly settings: SettlementContext['settings'];
  readonly timing: Partial<SettlementTiming>;
  readonly fault?: PlannedFault | undefined;
}

/** What happens to a process at a point that it comes to, the first time or a later one. */
export interface PlannedFault {
  readonly point: string;
  readonly times: number;
  readonly signal: 'SIGKILL' | 'SIGSTOP';
}

/** What a hook is told to do with a payment. */
export interface HookOrders {
  /** From its effect to its end. */
  readonly waitMs: number;
  readonly throws: boolean;
  /** How it ends the process, after its effect. */
  readonly ends?: 'SIGKILL' | 'SIGTERM' | 'exit' | undefined;
}

const dayMs = 24 * 3_600_000;

/** A ledger in such a hurry that a test sees all of it. */
export const hasty: Pick<ChildOrders, 'settings' | 'timing'> = {
  settings: {
    ...{ settleDelayMs: 0, watchMs: dayMs, reversalWatchMs: dayMs, lateAfterMs: dayMs },
    ...{ settlementConcurrency: 6, hookAttempts: 4, hookTimeoutMs: 5_000 },
  },
  timing: {
    ...{ roundMs: 15, watchFirstMs: 20, watchCapMs: 1_000, retryFirstMs: 10, retryCapMs: 60 },
    ...{ reversalFirstMs: 40, reversalConfirmMs: 20, leaseMs: 400, closeMs: 60 },
  },
};
