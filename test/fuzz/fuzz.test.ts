import { runFuzz } from './run-fuzz.js';

// The short form of fuzz.full.test.ts and http.full.test.ts. Fresh inputs at every run; the seed of a run that fails is
// printed with it.

test('2,000 hostile inputs: nothing but an IntentError comes out', async () => {
  const { code, printed } = await runFuzz('run.mjs', '--count', '2000', '--longest', '500');
  expect(printed).toContain('fuzz: no fault');
  expect(printed).toMatch(/fuzz: \d{2,} decoders, \d{4,} readings, \d{4,} refusals/);
  expect(code).toBe(0);
}, 300_000);

test('a planted decoder that throws is found', async () => {
  const { code, printed } = await runFuzz('run.mjs', '--count', '1000', '--seed', '7', '--planted', 'throws');
  expect(printed).toContain('planted: threw TypeError');
  expect(printed).toContain('repeat with --seed 7');
  expect(code).toBe(1);
}, 300_000);

test('500 hostile requests: no crash, nothing unanswered, no fault of ours, no change that is not allowed', async () => {
  const { code, printed } = await runFuzz('http/run.mjs', '--count', '500');
  expect(printed).toContain('fuzz:http: no fault');
  for (const status of [200, 400, 404]) expect(printed).toMatch(new RegExp(`${status}: [1-9]`));
  expect(code).toBe(0);
}, 300_000);
