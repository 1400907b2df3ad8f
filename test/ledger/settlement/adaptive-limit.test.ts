import { SequencerError } from '../../../src/errors.js';
import { AdaptiveLimit } from '../../../src/ledger/settlement/adaptive-limit.js';

/** A service that serves as many calls at once as it can, each in its time; more of them take longer. Time is the test's. */
class Service {
  nowMs = 0;
  isDown = false;
  most = 0;
  readonly limit: AdaptiveLimit;
  readonly #capacity: number;
  readonly #running = new Set<{ endsMs: number; end: () => void }>();

  constructor(most: number, capacity: number) {
    this.#capacity = capacity;
    this.limit = new AdaptiveLimit({ most, now: () => this.nowMs });
  }

  call(): Promise<void> {
    return new Promise((resolve, reject) => {
      const load = Math.max(1, (this.#running.size + 1) / this.#capacity);
      const end = this.isDown ? () => reject(new SequencerError('sequencer_unreachable', 'down')) : resolve;
      this.#running.add({ endsMs: this.nowMs + 50 * load, end });
      this.most = Math.max(this.most, this.#running.size);
    });
  }

  /** Lets so many callers ask without end, for so long. @returns how many answers they got */
  async run(callers: number, forMs: number): Promise<number> {
    let answers = 0;
    let isOver = false;
    const ask = async (): Promise<void> => {
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
    const all = Array.from({ length: callers }, ask);
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

test('it rises to its bound within a second where the service keeps up, and never above', async () => {
  const service = new Service(48, 1_000);
  await service.run(100, 1_000);
  expect(service.limit.limit).toBe(48);
  expect(service.most).toBe(48);
});

test('it stays where it is while fewer calls come than it lets in', async () => {
  const service = new Service(48, 1_000);
  await service.run(3, 1_000);
  expect(service.limit.limit).toBe(8);
});

test('it stays near what a service can do that becomes slower with more calls', async () => {
  const service = new Service(48, 10);
  await service.run(100, 3_000);
  expect(service.limit.limit).toBeGreaterThanOrEqual(8);
  expect(service.limit.limit).toBeLessThanOrEqual(25);
});

test('it comes down to one call at a time while the service fails, and back within a second after that', async () => {
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

test('an error that concerns one intent does not lower it', async () => {
  const service = new Service(24, 1_000);
  await service.run(100, 1_000);
  const failing = service.limit.run(new AbortController().signal, () => Promise.reject(new Error('invalid id')));
  await expect(failing).rejects.toThrow('invalid id');
  expect(service.limit.limit).toBe(24);
});

test('a call that is given up while it waits is not made', async () => {
  const service = new Service(1, 1_000);
  const [lost, kept] = [new AbortController(), new AbortController()];
  const first = service.limit.run(kept.signal, () => service.call());
  let isCalled = false;
  const second = service.limit.run(lost.signal, async () => {
    isCalled = true;
  });
  lost.abort(new Error('lost'));
  await expect(second).rejects.toThrow('lost');
  await service.run(0, 100);
  await first;
  expect(isCalled).toBe(false);
});
