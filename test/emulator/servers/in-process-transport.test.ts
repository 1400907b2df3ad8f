import { jest } from '@jest/globals';
import { createIntentClient } from '../../../src/index.js';
import { signStreamRequest } from '../../../src/sequencer/watch/message-stream.js';
import { operations } from '../../../src/wire/envelope.js';
import { startSite } from '../../support/sites/site.js';
import { closeAll, destination, payment, start } from '../fixture.js';

afterEach(closeAll);

const terms = { destination, amount: '1.00', currency: 'usd' };

test('two clients can share the transport: closing one does not close the other', async () => {
  const { transport } = await start();
  const [first, second] = [createIntentClient({ transport }), createIntentClient({ transport })];
  const { id, clientSecret } = await first.paymentIntents.create(terms);
  await first.close();
  const { body } = signStreamRequest(id, clientSecret);
  const reader = transport.openStream(operations.openMessageStream, body)[Symbol.asyncIterator]();
  expect(await reader.next()).toMatchObject({ done: false });
  await reader.return?.();
  expect(await second.paymentIntents.getStatus(id)).toMatchObject({ exists: true });
});

test('the transport calls the same sequencer as HTTP', async () => {
  const { url, transport } = await start();
  const [inside, outside] = [createIntentClient({ transport }), createIntentClient({ url })];
  const { id } = await inside.paymentIntents.create(terms);
  expect(await outside.paymentIntents.getStatus(id)).toMatchObject({ exists: true });
  await outside.close();
});

test('intentRouter() accepts the transport', async () => {
  const { transport } = await start();
  const { origin } = await startSite({ transport, payment: () => ({ amount: '1', currency: 'usd' }) });
  const answer = await fetch(`${origin}/intent`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin },
    body: '{}',
  });
  expect(answer.status).toBe(201);
});

test('an ERROR becomes a SequencerError with the reason in serviceMessage only', async () => {
  const { transport } = await start();
  await expect(transport.call({ service: 'Unknown', method: 'knows' }, new Uint8Array())).rejects.toMatchObject({
    name: 'SequencerError',
    code: 'sequencer_error',
    serviceMessage: 'Unknown service or method.',
  });
});

test('a call rejects with the reason of its signal, and after the sequencer is closed', async () => {
  const sequencer = await start();
  const call = (signal?: AbortSignal) => sequencer.transport.call(operations.getStatus, new Uint8Array(), { signal });
  await expect(call(AbortSignal.abort('no'))).rejects.toBe('no');
  await sequencer.close();
  await expect(call()).rejects.toMatchObject({ code: 'sequencer_unreachable' });
});

test('a stream that the transport closes says so, because the sequencer still runs', async () => {
  const { transport } = await start();
  const { id, clientSecret } = await payment();
  const { body } = signStreamRequest(id, clientSecret);
  const next = () => transport.openStream(operations.openMessageStream, body)[Symbol.asyncIterator]().next();
  const step = next();
  await transport.close();
  await expect(step).rejects.toMatchObject({
    code: 'sequencer_unreachable',
    message: 'The transport was closed. Open the stream again.',
  });
});

test('a stream without an intent ends after a minute, without a message', async () => {
  const { transport } = await start();
  const { id, clientSecret } = await payment();
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance'] });
  try {
    const stream = transport.openStream(operations.openMessageStream, signStreamRequest(id, clientSecret).body);
    let isDone = false;
    const step = stream[Symbol.asyncIterator]().next();
    void step.then(() => {
      isDone = true;
    });
    await jest.advanceTimersByTimeAsync(59_999);
    expect(isDone).toBe(false);
    await jest.advanceTimersByTimeAsync(1);
    expect(await step).toEqual({ done: true, value: undefined });
    expect(jest.getTimerCount()).toBe(0);
  } finally {
    jest.useRealTimers();
  }
});
