import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const script = fileURLToPath(new URL('./http/run.mjs', import.meta.url));

/** Runs a short form of `npm run fuzz:http`, in a process of its own, against the build. */
function fuzz(...options: string[]): Promise<{ code: number; printed: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [script, ...options], (error, stdout, stderr) => {
      resolve({ code: Number(error?.code ?? 0), printed: `${stdout}\n${stderr}` });
    });
  });
}

// Fresh requests at every run; the seed of one that fails is printed with it.
test('20,000 hostile requests: no crash, nothing unanswered, no fault of ours, no change that is not allowed', async () => {
  const { code, printed } = await fuzz('--count', '20000');
  expect(printed).toContain('fuzz:http: no fault');
  // Of all kinds, the ones that are taken among them.
  for (const status of [200, 201, 204, 303, 400, 401, 403, 404, 405, 413, 415]) {
    expect(printed).toMatch(new RegExp(`${status}: [1-9]`));
  }
  expect(code).toBe(0);
}, 300_000);

test.each([
  ['throws', 'uncaughtException: TypeError: planted'],
  ['rejects', 'unhandledRejection: TypeError: planted'],
  ['breaks', 'was answered 500'],
  ['hangs', 'was never answered'],
  ['leaks', 'was told upstream'],
  ['changes', 'an intent was created by'],
])(
  'a planted fault that %s is found',
  async (planted, told) => {
    const { code, printed } = await fuzz('--count', '1500', '--seed', '7', '--planted', planted, '--patience', '1000');
    expect(printed).toContain(told);
    expect(printed).toContain('repeat with --seed 7');
    expect(code).toBe(1);
  },
  120_000,
);
