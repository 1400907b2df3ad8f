import { type Command, InvalidArgumentError } from 'commander';
import type { Sequencer } from '../emulator/index.js';
import { parseVerifierDomain } from '../keys/verifier-domain.js';
import type { Cli } from './cli.js';
import { addExamples } from './examples.js';
import { printableJson } from './printable.js';
import { paint, type Terminal } from './terminal.js';

type LocalDomain = readonly [domain: string, origin: string];

interface SequencerFlags {
  readonly port: number;
  readonly grpcPort?: number;
  readonly state?: string;
  readonly local?: readonly LocalDomain[];
  readonly json?: boolean;
}

/** `sequencer`: the embedded sequencer as a process of its own. */
export function addSequencer(program: Command, { terminal, action }: Cli): void {
  const command = program
    .command('sequencer')
    .summary('start the embedded sequencer and its simulated wallets, for development')
    .description(
      'Starts the embedded sequencer and its simulated wallets, for development: on this machine alone, in memory ' +
        'unless there is a file, and without money. It runs until it is told to end.',
    )
    .option('--port <number>', 'where it listens on 127.0.0.1; 0 is any free port', parsePort, 4747)
    .option('--grpc-port <number>', 'for direct gRPC; without it there is none', parsePort)
    .option('--state <file>', 'keeps its intents there, so that they outlive the process')
    .option<readonly LocalDomain[]>(
      '--local <domain=origin>',
      'where to read the key file of a domain, such as shop.example=http://127.0.0.1:3000; may be repeated',
      parseLocalDomain,
    )
    .option('--json', 'print the addresses as one line of JSON, for programs')
    .action(action((flags: SequencerFlags) => runSequencer(flags, terminal)));
  addExamples(command, [
    ['sequencer', 'beside an app that has INTENT_SEQUENCER_URL=http://127.0.0.1:4747'],
    ['sequencer --local shop.example=http://127.0.0.1:3000', 'for logins as well'],
  ]);
}

async function runSequencer(flags: SequencerFlags, terminal: Terminal): Promise<number> {
  // Express and all, of which no other command needs anything.
  const { startSequencer } = await import('../emulator/index.js');
  const sequencer = await startSequencer({
    port: flags.port,
    grpcPort: flags.grpcPort,
    stateFile: flags.state,
    unref: false,
    localDomains: Object.fromEntries(flags.local ?? []),
  });
  // Before it is told that it runs: who starts it may end it at once.
  const interrupted = terminal.interrupted();
  const print = flags.json ? printAddresses : printWelcome;
  print(sequencer, flags, terminal);
  await interrupted;
  await sequencer.close();
  return 0;
}

function printAddresses(sequencer: Sequencer, _: unknown, to: Terminal): void {
  const { url, grpcUrl, inspectorUrl, walletUrl, serviceKey } = sequencer;
  to.out(printableJson({ url, grpcUrl, inspectorUrl, walletUrl, serviceKey }));
}

function printWelcome(sequencer: Sequencer, { local = [] }: SequencerFlags, { out, colors }: Terminal): void {
  const { url, grpcUrl, inspectorUrl, walletUrl, serviceKey, wallets } = sequencer;
  const line = (name: string, value: string, note = ''): void => {
    out(`  ${name.padEnd(10)} ${paint('cyan', value, colors.out)}${note && `   ${paint('dim', note, colors.out)}`}`);
  };
  out(paint('bold', 'The embedded sequencer runs, for development. No money is anywhere near.', colors.out));
  out('');
  line('sequencer', url);
  if (grpcUrl) line('gRPC', grpcUrl);
  line('inspector', inspectorUrl, 'see what comes, live; switch faults on');
  line('wallet', walletUrl, wallets.map(({ name }) => name).join(', '));
  for (const [domain, origin] of local) line('key file', origin, `of ${domain}`);
  out('');
  // Bare lines, to be copied into .env.
  out('An app uses it with these in its .env:');
  out('');
  out(`INTENT_SEQUENCER_URL=${url}`);
  if (grpcUrl) out(`INTENT_SEQUENCER_GRPC_URL=${grpcUrl}`);
  out(`INTENT_WALLET_URL=${walletUrl}`);
  out(`INTENT_SERVICE_KEY=${serviceKey}`);
  out('');
  const notes = [
    'The service key, which webhooks are checked with, is another one at every start.',
    ...(local.length > 0 ? [] : ['Logins need --local <domain>=<origin of the app>, to read its key file there.']),
    'Ctrl+C ends it.',
  ];
  for (const note of notes) out(paint('dim', note, colors.out));
}

function parsePort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port <= 65_535) return port;
  throw new InvalidArgumentError('It must be a number from 0 to 65535.');
}

function parseLocalDomain(text: string, before: readonly LocalDomain[] = []): readonly LocalDomain[] {
  const [domain = '', origin = ''] = text.split('=', 2);
  if (!URL.canParse(origin) || new URL(origin).origin !== origin) {
    throw new InvalidArgumentError('It must look like shop.example=http://127.0.0.1:3000.');
  }
  try {
    return [...before, [parseVerifierDomain(domain), origin]];
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message);
  }
}
