import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

type Nacl = typeof import('tweetnacl');

// In the sandbox of jest each access to a global is expensive, and tweetnacl makes millions. Here its file is run with the
// globals as parameters, which is more than ten times as fast.
const globals = { Float64Array, Uint8Array, Math, Error, TypeError, Array };

function load(): Nacl {
  const source = readFileSync(createRequire(import.meta.url).resolve('tweetnacl/nacl-fast.js'), 'utf8');
  const module = { exports: {} as Nacl };
  new Function('module', 'require', ...Object.keys(globals), source)(
    module,
    () => ({ randomBytes }),
    ...Object.values(globals),
  );
  return module.exports;
}

/** tweetnacl, the independent check of all signatures. */
export const nacl = load();
