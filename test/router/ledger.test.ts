import type { PaymentHooks } from '../../src/index.js';
import { Browser } from '../support/browser/browser.js';
import { kinds, newDatabaseUrl } from '../support/databases/databases.js';
import { eventually } from '../support/eventually.js';
import { temporaryFolder } from '../support/runner/temporary-folder.js';
import { intentIdOf } from '../support/sites/intent-id.js';
import { startLedgerSite, untilState } from '../support/sites/ledger-site.js';
import { type SiteOptions, startSite } from '../support/sites/site.js';
import { countingTransport } from '../support/transports/counting-transport.js';

const start = (options: SiteOptions) => startSite({ sequencer: { transport: countingTransport() } }, options);

describe('a router without a ledger', () => {
  test('rejects every call to the ledger with the fix', async () => {
    const { router } = await start({});
    const { intents, database } = router;
    const calls = [
      intents.find('x'),
      intents.list(),
      intents.history('x'),
      intents.retry('x'),
      database.query('select'),
    ];
    for (const call of calls) {
      await expect(call).rejects.toMatchObject({
        code: 'invalid_configuration',
        message: expect.stringContaining('INTENT_DATABASE_URL=postgres://'),
      });
    }
    expect(await router.ready()).toBeUndefined();
  });
});

describe('router.ready()', () => {
  test('rejects when the ledger cannot be opened', async () => {
    const databaseUrl = `postgres:///shop?host=${temporaryFolder()}`;
    const { router, log } = await start({ ledger: { url: databaseUrl } });
    await expect(router.ready()).rejects.toMatchObject({ code: 'ledger_unavailable' });
    expect(log.text).toMatch(/error express-intents: the ledger cannot be opened/);
    await router.close();
  });

  test('rejects when another process has the folder of the ledger', async () => {
    const databaseUrl = await newDatabaseUrl('embedded');
    const first = await start({ ledger: { url: databaseUrl } });
    await first.router.ready();
    const second = await start({ ledger: { url: databaseUrl } });
    await expect(second.router.ready()).rejects.toMatchObject({ code: 'ledger_locked' });
    await second.router.close();
    await first.router.close();
    const third = await start({ ledger: { url: databaseUrl } });
    expect(await third.router.ready()).toBeUndefined();
  });
});

describe.each(kinds)('router.close(), with a ledger in %s', (kind) => {
  test('waits for running hooks and starts no other', async () => {
    const databaseUrl = await newDatabaseUrl(kind);
    let calls = 0;
    let release: () => void = () => undefined;
    const onPaid: PaymentHooks['onPaid'] = () => {
      calls += 1;
      return new Promise<void>((resolve) => {
        release = resolve;
      });
    };
    const site = await startLedgerSite({ ledger: { url: databaseUrl }, onPaid, timing: { watchFirstMs: 3_600_000 } });
    const browser = new Browser(site.origin);
    const buy = async () => {
      const { body } = await browser.send('POST', '/intent', {});
      await site.simulator.wallet().pay(String(body.client_secret));
      return intentIdOf(String(body.client_secret));
    };
    const [paid, alsoPaid] = [await buy(), await buy()];
    await browser.send('GET', `/status/${paid}`);
    // An embedded ledger answers no other call during the transaction of the hook.
    await eventually('the hook runs', () => calls > 0);
    const closed = site.router.close();
    setTimeout(release, 50);
    await closed;
    expect((await browser.send('GET', `/status/${alsoPaid}`)).status).toBeGreaterThanOrEqual(500);
    await expect(site.router.intents.find(paid)).rejects.toMatchObject({ code: 'ledger_unavailable' });

    const reopened = await startLedgerSite({
      ledger: { url: databaseUrl },
      runningSimulator: site.simulator,
      timing: { watchFirstMs: 3_600_000 },
    });
    expect(await reopened.router.intents.find(paid)).toMatchObject({ state: 'settled' });
    expect(await reopened.router.intents.find(alsoPaid)).toMatchObject({ state: 'created' });
    expect(calls).toBe(1);
  });
});

test('errors of the ledger are logged by the logger of the router', async () => {
  const site = await startLedgerSite({
    ledger: { url: await newDatabaseUrl('postgres'), hookLimits: { maxAttempts: 1 } },
    onPaid: () => {
      throw new Error('the printer is on fire');
    },
  });
  const browser = new Browser(site.origin);
  const { body } = await browser.send('POST', '/intent', {});
  const id = intentIdOf(String(body.client_secret));
  await site.simulator.wallet().pay(String(body.client_secret));
  await browser.send('GET', `/status/${id}`);
  expect(await untilState(site, id, 'dead')).toMatchObject({ deadLetterHook: 'onPaid' });
  const line = new RegExp(`error express-intents: payment ${id} is a dead letter.*on fire`);
  // Logged after the commit.
  await eventually(() => expect(site.log.text).toMatch(line));
  expect(site.log.text).not.toContain(body.client_secret);
  expect(Object.keys(site.router.intents)).toEqual(['find', 'list', 'history', 'retry', 'prune', 'recheck']);
  expect(await site.router.intents.retry(id)).toBe(true);
});
