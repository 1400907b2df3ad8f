import type { Config } from '../../config/config.js';
import { IntentError, type IntentErrorCode } from '../../errors.js';
import type { Ledger, LedgerReport } from '../../ledger/ledger.js';
import type { ObservedClient } from '../../sequencer/intent-client.js';
import type { EventHub } from '../events/event-hub.js';
import type { ConnectionSeats } from '../limits/connection-limiter.js';
import { type CheckOutcome, SharedCheck } from './cached-probe.js';

/** `degraded` is for a person to look at; `down` is for a load balancer, which takes the process out. */
export type HealthStatus = 'ok' | 'degraded' | 'down';

/** What is known of one part, and what is wrong with it where something is. */
export interface HealthCheck<Reason extends string = string> {
  /** How this part is. */
  readonly status: HealthStatus;
  /** Why it is not `ok`. */
  readonly reason?: Reason | undefined;
}

/** How the router of this process is. Times are in milliseconds; nothing in it is secret, and it names no address. */
export interface RouterHealth {
  /** The worst of the checks. */
  readonly status: HealthStatus;
  /** What was looked at, each by itself. */
  readonly checks: {
    /** `down` from the moment on in which `close()` is called. */
    readonly process: HealthCheck<'closing'>;
    /** Never `down`: the site goes on without it, and another process would not reach it either. */
    readonly sequencer: HealthCheck<IntentErrorCode> & {
      readonly isEmbedded: boolean;
      /** Since the service has answered anything; absent where it never did. */
      readonly answeredMsAgo?: number | undefined;
    };
    /** Absent where no database is configured. `down` where the database fails, or has not answered for five seconds. */
    readonly ledger?: HealthCheck<IntentErrorCode | 'slow'> | undefined;
    /** Absent where no database is configured. What is due and what was given up is that of all processes. */
    readonly settlement?:
      | (HealthCheck<'ledger' | 'stalled' | 'behind' | 'late' | 'dead_letters'> & Partial<LedgerReport>)
      | undefined;
    /** Streams of events that are open in this process. */
    readonly streams: HealthCheck<'full'> & { readonly open: number; readonly limit: number };
  };
}

export interface HealthParts {
  readonly config: Config;
  readonly observed: ObservedClient;
  readonly ledger: Ledger | undefined;
  readonly live: { readonly events: EventHub; readonly seats: ConnectionSeats };
  readonly isEmbedded: boolean;
  /** For tests. */
  readonly timing?: Partial<HealthTiming> | undefined;
}

/** All in milliseconds. */
export interface HealthTiming {
  /** How long whoever asks waits at most. */
  readonly boundMs: number;
  /** While the service has answered visitors within this, what it told them is all there is to know. */
  readonly quietMs: number;
  /** For how long it counts that the service did not answer. */
  readonly probeKeepMs: number;
  readonly ledgerKeepMs: number;
  /** A database that is busy answers in its turn; one that does not answer for so long is gone. */
  readonly ledgerPatienceMs: number;
}

/** Load balancers wait for a second by default, so the bound is under it. */
const defaultTiming: HealthTiming = {
  boundMs: 800,
  quietMs: 15_000,
  probeKeepMs: 5_000,
  ledgerKeepMs: 1_000,
  ledgerPatienceMs: 5_000,
};
/** The settlement looks every second, and after failures every ten. */
const stalledMs = 30_000;
/** What is due is claimed within a second, unless there is more than the processes can do. */
const behindMs = 60_000;
/** The first call of a hook waits for others that run in this process, for milliseconds as a rule. */
const lateMs = 10_000;
/** An intent that nobody has, to ask for: Base58 of 32 zero bytes. */
const nobodysIntent = '1'.repeat(32);

