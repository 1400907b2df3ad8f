import { eventually } from '../../support/eventually.js';
import { faultSequencer, ok } from '../../support/sequencers/fault-sequencer.js';
import { type SiteOptions, startSite } from '../../support/sites/site.js';

const price = { amount: 5, currency: 'usd' };

/** A site whose calls the test holds for any time. */
async function start(options: SiteOptions) {
  let closed = 0;
  const before: SiteOptions['before'] = (app) =>
    app.use((_req, res, next) => {
      // Before the router sees the event.
      res.on('close', () => {
        closed += 1;
      });
      next();
    });
  const patient = { sequencer: { timeoutMs: 1_600_000 } };
  const site = await startSite({ ...patient, payment: () => price, before }, options);
  /** Sends `POST /intent`, and disconnects when this holds. */
  const sendUntil = async (isReady: () => boolean): Promise<void> => {
    const controller = new AbortController();
    const headers = { 'content-type': 'application/json', origin: site.origin };
    const request = { method: 'POST', headers, body: '{}', signal: controller.signal };
    const ended = fetch(`${site.origin}/intent`, request).catch((error) => error);
    await eventually(isReady);
    controller.abort();
    await ended;
    await eventually('the site has seen the disconnect', () => closed === 1);
  };
  return { ...site, sendUntil };
}

describe('POST /intent', () => {
  test('sends nothing when the browser disconnects during the payment hook', async () => {
    const sequencer = await faultSequencer(ok());
    let endHook: ((terms: typeof price) => void) | undefined;
    const created: unknown[] = [];
    const { router, log, sendUntil } = await start({
      sequencer: { url: sequencer.url },
      payment: () =>
        new Promise<typeof price>((resolve) => {
          endHook = resolve;
        }),
      onCreated: (intent) => void created.push(intent),
    });
    await sendUntil(() => endHook !== undefined);
    endHook?.(price);
    await router.close();
    expect([sequencer.calls, created, log.lines]).toEqual([[], [], []]);
  });

  test('completes a create that is already sent, and calls onCreated', async () => {
    let answer = (): void => undefined;
    const sequencer = await faultSequencer((call, res, req) => {
      answer = () => ok()(call, res, req);
    });
    const created: unknown[] = [];
    const onCreated = (intent: unknown) => void created.push(intent);
    const { log, sendUntil } = await start({ sequencer: { url: sequencer.url }, onCreated });
    await sendUntil(() => sequencer.calls.length === 1);
    expect(sequencer.openConnections).toBe(1);
    answer();
    await eventually(() => created.length === 1);
    expect(log.lines).toEqual([]);
  });

  test('does not retry after the browser disconnects', async () => {
    let closeConnection = (): void => undefined;
    const sequencer = await faultSequencer((_call, _res, req) => {
      closeConnection = () => req.socket.destroy();
    });
    const { router, sendUntil } = await start({ sequencer: { url: sequencer.url } });
    await sendUntil(() => sequencer.calls.length === 1);
    closeConnection();
    // Waits for the request, and for the retry if there were one.
    await router.close();
    expect(sequencer.calls).toHaveLength(1);
  });
});
