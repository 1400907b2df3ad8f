/**
 * Whether an address, as the parser of URLs has written it down, is on one of these origins. It is that parser, the
 * browser's own, which knows that `//`, `/\`, a tab in between and a name before an @ are other hosts.
 */
export const isOnOrigin = (href: string, origins: readonly string[]): boolean =>
  origins.some((origin) => href.startsWith(`${origin}/`));
