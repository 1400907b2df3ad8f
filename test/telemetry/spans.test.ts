import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';
import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { Browser } from '../support/browser/browser.js';
import { newDatabaseUrl } from '../support/databases/databases.js';
import { grpcMessage, respond, startGrpcFaultServer } from '../support/sequencers/grpc-fault-server.js';
import { intentIdOf } from '../support/sites/intent-id.js';
import { startLedgerSite, untilState } from '../support/sites/ledger-site.js';
import { TestTelemetry, unregister } from '../support/sites/open-telemetry.js';
import { type SiteOptions, startSite, startSiteWithSimulator } from '../support/sites/site.js';

const telemetry = new TestTelemetry().register();
const app = trace.getTracer('the app');
const hourMs = 3_600_000;
/** Timeouts that no test reaches: a retry would be one more attempt. */
const ample = { sequencer: { timeoutMs: 160_000 } };

/** A span around each request, as the HTTP instrumentation creates it, with baggage of the app. */
const traceHttp: NonNullable<SiteOptions['before']> = (express) =>
  express.use((_req, res, next) => {
    const baggage = propagation.createBaggage({ customer: { value: 'hunter2' } });
    const parent = propagation.setBaggage(context.active(), baggage);
    const span = app.startSpan('HTTP', {}, parent);
    res.once('close', () => span.end());
    context.with(trace.setSpan(parent, span), next);
  });

beforeEach(() => telemetry.reset());
afterEach(() => telemetry.lookForSecrets());
afterAll(unregister);

/** The headers that the simulator received. */
const received: IncomingMessage['headers'][] = [];
const note = (message: unknown): void => {
  const { request } = message as { request: IncomingMessage };
  if (request.url === '/v1/api') received.push(request.headers);
};
beforeAll(() => subscribe('http.server.request.start', note));
afterAll(() => unsubscribe('http.server.request.start', note));
beforeEach(() => received.splice(0));

const parentOf = ({ parentSpanContext }: ReadableSpan) => parentSpanContext?.spanId;
const idOf = (span: ReadableSpan) => span.spanContext().spanId;
const traceOf = (span: ReadableSpan) => span.spanContext().traceId;
/** The content of all spans. */
const spanTexts = () => JSON.stringify(telemetry.spans.map(({ attributes, events }) => [attributes, events]));

describe('a payment', () => {
  test('has spans for calls under that of the request, for the trace at the sequencer, and for hooks', async () => {
    const site = await startLedgerSite(ample, {
      ledger: { url: await newDatabaseUrl('postgres') }, // Over HTTP, not in memory.
      sequencer: { transport: undefined },
      onPaid: () => undefined,
      timing: { watchFirstMs: hourMs, reversalFirstMs: hourMs },
      before: traceHttp,
    });
    const browser = new Browser(site.origin);
    const { body } = await browser.send('POST', '/intent', { mode: 'payment' });
    const secret = String(body.client_secret);
    const id = intentIdOf(secret);

    const [http, create] = [await telemetry.named('HTTP'), await telemetry.named('Intents/createIntent')];
    expect(http.events.map(({ name, attributes }) => [name, attributes])).toEqual([
      [
        'intent_created',
        {
          'express_intents.intent.id': id,
          'express_intents.kind': 'payment',
          'express_intents.amount': '4.50',
          'express_intents.currency': 'usd',
        },
      ],
    ]);
    expect(parentOf(create)).toBe(idOf(http));
    expect(create.kind).toBe(SpanKind.CLIENT);
    const { port } = new URL(site.simulator.url);
    expect(create.attributes).toEqual({
      'rpc.system.name': 'express_intents',
      'rpc.method': 'Intents/createIntent',
      'server.address': '127.0.0.1',
      'server.port': Number(port),
      'express_intents.transport': 'http',
      'express_intents.outcome': 'ok',
      'express_intents.attempts': 1,
    });
    expect(received.map(({ traceparent }) => traceparent)).toContain(`00-${traceOf(create)}-${idOf(create)}-01`);
    // Baggage belongs to the app and is not sent to the service.
    expect(JSON.stringify(received)).not.toMatch(/baggage|hunter2/);

    await site.simulator.wallet().pay(secret);
    await browser.send('GET', `/status/${id}`);
    await untilState(site, id, 'settled');
    const hook = await telemetry.named('hook onPaid');
    expect(hook.attributes).toEqual({
      'express_intents.hook': 'onPaid',
      'express_intents.hook.attempt': 1,
      'express_intents.intent.id': id,
    });
    expect(hook.status).toEqual({ code: SpanStatusCode.UNSET });
    expect(spanTexts()).not.toContain(secret);
  });

  test('with a hook that fails has an error span without the text of the error', async () => {
    const site = await startLedgerSite(ample, {
      ledger: { url: await newDatabaseUrl('postgres'), hookLimits: { maxAttempts: 1 } },
      onPaid: () => {
        throw new RangeError('The password is hunter2.');
      },
      timing: { watchFirstMs: hourMs },
      before: traceHttp,
    });
    const browser = new Browser(site.origin);
    const { body } = await browser.send('POST', '/intent', {});
    const id = intentIdOf(String(body.client_secret));
    await site.simulator.wallet().pay(String(body.client_secret));
    await browser.send('GET', `/status/${id}`);
    await untilState(site, id, 'dead');
    expect((await telemetry.named('hook onPaid')).status).toEqual({ code: SpanStatusCode.ERROR });
    expect(spanTexts()).not.toMatch(/hunter2/);
  });
});

