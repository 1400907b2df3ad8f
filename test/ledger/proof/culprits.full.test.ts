import path from 'node:path';
import type { RecordedTerms } from '../../../src/ledger/ledger.js';
import { kinds, openTestDatabase } from '../../support/databases/databases.js';
import { copyEmptyData } from '../../support/databases/embedded-template.js';
import { eventually } from '../../support/eventually.js';
import { temporaryFolder } from '../../support/runner/temporary-folder.js';
import { checkEvidence } from './check-evidence.js';
import { type ChildOrders, fastLedger, type HookOrders, longLimits } from './child-orders.js';
import { LedgerProcess } from './ledger-process.js';
import { SequencerTruth } from './sequencer-truth.js';

// Three payments whose onPaid ends the process, and ten others. The process is restarted each time it ends.

const hookAttempts = 3;
const endings = ['SIGKILL', 'SIGTERM', 'exit'] as const;
const idOf = (name: string, number: number): string => `${name.padEnd(37, 'x')}${String(number).padStart(6, '0')}`;
const culprits = endings.map((_, index) => idOf('culprit', index));
const innocents = Array.from({ length: 10 }, (_, index) => idOf('innocent', index));
/** Payments that are made while the culprits end one process after the other. */
const latecomers = innocents.slice(8);

/** The payments, the sequencer, and the behavior of the hooks. */
class Site {
  readonly truth = new SequencerTruth();
  /** The number of processes so far. */
  lives = 0;
  /** The attempts passed to the hook of each payment. */
  readonly attempts = new Map<string, number[]>();
  /** Innocent payments whose hook ran when the first process ended. */
  readonly interrupted: string[] = [];
  readonly log: string[] = [];
  #hold: () => void = () => undefined;
  readonly #isHeld = new Promise<void>((resolve) => {
    this.#hold = resolve;
  });

  readonly handlers = {
    status: (id: string) => this.truth.status(id),
    log: (line: string) => void this.log.push(line),
    hook: async (_by: string, id: string, attempt: number): Promise<HookOrders> => {
      this.attempts.set(id, [...(this.attempts.get(id) ?? []), attempt]);
      const ends = endings[culprits.indexOf(id)];
      if (ends) await this.#isHeld;
      else if (this.lives === 1 && this.interrupted.length < 2) return this.#interrupt(id);
      return { waitMs: 0, throws: false, ends };
    },
  };

  /** Keeps the hook running until the process ends. */
  #interrupt(id: string): Promise<never> {
    this.interrupted.push(id);
    this.#hold();
    return new Promise<never>(() => undefined);
  }

  async begin(child: LedgerProcess): Promise<void> {
    const destination = 'E8otxw1CVX9bfyddKu3ZB3BVLa4VVF9J7CTPdnUwT9jR';
    const terms: RecordedTerms = {
      ...{ amount: '1.50', currency: 'usd', destination, description: undefined },
      ...{ login: false, resource: 'article', metadata: {} },
    };
    const ids = [...culprits, ...innocents];
    for (const id of ids) {
      this.truth.create(id, terms);
      await child.recordIntent({ id, terms, browser: new Uint8Array(32) });
      this.truth.returnSecret(id);
    }
    for (const id of ids) if (!latecomers.includes(id)) this.truth.pay(id);
  }
}

/** An empty database, and a function that expires the leases of a process that has ended. */
async function openDatabase(
  kind: (typeof kinds)[number],
): Promise<{ database: ChildOrders['database']; expireLeases(): Promise<unknown> }> {
  if (kind === 'embedded') {
    const folder = temporaryFolder();
    await copyEmptyData(path.join(folder, 'data'));
    return { database: { kind, folder }, expireLeases: async () => undefined };
  }
  const { db, settings } = await openTestDatabase(kind);
  return {
    database: settings,
    expireLeases: () => db.query('update express_intents.payments set leased_until = now() where leased_until > now()'),
  };
}

test.each(kinds)(
  'on %s payments whose onPaid ends the process become dead letters, and all others settle',
  async (kind) => {
    const { database, expireLeases } = await openDatabase(kind);
    const site = new Site();
    const orders: ChildOrders = {
      name: kind,
      database,
      settings: { ...fastLedger.settings, hookAttempts, hookTimeoutMs: 240_000 },
      // A process that is only slow keeps its claims.
      timing: { ...fastLedger.timing, leaseMs: 120_000 },
      limits: longLimits,
    };
    const isDone = ({ state }: { readonly state: string }): boolean => state === 'settled' || state === 'dead';
    let child: LedgerProcess;
    do {
      child = await LedgerProcess.start(orders, site.handlers);
      site.lives += 1;
      await child.ready().catch(() => undefined);
      if (site.lives === 1) await site.begin(child);
      const latecomer = latecomers[site.lives - 2];
      if (latecomer) site.truth.pay(latecomer);
      await eventually('the process has ended, or all payments are settled or dead letters', async () => {
        const evidence = await child.evidence().catch(() => undefined);
        expect(child.isGone || evidence?.intents.every(isDone)).toBe(true);
      });
      if (child.isGone) await expireLeases();
    } while (child.isGone);

    for (const id of innocents) {
      expect(await child.find(id)).toMatchObject({ id, state: 'settled', attempts: 0 });
      expect({ id, charged: site.attempts.get(id)?.filter((attempt) => attempt > 1) }).toEqual({ id, charged: [] });
    }
    for (const id of culprits) {
      const lastError = 'Error: onPaid was interrupted: the process ended or lost its database connection.';
      expect(await child.find(id)).toMatchObject({ id, state: 'dead', attempts: hookAttempts, lastError });
    }
    const evidence = await child.evidence();
    expect(checkEvidence({ ...evidence, sequencer: site.truth.events }, { isComplete: false })).toEqual([]);
    // Each culprit ends a process in quarantine for each of its attempts, and at most once together with others.
    expect(site.lives - 1).toBeGreaterThanOrEqual(culprits.length * hookAttempts);
    expect(site.lives - 1).toBeLessThanOrEqual(culprits.length * (hookAttempts + 1));
    // The payments that the first crash interrupted settle before the first culprit is a dead letter.
    const steps = evidence.steps.map(({ id, to }) => `${id} ${to}`);
    const firstDeadLetter = steps.findIndex((step) => step.endsWith(' dead'));
    expect(site.interrupted).not.toEqual([]);
    for (const id of site.interrupted) expect(steps.slice(0, firstDeadLetter)).toContain(`${id} settled`);
    await child.close();
    child.signal('SIGKILL');
  },
);
