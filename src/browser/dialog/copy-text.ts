import type { Texts } from '../texts/en.js';

/** How long the button shows the result, in milliseconds. */
const resultMs = 2_000;

/** Copies a text to the clipboard, announces the result, and shows it for a while in place of the label of the button. */
export async function copyText(
  button: HTMLElement,
  announcement: HTMLElement,
  text: string | undefined,
  { copied, notCopied }: Texts,
  label: () => string,
): Promise<void> {
  // The result of the last click is still shown.
  if (!text || announcement.textContent) return;
  const result = await navigator.clipboard.writeText(text).then(
    () => copied,
    () => notCopied,
  );
  // Another click has been answered meanwhile.
  if (announcement.textContent) return;
  button.textContent = announcement.textContent = result;
  setTimeout(() => {
    announcement.textContent = '';
    button.textContent = label();
  }, resultMs);
}
