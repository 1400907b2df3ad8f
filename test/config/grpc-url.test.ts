import { parseConfig } from '../../src/config/config.js';
import type { ConfigOptions, Environment } from '../../src/config/config-options.js';
import type { ConfigProblem } from '../../src/errors.js';
import { createIntentClient } from '../../src/index.js';
import { startSequencer } from '../../src/testing.js';
import { Browser } from '../support/browser/browser.js';
import { problemsOf } from '../support/sites/problems-of.js';
import { startSite } from '../support/sites/site.js';

const grpcUrl = 'https://grpc.example';
const production = { NODE_ENV: 'production' };

function parse(url: string, env: Environment = {}, options: ConfigOptions = {}) {
  return parseConfig({ login: false, ...options }, { ...env, INTENT_SEQUENCER_GRPC_URL: url });
}

const problemsIn = (...args: Parameters<typeof parse>): readonly ConfigProblem[] => problemsOf(() => parse(...args));

it('grpcUrl is sufficient to call the service', () => {
  const { sequencer, notices } = parse(grpcUrl);
  expect(sequencer).toMatchObject({ url: '', grpcUrl });
  expect(notices).not.toContainEqual(expect.stringContaining('GRPC'));
});

it('the option grpcUrl overrides the variable, and disables it with an empty text', () => {
  expect(parse(grpcUrl, {}, { grpcUrl: 'https://b.example' }).sequencer.grpcUrl).toBe('https://b.example');
  const off = parse(grpcUrl, {}, { grpcUrl: '', sequencerUrl: 'https://proxy.example' });
  expect(off.sequencer).toMatchObject({ url: 'https://proxy.example', grpcUrl: undefined });
});

it('the URL of the proxy is validated as well if it is set', () => {
  expect(problemsIn(grpcUrl, {}, { sequencerUrl: 'nonsense' })).toMatchObject([{ setting: 'sequencerUrl' }]);
});

it.each<[string, Environment]>([
  ['https://grpc.example', production],
  ['https://grpc.example:8443/', production],
  ['http://localhost:4748', production],
  ['http://127.0.0.1:4748', production],
  ['http://[::1]:4748', production],
  ['http://grpc.example:4748', {}],
])('parseConfig accepts %s with %j', (url, env) => {
  expect(problemsIn(url, env)).toEqual([]);
});

const example = 'INTENT_SEQUENCER_GRPC_URL=<gRPC URL of your payment service>';
const noExtras = 'It must not contain a user name, a password, a path, a query or a fragment.';
const withTls = 'INTENT_SEQUENCER_GRPC_URL=https://';

it.each<[string, Environment, string, string]>([
  [
    'grpc.example:443',
    {},
    'It has no scheme. Use https:// for TLS, or http:// without TLS.',
    `${withTls}grpc.example:443`,
  ],
  ['grpc.example', {}, 'It has no scheme. Use https:// for TLS, or http:// without TLS.', `${withTls}grpc.example`],
  ['localhost:4748', {}, 'It has no scheme. Use https:// for TLS, or http:// without TLS.', `${withTls}localhost:4748`],
  ['grpc://grpc.example', {}, 'It is not an http(s) URL.', example],
  ['dns:///grpc.example:443', {}, 'It is not an http(s) URL.', example],
  ['https://', {}, 'It is not an http(s) URL.', example],
  ['https://me:pass@grpc.example', {}, noExtras, example],
  ['https://me@grpc.example', {}, noExtras, example],
  ['https://:pass@grpc.example', {}, noExtras, example],
  ['https://grpc.example/v1', {}, noExtras, example],
  ['https://grpc.example?a', {}, noExtras, example],
  [
    'http://grpc.example:4748',
    production,
    'It must be https when NODE_ENV=production, except for a proxy on the same machine.',
    example,
  ],
  ['http://localhost.example', production, expect.stringContaining('It must be https'), example],
])('parseConfig rejects %s with %j and its fix', (url, env, problem, fix) => {
  expect(problemsIn(url, env)).toEqual([{ setting: 'INTENT_SEQUENCER_GRPC_URL', problem, fix }]);
});

it.each<[string, ConfigOptions]>([
  ['embedded', {}],
  [grpcUrl, { sequencerUrl: 'embedded' }],
])('parseConfig rejects the embedded sequencer over gRPC: %s and %j', (url, options) => {
  expect(problemsIn(url, {}, options)).toEqual([
    {
      setting: 'INTENT_SEQUENCER_GRPC_URL',
      problem: 'The embedded sequencer that a router starts does not speak gRPC.',
      fix: expect.stringMatching(/^Unset it\. Or run .* --grpc-port/),
    },
  ]);
});

it.each(['grpc.example:443', '', 'ftp://grpc.example'])('createIntentClient rejects "%s" as grpcUrl', (url) => {
  expect(() => createIntentClient({ grpcUrl: url })).toThrow(
    expect.objectContaining({ code: 'invalid_configuration', message: expect.stringContaining('grpcUrl') }),
  );
});

it('a site over gRPC creates intents and answers their status (interface 4.2, 4.7)', async () => {
  const sequencer = await startSequencer({ grpcPort: 0 });
  const terms = { amount: '4.50', currency: 'usd' };
  const { origin, router } = await startSite({ grpcUrl: sequencer.grpcUrl, login: false, payment: () => terms });
  const browser = new Browser(origin);
  const { status, body } = await browser.send('POST', '/intent', {});
  expect(status).toBe(201);
  const { id } = await sequencer.wallet().pay(String(body.client_secret));
  expect((await browser.send('GET', `/status/${id}`)).body).toMatchObject({ intent_submitted: true });
  await router.close();
  await sequencer.close();
});
