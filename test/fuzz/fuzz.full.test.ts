import { runFuzz } from './run-fuzz.js';

// Each run has new inputs. A failure is printed with its seed.
test('20,000 hostile inputs throw only IntentErrors, in bounded time and memory', async () => {
  const { code, printed } = await runFuzz('run.mjs', '--count', '20000', '--longest', '500');
  expect(printed).toContain('fuzz: no fault');
  expect(printed).toMatch(/fuzz: \d{2,} decoders, \d{5,} readings, \d{5,} refusals/);
  expect(code).toBe(0);
}, 600_000);

test.each([
  ['throws', 'planted: threw TypeError'],
  ['leaks', 'the memory grew by'],
])(
  'the fuzzer finds a planted decoder that %s',
  async (planted, expected) => {
    const { code, printed } = await runFuzz('run.mjs', '--count', '4000', '--seed', '7', '--planted', planted);
    expect(printed).toContain(expected);
    expect(printed).toContain('repeat with --seed 7');
    expect(code).toBe(1);
  },
  600_000,
);
