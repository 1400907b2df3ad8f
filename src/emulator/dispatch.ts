import { IntentError } from '../errors.js';
import { submitPayment as submitPaymentOperation } from '../wire/emulator-codec.js';
import { encodeErrorResponse, encodeOkResponse, nameOf, type Operation, operations } from '../wire/envelope.js';
import { createIntent } from './create-intent.js';
import { getStatus } from './get-status.js';
import { getLoginForThirdPartyApp, loginToThirdPartyApp } from './login.js';
import { openMessageStream } from './open-message-stream.js';
import { submitPayment } from './payment.js';
import { ackMessages, pollMessages } from './read-mailbox.js';
import { sendMessage } from './send-message.js';
import type { SequencerState } from './sequencer-state.js';
import { registerWebhook } from './webhook.js';

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

/** What is told of an error to a caller. */
export function reasonOf(error: unknown): string {
  return error instanceof IntentError ? error.message : 'The sequencer met an error.';
}

/** Serves a call of the proxy: always an envelope, ERROR with its reason for what is refused (interface section 7). */
export async function dispatch(
  state: SequencerState,
  { service, method, body }: Operation & { readonly body: Uint8Array },
): Promise<Uint8Array> {
  const handler = handlers.get(nameOf({ service, method }));
  if (!handler) return encodeErrorResponse('There is no such service and method.');
  try {
    return encodeOkResponse(await handler(state, body));
  } catch (error) {
    return encodeErrorResponse(reasonOf(error));
  }
}
