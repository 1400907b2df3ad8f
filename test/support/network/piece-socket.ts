import { Duplex } from 'node:stream';

/** A connection without a network. What it receives arrives in pieces of a fixed size, each in its own `data` event. */
export class PieceSocket extends Duplex {
  readonly #pieceBytes: number;
  #sent = '';

  constructor(pieceBytes: number) {
    super();
    this.#pieceBytes = pieceBytes;
  }

  /** What the other side has written to it, as latin1. */
  get sent(): string {
    return this.#sent;
  }

  receive(bytes: Uint8Array): void {
    for (let start = 0; start < bytes.length; start += this.#pieceBytes) {
      this.push(bytes.slice(start, start + this.#pieceBytes));
    }
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: string, written: () => void): void {
    this.#sent += chunk.toString('latin1');
    written();
  }
}
