import { IntentError } from '../../errors.js';
import { submitPayment as submitPaymentOperation } from '../../wire/emulator-codec.js';
import { encodeErrorResponse, encodeOkResponse, nameOf, type Operation, operations } from '../../wire/envelope.js';
import type { Via } from '../journal/happening.js';
import { registerWebhook } from '../outbound/webhook.js';
import type { SequencerState } from '../state/sequencer-state.js';
import { createIntent } from './create-intent.js';
import { getStatus } from './get-status.js';
import { getLoginForThirdPartyApp, loginToThirdPartyApp } from './login.js';
import { openMessageStream } from './open-message-stream.js';
import { submitPayment } from './payment.js';
import { ackMessages, pollMessages } from './read-mailbox.js';
import { refusalOf } from './refusal.js';
import { sendMessage } from './send-message.js';

/** Serves one operation: the serialized inner request in, the serialized inner response out. */
type Handler = (state: SequencerState, body: Uint8Array) => Uint8Array | Promise<Uint8Array>;

const handlers = new Map<string, Handler>([
  [nameOf(operations.createIntent), createIntent],
  [nameOf(operations.getStatus), getStatus],
  [nameOf(operations.registerWebhook), registerWebhook],
  [nameOf(operations.sendMessage), sendMessage],
  [nameOf(operations.openMessageStream), refuseStream],
  [nameOf(operations.pollMessages), pollMessages],
  [nameOf(operations.ackMessages), ackMessages],
  [nameOf(operations.getLoginForThirdPartyApp), getLoginForThirdPartyApp],
  [nameOf(operations.loginToThirdPartyApp), loginToThirdPartyApp],
  [nameOf(submitPaymentOperation), submitPayment],
]);

/** A stream needs a way on which more than one answer can come. @throws {IntentError} `not_supported` */
function refuseStream(state: SequencerState, body: Uint8Array): never {
  openMessageStream(state, body, AbortSignal.abort());
  throw new IntentError('not_supported', 'This operation is a stream: open it over WebSocket, at the same address.');
}

/** Serves a call of the proxy: always an envelope, ERROR with its reason for what is refused (interface section 7). */
export async function dispatch(
  state: SequencerState,
  request: Operation & { readonly body: Uint8Array },
  via: Via,
): Promise<Uint8Array> {
  const noteEnd = state.journal.call(request, via);
  try {
    const answer = await perform(state, request);
    noteEnd(answer);
    return encodeOkResponse(answer);
  } catch (error) {
    const refusal = refusalOf(error);
    noteEnd(undefined, refusal);
    return encodeErrorResponse(refusal.message);
  }
}

/** What has changed is written down before anybody is told that it has. @throws {IntentError} */
async function perform(state: SequencerState, request: Operation & { readonly body: Uint8Array }): Promise<Uint8Array> {
  const handler = handlers.get(nameOf(request));
  if (!handler) throw new IntentError('not_supported', 'There is no such service and method.');
  const answer = await handler(state, request.body);
  state.intents.save();
  return answer;
}
