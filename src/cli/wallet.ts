import { type Command, InvalidArgumentError } from 'commander';
import { createWallet } from '../emulator/wallet.js';
import { walletSeed } from '../emulator/wallet-seed.js';
import { IntentError } from '../errors.js';
import type { Cli } from './cli.js';
import { addExamples } from './examples.js';
import { lookAtCode } from './look-at-code.js';
import { printableJson } from './printable.js';
import type { Terminal } from './terminal.js';
import { linesOfRequest, sayDone, type WalletAct } from './wallet-lines.js';

interface ShowFlags {
  readonly url: string;
  readonly json?: boolean;
}

interface WalletFlags extends ShowFlags {
  readonly name: string;
}

const acts: Readonly<Record<WalletAct, string>> = {
  pay: 'Pays what a code asks for.',
  login: 'Logs in with a code.',
  reject: 'Declines what a code asks for.',
};

/** `wallet show`, `pay`, `login` and `reject`: what a person does with a phone, with a simulated wallet. */
export function addWallet(program: Command, { terminal, action }: Cli): void {
  const wallet = program
    .command('wallet')
    .summary('look at a code, pay, log in or decline with a simulated wallet')
    .description(
      'Does with a simulated wallet what a person does with a phone, at an embedded sequencer. There is no money in it.',
    );
  addWithCode(
    wallet,
    'show',
    'Shows what a code asks for, fetched and verified as a wallet does. It changes nothing.',
  ).action(action((code: string, flags: ShowFlags) => show(code, flags, terminal)));
  for (const [name, description] of Object.entries(acts) as [WalletAct, string][]) {
    addWithCode(wallet, name, description)
      .option('--name <name>', 'whose wallet it is; each name has keys of its own, the same every time', 'Ada')
      .action(action((code: string, flags: WalletFlags) => act(name, code, flags, terminal)));
  }
}

function addWithCode(wallet: Command, name: string, description: string): Command {
  const command = wallet
    .command(name)
    .description(description)
    .argument('<code>', 'the client secret, or a link that ends in it; - reads it from standard input')
    .option('--url <url>', 'base URL of the embedded sequencer', parseUrl, 'http://127.0.0.1:4747')
    .option('--json', 'print it as JSON, for programs');
  addExamples(command, [
    [`wallet ${name} - < code.txt`, 'who has the code owns the intent, and arguments are seen by every program here'],
  ]);
  return command;
}

async function show(given: string, { url, json }: ShowFlags, terminal: Terminal): Promise<number> {
  const code = await readCode(given, terminal);
  const seen = await explained(url, () => lookAtCode(url, code));
  if (json) terminal.out(printableJson(seen));
  else for (const line of linesOfRequest(seen)) terminal.out(line);
  return 0;
}

async function act(name: WalletAct, given: string, flags: WalletFlags, terminal: Terminal): Promise<number> {
  const code = await readCode(given, terminal);
  const wallet = createWallet({ url: flags.url, name: flags.name, seed: walletSeed(flags.name) });
  const request = await explained(flags.url, () => wallet[name](code));
  const user = request.login && name !== 'reject' ? { userId: wallet.userId(request.login.domain) } : {};
  if (flags.json) terminal.out(printableJson({ ...request, ...user }));
  else for (const line of sayDone(name, wallet.name, { ...request, ...user })) terminal.out(line);
  return 0;
}

async function readCode(given: string, terminal: Terminal): Promise<string> {
  const code = given === '-' ? (await terminal.input()).trim() : given;
  if (code !== '') return code;
  throw new IntentError('invalid_client_secret', 'There is no code.');
}

/** Says of the two usual faults what mends them: half a code, and a sequencer that is elsewhere. */
async function explained<Value>(url: string, work: () => Promise<Value>): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof IntentError)) throw error;
    if (error.code === 'invalid_client_secret')
      throw new IntentError(
        error.code,
        `This is no code: ${error.message}\nCopy the client_secret again, or the link in the dialog, whole.`,
      );
    if (error.code === 'sequencer_unreachable')
      throw new IntentError(
        error.code,
        `No sequencer answers at ${url}.\n` +
          'Start the site or `npx express-intents sequencer`, or name another with --url http://127.0.0.1:<its port>.',
      );
    throw error;
  }
}

function parseUrl(text: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text.replace(/\/+$/, '');
  throw new InvalidArgumentError('It must be the base URL of a sequencer, such as http://127.0.0.1:4747.');
}
