import { inspect } from 'node:util';
import express, { type Express } from 'express';
import express4 from 'express4';
import type { HookRequest } from '../../../src/http/hooks.js';
import { formatBase58 } from '../../../src/keys/base58.js';
import type { Ledger } from '../../../src/ledger/ledger.js';
import { composeRouter, type IntentRouter } from '../../../src/router/intent-router.js';
import { type LedgerParts, routerLedger } from '../../../src/router/ledger.js';
import type { IntentRouterOptions } from '../../../src/router/options.js';
import { type Simulator, startSimulator } from '../../../src/simulator/index.js';
import { checkForSecrets } from '../runner/watch-for-leaks.js';
import { Description, noteAnswers, type SeenAnswer } from './described-answers.js';
import { serve } from './serve.js';

/** The two versions of Express that are supported. */
export const expressVersions = { 'Express 5': express, 'Express 4': express4 };
export type ExpressFactory = typeof express;

/** Public test values: the bytes 0 to 31 as the seed of the verifier, and an account. */
export const verifierSecret = formatBase58(Uint8Array.from({ length: 32 }, (_, index) => index));
export const destination = 'E8otxw1CVX9bfyddKu3ZB3BVLa4VVF9J7CTPdnUwT9jR';
export const domain = 'shop.example';
const walletUrl = 'https://wallet.example/open';

/** Records the log of the router, which must not contain secrets. */
export class LogRecorder {
  readonly lines: string[] = [];
  warn = (message: string, details?: unknown): void => this.#note('warn', message, details);
  error = (message: string, details?: unknown): void => this.#note('error', message, details);
  get text(): string {
    return this.lines.join('\n');
  }

  #note(level: string, message: string, details: unknown): void {
    this.lines.push(`${level} ${message} ${JSON.stringify(details)}`);
    checkForSecrets('a log', `${message} ${inspect(details, { depth: 8 })}`);
  }
}

export interface Site {
  readonly origin: string;
  readonly app: Express;
  readonly router: IntentRouter;
  readonly log: LogRecorder;
}

export interface SiteOptions extends IntentRouterOptions {
  readonly factory?: ExpressFactory;
  readonly mountPath?: string;
  /** Creates the ledger instead of the product. */
  readonly makeLedger?: (parts: LedgerParts) => Ledger | undefined;
  /** Middleware before the router. */
  readonly before?: (app: Express) => void;
  /** Routes after the router. */
  readonly after?: (app: Express) => void;
}

const groupNames = ['sequencer', 'simulator', 'login', 'ledger', 'limits', 'button', 'webhook'];

/** All the options. Of a name that several have, the last one counts; of a group, the last of each member. */
export function mergeOptions<Options extends object>(all: readonly Options[]): Options {
  const merged: Record<string, unknown> = {};
  for (const [name, value] of all.flatMap(Object.entries)) {
    const before = merged[name];
    const isJoined = groupNames.includes(name) && typeof before === 'object' && typeof value === 'object';
    merged[name] = isJoined ? { ...before, ...value } : value;
  }
  return merged as Options;
}

/** The order that the page sent with a request. */
export const orderIn = <Order = string>({ body }: Pick<HookRequest, 'body'>): Order => (body as { order: Order }).order;

const routers: IntentRouter[] = [];
const simulators: Simulator[] = [];
const described: { readonly router: IntentRouter; readonly seen: SeenAnswer[] }[] = [];
/** The responses of the sites of this test file, by their names in the description. */
export const produced = new Set<string>();

/** An Express site with the router, served on a free port. */
export async function startSite(...given: readonly SiteOptions[]): Promise<Site> {
  const { factory = express, mountPath, makeLedger = routerLedger, before, after, ...options } = mergeOptions(given);
  const log = new LogRecorder();
  const app = factory();
  const seen: SeenAnswer[] = [];
  noteAnswers(app, mountPath ?? '', (answer) => seen.push(answer));
  before?.(app);
  const payee = options.payment || options.clientAmount ? { destination } : {};
  const wallet = options.sequencer?.url === 'simulator' ? {} : { button: { walletUrl } };
  const defaults = { login: { verifierSecret, domain }, ...wallet, ...payee, logger: log };
  const router = composeRouter(mergeOptions<IntentRouterOptions>([defaults, options]), makeLedger);
  routers.push(router);
  described.push({ router, seen });
  if (mountPath === undefined) app.use(router);
  else app.use(mountPath, router);
  after?.(app);
  return { origin: await serve(app), app, router, log };
}

/** A site with a simulator on another port, which knows the address of its key file. */
export async function startSiteWithSimulator(
  ...given: readonly SiteOptions[]
): Promise<Site & { simulator: Simulator }> {
  const options = mergeOptions(given);
  const simulator = await startSimulator();
  simulators.push(simulator);
  const payment = () => ({ amount: '4.50', currency: 'usd' });
  const site = await startSite({ sequencer: { url: simulator.url }, payment }, options);
  simulator.setLocalDomain(domainIn(options), site.origin);
  // On a busy machine a database can take longer to open than a request waits for it.
  if (options.ledger) await site.router.ready();
  return { ...site, simulator };
}

/** The domain of a site. */
export const domainIn = ({ login }: IntentRouterOptions): string =>
  (typeof login === 'object' && login.domain) || domain;

/** Every response of a site matches its description. */
afterEach(async () => {
  for (const { router, seen } of described) {
    if (seen.length === 0) continue;
    const description = new Description(await router.openApi());
    for (const answer of seen.splice(0)) {
      const { name = '', faults = [] } = description.check(answer) ?? {};
      produced.add(name);
      if (faults.length > 0)
        throw new Error(`${name} is not as described: ${faults.join('; ')}. ${JSON.stringify(answer)}`);
    }
  }
});

afterAll(async () => {
  for (const router of routers.splice(0)) await router.close();
  for (const simulator of simulators.splice(0)) await simulator.close();
});
