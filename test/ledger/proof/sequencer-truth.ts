import type { RecordedTerms } from '../../../src/ledger/ledger.js';
import type { SequencerStatus } from '../../../src/ledger/settlement/settlement-context.js';
import type { Answer, SequencerEvent } from './evidence.js';

/** What is true, whatever a ledger believes: a sequencer that notes what happens to it and what it answers. */
export class SequencerTruth {
  readonly events: SequencerEvent[] = [];
  readonly #isPaid = new Map<string, boolean>();
  readonly #forgotten = new Set<string>();
  readonly #fails: (id: string) => boolean;
  readonly #now: () => number;

  /** @param fails asked at each question; true: there is no answer */
  constructor(fails: (id: string) => boolean = () => false, now: () => number = Date.now) {
    this.#fails = fails;
    this.#now = now;
  }

  create(id: string, terms: RecordedTerms): void {
    // The same again is fine and changes nothing (protocol section 6).
    if (this.#isPaid.has(id)) return;
    this.#isPaid.set(id, false);
    this.events.push({ what: 'created', id, at: this.#now(), terms });
  }

  /** The site has answered with the client secret. */
  handOut(id: string): void {
    this.events.push({ what: 'handed out', id, at: this.#now() });
  }

  pay(id: string): void {
    this.#turn(id, 'paid');
  }

  takeBack(id: string): void {
    this.#turn(id, 'taken back');
  }

  /** Knows nothing of an intent any more, as after a restart, until it remembers. */
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
      this.#note(id, 'nothing');
      throw new Error('The sequencer does not answer.');
    }
    const answer = this.answer(id);
    this.#note(id, answer);
    return { exists: answer !== 'unknown', intentSubmitted: answer === 'submitted' };
  }

  /** What it would say. */
  answer(id: string): Answer {
    const isPaid = this.#isPaid.get(id);
    if (isPaid === undefined || this.#forgotten.has(id)) return 'unknown';
    return isPaid ? 'submitted' : 'not submitted';
  }

  #turn(id: string, what: 'paid' | 'taken back'): void {
    this.#isPaid.set(id, what === 'paid');
    this.events.push({ what, id, at: this.#now() });
  }

  #note(id: string, said: Answer): void {
    this.events.push({ what: 'said', id, at: this.#now(), said });
  }
}
