import { type Config, isDatabaseSet, ledgerFix, parseConfig, typoNote } from '../config/config.js';
import type { ConfigOptions } from '../config/config-options.js';
import { ConfigError, type ConfigProblem } from '../errors.js';
import { requireCalled } from '../http/attached-router.js';
import { createTermsResolver, type TermsResolver } from '../http/create-intent/payment-terms.js';
import type { Hooks } from '../http/hooks.js';
import type { Logger } from '../http/logger.js';
import { unknownOption } from '../reject-unknown.js';
import { problemsOfTelemetry, type TelemetryOption } from '../telemetry/open-telemetry.js';
import type { OnEvent } from '../telemetry/router-event.js';

/** The options of `intentRouter`. An option takes precedence over its environment variable. */
export interface IntentRouterOptions extends ConfigOptions, Hooks {
  /**
   * Called for each event in this process, for logs and analysis; see `docs/events.md`. An event can be lost:
   * fulfill payments in `onPaid`.
   */
  readonly onEvent?: OnEvent | undefined;
  /** OpenTelemetry spans and metrics, through the SDK of the app. Default: enabled if `@opentelemetry/api` is installed. */
  readonly telemetry?: TelemetryOption | undefined;
  /**
   * `console` (the default), winston or another logger that is called with `(message, details)`; for pino see `docs/logs.md`.
   * `false` disables logging.
   */
  readonly logger?: Logger | false | undefined;
  /**
   * The time in milliseconds, for tests. Default: `Date.now`, and `performance.now` for lifetimes. The ledger uses the clock of
   * its database: see `advanceTime`.
   */
  readonly now?: (() => number) | undefined;
}

export interface RouterSettings {
  /** The options, each read once. */
  readonly options: IntentRouterOptions;
  readonly config: Config;
  /** Undefined for a site without payments. */
  readonly resolveTerms: TermsResolver | undefined;
}

/** The type of an option. Without zod, which would double the time to load this package. */
interface OptionType {
  readonly name: string;
  readonly accepts: (value: unknown) => boolean;
}

const string: OptionType = { name: 'a string', accepts: (value) => typeof value === 'string' };
const strings: OptionType = {
  name: 'a list of strings',
  accepts: (value) => Array.isArray(value) && value.every(string.accepts),
};
const number: OptionType = { name: 'a number', accepts: Number.isFinite };
const boolean: OptionType = { name: 'true or false', accepts: (value) => typeof value === 'boolean' };
const fn: OptionType = { name: 'a function', accepts: (value) => typeof value === 'function' };

/** An object or function with these methods. Its other properties are not read: they may be secret. */
function objectWith(...methods: string[]): OptionType {
  const accepts = (value: unknown): boolean => {
    if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false;
    return methods.every((method) => typeof (value as Record<string, unknown>)[method] === 'function');
  };
  return { name: methods.length > 0 ? `an object with the methods ${methods.join(' and ')}` : 'an object', accepts };
}

const object = objectWith();
/** An object of options. A function or an array has none, and would be ignored. */
const group: OptionType = {
  name: 'an object',
  accepts: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
};

function orFalse({ name, accepts }: OptionType): OptionType {
  return { name: `${name}, or false`, accepts: (value) => value === false || accepts(value) };
}

function eitherOf(...types: readonly OptionType[]): OptionType {
  return {
    name: types.map(({ name }) => name).join(', or '),
    accepts: (value) => types.some(({ accepts }) => accepts(value)),
  };
}

