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
import { type SiteOptions, startSite, startSiteWithSequencer } from '../support/sites/site.js';
import { tappedTransport } from '../support/transports/tapped-transport.js';

const telemetry = new TestTelemetry().register();
const app = trace.getTracer('the app');
const hourMs = 3_600_000;

/** What is registered is found at once, and what makes spans has to be loaded. */
const startReadySite = async (options: SiteOptions = {}) => {
  const site = await startSiteWithSequencer(options);
  await site.router.ready();
  return site;
};

beforeEach(() => telemetry.reset());
afterEach(() => telemetry.lookForSecrets());
afterAll(unregister);

/** What the embedded sequencer, in this process, was sent in its headers. */
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
const eventsOf = ({ events }: ReadableSpan) => events.map(({ name }) => name);

describe('a payment', () => {
  test('from the request to the settlement: each span has its parent, and the trace goes on to the sequencer', async () => {
    const site = await startLedgerSite({
      databaseUrl: await newDatabaseUrl('postgres'),
      // Over HTTP, and not within the process.
      transport: undefined,
      onPaid: async () => app.startActiveSpan('fulfil', async (span) => span.end()),
      timing: { watchFirstMs: hourMs, reversalFirstMs: hourMs },
      before: (express) =>
        // As an instrumentation of HTTP does, with what an app has in its baggage.
        express.use((_req, res, next) => {
          const baggage = propagation.createBaggage({ customer: { value: 'hunter2' } });
          const span = app.startSpan('HTTP', {}, propagation.setBaggage(context.active(), baggage));
          res.once('close', () => span.end());
          context.with(trace.setSpan(propagation.setBaggage(context.active(), baggage), span), next);
        }),
    });
    const browser = new Browser(site.origin);
    const { body } = await browser.send('POST', '/intent', { mode: 'payment' });
    const secret = String(body.client_secret);
    const id = intentIdOf(secret);

    const [http, route, create] = [
      await telemetry.named('HTTP'),
      await telemetry.named('POST /intent'),
      await telemetry.named('Intents/createIntent'),
    ];
    expect(parentOf(route)).toBe(idOf(http));
    expect(parentOf(create)).toBe(idOf(route));
    expect(route.kind).toBe(SpanKind.INTERNAL);
    expect(route.attributes).toEqual({
      'http.request.method': 'POST',
      'http.route': '/intent',
      'http.response.status_code': 201,
      'express_intents.kind': 'payment',
      'express_intents.intent.id': id,
    });
    expect(eventsOf(route)).toEqual(['intent_created']);
    expect(create.kind).toBe(SpanKind.CLIENT);
    const { port } = new URL(site.sequencer.url);
    expect(create.attributes).toEqual({
      'rpc.system': 'express_intents',
      'rpc.service': 'Intents',
      'rpc.method': 'createIntent',
      'server.address': '127.0.0.1',
      'server.port': Number(port),
      'express_intents.transport': 'http',
      'express_intents.outcome': 'ok',
    });
    expect(eventsOf(create)).toEqual(['try']);
    expect(received.map(({ traceparent }) => traceparent)).toContain(`00-${traceOf(create)}-${idOf(create)}-01`);
    // Baggage is the app's own: the service is somebody else.
    expect(JSON.stringify(received)).not.toMatch(/baggage|hunter2/);

    await site.sequencer.wallet().pay(secret);
    await browser.send('GET', `/status/${id}`);
    await untilState(site, id, 'settled');
    const settle = await telemetry.named('settle payment');
    const [hook, fulfil] = [await telemetry.named('hook onPaid'), await telemetry.named('fulfil')];
    expect(parentOf(settle)).toBeUndefined();
    expect(settle.links.map((link) => link.context.spanId)).toEqual([idOf(route)]);
    expect(settle.attributes).toEqual({ 'express_intents.intent.id': id, 'express_intents.kind': 'payment' });
    expect(eventsOf(settle)).toEqual(['intent_submitted', 'hook_completed', 'payment_settled']);
    expect(parentOf(hook)).toBe(idOf(settle));
    expect(parentOf(fulfil)).toBe(idOf(hook));
    expect(hook.attributes).toEqual({
      'express_intents.hook': 'onPaid',
      'express_intents.hook.attempt': 1,
      'express_intents.intent.id': id,
    });
    const asked = telemetry.spans.filter(({ name }) => name === 'MicroPayment/getStatus');
    expect(asked.map(parentOf)).toContain(idOf(settle));

    const status = await telemetry.named('GET /status/:id');
    expect(status.attributes).toMatchObject({ 'http.route': '/status/:id', 'express_intents.intent.id': id });
    expect(JSON.stringify(telemetry.spans.map(({ attributes, events }) => [attributes, events]))).not.toContain(secret);
  });

  test('whose hook fails: the span says so by the kind of the error, and not by its text', async () => {
    const site = await startLedgerSite({
      databaseUrl: await newDatabaseUrl('postgres'),
      onPaid: () => {
        throw new RangeError('The password is hunter2.');
      },
      hookAttempts: 1,
      timing: { watchFirstMs: hourMs },
    });
    const browser = new Browser(site.origin);
    const { body } = await browser.send('POST', '/intent', {});
    const id = intentIdOf(String(body.client_secret));
    await site.sequencer.wallet().pay(String(body.client_secret));
    await browser.send('GET', `/status/${id}`);
    await untilState(site, id, 'dead');
    const [hook, settle] = [await telemetry.named('hook onPaid'), await telemetry.named('settle payment')];
    expect(hook.status).toEqual({ code: SpanStatusCode.ERROR });
    expect(hook.attributes).toMatchObject({ 'error.type': 'RangeError' });
    expect(eventsOf(settle)).toEqual(['intent_submitted', 'hook_failed', 'dead_letter']);
    expect(settle.events[2]?.attributes).toMatchObject({ 'express_intents.attempts': 1 });
    expect(JSON.stringify(telemetry.spans.map(({ attributes, events }) => [attributes, events]))).not.toMatch(
      /hunter2/,
    );
  });
});