/** Tells how the router is: within a second, and with hardly any work however often it is asked. Never rejects. */
export function routerHealth(parts: HealthParts): () => Promise<RouterHealth> {
  const { observed, ledger } = parts;
  const { boundMs, quietMs, probeKeepMs, ledgerKeepMs, ledgerPatienceMs } = { ...defaultTiming, ...parts.timing };
  const { getStatus } = observed.client.paymentIntents;
  const ask = () => getStatus(nobodysIntent, { signal: AbortSignal.timeout(boundMs) });
  const probe = new SharedCheck({ look: ask, keepMs: probeKeepMs, boundMs });
  const probeIfQuiet = async () => {
    const { answeredMsAgo = Number.POSITIVE_INFINITY, isLeftAlone } = observed.service();
    return answeredMsAgo < quietMs || isLeftAlone ? undefined : probe.ask();
  };
  const inspection = ledger && new SharedCheck({ look: () => ledger.inspect(), keepMs: ledgerKeepMs, boundMs });
  return async () => {
    if (parts.live.events.isClosed) return healthOf(parts, { isClosing: true });
    const [probed, inspected] = await Promise.all([probeIfQuiet(), inspection?.ask()]);
    const isGone = inspection !== undefined && inspection.foundMsAgo > ledgerPatienceMs;
    return healthOf(parts, { isClosing: parts.live.events.isClosed, probed, inspected, isGone });
  };
}

interface Seen {
  readonly isClosing: boolean;
  readonly probed?: CheckOutcome<unknown> | undefined;
  readonly inspected?: CheckOutcome<LedgerReport> | undefined;
  /** Whether it is long ago that the ledger answered. */
  readonly isGone?: boolean;
}

function healthOf({ config, observed, live, isEmbedded }: HealthParts, seen: Seen): RouterHealth {
  const { answeredMsAgo, isLeftAlone } = observed.service();
  const [open, limit] = [live.seats.taken, config.connections.perProcess];
  const { inspected, isGone = false } = seen;
  const checks: RouterHealth['checks'] = {
    process: seen.isClosing ? { status: 'down', reason: 'closing' } : { status: 'ok' },
    sequencer: {
      ...sequencerCheck(isLeftAlone, seen.probed),
      isEmbedded,
      ...(answeredMsAgo !== undefined && { answeredMsAgo: Math.round(answeredMsAgo) }),
    },
    ...(inspected && { ledger: ledgerCheck(inspected, isGone), settlement: settlementCheck(inspected) }),
    streams: { ...(open < limit ? { status: 'ok' } : { status: 'degraded', reason: 'full' }), open, limit },
  };
  return { status: worstOf(Object.values(checks)), checks };
}

function sequencerCheck(isLeftAlone: boolean, probed: Seen['probed']): HealthCheck<IntentErrorCode> {
  if (isLeftAlone) return { status: 'degraded', reason: 'sequencer_unavailable' };
  if (probed === undefined || (probed !== 'late' && 'found' in probed)) return { status: 'ok' };
  return { status: 'degraded', reason: probed === 'late' ? 'sequencer_timeout' : codeOf(probed.error) };
}

function ledgerCheck(inspected: CheckOutcome<unknown>, isGone: boolean): HealthCheck<IntentErrorCode | 'slow'> {
  if (inspected === 'late') {
    return isGone ? { status: 'down', reason: 'ledger_unavailable' } : { status: 'degraded', reason: 'slow' };
  }
  return 'found' in inspected ? { status: 'ok' } : { status: 'down', reason: codeOf(inspected.error) };
}

function settlementCheck(inspected: CheckOutcome<LedgerReport>): NonNullable<RouterHealth['checks']['settlement']> {
  if (inspected === 'late' || !('found' in inspected)) return { status: 'degraded', reason: 'ledger' };
  const { found } = inspected;
  const { lookedMsAgo, oldestDueMs, firstCallWaitMs, deadLetters } = found;
  if (lookedMsAgo > stalledMs) return { status: 'degraded', reason: 'stalled', ...found };
  if (oldestDueMs > behindMs) return { status: 'degraded', reason: 'behind', ...found };
  if (firstCallWaitMs > lateMs) return { status: 'degraded', reason: 'late', ...found };
  if (deadLetters > 0) return { status: 'degraded', reason: 'dead_letters', ...found };
  return { status: 'ok', ...found };
}

/** The time of a probe is over by its signal, whose reason is no error of ours. */
function codeOf(error: unknown): IntentErrorCode {
  if (error instanceof IntentError) return error.code;
  return (error as { name?: unknown })?.name === 'TimeoutError' ? 'sequencer_timeout' : 'internal_error';
}

function worstOf(checks: readonly (HealthCheck | undefined)[]): HealthStatus {
  const found = new Set(checks.map((check) => check?.status));
  return found.has('down') ? 'down' : found.has('degraded') ? 'degraded' : 'ok';
}
