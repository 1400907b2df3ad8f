import type { Texts } from '../texts/en.js';

/** How long the button shows the result, in milliseconds. */
const resultMs = 2_000;

/** Copies a text to the clipboard and shows the result as the text of the button. */
export async function copyText(
  button: HTMLElement,
  text: string | undefined,
  { copied, notCopied }: Texts,
): Promise<void> {
  // A second click while the result is shown must not save the result as the text of the button.
  if (!text || button.ariaBusy) return;
  const before = button.textContent;
  button.ariaBusy = 'true';
  button.textContent = await navigator.clipboard.writeText(text).then(
    () => copied,
    () => notCopied,
  );
  setTimeout(() => {
    button.ariaBusy = null;
    button.textContent = before;
  }, resultMs);
}
