import { intentRouter } from '../../src/router/intent-router.js';
import type { IntentRouterOptions } from '../../src/router/options.js';
import { destination, LogRecorder, verifierSecret } from '../support/sites/site.js';

const site = { login: { verifierSecret, domain: 'shop.example' }, sequencer: { url: 'https://sequencer.example' } };
const walletUrl = 'https://wallet.example/open';
const payment = (): { amount: string; currency: string } => ({ amount: '1.00', currency: 'usd' });

async function warningsOf(options: IntentRouterOptions): Promise<string> {
  const log = new LogRecorder();
  const router = intentRouter({ ...site, ...options, logger: log });
  await router.close();
  return log.text;
}

describe('intentRouter() at startup', () => {
  const environment = process.env.INTENT_DESTINATION;
  afterEach(() => {
    if (environment === undefined) delete process.env.INTENT_DESTINATION;
    else process.env.INTENT_DESTINATION = environment;
  });

  test('logs nothing for a complete configuration', async () => {
    expect(await warningsOf({ button: { walletUrl }, payment, destination })).toBe('');
    expect(await warningsOf({ button: { walletUrl } })).toBe('');
  });

  test('logs INTENT_DESTINATION without a `payment` hook with both fixes', async () => {
    process.env.INTENT_DESTINATION = destination;
    const text = await warningsOf({ button: { walletUrl } });
    expect(text).toMatch(/^warn express-intents: A destination is set, but without `payment` or `clientAmount`/);
    expect(text).toMatch(/intentRouter\(\{ payment: .* pass the destination only to router\.createPayment\./);
    const clientAmount = { min: 1, max: 9, currency: 'usd' };
    expect(await warningsOf({ button: { walletUrl }, clientAmount })).toBe('');
  });

  test('logs a missing wallet URL with its fix, unless elements.js is not served', async () => {
    expect(await warningsOf({})).toMatch(
      /INTENT_WALLET_URL is not set\. .*Ignore this if every button has `wallet-url`/,
    );
    expect(await warningsOf({ routes: { elements: false } })).toBe('');
  });

  test('uses the wallet and the account of the simulator', async () => {
    expect(
      await warningsOf({ sequencer: { url: 'simulator' }, simulator: { port: 0, stateFile: 'memory' } }),
    ).not.toMatch(/INTENT_WALLET_URL|INTENT_DESTINATION/);
  });
});
