import { setTimeout as wait } from 'node:timers/promises';
import { checkEvidence, type FaultKind, type FoundFault } from './check-evidence.js';
import type { Evidence } from './evidence.js';

const mostTold = 5;
/** What time mends, as long as somebody works. */
const passing: readonly FaultKind[] = ['lost payment', 'undue payment'];

/**
 * Looks again and again until all is well, until there is something that time does not fix, or for too long.
 * @returns what is wrong, with all that is known of it; empty where nothing is
 */
export async function reportInTheEnd(look: () => Promise<Evidence>): Promise<string> {
  const endMs = performance.now() + 120_000;
  for (;;) {
    const evidence = await look();
    const faults = checkEvidence(evidence, { isOver: true });
    const mayPass = faults.length > 0 && faults.every(({ kind }) => passing.includes(kind));
    if (!mayPass || performance.now() > endMs) return tell(evidence, faults);
    await wait(100);
  }
}

function tell(evidence: Evidence, faults: readonly FoundFault[]): string {
  // A fault that time does not fix is why the run ended: it comes first.
  const byWeight = faults.toSorted(
    (one, other) => Number(passing.includes(one.kind)) - Number(passing.includes(other.kind)),
  );
  const told = byWeight
    .slice(0, mostTold)
    .map(({ kind, id, detail }) => `${kind}: ${detail}\n${storyOf(evidence, id)}`);
  if (faults.length > mostTold) told.push(`and ${faults.length - mostTold} more`);
  return told.join('\n\n');
}

function storyOf({ sequencer, intents, steps, effects }: Evidence, id: string): string {
  const isIts = (one: { readonly id: string }): boolean => one.id === id;
  const events = sequencer.filter(isIts).map((event) => {
    return { at: event.at, text: `sequencer: ${event.what === 'said' ? `said ${event.said}` : event.what}` };
  });
  const changes = steps.filter(isIts).map(({ at, from, to }) => ({ at, text: `ledger: ${from} > ${to}` }));
  const timeline = [...events, ...changes].sort((one, other) => one.at - other.at);
  return [
    `  ${id}`,
    ...timeline.map(({ at, text }) => `  ${new Date(at).toISOString()} ${text}`),
    `  row: ${JSON.stringify(intents.find(isIts))}`,
    ...effects.filter(isIts).map((effect) => `  effect: ${JSON.stringify(effect)}`),
  ].join('\n');
}
