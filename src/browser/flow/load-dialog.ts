import type { IntentDialog } from '../dialog/intent-dialog.js';
import { siteFolder } from '../site-config.js';
import { Problem } from './api.js';
import { delay, retryUntil } from './retry.js';

/** The button of a dialog. */
export interface ButtonHost {
  readonly element: HTMLElement;
  readonly root: ShadowRoot;
  /** Shows that the button is busy, with a text for screen readers. */
  showBusy(text: string): void;
  /** Shows a text below the button, or none, and that the button is no longer busy. */
  showNote(text: string): void;
}

type DialogModule = { readonly IntentDialog: typeof IntentDialog };

/** A connection can stop responding without an error. */
const timeoutMs = 10_000;

/** The time in which a retry can be scheduled. */
const retryWindowMs = 2_500;

let loading: Promise<DialogModule> | undefined;
let failures = 0;

/** Starts loading the dialog, so that it is ready when the button is pressed. */
export function preloadDialog(): Promise<DialogModule> {
  if (loading) return loading;
  // Some browsers cache a failed import, so a retry uses another URL. A bundler rewrites only the import with a literal path.
  const address = failures && siteFolder && `${siteFolder}intent-dialog.js?retry=${failures}`;
  const started: Promise<DialogModule> = address ? import(address) : import('../dialog/intent-dialog.js');
  loading = started;
  started.catch(() => forget(started));
  return started;
}

/** Loads the dialog, with retries. @throws {Problem} `offline`; after an abort, one with any code */
export function loadDialog(signal: AbortSignal): Promise<DialogModule> {
  return retryUntil(
    signal,
    retryWindowMs,
    () => true,
    async () => {
      const started = preloadDialog();
      const loaded = await Promise.race([started.catch(() => undefined), delay(timeoutMs)]);
      if (loaded) return loaded as DialogModule;
      forget(started);
      throw new Problem('offline');
    },
  );
}

function forget(failed: Promise<DialogModule>): void {
  if (loading !== failed) return;
  loading = undefined;
  failures += 1;
}
