import { bytesToSign } from '../../../src/intents/signed-intent.js';
import { formatBase58, parseIntentId } from '../../../src/keys/base58.js';
import type { KeyPair } from '../../../src/keys/ed25519.js';
import { decode, encode, v1 } from '../../../src/wire/codec.js';
import { operations } from '../../../src/wire/envelope.js';
import { simulator, submitPayment } from '../../../src/wire/simulator-codec.js';
import {
  anyRendezvous,
  call,
  closeAll,
  created,
  keyPair,
  logInAs,
  login,
  loginTerms,
  opened,
  payment,
  reason,
  start,
  statusFlags,
  submitAs,
} from '../fixture.js';

afterEach(closeAll);

const Paid = simulator.SubmitPaymentResponse.Result;
const LoggedIn = v1.LoginToThirdPartyAppResponse.Result;
const Found = v1.GetLoginForThirdPartyAppResponse.Result;

const ada = keyPair(1);
const ben = keyPair(2);
const site = keyPair(7);
const unknownId = formatBase58(anyRendezvous().publicKey);

async function paid(url: string, id: string, payer: KeyPair): Promise<simulator.SubmitPaymentResponse.Result> {
  return decode(simulator.SubmitPaymentResponse, opened(await submitAs(url, id, payer))).result;
}

async function loggedIn(url: string, id: string, user: KeyPair): Promise<v1.LoginToThirdPartyAppResponse.Result> {
  return decode(v1.LoginToThirdPartyAppResponse, opened(await logInAs(url, id, user))).result;
}

function lookUp(url: string, id: string, verifier: KeyPair, signer = verifier): Promise<v1.Response> {
  const unsigned = { intentId: { value: parseIntentId(id) }, verifier: { value: verifier.publicKey } };
  const signature = { value: signer.sign(bytesToSign(v1.GetLoginForThirdPartyAppRequest, unsigned)) };
  const body = encode(v1.GetLoginForThirdPartyAppRequest, { ...unsigned, signature });
  return call(url, operations.getLoginForThirdPartyApp, body);
}

async function found(url: string, id: string, verifier: KeyPair): Promise<[number, string | undefined]> {
  const { result, userId } = decode(v1.GetLoginForThirdPartyAppResponse, opened(await lookUp(url, id, verifier)));
  return [result, userId?.value ? formatBase58(userId.value) : undefined];
}

describe('Simulator.submitPayment', () => {
  test('answers OK, OK to a retry, and ALREADY_PAID to another payer', async () => {
    const { url } = await start();
    const { id } = await created(url, payment());
    expect(await paid(url, id, ada)).toBe(Paid.OK);
    expect(await statusFlags(url, id)).toEqual([true, false, true]);
    expect(await paid(url, id, ada)).toBe(Paid.OK);
    expect(await paid(url, id, ben)).toBe(Paid.ALREADY_PAID);
  });

  test('answers REQUEST_NOT_FOUND for an unknown intent and for a login', async () => {
    const { url } = await start();
    const { id } = await created(url, login());
    expect(await paid(url, unknownId, ada)).toBe(Paid.REQUEST_NOT_FOUND);
    expect(await paid(url, id, ada)).toBe(Paid.REQUEST_NOT_FOUND);
    expect(await statusFlags(url, id)).toEqual([true, false, false]);
  });

  test('requires a canonical request signed by a payer of 32 bytes (protocol 4)', async () => {
    const { url } = await start();
    const { id } = await created(url, payment());
    expect(reason(await submitAs(url, id, ada, ben))).toMatch(/not signed by the key it names/);
    expect(
      reason(
        await submitAs(url, id, { publicKey: new Uint8Array(31), sign: (bytes: Uint8Array) => ada.sign(bytes) }, ada),
      ),
    ).toMatch(/payer must have 32/);
    const appended = Uint8Array.of(0xa0, 0x06, 0x01);
    expect(reason(await call(url, submitPayment, appended))).toMatch(/unknown fields/);
    expect(await statusFlags(url, id)).toEqual([true, false, false]);
  });

  test('a reversed payment can be paid again (protocol 6)', async () => {
    const simulator = await start();
    const { id } = await created(simulator.url, payment());
    await paid(simulator.url, id, ada);
    simulator.reverse(id);
    expect(await statusFlags(simulator.url, id)).toEqual([true, false, false]);
    expect(await paid(simulator.url, id, ben)).toBe(Paid.OK);
    expect(() => simulator.reverse(unknownId)).toThrow(expect.objectContaining({ code: 'intent_not_found' }));
  });
});

