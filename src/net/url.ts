/** Parses a URL; undefined for any other text. */
export function parseUrl(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}

/** Parses an http or https URL; undefined for any other text. */
export function parseHttpUrl(text: string): URL | undefined {
  const url = parseUrl(text);
  return url && (url.protocol === 'http:' || url.protocol === 'https:') ? url : undefined;
}
