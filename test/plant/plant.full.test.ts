import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';

test('npm run plant reports a planted bug that no test detects', async () => {
  const script = fileURLToPath(new URL('./run.mjs', import.meta.url));
  const { code, printed } = await new Promise<{ code: number; printed: string }>((resolve) => {
    execFile(process.execPath, [script, '--quick', '--unseen', '--only', 'ERROR'], (error, stdout, stderr) => {
      resolve({ code: Number(error?.code ?? 0), printed: `${stdout}\n${stderr}` });
    });
  });
  expect(printed).toContain('FAULT: an ERROR envelope counts as a response: not detected by');
  expect(code).toBe(1);
}, 600_000);
