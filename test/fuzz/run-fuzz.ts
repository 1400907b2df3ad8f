import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Runs a short form of `npm run fuzz` or `npm run fuzz:http` in a separate process, with the build. */
export function runFuzz(script: 'run.mjs' | 'http/run.mjs', ...options: string[]) {
  return new Promise<{ code: number; printed: string }>((resolve) => {
    const file = fileURLToPath(new URL(script, import.meta.url));
    execFile(process.execPath, [file, ...options], (error, stdout, stderr) => {
      resolve({ code: Number(error?.code ?? 0), printed: `${stdout}\n${stderr}` });
    });
  });
}
