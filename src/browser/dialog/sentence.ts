import type { Texts } from '../texts/en.js';
import { problemText, retryText } from '../texts/texts.js';
import type { DialogState, StateDetails } from './dialog-state.js';

/** What the sentence depends on besides the state. */
export interface Situation {
  readonly isPayment: boolean;
  readonly hasCode: boolean;
  /** Whether the wallet is probably on this device, and the code is not shown for another. */
  readonly isWalletHere: boolean;
  /** Whether there is a link to the wallet. */
  readonly hasLink: boolean;
  /** What the visitor has to copy by hand, because the browser refused the link or the copy. */
  readonly copies: 'link' | 'code' | undefined;
}

/** The sentence that says what happens, or what the visitor can do. */
export function sentenceOf(
  state: DialogState,
  { problem, isUnpaid, check }: StateDetails,
  texts: Texts,
  { isPayment, hasCode, isWalletHere, hasLink, copies }: Situation,
): string {
  if (problem && state === 'completing') return retryText(problem, texts);
  if (problem) {
    // The site's own message is shown alone: `unpaid` could contradict it, if the visitor has paid in another tab.
    const isOwnText = problem.code === 'request_refused' && problem.message !== problem.code;
    return [problemText(problem, texts), isUnpaid && !isOwnText && texts.unpaid].filter(Boolean).join(' ');
  }
  if (state === 'done') return isPayment ? texts.paid : texts.loggedIn;
  if (state === 'expired' && !isPayment) return texts.gone;
  if (state === 'expired') {
    const next = { unpaid: texts.keepOpen, failed: navigator.onLine ? texts.unchecked : texts.offlineOpen };
    return `${texts.expired} ${check ? next[check] : texts.checking}`;
  }
  if (state === 'offline' && navigator.onLine) return texts.noAnswer;
  if (state === 'offline' && isPayment && hasCode) return texts.offlineOpen;
  if (state === 'waiting' && copies) return copies === 'link' ? texts.copyInstead : texts.copyThis;
  if (state === 'waiting' && isWalletHere) return hasLink ? texts.waitingHere : texts.waitingCopy;
  return texts[state as 'waiting'];
}
