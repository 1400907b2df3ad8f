import request from 'supertest';
import type { SignedIntent } from '../../../src/intents/signed-intent.js';
import { createIntentClient } from '../../../src/sequencer/intent-client.js';
import { Journal } from '../../../src/simulator/journal/journal.js';
import { eventually } from '../../support/eventually.js';
import { closeAll, create, created, destination, payment, reason, serve, start, startedAtMs } from '../fixture.js';

afterEach(closeAll);

type Json = Readonly<Record<string, unknown>>;

async function inspect(url: string, id: string): Promise<Json & { entries: Json[]; signatures: Json[] }> {
  return (await request(url).get(`/inspector/api/intents/${id}`).expect(200)).body;
}

async function list(url: string): Promise<Json[]> {
  return (await request(url).get('/inspector/api/intents').expect(200)).body.intents;
}

const kindsIn = (entries: Json[]): unknown[] => entries.map(({ kind, operation }) => operation ?? kind);

/** The intent with one changed byte in its signature. */
const forged = ({ message, signature }: SignedIntent): Pick<SignedIntent, 'message' | 'signature'> => ({
  message,
  signature: signature.map((byte, index) => (index === 0 ? byte ^ 1 : byte)),
});

describe('the details of an intent', () => {
  test('a payment: its entries in order, with decoded messages', async () => {
    const { url, wallet } = await start();
    const { id, clientSecret } = await created(url, payment());
    await wallet('Ben').pay(clientSecret);
    const intent = await inspect(url, id);
    expect(intent).toMatchObject({
      ...{ id, kind: 'payment', amount: '12.50', currency: 'usd', state: 'submitted', refusals: 0 },
      ...{ createdAtMs: startedAtMs, destination, payer: wallet('Ben').account, payerName: 'Ben', dropped: 0 },
      request: { request_to_receive_bill: { requestor_account: destination, rendezvous_key: id } },
    });
    expect(kindsIn(intent.entries)).toEqual([
      'Intents.createIntent',
      'Messaging.pollMessages',
      'Messaging.sendMessage',
      'Simulator.submitPayment',
    ]);
    const [creation, , hint, submission] = intent.entries;
    expect(creation).toMatchObject({
      ...{ kind: 'call', via: 'proxy', atMs: startedAtMs, times: 1, durationMs: expect.any(Number) },
      request: {
        size: expect.any(Number),
        content: { request_to_receive_bill: { partial: { currency: 'usd', native_amount: 12.5 } } },
      },
      response: { content: { exists: true, code_scanned: false, intent_submitted: false } },
    });
    // The time of the wallet's clock, as an ISO date.
    const at = new Date(startedAtMs).toISOString();
    expect(hint).toMatchObject({ request: { content: { message: { code_scanned: { timestamp: at } } } } });
    expect(submission).toMatchObject({ response: { size: 0, content: { result: 'OK' } } });
    expect(intent.signatures).toEqual([
      {
        ...{ signer: 'rendezvous', key: id, outcome: 'valid' },
        operations: ['Intents.createIntent', 'Messaging.pollMessages', 'Messaging.sendMessage'],
      },
      { signer: 'payer', key: wallet('Ben').account, outcome: 'valid', operations: ['Simulator.submitPayment'] },
    ]);
    expect(JSON.stringify(intent)).not.toContain(clientSecret);
  });

  test('an invalid signature: the signature is invalid, the intent refused', async () => {
    const { url } = await start();
    const intent = await payment();
    reason(await create(url, forged(intent)));
    expect(await list(url)).toMatchObject([
      { id: intent.id, kind: 'payment', amount: '12.5', currency: 'usd', state: 'refused', refusals: 1 },
    ]);
    const { signatures, entries } = await inspect(url, intent.id);
    expect(signatures).toMatchObject([{ signer: 'rendezvous', key: intent.id, outcome: 'invalid' }]);
    expect(entries).toMatchObject([{ refusal: { code: 'invalid_signature' } }]);
  });

  test('faults, reversals and webhooks', async () => {
    const site = await serve((_req, res) => res.writeHead(503).end());
    const simulator = await start();
    const { url, wallet, transport } = simulator;
    const { id, clientSecret } = await created(url, payment());
    await createIntentClient({ transport }).registerWebhook({ intent: id, url: `${site}/hook` });
    const endFault = simulator.injectFault({ kind: 'cut', operations: ['submitPayment'], when: 'after' });
    await expect(wallet().pay(clientSecret)).rejects.toThrow();
    endFault();
    simulator.reverse(id);
    await eventually(async () => expect(kindsIn((await inspect(url, id)).entries)).toContain('webhook'));
    const { entries, state, webhookUrl } = await inspect(url, id);
    expect([state, webhookUrl]).toEqual(['reversed', `${site}/hook`]);
    expect(kindsIn(entries)).toEqual([
      ...['Intents.createIntent', 'MicroPayment.registerWebhook', 'Messaging.pollMessages', 'Messaging.sendMessage'],
      ...['Simulator.submitPayment', 'Simulator.submitPayment', 'webhook', 'reversed'],
    ]);
    expect(entries[1]).toMatchObject({ via: 'in-process' });
    expect(entries[4]).toMatchObject({ kind: 'fault', fault: { kind: 'cut', when: 'after' } });
    expect(entries[6]).toMatchObject({ url: `${site}/hook`, status: 503, claims: { intent: id, state: 'SUBMITTED' } });
  });
});

