import { SequencerError, type SequencerErrorCode } from '../../errors.js';
import type { SettledFault } from './fault.js';
import type { FaultKind } from './fault-kinds.js';
import { type FaultyOperationCall, spoiltEnvelope } from './spoil-envelope.js';
import { waitFor } from './wait-for.js';

/** What a client says over HTTP of the faults that there is nothing to see of without a socket. */
const codes: Readonly<Partial<Record<FaultKind, SequencerErrorCode>>> = {
  refuse: 'sequencer_unreachable',
  cut: 'sequencer_unreachable',
  status: 'sequencer_bad_status',
  redirect: 'sequencer_bad_status',
  'wrong-content-type': 'sequencer_bad_response',
  flood: 'sequencer_bad_response',
};

/** The envelope that a call without a socket is answered with. @throws {SequencerError} */
export async function misbehaveInProcess(call: FaultyOperationCall, signal: AbortSignal): Promise<Uint8Array> {
  const { fault, perform } = call;
  const isLateEffect = fault.kind === 'delay' && fault.when === 'before';
  const envelope = isLateEffect ? undefined : await spoiltEnvelope(call);
  if (fault.kind === 'delay') await waitFor(fault.ms, signal);
  if (fault.kind === 'drip') await waitFor(fault.ms * (envelope?.length ?? 0), signal);
  failInProcess(fault);
  return envelope ?? perform();
}

/** @throws {SequencerError} where over HTTP there would be no envelope */
export function failInProcess({ kind, httpStatus }: SettledFault): void {
  const code = codes[kind];
  if (!code) return;
  const details = kind === 'status' ? { httpStatus } : kind === 'redirect' ? { httpStatus: 302 } : {};
  throw new SequencerError(code, 'The sequencer was told to misbehave.', details);
}
