import { encodeOkResponse } from '../../wire/envelope.js';

/** The answers of a stream, each in its envelope. */
export async function* envelopesOf(answers: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  for await (const answer of answers) yield encodeOkResponse(answer);
}