describe('the page and its API', () => {
  test('the pages have no inline code and no other origins, and link to each other', async () => {
    const { url, inspectorUrl } = await start();
    expect(inspectorUrl).toBe(`${url}/inspector`);
    const pages = await Promise.all(['/inspector', '/wallet'].map((path) => request(url).get(path)));
    for (const { text, headers } of pages) {
      expect(headers['content-security-policy']).toBe(pages[1]?.headers['content-security-policy']);
      expect(text).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=/i);
      for (const path of ['/inspector', '/wallet']) expect(text).toContain(`<a href="${path}"`);
    }
    const files = [...(pages[0]?.text ?? '').matchAll(/(?:src|href)="(\/wallet\/page\/[^"]+)"/g)].map(
      ([, file]) => file,
    );
    const modules = ['intent-detail', 'timeline', 'format', 'dom', 'faults', 'api'].map(
      (name) => `/wallet/page/${name}.js`,
    );
    for (const file of [...files, ...modules]) {
      const { text } = await request(url).get(String(file)).expect(200);
      expect(text).not.toMatch(/innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|\.style\b/);
    }
  });

  test('accepts pages of its own origin and programs, a Host of this machine, and JSON only', async () => {
    const { url } = await start();
    const { id } = await created(url, payment());
    const gets = ['intents', `intents/${id}`, 'other', 'events'].map((path) => `/inspector/api/${path}`);
    for (const path of gets) {
      await request(url).get(path).set('origin', 'https://stranger.example').expect(403);
      await request(url).get(path).set('host', 'stranger.example').expect(403);
    }
    await request(url).get('/inspector').set('host', 'stranger.example').expect(403);
    const address = `/inspector/api/intents/${id}/reverse`;
    await request(url).post(address).set('origin', 'null').send({}).expect(403);
    await request(url).post(address).set('content-type', 'text/plain').send('{}').expect(415);
    const { body } = await request(url).get('/inspector/api/intents/nonsense').expect(404);
    expect(body.error.code).toBe('intent_not_found');
  });

  test('sends an event for each change, and ends with the sequencer', async () => {
    const simulator = await start();
    const stream = await fetch(`${simulator.url}/inspector/api/events`);
    expect(stream.headers.get('content-type')).toBe('text/event-stream');
    const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
    expect((await reader?.read())?.value).toContain('data: changed');
    await created(simulator.url, payment());
    expect((await reader?.read())?.value).toBe('data: changed\n\n');
    const ended = reader?.closed.catch(() => undefined);
    await simulator.close();
    await ended;
  });
});

describe('the journal is bounded', () => {
  const status = { service: 'MicroPayment', method: 'getStatus' };
  const bodyOf = (n: number): Uint8Array => Buffer.concat([Uint8Array.of(10, 34, 10, 32), new Uint8Array(32).fill(n)]);
  const note = (journal: Journal, n: number, answer: Uint8Array): void =>
    journal.startCall({ ...status, body: bodyOf(n) }, 'proxy')(answer);

  test('in intents: the oldest is dropped', () => {
    const journal = new Journal(
      () => 0,
      () => true,
      { timelines: 3 },
    );
    for (const n of [1, 2, 3, 4]) note(journal, n, new Uint8Array());
    expect(journal.timelines).toHaveLength(3);
    expect(journal.timeline(journal.idOf({ ...status, body: bodyOf(1) }))).toBeUndefined();
  });
});