/** The type of every option. The configuration checks the values. */
const optionTypes: Readonly<Record<keyof IntentRouterOptions, OptionType>> = {
  sequencerUrl: string,
  grpcUrl: string,
  grpcNames: eitherOf(string, object),
  envelopeVersion: string,
  simulator: group,
  dialect: string,
  timeoutMs: number,
  attemptTimeoutMs: number,
  verifierSecret: string,
  signer: object,
  domain: string,
  destination: string,
  origin: string,
  secret: string,
  login: eitherOf(boolean, group),
  webhook: boolean,
  webhookPublicKey: string,
  walletUrl: string,
  databaseUrl: string,
  allowEmbeddedLedger: boolean,
  migrate: boolean,
  settleDelayMs: number,
  watch: group,
  settlementConcurrency: number,
  hookLimits: group,
  returnOrigins: strings,
  routes: group,
  connectionLimits: group,
  rateLimits: orFalse(group),
  transport: objectWith('call', 'close'),
  payment: fn,
  clientAmount: group,
  onCreated: fn,
  onPaid: fn,
  onReversed: fn,
  verifyPayment: fn,
  onDeadLetter: fn,
  onLogin: fn,
  onSession: fn,
  onEvent: fn,
  telemetry: eitherOf(boolean, object),
  logger: orFalse(objectWith('warn', 'error')),
  now: fn,
};

const optionNames = Object.keys(optionTypes);

/** Checks the options and reads the configuration. @throws {ConfigError} with every missing or invalid setting */
export function parseRouterOptions(options: IntentRouterOptions): RouterSettings {
  requireCalled(options, 'intentRouter', 'a router', 'app.use(intentRouter())');
  if (typeof options !== 'object' || options === null) throw new ConfigError([notAnObject]);
  const given = namedOptions(options);
  const problems = Object.entries(given).flatMap(([name, value]) => problemsOfOption(name, value));
  const wrong = new Set(problems.map(({ setting }) => setting));
  const valid: IntentRouterOptions = Object.fromEntries(Object.entries(given).filter(([name]) => !wrong.has(name)));
  const config = collect(problems, () => parseConfig(valid));
  const resolveTerms = collect(problems, () => createTermsResolver(valid));
  problems.push(...problemsOfTelemetry(valid.telemetry));
  if (!isDatabaseSet(valid) && !wrong.has('databaseUrl')) problems.push(...hooksWithoutLedger(valid));
  // An option of the wrong type is not reported as missing too.
  const reported = problems.filter(({ setting }) => !wrong.has(optionOf(setting)) || wrong.has(setting));
  if (reported.length > 0 || !config) throw new ConfigError(reported);
  return { options: valid, config, resolveTerms };
}

/** Every known option, including inherited ones, and every other property of the object itself. */
function namedOptions(options: IntentRouterOptions): Readonly<Record<string, unknown>> {
  const names = new Set([...optionNames.filter((name) => name in options), ...Object.keys(options)]);
  return Object.fromEntries([...names].map((name) => [name, options[name as keyof IntentRouterOptions]]));
}

/** The option that corresponds to a variable: `sequencerUrl` to `INTENT_SEQUENCER_URL`. */
function optionOf(variable: string): string {
  if (variable === 'INTENT_SEQUENCER_GRPC_URL') return 'grpcUrl';
  const words = variable.replace(/^INTENT_/, '').toLowerCase();
  return words.replace(/_(\w)/g, (_match, letter: string) => letter.toUpperCase());
}

function problemsOfOption(name: string, value: unknown): ConfigProblem[] {
  if (!Object.hasOwn(optionTypes, name)) return [unknownOption(name, name, optionNames)];
  const type = optionTypes[name as keyof IntentRouterOptions];
  if (value === undefined || type.accepts(value)) return [];
  return [{ setting: name, problem: `It must be ${type.name}.`, fix: 'Correct its value, or remove the option.' }];
}

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

/** Without a ledger a settled payment could be lost. */
function hooksWithoutLedger(options: IntentRouterOptions): ConfigProblem[] {
  const hooks = (['onPaid', 'onReversed', 'verifyPayment', 'onDeadLetter'] as const).filter((name) => options[name]);
  const problem = `This hook needs a ledger, and no database is set.${typoNote('INTENT_DATABASE_URL')}`;
  // An empty option hides the variable.
  const note = options.databaseUrl === '' ? 'Remove the empty option `databaseUrl`, and set ' : '';
  return hooks.map((setting) => ({ setting, problem, fix: note + ledgerFix() }));
}
