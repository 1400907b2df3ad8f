import { type Finding, fault, warning } from './finding.js';

/** Over so much logs and ages are confusing, in milliseconds. */
const noticeableMs = 5_000;
/** Over so much sessions and certificates are taken for what they are not. */
const harmfulMs = 60_000;

const mend = "Let NTP keep the time on both machines: `timedatectl set-ntp true`, or the container host's own.";

export interface Asked {
  /** By the clock of this machine, ms since 1970. */
  readonly askedAtMs: number;
  readonly tookMs: number;
  /** How exactly the other side tells its time, in milliseconds. */
  readonly resolutionMs: number;
}

/** Compares the clock of another machine, as it was told in an answer, with that of this one. */
export function lookAtClock(whose: string, theirsMs: number, { askedAtMs, tookMs, resolutionMs }: Asked): Finding[] {
  // It was told somewhere between the question and the answer, and cut off to its resolution.
  const [earliest, latest] = [theirsMs - askedAtMs - tookMs, theirsMs + resolutionMs - askedAtMs];
  const aheadMs = earliest > 0 ? earliest : Math.min(0, latest);
  const offMs = Math.abs(aheadMs);
  if (offMs <= noticeableMs) return [];
  const text = `The clock of ${whose} is ${spanOf(offMs)} ${aheadMs > 0 ? 'ahead of' : 'behind'} that of this machine.`;
  return [offMs > harmfulMs ? fault(text, mend) : warning(text, mend)];
}

function spanOf(ms: number): string {
  const [unit, length] = (
    [
      ['days', 86_400_000],
      ['hours', 3_600_000],
      ['minutes', 60_000],
    ] as const
  ).find(([, each]) => ms >= 2 * each) ?? ['seconds', 1_000];
  return `${Math.round(ms / length)} ${unit}`;
}