describe('a login', () => {
  test('its spans, what is refused among them', async () => {
    const site = await startReadySite();
    const browser = new Browser(site.origin);
    const { body } = await browser.send('POST', '/intent', { mode: 'login' });
    const id = intentIdOf(String(body.client_secret));
    await browser.send('POST', '/session', { id });
    const refused = await telemetry.named('POST /session');
    expect(refused.attributes).toEqual({
      'http.request.method': 'POST',
      'http.route': '/session',
      'http.response.status_code': 409,
      'error.type': 'login_pending',
    });
    // What a caller may do wrong is no error of the server's.
    expect(refused.status).toEqual({ code: SpanStatusCode.UNSET });
    expect(eventsOf(refused)).toEqual(['login_refused']);
    telemetry.reset();

    await site.sequencer.wallet().login(String(body.client_secret));
    await browser.send('POST', '/session', { id });
    const [session, asked] = [
      await telemetry.named('POST /session'),
      await telemetry.named('Identity/getLoginForThirdPartyApp'),
    ];
    expect(parentOf(asked)).toBe(idOf(session));
    expect(session.attributes).toEqual({
      'http.request.method': 'POST',
      'http.route': '/session',
      'http.response.status_code': 200,
      'express_intents.intent.id': id,
    });
    const cookie = browser.cookies.get('intent-session') ?? '';
    expect(cookie).not.toBe('');
    const told = JSON.stringify(telemetry.spans.map(({ attributes, events }) => [attributes, events]));
    for (const secret of [
      cookie,
      String(browser.cookies.get('intent')),
      site.sequencer.wallet().userId('shop.example'),
    ]) {
      expect(told).not.toContain(secret);
    }
  });
});

