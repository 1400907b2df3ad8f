import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const script = fileURLToPath(new URL('./run.mjs', import.meta.url));

/** Runs a short form of `npm run plant` in a separate process. */
function plant(...options: string[]): Promise<{ code: number; printed: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [script, ...options], (error, stdout, stderr) => {
      resolve({ code: Number(error?.code ?? 0), printed: `${stdout}\n${stderr}` });
    });
  });
}

test('npm run plant --quick plants two bugs, and names the test that detects each', async () => {
  const { code, printed } = await plant('--quick');
  expect(printed).toMatch(/detected in \d+\.\d s: a payment is settled before its hook is called\n +by: \S/);
  expect(printed).toMatch(/detected in \d+\.\d s: an ERROR envelope counts as a response\n +by: \S/);
  expect(printed).toContain('plant: 2 bugs, 0 faults');
  expect(code).toBe(0);
}, 600_000);

test('npm run plant fails for an unknown name', async () => {
  expect(await plant('--only', 'no such bug')).toMatchObject({ code: 1 });
});

test('each planted bug can be planted, and its tests exist', async () => {
  const { plantedBugs } = await import(new URL('./planted-bugs.mjs', import.meta.url).href);
  const sources = new URL('../../src/', import.meta.url);
  const changed = plantedBugs.filter(({ file, from }: { file: string; from: string }) => {
    return readFileSync(new URL(file, sources), 'utf8').split(from).length !== 2;
  });
  expect(changed).toEqual([]);
  const tests = plantedBugs.flatMap(({ caughtBy }: { caughtBy: string[] }) => caughtBy);
  expect(tests.filter((file: string) => !existsSync(new URL(`../${file}`, import.meta.url)))).toEqual([]);
  expect(plantedBugs.length).toBeGreaterThan(20);
});
