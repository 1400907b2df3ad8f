import { IncomingMessage } from 'node:http';
import { type Config, howToGetLedger, namesDatabase, parseConfig, typoNote } from '../config/config.js';
import type { ConfigOptions } from '../config/config-options.js';
import { nearestName } from '../config/typos.js';
import { ConfigError, type ConfigProblem } from '../errors.js';
import { createTermsResolver, type TermsResolver } from '../http/create-intent/payment-terms.js';
import type { Hooks } from '../http/hooks.js';
import type { Logger } from '../http/response/logger.js';
import { problemsOfTelemetry, type TelemetryOption } from '../telemetry/open-telemetry.js';
import type { OnEvent } from '../telemetry/router-event.js';
import {
  aBoolean,
  aFunction,
  eitherOf,
  type Form,
  number,
  orFalse,
  text,
  texts,
  withFunctions,
} from './option-forms.js';

/** Everything that `intentRouter` can be told; what has a variable of the environment is read from there when it is left out. */
export interface IntentRouterOptions extends ConfigOptions, Hooks {
  /**
   * Told of what happens in the life of intents, for logs and analysis; see `docs/telemetry.md`. It is called after what was
   * going on, in this process, and whatever it does changes nothing. Fulfil payments in `onPaid`, and not here.
   */
  readonly onEvent?: OnEvent | undefined;
  /**
   * Spans and metrics by OpenTelemetry. Default: on where `@opentelemetry/api` is installed, and then they go to the SDK that
   * the app registers.
   */
  readonly telemetry?: TelemetryOption | undefined;
  /** Where to tell what an operator should know: `console` (the default), winston or another with the same methods; `false` is silence. */
  readonly logger?: Logger | false | undefined;
  /** The time in milliseconds, for tests. Default: `Date.now`. */
  readonly now?: (() => number) | undefined;
}

/** What the options of `intentRouter` come to. */
export interface RouterSettings {
  /** The options themselves, each read once. */
  readonly options: IntentRouterOptions;
  readonly config: Config;
  /** Undefined where the site takes no payments. */
  readonly resolveTerms: TermsResolver | undefined;
}

/** The form of every option. What a text or a number may be is for the configuration to tell. */
const forms: Readonly<Record<keyof IntentRouterOptions, Form>> = {
  sequencerUrl: text,
  grpcUrl: text,
  grpcNames: eitherOf(text, withFunctions()),
  envelopeVersion: text,
  emulatorPort: number,
  emulatorState: text,
  dialect: text,
  timeoutMs: number,
  tryTimeoutMs: number,
  verifierSecret: text,
  verifierSecretFile: text,
  signer: withFunctions(),
  domain: text,
  destination: text,
  origin: text,
  secret: text,
  login: aBoolean,
  confirm: aBoolean,
  loginTtlMs: number,
  sessionTtlMs: number,
  webhook: aBoolean,
  serviceKey: text,
  walletUrl: text,
  databaseUrl: text,
  allowEmbeddedLedger: aBoolean,
  migrate: aBoolean,
  settleDelayMs: number,
  watchMs: number,
  reversalWatchMs: number,
  looksAtOnce: number,
  hookAttempts: number,
  hookTimeoutMs: number,
  lateAfterMs: number,
  returnOrigins: texts,
  routes: withFunctions(),
  connections: withFunctions(),
  rateLimits: orFalse(withFunctions()),
  transport: withFunctions('call', 'close'),
  payment: aFunction,
  clientAmount: withFunctions(),
  onCreated: aFunction,
  onPaid: aFunction,
  onReversed: aFunction,
  verifyPayment: aFunction,
  onDeadLetter: aFunction,
  onLogin: aFunction,
  onEvent: aFunction,
  telemetry: eitherOf(aBoolean, withFunctions()),
  logger: orFalse(withFunctions('warn', 'error')),
  now: aFunction,
};

