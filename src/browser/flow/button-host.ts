/** The button of a dialog. */
export interface ButtonHost {
  readonly element: HTMLElement;
  readonly root: ShadowRoot;
  /** Shows that the button is busy, with a text for screen readers. */
  showBusy(text: string): void;
  /** Shows a text below the button, or none, and that the button is no longer busy. */
  showNote(text: string): void;
}
