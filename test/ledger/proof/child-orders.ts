import type { LedgerSettings } from '../../../src/ledger/ledger-settings.js';
import type { SettlementContext } from '../../../src/ledger/settlement-context.js';
import type { SettlementTiming } from '../../../src/ledger/settlement-timing.js';

/** What a process with a ledger is to do. */
export interface ChildOrders {
  /** Who it is, in the table of the effects. */
  readonly name: string;
  readonly database: LedgerSettings['database'];
  readonly settings: SettlementContext['settings'];
  readonly timing: Partial<SettlementTiming>;
  /** What happens to it at a point that it comes to, the first or a later time. */
  readonly fault?:
    | { readonly point: string; readonly times: number; readonly signal: 'SIGKILL' | 'SIGSTOP' }
    | undefined;
}

/** What a hook is told to do with a payment. */
export interface HookOrders {
  /** From its effect to its end. */
  readonly waitMs: number;
  readonly throws: boolean;
}
