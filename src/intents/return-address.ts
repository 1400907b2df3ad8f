/**
 * Where an address leads that somebody follows from a page at `base`; undefined where that is neither the page's own
 * origin nor one of `origins`. Server and browser ask the parser that goes there in the end, to which `//`, `/\`, a tab
 * in between and a name before an @ are other hosts, whatever they look like.
 */
export function returnAddress(text: string, base: string, origins: readonly string[] = []): string | undefined {
  try {
    const { href, origin } = new URL(text, base);
    // A `blob:` has the origin of its site as well.
    const isPage = /^https?:/.test(href);
    return isPage && [new URL(base).origin, ...origins].includes(origin) ? href : undefined;
  } catch {
    return undefined;
  }
}
