import type { Config, ConfigOptions, Environment } from '../config.js';
import { maxTimerMs, readDuration } from './duration.js';
import type { Report } from './report.js';

/** Where the sequencer is, and how it is spoken to. */
export function readSequencer(
  options: ConfigOptions,
  env: Environment,
  production: boolean,
  report: Report,
): Config['sequencer'] {
  const url = options.sequencerUrl ?? env.INTENT_SEQUENCER_URL ?? '';
  const problem = url === '' && options.transport ? undefined : problemOfUrl(url, production);
  if (problem) report.problem('INTENT_SEQUENCER_URL', ...problem);
  // A variable that is set to nothing is not set; as a number it would be the port 0.
  const emulatorPort = Number(options.emulatorPort ?? (env.INTENT_EMULATOR_PORT || 4747));
  if (!Number.isInteger(emulatorPort) || emulatorPort < 0 || emulatorPort > 65_535) {
    report.problem('INTENT_EMULATOR_PORT', 'It is not a port.', 'INTENT_EMULATOR_PORT=4747');
  }
  const dialect = options.dialect ?? 'intents';
  if (dialect !== 'intents' && dialect !== 'messaging') {
    report.problem('dialect', 'It is unknown.', "dialect: 'intents' (default) or 'messaging'");
  }
  const timeoutMs = readDuration('timeoutMs', options.timeoutMs, 8_000, report, maxTimerMs);
  const { tryTimeoutMs: given } = options;
  const tryTimeoutMs = given === undefined ? undefined : readDuration('tryTimeoutMs', given, 3_000, report, maxTimerMs);
  return Object.freeze({ url, emulatorPort, dialect, timeoutMs, tryTimeoutMs });
}

function problemOfUrl(url: string, production: boolean): [problem: string, mend: string] | undefined {
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
  const { protocol, username, search, hash } = URL.canParse(url) ? new URL(url) : new URL('none:');
  if (protocol !== 'https:' && protocol !== 'http:') return ['It is not an http(s) URL.', example];
  if (username || search || hash) return ['It has a user, a query or a fragment, which would not be sent.', example];
  return production && protocol === 'http:' ? ['It must be https when NODE_ENV=production.', example] : undefined;
}
