import { generateKey } from '../../keys/verifier-key.js';
import { getStatus, isUnknownOperation } from '../../sequencer/calls.js';
import type { Transport } from '../../sequencer/transport.js';
import { operations } from '../../wire/envelope.js';
import type { DoctorContext } from './check.js';
import { explainSequencer } from './explain-sequencer.js';
import { type Finding, fault, ok, warning } from './finding.js';

/**
 * Asks a sequencer for the status of an intent that nobody has made: twice, so that the second time is that of a call over a
 * connection that is there. And whether it has the operation that creates intents. It creates nothing.
 */
export async function askStatus(
  transport: Transport,
  { url, setting }: { readonly url: URL; readonly setting: string },
  { signal }: Pick<DoctorContext, 'signal'>,
): Promise<Finding[]> {
  try {
    const { exists } = await getStatus(transport, generateKey().publicKey, { signal });
    const begunAt = performance.now();
    await getStatus(transport, generateKey().publicKey, { signal });
    const tookMs = Math.round(performance.now() - begunAt);
    if (exists) {
      return [
        fault(
          `${url.host} says that an intent exists which nobody has made.`,
          `Set ${setting} to a real payment service: this one would call everything paid.`,
        ),
      ];
    }
    const reason = await reasonAgainstCreate(transport, signal);
    if (reason === undefined) return [ok(`${url.host} answers in ${tookMs} ms`)];
    return [
      warning(
        `${url.host} has no operation Intents.createIntent: ${JSON.stringify(reason.slice(0, 200))}.`,
        "intentRouter({ dialect: 'messaging' }) if it creates intents by Messaging.sendMessage; over gRPC also grpcNames",
      ),
    ];
  } catch (error) {
    const { why, mend } = explainSequencer(error, url.host, setting);
    return [fault(`No status comes from ${url.host}: ${why}.`, mend)];
  } finally {
    void transport.close();
  }
}

/**
 * What a service says that does not have the operation; undefined where it has. It is sent no message: a service that has
 * the operation refuses that.
 */
async function reasonAgainstCreate(transport: Transport, signal: AbortSignal): Promise<string | undefined> {
  try {
    await transport.call(operations.createIntent, new Uint8Array(), { signal });
  } catch (error) {
    if (isUnknownOperation(error)) return error.serviceMessage || error.message;
  }
  return undefined;
}