describe('Identity.loginToThirdPartyApp (protocol 5)', () => {
  test('answers OK and submits a login, OK to a retry, and DIFFERENT_LOGIN_EXISTS to another user', async () => {
    const { url } = await start();
    const { id } = await created(url, login());
    expect(await loggedIn(url, id, ada)).toBe(LoggedIn.OK);
    expect(await statusFlags(url, id)).toEqual([true, false, true]);
    expect(await loggedIn(url, id, ada)).toBe(LoggedIn.OK);
    expect(await loggedIn(url, id, ben)).toBe(LoggedIn.DIFFERENT_LOGIN_EXISTS);
    expect(await found(url, id, site)).toEqual([Found.OK, formatBase58(ada.publicKey)]);
  });

  test('answers PAYMENT_REQUIRED until a payment with login is paid', async () => {
    const { url } = await start();
    const { id } = await created(url, payment({ login: loginTerms }));
    expect(await loggedIn(url, id, ada)).toBe(LoggedIn.PAYMENT_REQUIRED);
    expect(await statusFlags(url, id)).toEqual([true, false, false]);
    await paid(url, id, ada);
    expect(await found(url, id, site)).toEqual([Found.NO_USER_LOGGED_IN, undefined]);
    expect(await loggedIn(url, id, ada)).toBe(LoggedIn.OK);
    expect(await loggedIn(url, id, ben)).toBe(LoggedIn.DIFFERENT_LOGIN_EXISTS);
  });

  test('requires a canonical request signed by the user (protocol 4)', async () => {
    const { url } = await start();
    const { id } = await created(url, login());
    expect(reason(await logInAs(url, id, ada, ben))).toMatch(/not signed by the key it names/);
    const appended = Uint8Array.of(0xa0, 0x06, 0x01);
    expect(reason(await call(url, operations.loginToThirdPartyApp, appended))).toMatch(/unknown fields/);
    expect(await statusFlags(url, id)).toEqual([true, false, false]);
  });
});

describe('Identity.getLoginForThirdPartyApp, get user id (interface 4.7)', () => {
  test('answers NO_USER_LOGGED_IN before the login, and the user after it', async () => {
    const { url } = await start();
    const { id } = await created(url, login());
    expect(await found(url, id, site)).toEqual([Found.NO_USER_LOGGED_IN, undefined]);
    await loggedIn(url, id, ben);
    expect(await found(url, id, site)).toEqual([Found.OK, formatBase58(ben.publicKey)]);
  });

  test("answers REQUEST_NOT_FOUND for an unknown intent and for another site's", async () => {
    const { url } = await start();
    const { id } = await created(url, login());
    await loggedIn(url, id, ben);
    expect(await found(url, unknownId, site)).toEqual([Found.REQUEST_NOT_FOUND, undefined]);
    expect(await found(url, id, keyPair(8))).toEqual([Found.REQUEST_NOT_FOUND, undefined]);
  });

  test('requires a canonical request signed by the verifier (protocol 4)', async () => {
    const { url } = await start();
    const { id } = await created(url, login());
    await loggedIn(url, id, ben);
    expect(reason(await lookUp(url, id, site, keyPair(8)))).toMatch(/not signed by the key it names/);
    const appended = Uint8Array.of(0xa0, 0x06, 0x01);
    expect(reason(await call(url, operations.getLoginForThirdPartyApp, appended))).toMatch(/unknown fields/);
  });
});
