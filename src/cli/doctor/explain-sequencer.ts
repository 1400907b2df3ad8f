import { IntentError, SequencerError } from '../../errors.js';
import { explainNetwork, type NetworkFault } from './explain-network.js';

/** Why a sequencer gave no answer of use, and what mends it. @param setting the variable that says where it is */
export function explainSequencer(error: unknown, host: string, setting: string): NetworkFault {
  const unreachable = `See that the payment service runs, that ${setting} is right, and that a firewall lets this machine out.`;
  if (!(error instanceof IntentError)) return explainNetwork(error, host, unreachable);
  const notOne = `Set ${setting} to the address that your payment service gave you, without /v1/api.`;
  switch (error.code) {
    case 'sequencer_bad_status':
      return explainStatus(error, host, setting, notOne);
    case 'sequencer_bad_response':
    case 'malformed_message':
      return { why: `what answers at ${host} is no payment service: ${error.message}`, mend: notOne };
    case 'sequencer_error':
      return {
        why: `${host} refuses to be asked for a status`,
        mend: 'Ask your payment service whether this site may use it.',
      };
    case 'sequencer_timeout':
      return { why: `${host} does not answer in time`, mend: unreachable };
    default:
      return explainNetwork(error, host, unreachable);
  }
}

function explainStatus(error: IntentError, host: string, setting: string, notOne: string): NetworkFault {
  const status = error instanceof SequencerError ? (error.httpStatus ?? 0) : 0;
  const why = `${host} answers with status ${status}`;
  if (status >= 500) return { why, mend: 'Ask your payment service what is the matter, or wait.' };
  if (status === 401 || status === 403) return { why, mend: 'Ask your payment service to let this machine in.' };
  if (status >= 300 && status < 400) return { why: `${why}, a redirect`, mend: `Set ${setting} to where it leads.` };
  return { why, mend: notOne };
}
