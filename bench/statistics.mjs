// The statistics of the measurements, and the decisions that depend on them.

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2;
}

/** The median over the rounds. */
export function medianOf(samples, key = 'cpuUs') {
  return median(samples.map((sample) => sample[key]));
}

/** The median ratio of two variants over the rounds; undefined if one was not measured. */
export function ratioOf(samples, others, key = 'cpuUs') {
  return samples && others && median(samples.map((sample, round) => sample[key] / others[round][key]));
}

/** The median difference of two variants over the rounds; undefined if one was not measured. */
export function differenceOf(samples, others, key = 'cpuUs') {
  return samples && others && median(samples.map((sample, round) => sample[key] - others[round][key]));
}

/** The windows that must agree at the end of a warm-up, and how far the largest may exceed the smallest. */
const stable = { windows: 3, within: 0.03 };

/** Whether the last windows of a warm-up agree. */
export function isStable(cpuUs) {
  const last = cpuUs.slice(-stable.windows);
  return last.length === stable.windows && Math.max(...last) <= Math.min(...last) * (1 + stable.within);
}

/** The share of all cores that other programs may use during the windows of a row. */
export const maxOthers = 0.1;

/**
 * The share of all cores that programs outside of the benchmark used. CPU time that a hypervisor gave to other machines
 * counts too.
 * @param readings the idle time of all cores and the CPU time of all processes of the benchmark, before and after
 */
export function othersShareOf({ before, after, cores }) {
  const [totalMs, idleMs, ownMs] = [
    (after.atMs - before.atMs) * cores,
    after.idleMs - before.idleMs,
    after.ownMs - before.ownMs,
  ];
  return Math.max(0, (totalMs - idleMs - ownMs) / totalMs);
}

/** Whether other programs used so many cores that the ratios of this row would be wrong. */
export function isDisturbed(samples) {
  return samples.reduce((sum, { others }) => sum + others, 0) / samples.length > maxOthers;
}
