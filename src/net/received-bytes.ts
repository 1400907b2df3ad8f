/**
 * Joins the chunks of a body, such as those of an HTTP message. It copies each byte a constant number of times and holds at most
 * two bytes for each received one, however small the chunks are. A list of chunks would hold an object, and the memory that
 * the socket read into, for each chunk. It has no limit: the caller compares `length` with one before it appends.
 */
export class ReceivedBytes {
  #buffer = new Uint8Array(0);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  append(chunk: Uint8Array): void {
    const length = this.#length + chunk.length;
    if (length > this.#buffer.length) {
      const grown = new Uint8Array(Math.max(length, 2 * this.#length));
      grown.set(this.#buffer.subarray(0, this.#length));
      this.#buffer = grown;
    }
    this.#buffer.set(chunk, this.#length);
    this.#length = length;
  }

  /** All bytes, as a view that later appends do not change. */
  bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#length);
  }

  /** The same bytes as a `Buffer`. */
  toBuffer(): Buffer {
    return Buffer.from(this.#buffer.buffer, 0, this.#length);
  }
}
