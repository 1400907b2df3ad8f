import { setTimeout as wait } from 'node:timers/promises';

interface Sample {
  readonly index: number;
  /** The time of the request. */
  readonly atMs: number;
  readonly tookMs: number;
  readonly status: string;
  /** The state of the ledger. */
  readonly ledger: string;
}

/** The health checks of each process of a fleet, several a second. */
export class HealthLog {
  readonly samples: Sample[] = [];
  #isOver = false;
  readonly #polling: Promise<unknown>;

  constructor(origins: readonly string[]) {
    this.#polling = Promise.all(origins.map((origin, index) => this.#poll(origin, index)));
  }

  async close(): Promise<void> {
    this.#isOver = true;
    await this.#polling;
  }

  /** The latest sample of each process. */
  latest(size: number): readonly (Sample | undefined)[] {
    return Array.from({ length: size }, (_, index) => this.samples.findLast((sample) => sample.index === index));
  }

  /** The time from `sinceMs` to the first matching sample of each process, in milliseconds. */
  firstAfter(sinceMs: number, size: number, is: (sample: Sample) => boolean): readonly number[] {
    return Array.from({ length: size }, (_, index) => {
      const sample = this.samples.find((one) => one.index === index && one.atMs >= sinceMs && is(one));
      return sample ? Math.round(sample.atMs + sample.tookMs - sinceMs) : Number.POSITIVE_INFINITY;
    });
  }

  async #poll(origin: string, index: number): Promise<void> {
    while (!this.#isOver) {
      const atMs = performance.now();
      // The first request may reuse a connection that its process is closing.
      const { status, ledger } = await fetchHealth(origin)
        .catch(() => fetchHealth(origin))
        .catch(() => ({ status: 'gone', ledger: 'gone' }));
      this.samples.push({ index, atMs, tookMs: performance.now() - atMs, status, ledger });
      await wait(100);
    }
  }
}

async function fetchHealth(origin: string): Promise<Pick<Sample, 'status' | 'ledger'>> {
  const answer = await fetch(`${origin}/healthz`);
  const { status, checks } = (await answer.json()) as {
    status: string;
    checks: { ledger: { status: string; reason?: string } };
  };
  return { status, ledger: [checks.ledger.status, checks.ledger.reason].filter(Boolean).join(' ') };
}
