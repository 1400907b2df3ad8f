import { checkEvidence } from './check-evidence.js';
import type { Evidence } from './evidence.js';

const mostTold = 5;

/** What is wrong with the evidence of a run, with everything that is known of it in the order of time; empty where nothing is. */
export function reportOf(evidence: Evidence, how: { readonly isOver: boolean }): string {
  const faults = checkEvidence(evidence, how);
  const told = faults.slice(0, mostTold).map(({ kind, id, detail }) => `${kind}: ${detail}\n${storyOf(evidence, id)}`);
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
