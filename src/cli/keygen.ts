import { parseArgs } from 'node:util';
import { generateKey } from '../keys/verifier-key.js';
import type { Command } from './run.js';

/** `keygen`: a new verifier key; what it prints can be appended to `.env` as it is. */
export const keygen: Command = (args, terminal) => {
  parseArgs({ args, options: {} });
  const { secret, publicKey } = generateKey();
  terminal.out('# Signs the logins of this site. Keep it secret, and out of version control.');
  terminal.out(`# Its public key: ${publicKey}`);
  terminal.out(`INTENT_VERIFIER_SECRET=${secret}`);
  return 0;
};
