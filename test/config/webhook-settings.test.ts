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

test('webhooks are off by default, also with a service key', () => {
  expect(webhookOf({}, { ...origin, INTENT_WEBHOOK_PUBLIC_KEY: one })).toBeUndefined();
  expect(webhookOf({ webhook: false, webhookPublicKey: 'nonsense' })).toBeUndefined();
});

test('service keys come from the option or INTENT_WEBHOOK_PUBLIC_KEY, each once', () => {
  const both = { ...origin, INTENT_WEBHOOK_PUBLIC_KEY: ` ${one} ,${two},${one}` };
  expect(webhookOf({ webhook: true }, both)).toEqual({ webhookPublicKeys: [one, two] });
  expect(webhookOf({ webhook: true, webhookPublicKey: two }, both)).toEqual({ webhookPublicKeys: [two] });
});

test('a missing key and a missing origin are both reported with their fixes', () => {
  expect(problemsOf(() => webhookOf({ webhook: true }))).toEqual([
    {
      setting: 'INTENT_ORIGIN',
      problem: 'It is not set. The service calls webhooks at an absolute URL.',
      fix: 'INTENT_ORIGIN=https://example.com (no path, no slash at the end)',
    },
    {
      setting: 'INTENT_WEBHOOK_PUBLIC_KEY',
      problem: 'It is not set. Calls of the webhook are verified with the key of the service.',
      fix: expect.stringMatching(/^INTENT_WEBHOOK_PUBLIC_KEY=</),
    },
  ]);
});

test.each([`${one},`, 'nonsense', `${one}1`, generateKeyPair().secret.slice(0, 20), `${one} ${two}`])(
  'an invalid key is reported: %s',
  (webhookPublicKey) => {
    const problems = problemsOf(() => webhookOf({ webhook: true, webhookPublicKey }, origin));
    expect(problems.map(({ setting }) => setting)).toEqual(['INTENT_WEBHOOK_PUBLIC_KEY']);
  },
);

test('a webhook route that is switched off is reported', () => {
  const options = { webhook: true, webhookPublicKey: one, routes: { webhook: false } } as const;
  expect(problemsOf(() => webhookOf(options, origin))).toMatchObject([{ setting: 'webhook' }]);
});

test('the embedded sequencer needs neither, and ignores a configured key', () => {
  const embedded = { ...env, INTENT_SEQUENCER_URL: 'embedded' };
  expect(parseConfig({ webhook: true }, embedded).webhook).toEqual({ webhookPublicKeys: undefined });
  expect(parseConfig({ webhook: true }, { ...embedded, INTENT_WEBHOOK_PUBLIC_KEY: one }).webhook).toEqual({
    webhookPublicKeys: undefined,
  });
});

test('with a transport there is no embedded sequencer, so both are needed', () => {
  const transport = { call: async () => new Uint8Array(), close: async () => undefined };
  const embedded = { ...env, INTENT_SEQUENCER_URL: 'embedded' };
  const problems = problemsOf(() => parseConfig({ webhook: true, transport }, embedded));
  expect(problems.map(({ setting }) => setting)).toEqual(['INTENT_ORIGIN', 'INTENT_WEBHOOK_PUBLIC_KEY']);
});

test('intentRouter reports the wrong type of both options', () => {
  const options = { webhook: 'yes', webhookPublicKey: 7, sequencerUrl: 'https://sequencer.example', login: false };
  const problems = problemsOf(() => intentRouter(options as never));
  expect(problems).toEqual([
    { setting: 'webhook', problem: 'It has the wrong type.', fix: 'Make it true or false.' },
    { setting: 'webhookPublicKey', problem: 'It has the wrong type.', fix: 'Make it a string.' },
  ]);
});
