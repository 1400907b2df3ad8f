import { IncomingMessage } from 'node:http';
import { type Config, howToGetLedger, namesDatabase, parseConfig, typoNote } from '../config/config.js';
import type { ConfigOptions } from '../config/config-options.js';
import { nearestName } from '../config/typos.js';
import { ConfigError, type ConfigProblem } from '../errors.js';
import { createTermsResolver, type TermsResolver } from '../http/create-intent/payment-terms.js';
import type { Hooks } from '../http/hooks.js';
import type { Logger } from '../http/logger.js';
import { problemsOfTelemetry, type TelemetryOption } from '../telemetry/open-telemetry.js';
import type { OnEvent } from '../telemetry/router-event.js';

/** The options of `intentRouter`. One that is left out is read from its environment variable, where it has one. */
export interface IntentRouterOptions extends ConfigOptions, Hooks {
  /**
   * Called with the events of intents in this process, for logs and analysis; see `docs/telemetry.md`. It runs after the work
   * that it reports, and cannot change it. Fulfil payments in `onPaid`, not here.
   */
  readonly onEvent?: OnEvent | undefined;
  /**
   * Spans and metrics by OpenTelemetry. Default: on where `@opentelemetry/api` is installed, for the SDK that the app
   * registers.
   */
  readonly telemetry?: TelemetryOption | undefined;
  /** Logger for what an operator should know: `console` (the default), winston or another with the same methods; `false` logs nothing. */
  readonly logger?: Logger | false | undefined;
  /** The time in milliseconds, for tests. Default: `Date.now`. */
  readonly now?: (() => number) | undefined;
}

/** The options of `intentRouter` after all checks. */
export interface RouterSettings {
  /** The options, each read once. */
  readonly options: IntentRouterOptions;
  readonly config: Config;
  /** Undefined where the site takes no payments. */
  readonly resolveTerms: TermsResolver | undefined;
}

/** A type that an option may have. Not by zod, which nothing else needs at start and which loads slower than this package. */
interface Form {
  /** As in "Make it text." */
  readonly name: string;
  readonly fits: (value: unknown) => boolean;
}

const text: Form = { name: 'text', fits: (value) => typeof value === 'string' };
const texts: Form = { name: 'a list of texts', fits: (value) => Array.isArray(value) && value.every(text.fits) };
const number: Form = { name: 'a number', fits: Number.isFinite };
const aBoolean: Form = { name: 'true or false', fits: (value) => typeof value === 'boolean' };
const aFunction: Form = { name: 'a function', fits: (value) => typeof value === 'function' };

/** An object or function with these methods. Its other properties are not read: they may be secret. */
function withFunctions(...names: string[]): Form {
  const fits = (value: unknown): boolean => {
    if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false;
    return names.every((name) => typeof (value as Record<string, unknown>)[name] === 'function');
  };
  return { name: names.length > 0 ? `an object with ${names.join(' and ')}` : 'an object', fits };
}

function orFalse({ name, fits }: Form): Form {
  return { name: `${name}, or false`, fits: (value) => value === false || fits(value) };
}

function eitherOf(...forms: readonly Form[]): Form {
  return {
    name: forms.map(({ name }) => name).join(', or '),
    fits: (value) => forms.some(({ fits }) => fits(value)),
  };
}

/** The type of every option. The configuration checks which texts and numbers are valid. */
const forms: Readonly<Record<keyof IntentRouterOptions, Form>> = {
  sequencerUrl: text,
  grpcUrl: text,
  grpcNames: eitherOf(text, withFunctions()),
  envelopeVersion: text,
  emulatorPort: number,
  emulatorState: text,
  dialect: text,
  timeoutMs: number,
  attemptTimeoutMs: number,
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
  webhookPublicKey: text,
  walletUrl: text,
  databaseUrl: text,
  allowEmbeddedLedger: aBoolean,
  migrate: aBoolean,
  settleDelayMs: number,
  watchMs: number,
  reversalWatchMs: number,
  settlementConcurrency: number,
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
  const valid: IntentRouterOptions = Object.fromEntries(Object.entries(given).filter(([name]) => !wrong.has(name)));
  const config = collect(problems, () => parseConfig(valid));
  const resolveTerms = collect(problems, () => createTermsResolver(valid));
  problems.push(...problemsOfTelemetry(valid.telemetry));
  if (!namesDatabase(valid)) problems.push(...hooksWithoutLedger(valid));
  // An option that is wrong is not reported as missing too.
  const reported = problems.filter(({ setting }) => !wrong.has(optionOf(setting)) || wrong.has(setting));
  if (reported.length > 0 || !config) throw new ConfigError(reported);
  return { options: valid, config, resolveTerms };
}

/** Every known option, also one that the object inherits, and every other property of the object itself. */
function namedOptions(options: IntentRouterOptions): Readonly<Record<string, unknown>> {
  const names = new Set([...Object.keys(forms).filter((name) => name in options), ...Object.keys(options)]);
  return Object.fromEntries([...names].map((name) => [name, options[name as keyof IntentRouterOptions]]));
}

/** The option with the meaning of a variable: `INTENT_SEQUENCER_URL` and `sequencerUrl`. */
function optionOf(variable: string): string {
  if (variable === 'INTENT_SEQUENCER_GRPC_URL') return 'grpcUrl';
  const words = variable.replace(/^INTENT_/, '').toLowerCase();
  return words.replace(/_(\w)/g, (_match, letter: string) => letter.toUpperCase());
}

function problemsOfForm(name: string, value: unknown): ConfigProblem[] {
  if (!Object.hasOwn(forms, name)) return [unknownOption(name)];
  const form = forms[name as keyof IntentRouterOptions];
  if (value === undefined || form.fits(value)) return [];
  return [{ setting: name, problem: 'It has the wrong type.', fix: `Make it ${form.name}.` }];
}

/** Runs `read`, and adds the problems it throws to the others. */
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
  problem: 'Options must be an object.',
  fix: 'app.use(intentRouter({ payment: (req) => ({ amount, currency }) }))',
};

const notCalled: ConfigProblem = {
  setting: 'intentRouter',
  problem: 'intentRouter itself was passed to app.use(), which calls it with every request.',
  fix: 'app.use(intentRouter())',
};

/** A settled payment must be recorded, so that it is not lost. */
function hooksWithoutLedger(options: IntentRouterOptions): ConfigProblem[] {
  const hooks = (['onPaid', 'onReversed', 'verifyPayment', 'onDeadLetter'] as const).filter((name) => options[name]);
  const typo = typoNote('INTENT_DATABASE_URL');
  const problem = `It needs a ledger, so that no payment is lost, and INTENT_DATABASE_URL is not set.${typo}`;
  return hooks.map((setting) => ({ setting, problem, fix: howToGetLedger() }));
}

/** Without this error an option with a typo would have no effect. */
function unknownOption(name: string): ConfigProblem {
  const known = Object.keys(forms);
  const fix = `Did you mean ${nearestName(name, known)}? Known: ${known.join(', ')}.`;
  return { setting: name, problem: 'There is no such option.', fix };
}
