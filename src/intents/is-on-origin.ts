/**
 * Whether a URL is on one of the origins. `href` must be the output of the URL parser, which resolves `//host`, `/\host`,
 * tabs in them, and a user name before an @.
 */
export const isOnOrigin = (href: string, origins: readonly string[]): boolean =>
  origins.some((origin) => href.startsWith(`${origin}/`));
