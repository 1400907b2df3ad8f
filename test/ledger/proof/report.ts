import { setTimeout as wait } from 'node:timers/promises';
import { checkEvidence, type FaultKind, type FoundFault } from './check-evidence.js';
import type { Evidence } from './evidence.js';

const mostReported = 5;
/** Faults that disappear while a ledger works. */
const transient: readonly FaultKind[] = ['lost payment', 'unpaid settlement'];

/**
 * Reads the evidence until it has no fault, has a permanent fault, or a timeout ends.
 * @returns the faults with their evidence, or an empty text
 */
export async function reportInTheEnd(read: () => Promise<Evidence>): Promise<string> {
  const endMs = performance.now() + 120_000;
  for (;;) {
    const evidence = await read();
    const faults = checkEvidence(evidence, { isComplete: true });
    const isTransient = faults.length > 0 && faults.every(({ kind }) => transient.includes(kind));
    if (!isTransient || performance.now() > endMs) return describeFaults(evidence, faults);
    await wait(100);
  }
}

function describeFaults(evidence: Evidence, faults: readonly FoundFault[]): string {
  // Permanent faults, which ended the run, come first.
  const byWeight = faults.toSorted(
    (one, other) => Number(transient.includes(one.kind)) - Number(transient.includes(other.kind)),
  );
  const reported = byWeight
    .slice(0, mostReported)
    .map(({ kind, id, detail }) => `${kind}: ${detail}\n${storyOf(evidence, id)}`);
  if (faults.length > mostReported) reported.push(`and ${faults.length - mostReported} more`);
  return reported.join('\n\n');
}

function storyOf({ sequencer, intents, steps, effects }: Evidence, id: string): string {
  const isIts = (one: { readonly id: string }): boolean => one.id === id;
  const events = sequencer.filter(isIts).map((event) => {
    return { at: event.at, text: `sequencer: ${event.what === 'answered' ? `answered ${event.answer}` : event.what}` };
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
