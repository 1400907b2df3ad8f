import { runFuzz } from './run-fuzz.js';

// Each run has new requests. A failure is printed with its seed.
test('20,000 hostile requests cause no crash, hang, 5xx response or forbidden change', async () => {
  const { code, printed } = await runFuzz('http/run.mjs', '--count', '20000');
  expect(printed).toContain('fuzz:http: no fault');
  // All kinds of responses, including successes.
  for (const status of [200, 201, 204, 303, 400, 401, 403, 404, 405, 413, 415]) {
    expect(printed).toMatch(new RegExp(`${status}: [1-9]`));
  }
  expect(code).toBe(0);
}, 600_000);

test.each([
  ['throws', 'uncaughtException: TypeError: planted'],
  // A request that takes longer hangs forever.
  ['hangs', 'was never answered', '--patience', '5000'],
  ['leaks', 'received upstream'],
  ['changes', 'an intent was created by'],
])(
  'the HTTP fuzzer finds a planted fault that %s',
  async (planted, expected, ...more) => {
    const { code, printed } = await runFuzz(
      'http/run.mjs',
      '--count',
      '1500',
      '--seed',
      '7',
      '--planted',
      planted,
      ...more,
    );
    expect(printed).toContain(expected);
    expect(printed).toContain('repeat with --seed 7');
    expect(code).toBe(1);
  },
  600_000,
);
