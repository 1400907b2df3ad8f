/** How long the button shows the result, in milliseconds. */
const resultMs = 2_000;

/** Copies a text to the clipboard, with the older command where a frame has no permission. @returns whether it is copied */
export async function copyText(text: string, field: HTMLInputElement): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const { hidden, value } = field;
    const focused = (field.getRootNode() as ShadowRoot).activeElement as HTMLElement | null;
    field.hidden = false;
    field.value = text;
    field.select();
    const isCopied = document.execCommand('copy');
    field.hidden = hidden;
    field.value = value;
    focused?.focus();
    return isCopied;
  }
}

/** Announces a result, and shows it for a while in place of the label of the button. */
export function showResult(button: HTMLElement, announcement: HTMLElement, result: string, label: () => string): void {
  button.textContent = announcement.textContent = result;
  setTimeout(() => {
    announcement.textContent = '';
    button.textContent = label();
  }, resultMs);
}

/** Opens a link in a new window, which has no access to this one. @returns false if the browser refuses, as in a sandbox */
export function openWindow(href: string): boolean {
  const opened = window.open(href, '_blank');
  if (opened) opened.opener = null;
  return !!opened;
}
