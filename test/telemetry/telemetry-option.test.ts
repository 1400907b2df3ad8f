import { intentRouter } from '../../src/router/intent-router.js';
import type { IntentRouterOptions } from '../../src/router/options.js';
import { problemsOf } from '../support/sites/problems-of.js';
import { destination, domain, verifierSecret } from '../support/sites/site.js';
import { countingTransport } from '../support/transports/counting-transport.js';

const options = { login: { verifierSecret, domain }, destination, sequencer: { transport: countingTransport() } };
const problemsWith = (more: object) => problemsOf(() => intentRouter({ ...options, ...more } as IntentRouterOptions));

test.each<[string, object]>([
  ['a provider of another kind', { tracerProvider: { getMeter: () => ({}) } }],
  ['no provider', { meterProvider: null }],
  ['an unknown name', { tracesProvider: {} }],
])('telemetry rejects %s and names the fix', (_what, telemetry) => {
  expect(problemsWith({ telemetry })).toEqual([
    {
      setting: 'telemetry',
      problem: 'It must be a boolean, or an object with OpenTelemetry providers.',
      fix: 'telemetry: true, or telemetry: { tracerProvider, meterProvider } of OpenTelemetry',
    },
  ]);
});
