/**
 * Whether an address is on one of these origins. `href` must come from the URL parser, as in browsers: the parser knows that
 * `//`, `/\`, a tab in between and a name before an @ lead to other hosts.
 */
export const isOnOrigin = (href: string, origins: readonly string[]): boolean =>
  origins.some((origin) => href.startsWith(`${origin}/`));
