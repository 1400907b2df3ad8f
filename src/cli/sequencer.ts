import { type Command, InvalidArgumentError } from 'commander';
import type { Sequencer } from '../emulator/index.js';
import { parseVerifierDomain } from '../keys/verifier-domain.js';
import { addExamples, type CommandContext } from './command.js';
import { paint, printableJson, type Terminal } from './terminal.js';

type LocalDomain = readonly [domain: string, origin: string];

interface SequencerFlags {
  readonly port: number;
  readonly grpcPort?: number;
  readonly state?: string;
  readonly local?: readonly LocalDomain[];
  readonly json?: boolean;
}

/** `sequencer`: runs the embedded sequencer as its own process. */
export function addSequencer(program: Command, { terminal, action }: CommandContext): void {
  const command = program
    .command('sequencer')
    .summary('start the embedded sequencer and its simulated wallets, for development')
    .description(
      'Starts the embedded sequencer and its simulated wallets, for development. It listens on this machine only, keeps ' +
        'its state in memory unless a file is given, and moves no money. Ctrl+C ends it.',
    )
    .option('--port <number>', 'port on 127.0.0.1; 0 is any free port', parsePort, 4747)
    .option('--grpc-port <number>', 'port for direct gRPC; without it there is no gRPC', parsePort)
    .option('--state <file>', 'keep intents in this file across restarts')
    .option<readonly LocalDomain[]>(
      '--local <domain=origin>',
      'where to read the key file of a domain, such as shop.example=http://127.0.0.1:3000; may be repeated',
      parseLocalDomain,
    )
    .option('--json', 'print the addresses as JSON, for programs')
    .action(action((flags: SequencerFlags) => runSequencer(flags, terminal)));
  addExamples(command, [
    ['sequencer', 'for an app with INTENT_SEQUENCER_URL=http://127.0.0.1:4747'],
    ['sequencer --local shop.example=http://127.0.0.1:3000', 'for logins as well'],
  ]);
}

async function runSequencer(flags: SequencerFlags, terminal: Terminal): Promise<number> {
  // On demand: it loads Express, which no other command needs.
  const { startSequencer } = await import('../emulator/index.js');
  const sequencer = await startSequencer({
    port: flags.port,
    grpcPort: flags.grpcPort,
    stateFile: flags.state,
    unref: false,
    localDomains: Object.fromEntries(flags.local ?? []),
  });
  // Before the addresses are printed: a program that reads them may end this process at once.
  const interrupted = terminal.interrupted();
  const print = flags.json ? printAddresses : printWelcome;
  print(sequencer, flags, terminal);
  await interrupted;
  await sequencer.close();
  return 0;
}

function printAddresses(sequencer: Sequencer, _: unknown, to: Terminal): void {
  const { url, grpcUrl, inspectorUrl, walletUrl, webhookPublicKey } = sequencer;
  to.out(printableJson({ url, grpcUrl, inspectorUrl, walletUrl, webhookPublicKey }));
}

function printWelcome(sequencer: Sequencer, { local = [] }: SequencerFlags, { out, colors }: Terminal): void {
  const { url, grpcUrl, inspectorUrl, walletUrl, webhookPublicKey, wallets } = sequencer;
  const line = (name: string, value: string, note = ''): void => {
    out(`  ${name.padEnd(10)} ${paint('cyan', value, colors.out)}${note && `   ${paint('dim', note, colors.out)}`}`);
  };
  out(paint('bold', 'The embedded sequencer is running, for development. It moves no money.', colors.out));
  out('');
  line('sequencer', url);
  if (grpcUrl) line('gRPC', grpcUrl);
  line('inspector', inspectorUrl, 'shows requests live, injects faults');
  line('wallet', walletUrl, wallets.map(({ name }) => name).join(', '));
  for (const [domain, origin] of local) line('key file', origin, `of ${domain}`);
  out('');
  // Without indentation, to be copied into .env.
  out('To use it, add these lines to the .env of an app:');
  out('');
  out(`INTENT_SEQUENCER_URL=${url}`);
  if (grpcUrl) out(`INTENT_SEQUENCER_GRPC_URL=${grpcUrl}`);
  out(`INTENT_WALLET_URL=${walletUrl}`);
  out(`INTENT_WEBHOOK_PUBLIC_KEY=${webhookPublicKey}`);
  out('');
  const notes = [
    'The service key, which signs webhooks, changes with every start.',
    ...(local.length > 0 ? [] : ['Logins need --local <domain>=<origin of the app>: the key file is read there.']),
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
