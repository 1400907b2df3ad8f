import type { Express, Response } from 'express';
import { Browser } from '../../support/browser/browser.js';
import { eventually } from '../../support/eventually.js';
import { faultSequencer, ok } from '../../support/sequencers/fault-sequencer.js';
import { intentIdOf } from '../../support/sites/intent-id.js';
import { startSite } from '../../support/sites/site.js';

const payment = () => ({ amount: 5, currency: 'usd' });
/** The test holds a call for any time. */
const patient = { timeoutMs: 600_000, attemptTimeoutMs: 600_000 };

/** Sends a request. `disconnect` aborts it. */
function send(
  origin: string,
  path: string,
  body: unknown,
  cookie = '',
): { disconnect(): void; ended: Promise<unknown> } {
  const controller = new AbortController();
  const ended = fetch(origin + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin, cookie },
    body: JSON.stringify(body),
    signal: controller.signal,
  }).catch((error) => error);
  return { disconnect: () => controller.abort(), ended };
}

describe('POST /session', () => {
  test('completes no login after the browser disconnects, and does not abort the running call', async () => {
    const sequencer = await faultSequencer(ok());
    const responses: Response[] = [];
    const { origin, log } = await startSite({
      ...patient,
      sequencerUrl: sequencer.url,
      before: (app) =>
        app.use((_req, res, next) => {
          responses.push(res);
          next();
        }),
    });
    const browser = new Browser(origin);
    const created = await browser.send('POST', '/intent', { mode: 'login' });
    const id = intentIdOf(String(created.body.client_secret));
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const user = ok(Uint8Array.of(0x12, 0x22, 0x0a, 0x20, ...new Array<number>(32).fill(0)));
    let answer = (): void => undefined;
    sequencer.answerWith((call, res, req) => {
      answer = () => user(call, res, req);
    });
    const { disconnect, ended } = send(origin, '/session', { id }, cookie);
    await eventually(() => sequencer.calls.length === 2);
    disconnect();
    await ended;
    await eventually(() => responses.at(-1)?.closed === true);
    answer();
    expect(sequencer.openConnections).toBe(1);

    // The login can still be completed.
    sequencer.answerWith(user);
    expect(await browser.send('POST', '/session', { id })).toMatchObject({ status: 200 });
    expect(log.lines).toEqual([]);
  });
});

describe('POST /intent', () => {
  test('sends nothing when the browser disconnects during the payment hook', async () => {
    const sequencer = await faultSequencer(ok());
    const { promise: price, resolve: resolvePrice } = deferred<ReturnType<typeof payment>>();
    let isHookRunning = false;
    const created: unknown[] = [];
    const disconnects = countDisconnects();
    const { origin, router, log } = await startSite({
      ...patient,
      sequencerUrl: sequencer.url,
      payment: () => {
        isHookRunning = true;
        return price;
      },
      onCreated: (intent) => void created.push(intent),
      before: disconnects.before,
    });
    const { disconnect, ended } = send(origin, '/intent', {});
    await eventually(() => isHookRunning);
    disconnect();
    await ended;
    await eventually(() => disconnects.count === 1);
    resolvePrice(payment());
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
    const disconnects = countDisconnects();
    const { origin, log } = await startSite({
      ...patient,
      sequencerUrl: sequencer.url,
      payment,
      onCreated,
      before: disconnects.before,
    });
    const { disconnect, ended } = send(origin, '/intent', {});
    await eventually(() => sequencer.calls.length === 1);
    disconnect();
    await ended;
    await eventually(() => disconnects.count === 1);
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
    const disconnects = countDisconnects();
    const { origin, router } = await startSite({
      ...patient,
      sequencerUrl: sequencer.url,
      payment,
      before: disconnects.before,
    });
    const { disconnect, ended } = send(origin, '/intent', {});
    await eventually(() => sequencer.calls.length === 1);
    disconnect();
    await ended;
    await eventually(() => disconnects.count === 1);
    closeConnection();
    // Waits for the request, and for the retry if there were one.
    await router.close();
    expect(sequencer.calls).toHaveLength(1);
  });
});

/** Counts the closed responses, before the router sees the event. */
function countDisconnects() {
  const disconnects = {
    count: 0,
    before: (app: Express): void =>
      void app.use((_req, res, next) => {
        res.on('close', () => {
          disconnects.count += 1;
        });
        next();
      }),
  };
  return disconnects;
}

function deferred<Value>(): { promise: Promise<Value>; resolve: (value: Value) => void } {
  let resolve!: (value: Value) => void;
  const promise = new Promise<Value>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
