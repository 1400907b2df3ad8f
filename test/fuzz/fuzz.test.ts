import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const script = fileURLToPath(new URL('./run.mjs', import.meta.url));

/** Runs a short form of `npm run fuzz`, in a process of its own, against the build. */
function fuzz(...options: string[]): Promise<{ code: number; printed: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [script, ...options], (error, stdout, stderr) => {
      resolve({ code: Number(error?.code ?? 0), printed: `${stdout}\n${stderr}` });
    });
  });
}

// Fresh inputs at every run; the seed of one that fails is printed with it.
test('20,000 hostile inputs: nothing but an IntentError comes out, soon, and nothing is kept', async () => {
  const { code, printed } = await fuzz('--count', '20000');
  expect(printed).toContain('fuzz: no fault');
  expect(printed).toMatch(/fuzz: \d{2,} decoders, \d{5,} readings, \d{5,} refusals/);
  expect(code).toBe(0);
}, 120_000);

test.each([
  ['throws', 'planted: threw TypeError'],
  ['stalls', 'planted: took'],
  ['leaks', 'the memory grew by'],
])(
  'a planted decoder that %s is found',
  async (planted, told) => {
    const { code, printed } = await fuzz('--count', '4000', '--seed', '7', '--planted', planted);
    expect(printed).toContain(told);
    expect(printed).toContain('repeat with --seed 7');
    expect(code).toBe(1);
  },
  120_000,
);

test('the same seed makes the same inputs', async () => {
  const told = async (seed: string): Promise<string> => {
    const { printed } = await fuzz('--count', '500', '--seed', seed);
    return /\d+ readings, \d+ refusals/.exec(printed)?.[0] ?? '';
  };
  const [first, again, other] = [await told('1'), await told('1'), await told('2')];
  expect(first).toMatch(/readings/);
  expect(again).toBe(first);
  expect(other).not.toBe(first);
}, 120_000);
