import { randomBytes } from 'node:crypto';
import request from 'supertest';
import { parseIntentId } from '../../src/keys/base58.js';
import { createHttpTransport } from '../../src/sequencer/http/http-transport.js';
import { encode, v1 } from '../../src/wire/codec.js';
import { encodeOkResponse } from '../../src/wire/envelope.js';
import { type Answer, bytes, type FaultSequencer, faultSequencer, ok } from '../support/sequencers/fault-sequencer.js';
import { accepting, startStreamFaultServer } from '../support/sequencers/stream-fault-server.js';
import { RawStream } from '../support/sites/raw-stream.js';
import { startSite } from '../support/sites/site.js';
import { createIntent, currentUserId, newBrowser } from './support/browsers.js';

const key = (length: number): { value: Uint8Array } => ({ value: new Uint8Array(randomBytes(length)) });

/** A site whose sequencer answers OK to everything, until a test changes its answers. */
async function startSiteWithFaultSequencer({ timeoutMs = 60_000 } = {}) {
  const sequencer = await faultSequencer(ok());
  const site = await startSite({
    sequencer: { url: sequencer.url, timeoutMs },
    payment: () => ({ amount: '4.50', currency: 'usd' }),
  });
  return { ...site, sequencer };
}

/** Answers one operation with this, and the others with OK. */
const on =
  (method: string, answer: Answer): Answer =>
  (call, res, req) =>
    (call.operation.method === method ? answer : ok())(call, res, req);

const getUserId = 'getLoginForThirdPartyApp';
const userAnswer = (answer: Parameters<typeof encode<v1.GetLoginForThirdPartyAppResponse.$Properties>>[1]): Answer =>
  ok(encode(v1.GetLoginForThirdPartyAppResponse, answer));

// Enumerations are open on the wire, and closed in the types.
const unknownResult = 99 as v1.GetLoginForThirdPartyAppResponse.Result;

/** Unknown fields, nested deeply enough to overflow the stack of a recursive decoder. */
const nestedGroups = Buffer.concat([Buffer.alloc(30_000, 0x7b), Buffer.alloc(30_000, 0x7c)]);
const nestedMessages = ((): Buffer => {
  let inner = Buffer.alloc(0);
  for (let depth = 0; depth < 6_000; depth += 1) {
    const length = Buffer.from(varint(inner.length));
    inner = Buffer.concat([Buffer.of(0x0a), length, inner]);
  }
  return inner;
})();

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...varint(value >>> 7)];
}

const oversize = Buffer.alloc(70 * 1024, 0x0a);

/** Responses that violate the interface for every operation. */
const nonsense: [name: string, answer: Answer][] = [
  ['an oversized response', bytes(encodeOkResponse(oversize))],
  [
    'an oversized response without a length and an end',
    (_call, res) => {
      res.writeHead(200);
      res.write(encodeOkResponse(oversize));
    },
  ],
  ['deep nesting of groups', ok(nestedGroups)],
  ['deep nesting in the envelope', bytes(nestedGroups)],
  ['a length of four gigabytes', ok(Uint8Array.of(0x12, 0xff, 0xff, 0xff, 0xff, 0x0f, 0x01))],
  ['an endless number', ok(new Uint8Array(64).fill(0xff))],
];

