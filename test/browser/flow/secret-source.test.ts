import { SecretSource } from '../../../src/browser/flow/secret-source.js';
import type { Settings } from '../../../src/browser/options.js';

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
