import { decode, v1 } from '../../wire/codec.js';
import { emulator } from '../../wire/emulator-codec.js';
import type { FaultyOperation } from '../faults/faulty-operation.js';
import type { KeptBytes } from './happening.js';
import { type MessageTree, messageTree } from './message-tree.js';

interface Codec {
  decode(bytes: Uint8Array): object;
  readonly Result?: Readonly<Record<number, string>>;
}

interface Codecs {
  readonly request: Codec;
  readonly answer: Codec;
}

const codecs: Readonly<Record<FaultyOperation, Codecs>> = {
  createIntent: { request: v1.Message, answer: v1.GetStatusResponse },
  getStatus: { request: v1.GetStatusRequest, answer: v1.GetStatusResponse },
  registerWebhook: { request: v1.RegisterWebhookRequest, answer: v1.RegisterWebhookResponse },
  sendMessage: { request: v1.SendMessageRequest, answer: v1.SendMessageResponse },
  openMessageStream: { request: v1.OpenMessageStreamRequest, answer: v1.OpenMessageStreamResponse },
  pollMessages: { request: v1.PollMessagesRequest, answer: v1.PollMessagesResponse },
  ackMessages: { request: v1.AckMessagesRequest, answer: v1.AckMessagesResponse },
  getLoginForThirdPartyApp: {
    request: v1.GetLoginForThirdPartyAppRequest,
    answer: v1.GetLoginForThirdPartyAppResponse,
  },
  loginToThirdPartyApp: { request: v1.LoginToThirdPartyAppRequest, answer: v1.LoginToThirdPartyAppResponse },
  submitPayment: { request: emulator.SubmitPaymentRequest, answer: emulator.SubmitPaymentResponse },
};

/** The request or the answer of an operation, read; undefined where it is not kept or cannot be read. */
export function readMessage(
  operation: FaultyOperation | undefined,
  part: keyof Codecs,
  kept: KeptBytes | undefined,
): MessageTree | undefined {
  const codec = operation && codecs[operation][part];
  if (!codec || !kept?.bytes) return undefined;
  try {
    return messageTree(codec.decode(kept.bytes), codec.Result);
  } catch {
    return undefined;
  }
}

/** A message as it lies at a rendezvous. */
export function intentTree(message: v1.Message.$Properties): MessageTree {
  return messageTree(decode(v1.Message, v1.Message.encode(message).finish()));
}
