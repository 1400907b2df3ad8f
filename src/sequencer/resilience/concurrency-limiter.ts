import { type Abortable, listenForAbort } from '../../async/abort.js';
import { IntentError, SequencerError } from '../../errors.js';

export interface GateLimits {
  /** How many may be inside at a time. */
  readonly maxRunning: number;
  /** How many may wait to be let in. */
  readonly maxWaiting: number;
}

export interface Patience {
  /** How long to wait, in milliseconds. */
  readonly timeoutMs: number;
  /** What ends the wait early, with its reason. */
  readonly signals: readonly (Abortable | undefined)[];
}

/**
 * Lets so many calls in at a time, and the others wait in line: a service that stalls fills no memory.
 *
 * This is not cockatiel's bulkhead: there a call whose caller has gone keeps its place in the line, and its caller is
 * told only when its turn has come.
 */
export class CallGate {
  readonly #limits: GateLimits;
  /** In the order in which they came. */
  readonly #waiting = new Set<() => void>();
  #running = 0;

  constructor(limits: GateLimits) {
    this.#limits = limits;
  }

  /**
   * Enters at once, which gives undefined, or waits in line. Whoever is in must `leave`.
   * @throws {IntentError} `too_busy` at once, when the line is full
   * @throws {SequencerError} `sequencer_timeout` when the turn did not come in time
   */
  enter(patience: Patience): Promise<void> | undefined {
    if (this.#running < this.#limits.maxRunning) {
      this.#running += 1;
      return undefined;
    }
    if (this.#waiting.size < this.#limits.maxWaiting) return this.#turn(patience);
    const message = `${this.#running} calls to the sequencer are under way, and ${this.#waiting.size} wait.`;
    throw new IntentError('too_busy', message, { retryAfterMs: 1_000 });
  }

  /** Hands the place over to the next in line. */
  leave(): void {
    const [next] = this.#waiting;
    if (next) next();
    else this.#running -= 1;
  }

  #turn({ timeoutMs, signals }: Patience): Promise<void> {
    return new Promise((resolve, reject) => {
      const leaveLine = (): void => {
        this.#waiting.delete(enter);
        clearTimeout(timer);
        unlisten();
      };
      const giveUp = (reason: unknown): void => {
        leaveLine();
        reject(reason);
      };
      const enter = (): void => {
        leaveLine();
        resolve();
      };
      const timer = setTimeout(() => giveUp(noTurn(timeoutMs)), timeoutMs);
      const unlisten = listenForAbort(signals, ({ reason }) => giveUp(reason));
      this.#waiting.add(enter);
    });
  }
}

export function noTurn(timeoutMs: number): SequencerError {
  const message = `The call waited ${Math.round(timeoutMs)} ms for its turn behind others, and was not sent.`;
  return new SequencerError('sequencer_timeout', message);
}
