import type { Command } from 'commander';
import { parseLoginKeys } from '../config/config.js';
import { generateKeyPair } from '../keys/verifier-key.js';
import { addEnvFile, addExamples, type CommandContext, type EnvironmentOptions, readEnvironment } from './command.js';
import { printableJson, type Terminal } from './terminal.js';

interface KeygenOptions extends EnvironmentOptions {
  readonly public?: boolean;
  readonly json?: boolean;
}

export function addKeygen(program: Command, { terminal, action }: CommandContext): void {
  const command = program
    .command('keygen')
    .summary('print a new verifier key as lines for .env')
    .description(
      'Prints a new verifier key, which signs the logins of a site, as lines that can be appended to .env. It writes no file.',
    )
    .option('--json', 'print JSON, for programs')
    .option('--public', 'print the key file and the public keys of the configured secrets; generates no key')
    .action(
      action((options: KeygenOptions) => {
        if (options.public) printPublicKeys(options, terminal);
        else printNewKey(options, terminal);
        return 0;
      }),
    );
  addEnvFile(command);
  addExamples(command, [
    ['keygen >> .env', 'create a key for a new site'],
    ['keygen --public --env-file .env', 'show the key file that wallets read at https://<your domain>'],
  ]);
}

function printNewKey({ json }: KeygenOptions, { out }: Terminal): void {
  const { secret, publicKey } = generateKeyPair();
  if (json) {
    out(printableJson({ secret, publicKey }));
    return;
  }
  out('# Signs the logins of this site. Keep it secret. Do not commit it.');
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
  out(`${signing}   signing key, published`);
  for (const key of others) out(`${key}   published only`);
  out('');
  out('The key file, which the router serves at /.well-known/service-payments.json:');
  out(JSON.stringify(keyFile));
}
