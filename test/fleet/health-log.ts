import { setTimeout as wait } from 'node:timers/promises';

interface Sample {
  readonly index: number;
  /** When it was asked. */
  readonly atMs: number;
  readonly tookMs: number;
  readonly status: string;
  /** Of the ledger. */
  readonly ledger: string;
}

/** What each process of a fleet says of its health, asked a few times a second. */
export class HealthLog {
  readonly samples: Sample[] = [];
  #isOver = false;
  readonly #asking: Promise<unknown>;

  constructor(origins: readonly string[]) {
    this.#asking = Promise.all(origins.map((origin, index) => this.#ask(origin, index)));
  }

  async close(): Promise<void> {
    this.#isOver = true;
    await this.#asking;
  }

  /** What each says now. */
  latest(size: number): readonly (Sample | undefined)[] {
    return Array.from({ length: size }, (_, index) => this.samples.findLast((sample) => sample.index === index));
  }

  /** When each has first said something of that kind since, in milliseconds after it. */
  firstAfter(sinceMs: number, size: number, is: (sample: Sample) => boolean): readonly number[] {
    return Array.from({ length: size }, (_, index) => {
      const sample = this.samples.find((one) => one.index === index && one.atMs >= sinceMs && is(one));
      return sample ? Math.round(sample.atMs + sample.tookMs - sinceMs) : Number.POSITIVE_INFINITY;
    });
  }

  async #ask(origin: string, index: number): Promise<void> {
    while (!this.#isOver) {
      const atMs = performance.now();
      // The first request may meet a kept connection that its process is just closing.
      const { status, ledger } = await askOne(origin)
        .catch(() => askOne(origin))
        .catch(() => ({ status: 'gone', ledger: 'gone' }));
      this.samples.push({ index, atMs, tookMs: performance.now() - atMs, status, ledger });
      await wait(100);
    }
  }
}

async function askOne(origin: string): Promise<Pick<Sample, 'status' | 'ledger'>> {
  const answer = await fetch(`${origin}/healthz`);
  const { status, checks } = (await answer.json()) as {
    status: string;
    checks: { ledger: { status: string; reason?: string } };
  };
  return { status, ledger: [checks.ledger.status, checks.ledger.reason].filter(Boolean).join(' ') };
}
