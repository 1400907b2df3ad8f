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
import { begin, someone, whoIs } from './support/people.js';

const key = (length: number): { value: Uint8Array } => ({ value: new Uint8Array(randomBytes(length)) });

/** A site whose sequencer says OK to everything until it begins to lie. */
async function startLiedTo() {
  const sequencer = await faultSequencer(ok());
  const site = await startSite({
    sequencerUrl: sequencer.url,
    timeoutMs: 1_000,
    payment: () => ({ amount: '4.50', currency: 'usd' }),
  });
  return { ...site, sequencer };
}

/** Answers one operation so, and every other with an OK. */
const lie =
  (method: string, answer: Answer): Answer =>
  (call, res, req) =>
    (call.operation.method === method ? answer : ok())(call, res, req);

const getUserId = 'getLoginForThirdPartyApp';
const userAnswer = (answer: Parameters<typeof encode<v1.GetLoginForThirdPartyAppResponse.$Properties>>[1]): Answer =>
  ok(encode(v1.GetLoginForThirdPartyAppResponse, answer));

// Enumerations are open on the wire, and closed in the types.
const unknownResult = 99 as v1.GetLoginForThirdPartyAppResponse.Result;

/** Fields that nobody knows, nested as deeply as it takes to overflow a stack that follows them. */
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

/** What no sequencer that keeps to the interface says to anything. */
const nonsense: [name: string, answer: Answer][] = [
  ['oversize, in one piece', bytes(encodeOkResponse(oversize))],
  [
    'oversize, without a length and without an end',
    (_call, res) => {
      res.writeHead(200);
      res.write(encodeOkResponse(oversize));
    },
  ],
  ['deep nesting of groups', ok(nestedGroups)],
  ['deep nesting of groups that never close', ok(nestedGroups.subarray(0, 50_000))],
  ['deep nesting in the envelope itself', bytes(nestedGroups)],
  ['a length of four gigabytes', ok(Uint8Array.of(0x12, 0xff, 0xff, 0xff, 0xff, 0x0f, 0x01))],
  ['a length below nothing', ok(Uint8Array.of(0x12, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01))],
  ['a number that does not end', ok(new Uint8Array(64).fill(0xff))],
];

describe('lying sequencer', () => {
  let site: Awaited<ReturnType<typeof startLiedTo>>;
  let sequencer: FaultSequencer;
  beforeEach(async () => {
    site = await startLiedTo();
    sequencer = site.sequencer;
  });

  test.each<[string, Answer]>([
    ...[0, 1, 31, 33, 64, 4_096].map((length): [string, Answer] => [
      `a user id of ${length} bytes`,
      userAnswer({ userId: key(length) }),
    ]),
    ['no user id at all', userAnswer({})],
    ['nothing', ok()],
    ['a user id beside a refusal', userAnswer({ result: 1, userId: key(32) })],
    ['a user id beside "not yet"', userAnswer({ result: 3, userId: key(32) })],
    ['a user id beside a result that nobody knows', userAnswer({ result: unknownResult, userId: key(32) })],
    // Of a field that has no such thing in it: skipped, and not followed.
    ['deep nesting of messages', ok(nestedMessages)],
    ...nonsense,
  ])('%s logs nobody in', async (_what, answer) => {
    const browser = someone(site);
    const { id } = await begin(browser);
    sequencer.answerWith(lie(getUserId, answer));
    const refused = await browser.send('POST', '/session', { id });
    expect([404, 400, 409, 502]).toContain(refused.status);
    expect(refused.headers.getSetCookie()).toEqual([]);
    expect(await whoIs(browser)).toBeNull();
    // And the lie is no end of it: once the truth is told the login goes through.
    sequencer.answerWith(lie(getUserId, userAnswer({ userId: key(32) })));
    expect((await browser.send('POST', '/session', { id })).status).toBe(200);
  });

  test.each(nonsense)('%s creates nothing, and no secret leaves', async (_what, answer) => {
    sequencer.answerWith(lie('createIntent', answer));
    const post = (body: object) => request(site.origin).post('/intent').set('Sec-Fetch-Site', 'same-origin').send(body);
    for (const body of [{ order: 1 }, { mode: 'login' }]) {
      const refused = await post(body);
      expect([refused.status, refused.body.code]).toEqual([502, 'sequencer_bad_response']);
      expect(refused.text).not.toContain('client_secret');
    }
    sequencer.answerWith(ok());
    await post({ order: 1 }).expect(201);
  });

  test.each(nonsense)('%s is no status', async (_what, answer) => {
    sequencer.answerWith(lie('getStatus', answer));
    const { id } = await begin(someone(site), { order: 1 });
    const refused = await request(site.origin).get(`/status/${id}`);
    expect([refused.status, refused.body.code]).toEqual([502, 'sequencer_bad_response']);
  });

  test.each([
    ['nothing', ''],
    ['a status that does not exist', '0800'],
    ['a result without a name', '0802'],
    ['flags that are none', '080510001800'],
    ['a status with something in it that nobody knows', '0801200a'],
    ['another message', '0a020801'],
  ])('an OK around %s creates nothing, and no secret leaves', async (_what, hex) => {
    sequencer.answerWith(lie('createIntent', ok(Buffer.from(hex, 'hex'))));
    for (const body of [{ order: 1 }, { mode: 'login' }]) {
      const refused = await someone(site).send('POST', '/intent', body);
      expect([refused.status, refused.body.code]).toEqual([502, 'sequencer_bad_response']);
      expect(JSON.stringify(refused.body)).not.toContain('client_secret');
    }
    expect(sequencer.calls.map(({ method }) => method)).toEqual([
      ...['createIntent', 'getStatus', 'createIntent', 'getStatus'],
    ]);
  });

  test('submitted, said for another id, by a wallet, or against its own status: no page is told that it is paid', async () => {
    const streams = await startStreamFaultServer(
      accepting((socket) => {
        for (const message of lies) socket.send(message);
      }),
    );
    const calls = createHttpTransport({ url: sequencer.url, timeoutMs: 1_000 });
    const opened = createHttpTransport({ url: streams.url, timeoutMs: 1_000 });
    const lied = await startSite({
      transport: { ...calls, ...(opened.openStream && { openStream: opened.openStream }) },
      payment: () => ({ amount: 1, currency: 'usd' }),
    });
    sequencer.answerWith(lie('getStatus', ok(encode(v1.GetStatusResponse, { exists: true }))));
    const { id } = await begin(someone(lied), { order: 1 });
    const lies = [
      message({ intentSubmitted: { intentId: key(32) } }),
      message({ intentSubmitted: { intentId: key(0) } }),
      message({ intentSubmitted: {}, sendMessageRequestSignature: key(64) }),
      message({ intentSubmitted: { intentId: { value: parseIntentId(id) } } }),
      message({ intentSubmitted: {} }),
      message({ codeScanned: {} }),
    ];
    const stream = new RawStream(lied.origin, `/intent/${id}/events`);
    // The last of them is a hint like any other, so by then all were read.
    await stream.has('event: code_scanned');
    expect(stream.text).not.toContain('event: intent_submitted');
    expect(stream.text).not.toContain('"intent_submitted":true');
    await opened.close();
    await streams.close();
  });
});

const message = (what: v1.Message.$Properties): Uint8Array =>
  encodeOkResponse(encode(v1.OpenMessageStreamResponse, { messages: [{ id: key(16), ...what }] }));
