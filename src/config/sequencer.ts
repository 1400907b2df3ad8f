import path from 'node:path';
import { maxTimerMs } from '../async/timeout.js';
import type { LedgerSettings } from '../ledger/ledger-settings.js';
import { isLoopback, parseHttpUrl } from '../net/url.js';
import type { ConfigSource } from './config-options.js';

export interface SequencerConfig {
  readonly url: string;
  readonly grpcUrl: string | undefined;
  readonly simulatorPort: number;
  /** The state file of the simulator. Undefined for state in memory. */
  readonly simulatorState: string | undefined;
  readonly dialect: 'intents' | 'messaging';
  readonly timeoutMs: number;
}

export function readSequencer(
  { options, env, production, report }: ConfigSource,
  ledger: LedgerSettings | undefined,
): SequencerConfig {
  const { sequencer = {}, simulator = {} } = options;
  const url = sequencer.url ?? env.INTENT_SEQUENCER_URL ?? '';
  const grpcUrl = (sequencer.grpcUrl ?? env.INTENT_SEQUENCER_GRPC_URL) || undefined;
  const grpcProblem = grpcUrl && problemOfGrpcUrl(grpcUrl, url, production);
  if (grpcProblem) report.problem('INTENT_SEQUENCER_GRPC_URL', ...grpcProblem);
  const isReplaced = url === '' && (sequencer.transport !== undefined || grpcUrl !== undefined);
  const problem = isReplaced ? undefined : problemOfUrl(url, production);
  if (problem) report.problem('INTENT_SEQUENCER_URL', ...problem);
  // `Number('')` is 0, but an empty variable is not set.
  const simulatorPort = simulator.port === undefined ? Number(env.INTENT_SIMULATOR_PORT || 4747) : simulator.port;
  if (!Number.isInteger(simulatorPort) || simulatorPort < 0 || simulatorPort > 65_535) {
    report.problem('INTENT_SIMULATOR_PORT', 'It must be a whole number from 0 to 65535.', 'INTENT_SIMULATOR_PORT=4747');
  }
  const simulatorState = readSimulatorState(simulator.stateFile ?? env.INTENT_SIMULATOR_STATE, ledger);
  const dialect = sequencer.dialect ?? 'intents';
  if (dialect !== 'intents' && dialect !== 'messaging') {
    report.problem('sequencer.dialect', "It must be 'intents' or 'messaging'.", "sequencer: { dialect: 'messaging' }");
  }
  const timeoutMs = report.duration('sequencer.timeoutMs', sequencer.timeoutMs, 8_000, { max: maxTimerMs });
  return Object.freeze({ url, grpcUrl, simulatorPort, simulatorState, dialect, timeoutMs });
}

/** By default the state is kept in the folder of an embedded ledger. */
function readSimulatorState(given: string | undefined, ledger: LedgerSettings | undefined): string | undefined {
  if (given) return given === 'memory' ? undefined : given;
  return ledger?.database.kind === 'embedded' ? path.join(ledger.database.folder, 'simulator.jsonl') : undefined;
}

type Problem = readonly [problem: string, fix: string];

function problemOfUrl(text: string, production: boolean): Problem | undefined {
  const example = 'INTENT_SEQUENCER_URL=<base URL of the sequencer>';
  const orSimulator = production
    ? ''
    : ', or INTENT_SEQUENCER_URL=simulator to try everything on this machine, without any key';
  if (text === '') return ['It is not set.', `${example}${orSimulator}`];
  if (text === 'simulator') {
    if (!production) return undefined;
    return [
      'The simulator moves no money and lets anyone log in, so it does not start with NODE_ENV=production.',
      example,
    ];
  }
  const url = parseHttpUrl(text);
  if (!url) return ['It is not an http(s) URL.', `${example}${orSimulator}`];
  if (url.username || url.password || url.search || url.hash) {
    return ['It must not contain a user name, a password, a query or a fragment.', example];
  }
  return production && url.protocol === 'http:' ? ['It must be https when NODE_ENV=production.', example] : undefined;
}

function problemOfGrpcUrl(text: string, sequencerUrl: string, production: boolean): Problem | undefined {
  const example = 'INTENT_SEQUENCER_GRPC_URL=<gRPC URL of the sequencer>';
  if (text === 'simulator' || sequencerUrl === 'simulator') {
    return [
      'The simulator that a router starts does not speak gRPC.',
      'Unset it. Or run `npx express-intents simulator --grpc-port 4748`, and set the URLs that it prints.',
    ];
  }
  // gRPC itself uses addresses without a scheme.
  if (/^[\w.-]+(?::\d{1,5})?$/.test(text)) {
    return [
      'It has no scheme. Use https:// for TLS, or http:// without TLS.',
      `INTENT_SEQUENCER_GRPC_URL=https://${text}`,
    ];
  }
  const url = parseHttpUrl(text);
  if (!url) return ['It is not an http(s) URL.', example];
  if (url.username || url.password || url.search || url.hash || url.pathname !== '/') {
    return ['It must not contain a user name, a password, a path, a query or a fragment.', example];
  }
  if (url.protocol === 'https:' || !production || isLoopback(url.hostname)) return undefined;
  return ['It must be https when NODE_ENV=production, except for a proxy on the same machine.', example];
}
