import type { RecordedTerms } from '../../../src/ledger/ledger.js';
import type { SequencerStatus } from '../../../src/ledger/settlement-context.js';
import type { Answer, SequencerEvent } from './evidence.js';

/** What is true, whatever a ledger believes: a sequencer that notes what happens to it and what it answers. */
export class SequencerTruth {
  readonly events: SequencerEvent[] = [];
  readonly #isPaid = new Map<string, boolean>();
  readonly #fails: () => boolean;

  /** @param fails asked at each question; true: there is no answer */
  constructor(fails: () => boolean = () => false) {
    this.#fails = fails;
  }

  create(id: string, terms: RecordedTerms): void {
    // The same again is fine and changes nothing (protocol section 6).
    if (this.#isPaid.has(id)) return;
    this.#isPaid.set(id, false);
    this.events.push({ what: 'created', id, at: Date.now(), terms });
  }

  /** The site has answered with the client secret. */
  handOut(id: string): void {
    this.events.push({ what: 'handed out', id, at: Date.now() });
  }

  pay(id: string): void {
    this.#turn(id, 'paid');
  }

  takeBack(id: string): void {
    this.#turn(id, 'taken back');
  }

  isPaid(id: string): boolean {
    return this.#isPaid.get(id) ?? false;
  }

  /** @throws where it fails */
  status(id: string): SequencerStatus {
    if (this.#fails()) {
      this.#note(id, 'nothing');
      throw new Error('The sequencer does not answer.');
    }
    const isPaid = this.#isPaid.get(id);
    this.#note(id, isPaid === undefined ? 'unknown' : isPaid ? 'submitted' : 'not submitted');
    return { exists: isPaid !== undefined, intentSubmitted: isPaid ?? false };
  }

  #turn(id: string, what: 'paid' | 'taken back'): void {
    this.#isPaid.set(id, what === 'paid');
    this.events.push({ what, id, at: Date.now() });
  }

  #note(id: string, said: Answer): void {
    this.events.push({ what: 'said', id, at: Date.now(), said });
  }
}
