import { jest } from '@jest/globals';
import { SecretSource } from '../../../src/browser/flow/secret-source.js';
import type { Settings } from '../../../src/browser/options.js';
import { eventually } from '../../support/eventually.js';

test('an attempt that has ended does not take the secret of the next one', async () => {
  const secrets = new SecretSource();
  const settings = { mode: 'payment', order: 1 } as unknown as Settings;
  const ends: ((isPrevented: boolean) => void)[] = [];
  const obtain = (signal: AbortSignal): Promise<string> => {
    const emit = () =>
      new Promise<boolean>((resolve) => {
        ends.push(resolve);
      });
    return secrets.obtain(settings, signal, emit, () => undefined);
  };
  const first = new AbortController();
  const ended = obtain(first.signal);
  first.abort();
  secrets.reset();
  const next = obtain(new AbortController().signal);
  secrets.provide('the secret of the next attempt');
  ends[0]?.(true);
  await expect(ended).rejects.toMatchObject({ name: 'AbortError' });
  ends[1]?.(true);
  expect(await next).toBe('the secret of the next attempt');
});

test('a secret that the page provides during a request is not used for the next attempt if this one is ended', async () => {
  const secrets = new SecretSource();
  const settings = { mode: 'payment', orderJson: '{}', routes: { intent: '/intent' } } as unknown as Settings;
  const fetching = jest.spyOn(globalThis, 'fetch').mockImplementationOnce(
    (_path, init) =>
      new Promise((_resolve, reject) => {
        init?.signal?.addEventListener('abort', () => reject(init.signal?.reason));
      }),
  );
  const obtain = (signal: AbortSignal): Promise<string> =>
    secrets.obtain(
      settings,
      signal,
      async () => false,
      () => undefined,
    );
  const first = new AbortController();
  const ended = obtain(first.signal);
  await eventually('the request is sent', () => fetching.mock.calls.length === 1);
  secrets.provide('the secret of the ended attempt');
  first.abort();
  secrets.reset();
  await expect(ended).rejects.toMatchObject({ code: 'offline' });
  fetching.mockResolvedValueOnce(Response.json({ client_secret: 'the created secret' }));
  expect(await obtain(new AbortController().signal)).toBe('the created secret');
});
