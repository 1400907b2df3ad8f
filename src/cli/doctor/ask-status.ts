import { generateKey } from '../../keys/verifier-key.js';
import { getStatus } from '../../sequencer/calls.js';
import type { Transport } from '../../sequencer/transport.js';
import type { DoctorContext } from './check.js';
import { explainSequencer } from './explain-sequencer.js';
import { type Finding, fault, ok } from './finding.js';

/**
 * Asks a sequencer for the status of an intent that nobody has made: twice, so that the second time is that of a call over a
 * connection that is there. It creates nothing.
 */
export async function askStatus(
  transport: Transport,
  { url, setting }: { readonly url: URL; readonly setting: string },
  { signal }: Pick<DoctorContext, 'signal'>,
): Promise<Finding> {
  try {
    const { exists } = await getStatus(transport, generateKey().publicKey, { signal });
    const begunAt = performance.now();
    await getStatus(transport, generateKey().publicKey, { signal });
    const tookMs = Math.round(performance.now() - begunAt);
    if (!exists) return ok(`${url.host} answers in ${tookMs} ms`);
    return fault(
      `${url.host} says that an intent exists which nobody has made.`,
      `Set ${setting} to a real payment service: this one would call everything paid.`,
    );
  } catch (error) {
    const { why, mend } = explainSequencer(error, url.host, setting);
    return fault(`No status comes from ${url.host}: ${why}.`, mend);
  } finally {
    void transport.close();
  }
}
