import { formatBase58 } from '../../keys/base58.js';
import { decode, v1 } from '../../wire/codec.js';
import { simulator } from '../../wire/simulator-codec.js';
import type { RecordedBytes } from '../journal/journal-record.js';
import type { SequencerOperation } from '../operations/request.js';

/** A decoded message as JSON, with the names of the interface. A wrapper message is replaced by its value. */
export type MessageTree = string | number | boolean | readonly MessageTree[] | { readonly [name: string]: MessageTree };

type Names = Readonly<Record<number, string>>;

interface Codec {
  decode(bytes: Uint8Array): object;
  readonly Result?: Names;
}

interface Codecs {
  readonly request: Codec;
  readonly response: Codec;
}

const codecs: Readonly<Record<SequencerOperation, Codecs>> = {
  createIntent: { request: v1.Message, response: v1.GetStatusResponse },
  getStatus: { request: v1.GetStatusRequest, response: v1.GetStatusResponse },
  registerWebhook: { request: v1.RegisterWebhookRequest, response: v1.RegisterWebhookResponse },
  sendMessage: { request: v1.SendMessageRequest, response: v1.SendMessageResponse },
  openMessageStream: { request: v1.OpenMessageStreamRequest, response: v1.OpenMessageStreamResponse },
  pollMessages: { request: v1.PollMessagesRequest, response: v1.PollMessagesResponse },
  ackMessages: { request: v1.AckMessagesRequest, response: v1.AckMessagesResponse },
  getLoginForThirdPartyApp: {
    request: v1.GetLoginForThirdPartyAppRequest,
    response: v1.GetLoginForThirdPartyAppResponse,
  },
  loginToThirdPartyApp: { request: v1.LoginToThirdPartyAppRequest, response: v1.LoginToThirdPartyAppResponse },
  submitPayment: { request: simulator.SubmitPaymentRequest, response: simulator.SubmitPaymentResponse },
};

/** Decodes the request or the response of an operation; undefined if it is not recorded or cannot be decoded. */
export function decodeMessage(
  operation: SequencerOperation | undefined,
  part: keyof Codecs,
  recorded: RecordedBytes,
): MessageTree | undefined {
  const codec = operation && codecs[operation][part];
  if (!codec || !recorded.bytes) return undefined;
  try {
    return messageTree(codec.decode(recorded.bytes), codec.Result);
  } catch {
    return undefined;
  }
}

export function intentTree(message: v1.Message.$Properties): MessageTree {
  return messageTree(decode(v1.Message, v1.Message.encode(message).finish()));
}

function messageTree(message: object, results?: Names): MessageTree {
  const fields: Record<string, MessageTree> = {};
  // `for in` includes unset fields of the prototype: flags that are false are shown.
  for (const name in message) {
    const value: unknown = (message as Record<string, unknown>)[name];
    const isSet = Object.hasOwn(message, name);
    if (name === 'result' && results) fields[name] = results[Number(value)] ?? String(value);
    else if (isSet ? value !== null && value !== undefined : typeof value === 'boolean') {
      fields[inSnakeCase(name)] = valueTree(value);
    }
  }
  return fields;
}

function valueTree(value: unknown): MessageTree {
  if (value instanceof Uint8Array) return value.length === 32 ? formatBase58(value) : hex(value);
  if (Array.isArray(value)) return value.map(valueTree);
  if (typeof value !== 'object' || value === null) return typeof value === 'number' ? value : textOrFlag(value);
  if (isLong(value)) return String(value);
  if ('seconds' in value) return instant(value as { seconds: unknown; nanos?: unknown });
  const names = Object.keys(value);
  const [only = ''] = names;
  const isWrapper = names.length === 1 && (only === 'value' || only === 'domain');
  return isWrapper ? valueTree((value as Record<string, unknown>)[only]) : messageTree(value);
}

const textOrFlag = (value: unknown): string | boolean => (typeof value === 'boolean' ? value : String(value));

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

const isLong = (value: object): boolean => 'low' in value && 'high' in value;

function instant({ seconds, nanos }: { seconds: unknown; nanos?: unknown }): string {
  const date = new Date(Number(seconds) * 1000 + Math.floor(Number(nanos ?? 0) / 1e6));
  return Number.isNaN(date.getTime()) ? `${seconds} s` : date.toISOString();
}

const inSnakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
