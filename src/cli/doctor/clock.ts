import type { Check, DoctorContext } from './check.js';
import { lookAtClock } from './clock-skew.js';
import { type Finding, ok, skipped } from './finding.js';

/** The clocks of the site and of the sequencer, as their answers tell them; that of a database is looked at with it. */
export const clock: Check = async (context) => {
  const told = await Promise.all([ofSite(context), ofSequencer(context)]);
  const known = told.flatMap((one) => one ?? []);
  if (known.length === 0) return [skipped('neither the site nor the sequencer tells a time')];
  const found = known.flatMap(({ findings }) => findings);
  return found.length > 0
    ? found
    : [ok(`that of ${known.map(({ whose }) => whose).join(' and ')} goes as this one does`)];
};

interface Told {
  readonly whose: string;
  readonly findings: readonly Finding[];
}

interface Dated {
  readonly headers: Readonly<Record<string, string>>;
  readonly askedAtMs: number;
  readonly tookMs: number;
}

async function ofSite({ siteUrl, site }: DoctorContext): Promise<Told | undefined> {
  return siteUrl && compare('the site', await site().catch(() => undefined));
}

async function ofSequencer({ settings, visitor, signal }: DoctorContext): Promise<Told | undefined> {
  const { sequencerUrl } = settings;
  if (sequencerUrl === undefined || sequencerUrl === 'embedded') return undefined;
  // Whatever it answers, it tells the time.
  const url = new URL(`${sequencerUrl.replace(/\/+$/, '')}/v1/api`);
  return compare('the sequencer', await visitor.read(url, { signal }).catch(() => undefined));
}

function compare(whose: string, answer: Dated | undefined): Told | undefined {
  const theirsMs = Date.parse(answer?.headers.date ?? '');
  if (!answer || Number.isNaN(theirsMs)) return undefined;
  return { whose, findings: lookAtClock(whose, theirsMs, { ...answer, resolutionMs: 1_000 }) };
}
