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
  const load = (name: string) => import(new URL(`./${name}.mjs`, import.meta.url).href);
  const { plantInto } = await load('effects');
  const { plantedBugs } = await load('planted-bugs');
  for (const { name, file, caughtBy, ...bug } of plantedBugs) {
    const source = readFileSync(new URL(`../../src/${file}`, import.meta.url), 'utf8');
    expect([name, plantInto(source, bug)]).not.toEqual([name, source]);
    const missing = caughtBy.filter((test: string) => !existsSync(new URL(`../${test}`, import.meta.url)));
    expect([name, missing]).toEqual([name, []]);
  }
  expect(plantedBugs.length).toBeGreaterThan(20);
  expect(() => plantInto('const other = 1;', plantedBugs[0])).toThrow('0 functions or constants have the name');
});
