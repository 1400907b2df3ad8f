import { encodeErrorResponse, encodeOkResponse } from '../../wire/envelope.js';
import type { SettledFault } from './fault.js';
import { spoilMessages } from './spoil-messages.js';

/** What a fault does with an operation, whatever way the call came. */
export interface FaultyOperationCall {
  readonly fault: SettledFault;
  /** Does what the operation does, and gives the envelope that it would be answered with. */
  readonly perform: () => Promise<Uint8Array>;
  /** Forgets the intent that the call is about. */
  readonly forget: () => void;
}

/**
 * The envelope that a call is answered with: the right one, or one that is spoilt. The operation has its effect only
 * where the fault comes after it; else there is an OK envelope of nothing in its place.
 */
export async function spoiltEnvelope({ fault, perform, forget }: FaultyOperationCall): Promise<Uint8Array> {
  const { kind, when } = fault;
  if (kind === 'forget') {
    if (when === 'before') forget();
    const envelope = await perform();
    forget();
    return envelope;
  }
  const answer = when === 'after' ? await perform() : encodeOkResponse(new Uint8Array());
  const envelope = answer.length > 0 ? answer : writtenOutOk;
  if (kind === 'error') return sayNo();
  if (kind === 'garble') return noise(envelope);
  if (kind === 'duplicate') return spoilMessages(envelope, (messages) => messages.flatMap((one) => [one, one]));
  if (kind === 'reorder') return spoilMessages(envelope, (messages) => messages.toReversed());
  return envelope;
}

/** A success without a body has no bytes, and then there is nothing to cut or to garble. */
const writtenOutOk = Uint8Array.of(0x08, 0x00);

export const sayNo = (): Uint8Array => encodeErrorResponse('The sequencer was told to say no.');

/** As many bytes. No number ends within bytes like these, so that nothing can be read into them. */
export const noise = (envelope: Uint8Array): Uint8Array => new Uint8Array(envelope.length).fill(0xff);