describe('lying sequencer', () => {
  let site: Awaited<ReturnType<typeof startSiteWithFaultSequencer>>;
  let sequencer: FaultSequencer;
  beforeEach(async () => {
    site = await startSiteWithFaultSequencer();
    sequencer = site.sequencer;
  });

  test.each<[string, Answer]>([
    ...[0, 1, 31, 33, 64, 4_096].map((length): [string, Answer] => [
      `a user id of ${length} bytes`,
      userAnswer({ userId: key(length) }),
    ]),
    ['no user id', userAnswer({})],
    ['an empty message', ok()],
    ['a user id with a refusal', userAnswer({ result: 1, userId: key(32) })],
    ['a user id with an unknown result', userAnswer({ result: unknownResult, userId: key(32) })],
    // The field has another type: the decoder skips it.
    ['deep nesting of messages', ok(nestedMessages)],
    ...nonsense,
  ])('starts no session with %s', async (_name, answer) => {
    const browser = newBrowser(site);
    const { id } = await createIntent(browser);
    sequencer.answerWith(on(getUserId, answer));
    const rejected = await browser.send('POST', '/session', { id });
    expect([404, 400, 409, 502]).toContain(rejected.status);
    expect(rejected.headers.getSetCookie()).toEqual([]);
    expect(await currentUserId(browser)).toBeNull();
    // A correct response then completes the login.
    sequencer.answerWith(on(getUserId, userAnswer({ userId: key(32) })));
    expect((await browser.send('POST', '/session', { id })).status).toBe(200);
  });

  test.each(nonsense)('creates nothing with %s, and no secret leaves the server', async (_name, answer) => {
    sequencer.answerWith(on('createIntent', answer));
    const post = (body: object) => request(site.origin).post('/intent').set('Sec-Fetch-Site', 'same-origin').send(body);
    for (const body of [{ order: 1 }, { mode: 'login' }]) {
      const rejected = await post(body);
      expect([rejected.status, rejected.body.code]).toEqual([502, 'sequencer_bad_response']);
      expect(rejected.text).not.toContain('client_secret');
    }
    sequencer.answerWith(ok());
    await post({ order: 1 }).expect(201);
  });

  test.each(nonsense)('reports no status with %s', async (_name, answer) => {
    sequencer.answerWith(on('getStatus', answer));
    const { id } = await createIntent(newBrowser(site), { order: 1 });
    const rejected = await request(site.origin).get(`/status/${id}`);
    expect([rejected.status, rejected.body.code]).toEqual([502, 'sequencer_bad_response']);
  });

  test.each([
    ['an empty message', ''],
    ['exists: false', '0800'],
    ['a result without a name', '0802'],
    ['another message', '0a020801'],
  ])('creates nothing with an OK around %s, and no secret leaves the server', async (_name, hex) => {
    // The status is requested until this timeout. On a slow machine it may not be answered before.
    const impatient = await startSiteWithFaultSequencer({ timeoutMs: 1_000 });
    impatient.sequencer.answerWith(on('createIntent', ok(Buffer.from(hex, 'hex'))));
    for (const body of [{ order: 1 }, { mode: 'login' }]) {
      const rejected = await newBrowser(impatient).send('POST', '/intent', body);
      expect(['sequencer_bad_response', 'sequencer_timeout']).toContain(rejected.body.code);
      expect(JSON.stringify(rejected.body)).not.toContain('client_secret');
    }
  });

  test('does not make a page report a payment as submitted by a message for another id, of a wallet, or against its status', async () => {
    const streams = await startStreamFaultServer(
      accepting((socket) => {
        for (const message of messages) socket.send(message);
      }),
    );
    const calls = createHttpTransport({ url: sequencer.url, timeoutMs: 60_000 });
    const opened = createHttpTransport({ url: streams.url, timeoutMs: 60_000 });
    const lyingSite = await startSite({
      sequencer: { transport: { ...calls, ...(opened.openStream && { openStream: opened.openStream }) } },
      payment: () => ({ amount: 1, currency: 'usd' }),
    });
    sequencer.answerWith(on('getStatus', ok(encode(v1.GetStatusResponse, { exists: true }))));
    const { id } = await createIntent(newBrowser(lyingSite), { order: 1 });
    const messages = [
      message({ intentSubmitted: { intentId: key(32) } }),
      message({ intentSubmitted: { intentId: key(0) } }),
      message({ intentSubmitted: {}, sendMessageRequestSignature: key(64) }),
      message({ intentSubmitted: { intentId: { value: parseIntentId(id) } } }),
      message({ intentSubmitted: {} }),
      message({ codeScanned: {} }),
    ];
    const stream = new RawStream(lyingSite.origin, `/intent/${id}/events`);
    // The last message is shown, so all were read by then.
    await stream.has('event: code_scanned');
    expect(stream.text).not.toContain('event: intent_submitted');
    expect(stream.text).not.toContain('"intent_submitted":true');
    await opened.close();
    await streams.close();
  });
});

const message = (content: v1.Message.$Properties): Uint8Array =>
  encodeOkResponse(encode(v1.OpenMessageStreamResponse, { messages: [{ id: key(16), ...content }] }));
