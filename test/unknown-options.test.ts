import express from 'express';
import { createTermsResolver } from '../src/http/create-intent/payment-terms.js';
import { parseRequiredPayment } from '../src/http/paywall/payment-requirement.js';
import {
  ConfigError,
  createIntentClient,
  createServer,
  createSigner,
  generateKeyPair,
  IntentError,
  intentRouter,
  requireLogin,
  requirePayment,
} from '../src/index.js';
import { pruneIntents } from '../src/ledger/intents/prune-intents.js';
import { type Simulator, startSimulator } from '../src/testing.js';
import { countingTransport } from './support/transports/counting-transport.js';

// An option or field that is ignored may be a typo of one that protects money or accounts.

let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator();
});
afterAll(() => simulator.close());

const { secret, publicKey } = generateKeyPair();
const signer = createSigner(secret);
const login = { verifier: publicKey, domain: 'shop.example' };
const payment = { destination: publicKey, amount: '4.50', currency: 'usd' };
const transport = countingTransport();
const client = createIntentClient({ transport });
const { paymentIntents, loginIntents } = client;
const id = generateKeyPair().publicKey;
const app = express();

/** The options of a call with an unknown name. The types refuse it, so the type is erased. */
const plus = (name: string, options: object = {}) => ({ ...options, [name]: 1 }) as never;

const calls: readonly (readonly [call: string, unknown: string, meant: string, run: () => unknown])[] = [
  ['intentRouter', 'sequenser', 'sequencer', () => intentRouter(plus('sequenser'))],
  ['intentRouter', 'verifierSecret', 'login.verifierSecret', () => intentRouter(plus('verifierSecret'))],
  ['intentRouter login', 'ttl', 'ttlMs', () => intentRouter({ sequencer: { transport }, login: plus('ttl') })],
  [
    'intentRouter ledger.hookLimits',
    'maxAttempt',
    'maxAttempts',
    () => intentRouter({ sequencer: { transport }, ledger: { hookLimits: plus('maxAttempt') } }),
  ],
  [
    'intentRouter ledger.watch',
    'unpaid',
    'unpaidMs',
    () => intentRouter({ sequencer: { transport }, ledger: { watch: plus('unpaid') } }),
  ],
  ['intentRouter simulator', 'prot', 'port', () => intentRouter({ sequencer: { transport }, simulator: plus('prot') })],
  [
    'intentRouter routes',
    'intents',
    'intent',
    () => intentRouter({ sequencer: { transport }, routes: plus('intents') }),
  ],
  [
    'intentRouter limits.requests',
    'sessions',
    'session',
    () => intentRouter({ sequencer: { transport }, limits: { requests: plus('sessions') } }),
  ],
  [
    'intentRouter limits.streams',
    'perbrowser',
    'perBrowser',
    () => intentRouter({ sequencer: { transport }, limits: { streams: plus('perbrowser') } }),
  ],
  [
    'intentRouter clientAmount',
    'maximum',
    'max',
    () =>
      intentRouter({ sequencer: { transport }, clientAmount: plus('maximum', { min: 1, max: 2, currency: 'usd' }) }),
  ],
  ['requireLogin', 'loginURL', 'loginUrl', () => requireLogin(plus('loginURL'))],
  ['requirePayment', 'payURL', 'payUrl', () => requirePayment(() => ({ resource: 'tea' }), plus('payURL'))],
  [
    'the function of requirePayment',
    'ammount',
    'amount',
    () => parseRequiredPayment(plus('ammount', { resource: 'tea' })),
  ],
  [
    'the payment hook',
    'metdata',
    'metadata',
    () => createTermsResolver({ payment: () => plus('metdata', payment) })?.({} as never, {} as never, {} as never),
  ],
  [
    'the payment hook with clientAmount',
    'resorce',
    'resource',
    () =>
      createTermsResolver({
        payment: () => plus('resorce'),
        clientAmount: { min: 1, max: 9, currency: 'usd' },
      })?.({} as never, { amount: 5 } as never, {} as never),
  ],
  [
    'router.close',
    'drainMS',
    'drainMs',
    () => intentRouter({ sequencer: { transport }, login: false, logger: false }).close(plus('drainMS')),
  ],
  ['createServer', 'keepAliveTimeOut', 'keepAliveTimeout', () => createServer(app, plus('keepAliveTimeOut'))],
  ['createIntentClient', 'timeoutMS', 'timeoutMs', () => createIntentClient(plus('timeoutMS', { transport }))],
  ['paymentIntents.create', 'ammount', 'amount', () => paymentIntents.create(plus('ammount', payment))],
  ['paymentIntents.create, second', 'singal', 'signal', () => paymentIntents.create(payment, plus('singal'))],
  ['paymentIntents.prepare', 'signer', 'signers', () => paymentIntents.prepare(plus('signer', payment))],
  [
    'paymentIntents.prepare, login',
    'domian',
    'domain',
    () => paymentIntents.prepare({ ...payment, login: plus('domian', login), signers: [signer] }),
  ],
  [
    'loginIntents.getUserId',
    'verifiers',
    'verifier',
    () => loginIntents.getUserId(plus('verifiers', { intent: id, verifier: signer })),
  ],
  [
    'registerWebhook',
    'uri',
    'url',
    () => client.registerWebhook(plus('uri', { intent: id, url: 'https://a.example' })),
  ],
  ['watch', 'clientsecret', 'clientSecret', () => client.watch(plus('clientsecret', { id }))],
  [
    'router.intents.prune',
    'includeResource',
    'includeResources',
    () => pruneIntents({} as never, plus('includeResource', { olderThan: new Date() })),
  ],
  ['startSimulator', 'ports', 'port', () => startSimulator(plus('ports'))],
  ['simulator.injectFault', 'time', 'times', () => simulator.injectFault(plus('time', { kind: 'error' }))],
];

async function errorOf(run: () => unknown): Promise<unknown> {
  try {
    await run();
  } catch (error) {
    return error;
  }
  throw new Error('Nothing was thrown.');
}

test.each(calls)('%s rejects the unknown option %s and names %s', async (_call, unknown, meant, run) => {
  const error = await errorOf(run);
  expect(error).toBeInstanceOf(IntentError);
  const { message } = error as IntentError;
  expect(message).toMatch(new RegExp(`nknown (?:option|property) "${unknown}"\\.\\s+Did you mean "${meant}"\\?`));
});

test('no call reached the service', () => {
  expect(transport.calls).toEqual([]);
});

test.each([
  ['requireLogin', () => requireLogin('/login' as never)],
  ['createServer', () => createServer(app, 3000 as never)],
])('%s rejects options that are not an object', async (_name, run) => {
  const error = await errorOf(run);
  expect(error).toBeInstanceOf(ConfigError);
  expect((error as ConfigError).problems).toMatchObject([{ problem: 'Options must be an object.' }]);
});
