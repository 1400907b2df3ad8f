import { decodeCanonical } from '../../intents/verify-intent.js';
import { formatBase58 } from '../../keys/base58.js';
import { encode, v1 } from '../../wire/codec.js';
import type { IntentRecord } from '../state/intent-store.js';
import type { SequencerState } from '../state/sequencer-state.js';
import { requireBytes32, requireSignature } from './signed-request.js';
import { markSubmitted } from './submission.js';

const LoginResult = v1.LoginToThirdPartyAppResponse.Result;
const LookupResult = v1.GetLoginForThirdPartyAppResponse.Result;

/** Identity.loginToThirdPartyApp (protocol section 5): what a wallet sends, signed by the user. */
export function loginToThirdPartyApp(state: SequencerState, body: Uint8Array): Uint8Array {
  const request = decodeCanonical(v1.LoginToThirdPartyAppRequest, body);
  return encode(v1.LoginToThirdPartyAppResponse, { result: logIn(state, request) });
}

function logIn(state: SequencerState, request: v1.LoginToThirdPartyAppRequest): v1.LoginToThirdPartyAppResponse.Result {
  const id = formatBase58(requireBytes32(request.intentId, 'intent_id'));
  const userId = request.userId?.value;
  if (userId?.length !== 32) return LoginResult.INVALID_ACCOUNT;
  requireSignature(v1.LoginToThirdPartyAppRequest, request, userId);

  const record = state.intents.get(id);
  if (!record) return LoginResult.REQUEST_NOT_FOUND;
  if (!record.request.login) return LoginResult.LOGIN_NOT_SUPPORTED;
  if (record.request.kind === 'payment' && !record.submitted) return LoginResult.PAYMENT_REQUIRED;
  if (record.userId) {
    return Buffer.compare(record.userId, userId) === 0 ? LoginResult.OK : LoginResult.DIFFERENT_LOGIN_EXISTS;
  }
  setUser(state, record, userId);
  return LoginResult.OK;
}

function setUser(state: SequencerState, record: IntentRecord, userId: Uint8Array): void {
  // A payment that logs in was submitted before; what was still missing for its webhook is the user.
  if (record.request.kind === 'login') markSubmitted(state, record, { userId });
  else state.intents.update(record, { userId });
  state.webhooks.call(record, state.journal);
}

/** Identity.getLoginForThirdPartyApp, "get user id" (interface section 4.7), signed by the verifier. */
export function getLoginForThirdPartyApp({ intents }: SequencerState, body: Uint8Array): Uint8Array {
  const request = decodeCanonical(v1.GetLoginForThirdPartyAppRequest, body);
  const id = formatBase58(requireBytes32(request.intentId, 'intent_id'));
  const verifier = requireBytes32(request.verifier, 'verifier');
  requireSignature(v1.GetLoginForThirdPartyAppRequest, request, verifier);
  return encode(v1.GetLoginForThirdPartyAppResponse, lookUp(intents.get(id), formatBase58(verifier)));
}

function lookUp(record: IntentRecord | undefined, verifier: string): v1.GetLoginForThirdPartyAppResponse.$Properties {
  if (!record) return { result: LookupResult.REQUEST_NOT_FOUND };
  const { login } = record.request;
  if (!login) return { result: LookupResult.LOGIN_NOT_SUPPORTED };
  // Another site's verifier learns nothing, not even that the intent exists.
  if (login.verifier !== verifier) return { result: LookupResult.REQUEST_NOT_FOUND };
  if (!record.userId) return { result: LookupResult.NO_USER_LOGGED_IN };
  return { result: LookupResult.OK, userId: { value: record.userId } };
}
