import { requirePayment } from '../../../src/http/paywall/require-payment.js';
import { Browser } from '../../support/browser/browser.js';
import { kinds, newDatabaseUrl } from '../../support/databases/databases.js';
import { intentIdOf } from '../../support/sites/intent-id.js';
import { startLedgerSite, untilState } from '../../support/sites/ledger-site.js';

test.each(kinds)(
  'requirePayment does not wait for a payment that is due only after settleDelayMs, with a ledger in %s',
  async (kind) => {
    const site = await startLedgerSite({
      databaseUrl: await newDatabaseUrl(kind),
      settleDelayMs: 3_600_000,
      payment: () => ({ amount: 1, currency: 'usd', resource: 'article:tea' }),
      onPaid: () => undefined,
      after: (app) => {
        const guard = requirePayment(() => ({ resource: 'article:tea' }));
        app.get('/article', guard, (_req, res) => void res.json({}));
      },
    });
    const browser = new Browser(site.origin);
    const secret = String((await browser.send('POST', '/intent', { mode: 'payment' })).body.client_secret);
    await site.sequencer.wallet().pay(secret);
    await browser.send('GET', `/status/${intentIdOf(secret)}`);
    await untilState(site, intentIdOf(secret), 'submitted');
    expect((await browser.send('GET', '/article')).status).not.toBe(200);
    // Before the recheck of the payment, and after it. A wait would search several times a second.
    expect(site.faults.firstOf('paymentsFor')).toHaveLength(2);
  },
);
