import { IntentError } from '../../errors.js';
import { encodeErrorResponse, encodeOkResponse, nameOf, operations } from '../../wire/envelope.js';
import { submitPayment } from '../../wire/simulator-codec.js';
import { refusalOf, type TransportKind } from '../journal/journal-record.js';
import type { SimulatorState } from '../state/simulator-state.js';
import { handleCreateIntent, handleGetStatus, handleRegisterWebhook } from './intents.js';
import { handleGetLogin, handleLogin } from './login.js';
import { openMessageStream } from './message-stream.js';
import { handleAckMessages, handlePollMessages, handleSendMessage } from './messaging.js';
import { handleSubmitPayment } from './payment.js';
import type { OperationRequest } from './request.js';

/**
 * Serves one operation. Takes the serialized inner request and returns the serialized inner response. `pageOrigin` is the
 * header `Origin` of the call. Browsers send it with each call of a page; programs send none.
 */
type Handler = (
  state: SimulatorState,
  body: Uint8Array,
  pageOrigin: string | undefined,
) => Uint8Array | Promise<Uint8Array>;

const handlers = new Map<string, Handler>([
  [nameOf(operations.createIntent), handleCreateIntent],
  [nameOf(operations.getStatus), handleGetStatus],
  [nameOf(operations.registerWebhook), handleRegisterWebhook],
  [nameOf(operations.sendMessage), handleSendMessage],
  [nameOf(operations.openMessageStream), refuseStream],
  [nameOf(operations.pollMessages), handlePollMessages],
  [nameOf(operations.ackMessages), handleAckMessages],
  [nameOf(operations.getLoginForThirdPartyApp), handleGetLogin],
  [nameOf(operations.loginToThirdPartyApp), handleLogin],
  [nameOf(submitPayment), handleSubmitPayment],
]);

/** Refuses a unary call of the streaming operation. @throws {IntentError} `not_supported` */
function refuseStream(state: SimulatorState, body: Uint8Array): never {
  openMessageStream(state, body, AbortSignal.abort());
  throw new IntentError('not_supported', 'This operation is a stream. Open it over WebSocket at the same URL.');
}

/** Serves a unary call. Returns an ERROR envelope with the reason for a refused call (interface section 7). */
export async function dispatch(
  state: SimulatorState,
  request: OperationRequest,
  via: TransportKind,
  pageOrigin?: string,
): Promise<Uint8Array> {
  const recordEnd = state.journal.startCall(request, via);
  try {
    const answer = await perform(state, request, pageOrigin);
    recordEnd(answer);
    return encodeOkResponse(answer);
  } catch (error) {
    const refusal = refusalOf(error);
    recordEnd(undefined, refusal);
    return encodeErrorResponse(refusal.message);
  }
}

/** Saves changes before it returns the response. @throws {IntentError} */
async function perform(
  state: SimulatorState,
  request: OperationRequest,
  pageOrigin: string | undefined,
): Promise<Uint8Array> {
  const handler = handlers.get(nameOf(request));
  if (!handler) throw new IntentError('not_supported', 'Unknown service or method.');
  const answer = await handler(state, request.body, pageOrigin);
  state.intents.save();
  return answer;
}
