import { runFuzz } from './run-fuzz.js';

// Fresh requests at every run; the seed of one that fails is printed with it.
test('20,000 hostile requests: no crash, nothing unanswered, no fault of ours, no change that is not allowed', async () => {
  const { code, printed } = await runFuzz('http/run.mjs', '--count', '20000');
  expect(printed).toContain('fuzz:http: no fault');
  // Of all kinds, the ones that are taken among them.
  for (const status of [200, 201, 204, 303, 400, 401, 403, 404, 405, 413, 415]) {
    expect(printed).toMatch(new RegExp(`${status}: [1-9]`));
  }
  expect(code).toBe(0);
}, 600_000);

test.each([
  ['throws', 'uncaughtException: TypeError: planted'],
  ['rejects', 'unhandledRejection: TypeError: planted'],
  ['breaks', 'was answered 500'],
  // Whatever it takes for longer hangs for ever.
  ['hangs', 'was never answered', '--patience', '5000'],
  ['leaks', 'was told upstream'],
  ['changes', 'an intent was created by'],
])(
  'a planted fault that %s is found',
  async (planted, told, ...more) => {
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
    expect(printed).toContain(told);
    expect(printed).toContain('repeat with --seed 7');
    expect(code).toBe(1);
  },
  600_000,
);
