import { SequencerError } from '../../../src/errors.js';
import { AdaptiveLimit } from '../../../src/ledger/settlement/adaptive-limit.js';

/** A service with a capacity: more concurrent calls take proportionally longer. The test controls the clock. */
class Service {
  nowMs = 0;
  isDown = false;
  most = 0;
  readonly limit: AdaptiveLimit;
  readonly #capacity: number;
  readonly #running = new Set<{ endsMs: number; end: () => void }>();

  constructor(most: number, capacity: number) {
    this.#capacity = capacity;
    this.limit = new AdaptiveLimit({ max: most, now: () => this.nowMs });
  }

  call(): Promise<void> {
    return new Promise((resolve, reject) => {
      const load = Math.max(1, (this.#running.size + 1) / this.#capacity);
      const end = this.isDown ? () => reject(new SequencerError('sequencer_unreachable', 'down')) : resolve;
      this.#running.add({ endsMs: this.nowMs + 50 * load, end });
      this.most = Math.max(this.most, this.#running.size);
    });
  }

  /** Runs `callers` loops of calls for `forMs`. @returns the number of responses */
  async run(callers: number, forMs: number): Promise<number> {
    let answers = 0;
    let isOver = false;
    const callInLoop = async (): Promise<void> => {
      const { signal } = new AbortController();
      while (!isOver) {
        await this.limit
          .run(signal, () => this.call())
          .then(
            () => {
              answers += 1;
            },
            () => undefined,
          );
      }
    };
    const all = Array.from({ length: callers }, callInLoop);
    for (const untilMs = this.nowMs + forMs; this.nowMs < untilMs; ) await this.#step();
    isOver = true;
    while (this.#running.size > 0) await this.#step();
    await Promise.all(all);
    return answers;
  }

  async #step(): Promise<void> {
    this.nowMs += 5;
    for (const call of this.#running) {
      if (call.endsMs > this.nowMs) continue;
      this.#running.delete(call);
      call.end();
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test('the limit rises to its maximum within a second while the service keeps up, and never above', async () => {
  const service = new Service(48, 1_000);
  await service.run(100, 1_000);
  expect(service.limit.limit).toBe(48);
  expect(service.most).toBe(48);
});

test('the limit stays near the capacity of a service that slows down under load', async () => {
  const service = new Service(48, 10);
  await service.run(100, 3_000);
  expect(service.limit.limit).toBeGreaterThanOrEqual(8);
  expect(service.limit.limit).toBeLessThanOrEqual(25);
});

test('the limit falls to one call while the service fails, and recovers within a second afterwards', async () => {
  const service = new Service(24, 1_000);
  await service.run(100, 1_000);
  expect(service.limit.limit).toBe(24);
  service.isDown = true;
  await service.run(100, 2_000);
  expect(service.limit.limit).toBe(1);
  service.isDown = false;
  await service.run(100, 1_000);
  expect(service.limit.limit).toBe(24);
});
