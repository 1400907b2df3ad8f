import { runFuzz } from './run-fuzz.js';

// Fresh inputs at every run; the seed of one that fails is printed with it.
test('20,000 hostile inputs: nothing but an IntentError comes out, soon, and nothing is kept', async () => {
  const { code, printed } = await runFuzz('run.mjs', '--count', '20000', '--longest', '500');
  expect(printed).toContain('fuzz: no fault');
  expect(printed).toMatch(/fuzz: \d{2,} decoders, \d{5,} readings, \d{5,} refusals/);
  expect(code).toBe(0);
}, 600_000);

test.each([
  ['throws', 'planted: threw TypeError'],
  ['stalls', 'planted: took'],
  ['leaks', 'the memory grew by'],
])(
  'a planted decoder that %s is found',
  async (planted, told) => {
    const { code, printed } = await runFuzz('run.mjs', '--count', '4000', '--seed', '7', '--planted', planted);
    expect(printed).toContain(told);
    expect(printed).toContain('repeat with --seed 7');
    expect(code).toBe(1);
  },
  600_000,
);

test('the same seed makes the same inputs', async () => {
  const told = async (seed: string): Promise<string> => {
    const { printed } = await runFuzz('run.mjs', '--count', '500', '--seed', seed);
    return /\d+ readings, \d+ refusals/.exec(printed)?.[0] ?? '';
  };
  const [first, again, other] = [await told('1'), await told('1'), await told('2')];
  expect(first).toMatch(/readings/);
  expect(again).toBe(first);
  expect(other).not.toBe(first);
}, 600_000);
