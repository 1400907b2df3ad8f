import type { DialogState, StateDetails } from '../dialog/dialog-state.js';
import type { DialogActions, IntentDialog } from '../dialog/intent-dialog.js';
import type { Settings } from '../options.js';
import { buttonTextsOf } from '../texts/button-texts.js';
import { loadDialog, loadTexts } from './on-demand-files.js';
import { walletLink } from './return-url.js';

/** The button of a view. */
export interface ButtonHost {
  readonly element: HTMLElement;
  readonly root: ShadowRoot;
  /** Shows that the button is busy, with a text for screen readers. */
  showBusy(text: string): void;
  /** Shows a text below the button, or none, and that the button is no longer busy. */
  showNote(text: string): void;
}

/** A client secret, and what its code shows. */
interface Code {
  readonly secret: string;
  readonly payload: Uint8Array;
  readonly id: string;
  readonly expiresAtMs: number;
}

/**
 * What the visitor sees of a flow: the dialog, which is loaded when it is first opened. While it is closed or not loaded, the button
 * itself shows that it is busy, or a note.
 */
export class ButtonView {
  readonly host: ButtonHost;
  readonly #actions: DialogActions;
  /** Undefined until it is first opened. */
  dialog: IntentDialog | undefined;

  constructor(host: ButtonHost, actions: DialogActions) {
    this.host = host;
    this.#actions = actions;
  }

  get isOpen(): boolean {
    return !!this.dialog?.element.open;
  }

  /**
   * Loads and opens the dialog.
   * @param isWanted asked once it is loaded @returns whether it has been opened @throws {Problem} if it cannot be loaded
   */
  async open(settings: Settings, signal: AbortSignal, isWanted: () => boolean): Promise<boolean> {
    const { element, root, showBusy } = this.host;
    const { locale, mode } = settings;
    const texts = buttonTextsOf(locale);
    if (!this.isOpen) showBusy(texts.busy);
    const loaded = await loadDialog(locale, signal);
    this.dialog ??= new loaded.IntentDialog(element, root, this.#actions);
    if (!isWanted()) return false;
    // The language has changed meanwhile.
    if (settings.locale !== locale) return this.open(settings, signal, isWanted);
    this.dialog.open(settings, texts[mode], loaded.texts);
    return true;
  }

  /** Follows the language around the button, unless that changes again while the texts are loaded. */
  async translate(settings: Settings): Promise<void> {
    const { locale, mode } = settings;
    const { dialog } = this;
    if (!dialog || dialog.element.lang === locale) return;
    const texts = await loadTexts(locale);
    if (this.isOpen && settings.locale === locale) dialog.relabel(settings, buttonTextsOf(locale)[mode], texts);
  }

  show(settings: Settings, state: DialogState, details?: StateDetails): void {
    this.dialog?.show(state, details);
    if (this.isOpen) this.host.showNote('');
    else this.host.showBusy(buttonTextsOf(settings.locale).busy);
  }

  showCode({ walletUrl, urls }: Settings, { secret, payload, id, expiresAtMs }: Code): void {
    this.dialog?.showCode({
      payload,
      // The code is scanned by another device, which does not return to this page.
      text: walletUrl ? walletLink(walletUrl, secret) : secret,
      link: walletUrl && walletLink(walletUrl, secret, urls, id),
      expiresAtMs,
    });
  }

  /** The dialog could not be loaded. */
  noteFailure({ locale }: Settings): void {
    this.host.showNote(buttonTextsOf(locale).noDialog);
  }

  /** Notes that the payment of the order can still be confirmed, if it can, also after the text has been loaded. */
  async notePayable(settings: Settings, isPayable: () => boolean): Promise<void> {
    this.host.showNote('');
    if (!isPayable()) return;
    const loaded = await loadDialog(settings.locale, new AbortController().signal).catch(() => undefined);
    if (loaded && isPayable()) this.host.showNote(loaded.IntentDialog.payableNote(settings, loaded.texts));
  }
}
