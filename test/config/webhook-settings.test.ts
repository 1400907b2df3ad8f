import { parseConfig } from '../../src/config/config.js';
import type { ConfigOptions, Environment } from '../../src/config/config-options.js';
import { generateKeyPair, intentRouter } from '../../src/index.js';
import { problemsOf } from '../support/sites/problems-of.js';

const [one, two] = [generateKeyPair().publicKey, generateKeyPair().publicKey];
const env = {
  INTENT_SEQUENCER_URL: 'https://sequencer.example',
  INTENT_VERIFIER_SECRET: generateKeyPair().secret,
  INTENT_DOMAIN: 'shop.example',
};
const origin = { INTENT_ORIGIN: 'https://shop.example' };

const webhookOf = (options: ConfigOptions, more: Environment = {}) => parseConfig(options, { ...env, ...more }).webhook;

test('webhooks are off by default, even with a public key', () => {
  expect(webhookOf({}, { ...origin, INTENT_WEBHOOK_PUBLIC_KEY: one })).toBeUndefined();
  expect(webhookOf({ webhook: false, webhookPublicKey: 'nonsense' })).toBeUndefined();
});

test('public keys are read from the option or INTENT_WEBHOOK_PUBLIC_KEY, without duplicates', () => {
  const both = { ...origin, INTENT_WEBHOOK_PUBLIC_KEY: ` ${one} ,${two},${one}` };
  expect(webhookOf({ webhook: true }, both)).toEqual({ webhookPublicKeys: [one, two] });
  expect(webhookOf({ webhook: true, webhookPublicKey: two }, both)).toEqual({ webhookPublicKeys: [two] });
});

test('a missing public key and a missing origin are both reported with their fixes', () => {
  expect(problemsOf(() => webhookOf({ webhook: true }))).toEqual([
    {
      setting: 'INTENT_ORIGIN',
      problem: 'It is not set. The payment service calls webhooks at an absolute URL.',
      fix: 'INTENT_ORIGIN=https://example.com (no path, no trailing slash)',
    },
    {
      setting: 'INTENT_WEBHOOK_PUBLIC_KEY',
      problem: 'It is not set. The router verifies webhook calls with this key of the payment service.',
      fix: expect.stringMatching(/^INTENT_WEBHOOK_PUBLIC_KEY=</),
    },
  ]);
});

test.each([`${one},`, 'nonsense', `1${one}`, generateKeyPair().secret.slice(0, 20), `${one} ${two}`])(
  'an invalid public key is reported: %s',
  (webhookPublicKey) => {
    const problems = problemsOf(() => webhookOf({ webhook: true, webhookPublicKey }, origin));
    expect(problems.map(({ setting }) => setting)).toEqual(['webhookPublicKey']);
  },
);

test('an invalid entry of several public keys is named by its position', () => {
  const of = (webhookPublicKey: string) => problemsOf(() => webhookOf({ webhook: true, webhookPublicKey }, origin));
  expect(of(`${one},nonsense,${two}`)).toMatchObject([{ problem: expect.stringMatching(/^Entry 2 of 3: The value/) }]);
  expect(of('nonsense')).toMatchObject([{ problem: expect.stringMatching(/^The value/) }]);
});

test('a disabled webhook route is reported', () => {
  const options = { webhook: true, webhookPublicKey: one, routes: { webhook: false } } as const;
  expect(problemsOf(() => webhookOf(options, origin))).toMatchObject([{ setting: 'webhook' }]);
});

test('the embedded sequencer requires neither, and ignores a configured public key', () => {
  const embedded = { ...env, INTENT_SEQUENCER_URL: 'embedded' };
  expect(parseConfig({ webhook: true }, embedded).webhook).toEqual({ webhookPublicKeys: undefined });
  expect(parseConfig({ webhook: true }, { ...embedded, INTENT_WEBHOOK_PUBLIC_KEY: one }).webhook).toEqual({
    webhookPublicKeys: undefined,
  });
});

test('with a transport both are required, because there is no embedded sequencer', () => {
  const transport = { call: async () => new Uint8Array(), close: async () => undefined };
  const embedded = { ...env, INTENT_SEQUENCER_URL: 'embedded' };
  const problems = problemsOf(() => parseConfig({ webhook: true, transport }, embedded));
  expect(problems.map(({ setting }) => setting)).toEqual(['INTENT_ORIGIN', 'INTENT_WEBHOOK_PUBLIC_KEY']);
});

test('intentRouter() reports the wrong type of both options', () => {
  const options = { webhook: 'yes', webhookPublicKey: 7, sequencerUrl: 'https://sequencer.example', login: false };
  const problems = problemsOf(() => intentRouter(options as never));
  expect(problems).toEqual([
    { setting: 'webhook', problem: 'It must be true or false.', fix: 'Correct its value, or remove the option.' },
    { setting: 'webhookPublicKey', problem: 'It must be a string.', fix: 'Correct its value, or remove the option.' },
  ]);
});
