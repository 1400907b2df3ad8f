import type { Request, Response } from 'express';
import type { Config } from '../../config/config.js';
import { IntentError, type IntentErrorCode } from '../../errors.js';
import type { Ledger, LedgerReport } from '../../ledger/ledger.js';
import type { ObservedClient } from '../../sequencer/intent-client.js';
import type { ConnectionLimiter } from '../limits/connection-limiter.js';
import { sendJson } from '../response/respond.js';
import type { RunningRequests } from '../running-requests.js';
import { CachedProbe, type ProbeOutcome } from './cached-probe.js';

/** `degraded`: alert an operator. `down`: a load balancer should remove the process. */
export type HealthStatus = 'ok' | 'degraded' | 'down';

/** The health of one part. */
export interface HealthCheck<Reason extends string = string> {
  readonly status: HealthStatus;
  /** The reason if `status` is not `ok`. */
  readonly reason?: Reason | undefined;
}

/** The health of the router of this process. Times are in milliseconds. Contains no secrets and no addresses. */
export interface RouterHealth {
  /** The worst of the checks. */
  readonly status: HealthStatus;
  /** One check for each part. */
  readonly checks: {
    /** `down` after `close()` is called. */
    readonly process: HealthCheck<'closing'>;
    /**
     * Never `down`: the rest of the site works, and another process could not reach the sequencer either.
     * `sequencer_unavailable`: the circuit breaker of an operation has opened, no call of that operation has succeeded since,
     * and the last failure is less than five minutes old.
     */
    readonly sequencer: HealthCheck<IntentErrorCode> & {
      readonly isSimulated: boolean;
      /** Time since the service last responded with at least one byte and without HTTP status 5xx; absent if it never did. */
      readonly answeredMsAgo?: number | undefined;
    };
    /**
     * Absent without a database, and after `close()` is called. `slow`: no answer within 0.8 s. `down`: the database fails, has
     * not answered for five seconds, or has never answered.
     */
    readonly ledger?: HealthCheck<IntentErrorCode | 'slow'> | undefined;
    /**
     * Absent without a database, and after `close()` is called. Counts the payments and dead letters of all processes. A
     * payment is due when it is time to poll it or to call its hook. Reasons:
     *
     * - `ledger`: the check `ledger` is not `ok`.
     * - `stalled`: this process has completed no search for due payments for 30 s.
     * - `behind`: the oldest due payment has waited for over a minute.
     * - `slow_hooks`: a payment has waited for over 10 s for its first hook call.
     * - `dead_letters`: there are dead letters.
     */
    readonly settlement?:
      | (HealthCheck<'ledger' | 'stalled' | 'behind' | 'slow_hooks' | 'dead_letters'> & Partial<LedgerReport>)
      | undefined;
    /** The open event streams of this process. */
    readonly streams: HealthCheck<'full'> & { readonly open: number; readonly limit: number };
  };
}

export interface HealthParts {
  readonly config: Config;
  readonly observed: ObservedClient;
  readonly ledger: Ledger | undefined;
  readonly running: RunningRequests;
  readonly connectionLimiter: ConnectionLimiter;
  readonly isSimulated: boolean;
  readonly timing?: Partial<HealthTiming> | undefined;
}

/** All in milliseconds. */
export interface HealthTiming {
  /** The maximum wait of a caller. */
  readonly timeoutMs: number;
  /** The service is not probed within this time after a response with at least one byte and without HTTP status 5xx. */
  readonly skipProbeMs: number;
  readonly probeTtlMs: number;
  readonly ledgerTtlMs: number;
  /** A database that has not responded for this time is down; before that, it is slow. */
  readonly ledgerDownAfterMs: number;
}

/** The timeout is below one second, the default timeout of a Kubernetes probe. */
const defaultTiming: HealthTiming = {
  timeoutMs: 800,
  skipProbeMs: 15_000,
  probeTtlMs: 5_000,
  ledgerTtlMs: 1_000,
  ledgerDownAfterMs: 5_000,
};
/** The settlement searches the database for due payments every second, and after failures at least every ten seconds. */
const stalledMs = 30_000;
/** Due payments are claimed within a second unless the processes are overloaded. */
const behindMs = 60_000;
/** The first hook call of a payment usually waits only milliseconds for other hooks of this process. */
const slowHooksMs = 10_000;
/** An id without an intent: Base58 of 32 zero bytes. */
const absentIntent = '1'.repeat(32);