/**
 * Checks the options of `intentRouter` and reads the configuration they make with the environment.
 * @throws {ConfigError} with everything that is missing or wrong at once
 */
export function parseRouterOptions(options: IntentRouterOptions): RouterSettings {
  if (options instanceof IncomingMessage) throw new ConfigError([notCalled]);
  if (typeof options !== 'object' || options === null) throw new ConfigError([notAnObject]);
  const given = namedOptions(options);
  const problems = Object.entries(given).flatMap(([name, value]) => problemsOfForm(name, value));
  const wrong = new Set(problems.map(({ setting }) => setting));
  const sound: IntentRouterOptions = Object.fromEntries(Object.entries(given).filter(([name]) => !wrong.has(name)));
  const config = collect(problems, () => parseConfig(sound));
  const resolveTerms = collect(problems, () => createTermsResolver(sound));
  problems.push(...problemsOfTelemetry(sound.telemetry));
  if (!namesDatabase(sound)) problems.push(...hooksWithoutLedger(sound));
  // What was given and is wrong is not missing besides.
  const told = problems.filter(({ setting }) => !wrong.has(optionOf(setting)) || wrong.has(setting));
  if (told.length > 0 || !config) throw new ConfigError(told);
  return { options: sound, config, resolveTerms };
}

/** Every option that there is, also one that an object has from its class; and what else the object itself has. */
function namedOptions(options: IntentRouterOptions): Readonly<Record<string, unknown>> {
  const names = new Set([...Object.keys(forms).filter((name) => name in options), ...Object.keys(options)]);
  return Object.fromEntries([...names].map((name) => [name, options[name as keyof IntentRouterOptions]]));
}

/** The option that means the same as a variable: `INTENT_SEQUENCER_URL` and `sequencerUrl`. */
function optionOf(variable: string): string {
  if (variable === 'INTENT_SEQUENCER_GRPC_URL') return 'grpcUrl';
  const words = variable.replace(/^INTENT_/, '').toLowerCase();
  return words.replace(/_(\w)/g, (_match, letter: string) => letter.toUpperCase());
}

function problemsOfForm(name: string, value: unknown): ConfigProblem[] {
  if (!Object.hasOwn(forms, name)) return [unknownOption(name)];
  const form = forms[name as keyof IntentRouterOptions];
  if (value === undefined || form.fits(value)) return [];
  return [{ setting: name, problem: 'It has the wrong type.', mend: `Make it ${form.name}.` }];
}

/** Runs a reader; the problems it throws are put with the others. */
function collect<Value>(problems: ConfigProblem[], read: () => Value): Value | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    problems.push(...error.problems);
    return undefined;
  }
}

const notAnObject: ConfigProblem = {
  setting: 'intentRouter',
  problem: 'Its options are no object.',
  mend: 'app.use(intentRouter({ payment: (req) => ({ amount, currency }) }))',
};

const notCalled: ConfigProblem = {
  setting: 'intentRouter',
  problem: 'It was handed to app.use() itself, and so is called with every request.',
  mend: 'app.use(intentRouter())',
};

/** What is settled must be written down, so that no payment is lost. */
function hooksWithoutLedger(options: IntentRouterOptions): ConfigProblem[] {
  const hooks = (['onPaid', 'onReversed', 'verifyPayment', 'onDeadLetter'] as const).filter((name) => options[name]);
  const typo = typoNote('INTENT_DATABASE_URL');
  const problem = `It needs a ledger, so that no payment is lost, and INTENT_DATABASE_URL is not set.${typo}`;
  return hooks.map((setting) => ({ setting, problem, mend: howToGetLedger() }));
}

/** Without this error an option with a typo would have no effect. */
function unknownOption(name: string): ConfigProblem {
  const known = Object.keys(forms);
  const mend = `Did you mean ${nearestName(name, known)}? Known: ${known.join(', ')}.`;
  return { setting: name, problem: 'There is no such option.', mend };
}
