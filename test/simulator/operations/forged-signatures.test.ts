import bs58 from 'bs58';
import { encode, v1 } from '../../../src/wire/codec.js';
import { operations } from '../../../src/wire/envelope.js';
import { forger } from '../../support/small-order-keys.js';
import {
  anyRendezvous,
  call,
  closeAll,
  create,
  created,
  logInAs,
  login,
  payment,
  pollBody,
  reason,
  sendBody,
  serveKeyFile,
  signedBy,
  start,
  submitAs,
} from '../fixture.js';

afterEach(closeAll);

const smallOrder = /The key is of small order/;

describe('the simulator rejects a forged signature by a key of small order', () => {
  test('of a rendezvous', async () => {
    const { url } = await start();
    const bill = {
      ...(await payment({}, false)).message.requestToReceiveBill,
      rendezvousKey: { value: forger.publicKey },
    };
    expect(reason(await create(url, signedBy(forger, { requestToReceiveBill: bill })))).toMatch(smallOrder);
    const scanned = signedBy(forger, { codeScanned: {} });
    expect(reason(await call(url, operations.sendMessage, sendBody(scanned)))).toMatch(smallOrder);
    expect(reason(await call(url, operations.pollMessages, pollBody(forger)))).toMatch(smallOrder);
  });

  test('of a verifier, even if its domain publishes the key', async () => {
    const localDomains = { 'example.com': await serveKeyFile([bs58.encode(forger.publicKey)]) };
    const { url } = await start({ localDomains });
    const rendezvous = anyRendezvous();
    const request = {
      domain: { domain: 'example.com' },
      verifier: { value: forger.publicKey },
      signature: { value: forger.sign() },
      rendezvousKey: { value: rendezvous.publicKey },
    };
    expect(reason(await create(url, signedBy(rendezvous, { requestToLogin: request })))).toMatch(smallOrder);
    const unsigned = { intentId: { value: rendezvous.publicKey }, verifier: { value: forger.publicKey } };
    const body = encode(v1.GetLoginForThirdPartyAppRequest, { ...unsigned, signature: { value: forger.sign() } });
    expect(reason(await call(url, operations.getLoginForThirdPartyApp, body))).toMatch(smallOrder);
  });

  test('of a user and of a payer', async () => {
    const { url } = await start();
    expect(reason(await logInAs(url, (await created(url, login())).id, forger))).toMatch(smallOrder);
    expect(reason(await submitAs(url, (await created(url, payment())).id, forger))).toMatch(smallOrder);
  });
});
