import type { RecordedTerms } from '../../../src/ledger/ledger.js';
import type { SequencerStatus } from '../../../src/ledger/settlement/settlement-context.js';
import type { Answer, SequencerEvent } from './evidence.js';

/** A sequencer that records its events and responses: the truth that a ledger is checked against. */
export class SequencerTruth {
  readonly events: SequencerEvent[] = [];
  readonly #isPaid = new Map<string, boolean>();
  readonly #forgotten = new Set<string>();
  readonly #fails: (id: string) => boolean;
  readonly #now: () => number;

  /** @param fails called at each status call; true makes it fail */
  constructor(fails: (id: string) => boolean = () => false, now: () => number = Date.now) {
    this.#fails = fails;
    this.#now = now;
  }

  create(id: string, terms: RecordedTerms): void {
    // Creating the same intent again changes nothing (protocol section 6).
    if (this.#isPaid.has(id)) return;
    this.#isPaid.set(id, false);
    this.events.push({ what: 'created', id, at: this.#now(), terms });
  }

  /** The site has returned the client secret. */
  returnSecret(id: string): void {
    this.events.push({ what: 'secret returned', id, at: this.#now() });
  }

  pay(id: string): void {
    this.#change(id, 'paid');
  }

  reverse(id: string): void {
    this.#change(id, 'reversed');
  }

  /** Forgets an intent, as after a restart, until `remember`. */
  forget(id: string): void {
    this.#forgotten.add(id);
  }

  remember(): void {
    this.#forgotten.clear();
  }

  isPaid(id: string): boolean {
    return this.#isPaid.get(id) ?? false;
  }

  /** @throws where it fails */
  status(id: string): SequencerStatus {
    if (this.#fails(id)) {
      this.#record(id, 'nothing');
      throw new Error('The sequencer does not answer.');
    }
    const answer = this.answer(id);
    this.#record(id, answer);
    return { exists: answer !== 'unknown', intentSubmitted: answer === 'submitted' };
  }

  /** The response to a status call, without recording it. */
  answer(id: string): Answer {
    const isPaid = this.#isPaid.get(id);
    if (isPaid === undefined || this.#forgotten.has(id)) return 'unknown';
    return isPaid ? 'submitted' : 'not submitted';
  }

  #change(id: string, what: 'paid' | 'reversed'): void {
    this.#isPaid.set(id, what === 'paid');
    this.events.push({ what, id, at: this.#now() });
  }

  #record(id: string, answer: Answer): void {
    this.events.push({ what: 'answered', id, at: this.#now(), answer });
  }
}
