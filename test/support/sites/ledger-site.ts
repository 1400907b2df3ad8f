import type { IntentState, LedgerIntent } from '../../../src/ledger/ledger.js';
import type { SettlementTiming } from '../../../src/ledger/settlement/settlement-timing.js';
import { type LedgerParts, routerLedger } from '../../../src/router/ledger.js';
import { type Simulator, startSimulator } from '../../../src/simulator/index.js';
import { LedgerFaults } from '../databases/ledger-faults.js';
import { eventually } from '../eventually.js';
import { type TappedTransport, tappedTransport } from '../transports/tapped-transport.js';
import { domainIn, mergeOptions, type Site, type SiteOptions, startSite } from './site.js';

/** A site with a ledger and a simulator, both of which can be made to fail. */
export interface LedgerSite extends Site {
  readonly simulator: Simulator;
  /** The calls of the site to the sequencer. */
  readonly tap: TappedTransport;
  /** The calls of the site to its ledger. */
  readonly faults: LedgerFaults;
}

export interface LedgerSiteOptions extends SiteOptions {
  /** The simulator of another site of the same test. Default: a new one. */
  readonly runningSimulator?: Simulator;
  /** The timing of the ledger. */
  readonly timing?: Partial<SettlementTiming>;
}

const simulators: Simulator[] = [];

export async function startLedgerSite(...given: readonly LedgerSiteOptions[]): Promise<LedgerSite> {
  const { runningSimulator, timing, ...options } = mergeOptions(given);
  const simulator = runningSimulator ?? (await startSimulator());
  if (!runningSimulator) simulators.push(simulator);
  const [tap, faults] = [tappedTransport(simulator.transport), new LedgerFaults()];
  const payment = () => ({ amount: '4.50', currency: 'usd' });
  const makeLedger = (parts: LedgerParts) => {
    const ledger = routerLedger(parts, timing);
    return ledger && faults.wrap(ledger);
  };
  const site = await startSite({ sequencer: { url: simulator.url, transport: tap }, payment, makeLedger }, options);
  simulator.setLocalDomain(domainIn(options), site.origin);
  await site.router.ready();
  return { ...site, simulator, tap, faults };
}

/** Waits until an intent has a state. */
export async function untilState(
  { router }: Pick<Site, 'router'>,
  id: string,
  state: IntentState,
): Promise<LedgerIntent> {
  let intent: LedgerIntent | undefined;
  await eventually(async () => {
    intent = await router.intents.find(id);
    if (intent?.state !== state) throw new Error(`The intent is ${intent?.state} instead of ${state}.`);
  });
  return intent as unknown as LedgerIntent;
}

afterAll(async () => {
  for (const simulator of simulators.splice(0)) await simulator.close();
});
