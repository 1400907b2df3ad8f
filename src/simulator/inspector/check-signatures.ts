import { bytesToSign, extractSignedBytes } from '../../intents/signed-intent.js';
import { rendezvousKeyIn, verifierBytesIn } from '../../intents/verify-intent.js';
import { formatBase58 } from '../../keys/base58.js';
import { verifySignature } from '../../keys/ed25519.js';
import { decode, v1 } from '../../wire/codec.js';
import { messagesIn } from '../../wire/fields.js';
import { simulator } from '../../wire/simulator-codec.js';
import type { RecordedBytes } from '../journal/journal-record.js';
import type { SequencerOperation } from '../operations/request.js';

export interface CheckedSignature {
  /** The required signer. The creator of the intent and everyone with its code have the rendezvous key. */
  readonly signer: 'rendezvous' | 'verifier' | 'user' | 'payer';
  /** Base58; undefined if the request does not name the key. */
  readonly key: string | undefined;
  readonly domain?: string | undefined;
  readonly outcome: 'valid' | 'invalid' | 'missing';
}

/** Verifies the signatures of a recorded request, when the inspector shows it. */
export function checkSignatures(
  operation: SequencerOperation | undefined,
  recorded: RecordedBytes,
): readonly CheckedSignature[] {
  const check = operation && checks[operation];
  if (!check || !recorded.bytes) return [];
  const result = results.get(recorded) ?? attempt(check, recorded.bytes);
  results.set(recorded, result);
  return result;
}

/** Cached, because an open inspector page fetches the same requests after every change. */
const results = new WeakMap<RecordedBytes, readonly CheckedSignature[]>();

function attempt(check: Check, bytes: Uint8Array): readonly CheckedSignature[] {
  try {
    return check(bytes);
  } catch {
    return [];
  }
}

type Check = (bytes: Uint8Array) => readonly CheckedSignature[];

const checks: Readonly<Partial<Record<SequencerOperation, Check>>> = {
  createIntent: (bytes) => {
    const message = decode(v1.Message, bytes);
    return checkIntentSignatures(
      message,
      rendezvousKeyIn(message),
      message.sendMessageRequestSignature,
      extractSignedBytes(bytes),
    );
  },
  sendMessage: (bytes) => {
    const { message, rendezvousKey, signature } = decode(v1.SendMessageRequest, bytes);
    const signedBytes = extractSignedBytes(messagesIn(bytes, 1)[0] ?? new Uint8Array());
    return checkIntentSignatures(new v1.Message(message ?? {}), rendezvousKey?.value, signature, signedBytes);
  },
  openMessageStream: (bytes) => {
    const request = decode(v1.OpenMessageStreamRequest, bytes);
    return [checkOwn('rendezvous', v1.OpenMessageStreamRequest, request, request.rendezvousKey)];
  },
  pollMessages: (bytes) => {
    const request = decode(v1.PollMessagesRequest, bytes);
    return [checkOwn('rendezvous', v1.PollMessagesRequest, request, request.rendezvousKey)];
  },
  getLoginForThirdPartyApp: (bytes) => {
    const request = decode(v1.GetLoginForThirdPartyAppRequest, bytes);
    return [checkOwn('verifier', v1.GetLoginForThirdPartyAppRequest, request, request.verifier)];
  },
  loginToThirdPartyApp: (bytes) => {
    const request = decode(v1.LoginToThirdPartyAppRequest, bytes);
    return [checkOwn('user', v1.LoginToThirdPartyAppRequest, request, request.userId)];
  },
  submitPayment: (bytes) => {
    const request = decode(simulator.SubmitPaymentRequest, bytes);
    return [checkOwn('payer', simulator.SubmitPaymentRequest, request, request.payer)];
  },
};

type Signature = v1.Signature.$Properties | null | undefined;
type Key = { value?: Uint8Array | null } | null | undefined;

export function checkIntentSignatures(
  message: v1.Message,
  rendezvousKey: Uint8Array | null | undefined,
  signature: Signature,
  signedBytes: Uint8Array,
): CheckedSignature[] {
  const { requestToReceiveBill: payment, requestToLogin: login } = message;
  const own = checked('rendezvous', rendezvousKey, signedBytes, signature);
  const hasLogin = payment && (payment.domain || payment.verifier || payment.signature);
  const verified = login ?? (hasLogin ? payment : undefined);
  return verified ? [own, checkVerifier(verifierBytesIn(signedBytes), verified)] : [own];
}

function checkVerifier(
  bytes: Uint8Array,
  { verifier, signature, domain }: v1.RequestToLogin.$Properties,
): CheckedSignature {
  return { ...checked('verifier', verifier?.value, bytes, signature), domain: domain?.domain ?? '' };
}

/** A signature in a field of the request itself (protocol section 4). */
function checkOwn<Request extends { signature?: v1.Signature.$Properties | null }>(
  signer: CheckedSignature['signer'],
  codec: Parameters<typeof bytesToSign<Request>>[0],
  request: Request,
  key: Key,
): CheckedSignature {
  return checked(signer, key?.value, bytesToSign(codec, request), request.signature);
}

function checked(
  signer: CheckedSignature['signer'],
  key: Uint8Array | null | undefined,
  bytes: Uint8Array,
  signature: Signature,
): CheckedSignature {
  const value = signature?.value;
  const isValid = !!key && !!value && verifySignature(key, bytes, value);
  return {
    signer,
    key: key?.length === 32 ? formatBase58(key) : undefined,
    outcome: value?.length ? (isValid ? 'valid' : 'invalid') : 'missing',
  };
}
