import { decodeCanonical } from '../../intents/verify-intent.js';
import { formatBase58 } from '../../keys/base58.js';
import { encode, v1 } from '../../wire/codec.js';
import type { StoredIntent } from '../state/intent-store.js';
import type { SimulatorState } from '../state/simulator-state.js';
import { markSubmitted } from './payment.js';
import { requireBytes32, requireSignature } from './request.js';

const LoginResult = v1.LoginToThirdPartyAppResponse.Result;
const GetLoginResult = v1.GetLoginForThirdPartyAppResponse.Result;

/** Identity.loginToThirdPartyApp (protocol section 5): called by a wallet, signed by the user. */
export function handleLogin(state: SimulatorState, body: Uint8Array): Uint8Array {
  const request = decodeCanonical(v1.LoginToThirdPartyAppRequest, body);
  return encode(v1.LoginToThirdPartyAppResponse, { result: logIn(state, request) });
}

function logIn(state: SimulatorState, request: v1.LoginToThirdPartyAppRequest): v1.LoginToThirdPartyAppResponse.Result {
  const id = formatBase58(requireBytes32(request.intentId, 'intent_id'));
  const userId = request.userId?.value;
  if (userId?.length !== 32) return LoginResult.INVALID_ACCOUNT;
  requireSignature(v1.LoginToThirdPartyAppRequest, request, userId);

  const intent = state.intents.get(id);
  if (!intent) return LoginResult.REQUEST_NOT_FOUND;
  if (!intent.request.login) return LoginResult.LOGIN_NOT_SUPPORTED;
  if (intent.request.kind === 'payment' && !intent.submitted) return LoginResult.PAYMENT_REQUIRED;
  if (intent.userId) {
    return Buffer.compare(intent.userId, userId) === 0 ? LoginResult.OK : LoginResult.DIFFERENT_LOGIN_EXISTS;
  }
  // A payment with login is submitted by its payment. Its login only adds the user.
  if (intent.request.kind === 'login') markSubmitted(state, intent, { userId });
  else state.intents.update(intent, { userId });
  state.webhooks.call(intent, state.journal);
  return LoginResult.OK;
}

/** Identity.getLoginForThirdPartyApp (interface section 4.7): returns the user id; signed by the verifier. */
export function handleGetLogin({ intents }: SimulatorState, body: Uint8Array): Uint8Array {
  const request = decodeCanonical(v1.GetLoginForThirdPartyAppRequest, body);
  const id = formatBase58(requireBytes32(request.intentId, 'intent_id'));
  const verifier = requireBytes32(request.verifier, 'verifier');
  requireSignature(v1.GetLoginForThirdPartyAppRequest, request, verifier);
  return encode(v1.GetLoginForThirdPartyAppResponse, loginOf(intents.get(id), formatBase58(verifier)));
}

function loginOf(intent: StoredIntent | undefined, verifier: string): v1.GetLoginForThirdPartyAppResponse.$Properties {
  if (!intent) return { result: GetLoginResult.REQUEST_NOT_FOUND };
  const { login } = intent.request;
  if (!login) return { result: GetLoginResult.LOGIN_NOT_SUPPORTED };
  // Another site's verifier must not learn that the intent exists.
  if (login.verifier !== verifier) return { result: GetLoginResult.REQUEST_NOT_FOUND };
  if (!intent.userId) return { result: GetLoginResult.NO_USER_LOGGED_IN };
  return { result: GetLoginResult.OK, userId: { value: intent.userId } };
}
