const loopbackNames = new Set(['127.0.0.1', 'localhost', '[::1]']);

/** Whether a URL's `hostname` means this very machine. Only literal names: what DNS says can change in between. */
export function isLoopback(hostname: string): boolean {
  return loopbackNames.has(hostname);
}

/** Reads an http or https URL, or gives undefined. */
export function parseHttpUrl(text: string): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url && (url.protocol === 'http:' || url.protocol === 'https:') ? url : undefined;
}
