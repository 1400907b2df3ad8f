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

describe('a secret that the page provides during a request', () => {
  const settings = { mode: 'payment', orderJson: '{}', routes: { intent: '/intent' } } as unknown as Settings;
  const obtain = (secrets: SecretSource, signal = new AbortController().signal): Promise<string> =>
    secrets.obtain(
      settings,
      signal,
      async () => false,
      () => undefined,
    );
  const created = () => Response.json({ client_secret: 'the created secret' });

  test('is not used for the next attempt if this one is ended', async () => {
    const secrets = new SecretSource();
    const fetching = jest.spyOn(globalThis, 'fetch').mockImplementationOnce(
      (_path, init) =>
        new Promise((_resolve, reject) => {
          init?.signal?.addEventListener('abort', () => reject(init.signal?.reason));
        }),
    );
    const first = new AbortController();
    const ended = obtain(secrets, first.signal);
    await eventually('the request is sent', () => fetching.mock.calls.length === 1);
    secrets.provide('the secret of the ended attempt');
    first.abort();
    secrets.reset();
    await expect(ended).rejects.toMatchObject({ code: 'offline' });
    fetching.mockResolvedValueOnce(created());
    expect(await obtain(secrets)).toBe('the created secret');
  });

  describe.each([403, 422])('that is refused with %s', (status) => {
    const fail = async (): Promise<SecretSource> => {
      const secrets = new SecretSource();
      jest.spyOn(globalThis, 'fetch').mockImplementation(async () => {
        secrets.provide('the provided secret');
        return Response.json({ code: 'request_refused' }, { status });
      });
      await expect(obtain(secrets)).rejects.toMatchObject({ code: 'request_refused' });
      return secrets;
    };

    test('is used when the visitor tries again', async () => {
      expect(await obtain(await fail())).toBe('the provided secret');
    });

    test('is not used for the next attempt', async () => {
      const secrets = await fail();
      secrets.reset();
      jest.spyOn(globalThis, 'fetch').mockResolvedValueOnce(created());
      expect(await obtain(secrets)).toBe('the created secret');
    });
  });

  test('is kept if it comes after the attempt', async () => {
    const secrets = new SecretSource();
    jest.spyOn(globalThis, 'fetch').mockResolvedValueOnce(created());
    await obtain(secrets);
    secrets.reset();
    secrets.provide('the secret of the next attempt');
    secrets.reset();
    expect(await obtain(secrets)).toBe('the secret of the next attempt');
  });
});
