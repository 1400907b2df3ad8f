import type { IntentDialog } from '../dialog/intent-dialog.js';
import type { Settings } from '../options.js';
import { buttonTextsOf } from '../texts/button-texts.js';
import { loadTexts } from './on-demand-files.js';

/** Changes the language of an open dialog to that of the button, unless the latter changes again while the texts are loaded. */
export async function translateDialog(dialog: IntentDialog, settings: Settings): Promise<void> {
  const { locale, mode } = settings;
  if (dialog.element.lang === locale) return;
  const texts = await loadTexts(locale);
  if (dialog.element.open && settings.locale === locale) dialog.relabel(settings, buttonTextsOf(locale)[mode], texts);
}