/** Resolves within a second and never rejects. Frequent calls cost almost nothing. */
export function routerHealth(parts: HealthParts): () => Promise<RouterHealth> {
  const { observed, ledger, running } = parts;
  const { timeoutMs, skipProbeMs, probeTtlMs, ledgerTtlMs, ledgerDownAfterMs } = { ...defaultTiming, ...parts.timing };
  const serviceProbe = new CachedProbe({
    run: () => observed.client.paymentIntents.getStatus(absentIntent, { signal: AbortSignal.timeout(timeoutMs) }),
    ttlMs: probeTtlMs,
    timeoutMs,
  });
  const ledgerProbe = ledger && new CachedProbe({ run: () => ledger.inspect(), ttlMs: ledgerTtlMs, timeoutMs });
  const probeService = async () => {
    const { answeredMsAgo = Number.POSITIVE_INFINITY } = observed.serviceState();
    // Also while a circuit is open: without other calls, only the probe can close the circuit of `getStatus`.
    return answeredMsAgo < skipProbeMs ? undefined : serviceProbe.get();
  };
  return async () => {
    if (running.closesConnections) return healthOf(parts, {});
    const [service, report] = await Promise.all([probeService(), ledgerProbe?.get()]);
    const isLedgerDown = ledgerProbe !== undefined && ledgerProbe.unansweredMs > ledgerDownAfterMs;
    return healthOf(parts, { service, report, isLedgerDown });
  };
}

interface Probed {
  readonly service?: ProbeOutcome<unknown> | undefined;
  readonly report?: ProbeOutcome<LedgerReport> | undefined;
  /** Whether the ledger has answered no probe for `ledgerDownAfterMs`, or has never answered one. */
  readonly isLedgerDown?: boolean;
}

function healthOf(
  { config, observed, running, connectionLimiter, isSimulated }: HealthParts,
  probed: Probed,
): RouterHealth {
  const { answeredMsAgo, hasFailingOperation } = observed.serviceState();
  const [open, limit] = [connectionLimiter.open, config.limits.streams.perProcess];
  const { service, report, isLedgerDown = false } = probed;
  const checks: RouterHealth['checks'] = {
    process: running.closesConnections ? { status: 'down', reason: 'closing' } : { status: 'ok' },
    sequencer: {
      ...sequencerCheck(hasFailingOperation, service),
      isSimulated,
      ...(answeredMsAgo !== undefined && { answeredMsAgo: Math.round(answeredMsAgo) }),
    },
    ...(report && { ledger: ledgerCheck(report, isLedgerDown), settlement: settlementCheck(report) }),
    streams: { ...(open < limit ? { status: 'ok' } : { status: 'degraded', reason: 'full' }), open, limit },
  };
  return { status: worstOf(Object.values(checks)), checks };
}

function sequencerCheck(hasFailingOperation: boolean, probed: Probed['service']): HealthCheck<IntentErrorCode> {
  if (hasFailingOperation) return { status: 'degraded', reason: 'sequencer_unavailable' };
  if (probed === undefined) return { status: 'ok' };
  if (probed === 'timeout') return { status: 'degraded', reason: 'sequencer_timeout' };
  return 'value' in probed ? { status: 'ok' } : { status: 'degraded', reason: codeOf(probed.error) };
}

function ledgerCheck(report: ProbeOutcome<unknown>, isDown: boolean): HealthCheck<IntentErrorCode | 'slow'> {
  if (report === 'timeout') {
    return isDown ? { status: 'down', reason: 'ledger_unavailable' } : { status: 'degraded', reason: 'slow' };
  }
  return 'value' in report ? { status: 'ok' } : { status: 'down', reason: codeOf(report.error) };
}

function settlementCheck(report: ProbeOutcome<LedgerReport>): NonNullable<RouterHealth['checks']['settlement']> {
  if (report === 'timeout' || 'error' in report) return { status: 'degraded', reason: 'ledger' };
  const { lastPollMsAgo, oldestDueMs, firstCallWaitMs, deadLetters } = report.value;
  if (lastPollMsAgo > stalledMs) return { status: 'degraded', reason: 'stalled', ...report.value };
  if (oldestDueMs > behindMs) return { status: 'degraded', reason: 'behind', ...report.value };
  if (firstCallWaitMs > slowHooksMs) return { status: 'degraded', reason: 'slow_hooks', ...report.value };
  if (deadLetters > 0) return { status: 'degraded', reason: 'dead_letters', ...report.value };
  return { status: 'ok', ...report.value };
}

/** A probe that times out rejects with the reason of its signal, which is not an IntentError. */
function codeOf(error: unknown): IntentErrorCode {
  if (error instanceof IntentError) return error.code;
  return (error as { name?: unknown })?.name === 'TimeoutError' ? 'sequencer_timeout' : 'internal_error';
}

function worstOf(checks: readonly (HealthCheck | undefined)[]): HealthStatus {
  const statuses = new Set(checks.map((check) => check?.status));
  return statuses.has('down') ? 'down' : statuses.has('degraded') ? 'degraded' : 'ok';
}

/** The route `health`: 200, or 503 if a load balancer should remove the process. It is public, so it has no figures. */
export function healthHandler(health: () => Promise<RouterHealth>) {
  return async (_req: Request, res: Response): Promise<void> => {
    const { status, checks } = await health();
    const shown = Object.entries<HealthCheck | undefined>(checks).flatMap(([name, check]) => {
      if (!check) return [];
      return [[name, { status: check.status, ...(check.reason !== undefined && { reason: check.reason }) }]];
    });
    sendJson(res, status === 'down' ? 503 : 200, { status, checks: Object.fromEntries(shown) });
  };
}
