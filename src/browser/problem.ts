/** What went wrong, by the `code` of the answer (see docs/errors.md) or one of the element's own. */
export class Problem extends Error {
  /** One of docs/errors.md, or `offline`, `unreadable`, `insecure_page`, `handler_failed`. */
  declare readonly code: string;
  /** HTTP status; 0 where there was no answer. */
  declare readonly status: number;

  /** @param message the site's own words, for refusals; else nothing that people are shown */
  constructor(code: string, status = 0, message = code, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.status = status;
  }
}

/** Whether the site has said no for good: a 4xx, but for 409 and 429, which pass. To ask the same again would not help. */
export const isRefusal = ({ status }: Problem): boolean => /^4(?!09|29)/.test(`${status}`);

/** Whether the site may have done what it was asked for: its answer never came, or another spoke in its place. */
export const isUnheard = ({ code }: Problem): boolean => /offline|unreadable/.test(code);

/** Anything thrown, as a problem with a code. */
export function problemOf(error: unknown, code = 'internal_error'): Problem {
  return error instanceof Problem ? error : new Problem(code, -1, String(error), { cause: error });
}
