import type { Command } from 'commander';
import { parseLoginKeys } from '../config/config.js';
import { generateKeyPair } from '../keys/verifier-key.js';
import { addEnvFile, addExamples, type CommandContext, type EnvironmentOptions, readEnvironment } from './command.js';
import { printableJson, type Terminal } from './terminal.js';

interface KeygenOptions extends EnvironmentOptions {
  readonly public?: boolean;
  readonly json?: boolean;
}

/** `keygen`: prints a new verifier key, or the public keys of the secrets that are set. It writes no file. */
export function addKeygen(program: Command, { terminal, action }: CommandContext): void {
  const command = program
    .command('keygen')
    .summary('print a new verifier key as a line for .env')
    .description(
      'Prints a new verifier key, which signs the logins of a site, as lines that can be appended to .env. It writes no file.',
    )
    .option('--json', 'print JSON, for programs')
    .option('--public', 'generate no key: print the public keys of the secrets that are set, and their key file')
    .action(
      action((options: KeygenOptions) => {
        if (options.public) printPublicKeys(options, terminal);
        else printNewKey(options, terminal);
        return 0;
      }),
    );
  addEnvFile(command);
  addExamples(command, [
    ['keygen >> .env', 'a key for a new site'],
    ['keygen --public --env-file .env', 'what wallets must find at https://<your domain>'],
  ]);
}

function printNewKey({ json }: KeygenOptions, { out }: Terminal): void {
  const { secret, publicKey } = generateKeyPair();
  if (json) {
    out(printableJson({ secret, publicKey }));
    return;
  }
  out('# Signs the logins of this site. Keep it secret, and out of version control.');
  out(`# Its public key: ${publicKey}`);
  out(`INTENT_VERIFIER_SECRET=${secret}`);
}

function printPublicKeys(options: KeygenOptions, { out }: Terminal): void {
  const { publicKeys } = parseLoginKeys(readEnvironment(options));
  const keyFile = { public_keys: publicKeys };
  if (options.json) {
    out(printableJson(keyFile));
    return;
  }
  const [signing, ...others] = publicKeys;
  out(`${signing}   signs`);
  for (const key of others) out(`${key}   is published as well`);
  out('');
  out('The key file, which the router serves at /.well-known/service-payments.json:');
  out(JSON.stringify(keyFile));
}