describe('a login', () => {
  test('has spans and events of calls and rejections, without a secret', async () => {
    const site = await startSiteWithSimulator({ ...ample, before: traceHttp });
    const browser = new Browser(site.origin);
    const { body } = await browser.send('POST', '/intent', { mode: 'login' });
    const id = intentIdOf(String(body.client_secret));
    await telemetry.named('HTTP');
    telemetry.reset();
    await browser.send('POST', '/session', { id });
    const refused = await telemetry.named('HTTP');
    expect(refused.events.map(({ name, attributes }) => [name, attributes])).toEqual([
      ['login_failed', { 'express_intents.code': 'login_pending' }],
    ]);
    telemetry.reset();

    await site.simulator.wallet().login(String(body.client_secret));
    await browser.send('POST', '/session', { id });
    const [session, asked] = [
      await telemetry.named('HTTP'),
      await telemetry.named('Identity/getLoginForThirdPartyApp'),
    ];
    expect(parentOf(asked)).toBe(idOf(session));
    expect(session.events.map(({ name }) => name)).toEqual(['login_completed']);
    const cookie = browser.cookies.get('intent-session') ?? '';
    expect(cookie).not.toBe('');
    const secrets = [cookie, String(browser.cookies.get('intent')), site.simulator.wallet().userId('shop.example')];
    for (const secret of secrets) expect(spanTexts()).not.toContain(secret);
  });
});

describe('a call to the service', () => {
  test('that fails in every attempt is an error', async () => {
    const site = await startSiteWithSimulator(ample);
    site.simulator.injectFault({ kind: 'status', httpStatus: 500 });
    await new Browser(site.origin).send('POST', '/intent', {});
    const call = await telemetry.named('Intents/createIntent');
    expect(call.status).toEqual({ code: SpanStatusCode.ERROR });
    expect(call.attributes).toMatchObject({ 'error.type': 'sequencer_bad_status', 'http.response.status_code': 500 });
  });

  test('over gRPC carries the trace', async () => {
    const server = await startGrpcFaultServer({
      answer: ({ stream }) => respond(stream, [grpcMessage(Buffer.from('0801', 'hex'))]),
    });
    const site = await startSite({ sequencer: { grpcUrl: server.url } }, ample);
    await new Browser(site.origin).send('GET', '/status/9g7uDNB441jNqo9exZuNq95A8CsbWRXQmoDo9DMopxZH');
    await site.router.close();
    await server.close();
    const call = await telemetry.named('MicroPayment/getStatus');
    expect(call.attributes).toMatchObject({
      'rpc.system.name': 'grpc',
      'rpc.method': 'MicroPayment/getStatus',
      'express_intents.transport': 'grpc',
    });
    expect(server.calls[0]?.headers.traceparent).toBe(`00-${traceOf(call)}-${idOf(call)}-01`);
  });

  test('is not traced again by an instrumentation of the HTTP client, which would duplicate the header', async () => {
    const instrument = (message: unknown): void => {
      const { request } = message as { request: { addHeader(name: string, value: string): void } };
      const span = app.startSpan('undici');
      const carrier: Record<string, string> = {};
      propagation.inject(trace.setSpan(context.active(), span), carrier);
      for (const [name, value] of Object.entries(carrier)) request.addHeader(name, value);
      span.end();
    };
    subscribe('undici:request:create', instrument);
    const site = await startSiteWithSimulator(ample);
    const { client } = site.router;
    await client.paymentIntents.getStatus('9g7uDNB441jNqo9exZuNq95A8CsbWRXQmoDo9DMopxZH');
    unsubscribe('undici:request:create', instrument);
    expect(received).toHaveLength(1);
    expect(received[0]?.traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
    expect(telemetry.spans.map(({ name }) => name)).toEqual(['MicroPayment/getStatus']);
  });
});

test('an unsampled trace is propagated as unsampled, and records no events', async () => {
  const site = await startSiteWithSimulator({ ...ample, before: (express) => express.use(sampledOut) });
  await fetch(`${site.origin}/status/9g7uDNB441jNqo9exZuNq95A8CsbWRXQmoDo9DMopxZH`);
  expect(telemetry.spans).toEqual([]);
  expect(received[0]?.traceparent).toMatch(/^00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-00$/);
});

function sampledOut(_req: unknown, _res: unknown, next: () => void): void {
  const parent = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331', traceFlags: 0 };
  context.with(trace.setSpanContext(context.active(), { ...parent, isRemote: true }), next);
}
