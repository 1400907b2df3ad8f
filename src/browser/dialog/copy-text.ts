import type { Texts } from '../texts/en.js';

/** How long the button shows the result, in milliseconds. */
const resultMs = 2_000;

/** Copies a text to the clipboard, announces the result, and shows it as the text of the button. */
export async function copyText(
  button: HTMLElement,
  announcement: HTMLElement,
  text: string | undefined,
  { copied, notCopied }: Texts,
): Promise<void> {
  // A second click while the result is shown must not save the result as the text of the button.
  if (!text || announcement.textContent) return;
  const before = button.textContent;
  const result = await navigator.clipboard.writeText(text).then(
    () => copied,
    () => notCopied,
  );
  // Another click has been answered meanwhile.
  if (announcement.textContent) return;
  button.textContent = announcement.textContent = result;
  setTimeout(() => {
    announcement.textContent = '';
    button.textContent = before;
  }, resultMs);
}
