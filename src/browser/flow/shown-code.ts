import type { ShownCode } from '../dialog/dialog-state.js';
import { walletLink } from './return-url.js';

/** What the dialog shows of an intent. */
export function shownCode(intent: {
  readonly payload: Uint8Array;
  readonly secret: string;
  readonly id: string;
  readonly walletUrl: string | undefined;
  readonly returnUrls: Readonly<Record<string, string | undefined>>;
  readonly expiresAtMs: number;
}): ShownCode {
  const { payload, secret, id, walletUrl, returnUrls, expiresAtMs } = intent;
  return {
    payload,
    // The code is scanned by another device, which does not return to this page.
    text: walletUrl ? walletLink(walletUrl, secret) : secret,
    link: walletUrl && walletLink(walletUrl, secret, returnUrls, id),
    expiresAtMs,
  };
}
