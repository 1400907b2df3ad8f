import { IntentError } from '../../errors.js';
import { signedBytesIn } from '../../intents/signed-intent.js';
import { decodeCanonical, namedRendezvous, type StatedLogin } from '../../intents/verify-intent.js';
import { encode, v1 } from '../../wire/codec.js';
import type { IntentRecord } from '../state/intent-store.js';
import type { SequencerState } from '../state/sequencer-state.js';
import { statusOf } from './get-status.js';
import { type CreatedIntent, readCreatedIntent } from './read-created-intent.js';

/**
 * Intents.createIntent (interface section 4.3): the body is a bare Message, which names its own rendezvous key. The answer is
 * the status of the intent.
 */
export async function createIntent(state: SequencerState, body: Uint8Array): Promise<Uint8Array> {
  const message = decodeCanonical(v1.Message, body);
  if (!message.requestToReceiveBill && !message.requestToLogin) {
    throw new IntentError('not_supported', 'Only payment requests and logins can be created.');
  }
  const key = namedRendezvous(message);
  if (!key) throw new IntentError('malformed_message', 'The message must name its rendezvous key.');
  const signature = message.sendMessageRequestSignature?.value ?? new Uint8Array();
  const record = await keepIntent(state, readCreatedIntent(message, key, signature, signedBytesIn(body)));
  return encode(v1.GetStatusResponse, statusOf(record));
}

/**
 * Keeps an intent, or finds the record of this very request. A login's verifier must be published at its domain.
 * @throws {IntentError} `malformed_message`, `request_refused`
 */
export async function keepIntent(state: SequencerState, intent: CreatedIntent): Promise<IntentRecord> {
  const known = state.intents.find(intent);
  if (known) return known;
  if (intent.request.login) await requireListed(state, intent.id, intent.request.login);
  // Asked again: while the key file was read, the same rendezvous may have been taken.
  return state.intents.find(intent) ?? state.intents.add(intent, state.now());
}

/** @throws {IntentError} `request_refused` */
async function requireListed({ keyFiles, journal }: SequencerState, id: string, login: StatedLogin): Promise<void> {
  const began = journal.begin();
  const address = keyFiles.addressOf(login.domain);
  const problem = await keyFiles.requireListed(login).then(
    () => undefined,
    (error: IntentError) => error,
  );
  const durationMs = performance.now() - began.tickMs;
  journal.note(id, { kind: 'key-file', ...login, address, problem: problem?.message, durationMs }, began);
  if (problem) throw problem;
}
