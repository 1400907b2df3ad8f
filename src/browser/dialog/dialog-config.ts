import type { Texts } from '../texts/en.js';

/** What only the dialog needs of the site's configuration. */
export interface DialogConfig {
  /** The name of the site. */
  readonly name?: string;
  /** A path or an https URL. */
  readonly logo?: string;
  /** A page for visitors without a wallet, and the text of the link, which the text `help` of a language replaces. */
  readonly help?: { readonly url: string; readonly label?: string };
  /** The currency of the amounts that visitors choose. */
  readonly currency?: string;
  /** The site's own texts by language. */
  readonly texts?: Readonly<Record<string, Partial<Texts>>>;
}

// The first statement of the built file declares it as empty. The server replaces it.
declare const intentDialog: DialogConfig;

/** The configuration in the served file. In a bundle it is empty, and the settings have it. */
export const servedConfig: DialogConfig = intentDialog;
