import { type Sequencer, startSequencer } from '../../../src/emulator/index.js';
import type { IntentState, LedgerIntent } from '../../../src/ledger/ledger.js';
import type { SettlementTiming } from '../../../src/ledger/settlement/settlement-timing.js';
import { routerLedger } from '../../../src/router/ledger.js';
import { LedgerFaults } from '../databases/ledger-faults.js';
import { eventually } from '../eventually.js';
import { type TappedTransport, tappedTransport } from '../transports/tapped-transport.js';
import { domain, type Site, type SiteOptions, startSite } from './site.js';

/** A site with a ledger and an embedded sequencer, both of which can be made to fail. */
export interface LedgerSite extends Site {
  readonly sequencer: Sequencer;
  /** The calls of the site to the sequencer. */
  readonly tap: TappedTransport;
  /** The calls of the site to its ledger. */
  readonly faults: LedgerFaults;
}

export interface LedgerSiteOptions extends SiteOptions {
  /** The database URL of the ledger. */
  readonly databaseUrl: string;
  /** The sequencer of another site of the same test. Default: a new one. */
  readonly sequencer?: Sequencer;
  /** The timing of the ledger. */
  readonly timing?: Partial<SettlementTiming>;
}

const sequencers: Sequencer[] = [];

export async function startLedgerSite({
  sequencer: given,
  timing,
  ...options
}: LedgerSiteOptions): Promise<LedgerSite> {
  const sequencer = given ?? (await startSequencer());
  if (!given) sequencers.push(sequencer);
  const [tap, faults] = [tappedTransport(sequencer.transport), new LedgerFaults()];
  const site = await startSite({
    sequencerUrl: sequencer.url,
    transport: tap,
    payment: () => ({ amount: '4.50', currency: 'usd' }),
    makeLedger: (parts) => {
      const ledger = routerLedger(parts, timing);
      return ledger && faults.wrap(ledger);
    },
    ...options,
  });
  sequencer.setLocalDomain(options.domain ?? domain, site.origin);
  await site.router.ready();
  return { ...site, sequencer, tap, faults };
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
  for (const sequencer of sequencers.splice(0)) await sequencer.close();
});
