import request from 'supertest';
import { errorCodes } from '../../src/errors.js';
import { faultSequencer } from '../support/sequencers/closing-fault-sequencer.js';
import { canary, faultTable, ok, urlOfNobody } from '../support/sequencers/fault-sequencer.js';
import { post } from '../support/sites/post.js';
import { startSite } from '../support/sites/site.js';

const id = '9g7uDNB441jNqo9exZuNq95A8CsbWRXQmoDo9DMopxZH';
const payment = () => ({ amount: 5, currency: 'usd' });

describe.each([
  ['a payment', (origin: string) => post(origin).send({ order: 1 }), 201],
  ['a login', (origin: string) => post(origin).send({ mode: 'login' }), 201],
  ['a status', (origin: string) => request(origin).get(`/status/${id}`), 200],
])('%s while the sequencer fails (interface 7)', (_name, send, success) => {
  test.each(faultTable)('%s', async (_fault, { answer, code }) => {
    const sequencer = await faultSequencer(answer);
    let nowMs = 0;
    const now = (): number => nowMs;
    const { origin, log } = await startSite({ sequencerUrl: sequencer.url, timeoutMs: 150, payment, now });
    const failed = await send(origin);
    const [status, title] = errorCodes[code];
    expect([failed.status, failed.headers['content-type']]).toEqual([status, 'application/problem+json']);
    const instance = `urn:express-intents:request:${failed.headers['x-request-id']}`;
    expect(failed.body).toEqual({ type: `urn:express-intents:error:${code}`, title, status, code, instance });
    expect([502, 503, 504]).toContain(status);
    expect(failed.text).not.toContain('client_secret');
    // Whoever asks for an intent again is the same browser; and that is all it has got.
    const cookies = success === 201 ? [expect.stringMatching(/^intent=[\w-]{43}; Path=/)] : undefined;
    expect(failed.headers['set-cookie']).toEqual(cookies);
    expect(log.text).toContain(code);
    // No second try but where the connection was cut, and above all none at the address of a redirect.
    const mostCalls = code === 'sequencer_unreachable' ? 3 : 1;
    expect(sequencer.calls.length).toBeGreaterThanOrEqual(1);
    expect(sequencer.calls.length).toBeLessThanOrEqual(mostCalls);

    sequencer.answerWith(ok());
    // That the status failed is remembered for 250 ms.
    nowMs += 250;
    await send(origin).expect(success);
  });

  test('nobody listens', async () => {
    const { origin } = await startSite({ sequencerUrl: await urlOfNobody(), timeoutMs: 150, payment });
    const failed = await send(origin).expect(503);
    expect(failed.body.code).toBe('sequencer_unreachable');
  });
});

test("the service's own text is in the log, on one line, and nowhere else", async () => {
  const sequencer = await faultSequencer((_call, res) => {
    const text = Buffer.from(`${canary}\nerror forged line`);
    res.end(Buffer.concat([Buffer.of(0x08, 0x01, 0x1a, text.length), text]));
  });
  const { origin, log } = await startSite({ sequencerUrl: sequencer.url, payment });
  const failed = await post(origin).send({ order: 1 }).expect(502);
  expect(failed.text).not.toContain('canary');
  expect(log.text).toContain('canary');
  expect(log.lines).toHaveLength(1);
});
