import * as z from 'zod';
import { signedBytesIn } from '../../intents/signed-intent.js';
import { parseIntentId } from '../../keys/base58.js';
import { decode, encode, v1 } from '../../wire/codec.js';
import { readCreatedIntent } from '../operations/read-created-intent.js';
import type { IntentRecord, KeptIntent } from './intent-store.js';
import { asSent, type MailMessage, toReaders } from './mailbox.js';

const base64 = z.base64();
const schema = z.strictObject({
  intent: z.string(),
  createdAtMs: z.number(),
  /** The signed message with the id that the sequencer gave it, serialized. */
  request: base64,
  messages: z.array(base64),
  codeScanned: z.boolean(),
  rejected: z.boolean(),
  submitted: z.boolean(),
  reversed: z.boolean(),
  marked: z.boolean(),
  payer: base64.optional(),
  userId: base64.optional(),
  webhookUrl: z.url().optional(),
});

/** An intent with all that has become of it, as a line of the state file has it. Nothing in it is secret. */
export type SavedIntent = z.infer<typeof schema>;

export function saveIntent(record: IntentRecord): SavedIntent {
  const { id, createdAtMs, mailbox, codeScanned, rejected, submitted, reversed, marked } = record;
  const { payer, userId, webhookUrl } = record;
  const [request = {}, ...messages] = mailbox.undelivered;
  return {
    intent: id,
    createdAtMs,
    request: bytesOf(request),
    messages: messages.map(bytesOf),
    ...{ codeScanned, rejected, submitted, reversed, marked },
    ...(payer && { payer: toBase64(payer) }),
    ...(userId && { userId: toBase64(userId) }),
    ...(webhookUrl && { webhookUrl: webhookUrl.href }),
  };
}

/** Reads an intent of a state file, and verifies it again. @throws {Error} for what `saveIntent` did not write */
export function restoreIntent(line: unknown): KeptIntent {
  const saved = schema.parse(line);
  const request = messageOf(saved.request);
  const { id: _id, sendMessageRequestSignature, signedBytes: _bytes, ...unsigned } = request;
  const signature = sendMessageRequestSignature?.value ?? new Uint8Array();
  const signedBytes = signedBytesIn(fromBase64(saved.request));
  const intent = readCreatedIntent(v1.Message.create(unsigned), parseIntentId(saved.intent), signature, signedBytes);
  const { codeScanned, rejected, submitted, reversed, marked, payer, userId, webhookUrl } = saved;
  return {
    intent,
    createdAtMs: saved.createdAtMs,
    progress: {
      ...{ codeScanned, rejected, submitted, reversed, marked },
      payer: payer === undefined ? undefined : fromBase64(payer),
      userId: userId === undefined ? undefined : fromBase64(userId),
      webhookUrl: webhookUrl === undefined ? undefined : new URL(webhookUrl),
    },
    mail: { request, messages: saved.messages.map(messageOf) },
  };
}

const bytesOf = (message: MailMessage): string => toBase64(encode(v1.Message, toReaders(message)));
const messageOf = (text: string): MailMessage => {
  const bytes = fromBase64(text);
  return asSent(decode(v1.Message, bytes), signedBytesIn(bytes));
};
const toBase64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');
const fromBase64 = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'base64'));
