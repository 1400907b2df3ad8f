import path from 'node:path';
import { maxTimerMs } from '../async/timeout.js';
import type { LedgerSettings } from '../ledger/ledger-settings.js';
import { isLoopback } from '../net/loopback.js';
import { parseUrl } from '../net/url.js';
import type { Config, ConfigOptions, Environment } from './config.js';
import { readDuration } from './duration.js';
import type { Report } from './report.js';

type Problem = [problem: string, mend: string];

/** Where the sequencer is, and how it is spoken to. */
export function readSequencer(
  options: ConfigOptions,
  env: Environment,
  production: boolean,
  ledger: LedgerSettings | undefined,
  report: Report,
): Config['sequencer'] {
  const url = options.sequencerUrl ?? env.INTENT_SEQUENCER_URL ?? '';
  const grpcUrl = (options.grpcUrl ?? env.INTENT_SEQUENCER_GRPC_URL) || undefined;
  const grpcProblem = grpcUrl && problemOfGrpcUrl(grpcUrl, url, production);
  if (grpcProblem) report.problem('INTENT_SEQUENCER_GRPC_URL', ...grpcProblem);
  const isReplaced = url === '' && (options.transport !== undefined || grpcUrl !== undefined);
  const problem = isReplaced ? undefined : problemOfUrl(url, production);
  if (problem) report.problem('INTENT_SEQUENCER_URL', ...problem);
  // A variable that is set to nothing is not set; as a number it would be the port 0.
  const emulatorPort = Number(options.emulatorPort ?? (env.INTENT_EMULATOR_PORT || 4747));
  if (!Number.isInteger(emulatorPort) || emulatorPort < 0 || emulatorPort > 65_535) {
    report.problem('INTENT_EMULATOR_PORT', 'It is not a port.', 'INTENT_EMULATOR_PORT=4747');
  }
  const emulatorState = readEmulatorState(options.emulatorState ?? env.INTENT_EMULATOR_STATE, ledger);
  const dialect = options.dialect ?? 'intents';
  if (dialect !== 'intents' && dialect !== 'messaging') {
    report.problem('dialect', 'It is unknown.', "dialect: 'intents' (default) or 'messaging'");
  }
  const timeoutMs = readDuration('timeoutMs', options.timeoutMs, 8_000, report, maxTimerMs);
  const { tryTimeoutMs: given } = options;
  const tryTimeoutMs = given === undefined ? undefined : readDuration('tryTimeoutMs', given, 3_000, report, maxTimerMs);
  return Object.freeze({ url, grpcUrl, emulatorPort, emulatorState, dialect, timeoutMs, tryTimeoutMs });
}

/** What the ledger outlives, the embedded sequencer outlives too: it forgets together with it, and by the same folder. */
function readEmulatorState(given: string | undefined, ledger: LedgerSettings | undefined): string | undefined {
  if (given) return given === 'memory' ? undefined : given;
  return ledger?.database.kind === 'embedded' ? path.join(ledger.database.folder, 'sequencer.jsonl') : undefined;
}

function problemOfUrl(url: string, production: boolean): Problem | undefined {
  const example = 'INTENT_SEQUENCER_URL=https://<base_url of your payment service>';
  if (url === '') {
    const orEmbedded = production
      ? ''
      : ', or INTENT_SEQUENCER_URL=embedded to try everything on this machine, without any key';
    return ['It is not set.', `${example}${orEmbedded}`];
  }
  if (url === 'embedded') {
    return production
      ? [
          'The embedded sequencer moves no money and lets anyone log in; it is refused when NODE_ENV=production.',
          example,
        ]
      : undefined;
  }
  const { protocol, username, search, hash } = parseUrl(url) ?? new URL('none:');
  if (protocol !== 'https:' && protocol !== 'http:') return ['It is not an http(s) URL.', example];
  if (username || search || hash) return ['It has a user, a query or a fragment, which would not be sent.', example];
  return production && protocol === 'http:' ? ['It must be https when NODE_ENV=production.', example] : undefined;
}

function problemOfGrpcUrl(text: string, proxyUrl: string, production: boolean): Problem | undefined {
  const example = 'INTENT_SEQUENCER_GRPC_URL=https://<grpc_url of your payment service>';
  if (text === 'embedded' || proxyUrl === 'embedded') {
    return ['The embedded sequencer is not asked over gRPC.', 'INTENT_SEQUENCER_URL=embedded, and this one not set'];
  }
  // As gRPC itself writes addresses.
  if (/^[\w.-]+(?::\d{1,5})?$/.test(text)) {
    return ['It does not say whether TLS is spoken.', `INTENT_SEQUENCER_GRPC_URL=https://${text}`];
  }
  const { protocol, hostname, username, pathname, search, hash } = parseUrl(text) ?? new URL('none:');
  if (protocol !== 'https:' && protocol !== 'http:') return ['It is not an http(s) URL.', example];
  if (username || search || hash || pathname !== '/') {
    return ['It has a user, a path, a query or a fragment, which would not be sent.', example];
  }
  if (protocol === 'https:' || !production || isLoopback(hostname)) return undefined;
  return ['It must be https when NODE_ENV=production, but for a proxy on the same machine.', example];
}