describe('a call to the service', () => {
  test('that fails and is tried again: each try is an event, and the answer is what counts', async () => {
    const site = await startReadySite();
    const browser = new Browser(site.origin);
    site.sequencer.misbehave({ kind: 'refuse', operations: ['getStatus'], times: 1 });
    await browser.send('GET', '/status/9g7uDNB441jNqo9exZuNq95A8CsbWRXQmoDo9DMopxZH');
    const call = await telemetry.named('MicroPayment/getStatus');
    expect(call.events.map(({ attributes }) => attributes)).toEqual([
      { 'express_intents.try': 1, 'express_intents.outcome': 'sequencer_unreachable' },
      { 'express_intents.try': 2, 'express_intents.outcome': 'ok' },
    ]);
    expect(call.status).toEqual({ code: SpanStatusCode.UNSET });
  });

  test('that fails for good is an error, as is the route that needed it', async () => {
    const site = await startReadySite();
    site.sequencer.misbehave({ kind: 'status', httpStatus: 500 });
    await new Browser(site.origin).send('POST', '/intent', {});
    const [call, route] = [await telemetry.named('Intents/createIntent'), await telemetry.named('POST /intent')];
    expect(call.status).toEqual({ code: SpanStatusCode.ERROR });
    expect(call.attributes).toMatchObject({ 'error.type': 'sequencer_bad_status', 'http.response.status_code': 500 });
    expect(route.status).toEqual({ code: SpanStatusCode.ERROR });
    expect(route.attributes).toMatchObject({ 'error.type': 'sequencer_bad_status', 'http.response.status_code': 502 });
  });

  test('over gRPC carries the trace as well', async () => {
    const server = await startGrpcFaultServer({
      answer: ({ stream }) => respond(stream, [grpcMessage(Buffer.from('0801', 'hex'))]),
    });
    const site = await startSite({ grpcUrl: server.url });
    await site.router.ready();
    await new Browser(site.origin).send('GET', '/status/9g7uDNB441jNqo9exZuNq95A8CsbWRXQmoDo9DMopxZH');
    await site.router.close();
    await server.close();
    const call = await telemetry.named('MicroPayment/getStatus');
    expect(call.attributes).toMatchObject({ 'rpc.system': 'grpc', 'express_intents.transport': 'grpc' });
    expect(server.calls[0]?.headers.traceparent).toBe(`00-${traceOf(call)}-${idOf(call)}-01`);
  });

  test('is not traced once more by an instrumentation of the HTTP client, which would spoil the header', async () => {
    const instrument = (message: unknown): void => {
      const { request } = message as { request: { addHeader(name: string, value: string): void } };
      const span = app.startSpan('undici');
      const carrier: Record<string, string> = {};
      propagation.inject(trace.setSpan(context.active(), span), carrier);
      for (const [name, value] of Object.entries(carrier)) request.addHeader(name, value);
      span.end();
    };
    subscribe('undici:request:create', instrument);
    const site = await startReadySite();
    const { client } = site.router;
    await client.paymentIntents.getStatus('9g7uDNB441jNqo9exZuNq95A8CsbWRXQmoDo9DMopxZH');
    unsubscribe('undici:request:create', instrument);
    expect(received).toHaveLength(1);
    expect(received[0]?.traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
    expect(telemetry.spans.map(({ name }) => name)).toEqual(['MicroPayment/getStatus']);
  });

  test('by a transport of the site runs inside of its span, and is handed the trace', async () => {
    const site = await startReadySite();
    const tap = tappedTransport(site.sequencer.transport);
    const seen: unknown[] = [];
    const transport = {
      ...tap,
      call: (...[operation, body, options]: Parameters<typeof tap.call>) => {
        seen.push([trace.getActiveSpan()?.spanContext().spanId, options?.metadata?.traceparent]);
        return tap.call(operation, body, options);
      },
    };
    const { origin, router } = await startSite({ transport });
    await router.ready();
    await new Browser(origin).send('GET', '/status/9g7uDNB441jNqo9exZuNq95A8CsbWRXQmoDo9DMopxZH');
    const call = await telemetry.named('MicroPayment/getStatus');
    expect(seen).toEqual([[idOf(call), `00-${traceOf(call)}-${idOf(call)}-01`]]);
    expect(call.attributes).not.toHaveProperty('server.address');
  });
});

test('a method that somebody has made up, and a path of no route, make no names', async () => {
  const site = await startReadySite();
  const answer = await fetch(`${site.origin}/intent`, { method: 'PROPFIND' });
  expect(answer.status).toBe(405);
  await fetch(`${site.origin}/nothing`);
  await telemetry.named('_OTHER /intent');
  expect(telemetry.spans).toHaveLength(1);
});

test('under a path where the router is mounted, the route is named without it, however a visitor spells it', async () => {
  const site = await startReadySite({ mountPath: '/pay' });
  await fetch(`${site.origin}/PAY/status/9g7uDNB441jNqo9exZuNq95A8CsbWRXQmoDo9DMopxZH`);
  await telemetry.named('GET /status/:id');
});

test('what is sampled out is handed on as such, and costs no events', async () => {
  const site = await startReadySite({ before: (express) => express.use(sampledOut) });
  await fetch(`${site.origin}/status/9g7uDNB441jNqo9exZuNq95A8CsbWRXQmoDo9DMopxZH`);
  expect(telemetry.spans).toEqual([]);
  expect(received[0]?.traceparent).toMatch(/^00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-00$/);
});

function sampledOut(_req: unknown, _res: unknown, next: () => void): void {
  const parent = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331', traceFlags: 0 };
  context.with(trace.setSpanContext(context.active(), { ...parent, isRemote: true }), next);
}
