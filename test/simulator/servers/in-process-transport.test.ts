import { jest } from '@jest/globals';
import { signStreamRequest } from '../../../src/sequencer/watch/message-stream.js';
import { operations } from '../../../src/wire/envelope.js';
import { closeAll, payment, start } from '../fixture.js';

afterEach(closeAll);

test('a call rejects with the reason of its signal, and after the sequencer is closed', async () => {
  const simulator = await start();
  const call = (signal?: AbortSignal) => simulator.transport.call(operations.getStatus, new Uint8Array(), { signal });
  await expect(call(AbortSignal.abort('no'))).rejects.toBe('no');
  await simulator.close();
  await expect(call()).rejects.toMatchObject({ code: 'sequencer_unreachable' });
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
