import { type Command, InvalidArgumentError } from 'commander';
import { parseVerifierDomain } from '../keys/verifier-domain.js';
import type { Simulator } from '../simulator/index.js';
import { addExamples, type CommandContext } from './command.js';
import { paint, printableJson, type Terminal } from './terminal.js';

type LocalDomain = readonly [domain: string, origin: string];

interface SimulatorFlags {
  readonly port: number;
  readonly grpcPort?: number;
  readonly stateFile?: string;
  readonly localDomain?: readonly LocalDomain[];
  readonly json?: boolean;
}

export function addSimulator(program: Command, { terminal, action }: CommandContext): void {
  const command = program
    .command('simulator')
    .summary('start the simulator with its wallets, for development')
    .description(
      'Starts the simulator with its wallets, for development. It listens on this machine only, keeps ' +
        'its state in memory unless a file is given, and moves no money. Press Ctrl+C to stop.',
    )
    .option('--port <number>', 'port on 127.0.0.1; 0 for any free port', parsePort, 4747)
    .option('--grpc-port <number>', 'port for direct gRPC; default: no gRPC', parsePort)
    .option('--state-file <file>', 'keep intents in this file across restarts')
    .option<readonly LocalDomain[]>(
      '--local-domain <domain=origin>',
      'origin at which to read the key file of a domain, such as shop.example=http://127.0.0.1:3000; can be repeated',
      parseLocalDomain,
    )
    .option('--json', 'print the addresses as JSON, for programs')
    .action(action((flags: SimulatorFlags) => runSimulator(flags, terminal)));
  addExamples(command, [
    ['simulator', 'for an app with INTENT_SEQUENCER_URL=http://127.0.0.1:4747'],
    ['simulator --local-domain shop.example=http://127.0.0.1:3000', 'with logins'],
  ]);
}

async function runSimulator(flags: SimulatorFlags, terminal: Terminal): Promise<number> {
  // Loaded on demand: no other command needs Express.
  const { startSimulatorWithPortFix } = await import('../simulator/index.js');
  const simulator = await startSimulatorWithPortFix(
    {
      port: flags.port,
      grpcPort: flags.grpcPort,
      stateFile: flags.stateFile,
      unref: false,
      localDomains: Object.fromEntries(flags.localDomain ?? []),
    },
    'Choose a free port, such as --port 4848.',
  );
  // Before the addresses are printed: a program that reads them may send SIGTERM immediately.
  const interrupted = terminal.interrupted();
  const print = flags.json ? printAddresses : printWelcome;
  print(simulator, flags, terminal);
  await interrupted;
  await simulator.close();
  return 0;
}

function printAddresses(simulator: Simulator, _: unknown, to: Terminal): void {
  const { url, grpcUrl, inspectorUrl, walletUrl, webhookPublicKey } = simulator;
  to.out(printableJson({ url, grpcUrl, inspectorUrl, walletUrl, webhookPublicKey }));
}

function printWelcome(simulator: Simulator, { localDomain = [] }: SimulatorFlags, { out, colors }: Terminal): void {
  const { url, grpcUrl, inspectorUrl, walletUrl, webhookPublicKey, wallets } = simulator;
  const line = (name: string, value: string, note = ''): void => {
    out(`  ${name.padEnd(10)} ${paint('cyan', value, colors.out)}${note && `   ${paint('dim', note, colors.out)}`}`);
  };
  out(paint('bold', 'The simulator is running, for development. It moves no money.', colors.out));
  out('');
  line('URL', url);
  if (grpcUrl) line('gRPC', grpcUrl);
  line('inspector', inspectorUrl, 'shows requests live, injects faults');
  line('wallet', walletUrl, wallets.map(({ name }) => name).join(', '));
  for (const [domain, origin] of localDomain) line('key file', origin, `of ${domain}`);
  out('');
  // Not indented, for copying into .env.
  out('Add these lines to the .env of an app:');
  out('');
  out(`INTENT_SEQUENCER_URL=${url}`);
  if (grpcUrl) out(`INTENT_SEQUENCER_GRPC_URL=${grpcUrl}`);
  out(`INTENT_WALLET_URL=${walletUrl}`);
  out(`INTENT_WEBHOOK_PUBLIC_KEY=${webhookPublicKey}`);
  out('');
  const notes = [
    'The webhook key is new at each start. Update INTENT_WEBHOOK_PUBLIC_KEY after a restart.',
    ...(localDomain.length > 0
      ? []
      : [
          'For logins, pass --local-domain <domain>=<origin of the app>. The simulator reads the key file from that origin.',
        ]),
    'Press Ctrl+C to stop.',
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
    throw new InvalidArgumentError('It must be <domain>=<origin>, such as shop.example=http://127.0.0.1:3000.');
  }
  try {
    return [...before, [parseVerifierDomain(domain), origin]];
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message);
  }
}
